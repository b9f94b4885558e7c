// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Pairs of codewords of codes of circulants, int8: the table of a code, and the launch.
 */

#include "cuda_circulants.cuh"
#include "cuda_pair_plan.h"
#include <algorithm>
#include <cstring>
#include <map>
#include <set>
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

struct host_table {
    circulant_table table{};
    std::vector<std::uint32_t> edges;
};

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

// Makes the runs of a code, unit after unit.
class run_maker
{
public:
    run_maker(const ldpc_code& code, host_table& made)
        : d_z(code.lifting()), d_made(made), d_rows(code.n() / d_z, 0)
    {
        for (const auto& c : code.circulants()) {
            ++d_rows[c.column];
        }
        made.table.leaves_from = code.n();
    }

    //! Checks of a layer from \p from on; \p bits: of its first check. False if there is
    //! no room.
    bool add(std::vector<std::uint32_t> bits, unsigned from, unsigned checks)
    {
        auto& t = d_made.table;
        const auto degree = unsigned(bits.size());
        const auto leaf = std::find_if(bits.begin(), bits.end(), [this](auto bit) {
            return d_rows[bit / d_z] == 1;
        });
        const bool has_leaf =
            leaf != bits.end() && degree >= 3 && degree <= circulants::most_leaf_degree;
        if (has_leaf) {
            std::rotate(leaf, leaf + 1, bits.end());
            t.leaves_from = std::min(t.leaves_from, bits.back());
        }
        const auto kind = circulants::kind_of(degree, has_leaf);
        // Parts of a layer share no bit.
        const bool barrier = from == 0 && turn(bits, checks == d_z);
        auto* run = t.run_count ? &t.runs[t.run_count - 1] : nullptr;
        if (!run || run->kind != kind || run->degree != degree || run->checks != checks ||
            run->barriers >> circulant_table::most_units) {
            if (t.run_count == circulant_table::most_runs) {
                return false;
            }
            run = &t.runs[t.run_count++];
            *run = { 1, std::uint16_t(checks), std::uint8_t(degree), std::uint8_t(kind) };
        }
        // The bit that ends the run moves up.
        auto end = 1u;
        while (run->barriers >= 2 * end) {
            end *= 2;
        }
        run->barriers += barrier ? 2 * end : end;
        d_state_words += circulants::message_words(kind);

        auto& edges = d_made.edges;
        const auto words = edges.size() + circulants::table_words(kind);
        for (const auto bit : bits) {
            const auto shift = (bit + from + d_turn) % d_z;
            edges.push_back(float_bits(float(d_z - 1 - shift)));
            edges.push_back(4 * (bit / d_z * d_z + shift));
        }
        edges.resize(words, 0);
        return words <= circulant_table::most_words;
    }

    //! Of messages of a check, all units together.
    unsigned state_words() const { return d_state_words; }

private:
    // Turns a row, so that its first thread has another check than the first, and bits
    // that were in use since the last barrier are the same threads' again. Where that
    // cannot be it returns true: there is another barrier.
    bool turn(const std::vector<std::uint32_t>& bits, bool whole)
    {
        std::set<unsigned> turns;
        for (const auto bit : bits) {
            const auto used = d_used.find(bit / d_z);
            if (used != d_used.end()) {
                turns.insert((used->second + d_z - bit % d_z) % d_z);
            }
        }
        const bool barrier = turns.size() > (whole ? 1 : 0);
        if (barrier) {
            turns.clear();
            d_used.clear();
        }
        d_turn = turns.empty() ? 0 : *turns.begin();
        for (const auto bit : bits) {
            d_used[bit / d_z] = (bit + d_turn) % d_z;
        }
        return barrier;
    }

    const unsigned d_z;
    host_table& d_made;
    std::vector<unsigned> d_rows; // of each column
    unsigned d_turn = 0;          // of the row
    // Columns in use since the last barrier, and which bit of each the first thread had.
    std::map<unsigned, unsigned> d_used;
    unsigned d_state_words = 0;
};

// Layers as in the plan, those that are too large in parts; false for a code that the
// kernels are not made for.
bool make_table(const ldpc_code& code,
                const circulant_variant& v,
                std::size_t shared_sm,
                host_table& made)
{
    const auto plan = make_layer_plan(code);
    auto& t = made.table;
    unsigned largest = 0;
    for (std::size_t l = 0; l < plan.layers(); ++l) {
        if (plan.rounds[l] > 0) {
            return false;
        }
        largest = std::max(largest, plan.layer_begin[l + 1] - plan.layer_begin[l]);
    }
    t.team_words = (code.n() + 7) / 8 * 8;
    t.team = team_threads(largest, v.most_threads, shared_sm / (4 * t.team_words + 4096));
    t.n = code.n();
    t.minus_z = 0x80000000u | 4 * code.lifting();
    run_maker runs(code, made);
    for (std::size_t l = 0; l < plan.layers(); ++l) {
        const auto first = plan.layer_begin[l], last = plan.layer_begin[l + 1];
        // Of the first check.
        std::vector<std::uint32_t> bits;
        for (auto e = plan.edge_begin[first]; e < plan.edge_begin[first + 1]; ++e) {
            bits.push_back(plan.edges[e].bit);
        }
        if (bits.size() < 2 || bits.size() > v.most_degree) {
            return false;
        }
        for (unsigned from = 0; from < last - first; from += t.team) {
            if (!runs.add(bits, from, std::min(t.team, last - first - from))) {
                return false;
            }
        }
    }
    // A place more, for threads of no team.
    t.pitch = (t.team + 1 + 3) / 4 * 4;
    // Zeros before the first unit; what is fetched behind the last, too.
    t.state_words = (runs.state_words() + 2 * circulants::most_message_words) * t.pitch;
    t.edge_words = std::uint32_t(made.edges.size());
    return true;
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
          d_table(made.table),
          d_variant(v),
          d_threads(threads),
          d_shared(shared)
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
    const auto threads = [&t](unsigned teams) { return (t.team * teams + 31) / 32 * 32; };
    // Edges, flags, posteriors, and a word for each thread.
    const auto bytes = [&](unsigned teams) {
        return 4 * (t.edge_words + circulants::flag_words +
                    std::size_t(teams) * t.team_words + threads(teams));
    };
    // Teams without a barrier for others, but for small ones: whole warps.
    constexpr unsigned fewest_threads = 96;
    t.teams = std::min((fewest_threads + t.team - 1) / t.team, circulants::most_teams);
    if (bytes(t.teams) > p.sharedMemPerBlockOptin) {
        return nullptr;
    }
    cuda::allow_shared(v.kernel, bytes(t.teams), "the code");
    int resident = 0;
    cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                    &resident, v.kernel, int(threads(t.teams)), bytes(t.teams)),
                "occupancy");
    if (resident == 0) {
        return nullptr;
    }
    return std::make_unique<circulants_plan>(*made,
                                             values,
                                             v,
                                             threads(t.teams),
                                             bytes(t.teams),
                                             resident,
                                             p.multiProcessorCount);
}

} // namespace device
} // namespace gr::gpufec::ldpc
