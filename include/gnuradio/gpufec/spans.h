// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Views of the caller's memory, which decoders read and write. */

#ifndef INCLUDED_GPUFEC_SPANS_H
#define INCLUDED_GPUFEC_SPANS_H

#include <gnuradio/gpufec/api.h>
#include <type_traits>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

namespace gr::gpufec {

/*!
 * \brief View of consecutive elements in memory of the caller.
 *
 * A vector, an array and a string convert to a view of all their elements.
 * \tparam T the element, const if it is only read
 */
template <class T>
class span
{
public:
    span() = default;
    span(T* data, std::size_t size) : d_data(data), d_size(size) {}
    template <class Container,
              class Data = decltype(std::data(std::declval<Container&>())),
              class = std::enable_if_t<std::is_convertible_v<Data, T*>>>
    span(Container&& c) : span(std::data(c), std::size(c))
    {
    }

    T* data() const { return d_data; }
    std::size_t size() const { return d_size; }
    //! Returns the elements from element \p first on.
    span from(std::size_t first) const { return { d_data + first, d_size - first }; }

private:
    T* d_data = nullptr;
    std::size_t d_size = 0;
};

template <class Container>
span(Container&&)
    -> span<std::remove_pointer_t<decltype(std::data(std::declval<Container&>()))>>;

//! Memory for decoded bits: eight per byte, the first most significant, or one per byte.
struct bit_span : span<std::uint8_t> {
    bit_span(span<std::uint8_t> memory, bool is_packed) : span(memory), packed(is_packed)
    {
    }
    bit_span(std::uint8_t* data, std::size_t size, bool is_packed)
        : span(data, size), packed(is_packed)
    {
    }

    bool packed; //!< whether a byte contains eight bits; otherwise, one bit
};

//! Returns memory for bits, eight per byte.
inline bit_span packed_bits(span<std::uint8_t> memory) { return { memory, true }; }
//! Returns memory for bits, one per byte.
inline bit_span unpacked_bits(span<std::uint8_t> memory) { return { memory, false }; }

//! Type of an input or output item.
enum class item_type {
    unknown, //!< Decoders accept these items as items of the type that they expect.
    int8,
    uint8,
    uint16,
    float32,
    float64,
    complex_int8,
    complex_int16,
    complex_float32,
    group //!< an item that consists of several values, such as likelihoods
};

//! Returns the type of the items at an address. Programs with other elements do not
//! compile, because no decoder has items of their types.
template <class T>
item_type item_type_at(const T*) = delete;
// clang-format off
constexpr item_type item_type_at(const void*) { return item_type::unknown; }
constexpr item_type item_type_at(const std::byte*) { return item_type::unknown; }
constexpr item_type item_type_at(const char*) { return item_type::unknown; }
constexpr item_type item_type_at(const std::int8_t*) { return item_type::int8; }
constexpr item_type item_type_at(const std::uint8_t*) { return item_type::uint8; }
constexpr item_type item_type_at(const std::uint16_t*) { return item_type::uint16; }
constexpr item_type item_type_at(const float*) { return item_type::float32; }
constexpr item_type item_type_at(const double*) { return item_type::float64; }
constexpr item_type item_type_at(const std::complex<std::int8_t>*) { return item_type::complex_int8; }
constexpr item_type item_type_at(const std::complex<std::int16_t>*) { return item_type::complex_int16; }
constexpr item_type item_type_at(const std::complex<float>*) { return item_type::complex_float32; }
// clang-format on

//! \throws std::invalid_argument that names both types
[[noreturn]] GPUFEC_API void refuse_items(item_type type, item_type expected);

/*!
 * \brief View of items whose type the options of a decoder choose.
 *
 * A pointer and a number of items, a vector, an array and a span convert to a view. With
 * elements of type void, std::byte or char the caller is responsible for the type.
 * Decoders refuse items of another known type.
 * \tparam Void const void for input, void for output
 */
template <class Void>
class item_span
{
public:
    item_span() = default;
    template <class T, class = std::enable_if_t<std::is_convertible_v<T*, Void*>>>
    item_span(T* data, std::size_t size)
        : d_data(data), d_size(size), d_type(item_type_at(data))
    {
    }
    template <
        class Container,
        class Data = decltype(std::data(std::declval<Container&>())),
        class = std::enable_if_t<std::is_convertible_v<Data, Void*>>,
        class = std::enable_if_t<!std::is_same_v<std::decay_t<Container>, item_span>>>
    item_span(Container&& c) : item_span(std::data(c), std::size(c))
    {
    }

    Void* data() const { return d_data; }
    std::size_t size() const { return d_size; } //!< number of items
    //! \throws std::invalid_argument if the type is known and is not \p expected
    void require(item_type expected) const
    {
        if (d_type != item_type::unknown && d_type != expected) {
            refuse_items(d_type, expected);
        }
    }

private:
    Void* d_data = nullptr;
    std::size_t d_size = 0;
    item_type d_type = item_type::unknown;
};

using input_items = item_span<const void>;
using output_items = item_span<void>;

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_SPANS_H */
