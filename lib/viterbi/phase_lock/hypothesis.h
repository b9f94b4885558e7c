// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Phase hypotheses: the ways in which received soft values may belong to a code. */

#ifndef INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_HYPOTHESIS_H
#define INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_HYPOTHESIS_H

#include "viterbi/model/job.h"
#include <gnuradio/gpufec/viterbi.h>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gr::gpufec::viterbi {

/*!
 * \brief One way of reading a stream of soft values as a code.
 *
 * The code's value j is the stream's value start() + from(j), with its sign changed if
 * flips(j). The pattern repeats after cycle() values.
 */
class hypothesis
{
public:
    //! The order of the two values of a symbol.
    enum class order {
        as_sent,
        swapped,
        half,        //!< the second value comes from the next symbol
        half_swapped //!< the first value comes from the next symbol
    };

    //! \p which: index of the code in the list of searched codes. \p place, below
    //! \p cycle: index of a value at which both a puncturing period and a symbol begin.
    //! \p alternate: the sign of every second value is changed. \p inverted: all signs
    //! are changed.
    hypothesis(const conv_code& code,
               unsigned which,
               unsigned cycle,
               unsigned place,
               order arrangement,
               bool alternate,
               bool inverted);

    const conv_code& code() const { return d_code; }
    //! Returns the index of the code in the list of searched codes.
    unsigned which() const { return d_which; }
    unsigned cycle() const { return d_cycle; }
    unsigned place() const { return d_place; }
    order arrangement() const { return d_arrangement; }
    bool alternate() const { return d_alternate; }
    bool inverted() const { return d_inverted; }

    //! Returns the first value, not before \p value, at which a cycle begins.
    std::uint64_t start(std::uint64_t value) const
    {
        return value + (d_cycle + d_place - value % d_cycle) % d_cycle;
    }
    std::int64_t from(std::uint64_t j) const
    {
        return std::int64_t(j / 2 * 2) + d_from[j % 2];
    }
    bool flips(std::uint64_t j) const { return d_inverted ^ (d_alternate && j % 2); }

    //! Returns whether read() copies the values unchanged.
    bool as_received() const
    {
        return d_arrangement == order::as_sent && !d_alternate && !d_inverted;
    }

    //! Returns whether no value moves to another pair, so that the decoder itself can
    //! apply as_rotation().
    bool in_pairs() const
    {
        return d_arrangement == order::as_sent || d_arrangement == order::swapped;
    }
    phase_rotation as_rotation() const
    {
        return { d_arrangement == order::swapped, { flips(0), flips(1) } };
    }

    //! Number of stream values after the code's last value that reading may need.
    static constexpr unsigned ahead = 3;

    //! Writes the code's \p count values from number \p first on. \p values holds the
    //! stream from start() + \p begin to start() + \p end; values outside are erased.
    void read(const std::int8_t* values,
              std::int64_t begin,
              std::int64_t end,
              std::uint64_t first,
              std::size_t count,
              std::int8_t* out) const;

    //! Returns the counterclockwise rotation of the received symbols in quarter turns, 0
    //! or 1. Two more quarter turns change all signs, which inverted() returns.
    unsigned quarter_turns() const;
    //! Returns whether I and Q are exchanged before the rotation.
    bool swapped() const;

private:
    conv_code d_code;
    unsigned d_which, d_cycle, d_place;
    order d_arrangement;
    bool d_alternate, d_inverted;
    int d_from[2];
};

enum class constellation { bpsk, qpsk, oqpsk };

//! Returns the constellation of a name. \throws std::invalid_argument
constellation constellation_from_string(const std::string& name);

/*!
 * \brief Returns, for all codes, the hypotheses that can be told apart.
 *
 * If the signs of two hypotheses differ by a code sequence, both fit every signal equally
 * well. An example is the two signs of a transparent code. Only the first hypothesis of
 * such a group is returned; \p alike, if given, receives the whole group of each.
 */
std::vector<hypothesis>
all_hypotheses(const std::vector<conv_code>& codes,
               constellation symbols,
               std::vector<std::vector<hypothesis>>* alike = nullptr);

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_HYPOTHESIS_H */
