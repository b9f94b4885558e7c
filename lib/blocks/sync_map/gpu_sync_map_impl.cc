// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements the block gpu_sync_map: its input and output of frames, and its tags. */

#include "gpu_sync_map_impl.h"
#include <algorithm>
#include <cstring>

namespace gr::gpufec {

void gpu_sync_map_impl::restart()
{
    d_frame.restart();
    d_priors.clear();
    d_rest.clear();
    d_rest_emitted = 0;
    d_moving.clear();
    d_pushed = 0;
    d_frame_end = 0;
    d_frames = d_failed = d_skipped = 0;
    d_judgement.clear();
}

// If all frames so far have failed, sets d_judgement to a warning that the signal does
// not fit the code, and logs it once.
void gpu_sync_map_impl::judge_frames()
{
    if (d_frames > 0 && d_failed == d_frames && d_judgement.empty()) {
        d_judgement =
            "no signal of this code: none of the first " + std::to_string(d_frames) +
            " frames is valid; check the codebook, the lengths of frames and the "
            "channel's probabilities";
        d_logger->warn("{}", d_judgement);
    }
}

void gpu_sync_map_impl::ending()
{
    judge_frames();
    if (!d_stream && decoder_divides() && d_taken % d_options.frame_items > 0) {
        d_frame.warn_of_end();
    }
    const auto rest = std::int64_t(d_taken) - d_frame_end;
    // If more items remain than the drift of the last frame can explain, they belong to
    // a further, incomplete frame.
    if (d_stream && rest > d_decoder->window().last) {
        incomplete_frame{ std::size_t(rest), d_options.code.frame_bits() }.log(
            *d_logger, d_frames > 0);
    }
}

bool gpu_sync_map_impl::on_tag(const tag_t& tag)
{
    if (d_stream) {
        return d_frame.is_length(tag.key);
    }
    const bool is_length = d_frame.on_tag(tag);
    d_skipped = d_frame.ignored();
    return is_length;
}

// Requires no items while output remains to be emitted. Otherwise requires a new item of
// the first input, unless a frame is complete or the input has ended. If a frame lacks
// only priors, requires an item of the second input.
void gpu_sync_map_impl::require_items(gr_vector_int& required)
{
    if (!d_rest.empty()) {
        return;
    }
    const auto in = look_at(0, nullptr);
    const bool no_more = in.ended && in.available <= borrowed();
    required[0] = d_frame.complete() || no_more ? 0 : one_more();
    if (d_options.priors) {
        const bool frame_there = d_frame.complete() || (d_frame.open() && no_more);
        const auto priors = look_at(1, nullptr);
        const bool more = priors.available > 0 || !priors.ended;
        required[1] = frame_there && d_priors.size() < d_prior_count && more;
    }
}

// Returns whether input must wait until a slot is free. If input is copied, a frame is
// gathered to its end even if all slots are in flight.
bool gpu_sync_map_impl::held_up()
{
    return ((decoder_divides() || borrows()) && decoder_block::held_up()) ||
           (d_frame.complete() && priors_known());
}

std::size_t
gpu_sync_map_impl::pull(std::byte* out, std::size_t capacity, std::uint64_t first)
{
    std::size_t given = give_rest(out, capacity);
    sync_decoder::frame frames[64];
    while (given < capacity) {
        const auto whole = (capacity - given) / d_frame_output;
        if (whole == 0 && d_ports && d_ports->output()) {
            break; // the host cannot read the frame in device memory, to keep its rest
        }
        const auto n =
            d_decoder->pull(frames, std::clamp<std::size_t>(whole, 1, std::size(frames)));
        if (n == 0) {
            break;
        }
        for (auto* f = frames; f != frames + n; ++f) {
            const auto first_item = first + given;
            report(*f, first_item);
            if (d_stream || !d_moving.empty()) {
                hold_input_tags(*f, first_item);
            }
            const auto* const bytes = static_cast<const std::byte*>(f->output);
            if (whole > 0) {
                if (!f->in_place) {
                    std::memcpy(out + given * d_output_size, bytes, f->output_bytes);
                }
                given += d_frame_output;
            } else {
                d_rest.assign(bytes, bytes + f->output_bytes);
                d_rest_emitted = 0;
                given += give_rest(out + given * d_output_size, capacity - given);
            }
        }
    }
    return given;
}

// Emits the remaining output of a frame that fitted only in part into the output
// buffer.
std::size_t gpu_sync_map_impl::give_rest(std::byte* out, std::size_t capacity)
{
    const auto n = std::min(capacity * d_output_size, d_rest.size() - d_rest_emitted);
    std::copy_n(d_rest.begin() + d_rest_emitted, n, out);
    d_rest_emitted += n;
    if (d_rest_emitted == d_rest.size()) {
        d_rest.clear();
        d_rest_emitted = 0;
    }
    return n / d_output_size;
}

bool gpu_sync_map_impl::push(input& in, input& second)
{
    return decoder_divides() ? push_items(in) : push_frames(in, second);
}

bool gpu_sync_map_impl::push_items(input& in)
{
    const bool some = take(in, [this](const std::byte* items, std::size_t count) {
        return d_decoder->push({ items, count });
    });
    d_input_tags.release(next_item(in), [this](held_tag tag) {
        if (!d_stream) {
            tag.offset = symbol_at(tag.offset / d_options.frame_items,
                                   tag.offset % d_options.frame_items);
        }
        d_moving.hold(std::move(tag));
    });
    return some;
}

// Returns the index in the stream of the symbol to which an item of a frame belongs if
// the channel inserted and deleted nothing.
std::uint64_t gpu_sync_map_impl::symbol_at(std::uint64_t frame, std::uint64_t item) const
{
    const std::uint64_t N = d_options.code.frame_symbols();
    return frame * N + std::min(item / d_options.code.n(), N - 1);
}

bool gpu_sync_map_impl::push_frames(input& in, input& priors)
{
    bool some = false;
    for (bool more = true; more; some |= more) {
        more = push_whole_frames(in);
        more |= !d_frame.complete() && push_part(in);
        if (in.ended && in.left() == 0) {
            d_frame.end();
        }
        more |= d_options.priors && gather_priors(priors);
        more |= push_frame();
    }
    return some;
}

// Pushes frames whose items are all available directly from the ring, without gathering
// them. For frames with priors, and for input that is read in place, push_part() is used
// instead.
bool gpu_sync_map_impl::push_whole_frames(input& in)
{
    bool some = false;
    while (!d_options.priors && !borrows()) {
        const auto item = next_item(in);
        const auto n = d_frame.whole(item, in.left());
        if (n == 0 || !d_decoder->push_frame({ in.items + in.taken * d_input_size, n })) {
            break;
        }
        take(in, n, [](const std::byte*, std::size_t count) { return count; });
        move_tags(item, n, 0);
        d_frame.pass();
        ++d_pushed;
        some = true;
    }
    return some;
}

// Moves the tags of items `first` to `first` + `count` − 1 to d_moving, whose offsets
// count symbols. `before` is the number of earlier items of the same frame.
void gpu_sync_map_impl::move_tags(std::uint64_t first,
                                  std::size_t count,
                                  std::uint64_t before)
{
    d_input_tags.release(first + count, [&](held_tag tag) {
        tag.offset = symbol_at(d_pushed, before + tag.offset - first);
        d_moving.hold(std::move(tag));
    });
}

// Takes items of one frame, or drops items between frames. Returns whether any item was
// taken or dropped.
bool gpu_sync_map_impl::push_part(input& in)
{
    const auto first = next_item(in), before = std::uint64_t(d_frame.count());
    const auto most = d_frame.next(first, in.left());
    if (most == 0) {
        return false;
    }
    const auto n = d_frame.open()
                       ? take(in,
                              most,
                              [this](const std::byte* items, std::size_t count) {
                                  return d_decoder->push({ items, count });
                              })
                       : pass_over(in, [&] { return d_decoder->skip(most); });
    if (d_frame.open()) {
        move_tags(first, n, before);
    } else {
        d_input_tags.release(first + n, [](const held_tag&) {});
    }
    d_frame.took(n);
    return n > 0;
}

// Pushes the frame if it is complete, need not wait for priors, and the decoder accepts
// it. Returns whether the frame was pushed.
bool gpu_sync_map_impl::push_frame()
{
    if (!d_frame.complete() || !priors_known() || !d_decoder->end_frame(frame_priors())) {
        return false;
    }
    ++d_pushed;
    d_frame.clear();
    d_priors.clear();
    return true;
}

void gpu_sync_map_impl::report(const sync_decoder::frame& f, std::uint64_t first_item)
{
    const auto& s = f.status;
    if (!s.valid) {
        ++d_failed;
    }
    // Only this thread counts, so a plain addition suffices, which is faster.
    const auto frames = d_frames.load(std::memory_order_relaxed) + 1;
    d_frames.store(frames, std::memory_order_relaxed);
    if (frames == frames_before_verdict) {
        judge_frames();
    }
    if (d_status_tags == status_tags::all ||
        (d_status_tags == status_tags::failures && !s.valid)) {
        add_tag(first_item, d_drift_key, drift_value(s.end_drift - s.start_drift));
        add_tag(first_item, d_logp_key, pmt::from_double(s.log_probability));
        add_tag(first_item, d_valid_key, pmt::from_bool(s.valid));
        if (d_stream) {
            add_tag(first_item, d_lock_key, pmt::from_bool(f.locked));
            if (d_bounds) {
                add_tag(first_item, d_bound_key, pmt::from_double(f.bound));
            }
        }
    }
    if (d_stream) {
        d_links_failed = d_decoder->links_failed();
        d_frames_again = d_decoder->frames_again();
    }
    if (d_length_key) {
        add_tag(first_item, d_length_key, d_length_value);
    }
}

pmt::pmt_t gpu_sync_map_impl::drift_value(int drift)
{
    const auto place = unsigned(drift + 64);
    if (place >= d_drift_values.size()) {
        return pmt::from_long(drift);
    }
    auto& value = d_drift_values[place];
    if (!value) {
        value = pmt::from_long(drift);
    }
    return value;
}

void gpu_sync_map_impl::hold_input_tags(const sync_decoder::frame& f,
                                        std::uint64_t first_item)
{
    const std::int64_t n = d_options.code.n(), N = d_options.code.frame_symbols();
    const std::int64_t begin = d_stream ? f.begin : f.number * N;
    const std::int64_t size =
        d_stream ? n * N + f.status.end_drift - f.status.start_drift : N;
    d_frame_end = begin + size;
    d_moving.release(std::max<std::int64_t>(0, d_frame_end), [&](held_tag tag) {
        const std::int64_t at = std::int64_t(tag.offset) - begin;
        const auto symbol = std::clamp<std::int64_t>(d_stream ? at / n : at, 0, N - 1);
        tag.offset = first_item + symbol * d_symbol_items;
        d_tags.hold(std::move(tag));
    });
}

} // namespace gr::gpufec
