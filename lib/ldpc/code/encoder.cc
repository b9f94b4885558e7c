// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Encodes messages of any code, and packed messages of DVB-S2 64 bits at a time. */

#include "code_tables.h"
#include "common/packed_bits.h"
#include "common/refuse.h"
#include "parity_solver.h"
#include <algorithm>
#include <array>

namespace gr::gpufec {

namespace {

bool parity(const std::uint64_t* a, const std::uint64_t* b, std::size_t words)
{
    std::uint64_t sum = 0;
    for (std::size_t w = 0; w < words; ++w) {
        sum ^= a[w] & b[w];
    }
    return __builtin_parityll(sum);
}

// 360 bits of a row of circulants, the first most significant, and 24 unused bits.
constexpr unsigned circulant_bits = 360;
constexpr unsigned row_words = (circulant_bits + 63) / 64;
using row = std::array<std::uint64_t, row_words>;

// Returns prefix sums: bit j, counted from the most significant, is the sum of bits
// 0 … j.
std::uint64_t sums(std::uint64_t x)
{
    for (unsigned step = 1; step < 64; step *= 2) {
        x ^= x >> step;
    }
    return x;
}

template <unsigned Half>
void swap_halves(std::uint64_t* x)
{
    // The mask selects the lower half of each group of 2·Half bits.
    constexpr auto mask = ~std::uint64_t(0) / ((std::uint64_t(1) << Half) + 1);
    for (unsigned block = 0; block < 64; block += 2 * Half) {
        for (unsigned i = block; i < block + Half; ++i) {
            const auto differ = (x[i] ^ x[i + Half] >> Half) & mask;
            x[i] ^= differ;
            x[i + Half] ^= differ << Half;
        }
    }
}

// Transposes 64 × 64 bits: bit j of word i becomes bit i of word j, counted from the most
// significant.
void transpose(std::uint64_t* x)
{
    swap_halves<32>(x);
    swap_halves<16>(x);
    swap_halves<8>(x);
    swap_halves<4>(x);
    swap_halves<2>(x);
    swap_halves<1>(x);
}

} // namespace

ldpc_encoder_kernel::ldpc_encoder_kernel(const ldpc_code& code) : d_code(code)
{
    if (!code.can_encode()) {
        refuse("code",
               code.name(),
               "it has no encoder: its matrix of " + std::to_string(code.checks()) +
                   " x " + std::to_string(code.n()) +
                   " is neither triangular at its end nor small enough to eliminate "
                   "(checks x bits must be at most " +
                   std::to_string(ldpc_code::max_elimination) + ")");
    }
    require(code.k() > 0, "K of code " + code.name(), code.k(), "1 or more");
    if (code.d_tables->form == encoding_form::solved) {
        code.d_tables->solver();
    }
    for (const auto& group : code.d_tables->addresses) {
        for (const auto address : group) {
            const unsigned by = address / code.q();
            d_circulants.push_back({ std::uint16_t(address % code.q()),
                                     std::uint16_t(by ? circulant_bits - by : 0) });
        }
    }
}

void ldpc_encoder_kernel::send(const std::uint8_t* codeword, std::uint8_t* sent) const
{
    const auto& positions = d_code.sent_positions();
    if (positions.empty()) {
        std::copy_n(codeword, d_code.n(), sent);
        return;
    }
    for (std::size_t i = 0; i < positions.size(); ++i) {
        sent[i] = positions[i] == ldpc_code::fill ? 0 : codeword[positions[i]];
    }
}

void ldpc_encoder_kernel::encode(const std::uint8_t* message,
                                 std::uint8_t* codeword) const
{
    const auto& t = *d_code.d_tables;
    for (const auto position : t.shortened) {
        codeword[position] = 0;
    }
    for (unsigned i = 0; i < t.k; ++i) {
        codeword[t.message[i]] = message[i] & 1u;
    }
    if (t.form == encoding_form::solved) {
        t.solver().solve(codeword);
        return;
    }
    if (t.form == encoding_form::triangular) {
        for (unsigned c = 0; c < t.checks; ++c) {
            const unsigned own = t.n - t.checks + c;
            codeword[own] = 0;
            std::uint8_t sum = 0;
            for (auto e = t.begin[c]; e < t.begin[c + 1]; ++e) {
                sum ^= codeword[t.bits[e]];
            }
            codeword[own] = sum;
        }
        return;
    }
    std::vector<std::uint64_t> packed(t.generator_words(), 0);
    for (unsigned i = 0; i < t.k; ++i) {
        packed[i / 64] |= std::uint64_t(message[i] & 1u) << i % 64;
    }
    for (std::size_t r = 0; r < t.parity.size(); ++r) {
        codeword[t.parity[r]] =
            parity(&t.generators[r * packed.size()], packed.data(), packed.size());
    }
}

void ldpc_encoder_kernel::encode_packed(const std::uint8_t* message,
                                        std::uint8_t* codeword) const
{
    const auto& t = *d_code.d_tables;
    if (!t.addresses.empty() && t.sent.empty() && t.form == encoding_form::triangular) {
        encode_circulants(message, codeword);
        return;
    }
    std::vector<std::uint8_t> bits(t.k), coded(t.n), sent(d_code.sent());
    unpack_bits(message, 0, t.k, bits.data());
    encode(bits.data(), coded.data());
    send(coded.data(), sent.data());
    pack_bits(sent.data(), sent.size(), codeword);
}

/*
 * Encodes a DVB-S2 code. Check j·q + i is bit j of row i. A group of 360 message bits is
 * rotated and added to the row of each of its addresses. Parity bit j·q + i is the sum of
 * checks 0 … j·q + i. These checks are bit j of rows 0 … i and bits 0 … j − 1 of all
 * rows.
 */
void ldpc_encoder_kernel::encode_circulants(const std::uint8_t* message,
                                            std::uint8_t* codeword) const
{
    const auto& t = *d_code.d_tables;
    const unsigned q = t.rows;
    constexpr unsigned last = row_words - 1, tail = circulant_bits - 64 * last;
    constexpr auto used_bits = ~(~std::uint64_t(0) >> tail);
    std::vector<row> rows((q + 63) / 64 * 64, row{});
    const auto* added = d_circulants.data();
    for (std::size_t g = 0; g < t.addresses.size(); ++g) {
        std::uint64_t twice[2 * row_words + 1] = {};
        for (unsigned w = 0; w < row_words; ++w) {
            const auto x = packed_word(
                message, (g + 1) * circulant_bits, g * circulant_bits + 64 * w);
            twice[w] |= x;
            // The second copy of the group begins at bit 360.
            twice[last + w] |= x >> tail;
            twice[last + w + 1] |= x << (64 - tail);
        }
        for (std::size_t a = 0; a < t.addresses[g].size(); ++a, ++added) {
            auto& to = rows[added->row];
            const auto* const word = twice + added->from / 64;
            const unsigned shift = added->from % 64;
            for (unsigned w = 0; w < row_words; ++w) {
                to[w] ^= word[w] << shift | word[w + 1] >> 1 >> (63 - shift);
            }
        }
    }

    row sum{};
    for (unsigned i = 0; i < q; ++i) {
        for (unsigned w = 0; w < row_words; ++w) {
            sum[w] = rows[i][w] ^= sum[w];
        }
    }
    sum[last] &= used_bits;
    row carry;
    std::uint64_t before = 0; // all ones if the sum of the preceding words is odd, else 0
    for (unsigned w = 0; w < row_words; ++w) {
        const auto here = sums(sum[w]);
        carry[w] = (here >> 1) ^ before;
        before ^= here & 1 ? ~std::uint64_t(0) : 0;
    }

    std::copy_n(message, t.k / 8, codeword);
    auto* const end = codeword + t.n / 8;
    bit_writer writer(codeword + t.k / 8, 0, end);
    std::vector<std::uint64_t> columns(rows.size());
    for (unsigned w = 0; w < row_words; ++w) {
        for (unsigned block = 0; block < rows.size(); block += 64) {
            for (unsigned i = 0; i < 64; ++i) {
                columns[block + i] = rows[block + i][w] ^ carry[w];
            }
            transpose(&columns[block]);
        }
        for (unsigned j = 0; j < (w < last ? 64 : tail); ++j) {
            for (unsigned i = 0; i < q; i += 64) {
                const auto bits = columns[i + j];
                const auto n = std::min(64u, q - i);
                if (n > 32) {
                    writer.put(bits >> 32, 32);
                    writer.put((bits & 0xffffffffu) >> (64 - n), n - 32);
                } else {
                    writer.put(bits >> (64 - n), n);
                }
            }
        }
    }
    writer.finish();
}

} // namespace gr::gpufec
