// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block ldpc_encoder: factory, and encoding of a frame. */

#include "common/packed_bits.h"
#include "ldpc_code_of.h"
#include "ldpc_encoder_impl.h"
#include "ldpc_parameters.h"
#include <gnuradio/io_signature.h>
#include <algorithm>
#include <numeric>

namespace gr::gpufec {

ldpc_encoder::sptr ldpc_encoder::make(const ldpc_encoder_options& given)
{
    return gnuradio::make_block_sptr<ldpc_encoder_impl>(
        ldpc_code_of({ given.standard,
                       given.frame_size,
                       given.rate,
                       given.code_file,
                       given.punctured,
                       given.shortened,
                       given.message_positions }),
        given.packed_input,
        given.packed_output,
        given.length_tag);
}

ldpc_encoder_impl::ldpc_encoder_impl(const ldpc_code& code,
                                     bool packed_input,
                                     bool packed_output,
                                     const std::string& length_tag)
    : gr::block("ldpc_encoder",
                gr::io_signature::make(1, 1, sizeof(std::uint8_t)),
                gr::io_signature::make(1, 1, sizeof(std::uint8_t))),
      encoder_block(packed_input ? (code.k() + 7) / 8 : code.k(),
                    packed_output ? (code.sent() + 7) / 8 : code.sent(),
                    length_tag),
      d_kernel(code),
      d_packed_input(packed_input),
      d_packed_output(packed_output)
{
    if (!code.warning().empty()) {
        d_logger->warn("{}", code.warning());
    }
    const auto common = std::gcd(d_frame_output, d_block_items);
    set_relative_rate(std::uint64_t(d_frame_output / common),
                      std::uint64_t(d_block_items / common));
}

void ldpc_encoder_impl::encode(const std::vector<std::uint8_t>& items,
                               std::vector<std::uint8_t>& coded)
{
    const auto& code = d_kernel.code();
    if (!d_packed_input) {
        d_packed.resize((code.k() + 7) / 8);
        pack_bits(items.data(), code.k(), d_packed.data());
    }
    const auto& message = d_packed_input ? items : d_packed;
    if (d_packed_output) {
        coded.resize(d_frame_output);
        d_kernel.encode_packed(message.data(), coded.data());
    } else {
        d_codeword.resize((code.sent() + 7) / 8);
        d_kernel.encode_packed(message.data(), d_codeword.data());
        coded.resize(code.sent());
        unpack_bits(d_codeword.data(), 0, code.sent(), coded.data());
    }
}

std::uint64_t ldpc_encoder_impl::output_of_item(std::uint64_t item) const
{
    const auto& message = d_kernel.code().message_positions();
    const auto in_frame = item % d_block_items * (d_packed_input ? 8 : 1);
    // Finds the last transmitted bit at or before the message bit, because the message
    // bit itself may be punctured.
    auto bit = in_frame < message.size() ? std::size_t(message[in_frame]) : 0;
    const auto& sent = d_kernel.code().sent_positions();
    if (!sent.empty()) {
        const auto next = std::upper_bound(sent.begin(), sent.end(), bit);
        bit = next == sent.begin() ? 0 : next - sent.begin() - 1;
    }
    return item / d_block_items * d_frame_output + (d_packed_output ? bit / 8 : bit);
}

} // namespace gr::gpufec
