// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The BCH decoder: divides a codeword by the generator and flips the located errors. */

#include "divider.h"
#include "locator.h"

namespace gr::gpufec {

bch_decoder_kernel::bch_decoder_kernel(const bch_code& code, const std::string& variant)
    : d_code(code),
      d_divider(std::make_shared<bch_divider>(code, variant)),
      d_locator(std::make_shared<bch_locator>(code))
{
}

int bch_decoder_kernel::decode(std::uint8_t* codeword) const
{
    const auto n = d_code.n();
    const auto r = d_divider->divide(codeword, n);
    if ((r[0] | r[1] | r[2]) == 0) {
        return 0;
    }
    unsigned errors[bch_code::max_errors];
    const auto count = d_locator->locate(r, (8 - n % 8) % 8, errors);
    for (int i = 0; i < count; ++i) {
        const auto bit = n - 1 - errors[i];
        codeword[bit / 8] ^= 0x80u >> bit % 8;
    }
    return count;
}

} // namespace gr::gpufec
