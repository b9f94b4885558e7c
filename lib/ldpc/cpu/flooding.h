// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Flooding min-sum on the CPU, a codeword at a time: plain, but in the arithmetic of the
 * precision, and in memory that is there beforehand. */

#ifndef INCLUDED_GPUFEC_LDPC_FLOODING_H
#define INCLUDED_GPUFEC_LDPC_FLOODING_H

#include "job.h"
#include "setup.h"
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::gpufec::ldpc {

class flooding_decoder
{
public:
    //! For codewords of any code of the setup, which outlives the decoder.
    explicit flooding_decoder(const setup& s);

    //! Decodes from \p channel, values of the setup's precision in steps, to a
    //! codeword's \p output. Allocates nothing.
    frame_status decode(const ldpc_code& code,
                        const message_rule& rule,
                        const std::byte* channel,
                        std::byte* output,
                        float soft_factor);

private:
    template <class Sample, class Value>
    frame_status run(std::vector<Value>& memory,
                     const ldpc_code& code,
                     const message_rule& rule,
                     const Sample* channel,
                     std::byte* output,
                     float soft_factor) const;

    const setup& d_setup;
    // Of messages, posteriors and their next ones.
    std::vector<std::int32_t> d_integers;
    std::vector<float> d_floats;
};

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_FLOODING_H */
