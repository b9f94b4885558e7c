// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The functions of the LDPC stream decoder that copy input to slots, for input that a
 * device does not read in place. */

#include "decoder_impl.h"
#include "sent_values.h"
#include <algorithm>
#include <cstring>

namespace gr::gpufec {

using namespace ldpc;

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

} // namespace gr::gpufec
