// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The tables of a DVB-S2 code for the CPU decoder of single codewords, and the test
 * whether that decoder supports a message rule. */

#ifndef INCLUDED_GPUFEC_LDPC_MODEL_CIRCULANT_CODE_H
#define INCLUDED_GPUFEC_LDPC_MODEL_CIRCULANT_CODE_H

#include "common/cpu_variant.h"
#include "ldpc/cpu/dvb_single_codeword_kernels.h"
#include "message_rule.h"
#include <gnuradio/gpufec/ldpc.h>
#include <memory>
#include <vector>

namespace gr::gpufec::ldpc {

class circulant_code
{
public:
    //! Returns the tables of a code. The result is null unless the code has a parity
    //! chain of at least two layers, a lifting size of 360 and checks of at most 32
    //! edges.
    static std::unique_ptr<circulant_code> of(const ldpc_code& code);

    circulant_code(const circulant_code&) = delete;
    circulant_code& operator=(const circulant_code&) = delete;

    const dvb_single_codeword::code_view& view() const { return d_view; }

private:
    explicit circulant_code(const ldpc_code& code);

    std::vector<dvb_single_codeword::layer> d_layers;
    std::vector<dvb_single_codeword::edge> d_edges;
    dvb_single_codeword::code_view d_view;
};

namespace dvb_single_codeword {

compiled_variants<kernel> variants();

//! Returns whether the kernels support the rule: its precision is int8, the sum of its
//! message limit and offset fits in a byte, and its posteriors plus 128 fit in 16 bits.
inline bool can_follow(const message_rule& rule, const ldpc_code& code)
{
    return rule.precision == ldpc_precision::int8 &&
           rule.message_limit + rule.offset <= 127 &&
           rule.posterior_limit(code.largest_bit_degree()) + 128 <= 32767;
}

} // namespace dvb_single_codeword
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_MODEL_CIRCULANT_CODE_H */
