// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Where the output of a batch will be pulled to, in memory that the caller lends for it.
 */

#ifndef INCLUDED_GPUFEC_PIPELINE_OUTPUT_WINDOW_H
#define INCLUDED_GPUFEC_PIPELINE_OUTPUT_WINDOW_H

#include <algorithm>
#include <cstddef>

namespace gr::gpufec {

class output_window
{
public:
    //! What is pulled next goes to \p next; so many \p bytes are free from there on.
    void lend(std::byte* next, std::size_t bytes)
    {
        d_next = next;
        d_free = bytes;
    }

    //! Where \p bytes that are submitted now are pulled to; nullptr if no such place is
    //! lent.
    std::byte* place(std::size_t bytes) const
    {
        return bytes > 0 && d_waiting + bytes <= d_free ? d_next + d_waiting : nullptr;
    }

    //! Whether nothing that was submitted is still to be pulled.
    bool empty() const { return d_waiting == 0; }

    //! A batch is in flight of which \p bytes will be pulled.
    void submitted(std::size_t bytes) { d_waiting += bytes; }

    void pulled(std::size_t bytes)
    {
        d_waiting -= std::min(bytes, d_waiting);
        const auto lent = std::min(bytes, d_free);
        d_next += lent;
        d_free -= lent;
    }

private:
    std::byte* d_next = nullptr;
    std::size_t d_free = 0;
    std::size_t d_waiting = 0; // submitted and not pulled, lent or not
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_OUTPUT_WINDOW_H */
