// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What the kernels for DVB-S2 codes are told, and which there are. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_DVBS2_H
#define INCLUDED_GPUFEC_LDPC_CUDA_DVBS2_H

#include "cuda_kernels.h"
#include "dvbs2_layers.h"

namespace gr::gpufec::ldpc {
namespace device {

struct dvbs2_arguments {
    device_frames frames;
    stopping stop;
    std::uint32_t* state;   // of all blocks
    std::uint32_t* counter; // of codewords taken
    float offset, limit;    // in the unit of the kernel
    float factor;
};

//! A kernel that decodes a codeword per block.
struct dvbs2_variant {
    void (*kernel)(layer_table, dvbs2_arguments) = nullptr;
    unsigned threads = 0;        //!< of a block
    float unit = 1;              //!< of its numbers
    std::size_t state_words = 0; //!< of a block, in device memory
    std::size_t shared_bytes = 0;
};

//! By folded layers. \p shared_sm: bytes of shared memory of a multiprocessor.
dvbs2_variant choose_int8_kernel(const dvbs2_layers& layers, std::size_t shared_sm);

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_DVBS2_H */
