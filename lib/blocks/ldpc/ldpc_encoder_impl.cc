// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements the block ldpc_encoder: its factory, its formats of frames, and the
 * encoding. */

#include "common/packed_bits.h"
#include "ldpc_code_of.h"
#include "ldpc_encoder_impl.h"
#include "ldpc_parameters.h"
#include <gnuradio/gpufec/ldpc.h>
#include <gnuradio/gpufec/wifi.h>
#include <gnuradio/io_signature.h>
#include <algorithm>
#include <utility>

namespace gr::gpufec {

namespace {

ldpc_encoder_impl::frame_format codewords(const ldpc_code& code)
{
    const auto encode = [kernel = ldpc_encoder_kernel(code)](const auto* message,
                                                             auto* sent) {
        kernel.encode_packed(message, sent);
    };
    const auto sent_bit = [code](std::size_t message_bit) {
        const auto& message = code.message_positions();
        const auto bit =
            message_bit < message.size() ? std::size_t(message[message_bit]) : 0;
        const auto& sent = code.sent_positions();
        if (sent.empty()) {
            return bit;
        }
        const auto next = std::upper_bound(sent.begin(), sent.end(), bit);
        return next == sent.begin() ? 0 : std::size_t(next - sent.begin() - 1);
    };
    return { code.k(), code.sent(), encode, sent_bit, code.warning() };
}

ldpc_encoder_impl::frame_format ppdus(const wifi_ppdu& ppdu)
{
    using bits = std::vector<std::uint8_t>; // one bit per byte
    const auto encode =
        [ppdu, payload = bits(ppdu.payload_bits()), coded = bits(ppdu.coded_bits())](
            const auto* message, auto* sent) mutable {
            unpack_bits(message, 0, payload.size(), payload.data());
            ppdu.encode(payload.data(), coded.data());
            pack_bits(coded.data(), coded.size(), sent);
        };
    const auto sent_bit = [ppdu](std::size_t bit) -> std::size_t {
        return ppdu.coded_bit(unsigned(bit));
    };
    return { ppdu.payload_bits(), ppdu.coded_bits(), encode, sent_bit, "" };
}

} // namespace

ldpc_encoder::sptr ldpc_encoder::make(const ldpc_encoder_options& given)
{
    const auto ppdu = wifi_ppdu_of(given);
    return gnuradio::make_block_sptr<ldpc_encoder_impl>(
        ppdu ? ppdus(*ppdu)
             : codewords(ldpc_code_of({ given.standard,
                                        given.frame_size,
                                        given.rate,
                                        given.code_file,
                                        given.punctured,
                                        given.shortened,
                                        given.message_positions })),
        given.packed_input,
        given.packed_output,
        given.length_tag);
}

ldpc_encoder_impl::ldpc_encoder_impl(frame_format format,
                                     bool packed_input,
                                     bool packed_output,
                                     const std::string& length_tag)
    : gr::block("ldpc_encoder",
                gr::io_signature::make(1, 1, sizeof(std::uint8_t)),
                gr::io_signature::make(1, 1, sizeof(std::uint8_t))),
      encoder_block(items_of(format.message_bits, packed_input),
                    items_of(format.sent_bits, packed_output),
                    length_tag),
      d_format(std::move(format)),
      d_packed_input(packed_input),
      d_packed_output(packed_output),
      d_message((d_format.message_bits + 7) / 8),
      d_sent((d_format.sent_bits + 7) / 8)
{
    if (!d_format.warning.empty()) {
        d_logger->warn("{}", d_format.warning);
    }
    set_frame_rate();
}

void ldpc_encoder_impl::encode(const std::vector<std::uint8_t>& items,
                               std::vector<std::uint8_t>& coded)
{
    if (!d_packed_input) {
        pack_bits(items.data(), d_format.message_bits, d_message.data());
    }
    coded.resize(d_frame_output);
    d_format.encode(d_packed_input ? items.data() : d_message.data(),
                    d_packed_output ? coded.data() : d_sent.data());
    if (!d_packed_output) {
        unpack_bits(d_sent.data(), 0, d_format.sent_bits, coded.data());
    }
}

std::uint64_t ldpc_encoder_impl::output_of_item(std::uint64_t item) const
{
    const auto bit = d_format.sent_bit(item % d_block_items * (d_packed_input ? 8 : 1));
    return item / d_block_items * d_frame_output + (d_packed_output ? bit / 8 : bit);
}

} // namespace gr::gpufec
