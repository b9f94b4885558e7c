// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Layered min-sum in int8 for codes without structure: a block of threads decodes two
 * codewords in the halves of a half2, with the arithmetic of cuda_pairs.cuh.
 *
 * A layer is cut into units of 32 checks, one for each lane of a warp, and a step is as
 * many units as the block has warps. Shared memory holds the posteriors of all bits, and
 * behind them places that are no bit's, of infinite magnitude, for edges that a check
 * lacks: no sum changes them, so nothing asks whether an edge is there. Each check reads
 * where its bits are from a table, for which one entry serves both codewords. The table
 * is in the L1 and L2 caches, as are the messages, which are kept compressed; both are
 * fetched a step ahead. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_ANY_PAIRS_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_ANY_PAIRS_CUH

#include "cuda_chain_entries.cuh"
#include "cuda_pairs.cuh"

namespace gr::gpufec::ldpc {
namespace device {

struct any_table {
    //! Two without units after the last.
    struct alignas(8) step {
        // From the highest bit: units, one for each warp from the first on; whether it
        // begins a layer, and whether its degree is that of the step before; that
        // degree, for which there is code.
        static constexpr unsigned units_at = 24, barrier_at = 9, same_at = 8;
        std::uint32_t first; //!< unit
        std::uint32_t head;

        __host__ __device__ unsigned units() const { return head >> units_at; }
        __host__ __device__ bool barrier() const { return head >> barrier_at & 1; }
        __host__ __device__ bool same() const { return head >> same_at & 1; }
        __host__ __device__ unsigned degree() const { return head & 0xffu; }
    };
    const std::uint32_t* places; //!< of a unit's edges, two in a word
    const step* steps;
    std::uint32_t step_count;
    std::uint32_t n;           //!< bits
    std::uint32_t spare_place; //!< the first behind them
    std::uint32_t words;       //!< of posteriors and what is behind them
    std::uint32_t unit_count;
};

namespace any_pairs {

using pairs::all;
using pairs::bits;
using pairs::value_of;

constexpr unsigned lanes = 32;     // checks of a unit
constexpr unsigned flag_words = 4; // the pair at hand; violated checks
constexpr std::uint32_t infinite = 0x7c007c00u;

// Words of a check's messages, and of the places of its edges, in a kernel for as many.
__host__ __device__ constexpr unsigned message_words(unsigned most)
{
    return (most + 7) / 8 + 1;
}
__host__ __device__ constexpr unsigned place_words(unsigned most)
{
    return (most + 1) / 2;
}
// The places of a lane are in vectors of four words, and after those of all lanes the
// one or two words that are left.
__host__ __device__ constexpr unsigned
place_at(unsigned most, unsigned word, unsigned lane)
{
    const unsigned rest = place_words(most) % 4, vectors = place_words(most) - rest;
    return word < vectors ? word / 4 * 4 * lanes + 4 * lane + word % 4
                          : vectors * lanes + rest * lane + word - vectors;
}

// There is code for some degrees in a kernel, and others are filled up to the next.
__host__ __device__ constexpr unsigned padded_degree(unsigned degree, unsigned most)
{
    return most == 8    ? degree < 3 ? 3 : degree
           : most <= 12 ? degree <= 4   ? 4
                          : degree <= 8 ? (degree + 1) / 2 * 2
                                        : degree
           : most == 20 ? degree <= 8    ? 8
                          : degree <= 12 ? 12
                                         : (degree + 1) / 2 * 2
                        : (degree + 7) / 8 * 8;
}

// A pointer that the compiler does not make anew, as kept_in_register().
template <class T>
__device__ T* kept(T* pointer)
{
    const auto x = reinterpret_cast<std::uintptr_t>(pointer);
    const auto high = kept_in_register(std::uint32_t(std::uint64_t(x) >> 32));
    return reinterpret_cast<T*>(
        std::uintptr_t(std::uint64_t(high) << 32 | kept_in_register(std::uint32_t(x))));
}

// Most: edges of a check.
template <unsigned Most>
class decoder
{
    static constexpr unsigned parts = message_words(Most) - 1;
    static constexpr unsigned rest = place_words(Most) % 4;
    static constexpr unsigned vectors = place_words(Most) / 4;
    static_assert(rest != 3, "a lane's words of places in vectors");

    // What a lane needs for its check in a step: messages, magnitudes first, and places.
    struct fetched {
        std::uint32_t* state;
        std::uint32_t word[parts + 1];
        std::uint32_t place[place_words(Most)];
    };

public:
    __device__ decoder(const any_table& table, const pair_arguments& a)
        : d_table(table),
          d_args(a),
          d_j(kept_in_register(threadIdx.x)),
          d_below(kept_in_register(threadIdx.x / lanes << any_table::step::units_at |
                                   ((1u << any_table::step::units_at) - 1))),
          d_begin(kept_in_each(shared_begin())),
          d_constants(a)
    {
        auto* const words = shared_words();
        using step = any_table::step;
        d_steps = reinterpret_cast<const step*>(words + table.words);
        auto* const steps = reinterpret_cast<step*>(words + table.words);
        d_flags = reinterpret_cast<std::uint32_t*>(steps + table.step_count + 2);
        for (unsigned i = d_j; i < table.step_count + 2; i += blockDim.x) {
            steps[i] = table.steps[i];
        }
        for (unsigned i = table.spare_place + d_j; i < table.words; i += blockDim.x) {
            words[i] = infinite;
        }
        const unsigned lane = d_j % lanes, warp = d_j / lanes;
        d_block_state = a.state + std::size_t(blockIdx.x) * table.unit_count * unit_words;
        d_state = kept(d_block_state + warp * unit_words + 2 * lane);
        d_after = 2 * lanes - lane;
        const auto* const places = table.places + warp * lanes * place_words(Most);
        d_vectors = kept(places + place_at(Most, 0, lane));
        d_rest = kept(places + place_at(Most, 4 * vectors, lane));
    }

    // Blocks stay, and count the pairs that they take.
    __device__ void run()
    {
        for (;;) {
            __syncthreads();
            if (d_j == 0) {
                d_flags[0] = atomicAdd(d_args.taken, d_args.at_once);
            }
            __syncthreads();
            const unsigned first = agreed(d_flags[0]);
            if (first >= d_args.frames.count) {
                return;
            }
            const bool both = d_args.at_once == 2 && first + 1 < d_args.frames.count;
            decode(first, both ? 3 : 1);
        }
    }

private:
    static constexpr unsigned unit_words = lanes * message_words(Most);

    // \p active: which codewords of the pair are not done.
    __device__ void decode(std::uint32_t first, unsigned active)
    {
        const frame_place frame[2] = { d_args.frames.table[first],
                                       d_args.frames.table[first + active / 2] };
        load(d_args.frames.input + frame[0].input, d_args.frames.input + frame[1].input);
        __syncthreads();
        for (std::uint32_t i = 1;; ++i) {
            iterate();
            if (d_args.stop.early_stop) {
                const auto valid = agreed(satisfied(active));
                for (unsigned w = 0; w < 2; ++w) {
                    if (valid >> w & 1) {
                        finish(w, frame[w], i, 0);
                    }
                }
                active &= ~valid;
                if (active == 0) {
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
            for (unsigned i = 4 * d_j; i < d_table.n; i += 4 * blockDim.x) {
                const auto x = reinterpret_cast<const uint4*>(shared_words())[i / 4];
                const float four[] = { pairs::of_codeword(x.x, w),
                                       pairs::of_codeword(x.y, w),
                                       pairs::of_codeword(x.z, w),
                                       pairs::of_codeword(x.w, w) };
                llrs.write_four<std::int8_t>(i, four);
            }
        }
        __syncthreads(); // the other codeword may go on, and this one's posteriors with
                         // it
    }

    // Four bits at a time; input is padded to whole vectors.
    __device__ void load(const std::uint8_t* a, const std::uint8_t* b)
    {
        const auto* const from = reinterpret_cast<const std::uint32_t*>(a);
        const auto* const and_from = reinterpret_cast<const std::uint32_t*>(b);
        constexpr unsigned together = 4; // so that many loads are on their way
        const unsigned count = (d_table.n + 3) / 4;
        for (unsigned i = d_j; i < count; i += together * blockDim.x) {
            std::uint32_t x[together], y[together];
#pragma unroll
            for (unsigned k = 0; k < together; ++k) {
                const auto at = min(i + k * blockDim.x, count - 1);
                x[k] = __ldcs(from + at);
                y[k] = __ldcs(and_from + at);
            }
#pragma unroll
            for (unsigned k = 0; k < together; ++k) {
                if (i + k * blockDim.x < count) {
                    reinterpret_cast<uint4*>(shared_words())[i + k * blockDim.x] =
                        pairs::four_posteriors(d_constants, x[k], y[k]);
                }
            }
        }
        for (unsigned i = d_j; i < d_table.unit_count * unit_words / 4; i += blockDim.x) {
            __stcg(reinterpret_cast<uint4*>(d_block_state) + i, make_uint4(0, 0, 0, 0));
        }
    }

    // Ahead by units of so many words, in one instruction.
    template <class T>
    __device__ static T* ahead(T* from, unsigned units, unsigned words)
    {
        return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(from) +
                                    std::uint64_t(units) * (words * sizeof(T)));
    }
    __device__ void fetch_places(const any_table::step& step,
                                 std::uint32_t (&place)[place_words(Most)]) const
    {
        const auto* const from = ahead(d_vectors, step.first, lanes * place_words(Most));
#pragma unroll
        for (unsigned v = 0; v < vectors; ++v) {
            const auto four = __ldg(reinterpret_cast<const uint4*>(from + v * 4 * lanes));
            place[4 * v] = four.x;
            place[4 * v + 1] = four.y;
            place[4 * v + 2] = four.z;
            place[4 * v + 3] = four.w;
        }
        const auto* const after = ahead(d_rest, step.first, lanes * place_words(Most));
        if constexpr (rest == 2) {
            const auto two = __ldg(reinterpret_cast<const uint2*>(after));
            place[4 * vectors] = two.x;
            place[4 * vectors + 1] = two.y;
        } else if constexpr (rest == 1) {
            place[4 * vectors] = __ldg(after);
        }
    }
    // Of an edge, from its word in the table.
    __device__ std::uint32_t address(std::uint32_t two, unsigned which) const
    {
        return __dp2a_lo(two, which ? 0x0400u : 0x0004u, d_begin);
    }

    // Whether the warp has a unit in a step.
    __device__ bool takes_part(const any_table::step& step) const
    {
        return d_below < step.head;
    }
    __device__ void fetch(const any_table::step& step, fetched& f) const
    {
        f.state = ahead(d_state, step.first, unit_words);
        if (takes_part(step)) {
            const auto two = __ldcg(reinterpret_cast<const uint2*>(f.state));
            f.word[0] = two.x;
            f.word[1] = two.y;
#pragma unroll
            for (unsigned w = 2; w <= parts; ++w) {
                f.word[w] = __ldcg(f.state + (w - 2) * lanes + d_after);
            }
            fetch_places(step, f.place);
        }
    }

    __device__ void iterate()
    {
        fetched f;
        upcoming c{ d_steps, d_steps[0], d_steps[1] };
        fetch(c.step, f);
        while (c.step.units() > 0) {
            switch (c.step.degree()) {
#define GPUFEC_DEGREE(D)                                          \
    case D:                                                       \
        if constexpr (D <= Most && padded_degree(D, Most) == D) { \
            steps<D>(c, f);                                       \
        }                                                         \
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
                GPUFEC_DEGREE(12)
                GPUFEC_DEGREE(14)
                GPUFEC_DEGREE(16)
                GPUFEC_DEGREE(18)
                GPUFEC_DEGREE(20)
                GPUFEC_DEGREE(24)
                GPUFEC_DEGREE(32)
#undef GPUFEC_DEGREE
            }
        }
        __syncthreads();
    }

    // The step to do, and the one after it, which is read ahead too.
    struct upcoming {
        const any_table::step* at;
        any_table::step step, next;
    };

    // Those that follow each other with one degree.
    template <unsigned Degree>
    __device__ void steps(upcoming& c, fetched& f)
    {
        do {
            const auto step = c.step;
            c.step = c.next;
            c.next = (++c.at)[1];
            checks<Degree>(step, c.step, f);
        } while (c.step.same());
    }

    // Of a step; what comes is fetched when it is known where this one's bits are.
    template <unsigned Degree>
    __device__ void
    checks(const any_table::step& step, const any_table::step& coming, fetched& f)
    {
        using messages = pairs::messages<Degree>;
        messages m;
        m.word[messages::parts - 1] = 0;
#pragma unroll
        for (unsigned w = 0; w < (Degree + 7) / 8; ++w) {
            m.word[w] = f.word[w + 1];
        }
        m.word[messages::parts] = f.word[0];
        std::uint32_t at[Degree];
#pragma unroll
        for (unsigned e = 0; e < Degree; ++e) {
            at[e] = address(f.place[e / 2], e % 2);
        }
        auto* const to = f.state;
        fetch(coming, f);
        if (step.barrier()) {
            __syncthreads();
        }
        if (!takes_part(step)) {
            return;
        }
        half2 t[Degree];
#pragma unroll
        for (unsigned e = 0; e < Degree; ++e) {
            t[e] = value_of(get_shared(at[e]));
        }
        const half2 least = m.least(d_constants), second = m.second(d_constants);
#pragma unroll
        for (unsigned e = 0; e < Degree; ++e) {
            t[e] = m.without(t[e], e, least, second);
        }
        const auto heard = pairs::least_of(t);
        pairs::renewal<Degree> renewed(heard.least, heard.second, d_args, d_constants);
#pragma unroll
        for (unsigned e = 0; e < Degree; ++e) {
            set_shared(at[e], bits(renewed.posterior(e, t[e])));
        }
        renewed.finish(all(0));
        const auto& fresh = renewed.fresh.word;
        __stcg(reinterpret_cast<uint2*>(to),
               make_uint2(fresh[messages::parts], fresh[0]));
#pragma unroll
        for (unsigned w = 1; w < (Degree + 7) / 8; ++w) {
            __stcg(to + (w - 1) * lanes + d_after, fresh[w]);
        }
    }

    // Signs of what the bits of this lane's check in a step sum to.
    __device__ std::uint32_t sum_of(const any_table::step& step) const
    {
        std::uint32_t sum = 0;
        if (takes_part(step)) {
            std::uint32_t place[place_words(Most)];
            fetch_places(step, place);
#pragma unroll
            for (unsigned e = 0; e < Most; ++e) { // what is lacking is positive
                sum ^= get_shared(address(place[e / 2], e % 2));
            }
        }
        return sum & pairs::signs;
    }

    // Which of the codewords in \p candidates satisfy every check.
    __device__ unsigned satisfied(unsigned candidates) const
    {
        // The first step alone says no where there is still much to correct.
        for (unsigned s = 0, end = 1; s < d_table.step_count;
             end = min(end + 12, d_table.step_count)) {
            std::uint32_t sum = 0;
            for (; s < end; ++s) {
                sum |= sum_of(d_steps[s]);
            }
            if (__syncthreads_or(sum & 0x8000u)) {
                candidates &= ~1u;
            }
            if (__syncthreads_or(sum >> 16)) {
                candidates &= ~2u;
            }
            if (candidates == 0) {
                break;
            }
        }
        return candidates;
    }

    // Of both codewords, in half words.
    __device__ std::uint32_t count_violated()
    {
        if (d_j == 0) {
            d_flags[1] = 0;
        }
        __syncthreads();
        std::uint32_t count = 0;
        for (unsigned s = 0; s < d_table.step_count; ++s) {
            count += sum_of(d_steps[s]) >> 15;
        }
        if (count) {
            atomicAdd(d_flags + 1, count);
        }
        __syncthreads();
        return d_flags[1];
    }

    // Packs signs of codeword w, first bit most significant; a warp those of a word.
    __device__ void write_decisions(unsigned w, std::uint8_t* output) const
    {
        const unsigned out_bits = d_args.stop.out_bits;
        for (unsigned i = d_j; i < (out_bits + 31) / 32 * 32; i += blockDim.x) {
            const auto negative = shared_words()[i] >> (w ? 31 : 15) & 1;
            const auto all = __ballot_sync(~0u, i < out_bits && negative);
            if (i % 32 == 0) {
                reinterpret_cast<std::uint32_t*>(output)[i / 32] =
                    __byte_perm(__brev(all), 0, 0x0123);
            }
        }
    }

    const any_table& d_table;
    const pair_arguments& d_args;
    const unsigned d_j;
    const std::uint32_t d_below; // the head of a step with a unit for the warp
    const std::uint32_t d_begin; // address of shared memory
    const pairs::constants d_constants;
    const any_table::step* d_steps;
    std::uint32_t* d_flags;
    std::uint32_t* d_block_state;
    // Of the lane, in the warp's unit of a step that begins with the first: its messages,
    // and words from there on to the third of them; its places, and the last of these.
    std::uint32_t* d_state;
    unsigned d_after;
    const std::uint32_t *d_vectors, *d_rest;
};

template <unsigned Most, unsigned Threads>
__global__ void __launch_bounds__(Threads, 1)
    decode_any(const __grid_constant__ any_table table,
               const __grid_constant__ pair_arguments arguments)
{
#if __CUDA_ARCH__ >= 800 || defined(GPUFEC_EMULATED)
    decoder<Most>(table, arguments).run();
#endif
}

} // namespace any_pairs
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_ANY_PAIRS_CUH */
