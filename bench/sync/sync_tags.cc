// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Measures the cost of tags. Runs gpu_sync_map alternately with all tags, with tags of
 * failures only, and without tags. For comparison, also runs a block that only reads
 * length tags and writes gpu_sync_map's tags. Prints the frames per second of each case
 * as JSON.
 *
 * Usage: sync_tags [BACKEND] [SECONDS] [ROUNDS] */

#include "apps/json.h"
#include "flow_blocks.h"
#include "flow_rate.h"
#include <gnuradio/blocks/null_sink.h>
#include <gnuradio/blocks/null_source.h>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

namespace {

using namespace gr::gpufec;
using namespace gr::gpufec::bench;

// Returns the frames per second that leave the block. If \p tagged is true, the input has
// length tags.
double rate(const gr::block_sptr& block, double seconds, bool tagged)
{
    auto graph = gr::make_top_block("sync_tags");
    auto source = gr::blocks::null_source::make(1);
    connect_source(graph, source, block, tagged);
    graph->connect(block, 0, gr::blocks::null_sink::make(1), 0);
    return measure_flow(graph, block, 0.5, seconds).items / symbols;
}

} // namespace

int main(int argc, char** argv)
{
    const std::string backend = argc > 1 ? argv[1] : "cpu";
    const double seconds = argc > 2 ? std::atof(argv[2]) : 1;
    const int rounds = argc > 3 ? std::atoi(argv[3]) : 3;
    const auto decoder = [&](status_tags tags, int items) {
        auto given = block_options(1e-3);
        given.backend = backend_from_string(backend);
        given.status_tags = tags;
        given.frame_items = items;
        return gpu_sync_map::make(given);
    };
    auto rows = json::array();
    for (int i = 0; i < rounds; ++i) {
        const auto tagged = decoder(status_tags::all, 0);
        const auto decoded = rate(tagged, seconds, true);
        const auto few = rate(decoder(status_tags::failures, 0), seconds, true);
        const auto none = rate(decoder(status_tags::none, frame_items), seconds, false);
        const auto only =
            rate(gnuradio::make_block_sptr<tags_only>(tagged->output_multiple()),
                 seconds,
                 true);
        rows.add(json::object({ { "tags_only", only },
                                { "all_tags", decoded },
                                { "failures", few },
                                { "frame_items_no_tags", none } }));
    }
    std::cout << json::object({ { "benchmark", "sync_tags" },
                                { "backend", backend },
                                { "frames_per_s", rows } })
                     .to_string()
              << '\n';
    return 0;
}
