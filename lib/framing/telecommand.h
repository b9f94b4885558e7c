// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Telecommand formats of CCSDS 231.0-B: start and tail sequences, and the BCH code. */

#ifndef INCLUDED_GPUFEC_FRAMING_TELECOMMAND_H
#define INCLUDED_GPUFEC_FRAMING_TELECOMMAND_H

#include "sync_marker.h"
#include <gnuradio/gpufec/ccsds.h>
#include <array>
#include <string>
#include <vector>

namespace gr::gpufec::framing {

//! Returns the start sequence of a code (CCSDS 231.0-B, 5.2.2).
sync_marker start_sequence(const ccsds_telecommand_code& code);

//! Returns the tail sequences that end the codewords of a CLTU, that of the latest issue
//! first (CCSDS 231.0-B, 5.2.4). A tail sequence is as long as a codeword. The code
//! (512, 256) has no tail sequence.
std::vector<std::vector<std::uint8_t>> tail_sequences(const ccsds_telecommand_code& code);

/*!
 * \brief Returns the name by which randomiser_sequence() finds a randomiser of
 * telecommands.
 * \param name ccsds_framing::randomiser
 * \throws std::invalid_argument unless \p name is "none" or "short"
 */
std::string telecommand_randomiser(const std::string& name);

/*!
 * \brief The modified BCH code (63, 56) of CCSDS 231.0-B, section 3.
 *
 * A codeword has 64 bits, the first most significant: 56 message bits, the complements of
 * seven parity bits, and a filler bit 0. The generator is x^7 + x^6 + x^2 + 1.
 */
class telecommand_bch
{
public:
    telecommand_bch();

    //! Returns the codeword of the 56 lowest bits of \p message.
    static std::uint64_t encode(std::uint64_t message);

    /*!
     * \brief Corrects a wrong bit. Two wrong bits, one of which may be the filler bit,
     * are detected.
     * \return the number of corrected bits, 0 or 1; −1 if \p word has an error that
     * cannot be corrected
     */
    int correct(std::uint64_t& word) const;

private:
    // Mask of the wrong bit by syndrome; 0 if no bit can be corrected.
    std::array<std::uint64_t, 128> d_error{};
};

} // namespace gr::gpufec::framing

#endif /* INCLUDED_GPUFEC_FRAMING_TELECOMMAND_H */
