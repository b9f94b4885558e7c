// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The host memory of a slot: buffers that a device may access directly. */

#ifndef INCLUDED_GPUFEC_PIPELINE_SLOT_BUFFERS_H
#define INCLUDED_GPUFEC_PIPELINE_SLOT_BUFFERS_H

#include "batch_decoder.h"
#include "common/host_memory.h"
#include <cstddef>
#include <cstring>
#include <utility>

namespace gr::gpufec {

//! Host memory that may be pinned.
struct slot_buffer {
    explicit slot_buffer(std::size_t bytes) : memory(bytes) {}
    //! Pins the first \p bytes bytes for decoder \p d.
    template <class Decoder>
    void lock(Decoder& d, std::size_t bytes) noexcept
    {
        locked = bytes > 0 && d.page_lock(memory.data(), bytes);
    }
    template <class Decoder>
    void unlock(Decoder& d) noexcept
    {
        if (std::exchange(locked, false)) {
            d.page_unlock(memory.data());
        }
    }
    void copy_from(const slot_buffer& other) const
    {
        if (other.memory.size() > 0) {
            std::memcpy(memory.data(), other.memory.data(), other.memory.size());
        }
    }
    host_memory memory;
    bool locked = false;
};

//! Input, output and statuses of a slot.
struct slot_buffers {
    explicit slot_buffers(const batch_limits& l)
        : input(l.input_bytes), output(l.output_bytes), status(l.status_bytes)
    {
    }
    std::size_t bytes() const
    {
        return input.memory.size() + output.memory.size() + status.memory.size();
    }
    template <class Call>
    void each(Call&& call)
    {
        for (auto* b : { &input, &output, &status }) {
            call(*b);
        }
    }
    void copy_from(const slot_buffers& other) const
    {
        input.copy_from(other.input);
        output.copy_from(other.output);
        status.copy_from(other.status);
    }
    slot_buffer input, output, status;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_SLOT_BUFFERS_H */
