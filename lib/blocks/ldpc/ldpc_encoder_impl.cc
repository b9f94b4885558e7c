// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block ldpc_encoder: factory, and encoding of a frame. */

#include "common/packed_bits.h"
#include "ldpc_code_of.h"
#include "ldpc_encoder_impl.h"
#include "ldpc_parameters.h"
#include <gnuradio/io_signature.h>
#include <algorithm>

namespace gr::gpufec {

namespace {

std::size_t items_of(std::size_t bits, bool packed)
{
    return packed ? (bits + 7) / 8 : bits;
}

} // namespace

ldpc_encoder::sptr ldpc_encoder::make(const ldpc_encoder_options& given)
{
    if (const auto ppdu = wifi_ppdu_of(given)) {
        return gnuradio::make_block_sptr<ppdu_encoder_impl>(
            *ppdu, given.packed_input, given.packed_output, given.length_tag);
    }
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
      encoder_block(items_of(code.k(), packed_input),
                    items_of(code.sent(), packed_output),
                    length_tag),
      d_kernel(code),
      d_packed_input(packed_input),
      d_packed_output(packed_output)
{
    if (!code.warning().empty()) {
        d_logger->warn("{}", code.warning());
    }
    set_frame_rate();
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

ppdu_encoder_impl::ppdu_encoder_impl(const wifi_ppdu& ppdu,
                                     bool packed_input,
                                     bool packed_output,
                                     const std::string& length_tag)
    : gr::block("ldpc_encoder",
                gr::io_signature::make(1, 1, sizeof(std::uint8_t)),
                gr::io_signature::make(1, 1, sizeof(std::uint8_t))),
      encoder_block(items_of(ppdu.payload_bits(), packed_input),
                    items_of(ppdu.coded_bits(), packed_output),
                    length_tag),
      d_ppdu(ppdu),
      d_packed_input(packed_input),
      d_packed_output(packed_output),
      d_payload(ppdu.payload_bits()),
      d_bits(ppdu.coded_bits())
{
    set_frame_rate();
}

void ppdu_encoder_impl::encode(const std::vector<std::uint8_t>& items,
                               std::vector<std::uint8_t>& coded)
{
    if (d_packed_input) {
        unpack_bits(items.data(), 0, d_payload.size(), d_payload.data());
    } else {
        std::transform(items.begin(), items.end(), d_payload.begin(), [](auto item) {
            return item & 1;
        });
    }
    d_ppdu.encode(d_payload.data(), d_bits.data());
    coded.resize(d_frame_output);
    if (d_packed_output) {
        pack_bits(d_bits.data(), d_bits.size(), coded.data());
    } else {
        coded = d_bits;
    }
}

std::uint64_t ppdu_encoder_impl::output_of_item(std::uint64_t item) const
{
    const auto in_frame = item % d_block_items * (d_packed_input ? 8 : 1);
    const auto bit = d_ppdu.coded_bit(unsigned(in_frame));
    return item / d_block_items * d_frame_output + (d_packed_output ? bit / 8 : bit);
}

} // namespace gr::gpufec
