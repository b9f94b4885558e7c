// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The BCH encoder: appends the remainder of the division by the generator polynomial. */

#include "divider.h"
#include <cstring>

namespace gr::gpufec {

bch_encoder_kernel::bch_encoder_kernel(const bch_code& code)
    : d_code(code), d_divider(std::make_shared<bch_divider>(code))
{
}

void bch_encoder_kernel::encode(const std::uint8_t* message, std::uint8_t* codeword) const
{
    const auto k = d_code.k(), shift = k % 8, bytes = (d_code.n() + 7) / 8;
    bch_divider::remainder r;
    if (shift == 0) {
        r = d_divider->divide(message, k);
    } else {
        // Shifts the message so that its last bit ends a byte.
        std::vector<std::uint8_t> aligned((k + 7) / 8);
        unsigned before = 0;
        for (std::size_t i = 0; i < aligned.size(); ++i) {
            aligned[i] = (before << 8 | message[i]) >> (8 - shift);
            before = message[i];
        }
        r = d_divider->divide(aligned.data(), 8 * aligned.size());
    }
    std::memmove(codeword, message, (k + 7) / 8);
    auto* to = codeword + k / 8;
    auto* const end = codeword + bytes;
    unsigned last = shift ? *to & 0xff00u >> shift : 0;
    for (unsigned i = 0; to < end; ++i) {
        const unsigned byte = i < 24 ? r[i / 8] >> (56 - i % 8 * 8) & 0xff : 0;
        *to++ = last | byte >> shift;
        last = byte << (8 - shift) & 0xff;
    }
}

} // namespace gr::gpufec
