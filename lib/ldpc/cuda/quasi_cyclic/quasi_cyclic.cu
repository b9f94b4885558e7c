// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Launch plan for quasi-cyclic codes with leaves (see quasi_cyclic.cuh) in int8: makes a
 * code's table, and launches the kernel. */

#include "ldpc/cuda/dvb_int8x2/plan.h"
#include "quasi_cyclic.cuh"
#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <vector>

namespace gr::gpufec::ldpc {
namespace device {

namespace {

struct quasi_cyclic_variant {
    void (*kernel)(quasi_cyclic_table, int8x2_arguments) = nullptr;
    unsigned max_degree = 0;
    // Number of threads per multiprocessor for which registers suffice.
    unsigned max_threads = 0;
};

template <unsigned MaxDegree, unsigned Threads>
quasi_cyclic_variant variant()
{
    return { quasi_cyclic::decode_quasi_cyclic<MaxDegree, Threads>, MaxDegree, Threads };
}

quasi_cyclic_variant choose(unsigned degree)
{
    return degree <= 11   ? variant<11, 1024>()
           : degree <= 22 ? variant<22, 768>()
                          : quasi_cyclic_variant{};
}

struct host_table {
    quasi_cyclic_table table{};
    std::vector<std::uint32_t> edges;
};

// Returns the number of threads per team that maximises the number of busy threads per
// multiprocessor. The multiprocessor's shared memory suffices for \p teams teams. Among
// equally good numbers, the smallest is chosen.
unsigned team_threads(unsigned largest, unsigned max_threads, std::size_t teams)
{
    constexpr unsigned fewest = 96;
    unsigned best = 0, best_threads = 0;
    for (unsigned parts = 1; parts <= 64; ++parts) {
        const unsigned team = (largest + parts - 1) / parts;
        if (team > max_threads) {
            continue;
        }
        if (best && team < fewest) {
            break;
        }
        const unsigned warps = (team + 31) / 32 * 32;
        const auto resident =
            std::min<std::size_t>(std::max<std::size_t>(teams, 1), max_threads / warps);
        const auto threads = unsigned(resident * team);
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

// A builder of the runs of a code. Units are added one after the other.
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

    //! Adds a unit: \p checks checks of a layer, beginning with its check \p from.
    //! \p bits are the bits of the layer's first check. Returns false if the table is
    //! full.
    bool add(std::vector<std::uint32_t> bits, unsigned from, unsigned checks)
    {
        auto& t = d_made.table;
        const auto degree = unsigned(bits.size());
        const auto leaf = std::find_if(bits.begin(), bits.end(), [this](auto bit) {
            return d_rows[bit / d_z] == 1;
        });
        const bool has_leaf =
            leaf != bits.end() && degree >= 3 && degree <= quasi_cyclic::max_leaf_degree;
        if (has_leaf) {
            std::rotate(leaf, leaf + 1, bits.end());
            t.leaves_from = std::min(t.leaves_from, bits.back());
        }
        const auto kind = quasi_cyclic::kind_of(degree, has_leaf);
        // Parts of a layer share no bit, so only the first one can need a barrier.
        const bool barrier = from == 0 && next_shift(bits, checks == d_z);
        auto* run = t.run_count ? &t.runs[t.run_count - 1] : nullptr;
        if (!run || run->kind != kind || run->degree != degree || run->checks != checks ||
            run->barriers >> quasi_cyclic_table::max_units) {
            if (t.run_count == quasi_cyclic_table::max_runs) {
                return false;
            }
            run = &t.runs[t.run_count++];
            *run = { 1, std::uint16_t(checks), std::uint8_t(degree), std::uint8_t(kind) };
        }
        // Moves the end mark, which is the bit after the last flag, up by one bit.
        auto end = 1u;
        while (run->barriers >= 2 * end) {
            end *= 2;
        }
        run->barriers += barrier ? 2 * end : end;
        d_state_words += quasi_cyclic::message_words(kind);

        auto& edges = d_made.edges;
        const auto words = edges.size() + quasi_cyclic::table_words(kind);
        for (const auto bit : bits) {
            const auto shift = (bit + from + d_shift) % d_z;
            edges.push_back(float_bits(float(d_z - 1 - shift)));
            edges.push_back(4 * (bit / d_z * d_z + shift));
        }
        edges.resize(words, 0);
        return words <= quasi_cyclic_table::max_words;
    }

    //! Returns the number of words of a thread's messages in all units.
    unsigned state_words() const { return d_state_words; }

private:
    // Chooses the check of a layer's first thread so that each bit in use since the last
    // barrier is assigned to the same thread again. Returns true if this is impossible,
    // so that a barrier is needed.
    bool next_shift(const std::vector<std::uint32_t>& bits, bool whole)
    {
        std::set<unsigned> shifts;
        for (const auto bit : bits) {
            const auto used = d_used.find(bit / d_z);
            if (used != d_used.end()) {
                shifts.insert((used->second + d_z - bit % d_z) % d_z);
            }
        }
        const bool barrier = shifts.size() > (whole ? 1 : 0);
        if (barrier) {
            shifts.clear();
            d_used.clear();
        }
        d_shift = shifts.empty() ? 0 : *shifts.begin();
        for (const auto bit : bits) {
            d_used[bit / d_z] = (bit + d_shift) % d_z;
        }
        return barrier;
    }

    const unsigned d_z;
    host_table& d_made;
    std::vector<unsigned> d_rows; // number of circulants in each column
    unsigned d_shift = 0;         // index of the check that the first thread updates in
                                  // the layer
    // Columns in use since the last barrier, and for each column the bit of the first
    // thread.
    std::map<unsigned, unsigned> d_used;
    unsigned d_state_words = 0;
};

// Makes the table. Its layers are those of the layer plan, and large layers are divided
// into parts. Returns false for a code that no kernel supports.
bool make_table(const ldpc_code& code,
                const quasi_cyclic_variant& v,
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
    t.team = team_threads(largest, v.max_threads, shared_sm / (4 * t.team_words + 4096));
    t.n = code.n();
    t.minus_z = 0x80000000u | 4 * code.lifting();
    run_maker runs(code, made);
    for (std::size_t l = 0; l < plan.layers(); ++l) {
        const auto first = plan.layer_begin[l], last = plan.layer_begin[l + 1];
        std::vector<std::uint32_t> bits;
        for (auto e = plan.edge_begin[first]; e < plan.edge_begin[first + 1]; ++e) {
            bits.push_back(plan.edges[e].bit);
        }
        if (bits.size() < 2 || bits.size() > v.max_degree) {
            return false;
        }
        for (unsigned from = 0; from < last - first; from += t.team) {
            if (!runs.add(bits, from, std::min(t.team, last - first - from))) {
                return false;
            }
        }
    }
    // Threads without a team use the place after the places of the team.
    t.pitch = (t.team + 1 + 3) / 4 * 4;
    // Zeros precede the first unit; kernels fetch ahead past the last unit.
    t.state_words = (runs.state_words() + 2 * quasi_cyclic::max_message_words) * t.pitch;
    t.edge_words = std::uint32_t(made.edges.size());
    return true;
}

class quasi_cyclic_plan : public int8x2_plan
{
public:
    quasi_cyclic_plan(const host_table& made,
                      const int8x2_message_rule& rule,
                      const quasi_cyclic_variant& v,
                      unsigned threads,
                      std::size_t shared,
                      unsigned per_sm)
        : int8x2_plan(rule, per_sm),
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
        // Two codewords share a team only if the resident teams are fewer than the
        // codewords.
        const unsigned codewords_per_word =
            frames.count <= blocks() * d_table.teams ? 1 : 2;
        const unsigned block = codewords_per_word * d_table.teams; // codewords per block
        const auto kernel = d_variant.kernel;
        kernel<<<(frames.count + block - 1) / block, d_threads, d_shared, stream>>>(
            d_table, arguments(frames, stop, scratch, codewords_per_word, false, stream));
        cuda::check(cudaGetLastError(), "LDPC kernel");
    }

private:
    const cuda::buffer<std::uint32_t> d_edges;
    quasi_cyclic_table d_table;
    const quasi_cyclic_variant d_variant;
    const unsigned d_threads;
    const std::size_t d_shared;
};

} // namespace

std::unique_ptr<launch_plan>
make_quasi_cyclic_plan(const ldpc_code& code, const message_rule& rule, bool, int device)
{
    // Variable-to-check magnitudes must stay below dvb_int8x2::missing, and a 16-bit
    // float holds integers exactly only up to 2048. Violated checks are counted in 16
    // bits.
    if (code.lifting() == 0 || code.q() || rule.precision != ldpc_precision::int8 ||
        rule.posterior_limit(code.largest_bit_degree()) + rule.message_limit > 1400 ||
        code.checks() > 0xffff) {
        return nullptr;
    }
    const int8x2_message_rule values(rule);
    const auto v = choose(code.largest_check_degree());
    const auto made = std::make_unique<host_table>();
    const auto shared_sm =
        cuda::device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
    if (!v.kernel || !make_table(code, v, shared_sm, *made) || !values.follows(rule)) {
        return nullptr;
    }
    auto& t = made->table;
    // Codes without leaves have another kernel, see plans.cu.
    if (t.leaves_from == code.n()) {
        return nullptr;
    }
    const auto threads = [&t](unsigned teams) { return (t.team * teams + 31) / 32 * 32; };
    // Shared memory has edges, flags, posteriors, and a word for each thread.
    const auto bytes = [&](unsigned teams) {
        return 4 * (t.edge_words + quasi_cyclic::flag_words +
                    std::size_t(teams) * t.team_words + threads(teams));
    };
    // A team of at least fewest_threads threads has its own block, so that it does not
    // wait for other teams. Smaller teams share a block.
    constexpr unsigned fewest_threads = 96;
    t.teams = std::min((fewest_threads + t.team - 1) / t.team, quasi_cyclic::max_teams);
    if (bytes(t.teams) > cuda::shared_per_block(device)) {
        return nullptr;
    }
    cuda::allow_shared(v.kernel, bytes(t.teams), "the code");
    const auto resident =
        cuda::resident_blocks(v.kernel, threads(t.teams), bytes(t.teams));
    if (resident == 0) {
        return nullptr;
    }
    return std::make_unique<quasi_cyclic_plan>(
        *made, values, v, threads(t.teams), bytes(t.teams), resident);
}

} // namespace device
} // namespace gr::gpufec::ldpc
