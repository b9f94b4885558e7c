// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Storage of received bits and soft values, and their orientations. */

#include "common/refuse.h"
#include "marker_search.h"
#include "received_bits.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace gr::gpufec::framing {

namespace {

// Masks of the bits of a byte at even and at odd positions of the stream.
constexpr unsigned even = 0xaa, odd = 0x55;

} // namespace

std::vector<orientation> orientations_of(const std::string& constellation)
{
    const auto count = choose<int>(
        "constellation", constellation, { { "bpsk", 1 }, { "qpsk", 4 }, { "oqpsk", 6 } });
    std::vector<orientation> all{ { 0, false, false }, { 0, true, true },
                                  { 0, false, true },  { 0, true, false },
                                  { 1, true, true },   { 1, true, false } };
    all.resize(count);
    return all;
}

received_bits::received_bits(bool soft,
                             unsigned positive_bit,
                             bool differential,
                             const std::string& variant)
    : d_kernels(bit_kernels_of(variant)),
      d_has_soft(soft),
      d_differential(differential),
      d_positive_mask(positive_bit ? 0xff : 0),
      d_positive_bit(positive_bit)
{
}

void received_bits::clear()
{
    d_bytes.clear();
    d_soft.clear();
    d_borrowed_bytes = 0;
    d_begin = d_count = 0;
    d_level = false;
}

// Adds the bytes of d_bytes from index `first` on to the count of bits. Decodes the bits
// if they are differentially encoded. The bytes begin at a byte boundary of the stream.
void received_bits::append_bytes(std::size_t first)
{
    d_count += 8 * (d_bytes.size() - first);
    for (auto i = first; d_differential && i < d_bytes.size(); ++i) {
        const auto byte = d_bytes[i];
        d_bytes[i] = std::uint8_t(byte ^ (byte >> 1 | d_level << 7));
        d_level = byte & 1;
    }
}

void received_bits::append_bit(bool bit)
{
    const bool value = bit != (d_differential && d_level);
    d_level = bit;
    if (d_count % 8 == 0) {
        d_bytes.push_back(0);
    }
    d_bytes.back() = std::uint8_t(d_bytes.back() | value << (7 - d_count % 8));
    ++d_count;
}

void received_bits::push(const std::uint8_t* bytes, std::size_t count)
{
    copy_borrowed(0);
    d_borrowed = bytes;
    d_borrowed_bytes = count;
    if (d_differential) {
        const auto old = d_bytes.size();
        copy_borrowed(0);
        append_bytes(old);
    } else {
        d_count += 8 * count;
    }
}

// Copies the borrowed bytes from index `first` on to d_bytes.
void received_bits::copy_borrowed(std::size_t first)
{
    d_bytes.insert(d_bytes.end(), d_borrowed + first, d_borrowed + d_borrowed_bytes);
    d_borrowed_bytes = 0;
}

void received_bits::push(const std::int8_t* values, std::size_t count)
{
    copy_borrowed(0);
    if (d_has_soft) {
        const auto old = d_soft.size();
        d_soft.resize(old + count);
        std::transform(values, values + count, d_soft.begin() + old, [](std::int8_t v) {
            return std::max<std::int8_t>(v, -127);
        });
    }
    std::size_t i = 0;
    const auto one = [&] { append_bit((values[i++] < 0) != (d_positive_mask != 0)); };
    while (i < count && d_count % 8 != 0) {
        one();
    }
    const auto old = d_bytes.size(), whole = (count - i) / 8;
    d_bytes.resize(old + whole);
    for (std::size_t k = 0; k < whole; ++k, i += 8) {
        // In the product, bit 63 − k is the sign bit of value k; no carry reaches the
        // bits used.
        std::uint64_t eight;
        std::memcpy(&eight, values + i, 8);
        const auto signs = (eight >> 7 & 0x0101010101010101u) * 0x8040201008040201u >> 56;
        d_bytes[old + k] = std::uint8_t(signs ^ d_positive_mask);
    }
    append_bytes(old);
    while (i < count) {
        one();
    }
}

void received_bits::discard(std::uint64_t position)
{
    const auto before =
        std::min<std::uint64_t>(position - std::min(position, d_begin), d_count);
    const auto n = std::size_t(before) / unit * unit;
    if (d_borrowed_bytes > 0 && n / 8 >= d_bytes.size()) {
        const auto first = n / 8 - d_bytes.size();
        d_bytes.clear();
        copy_borrowed(first);
        d_begin += n;
        d_count -= n;
        return;
    }
    copy_borrowed(0);
    // Moves the remaining bits only when more bits are discarded than remain, so that
    // each bit is moved about once on average.
    if (n < d_count - n || n == 0) {
        return;
    }
    d_bytes.erase(d_bytes.begin(), d_bytes.begin() + n / 8);
    if (d_has_soft) {
        d_soft.erase(d_soft.begin(), d_soft.begin() + n);
    }
    d_begin += n;
    d_count -= n;
}

// Returns a stored byte, or 0 after the last one.
std::uint8_t received_bits::byte(std::size_t index) const
{
    const auto* const found = contiguous(index, 1);
    return found ? *found : 0;
}

// Returns where `count` bytes from index `first` on are stored, or null if they are not
// stored in one place.
const std::uint8_t* received_bits::contiguous(std::size_t first, std::size_t count) const
{
    const auto own = d_bytes.size(), end = first + count;
    return end <= own                                      ? d_bytes.data() + first
           : first >= own && end <= own + d_borrowed_bytes ? d_borrowed + (first - own)
                                                           : nullptr;
}

void received_bits::read_bytes(const orientation& o,
                               std::uint64_t position,
                               std::size_t count,
                               std::uint8_t* to) const
{
    const auto first = std::size_t(position - d_begin) / 8;
    std::size_t have = 0;
    const auto append =
        [&](const std::uint8_t* from, std::size_t begin, std::size_t end) {
            // `begin` and `end` are the indices of the bytes at `from`.
            const auto at = first + have;
            if (at >= begin && at < end) {
                const auto n = std::min(count - have, end - at);
                std::copy_n(from + (at - begin), n, to + have);
                have += n;
            }
        };
    const auto own = d_bytes.size();
    append(d_bytes.data(), 0, own);
    append(d_borrowed, own, own + d_borrowed_bytes);
    std::fill(to + have, to + count, 0);
    if (o.trivial() || count == 0) {
        return;
    }
    if (o.swapped && o.first == 0) {
        for (std::size_t i = 0; i < count; ++i) {
            to[i] = std::uint8_t((to[i] << 1 & even) | (to[i] >> 1 & odd));
        }
    } else if (o.swapped) {
        // A pair of bits may extend over two bytes.
        unsigned before = first > 0 ? byte(first - 1) : 0;
        const unsigned after = byte(first + count);
        for (std::size_t i = 0; i < count; ++i) {
            const unsigned here = to[i], next = i + 1 < count ? to[i + 1] : after;
            to[i] = std::uint8_t(((before << 7 | here >> 1) & even) |
                                 ((here << 1 | next >> 7) & odd));
            before = here;
        }
    }
    if (o.complement) {
        const auto mask = std::uint8_t(o.first == 0 ? odd : even);
        std::for_each(to, to + count, [mask](auto& byte) { byte ^= mask; });
    }
}

void received_bits::read_bits(const orientation& o,
                              std::uint64_t position,
                              std::size_t count,
                              std::uint8_t* to) const
{
    const auto shift = unsigned(position % 8);
    if (shift == 0 || count == 0) {
        read_bytes(o, position, count, to);
        return;
    }
    std::uint8_t last;
    read_bytes(o, position - shift, count, to);
    read_bytes(o, position - shift + 8 * count, 1, &last);
    for (std::size_t i = 0; i < count; ++i) {
        const auto next = i + 1 < count ? to[i + 1] : last;
        to[i] = std::uint8_t(to[i] << shift | next >> (8 - shift));
    }
}

void received_bits::read_bits(const orientation& o,
                              std::uint64_t position,
                              const std::vector<std::uint8_t>& sequence,
                              std::uint8_t mask,
                              std::uint8_t* to) const
{
    const auto count = sequence.size(), first = std::size_t(position - d_begin) / 8;
    const auto* from = o.trivial() ? contiguous(first, count + 1) : nullptr;
    std::vector<std::uint8_t> copied;
    if (!from) {
        copied.resize(count + 1);
        read_bytes(o, position - position % 8, copied.size(), copied.data());
        from = copied.data();
    }
    d_kernels.copy(from, position % 8, count, sequence.data(), mask, to);
}

void received_bits::read_soft(const orientation& o,
                              std::uint64_t position,
                              std::size_t count,
                              std::int8_t* to) const
{
    const auto first = std::size_t(position - d_begin);
    if (o.trivial()) {
        std::copy_n(d_soft.begin() + first, count, to);
        return;
    }
    for (std::size_t i = 0; i < count; ++i) {
        const auto at = first + i;
        const bool second = at % 2 != o.first;
        const auto from = o.swapped ? (second ? at - 1 : at + 1) : at;
        const auto value = from < d_soft.size() ? d_soft[from] : std::int8_t(0);
        to[i] = second && o.complement ? std::int8_t(-value) : value;
    }
}

double received_bits::correlation(const orientation& o,
                                  std::uint64_t position,
                                  const sync_marker& marker) const
{
    const auto n = marker.bits;
    if (!d_has_soft) {
        std::uint8_t bytes[8];
        read_bits(o, position, n / 8, bytes);
        const auto wrong = __builtin_popcountll(bits_at(bytes, 0, n) ^ marker.word);
        return 1 - 2.0 * wrong / n;
    }
    std::int8_t values[64];
    read_soft(o, position, n, values);
    int sum = 0, energy = 0;
    for (unsigned i = 0; i < n; ++i) {
        const bool bit = marker.word >> (n - 1 - i) & 1;
        sum += bit == (d_positive_bit == 1) ? values[i] : -values[i];
        energy += values[i] * values[i];
    }
    return energy ? sum / std::sqrt(double(n) * energy) : 0;
}

} // namespace gr::gpufec::framing
