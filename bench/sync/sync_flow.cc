// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Measures throughput and CPU time of gpu_sync_map's thread in a flowgraph. A simulated
 * device that does not decode replaces the GPU, so the figures show the cost of the block
 * and of the host code between block and device. For comparison, the benchmark also
 * measures a block that only reads length tags and writes gpu_sync_map's tags. Prints
 * JSON.
 *
 * Usage: sync_flow [SECONDS] [NAME]
 * Runs only the cases whose names contain NAME. */

#include "apps/json.h"
#include "flow_blocks.h"
#include "flow_rate.h"
#include "lab/sync_map/simulation.h"
#include "pipeline/cpu_decoder.h"
#include "sync_map/stream/traits.h"
#include <gnuradio/blocks/null_sink.h>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

using namespace gr::gpufec;
using namespace gr::gpufec::bench;
using sync_map::boundary_match_header;
using sync_map::job;
using sync_map::setup;
using sync_map::stream_piece;
using sync_map::traits;

namespace {

constexpr unsigned period = 64; // number of frames after which the stream repeats

// A simulated device that reports every frame as valid, at the frame's predicted
// position, without decoding.
class idle_device : public cpu_decoder<job>
{
public:
    idle_device(const setup& s, std::size_t frames)
        : cpu_decoder("idle", s.limits(frames), 1), d_setup(s)
    {
    }
    ~idle_device() override { stop(); }

    std::string backend() const override { return "cuda"; }
    bool page_lock(void*, std::size_t) noexcept override { return true; }
    bool reserve_conversion_buffers() noexcept override { return true; }
    void submit(unsigned slot, const job& j, const batch_memory& memory) override
    {
        d_pool.submit(slot, 1, [=](std::size_t, unsigned) { answer(j, memory); });
    }

private:
    void answer(const job& j, const batch_memory& memory) const
    {
        const auto* const table = j.borrowed ? memory.table : memory.input;
        const auto* const pieces = reinterpret_cast<const stream_piece*>(table);
        const double likely = 2.0 * frame_items;
        for (std::size_t k = 0; k < j.frames; ++k) {
            reinterpret_cast<sync_status*>(memory.status)[k] = { likely, 0, 0, 0, 1 };
            if (d_setup.boundary_matches) {
                auto* const out = memory.output + k * d_setup.output_bytes();
                boundary_match_header boundary_match{ pieces[k].guess, 20, 1, 1 };
                std::memcpy(out + d_setup.boundary_matches_at(),
                            &boundary_match,
                            sizeof(boundary_match));
                if (j.whole > 0) { // The host compares these metrics.
                    auto* const metrics =
                        reinterpret_cast<float*>(out + d_setup.metrics_at());
                    std::fill_n(metrics, 4 * d_setup.window, 1.0f);
                }
            }
        }
    }

    const setup d_setup;
};

// A source that repeats the received items endlessly.
class items_source : public gr::sync_block
{
public:
    explicit items_source(std::vector<std::uint8_t> items)
        : gr::sync_block(
              "items", gr::io_signature::make(0, 0, 0), gr::io_signature::make(1, 1, 1)),
          d_items(std::move(items))
    {
    }
    int work(int count, gr_vector_const_void_star&, gr_vector_void_star& out) override
    {
        const auto n = std::min<std::size_t>(count, d_items.size() - d_at);
        std::memcpy(out[0], d_items.data() + d_at, n);
        d_at = (d_at + n) % d_items.size();
        return int(n);
    }

private:
    const std::vector<std::uint8_t> d_items;
    std::size_t d_at = 0;
};

json measure(const std::string& name,
             const gr::block_sptr& block,
             const std::vector<std::uint8_t>& items,
             bool tagged,
             double seconds,
             std::size_t per_frame)
{
    auto graph = gr::make_top_block(name);
    auto source = gnuradio::make_block_sptr<items_source>(items);
    connect_source(graph, source, block, tagged);
    const auto size = block->output_signature()->sizeof_stream_item(0);
    graph->connect(block, 0, gr::blocks::null_sink::make(size), 0);
    const auto rate = measure_flow(graph, block, 1, seconds, { block->name() });
    const auto frames = rate.items / per_frame;
    return json::object()
        .add("name", name)
        .add("frames_per_s", frames)
        .add("own_thread_of_a_core", rate.load[0])
        .add("own_thread_us_per_frame", frames > 0 ? rate.load[0] / frames * 1e6 : 0);
}

} // namespace

std::size_t traits::cuda_batch(const setup& s, const run_options&, int)
{
    return s.output == sync_output::symbols ? 12672 : 1024;
}

traits::decoder traits::make_cuda(const setup& s, std::size_t frames, unsigned, int)
{
    return std::make_unique<idle_device>(s, frames);
}

int main(int argc, char** argv)
{
    const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
    const std::string only = argc > 2 ? argv[2] : "";
    json all = json::array();
    for (const double p : { 1e-3, 1e-2 }) {
        sync_options options(code(), { p, p });
        options.mode = sync_mode::stream;
        const sync_map::frame_source frames(options, 3);
        std::vector<std::uint8_t> items;
        for (unsigned f = 0; f < period; ++f) {
            const auto frame = frames.make(f);
            for (std::size_t i = 0; i < frame.count; ++i) {
                items.push_back(std::uint8_t(frame.items[i]));
            }
        }
        const auto block = [&](sync_mode mode,
                               status_tags tags,
                               int constant,
                               sync_output output = sync_output::symbols) {
            auto given = block_options(p);
            given.backend = backend::cuda;
            given.mode = mode;
            given.status_tags = tags;
            given.frame_items = constant;
            given.output = output;
            if (mode == sync_mode::stream && tags == status_tags::none) {
                given.length_tag = "";
            }
            return gpu_sync_map::make(given);
        };
        constexpr auto framed = sync_mode::framed, stream = sync_mode::stream;
        const auto run = [&](const std::string& name,
                             const gr::block_sptr& b,
                             bool tagged,
                             std::size_t per_frame = symbols) {
            if (name.find(only) != std::string::npos) {
                all.add(measure(name, b, items, tagged, seconds, per_frame).add("p", p));
            }
        };
        run("stream, no tags", block(stream, status_tags::none, 0), false);
        run("stream, all tags", block(stream, status_tags::all, 0), false);
        if (p < 5e-3) {
            run("frame_items, no tags",
                block(framed, status_tags::none, frame_items),
                false);
            run("frame_items, no tags, posteriors",
                block(framed, status_tags::none, frame_items, sync_output::posteriors),
                false,
                symbols * q);
            const auto tagged = block(framed, status_tags::all, 0);
            run("length tags, all tags", tagged, true);
            run("length tags, failures", block(framed, status_tags::failures, 0), true);
            tagged->check_topology(1, 1);
            run("tags_only",
                gnuradio::make_block_sptr<tags_only>(tagged->output_multiple()),
                true);
        }
    }
    std::cout << all.to_string() << '\n';
    return 0;
}
