// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The input side of the LDPC stream decoder: conversion of pushed or borrowed values and
 * assembly of batches. decoder_output.cc defines the output side. */

#include "common/ranges.h"
#include "decoder_impl.h"
#include "sent_values.h"
#include "vlsnr_decoder.h"
#include <algorithm>
#include <cstring>

namespace gr::gpufec {

using namespace ldpc;

ldpc_decoder_impl::ldpc_decoder_impl(const ldpc_options& options, decoder_hooks hooks)
    : stream_decoder(options, std::move(hooks), 1, options.item_bytes()),
      d_options(options),
      d_formats(options.codes.size())
{
    require_above_0("llr_scale", options.llr_scale);
    require_from_0("soft_scale", options.soft_scale);
    open(make_setup(options));
    d_filling.emplace(*d_setup, d_pipeline->active().limits());
    std::size_t largest = 0, spread = 0;
    for (const auto& code : options.codes) {
        largest = std::max(largest, code.sent() * d_setup->caller_value_bytes());
        if (!code.sent_positions().empty()) {
            spread = std::max(spread, code.sent() * d_setup->value_bytes());
        }
    }
    if (symbols()) {
        largest = d_pipeline->active().limits().caller_item_bytes / d_batch;
    }
    d_partial.resize(largest);
    d_quantised.resize(spread);
    if (options.watch) {
        auto judge =
            std::make_unique<frame_judge>(options, d_hooks, d_setup->constellations);
        d_frame_judge = judge.get();
        d_judge = std::move(judge);
    }
}

void ldpc_decoder_impl::select(unsigned code, unsigned constellation)
{
    const auto check = [](const char* what, auto index, auto count) {
        if (index >= count) {
            throw std::out_of_range(what + (" is " + std::to_string(index)) +
                                    ": allowed values are 0 to " +
                                    std::to_string(count - 1));
        }
    };
    check("code", code, d_options.codes.size());
    if (symbols()) {
        check("constellation", constellation, d_setup->constellation_of.size());
        constellation = d_setup->constellation_of[constellation];
    }
    d_next = { code, constellation, d_next.level };
}

bool ldpc_decoder_impl::whole_codewords() const
{
    return std::all_of(d_options.codes.begin(), d_options.codes.end(), [](auto& code) {
        return code.sent_positions().empty() && code.sent() == code.n();
    });
}

void ldpc_decoder_impl::set_llr_scale(float scale)
{
    require_above_0("llr_scale", scale);
    d_options.llr_scale = scale;
    for (auto& f : d_formats) {
        f.reset();
    }
    if (d_frame_judge) {
        d_frame_judge->set_llr_scale(scale);
    }
}

void ldpc_decoder_impl::set_soft_scale(float scale)
{
    require_above_0("soft_scale", scale);
    d_options.soft_scale = scale;
}

item_type item_type_of(const ldpc_options& options)
{
    switch (options.symbols) {
    case ldpc_symbols::float32:
        return item_type::complex_float32;
    case ldpc_symbols::int16:
        return item_type::complex_int16;
    case ldpc_symbols::int8:
        return item_type::complex_int8;
    case ldpc_symbols::none:
        break;
    }
    return options.format == llr_format::float32 ? item_type::float32
           : options.format == llr_format::int8  ? item_type::int8
                                                 : item_type::uint8;
}

std::size_t ldpc_decoder_impl::push(input_items items)
{
    items.require(item_type_of(d_options));
    const auto kind = now();
    const auto n = add_input(items.data(), items.size());
    if (d_frame_judge) {
        d_frame_judge->select(kind.code, kind.constellation);
        d_frame_judge->look_at(items.data(), 0, n);
    }
    return n;
}

std::size_t ldpc_decoder_impl::add_input(const void* values, std::size_t count)
{
    std::size_t taken = 0;
    advance();
    while (taken < count && filling()) {
        if (d_have == 0 && begin_frame()) {
            continue;
        }
        const auto& code = d_options.codes[d_kind.code];
        const auto n = items_of(d_kind);
        const auto m = std::min(count - taken, n - d_have);
        // Whole frames are written directly to the slot. Parts of a frame, and frames
        // of punctured or shortened codes, are gathered first.
        if (m == n && code.sent_positions().empty()) {
            taken += add_frames(values, taken, n, (count - taken) / n);
            continue;
        }
        const auto size = d_setup->caller_value_bytes();
        std::memcpy(d_partial.data() + d_have * size,
                    static_cast<const std::byte*>(values) + taken * size,
                    m * size);
        taken += m;
        d_have += m;
        if (d_have == n) {
            d_have = 0;
            if (code.sent_positions().empty()) {
                add_frames(d_partial.data(), 0, n, 1);
                continue;
            }
            format().convert(d_partial.data(), 0, n, d_quantised.data());
            spread_sent(code, *d_setup, d_quantised.data(), place_of_frame());
            if (d_filling->full()) {
                advance();
            }
        }
    }
    advance();
    return taken;
}

std::size_t ldpc_decoder_impl::skip(std::size_t count)
{
    advance();
    if (!borrowing()) {
        return count;
    }
    if (borrowed_capacity() == 0 && filling()) {
        send(*filling());
    }
    const auto n = std::min(count, borrowed_capacity());
    d_input.took(n);
    forget_unneeded();
    return n;
}

void ldpc_decoder_impl::drop_incomplete()
{
    d_have = 0;
    forget_unneeded();
    if (d_frame_judge) {
        d_frame_judge->drop_incomplete();
    }
}

bool ldpc_decoder_impl::stays_in_caller_format()
{
    if (waiting() > 0) {
        return d_filling->next_caller_frame() > 0;
    }
    d_may_stay_in_caller_format =
        d_may_stay_in_caller_format && on_device() && whole_codewords() &&
        d_setup->caller_value_bytes() <= d_setup->value_bytes() && reserve_conversion();
    return symbols() || d_may_stay_in_caller_format;
}

const input_format& ldpc_decoder_impl::format()
{
    auto& f = d_formats[d_kind.code];
    if (!f) {
        f.emplace(d_setup->rule(d_options.codes[d_kind.code]),
                  d_setup->format,
                  symbols() ? demap::steps_per_nat : d_options.llr_scale,
                  symbols() ? 0 : d_options.positive_bit);
    }
    return *f;
}

float ldpc_decoder_impl::soft_factor() const
{
    return d_setup->soft == ldpc_soft_output::none
               ? 0
               : ldpc::soft_factor(d_setup->rule(d_options.codes[d_kind.code]),
                                   d_options.soft_scale > 0 ? d_options.soft_scale
                                                            : d_options.llr_scale,
                                   d_options.positive_bit);
}

std::size_t ldpc_decoder_impl::add_frames(const void* values,
                                          std::size_t first,
                                          std::size_t n,
                                          std::size_t count)
{
    if (stays_in_caller_format()) {
        return add_caller_frames(values, first, n, count);
    }
    const auto& f = format();
    auto* const to = place_of_frame();
    std::size_t frames = 1;
    for (; frames < count && !d_filling->full(); ++frames) {
        place_of_frame();
    }
    const auto bytes = d_setup->frame_input_bytes(d_options.codes[d_kind.code]);
    copy(frames, bytes, [&](std::size_t begin, std::size_t some) {
        for (auto k = begin; k < begin + some; ++k) {
            f.convert(values, first + k * n, n, to + k * bytes);
        }
    });
    if (d_filling->full()) {
        advance();
    }
    return frames * n;
}

std::size_t ldpc_decoder_impl::add_caller_frames(const void* values,
                                                 std::size_t first,
                                                 std::size_t n,
                                                 std::size_t count)
{
    const auto bytes = n * d_setup->caller_value_bytes();
    const auto* const from =
        static_cast<const std::byte*>(values) + first * d_setup->caller_value_bytes();
    const auto at = d_filling->next_caller_frame();
    auto* const to = caller_format_of(*filling()) + at;
    add_caller_frame(at);
    const auto stride = d_filling->next_caller_frame() - at;
    std::size_t frames = 1;
    for (; frames < count && !d_filling->full(); ++frames) {
        add_caller_frame(d_filling->next_caller_frame());
    }
    copy(frames, bytes, [&](std::size_t begin, std::size_t some) {
        if (stride == bytes) {
            copy_to_slot(to + begin * bytes, from + begin * bytes, some * bytes);
            return;
        }
        for (auto k = begin; k < begin + some; ++k) {
            copy_to_slot(to + k * stride, from + k * bytes, bytes);
        }
    });
    if (d_filling->full()) {
        advance();
    }
    return frames * n;
}

void ldpc_decoder_impl::add_caller_frame(std::size_t at)
{
    const auto& f = format();
    d_filling->add_caller_frame(d_kind.code,
                                soft_factor(),
                                at,
                                f.factor(),
                                f.limit(),
                                d_kind.constellation,
                                d_kind.level);
    d_deadline.start();
}

// Applies the selected code, constellation and Es/N0 to the frame that begins. If this
// frame must not be in the batch being filled, sends the batch and returns true.
bool ldpc_decoder_impl::begin_frame()
{
    d_kind = d_next;
    const bool ends = ends_batch();
    if (ends) {
        send(*filling());
    }
    return ends;
}

void ldpc_decoder_impl::send(slot& to)
{
    const auto job = d_filling->make_job(to.input);
    d_batches.push_back(d_filling->take());
    const auto rows = rows_of(d_batches.back());
    if (borrowing()) {
        submit(job, d_input.end() - d_have, rows);
    } else if (job.caller_item_bytes > 0) {
        submit_from(job, caller_format_of(to), rows);
    } else {
        submit(job, rows);
    }
}

std::size_t ldpc_decoder_impl::take_borrowed(std::size_t count)
{
    std::size_t taken = 0;
    advance();
    if (d_frame_judge) {
        d_frame_judge->select(now().code, now().constellation);
    }
    while (taken < count && filling()) {
        if (d_have == 0 && begin_frame()) {
            continue;
        }
        const auto n = items_of(d_kind);
        const auto m = std::min({ count - taken, n - d_have, borrowed_capacity() });
        if (m == 0) { // skipped items have used up the capacity
            send(*filling());
            continue;
        }
        d_input.took(m);
        taken += m;
        d_have += m;
        if (d_have == n) {
            const auto first = (d_input.end() - d_input.first()) - n;
            add_caller_frame(first * d_setup->caller_value_bytes());
            d_have = 0;
            if (d_filling->full()) {
                advance();
            }
        }
    }
    advance();
    return taken;
}

std::size_t ldpc_decoder_impl::borrowed_capacity() const
{
    const auto limits = d_pipeline->active().limits();
    const auto most = std::min<std::size_t>(limits.caller_item_bytes, 0xffffffffu);
    const auto reached = d_input.end() - d_input.first();
    return most / d_setup->caller_value_bytes() - reached;
}

void ldpc_decoder_impl::forget_unneeded()
{
    if (borrowing() && waiting() == 0 && d_have == 0) {
        d_input.skip();
    }
}

void ldpc_decoder_impl::store_borrowed()
{
    const auto* const borrowed = d_input.borrowed_position();
    auto& slot = *d_pipeline->filling();
    if (symbols()) {
        d_filling->copy_borrowed([&](auto from, auto to, auto bytes) {
            std::memcpy(caller_format_of(slot) + to, borrowed + from, bytes);
        });
    } else {
        for (const auto& f : d_filling->frames()) {
            const auto n = d_options.codes[f.code].n();
            input_format(d_setup->precision, d_options.format, f.factor, f.limit)
                .convert(borrowed + f.caller_format, 0, n, slot.input + f.input);
        }
        d_filling->copy_borrowed();
    }
    if (d_have > 0) {
        const auto size = d_setup->caller_value_bytes();
        const auto* const begun =
            borrowed + (d_input.end() - d_have - d_input.first()) * size;
        std::memcpy(d_partial.data(), begun, d_have * size);
    }
    stream_decoder::store_borrowed();
}

void ldpc_decoder_impl::restart()
{
    d_batches.clear();
    d_filling->clear();
    d_have = 0;
    d_next = {};
    d_emitted_frames = 0;
    d_emitted = 0;
    d_frame = 0;
    d_status.reset();
}

ldpc_decoder::sptr ldpc_decoder::make(const ldpc_options& options, decoder_hooks hooks)
{
    if (has_vlsnr_symbols(options)) {
        return make_vlsnr_decoder(options, std::move(hooks));
    }
    return make_process_bound<ldpc_decoder_impl>(options, std::move(hooks));
}

} // namespace gr::gpufec
