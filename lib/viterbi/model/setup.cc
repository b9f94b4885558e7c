// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Makes the setup from the options of a decoder, computes the buffer sizes of a slot, and
 * describes the setup for the log. */

#include "common/refuse.h"
#include "setup.h"
#include "viterbi/stream/traits.h"

namespace gr::gpufec::viterbi {

setup make_setup(const viterbi_options& o)
{
    check_positive_bit(o.positive_bit);
    setup s(o.code,
            make_block_layout(
                o.code, o.termination, o.frame_bits, o.decode_length, o.overlap),
            o.format == soft_format::packed4,
            o.positive_bit);
    s.floats = o.format == soft_format::float32;
    s.offset_binary = o.format == soft_format::uint8;
    s.cuda_kernel = choose<const char*>("cuda_kernel",
                                        o.cuda_kernel,
                                        { { "auto", "auto" },
                                          { "pbvd", "pbvd" },
                                          { "registers", "registers" },
                                          { "fused", "fused" } });
    return s;
}

batch_limits setup::limits(std::size_t blocks) const
{
    batch_limits l;
    l.work_items = blocks;
    if (plan.streaming()) {
        const auto stages = blocks * plan.decode_length + 2 * plan.overlap;
        // One more period is added, because the values may begin inside a period. The sum
        // is rounded up to whole pairs (for a phase rotation) and to 32-bit words.
        l.input_bytes = (input_bytes(code.values(stages + code.period())) + 6) / 4 * 4;
        l.output_bytes = blocks * (plan.decode_length / 8);
        if (checks.every > 0) {
            const auto most = blocks * plan.decode_length / checks.every + 1;
            l.status_bytes = most * sizeof(sign_error_counts);
        }
    } else {
        const auto frames = blocks / plan.blocks_per_frame;
        l.input_bytes = frames * frame_input_bytes();
        l.output_bytes = frames * frame_output_bytes();
    }
    l.caller_item_bytes = floats ? l.input_bytes * caller_factor() : 0;
    l.status_bytes += samples.most(blocks) * sizeof(channel_counts);
    return l;
}

std::string traits::describe(const setup& s)
{
    return s.named.to_string() + ", D=" + std::to_string(s.plan.decode_length) +
           " L=" + std::to_string(s.plan.overlap) + ",";
}

} // namespace gr::gpufec::viterbi
