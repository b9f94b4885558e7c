// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A test double of gr-cuda's buffer, with the part of its interface that the blocks use.
 */

#ifndef INCLUDED_GPUFEC_TESTING_GR_CUDA_CUDA_BUFFER_H
#define INCLUDED_GPUFEC_TESTING_GR_CUDA_CUDA_BUFFER_H

#include "cuda/device_ring.h"
#include <gnuradio/buffer_type.h>
#include <atomic>
#include <memory>

struct CUstream_st;
using cudaStream_t = CUstream_st*;

namespace gr {

/*!
 * \brief Buffer with memory on the host and on a device.
 *
 * If a block of the host writes and a block of the device reads, or the reverse, the
 * scheduler calls post_work() to copy the written items. Copies are complete when a
 * function returns. There are two kinds of buffers, as in different versions of gr-cuda.
 * If the environment variable GPUFEC_BUFFERS_MAPPED_TWICE is set, the memory is mapped
 * twice. Otherwise, the buffer moves its items when the free space at its end is too
 * small.
 */
class __attribute__((visibility("default"))) cuda_buffer
{
public:
    static buffer_type type;
    //! Numbers of calls of the two functions below.
    static std::atomic<int> waits_for_items, waits_for_space;

    virtual ~cuda_buffer() = default;
    void wait_device_ready(cudaStream_t) { ++waits_for_items; }
    void wait_read_done(cudaStream_t) { ++waits_for_space; }

    static buffer_sptr make_buffer(int nitems,
                                   std::size_t sizeof_item,
                                   std::uint64_t downstream_lcm_nitems,
                                   std::uint32_t downstream_max_out_mult,
                                   block_sptr link,
                                   block_sptr buf_owner);

protected:
    char* device_memory() const { return reinterpret_cast<char*>(d_device->data()); }

    const std::unique_ptr<gpufec::device_copies> d_copies =
        gpufec::device_copies::make(0);
    std::unique_ptr<gpufec::device_ring> d_device;
};

} // namespace gr

#endif /* INCLUDED_GPUFEC_TESTING_GR_CUDA_CUDA_BUFFER_H */
