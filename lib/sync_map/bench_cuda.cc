/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* Measures the CUDA decoder's kernels on one batch: information bits a second.
 * Usage: bench_sync_map_cuda [rounds] */

#include "cuda.h"
#include "decode_frames.h"
#include <cstdio>
#include <cstdlib>

using namespace gr::gpufec;

namespace {

struct setting {
    const char* what;
    sync_form form;
    sync_storage storage;
    sync_precision precision;
    unsigned n, q, N;
    double p;
    unsigned frames;
    sync_output output;
};

void run(const setting& s, unsigned rounds)
{
    if (const char* only = std::getenv("ONLY")) {
        if (std::string(s.what) != only) {
            return;
        }
    }
    const auto code = codebook_davey_mackay(s.n, s.q, s.N, 1);
    const bsid_model channel(s.p, s.p);
    // A few different frames, repeated, for all take the same time.
    const auto data = random_frames(code, channel, std::min(s.frames, 64u));
    auto o = data.options;
    o.form = s.form;
    o.storage = s.storage;
    o.precision = s.precision;
    o.output = s.output;
    o.drifts = false;
    const auto plan = make_plan(o);
    const host_memory in(s.frames * plan.input_bytes()),
        out(s.frames * plan.output_bytes()), status(s.frames * sizeof(sync_status));
    const auto window = decoder_window(o);
    for (unsigned f = 0; f < s.frames; ++f) {
        const auto& received = data.received[f % data.received.size()];
        write_framed(o,
                     plan,
                     window,
                     received.data(),
                     received.size(),
                     nullptr,
                     in.data() + f * plan.input_bytes());
    }
    try {
        const auto t = measure_cuda_sync(
            plan, s.frames, { in.data(), out.data(), status.data() }, 0, rounds);
        unsigned errors = 0, symbols = 0;
        if (s.output == sync_output::symbols && s.q <= 256) {
            for (unsigned f = 0; f < std::min<std::size_t>(s.frames, 64); ++f) {
                for (unsigned i = 0; i < s.N; ++i, ++symbols) {
                    errors += unsigned(out.data()[f * plan.output_bytes() + i]) !=
                              data.messages[f][i];
                }
            }
        }
        const double bits = double(s.frames) * s.N * std::log2(s.q);
        std::printf("%-22s n %u q %u N %u p %g window %u change %u frames %u: kernels "
                    "%.3f ms %.2f Mb/s, in %.3f out %.3f ms, %.0f MiB, %u of %u wrong\n",
                    s.what,
                    s.n,
                    s.q,
                    s.N,
                    s.p,
                    plan.window,
                    plan.change.size(),
                    s.frames,
                    t.kernels_ms,
                    bits / t.kernels_ms / 1e3,
                    t.copy_in_ms,
                    t.copy_out_ms,
                    t.device_bytes / 1048576.0,
                    errors,
                    symbols);
    } catch (const std::exception& error) {
        std::printf(
            "%-22s n %u q %u N %u p %g: %s\n", s.what, s.n, s.q, s.N, s.p, error.what());
    }
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv)
{
    const unsigned rounds = argc > 1 ? std::atoi(argv[1]) : 5;
    const auto linear = sync_form::linear;
    const auto corridor = sync_form::corridor;
    const auto global = sync_storage::global;
    const auto local = sync_storage::local;
    const auto f32 = sync_precision::float32;
    const auto f64 = sync_precision::float64;
    const auto mixed = sync_precision::mixed;
    const auto symbols = sync_output::symbols;
    for (const double p : { 1e-3, 1e-2, 1e-1 }) {
        run({ "linear float", linear, local, f32, 10, 32, 210, p, 16384, symbols },
            rounds);
        run({ "linear float posterior",
              linear,
              local,
              f32,
              10,
              32,
              210,
              p,
              16384,
              sync_output::posteriors },
            rounds);
        run({ "linear float", linear, local, f32, 10, 32, 210, p, 1024, symbols },
            rounds);
        run({ "linear double", linear, local, f64, 10, 32, 210, p, 4096, symbols },
            rounds);
        run({ "linear mixed", linear, local, mixed, 10, 32, 210, p, 4096, symbols },
            rounds);
        for (const auto precision : { f32, mixed }) {
            const bool is_mixed = precision == mixed;
            run({ is_mixed ? "corridor global mixed" : "corridor global float",
                  corridor,
                  global,
                  precision,
                  10,
                  32,
                  210,
                  p,
                  1024,
                  symbols },
                rounds);
            run({ is_mixed ? "corridor local mixed" : "corridor local float",
                  corridor,
                  local,
                  precision,
                  10,
                  32,
                  210,
                  p,
                  1024,
                  symbols },
                rounds);
        }
    }
    for (const unsigned q : { 4u, 64u, 256u, 1024u }) {
        run({ "linear float", linear, local, f32, 10, q, 210, 1e-3, 4096, symbols },
            rounds);
    }
    run({ "linear float", linear, local, f32, 20, 1024, 210, 1e-2, 512, symbols },
        rounds);
    run({ "linear float", linear, local, f32, 20, 1024, 840, 1e-1, 132, symbols }, 2);
    run({ "corridor local float", corridor, local, f32, 20, 1024, 840, 1e-1, 1, symbols },
        1);
    run({ "corridor local mixed",
          corridor,
          local,
          mixed,
          20,
          1024,
          840,
          1e-1,
          1,
          symbols },
        1);
    run({ "linear any float", linear, local, f32, 11, 32, 210, 1e-3, 4096, symbols },
        rounds);
    return 0;
}
