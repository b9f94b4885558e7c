/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* Measures the CPU's synchronisation decoders on one thread: information bits a second.
 * Usage: bench_sync_map_cpu [seconds a measurement] */

#include "cpu.h"
#include "decode_frames.h"
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace gr::gpufec;

namespace {

// Frames a second.
double
measure(const test_frames& data, const sync_options& o, double seconds, const char* isa)
{
    const auto plan = make_plan(o);
    const auto count = data.messages.size();
    const auto decoder = make_cpu_decoder(plan, count, 1, isa);
    const auto limits = decoder->limits();
    const host_memory in(limits.input_bytes), out(limits.output_bytes),
        status(limits.status_bytes);
    for (std::size_t f = 0; f < count; ++f) {
        write_framed(o,
                     plan,
                     decoder_window(o),
                     data.received[f].data(),
                     data.received[f].size(),
                     nullptr,
                     in.data() + f * plan.input_bytes());
    }
    using clock = std::chrono::steady_clock;
    const auto begin = clock::now();
    std::size_t frames = 0;
    double taken = 0;
    do {
        decoder->submit(0, { count }, { in.data(), out.data(), status.data() });
        while (!decoder->finished(0)) {
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        frames += count;
        taken = std::chrono::duration<double>(clock::now() - begin).count();
    } while (taken < seconds);
    return frames / taken;
}

} // namespace

int main(int argc, char** argv)
{
    const double seconds = argc > 1 ? std::atof(argv[1]) : 0.5;
    for (const double p : { 1e-3, 1e-2, 1e-1 }) {
        const auto code = codebook_davey_mackay(10, 32, 210, 1);
        const bsid_model channel(p, p);
        auto data = random_frames(code, channel, 64);
        auto o = data.options;
        o.output = sync_output::symbols;
        o.drifts = false;
        const auto print = [&](const char* what, const char* isa) {
            std::printf("p %g  window %u  %-18s %-8s %8.4f Mb/s\n",
                        p,
                        decoder_window(o).size(),
                        what,
                        isa,
                        measure(data, o, seconds, isa) * 1050 / 1e6);
            std::fflush(stdout);
        };
        for (const char* isa : { "avx512", "avx2", "baseline" }) {
            o.precision = sync_precision::float32;
            print("linear float", isa);
            o.precision = sync_precision::float64;
            print("linear double", isa);
        }
        data.messages.resize(1);
        o.form = sync_form::corridor;
        o.storage = sync_storage::global;
        o.precision = sync_precision::mixed;
        print("corridor mixed", "");
        o.precision = sync_precision::float32;
        print("corridor float", "");
    }
    return 0;
}
