// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Functions for tests that decode frames with the stream decoder. Input is pushed or
 * borrowed in chunks of random sizes. */

#ifndef INCLUDED_GPUFEC_LDPC_TEST_STREAM_RUNS_H
#define INCLUDED_GPUFEC_LDPC_TEST_STREAM_RUNS_H

#include "pipeline/test/memory_of.h"
#include "qa_support.h"

namespace gr::gpufec::ldpc {
namespace qa {

struct sent_frame {
    unsigned code;
    std::vector<std::uint8_t> bits; // expected bits, one per byte
    std::vector<float> llr;
};

inline std::vector<sent_frame>
send(const std::vector<ldpc_code>& codes, unsigned count, bool codeword, unsigned seed)
{
    std::mt19937 random(seed);
    std::vector<sent_frame> frames;
    for (unsigned i = 0; i < count; ++i) {
        const unsigned c = random() % codes.size();
        const auto t = qa::transmit(codes[c], 9, random);
        frames.push_back({ c, codeword ? t.codeword : t.message, t.llr });
    }
    return frames;
}

inline std::vector<std::int8_t> as_bytes(const std::vector<float>& llr, float scale)
{
    std::vector<std::int8_t> bytes;
    for (const auto x : llr) {
        const float steps = x == x ? std::clamp(x * scale, -128.0f, 127.0f) : 0;
        bytes.push_back(std::int8_t(std::rint(steps)));
    }
    return bytes;
}

struct outcome {
    std::vector<std::uint8_t> items;
    // LLRs of all frames, if the option keep_soft is set
    std::vector<std::int8_t> kept_llrs;
    std::vector<ldpc_decoder::frame_status> statuses;
};

// Pulls up to a random number of items.
inline std::size_t pull_to(outcome& o,
                           ldpc_decoder& decoder,
                           const ldpc_options& options,
                           bool packed,
                           std::mt19937& random)
{
    std::vector<std::uint8_t> some(1 + random() % 5000);
    auto* const llrs = reinterpret_cast<std::int8_t*>(some.data());
    const auto n = options.soft != ldpc_soft_output::none
                       ? decoder.pull({ llrs, some.size() })
                       : decoder.pull({ some, packed });
    o.items.insert(o.items.end(), some.begin(), some.begin() + n);
    if (const auto status = decoder.status()) {
        o.statuses.push_back(*status);
        o.kept_llrs.insert(
            o.kept_llrs.end(), decoder.llrs().begin(), decoder.llrs().end());
    }
    return n;
}

// Pushes frames in chunks of any size, and pulls whenever output is ready.
inline outcome run(const ldpc_options& options,
                   const std::vector<sent_frame>& frames,
                   bool packed,
                   unsigned seed)
{
    const auto decoder = ldpc_decoder::make(options);
    std::mt19937 random(seed);
    outcome o;
    const auto pull = [&] { return pull_to(o, *decoder, options, packed, random); };
    for (const auto& f : frames) {
        decoder->select(f.code);
        const auto bytes = as_bytes(f.llr, options.llr_scale);
        for (std::size_t first = 0; first < f.llr.size();) {
            const auto n = std::min<std::size_t>(
                f.llr.size() - first, random() % 4 ? random() % 9000 : f.llr.size());
            const auto taken = options.format == llr_format::int8
                                   ? decoder->push({ bytes.data() + first, n })
                                   : decoder->push({ f.llr.data() + first, n });
            first += taken;
            EXPECT_EQ(decoder->missing(),
                      first == f.llr.size() ? 0
                      : first == 0          ? 0
                                            : f.llr.size() - first);
            while (decoder->ready() && pull() > 0) {
            }
            if (taken == 0) {
                decoder->wait(std::chrono::milliseconds(100));
            }
        }
    }
    decoder->finish();
    while (!decoder->done()) {
        if (pull() == 0) {
            decoder->wait(std::chrono::milliseconds(100));
        }
    }
    return o;
}

// Decodes frames from borrowed input, which is overwritten once it is released. Items
// between frames are skipped, and some incomplete frames are dropped. Borrowing ends
// within frame \p until; later input is pushed.
template <class Item>
outcome run_borrowing(ldpc_options options,
                      const std::vector<sent_frame>& frames,
                      bool packed,
                      unsigned seed,
                      std::size_t until)
{
    constexpr Item junk = Item(77);
    const auto decoder = ldpc_decoder::make(options);
    std::mt19937 random(seed);
    outcome o;
    std::vector<Item> ring;
    const auto append = [&](const sent_frame& f) {
        if constexpr (sizeof(Item) == 1) {
            const auto bytes = as_bytes(f.llr, options.llr_scale);
            ring.insert(ring.end(), bytes.begin(), bytes.end());
        } else {
            ring.insert(ring.end(), f.llr.begin(), f.llr.end());
        }
    };
    std::vector<std::size_t> junk_before, begin, broken;
    for (const auto& f : frames) {
        junk_before.push_back(random() % 3 ? 0 : random() % 3000);
        ring.insert(ring.end(), junk_before.back(), junk);
        broken.push_back(random() % 4 ? 0 : 1 + random() % (f.llr.size() - 1));
        ring.insert(ring.end(), broken.back(), junk);
        begin.push_back(ring.size());
        append(f);
    }
    EXPECT_TRUE(memory_of(*decoder).can_borrow());
    bool borrowing = true;
    std::size_t kept = 0, taken = 0;
    const auto release_borrowed = [&] {
        const auto n = memory_of(*decoder).release_borrowed();
        std::fill_n(ring.begin() + kept, n, junk);
        kept += n;
    };
    const auto pull = [&] { return pull_to(o, *decoder, options, packed, random); };
    const auto pass = [&](std::size_t end, bool skip) {
        while (taken < end) {
            const auto n = std::min<std::size_t>(
                end - taken, random() % 4 ? 1 + random() % 9000 : end - taken);
            std::size_t some = 0;
            if (borrowing) {
                memory_of(*decoder).borrow(ring.data() + kept, taken - kept);
                some = skip ? decoder->skip(n)
                            : memory_of(*decoder).borrow(ring.data() + kept,
                                                         taken + n - kept);
                EXPECT_EQ(memory_of(*decoder).borrowed(), taken + some - kept);
            } else {
                some =
                    skip ? decoder->skip(n) : decoder->push({ ring.data() + taken, n });
            }
            taken += some;
            if (random() % 50 == 0) {
                decoder->flush();
            }
            while (decoder->ready() && pull() > 0) {
            }
            if (borrowing) {
                release_borrowed();
            }
            if (some == 0) {
                decoder->wait(std::chrono::milliseconds(100));
            }
        }
    };
    for (std::size_t i = 0; i < frames.size(); ++i) {
        pass(taken + junk_before[i], true);
        decoder->select(frames[i].code);
        pass(taken + broken[i], false);
        decoder->drop_incomplete();
        EXPECT_EQ(taken, begin[i]);
        const auto n = frames[i].llr.size();
        if (i == until) {
            pass(taken + n / 3, false); // in-place input ends within a frame
            memory_of(*decoder).copy_borrowed();
            borrowing = false;
            EXPECT_EQ(memory_of(*decoder).borrowed(), 0u);
            std::fill_n(ring.begin(), taken, junk);
        }
        pass(begin[i] + n, false);
    }
    decoder->finish();
    while (!decoder->done()) {
        if (pull() == 0) {
            decoder->wait(std::chrono::milliseconds(100));
        }
    }
    if (borrowing) {
        release_borrowed();
        EXPECT_EQ(kept, ring.size());
    }
    return o;
}

inline void
expect_all(const outcome& o, const std::vector<sent_frame>& frames, bool packed)
{
    std::vector<std::uint8_t> wanted;
    for (const auto& f : frames) {
        const auto items = packed ? qa::pack(f.bits, f.bits.size()) : f.bits;
        wanted.insert(wanted.end(), items.begin(), items.end());
    }
    EXPECT_EQ(o.items.size(), wanted.size());
    EXPECT_TRUE(o.items == wanted);
    ASSERT_EQ(o.statuses.size(), frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
        EXPECT_EQ(o.statuses[i].frame, i);
        EXPECT_EQ(o.statuses[i].code, frames[i].code);
        EXPECT_EQ(o.statuses[i].unsatisfied, 0u);
        EXPECT_GE(o.statuses[i].iterations, 1u);
    }
}

} // namespace qa
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_TEST_STREAM_RUNS_H */
