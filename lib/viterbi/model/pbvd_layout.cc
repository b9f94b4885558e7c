// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Groups the butterflies of a trellis by their output words, and divides the groups into
 * chunks for the warps of a thread block. */

#include "pbvd_layout.h"
#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace gr::gpufec::viterbi {
namespace device {

pbvd_layout make_pbvd_layout(const conv_code& code, unsigned history)
{
    constexpr unsigned max_a_chunk = 16, max_warps = 8;
    // Number of butterflies per survivor word. Each block of the pair has 16 bits of the
    // word, and a butterfly needs the decisions of two states.
    const unsigned per_word = 16 / history / 2;
    std::map<std::array<unsigned, 4>, std::vector<unsigned>> groups;
    for (unsigned j = 0; j < code.states() / 2; ++j) {
        groups[{ code.output_word(2 * j, 0),
                 code.output_word(2 * j, 1),
                 code.output_word(2 * j + 1, 0),
                 code.output_word(2 * j + 1, 1) }]
            .push_back(j);
    }
    pbvd_layout l{};
    l.states = code.states();
    l.memory = code.constraint_length() - 1;
    l.spread = l.memory * 127 * code.outputs();
    unsigned listed = 0;
    for (const auto& [words, members] : groups) {
        for (std::size_t m = 0; m < members.size(); m += max_a_chunk) {
            auto& chunk = l.chunk[l.chunks++];
            std::copy(words.begin(), words.end(), chunk.word);
            chunk.first = listed;
            const auto end = std::min<std::size_t>(members.size(), m + max_a_chunk);
            for (auto i = m; i < end; ++i) {
                l.butterfly[listed] = members[i];
                l.position[members[i]] = 2 * listed;
                l.position[members[i] + l.states / 2] = 2 * listed + 1;
                ++listed;
            }
            // The last butterfly is repeated to fill the survivor word. A kernel then
            // stores the same path metrics twice, with the same result.
            for (; listed % per_word != 0; ++listed) {
                l.butterfly[listed] = members[end - 1];
            }
            chunk.count = listed - chunk.first;
        }
    }
    l.words = listed / per_word;
    l.warps = std::min(l.chunks, max_warps);
    const bool even = l.warps == l.chunks &&
                      std::all_of(l.chunk, l.chunk + l.chunks, [&](const auto& c) {
                          return c.count == l.chunk[0].count;
                      });
    l.even_chunk = even ? l.chunk[0].count : 0;
    return l;
}

} // namespace device
} // namespace gr::gpufec::viterbi
