// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Parts of the benchmarks of the synchronisation decoder: codes, settings, batches of
 * received frames, and a loop that pushes frames to a decoder. */

#ifndef INCLUDED_GPUFEC_BENCH_SYNC_BATCH_H
#define INCLUDED_GPUFEC_BENCH_SYNC_BATCH_H

#include "apps/json.h"
#include "lab/slot_rates.h"
#include "sync_map/model/job.h"
#include "sync_map/test/qa_support.h"
#include <chrono>
#include <cmath>
#include <ctime>

namespace gr::gpufec::bench {

using sync_map::random_frames;
using sync_map::read_output;
using sync_map::test_frames;
using sync_map::write_framed;

constexpr unsigned rounds = 3;

struct code_size {
    unsigned n, q, N;
    unsigned alphabet = 2;
};

struct setting {
    sync_form form;
    sync_storage storage;
    sync_precision precision;
    sync_output output = sync_output::symbols;
    bool soft_input = false;
    sync_map::ten_bit_kernels kernels = sync_map::ten_bit_kernels::by_batch;
};

inline const setting linear = { sync_form::linear,
                                sync_storage::automatic,
                                sync_precision::float32 };
inline const setting corridor_global = { sync_form::corridor,
                                         sync_storage::global,
                                         sync_precision::float32 };
inline const setting corridor_local = { sync_form::corridor,
                                        sync_storage::local,
                                        sync_precision::float32 };

inline setting with(setting s, sync_precision precision)
{
    s.precision = precision;
    return s;
}

inline const char* name(sync_precision p)
{
    return p == sync_precision::float32
               ? "float"
               : (p == sync_precision::mixed ? "mixed" : "double");
}

inline json
describe(const code_size& c, double p, const setting& s, const sync_map::setup& setup)
{
    json entry = json::object();
    entry.add("n", c.n).add("q", c.q).add("N", c.N).add("p", p).add(
        "form", s.form == sync_form::linear ? "linear" : "corridor");
    if (s.form == sync_form::corridor) {
        entry.add("storage", s.storage == sync_storage::global ? "global" : "local");
    }
    if (c.alphabet > 2) {
        entry.add("alphabet", c.alphabet);
    }
    if (s.soft_input) {
        entry.add("soft_input", "float");
    }
    return entry.add("precision", name(s.precision))
        .add("output", s.output == sync_output::symbols ? "symbols" : "posteriors")
        .add("m_tau", setup.window)
        .add("m_n", setup.change.size());
}

// A batch of frames in the memory that a decoder reads.
struct batch {
    batch(const code_size& c, double p, const setting& s, unsigned frames)
        // The batch repeats at most 2048 different frames, or 64 long frames. Some frames
        // are decoded again with all drifts (see "a band of 16 drifts" in
        // docs/performance.md); 2048 frames have a representative share of such frames.
        : data(random_frames(c.alphabet == 2
                                 ? codebook_davey_mackay(c.n, c.q, c.N, 1)
                                 : codebook_random(c.n, c.q, c.N, 1, c.alphabet),
                             { p, p, 0, c.alphabet },
                             std::min(frames, c.n * c.N <= 2100 ? 2048u : 64u))),
          options(with_setting(data.options, s)),
          setup(setup_of(options, s)),
          count(frames),
          in(count * setup.input_bytes()),
          out(count * setup.output_bytes()),
          status(count * sizeof(sync_status))
    {
        if (s.soft_input) {
            make_soft();
        }
        for (unsigned f = 0; f < count; ++f) {
            const auto k = f % data.received.size();
            write_framed(setup,
                         s.soft_input ? static_cast<const void*>(data.soft[k].data())
                                      : data.received[k].data(),
                         data.received[k].size(),
                         nullptr,
                         in.data() + f * setup.input_bytes());
        }
    }

    // Converts received items to likelihoods: 0.99 for the received symbol, and 0.01 for
    // each other symbol. With two symbols, an item has only the likelihood of symbol 1.
    void make_soft()
    {
        const unsigned s = setup.code.alphabet();
        for (const auto& received : data.received) {
            data.soft.emplace_back();
            for (const unsigned y : received) {
                for (unsigned x = s == 2; x < s; ++x) {
                    data.soft.back().push_back(x == y ? 0.99f : 0.01f);
                }
            }
        }
    }

    static sync_options with_setting(sync_options o, const setting& s)
    {
        o.form = s.form;
        o.storage = s.storage;
        o.precision = s.precision;
        o.output = s.output;
        o.soft_input = s.soft_input;
        o.drifts = false;
        return o;
    }

    static sync_map::setup setup_of(const sync_options& o, const setting& s)
    {
        auto setup = sync_map::make_setup(o);
        setup.kernels = s.kernels;
        return setup;
    }

    batch_memory memory() { return { in.data(), out.data(), status.data() }; }

    // Counts valid frames and wrong symbols, each different frame once.
    json checked() const
    {
        const auto different = std::min<std::size_t>(count, data.messages.size());
        unsigned valid = 0, wrong = 0;
        for (std::size_t f = 0; f < different; ++f) {
            const auto decoded =
                read_output(setup,
                            out.data() + f * setup.output_bytes(),
                            reinterpret_cast<const sync_status*>(status.data())[f]);
            valid += decoded.status.valid;
            for (std::size_t i = 0; i < data.messages[f].size(); ++i) {
                wrong += decoded.values[i] != data.messages[f][i];
            }
        }
        return json::object()
            .add("frames", different)
            .add("valid", valid)
            .add("wrong_symbols", wrong)
            .add("symbols", different * setup.outputs);
    }

    test_frames data;
    sync_options options;
    sync_map::setup setup;
    std::size_t count;
    host_memory in, out, status;
};

inline double information_bits(const code_size& c) { return c.N * std::log2(c.q); }

//! Returns the processor time of the calling thread.
inline double caller_seconds()
{
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

//! Pushes \p frames received frames to a decoder, and calls pull() until all frames are
//! decoded. The frames are repetitions of the frames of \p data.
template <class Pull>
void push_frames(sync_decoder& decoder,
                 const test_frames& data,
                 sync_mode mode,
                 unsigned frames,
                 Pull&& pull)
{
    for (unsigned f = 0; f < frames; ++f) {
        const auto& items = data.received[f % data.received.size()];
        for (std::size_t at = 0; at < items.size();) {
            const auto rest = items.size() - at;
            const auto taken =
                mode == sync_mode::stream
                    ? decoder.push({ items.data() + at, rest })
                    : (decoder.push_frame({ items.data(), rest }) ? rest : 0);
            at += taken;
            pull();
            if (taken == 0) {
                decoder.wait(std::chrono::milliseconds(1));
            }
        }
    }
    decoder.finish();
    while (!decoder.done()) {
        pull();
        decoder.wait(std::chrono::milliseconds(1));
    }
}

//! Measures sync_decoder in stream mode and in framed mode.
json streams(backend where);

} // namespace gr::gpufec::bench

#endif /* INCLUDED_GPUFEC_BENCH_SYNC_BATCH_H */
