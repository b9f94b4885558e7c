// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A decoder of each kind with input for it, for the tests of what they share. */

#ifndef INCLUDED_GPUFEC_QA_KINDS_H
#define INCLUDED_GPUFEC_QA_KINDS_H

#include "lab/sync_map/simulation.h"
#include "ldpc/qa_support.h"
#include "pipeline/other_pages.h"
#include <gnuradio/gpufec/ldpc.h>
#include <gnuradio/gpufec/sync_map.h>
#include <gnuradio/gpufec/viterbi.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <vector>

namespace gr::gpufec {
namespace qa {

using bytes = std::vector<std::uint8_t>;

class output_ring;

//! A decoder of some kind with input for it, cut into portions that are a piece or more;
//! input that says the same whichever bit a positive value means.
struct user {
    user() = default;
    user(user&&) = default;
    user& operator=(user&&) = default;
    ~user() { engine.reset(); } // first: it may still use what is lent

    std::unique_ptr<decoder> engine;
    //! Pushes what is taken of portion number f from item \p first on; says how many
    //! items.
    std::function<std::size_t(unsigned f, std::size_t first)> push;
    //! Pulls some of what there is to \p to; says how many bytes.
    std::function<std::size_t(std::uint8_t* to, std::size_t room)> pull;
    std::size_t portion;                    // items
    std::shared_ptr<output_ring> ring = {}; //!< that output is pulled to, if one is lent
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

//! A ring as GNU Radio's, mapped twice, that is lent for output. Its reader lags behind.
class output_ring
{
public:
    static constexpr std::size_t size = 4096;
    static constexpr std::size_t least_room = 600; // for the largest frame

    //! Lends it to \p d; what is pulled first lies \p first bytes from its beginning.
    output_ring(decoder& d, std::size_t first, bool replaceable)
        : d_decoder(d),
          d_replaceable(replaceable),
          d_written(first),
          d_read(first),
          d_random(first)
    {
        auto* const both =
            mmap(nullptr, 2 * size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        d_base = static_cast<char*>(both);
        if (both == MAP_FAILED || !put_other_pages(d_base, size)) {
            throw std::bad_alloc();
        }
        begin();
    }
    output_ring(const output_ring&) = delete;
    ~output_ring()
    {
        if (!lent_is_kept) {
            munmap(d_base, 2 * size);
        }
    }

    void begin()
    {
        d_lent = d_decoder.lock_output(d_base, 2 * size, [this] {
            ++replaced;
            return d_replaceable && put_other_pages(d_base, size);
        });
    }

    void end()
    {
        if (std::exchange(d_lent, false)) {
            d_decoder.end_lending_output();
            d_decoder.unlock_output(d_base);
        }
    }

    //! Pulls to \p some; what a device has put into the ring by itself is taken from
    //! there.
    std::size_t pull(user& u, bytes& some)
    {
        EXPECT_TRUE(is_as_written());
        d_read += d_random() % (d_written - d_read + 1);
        d_read = std::max(
            d_read, d_written + least_room - std::min(d_written + least_room, size - 1));
        const auto free = size - 1 - (d_written - d_read);
        if (d_lent) {
            d_decoder.lend_output(at(d_written), free);
        }
        std::fill(some.begin(), some.end(), 0xee);
        const auto n = u.pull(some.data(), d_random() % 2 ? free : least_room);
        const auto untouched = [](std::uint8_t x) { return x == 0xee; };
        if (n >= 4 && std::all_of(some.begin(), some.begin() + n, untouched)) {
            std::memcpy(some.data(), at(d_written), n);
            in_place += n;
        } else {
            std::memcpy(at(d_written), some.data(), n);
        }
        d_written += n;
        d_unread.insert(d_unread.end(), some.begin(), some.begin() + n);
        return n;
    }

    //! Whether the ring holds what was written and not read.
    bool is_as_written()
    {
        d_unread.erase(d_unread.begin(),
                       d_unread.end() - std::ptrdiff_t(d_written - d_read));
        return std::equal(d_unread.begin(), d_unread.end(), at(d_read));
    }

    unsigned replaced = 0;    //!< how often other pages were wanted
    std::size_t in_place = 0; //!< bytes that devices have put there

private:
    std::uint8_t* at(std::size_t place) const
    {
        return reinterpret_cast<std::uint8_t*>(d_base) + place % size;
    }

    decoder& d_decoder;
    const bool d_replaceable;
    char* d_base = nullptr;
    std::size_t d_written, d_read; // places
    std::mt19937 d_random;
    std::deque<std::uint8_t> d_unread;
    bool d_lent;
};

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
        o.lend_bits = Bits;
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
                 [=](std::uint8_t* to, std::size_t room) {
                     return Bits ? decoder->pull_bits(to, room)
                                 : decoder->pull_packed(to, room);
                 },
                 2 * D };
    }
};
using viterbi_streams = viterbi_streams_of<false>;
using viterbi_bits = viterbi_streams_of<true>;

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
                 [=](std::uint8_t* to, std::size_t room) {
                     const auto n = decoder->pull_packed(to, room);
                     ring->take_back(*decoder);
                     return n;
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
                 [=](std::uint8_t* to, std::size_t room) {
                     return decoder->pull_bits(to, room);
                 },
                 n };
    }
};

enum class ldpc_gives { packed, bits, llrs };

// What a decoder gives: its bits, or extrinsic LLRs; of these with the sign of bit 0.
template <ldpc_gives Form>
std::size_t pull_ldpc(ldpc_decoder& decoder,
                      unsigned positive_bit,
                      std::uint8_t* to,
                      std::size_t room)
{
    if constexpr (Form == ldpc_gives::packed) {
        return decoder.pull_packed(to, room);
    } else if constexpr (Form == ldpc_gives::bits) {
        return decoder.pull_bits(to, room);
    }
    const auto n = decoder.pull_llrs(reinterpret_cast<std::int8_t*>(to), room);
    for (std::size_t i = 0; i < n; ++i) {
        to[i] = positive_bit ? std::uint8_t(-to[i]) : to[i];
    }
    return n;
}

template <ldpc_gives Form>
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
        o.soft = Form == ldpc_gives::llrs ? ldpc_soft_output::extrinsic
                                          : ldpc_soft_output::none;
        o.lend_bits = Form == ldpc_gives::bits;
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
                 [=](std::uint8_t* to, std::size_t room) {
                     return pull_ldpc<Form>(*decoder, positive_bit, to, room);
                 },
                 120 };
    }
};
using ldpc_frames = ldpc_frames_of<ldpc_gives::packed>;
using ldpc_bits = ldpc_frames_of<ldpc_gives::bits>;
using ldpc_llrs = ldpc_frames_of<ldpc_gives::llrs>;

template <class Item, ldpc_gives Form = ldpc_gives::packed>
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
        o.soft = Form == ldpc_gives::llrs ? ldpc_soft_output::extrinsic
                                          : ldpc_soft_output::none;
        o.lend_bits = Form == ldpc_gives::bits;
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
                 [=](std::uint8_t* to, std::size_t room) {
                     const auto n = pull_ldpc<Form>(*decoder, positive_bit, to, room);
                     ring->take_back(*decoder);
                     return n;
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
                 [=](std::uint8_t* to, std::size_t room) {
                     const auto n = decoder->pull_packed(to, room);
                     if (Lent) {
                         ring->take_back(*decoder);
                     }
                     return n;
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

//! What is decoded of a frame, if one can be pulled.
inline std::size_t pull_frame(sync_decoder& decoder, std::uint8_t* to, std::size_t room)
{
    sync_decoder::frame f;
    if (!decoder.pull(f)) {
        return 0;
    }
    EXPECT_LE(f.output_bytes, room);
    if (!f.in_place) {
        std::memcpy(to, f.output, f.output_bytes);
    }
    return f.output_bytes;
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
                 [=](std::uint8_t* to, std::size_t room) {
                     return pull_frame(*decoder, to, room);
                 },
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
                 [=](std::uint8_t* to, std::size_t room) {
                     const auto n = pull_frame(*decoder, to, room);
                     ring->take_back(*decoder);
                     return n;
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
    std::shared_ptr<output_ring> ring;
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
        bytes some(1 << 12);
        while (const auto n =
                   u.ring ? u.ring->pull(u, some) : u.pull(some.data(), some.size())) {
            o.output.insert(o.output.end(), some.begin(), some.begin() + n);
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

    // The same with a ring lent for output, where that can be, from a place of it on.
    outcome
    decode_to_ring(const run_options& run, std::size_t first, bool replaceable = true)
    {
        outcome o;
        auto u = Kind::make(run, hooks_to(o), 0);
        u.ring = std::make_shared<output_ring>(*u.engine, first, replaceable);
        push_all(u, o, Kind::portions);
        finish(u, o);
        u.ring->end();
        o.ring = u.ring;
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
                             viterbi_bits,
                             viterbi_frames,
                             viterbi_lent<std::int8_t>,
                             viterbi_lent<float>,
                             ldpc_frames,
                             ldpc_bits,
                             ldpc_lent<std::int8_t>,
                             ldpc_lent<float>,
                             ldpc_llrs,
                             ldpc_lent<std::int8_t, ldpc_gives::llrs>,
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
