// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Reference BCH encoder and decoder, bit by bit, for tests of bch_encoder_kernel and
 * bch_decoder_kernel. */

#ifndef INCLUDED_GPUFEC_BCH_REFERENCE_H
#define INCLUDED_GPUFEC_BCH_REFERENCE_H

#include <gnuradio/gpufec/bch.h>
#include <cstdint>
#include <vector>

namespace gr::gpufec::bch {

//! Encodes k bits, one per byte, to n bits.
std::vector<std::uint8_t> reference_encode(const bch_code& code,
                                           const std::vector<std::uint8_t>& message);

//! Corrects n bits, one per byte. Returns the same count as bch_decoder_kernel::decode().
int reference_decode(const bch_code& code, std::vector<std::uint8_t>& codeword);

} // namespace gr::gpufec::bch

#endif /* INCLUDED_GPUFEC_BCH_REFERENCE_H */
