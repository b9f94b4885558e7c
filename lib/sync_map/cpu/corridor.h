// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The corridor form on the CPU, which is the decoder of Briffa (2014). Branch metrics are
 * computed for a limited range of drift changes, and are either stored for a whole frame
 * or computed twice, once per direction. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CPU_CORRIDOR_H
#define INCLUDED_GPUFEC_SYNC_MAP_CPU_CORRIDOR_H

#include "sync_map/model/frame.h"
#include <memory>

namespace gr::gpufec::sync_map {

//! A decoder for one frame at a time. The class is not thread-safe; each thread needs its
//! own object.
class corridor_decoder
{
public:
    virtual ~corridor_decoder() = default;
    virtual void
    decode(const std::byte* input, std::byte* output, sync_status& status) = 0;
};

//! Returns the size in bytes of a frame's branch metrics in global storage.
std::size_t branch_metric_bytes(const setup& setup);

//! Makes a decoder of the corridor form.
//! \throws std::invalid_argument if sync_storage::global is requested and a frame's
//! branch metrics exceed the physical memory
std::unique_ptr<corridor_decoder> make_corridor_decoder(const setup& setup);

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CPU_CORRIDOR_H */
