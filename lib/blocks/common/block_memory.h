// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The memory of a decoder block's ports: rings of the scheduler that a GPU reads and
 * writes in place, and ports in device memory. */

#ifndef INCLUDED_GPUFEC_BLOCKS_COMMON_BLOCK_MEMORY_H
#define INCLUDED_GPUFEC_BLOCKS_COMMON_BLOCK_MEMORY_H

#include "blocks/device/device_ports.h"
#include <gnuradio/block.h>
#include <gnuradio/block_detail.h>
#include <gnuradio/buffer.h>
#include <gnuradio/buffer_reader.h>
#include <gnuradio/gpufec/decoder.h>
#include <gnuradio/gpufec/pinned_memory.h>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gr::gpufec {

//! Interface through which the upstream block finds out whether this block may read its
//! input in place.
class ring_borrower
{
public:
    //! Returns whether the block may read input in place. Must be called after
    //! check_topology().
    virtual bool may_borrow_input() const = 0;

protected:
    ~ring_borrower() = default;
};

//! A circular buffer of GNU Radio that a decoder reads or writes in place.
//! \tparam Memory pinned_input or pinned_output
template <class Memory>
class pinned_ring
{
public:
    //! Pins \p ring if it exceeds \p needed bytes. Returns "" on success, otherwise the
    //! reason why \p ring is not pinned.
    template <class... Options>
    std::string
    pin(decoder& d, const gr::buffer_sptr& ring, std::size_t needed, Options... options)
    {
        const auto bytes = ring->bufsize() * ring->get_sizeof_item();
        std::string reason;
        if (bytes <= needed) {
            reason = "is too small";
        } else if (ring->get_mapping_type() != buffer_mapping_type::double_mapped) {
            reason = "is not mapped twice";
        } else {
            d_memory.emplace(d, const_cast<char*>(ring->base()), 2 * bytes, options...);
            if (d_memory->pinned()) {
                d_ring = ring;
                return {};
            }
            d_memory.reset();
            reason = "cannot be pinned, or the device lacks memory";
        }
        return "its buffer of " + std::to_string(bytes >> 10) + " KiB " + reason + "; " +
               std::to_string(needed >> 10) + " KiB are needed";
    }
    void reset()
    {
        d_memory.reset();
        d_ring.reset();
    }

    explicit operator bool() const { return bool(d_memory); }
    Memory* operator->() { return &*d_memory; }
    Memory& operator*() { return *d_memory; }
    const Memory& operator*() const { return *d_memory; }

private:
    gr::buffer_sptr d_ring; // keeps the buffer alive while it is pinned
    std::optional<Memory> d_memory;
};

/*!
 * \brief Base class of decoder_block for the memory of its ports.
 * \tparam Block the public block, with one or two inputs
 */
template <class Block>
class block_memory : public Block, public ring_borrower
{
public:
    bool may_borrow_input() const override { return d_may_borrow; }

protected:
    //! For the parameters, see decoder_block.
    block_memory(std::size_t input_size,
                 std::size_t output_size,
                 port_memory io,
                 int device)
        : d_input_size(input_size),
          d_output_size(output_size),
          d_ports(io == port_memory::host ? nullptr
                                          : std::make_unique<device_ports>(
                                                io, device, input_size, output_size))
    {
    }
    ~block_memory() override = default;

    // Functions for the derived block to implement.

    virtual decoder& engine() = 0;
    const decoder& engine() const { return const_cast<block_memory*>(this)->engine(); }
    virtual const run_options& run() const = 0;
    //! Returns whether a GPU may read the input in place.
    virtual bool borrows_input() const { return true; }
    //! Returns whether a GPU may write the output in place.
    virtual bool borrows_output() const { return true; }
    //! Returns the number of batches, besides those in flight, for which the input's ring
    //! has space. The upstream block writes to this space.
    virtual std::size_t spare_batches() const { return 1; }

    // Functions for the derived block to call.

    //! Returns the number of items that input 0 can hold.
    std::size_t max_available() const
    {
        return copies_input() ? d_ports->capacity()
                              : this->detail()->input(0)->max_possible_items_available();
    }
    //! Returns whether input is copied from the scheduler's buffer in device memory.
    bool copies_input() const { return d_ports && d_ports->copies_input(); }
    //! Returns whether output is copied to the scheduler's buffer in device memory.
    bool copies_output() const { return d_ports && d_ports->copies_output(); }
    //! Returns whether the decoder reads its input in place.
    bool borrows() const { return borrowed_input(); }
    //! Returns the number of borrowed items.
    std::size_t borrowed() const { return borrows() ? borrowed_input()->borrowed() : 0; }

    //! Returns the number of input items to require, so that at least one is new.
    //! Borrowed items stay in the ring, so the number is one more than theirs, at most
    //! the ring's size. If input is copied from device memory, the number is 0 while
    //! copied items wait to be pushed, and 1 otherwise.
    int one_more()
    {
        return copies_input()
                   ? d_ports->held() == borrowed()
                   : int(std::min<std::size_t>(borrowed() + 1, max_available()));
    }
    // Returns the decoder's access to input in place; nullptr if input is copied.
    const pinned_input* borrowed_input() const
    {
        return d_ports ? d_ports->input() : d_borrowed ? &*d_borrowed : nullptr;
    }
    pinned_input* borrowed_input()
    {
        return const_cast<pinned_input*>(std::as_const(*this).borrowed_input());
    }
    // Returns the decoder's access to output in place; nullptr if output is copied.
    pinned_output* borrowed_output()
    {
        return d_ports && d_ports->gives_output() ? d_ports->output()
               : d_borrowed_output                ? &*d_borrowed_output
                                                  : nullptr;
    }

    // Returns the number of free items in the output's ring. The number does not decrease
    // before this block produces items.
    std::size_t space() const
    {
        const auto ring = this->detail()->output(0);
        gr::thread::scoped_lock guard(*ring->mutex());
        return ring->space_available();
    }

    // Requests larger rings if a GPU decodes and the user has set no buffer sizes. With
    // small rings, the GPU would wait for the threads of the upstream and downstream
    // blocks. This block's output multiple determines the size of the input's ring,
    // because the scheduler reserves space for two multiples.
    void widen_buffers()
    {
        d_may_borrow = borrows_input() && this->active_backend() == "cuda" && !d_ports;
        const bool as_the_user_says =
            this->output_multiple_set() || this->max_output_buffer(0) > 0;
        if (this->active_backend() != "cuda" || as_the_user_says) {
            return;
        }
        // Blocks with ports in device memory process large parts at a time, because each
        // kernel launch has a latency. For input in place, the ring holds the input of
        // all slots and spare batches. If the input of all slots plus 1/16 exceeds
        // `widest` bytes, input is copied.
        const auto in_flight = pinned_input::bytes_needed(engine());
        const auto batches = std::max<std::size_t>(spare_batches(), d_ports ? 2 : 1);
        const auto spare = in_flight / run().slots * batches;
        const auto widest = d_ports ? widest_device_buffer_bytes
                                    : widest_buffer_bytes * run().devices.size();
        const bool in_place = borrows_input() && in_flight + in_flight / 16 <= widest;
        const auto wanted = in_place ? std::min(in_flight + spare, widest) : 0;
        const auto bytes =
            std::max(wanted, d_ports ? device_buffer_bytes : wide_buffer_bytes);
        const auto multiple = std::min<std::size_t>(
            // The divisor, a relative rate, is positive.
            // NOLINTNEXTLINE(clang-analyzer-core.DivideZero)
            bytes / 2 / d_input_size * this->relative_rate_i() / this->relative_rate_d(),
            widest_output_bytes / d_output_size);
        // The size of a buffer that is not mapped twice is a multiple of both the output
        // multiple and the rate's numerator, so the least common multiple of these two
        // must not be too large.
        const auto whole = multiple - multiple % this->relative_rate_i();
        this->set_output_multiple(std::max(1, int(d_ports ? whole : multiple)));
        // For output in place, the ring holds 1.5 times the output of all slots, so that
        // some space is free while all slots are in flight.
        const auto out = borrows_output() ? pinned_output::bytes_needed(engine()) : 0;
        const auto to_borrow = out <= widest ? out + out / 2 : 0;
        this->set_min_output_buffer(
            std::max<long>(4l * this->output_multiple(), to_borrow / d_output_size));
    }

    // Prepares an input port in device memory for a new stream.
    void begin_input_port()
    {
        if (d_ports) {
            warn(d_ports->begin(engine(), *this, borrows_input()));
        }
    }

    // Pins the input's ring for a GPU if the decoder can read in place and the ring
    // exceeds the input of all slots plus one output multiple of the upstream block.
    void borrow_input()
    {
        const auto in_flight = pinned_input::bytes_needed(engine());
        if (borrows_input() && this->active_backend() == "cuda" && !d_ports &&
            in_flight > 0) {
            const auto ring = this->detail()->input(0)->buffer();
            const auto multiple = ring->link()->output_multiple() * d_input_size;
            pin(d_borrowed, ring, "input", in_flight + multiple);
        }
    }

    // Pins the output's ring if it is larger than the output of all slots, so that a GPU
    // writes output in place. If the downstream block reads in place, that block pins the
    // ring.
    void pin_output_ring()
    {
        if (d_ports && d_ports->gives_output()) {
            warn(d_ports->begin_output(engine(), *this, borrows_output()));
            return;
        }
        const auto ring = this->detail()->output(0);
        const auto needed = borrows_output() && this->active_backend() == "cuda"
                                ? pinned_output::bytes_needed(engine())
                                : 0;
        bool taken = needed == 0;
        for (std::size_t i = 0; i < ring->nreaders(); ++i) {
            const auto* const next =
                dynamic_cast<ring_borrower*>(ring->reader(i)->link().get());
            taken |= next && next->may_borrow_input();
        }
        if (!taken) {
            constexpr bool mapped_twice = true;
            pin(d_borrowed_output, ring, "output", needed, mapped_twice);
        }
    }

    template <class Memory, class... Options>
    void pin(pinned_ring<Memory>& pinned,
             const gr::buffer_sptr& ring,
             const char* what,
             std::size_t needed,
             Options... options)
    {
        const auto reason = pinned.pin(engine(), ring, needed, options...);
        if (!reason.empty()) {
            this->d_logger->info("the {} is copied: {}", what, reason);
        }
    }

    const std::size_t d_input_size, d_output_size;
    //! The ports in device memory; nullptr if both are in host memory.
    std::unique_ptr<device_ports> d_ports;
    // The rings of input and output, if they are read and written in place.
    pinned_ring<pinned_input> d_borrowed;
    pinned_ring<pinned_output> d_borrowed_output;

private:
    void warn(const std::vector<std::string>& messages)
    {
        for (const auto& text : messages) {
            this->d_logger->warn("{}", text);
        }
    }

    // Minimum size of the input's ring in bytes if a GPU decodes.
    static constexpr std::size_t wide_buffer_bytes = 1u << 20;
    // Minimum size of the input's ring in bytes if the input is in device memory.
    static constexpr std::size_t device_buffer_bytes = 16u << 20;
    // Maximum output multiple, in bytes.
    static constexpr std::size_t widest_output_bytes = 32u << 20;
    // Maximum size in bytes, per device, of the batches in flight that a ring holds.
    static constexpr std::size_t widest_buffer_bytes = 256u << 20;
    // Maximum size in bytes of the batches in flight if the input is in device memory.
    static constexpr std::size_t widest_device_buffer_bytes = 1u << 30;

    bool d_may_borrow = false; // whether the decoder may read the input's ring in place
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_COMMON_BLOCK_MEMORY_H */
