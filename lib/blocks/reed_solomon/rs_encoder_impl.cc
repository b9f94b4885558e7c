// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements the block rs_encoder, which encodes frames. */

#include "rs_encoder_impl.h"
#include "rs_parameters.h"
#include <gnuradio/io_signature.h>

namespace gr::gpufec {

rs_encoder::sptr rs_encoder::make(const rs_encoder_options& given)
{
    return gnuradio::make_block_sptr<rs_encoder_impl>(
        rs_kernel_of<reed_solomon_encoder_kernel>(given), given.length_tag);
}

rs_encoder_impl::rs_encoder_impl(const reed_solomon_encoder_kernel& kernel,
                                 const std::string& length_tag)
    : gr::block("rs_encoder",
                gr::io_signature::make(1, 1, sizeof(std::uint8_t)),
                gr::io_signature::make(1, 1, sizeof(std::uint8_t))),
      frame_block(kernel.interleaving() * kernel.code().k(),
                  sizeof(std::uint8_t),
                  kernel.interleaving() * kernel.code().n(),
                  length_tag),
      d_kernel(kernel)
{
}

void rs_encoder_impl::make_frame(const std::uint8_t* in, std::uint8_t* out, std::uint64_t)
{
    d_kernel.encode(in, out);
}

} // namespace gr::gpufec
