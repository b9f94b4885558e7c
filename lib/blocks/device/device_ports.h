// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The ports of a decoder block in device memory: copies between the scheduler's buffers
 * and memory that the decoder reads and writes in place. */

#ifndef INCLUDED_GPUFEC_BLOCKS_DEVICE_DEVICE_PORTS_H
#define INCLUDED_GPUFEC_BLOCKS_DEVICE_DEVICE_PORTS_H

#include "cuda/device_ring.h"
#include <gnuradio/block.h>
#include <gnuradio/gpufec/decoder.h>
#include <gnuradio/gpufec/pinned_memory.h>
#include <gnuradio/gpufec/port_memory.h>
#include <optional>
#include <string>
#include <vector>

namespace gr::gpufec {

//! Checks the memory of the ports, and sets backend cuda unless the memory is the host's.
//! \throws std::invalid_argument if \p io excludes other options or is not available
void check_port_memory(run_options& run, port_memory io);

//! Returns the signature of a block's inputs. \p priors: whether there may be a second
//! input, of floats, which is always in host memory.
gr::io_signature::sptr
input_port(port_memory io, std::size_t item_bytes, bool priors = false);
gr::io_signature::sptr output_port(port_memory io, std::size_t item_bytes);

/*!
 * \brief The ports of one block in device memory.
 *
 * Buffers of the scheduler in device memory may move their items, and their blocks work
 * on streams of their own. Items are therefore copied, within the device, to a ring that
 * the decoder reads in place. Output goes the same way back. All copies have ended when a
 * call returns, so that consume() and produce() may follow.
 *
 * If the decoder cannot read input or write output in place, the items pass through host
 * memory.
 */
class device_ports
{
public:
    //! \throws std::runtime_error if there is no such device
    device_ports(port_memory io,
                 int device,
                 std::size_t input_item,
                 std::size_t output_item);

    //! Begins a stream. \p in_place: whether the decoder may read input, and write
    //! output, in place. Returns messages for the log.
    //! \throws std::runtime_error if the device lacks memory, or if a port's buffer
    //!         belongs to another device or is not in device memory
    std::vector<std::string>
    begin(decoder& d, const gr::block& block, bool input_in_place, bool output_in_place);

    // Input

    //! Copies at most \p count items and returns how many were copied.
    std::size_t bring_in(gr::buffer& buffer, const void* items, std::size_t count);
    //! Returns the address of the oldest item that is not released.
    const std::byte* items() const;
    //! Returns the number of items that are not released.
    std::size_t held() const { return d_held; }
    //! Returns the number of items for which the memory has space.
    std::size_t capacity() const { return d_in_bytes / d_input_item; }
    void release(std::size_t items);
    //! Returns the decoder's access to the items; nullptr if they are in host memory.
    pinned_input* input() { return d_input ? &*d_input : nullptr; }
    const pinned_input* input() const { return d_input ? &*d_input : nullptr; }

    // Output

    bool gives_output() const { return d_io == port_memory::device; }
    //! Returns the address of the next output, at which the decoder writes or to which it
    //! is pulled.
    std::byte* next_output();
    //! Returns the size in bytes of the memory from next_output() on.
    std::size_t output_bytes() const { return d_out_bytes; }
    //! Copies the next \p items items to the output's buffer.
    void give(gr::buffer& buffer, void* to, std::size_t items);
    //! Returns the decoder's access to the output; nullptr if it passes the host.
    pinned_output* output() { return d_output ? &*d_output : nullptr; }

private:
    const port_memory d_io;
    const int d_device;
    const std::size_t d_input_item, d_output_item;
    std::unique_ptr<device_copies> d_copies;

    // Input: a ring in device memory or, without one, memory of the host.
    std::unique_ptr<device_ring> d_in_ring;
    std::vector<std::byte> d_in_host;
    std::size_t d_in_bytes = 0;
    std::size_t d_first = 0; // offset of the oldest item, in bytes
    std::size_t d_held = 0;  // number of items
    std::optional<pinned_input> d_input;

    // Output, likewise.
    std::unique_ptr<device_ring> d_out_ring;
    std::vector<std::byte> d_out_host;
    std::size_t d_out_bytes = 0;
    std::size_t d_next = 0; // offset of the next output, in bytes
    std::optional<pinned_output> d_output;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_DEVICE_DEVICE_PORTS_H */
