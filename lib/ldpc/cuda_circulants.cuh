// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Layered min-sum in int8 for codes of circulants without a chain: teams of threads
 * decode two codewords each in the halves of a half2, with the arithmetic of
 * cuda_pairs.cuh.
 *
 * A team has a thread for each check of a unit: a layer, or a part of one that is too
 * large. Shared memory holds the posteriors of all bits. Messages are kept compressed, in
 * memory that the L2 cache holds. Rows of few edges and of many differ: each unit runs
 * the code for its degree, which hangs on the kernel's parameters, so that warps stay
 * together. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_CIRCULANTS_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_CIRCULANTS_CUH

#include "cuda_pairs.cuh"

namespace gr::gpufec::ldpc {
namespace device {

struct circulant_table {
    static constexpr unsigned most_units = 192;
    static constexpr unsigned most_edges = 1024;
    struct alignas(16) unit {
        // From the lowest bit: checks, up to a team's threads; words of a check's
        // messages; degree; degree that there is code for; whether bits were in use since
        // the last barrier.
        static constexpr unsigned checks_bits = 10, words_at = 10, degree_at = 14,
                                  padded_at = 20, barrier_at = 26;
        std::uint32_t head;
        std::uint32_t first; //!< two edges
        std::uint32_t state; //!< where a team's messages are, in words
        std::uint32_t unused;

        __host__ __device__ unsigned checks() const
        {
            return head & ((1u << checks_bits) - 1);
        }
        __host__ __device__ unsigned words() const { return head >> words_at & 0xfu; }
        __host__ __device__ unsigned degree() const { return head >> degree_at & 0x3fu; }
        __host__ __device__ unsigned padded() const { return head >> padded_at & 0x3fu; }
        __host__ __device__ bool barrier() const { return head >> barrier_at & 1; }
    };
    //! Check j takes the bit at x = 4·j + step bytes, or x + 4·Z where that is negative,
    //! from base on.
    struct edge {
        std::int32_t step;
        std::uint32_t base;
    };
    const edge* edges; //!< in device memory
    const unit* units; //!< too; one without checks after the last
    std::uint32_t edge_count;
    std::uint32_t n;           //!< bits
    std::uint32_t wrap;        //!< 4·Z
    std::uint32_t team;        //!< threads
    std::uint32_t teams;       //!< of a block
    std::uint32_t team_words;  //!< posteriors in shared memory
    std::uint32_t pitch;       //!< a team's threads, up to whole vectors of their words
    std::uint32_t state_words; //!< of messages of a team
    std::uint32_t unit_count;
};

namespace circulants {

using pairs::all;
using pairs::bits;
using pairs::value_of;

constexpr unsigned flag_words =
    36; // the block's slot, and two for each of up to 16 teams
constexpr unsigned most_teams = 16;

// Words of a check's messages, in vectors of four and of two.
constexpr unsigned words_of(unsigned degree)
{
    return degree <= 8 ? 2 : degree <= 24 ? 4 : 6;
}

// There is code for some degrees, and others are filled up to the next.
__host__ __device__ constexpr unsigned padded_degree(unsigned degree)
{
    return degree <= 3    ? 3
           : degree <= 11 ? degree
           : degree <= 15 ? 15
           : degree <= 20 ? degree < 18 ? 18 : degree
           : degree <= 22 ? 22
                          : 32;
}

template <unsigned Most>
class decoder
{
    static constexpr unsigned most_words = words_of(Most);

    struct stored {
        std::uint32_t word[most_words];
    };

public:
    __device__ decoder(const circulant_table& table, const pair_arguments& a)
        : d_table(table),
          d_args(a),
          d_team(threadIdx.x / table.team),
          d_j(kept_in_register(d_team < table.teams ? threadIdx.x % table.team
                                                    : 0xffffffu)),
          d_constants(a)
    {
        extern __shared__ uint4 shared_memory[];
        auto* const words = reinterpret_cast<std::uint32_t*>(shared_memory);
        using unit = circulant_table::unit;
        auto* const units = reinterpret_cast<unit*>(words);
        d_units = units;
        d_edges = words + (table.unit_count + 1) * sizeof(unit) / sizeof(*words);
        d_flags = d_edges + 2 * table.edge_count;
        auto* const posteriors = d_flags + flag_words;
        const unsigned team = min(d_team, table.teams - 1);
        d_posterior = posteriors + team * table.team_words;
        d_offset = std::uint32_t(reinterpret_cast<std::uint8_t*>(d_posterior) -
                                 reinterpret_cast<std::uint8_t*>(words));
        if (threadIdx.x == 0) { // memory that no other block has
            d_flags[0] = take_slot(a);
        }
        for (unsigned i = threadIdx.x; i < table.edge_count; i += blockDim.x) {
            d_edges[2 * i] = table.edges[i].step;
            d_edges[2 * i + 1] = table.edges[i].base;
        }
        for (unsigned i = threadIdx.x; i <= table.unit_count; i += blockDim.x) {
            units[i] = table.units[i];
        }
        __syncthreads();
        d_state =
            a.state + std::size_t(d_flags[0] * table.teams + team) * table.state_words;
    }

    __device__ void run()
    {
        const auto first = d_args.at_once * (blockIdx.x * d_table.teams + d_team);
        const bool here = d_team < d_table.teams && first < d_args.frames.count;
        const bool both = here && d_args.at_once == 2 && first + 1 < d_args.frames.count;
        decode(here ? first : 0, here ? (both ? 3 : 1) : 0);
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicExch(d_args.taken + d_flags[0], 0u);
        }
    }

private:
    // \p active: which codewords of the team are not done.
    __device__ void decode(std::uint32_t first, unsigned active)
    {
        const frame_place frame[2] = { d_args.frames.table[first],
                                       d_args.frames.table[first + active / 2] };
        load(d_args.frames.input + frame[0].input, d_args.frames.input + frame[1].input);
        __syncthreads();
        for (std::uint32_t i = 1;; ++i) {
            iterate();
            if (d_args.stop.early_stop) {
                const auto valid = active & ~violated(active);
                for (unsigned w = 0; w < 2; ++w) {
                    if (valid >> w & 1) {
                        finish(w, frame[w], i, 0);
                    }
                }
                active &= ~valid;
                if (!agreed(__syncthreads_or(active))) {
                    return;
                }
            }
            if (i >= d_args.stop.max_iterations) {
                const auto count = count_violated();
                for (unsigned w = 0; w < 2; ++w) {
                    if (active >> w & 1) {
                        finish(w, frame[w], i, count >> 16 * w & 0xffffu);
                    }
                }
                return;
            }
        }
    }

    __device__ void finish(unsigned w,
                           const frame_place& frame,
                           std::uint32_t iterations,
                           std::uint32_t violated)
    {
        if (d_j == 0) {
            d_args.frames.status[frame.status] = { iterations, violated };
        }
        write_decisions(w, d_args.frames.output + frame.output);
        if (d_args.stop.soft != ldpc_soft_output::none) {
            const soft_writer llrs(d_args.frames, frame, d_args.stop, pairs::unit);
            for (unsigned i = d_j; i < d_table.n; i += d_table.team) {
                llrs.write<std::int8_t>(i, pairs::of_codeword(d_posterior[i], w));
            }
        }
    }

    // Four bits at a time; input is padded to whole vectors.
    __device__ void load(const std::uint8_t* a, const std::uint8_t* b)
    {
        const auto* const from = reinterpret_cast<const std::uint32_t*>(a);
        const auto* const and_from = reinterpret_cast<const std::uint32_t*>(b);
        constexpr unsigned together = 4; // so that many loads are on their way
        const unsigned count = (d_table.n + 3) / 4;
        for (unsigned i = d_j; i < count; i += together * d_table.team) {
            std::uint32_t x[together], y[together];
#pragma unroll
            for (unsigned k = 0; k < together; ++k) {
                const auto at = min(i + k * d_table.team, count - 1);
                x[k] = __ldcs(from + at);
                y[k] = __ldcs(and_from + at);
            }
#pragma unroll
            for (unsigned k = 0; k < together; ++k) {
                if (i + k * d_table.team < count) {
                    load_four(i + k * d_table.team, x[k], y[k]);
                }
            }
        }
        for (unsigned i = d_j; i < d_table.state_words / 4; i += d_table.team) {
            __stcg(reinterpret_cast<uint4*>(d_state) + i, make_uint4(0, 0, 0, 0));
        }
    }
    __device__ void load_four(unsigned at, std::uint32_t x, std::uint32_t y)
    {
        reinterpret_cast<uint4*>(d_posterior)[at] =
            pairs::four_posteriors(d_constants, x, y);
    }

    __device__ static std::uint32_t& word_at(std::uint32_t offset)
    {
        extern __shared__ uint4 shared_memory[];
        return *reinterpret_cast<std::uint32_t*>(
            reinterpret_cast<std::uint8_t*>(shared_memory) + offset);
    }
    // Where check d_j finds the bit of an edge.
    __device__ std::uint32_t place(std::uint32_t step, std::uint32_t base) const
    {
        const std::uint32_t x = 4 * d_j + step;
        return min(x, x + d_table.wrap) + base + d_offset;
    }

    __device__ void fetch(const circulant_table::unit& unit, stored& s) const
    {
        if (d_j < unit.checks()) {
            const auto* const from = d_state + unit.state;
            if (unit.words() == 2) {
                const auto v = __ldcg(reinterpret_cast<const uint2*>(from) + d_j);
                s.word[0] = v.x;
                s.word[1] = v.y;
            } else if constexpr (most_words > 2) {
                const auto v = __ldcg(reinterpret_cast<const uint4*>(from) + d_j);
                s.word[0] = v.x;
                s.word[1] = v.y;
                s.word[2] = v.z;
                s.word[3] = v.w;
                if constexpr (most_words > 4) {
                    if (unit.words() == 6) {
                        s.word[4] = __ldcg(from + 4 * d_table.pitch + 2 * d_j);
                    }
                }
            }
        }
    }

    __device__ void iterate()
    {
        stored next;
        auto coming = d_units[0];
        fetch(coming, next);
        for (unsigned u = 1; u <= d_table.unit_count; ++u) {
            const auto unit = coming;
            const auto now = next;
            coming = d_units[u];
            fetch(coming, next);
            if (unit.barrier()) {
                __syncthreads();
            }
            switch (unit.padded()) {
#define GPUFEC_DEGREE(D)           \
    case D:                        \
        if constexpr (D <= Most) { \
            checks<D>(unit, now);  \
        }                          \
        break;
                GPUFEC_DEGREE(3)
                GPUFEC_DEGREE(4)
                GPUFEC_DEGREE(5)
                GPUFEC_DEGREE(6)
                GPUFEC_DEGREE(7)
                GPUFEC_DEGREE(8)
                GPUFEC_DEGREE(9)
                GPUFEC_DEGREE(10)
                GPUFEC_DEGREE(11)
                GPUFEC_DEGREE(15)
                GPUFEC_DEGREE(18)
                GPUFEC_DEGREE(19)
                GPUFEC_DEGREE(20)
                GPUFEC_DEGREE(22)
                GPUFEC_DEGREE(32)
#undef GPUFEC_DEGREE
            }
        }
        __syncthreads();
    }

    template <unsigned Degree>
    __device__ void checks(const circulant_table::unit& unit, const stored& old)
    {
        if (d_j >= unit.checks()) {
            return;
        }
        constexpr unsigned parts = (Degree + 7) / 8;
        pairs::messages<Degree> m;
        m.word[pairs::messages<Degree>::parts - 1] = 0;
#pragma unroll
        for (unsigned w = 0; w < parts; ++w) {
            m.word[w] = old.word[w];
        }
        m.word[pairs::messages<Degree>::parts] = old.word[parts];
        const half2 least = m.least(d_constants), second = m.second(d_constants);

        std::uint32_t at[Degree];
        const auto* const entry = reinterpret_cast<const uint4*>(d_edges) + unit.first;
#pragma unroll
        for (unsigned e = 0; e < Degree; e += 2) {
            const auto two = entry[e / 2];
            at[e] = place(two.x, two.y);
            if (e + 1 < Degree) {
                at[e + 1] = place(two.z, two.w);
            }
        }
        // Of degrees that have code of their own every edge is there.
        constexpr bool filled = padded_degree(Degree - 1) == Degree && Degree != 32;
        half2 t[Degree];
#pragma unroll
        for (unsigned e = 0; e < Degree; ++e) {
            t[e] = all(pairs::missing);
            if (!filled || e < unit.degree()) {
                t[e] = m.without(value_of(word_at(at[e])), e, least, second);
            }
        }
        pairs::two_least even(t[0], t[1]);
        if constexpr (Degree == 3) {
            even.take(t[2]);
        } else {
            pairs::two_least odd(t[2], t[3]);
#pragma unroll
            for (unsigned e = 4; e < Degree; ++e) {
                (e % 2 ? odd : even).take(t[e]);
            }
            even.merge(odd);
        }
        pairs::renewal<Degree> renewed(even.least, even.second, d_args, d_constants);
#pragma unroll
        for (unsigned e = 0; e < Degree; ++e) {
            const auto p = renewed.posterior(e, t[e]);
            if (!filled || e < unit.degree()) {
                word_at(at[e]) = bits(p);
            }
        }
        renewed.finish(all(0));
        auto* const to = d_state + unit.state;
        const auto& fresh = renewed.fresh.word;
        const auto magnitudes = fresh[pairs::messages<Degree>::parts];
        if constexpr (parts == 1) {
            __stcg(reinterpret_cast<uint2*>(to) + d_j, make_uint2(fresh[0], magnitudes));
        } else {
            __stcg(reinterpret_cast<uint4*>(to) + d_j,
                   make_uint4(fresh[0],
                              fresh[1],
                              parts == 2 ? magnitudes : fresh[2],
                              parts == 3 ? magnitudes : fresh[3 % parts]));
        }
        if constexpr (parts == 4) {
            __stcg(to + 4 * d_table.pitch + 2 * d_j, magnitudes);
        }
    }

    // Signs of what the bits of a check of a unit sum to.
    __device__ std::uint32_t sum_of(const circulant_table::unit& unit) const
    {
        std::uint32_t sum = 0;
        if (d_j < unit.checks()) {
            for (unsigned e = 0; e < unit.degree(); ++e) {
                const auto* const entry = d_edges + 2 * (2 * unit.first + e);
                sum ^= word_at(place(entry[0], entry[1]));
            }
        }
        return sum & pairs::signs;
    }

    // Which of the team's codewords violate a check; of those in \p candidates all of
    // them, of others maybe. Flags 2·team + 2 and + 3.
    __device__ unsigned violated(unsigned candidates)
    {
        auto* const flag = d_flags + 2 + min(d_team, d_table.teams - 1);
        if (d_j == 0) {
            *flag = 0;
        }
        __syncthreads();
        // The first unit alone says no where there is still much to correct.
        for (unsigned u = 0, end = 1; u < d_table.unit_count;
             end = min(end + 12, d_table.unit_count)) {
            std::uint32_t sum = 0;
            for (; u < end; ++u) {
                sum |= sum_of(d_units[u]);
            }
            if (sum) {
                atomicOr(flag, sum >> 15 & 1 | sum >> 30 & 2);
            }
            __syncthreads();
            if (!agreed(__syncthreads_or(candidates & ~*flag))) {
                break;
            }
        }
        return *flag;
    }

    // Of both codewords, in half words.
    __device__ std::uint32_t count_violated()
    {
        auto* const counter = d_flags + 2 + most_teams + min(d_team, d_table.teams - 1);
        if (d_j == 0) {
            *counter = 0;
        }
        __syncthreads();
        std::uint32_t count = 0;
        for (unsigned u = 0; u < d_table.unit_count; ++u) {
            count += sum_of(d_units[u]) >> 15;
        }
        if (count) {
            atomicAdd(counter, count);
        }
        __syncthreads();
        return *counter;
    }

    // Packs signs of codeword w, first bit most significant.
    __device__ void write_decisions(unsigned w, std::uint8_t* output) const
    {
        const unsigned out_bits = d_args.stop.out_bits;
        for (unsigned i = d_j; i < (out_bits + 7) / 8; i += d_table.team) {
            std::uint32_t byte = 0;
            for (unsigned k = 8 * i; k < 8 * i + 8; ++k) {
                byte =
                    byte << 1 | (k < out_bits ? d_posterior[k] >> (w ? 31 : 15) & 1 : 0);
            }
            output[i] = std::uint8_t(byte);
        }
    }

    const circulant_table& d_table;
    const pair_arguments& d_args;
    const pairs::constants d_constants;
    const unsigned d_team;
    const unsigned d_j; // the check of a unit; beyond all for a thread of no team
    const circulant_table::unit* d_units;
    std::uint32_t* d_edges;
    std::uint32_t* d_flags;
    std::uint32_t* d_posterior; // of the team
    std::uint32_t d_offset;     // of those, bytes in shared memory
    std::uint32_t* d_state;     // the team's
};

template <unsigned Most, unsigned Threads>
__global__ void __launch_bounds__(Threads, 1)
    decode_circulants(const __grid_constant__ circulant_table table,
                      const __grid_constant__ pair_arguments arguments)
{
#if __CUDA_ARCH__ >= 800
    decoder<Most>(table, arguments).run();
#endif
}

} // namespace circulants
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_CIRCULANTS_CUH */
