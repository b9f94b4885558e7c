// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Makes the job of a batch: groups its frames by code, and writes the tables of their
 * positions. */

#include "frame_batch.h"
#include <algorithm>
#include <numeric>

namespace gr::gpufec::ldpc {

job frame_batch::make_job(std::byte* input) const
{
    std::vector<std::uint32_t> by_code(d_frames.size());
    std::iota(by_code.begin(), by_code.end(), 0u);
    const auto before = [this](auto a, auto b) {
        return d_frames[a].code < d_frames[b].code;
    };
    if (!std::is_sorted(by_code.begin(), by_code.end(), before)) {
        std::stable_sort(by_code.begin(), by_code.end(), before);
    }

    job job;
    job.codewords = d_frames.size();
    job.input_bytes = d_input;
    job.output_bytes = d_output;
    job.caller_item_bytes = d_caller_item_bytes;
    auto* const caller_format =
        reinterpret_cast<caller_frame*>(input + job::caller_offset(d_limits.work_items));
    auto* const table = reinterpret_cast<frame_place*>(input);
    for (std::uint32_t i = 0; i < by_code.size(); ++i) {
        const auto& f = d_frames[by_code[i]];
        if (job.runs.empty() || job.runs.back().code != f.code) {
            job.runs.push_back({ f.code, i, 0 });
        }
        ++job.runs.back().count;
        table[i] = { f.input, f.output, by_code[i], f.soft_factor };
        if (d_caller_item_bytes > 0) {
            caller_format[i] = { f.caller_format, f.input, d_setup.codes[f.code].n(),
                                 f.factor,        f.limit, f.constellation,
                                 f.level };
        }
    }
    return job;
}

} // namespace gr::gpufec::ldpc
