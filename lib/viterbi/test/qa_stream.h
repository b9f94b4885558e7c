// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Options of a stream decoder, and a function that decodes a whole input, for tests. */

#ifndef INCLUDED_GPUFEC_VITERBI_TEST_QA_STREAM_H
#define INCLUDED_GPUFEC_VITERBI_TEST_QA_STREAM_H

#include "qa_support.h"
#include <chrono>

namespace gr::gpufec::viterbi {
namespace qa {

inline viterbi_options options(const conv_code& code,
                               termination ends = termination::streaming,
                               unsigned frame_bits = 0)
{
    viterbi_options o{ code };
    o.positive_bit = 0; // as in transmit()
    o.termination = ends;
    o.frame_bits = frame_bits;
    o.backend = backend::cpu;
    o.max_latency_ms = 10000;
    return o;
}

//! Decodes \p items to the end. Pushes and pulls in chunks of random size, from 1 to
//! \p most. Returns packed bits if \p packed is set, otherwise one bit per byte.
template <class Item>
std::vector<std::uint8_t> run(viterbi_decoder& decoder,
                              const std::vector<Item>& items,
                              bool packed,
                              std::size_t most,
                              unsigned seed = 1)
{
    std::mt19937 random(seed);
    std::vector<std::uint8_t> out, part(most);
    std::size_t pushed = 0;
    bool finished = false;
    while (!decoder.done()) {
        if (pushed < items.size()) {
            const auto n =
                std::min<std::size_t>(items.size() - pushed, 1 + random() % most);
            pushed += decoder.push({ items.data() + pushed, n });
        } else if (!finished) {
            decoder.finish();
            finished = true;
        }
        const auto capacity = 1 + random() % most;
        const auto n = decoder.pull({ part.data(), capacity, packed });
        out.insert(out.end(), part.begin(), part.begin() + n);
        if (n == 0 && (finished || decoder.full())) {
            decoder.wait(std::chrono::seconds(1));
        }
    }
    return out;
}

} // namespace qa
} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_TEST_QA_STREAM_H */
