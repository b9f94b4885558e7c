// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements the block channel_bsid, which transmits frames and moves their tags. */

#include "channel_bsid_impl.h"
#include <gnuradio/io_signature.h>
#include <algorithm>

namespace gr::gpufec {

namespace {

// Maximum number of symbols that transmit() processes per call if the stream has no
// frames. This bounds the memory for their output.
constexpr std::size_t piece_bits = 1024;

} // namespace

channel_bsid::sptr channel_bsid::make(const channel_bsid_options& given)
{
    const bsid_model model(given.p_insert,
                           given.p_delete,
                           given.p_substitute,
                           not_negative("alphabet", given.alphabet, "2 to 16"));
    const auto bits = not_negative("frame_bits", given.frame_bits);
    if (bits > 0 && given.length_tag.empty()) {
        throw std::invalid_argument(
            "length_tag is \"\": if frame_bits is above 0, a key is required");
    }
    return gnuradio::make_block_sptr<channel_bsid_impl>(
        model, bits, given.length_tag, given.seed);
}

channel_bsid_impl::channel_bsid_impl(const bsid_model& model,
                                     unsigned frame_bits,
                                     const std::string& length_tag,
                                     std::uint64_t seed)
    : gr::block("channel_bsid",
                gr::io_signature::make(1, 1, sizeof(std::uint8_t)),
                gr::io_signature::make(1, 1, sizeof(std::uint8_t))),
      tagged_block(length_tag, false),
      d_frame_bits(frame_bits),
      d_length_key(length_tag.empty() ? pmt::pmt_t() : pmt::mp(length_tag)),
      d_source(pmt::mp(alias())),
      d_seed(seed),
      d_setting(model),
      d_model(model),
      d_channel(model, seed)
{
}

void channel_bsid_impl::restart()
{
    d_channel = bsid_channel(d_model, d_seed);
    d_received.clear();
    d_frame_tags.clear();
    d_sent = d_emitted_of_frame = 0;
    d_giving = false;
    d_made = 0;
}

void channel_bsid_impl::forecast(int, gr_vector_int& ninput_items_required)
{
    ninput_items_required[0] = d_giving ? 0 : 1;
}

int channel_bsid_impl::general_work(int noutput_items,
                                    gr_vector_int& ninput_items,
                                    gr_vector_const_void_star& input_items,
                                    gr_vector_void_star& output_items)
{
    if (const auto model = d_setting.take()) {
        d_model = *model;
        d_channel.set_model(d_model);
    }
    const auto* const in = static_cast<const std::uint8_t*>(input_items[0]);
    auto* const out = static_cast<std::uint8_t*>(output_items[0]);
    const std::size_t capacity = noutput_items;
    const std::size_t available = ninput_items[0];
    read_tags(available);
    std::size_t taken = 0;
    std::size_t given = give(out, capacity);
    while (given < capacity && taken < available) {
        taken += transmit(in + taken, d_taken + taken, available - taken);
        given += give(out + given, capacity - given);
    }
    return leave(taken, given);
}

// Sends items of one frame or, without frames, of the stream through the channel. Between
// frames, drops items instead. Takes at most `count` items, beginning with item `item` of
// the stream, and returns their number. All earlier output must have been emitted.
std::size_t
channel_bsid_impl::transmit(const std::uint8_t* in, std::uint64_t item, std::size_t count)
{
    if (d_frame_bits > 0) {
        if (d_sent > 0 && d_lengths.cuts_frame(item)) {
            d_received.clear();
            d_frame_tags.clear();
            d_sent = 0;
        }
        const auto run = d_lengths.next(item, count, d_frame_bits);
        count = run.items;
        if (!run.of_frames) {
            drop(item + count, count);
            return count;
        }
    }
    const auto n = std::min(count, d_frame_bits ? d_frame_bits - d_sent : piece_bits);
    for (std::size_t k = 0; k < n; ++k) {
        d_input_tags.release(item + k + 1, [&](held_tag tag) {
            tag.offset = d_made + d_received.size();
            d_frame_tags.push_back(std::move(tag));
        });
        d_channel.send(in[k] % d_model.alphabet(), d_received);
    }
    d_lengths.took(item + n);
    d_lengths.forget(item + n);
    d_sent += n;
    if (d_frame_bits == 0 || d_sent == d_frame_bits) {
        end_frame();
    }
    return n;
}

void channel_bsid_impl::end_frame()
{
    if (d_frame_bits > 0 && !d_received.empty()) {
        tag_t length;
        length.offset = d_made;
        length.key = d_length_key;
        length.value = pmt::from_long(d_received.size());
        length.srcid = d_source;
        d_tags.hold(length);
    }
    for (auto& tag : d_frame_tags) {
        d_tags.hold(std::move(tag));
    }
    d_frame_tags.clear();
    d_made += d_received.size();
    d_giving = !d_received.empty();
    d_sent = 0;
}

std::size_t channel_bsid_impl::give(std::uint8_t* out, std::size_t capacity)
{
    if (!d_giving) {
        return 0;
    }
    const auto n = std::min(capacity, d_received.size() - d_emitted_of_frame);
    std::copy_n(d_received.begin() + d_emitted_of_frame, n, out);
    d_emitted_of_frame += n;
    if (d_emitted_of_frame == d_received.size()) {
        d_received.clear();
        d_emitted_of_frame = 0;
        d_giving = false;
    }
    return n;
}

} // namespace gr::gpufec
