// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Received bits or soft values, read in any orientation of the symbols. */

#ifndef INCLUDED_GPUFEC_FRAMING_RECEIVED_BITS_H
#define INCLUDED_GPUFEC_FRAMING_RECEIVED_BITS_H

#include "bit_kernels.h"
#include "sync_marker.h"
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gr::gpufec::framing {

//! A permutation of the two bits of each symbol, and a change of sign of one of them.
//! Together with an inversion of all bits, these are the rotations and reflections of
//! QPSK.
struct orientation {
    unsigned first; //!< index of the first pair's first bit, 0 or 1
    bool swapped;   //!< whether the bits of a pair are exchanged
    bool
        complement; //!< whether the second bit of a pair, after the exchange, is inverted

    bool trivial() const { return !swapped && !complement; }
};

/*!
 * \brief Returns the orientations that a receiver cannot distinguish without a marker,
 * apart from the inversion of all bits.
 *
 * \param constellation "bpsk" (1 orientation), "qpsk" (4) or "oqpsk" (6, because a pair
 *        may also consist of bits of consecutive symbols)
 * \throws std::invalid_argument for another name
 */
std::vector<orientation> orientations_of(const std::string& constellation);

//! A window of a stream of bits. Positions count from the beginning of the stream.
//! Several threads may read at the same time.
class received_bits
{
public:
    //! Items are discarded in multiples of this number.
    static constexpr std::size_t unit = 512;

    //! \param soft whether the stream consists of soft values, which are then stored
    //!     besides their signs
    //! \param positive_bit the bit, 0 or 1, that a positive soft value means
    //! \param differential whether the bits are differentially encoded: a 1 is sent as a
    //!     change of the level, and a 0 as an unchanged level
    //! \param variant instruction set, as in cpu_variant()
    received_bits(bool soft,
                  unsigned positive_bit,
                  bool differential,
                  const std::string& variant = "");

    //! Appends packed bits. The stream must have no soft values. The bytes are borrowed:
    //! they must stay valid until the next call of push(), discard() or clear().
    void push(const std::uint8_t* bytes, std::size_t count);
    //! Appends soft values; −128 counts as −127.
    void push(const std::int8_t* values, std::size_t count);
    //! Discards bits before \p position; some of these bits may remain available. Copies
    //! the other borrowed bits.
    void discard(std::uint64_t position);
    void clear();

    bool has_soft() const { return d_has_soft; }
    std::uint64_t begin() const { return d_begin; }
    std::uint64_t end() const { return d_begin + d_count; }

    //! Copies packed bits in an orientation. \p position is a multiple of 8 from begin()
    //! on, and the bytes may extend beyond end(), where all bits are 0.
    void read_bytes(const orientation& o,
                    std::uint64_t position,
                    std::size_t count,
                    std::uint8_t* to) const;
    //! Copies \p count bytes of bits that begin at any \p position.
    void read_bits(const orientation& o,
                   std::uint64_t position,
                   std::size_t count,
                   std::uint8_t* to) const;
    //! Copies bits as read_bits() does, and XORs their bytes with a sequence and a mask.
    void read_bits(const orientation& o,
                   std::uint64_t position,
                   const std::vector<std::uint8_t>& sequence,
                   std::uint8_t mask,
                   std::uint8_t* to) const;
    //! Copies soft values in an orientation; values of complemented bits change their
    //! sign.
    void read_soft(const orientation& o,
                   std::uint64_t position,
                   std::size_t count,
                   std::int8_t* to) const;

    /*!
     * \brief Returns how well a marker fits, from −1 (inverted) to 1.
     *
     * With soft values v and the marker's signs s this is Σ s·v / √(n·Σ v²), where n is
     * the length of the marker. If all values are 0, the result is 0. Without soft
     * values, the result is 1 − 2 e / n if e bits are wrong.
     */
    double correlation(const orientation& o,
                       std::uint64_t position,
                       const sync_marker& marker) const;

private:
    void append_bit(bool bit);
    void append_bytes(std::size_t first);
    void copy_borrowed(std::size_t first);
    std::uint8_t byte(std::size_t index) const;
    const std::uint8_t* contiguous(std::size_t first, std::size_t count) const;

    const bit_kernels& d_kernels;
    const bool d_has_soft, d_differential;
    const std::uint8_t d_positive_mask; // XORed with packed sign bits
    const unsigned d_positive_bit;
    std::vector<std::uint8_t> d_bytes;        // packed bits from d_begin on
    const std::uint8_t* d_borrowed = nullptr; // further packed bits, after d_bytes
    std::size_t d_borrowed_bytes = 0;
    std::vector<std::int8_t> d_soft;
    std::uint64_t d_begin = 0; // a multiple of unit
    std::size_t d_count = 0;   // number of bits
    bool d_level = false;      // last bit before the differential decoder
};

} // namespace gr::gpufec::framing

#endif /* INCLUDED_GPUFEC_FRAMING_RECEIVED_BITS_H */
