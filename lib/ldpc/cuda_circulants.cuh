// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Layered min-sum in int8 for codes of circulants without a chain: teams of threads
 * decode two codewords each in the halves of a half2, with the arithmetic of
 * cuda_pairs.cuh.
 *
 * A team has a thread for each check of a unit: a layer, or a part of one that is too
 * large. Shared memory holds posteriors. Messages are kept compressed, in what shared
 * memory there is left and else in memory that the L2 cache holds. Units of one kind are
 * a run: a loop in code for their degree. All control flow hangs on the kernel's
 * parameters, so that warps stay together; a thread without a check does what the others
 * do, with memory of its own.
 *
 * A bit of one check only, with a shift of 0, is a leaf of that check: what it says is
 * its channel value in each iteration. So it has no posterior, until somebody asks for
 * it: then that is made of the channel value and of the message that is kept. */

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
        // Of the first unit: words of the table before it, words of messages in their
        // memory, and leaves.
        std::uint16_t edges, leaves;
        std::uint32_t messages;
        std::uint16_t shared; //!< messages are in shared memory
        std::uint16_t apart;  //!< messages do not follow those of the run before
    };
    run runs[most_runs];
    std::uint32_t run_count;
    //! In device memory, of each unit two words an edge, as place_of() wants them, up to
    //! whole vectors; behind them the bits of the leaves of check 0 of units.
    const std::uint32_t* edges;
    std::uint32_t edge_words, unit_words; //!< all, and those of units
    std::uint32_t leaf_units;
    std::uint32_t n;       //!< bits
    std::uint32_t minus_z; //!< −4·Z as the bits of a float, in units of its least
    std::uint32_t leaves_from, leaves_to; //!< bits that are leaves
    std::uint32_t team;                   //!< threads
    std::uint32_t teams;                  //!< of a block
    std::uint32_t team_words;             //!< posteriors in shared memory
    std::uint32_t pitch;                  //!< places for the messages of a unit's checks
    //! Messages of a team in device memory and in shared memory.
    std::uint32_t message_words, shared_message_words;
    std::uint32_t state_words; //!< of a team in device memory
};

namespace circulants {

using pairs::all;
using pairs::bits;
using pairs::value_of;

constexpr unsigned most_teams = 16;
constexpr unsigned flag_words = 20; // the block's slot, and a counter for each team

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
constexpr unsigned most_leaf_degree = 10; // of checks with a leaf

// What units need the same code: those of one (padded) degree, with a leaf or without.
template <unsigned Degree, bool Leaf>
struct kind {
    static constexpr unsigned degree = Degree;
    static constexpr bool leaf = Leaf;
    static constexpr unsigned number = Degree | Leaf << 6;
    static constexpr unsigned edges = Degree - Leaf;       // with places to be computed
    static constexpr unsigned words = (edges + 1) / 2 * 4; // of the table
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
__host__ __device__ constexpr bool has_leaf(unsigned kind) { return kind >> 6; }
__host__ __device__ constexpr unsigned table_words(unsigned kind)
{
    return ((kind & 63) - has_leaf(kind) + 1) / 2 * 4;
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
          d_minus_z(kept_in_each(table.minus_z))
    {
        d_address = kept_in_register(shared_address(posteriors()) + 4 * d_j);
        d_spare = kept_in_register(shared_address(
            all_posteriors() + table.teams * table.team_words + threadIdx.x));
        if (threadIdx.x == 0) { // memory that no other block has
            flags()[0] = take_slot(a);
        }
        for (unsigned i = threadIdx.x; i < table.edge_words / 4; i += blockDim.x) {
            reinterpret_cast<uint4*>(shared_words())[i] =
                __ldcg(reinterpret_cast<const uint4*>(table.edges) + i);
        }
        __syncthreads();
        d_state =
            a.state + std::size_t(flags()[0] * table.teams + team()) * table.state_words;
        d_place = min(d_j, table.pitch - 1);
    }

    __device__ void run()
    {
        const auto first = first_frame();
        const bool here = d_team < d_table.teams && first < d_args.frames.count;
        const bool both = here && d_args.at_once == 2 && first + 1 < d_args.frames.count;
        decode(here ? (both ? 3 : 1) : 0);
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicExch(d_args.taken + flags()[0], 0u);
        }
    }

private:
    // Of shared memory: the table, flags, messages of the teams, their posteriors, a word
    // for each thread.
    __device__ std::uint32_t* flags() const
    {
        return shared_words() + d_table.edge_words;
    }
    __device__ unsigned team() const { return min(d_team, d_table.teams - 1); }
    __device__ std::uint32_t* shared_messages() const
    {
        return flags() + flag_words + team() * d_table.shared_message_words;
    }
    __device__ std::uint32_t* all_posteriors() const
    {
        return flags() + flag_words + d_table.teams * d_table.shared_message_words;
    }
    __device__ std::uint32_t* posteriors() const
    {
        return all_posteriors() + team() * d_table.team_words;
    }

    __device__ std::uint32_t first_frame() const
    {
        return d_args.at_once * (blockIdx.x * d_table.teams + d_team);
    }

    // \p active: which codewords of the team are not done.
    __device__ void decode(unsigned active)
    {
        const auto* const frame = d_args.frames.table + (active ? first_frame() : 0);
        load(d_args.frames.input + frame[0].input,
             d_args.frames.input + frame[active / 2].input);
        __syncthreads();
        coming next = first_of(d_table.runs[0]);
        for (std::uint32_t i = 1;; ++i) {
            iterate(next);
            const bool last = i >= d_args.stop.max_iterations;
            if (!last && !d_args.stop.early_stop) {
                continue;
            }
            const auto count = violated(last, active);
            const auto done = last ? active : active & ~some(count);
            finish(done, i, count);
            active &= ~done;
            if (last || !agreed(__syncthreads_or(active))) {
                return;
            }
        }
    }

    // Codewords \p done of the team.
    __device__ void
    finish(unsigned done, std::uint32_t iterations, std::uint32_t violated)
    {
        const bool soft = d_args.stop.soft != ldpc_soft_output::none;
        if (soft || d_args.stop.out_bits > d_table.leaves_from) {
            settle();
            __syncthreads();
        }
        for (unsigned w = 0; w < 2; ++w) {
            if (!(done >> w & 1)) {
                continue;
            }
            const auto frame = d_args.frames.table[first_frame() + w];
            if (d_j == 0) {
                d_args.frames.status[frame.status] = { iterations,
                                                       violated >> 16 * w & 0xffffu };
            }
            write_decisions(w, d_args.frames.output + frame.output);
            if (soft) {
                const soft_writer llrs(d_args.frames, frame, d_args.stop, pairs::unit);
                for (unsigned i = d_j; i < d_table.n; i += d_table.team) {
                    llrs.write<std::int8_t>(i, pairs::of_codeword(posterior(i), w));
                }
            }
        }
    }

    __device__ void load(const std::uint8_t* a, const std::uint8_t* b)
    {
        const auto from = d_table.leaves_from, to = d_table.leaves_to;
        load_bits(a, b, from, posteriors());
        if (to < d_table.n) {
            load_bits(a + to, b + to, d_table.n - to, posteriors() + from);
        }
        load_leaves(a, b);
        const auto clear = [this](std::uint32_t* messages, unsigned words) {
            for (unsigned i = d_j; i < words / 4; i += d_table.team) {
                reinterpret_cast<uint4*>(messages)[i] = make_uint4(0, 0, 0, 0);
            }
        };
        clear(d_state, d_table.message_words);
        clear(shared_messages(), d_table.shared_message_words);
        set_shared(d_spare, 0);
    }
    // Sixteen bits at a time, of the last perhaps fewer.
    __device__ void load_bits(const std::uint8_t* a,
                              const std::uint8_t* b,
                              unsigned bits,
                              std::uint32_t* to) const
    {
        const auto* const from = reinterpret_cast<const uint4*>(a);
        const auto* const and_from = reinterpret_cast<const uint4*>(b);
        constexpr unsigned together = 4; // so that many loads are on their way
        const unsigned count = (bits + 3) / 4, vectors = (count + 3) / 4;
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
                load_four(to, at, count, x[k].x, y[k].x);
                load_four(to, at + 1, count, x[k].y, y[k].y);
                load_four(to, at + 2, count, x[k].z, y[k].z);
                load_four(to, at + 3, count, x[k].w, y[k].w);
            }
        }
    }
    // Channel values of leaves as two bytes, in the order of the units.
    __device__ void load_leaves(const std::uint8_t* a, const std::uint8_t* b)
    {
        constexpr unsigned together = 8;
        auto* const to = leaves();
        const auto* const starts = shared_words() + d_table.unit_words;
        for (unsigned u = 0; u < d_table.leaf_units; u += together) {
            std::uint32_t x[together], y[together];
#pragma unroll
            for (unsigned k = 0; k < together; ++k) {
                const auto start = starts[min(u + k, d_table.leaf_units - 1)];
                const auto at = min(start + d_place, d_table.n - 1);
                x[k] = __ldg(a + at);
                y[k] = __ldg(b + at);
            }
#pragma unroll
            for (unsigned k = 0; k < together; ++k) {
                if (u + k < d_table.leaf_units) {
                    to[(u + k) * d_table.pitch] =
                        std::uint16_t((x[k] | y[k] << 8) ^ 0x8080u);
                }
            }
        }
    }
    // Of the thread's check in the first unit that has one; of others a pitch behind.
    __device__ std::uint16_t* leaves() const
    {
        return reinterpret_cast<std::uint16_t*>(d_state + d_table.message_words) +
               d_place;
    }
    __device__ half2 channel_value(std::uint32_t two_bytes) const
    {
        return __hsub2(value_of(__byte_perm(two_bytes, d_constants.halves, 0x4140)),
                       all(pairs::bias));
    }
    // Posteriors of leaves, once settled: behind the channel values.
    __device__ std::uint32_t* settled() const
    {
        return d_state + d_table.message_words +
               (d_table.leaf_units + 1) * d_table.pitch / 2;
    }
    __device__ std::uint32_t posterior(unsigned bit) const
    {
        return bit < d_table.leaves_from ? posteriors()[bit]
               : bit < d_table.leaves_to
                   ? __ldcg(settled() + bit - d_table.leaves_from)
                   : posteriors()[bit - (d_table.leaves_to - d_table.leaves_from)];
    }

    __device__ void load_four(std::uint32_t* to,
                              unsigned at,
                              unsigned count,
                              std::uint32_t x,
                              std::uint32_t y) const
    {
        if (at < count) {
            reinterpret_cast<uint4*>(to)[at] = pairs::four_posteriors(d_constants, x, y);
        }
    }

    // Where messages of the thread's check are kept, of the first unit of a run.
    __device__ std::uint32_t* messages_of(const run_of_units& run) const
    {
        return (run.shared ? shared_messages() : d_state) + run.messages +
               (message_words(run.kind) == 2 ? 2 : 4) * d_place;
    }
    // What is kept there. Past the caches of the multiprocessor, if it is not there.
    __device__ stored fetched(unsigned kind, const std::uint32_t* from) const
    {
        stored s;
        if (message_words(kind) == 2) {
            const auto v = get_vector<uint2>(from);
            s.word[0] = v.x;
            s.word[1] = v.y;
        } else if constexpr (most_words > 2) {
            const auto v = get_vector<uint4>(from);
            s.word[0] = v.x;
            s.word[1] = v.y;
            s.word[2] = v.z;
            s.word[3] = v.w;
            if constexpr (most_words > 4) {
                if (message_words(kind) == 6) {
                    s.word[4] =
                        get_vector<uint2>(from + 4 * d_table.pitch - 2 * d_place).x;
                }
            }
        }
        return s;
    }
    __device__ static std::uint32_t get_two_bytes(const std::uint16_t* from)
    {
#ifdef __CUDA_ARCH__
        std::uint32_t x;
        asm volatile("ld.global.cg.u16 %0, [%1];" : "=r"(x) : "l"(from));
        return x;
#else
        return *from;
#endif
    }
    template <class Vector>
    __device__ static Vector get_vector(const std::uint32_t* from)
    {
        Vector v;
#ifdef __CUDA_ARCH__
        if constexpr (sizeof(v) == 8) {
            asm volatile("ld.cg.v2.u32 {%0, %1}, [%2];"
                         : "=r"(v.x), "=r"(v.y)
                         : "l"(from));
        } else {
            asm volatile("ld.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                         : "l"(from));
        }
#else
        v = *reinterpret_cast<const Vector*>(from);
#endif
        return v;
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
    // Calls use() with the kind of that number.
    template <class Use>
    __device__ static void with_kind(unsigned number, Use&& use)
    {
        switch (number) {
#define GPUFEC_KIND(D, L)          \
    case kind<D, L>::number:       \
        if constexpr (D <= Most) { \
            use(kind<D, L>());     \
        }                          \
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
            GPUFEC_KIND(15, false)
            GPUFEC_KIND(18, false)
            GPUFEC_KIND(19, false)
            GPUFEC_KIND(20, false)
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

    // Of the next unit: where its messages are kept, and what is there.
    struct coming {
        std::uint32_t* messages;
        stored old;
    };
    __device__ coming first_of(const run_of_units& run) const
    {
        auto* const messages = messages_of(run);
        return { messages, fetched(run.kind, messages) };
    }

    // \p next: of the first unit, then again.
    __device__ void iterate(coming& next)
    {
        for (unsigned r = 0; r < d_table.run_count; ++r) {
            const auto run = d_table.runs[r];
            if (run.apart) {
                next = first_of(run);
            }
            with_kind(run.kind, [&](auto kind) { units<decltype(kind)>(run, next); });
        }
        next = first_of(d_table.runs[0]);
        __syncthreads();
    }

    // What is kept for the next unit is fetched during each: of the last perhaps in vain.
    template <class Kind>
    __device__ void units(const run_of_units& run, coming& next)
    {
        const auto c = check_of(run);
        auto edges = shared_begin() + 4 * run.edges;
        const std::uint16_t* leaf = leaves() + run.leaves * d_table.pitch;
        std::uint32_t channel = Kind::leaf ? get_two_bytes(leaf) : 0;
        auto barriers = run.barriers;
#pragma unroll(Kind::leaf ? 2 : 1)
        do {
            leaf += d_table.pitch;
            update<Kind>(run.degree, c, edges, barriers & 1, leaf, next, channel);
            edges += 4 * Kind::words;
            barriers >>= 1;
        } while (barriers != 1);
    }

    // \p edges: address of the table's. \p channel: of the leaf, then of that behind.
    template <class Kind>
    __device__ void update(unsigned degree,
                           const check& c,
                           std::uint32_t edges,
                           bool barrier,
                           const std::uint16_t* leaf_behind,
                           coming& next,
                           std::uint32_t& channel)
    {
        constexpr unsigned Degree = Kind::degree;
        using kept = pairs::messages<Degree>;
        constexpr unsigned parts = (Degree + 7) / 8;
        kept m;
        m.word[kept::parts - 1] = 0;
#pragma unroll
        for (unsigned w = 0; w < parts; ++w) {
            m.word[w] = next.old.word[w];
        }
        m.word[kept::parts] = next.old.word[parts];
        const half2 least = m.least(d_constants), second = m.second(d_constants);

        std::uint32_t at[Kind::edges];
#pragma unroll
        for (unsigned e = 0; e < Kind::edges; e += 2) {
            const auto two = get_shared_vector(edges + 8 * e);
            at[e] = place_of(c, two.x, two.y);
            if (e + 1 < Kind::edges) {
                at[e + 1] = place_of(c, two.z, two.w);
            }
        }
        half2 t[Degree];
        if constexpr (Kind::leaf) {
            t[Degree - 1] = channel_value(channel);
            channel = get_two_bytes(leaf_behind);
        }
        auto* const messages = next.messages;
        next.messages += message_words(Kind::number) * d_table.pitch;
        next.old = fetched(Kind::number, next.messages);
        if (barrier) {
            __syncthreads();
        }
        // Of degrees that have code of their own every edge is there.
        constexpr bool filled =
            !Kind::leaf && padded_degree(Degree - 1) == Degree && Degree != 32;
#pragma unroll
        for (unsigned e = 0; e < Kind::edges; ++e) {
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
        for (unsigned e = 0; e < Kind::edges; ++e) {
            const auto p = renewed.posterior(e, t[e]);
            if (!filled || e < degree) {
                set_shared(at[e], bits(p));
            }
        }
        if constexpr (Kind::leaf) {
            renewed.keep_sign(Degree - 1, t[Degree - 1]);
        }
        renewed.finish(all(0));
        const auto& fresh = renewed.fresh.word;
        const auto magnitudes = fresh[kept::parts];
        if constexpr (parts == 1) {
            *reinterpret_cast<uint2*>(messages) = make_uint2(fresh[0], magnitudes);
        } else {
            *reinterpret_cast<uint4*>(messages) =
                make_uint4(fresh[0],
                           fresh[1],
                           parts == 2 ? magnitudes : fresh[2],
                           parts == 3 ? magnitudes : fresh[3 % parts]);
        }
        if constexpr (parts == 4) {
            messages[4 * d_table.pitch - 2 * d_place] = magnitudes;
        }
    }

    // The posterior of a leaf of a unit.
    __device__ half2 leaf_posterior(unsigned degree,
                                    const stored& s,
                                    std::uint32_t two_bytes) const
    {
        // It has the least if no other edge has.
        const unsigned e = degree - 1;
        const auto second = s.word[1];
        const auto marks = (degree > 8 ? s.word[0] | second : s.word[0]) & 0x55555555u;
        pairs::messages<1> m;
        m.word[0] = ((e < 8 ? s.word[0] : second) << 2 * (e % 8) & pairs::signs) |
                    (marks & 0xffffu ? 0 : 0x4000u) | (marks >> 16 ? 0 : 0x40000000u);
        m.word[1] = degree > 8 ? s.word[2 % most_words] : second;
        const half2 sum = channel_value(two_bytes);
        const half2 less = m.without(sum, 0, m.least(d_constants), m.second(d_constants));
        return __hfma2(sum, all(2), __hneg2(less));
    }

    // How many checks of a run's units a thread's codewords violate, in half words.
    template <class Kind>
    __device__ std::uint32_t violated(const run_of_units& run) const
    {
        const auto c = check_of(run);
        const auto* messages = messages_of(run);
        const std::uint16_t* leaf = leaves() + run.leaves * d_table.pitch;
        stored next{};
        std::uint32_t channel = 0;
        if constexpr (Kind::leaf) {
            next = fetched(Kind::number, messages);
            channel = get_two_bytes(leaf);
        }
        auto edges = shared_begin() + 4 * run.edges;
        std::uint32_t count = 0;
        for (auto units = run.barriers; units != 1; units >>= 1) {
            std::uint32_t sum = 0;
            if constexpr (Kind::leaf) {
                sum = bits(leaf_posterior(Kind::degree, next, channel));
                if (units >> 1 != 1) {
                    messages += message_words(Kind::number) * d_table.pitch;
                    leaf += d_table.pitch;
                    next = fetched(Kind::number, messages);
                    channel = get_two_bytes(leaf);
                }
            }
#pragma unroll
            for (unsigned e = 0; e < Kind::edges; e += 2) {
                const auto two = get_shared_vector(edges + 8 * e);
                if (Kind::leaf || e < run.degree) {
                    sum ^= get_shared(place_of(c, two.x, two.y));
                }
                if (e + 1 < Kind::edges && (Kind::leaf || e + 1 < run.degree)) {
                    sum ^= get_shared(place_of(c, two.z, two.w));
                }
            }
            edges += 4 * Kind::words;
            count += (sum & pairs::signs) >> 15;
        }
        return d_j < run.checks ? count : 0;
    }
    // Makes posteriors of the leaves.
    __device__ void settle() const
    {
        for (unsigned r = 0; r < d_table.run_count; ++r) {
            const auto run = d_table.runs[r];
            const unsigned units = has_leaf(run.kind) ? 31 - __clz(run.barriers) : 0;
            const auto* messages = messages_of(run);
            for (unsigned u = run.leaves; u < run.leaves + units; ++u) {
                const auto p =
                    leaf_posterior(run.degree,
                                   fetched(run.kind, messages),
                                   get_two_bytes(leaves() + u * d_table.pitch));
                if (d_j < run.checks) {
                    const auto bit = shared_words()[d_table.unit_words + u] + d_j;
                    __stcg(settled() + bit - d_table.leaves_from, bits(p));
                }
                messages += message_words(run.kind) * d_table.pitch;
            }
        }
    }

    // For which of two half words there are some.
    __device__ static unsigned some(std::uint32_t halves)
    {
        return unsigned((halves & 0xffffu) != 0) | unsigned(halves >> 16 != 0) << 1;
    }
    // How many checks the team's codewords violate, in half words. If it is not \p exact,
    // some of them at least, or none: in time that is short if all of \p candidates do.
    __device__ std::uint32_t violated(bool exact, unsigned candidates)
    {
        auto* const counter = flags() + 2 + team();
        if (d_j == 0) {
            *counter = 0;
        }
        __syncthreads();
        // The first unit alone says so where there is still much to correct.
        bool alone = !exact;
        for (unsigned r = 0; r < d_table.run_count;) {
            auto run = d_table.runs[r];
            run.barriers = alone ? 2 : run.barriers;
            std::uint32_t count = 0;
            with_kind(run.kind,
                      [&](auto kind) { count = violated<decltype(kind)>(run); });
            if (count) {
                atomicAdd(counter, count);
            }
            if (!exact) {
                __syncthreads();
                if (!agreed(__syncthreads_or(candidates & ~some(*counter)))) {
                    break;
                }
            }
            r += !alone;
            alone = false;
        }
        __syncthreads();
        return *counter;
    }

    // Packs signs of codeword w, first bit most significant.
    __device__ void write_decisions(unsigned w, std::uint8_t* output) const
    {
        const unsigned out_bits = d_args.stop.out_bits;
        const auto* const from = reinterpret_cast<const uint4*>(posteriors());
        const unsigned s = w ? 31 : 15;
        const auto four = [s](const uint4& x) {
            return (x.x >> s & 1) << 3 | (x.y >> s & 1) << 2 | (x.z >> s & 1) << 1 |
                   (x.w >> s & 1);
        };
        for (unsigned i = d_j; i < (out_bits + 7) / 8; i += d_table.team) {
            std::uint32_t byte = 0;
            if (8 * i + 8 <= min(out_bits, d_table.leaves_from)) {
                byte = four(from[2 * i]) << 4 | four(from[2 * i + 1]);
            } else {
                for (unsigned k = 0; k < 8 && 8 * i + k < out_bits; ++k) {
                    byte |= (posterior(8 * i + k) >> s & 1) << (7 - k);
                }
            }
            output[i] = std::uint8_t(byte);
        }
    }

    const circulant_table& d_table;
    const pair_arguments& d_args;
    const pairs::constants d_constants;
    const unsigned d_team;
    const unsigned d_j; // the check of a unit; beyond all for a thread of no team
    const std::uint32_t d_minus_z;
    std::uint32_t d_address; // of the first that is the thread's
    std::uint32_t d_spare;   // of the word for where there is no check
    std::uint32_t* d_state;  // the team's, in device memory
    unsigned d_place;        // of the thread's messages
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
