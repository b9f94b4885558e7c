// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Pairs of codewords of codes of circulants, int8: the table of a code, and the launch.
 */

#include "cuda_circulants.cuh"
#include "cuda_pair_plan.h"
#include <algorithm>
#include <vector>

namespace gr::gpufec::ldpc {
namespace device {

namespace {

struct circulant_variant {
    void (*kernel)(circulant_table, pair_arguments) = nullptr;
    unsigned most_degree = 0;
    unsigned most_threads = 0; // of all blocks on a multiprocessor, by their registers
};

template <unsigned Most, unsigned Threads>
circulant_variant variant()
{
    return { circulants::decode_circulants<Most, Threads>, Most, Threads };
}

circulant_variant choose(unsigned degree)
{
    return degree <= 11   ? variant<11, 768>()
           : degree <= 22 ? variant<22, 768>()
           : degree == 32 ? variant<32, 640>()
                          : circulant_variant{};
}

struct host_table {
    circulant_table table{};
    std::vector<circulant_table::edge> edges;
    std::vector<circulant_table::unit> units;
};

// Threads of a team: layers in so many parts that as many threads as there can be are
// busy on a multiprocessor that has memory for \p teams; of those the most teams.
unsigned team_threads(unsigned largest, unsigned most_threads, std::size_t teams)
{
    constexpr unsigned fewest = 96;
    unsigned best = 0, best_threads = 0;
    for (unsigned parts = 1; parts <= 64; ++parts) {
        const unsigned team = (largest + parts - 1) / parts;
        if (team > most_threads || team >= 1u << circulant_table::unit::checks_bits) {
            continue;
        }
        if (best && team < fewest) {
            break;
        }
        const unsigned warps = (team + 31) / 32 * 32;
        const auto at_once =
            std::min<std::size_t>(std::max<std::size_t>(teams, 1), most_threads / warps);
        const auto threads = unsigned(at_once * team);
        if (threads >= best_threads) {
            best = team;
            best_threads = threads;
        }
    }
    return best;
}

// Layers as in the plan, those that are too large in parts; false for a code that the
// kernels are not made for.
bool make_table(const ldpc_code& code,
                const circulant_variant& v,
                std::size_t shared_sm,
                host_table& made)
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
    t.team_words = (code.n() + 3) / 4 * 4;
    t.team = team_threads(largest, v.most_threads, shared_sm / (4 * t.team_words + 4096));
    t.pitch = (t.team + 3) / 4 * 4;
    t.n = code.n();
    t.wrap = 4 * z;
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
            circulant_table::unit u{};
            using unit = circulant_table::unit;
            const auto padded = circulants::padded_degree(degree);
            const auto words = circulants::words_of(padded);
            const bool first_part = from == 0;
            u.head = std::min(t.team, last - first - from) | words << unit::words_at |
                     degree << unit::degree_at | padded << unit::padded_at |
                     std::uint32_t(barrier && first_part) << unit::barrier_at;
            u.first = std::uint32_t(made.edges.size() / 2);
            u.state = t.state_words;
            t.state_words += words * t.pitch;
            made.units.push_back(u);
            for (auto e = begin; e < end; ++e) {
                const auto bit = plan.edges[e].bit;
                made.edges.push_back(
                    { int(4 * ((bit % z + from) % z)) - int(4 * z), 4 * (bit / z * z) });
            }
            // To even numbers, and as many as the code for it reads.
            while (made.edges.size() % 2 || made.edges.size() - 2 * u.first < padded) {
                made.edges.push_back({ 0, 0 });
            }
        }
    }
    t.unit_count = std::uint32_t(made.units.size());
    made.units.push_back({});
    t.edge_count = std::uint32_t(made.edges.size());
    return t.edge_count <= circulant_table::most_edges &&
           t.unit_count <= circulant_table::most_units;
}

class circulants_plan : public pair_plan
{
public:
    circulants_plan(const host_table& made,
                    const pair_outgoing& rule,
                    const circulant_variant& v,
                    unsigned threads,
                    std::size_t shared,
                    unsigned each,
                    unsigned multiprocessors)
        : pair_plan(rule, each, multiprocessors),
          d_edges(to_device(made.edges)),
          d_units(to_device(made.units)),
          d_table(made.table),
          d_variant(v),
          d_threads(threads),
          d_shared(shared)
    {
        d_table.edges = d_edges.get();
        d_table.units = d_units.get();
    }

    std::size_t scratch_bytes(std::size_t codewords) const override
    {
        return scratch_for(codewords, d_table.teams * d_table.state_words);
    }

    void launch(const device_frames& frames,
                const stopping& stop,
                void* scratch,
                cudaStream_t stream) const override
    {
        // Where each codeword can have a team to itself, none shares one.
        const unsigned at_once = frames.count <= blocks() * d_table.teams ? 1 : 2;
        const unsigned block = at_once * d_table.teams; // codewords
        d_variant
            .kernel<<<(frames.count + block - 1) / block, d_threads, d_shared, stream>>>(
                d_table, arguments(frames, stop, scratch, at_once, false, stream));
        cuda::check(cudaGetLastError(), "LDPC kernel");
    }

private:
    const cuda::buffer<circulant_table::edge> d_edges;
    const cuda::buffer<circulant_table::unit> d_units;
    circulant_table d_table;
    const circulant_variant d_variant;
    const unsigned d_threads;
    const std::size_t d_shared;
};

} // namespace

std::unique_ptr<launch_plan>
make_circulants_plan(const ldpc_code& code, const message_rule& rule, bool, int device)
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
    cudaDeviceProp p;
    cuda::check(cudaGetDeviceProperties(&p, device), "device properties");
    if (p.major < pairs::first_capability || !v.kernel ||
        !make_table(code, v, p.sharedMemPerMultiprocessor, *made) ||
        !values.follows(rule)) {
        return nullptr;
    }
    auto& t = made->table;
    const auto bytes = [&t](unsigned teams) {
        return (t.unit_count + 1) * sizeof(circulant_table::unit) +
               4 * (2 * std::size_t(t.edge_count) + circulants::flag_words +
                    std::size_t(teams) * t.team_words);
    };
    // Teams without a barrier for others, but for small ones: whole warps.
    constexpr unsigned fewest_threads = 96;
    t.teams = std::min((fewest_threads + t.team - 1) / t.team, circulants::most_teams);
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
    return std::make_unique<circulants_plan>(
        *made, values, v, threads, bytes(t.teams), resident, p.multiProcessorCount);
}

} // namespace device
} // namespace gr::gpufec::ldpc
