// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Helpers of the kernels that a persistent_grid launches: reservation of a slot, and
 * control over registers and uniform values. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_BLOCK_SLOTS_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_BLOCK_SLOTS_CUH

#include "persistent_grid.h"

namespace gr::gpufec::ldpc {
namespace device {

// Returns x in a form that the compiler cannot recompute, so that x stays in a register.
// Otherwise the compiler may read x again in a loop, and such a read waits for all loads
// in flight.
__device__ inline std::uint32_t kept_in_register(std::uint32_t x)
{
#ifdef __CUDA_ARCH__
    return __shfl_xor_sync(__activemask(), x, 0);
#else
    return x;
#endif
}

// Returns x, which is equal in all threads, in a register and in a form that the compiler
// does not treat as uniform. An instruction with a uniform operand could not also encode
// a constant.
__device__ inline std::uint32_t as_nonuniform(std::uint32_t x)
{
#ifdef __CUDA_ARCH__
    std::uint32_t lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return kept_in_register(x + lane / 32);
#else
    return x;
#endif
}

// Reserves a slot that no other block uses, and returns its index. One thread of a block
// calls this function.
__device__ inline unsigned take_slot(const block_arguments& a)
{
    unsigned i = blockIdx.x;
    // The slot of the block that ran last on this multiprocessor is probably free.
    if (gridDim.x > a.slots) {
#ifdef __CUDA_ARCH__
        asm volatile("mov.u32 %0, %%smid;" : "=r"(i));
#endif
        i = i * a.slots_per_sm % a.slots;
    }
    while (atomicExch(a.taken + i, 1u)) {
        i = i + 1 < a.slots ? i + 1 : 0;
    }
    return i;
}

// Returns x, which must be equal in all threads of a warp. The compiler treats the
// result as uniform.
__device__ inline unsigned warp_uniform(unsigned x)
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
