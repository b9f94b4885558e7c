// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Layered min-sum in int8 for codes of circulants without a chain: teams of threads
 * decode two codewords each in the halves of a half2, with the arithmetic of
 * cuda_pairs.cuh.
 *
 * A team has a thread for each check of a unit: a layer, or a part of one that is too
 * large. Shared memory holds the posteriors of all bits. Messages are kept compressed, in
 * memory that the L2 cache holds. Units of one kind are a run: a loop in code for their
 * degree. All control flow hangs on the kernel's parameters, so that warps stay together;
 * a thread without a check does what the others do, with memory of its own.
 *
 * A bit of one check only is a leaf of that check: what it says is its channel value in
 * each iteration. That stays in shared memory. Its posterior is made
 * of it and of the message that is kept, when somebody asks for it. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_CIRCULANTS_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_CIRCULANTS_CUH

#include "cuda_pairs.cuh"

namespace gr::gpufec::ldpc {
namespace device {

struct circulant_table {
    static constexpr unsigned most_runs = 48;
    static constexpr unsigned most_units = 31; // of a run
    static constexpr unsigned most_words = 2048;
    //! Units of the same kind, one after the other.
    struct run {
        //! From the lowest bit, for each unit: whether bits of it were in use since the
        //! last barrier; then a bit that is set.
        std::uint32_t barriers;
        std::uint16_t checks; //!< of a unit, up to a team's threads
        std::uint8_t degree;
        std::uint8_t kind;
    };
    run runs[most_runs];
    std::uint32_t run_count;
    //! In device memory, of each unit: two words an edge, as place_of() wants them, of a
    //! leaf last, up to whole vectors.
    const std::uint32_t* edges;
    std::uint32_t edge_words;
    std::uint32_t n;           //!< bits
    std::uint32_t minus_z;     //!< −4·Z as the bits of a float, in units of its least
    std::uint32_t leaves_from; //!< the first bit of those that are leaves
    std::uint32_t team;        //!< threads
    std::uint32_t teams;       //!< of a block
    std::uint32_t team_words;  //!< posteriors in shared memory
    std::uint32_t pitch;       //!< places for the messages of a unit's checks
    std::uint32_t state_words; //!< of messages of a team, zeros before them
};

namespace circulants {

using pairs::all;
using pairs::bits;
using pairs::value_of;

constexpr unsigned flag_words =
    36; // the block's slot, and two for each of up to 16 teams
constexpr unsigned most_teams = 16;

// Loads and stores past the L1 cache of what is to stay in the L2 cache, as much of it as
// fits: a share that stays is worth more than all of it that makes room for itself.
class staying
{
public:
    __device__ staying()
    {
#ifdef __CUDA_ARCH__
        asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 0.7;"
                     : "=l"(d_policy));
#endif
    }
    __device__ uint2 load(const uint2* from) const
    {
#ifdef __CUDA_ARCH__
        uint2 x;
        asm volatile("ld.global.cg.L2::cache_hint.v2.u32 {%0, %1}, [%2], %3;"
                     : "=r"(x.x), "=r"(x.y)
                     : "l"(from), "l"(d_policy)
                     : "memory");
        return x;
#else
        return *from;
#endif
    }
    __device__ uint4 load(const uint4* from) const
    {
#ifdef __CUDA_ARCH__
        uint4 x;
        asm volatile("ld.global.cg.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                     : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                     : "l"(from), "l"(d_policy)
                     : "memory");
        return x;
#else
        return *from;
#endif
    }
    __device__ void store(uint2* to, const uint2& x) const
    {
#ifdef __CUDA_ARCH__
        asm volatile("st.global.cg.L2::cache_hint.v2.u32 [%0], {%1, %2}, %3;" ::"l"(to),
                     "r"(x.x),
                     "r"(x.y),
                     "l"(d_policy)
                     : "memory");
#else
        *to = x;
#endif
    }
    __device__ void store(uint4* to, const uint4& x) const
    {
#ifdef __CUDA_ARCH__
        asm volatile(
            "st.global.cg.L2::cache_hint.v4.u32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(to),
            "r"(x.x),
            "r"(x.y),
            "r"(x.z),
            "r"(x.w),
            "l"(d_policy)
            : "memory");
#else
        *to = x;
#endif
    }

private:
    std::uint64_t d_policy;
};

// There is code for some degrees, and others are filled up to the next.
__host__ __device__ constexpr unsigned padded_degree(unsigned degree)
{
    return degree <= 3    ? 3
           : degree <= 11 ? degree
           : degree <= 13 ? 13
           : degree <= 15 ? degree
           : degree <= 17 ? 17
           : degree <= 22 ? degree
                          : 32;
}
constexpr unsigned most_leaf_degree = 10; // of checks with a leaf

// What units need the same code: those of one (padded) degree, with a leaf or without.
template <unsigned Degree, bool Leaf>
struct kind {
    static constexpr unsigned degree = Degree;
    static constexpr bool leaf = Leaf;
    static constexpr unsigned number = Degree | Leaf << 6;
    static constexpr unsigned edges = Degree - Leaf;            // that messages go to
    static constexpr unsigned words = (2 * Degree + 3) / 4 * 4; // of the table
};
__host__ __device__ constexpr unsigned kind_of(unsigned degree, bool leaf)
{
    return padded_degree(degree) | unsigned(leaf) << 6;
}
// By a kind's number: words of a check's messages, in vectors of four and of two; words
// of a unit's edges in the table; whether there is a leaf.
__host__ __device__ constexpr unsigned message_words(unsigned kind)
{
    const unsigned degree = kind & 63;
    return degree <= 8 ? 2 : degree <= 24 ? 4 : 6;
}
constexpr unsigned most_message_words = 6;
__host__ __device__ constexpr bool has_leaf(unsigned kind) { return kind >> 6; }
__host__ __device__ constexpr unsigned table_words(unsigned kind)
{
    return (2 * (kind & 63) + 3) / 4 * 4;
}

template <unsigned Most>
class decoder
{
    static constexpr unsigned most_words = message_words(Most);
    using run_of_units = circulant_table::run;

    // Messages of a check, as they are kept.
    struct stored {
        std::uint32_t word[most_words];
    };
    // Where the run is: words of the table and of messages that are before it.
    struct place {
        std::uint32_t edges = 0, state = 0;
    };
    // A check's number, and the address of its posterior in column 0 for a shift of 0, as
    // least floats. With factor 0 that is the place for all.
    struct check {
        float j, address, factor;
    };

public:
    __device__ decoder(const circulant_table& table, const pair_arguments& a)
        : d_table(table),
          d_args(a),
          d_constants(a),
          d_team(threadIdx.x / table.team),
          d_j(kept_in_register(d_team < table.teams ? threadIdx.x % table.team
                                                    : 0xffffffu)),
          d_one(kept_in_each(1)),
          d_later(0),
          d_minus_z(kept_in_each(table.minus_z))
    {
        auto* const words = shared_words();
        d_flags = words + table.edge_words;
        auto* const posteriors = d_flags + flag_words;
        const unsigned team = min(d_team, table.teams - 1);
        d_posterior = posteriors + team * table.team_words;
        d_address = kept_in_register(shared_address(d_posterior) + 4 * d_j);
        d_spare = kept_in_register(
            shared_address(posteriors + table.teams * table.team_words + threadIdx.x));
        if (threadIdx.x == 0) { // memory that no other block has
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
        stored next = fetched(d_table.runs[0].kind, beginning().state);
        for (std::uint32_t i = 1;; ++i) {
            iterate(next);
            if (d_args.stop.early_stop) {
                const auto valid = active & ~violated(active);
                finish(valid, frame, i, 0);
                active &= ~valid;
                if (!agreed(__syncthreads_or(active))) {
                    return;
                }
            }
            if (i >= d_args.stop.max_iterations) {
                finish(active, frame, i, count_violated());
                return;
            }
        }
    }

    // Codewords \p done of the team.
    __device__ void finish(unsigned done,
                           const frame_place (&frame)[2],
                           std::uint32_t iterations,
                           std::uint32_t violated)
    {
        const bool soft = d_args.stop.soft != ldpc_soft_output::none;
        if (soft || d_args.stop.out_bits > d_table.leaves_from) {
            settle(done);
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
                const soft_writer llrs(d_args.frames, frame[w], d_args.stop, pairs::unit);
                for (unsigned i = d_j; i < d_table.n; i += d_table.team) {
                    llrs.write<std::int8_t>(i, pairs::of_codeword(d_posterior[i], w));
                }
            }
        }
    }

    // Sixteen bits at a time, of the last perhaps fewer.
    __device__ void load(const std::uint8_t* a, const std::uint8_t* b)
    {
        const auto* const from = reinterpret_cast<const uint4*>(a);
        const auto* const and_from = reinterpret_cast<const uint4*>(b);
        constexpr unsigned together = 4; // so that many loads are on their way
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
                pairs::four_posteriors(d_constants, x, y);
        }
    }

    // What is kept for the thread's check of a unit, from where it begins; of the unit
    // whose messages are behind so many words.
    __device__ stored fetched(unsigned kind, const std::uint32_t* from) const
    {
        stored s;
        if (message_words(kind) == 2) {
            const auto v = d_cache.load(reinterpret_cast<const uint2*>(from));
            s.word[0] = v.x;
            s.word[1] = v.y;
        } else if constexpr (most_words > 2) {
            const auto v = d_cache.load(reinterpret_cast<const uint4*>(from));
            s.word[0] = v.x;
            s.word[1] = v.y;
            s.word[2] = v.z;
            s.word[3] = v.w;
            if constexpr (most_words > 4) {
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
            kept(d_state + (message_words(kind) == 2 ? 2 : 4) * d_place, 4 * state));
    }

    __device__ check check_of(const run_of_units& run) const
    {
        const bool there = d_j < run.checks;
        return { there ? float(d_j) : -1e9f,
                 __uint_as_float(there ? d_address : d_spare),
                 there ? 1.0f : 0.0f };
    }
    // Where a check finds the bit of an edge: from the last check for which shift and
    // number are less than Z, and where the bit of check 0 is.
    __device__ std::uint32_t
    place_of(const check& c, std::uint32_t last, std::uint32_t start) const
    {
        const float after = __saturatef(__fsub_rn(c.j, __uint_as_float(last))); // 0 or 1
        return __float_as_uint(fmaf(after,
                                    __uint_as_float(d_minus_z),
                                    fmaf(__uint_as_float(start), c.factor, c.address)));
    }

    // The first unit's, behind the zeros.
    __device__ place beginning() const { return { 0, most_words * d_table.pitch }; }

    // \p next: what is kept for the first unit, then that again.
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
        if constexpr (D <= Most) {                              \
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

    // Fewer instructions than a sum of pointer and words.
    __device__ static std::uint32_t*
    behind(std::uint32_t* from, std::uint32_t bytes, std::uint32_t factor)
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
    // Where to fetch what is kept so many bytes behind: in the first iteration the zeros,
    // which cost no memory but their own.
    __device__ std::uint32_t* kept(std::uint32_t* from, std::uint32_t bytes) const
    {
        return behind(from, bytes, d_later);
    }

    // Within a run what is kept for the next unit is fetched early; behind it, it is if
    // the next run has vectors as large.
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

    // \p edges: address of the table's. What the thread keeps for the unit begins \p
    // state bytes from \p mine, and for the next unit \p stride bytes behind.
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
        using messages = pairs::messages<Degree>;
        constexpr unsigned parts = (Degree + 7) / 8;
        messages m;
        m.word[messages::parts - 1] = 0;
#pragma unroll
        for (unsigned w = 0; w < parts; ++w) {
            m.word[w] = old.word[w];
        }
        m.word[messages::parts] = old.word[parts];
        const half2 least = m.least(d_constants), second = m.second(d_constants);

        std::uint32_t at[Degree];
#pragma unroll
        for (unsigned e = 0; e < Degree; e += 2) {
            const auto two = get_shared_vector(edges + 8 * e);
            at[e] = place_of(c, two.x, two.y);
            if (e + 1 < Degree) {
                at[e + 1] = place_of(c, two.z, two.w);
            }
        }
        old = fetched(Kind::number, kept(mine, state + stride));
        if (barrier) {
            __syncthreads();
        }
        // Of degrees that have code of their own every edge is there.
        constexpr bool filled =
            !Kind::leaf && padded_degree(Degree - 1) == Degree && Degree != 32;
        half2 t[Degree];
#pragma unroll
        for (unsigned e = 0; e < Degree; ++e) {
            t[e] = all(pairs::missing);
            if (!filled || e < degree) {
                t[e] = value_of(get_shared(at[e]));
            }
        }
#pragma unroll
        for (unsigned e = 0; e < Kind::edges; ++e) {
            if (!filled || e < degree) {
                t[e] = m.without(t[e], e, least, second);
            }
        }
        const auto heard = pairs::least_of(t);
        pairs::renewal<Degree> renewed(heard.least, heard.second, d_args, d_constants);
#pragma unroll
        for (unsigned e = 0; e < Degree; ++e) {
            const auto p = renewed.posterior(e, t[e]);
            if (e < Kind::edges && (!filled || e < degree)) {
                set_shared(at[e], bits(p));
            }
        }
        renewed.finish(all(0));
        const auto& fresh = renewed.fresh.word;
        const auto magnitudes = fresh[messages::parts];
        auto* const to = behind(mine, state, d_one);
        if constexpr (parts == 1) {
            d_cache.store(reinterpret_cast<uint2*>(to), make_uint2(fresh[0], magnitudes));
        } else {
            // Of two parts the second stands beside the magnitudes, too: for a leaf.
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

    // What is kept for a leaf: the word with its sign and mark, and the magnitudes.
    struct leaf {
        std::uint32_t marks, magnitudes;
    };
    __device__ leaf fetched_leaf(const run_of_units& run, std::uint32_t state) const
    {
        const unsigned words = message_words(run.kind);
        const auto v = __ldcg(reinterpret_cast<const uint2*>(d_state + state + words - 2 +
                                                             words * d_place));
        return words == 2 ? leaf{ v.x, v.y } : leaf{ v.y, v.x };
    }
    __device__ half2 leaf_posterior(unsigned degree,
                                    const leaf& kept,
                                    std::uint32_t channel) const
    {
        pairs::messages<1> m;
        m.word[0] = kept.marks << 2 * ((degree - 1) % 8);
        m.word[1] = kept.magnitudes;
        const half2 sum = value_of(channel);
        const half2 less = m.without(sum, 0, m.least(d_constants), m.second(d_constants));
        return __hfma2(sum, all(2), __hneg2(less));
    }
    // Where the leaf of a unit is.
    __device__ std::uint32_t
    leaf_place(const check& c, const run_of_units& run, std::uint32_t edges) const
    {
        const unsigned e = run.degree - 1u;
        const auto two = table_entries(edges, e / 2);
        return e % 2 ? place_of(c, two.z, two.w) : place_of(c, two.x, two.y);
    }
    // Of two edges of the unit that begins at a word of the table.
    __device__ static uint4 table_entries(std::uint32_t word, unsigned two)
    {
        return get_shared_vector(shared_begin() + 4 * word + 16 * two);
    }

    // Calls use(signs of what the bits of a check sum to) for each of a run's units.
    template <class Use>
    __device__ void each_sum(const run_of_units& run, place at, Use&& use) const
    {
        constexpr unsigned together = 4; // units whose leaves are fetched at once
        const auto c = check_of(run);
        const unsigned stride = message_words(run.kind) * d_table.pitch;
        const unsigned edges = run.degree - has_leaf(run.kind);
        for (unsigned left = units_of(run); left > 0; left -= min(left, together)) {
            leaf kept[together] = {};
            if (has_leaf(run.kind)) {
#pragma unroll
                for (unsigned k = 0; k < together; ++k) {
                    kept[k] = fetched_leaf(run, at.state + min(k, left - 1) * stride);
                }
            }
#pragma unroll
            for (unsigned k = 0; k < together; ++k) {
                if (k >= left) {
                    break;
                }
                std::uint32_t sum = 0;
#pragma unroll 4
                for (unsigned e = 0; e < edges / 2; ++e) {
                    const auto two = table_entries(at.edges, e);
                    sum ^= get_shared(place_of(c, two.x, two.y)) ^
                           get_shared(place_of(c, two.z, two.w));
                }
                if (edges % 2) {
                    const auto last = table_entries(at.edges, edges / 2);
                    sum ^= get_shared(place_of(c, last.x, last.y));
                }
                if (has_leaf(run.kind)) {
                    const auto channel = get_shared(leaf_place(c, run, at.edges));
                    sum ^= bits(leaf_posterior(run.degree, kept[k], channel));
                }
                at.edges += table_words(run.kind);
                use(d_j < run.checks ? sum & pairs::signs : 0);
            }
            at.state += together * stride;
        }
    }
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

    // Posteriors of the leaves of codewords \p which in place of their channel values.
    __device__ void settle(unsigned which)
    {
        auto at = beginning();
        for (unsigned r = 0; r < d_table.run_count; ++r) {
            const auto run = d_table.runs[r];
            const auto c = check_of(run);
            auto mine = at;
            const unsigned units = has_leaf(run.kind) ? units_of(run) : 0;
            for (unsigned u = 0; u < units; ++u) {
                const auto place = leaf_place(c, run, mine.edges);
                const auto channel = get_shared(place);
                const auto p = bits(
                    leaf_posterior(run.degree, fetched_leaf(run, mine.state), channel));
                const std::uint32_t mask =
                    (which & 1) * 0xffffu | (which >> 1) * 0xffff0000u;
                set_shared(place, (p & mask) | (channel & ~mask));
                mine.edges += table_words(run.kind);
                mine.state += message_words(run.kind) * d_table.pitch;
            }
            advance(at, run, d_table.pitch);
        }
    }

    // Which of the team's codewords violate a check; of those in \p candidates all of
    // them, of others maybe.
    __device__ unsigned violated(unsigned candidates)
    {
        auto* const flag = d_flags + 2 + min(d_team, d_table.teams - 1);
        if (d_j == 0) {
            *flag = 0;
        }
        __syncthreads();
        auto at = beginning();
        // The first unit alone says no where there is still much to correct.
        bool alone = true;
        for (unsigned r = 0; r < d_table.run_count;) {
            auto run = d_table.runs[r];
            run.barriers = alone ? 2 : run.barriers;
            std::uint32_t sum = 0;
            each_sum(run, at, [&sum](std::uint32_t s) { sum |= s; });
            if (sum) {
                atomicOr(flag, (sum >> 15 & 1) | (sum >> 30 & 2));
            }
            __syncthreads();
            if (!agreed(__syncthreads_or(candidates & ~*flag))) {
                break;
            }
            if (!alone) {
                advance(at, run, d_table.pitch);
                ++r;
            }
            alone = false;
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
        auto at = beginning();
        for (unsigned r = 0; r < d_table.run_count; ++r) {
            const auto run = d_table.runs[r];
            each_sum(run, at, [&count](std::uint32_t s) { count += s >> 15; });
            advance(at, run, d_table.pitch);
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
        const auto* const from = reinterpret_cast<const uint4*>(d_posterior);
        for (unsigned i = d_j; i < (out_bits + 7) / 8; i += d_table.team) {
            const unsigned s = w ? 31 : 15;
            const auto four = [s](const uint4& x) {
                return (x.x >> s & 1) << 3 | (x.y >> s & 1) << 2 | (x.z >> s & 1) << 1 |
                       (x.w >> s & 1);
            };
            const auto byte = four(from[2 * i]) << 4 | four(from[2 * i + 1]);
            const unsigned rest = min(8 * i + 8 - min(out_bits, 8 * i + 8), 7u);
            output[i] = std::uint8_t(byte >> rest << rest);
        }
    }

    const circulant_table& d_table;
    const pair_arguments& d_args;
    const pairs::constants d_constants;
    const staying d_cache; // of messages
    const unsigned d_team;
    const unsigned d_j; // the check of a unit; beyond all for a thread of no team
    const std::uint32_t d_one;
    std::uint32_t d_later; // 0 in the first iteration, then 1
    const std::uint32_t d_minus_z;
    std::uint32_t* d_flags;
    std::uint32_t* d_posterior; // of the team
    std::uint32_t d_address;    // of the first that is the thread's
    std::uint32_t d_spare;      // of the word for where there is no check
    std::uint32_t* d_state;     // the team's
    unsigned d_place;           // of the thread's messages
};

template <unsigned Most, unsigned Threads>
__global__ void __launch_bounds__(Threads, 1)
    decode_circulants(const __grid_constant__ circulant_table table,
                      const __grid_constant__ pair_arguments arguments)
{
#if __CUDA_ARCH__ >= 800 || defined(GPUFEC_EMULATED)
    decoder<Most>(table, arguments).run();
#endif
}

} // namespace circulants
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_CIRCULANTS_CUH */
