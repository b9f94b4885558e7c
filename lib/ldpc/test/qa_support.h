// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Helpers of the LDPC tests: random codewords with noise, decoding of batches, and codes
 * from alist files. */

#ifndef INCLUDED_GPUFEC_LDPC_TEST_QA_SUPPORT_H
#define INCLUDED_GPUFEC_LDPC_TEST_QA_SUPPORT_H

#include "common/cpu_variant.h"
#include "common/host_memory.h"
#include "ldpc/stream/traits.h"
#include <gtest/gtest.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>
#include <sstream>
#include <thread>
#include <vector>

namespace gr::gpufec::ldpc {
namespace qa {

struct transmission {
    std::vector<std::uint8_t> message;  // one bit per byte
    std::vector<std::uint8_t> codeword; // one bit per byte
    std::vector<float> llr;             // received LLRs in nats
};

//! Returns a random codeword and the LLRs of its n positions as received over QPSK at an
//! Es/N0 in dB. Punctured positions have an LLR of 0, shortened positions a large LLR.
inline transmission transmit(const ldpc_code& code, double es_n0_db, std::mt19937& random)
{
    transmission t;
    for (unsigned i = 0; i < code.k(); ++i) {
        t.message.push_back(random() >> 31);
    }
    t.codeword.resize(code.n());
    ldpc_encoder_kernel(code).encode(t.message.data(), t.codeword.data());
    const double variance = std::pow(10, -es_n0_db / 10) / 2;
    const double amplitude = std::sqrt(0.5);
    std::normal_distribution<double> noise(0, std::sqrt(variance));
    for (const auto bit : t.codeword) {
        const double y = (bit ? -amplitude : amplitude) + noise(random);
        t.llr.push_back(float(2 * amplitude / variance * y));
    }
    for (const auto position : code.punctured()) {
        t.llr[position] = 0;
    }
    for (const auto position : code.shortened()) {
        t.llr[position] = 1e6f;
    }
    return t;
}

//! Returns the LLRs as channel values in steps of \p rule, clamped to its limit.
inline std::vector<float> in_quantised(const std::vector<float>& llr,
                                       const message_rule& rule)
{
    std::vector<float> values;
    for (const auto x : llr) {
        const float y =
            std::clamp(x * rule.scale, -rule.channel_limit, rule.channel_limit);
        values.push_back(rule.precision == ldpc_precision::float32 ? y : std::rint(y));
    }
    return values;
}

//! Rounds the values to multiples of 1/2 nat if the precision is float, so that many
//! checks have equal magnitudes. Returns integer values unchanged.
inline std::vector<float> in_halves(std::vector<float> values, const message_rule& rule)
{
    if (rule.precision == ldpc_precision::float32) {
        for (auto& x : values) {
            x = std::rint(2 * x / rule.scale) / 2 * rule.scale;
        }
    }
    return values;
}

struct decoded {
    std::vector<std::uint8_t> bytes;
    ldpc_status status;
    std::vector<std::int8_t> llrs; // empty if the setup has no soft output
};

//! Returns the soft-output factor of a batch's frame \p i. Scale and sign depend on i.
inline float soft_factor_of(std::uint32_t i)
{
    constexpr float factors[] = { 1, -1, 0.5f, 2.0f / 3, -3.7f };
    return factors[i % 5];
}

//! Returns the LLRs in a codeword's output, or none if the setup has no soft output.
inline std::vector<std::int8_t>
llrs_at(const std::uint8_t* output, const setup& s, const ldpc_code& code)
{
    if (s.soft == ldpc_soft_output::none) {
        return {};
    }
    const auto* const from =
        reinterpret_cast<const std::int8_t*>(output) + s.soft_offset(code);
    return { from, from + code.n() };
}

struct frame {
    unsigned code; // index in setup::codes
    std::vector<float> values;
};

//! Writes a frame's values in the setup's precision.
inline void put_values(const frame& f, const setup& setup, void* to)
{
    const auto put = [&f, to](auto type) {
        for (std::size_t k = 0; k < f.values.size(); ++k) {
            const auto x = decltype(type)(f.values[k]);
            std::memcpy(static_cast<std::byte*>(to) + k * sizeof(x), &x, sizeof(x));
        }
    };
    switch (setup.value_bytes()) {
    case 1:
        return put(std::int8_t());
    case 2:
        return put(std::int16_t());
    default:
        return put(float());
    }
}

//! Decodes frames of several codes in one batch.
inline std::vector<decoded>
decode(batch_decoder<job>& decoder, const setup& setup, const std::vector<frame>& frames)
{
    const auto limits = decoder.limits();
    host_memory input(limits.input_bytes), output(limits.output_bytes),
        status(limits.status_bytes);
    auto* const table = reinterpret_cast<frame_place*>(input.data());
    job job;
    job.codewords = frames.size();
    job.input_bytes = job::values_offset(limits.work_items);
    std::vector<frame_place> places;
    for (std::uint32_t i = 0; i < frames.size(); ++i) {
        const auto& code = setup.codes[frames[i].code];
        places.push_back({ std::uint32_t(job.input_bytes),
                           std::uint32_t(job.output_bytes),
                           i,
                           soft_factor_of(i) });
        put_values(frames[i], setup, input.data() + job.input_bytes);
        job.input_bytes += setup.frame_input_bytes(code);
        job.output_bytes += setup.frame_output_bytes(code);
    }
    std::uint32_t next = 0;
    for (unsigned c = 0; c < setup.codes.size(); ++c) {
        job::run run{ c, next, 0 };
        for (std::size_t i = 0; i < frames.size(); ++i) {
            if (frames[i].code == c) {
                table[next++] = places[i];
                ++run.count;
            }
        }
        if (run.count) {
            job.runs.push_back(run);
        }
    }
    decoder.submit(0, job, { input.data(), output.data(), status.data() });
    while (!decoder.finished(0)) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    std::vector<decoded> results;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const auto& code = setup.codes[frames[i].code];
        const auto bits = setup.output_bits(code);
        const auto* const from =
            reinterpret_cast<const std::uint8_t*>(output.data()) + places[i].output;
        results.push_back({ { from, from + (bits + 7) / 8 },
                            reinterpret_cast<const ldpc_status*>(status.data())[i],
                            llrs_at(from, setup, code) });
    }
    return results;
}

inline std::vector<std::uint8_t> pack(const std::vector<std::uint8_t>& bits,
                                      unsigned count)
{
    std::vector<std::uint8_t> bytes((count + 7) / 8, 0);
    for (unsigned i = 0; i < count; ++i) {
        bytes[i / 8] |= bits[i] << (7 - i % 8);
    }
    return bytes;
}

/*! \brief Returns a random regular code of column weight 3 as an alist file. \p seed
 * determines the code.
 *
 * Each bit joins the three checks that have the fewest bits so far. Ties are broken at
 * random. */
inline std::string regular_alist(unsigned n, unsigned m, unsigned seed)
{
    std::mt19937 random(seed);
    std::vector<std::vector<unsigned>> of_bit(n), of_check(m);
    std::vector<unsigned> order(m);
    for (unsigned c = 0; c < m; ++c) {
        order[c] = c;
    }
    std::size_t most = 0;
    for (unsigned b = 0; b < n; ++b) {
        std::shuffle(order.begin(), order.end(), random);
        std::stable_sort(order.begin(), order.end(), [&](unsigned x, unsigned y) {
            return of_check[x].size() < of_check[y].size();
        });
        for (unsigned e = 0; e < 3; ++e) {
            of_bit[b].push_back(order[e]);
            of_check[order[e]].push_back(b);
            most = std::max(most, of_check[order[e]].size());
        }
    }
    std::ostringstream text;
    text << n << ' ' << m << "\n3 " << most << '\n';
    for (unsigned b = 0; b < n; ++b) {
        text << "3 ";
    }
    text << '\n';
    for (const auto& bits : of_check) {
        text << bits.size() << ' ';
    }
    text << '\n';
    for (const auto& checks : of_bit) {
        for (const auto c : checks) {
            text << c + 1 << ' ';
        }
        text << '\n';
    }
    for (const auto& bits : of_check) {
        for (std::size_t e = 0; e < most; ++e) {
            text << (e < bits.size() ? bits[e] + 1 : 0) << ' ';
        }
        text << '\n';
    }
    return text.str();
}

//! Returns the matrix of a code as an alist file whose lists are not padded.
inline std::string alist_of(const ldpc_code& code)
{
    std::vector<std::vector<unsigned>> of_bit(code.n());
    for (unsigned c = 0; c < code.checks(); ++c) {
        for (const auto bit : code.check(c)) {
            of_bit[bit].push_back(c);
        }
    }
    std::ostringstream text;
    text << code.n() << ' ' << code.checks() << '\n'
         << code.largest_bit_degree() << ' ' << code.largest_check_degree() << '\n';
    for (const auto& list : of_bit) {
        text << list.size() << ' ';
    }
    text << '\n';
    for (unsigned c = 0; c < code.checks(); ++c) {
        text << code.check(c).size() << ' ';
    }
    text << '\n';
    for (const auto& list : of_bit) {
        for (const auto c : list) {
            text << c + 1 << ' ';
        }
        text << '\n';
    }
    for (unsigned c = 0; c < code.checks(); ++c) {
        for (const auto bit : code.check(c)) {
            text << bit + 1 << ' ';
        }
        text << '\n';
    }
    return text.str();
}

inline ldpc_code regular_code(unsigned n, unsigned m, unsigned seed)
{
    std::istringstream text(regular_alist(n, m, seed));
    return ldpc_code::from_alist(text, "regular");
}

// Returns the (7, 4) Hamming code with two checks without bits, one of them at the end.
inline ldpc_code code_with_empty_checks()
{
    std::istringstream text("7 5\n3 4\n1 1 2 1 2 2 3\n0 4 4 4 0\n"
                            "2\n3\n2 3\n4\n2 4\n3 4\n2 3 4\n"
                            "\n1 3 5 7\n2 3 6 7\n4 5 6 7\n\n");
    return ldpc_code::from_alist(text, "empty checks");
}

//! Expects the same output items and statuses of two runs of a stream decoder.
template <class Outcome>
void expect_same(const Outcome& found, const Outcome& expected)
{
    EXPECT_TRUE(found.items == expected.items);
    ASSERT_EQ(found.statuses.size(), expected.statuses.size());
    for (std::size_t f = 0; f < found.statuses.size(); ++f) {
        EXPECT_EQ(found.statuses[f].frame, f);
        EXPECT_EQ(found.statuses[f].code, expected.statuses[f].code);
        EXPECT_EQ(found.statuses[f].iterations, expected.statuses[f].iterations);
        EXPECT_EQ(found.statuses[f].unsatisfied, expected.statuses[f].unsatisfied);
    }
}

} // namespace qa
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_TEST_QA_SUPPORT_H */
