// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Quantisation of a channel value on a device, by the rule of stream/input_format.h. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_STEPS_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_STEPS_CUH

#include <cuda_runtime.h>
#include <type_traits>
#include <cmath>

namespace gr::gpufec::ldpc {
namespace device {

template <class To>
__device__ To step_of(float value, float factor, float limit)
{
    // Adding 0 turns −0 into 0, as on the CPU.
    const float x = __fadd_rn(__fmul_rn(value, factor), 0.0f);
    const float within = fminf(fmaxf(x, -limit), limit);
    return std::is_same<To, float>::value ? To(within) : To(__float2int_rn(within));
}

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_STEPS_CUH */
