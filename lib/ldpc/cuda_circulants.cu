// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Pairs of codewords of codes of circulants, int8: the table of a code, and the launch.
 */

#include "cuda_circulants.cuh"
#include "cuda_pair_rule.h"
#include <algorithm>
#include <vector>

namespace gr::gpufec::ldpc {
namespace device {

namespace {

struct circulant_variant {
    void (*kernel)(circulant_table, pair_arguments) = nullptr;
    unsigned most_degree = 0;
    unsigned most_threads = 0;
};

template <unsigned Most, unsigned Threads, unsigned Blocks>
circulant_variant variant()
{
    return { circulants::decode_circulants<Most, Threads, Blocks>, Most, Threads };
}

circulant_variant choose(unsigned degree)
{
    return degree <= 10   ? variant<10, 384, 2>()
           : degree <= 22 ? variant<22, 384, 2>()
           : degree <= 32 ? variant<32, 320, 2>()
                          : circulant_variant{};
}

struct host_table {
    circulant_table table{};
    std::vector<circulant_table::edge> edges;
};

// Layers as in the plan, those that are too large in parts; false for a code that the
// kernels are not made for.
bool make_table(const ldpc_code& code, const circulant_variant& v, host_table& made)
{
    const auto plan = make_layer_plan(code);
    const unsigned z = code.lifting();
    auto& t = made.table;
    unsigned largest = 0;
    for (std::size_t l = 0; l < plan.layers(); ++l) {
        if (plan.rounds[l] > 0) {
            return false;
        }
        largest = std::max(largest, plan.layer_begin[l + 1] - plan.layer_begin[l]);
    }
    const unsigned parts = (largest + v.most_threads - 1) / v.most_threads;
    t.team = (largest + parts - 1) / parts;
    t.n = code.n();
    t.wrap = 4 * z;
    t.team_words = (code.n() + 3) / 4 * 4;
    std::vector<bool> used(code.n() / z, false); // columns since the last barrier
    for (std::size_t l = 0; l < plan.layers(); ++l) {
        // Circulants of the row, from the edges of its first check.
        const auto first = plan.layer_begin[l], last = plan.layer_begin[l + 1];
        const auto begin = plan.edge_begin[first], end = plan.edge_begin[first + 1];
        const unsigned degree = end - begin;
        bool barrier = false;
        for (auto e = begin; e < end; ++e) {
            barrier |= used[plan.edges[e].bit / z];
        }
        if (barrier) {
            std::fill(used.begin(), used.end(), false);
        }
        for (auto e = begin; e < end; ++e) {
            used[plan.edges[e].bit / z] = true;
        }
        if (degree < 2 || degree > v.most_degree) {
            return false;
        }
        for (unsigned from = 0; from < last - first; from += t.team) {
            if (t.unit_count == circulant_table::most_units) {
                return false;
            }
            auto& u = t.units[t.unit_count++];
            u.first = std::uint16_t(made.edges.size());
            u.checks = std::uint16_t(std::min(t.team, last - first - from));
            u.degree = std::uint8_t(degree);
            u.padded = std::uint8_t(circulants::padded_degree(degree));
            u.barrier = barrier && from == 0;
            u.words = std::uint8_t(circulants::words_of(u.padded));
            u.state = t.state_words;
            t.state_words += u.words * t.team;
            for (auto e = begin; e < end; ++e) {
                const auto bit = plan.edges[e].bit;
                made.edges.push_back(
                    { int(4 * ((bit % z + from) % z)) - int(4 * z), 4 * (bit / z * z) });
            }
            // To even numbers, and as many as the code for it reads.
            while (made.edges.size() % 2 || made.edges.size() - u.first < u.padded) {
                made.edges.push_back({ 0, 0 });
            }
        }
    }
    t.edge_count = std::uint32_t(made.edges.size());
    return t.edge_count <= circulant_table::most_edges;
}

class circulants_kernel : public code_kernel
{
public:
    circulants_kernel(const host_table& made,
                      const pair_outgoing& rule,
                      const circulant_variant& v,
                      unsigned threads,
                      std::size_t shared,
                      unsigned each,
                      unsigned multiprocessors)
        : d_edges(made.edges.size()),
          d_table(made.table),
          d_rule(rule),
          d_variant(v),
          d_threads(threads),
          d_shared(shared),
          d_each(each),
          d_blocks(each * multiprocessors)
    {
        cuda::check(cudaMemcpy(d_edges.get(),
                               made.edges.data(),
                               d_edges.bytes(),
                               cudaMemcpyHostToDevice),
                    "copy of a code's tables");
        d_table.edges = d_edges.get();
    }

    std::size_t scratch_bytes(std::size_t codewords) const override
    {
        const auto slots = slots_for(codewords);
        // Units past the last are fetched as well.
        return flag_bytes(slots) +
               (std::size_t(slots) * d_table.teams * d_table.state_words + d_threads) * 4;
    }

    void launch(const device_frames& frames,
                const stopping& stop,
                void* scratch,
                cudaStream_t stream) const override
    {
        const auto slots = slots_for(frames.count);
        auto* const taken = static_cast<std::uint32_t*>(scratch);
        cuda::check(cudaMemsetAsync(taken, 0, flag_bytes(slots), stream), "memset");
        // Where each codeword can have a team to itself, none shares one.
        const unsigned at_once = frames.count <= d_blocks * d_table.teams ? 1 : 2;
        const pair_arguments arguments{ frames,
                                        stop,
                                        taken + flag_bytes(slots) / sizeof(*taken),
                                        taken,
                                        slots,
                                        d_each,
                                        in_both_halves(d_rule.slope),
                                        in_both_halves(d_rule.floor),
                                        in_both_halves(d_rule.span),
                                        at_once,
                                        false };
        const unsigned block = at_once * d_table.teams; // codewords
        d_variant
            .kernel<<<(frames.count + block - 1) / block, d_threads, d_shared, stream>>>(
                d_table, arguments);
        cuda::check(cudaGetLastError(), "LDPC kernel");
    }

private:
    unsigned slots_for(std::size_t codewords) const
    {
        return unsigned(std::min<std::size_t>(d_blocks, codewords));
    }
    static std::size_t flag_bytes(unsigned slots)
    {
        return (slots * sizeof(std::uint32_t) + 255) / 256 * 256;
    }

    const cuda::buffer<circulant_table::edge> d_edges;
    circulant_table d_table;
    const pair_outgoing d_rule;
    const circulant_variant d_variant;
    const unsigned d_threads;
    const std::size_t d_shared;
    const unsigned d_each;   // blocks at once, of a multiprocessor
    const unsigned d_blocks; // of all
};

} // namespace

std::unique_ptr<code_kernel>
make_circulants_kernel(const ldpc_code& code, const message_rule& rule, int device)
{
    // Halves hold integers up to 2048; violated checks are counted in 16 bits.
    if (code.lifting() == 0 || code.q() || rule.precision != ldpc_precision::int8 ||
        rule.posterior_limit(code.largest_bit_degree()) + rule.message_limit > 1400 ||
        code.checks() > 0xffff) {
        return nullptr;
    }
    const pair_outgoing values(rule);
    const auto v = choose(code.largest_check_degree());
    const auto made = std::make_unique<host_table>();
    if (!v.kernel || !make_table(code, v, *made) || !values.follows(rule)) {
        return nullptr;
    }
    cudaDeviceProp p;
    cuda::check(cudaGetDeviceProperties(&p, device), "device properties");
    if (p.major < pairs::first_capability) {
        return nullptr;
    }
    auto& t = made->table;
    const auto bytes = [&t](unsigned teams) {
        return 4 * (2 * std::size_t(t.edge_count) + circulants::flag_words +
                    std::size_t(teams) * t.team_words);
    };
    // As many teams as a block has threads for, if two such blocks fit; or one.
    constexpr std::size_t reserved = 1024; // of a block
    t.teams = std::min(v.most_threads / t.team, circulants::most_teams);
    while (t.teams > 1 &&
           2 * (bytes(t.teams) + reserved) > p.sharedMemPerMultiprocessor) {
        --t.teams;
    }
    if (bytes(t.teams) > p.sharedMemPerBlockOptin) {
        return nullptr;
    }
    const unsigned threads = (t.team * t.teams + 31) / 32 * 32;
    cuda::allow_shared(v.kernel, bytes(t.teams), "the code");
    int resident = 0;
    cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                    &resident, v.kernel, int(threads), bytes(t.teams)),
                "occupancy");
    if (resident == 0) {
        return nullptr;
    }
    return std::make_unique<circulants_kernel>(
        *made, values, v, threads, bytes(t.teams), resident, p.multiProcessorCount);
}

} // namespace device
} // namespace gr::gpufec::ldpc
