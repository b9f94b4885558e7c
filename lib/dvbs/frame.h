// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Sizes and sync bytes of DVB-S frames: EN 300 421, 4.4.1 to 4.4.3. */

#ifndef INCLUDED_GPUFEC_DVBS_FRAME_H
#define INCLUDED_GPUFEC_DVBS_FRAME_H

#include <cstddef>
#include <cstdint>

namespace gr::gpufec::dvbs {

//! Number of bytes of a transport-stream packet.
constexpr std::size_t packet_bytes = 188;
//! Number of bytes of a Reed-Solomon codeword: a packet and 16 parity symbols. A frame
//! has the same length and begins with a sync byte.
constexpr std::size_t frame_bytes = 204;
constexpr std::size_t frame_bits = 8 * frame_bytes;

constexpr std::uint8_t sync_byte = 0x47;
//! Number of packets in a group of the energy dispersal. The sync byte of the first
//! packet of a group is inverted.
constexpr unsigned group_packets = 8;

//! Number of branches of the convolutional interleaver, I in the standard.
constexpr unsigned branches = 12;
// Branch j delays its bytes by 17·j steps of 12 bytes, which are j whole frames.
static_assert(frame_bytes == 17 * branches);

} // namespace gr::gpufec::dvbs

#endif /* INCLUDED_GPUFEC_DVBS_FRAME_H */
