// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Makes transfer frames, with their tags, counts and PDUs, from decoded LDPC
 * codewords. */

#include "ldpc_frames.h"
#include <gnuradio/io_signature.h>
#include <algorithm>
#include <utility>

namespace gr::gpufec {

ldpc_frames::ldpc_frames(std::size_t frame_bytes,
                         bool drop_failed,
                         status_tags tags,
                         const std::string& length_tag)
    : stream_block("ccsds_ldpc_frames",
                   gr::io_signature::make(1, 1, sizeof(std::uint8_t)),
                   gr::io_signature::make(1, 1, sizeof(std::uint8_t))),
      d_frame_bytes(frame_bytes),
      d_drop_failed(drop_failed),
      d_frame_key(pmt::mp("ccsds_frame")),
      d_valid_key(pmt::mp("ldpc_valid")),
      d_iterations_key(pmt::mp("ldpc_iterations")),
      d_good_key(pmt::mp("good")),
      d_emitter(*this, d_tags, length_tag, tags)
{
    d_frame.reserve(frame_bytes);
}

void ldpc_frames::begin_stream()
{
    d_emitter.restart();
    d_frame.clear();
    d_frames = d_failed = 0;
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
    read_tags(available,
              [this](const tag_t& tag) { return d_emitter.is_length(tag.key); });

    d_emitter.begin_work(static_cast<std::uint8_t*>(output_items[0]),
                         std::max(noutput_items, output_multiple()));
    std::size_t taken = 0;
    while (d_emitter.empty() && taken < available) {
        const auto n = std::min(available - taken, d_frame_bytes - d_frame.size());
        d_frame.insert(d_frame.end(), in + taken, in + taken + n);
        taken += n;
        if (d_frame.size() == d_frame_bytes) {
            emit(d_taken + taken);
            d_frame.clear();
        }
    }
    return leave(taken, d_emitter.given());
}

// Counts the complete frame, which ends before input item `end`, and appends the frame
// with its tags to the output, unless it is invalid and invalid frames are dropped.
void ldpc_frames::emit(std::uint64_t end)
{
    auto state = pmt::make_dict();
    auto valid = pmt::PMT_F, iterations = pmt::PMT_NIL;
    std::vector<held_tag> others;
    d_input_tags.release(end, [&](held_tag tag) {
        if (pmt::eq(tag.key, d_frame_key)) {
            state = tag.value;
        } else if (pmt::eq(tag.key, d_valid_key)) {
            valid = tag.value;
        } else if (pmt::eq(tag.key, d_iterations_key)) {
            iterations = tag.value;
        } else {
            tag.offset += d_emitter.next_item() + d_frame_bytes - end;
            others.push_back(std::move(tag));
        }
    });
    const bool good = pmt::is_true(valid);
    ++(good ? d_frames : d_failed);
    if (!good && d_drop_failed) {
        return;
    }
    for (auto& tag : others) {
        d_tags.hold(std::move(tag));
    }
    state = pmt::dict_add(state, d_good_key, valid);
    state = pmt::dict_add(state, d_iterations_key, iterations);
    d_emitter.append(d_frame.data(), d_frame.size(), state, good, true);
}

} // namespace gr::gpufec
