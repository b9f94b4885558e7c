// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Test signals of the Viterbi tests (random bits, encoded, with noise, as int8 or
 * packed4), and the conversions of formats and signs that the tests need. */

#ifndef INCLUDED_GPUFEC_VITERBI_TEST_QA_SUPPORT_H
#define INCLUDED_GPUFEC_VITERBI_TEST_QA_SUPPORT_H

#include "viterbi/stream/traits.h"
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace gr::gpufec::viterbi {
namespace qa {

struct transmission {
    std::vector<std::uint8_t> bits; // information bits, one per byte
    // Received soft values; positive means bit 0. Frames follow one another without
    // padding.
    std::vector<std::int8_t> values;
};

//! Transmits \p count random bits, of a stream or of whole frames, with an amplitude of
//! 32 and Gaussian noise of standard deviation \p sigma, which may be 0.
inline transmission transmit(const conv_code& code,
                             termination ends,
                             unsigned frame_bits,
                             std::size_t count,
                             double sigma,
                             unsigned seed)
{
    std::mt19937 random(seed);
    transmission t;
    for (std::size_t i = 0; i < count; ++i) {
        t.bits.push_back(random() >> 31);
    }
    conv_encoder_kernel encoder(code, ends, frame_bits);
    std::vector<std::uint8_t> sent;
    if (ends == termination::streaming) {
        sent.resize(encoder.coded_bits(count));
        encoder.encode(t.bits.data(), count, sent.data());
    } else {
        const auto coded = encoder.coded_bits(frame_bits);
        for (std::size_t first = 0; first < count; first += frame_bits) {
            sent.resize(sent.size() + coded);
            encoder.encode_frame(t.bits.data() + first,
                                 sent.data() + sent.size() - coded);
        }
    }
    std::normal_distribution<double> noise(0, sigma > 0 ? sigma : 1);
    for (const auto bit : sent) {
        const double clean = bit ? -32 : 32;
        const double v = std::round(clean + (sigma > 0 ? noise(random) : 0));
        t.values.push_back(std::int8_t(std::clamp(v, -128.0, 127.0)));
    }
    return t;
}

//! Quantises values to 4 bits and packs two per byte, the first in the high nibble. Each
//! frame of \p frame_values values begins with a new byte; \p frame_values is 0 for a
//! stream.
inline std::vector<std::int8_t> pack4(const std::vector<std::int8_t>& values,
                                      std::size_t frame_values)
{
    const auto frame = frame_values ? frame_values : values.size();
    std::vector<std::int8_t> packed;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const unsigned nibble = unsigned(values[i] >> 4) & 15u;
        if (i % frame % 2 == 0) {
            packed.push_back(std::int8_t(nibble << 4));
        } else {
            packed.back() = std::int8_t(std::uint8_t(packed.back()) | nibble);
        }
    }
    return packed;
}

//! Returns the values that a decoder reads from \p values packed by pack4().
inline std::vector<std::int8_t> quantise4(std::vector<std::int8_t> values)
{
    for (auto& v : values) {
        v = std::max(v >> 4, -7);
    }
    return values;
}

//! Negates values, for the other positive_bit. The largest value of int8, 127,
//! alternately becomes −127 and −128, because a decoder must read both as −127. In
//! packed4, 7 alternately becomes −7 and −8.
inline std::vector<std::int8_t> other_sign(std::vector<std::int8_t> items, bool packed4)
{
    unsigned count = 0;
    const auto negated = [&count](int v, int largest) {
        return v == largest ? -largest - int(++count % 2) : -std::max(v, -largest);
    };
    for (auto& item : items) {
        if (packed4) {
            const int high = negated(item >> 4, 7);
            const int low = negated(std::int8_t(unsigned(item) << 4) >> 4, 7);
            item = std::int8_t((unsigned(high) & 15u) << 4 | (unsigned(low) & 15u));
        } else {
            item = std::int8_t(negated(item, 127));
        }
    }
    return items;
}

//! Returns the first \p bits bits of packed bytes, one per byte.
inline std::vector<std::uint8_t> unpack(const std::vector<std::uint8_t>& bytes,
                                        std::size_t bits)
{
    std::vector<std::uint8_t> out;
    for (std::size_t i = 0; i < bits; ++i) {
        out.push_back(bytes[i / 8] >> (7 - i % 8) & 1);
    }
    return out;
}

} // namespace qa
} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_TEST_QA_SUPPORT_H */
