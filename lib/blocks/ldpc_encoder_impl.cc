/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "ldpc_encoder_impl.h"
#include "ldpc_parameters.h"
#include <gnuradio/io_signature.h>
#include <algorithm>
#include <numeric>

namespace gr {
namespace gpufec {

ldpc_encoder::sptr ldpc_encoder::make(const std::string& standard,
                                      const std::string& frame_size,
                                      const std::string& rate,
                                      const std::string& code_file,
                                      bool packed_input,
                                      bool packed_output)
{
    return gnuradio::make_block_sptr<ldpc_encoder_impl>(
        ldpc_code_of(standard, frame_size, rate, code_file), packed_input, packed_output);
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
      d_frame_output(packed_output ? (code.n() + 7) / 8 : code.n())
{
    set_tag_propagation_policy(TPP_CUSTOM);
    const auto common = std::gcd(d_frame_output, d_frame_input);
    set_relative_rate(std::uint64_t(d_frame_output / common),
                      std::uint64_t(d_frame_input / common));
}

bool ldpc_encoder_impl::start()
{
    // lock() and unlock() keep the detail, and what is in its buffers: the same stream
    // goes on. Else another one begins.
    if (d_detail.lock() != detail()) {
        d_items.clear();
        d_coded.clear();
        d_sent = 0;
        d_tags.clear();
        d_taken = d_given = 0;
        d_detail = detail();
    }
    return block::start();
}

void ldpc_encoder_impl::forecast(int, gr_vector_int& ninput_items_required)
{
    ninput_items_required[0] = d_sent < d_coded.size() ? 0 : 1;
}

int ldpc_encoder_impl::general_work(int noutput_items,
                                    gr_vector_int& ninput_items,
                                    gr_vector_const_void_star& input_items,
                                    gr_vector_void_star& output_items)
{
    const auto* const in = static_cast<const std::uint8_t*>(input_items[0]);
    auto* const out = static_cast<std::uint8_t*>(output_items[0]);
    const std::size_t available = ninput_items[0];
    const std::size_t room = noutput_items;
    std::size_t taken = 0;
    std::size_t given = send(out, room);
    while (given < room && taken < available) {
        taken += gather(in + taken, available - taken);
        encode();
        given += send(out + given, room - given);
    }

    hold_tags(taken);
    consume_each(taken);
    d_taken += taken;
    d_tags.release(d_given + given, [this](tag_t tag) {
        tag.offset += nitems_written(0) - d_given;
        add_item_tag(0, tag);
    });
    d_given += given;
    return given;
}

// Called with nothing left to send; takes items up to the end of a frame.
std::size_t ldpc_encoder_impl::gather(const std::uint8_t* in, std::size_t items)
{
    const auto taken = std::min(items, d_frame_input - d_items.size());
    d_items.insert(d_items.end(), in, in + taken);
    return taken;
}

void ldpc_encoder_impl::encode()
{
    if (d_items.size() < d_frame_input) {
        return; // the frame goes on with the next items
    }
    const auto& code = d_kernel.code();
    if (d_packed_input) {
        std::vector<std::uint8_t> bits(code.k());
        for (unsigned i = 0; i < code.k(); ++i) {
            bits[i] = d_items[i / 8] >> (7 - i % 8) & 1;
        }
        d_items = std::move(bits);
    }
    d_coded.resize(code.n());
    d_kernel.encode(d_items.data(), d_coded.data());
    if (d_packed_output) {
        std::vector<std::uint8_t> bytes(d_frame_output, 0);
        for (unsigned i = 0; i < code.n(); ++i) {
            bytes[i / 8] |= d_coded[i] << (7 - i % 8);
        }
        d_coded = std::move(bytes);
    }
    d_items.clear();
}

std::size_t ldpc_encoder_impl::send(std::uint8_t* out, std::size_t room)
{
    const auto n = std::min(room, d_coded.size() - d_sent);
    std::copy_n(d_coded.begin() + d_sent, n, out);
    d_sent += n;
    if (d_sent == d_coded.size()) {
        d_coded.clear();
        d_sent = 0;
    }
    return n;
}

std::uint64_t ldpc_encoder_impl::output_of_item(std::uint64_t item) const
{
    const auto& message = d_kernel.code().message_positions();
    const auto in_frame = item % d_frame_input * (d_packed_input ? 8 : 1);
    const auto bit = in_frame < message.size() ? message[in_frame] : 0;
    return item / d_frame_input * d_frame_output + (d_packed_output ? bit / 8 : bit);
}

void ldpc_encoder_impl::hold_tags(std::size_t taken)
{
    std::vector<tag_t> tags;
    get_tags_in_range(tags, 0, nitems_read(0), nitems_read(0) + taken);
    tag_queue::sort(tags);
    for (auto& tag : tags) {
        tag.offset = output_of_item(tag.offset - nitems_read(0) + d_taken);
        d_tags.hold(tag);
    }
}

} // namespace gpufec
} // namespace gr
