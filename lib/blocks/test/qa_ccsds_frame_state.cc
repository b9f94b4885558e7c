// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of frame_state, which shares entries between the dictionaries of frames. */

#include "blocks/ccsds/frame_state.h"
#include <gtest/gtest.h>
#include <cstdint>
#include <random>

using namespace gr::gpufec;

namespace {

// Returns the dictionary of a frame without sharing.
pmt::pmt_t expected(const ccsds_frame& frame, const pmt::pmt_t& error_rate)
{
    auto dictionary = pmt::make_dict();
    const auto add = [&](const char* key, const pmt::pmt_t& value) {
        dictionary = pmt::dict_add(dictionary, pmt::mp(key), value);
    };
    add("good", pmt::from_bool(frame.good));
    add("marker_found", pmt::from_bool(frame.marker_found));
    add("inverted", pmt::from_bool(frame.inverted));
    add("orientation", pmt::from_long(frame.orientation));
    add("marker_correlation", pmt::from_double(frame.marker_correlation));
    add("position", pmt::from_uint64(frame.position));
    if (error_rate) {
        add("channel_error_rate", error_rate);
    }
    if (!frame.corrected.empty()) {
        add("corrected", pmt::init_s32vector(frame.corrected.size(), frame.corrected));
    }
    return dictionary;
}

void expect_equal(const pmt::pmt_t& wanted, const pmt::pmt_t& found)
{
    ASSERT_TRUE(pmt::is_dict(found));
    EXPECT_EQ(pmt::length(wanted), pmt::length(found)) << found;
    for (auto items = pmt::dict_items(wanted); pmt::is_pair(items);
         items = pmt::cdr(items)) {
        const auto item = pmt::car(items);
        const auto value = pmt::dict_ref(found, pmt::car(item), pmt::PMT_NIL);
        EXPECT_TRUE(pmt::equal(pmt::cdr(item), value)) << item << " and " << found;
    }
}

} // namespace

// Successive frames differ in few entries, so that most entries are shared. A dictionary
// must not change when later ones are made.
TEST(CcsdsFrameState, SuccessiveFrames_EqualUnsharedDictionaries)
{
    std::mt19937 random(1);
    frame_state state(false);
    ccsds_frame frame;
    pmt::pmt_t error_rate;
    std::vector<std::pair<pmt::pmt_t, pmt::pmt_t>> all;
    for (unsigned i = 0; i < 2000; ++i) {
        frame.position = std::uint64_t(i) << 33;
        switch (random() % 9) {
        case 0:
            frame.good = !frame.good;
            break;
        case 1:
            frame.marker_found = !frame.marker_found;
            break;
        case 2:
            frame.inverted = !frame.inverted;
            break;
        case 3:
            frame.orientation = random() % 6;
            break;
        case 4:
            frame.marker_correlation = double(random() % 3) / 2;
            break;
        case 5:
            frame.corrected.assign(random() % 3, int(random() % 3) - 1);
            break;
        case 6:
            error_rate = pmt::from_double(double(random() % 4) / 100);
            state.set_error_rate(error_rate);
            break;
        case 7:
            if (random() % 4 == 0) {
                error_rate = nullptr;
                state.restart();
            }
            break;
        default: // only the position changes
            break;
        }
        all.emplace_back(expected(frame, error_rate), state.of(frame));
    }
    for (const auto& [wanted, found] : all) {
        expect_equal(wanted, found);
    }
}

// Making the entries of an unchanged frame takes longer than decoding it.
TEST(CcsdsFrameState, EqualFrames_ShareEntries)
{
    frame_state state(false);
    ccsds_frame frame;
    frame.corrected = { 1, 2 };
    const auto first = state.of(frame);
    frame.position = 7;
    const auto second = state.of(frame);
    const auto key = pmt::mp("corrected");
    EXPECT_EQ(pmt::dict_ref(first, key, pmt::PMT_NIL).get(),
              pmt::dict_ref(second, key, pmt::PMT_NIL).get());
}
