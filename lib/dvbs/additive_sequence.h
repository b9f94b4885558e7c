// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The bit sequences that a Viterbi decoder with a phase error adds to the bits of a DVB-S
 * stream. */

#ifndef INCLUDED_GPUFEC_DVBS_ADDITIVE_SEQUENCE_H
#define INCLUDED_GPUFEC_DVBS_ADDITIVE_SEQUENCE_H

#include <cstddef>
#include <cstdint>

namespace gr::gpufec::dvbs {

/*!
 * \brief A periodic bit sequence that is added (XOR) to the decoded bits of a stream.
 *
 * If the sign changes of a phase error form a code sequence, a Viterbi decoder cannot
 * detect the error, and adds the information bits of that code sequence to its output.
 * With the punctured codes of EN 300 421, and with sign changes that are constant for I
 * and for Q, two cases exist. A sign change of both I and Q, at any rate, adds ones. At
 * rate 5/6, a sign change of I alone adds a sequence with the period 00101, and a sign
 * change of Q alone adds its complement. The second case is a reflection: a quarter turn
 * with I and Q exchanged.
 *
 * Bit t of the sequence is added to bit t of a stream, so the sequence of a reflection
 * has five phases.
 */
class additive_sequence
{
public:
    //! Number of sequences, not counting complements: zeros, and the five phases of a
    //! reflection.
    static constexpr unsigned kinds = 6;

    //! \param kind 0: zeros; 1 to 5: the phases of the sequence of a reflection
    //! \param complemented whether all bits of the sequence are inverted
    additive_sequence(unsigned kind, bool complemented)
        : d_kind(kind), d_complement(complemented ? 0xff : 0)
    {
    }
    additive_sequence() : additive_sequence(0, false) {}

    //! Adds the bits of the sequence from bit \p first on to \p count bytes.
    void add(std::uint64_t first, std::size_t count, std::uint8_t* bytes) const;

private:
    unsigned d_kind;
    std::uint8_t d_complement;
};

} // namespace gr::gpufec::dvbs

#endif /* INCLUDED_GPUFEC_DVBS_ADDITIVE_SEQUENCE_H */
