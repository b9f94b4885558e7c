// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Transfer frames from decoded LDPC codewords: tags, counts, PDUs. */

#include "ldpc_frames.h"
#include <gnuradio/block_detail.h>
#include <gnuradio/buffer_reader.h>
#include <gnuradio/io_signature.h>
#include <algorithm>
#include <utility>

namespace gr::gpufec {

ldpc_frames::ldpc_frames(std::size_t frame_bytes,
                         bool drop_failed,
                         status_tags tags,
                         const std::string& length_tag)
    : gr::block("ccsds_ldpc_frames",
                gr::io_signature::make(1, 1, sizeof(std::uint8_t)),
                gr::io_signature::make(1, 1, sizeof(std::uint8_t))),
      d_frame_bytes(frame_bytes),
      d_drop_failed(drop_failed),
      d_frame_key(pmt::mp("ccsds_frame")),
      d_valid_key(pmt::mp("ldpc_valid")),
      d_iterations_key(pmt::mp("ldpc_iterations")),
      d_good_key(pmt::mp("good")),
      d_emitter(*this, length_tag, tags)
{
    d_frame.reserve(frame_bytes);
    set_tag_propagation_policy(TPP_CUSTOM);
}

bool ldpc_frames::start()
{
    // As in ccsds_deframer, a new block_detail means that a new stream begins.
    if (d_detail.lock() != detail()) {
        d_emitter.restart();
        d_frame.clear();
        d_input_tags.clear();
        d_taken = d_frames = d_failed = 0;
        d_detail = detail();
    }
    return block::start();
}

void ldpc_frames::forecast(int, gr_vector_int& ninput_items_required)
{
    ninput_items_required[0] = d_emitter.empty() ? 1 : 0;
}

int ldpc_frames::general_work(int noutput_items,
                              gr_vector_int& ninput_items,
                              gr_vector_const_void_star& input_items,
                              gr_vector_void_star& output_items)
{
    const auto* const in = static_cast<const std::uint8_t*>(input_items[0]);
    const std::size_t available = ninput_items[0];
    const auto read = nitems_read(0);
    const auto fetch = [&](std::vector<tag_t>& tags, std::uint64_t from) {
        get_tags_in_range(tags, 0, read + from, read + available);
        for (auto& tag : tags) {
            tag.offset -= read + from;
        }
    };
    d_input_tags.read(d_taken, available, fetch, [this](const tag_t& tag) {
        return d_emitter.is_length(tag.key);
    });

    d_emitter.begin_work(static_cast<std::uint8_t*>(output_items[0]),
                         std::max(noutput_items, output_multiple()));
    std::size_t taken = 0;
    while (d_emitter.empty() && taken < available) {
        const auto n = std::min(available - taken, d_frame_bytes - d_frame.size());
        d_frame.insert(d_frame.end(), in + taken, in + taken + n);
        taken += n;
        d_taken += n;
        if (d_frame.size() == d_frame_bytes) {
            emit();
            d_frame.clear();
        }
    }
    consume_each(int(taken));
    return d_emitter.end_work(nitems_written(0),
                              [this](const tag_t& tag) { add_item_tag(0, tag); });
}

// Appends the complete frame, which ends before item d_taken, to the output.
void ldpc_frames::emit()
{
    auto state = pmt::make_dict();
    auto valid = pmt::PMT_F, iterations = pmt::PMT_NIL;
    std::vector<held_tag> others;
    d_input_tags.release(d_taken, [&](held_tag tag) {
        if (pmt::eq(tag.key, d_frame_key)) {
            state = tag.value;
        } else if (pmt::eq(tag.key, d_valid_key)) {
            valid = tag.value;
        } else if (pmt::eq(tag.key, d_iterations_key)) {
            iterations = tag.value;
        } else {
            tag.offset += d_emitter.next_item() + d_frame_bytes - d_taken;
            others.push_back(std::move(tag));
        }
    });
    const bool good = pmt::is_true(valid);
    ++(good ? d_frames : d_failed);
    if (!good && d_drop_failed) {
        return;
    }
    for (auto& tag : others) {
        d_emitter.hold(std::move(tag));
    }
    state = pmt::dict_add(state, d_good_key, valid);
    state = pmt::dict_add(state, d_iterations_key, iterations);
    d_emitter.append(d_frame.data(), d_frame.size(), state, good, true);
}

} // namespace gr::gpufec
