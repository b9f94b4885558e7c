// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Pairs of codewords of codes of circulants, int8: the table of a code, and the launch.
 */

#include "cuda_circulants.cuh"
#include "cuda_pair_plan.h"
#include <algorithm>
#include <cstring>
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
    return degree <= 11   ? variant<11, 1024>()
           : degree <= 22 ? variant<22, 768>()
           : degree == 32 ? variant<32, 640>()
                          : circulant_variant{};
}

// Threads of a team: layers in so many parts that as many threads as there can be are
// busy on a multiprocessor that has memory for \p teams; of those the most teams.
unsigned team_threads(unsigned largest, unsigned most_threads, std::size_t teams)
{
    constexpr unsigned fewest = 96;
    unsigned best = 0, best_threads = 0;
    for (unsigned parts = 1; parts <= 64; ++parts) {
        const unsigned team = (largest + parts - 1) / parts;
        if (team > most_threads) {
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

std::uint32_t float_bits(float x)
{
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof(bits));
    return bits;
}

// A code as the kernels want it.
class table_maker
{
public:
    //! For a device that has memory for so many bytes on a multiprocessor.
    table_maker(const ldpc_code& code, const circulant_variant& v, std::size_t shared_sm)
        : d_z(code.lifting()), d_plan(make_layer_plan(code))
    {
        unsigned largest = 0;
        for (std::size_t l = 0; l < d_plan.layers(); ++l) {
            d_suits &= d_plan.rounds[l] == 0;
            largest =
                std::max(largest, d_plan.layer_begin[l + 1] - d_plan.layer_begin[l]);
        }
        auto& t = d_table;
        t.n = code.n();
        t.minus_z = 0x80000000u | 4 * d_z;
        find_leaves(code);
        t.team_words = (t.n - (t.leaves_to - t.leaves_from) + 7) / 8 * 8;
        t.team =
            team_threads(largest, v.most_threads, shared_sm / (4 * t.team_words + 4096));
        // Teams without a barrier for others, but for small ones: whole warps.
        constexpr unsigned fewest_threads = 96;
        t.teams =
            std::min((fewest_threads + t.team - 1) / t.team, circulants::most_teams);
        // A place more, for threads of no team.
        t.pitch = (t.team + 1 + 3) / 4 * 4;
        make_units(v.most_degree);
    }

    //! Threads of a block, and its shared memory.
    unsigned threads() const { return (d_table.team * d_table.teams + 31) / 32 * 32; }
    std::size_t shared_bytes() const
    {
        const auto& t = d_table;
        return 4 * (t.edge_words + circulants::flag_words + threads() +
                    std::size_t(t.teams) * (t.team_words + t.shared_message_words));
    }

    //! Messages in so many bytes of a block's shared memory, the others in device memory;
    //! false for a code that the kernels are not made for.
    bool place_messages(std::size_t bytes)
    {
        auto& t = d_table;
        const auto room = bytes / (4 * t.teams);
        std::uint32_t edges = 0, leaves = 0, last_shared_words = 0;
        for (const auto& u : d_units) {
            const auto words = circulants::message_words(u.kind) * t.pitch;
            const bool shared = t.shared_message_words + 2 * words <= room;
            last_shared_words = shared ? words : last_shared_words;
            auto& before = shared ? t.shared_message_words : t.message_words;
            add(u,
                { 1,
                  std::uint16_t(u.checks),
                  std::uint8_t(u.degree),
                  std::uint8_t(u.kind),
                  std::uint16_t(edges),
                  std::uint16_t(leaves),
                  before,
                  shared,
                  false });
            before += words;
            edges += circulants::table_words(u.kind);
            leaves += circulants::has_leaf(u.kind);
        }
        // What is fetched behind the last messages is there, and nobody writes it.
        if (t.shared_message_words > 0) {
            t.shared_message_words += last_shared_words;
        }
        t.state_words = (t.message_words + (t.leaf_units + 1) * t.pitch / 2 +
                         std::max(t.leaves_to - t.leaves_from, 6 * t.pitch) + 3) /
                        4 * 4;
        return d_suits;
    }

    const circulant_table& table() const { return d_table; }
    const std::vector<std::uint32_t>& edges() const { return d_edges; }

private:
    struct unit {
        unsigned degree, kind, checks;
        bool barrier;
    };

    // The most columns next to each other that are leaves.
    void find_leaves(const ldpc_code& code)
    {
        std::vector<unsigned> rows(code.n() / d_z, 0), degrees(code.checks() / d_z, 0);
        for (const auto& c : code.circulants()) {
            ++rows[c.column];
            ++degrees[c.row];
        }
        std::vector<bool> leaves(rows.size(), false), taken(degrees.size(), false);
        for (const auto& c : code.circulants()) {
            const auto degree = degrees[c.row];
            if (rows[c.column] == 1 && c.shift == 0 && !taken[c.row] && degree >= 3 &&
                degree <= circulants::most_leaf_degree) {
                leaves[c.column] = taken[c.row] = true;
            }
        }
        auto& t = d_table;
        t.leaves_from = t.leaves_to = t.n;
        for (auto from = leaves.begin(); from != leaves.end();) {
            from = std::find(from, leaves.end(), true);
            const auto to = std::find(from, leaves.end(), false);
            const auto first = std::uint32_t(from - leaves.begin()) * d_z;
            const auto end = std::uint32_t(to - leaves.begin()) * d_z;
            // Bits behind are loaded in vectors.
            if (end - first > t.leaves_to - t.leaves_from &&
                (end == t.n || (first % 16 == 0 && end % 16 == 0))) {
                t.leaves_from = first;
                t.leaves_to = end;
            }
            from = to;
        }
    }

    // Layers as in the plan, those that are too large in parts.
    void make_units(unsigned most_degree)
    {
        auto& t = d_table;
        std::vector<bool> used(t.n / d_z, false); // columns since the last barrier
        std::vector<std::uint32_t> leaves;
        for (std::size_t l = 0; l < d_plan.layers(); ++l) {
            const auto first = d_plan.layer_begin[l], last = d_plan.layer_begin[l + 1];
            // Of its first check: leaves have a shift of 0.
            std::vector<std::uint32_t> bits;
            std::uint32_t leaf = t.n;
            bool barrier = false;
            for (auto e = d_plan.edge_begin[first]; e < d_plan.edge_begin[first + 1];
                 ++e) {
                const auto bit = d_plan.edges[e].bit;
                barrier |= used[bit / d_z];
                if (bit >= t.leaves_from && bit < t.leaves_to) {
                    leaf = bit;
                } else {
                    bits.push_back(
                        bit < t.leaves_from ? bit : bit - (t.leaves_to - t.leaves_from));
                }
            }
            if (barrier) {
                std::fill(used.begin(), used.end(), false);
            }
            for (auto e = d_plan.edge_begin[first]; e < d_plan.edge_begin[first + 1];
                 ++e) {
                used[d_plan.edges[e].bit / d_z] = true;
            }
            const bool has_leaf = leaf < t.n;
            const auto degree = unsigned(bits.size() + has_leaf);
            d_suits &= degree >= 2 && degree <= most_degree;
            const auto kind = circulants::kind_of(degree, has_leaf);
            for (unsigned from = 0; from < last - first; from += t.team) {
                d_units.push_back({ degree,
                                    kind,
                                    std::min(t.team, last - first - from),
                                    barrier && from == 0 });
                const auto words = d_edges.size() + circulants::table_words(kind);
                for (const auto bit : bits) {
                    const auto shift = (bit + from) % d_z;
                    d_edges.push_back(float_bits(float(d_z - 1 - shift)));
                    d_edges.push_back(4 * (bit / d_z * d_z + shift));
                }
                d_edges.resize(words, 0);
                if (has_leaf) {
                    leaves.push_back(leaf + from);
                }
            }
        }
        t.unit_words = std::uint32_t(d_edges.size());
        t.leaf_units = std::uint32_t(leaves.size());
        d_edges.insert(d_edges.end(), leaves.begin(), leaves.end());
        d_edges.resize((d_edges.size() + 3) / 4 * 4, 0);
        t.edge_words = std::uint32_t(d_edges.size());
        d_suits &= t.edge_words <= circulant_table::most_words;
    }

    // To the last run, or as \p fresh.
    void add(const unit& u, const circulant_table::run& fresh)
    {
        auto& t = d_table;
        auto* run = t.run_count ? &t.runs[t.run_count - 1] : nullptr;
        if (!run || run->kind != u.kind || run->degree != u.degree ||
            run->checks != u.checks || run->shared != fresh.shared ||
            run->barriers >> circulant_table::most_units) {
            if (t.run_count == circulant_table::most_runs) {
                d_suits = false;
                return;
            }
            const bool apart = run && (run->shared != fresh.shared ||
                                       circulants::message_words(run->kind) !=
                                           circulants::message_words(u.kind));
            run = &t.runs[t.run_count++];
            *run = fresh;
            run->apart = apart;
        }
        // The bit that ends the run moves up.
        auto end = 1u;
        while (run->barriers >= 2 * end) {
            end *= 2;
        }
        run->barriers += u.barrier ? 2 * end : end;
    }

    const unsigned d_z;
    const layer_plan d_plan;
    bool d_suits = true;
    circulant_table d_table{};
    std::vector<std::uint32_t> d_edges;
    std::vector<unit> d_units;
};

class circulants_plan : public pair_plan
{
public:
    circulants_plan(const table_maker& made,
                    const pair_outgoing& rule,
                    const circulant_variant& v,
                    unsigned each,
                    unsigned multiprocessors)
        : pair_plan(rule, each, multiprocessors),
          d_edges(to_device(made.edges())),
          d_table(made.table()),
          d_variant(v),
          d_threads(made.threads()),
          d_shared(made.shared_bytes())
    {
        d_table.edges = d_edges.get();
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
        const auto kernel = d_variant.kernel;
        kernel<<<(frames.count + block - 1) / block, d_threads, d_shared, stream>>>(
            d_table, arguments(frames, stop, scratch, at_once, false, stream));
        cuda::check(cudaGetLastError(), "LDPC kernel");
    }

private:
    const cuda::buffer<std::uint32_t> d_edges;
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
        code.checks() + code.lifting() > 0xffff) {
        return nullptr;
    }
    const pair_outgoing values(rule);
    const auto v = choose(code.largest_check_degree());
    cudaDeviceProp p;
    cuda::check(cudaGetDeviceProperties(&p, device), "device properties");
    if (p.major < pairs::first_capability || !v.kernel || !values.follows(rule)) {
        return nullptr;
    }
    const auto made =
        std::make_unique<table_maker>(code, v, p.sharedMemPerMultiprocessor);
    const auto blocks_at_once = [&] {
        int resident = 0;
        cuda::allow_shared(v.kernel, made->shared_bytes(), "the code");
        cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                        &resident, v.kernel, int(made->threads()), made->shared_bytes()),
                    "occupancy");
        return unsigned(resident);
    };
    if (made->shared_bytes() > p.sharedMemPerBlockOptin) {
        return nullptr;
    }
    const auto resident = blocks_at_once();
    if (resident == 0) {
        return nullptr;
    }
    // What they leave is for messages; each takes some for itself.
    constexpr std::size_t reserved = 2048;
    const auto room = std::min(p.sharedMemPerMultiprocessor / resident - reserved,
                               p.sharedMemPerBlockOptin);
    if (!made->place_messages(room - std::min(room, made->shared_bytes()))) {
        return nullptr;
    }
    return std::make_unique<circulants_plan>(
        *made, values, v, blocks_at_once(), p.multiProcessorCount);
}

} // namespace device
} // namespace gr::gpufec::ldpc
