// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* BBHEADERs, CRC-8 and the scrambler of BBFRAMEs: EN 302 307-1, 5.1.4 to 5.2.2. */

#ifndef INCLUDED_GPUFEC_BBFRAME_HEADER_H
#define INCLUDED_GPUFEC_BBFRAME_HEADER_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::gpufec::bbframe {

//! x^8 + x^7 + x^6 + x^4 + x^2 + 1, from zero.
class crc8
{
public:
    crc8();
    std::uint8_t operator()(const std::uint8_t* bytes, std::size_t count) const;

private:
    std::uint8_t d_after[8][256]; // a byte, and i more that are zero
};

constexpr std::size_t header_bytes = 10;
constexpr std::size_t header_bits = 80;

struct header {
    enum class stream { generic_packets, generic_continuous, gse, transport };

    stream kind;
    bool single_input;    //!< else isi says which one it is
    bool issy, deleted;   //!< ISSY fields; null packets were deleted
    bool high_efficiency; //!< DVB-T2's, without CRC-8 and sync bytes
    std::uint8_t isi;
    std::uint16_t upl, dfl, syncd; //!< bits
};

//! Nothing if the CRC-8 is wrong. \param may_be_efficient DVB-T2's mode is known by it
std::optional<header>
read_header(const std::uint8_t* bytes, const crc8& crc, bool may_be_efficient);

//! What frames of up to so many bytes are scrambled with, by exclusive or.
std::vector<std::uint8_t> scrambling(std::size_t bytes);

} // namespace gr::gpufec::bbframe

#endif /* INCLUDED_GPUFEC_BBFRAME_HEADER_H */
