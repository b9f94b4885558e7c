// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Packed bits (eight per byte, MSB first): conversion from and to one bit per byte,
 * access to words of 64 bits, and a writer. */

#ifndef INCLUDED_GPUFEC_COMMON_PACKED_BITS_H
#define INCLUDED_GPUFEC_COMMON_PACKED_BITS_H

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gr::gpufec {

//! Returns the number of items that hold \p bits bits: eight per item if \p packed is
//! true, otherwise one.
inline std::size_t items_of(std::size_t bits, bool packed)
{
    return packed ? (bits + 7) / 8 : bits;
}

//! Packs the lowest bit of each of \p count bytes; the last byte is padded with zeros.
inline void pack_bits(const std::uint8_t* bits, std::size_t count, std::uint8_t* to)
{
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        // In the product, bit 63 − k is the lowest bit of byte k; no carry reaches
        // these positions.
        std::uint64_t eight;
        std::memcpy(&eight, bits + i, 8);
        *to++ = ((eight & 0x0101010101010101u) * 0x8040201008040201u) >> 56;
    }
    if (i < count) {
        unsigned last = 0;
        for (unsigned k = 0; i + k < count; ++k) {
            last |= (bits[i + k] & 1u) << (7 - k);
        }
        *to = last;
    }
}

//! Unpacks \p count bits to one bit per byte, beginning with bit number \p first of
//! \p from.
inline void unpack_bits(const std::uint8_t* from,
                        std::size_t first,
                        std::size_t count,
                        std::uint8_t* out)
{
    std::size_t i = 0;
    const auto one = [&] {
        out[i] = from[(first + i) / 8] >> (7 - (first + i) % 8) & 1u;
        ++i;
    };
    while (i < count && (first + i) % 8 != 0) {
        one();
    }
    for (; i + 8 <= count; i += 8) {
        // Copies the byte to all eight bytes of a word, keeps only bit 7 − k in byte k,
        // and replaces nonzero bytes by 1.
        constexpr std::uint64_t each = 0x0101010101010101u;
        const auto copies = std::uint64_t(from[(first + i) / 8]) * each;
        const auto bits = (((copies & 0x0102040810204080u) + 0x7f * each) >> 7) & each;
        std::memcpy(out + i, &bits, 8);
    }
    while (i < count) {
        one();
    }
}

//! Returns 64 bits of \p bytes, beginning with bit number \p first as the most
//! significant bit. Bits from number \p count on are returned as 0.
inline std::uint64_t
packed_word(const std::uint8_t* bytes, std::size_t count, std::size_t first)
{
    if (first >= count) {
        return 0;
    }
    const auto byte = first / 8, shift = first % 8, end = (count + 7) / 8;
    std::uint64_t word = 0;
    if (byte + 9 <= end) {
        std::memcpy(&word, bytes + byte, 8);
        word = __builtin_bswap64(word) << shift;
        word |= std::uint64_t(bytes[byte + 8]) >> (8 - shift);
    } else {
        for (auto b = byte; b < end; ++b) {
            const int to = 56 - 8 * int(b - byte) + int(shift);
            const auto x = std::uint64_t(bytes[b]);
            word |= to >= 0 ? x << to : x >> -to;
        }
    }
    const auto left = count - first;
    return left < 64 ? word & ~(~std::uint64_t(0) >> left) : word;
}

//! Writer of consecutive packed bits.
class bit_writer
{
public:
    //! Begins at bit \p first (0 to 7, 0 is the MSB) of the byte at \p to; earlier bits
    //! stay unchanged. All bits must fit before \p end. put() may overwrite bytes after
    //! the last bit, but none from \p end on.
    bit_writer(std::uint8_t* to, unsigned first, std::uint8_t* end)
        : d_bits(first ? *to >> (8 - first) : 0), d_count(first), d_to(to), d_end(end)
    {
    }

    //! Appends the \p count lowest bits of \p bits; \p count is at most 56. The higher
    //! bits must be 0.
    void put(std::uint64_t bits, unsigned count)
    {
        d_bits = d_bits << count | bits;
        d_count += count;
        if (d_end - d_to >= 8 && d_count > 0) {
            const auto word = __builtin_bswap64(d_bits << (64 - d_count));
            std::memcpy(d_to, &word, 8);
            d_to += d_count / 8;
            d_count %= 8;
            return;
        }
        for (; d_count >= 8; d_count -= 8) {
            *d_to++ = std::uint8_t(d_bits >> (d_count - 8));
        }
    }

    //! Pads the last byte with zeros and returns the address after it.
    std::uint8_t* finish()
    {
        if (d_count > 0) {
            *d_to++ = std::uint8_t(d_bits << (8 - d_count));
            d_count = 0;
        }
        return d_to;
    }

private:
    std::uint64_t d_bits; // the lowest d_count bits are not written yet
    unsigned d_count;
    std::uint8_t *d_to, *d_end;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_COMMON_PACKED_BITS_H */
