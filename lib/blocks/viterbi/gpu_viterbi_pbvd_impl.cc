// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements the block gpu_viterbi_pbvd: its input and output, and its tags. */

#include "common/ranges.h"
#include "gpu_viterbi_pbvd_impl.h"
#include <pmt/pmt.h>
#include <utility>

namespace gr::gpufec {

bool gpu_viterbi_pbvd_impl::push(input& in, input&)
{
    if (d_options.termination != termination::streaming && !d_locks) {
        return push_frames(in);
    }
    const bool some = take(in, [this](const std::byte* items, std::size_t count) {
        return d_decoder->push({ items, count });
    });
    move_tags(std::min<std::uint64_t>(next_item(in), d_decoder->placed_items()));
    return some;
}

// Takes items of frames, or drops items between frames. Returns whether any item was
// taken or dropped. If a length tag cuts a frame short, drops that frame first.
bool gpu_viterbi_pbvd_impl::push_frames(input& in)
{
    const auto item = next_item(in);
    const auto frame = d_decoder->items_per_frame();
    if (d_have > 0 && d_lengths.cuts_frame(item)) {
        d_decoder->drop_incomplete();
        d_lengths.drop(d_input_tags, item);
        d_dropped += std::exchange(d_have, 0);
        ++d_skipped;
    }
    const auto run = d_lengths.next(item, in.left(), frame);
    d_skipped += run.lost;
    if (!run.of_frames) {
        const auto n = pass_over(in, [&] { return d_decoder->skip(run.items); });
        d_lengths.drop(d_input_tags, item + n);
        d_dropped += n;
        return n > 0;
    }
    const auto n = take(in, run.items, [this](const std::byte* items, std::size_t count) {
        return d_decoder->push({ items, count });
    });
    d_lengths.took(item + n);
    d_have = (d_have + n) % frame;
    // Moves only the tags of complete frames, because an incomplete frame may be dropped.
    move_tags(item + n - d_have);
    return n > 0;
}

std::size_t
gpu_viterbi_pbvd_impl::pull(std::byte* out, std::size_t capacity, std::uint64_t first)
{
    auto* const to = reinterpret_cast<std::uint8_t*>(out);
    const auto pulled = d_decoder->pull({ to, capacity, d_packed });
    if (const auto latest = d_decoder->status()) {
        d_channel_error_rate = latest->channel_error_rate;
        d_metric = latest->metric;
    }
    for (viterbi_decoder::batch_statistics s; d_decoder->take_stream_statistics(s);) {
        d_statistics.push_back(s);
    }
    for (; !d_statistics.empty(); d_statistics.pop_front()) {
        const auto& oldest = d_statistics.front();
        const auto item = d_packed ? oldest.first_byte : oldest.first_bit;
        if (item >= first + pulled) {
            break;
        }
        add_tag(item, d_ber_key, pmt::from_double(oldest.channel_error_rate));
        add_tag(item, d_metric_key, pmt::from_double(oldest.metric));
    }
    follow_lock(first + pulled);
    if (d_frame_output > 0) {
        d_frames = (first + pulled) / d_frame_output;
    }
    return pulled;
}

void gpu_viterbi_pbvd_impl::restart()
{
    d_statistics.clear();
    d_changes.clear();
    d_channel_error_rate = d_metric = NAN;
    d_lengths.restart();
    d_have = d_dropped = d_skipped = d_frames = 0;
    std::lock_guard<std::mutex> guard(d_lock_mutex);
    d_lock = viterbi_lock();
}

// Moves the tags of items before `end` to the output.
void gpu_viterbi_pbvd_impl::move_tags(std::uint64_t end)
{
    const auto output_of_item = [this](std::uint64_t item) {
        return d_decoder->output_of_item(item - d_dropped, d_packed);
    };
    d_lengths.move(d_input_tags, end, d_tags, output_of_item, output_of_item);
}

void gpu_viterbi_pbvd_impl::set_soft_scale(float soft_scale)
{
    require_above_0("soft_scale", soft_scale);
    d_soft_scale = soft_scale;
    change("soft_scale", [this, soft_scale] { d_decoder->set_soft_scale(soft_scale); });
}

} // namespace gr::gpufec
