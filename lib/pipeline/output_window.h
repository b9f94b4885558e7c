// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Assigns addresses in borrowed memory to the output of batches, in the order in which
 * the output is pulled. */

#ifndef INCLUDED_GPUFEC_PIPELINE_OUTPUT_WINDOW_H
#define INCLUDED_GPUFEC_PIPELINE_OUTPUT_WINDOW_H

#include <algorithm>
#include <cstddef>

namespace gr::gpufec {

class output_window
{
public:
    //! Borrows \p bytes bytes of memory at \p next. The next output that is pulled goes
    //! to this address.
    void borrow(std::byte* next, std::size_t bytes)
    {
        d_next = next;
        d_free = bytes;
    }

    //! Returns the address to which the next batch's output of \p bytes bytes will be
    //! pulled; nullptr if the borrowed memory is too small.
    std::byte* place(std::size_t bytes) const
    {
        return bytes > 0 && d_waiting + bytes <= d_free ? d_next + d_waiting : nullptr;
    }

    //! Returns whether all submitted output has been pulled.
    bool empty() const { return d_waiting == 0; }

    //! Records that a batch with \p bytes bytes of output was submitted.
    void submitted(std::size_t bytes) { d_waiting += bytes; }

    //! Records that \p bytes bytes were pulled.
    void pulled(std::size_t bytes)
    {
        d_waiting -= std::min(bytes, d_waiting);
        const auto borrowed = std::min(bytes, d_free);
        d_next += borrowed;
        d_free -= borrowed;
    }

private:
    std::byte* d_next = nullptr;
    std::size_t d_free = 0;
    std::size_t d_waiting = 0; // bytes submitted but not pulled, in place or in slots
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_OUTPUT_WINDOW_H */
