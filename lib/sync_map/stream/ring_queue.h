// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A queue that reuses the memory of its elements. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_STREAM_RING_QUEUE_H
#define INCLUDED_GPUFEC_SYNC_MAP_STREAM_RING_QUEUE_H

#include <cstddef>
#include <utility>
#include <vector>

namespace gr::gpufec::sync_map {

/*!
 * \brief A growing queue whose popped elements keep the memory that they own.
 *
 * add() may return a popped element with its old contents, so the caller must set every
 * member.
 */
template <class T>
class ring
{
public:
    std::size_t size() const { return d_size; }
    bool empty() const { return d_size == 0; }

    T& operator[](std::size_t i) { return d_elements[place(i)]; }
    const T& operator[](std::size_t i) const { return d_elements[place(i)]; }
    T& front() { return (*this)[0]; }
    const T& front() const { return (*this)[0]; }
    T& back() { return (*this)[d_size - 1]; }
    const T& back() const { return (*this)[d_size - 1]; }

    void reserve(std::size_t count)
    {
        if (count <= d_elements.size()) {
            return;
        }
        std::size_t power = 64;
        while (power < count) {
            power *= 2;
        }
        std::vector<T> more(power);
        for (std::size_t i = 0; i < d_size; ++i) {
            more[i] = std::move((*this)[i]);
        }
        d_elements = std::move(more);
        d_first = 0;
    }

    T& add()
    {
        reserve(d_size + 1);
        return (*this)[d_size++];
    }
    void pop()
    {
        d_first = place(1);
        --d_size;
    }
    //! Drops all elements except the first \p count.
    void cut(std::size_t count) { d_size = count; }

private:
    // The capacity is a power of two, so a mask replaces the division.
    std::size_t place(std::size_t i) const
    {
        return (d_first + i) & (d_elements.size() - 1);
    }

    std::vector<T> d_elements;
    std::size_t d_first = 0, d_size = 0;
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_STREAM_RING_QUEUE_H */
