// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Pseudo-randomisers of CCSDS. */

#ifndef INCLUDED_GPUFEC_FRAMING_RANDOMISER_H
#define INCLUDED_GPUFEC_FRAMING_RANDOMISER_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gr::gpufec::framing {

/*!
 * \brief Returns the first \p bytes bytes of a randomiser's sequence, as packed bits.
 *
 * Each frame begins with the first bit of the sequence; the marker is not randomised.
 * \param name "none" (zeros); "short": x^8 + x^7 + x^5 + x^3 + 1, with a period of 255
 *        bits; "long": x^17 + x^14 + 1, with a period of 131,071 bits (CCSDS 131.0-B-5,
 *        10.4; earlier issues define only "short"); "telecommand":
 *        x^8 + x^6 + x^4 + x^3 + x^2 + x + 1, with a period of 255 bits (CCSDS 231.0-B,
 *        section 6)
 * \throws std::invalid_argument for another name
 */
std::vector<std::uint8_t> randomiser_sequence(const std::string& name, std::size_t bytes);

//! XORs \p count bytes at \p bytes with the bytes of \p sequence and with the mask
//! \p more. The mask 0xff complements all bits.
void randomise(std::uint8_t* bytes,
               const std::uint8_t* sequence,
               std::size_t count,
               std::uint8_t more = 0);

} // namespace gr::gpufec::framing

#endif /* INCLUDED_GPUFEC_FRAMING_RANDOMISER_H */
