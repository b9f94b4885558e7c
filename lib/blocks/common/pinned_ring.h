// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A circular buffer of GNU Radio that a decoder reads or writes in place. */

#ifndef INCLUDED_GPUFEC_BLOCKS_COMMON_PINNED_RING_H
#define INCLUDED_GPUFEC_BLOCKS_COMMON_PINNED_RING_H

#include <gnuradio/buffer.h>
#include <gnuradio/gpufec/pinned_memory.h>
#include <optional>
#include <string>

namespace gr::gpufec {

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

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_COMMON_PINNED_RING_H */
