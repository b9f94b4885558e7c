// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What tags cost: gpu_sync_map in a flowgraph, beside a block that only reads the length
 * tag of each frame and writes the tags that gpu_sync_map writes. Prints JSON: frames per
 * second of both, in turns.
 *
 * Usage: sync_tags [BACKEND] [SECONDS] [ROUNDS] */

#include <gnuradio/blocks/null_sink.h>
#include <gnuradio/blocks/null_source.h>
#include <gnuradio/blocks/stream_to_tagged_stream.h>
#include <gnuradio/gpufec/gpu_sync_map.h>
#include <gnuradio/gpufec/sync_map.h>
#include <gnuradio/io_signature.h>
#include <gnuradio/top_block.h>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int q = 32, n = 10, symbols = 210, frame_items = n * symbols;
const std::string key = "packet_len";

// Frames of a length in, frames of symbols out, and nothing done to them but their tags.
class tags_only : public gr::block
{
public:
    typedef std::shared_ptr<tags_only> sptr;

    //! With as much room before and after it as the decoder has.
    tags_only(int multiple, long output_buffer)
        : gr::block("tags_only",
                    gr::io_signature::make(1, 1, 1),
                    gr::io_signature::make(1, 1, 1))
    {
        set_tag_propagation_policy(TPP_CUSTOM);
        set_relative_rate(1, n);
        if (multiple > 1) {
            set_output_multiple(multiple);
            set_min_output_buffer(output_buffer);
        }
    }

    void forecast(int, gr_vector_int& required) override { required[0] = frame_items; }

    int general_work(int room,
                     gr_vector_int& available,
                     gr_vector_const_void_star&,
                     gr_vector_void_star& out) override
    {
        const auto base = nitems_read(0);
        std::vector<gr::tag_t> tags;
        get_tags_in_range(tags, 0, base, base + available[0]);
        std::sort(tags.begin(), tags.end(), gr::tag_t::offset_compare);
        int given = 0;
        std::uint64_t taken = 0;
        for (const auto& tag : tags) {
            if (tag.key != d_key) {
                continue;
            }
            const auto length = std::uint64_t(pmt::to_long(tag.value));
            const auto end = tag.offset - base + length;
            if (end > std::uint64_t(available[0]) || given + symbols > room) {
                break;
            }
            const auto item = nitems_written(0) + given;
            add_item_tag(0, item, d_drift, pmt::from_long(0), d_source);
            add_item_tag(0, item, d_logp, pmt::from_double(-1), d_source);
            add_item_tag(0, item, d_valid, pmt::from_bool(true), d_source);
            add_item_tag(0, item, d_key, pmt::from_long(symbols), d_source);
            std::memset(static_cast<char*>(out[0]) + given, 0, symbols);
            given += symbols;
            taken = end;
        }
        consume_each(taken);
        return given;
    }

private:
    const pmt::pmt_t d_key = pmt::mp(key), d_drift = pmt::mp("sync_drift"),
                     d_logp = pmt::mp("sync_logp"), d_valid = pmt::mp("sync_valid"),
                     d_source = pmt::mp("tags_only");
};

// Frames per second that leave the block.
double rate(const gr::block_sptr& block, double seconds, bool tagged)
{
    auto graph = gr::make_top_block("sync_tags");
    auto source = gr::blocks::null_source::make(1);
    if (tagged) {
        auto tags = gr::blocks::stream_to_tagged_stream::make(1, 1, frame_items, key);
        graph->connect(source, 0, tags, 0);
        graph->connect(tags, 0, block, 0);
    } else {
        graph->connect(source, 0, block, 0);
    }
    graph->connect(block, 0, gr::blocks::null_sink::make(1), 0);
    using clock = std::chrono::steady_clock;
    const auto sleep = [](double s) {
        std::this_thread::sleep_for(std::chrono::duration<double>(s));
    };
    graph->start();
    sleep(0.5);
    const auto begin = clock::now();
    const auto before = block->nitems_written(0);
    sleep(seconds);
    const auto items = block->nitems_written(0) - before;
    const std::chrono::duration<double> took = clock::now() - begin;
    graph->stop();
    graph->wait();
    return double(items) / symbols / took.count();
}

} // namespace

int main(int argc, char** argv)
{
    const std::string backend = argc > 1 ? argv[1] : "cpu";
    const double seconds = argc > 2 ? std::atof(argv[2]) : 1;
    const int rounds = argc > 3 ? std::atoi(argv[3]) : 3;
    const auto code = gr::gpufec::codebook_davey_mackay(n, q, symbols, 1);
    const std::vector<std::uint8_t> book(code.word(0, 0),
                                         code.word(0, 0) + q * n * symbols);
    const auto decoder = [&](const std::string& tags, int items) {
        return gr::gpufec::gpu_sync_map::make(book,
                                              q,
                                              n,
                                              symbols,
                                              1e-3,
                                              1e-3,
                                              0,
                                              "framed",
                                              key,
                                              "hard",
                                              "symbols",
                                              "float",
                                              "auto",
                                              0,
                                              3,
                                              50,
                                              backend,
                                              0,
                                              1,
                                              "linear",
                                              1e-10,
                                              0,
                                              0,
                                              0,
                                              0,
                                              2,
                                              "corridor",
                                              2,
                                              0,
                                              0,
                                              0,
                                              {},
                                              0,
                                              {},
                                              {},
                                              0,
                                              10000,
                                              false,
                                              tags,
                                              items);
    };
    const char* separator = "";
    std::cout << "{\"benchmark\": \"sync_tags\", \"backend\": \"" << backend
              << "\", \"frames_per_s\": [";
    for (int i = 0; i < rounds; ++i) {
        const auto tagged = decoder("all", 0);
        const auto decoded = rate(tagged, seconds, true);
        const auto few = rate(decoder("failures", 0), seconds, true);
        const auto none = rate(decoder("none", frame_items), seconds, false);
        const auto only =
            rate(gnuradio::make_block_sptr<tags_only>(tagged->output_multiple(),
                                                      4l * tagged->output_multiple()),
                 seconds,
                 true);
        std::cout << separator << "\n {\"tags_only\": " << only
                  << ", \"gpu_sync_map\": " << decoded
                  << ", \"gpu_sync_map, failures\": " << few
                  << ", \"gpu_sync_map, frame_items, none\": " << none << "}"
                  << std::flush;
        separator = ",";
    }
    std::cout << "\n]}\n";
    return 0;
}
