// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface of decoders that read input and write output in the caller's memory. */

#ifndef INCLUDED_GPUFEC_PIPELINE_MEMORY_IN_PLACE_H
#define INCLUDED_GPUFEC_PIPELINE_MEMORY_IN_PLACE_H

#include <cstddef>
#include <functional>

namespace gr::gpufec {

//! The functions behind pinned_input and pinned_output, whose header (pinned_memory.h)
//! describes them.
class memory_in_place
{
public:
    virtual ~memory_in_place() = default;

    //! Returns the size in bytes of the input of all slots.
    virtual std::size_t input_bytes() const = 0;
    //! Returns whether the stream may begin with borrow().
    virtual bool can_borrow() const = 0;
    virtual std::size_t borrow(const void* items, std::size_t count) = 0;
    virtual std::size_t borrowed() const = 0;
    virtual std::size_t release_borrowed() = 0;
    virtual void copy_borrowed() = 0;
    virtual bool pin_input(void* memory, std::size_t bytes) = 0;
    virtual void unpin_input(void* memory) = 0;

    virtual std::size_t output_bytes() const { return 0; }
    //! \p replace is called when an abandoned device may still write to the memory.
    //! \p replace must map other pages with the same contents at the same addresses, and
    //! return whether this succeeded.
    virtual bool pin_output(void*, std::size_t, const std::function<bool()>& /*replace*/)
    {
        return false;
    }
    virtual bool borrow_output(void* /*next*/, std::size_t /*bytes*/) { return true; }
    virtual void release_output() {}
    virtual void unpin_output(void* /*memory*/) {}
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_MEMORY_IN_PLACE_H */
