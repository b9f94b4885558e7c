// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block bch_encoder: factory, and encoding of a frame. */

#include "bch_encoder_impl.h"
#include "common/packed_bits.h"
#include <gnuradio/io_signature.h>

namespace gr::gpufec {

bch_encoder::sptr bch_encoder::make(const bch_encoder_options& given)
{
    return gnuradio::make_block_sptr<bch_encoder_impl>(
        bch_code::standard(given.standard, given.frame_size, given.rate),
        given.packed_input,
        given.packed_output,
        given.length_tag);
}

bch_encoder_impl::bch_encoder_impl(const bch_code& code,
                                   bool packed_input,
                                   bool packed_output,
                                   const std::string& length_tag)
    : gr::block("bch_encoder",
                gr::io_signature::make(1, 1, sizeof(std::uint8_t)),
                gr::io_signature::make(1, 1, sizeof(std::uint8_t))),
      frame_block(packed_input ? (code.k() + 7) / 8 : code.k(),
                  sizeof(std::uint8_t),
                  packed_output ? (code.n() + 7) / 8 : code.n(),
                  length_tag),
      d_kernel(code),
      d_packed_input(packed_input),
      d_packed_output(packed_output),
      d_packed((code.n() + 7) / 8)
{
}

void bch_encoder_impl::make_frame(const std::uint8_t* in,
                                  std::uint8_t* out,
                                  std::uint64_t)
{
    const auto& code = d_kernel.code();
    if (!d_packed_input) {
        pack_bits(in, code.k(), d_packed.data());
        in = d_packed.data();
    }
    if (d_packed_output) {
        d_kernel.encode(in, out);
    } else {
        d_kernel.encode(in, d_packed.data());
        unpack_bits(d_packed.data(), 0, code.n(), out);
    }
}

std::size_t bch_encoder_impl::output_of_item(std::size_t item) const
{
    const auto bit = item * (d_packed_input ? 8 : 1);
    return d_packed_output ? bit / 8 : bit;
}

} // namespace gr::gpufec
