// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Fills the slots of the synchronisation benchmark with received frames. */

#include "slot_benchmark.h"

namespace gr::gpufec::sync_map {

namespace {

sync_options framed(sync_options options)
{
    options.mode = sync_mode::framed;
    return options;
}

job fill_slot(const sync_options& options,
              const std::vector<frame_source::frame>& frames,
              std::size_t count,
              std::byte* input)
{
    const auto s = make_setup(options);
    for (std::size_t f = 0; f < count; ++f) {
        const auto& frame = frames[f % frames.size()];
        write_framed(
            s, frame.items.data(), frame.count, nullptr, input + f * s.input_bytes());
    }
    return { count };
}

} // namespace

slot_benchmark::slot_benchmark(const sync_options& options,
                               const std::vector<frame_source::frame>& frames)
    : slot_rates(make_setup(framed(options)),
                 options,
                 [&](const batch_limits& limits, std::byte* input) {
                     return fill_slot(framed(options), frames, limits.work_items, input);
                 }),
      d_window(make_setup(framed(options)).window)
{
}

} // namespace gr::gpufec::sync_map
