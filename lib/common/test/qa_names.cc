// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the lookup of names that users type, and of the messages for unknown names. */

#include "common/names.h"
#include <gnuradio/gpufec/ldpc.h>
#include <gnuradio/gpufec/viterbi.h>
#include <gtest/gtest.h>
#include <random>
#include <stdexcept>

using namespace gr::gpufec;

namespace {

name_list preset_names()
{
    name_list names;
    for (const auto& p : conv_presets()) {
        names.push_back(p.name);
    }
    return names;
}

std::size_t first_line(const std::string& text)
{
    return text.substr(0, text.find('\n')).size();
}

} // namespace

TEST(names, KnownNames_StayDistinctAfterFolding)
{
    std::vector<name_list> lists{ preset_names(), ldpc_code::standards() };
    for (const auto& standard : ldpc_code::standards()) {
        lists.push_back(ldpc_code::frame_sizes(standard));
        lists.push_back(ldpc_code::rates(standard, lists.back().front()));
    }
    for (const auto& names : lists) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            std::string typed;
            for (const char c : names[i]) {
                typed +=
                    c == '_' || c == '-' ? "" : std::string(1, char(std::toupper(c)));
            }
            EXPECT_EQ(find_name(typed, names), i) << names[i];
            EXPECT_EQ(find_name(names[i] + "-_", names), i);
        }
        EXPECT_FALSE(find_name("", names));
    }
}

TEST(names, OneWrongLetter_NearestNameIsFound)
{
    std::mt19937 random(1);
    const auto names = preset_names();
    for (const auto& name : names) {
        for (int k = 0; k < 20; ++k) {
            auto typed = name;
            const auto at = random() % (name.size() - 1);
            switch (k % 4) {
            case 0:
                typed.erase(at, 1);
                break;
            case 1:
                typed.insert(at, 1, 'x');
                break;
            case 2:
                typed[at] = 'x';
                break;
            default:
                std::swap(typed[at], typed[at + 1]);
            }
            EXPECT_NE(nearest_name(typed, names), "") << typed;
            EXPECT_LE(first_line(unknown_name("preset", typed, names)), 120u);
        }
        EXPECT_EQ(nearest_name(name, names), name);
    }
    EXPECT_EQ(nearest_name("prest", { "polynomials", "preset" }), "preset");
    EXPECT_EQ(nearest_name("lock_preset", { "preset", "lock_presets" }), "lock_presets");
    EXPECT_EQ(nearest_name("rpeset", { "resets", "preset" }), "preset"); // transposed
    EXPECT_EQ(nearest_name("QPSK 3/4", { "1/4", "3/4" }), "3/4");
    EXPECT_EQ(nearest_name("0.6667", { "1/2", "3/5", "2/3" }), "2/3");
    EXPECT_EQ(nearest_name("0.7", { "1/2", "3/5", "2/3" }), "");
    EXPECT_EQ(nearest_name("mars", names), "");
    EXPECT_EQ(nearest_name("", names), "");
    EXPECT_EQ(nearest_name("x", {}), "");
}

TEST(names, UnknownName_MessageHasOneShortFirstLine)
{
    EXPECT_EQ(unknown_name("lock", "on", { "off", "auto" }),
              "lock is \"on\": allowed values are off and auto");
    const auto names = preset_names();
    EXPECT_EQ(unknown_name("preset", "dbv_3_4", names, "allowed values are", "the list")
                  .substr(0, 38),
              "preset is \"dbv_3_4\": dvb_3_4?\nallowed ");
    for (const auto& typed :
         { std::string("mars"),
           std::string("dbv_3_4"),
           std::string(100000, 'a'),
           std::string("\0\n\xff\x1b[2J", 7),
           std::string("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4") }) {
        for (const auto& list :
             { names, ldpc_code::frame_sizes("nr"), name_list{ "a" } }) {
            const auto text =
                unknown_name("preset", typed, list, "allowed values are", "the list");
            EXPECT_LE(first_line(text), 120u) << text;
            EXPECT_EQ(text.find('\x1b'), std::string::npos);
            EXPECT_EQ(text.find('\xff'), std::string::npos);
            EXPECT_EQ(list.size() > 8, text.find("others: see the list") != text.npos);
        }
    }
    EXPECT_FALSE(find_name("-1", { "0", "1" }));
    EXPECT_THROW(index_of_name("preset", "mars", names), std::invalid_argument);
    EXPECT_EQ(known_name("backend", "C-P_U", { "cuda", "cpu" }), "cpu");
}
