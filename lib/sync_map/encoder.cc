// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Encodes message symbols with the codebook of their index. */

#include <gnuradio/gpufec/sync_map.h>
#include <algorithm>

namespace gr::gpufec {

void sync_encode(const sync_code& code,
                 const std::uint16_t* symbols,
                 std::size_t count,
                 std::uint8_t* out,
                 unsigned first)
{
    for (std::size_t k = 0; k < count; ++k) {
        const auto i = (first + k) % code.frame_symbols();
        out = std::copy_n(code.word(i, symbols[k] % code.q()), code.n(), out);
    }
}

} // namespace gr::gpufec
