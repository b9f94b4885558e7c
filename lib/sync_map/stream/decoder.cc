// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The part of sync_decoder that its modes share: puts frames into batches and returns
 * decoded frames in order. */

#include "decoder_impl.h"
#include <cstring>

namespace gr::gpufec {

item_type sync_decoder_impl::expected_type() const
{
    return !d_options.soft_input                     ? item_type::uint8
           : d_options.item_bytes() == sizeof(float) ? item_type::float32
                                                     : item_type::group;
}

item_type sync_decoder_impl::output_type() const
{
    switch (d_options.output) {
    case sync_output::symbols:
        return d_setup->symbol_bytes() == 1 ? item_type::uint8 : item_type::uint16;
    case sync_output::llr:
        return item_type::int8;
    case sync_output::posteriors64:
        return item_type::float64;
    case sync_output::posteriors:
    case sync_output::extrinsics:
        break;
    }
    return item_type::float32;
}

std::size_t sync_decoder_impl::pull(output_items out)
{
    static constexpr std::size_t bytes[] = { 0, 1, 1, 2, 4, 8 }; // bytes per item,
                                                                 // by item_type
    const auto type = output_type();
    const auto size = bytes[int(type)];
    out.require(type);
    const auto n = d_frame_bytes / size;
    require(out.size() >= n,
            "size of output",
            out.size(),
            "at least " + std::to_string(n) + " items, the output of a frame");
    frame f;
    if (!pull(f)) {
        return 0;
    }
    d_status = f;
    if (!f.in_place) {
        std::memcpy(out.data(), f.output, f.output_bytes);
    }
    return n;
}

bool sync_decoder_impl::ready()
{
    release_emitted();
    return stream_decoder::ready();
}

bool sync_decoder_impl::all_pulled()
{
    release_emitted();
    return stream_decoder::all_pulled();
}

bool sync_decoder_impl::wait(std::chrono::milliseconds limit)
{
    release_emitted();
    const bool there = stream_decoder::wait(limit);
    if (there) {
        *d_notified = true;
    }
    return there;
}

void sync_decoder_impl::restart()
{
    d_count = d_emitted = 0;
    d_status.reset();
    d_number = 0;
    d_links_failed = d_frames_again = 0;
}

std::byte* sync_decoder_impl::next_input()
{
    return filling()->input + d_count * d_setup->input_bytes();
}

void sync_decoder_impl::added(std::size_t frames)
{
    d_count += frames;
    d_deadline.start();
    if (d_count == d_batch) {
        send();
    }
}

void sync_decoder_impl::send()
{
    const auto layout = rows();
    submit(job{ std::exchange(d_count, 0) }, layout);
}

void sync_decoder_impl::send_due()
{
    if (d_count > 0 && send_now() && filling()) {
        send();
    }
}

output_rows sync_decoder_impl::rows() const
{
    return { 0, d_count, d_frame_bytes, d_setup->output_bytes() };
}

void sync_decoder_impl::release_emitted()
{
    if (d_emitted == 0) {
        return;
    }
    const auto* slot = d_pipeline->ready();
    if (slot && d_emitted == slot->job.frames) {
        release();
        d_emitted = 0;
    }
}

std::size_t sync_decoder_impl::pull_from_slot(frame* frames, std::size_t count)
{
    const auto* slot = d_pipeline->ready();
    if (!slot) {
        return 0;
    }
    count = std::min(count, slot->job.frames - d_emitted);
    const auto* const status = reinterpret_cast<const sync_status*>(slot->status);
    const auto pitch = d_setup->output_bytes();
    for (auto* f = frames; f != frames + count; ++f) {
        const auto number = d_emitted++;
        f->number = d_number++;
        point_to(slot->output + number * pitch, *f);
        f->in_place = slot->borrowed.to;
        if (f->in_place) {
            f->output = slot->borrowed.to + number * d_frame_bytes;
        }
        f->status = status[number];
    }
    pulled(count * d_frame_bytes);
    return count;
}

void sync_decoder_impl::point_to(const std::byte* out, frame& f) const
{
    f.output = out;
    f.output_bytes = d_frame_bytes;
    f.first_drifts = f.last_drifts = nullptr;
    if (d_setup->drifts) {
        f.first_drifts = reinterpret_cast<const float*>(out + d_setup->drifts_at());
        f.last_drifts = f.first_drifts + d_setup->window;
    }
}

} // namespace gr::gpufec
