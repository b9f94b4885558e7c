// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The threads of a block that decodes codes with a parity chain: one for each check of a
 * layer, or for two, of two chains of layers twice, and their barriers. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_CHAIN_THREADS_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_CHAIN_THREADS_CUH

#include "chain_table.h"
#include "cuda_block_slots.cuh"
#include <cuda_runtime.h>

namespace gr::gpufec::ldpc {
namespace device {

// What a layer's head says of barriers and of writes.
struct layer_flags {
    bool barrier, phase, shares, last_of_phase;

    __device__ layer_flags(std::uint32_t head)
        : barrier(head & chain_table::barrier),
          phase(head & chain_table::phase),
          shares(head & chain_table::shares),
          last_of_phase(head & chain_table::last_of_phase)
    {
    }
    // The same by the halves' signs and the highest bits of their exponents: two flags in
    // an instruction, where the compiler takes three for a bit of what a warp shares.
    __device__ static layer_flags of_halves(std::uint32_t head)
    {
        layer_flags f(head);
#ifdef __CUDA_ARCH__
        std::uint32_t flag[4];
        asm("{\n"
            ".reg .pred p, q;\n"
            ".reg .b32 x;\n"
            "setp.lt.f16x2 p|q, %4, %5;\n"
            "selp.u32 %0, 1, 0, p;\n"
            "selp.u32 %1, 1, 0, q;\n"
            "abs.f16x2 x, %4;\n"
            "setp.ge.f16x2 p|q, x, %6;\n"
            "selp.u32 %2, 1, 0, p;\n"
            "selp.u32 %3, 1, 0, q;\n"
            "}"
            : "=r"(flag[0]), "=r"(flag[1]), "=r"(flag[2]), "=r"(flag[3])
            : "r"(head), "r"(0), "r"(0x40004000));
        f.barrier = flag[0];
        f.phase = flag[1];
        f.shares = flag[2];
        f.last_of_phase = flag[3];
#endif
        return f;
    }
};

// Of a chain, \p Each have checks.
template <unsigned Chains, unsigned Each = chain_table::group>
class chain_threads
{
public:
    //! Of a chain: with two, all of a warp, so that they meet at barriers.
    static constexpr unsigned pitch = Chains > 1 ? (Each + 31) / 32 * 32 : Each;
    static constexpr unsigned count = pitch * Chains;

    const unsigned number;
    const unsigned chain; //!< the same in a warp, as the compiler knows
    const unsigned j;     //!< check of a layer, if it has one

    __device__ chain_threads()
        : number(threadIdx.x),
          chain(Chains > 1 ? agreed(threadIdx.x / pitch) : 0),
          j(kept_in_register(threadIdx.x - pitch * chain)),
          d_barrier(kept_in_each(chain + 1)),
          d_phase(kept_in_each(first_phase + chain)),
          d_phase_of_other(kept_in_each(first_phase + 1 - chain))
    {
        make_barriers();
    }
    //! Whether there is a check j. A thread without one does what the others do, with
    //! memory of its own.
    __device__ bool has_check() const { return Chains == 1 || j < Each; }

    //! Words of shared memory that take the place of their posteriors.
    static constexpr unsigned spare_words = Chains * (pitch - Each);
    //! Of the thread's, if it has no check.
    __device__ unsigned spare() const { return chain * (pitch - Each) + j - Each; }

    //! The barriers before a layer.
    __device__ void wait_before(const layer_flags& layer)
    {
        if (Chains > 1 && layer.phase) {
            sync<count>(d_phase);
            d_phase ^= next_phase;
        }
        if (layer.barrier) {
            wait_for_chain();
        }
    }
    //! When all posteriors of a layer are written, but for those of parity bits, which
    //! the other chain uses phases later.
    __device__ void written(const layer_flags& layer)
    {
        if (Chains > 1 && layer.last_of_phase) {
            arrive<count>(d_phase_of_other);
            d_phase_of_other ^= next_phase;
        }
    }
    __device__ void wait_for_chain() const
    {
        if constexpr (Chains == 1) {
            __syncthreads();
        } else {
            sync<pitch>(d_barrier);
        }
    }

private:
    // Barriers with numbers: other than __syncthreads(), these need not be one place in
    // the program, unless all of a block wait there. So a chain says to the other one at
    // the end of a phase that it has written, and waits before the next. There it has two
    // in turn, since the other one may arrive for the next before all of this one have
    // left the last.
    static constexpr std::uint32_t first_phase = 4, next_phase = 2;

#if defined(GPUFEC_EMULATED)
    template <unsigned Threads>
    __device__ static void sync(std::uint32_t barrier)
    {
        emulated_sync(barrier, Threads);
    }
    template <unsigned Threads>
    __device__ static void arrive(std::uint32_t barrier)
    {
        emulated_arrive(barrier, Threads);
    }
    __device__ static void make_barriers() {}
#elif defined(GPUFEC_CHECKED_BARRIERS)
    // As objects in shared memory, which compute-sanitizer's racecheck knows, as it does
    // not know barriers of some threads of a block.
    template <unsigned>
    __device__ void sync(std::uint32_t barrier) const
    {
        arrive<0>(barrier);
        std::uint32_t done = 0;
        while (!done) {
            asm volatile("{\n"
                         ".reg .pred p;\n"
                         "mbarrier.try_wait.parity.shared.b64 p, [%1], %2;\n"
                         "selp.u32 %0, 1, 0, p;\n"
                         "}"
                         : "=r"(done)
                         : "r"(object(barrier)), "r"(d_waited >> barrier & 1)
                         : "memory");
        }
        d_waited ^= 1u << barrier;
    }
    template <unsigned>
    __device__ static void arrive(std::uint32_t barrier)
    {
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(object(barrier))
                     : "memory");
    }
    __device__ void make_barriers() const
    {
        if (Chains > 1 && number < barriers) {
            const unsigned threads = number == 1 || number == 2 ? pitch : count;
            asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(object(number)),
                         "r"(threads));
        }
    }
    static constexpr unsigned barriers = 8;
    __device__ static std::uint32_t object(unsigned barrier)
    {
        __shared__ std::uint64_t objects[barriers];
        return std::uint32_t(__cvta_generic_to_shared(objects + barrier));
    }
    mutable std::uint32_t d_waited = 0; // at each, modulo two
#else
    template <unsigned Threads>
    __device__ static void sync(std::uint32_t barrier)
    {
        asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(Threads) : "memory");
    }
    template <unsigned Threads>
    __device__ static void arrive(std::uint32_t barrier)
    {
        asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(Threads) : "memory");
    }
    __device__ static void make_barriers() {}
#endif

    const std::uint32_t d_barrier;           // of the chain
    std::uint32_t d_phase, d_phase_of_other; // where it waits, and where it arrives
};

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_CHAIN_THREADS_CUH */
