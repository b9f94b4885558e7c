// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Helpers for tests that decode streams of test frames with a sync_decoder. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_TEST_QA_STREAM_SUPPORT_H
#define INCLUDED_GPUFEC_SYNC_MAP_TEST_QA_STREAM_SUPPORT_H

#include "qa_support.h"
#include <gtest/gtest.h>
#include <algorithm>
#include <chrono>

namespace gr::gpufec::sync_map {

using std::chrono::milliseconds;

struct decoded_stream {
    std::vector<double> values;
    std::vector<std::int64_t> begins;
    std::vector<bool> locked, valid;
};

template <class Value>
void take_all(sync_decoder& decoder, decoded_stream& to)
{
    sync_decoder::frame f;
    while (decoder.pull(f)) {
        EXPECT_EQ(f.number, to.begins.size());
        append_values<Value>(static_cast<const std::byte*>(f.output),
                             f.output_bytes / sizeof(Value),
                             to.values);
        to.begins.push_back(f.begin);
        to.locked.push_back(f.locked);
        to.valid.push_back(f.status.valid);
    }
}

//! Pushes a stream in chunks of \p piece items and pulls all frames.
template <class Value>
decoded_stream decode_stream(const sync_options& options,
                             const std::vector<std::uint8_t>& items,
                             std::size_t piece)
{
    const auto decoder = sync_decoder::make(options);
    decoded_stream out;
    const auto size = options.item_bytes(), count = items.size() / size;
    const auto* const bytes = reinterpret_cast<const std::byte*>(items.data());
    for (std::size_t at = 0; at < count;) {
        at += decoder->push({ bytes + at * size, std::min(piece, count - at) });
        take_all<Value>(*decoder, out);
    }
    finish(*decoder, [&] { take_all<Value>(*decoder, out); });
    return out;
}

inline std::vector<std::uint8_t> joined(const test_frames& data)
{
    std::vector<std::uint8_t> all;
    for (const auto& frame : data.received) {
        all.insert(all.end(), frame.begin(), frame.end());
    }
    return all;
}

inline sync_options stream_options(sync_options o, sync_output output)
{
    o.mode = sync_mode::stream;
    o.backend = backend::cpu;
    o.output = output;
    o.drifts = false;
    return o;
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_TEST_QA_STREAM_SUPPORT_H */
