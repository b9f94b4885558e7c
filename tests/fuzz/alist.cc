// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Fuzzes alist files. With each accepted code, the decoder must output the expected
 * number of bits in both schedules. */

#include "fuzz.h"
#include <sstream>
#include <stdexcept>

using namespace gr::gpufec;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    std::istringstream text(std::string(data, data + size));
    ldpc_options o;
    try {
        o.codes = { ldpc_code::from_alist(text, "fuzzed") };
    } catch (const std::invalid_argument&) {
        return 0;
    }
    const auto n = o.codes[0].n();
    if (o.codes[0].edges() > 100000 || n > 100000) {
        return 0; // The code is valid, but decoding would be too slow for fuzzing.
    }
    std::vector<std::int8_t> values(2 * n);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = std::int8_t(data[(i * 7) % size]);
    }
    o.backend = backend::cpu;
    o.max_iterations = 3;
    o.codeword = true;
    for (const auto schedule : { ldpc_schedule::layered, ldpc_schedule::flooding }) {
        o.schedule = schedule;
        const auto decoder = ldpc_decoder::make(o);
        std::vector<std::uint8_t> out(n);
        std::size_t bits = 0;
        const auto take = [&] {
            while (const auto some = decoder->pull(unpacked_bits(out))) {
                bits += some;
            }
        };
        for (std::size_t at = 0; at < values.size();) {
            at += decoder->push(span(values).from(at));
            take();
        }
        fuzz::finish(*decoder, take);
        fuzz::demand(bits == values.size());
    }
    return 0;
}
