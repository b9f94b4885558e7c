// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Flooding min-sum on the CPU, one codeword at a time. */

#ifndef INCLUDED_GPUFEC_LDPC_CPU_FLOODING_H
#define INCLUDED_GPUFEC_LDPC_CPU_FLOODING_H

#include "ldpc/model/job.h"
#include "ldpc/model/setup.h"
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::gpufec::ldpc {

class flooding_decoder
{
public:
    //! Makes a decoder for all codes of \p s. The setup must outlive the decoder.
    explicit flooding_decoder(const setup& s);

    //! Decodes one codeword without allocating memory. \p channel has the n channel
    //! values, quantised in the precision of the setup. \p output receives decisions and
    //! LLRs in the layout of job.h.
    ldpc_status decode(const ldpc_code& code,
                       const message_rule& rule,
                       const std::byte* channel,
                       std::byte* output,
                       float soft_factor);

private:
    template <class Sample, class Value>
    ldpc_status run(std::vector<Value>& memory,
                    const ldpc_code& code,
                    const message_rule& rule,
                    const Sample* channel,
                    std::byte* output,
                    float soft_factor) const;

    const setup& d_setup;
    // Memory for the messages, posteriors and next posteriors of a codeword: d_floats in
    // float precision, else d_integers.
    std::vector<std::int32_t> d_integers;
    std::vector<float> d_floats;
};

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CPU_FLOODING_H */
