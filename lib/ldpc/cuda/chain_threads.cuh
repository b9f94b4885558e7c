// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The threads of a block that decodes codes with a parity chain, and their barriers. A
 * thread updates one or two checks of each layer. If a code has two chains of layers,
 * each chain has its own threads. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_CHAIN_THREADS_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_CHAIN_THREADS_CUH

#include "block_slots.cuh"
#include "ldpc/model/chain_table.h"
#include <cuda_runtime.h>

namespace gr::gpufec::ldpc {
namespace device {

// The flags of a layer's head that concern barriers and writes.
struct layer_flags {
    bool barrier, phase, shares, last_of_phase;

    __device__ layer_flags(std::uint32_t head)
        : barrier(head & chain_table::barrier),
          phase(head & chain_table::phase),
          shares(head & chain_table::shares),
          last_of_phase(head & chain_table::last_of_phase)
    {
    }
    // Reads the flags as signs and highest exponent bits of two 16-bit floats. This needs
    // one instruction for two flags, while the compiler generates three for each flag.
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

// The threads of a block's chains; \p PerChain threads of a chain have a check.
template <unsigned Chains, unsigned PerChain = chain_table::group>
class chain_threads
{
public:
    //! Threads per chain. With two chains this is a number of whole warps, because
    //! numbered barriers count whole warps.
    static constexpr unsigned pitch = Chains > 1 ? (PerChain + 31) / 32 * 32 : PerChain;
    static constexpr unsigned count = pitch * Chains;

    const unsigned number;
    const unsigned chain; //!< chain of the thread, equal for all threads of a warp; see
                          //!< warp_uniform()
    const unsigned j;     //!< index of the thread's check in a layer; at least PerChain
                          //!< if the thread has no check

    __device__ chain_threads()
        : number(threadIdx.x),
          chain(Chains > 1 ? warp_uniform(threadIdx.x / pitch) : 0),
          j(kept_in_register(threadIdx.x - pitch * chain)),
          d_barrier(as_nonuniform(chain + 1)),
          d_phase(as_nonuniform(first_phase + chain)),
          d_phase_of_other(as_nonuniform(first_phase + 1 - chain))
    {
        make_barriers();
    }
    //! Returns whether the thread has a check. Threads without a check fill up the last
    //! warp of a chain and run the same code on spare words.
    __device__ bool has_check() const { return Chains == 1 || j < PerChain; }

    //! Words of shared memory that threads without a check use in place of posteriors.
    static constexpr unsigned spare_words = Chains * (pitch - PerChain);
    //! Returns the index of the thread's spare word, if it has no check.
    __device__ unsigned spare() const
    {
        return chain * (pitch - PerChain) + j - PerChain;
    }

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
    //! If the layer is the last of a phase, signals the other chain that the posteriors
    //! of the layer's message bits are written. The layer's parity bits may be written
    //! later, because the other chain uses these bits only some phases later.
    __device__ void written(const layer_flags& layer, bool device_memory = false)
    {
        if (Chains > 1 && layer.last_of_phase) {
            if (device_memory) {
                __threadfence_block(); // arriving orders accesses to shared memory only
            }
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
    // Numbered barriers. Unlike with __syncthreads(), threads at different places in the
    // program can wait at the same barrier. A chain arrives at the other chain's barrier
    // at the end of a phase, and waits at its own barrier before the next phase. Each
    // chain alternates between two barriers, because the other chain may arrive for the
    // next phase before all threads of this chain have left the barrier of this phase.
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
    // Barrier objects in shared memory. The racecheck tool of compute-sanitizer supports
    // barrier objects, but not numbered barriers for a part of a block.
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
    mutable std::uint32_t d_waited = 0; // bit b: number of waits at barrier b, modulo 2
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

    const std::uint32_t d_barrier; // number of the chain's own barrier
    // Numbers of the barriers between phases: the chain waits at d_phase and arrives at
    // d_phase_of_other.
    std::uint32_t d_phase, d_phase_of_other;
};

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_CHAIN_THREADS_CUH */
