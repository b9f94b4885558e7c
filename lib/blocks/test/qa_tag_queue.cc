// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the order in which tags leave a block's queue. */

#include "blocks/common/tag_queue.h"
#include <gtest/gtest.h>

using namespace gr::gpufec;

TEST(tag_queue, TagsHeldInAnyOrder_LeaveSortedByItem)
{
    tag_queue queue;
    for (const std::uint64_t offset : { 5, 2, 7, 2, 6, 0, 2 }) {
        gr::tag_t tag;
        tag.offset = offset;
        tag.value = pmt::from_long(long(queue.size()));
        queue.hold(tag);
    }
    std::vector<std::pair<std::uint64_t, long>> found;
    const auto add = [&](const gr::tag_t& tag) {
        found.emplace_back(tag.offset, pmt::to_long(tag.value));
    };
    // Tags of the same item keep the order in which they were added.
    std::vector<std::pair<std::uint64_t, long>> expected{
        { 0, 5 }, { 2, 1 }, { 2, 3 }, { 2, 6 }, { 5, 0 }
    };
    queue.give(6, 0, add);
    EXPECT_EQ(found, expected);
    EXPECT_EQ(queue.size(), 2u);
    // give() adds its second argument to the offsets.
    queue.give(8, 100, add);
    expected.insert(expected.end(), { { 106, 4 }, { 107, 2 } });
    EXPECT_EQ(found, expected);
    EXPECT_TRUE(queue.empty());
}
