// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Loads and stores of messages that are to stay in the L2 cache. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_QUASI_CYCLIC_L2_CACHE_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_QUASI_CYCLIC_L2_CACHE_CUH

#include <cuda_runtime.h>
#include <cstdint>

namespace gr::gpufec::ldpc {
namespace device {
namespace quasi_cyclic {

// Loads and stores that bypass the L1 cache. From compute capability 8.0 on, they mark
// 70 % of the lines to be evicted last from the L2 cache
// (docs/decisions/2026-11-24-quasi-cyclic-ldpc-kernel.md lists the speeds).
class l2_resident
{
public:
    __device__ l2_resident()
    {
#if __CUDA_ARCH__ >= 800
        asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 0.7;"
                     : "=l"(d_policy));
#endif
    }
    __device__ uint2 load(const uint2* from) const
    {
#if __CUDA_ARCH__ >= 800
        uint2 x;
        asm volatile("ld.global.cg.L2::cache_hint.v2.u32 {%0, %1}, [%2], %3;"
                     : "=r"(x.x), "=r"(x.y)
                     : "l"(from), "l"(d_policy)
                     : "memory");
        return x;
#else
        return __ldcg(from);
#endif
    }
    __device__ uint4 load(const uint4* from) const
    {
#if __CUDA_ARCH__ >= 800
        uint4 x;
        asm volatile("ld.global.cg.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                     : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                     : "l"(from), "l"(d_policy)
                     : "memory");
        return x;
#else
        return __ldcg(from);
#endif
    }
    __device__ void store(uint2* to, const uint2& x) const
    {
#if __CUDA_ARCH__ >= 800
        asm volatile("st.global.cg.L2::cache_hint.v2.u32 [%0], {%1, %2}, %3;" ::"l"(to),
                     "r"(x.x),
                     "r"(x.y),
                     "l"(d_policy)
                     : "memory");
#else
        __stcg(to, x);
#endif
    }
    __device__ void store(uint4* to, const uint4& x) const
    {
#if __CUDA_ARCH__ >= 800
        asm volatile(
            "st.global.cg.L2::cache_hint.v4.u32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(to),
            "r"(x.x),
            "r"(x.y),
            "r"(x.z),
            "r"(x.w),
            "l"(d_policy)
            : "memory");
#else
        __stcg(to, x);
#endif
    }

private:
    std::uint64_t d_policy = 0;
};

} // namespace quasi_cyclic
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_QUASI_CYCLIC_L2_CACHE_CUH */
