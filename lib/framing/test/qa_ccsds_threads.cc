// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of ccsds_frame_finder with several threads, and with an output in which it stores
 * the bytes of frames. */

#include "telemetry.h"
#include <gtest/gtest.h>
#include <tuple>

using namespace gr::gpufec;

namespace {

using bytes = std::vector<std::uint8_t>;

// Returns the frames that a finder finds if it may store their bytes in an output of
// `capacity` bytes. Each piece of the input and the output are memory that is freed after
// the call.
std::vector<ccsds_frame> find_in_place(ccsds_frame_finder& finder,
                                       const bytes& items,
                                       std::size_t piece,
                                       std::size_t capacity)
{
    std::vector<ccsds_frame> found;
    const auto pull = [&](bytes& output) {
        const std::uint8_t* from;
        std::size_t written = 0;
        while (const auto* const frame = finder.next(from)) {
            found.push_back(*frame);
            auto& copy = found.back().bytes;
            copy.resize(finder.frame_items());
            const auto n = std::min(copy.size(), output.size() - written);
            auto* const to = output.data() + written;
            if (from != to) {
                std::copy_n(from, n, to);
            }
            std::copy_n(to, n, copy.begin());
            std::copy(from + n, from + copy.size(), copy.begin() + n);
            written += n;
        }
    };
    for (std::size_t i = 0; i < items.size(); i += piece) {
        const bytes input(items.begin() + i,
                          items.begin() + std::min(i + piece, items.size()));
        bytes output(capacity);
        finder.set_output(output.data(), output.size());
        finder.push(input.data(), input.size());
        pull(output);
    }
    finder.finish();
    bytes none;
    pull(none);
    return found;
}

// Several threads decode frames in advance, including frames that the tracker then does
// not use.
TEST(CcsdsThreads, AnyNumber_FindsTheSameFrames)
{
    ccsds_framing framing;
    framing.constellation = "qpsk";
    telemetry sent(framing, 1500, 23);
    std::mt19937 random(24);
    for (unsigned i = 0; i < 60; ++i) {
        const auto at = random() % (sent.bits.size() - 2 * sent.period);
        switch (i % 4) {
        case 0:
            sent.remove(at, 1 + random() % 40);
            break;
        case 1:
            sent.flip(at, sent.bits.size() - at); // inverts all bits from here on
            break;
        case 2:
            sent.flip(at, random() % 600);
            break;
        default:
            sent.insert(at, random() % 3000, i);
        }
    }
    // A frame with corrected symbols waits for the marker after it.
    for (unsigned i = 0; i < 1000; ++i) {
        sent.flip(random() % sent.bits.size(), 1);
    }
    const auto soft = sent.soft(40, 0.35);
    const auto packed = sent.packed();
    const auto facts =
        [&](unsigned threads, bool is_soft, std::size_t piece, std::size_t capacity = 0) {
            ccsds_frame_finder finder(framing, is_soft, "", threads);
            const auto found = capacity > 0
                                   ? find_in_place(finder, packed, piece, capacity)
                               : is_soft ? find_frames(finder, soft, piece)
                                         : find_frames(finder, packed, piece);
            std::vector<
                std::tuple<bytes, std::vector<int>, std::uint64_t, bool, bool, double>>
                all;
            for (const auto& f : found) {
                all.emplace_back(f.bytes,
                                 f.corrected,
                                 f.position,
                                 f.good,
                                 f.inverted,
                                 f.marker_correlation);
            }
            const auto n = finder.counts();
            return std::pair(all,
                             std::vector{ n.frames,
                                          n.failed,
                                          n.corrected,
                                          n.missed,
                                          n.locks,
                                          n.losses,
                                          n.slips,
                                          n.unconfirmed,
                                          n.cut });
        };
    for (const bool drop : { false, true }) {
        framing.drop_failed = drop;
        const auto expected = facts(1, false, 100000);
        EXPECT_LT(1300u, expected.second[0]);
        EXPECT_LT(20u, expected.second[1]);
        EXPECT_LT(10u, expected.second[6]);
        for (const unsigned threads : { 2, 3 }) {
            for (const auto& [piece, capacity] : { std::pair(3000u, 0u),
                                                   { 1000000u, 0u },
                                                   { 3000u, 2000u },
                                                   { 40001u, 20000u },
                                                   { 1000000u, 200000u },
                                                   { 1000000u, 1000000u } }) {
                EXPECT_TRUE(expected == facts(threads, false, piece, capacity))
                    << threads << " threads, pieces of " << piece << ", output of "
                    << capacity << " bytes";
            }
        }
    }
    EXPECT_TRUE(facts(1, true, 100000) == facts(3, true, 1000000));
}

} // namespace
