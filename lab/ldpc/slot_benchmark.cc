// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Fills the slots of the LDPC benchmark, and averages the iterations of a batch. */

#include "ldpc/stream/frame_batch.h"
#include "ldpc/stream/input_format.h"
#include "ldpc/stream/sent_values.h"
#include "slot_benchmark.h"

namespace gr::gpufec::ldpc {

namespace {

job fill_slot(const setup& s,
              const ldpc_options& options,
              const std::vector<std::byte>& items,
              const batch_limits& limits,
              std::byte* input)
{
    const auto& code = s.codes[0];
    const input_format format(
        s.rule(code), options.format, options.llr_scale, options.positive_bit);
    const auto sent = code.sent();
    const auto given = items.size() / options.item_bytes() / sent;
    const auto factor = soft_factor(s.rule(code), options.llr_scale, 0);
    frame_batch batch(s, limits);
    std::vector<std::byte> values(sent * s.value_bytes());
    for (std::size_t f = 0; !batch.full(); ++f) {
        format.convert(items.data(), f % given * sent, sent, values.data());
        spread_sent(code, s, values.data(), input + batch.add(0, factor));
    }
    return batch.make_job(input);
}

} // namespace

slot_benchmark::slot_benchmark(const ldpc_options& options,
                               const std::vector<std::byte>& items)
    : slot_rates(make_setup(options),
                 options,
                 [&](const batch_limits& limits, std::byte* input) {
                     return fill_slot(make_setup(options), options, items, limits, input);
                 })
{
    const auto* const status = reinterpret_cast<const ldpc_status*>(first().status);
    for (std::size_t f = 0; f < frames(); ++f) {
        d_iterations += double(status[f].iterations) / frames();
    }
}

} // namespace gr::gpufec::ldpc
