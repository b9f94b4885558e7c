// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements the block conv_encoder, which encodes frames and streams. */

#include "blocks/common/parameters.h"
#include "common/packed_bits.h"
#include "conv_encoder_impl.h"
#include "conv_parameters.h"
#include <gnuradio/io_signature.h>
#include <algorithm>
#include <numeric>

namespace gr::gpufec {

namespace {

constexpr std::size_t stream_piece_bits = 1u << 15;

// Returns the number of output items per frame; 0 for a stream.
std::size_t
frame_output(const conv_code& code, termination ends, unsigned bits, bool packed)
{
    const auto tail = ends == termination::terminated ? code.constraint_length() - 1 : 0;
    return ends == termination::streaming ? 0
                                          : items_of(code.values(bits + tail), packed);
}

} // namespace

conv_encoder::sptr conv_encoder::make(const conv_encoder_options& given)
{
    const auto [code, ends] = conv_code_of(given.constraint_length,
                                           given.polynomials,
                                           given.puncturing,
                                           given.termination,
                                           given.preset);
    return gnuradio::make_block_sptr<conv_encoder_impl>(
        code,
        ends,
        not_negative("frame_bits", given.frame_bits),
        given.packed_input,
        given.packed_output,
        given.length_tag);
}

conv_encoder_impl::conv_encoder_impl(const conv_code& code,
                                     termination ends,
                                     unsigned frame_bits,
                                     bool packed_input,
                                     bool packed_output,
                                     const std::string& length_tag)
    : gr::block("conv_encoder",
                gr::io_signature::make(1, 1, sizeof(std::uint8_t)),
                gr::io_signature::make(1, 1, sizeof(std::uint8_t))),
      encoder_block(
          items_of(ends == termination::streaming ? stream_piece_bits : frame_bits,
                   packed_input),
          frame_output(code, ends, frame_bits, packed_output),
          length_tag),
      d_code(code),
      d_ends(ends),
      d_frame_bits(frame_bits),
      d_packed_input(packed_input),
      d_packed_output(packed_output),
      d_kernel(code, ends, frame_bits)
{
    if (const auto doubt = code.doubt(); !doubt.empty()) {
        d_logger->warn("{}", doubt);
    }
    std::uint64_t output = d_frame_output;
    std::uint64_t input = d_block_items;
    if (ends == termination::streaming) {
        output = code.values_per_period() * (packed_input ? 8 : 1);
        input = code.period() * (packed_output ? 8 : 1);
    }
    const auto common = std::gcd(output, input);
    set_relative_rate(output / common, input / common);
}

void conv_encoder_impl::restart()
{
    encoder_block::restart();
    d_kernel = conv_encoder_kernel(d_code, d_ends, d_frame_bits);
    d_left = 0;
    d_left_bits = 0;
}

void conv_encoder_impl::encode(const std::vector<std::uint8_t>& items,
                               std::vector<std::uint8_t>& coded)
{
    const bool stream = d_ends == termination::streaming;
    const auto bits = stream ? items.size() * (d_packed_input ? 8 : 1) : d_frame_bits;
    if (!d_packed_input) {
        d_bytes.resize((bits + 7) / 8);
        pack_bits(items.data(), bits, d_bytes.data());
    }
    const auto* const bytes = (d_packed_input ? items : d_bytes).data();
    const auto sent = d_kernel.coded_bits(bits);
    auto& packed = d_packed_output ? coded : d_coded;
    packed.resize((d_left_bits + sent + 7) / 8);
    if (!stream) {
        d_kernel.encode_frame_packed(bytes, packed.data());
    } else if (sent > 0) {
        packed[0] = d_left;
        d_kernel.encode_packed(bytes, bits, packed.data(), d_left_bits);
    }
    if (!d_packed_output) {
        coded.resize(sent);
        unpack_bits(d_coded.data(), 0, sent, coded.data());
    } else if (stream) {
        hold_incomplete_byte(coded, d_left_bits + sent);
    }
}

// Moves the last byte of `coded` to d_left if that byte is incomplete, because `bits`,
// the number of bits in `coded`, is not a multiple of 8.
void conv_encoder_impl::hold_incomplete_byte(std::vector<std::uint8_t>& coded,
                                             std::size_t bits)
{
    d_left_bits = bits % 8;
    if (d_left_bits > 0) {
        d_left = coded.back();
        coded.pop_back();
    }
}

void conv_encoder_impl::finish(std::vector<std::uint8_t>& coded)
{
    coded.push_back(d_left);
    d_left = 0;
    d_left_bits = 0;
}

std::uint64_t conv_encoder_impl::output_of_item(std::uint64_t item) const
{
    const unsigned bits_per_item = d_packed_input ? 8 : 1;
    const unsigned bits_per_output = d_packed_output ? 8 : 1;
    if (d_ends == termination::streaming) {
        return d_code.values(item * bits_per_item) / bits_per_output;
    }
    const auto frame = item / d_block_items;
    const auto bit = item % d_block_items * bits_per_item;
    return frame * d_frame_output + d_code.values(bit) / bits_per_output;
}

} // namespace gr::gpufec
