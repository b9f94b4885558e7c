// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* LDPC decoders with test input, for the tests of the layers that all decoders share. */

#ifndef INCLUDED_GPUFEC_TESTING_KINDS_LDPC_H
#define INCLUDED_GPUFEC_TESTING_KINDS_LDPC_H

#include "ldpc/test/qa_support.h"
#include "user.h"
#include <gnuradio/gpufec/ldpc.h>
#include <cmath>
#include <complex>

namespace gr::gpufec {
namespace qa {

enum class ldpc_gives { packed, bits, llrs };

//! Pulls bits or extrinsic LLRs. Negates LLRs if \p positive_bit is 1. Returns the number
//! of bytes pulled.
template <ldpc_gives Form>
std::size_t pull_ldpc(ldpc_decoder& decoder,
                      unsigned positive_bit,
                      std::uint8_t* to,
                      std::size_t capacity)
{
    if constexpr (Form == ldpc_gives::packed || Form == ldpc_gives::bits) {
        return decoder.pull({ to, capacity, Form == ldpc_gives::packed });
    }
    const auto n = decoder.pull({ reinterpret_cast<std::int8_t*>(to), capacity });
    for (std::size_t i = 0; i < n; ++i) {
        to[i] = positive_bit ? std::uint8_t(-to[i]) : to[i];
    }
    return n;
}

//! Returns the options of frames of two codes. A batch has frames of both codes, as with
//! adaptive coding and modulation (ACM).
template <ldpc_gives Form>
ldpc_options options_of_two_codes(const run_options& run, unsigned positive_bit)
{
    ldpc_options o;
    static_cast<run_options&>(o) = run;
    o.codes = { ldpc::qa::regular_code(120, 60, 1), ldpc::qa::regular_code(96, 32, 2) };
    o.max_iterations = 6;
    o.positive_bit = positive_bit;
    o.soft =
        Form == ldpc_gives::llrs ? ldpc_soft_output::extrinsic : ldpc_soft_output::none;
    o.bits_in_place = Form == ldpc_gives::bits;
    return o;
}

//! Selects the code of frame \p f if \p first, the index of the frame's next item, is 0.
//! Returns the number of the code: every third frame has the second code.
inline unsigned select_code(ldpc_decoder& decoder, unsigned f, std::size_t first)
{
    const unsigned code = f % 3 == 2;
    if (first == 0) {
        decoder.select(code);
    }
    return code;
}

//! Frames of two codes with copied input.
template <ldpc_gives Form>
struct ldpc_frames_of {
    static constexpr unsigned portions = 24;
    static user
    make(const run_options& run, decoder_hooks hooks, unsigned positive_bit = 0)
    {
        auto o = options_of_two_codes<Form>(run, positive_bit);
        auto d = ldpc_decoder::make(o, std::move(hooks));
        auto* const decoder = d.get();
        std::mt19937 random(3);
        auto items = std::make_shared<std::vector<std::int8_t>>(120 * portions);
        for (auto& x : *items) {
            x = std::int8_t(random() % 21 - 10);
            x = positive_bit ? -x : x;
        }
        return { std::move(d),
                 [=](unsigned f, std::size_t first) {
                     const std::size_t n = select_code(*decoder, f, first) ? 96 : 120;
                     const auto taken =
                         decoder->push({ items->data() + 120 * f + first, n - first });
                     return first + taken == n ? 120 - first : taken;
                 },
                 [=](std::uint8_t* to, std::size_t capacity) {
                     return pull_ldpc<Form>(*decoder, positive_bit, to, capacity);
                 },
                 120 };
    }
};
using ldpc_frames = ldpc_frames_of<ldpc_gives::packed>;
using ldpc_bits = ldpc_frames_of<ldpc_gives::bits>;
using ldpc_llrs = ldpc_frames_of<ldpc_gives::llrs>;

//! Frames of two codes with borrowed input.
template <class Item, ldpc_gives Form = ldpc_gives::packed>
struct ldpc_borrowed {
    static constexpr unsigned portions = 24;
    static user
    make(const run_options& run, decoder_hooks hooks, unsigned positive_bit = 0)
    {
        auto o = options_of_two_codes<Form>(run, positive_bit);
        o.format = sizeof(Item) > 1   ? llr_format::float32
                   : middle<Item> > 0 ? llr_format::uint8
                                      : llr_format::int8;
        auto d = ldpc_decoder::make(o, std::move(hooks));
        auto* const decoder = d.get();
        std::mt19937 random(3);
        std::vector<Item> items(120 * portions);
        for (auto& x : items) {
            const int value = int(random() % 21) - 10;
            x = Item(middle<Item> + (positive_bit ? -value : value)) /
                (sizeof(Item) == 1 ? 1 : 3);
        }
        auto ring = std::make_shared<input_ring<Item>>(items);
        return { std::move(d),
                 [=](unsigned f, std::size_t first) {
                     ring->restart_at_first(f, first);
                     const std::size_t n = select_code(*decoder, f, first) ? 96 : 120;
                     return first < n ? ring->borrow(*decoder, n - first)
                                      : ring->skip(*decoder, 120 - first);
                 },
                 [=](std::uint8_t* to, std::size_t capacity) {
                     const auto n = pull_ldpc<Form>(*decoder, positive_bit, to, capacity);
                     ring->release_borrowed(*decoder);
                     return n;
                 },
                 120 };
    }
};

//! Frames of symbols of two codes with copied or borrowed input.
template <bool Borrowed>
struct ldpc_symbol_frames {
    static constexpr unsigned portions = 24;
    static user
    make(const run_options& run, decoder_hooks hooks, unsigned positive_bit = 0)
    {
        using symbol = std::complex<float>;
        // positive_bit has no effect here
        auto o = options_of_two_codes<ldpc_gives::packed>(run, positive_bit);
        o.symbols = ldpc_symbols::float32;
        o.constellations = { { "qpsk", "1/2" } };
        auto d = ldpc_decoder::make(o, std::move(hooks));
        auto* const decoder = d.get();
        std::mt19937 random(3);
        std::normal_distribution<float> part;
        std::vector<symbol> items(60 * portions);
        for (auto& x : items) {
            x = { part(random), part(random) };
        }
        auto ring = std::make_shared<input_ring<symbol>>(items);
        return { std::move(d),
                 [=](unsigned f, std::size_t first) {
                     ring->restart_at_first(f, first);
                     const std::size_t n = select_code(*decoder, f, first) ? 48 : 60;
                     if (first == 0) {
                         decoder->set_esn0_db(f % 4 ? std::nan("") : 5);
                     }
                     if (Borrowed) {
                         return first < n ? ring->borrow(*decoder, n - first)
                                          : ring->skip(*decoder, 60 - first);
                     }
                     return first < n ? decoder->push(
                                            { items.data() + 60 * f + first, n - first })
                                      : 60 - first;
                 },
                 [=](std::uint8_t* to, std::size_t capacity) {
                     const auto n = decoder->pull({ to, capacity, true });
                     if (Borrowed) {
                         ring->release_borrowed(*decoder);
                     }
                     return n;
                 },
                 60 };
    }
};

} // namespace qa
} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_TESTING_KINDS_LDPC_H */
