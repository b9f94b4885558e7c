// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Re-encoding of decoded bits by table look-up, and the count of wrong signs, eight soft
 * values at a time. */

#include "reencoder.h"
#include <array>
#include <cstdlib>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace gr::gpufec::viterbi {

namespace {

// Masks for eight soft values. Bit i is set in `negative` if value i is negative, and in
// `not_zero` if value i is not 0.
struct value_signs {
    unsigned negative, not_zero;
};

#ifdef __SSE2__

value_signs signs_of(const std::int8_t* values)
{
    const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(values));
    const __m128i zero = _mm_cmpeq_epi8(eight, _mm_setzero_si128());
    return { unsigned(_mm_movemask_epi8(eight)), ~unsigned(_mm_movemask_epi8(zero)) };
}

#else

unsigned highest_bits(std::uint64_t bytes)
{
    return ((bytes >> 7 & 0x0101010101010101u) * 0x0102040810204080u) >> 56;
}

value_signs signs_of(const std::int8_t* values)
{
    constexpr std::uint64_t low = 0x7f7f7f7f7f7f7f7fu;
    std::uint64_t eight;
    std::memcpy(&eight, values, 8);
    return { highest_bits(eight), highest_bits(((eight & low) + low) | eight) };
}

#endif

// Number of set bits of each byte value. A table is used because baseline x86-64 has no
// popcount instruction.
constexpr auto ones = [] {
    std::array<std::uint8_t, 256> count{};
    for (unsigned i = 1; i < count.size(); ++i) {
        count[i] = std::uint8_t(count[i / 2] + i % 2);
    }
    return count;
}();

} // namespace

reencoder::step reencoder::step_of(const conv_code& code)
{
    const auto n = code.values_per_period();
    const auto periods = n <= 8 ? 8 / n : 1;
    return { periods * code.period(), periods * n };
}

reencoder::reencoder(const conv_code& code)
    : d_memory(code.constraint_length() - 1),
      d_stages(step_of(code).stages),
      d_values(step_of(code).values),
      d_whole(d_values <= 8)
{
    if (!d_whole) {
        d_signs.resize(std::size_t(code.period()) << code.constraint_length());
    } else {
        d_signs.resize(std::size_t(1) << (d_memory + d_stages));
    }
    unsigned inverted = 0;
    for (unsigned r = 0; r < code.outputs(); ++r) {
        inverted = inverted << 1 | unsigned(code.inverted(r));
    }
    const auto sent = [&](unsigned stage, unsigned contents, auto&& add) {
        // Reverses the order of bits. The newest bit is the least significant one of
        // `contents`, but the most significant one of a state.
        unsigned state = 0;
        for (unsigned i = 1; i <= d_memory; ++i) {
            state |= (contents >> i & 1u) << (d_memory - i);
        }
        const auto word = code.output_word(state, contents & 1u) ^ inverted;
        for (unsigned r = 0; r < code.outputs(); ++r) {
            if (code.sent(stage, r)) {
                add(word >> (code.outputs() - 1 - r) & 1u);
            }
        }
    };
    if (!d_whole) {
        const auto K = code.constraint_length();
        for (unsigned stage = 0; stage < code.period(); ++stage) {
            for (unsigned contents = 0; contents < 1u << K; ++contents) {
                unsigned i = 0;
                auto& signs = d_signs[(std::size_t(stage) << K) + contents];
                sent(stage, contents, [&](unsigned bit) { signs |= bit << i++; });
            }
            d_sent.push_back(code.values(stage + 1) - code.values(stage));
        }
        return;
    }
    for (std::size_t bits = 0; bits < d_signs.size(); ++bits) {
        unsigned i = 0;
        for (unsigned stage = 0; stage < d_stages; ++stage) {
            sent(stage, bits >> (d_stages - 1 - stage), [&](unsigned bit) {
                d_signs[bits] |= bit << i++;
            });
        }
    }
}

reencoder::sign_count reencoder::operator()(const std::uint8_t* bits,
                                            std::size_t first,
                                            const std::int8_t* values,
                                            std::size_t steps,
                                            sign_count* each,
                                            std::uint64_t* against) const
{
    // Returns `wide` decoded bits from index `at` on. The last bit is the least
    // significant.
    const auto window = [bits](std::size_t at, unsigned wide) {
        std::uint32_t four;
        std::memcpy(&four, bits + at / 8, 4);
        four = __builtin_bswap32(four);
        return (four << at % 8) >> (32 - wide);
    };
    sign_count all;
    const auto compare = [&](const std::int8_t* v, unsigned signs, unsigned mask) {
        const auto seen = signs_of(v);
        const auto there = seen.not_zero & mask;
        const auto wrong = (seen.negative ^ signs) & there;
        if (against) {
            for (auto left = wrong; left; left &= left - 1) {
                *against += std::uint64_t(std::abs(int(v[__builtin_ctz(left)])));
            }
        }
        return sign_count{ ones[there], ones[wrong] };
    };
    auto at = first - d_memory;
    for (std::size_t s = 0; s < steps; ++s) {
        sign_count step;
        if (d_whole) {
            step = compare(
                values, d_signs[window(at, d_memory + d_stages)], (1u << d_values) - 1);
            values += d_values;
        } else {
            const auto K = d_memory + 1;
            for (unsigned stage = 0; stage < d_stages; ++stage) {
                const auto n = d_sent[stage];
                step +=
                    compare(values,
                            d_signs[(std::size_t(stage) << K) + window(at + stage, K)],
                            (1u << n) - 1);
                values += n;
            }
        }
        at += d_stages;
        if (each) {
            each[s] = step;
        }
        all += step;
    }
    return all;
}

} // namespace gr::gpufec::viterbi
