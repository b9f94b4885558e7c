// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Viterbi decoders with test input, for the tests of the layers that all decoders share.
 */

#ifndef INCLUDED_GPUFEC_TESTING_KINDS_VITERBI_H
#define INCLUDED_GPUFEC_TESTING_KINDS_VITERBI_H

#include "user.h"
#include <gnuradio/gpufec/viterbi.h>

namespace gr::gpufec {
namespace qa {

//! Streams with copied input, pulled as one bit per byte or as packed bits.
template <bool Bits>
struct viterbi_streams_of {
    static constexpr unsigned portions = 24;
    static user
    make(const run_options& run, decoder_hooks hooks, unsigned positive_bit = 0)
    {
        constexpr unsigned D = 128;
        viterbi_options o(conv_code(7, { 0171, 0133 }));
        static_cast<run_options&>(o) = run;
        o.decode_length = D;
        o.overlap = 48;
        o.positive_bit = positive_bit;
        o.bits_in_place = Bits;
        auto d = viterbi_decoder::make(o, std::move(hooks));
        auto* const decoder = d.get();
        std::mt19937 random(1);
        auto items = std::make_shared<std::vector<std::int8_t>>(2 * D * portions);
        for (auto& x : *items) {
            x = std::int8_t(random() % 200 - 100);
            x = positive_bit ? -x : x;
        }
        return { std::move(d),
                 [=](unsigned f, std::size_t first) {
                     return decoder->push(
                         { items->data() + 2 * D * f + first, 2 * D - first });
                 },
                 [=](std::uint8_t* to, std::size_t capacity) {
                     return decoder->pull({ to, capacity, !Bits });
                 },
                 2 * D };
    }
};
using viterbi_streams = viterbi_streams_of<false>;
using viterbi_bits = viterbi_streams_of<true>;

//! Streams of a punctured code with borrowed input.
template <class Item>
struct viterbi_borrowed {
    static constexpr unsigned portions = 24;
    static user
    make(const run_options& run, decoder_hooks hooks, unsigned positive_bit = 0)
    {
        constexpr unsigned D = 128;
        viterbi_options o(conv_code(7, { 0171, 0133 }, "101,110"));
        static_cast<run_options&>(o) = run;
        o.positive_bit = positive_bit;
        o.format = sizeof(Item) > 1   ? soft_format::float32
                   : middle<Item> > 0 ? soft_format::uint8
                                      : soft_format::int8;
        o.soft_scale = 3;
        o.decode_length = D;
        o.overlap = 48;
        auto d = viterbi_decoder::make(o, std::move(hooks));
        auto* const decoder = d.get();
        std::mt19937 random(1);
        std::vector<Item> items(2 * D * portions);
        for (auto& x : items) {
            const int value = int(random() % 200) - 100;
            x = Item(middle<Item> + (positive_bit ? -value : value)) /
                (sizeof(Item) == 1 ? 1 : 7);
        }
        auto ring = std::make_shared<input_ring<Item>>(items);
        return { std::move(d),
                 [=](unsigned f, std::size_t first) {
                     if (f == 0 && first == 0) {
                         ring->restart();
                     }
                     return ring->borrow(*decoder, 2 * D - first);
                 },
                 [=](std::uint8_t* to, std::size_t capacity) {
                     const auto n = decoder->pull({ to, capacity, true });
                     ring->release_borrowed(*decoder);
                     return n;
                 },
                 2 * D };
    }
};

//! Terminated frames of 100 bits, whose packed output cannot be written in place, because
//! 100 is not a multiple of 32.
struct viterbi_frames {
    static constexpr unsigned portions = 24;
    static user
    make(const run_options& run, decoder_hooks hooks, unsigned positive_bit = 0)
    {
        viterbi_options o(conv_code(5, { 023, 033 }));
        static_cast<run_options&>(o) = run;
        o.termination = termination::terminated;
        o.frame_bits = 100;
        o.positive_bit = positive_bit;
        auto d = viterbi_decoder::make(o, std::move(hooks));
        auto* const decoder = d.get();
        const auto n = decoder->items_per_frame();
        std::mt19937 random(2);
        auto items = std::make_shared<std::vector<std::int8_t>>(n * portions);
        for (auto& x : *items) {
            x = std::int8_t(random() % 200 - 100);
            x = positive_bit ? -x : x;
        }
        return { std::move(d),
                 [=](unsigned f, std::size_t first) {
                     return decoder->push({ items->data() + n * f + first, n - first });
                 },
                 [=](std::uint8_t* to, std::size_t capacity) {
                     return decoder->pull({ to, capacity, false });
                 },
                 n };
    }
};

//! Terminated frames, some of them incomplete. A gap of 90 items precedes each frame of
//! the second half. With copied or borrowed (in_place) input, a gap begins with 0, 40 or
//! 80 items of an incomplete frame, which are pushed and then dropped, and the remaining
//! items are skipped. With left_out, no item of a gap is pushed.
enum class cut_frames { copied, in_place, left_out };
template <cut_frames Form>
struct viterbi_cut_frames {
    static constexpr bool Borrowed = Form == cut_frames::in_place;
    static constexpr unsigned portions = 24;
    static constexpr unsigned whole = portions / 2;
    static constexpr unsigned gap = 90;

    static user
    make(const run_options& run, decoder_hooks hooks, unsigned positive_bit = 0)
    {
        viterbi_options o(conv_code(5, { 023, 033 }));
        static_cast<run_options&>(o) = run;
        o.termination = termination::terminated;
        o.frame_bits = 96;
        o.positive_bit = positive_bit;
        auto d = viterbi_decoder::make(o, std::move(hooks));
        auto* const decoder = d.get();
        const auto portion = gap + decoder->items_per_frame();
        std::mt19937 random(2);
        std::vector<std::int8_t> items(portion * portions);
        for (auto& x : items) {
            x = std::int8_t(random() % 200 - 100);
            x = positive_bit ? -x : x;
        }
        auto ring = std::make_shared<input_ring<std::int8_t>>(items);
        return { std::move(d),
                 [=](unsigned f, std::size_t first) {
                     if (f == 0 && first == 0) {
                         ring->restart();
                     }
                     const auto take = [&](std::size_t count) {
                         const auto at =
                             portion * f + first - std::min(f + 1, whole) * gap;
                         return Borrowed ? ring->borrow(*decoder, count)
                                         : decoder->push({ &items[at], count });
                     };
                     if (Form == cut_frames::left_out && first < gap) {
                         return gap - first;
                     }
                     const auto cut = f < whole ? 0 : f % 3 * 40;
                     if (first < cut) {
                         return take(cut - first);
                     }
                     if (first >= gap) {
                         return take(portion - first);
                     }
                     if (f < whole) {
                         return gap - first;
                     }
                     decoder->drop_incomplete();
                     return Borrowed ? ring->skip(*decoder, gap - first)
                                     : decoder->skip(gap - first);
                 },
                 [=](std::uint8_t* to, std::size_t capacity) {
                     const auto pulled = decoder->pull({ to, capacity, true });
                     if (Borrowed) {
                         ring->release_borrowed(*decoder);
                     }
                     return pulled;
                 },
                 portion };
    }
};

} // namespace qa
} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_TESTING_KINDS_VITERBI_H */
