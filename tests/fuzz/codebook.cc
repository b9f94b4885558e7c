// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Fuzzes codebook files: four bytes of the input select n, q, N and the alphabet, and the
 * following bytes are the file. The decoder must decode a frame with each accepted
 * codebook. */

#include "fuzz.h"
#include <unistd.h>
#include <cstdio>
#include <fstream>
#include <stdexcept>

using namespace gr::gpufec;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const auto path = "/tmp/gpufec-codebook-" + std::to_string(getpid());
    fuzz::reader in(data, size);
    const auto n = in.byte() % 24, q = in.byte() % 20, symbols = in.byte() % 6,
               alphabet = in.byte() % 6;
    std::ofstream(path, std::ios::binary) << in.rest();
    try {
        const auto code = sync_code::from_file(path, n, q, symbols, alphabet);
        sync_options o(code, { 0.02, 0.02, 0.01 });
        o.backend = backend::cpu;
        o.exclusion = 1e-6;
        const auto decoder = sync_decoder::make(o);
        std::vector<std::uint8_t> items(code.frame_bits() + size % 5);
        for (std::size_t i = 0; i < items.size(); ++i) {
            items[i] = data[i % size] % alphabet;
        }
        fuzz::demand(decoder->push_frame(items));
        std::size_t frames = 0;
        fuzz::finish(*decoder, [&] {
            for (sync_decoder::frame f; decoder->pull(f);) {
                ++frames;
            }
        });
        fuzz::demand(frames == 1);
    } catch (const std::invalid_argument&) {
    }
    std::remove(path.c_str());
    return 0;
}
