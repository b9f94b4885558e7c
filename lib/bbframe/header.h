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

//! CRC-8 with polynomial x^8 + x^7 + x^6 + x^4 + x^2 + 1 and initial value 0.
class crc8
{
public:
    crc8();
    std::uint8_t operator()(const std::uint8_t* bytes, std::size_t count) const;

private:
    std::uint8_t d_after[8][256]; // [i][b]: CRC of byte b followed by i zero bytes
};

constexpr std::size_t header_bytes = 10;
constexpr std::size_t header_bits = 80;

struct header {
    enum class stream { generic_packets, generic_continuous, gse, transport };

    stream kind;
    bool single_input;    //!< whether the mode has a single input stream; otherwise isi
                          //!< identifies the frame's input stream
    bool issy, deleted;   //!< whether packets have ISSY fields, and whether null packets
                          //!< were deleted
    bool high_efficiency; //!< whether the mode is DVB-T2's high efficiency mode, in
                          //!< which packets have neither CRC-8 nor sync byte
    std::uint8_t isi;
    std::uint16_t upl, dfl, syncd; //!< in bits: length of a packet (UPL) and of the data
                                   //!< field (DFL), place of the first packet (SYNCD)
};

//! Parses a BBHEADER of header_bytes bytes. Returns nothing if its CRC-8 is wrong.
//! \param may_be_efficient whether to accept the CRC-8 that marks DVB-T2's high
//!        efficiency mode
std::optional<header>
read_header(const std::uint8_t* bytes, const crc8& crc, bool may_be_efficient);

//! Returns the first \p bytes bytes of the scrambling sequence, which is added (XOR) to a
//! frame.
std::vector<std::uint8_t> scrambling(std::size_t bytes);

} // namespace gr::gpufec::bbframe

#endif /* INCLUDED_GPUFEC_BBFRAME_HEADER_H */
