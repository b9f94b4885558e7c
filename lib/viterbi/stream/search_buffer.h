// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Soft values of a stream that are held until it is known how they are to be read. */

#ifndef INCLUDED_GPUFEC_VITERBI_HELD_INPUT_H
#define INCLUDED_GPUFEC_VITERBI_HELD_INPUT_H

#include <gnuradio/gpufec/viterbi.h>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::gpufec::viterbi {

//! Soft values of a stream, by their number; −127 is the least.
struct value_span {
    const std::int8_t* values;
    std::uint64_t first, end;
};

class held_input
{
public:
    explicit held_input(soft_format format) : d_format(format) {}

    std::size_t values_per_item() const
    {
        return d_format == soft_format::packed4 ? 2 : 1;
    }
    //! Takes \p items; floats become steps by \p scale.
    void append(const void* items, std::size_t count, float scale);
    //! Takes \p n steps, which \p read(to) writes.
    template <class Read>
    void append_steps(std::size_t n, Read&& read)
    {
        auto* const to = room_for(n);
        read(to);
        limit(to, to, n);
    }
    //! Holds nothing, and goes on with value \p value.
    void skip_to(std::uint64_t value);
    //! Moves to the next stream.
    void clear();

    std::uint64_t first() const { return d_first; }
    std::uint64_t end() const { return d_first + d_tail - d_head; }
    value_span span() const { return { d_values.data() + d_head, first(), end() }; }
    void drop_before(std::uint64_t value);

private:
    std::int8_t* room_for(std::size_t n);
    // −128 has no opposite, and counts as −127.
    static void limit(const std::int8_t* from, std::int8_t* to, std::size_t n);

    const soft_format d_format;
    std::vector<std::int8_t> d_values;
    std::size_t d_head = 0, d_tail = 0; // those that are held
    std::uint64_t d_first = 0;          // number of the first of them
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_HELD_INPUT_H */
