// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A decoder of each kind with input for it, for the tests of what they share. */

#ifndef INCLUDED_GPUFEC_QA_KINDS_H
#define INCLUDED_GPUFEC_QA_KINDS_H

#include "lab/sync_map/simulation.h"
#include "ldpc/qa_support.h"
#include <gnuradio/gpufec/ldpc.h>
#include <gnuradio/gpufec/sync_map.h>
#include <gnuradio/gpufec/viterbi.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace gr::gpufec {
namespace qa {

using bytes = std::vector<std::uint8_t>;

//! A decoder of some kind with input for it, cut into portions that are a piece or more;
//! input that says the same whichever bit a positive value means.
struct user {
    user() = default;
    user(user&&) = default;
    user& operator=(user&&) = default;
    ~user() { engine.reset(); } // first: it may still read what is lent

    std::unique_ptr<decoder> engine;
    //! Pushes what is taken of portion number f from item \p first on; says how many
    //! items.
    std::function<std::size_t(unsigned f, std::size_t first)> push;
    std::function<bytes()> pull; // what there is
    std::size_t portion;         // items
};

//! Whether rings are leaked, which devices that are given up may go on reading.
inline bool lent_is_kept = false;

//! Input that is lent from a ring, overwritten once it is taken back.
template <class Item>
class lender
{
public:
    explicit lender(std::vector<Item> items) : d_items(std::move(items)), d_ring(d_items)
    {
    }

    ~lender()
    {
        if (lent_is_kept) {
            new std::vector<Item>(std::move(d_ring));
        }
    }

    //! Another stream begins.
    void restart()
    {
        d_ring = d_items;
        d_kept = d_taken = 0;
    }

    std::size_t lend(decoder& d, std::size_t count)
    {
        const auto n = d.lend(d_ring.data() + d_kept, d_taken - d_kept + count);
        d_taken += n;
        take_back(d);
        return n;
    }
    template <class Decoder>
    std::size_t skip(Decoder& d, std::size_t count)
    {
        const auto n = d.skip(count);
        d_taken += n;
        take_back(d);
        return n;
    }
    void take_back(decoder& d)
    {
        const auto n = d.take_back();
        std::fill_n(d_ring.begin() + d_kept, n, Item(55));
        d_kept += n;
    }

private:
    const std::vector<Item> d_items;
    std::vector<Item> d_ring;
    std::size_t d_kept = 0, d_taken = 0;
};

struct viterbi_streams {
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
        auto d = std::make_unique<viterbi_decoder>(o, std::move(hooks));
        auto* const decoder = d.get();
        std::mt19937 random(1);
        auto items = std::make_shared<std::vector<std::int8_t>>(2 * D * portions);
        for (auto& x : *items) {
            x = std::int8_t(random() % 200 - 100);
            x = positive_bit ? -x : x;
        }
        return { std::move(d),
                 [=](unsigned f, std::size_t first) {
                     return decoder->push(items->data() + 2 * D * f + first,
                                          2 * D - first);
                 },
                 [=] {
                     bytes out(1 << 12);
                     out.resize(decoder->pull_packed(out.data(), out.size()));
                     return out;
                 },
                 2 * D };
    }
};

template <class Item>
struct viterbi_lent {
    static constexpr unsigned portions = 24;
    static user
    make(const run_options& run, decoder_hooks hooks, unsigned positive_bit = 0)
    {
        constexpr unsigned D = 128;
        viterbi_options o(conv_code(7, { 0171, 0133 }, "101,110"));
        static_cast<run_options&>(o) = run;
        o.positive_bit = positive_bit;
        o.format = sizeof(Item) == 1 ? soft_format::int8 : soft_format::float32;
        o.soft_scale = 3;
        o.decode_length = D;
        o.overlap = 48;
        auto d = std::make_unique<viterbi_decoder>(o, std::move(hooks));
        auto* const decoder = d.get();
        std::mt19937 random(1);
        std::vector<Item> items(2 * D * portions);
        for (auto& x : items) {
            x = Item(int(random() % 200) - 100) / (sizeof(Item) == 1 ? 1 : 7);
        }
        for (auto& x : items) {
            x = positive_bit ? -x : x;
        }
        auto ring = std::make_shared<lender<Item>>(items);
        return { std::move(d),
                 [=](unsigned f, std::size_t first) {
                     if (f == 0 && first == 0) {
                         ring->restart();
                     }
                     return ring->lend(*decoder, 2 * D - first);
                 },
                 [=] {
                     bytes out(1 << 12);
                     out.resize(decoder->pull_packed(out.data(), out.size()));
                     ring->take_back(*decoder);
                     return out;
                 },
                 2 * D };
    }
};

struct viterbi_frames {
    static constexpr unsigned portions = 24;
    static user
    make(const run_options& run, decoder_hooks hooks, unsigned positive_bit = 0)
    {
        viterbi_options o(conv_code(5, { 023, 033 }));
        static_cast<run_options&>(o) = run;
        o.ends = termination::terminated;
        o.frame_bits = 100;
        o.positive_bit = positive_bit;
        auto d = std::make_unique<viterbi_decoder>(o, std::move(hooks));
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
                     return decoder->push(items->data() + n * f + first, n - first);
                 },
                 [=] {
                     bytes out(1 << 12);
                     out.resize(decoder->pull_bits(out.data(), out.size()));
                     return out;
                 },
                 n };
    }
};

// What a decoder of bits, or of extrinsic LLRs, gives; of LLRs with the sign of bit 0.
template <bool Llrs>
bytes pull_ldpc(ldpc_decoder& decoder, unsigned positive_bit)
{
    bytes out(1 << 10);
    if constexpr (!Llrs) {
        out.resize(decoder.pull_packed(out.data(), out.size()));
        return out;
    }
    out.resize(decoder.pull_llrs(reinterpret_cast<std::int8_t*>(out.data()), out.size()));
    for (auto& x : out) {
        x = positive_bit ? std::uint8_t(-x) : x;
    }
    return out;
}

template <bool Llrs>
struct ldpc_frames_of {
    static constexpr unsigned portions = 24;
    static user
    make(const run_options& run, decoder_hooks hooks, unsigned positive_bit = 0)
    {
        ldpc_options o;
        static_cast<run_options&>(o) = run;
        // Two codes in one batch, as with ACM.
        o.codes = { ldpc::qa::regular_code(120, 60, 1),
                    ldpc::qa::regular_code(96, 32, 2) };
        o.max_iterations = 6;
        o.positive_bit = positive_bit;
        o.soft = Llrs ? ldpc_soft_output::extrinsic : ldpc_soft_output::none;
        auto d = std::make_unique<ldpc_decoder>(o, std::move(hooks));
        auto* const decoder = d.get();
        std::mt19937 random(3);
        auto items = std::make_shared<std::vector<std::int8_t>>(120 * portions);
        for (auto& x : *items) {
            x = std::int8_t(random() % 21 - 10);
            x = positive_bit ? -x : x;
        }
        return { std::move(d),
                 [=](unsigned f, std::size_t first) {
                     const unsigned code = f % 3 == 2;
                     const std::size_t n = code ? 96 : 120;
                     if (first == 0) {
                         decoder->select(code);
                     }
                     const auto taken =
                         decoder->push(items->data() + 120 * f + first, n - first);
                     return first + taken == n ? 120 - first : taken;
                 },
                 [=] { return pull_ldpc<Llrs>(*decoder, positive_bit); },
                 120 };
    }
};
using ldpc_frames = ldpc_frames_of<false>;
using ldpc_llrs = ldpc_frames_of<true>;

template <class Item, bool Llrs = false>
struct ldpc_lent {
    static constexpr unsigned portions = 24;
    static user
    make(const run_options& run, decoder_hooks hooks, unsigned positive_bit = 0)
    {
        ldpc_options o;
        static_cast<run_options&>(o) = run;
        o.positive_bit = positive_bit;
        o.codes = { ldpc::qa::regular_code(120, 60, 1),
                    ldpc::qa::regular_code(96, 32, 2) };
        o.max_iterations = 6;
        o.format = sizeof(Item) == 1 ? llr_format::int8 : llr_format::float32;
        o.soft = Llrs ? ldpc_soft_output::extrinsic : ldpc_soft_output::none;
        auto d = std::make_unique<ldpc_decoder>(o, std::move(hooks));
        auto* const decoder = d.get();
        std::mt19937 random(3);
        std::vector<Item> items(120 * portions);
        for (auto& x : items) {
            x = Item(int(random() % 21) - 10) / (sizeof(Item) == 1 ? 1 : 3);
        }
        for (auto& x : items) {
            x = positive_bit ? -x : x;
        }
        auto ring = std::make_shared<lender<Item>>(items);
        return { std::move(d),
                 [=](unsigned f, std::size_t first) {
                     if (f == 0 && first == 0) {
                         ring->restart();
                     }
                     const unsigned code = f % 3 == 2;
                     const std::size_t n = code ? 96 : 120;
                     if (first == 0) {
                         decoder->select(code);
                     }
                     return first < n ? ring->lend(*decoder, n - first)
                                      : ring->skip(*decoder, 120 - first);
                 },
                 [=] {
                     auto out = pull_ldpc<Llrs>(*decoder, positive_bit);
                     ring->take_back(*decoder);
                     return out;
                 },
                 120 };
    }
};

//! Symbols of two codes, copied or lent.
template <bool Lent>
struct ldpc_symbol_frames {
    static constexpr unsigned portions = 24;
    static user
    make(const run_options& run, decoder_hooks hooks, unsigned positive_bit = 0)
    {
        using symbol = std::complex<float>;
        ldpc_options o;
        static_cast<run_options&>(o) = run;
        o.codes = { ldpc::qa::regular_code(120, 60, 1),
                    ldpc::qa::regular_code(96, 32, 2) };
        o.max_iterations = 6;
        o.positive_bit = positive_bit; // which does not count
        o.symbols = ldpc_symbols::float32;
        o.constellations = { { "qpsk", "1/2" } };
        auto d = std::make_unique<ldpc_decoder>(o, std::move(hooks));
        auto* const decoder = d.get();
        std::mt19937 random(3);
        std::normal_distribution<float> part;
        std::vector<symbol> items(60 * portions);
        for (auto& x : items) {
            x = { part(random), part(random) };
        }
        auto ring = std::make_shared<lender<symbol>>(items);
        return { std::move(d),
                 [=](unsigned f, std::size_t first) {
                     if (f == 0 && first == 0) {
                         ring->restart();
                     }
                     const unsigned code = f % 3 == 2;
                     const std::size_t n = code ? 48 : 60;
                     if (first == 0) {
                         decoder->select(code);
                         decoder->set_esn0_db(f % 4 ? std::nan("") : 5);
                     }
                     if (Lent) {
                         return first < n ? ring->lend(*decoder, n - first)
                                          : ring->skip(*decoder, 60 - first);
                     }
                     return first < n
                                ? decoder->push(items.data() + 60 * f + first, n - first)
                                : 60 - first;
                 },
                 [=] {
                     bytes out(1 << 10);
                     out.resize(decoder->pull_packed(out.data(), out.size()));
                     if (Lent) {
                         ring->take_back(*decoder);
                     }
                     return out;
                 },
                 60 };
    }
};

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

//! What is decoded of frames that can be pulled.
inline bytes pulled_frames(sync_decoder& decoder)
{
    bytes out;
    for (sync_decoder::frame f; decoder.pull(f);) {
        const auto* const from = static_cast<const std::uint8_t*>(f.output);
        out.insert(out.end(), from, from + f.output_bytes);
    }
    return out;
}

template <sync_mode Mode>
struct sync_frames {
    static constexpr unsigned portions = 24;
    static user
    make(const run_options& run, decoder_hooks hooks, unsigned positive_bit = 0)
    {
        auto o = sync_kind(run, Mode, positive_bit);
        auto d = std::make_unique<sync_decoder>(o, std::move(hooks));
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
                         return decoder->push_frame(frame.data(), frame.size()) * most;
                     }
                     const auto taken =
                         decoder->push(frame.data() + first, frame.size() - first);
                     return first + taken == frame.size() ? most - first : taken;
                 },
                 [=] { return pulled_frames(*decoder); },
                 most };
    }
};

template <sync_mode Mode, class Item>
struct sync_lent {
    static constexpr unsigned portions = 24;
    static user
    make(const run_options& run, decoder_hooks hooks, unsigned positive_bit = 0)
    {
        auto o = sync_kind(run, Mode, positive_bit);
        o.soft_input = sizeof(Item) > 1;
        auto d = std::make_unique<sync_decoder>(o, std::move(hooks));
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
        auto ring = std::make_shared<lender<Item>>(items);
        auto ended = std::make_shared<bool>(false); // the frame that is being lent
        return { std::move(d),
                 [=](unsigned f, std::size_t first) -> std::size_t {
                     if (f == 0 && first == 0) {
                         ring->restart();
                     }
                     const auto n = counts[f], all = n + gap(f);
                     auto there = first;
                     if (there < n) {
                         *ended = Mode == sync_mode::stream;
                         there += ring->lend(*decoder, n - there);
                     }
                     if (there >= n && !*ended) {
                         *ended = decoder->end_frame();
                     }
                     if (there >= n && *ended && there < all) {
                         there += ring->skip(*decoder, all - there);
                     }
                     return there == all && *ended ? most - first : there - first;
                 },
                 [=] {
                     auto out = pulled_frames(*decoder);
                     ring->take_back(*decoder);
                     return out;
                 },
                 most };
    }

private:
    // Items between frames.
    static unsigned gap(unsigned f) { return Mode == sync_mode::framed ? f % 3 : 0; }
};

struct outcome {
    bytes output;
    std::vector<std::string> errors, warnings, infos;
    std::string backend; // at the end
};

//! Decodes with a decoder of a kind and notes what it tells.
template <class Kind>
class decoders : public testing::Test
{
protected:
    decoder_hooks hooks_to(outcome& o)
    {
        decoder_hooks hooks;
        hooks.log = [&o](log_level level, const std::string& text) {
            (level == log_level::error     ? o.errors
             : level == log_level::warning ? o.warnings
                                           : o.infos)
                .push_back(text);
        };
        return hooks;
    }

    static void take(user& u, outcome& o)
    {
        for (;;) {
            const auto some = u.pull();
            if (some.empty()) {
                return;
            }
            o.output.insert(o.output.end(), some.begin(), some.end());
        }
    }

    static void push_all(user& u, outcome& o, unsigned portions)
    {
        for (unsigned f = 0; f < portions; ++f) {
            for (std::size_t first = 0; first < u.portion;) {
                const auto n = u.push(f, first);
                take(u, o);
                first += n;
                if (n == 0) {
                    u.engine->wait(std::chrono::milliseconds(10));
                }
            }
        }
    }

    static void finish(user& u, outcome& o)
    {
        u.engine->finish();
        while (!u.engine->done()) {
            take(u, o);
            u.engine->wait(std::chrono::milliseconds(10));
        }
        o.backend = u.engine->active_backend();
    }

    outcome decode(const run_options& run, unsigned positive_bit = 0)
    {
        outcome o;
        auto u = Kind::make(run, hooks_to(o), positive_bit);
        push_all(u, o, Kind::portions);
        finish(u, o);
        return o;
    }

    static run_options run(backend where = backend::automatic)
    {
        run_options r;
        r.where = where;
        r.batch = 4;
        r.max_latency_ms = 1e9;
        return r;
    }
};

using kinds = testing::Types<viterbi_streams,
                             viterbi_frames,
                             viterbi_lent<std::int8_t>,
                             viterbi_lent<float>,
                             ldpc_frames,
                             ldpc_lent<std::int8_t>,
                             ldpc_lent<float>,
                             ldpc_llrs,
                             ldpc_lent<std::int8_t, true>,
                             ldpc_symbol_frames<false>,
                             ldpc_symbol_frames<true>,
                             sync_frames<sync_mode::framed>,
                             sync_frames<sync_mode::stream>,
                             sync_lent<sync_mode::framed, std::uint8_t>,
                             sync_lent<sync_mode::framed, float>,
                             sync_lent<sync_mode::stream, std::uint8_t>,
                             sync_lent<sync_mode::stream, float>>;
} // namespace qa
} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_QA_KINDS_H */
