// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* gpu_ldpc_dvbs2 in a flowgraph where each frame has a tag that says its MODCOD, from a
 * ring in memory that is written once by a block in C++, beside the same without tags.
 * Noisy frames of normal 1/2. Prints JSON: information bits per second that leave the
 * block, and the part of a core that its own thread and its source's take.
 *
 * Usage: ldpc_acm [BACKEND] [SECONDS] [ROUNDS] [EB_N0_DB] */

#include <gnuradio/blocks/null_sink.h>
#include <gnuradio/gpufec/gpu_ldpc_dvbs2.h>
#include <gnuradio/gpufec/ldpc.h>
#include <gnuradio/io_signature.h>
#include <gnuradio/sync_block.h>
#include <gnuradio/top_block.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace gr::gpufec;

constexpr unsigned n = 64800, frames = 64;

// Fills its output buffer once with items, and then says that there are more.
class ring : public gr::sync_block
{
public:
    ring(const std::vector<std::int8_t>& items, std::size_t least, bool tagged)
        : gr::sync_block(
              "ring", gr::io_signature::make(0, 0, 0), gr::io_signature::make(1, 1, 1)),
          d_items(items),
          d_tagged(tagged)
    {
        const auto whole = std::lcm<std::size_t>(items.size(), 4096);
        d_size = (least + whole - 1) / whole * whole;
        set_min_output_buffer(long(d_size)); // more than what follows asks for
    }

    int work(int room, gr_vector_const_void_star&, gr_vector_void_star& out) override
    {
        std::uint64_t count = room;
        if (d_done < d_size) {
            const auto at = d_done % d_items.size();
            count =
                std::min<std::uint64_t>({ count, d_size - d_done, d_items.size() - at });
            std::memcpy(out[0], &d_items[at], count);
        }
        if (d_tagged) {
            for (auto at = (d_done + n - 1) / n * n; at < d_done + count; at += n) {
                add_item_tag(0, at, d_key, d_modcod);
            }
        }
        d_done += count;
        return int(count);
    }

private:
    const std::vector<std::int8_t>& d_items;
    const bool d_tagged;
    std::size_t d_size;
    std::uint64_t d_done = 0;
    const pmt::pmt_t d_key = pmt::mp("XFECFRAME"),
                     d_modcod = pmt::cons(pmt::from_long(4), pmt::PMT_F); // QPSK 1/2
};

// Of random messages, in the steps that the block expects: two per nat.
std::vector<std::int8_t> noisy_frames(double ebn0_db)
{
    const ldpc_encoder_kernel encoder(ldpc_code::dvbs2("normal", "1/2"));
    std::mt19937 random(1);
    const double variance = std::pow(10, -ebn0_db / 10); // 1 / (2 · rate · Eb/N0)
    std::normal_distribution<double> noise(0, std::sqrt(variance));
    std::vector<std::uint8_t> message(encoder.code().k()), word(n);
    std::vector<std::int8_t> items;
    for (unsigned f = 0; f < frames; ++f) {
        for (auto& bit : message) {
            bit = random() & 1;
        }
        encoder.encode(message.data(), word.data());
        for (const auto bit : word) {
            const double llr = 2 * (1 - 2 * bit + noise(random)) / variance;
            items.push_back(std::int8_t(std::clamp(std::rint(2 * llr), -127.0, 127.0)));
        }
    }
    return items;
}

// Of this process's threads whose names begin so.
double thread_seconds(const std::string& name)
{
    double seconds = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string comm;
        std::uint64_t ns = 0;
        std::getline(std::ifstream(task.path() / "comm") >> std::ws, comm);
        std::ifstream(task.path() / "schedstat") >> ns;
        seconds += comm.compare(0, name.size(), name) == 0 ? double(ns) * 1e-9 : 0;
    }
    return seconds;
}

struct result {
    double bits_per_s, block, source, iterations;
};

result measure(const std::string& backend,
               const std::vector<std::int8_t>& items,
               bool acm,
               double seconds)
{
    auto block = gpu_ldpc_dvbs2::make("dvbs2",
                                      "normal",
                                      "1/2",
                                      "",
                                      "int8",
                                      2,
                                      "offset_min_sum",
                                      "int8",
                                      25,
                                      true,
                                      "message",
                                      true,
                                      0,
                                      3,
                                      50,
                                      backend,
                                      0,
                                      1,
                                      "layered",
                                      -1,
                                      -1,
                                      acm,
                                      {},
                                      false,
                                      {},
                                      0,
                                      10000,
                                      {},
                                      {},
                                      "none");
    auto graph = gr::make_top_block("ldpc_acm");
    auto source = gnuradio::make_block_sptr<ring>(items, 100u << 20, acm);
    graph->connect(source, 0, block, 0);
    graph->connect(block, 0, gr::blocks::null_sink::make(1), 0);
    using clock = std::chrono::steady_clock;
    const auto sleep = [](double s) {
        std::this_thread::sleep_for(std::chrono::duration<double>(s));
    };
    graph->start();
    sleep(0.6);
    const auto begin = clock::now();
    const auto before = block->nitems_written(0);
    const auto block_before = thread_seconds("gpu_ldpc"),
               source_before = thread_seconds("ring");
    sleep(seconds);
    const auto bytes = block->nitems_written(0) - before;
    const std::chrono::duration<double> took = clock::now() - begin;
    const result r{ 8.0 * double(bytes) / took.count(),
                    (thread_seconds("gpu_ldpc") - block_before) / took.count(),
                    (thread_seconds("ring") - source_before) / took.count(),
                    block->mean_iterations() };
    graph->stop();
    graph->wait();
    return r;
}

} // namespace

int main(int argc, char** argv)
{
    const std::string backend = argc > 1 ? argv[1] : "cpu";
    const double seconds = argc > 2 ? std::atof(argv[2]) : 1;
    const int rounds = argc > 3 ? std::atoi(argv[3]) : 3;
    const double ebn0_db = argc > 4 ? std::atof(argv[4]) : 1.3;
    const auto items = noisy_frames(ebn0_db);
    std::cout << "{\"benchmark\": \"ldpc_acm\", \"backend\": \"" << backend
              << "\", \"ebn0_db\": " << ebn0_db << ", \"rounds\": [";
    const char* separator = "";
    for (int i = 0; i < rounds; ++i) {
        for (const bool acm : { false, true }) {
            const auto r = measure(backend, items, acm, seconds);
            std::cout << separator << "\n {\"tags\": \"" << (acm ? "each frame" : "none")
                      << "\", \"bits_per_s\": " << r.bits_per_s
                      << ", \"own_thread_of_a_core\": " << r.block
                      << ", \"source_of_a_core\": " << r.source
                      << ", \"mean_iterations\": " << r.iterations << "}" << std::flush;
            separator = ",";
        }
    }
    std::cout << "\n]}\n";
    return 0;
}
