// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The encoder: looks up the word of each message symbol. */

#include <gnuradio/gpufec/sync_map.h>
#include <algorithm>

namespace gr::gpufec {

sync_encoder_kernel::sync_encoder_kernel(const sync_code& code) : d_code(code) {}

void sync_encoder_kernel::encode(const std::uint16_t* symbols,
                                 std::size_t count,
                                 std::uint8_t* out,
                                 unsigned first) const
{
    encode_symbols(symbols, count, out, first);
}

void sync_encoder_kernel::encode(const std::uint8_t* symbols,
                                 std::size_t count,
                                 std::uint8_t* out,
                                 unsigned first) const
{
    encode_symbols(symbols, count, out, first);
}

template <class Symbol>
void sync_encoder_kernel::encode_symbols(const Symbol* symbols,
                                         std::size_t count,
                                         std::uint8_t* out,
                                         unsigned first) const
{
    auto index = first % d_code.frame_symbols();
    for (std::size_t k = 0; k < count; ++k) {
        out = std::copy_n(d_code.word(index, symbols[k] % d_code.q()), d_code.n(), out);
        index = index + 1 == d_code.frame_symbols() ? 0 : index + 1;
    }
}

} // namespace gr::gpufec
