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

//! Checks the memory of the ports, and selects the backend cuda unless the memory is host
//! memory.
//! \throws std::invalid_argument if \p io contradicts other options or is not available
void check_port_memory(run_options& run, port_memory io);

//! Returns the signature of a block's inputs. If \p priors is set, the block may have a
//! second input, of floats, which is always in host memory.
gr::io_signature::sptr
input_port(port_memory io, std::size_t item_bytes, bool priors = false);
gr::io_signature::sptr output_port(port_memory io, std::size_t item_bytes);

/*!
 * \brief The ports of one block in device memory.
 *
 * If the scheduler's buffer is mapped twice and holds the batches of all slots, the
 * decoder reads and writes the buffer's items in place. Otherwise the scheduler may move
 * items within the buffer. Input is then copied within the device to a ring that the
 * decoder reads in place, and output is copied to the buffer from a second ring. All
 * copies have ended when a call returns, so that consume() and produce() may follow.
 *
 * If the decoder cannot read input or write output in place, the items pass through host
 * memory.
 */
class device_ports
{
public:
    //! \throws std::runtime_error if the device does not exist
    device_ports(port_memory io,
                 int device,
                 std::size_t input_item,
                 std::size_t output_item);

    //! Begins a stream. \p in_place tells whether the decoder may read input in place.
    //! Returns messages for the log.
    //! \throws std::runtime_error if the device lacks memory, or if the port's buffer
    //!         belongs to another device or is not in device memory
    std::vector<std::string> begin(decoder& d, const gr::block& block, bool in_place);
    //! Prepares the output, at the beginning of a stream and after stop(), as begin()
    //! prepares the input.
    std::vector<std::string>
    begin_output(decoder& d, const gr::block& block, bool in_place);
    //! Ends access to the scheduler's buffers. Later output of the same stream passes
    //! through host memory, and so does later input that was read in place.
    //! \throws device_error if a batch in flight fails
    void stop();

    // Input

    //! Returns whether items are copied from the scheduler's buffer, by bring_in().
    bool copies_input() const { return !d_in.buffer; }
    //! Copies at most \p count items and returns how many were copied.
    std::size_t bring_in(gr::buffer& buffer, const void* items, std::size_t count);
    //! Returns the address of the oldest item that is copied and not released.
    const std::byte* items() const { return d_in.data() + d_in.offset; }
    //! Returns the number of items that are copied and not released.
    std::size_t held() const { return d_held; }
    //! Returns the number of copied items for which the memory has space.
    std::size_t capacity() const { return d_in.bytes / d_in.item; }
    void release(std::size_t items);
    //! Returns the decoder's access to the items; nullptr if they are in host memory.
    pinned_input* input() { return d_in.memory ? &*d_in.memory : nullptr; }
    const pinned_input* input() const { return d_in.memory ? &*d_in.memory : nullptr; }

    // Output

    bool gives_output() const { return d_io == port_memory::device; }
    //! Returns whether output is copied to the scheduler's buffer, by give().
    bool copies_output() const { return gives_output() && !d_out.buffer; }
    //! Returns the address of the next output, at which the decoder writes or to which it
    //! is pulled.
    std::byte* next_output() { return d_out.data() + d_out.offset; }
    //! Returns the size in bytes of the memory from next_output() on.
    std::size_t output_bytes() const { return d_out.bytes; }
    //! Copies the next \p items items to the output's buffer.
    void give(gr::buffer& buffer, void* to, std::size_t items);
    //! Returns the decoder's access to the output; nullptr if output passes through the
    //! host.
    pinned_output* output() { return d_out.memory ? &*d_out.memory : nullptr; }

    //! These functions wait for other blocks' work on a buffer that is accessed in place.
    //! The first waits until the input before item \p end is written, the second until
    //! the space before output item \p end is no longer read.
    void wait_for_items(std::uint64_t end);
    void wait_for_space(std::uint64_t end);

private:
    // The memory of one port: the scheduler's buffer, a ring in device memory, or memory
    // of the host.
    // \tparam Memory pinned_input or pinned_output
    template <class Memory>
    struct port {
        explicit port(std::size_t item_bytes) : item(item_bytes) {}
        bool begin(decoder& d,
                   int device,
                   const gr::buffer_sptr& scheduled,
                   const void* beginning,
                   std::size_t needed,
                   std::size_t margin);
        void pass_the_host();
        void reset();
        std::byte* data() { return ring ? ring->data() : host.data(); }
        const std::byte* data() const { return ring ? ring->data() : host.data(); }

        const std::size_t item; // size in bytes
        gr::buffer_sptr buffer; // the scheduler's buffer, if the decoder accesses it in
                                // place
        std::unique_ptr<device_ring> ring;
        std::vector<std::byte> host;
        std::size_t bytes = 0;
        std::size_t offset = 0; // offset in bytes of the oldest item or of the next
                                // output
        std::optional<Memory> memory;
        std::uint64_t waited_for = -1; // latest argument of wait_for_items() or
                                       // wait_for_space()
    };

    const port_memory d_io;
    const int d_device;
    std::unique_ptr<device_copies> d_copies;
    port<pinned_input> d_in;
    port<pinned_output> d_out;
    std::size_t d_held = 0; // number of items
    bool d_stopped = false; // whether stop() was called since begin()
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_DEVICE_DEVICE_PORTS_H */
