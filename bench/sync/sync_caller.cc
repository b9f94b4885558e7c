// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Measures the time per frame of the thread that pushes items to the synchronisation
 * decoder and pulls symbols, and prints JSON. The linker replaces the CPU decoder by one
 * that plays back recorded output.
 *
 * Usage: sync_caller [FRAMES] */

#include "pipeline/cpu_decoder.h"
#include "sync_batch.h"
#include "sync_map/stream/traits.h"
#include <atomic>
#include <cstring>
#include <iostream>
#include <string>

using namespace gr::gpufec;
using namespace gr::gpufec::bench;
using sync_map::boundary_match_header;
using sync_map::job;
using sync_map::setup;
using sync_map::stream_piece;
using sync_map::traits;

namespace {

constexpr unsigned period = 640; // number of frames after which the stream repeats
constexpr unsigned known = 3 * period;

// Recorded decoder output of consecutive frames.
struct recording {
    std::vector<std::byte> outputs;
    std::vector<sync_status> status;
    std::size_t frames() const { return status.size(); }
};
recording tape;
bool recording_now = false;

} // namespace

// The library's make_cpu(), and its replacement (--wrap in CMakeLists.txt).
traits::decoder make_real(const setup&, std::size_t, unsigned, const std::string&) asm(
    "__real__ZN2gr6gpufec8sync_map6traits8make_cpuERKNS1_5setupEmjRKNSt7__cxx1112basic_"
    "stringIcSt11char_traitsIcESaIcEEE");
traits::decoder make_wrapped(const setup&, std::size_t, unsigned, const std::string&) asm(
    "__wrap__ZN2gr6gpufec8sync_map6traits8make_cpuERKNS1_5setupEmjRKNSt7__cxx1112basic_"
    "stringIcSt11char_traitsIcESaIcEEE");

namespace {

// A decoder that plays back the recorded output. After `known` frames, the decoder
// repeats the output of the last `period` frames.
class player : public cpu_decoder<job>
{
public:
    player(const setup& s, std::size_t frames)
        : cpu_decoder("playback", s.limits(frames), 1), d_setup(s)
    {
    }
    ~player() override { stop(); }

    void submit(unsigned slot, const job& j, const batch_memory& memory) override
    {
        const auto first = d_next;
        d_next += j.frames;
        d_pool.submit(slot, 1, [=](std::size_t, unsigned) {
            const auto size = d_setup.output_bytes();
            const auto* const pieces =
                reinterpret_cast<const stream_piece*>(memory.input);
            for (std::size_t k = 0; k < j.frames; ++k) {
                const auto f = first + k;
                const auto from = f < known ? f : known - period + f % period;
                auto* const out = memory.output + k * size;
                std::memcpy(out, tape.outputs.data() + from * size, size);
                boundary_match_header boundary_match;
                std::memcpy(&boundary_match,
                            out + d_setup.boundary_matches_at(),
                            sizeof(boundary_match));
                boundary_match.origin += pieces[k].whole < 0 ? pieces[k].guess : 0;
                std::memcpy(out + d_setup.boundary_matches_at(),
                            &boundary_match,
                            sizeof(boundary_match));
                reinterpret_cast<sync_status*>(memory.status)[k] = tape.status[from];
            }
        });
    }

private:
    const setup d_setup;
    std::size_t d_next = 0;
};

// A decoder that records the output of another decoder.
class recorder : public batch_decoder<job>
{
public:
    recorder(const setup& s, traits::decoder decoder)
        : d_setup(s), d_decoder(std::move(decoder))
    {
    }
    batch_limits limits() const override { return d_decoder->limits(); }
    std::string backend() const override { return d_decoder->backend(); }
    std::string device() const override { return d_decoder->device(); }
    void on_completion(std::function<void()> notify) override
    {
        d_decoder->on_completion(std::move(notify));
    }
    void submit(unsigned slot, const job& j, const batch_memory& memory) override
    {
        d_decoder->submit(slot, j, memory);
        while (!d_decoder->finished(slot)) {
            std::this_thread::yield();
        }
        const auto size = d_setup.output_bytes();
        const auto* const pieces = reinterpret_cast<const stream_piece*>(memory.input);
        for (std::size_t k = 0; k < j.frames; ++k) {
            const auto* const out = memory.output + k * size;
            const auto at = tape.outputs.size();
            tape.outputs.insert(tape.outputs.end(), out, out + size);
            boundary_match_header boundary_match;
            std::memcpy(&boundary_match,
                        out + d_setup.boundary_matches_at(),
                        sizeof(boundary_match));
            boundary_match.origin -= pieces[k].whole < 0 ? pieces[k].guess : 0;
            std::memcpy(tape.outputs.data() + at + d_setup.boundary_matches_at(),
                        &boundary_match,
                        sizeof(boundary_match));
            tape.status.push_back(reinterpret_cast<sync_status*>(memory.status)[k]);
        }
    }
    bool finished(unsigned slot) override { return d_decoder->finished(slot); }

private:
    const setup d_setup;
    const traits::decoder d_decoder;
};

json run(const sync_map::test_frames& data,
         sync_options options,
         unsigned frames,
         double p,
         unsigned pass)
{
    recording_now = pass == 0;
    if (recording_now) {
        tape = {};
        frames = 2 * known;
    }
    const auto decoder = sync_decoder::make(options);
    const std::size_t N = options.code.frame_symbols();
    std::size_t pulled = 0, wrong = 0, locked = 0;
    double bound = 0;
    const auto pull = [&] {
        sync_decoder::frame f;
        while (decoder->pull(f)) {
            const auto* const symbols = static_cast<const std::uint8_t*>(f.output);
            // Compares only one symbol per frame, because the comparison is timed too.
            wrong += symbols[N / 2] != data.messages[pulled++ % period][N / 2];
            locked += f.locked;
            bound = std::max(bound, f.bound);
        }
    };
    const auto begin = std::chrono::steady_clock::now();
    const double caller = caller_seconds();
    push_frames(*decoder, data, options.mode, frames, pull);
    const double caller_s = caller_seconds() - caller;
    const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin;
    return json::object()
        .add("p", p)
        .add("pass", pass)
        .add("frames", frames)
        .add("pulled", pulled)
        .add("batch", decoder->batch())
        .add("caller_us_per_frame", caller_s / frames * 1e6)
        .add("mbit_per_s",
             frames * N * std::log2(double(options.code.q())) / all.count() / 1e6)
        .add("locked", locked)
        .add("wrong_of_one_symbol_each", wrong)
        .add("largest_bound", bound)
        .add("links_failed", double(decoder->links_failed()))
        .add("frames_again", double(decoder->frames_again()));
}

} // namespace

traits::decoder
make_wrapped(const setup& s, std::size_t frames, unsigned threads, const std::string& v)
{
    if (recording_now) {
        return std::make_unique<recorder>(s, make_real(s, frames, threads, v));
    }
    return std::make_unique<player>(s, frames);
}

int main(int argc, char** argv)
{
    const unsigned frames = argc > 1 ? std::stoul(argv[1]) : 160 * 1024;
    json all = json::array();
    for (const double p : { 1e-3, 1e-2, 0.1 }) {
        const auto data = sync_map::random_frames(
            codebook_davey_mackay(10, 32, 210, 1), { p, p }, period);
        auto options = data.options;
        options.form = sync_form::linear;
        options.precision = sync_precision::float32;
        options.output = sync_output::symbols;
        options.drifts = false;
        options.mode = sync_mode::stream;
        options.backend = backend::cpu;
        options.batch = p < 5e-3 ? 12672 : p < 0.05 ? 6336 : 1320;
        for (unsigned pass = 0; pass < 3; ++pass) {
            auto entry = run(data, options, p < 0.05 ? frames : frames / 8, p, pass);
            if (pass > 0) {
                all.add(std::move(entry));
            }
        }
    }
    std::cout << all.to_string() << '\n';
    return 0;
}
