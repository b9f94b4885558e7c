// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The list of all kinds of decoders, and the test fixture for the layers that decoders
 * share. A kind is a decoder class with options and test input. */

#ifndef INCLUDED_GPUFEC_TESTING_DECODER_KINDS_H
#define INCLUDED_GPUFEC_TESTING_DECODER_KINDS_H

#include "kinds/ldpc.h"
#include "kinds/sync_map.h"
#include "kinds/viterbi.h"
#include <gtest/gtest.h>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace gr::gpufec {
namespace qa {

//! Output and log of a decoder.
struct outcome {
    bytes output;
    std::vector<std::string> errors, warnings, infos;
    std::string backend; // decoder::active_backend() after decoding
    std::shared_ptr<output_ring> ring;
};

//! Fixture that decodes with one kind of decoder and records the output and log.
template <class Kind>
class decoders : public testing::Test
{
protected:
    decoder_hooks hooks_to(outcome& o)
    {
        decoder_hooks hooks;
        hooks.log = [&o](log_level level, const std::string& text) {
            (level == log_level::error     ? o.errors
             : level == log_level::warning ? o.warnings
                                           : o.infos)
                .push_back(text);
        };
        return hooks;
    }

    static void take(user& u, outcome& o)
    {
        bytes some(1 << 12);
        while (const auto n =
                   u.ring ? u.ring->pull(u, some) : u.pull(some.data(), some.size())) {
            o.output.insert(o.output.end(), some.begin(), some.begin() + n);
        }
    }

    static void push_all(user& u, outcome& o, unsigned portions)
    {
        for (unsigned f = 0; f < portions; ++f) {
            for (std::size_t first = 0; first < u.portion;) {
                const auto n = u.push(f, first);
                take(u, o);
                first += n;
                if (n == 0) {
                    u.engine->wait(std::chrono::milliseconds(10));
                }
            }
        }
    }

    static void finish(user& u, outcome& o)
    {
        u.engine->finish();
        while (!u.engine->done()) {
            take(u, o);
            u.engine->wait(std::chrono::milliseconds(10));
        }
        o.backend = u.engine->active_backend();
    }

    outcome decode(const run_options& run, unsigned positive_bit = 0)
    {
        outcome o;
        auto u = Kind::make(run, hooks_to(o), positive_bit);
        push_all(u, o, Kind::portions);
        finish(u, o);
        return o;
    }

    // Decodes with output in place if the decoder supports it. The output begins at byte
    // \p first of a ring, whose pages can be replaced if \p replaceable is true.
    outcome
    decode_to_ring(const run_options& run, std::size_t first, bool replaceable = true)
    {
        outcome o;
        auto u = Kind::make(run, hooks_to(o), 0);
        u.ring = std::make_shared<output_ring>(*u.engine, first, replaceable);
        push_all(u, o, Kind::portions);
        finish(u, o);
        u.ring->end();
        o.ring = u.ring;
        return o;
    }

    static run_options run(backend where = backend::automatic)
    {
        run_options r;
        r.backend = where;
        r.batch = 4;
        r.max_latency_ms = 1e9;
        return r;
    }
};

using kinds = testing::Types<viterbi_streams,
                             viterbi_bits,
                             viterbi_frames,
                             viterbi_borrowed<std::int8_t>,
                             viterbi_borrowed<float>,
                             viterbi_borrowed<std::uint8_t>,
                             viterbi_cut_frames<cut_frames::copied>,
                             viterbi_cut_frames<cut_frames::in_place>,
                             ldpc_frames,
                             ldpc_bits,
                             ldpc_borrowed<std::int8_t>,
                             ldpc_borrowed<float>,
                             ldpc_borrowed<std::uint8_t>,
                             ldpc_llrs,
                             ldpc_borrowed<std::int8_t, ldpc_gives::llrs>,
                             ldpc_symbol_frames<false>,
                             ldpc_symbol_frames<true>,
                             sync_frames<sync_mode::framed>,
                             sync_frames<sync_mode::stream>,
                             sync_borrowed<sync_mode::framed, std::uint8_t>,
                             sync_borrowed<sync_mode::framed, float>,
                             sync_borrowed<sync_mode::stream, std::uint8_t>,
                             sync_borrowed<sync_mode::stream, float>>;
} // namespace qa
} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_TESTING_DECODER_KINDS_H */
