// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The host memory of a slot: buffers that a device may access directly. */

#ifndef INCLUDED_GPUFEC_PIPELINE_SLOT_BUFFERS_H
#define INCLUDED_GPUFEC_PIPELINE_SLOT_BUFFERS_H

#include "batch_decoder.h"
#include "common/host_memory.h"
#include <cstddef>
#include <cstring>

namespace gr::gpufec {

//! Host memory that may be pinned.
struct slot_buffer {
    explicit slot_buffer(std::size_t bytes) : memory(bytes) {}
    void copy_from(const slot_buffer& other) const
    {
        if (other.memory.size() > 0) {
            std::memcpy(memory.data(), other.memory.data(), other.memory.size());
        }
    }
    host_memory memory;
    bool locked = false;
};

//! Input, output, statuses and samples of a slot.
struct slot_buffers {
    explicit slot_buffers(const batch_limits& l)
        : input(l.input_bytes),
          output(l.output_bytes),
          status(l.status_bytes),
          samples(l.sample_bytes)
    {
    }
    std::size_t bytes() const
    {
        return input.memory.size() + output.memory.size() + status.memory.size() +
               samples.memory.size();
    }
    void copy_from(const slot_buffers& other) const
    {
        input.copy_from(other.input);
        output.copy_from(other.output);
        status.copy_from(other.status);
        samples.copy_from(other.samples);
    }
    slot_buffer input, output, status, samples;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_SLOT_BUFFERS_H */
