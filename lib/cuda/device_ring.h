// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A circular buffer in the memory of a CUDA device, and copies to and from such memory.
 * This header has no CUDA types, so that blocks can include it. */

#ifndef INCLUDED_GPUFEC_CUDA_DEVICE_RING_H
#define INCLUDED_GPUFEC_CUDA_DEVICE_RING_H

#include <cstddef>
#include <memory>

namespace gr::gpufec {

//! Device memory that is mapped twice in succession, so that every range of size() bytes
//! that begins in the first half is contiguous.
class device_ring
{
public:
    //! Allocates at least \p bytes bytes on a device. The size is a multiple of the
    //! device's page size and of \p item_bytes.
    //! \throws std::runtime_error if the device lacks the memory or cannot map it twice
    static std::unique_ptr<device_ring>
    make(int device, std::size_t bytes, std::size_t item_bytes);

    virtual ~device_ring() = default;
    device_ring(const device_ring&) = delete;
    device_ring& operator=(const device_ring&) = delete;

    std::byte* data() const { return d_data; }
    std::size_t size() const { return d_size; } //!< bytes, without the second mapping

protected:
    device_ring() = default;
    std::byte* d_data = nullptr;
    std::size_t d_size = 0;
};

//! Copies in and between host memory and the memory of one device, in the order of calls.
class device_copies
{
public:
    //! \throws std::runtime_error if there is no such device
    static std::unique_ptr<device_copies> make(int device);

    virtual ~device_copies() = default;
    //! Starts a copy of \p bytes bytes.
    virtual void start(void* to, const void* from, std::size_t bytes) = 0;
    //! Waits until all copies have ended. The thread sleeps meanwhile.
    virtual void wait() = 0;
    //! Returns the cudaStream_t of the copies.
    virtual void* stream() const = 0;

    //! Copies \p bytes bytes and waits until all copies have ended.
    void operator()(void* to, const void* from, std::size_t bytes)
    {
        start(to, from, bytes);
        wait();
    }
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CUDA_DEVICE_RING_H */
