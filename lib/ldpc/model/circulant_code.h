// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A code as the CPU's decoder for codes of DVB-S2's kind wants it. */

#ifndef INCLUDED_GPUFEC_LDPC_CIRCULANT_CODE_H
#define INCLUDED_GPUFEC_LDPC_CIRCULANT_CODE_H

#include "circulant_kernels.h"
#include "message_rule.h"
#include "pipeline/cpu_variant.h"
#include <gnuradio/gpufec/ldpc.h>
#include <memory>
#include <vector>

namespace gr::gpufec::ldpc {

class circulant_code
{
public:
    //! Nothing if the code is of another kind.
    static std::unique_ptr<circulant_code> of(const ldpc_code& code);

    circulant_code(const circulant_code&) = delete;
    circulant_code& operator=(const circulant_code&) = delete;

    const circulants::code_view& view() const { return d_view; }

private:
    explicit circulant_code(const ldpc_code& code);

    std::vector<circulants::layer> d_layers;
    std::vector<circulants::edge> d_edges;
    circulants::code_view d_view;
};

namespace circulants {

compiled_variants<kernel> variants();

//! Whether the kernels compute what a code's rule says.
inline bool can_follow(const message_rule& rule, const ldpc_code& code)
{
    return rule.precision == ldpc_precision::int8 &&
           rule.message_limit + rule.offset <= 127 &&
           rule.posterior_limit(code.largest_bit_degree()) + 128 <= 32767;
}

} // namespace circulants
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CIRCULANT_CODE_H */
