// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ldpc_code_of.h"
#include "ldpc_encoder_impl.h"
#include "ldpc_parameters.h"
#include "pipeline/packed_bits.h"
#include <gnuradio/io_signature.h>
#include <algorithm>
#include <numeric>

namespace gr::gpufec {

ldpc_encoder::sptr ldpc_encoder::make(const std::string& standard,
                                      const std::string& frame_size,
                                      const std::string& rate,
                                      const std::string& code_file,
                                      bool packed_input,
                                      bool packed_output,
                                      const std::vector<int>& punctured,
                                      const std::vector<int>& shortened)
{
    return gnuradio::make_block_sptr<ldpc_encoder_impl>(
        ldpc_code_of(standard, frame_size, rate, code_file, punctured, shortened),
        packed_input,
        packed_output);
}

ldpc_encoder_impl::ldpc_encoder_impl(const ldpc_code& code,
                                     bool packed_input,
                                     bool packed_output)
    : gr::block("ldpc_encoder",
                gr::io_signature::make(1, 1, sizeof(std::uint8_t)),
                gr::io_signature::make(1, 1, sizeof(std::uint8_t))),
      d_kernel(code),
      d_packed_input(packed_input),
      d_packed_output(packed_output),
      d_frame_input(packed_input ? (code.k() + 7) / 8 : code.k()),
      d_frame_output(packed_output ? (code.sent() + 7) / 8 : code.sent())
{
    const auto common = std::gcd(d_frame_output, d_frame_input);
    set_relative_rate(std::uint64_t(d_frame_output / common),
                      std::uint64_t(d_frame_input / common));
}

// Takes items up to the end of a frame.
std::size_t ldpc_encoder_impl::gather(const std::uint8_t* in, std::size_t items)
{
    const auto taken = std::min(items, d_frame_input - d_items.size());
    d_items.insert(d_items.end(), in, in + taken);
    return taken;
}

void ldpc_encoder_impl::encode(std::vector<std::uint8_t>& coded)
{
    if (d_items.size() < d_frame_input) {
        return; // the frame goes on with the next items
    }
    const auto& code = d_kernel.code();
    if (!d_packed_input) {
        d_packed.resize((code.k() + 7) / 8);
        pack_bits(d_items.data(), code.k(), d_packed.data());
    }
    const auto& message = d_packed_input ? d_items : d_packed;
    if (d_packed_output) {
        coded.resize(d_frame_output);
        d_kernel.encode_packed(message.data(), coded.data());
    } else {
        d_codeword.resize((code.sent() + 7) / 8);
        d_kernel.encode_packed(message.data(), d_codeword.data());
        coded.resize(code.sent());
        unpack_bits(d_codeword.data(), 0, code.sent(), coded.data());
    }
    d_items.clear();
}

std::uint64_t ldpc_encoder_impl::output_of_item(std::uint64_t item) const
{
    const auto& message = d_kernel.code().message_positions();
    const auto in_frame = item % d_frame_input * (d_packed_input ? 8 : 1);
    // The last sent bit up to the message bit, which may itself not be sent.
    auto bit = in_frame < message.size() ? std::size_t(message[in_frame]) : 0;
    const auto& sent = d_kernel.code().sent_positions();
    if (!sent.empty()) {
        const auto next = std::upper_bound(sent.begin(), sent.end(), bit);
        bit = next == sent.begin() ? 0 : next - sent.begin() - 1;
    }
    return item / d_frame_input * d_frame_output + (d_packed_output ? bit / 8 : bit);
}

} // namespace gr::gpufec
