// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Fills the slots of the Viterbi benchmark, and computes the number of bits per batch. */

#include "slot_benchmark.h"
#include <algorithm>
#include <cstring>

namespace gr::gpufec::viterbi {

slot_benchmark::slot_benchmark(const viterbi_options& options,
                               const std::vector<std::byte>& items)
    : slot_rates(make_setup(options),
                 options,
                 [&](const batch_limits& limits, std::byte* input) {
                     const auto bytes = limits.input_bytes;
                     for (std::size_t at = 0; at < bytes; at += items.size()) {
                         std::memcpy(input + at,
                                     items.data(),
                                     std::min(items.size(), bytes - at));
                     }
                     const auto plan = make_setup(options).plan;
                     job j;
                     j.blocks = limits.work_items;
                     j.values =
                         plan.streaming()
                             ? options.code.values(
                                   limits.work_items * plan.decode_length + plan.overlap)
                             : 0;
                     return j;
                 })
{
    const auto plan = make_setup(options).plan;
    d_bits = plan.streaming()
                 ? double(work_items()) * plan.decode_length
                 : double(work_items()) / plan.blocks_per_frame * plan.frame_bits;
}

} // namespace gr::gpufec::viterbi
