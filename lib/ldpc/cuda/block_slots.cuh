// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What the blocks of a block_plan share. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_BLOCK_SLOTS_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_BLOCK_SLOTS_CUH

#include "cuda_block_plan.h"

namespace gr::gpufec::ldpc {
namespace device {

// x, which the compiler cannot make anew, and so keeps: what it would read again in a
// loop, there waits for whatever is being fetched.
__device__ inline std::uint32_t kept_in_register(std::uint32_t x)
{
#ifdef __CUDA_ARCH__
    return __shfl_xor_sync(__activemask(), x, 0);
#else
    return x;
#endif
}

// The same for what is equal in all threads, where the compiler is not to know that
// either: an instruction with such an operand has no room for a constant.
__device__ inline std::uint32_t kept_in_each(std::uint32_t x)
{
#ifdef __CUDA_ARCH__
    std::uint32_t lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return kept_in_register(x + lane / 32);
#else
    return x;
#endif
}

// A slot of the messages' memory that no other block has; for one thread.
__device__ inline unsigned take_slot(const block_arguments& a)
{
    unsigned i = blockIdx.x;
    if (gridDim.x > a.slots) { // what the last block here had is free, likely
#ifdef __CUDA_ARCH__
        asm volatile("mov.u32 %0, %%smid;" : "=r"(i));
#endif
        i = i * a.slots_each % a.slots;
    }
    while (atomicExch(a.taken + i, 1u)) {
        i = i + 1 < a.slots ? i + 1 : 0;
    }
    return i;
}

// What is the same in all of a warp, where the compiler would not know it.
__device__ inline unsigned agreed(unsigned x)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(~0u, x);
#else
    return x;
#endif
}

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_BLOCK_SLOTS_CUH */
