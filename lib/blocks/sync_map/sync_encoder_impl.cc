// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements the block sync_encoder, which encodes frames. */

#include "sync_encoder_impl.h"
#include "sync_parameters.h"
#include <gnuradio/io_signature.h>

namespace gr::gpufec {

sync_encoder::sptr sync_encoder::make(const sync_encoder_options& given)
{
    return gnuradio::make_block_sptr<sync_encoder_impl>(sync_code_of(given),
                                                        given.length_tag);
}

sync_encoder_impl::sync_encoder_impl(const sync_code& code, const std::string& length_tag)
    : gr::block("sync_encoder",
                gr::io_signature::make(1, 1, symbol_item_size(code)),
                gr::io_signature::make(1, 1, sizeof(std::uint8_t))),
      frame_block(code.frame_symbols(),
                  symbol_item_size(code),
                  code.frame_bits(),
                  length_tag,
                  false),
      d_encoder(code),
      d_length_key(length_tag.empty() ? pmt::pmt_t() : pmt::mp(length_tag)),
      d_source(pmt::mp(alias()))
{
}

void sync_encoder_impl::make_frame(const std::uint8_t* in,
                                   std::uint8_t* out,
                                   std::uint64_t first)
{
    const auto& code = d_encoder.code();
    if (symbol_item_size(code) == sizeof(std::uint8_t)) {
        d_encoder.encode(in, code.frame_symbols(), out);
    } else {
        const auto* const symbols = reinterpret_cast<const std::uint16_t*>(in);
        d_encoder.encode(symbols, code.frame_symbols(), out);
    }
    if (d_length_key) {
        add_item_tag(0, first, d_length_key, pmt::from_long(code.frame_bits()), d_source);
    }
}

} // namespace gr::gpufec
