// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Functions of gr-cuda's buffers that the blocks use. gr_cuda.cc is built if gr-cuda is
 * found, no_gr_cuda.cc otherwise. */

#ifndef INCLUDED_GPUFEC_BLOCKS_DEVICE_GR_CUDA_H
#define INCLUDED_GPUFEC_BLOCKS_DEVICE_GR_CUDA_H

#include <gnuradio/buffer.h>
#include <gnuradio/buffer_type.h>

namespace gr::gpufec::gr_cuda {

//! Returns the type of gr-cuda's buffers.
//! \throws std::invalid_argument if this build of the module has no gr-cuda
gr::buffer_type device_buffer();

//! Makes later work on the CUDA stream \p stream wait until the items that the buffer
//! offers to readers are written. Returns false if there is nothing to wait for: the
//! buffer is of another type or has no events.
bool wait_for_items(gr::buffer& buffer, void* stream);

//! Makes later work on the CUDA stream \p stream wait until the buffer's free space is
//! no longer read. Returns false in the same cases as wait_for_items().
bool wait_for_space(gr::buffer& buffer, void* stream);

} // namespace gr::gpufec::gr_cuda

#endif /* INCLUDED_GPUFEC_BLOCKS_DEVICE_GR_CUDA_H */
