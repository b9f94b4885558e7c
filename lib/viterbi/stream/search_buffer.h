// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A buffer that converts soft values of any format to int8, and a view of its values, for
 * the phase search and for signal_judge. */

#ifndef INCLUDED_GPUFEC_VITERBI_STREAM_SEARCH_BUFFER_H
#define INCLUDED_GPUFEC_VITERBI_STREAM_SEARCH_BUFFER_H

#include <gnuradio/gpufec/viterbi.h>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::gpufec::viterbi {

//! Soft values `first` to `end` − 1 of a stream. None is below −127.
struct value_span {
    const std::int8_t* values;
    std::uint64_t first, end;
};

class search_buffer
{
public:
    explicit search_buffer(soft_format format) : d_format(format) {}

    std::size_t values_per_item() const
    {
        return d_format == soft_format::packed4 ? 2 : 1;
    }
    //! Appends \p count input items, converted to int8. Floats are multiplied by
    //! \p scale.
    void append(const void* items, std::size_t count, float scale);
    //! Appends \p n int8 values, which \p read(to) must write to the address \p to.
    template <class Read>
    void append_quantised(std::size_t n, Read&& read)
    {
        auto* const to = extend(n);
        read(to);
        limit(to, to, n);
    }
    //! Drops all values. The next appended value has index \p value.
    void skip_to(std::uint64_t value);
    //! Drops all values. The next appended value has index 0.
    void clear();

    //! Returns the index of the oldest value.
    std::uint64_t first() const { return d_first; }
    //! Returns the index after that of the newest value.
    std::uint64_t end() const { return d_first + d_tail - d_head; }
    value_span span() const { return { d_values.data() + d_head, first(), end() }; }
    //! Drops the values with indices below \p value.
    void drop_before(std::uint64_t value);

private:
    std::int8_t* extend(std::size_t n);
    // Copies values and replaces −128 by −127, because the sign may be changed later and
    // 128 does not fit an int8.
    static void limit(const std::int8_t* from, std::int8_t* to, std::size_t n);

    const soft_format d_format;
    std::vector<std::int8_t> d_values;
    // The buffered values are d_values[d_head] to d_values[d_tail − 1].
    std::size_t d_head = 0, d_tail = 0;
    std::uint64_t d_first = 0; // index of the first buffered value
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_STREAM_SEARCH_BUFFER_H */
