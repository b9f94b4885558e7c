// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Layered min-sum in int8 for quasi-cyclic codes with \em leaves, which are bits of a
 * single check. Examples are the codes of 5G NR and AR4JA. Each team of threads decodes
 * up to two codewords in the halves of a half2, with the arithmetic of dvb_int8x2.
 *
 * A unit is a layer, or a part of a layer with more checks than a team has threads. Each
 * thread of a team updates one check of the unit. Shared memory holds the posteriors of
 * all bits. Messages are compressed, so that the L2 cache can hold them. A run is a
 * sequence of units of one kind. One loop, compiled for the units' degree, processes a
 * run. Branches in this loop depend only on the kernel's parameters, so that warps do not
 * diverge. A thread without a check runs the same code on a spare word.
 *
 * In each iteration, the variable-to-check message of a leaf is its channel value, which
 * therefore stays in shared memory. The posterior of a leaf is computed only when needed,
 * from the channel value and the stored message. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_QUASI_CYCLIC_QUASI_CYCLIC_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_QUASI_CYCLIC_QUASI_CYCLIC_CUH

#include "l2_cache.cuh"
#include "ldpc/cuda/dvb_int8x2/check_node_update.cuh"
#include "ldpc/cuda/soft_output.cuh"
#include "table.h"

namespace gr::gpufec::ldpc {
namespace device {
namespace quasi_cyclic {

using dvb_int8x2::all;
using dvb_int8x2::bits;
using dvb_int8x2::value_of;

template <unsigned MaxDegree>
class quasi_cyclic_kernel
{
    static constexpr unsigned max_words = message_words(MaxDegree);
    using run_of_units = quasi_cyclic_table::run;

    // The stored messages of a check.
    struct stored {
        std::uint32_t word[max_words];
    };
    // Offsets of a run or unit, in words of the table and of the messages.
    struct place {
        std::uint32_t edges = 0, state = 0;
    };
    // A check's index, and the address of its posterior in column 0 at shift 0, as a
    // float in units of 2^-149. With factor 0, all edges have this address.
    struct check {
        float j, address, factor;
    };

public:
    __device__ quasi_cyclic_kernel(const quasi_cyclic_table& table,
                                   const int8x2_arguments& a)
        : d_table(table),
          d_args(a),
          d_constants(a),
          d_team(threadIdx.x / table.team),
          d_j(kept_in_register(d_team < table.teams ? threadIdx.x % table.team
                                                    : 0xffffffu)),
          d_one(as_nonuniform(1)),
          d_later(0),
          d_minus_z(as_nonuniform(table.minus_z))
    {
        auto* const words = shared_words();
        d_flags = words + table.edge_words;
        auto* const posteriors = d_flags + flag_words;
        const unsigned team = min(d_team, table.teams - 1);
        d_posterior = posteriors + team * table.team_words;
        d_address = kept_in_register(shared_address(d_posterior) + 4 * d_j);
        d_spare = kept_in_register(
            shared_address(posteriors + table.teams * table.team_words + threadIdx.x));
        if (threadIdx.x == 0) {
            d_flags[0] = take_slot(a);
        }
        for (unsigned i = threadIdx.x; i < table.edge_words / 4; i += blockDim.x) {
            reinterpret_cast<uint4*>(words)[i] =
                __ldg(reinterpret_cast<const uint4*>(table.edges) + i);
        }
        __syncthreads();
        d_state =
            a.state + std::size_t(d_flags[0] * table.teams + team) * table.state_words;
        d_place = min(d_j, table.pitch - 1);
    }

    __device__ void run()
    {
        const auto first =
            d_args.codewords_per_word * (blockIdx.x * d_table.teams + d_team);
        const bool here = d_team < d_table.teams && first < d_args.frames.count;
        const bool both =
            here && d_args.codewords_per_word == 2 && first + 1 < d_args.frames.count;
        decode(here ? first : 0, here ? (both ? 3 : 1) : 0);
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicExch(d_args.taken + d_flags[0], 0u);
        }
    }

private:
    // Decodes the team's codewords in the bit mask \p active.
    __device__ void decode(std::uint32_t first, unsigned active)
    {
        const frame_place frame[2] = { d_args.frames.table[first],
                                       d_args.frames.table[first + active / 2] };
        load(d_args.frames.input + frame[0].input, d_args.frames.input + frame[1].input);
        __syncthreads();
        stored next = fetched(d_table.runs[0].kind, beginning().state);
        for (std::uint32_t i = 1;; ++i) {
            iterate(next);
            if (d_args.stop.early_stop) {
                const auto valid = active & ~violated(active);
                finish(valid, frame, i, 0);
                active &= ~valid;
                if (!warp_uniform(__syncthreads_or(active))) {
                    return;
                }
            }
            if (i >= d_args.stop.max_iterations) {
                finish(active, frame, i, count_violated());
                return;
            }
        }
    }

    // Writes the results of the codewords in the bit mask \p done.
    __device__ void finish(unsigned done,
                           const frame_place (&frame)[2],
                           std::uint32_t iterations,
                           std::uint32_t violated)
    {
        const bool soft = d_args.stop.soft != ldpc_soft_output::none;
        if (soft || d_args.stop.out_bits > d_table.leaves_from) {
            finish_leaves(done);
            __syncthreads();
        }
        for (unsigned w = 0; w < 2; ++w) {
            if (!(done >> w & 1)) {
                continue;
            }
            if (d_j == 0) {
                d_args.frames.status[frame[w].status] = { iterations,
                                                          violated >> 16 * w & 0xffffu };
            }
            write_decisions(w, d_args.frames.output + frame[w].output);
            if (soft) {
                const soft_writer llrs(
                    d_args.frames, frame[w], d_args.stop, dvb_int8x2::unit);
                for (unsigned i = d_j; i < d_table.n; i += d_table.team) {
                    llrs.write<std::int8_t>(i,
                                            dvb_int8x2::of_codeword(d_posterior[i], w));
                }
            }
        }
    }

    // Loads the channel values of both codewords, sixteen at a time, and writes the zeros
    // that replace messages in the first iteration.
    __device__ void load(const std::uint8_t* a, const std::uint8_t* b)
    {
        const auto* const from = reinterpret_cast<const uint4*>(a);
        const auto* const and_from = reinterpret_cast<const uint4*>(b);
        constexpr unsigned together = 4; // number of loads in flight
        const unsigned count = (d_table.n + 3) / 4, vectors = (count + 3) / 4;
        for (unsigned i = d_j; i < vectors; i += together * d_table.team) {
            uint4 x[together], y[together];
#pragma unroll
            for (unsigned k = 0; k < together; ++k) {
                const auto at = min(i + k * d_table.team, vectors - 1);
                x[k] = __ldcs(from + at);
                y[k] = __ldcs(and_from + at);
            }
#pragma unroll
            for (unsigned k = 0; k < together; ++k) {
                const auto at = 4 * (i + k * d_table.team);
                load_four(at, count, x[k].x, y[k].x);
                load_four(at + 1, count, x[k].y, y[k].y);
                load_four(at + 2, count, x[k].z, y[k].z);
                load_four(at + 3, count, x[k].w, y[k].w);
            }
        }
        for (unsigned i = d_j; i < beginning().state / 4; i += d_table.team) {
            __stcg(reinterpret_cast<uint4*>(d_state) + i, make_uint4(0, 0, 0, 0));
        }
        set_shared(d_spare, 0);
    }
    __device__ void
    load_four(unsigned at, unsigned count, std::uint32_t x, std::uint32_t y)
    {
        if (at < count) {
            reinterpret_cast<uint4*>(d_posterior)[at] =
                dvb_int8x2::four_posteriors(d_constants, x, y);
        }
    }

    // These functions load the stored messages of the thread's check in a unit, from
    // their address or from the unit's offset in words.
    __device__ stored fetched(unsigned kind, const std::uint32_t* from) const
    {
        stored s;
        if (message_words(kind) == 2) {
            const auto v = d_cache.load(reinterpret_cast<const uint2*>(from));
            s.word[0] = v.x;
            s.word[1] = v.y;
        } else if constexpr (max_words > 2) {
            const auto v = d_cache.load(reinterpret_cast<const uint4*>(from));
            s.word[0] = v.x;
            s.word[1] = v.y;
            s.word[2] = v.z;
            s.word[3] = v.w;
            if constexpr (max_words > 4) {
                if (message_words(kind) == 6) {
                    s.word[4] = __ldcg(from + 4 * d_table.pitch - 2 * d_place);
                }
            }
        }
        return s;
    }
    __device__ stored fetched(unsigned kind, std::uint32_t state) const
    {
        return fetched(
            kind,
            stored_at(d_state + (message_words(kind) == 2 ? 2 : 4) * d_place, 4 * state));
    }

    __device__ check check_of(const run_of_units& run) const
    {
        const bool there = d_j < run.checks;
        return { there ? float(d_j) : -1e9f,
                 __uint_as_float(there ? d_address : d_spare),
                 there ? 1.0f : 0.0f };
    }
    // Returns the address of the posterior of an edge's bit. \p start is the offset of
    // check 0's bit. \p last is the last check whose index plus the circulant's shift is
    // less than the lifting size Z.
    __device__ std::uint32_t
    place_of(const check& c, std::uint32_t last, std::uint32_t start) const
    {
        const float after = __saturatef(__fsub_rn(c.j, __uint_as_float(last))); // 0 or 1
        return __float_as_uint(fmaf(after,
                                    __uint_as_float(d_minus_z),
                                    fmaf(__uint_as_float(start), c.factor, c.address)));
    }

    // Returns the offsets of the first unit. The zeros for the first iteration precede
    // its messages.
    __device__ place beginning() const { return { 0, max_words * d_table.pitch }; }

    // Runs an iteration. \p next holds the stored messages of the first unit when the
    // function begins and when it ends.
    __device__ void iterate(stored& next)
    {
        auto at = beginning();
        for (unsigned r = 0; r < d_table.run_count; ++r) {
            const auto run = d_table.runs[r];
            const bool last = r + 1 == d_table.run_count;
            const unsigned kind_after = d_table.runs[last ? 0 : r + 1].kind;
            switch (run.kind) {
#define GPUFEC_KIND(D, L)                                       \
    case kind<D, L>::number:                                    \
        if constexpr (D <= MaxDegree) {                         \
            units<kind<D, L>>(run, at, last, kind_after, next); \
        }                                                       \
        break;
                GPUFEC_KIND(3, false)
                GPUFEC_KIND(4, false)
                GPUFEC_KIND(5, false)
                GPUFEC_KIND(6, false)
                GPUFEC_KIND(7, false)
                GPUFEC_KIND(8, false)
                GPUFEC_KIND(9, false)
                GPUFEC_KIND(10, false)
                GPUFEC_KIND(11, false)
                GPUFEC_KIND(13, false)
                GPUFEC_KIND(14, false)
                GPUFEC_KIND(15, false)
                GPUFEC_KIND(17, false)
                GPUFEC_KIND(18, false)
                GPUFEC_KIND(19, false)
                GPUFEC_KIND(20, false)
                GPUFEC_KIND(21, false)
                GPUFEC_KIND(22, false)
                GPUFEC_KIND(32, false)
                GPUFEC_KIND(3, true)
                GPUFEC_KIND(4, true)
                GPUFEC_KIND(5, true)
                GPUFEC_KIND(6, true)
                GPUFEC_KIND(7, true)
                GPUFEC_KIND(8, true)
                GPUFEC_KIND(9, true)
                GPUFEC_KIND(10, true)
#undef GPUFEC_KIND
            }
        }
        __syncthreads();
    }

    // Returns a pointer that is factor · bytes after \p from, in fewer instructions than
    // pointer arithmetic.
    __device__ static std::uint32_t*
    offset_by(std::uint32_t* from, std::uint32_t bytes, std::uint32_t factor)
    {
#ifdef __CUDA_ARCH__
        std::uint32_t* to;
        asm("mad.wide.u32 %0, %1, %2, %3;"
            : "=l"(to)
            : "r"(factor), "r"(bytes), "l"(from));
        return to;
#else
        return from + factor * bytes / 4;
#endif
    }
    // Returns the address of messages that are stored \p bytes after \p from. In the
    // first iteration, returns \p from, the address of zeros.
    __device__ std::uint32_t* stored_at(std::uint32_t* from, std::uint32_t bytes) const
    {
        return offset_by(from, bytes, d_later);
    }

    // Processes a run. The messages of the next unit are loaded early. Across the end of
    // the run, this is possible only if messages of the next run have the same number of
    // words.
    template <class Kind>
    __device__ void units(
        const run_of_units& run, place& at, bool last, unsigned kind_after, stored& next)
    {
        constexpr unsigned words = message_words(Kind::number);
        const auto c = check_of(run);
        const std::uint32_t stride = 4 * words * d_table.pitch;
        auto* const mine = d_state + (words == 2 ? 2 : 4) * d_place;
        auto state = 4 * at.state;
        auto edges = shared_begin() + 4 * at.edges;
        auto barriers = run.barriers;
        do {
            update<Kind>(run.degree, c, edges, barriers & 1, mine, state, stride, next);
            edges += 4 * Kind::words;
            state += stride;
            barriers >>= 1;
        } while (barriers != 1);
        at.state = state / 4;
        at.edges = (edges - shared_begin()) / 4;
        if (last) {
            d_later = d_one;
        }
        if (last || message_words(kind_after) != words) {
            next = fetched(kind_after, last ? beginning().state : at.state);
        }
    }

    // Processes a unit. \p edges is the address of the unit's edges in the table. The
    // thread's messages are \p state bytes after \p mine, and those of the next unit are
    // \p stride bytes further on.
    template <class Kind>
    __device__ void update(unsigned degree,
                           const check& c,
                           std::uint32_t edges,
                           bool barrier,
                           std::uint32_t* mine,
                           std::uint32_t state,
                           std::uint32_t stride,
                           stored& old)
    {
        constexpr unsigned Degree = Kind::degree;
        using messages = dvb_int8x2::messages<Degree>;
        constexpr unsigned parts = (Degree + 7) / 8;
        messages m;
        m.word[messages::parts - 1] = 0;
#pragma unroll
        for (unsigned w = 0; w < parts; ++w) {
            m.word[w] = old.word[w];
        }
        m.word[messages::parts] = old.word[parts];
        const half2 first = m.first(d_constants), second = m.second(d_constants);

        std::uint32_t at[Degree];
#pragma unroll
        for (unsigned e = 0; e < Degree; e += 2) {
            const auto two = get_shared_vector(edges + 8 * e);
            at[e] = place_of(c, two.x, two.y);
            if (e + 1 < Degree) {
                at[e + 1] = place_of(c, two.z, two.w);
            }
        }
        old = fetched(Kind::number, stored_at(mine, state + stride));
        if (barrier) {
            __syncthreads();
        }
        // A unit has missing edges only if its degree was padded to Degree.
        constexpr bool filled =
            !Kind::leaf && padded_degree(Degree - 1) == Degree && Degree != 32;
        half2 t[Degree];
#pragma unroll
        for (unsigned e = 0; e < Degree; ++e) {
            t[e] = all(dvb_int8x2::missing);
            if (!filled || e < degree) {
                t[e] = value_of(get_shared(at[e]));
            }
        }
#pragma unroll
        for (unsigned e = 0; e < Kind::edges; ++e) {
            if (!filled || e < degree) {
                t[e] = m.variable_to_check(t[e], e, first, second);
            }
        }
        const auto minima = dvb_int8x2::min1_of(t);
        dvb_int8x2::check_node_update<Degree> updated(
            minima.min1, minima.min2, d_args, d_constants);
#pragma unroll
        for (unsigned e = 0; e < Degree; ++e) {
            const auto p = updated.posterior(e, t[e]);
            if (e < Kind::edges && (!filled || e < degree)) {
                set_shared(at[e], bits(p));
            }
        }
        updated.finish(all(0));
        const auto& fresh = updated.fresh.word;
        const auto magnitudes = fresh[messages::parts];
        auto* const to = offset_by(mine, state, d_one);
        if constexpr (parts == 1) {
            d_cache.store(reinterpret_cast<uint2*>(to), make_uint2(fresh[0], magnitudes));
        } else {
            // The last word with sign and is_min1 bits must be next to the magnitudes if
            // there are two such words, because fetched_leaf() loads them with one
            // instruction.
            d_cache.store(reinterpret_cast<uint4*>(to),
                          make_uint4(fresh[0],
                                     fresh[1],
                                     parts == 2 ? magnitudes : fresh[2],
                                     parts == 3 ? magnitudes : fresh[3 % parts]));
        }
        if constexpr (parts == 4) {
            __stcg(to + 4 * d_table.pitch - 2 * d_place, magnitudes);
        }
    }

    // The stored data of a leaf: the word with its sign and is_min1 bit, and the
    // magnitudes.
    struct leaf {
        std::uint32_t edge_bits, magnitudes;
    };
    __device__ leaf fetched_leaf(const run_of_units& run, std::uint32_t state) const
    {
        const unsigned words = message_words(run.kind);
        const auto v = __ldcg(reinterpret_cast<const uint2*>(d_state + state + words - 2 +
                                                             words * d_place));
        return words == 2 ? leaf{ v.x, v.y } : leaf{ v.y, v.x };
    }
    __device__ half2 leaf_posterior(unsigned degree,
                                    const leaf& stored,
                                    std::uint32_t channel) const
    {
        dvb_int8x2::messages<1> m;
        m.word[0] = stored.edge_bits << 2 * ((degree - 1) % 8);
        m.word[1] = stored.magnitudes;
        const half2 sum = value_of(channel);
        const half2 less =
            m.variable_to_check(sum, 0, m.first(d_constants), m.second(d_constants));
        return __hfma2(sum, all(2), __hneg2(less));
    }
    // Returns the address of a unit's leaf.
    __device__ std::uint32_t
    leaf_place(const check& c, const run_of_units& run, std::uint32_t edges) const
    {
        const unsigned e = run.degree - 1u;
        const auto two = table_entries(edges, e / 2);
        return e % 2 ? place_of(c, two.z, two.w) : place_of(c, two.x, two.y);
    }
    // Returns the entries of two edges of the unit that begins at a word of the table.
    __device__ static uint4 table_entries(std::uint32_t word, unsigned two)
    {
        return get_shared_vector(shared_begin() + 4 * word + 16 * two);
    }

    // For each unit of a run, calls use() with the parity of the thread's check in the
    // sign bits.
    template <class Use>
    __device__ void each_sum(const run_of_units& run, place at, Use&& use) const;
    __device__ static unsigned units_of(const run_of_units& run)
    {
        return 31 - __clz(run.barriers);
    }
    __device__ static void advance(place& at, const run_of_units& run, unsigned pitch)
    {
        const unsigned units = units_of(run);
        at.edges += units * table_words(run.kind);
        at.state += units * message_words(run.kind) * pitch;
    }

    // Replaces the channel values of leaves by posteriors, in the codewords in the bit
    // mask \p which.
    __device__ void finish_leaves(unsigned which);

    // Returns the bit mask of codewords that violate a check. The mask is complete for
    // \p candidates only.
    __device__ unsigned violated(unsigned candidates);

    // Returns the numbers of violated checks of both codewords, in the halves of a word.
    __device__ std::uint32_t count_violated();

    // Writes the decisions of codeword w, first bit most significant.
    __device__ void write_decisions(unsigned w, std::uint8_t* output) const;

    const quasi_cyclic_table& d_table;
    const int8x2_arguments& d_args;
    const dvb_int8x2::constants d_constants;
    const l2_resident d_cache;
    const unsigned d_team;
    // Index of the thread's check in a unit. In a thread without a team, d_j exceeds the
    // index of every check.
    const unsigned d_j;
    const std::uint32_t d_one;
    std::uint32_t d_later; // 0 in the first iteration, then 1
    const std::uint32_t d_minus_z;
    std::uint32_t* d_flags;
    std::uint32_t* d_posterior; // the team's posteriors
    std::uint32_t d_address;    // address of the thread's posterior in column 0
    std::uint32_t d_spare;      // address of a word for a thread without a check
    std::uint32_t* d_state;     // the team's stored messages
    unsigned d_place;           // index of the thread's messages in a unit
};

template <unsigned MaxDegree, unsigned Threads>
__global__ void __launch_bounds__(Threads, 1)
    decode_quasi_cyclic(const __grid_constant__ quasi_cyclic_table table,
                        const __grid_constant__ int8x2_arguments arguments)
{
    quasi_cyclic_kernel<MaxDegree>(table, arguments).run();
}

} // namespace quasi_cyclic
} // namespace device
} // namespace gr::gpufec::ldpc

// The remaining members: parity checks and output.
#include "decisions.cuh"

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_QUASI_CYCLIC_QUASI_CYCLIC_CUH */
