// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Layered min-sum in int8 for codes without structure. A thread block decodes up to two
 * codewords in the halves of a half2, with the arithmetic of dvb_int8x2.
 *
 * A layer is divided into units of up to 32 checks, one for each lane of a warp. In a
 * step, each warp of the block processes at most one unit.
 *
 * The place of a bit is the index of its posterior. The first places are in shared
 * memory, up to its capacity. Spare places follow, which missing edges of checks use.
 * Their posteriors are infinite, so that messages do not change them and missing edges
 * need no test. The places of the last bits are in device memory. Each check reads the
 * places of its bits from a table that both codewords share. The table and the compressed
 * messages are in device memory and its caches, and are fetched a step ahead. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_UNSTRUCTURED_INT8X2_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_UNSTRUCTURED_INT8X2_CUH

#include "chain_entries.cuh"
#include "ldpc/cuda/dvb_int8x2/check_node_update.cuh"
#include "soft_output.cuh"

namespace gr::gpufec::ldpc {
namespace device {

struct unstructured_table {
    //! A step of all warps. Two steps without units follow the last one, because kernels
    //! read ahead.
    struct alignas(8) step {
        // Fields of \c head from the highest bit: the number of units, each of which one
        // of the first warps processes; whether a layer begins; whether the preceding
        // step has the same degree; the padded degree.
        static constexpr unsigned units_at = 24, barrier_at = 9, same_at = 8;
        std::uint32_t first; //!< index of the first unit
        std::uint32_t head;

        __host__ __device__ unsigned units() const { return head >> units_at; }
        __host__ __device__ bool barrier() const { return head >> barrier_at & 1; }
        __host__ __device__ bool same() const { return head >> same_at & 1; }
        __host__ __device__ unsigned degree() const { return head & 0xffu; }
    };
    const std::uint32_t* places; //!< places of edges, two per word
    const step* steps;
    std::uint32_t step_count;
    std::uint32_t n; //!< number of bits of a codeword
    //! Index of the first spare place, after the bits in shared memory.
    std::uint32_t spare_place;
    std::uint32_t words; //!< number of places in shared memory
    std::uint32_t unit_count;
    std::uint32_t block_words; //!< number of words of device memory of a block: messages,
                               //!< then posteriors
};

namespace unstructured_int8x2 {

using dvb_int8x2::all;
using dvb_int8x2::bits;
using dvb_int8x2::value_of;

constexpr unsigned lanes = 32;     // checks per unit
constexpr unsigned flag_words = 4; // index of the first codeword, count of violated
                                   // checks, and padding
constexpr std::uint32_t infinite = 0x7c007c00u;

// These functions return the number of words of a check's messages, and of the places of
// its edges, in a kernel for up to \p most edges.
__host__ __device__ constexpr unsigned message_words(unsigned most)
{
    return (most + 7) / 8 + 1;
}
__host__ __device__ constexpr unsigned place_words(unsigned most)
{
    return (most + 1) / 2;
}
// Returns the index of a word of places. The vectors of four words of all lanes come
// first, then the remaining one or two words of each lane.
__host__ __device__ constexpr unsigned
place_at(unsigned most, unsigned word, unsigned lane)
{
    const unsigned rest = place_words(most) % 4, vectors = place_words(most) - rest;
    return word < vectors ? word / 4 * 4 * lanes + 4 * lane + word % 4
                          : vectors * lanes + rest * lane + word - vectors;
}

// Returns the smallest degree that is at least \p degree and for which a kernel has
// unrolled code. Edges to spare places fill up the checks.
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

// Returns a pointer in a form that stays in registers, like kept_in_register().
template <class T>
__device__ T* in_registers(T* pointer)
{
    const auto x = reinterpret_cast<std::uintptr_t>(pointer);
    const auto high = kept_in_register(std::uint32_t(std::uint64_t(x) >> 32));
    return reinterpret_cast<T*>(
        std::uintptr_t(std::uint64_t(high) << 32 | kept_in_register(std::uint32_t(x))));
}

// MaxDegree: the largest degree of a check. External: some posteriors are in device
// memory.
template <unsigned MaxDegree, bool External>
class unstructured_kernel
{
    static constexpr unsigned parts = message_words(MaxDegree) - 1;
    static constexpr unsigned rest = place_words(MaxDegree) % 4;
    static constexpr unsigned vectors = place_words(MaxDegree) / 4;
    static_assert(rest != 3,
                  "at most two words of places remain outside the vectors of a lane");

    // A lane's data for its check in a step: the words of its messages, with the
    // magnitudes first, and the words of its places.
    struct fetched {
        std::uint32_t* state;
        std::uint32_t word[parts + 1];
        std::uint32_t place[place_words(MaxDegree)];
    };

public:
    __device__ unstructured_kernel(const unstructured_table& table,
                                   const int8x2_arguments& a)
        : d_table(table),
          d_args(a),
          d_j(kept_in_register(threadIdx.x)),
          d_below(
              kept_in_register(threadIdx.x / lanes << unstructured_table::step::units_at |
                               ((1u << unstructured_table::step::units_at) - 1))),
          d_begin(as_nonuniform(shared_begin())),
          d_constants(a)
    {
        auto* const words = shared_words();
        using step = unstructured_table::step;
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
        d_block_state = a.state + std::size_t(blockIdx.x) * table.block_words;
        d_external = reinterpret_cast<std::uintptr_t>(d_block_state +
                                                      table.unit_count * unit_words) -
                     shared_begin() - 4 * table.words;
        // Stores use this copy of d_external. With one variable for loads and stores, the
        // compiler would keep all addresses from the loads until the stores and spill
        // registers.
        d_external_store = reinterpret_cast<std::uintptr_t>(
            in_registers(reinterpret_cast<std::uint32_t*>(d_external)));
        d_state = in_registers(d_block_state + warp * unit_words + 2 * lane);
        d_after = 2 * lanes - lane;
        const auto* const places = table.places + warp * lanes * place_words(MaxDegree);
        d_vectors = in_registers(places + place_at(MaxDegree, 0, lane));
        d_rest = in_registers(places + place_at(MaxDegree, 4 * vectors, lane));
    }

    // Decodes one or two codewords at a time. The resident blocks share a counter, which
    // assigns the next codewords to each block that is free.
    __device__ void run()
    {
        for (;;) {
            __syncthreads();
            if (d_j == 0) {
                d_flags[0] = atomicAdd(d_args.taken, d_args.codewords_per_word);
            }
            __syncthreads();
            const unsigned first = warp_uniform(d_flags[0]);
            if (first >= d_args.frames.count) {
                return;
            }
            const bool both =
                d_args.codewords_per_word == 2 && first + 1 < d_args.frames.count;
            decode(first, both ? 3 : 1);
        }
    }

private:
    static constexpr unsigned unit_words = lanes * message_words(MaxDegree);

    // Decodes the codewords in the bit mask \p active. Bit 0 selects codeword \p first,
    // and bit 1 selects the next codeword.
    __device__ void decode(std::uint32_t first, unsigned active)
    {
        const frame_place frame[2] = { d_args.frames.table[first],
                                       d_args.frames.table[first + active / 2] };
        load(d_args.frames.input + frame[0].input, d_args.frames.input + frame[1].input);
        __syncthreads();
        for (std::uint32_t i = 1;; ++i) {
            iterate();
            if (d_args.stop.early_stop) {
                const auto valid = warp_uniform(satisfied(active));
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
            const soft_writer llrs(d_args.frames, frame, d_args.stop, dvb_int8x2::unit);
            for (unsigned i = 4 * d_j; i < d_table.n; i += 4 * blockDim.x) {
                const auto x = *reinterpret_cast<const uint4*>(posteriors_from(i));
                const float four[] = { dvb_int8x2::of_codeword(x.x, w),
                                       dvb_int8x2::of_codeword(x.y, w),
                                       dvb_int8x2::of_codeword(x.z, w),
                                       dvb_int8x2::of_codeword(x.w, w) };
                llrs.write_four<std::int8_t>(i, four);
            }
        }
        // Waits until all threads have read the posteriors of this codeword. These
        // posteriors change again if the other codeword is not finished.
        __syncthreads();
    }

    // Loads the channel values of both codewords, four bits at a time, and clears all
    // messages. Input is padded to whole vectors.
    __device__ void load(const std::uint8_t* a, const std::uint8_t* b)
    {
        const auto* const from = reinterpret_cast<const std::uint32_t*>(a);
        const auto* const and_from = reinterpret_cast<const std::uint32_t*>(b);
        constexpr unsigned together = 4; // number of loads in flight
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
                    *reinterpret_cast<uint4*>(posteriors_from(4 * (i + k * blockDim.x))) =
                        dvb_int8x2::four_posteriors(d_constants, x[k], y[k]);
                }
            }
        }
        for (unsigned i = d_j; i < d_table.unit_count * unit_words / 4; i += blockDim.x) {
            __stcg(reinterpret_cast<uint4*>(d_block_state) + i, make_uint4(0, 0, 0, 0));
        }
    }

    // Returns \p from advanced by \p units · \p words words, computed in one instruction.
    template <class T>
    __device__ static T* ahead(T* from, unsigned units, unsigned words)
    {
        return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(from) +
                                    std::uint64_t(units) * (words * sizeof(T)));
    }
    __device__ void fetch_places(const unstructured_table::step& step,
                                 std::uint32_t (&place)[place_words(MaxDegree)]) const
    {
        const auto* const from =
            ahead(d_vectors, step.first, lanes * place_words(MaxDegree));
#pragma unroll
        for (unsigned v = 0; v < vectors; ++v) {
            const auto four = __ldg(reinterpret_cast<const uint4*>(from + v * 4 * lanes));
            place[4 * v] = four.x;
            place[4 * v + 1] = four.y;
            place[4 * v + 2] = four.z;
            place[4 * v + 3] = four.w;
        }
        const auto* const after =
            ahead(d_rest, step.first, lanes * place_words(MaxDegree));
        if constexpr (rest == 2) {
            const auto two = __ldg(reinterpret_cast<const uint2*>(after));
            place[4 * vectors] = two.x;
            place[4 * vectors + 1] = two.y;
        } else if constexpr (rest == 1) {
            place[4 * vectors] = __ldg(after);
        }
    }
    // Returns the address of an edge's posterior, from the edge's word in the table.
    // Addresses past the end of shared memory refer to words in device memory.
    __device__ std::uint32_t address(std::uint32_t two, unsigned which) const
    {
        return __dp2a_lo(two, which ? 0x0400u : 0x0004u, d_begin);
    }
    __device__ std::uint32_t end_of_shared() const { return d_begin + 4 * d_table.words; }
    __device__ std::uint32_t* external(std::uint32_t address) const
    {
        return reinterpret_cast<std::uint32_t*>(d_external + address);
    }
    // Returns the posterior at an address. Predicates choose the memory, because branches
    // would keep loads from overlapping. Only one of the loads is executed. x is set to 0
    // so that the compiler need not preserve an earlier value of the register.
    __device__ std::uint32_t get(std::uint32_t address) const
    {
        if constexpr (!External) {
            return get_shared(address);
        } else {
#ifdef __CUDA_ARCH__
            std::uint32_t x = 0;
            asm volatile("{\n"
                         ".reg .pred s;\n"
                         ".reg .u64 a;\n"
                         "setp.lt.u32 s, %1, %2;\n"
                         "@s ld.shared.u32 %0, [%1];\n"
                         "cvt.u64.u32 a, %1;\n"
                         "add.u64 a, a, %3;\n"
                         "@!s ld.global.u32 %0, [a];\n"
                         "}"
                         : "+r"(x)
                         : "r"(address), "r"(end_of_shared()), "l"(d_external));
            return x;
#else
            return address < end_of_shared() ? get_shared(address) : *external(address);
#endif
        }
    }
    // Sets a posterior. The kernel with posteriors in device memory does not write spare
    // places.
    __device__ void set(std::uint32_t address, std::uint32_t x) const
    {
        if constexpr (!External) {
            set_shared(address, x);
        } else {
#ifdef __CUDA_ARCH__
            asm volatile("{\n"
                         ".reg .pred s, d;\n"
                         ".reg .u64 a;\n"
                         "setp.lt.u32 s, %1, %4;\n"
                         "setp.ge.u32 d, %1, %2;\n"
                         "@s st.shared.u32 [%1], %0;\n"
                         "cvt.u64.u32 a, %1;\n"
                         "add.u64 a, a, %3;\n"
                         "@d st.global.u32 [a], %0;\n"
                         "}" ::"r"(x),
                         "r"(address),
                         "r"(end_of_shared()),
                         "l"(d_external_store),
                         "r"(d_begin + 4 * d_table.spare_place));
#else
            if (address < d_begin + 4 * d_table.spare_place) {
                set_shared(address, x);
            } else if (address >= end_of_shared()) {
                *external(address) = x;
            }
#endif
        }
    }
    // Returns a pointer to the posterior of \p bit and, if \p bit is a multiple of four,
    // of the next three bits.
    __device__ std::uint32_t* posteriors_from(unsigned bit) const
    {
        return !External || bit < d_table.spare_place
                   ? shared_words() + bit
                   : d_block_state + d_table.unit_count * unit_words +
                         (bit - d_table.spare_place);
    }

    // Returns whether the warp has a unit in a step.
    __device__ bool takes_part(const unstructured_table::step& step) const
    {
        return d_below < step.head;
    }
    __device__ void fetch(const unstructured_table::step& step, fetched& f) const
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
#define GPUFEC_DEGREE(D)                                                    \
    case D:                                                                 \
        if constexpr (D <= MaxDegree && padded_degree(D, MaxDegree) == D) { \
            steps<D>(c, f);                                                 \
        }                                                                   \
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

    // The current step and the next one, which is read ahead.
    struct upcoming {
        const unstructured_table::step* at;
        unstructured_table::step step, next;
    };

    // Processes successive steps of the same degree.
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

    // Processes the checks of a step. The next step is fetched once the addresses of
    // the bits of this step are known.
    template <unsigned Degree>
    __device__ void checks(const unstructured_table::step& step,
                           const unstructured_table::step& coming,
                           fetched& f)
    {
        using messages = dvb_int8x2::messages<Degree>;
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
            t[e] = value_of(get(at[e]));
        }
        const half2 first = m.first(d_constants), second = m.second(d_constants);
#pragma unroll
        for (unsigned e = 0; e < Degree; ++e) {
            t[e] = m.variable_to_check(t[e], e, first, second);
        }
        const auto minima = dvb_int8x2::min1_of(t);
        dvb_int8x2::check_node_update<Degree> updated(
            minima.min1, minima.min2, d_args, d_constants);
#pragma unroll
        for (unsigned e = 0; e < Degree; ++e) {
            set(at[e], bits(updated.posterior(e, t[e])));
        }
        updated.finish(all(0));
        const auto& fresh = updated.fresh.word;
        __stcg(reinterpret_cast<uint2*>(to),
               make_uint2(fresh[messages::parts], fresh[0]));
#pragma unroll
        for (unsigned w = 1; w < (Degree + 7) / 8; ++w) {
            __stcg(to + (w - 1) * lanes + d_after, fresh[w]);
        }
    }

    // Returns the parity of the lane's check in a step, in the sign bits.
    __device__ std::uint32_t sum_of(const unstructured_table::step& step) const
    {
        std::uint32_t sum = 0;
        if (takes_part(step)) {
            std::uint32_t place[place_words(MaxDegree)];
            fetch_places(step, place);
            // Spare places do not affect the signs, because their values are positive.
#pragma unroll
            for (unsigned e = 0; e < MaxDegree; ++e) {
                sum ^= get(address(place[e / 2], e % 2));
            }
        }
        return sum & dvb_int8x2::signs;
    }

    // Returns the codewords in the bit mask \p candidates that satisfy every check.
    __device__ unsigned satisfied(unsigned candidates) const
    {
        // The first step is tested alone, because a codeword with many errors nearly
        // always violates a check of that step.
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

    // Returns the numbers of violated checks of both codewords, in the halves of a word.
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

    // Writes the decisions of codeword w, first bit most significant. Each warp writes
    // one word at a time.
    __device__ void write_decisions(unsigned w, std::uint8_t* output) const
    {
        const unsigned out_bits = d_args.stop.out_bits;
        for (unsigned i = d_j; i < (out_bits + 31) / 32 * 32; i += blockDim.x) {
            const auto all = __ballot_sync(
                ~0u, i < out_bits && *posteriors_from(i) >> (w ? 31 : 15) & 1);
            if (i % 32 == 0) {
                reinterpret_cast<std::uint32_t*>(output)[i / 32] =
                    __byte_perm(__brev(all), 0, 0x0123);
            }
        }
    }

    const unstructured_table& d_table;
    const int8x2_arguments& d_args;
    const unsigned d_j;
    // Threshold of the warp: a step has a unit for the warp if and only if the head of
    // the step exceeds this number.
    const std::uint32_t d_below;
    const std::uint32_t d_begin; // address at which shared memory begins
    const dvb_int8x2::constants d_constants;
    const unstructured_table::step* d_steps;
    std::uint32_t* d_flags;
    std::uint32_t* d_block_state;
    // Distance from an address past the end of shared memory to its word in device
    // memory.
    std::uintptr_t d_external, d_external_store;
    // The lane's data in a step that begins with unit 0. d_state points to the messages,
    // whose third word is d_after words further. d_vectors and d_rest point to places.
    std::uint32_t* d_state;
    unsigned d_after;
    const std::uint32_t *d_vectors, *d_rest;
};

template <unsigned MaxDegree, unsigned Threads, bool External>
__global__ void __launch_bounds__(Threads, 1)
    decode_unstructured_int8x2(const __grid_constant__ unstructured_table table,
                               const __grid_constant__ int8x2_arguments arguments)
{
    unstructured_kernel<MaxDegree, External>(table, arguments).run();
}

} // namespace unstructured_int8x2
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_UNSTRUCTURED_INT8X2_CUH */
