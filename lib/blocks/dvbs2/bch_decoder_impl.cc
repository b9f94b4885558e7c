// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block bch_decoder: factory, decoding of a frame, and status tags. */

#include "bch_decoder_impl.h"
#include "common/packed_bits.h"
#include <gnuradio/io_signature.h>
#include <algorithm>

namespace gr::gpufec {

bch_decoder::sptr bch_decoder::make(const bch_decoder_options& given)
{
    return gnuradio::make_block_sptr<bch_decoder_impl>(
        bch_code::standard(given.standard, given.frame_size, given.rate),
        given.packed_input,
        given.packed_output,
        given.status_tags,
        given.length_tag);
}

bch_decoder_impl::bch_decoder_impl(const bch_code& code,
                                   bool packed_input,
                                   bool packed_output,
                                   status_tags tags,
                                   const std::string& length_tag)
    : gr::block("bch_decoder",
                gr::io_signature::make(1, 1, sizeof(std::uint8_t)),
                gr::io_signature::make(1, 1, sizeof(std::uint8_t))),
      frame_block(packed_input ? (code.n() + 7) / 8 : code.n(),
                  sizeof(std::uint8_t),
                  packed_output ? (code.k() + 7) / 8 : code.k(),
                  length_tag),
      d_kernel(code),
      d_packed_input(packed_input),
      d_packed_output(packed_output),
      d_status_tags(tags),
      d_errors_key(pmt::mp("bch_errors")),
      d_valid_key(pmt::mp("bch_valid")),
      d_packed((code.n() + 7) / 8)
{
}

void bch_decoder_impl::make_frame(const std::uint8_t* in,
                                  std::uint8_t* out,
                                  std::uint64_t first)
{
    const auto& code = d_kernel.code();
    if (d_packed_input) {
        std::copy_n(in, d_packed.size(), d_packed.begin());
    } else {
        pack_bits(in, code.n(), d_packed.data());
    }
    const auto errors = d_kernel.decode(d_packed.data());
    const bool valid = errors != bch_decoder_kernel::failed;
    if (d_packed_output) {
        std::copy_n(d_packed.begin(), d_output, out);
        if (code.k() % 8) {
            out[d_output - 1] &= 0xff00u >> code.k() % 8;
        }
    } else {
        unpack_bits(d_packed.data(), 0, code.k(), out);
    }

    ++d_frames;
    d_failures += !valid;
    d_corrected += valid ? errors : 0;
    if (d_status_tags == status_tags::all ||
        (d_status_tags == status_tags::failures && !valid)) {
        add_item_tag(0, first, d_errors_key, pmt::from_long(errors));
        add_item_tag(0, first, d_valid_key, pmt::from_bool(valid));
    }
}

std::size_t bch_decoder_impl::output_of_item(std::size_t item) const
{
    const auto bit = item * (d_packed_input ? 8 : 1);
    return d_packed_output ? bit / 8 : bit;
}

} // namespace gr::gpufec
