// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements the functions of gr_cuda.h with gr-cuda. */

#include "gr_cuda.h"
#include <gnuradio/cuda/cuda_buffer.h>
#include <type_traits>

namespace gr::gpufec::gr_cuda {

namespace {

// The gr-cuda of 2021 has no events. Its blocks return only when their work on the device
// has ended, so no wait is needed.
template <class Buffer, class = void>
struct events {
    static bool wait_for_items(Buffer&, void*) { return false; }
    static bool wait_for_space(Buffer&, void*) { return false; }
};

template <class Buffer>
struct events<Buffer,
              std::void_t<decltype(std::declval<Buffer&>().wait_device_ready({})),
                          decltype(std::declval<Buffer&>().wait_read_done({}))>> {
    static bool wait_for_items(Buffer& b, void* stream)
    {
        b.wait_device_ready(static_cast<cudaStream_t>(stream));
        return true;
    }
    static bool wait_for_space(Buffer& b, void* stream)
    {
        b.wait_read_done(static_cast<cudaStream_t>(stream));
        return true;
    }
};

} // namespace

gr::buffer_type device_buffer() { return gr::cuda_buffer::type; }

bool wait_for_items(gr::buffer& buffer, void* stream)
{
    auto* const b = dynamic_cast<gr::cuda_buffer*>(&buffer);
    return b && events<gr::cuda_buffer>::wait_for_items(*b, stream);
}

bool wait_for_space(gr::buffer& buffer, void* stream)
{
    auto* const b = dynamic_cast<gr::cuda_buffer*>(&buffer);
    return b && events<gr::cuda_buffer>::wait_for_space(*b, stream);
}

} // namespace gr::gpufec::gr_cuda
