// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Synchronisation decoders with test input, for the tests of the layers that all decoders
 * share. */

#ifndef INCLUDED_GPUFEC_TESTING_KINDS_SYNC_MAP_H
#define INCLUDED_GPUFEC_TESTING_KINDS_SYNC_MAP_H

#include "lab/sync_map/simulation.h"
#include "user.h"
#include <gnuradio/gpufec/sync_map.h>

namespace gr::gpufec {
namespace qa {

//! Returns the options that the decoders of this file share.
inline sync_options
sync_kind(const run_options& run, sync_mode mode, unsigned positive_bit)
{
    sync_options o(codebook_random(6, 8, 15, 4), { 0.02, 0.02, 0.01 });
    static_cast<run_options&>(o) = run;
    o.mode = mode;
    o.output = sync_output::posteriors;
    o.positive_bit = positive_bit;
    return o;
}

//! Pulls the output of a frame if one is ready. Returns the number of bytes pulled.
inline std::size_t
pull_frame(sync_decoder& decoder, std::uint8_t* to, std::size_t capacity)
{
    sync_decoder::frame f;
    if (!decoder.pull(f)) {
        return 0;
    }
    EXPECT_LE(f.output_bytes, capacity);
    if (!f.in_place) {
        std::memcpy(to, f.output, f.output_bytes);
    }
    return f.output_bytes;
}

//! Frames or a stream with copied input.
template <sync_mode Mode>
struct sync_frames {
    static constexpr unsigned portions = 24;
    static user
    make(const run_options& run, decoder_hooks hooks, unsigned positive_bit = 0)
    {
        auto o = sync_kind(run, Mode, positive_bit);
        auto d = sync_decoder::make(o, std::move(hooks));
        auto* const decoder = d.get();
        const sync_map::frame_source source(o, 3);
        auto frames = std::make_shared<std::vector<bytes>>();
        std::size_t most = 0;
        for (unsigned f = 0; f < portions; ++f) {
            const auto frame = source.make(f);
            frames->emplace_back();
            for (const auto item : frame.items) {
                frames->back().push_back(std::uint8_t(item));
            }
            frames->back().resize(frame.count);
            most = std::max(most, frame.count);
        }
        return { std::move(d),
                 [=](unsigned f, std::size_t first) {
                     const auto& frame = (*frames)[f];
                     if (Mode == sync_mode::framed) {
                         return decoder->push_frame(frame) * most;
                     }
                     const auto taken = decoder->push(span(frame).from(first));
                     return first + taken == frame.size() ? most - first : taken;
                 },
                 [=](std::uint8_t* to, std::size_t capacity) {
                     return pull_frame(*decoder, to, capacity);
                 },
                 most };
    }
};

//! Frames or a stream with borrowed input.
template <sync_mode Mode, class Item>
struct sync_borrowed {
    static constexpr unsigned portions = 24;
    static user
    make(const run_options& run, decoder_hooks hooks, unsigned positive_bit = 0)
    {
        auto o = sync_kind(run, Mode, positive_bit);
        o.soft_input = sizeof(Item) > 1;
        auto d = sync_decoder::make(o, std::move(hooks));
        auto* const decoder = d.get();
        const sync_map::frame_source source(o, 3);
        std::vector<std::size_t> counts;
        std::vector<Item> items;
        std::size_t most = 0;
        for (unsigned f = 0; f < portions; ++f) {
            const auto frame = source.make(f);
            const auto* const from = reinterpret_cast<const Item*>(frame.items.data());
            items.insert(items.end(), from, from + frame.count);
            items.insert(items.end(), gap(f), Item(0));
            counts.push_back(frame.count);
            most = std::max(most, frame.count + gap(f));
        }
        auto ring = std::make_shared<input_ring<Item>>(items);
        // Whether the current frame has ended; frames of a stream need no end_frame().
        auto ended = std::make_shared<bool>(false);
        return { std::move(d),
                 [=](unsigned f, std::size_t first) -> std::size_t {
                     ring->restart_at_first(f, first);
                     const auto n = counts[f], all = n + gap(f);
                     auto there = first;
                     if (there < n) {
                         *ended = Mode == sync_mode::stream;
                         there += ring->borrow(*decoder, n - there);
                     }
                     if (there >= n && !*ended) {
                         *ended = decoder->end_frame();
                     }
                     if (there >= n && *ended && there < all) {
                         there += ring->skip(*decoder, all - there);
                     }
                     return there == all && *ended ? most - first : there - first;
                 },
                 [=](std::uint8_t* to, std::size_t capacity) {
                     const auto n = pull_frame(*decoder, to, capacity);
                     ring->release_borrowed(*decoder);
                     return n;
                 },
                 most };
    }

private:
    // Returns the number of items between frame \p f and the next.
    static unsigned gap(unsigned f) { return Mode == sync_mode::framed ? f % 3 : 0; }
};

} // namespace qa
} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_TESTING_KINDS_SYNC_MAP_H */
