// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A test double of gr-cuda's buffer, with the part of its interface that the blocks use.
 */

#ifndef INCLUDED_GPUFEC_TESTING_GR_CUDA_CUDA_BUFFER_H
#define INCLUDED_GPUFEC_TESTING_GR_CUDA_CUDA_BUFFER_H

#include "cuda/device_ring.h"
#include <gnuradio/buffer_single_mapped.h>
#include <gnuradio/buffer_type.h>
#include <atomic>
#include <memory>
#include <vector>

struct CUstream_st;
using cudaStream_t = CUstream_st*;

namespace gr {

/*!
 * \brief Buffer with memory on the host and on a device.
 *
 * The scheduler copies the items that a block of the other kind has written, and moves
 * items within the buffer when the free space at its end is too small. All copies have
 * ended when a function returns.
 */
class __attribute__((visibility("default"))) cuda_buffer : public buffer_single_mapped
{
public:
    static buffer_type type;
    //! Numbers of calls of the two functions below.
    static std::atomic<int> waits_for_items, waits_for_space;

    void wait_device_ready(cudaStream_t) { ++waits_for_items; }
    void wait_read_done(cudaStream_t) { ++waits_for_space; }

    void post_work(int nitems) override;
    void* write_pointer() override;
    const void* _read_pointer(unsigned read_index) override;
    bool input_blocked_callback(int items_required,
                                int items_avail,
                                unsigned read_index) override;
    bool output_blocked_callback(int output_multiple, bool force) override;

    static buffer_sptr make_buffer(int nitems,
                                   std::size_t sizeof_item,
                                   std::uint64_t downstream_lcm_nitems,
                                   std::uint32_t downstream_max_out_mult,
                                   block_sptr link,
                                   block_sptr buf_owner);

private:
    cuda_buffer(int nitems,
                std::size_t sizeof_item,
                std::uint64_t downstream_lcm_nitems,
                std::uint32_t downstream_max_out_mult,
                block_sptr link,
                block_sptr buf_owner);
    bool do_allocate_buffer(std::size_t final_nitems, std::size_t sizeof_item) override;
    mem_func_t move();
    char* device_memory() const;
    bool writer_on_device() const;
    bool reader_on_device() const;

    const std::unique_ptr<gpufec::device_copies> d_copies;
    std::unique_ptr<gpufec::device_ring> d_device;
    std::vector<char> d_host;
};

} // namespace gr

#endif /* INCLUDED_GPUFEC_TESTING_GR_CUDA_CUDA_BUFFER_H */
