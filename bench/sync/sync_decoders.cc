// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Measures the speed and the error rates of the synchronisation decoders, and prints
 * JSON. The text `usage` below describes the arguments. */

#include "sync_batch.h"
#include "sync_map/model/trie.h"
#include <cstdio>
#include <ctime>
#include <iostream>
#include <map>

using namespace gr::gpufec;
using namespace gr::gpufec::bench;
using sync_map::decode_frames;
using sync_map::decoder_window;
using sync_map::frame_header;
using sync_map::write_frame;

namespace {

const char* const usage =
    "usage: bench_sync_map cuda linear | alphabets | corridor | stream | grid | cliffs | "
    "limits | errors | plans\n"
    "       bench_sync_map cpu speed | stream | grid\n"
    "linear, corridor, speed: n = 10, q = 32, N = 210; alphabets: channels of more than\n"
    "two symbols, with hard decisions and with likelihoods; stream: sync_decoder in "
    "stream\n"
    "mode and in framed mode; grid: the codes of Briffa's papers, on either backend;\n"
    "cliffs: codes that differ from n = 10, q = 32, N = 210 in one parameter;\n"
    "limits: large windows and alphabets; errors: symbol error rates;\n"
    "plans: each kernel that can decode words of ten bits.\n";

json measure_cuda(const code_size& c, double p, const setting& s, unsigned frames)
{
    batch b(c, p, s, frames);
    json entry = describe(c, p, s, b.setup);
    entry.add("frames", frames);
    try {
        const auto decoder = sync_map::traits::make_cuda(b.setup, frames, 1, 0);
        const auto steps = decoder->time_steps({ frames }, b.memory(), rounds);
        const auto kernels_ms = step_ms(steps, "kernels");
        entry.add("kernels_ms", kernels_ms)
            .add("in_ms", step_ms(steps, "copy_in"))
            .add("out_ms", step_ms(steps, "copy_out"))
            .add("mbit_per_s", frames * information_bits(c) / kernels_ms / 1e3)
            .add("device_mib", decoder->limits().device_bytes / 1048576.0);
        if (s.output == sync_output::symbols) {
            entry.add("checked", b.checked());
        }
    } catch (const std::exception& error) {
        entry.add("error", error.what());
    }
    return entry;
}

json cuda_linear()
{
    json all = json::array();
    const code_size c{ 10, 32, 210 };
    for (const double p : { 1e-3, 1e-2, 1e-1 }) {
        // 63360 = 480 · 132; an H200 has 132 multiprocessors.
        for (const unsigned frames :
             { 1u, 1024u, 12672u, 16384u, 25344u, 63360u, 65536u }) {
            all.add(measure_cuda(c, p, linear, frames));
        }
        auto posteriors = linear;
        posteriors.output = sync_output::posteriors;
        all.add(measure_cuda(c, p, posteriors, 16384));
        for (const auto precision : { sync_precision::float64, sync_precision::mixed }) {
            all.add(measure_cuda(c, p, with(linear, precision), 16384));
        }
    }
    return all;
}

// Measures all kernels that can decode words of ten bits, and the kernel that the library
// chooses (plan "").
json cuda_plans()
{
    using sync_map::ten_bit_kernels;
    json all = json::array();
    const code_size c{ 10, 32, 210 };
    for (const auto precision : { sync_precision::float32, sync_precision::float64 }) {
        for (const double p : { 1e-3, 1e-2, 1e-1 }) {
            for (const unsigned frames : { 1u, 256u, 1024u, 3168u, 12672u, 25344u }) {
                const auto add = [&](const char* name, ten_bit_kernels kernels) {
                    auto s = with(linear, precision);
                    s.kernels = kernels;
                    auto entry = measure_cuda(c, p, s, frames);
                    all.add(entry.add("plan", name));
                };
                add("", ten_bit_kernels::by_batch);
                add("linear", ten_bit_kernels::linear);
                if (frames == 1024) {
                    add("linear_any", ten_bit_kernels::linear_any);
                }
                if (frames > 1) {
                    add("trie_lattice", ten_bit_kernels::trie_lattice);
                }
                if (frames > 1 && precision == sync_precision::float32 && p == 1e-3) {
                    add("banded_lattice", ten_bit_kernels::banded_lattice);
                }
            }
        }
    }
    return all;
}

json cuda_alphabets()
{
    json all = json::array();
    auto soft = linear;
    soft.soft_input = true;
    for (const double p : { 1e-3, 1e-2 }) {
        for (const auto& s : { linear, soft }) {
            for (const unsigned alphabet : { 2u, 4u }) {
                // Three sizes, because large batches of hard bits use another kernel
                // (the trie lattice).
                for (const unsigned frames : { 1024u, 16384u, 63360u }) {
                    if (frames == 63360 && s.soft_input) {
                        continue;
                    }
                    all.add(measure_cuda({ 10, 32, 210, alphabet }, p, s, frames));
                }
            }
            for (const unsigned alphabet : { 3u, 16u }) {
                all.add(measure_cuda({ 10, 32, 210, alphabet }, p, s, 16384));
            }
        }
        // Other word lengths. The kernel of n = 8 decodes words of n = 7 too.
        for (const unsigned n : { 5u, 7u, 8u, 12u }) {
            for (const auto& s : { linear, soft }) {
                all.add(measure_cuda({ n, 32, 210, 4 }, p, s, 16384));
            }
        }
    }
    return all;
}

json cuda_corridor()
{
    json all = json::array();
    for (const double p : { 1e-3, 1e-2, 1e-1 }) {
        for (const auto& form : { corridor_global, corridor_local }) {
            for (const auto precision : { sync_precision::float32,
                                          sync_precision::mixed,
                                          sync_precision::float64 }) {
                all.add(measure_cuda({ 10, 32, 210 }, p, with(form, precision), 1024));
            }
        }
    }
    return all;
}

json cuda_limits()
{
    json all = json::array();
    for (const auto& s : { with(linear, sync_precision::float64),
                           with(corridor_local, sync_precision::mixed) }) {
        all.add(measure_cuda({ 10, 32, 1400 }, 0.2, s, 8));
    }
    const code_size largest{ 20, 1024, 840 };
    for (const auto& s :
         { corridor_local, with(corridor_local, sync_precision::mixed) }) {
        all.add(measure_cuda(largest, 0.1, s, 1));
    }
    for (const unsigned frames : { 1u, 132u }) {
        all.add(measure_cuda(largest, 0.1, linear, frames));
    }
    return all;
}

// Returns the codes of Briffa's papers (README.md, Sources), all of rate 1/2: several
// frame lengths N at q = 32, and several q at N = 210.
std::vector<code_size> grid()
{
    std::vector<code_size> codes;
    for (const unsigned N : { 10u, 30u, 105u, 210u, 420u, 840u }) {
        codes.push_back({ 10, 32, N });
    }
    for (const unsigned bits : { 2u, 3u, 4u, 6u, 8u, 10u }) {
        codes.push_back({ 2 * bits, 1u << bits, 210 });
    }
    return codes;
}

// Returns the batch size at which a batch has about 10¹¹ lattice cells; at most 65536.
unsigned frames_of_a_batch(const code_size& c, double p, const setting& s)
{
    const auto setup = batch(c, p, s, 1).setup;
    const double changes = s.form == sync_form::corridor ? setup.change.size() : 1;
    const double cells = double(c.N) * c.n * c.q * setup.window * changes;
    return unsigned(std::clamp(1e11 / cells, 1., 65536.));
}

json cuda_grid()
{
    json all = json::array();
    for (const double p : { 1e-3, 1e-2, 1e-1 }) {
        for (const auto& c : grid()) {
            for (const auto& s : { corridor_global, corridor_local, linear }) {
                // The programs of Briffa's papers decode one frame at a time.
                all.add(measure_cuda(c, p, s, 1));
                all.add(measure_cuda(c, p, s, frames_of_a_batch(c, p, s)));
            }
        }
    }
    return all;
}

// Returns the number of nodes in all tries of a code.
double trie_nodes(const sync_code& code)
{
    const sync_map::word_tries tries(code);
    double nodes = 0;
    for (unsigned i = 0; i < tries.frame_symbols(); ++i) {
        nodes += double(tries[i].prefix.nodes.size() + tries[i].suffix.nodes.size());
    }
    return nodes;
}

// Measures the speed for codes that differ from n = 10, q = 32, N = 210 in one parameter.
// Reports the numbers of lattice cells and of trie nodes, to find slow regions.
json cuda_cliffs()
{
    std::vector<code_size> codes{ { 10, 32, 210 } };
    for (const unsigned n : { 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 12u, 14u, 16u, 18u, 20u }) {
        codes.push_back({ n, 1u << std::min(5u, (n + 1) / 2), 210 });
    }
    for (const unsigned q : { 2u, 4u, 8u, 16u, 64u, 128u, 256u, 512u, 1024u }) {
        codes.push_back({ 10, q, 210 });
    }
    codes.push_back({ 20, 1024, 210 });
    for (const unsigned N : { 8u, 20u, 50u, 100u, 420u, 840u }) {
        codes.push_back({ 10, 32, N });
    }
    json all = json::array();
    for (const auto& c : codes) {
        const auto nodes_per_drift = trie_nodes(codebook_davey_mackay(c.n, c.q, c.N, 1));
        for (const double p : { 1e-4, 1e-3, 1e-2, 1e-1 }) {
            const auto window = batch(c, p, linear, 1).setup.window;
            const auto cells_per_frame = double(c.N) * c.n * c.q * window;
            const auto frames = unsigned(std::clamp(1e11 / cells_per_frame, 1., 32768.));
            json entry = measure_cuda(c, p, linear, frames);
            entry.add("cells", frames * cells_per_frame)
                .add("trie_nodes", frames * window * nodes_per_drift);
            std::cerr << entry.line() << std::endl; // progress
            all.add(entry);
        }
    }
    return all;
}

// ---- symbol error rates ----

json cuda_errors()
{
    struct point {
        bool sparse; // true: Davey-MacKay codebook; false: random words
        double p, p_substitute, known, rounding;
    };
    constexpr unsigned frames = 3000, N = 210;
    json all = json::array();
    for (const auto& at : {
             point{ true, 1e-3, 0, 0.0073, 0.00005 },
             point{ true, 1e-2, 0, 0.0713, 0.00005 },
             point{ true, 1e-2, 1e-2, 0.129, 0.0005 },
             point{ false, 1e-3, 0, 0.00179, 0.000005 },
             point{ false, 1e-2, 0, 0.0222, 0.00005 },
             point{ false, 3e-2, 0, 0.0961, 0.00005 },
         }) {
        const auto code = at.sparse ? codebook_davey_mackay(10, 32, N, 1)
                                    : codebook_random(10, 32, N, 1);
        const auto data = random_frames(code, { at.p, at.p, at.p_substitute }, frames);
        const auto decoded =
            decode_frames(data,
                          batch::with_setting(data.options, linear),
                          [](const sync_map::setup& setup, std::size_t count) {
                              return sync_map::traits::make_cuda(setup, count, 1, 0);
                          });
        // Errors come in bursts, so the standard deviation is computed over frames.
        double sum = 0, squares = 0;
        for (unsigned f = 0; f < frames; ++f) {
            unsigned wrong = 0;
            for (unsigned i = 0; i < N; ++i) {
                wrong += decoded[f].values[i] != data.messages[f][i];
            }
            sum += wrong / double(N);
            squares += wrong / double(N) * (wrong / double(N));
        }
        const double rate = sum / frames;
        const double deviation =
            std::sqrt((squares / frames - rate * rate) / (frames - 1));
        const double interval = 3.29 * deviation + at.rounding; // 99.9 % confidence
        all.add(json::object()
                    .add("code", at.sparse ? "sparse and marker" : "random")
                    .add("p", at.p)
                    .add("p_substitute", at.p_substitute)
                    .add("frames", frames)
                    .add("symbol_error_rate", rate)
                    .add("known", at.known)
                    .add("interval", interval)
                    .add("within", std::abs(rate - at.known) <= interval));
    }
    return all;
}

// ---- speed of one CPU thread ----

// Returns the processor seconds that one thread needs for a batch, as the minimum of up
// to three rounds. No round begins after \p max_seconds seconds.
double thread_seconds(batch& b, double max_seconds)
{
    const auto decoder = sync_map::traits::make_cpu(b.setup, b.count, 1);
    double least = INFINITY, all = 0;
    for (unsigned i = 0; i < rounds && (i == 0 || all < max_seconds); ++i) {
        const auto begin = std::clock();
        decoder->submit(0, { b.count }, b.memory());
        while (!decoder->finished(0)) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        const double taken = double(std::clock() - begin) / CLOCKS_PER_SEC;
        least = std::min(least, taken);
        all += taken;
    }
    return least;
}

// Reduces each frame of a batch to its first \p indices symbols. Every drift is allowed
// at both ends of the shortened frame, as in the middle of a whole frame.
void shorten(batch& b, unsigned indices)
{
    const auto window = decoder_window(b.options);
    b.setup.symbols = b.setup.outputs = indices;
    const std::vector<double> any(b.setup.window, 1.0);
    for (std::size_t f = 0; f < b.count; ++f) {
        const auto& received = b.data.received[f];
        std::byte* const frame = b.in.data() + f * b.setup.input_bytes();
        auto* const items = reinterpret_cast<std::uint8_t*>(frame + b.setup.items_at());
        const std::size_t before = -window.first;
        for (std::size_t k = 0; k < b.setup.max_items; ++k) {
            items[k] = received[(k + received.size() - before) % received.size()];
        }
        write_frame(b.setup,
                    { int(b.setup.max_items), int(before), window.first, 0 },
                    any,
                    any,
                    nullptr,
                    frame);
    }
}

json measure_cpu(const code_size& c, double p, const setting& s, unsigned frames)
{
    batch b(c, p, s, frames);
    json entry = describe(c, p, s, b.setup);
    // A frame in corridor form can take hours, so its time is extrapolated from a few
    // symbols.
    const double work = double(c.q) * b.setup.window * c.n * b.setup.change.size();
    const unsigned indices =
        s.form == sync_form::linear ? c.N : std::clamp(unsigned(6e8 / work), 3u, c.N);
    if (indices < c.N) {
        shorten(b, indices);
    }
    const double seconds = thread_seconds(b, 1.0) / frames * c.N / indices;
    return entry.add("indices_measured", indices)
        .add("frame_ms", seconds * 1e3)
        .add("mbit_per_s", information_bits(c) / seconds / 1e6);
}

json cpu_speed()
{
    json all = json::array();
    const code_size c{ 10, 32, 210 };
    for (const double p : { 1e-3, 1e-2, 1e-1 }) {
        for (const auto precision : { sync_precision::float32,
                                      sync_precision::mixed,
                                      sync_precision::float64 }) {
            all.add(measure_cpu(c, p, with(linear, precision), 64));
        }
        all.add(measure_cpu(c, p, corridor_global, 1));
        all.add(measure_cpu(c, p, with(corridor_global, sync_precision::mixed), 1));
    }
    return all;
}

json cpu_grid()
{
    json all = json::array();
    for (const double p : { 1e-3, 1e-2, 1e-1 }) {
        for (const auto& c : grid()) {
            all.add(measure_cpu(c, p, corridor_global, 1));
            all.add(measure_cpu(c, p, corridor_local, 1));
        }
    }
    return all;
}

json cuda_stream() { return streams(backend::cuda); }
json cpu_stream() { return streams(backend::cpu); }

} // namespace

int main(int argc, char** argv)
{
    const std::map<std::string, json (*)()> sets = {
        { "cuda linear", cuda_linear },
        { "cuda corridor", cuda_corridor },
        { "cuda alphabets", cuda_alphabets },
        { "cuda grid", cuda_grid },
        { "cuda limits", cuda_limits },
        { "cuda cliffs", cuda_cliffs },
        { "cuda errors", cuda_errors },
        { "cuda stream", cuda_stream },
        { "cuda plans", cuda_plans },
        { "cpu speed", cpu_speed },
        { "cpu grid", cpu_grid },
        { "cpu stream", cpu_stream },
    };
    const auto set =
        argc == 3 ? sets.find(std::string(argv[1]) + ' ' + argv[2]) : sets.end();
    if (set == sets.end()) {
        std::cerr << usage;
        return 2;
    }
    std::cout << set->second().to_string() << '\n';
    return 0;
}
