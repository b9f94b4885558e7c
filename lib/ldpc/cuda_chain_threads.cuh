// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The threads of a block that decodes codes with a parity chain: one for each check of a
 * layer, of two chains of layers twice, and their barriers. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_CHAIN_THREADS_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_CHAIN_THREADS_CUH

#include "chain_table.h"
#include "cuda_block_slots.cuh"
#include <cuda_runtime.h>

namespace gr::gpufec::ldpc {
namespace device {

template <unsigned Chains>
class chain_threads
{
    static constexpr unsigned group = chain_table::group;

public:
    //! Of a chain: with two, all of a warp, so that they meet at barriers.
    static constexpr unsigned pitch = Chains > 1 ? (group + 31) / 32 * 32 : group;
    static constexpr unsigned count = pitch * Chains;

    const unsigned number;
    const unsigned chain; //!< the same in a warp, as the compiler knows
    const unsigned j;     //!< check of a layer, if it has one

    __device__ chain_threads()
        : number(threadIdx.x),
          chain(Chains > 1 ? agreed(threadIdx.x / pitch) : 0),
          j(kept_in_register(threadIdx.x - pitch * chain)),
          d_barrier(kept_in_each(chain + 1))
    {
    }
    //! Whether there is a check j. A thread without one does what the others do, with
    //! memory of its own.
    __device__ bool has_check() const { return Chains == 1 || j < group; }

    //! Words of shared memory that take the place of their posteriors.
    static constexpr unsigned spare_words = Chains * (pitch - group);
    //! Of the thread's, if it has no check.
    __device__ unsigned spare() const { return chain * (pitch - group) + j - group; }

    //! The barriers before a layer of that head.
    __device__ void wait_before(std::uint32_t head) const
    {
        if (Chains > 1 && (head & chain_table::phase)) {
            wait_for_all();
        }
        if (head & chain_table::barrier) {
            wait_for_chain();
        }
    }
    __device__ void wait_for_chain() const
    {
        if constexpr (Chains == 1) {
            __syncthreads();
        } else {
#ifdef GPUFEC_EMULATED
            emulated_barrier(pitch);
#else
            asm volatile("bar.sync %0, %1;" ::"r"(d_barrier), "n"(pitch) : "memory");
#endif
        }
    }

private:
    // Other than __syncthreads(), it need not be one place in the program.
    __device__ static void wait_for_all()
    {
#ifdef GPUFEC_EMULATED
        __syncthreads();
#else
        asm volatile("bar.sync 3, %0;" ::"n"(count) : "memory");
#endif
    }

    const std::uint32_t d_barrier; // of the chain
};

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_CHAIN_THREADS_CUH */
