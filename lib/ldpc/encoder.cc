// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "code_tables.h"
#include "pipeline/refuse.h"

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

} // namespace

ldpc_encoder_kernel::ldpc_encoder_kernel(const ldpc_code& code) : d_code(code)
{
    if (!code.can_encode()) {
        refuse("code",
               code.name(),
               "cannot encode: its matrix of " + std::to_string(code.checks()) + " x " +
                   std::to_string(code.n()) +
                   " is neither triangular at its end nor small enough to eliminate "
                   "(checks x bits up to " +
                   std::to_string(ldpc_code::max_elimination) + ")");
    }
    require(code.k() > 0, "K of code " + code.name(), code.k(), "1 and more");
}

void ldpc_encoder_kernel::encode(const std::uint8_t* message,
                                 std::uint8_t* codeword) const
{
    const auto& t = *d_code.d_tables;
    for (unsigned i = 0; i < t.k; ++i) {
        codeword[t.message[i]] = message[i] & 1u;
    }
    if (t.form == encoding_form::triangular) {
        for (unsigned c = 0; c < t.checks; ++c) {
            const unsigned own = t.k + c;
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

} // namespace gr::gpufec
