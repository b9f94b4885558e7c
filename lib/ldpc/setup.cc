// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "job.h"
#include "setup.h"
#include <algorithm>

namespace gr::gpufec::ldpc {

setup make_setup(const ldpc_options& o)
{
    setup s;
    s.codes = o.codes;
    s.schedule = o.schedule;
    s.algorithm = o.algorithm;
    s.precision = o.precision;
    s.offset = o.offset;
    s.normalization = o.normalization;
    s.max_iterations = o.max_iterations;
    s.early_stop = o.early_stop;
    s.message_only = !o.codeword && !o.keep_codeword;
    for (const auto& code : o.codes) {
        s.rule(code); // refuses offset and normalization
    }
    return s;
}

batch_limits setup::limits(std::size_t codewords) const
{
    std::size_t input = 0, output = 0;
    for (const auto& code : codes) {
        input = std::max(input, frame_input_bytes(code));
        output = std::max(output, frame_output_bytes(code));
    }
    batch_limits l;
    l.pieces = codewords;
    l.input_bytes = job::values_offset(codewords) + codewords * input;
    l.output_bytes = codewords * output;
    l.status_bytes = codewords * sizeof(frame_status);
    return l;
}

} // namespace gr::gpufec::ldpc
