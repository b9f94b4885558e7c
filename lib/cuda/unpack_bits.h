// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Unpacking of output to one bit per byte on a device. */

#ifndef INCLUDED_GPUFEC_CUDA_UNPACK_BITS_H
#define INCLUDED_GPUFEC_CUDA_UNPACK_BITS_H

#include "runtime.h"
#include <cstdint>

namespace gr::gpufec::cuda {

//! Launches the kernel that unpacks the rows \p rows of \p output to one bit per byte in
//! device memory at \p to. The address \p to must be aligned to 8 bytes.
void launch_unpack(const void* output,
                   const output_rows& rows,
                   std::uint8_t* to,
                   cudaStream_t stream);

} // namespace gr::gpufec::cuda

#endif /* INCLUDED_GPUFEC_CUDA_UNPACK_BITS_H */
