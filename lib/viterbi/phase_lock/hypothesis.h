// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Phase hypotheses. Each describes how the received soft values may correspond to the
 * soft values of a code. */

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
 * \brief One assumption about how a stream of soft values corresponds to the soft values
 * of a code.
 *
 * Stream value n is the received soft value with index n. Code value j is the soft value
 * with index j in the order of the code, which begins with a puncturing period. If
 * reading begins at stream value s, a value that start() returns, then code value j is
 * stream value s + from(j), with its sign changed if flips(j) is true. A cycle is the
 * number of values after which the pattern repeats: whole puncturing periods and, unless
 * the constellation is BPSK, whole symbols of two values.
 */
class hypothesis
{
public:
    //! The order in which a symbol's two values, I and Q, are received.
    enum class order {
        as_sent,
        swapped,
        half,        //!< the second value is in the next received symbol
        half_swapped //!< swapped, with the first value in the next received symbol
    };

    //! \p which is the index of the code in the list of searched codes. \p place is the
    //! index, modulo \p cycle, of the stream values at which a cycle begins. If \p
    //! alternate is set, the signs of code values with an odd index are changed. If \p
    //! inverted is set, all signs are changed, in addition to \p alternate.
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

    //! Returns the first stream value, from \p value on, at which a cycle begins.
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

    //! Returns whether no value moves to another pair 2i, 2i+1, so that a decoder can
    //! apply the hypothesis as a phase_rotation.
    bool in_pairs() const
    {
        return d_arrangement == order::as_sent || d_arrangement == order::swapped;
    }
    phase_rotation as_rotation() const
    {
        return { d_arrangement == order::swapped, { flips(0), flips(1) } };
    }

    //! Maximum of from(j) − j. If reading begins at stream value s, code value j depends
    //! on stream values up to s + j + ahead.
    static constexpr unsigned ahead = 3;

    //! Writes \p count code values from index \p first on. \p values holds the stream
    //! values from \p begin to \p end − 1, counted from the value at which reading
    //! begins; \p begin may be negative. All other stream values are read as erasures, 0.
    void read(const std::int8_t* values,
              std::int64_t begin,
              std::int64_t end,
              std::uint64_t first,
              std::size_t count,
              std::int8_t* out) const;

    //! Returns the counterclockwise rotation of the received symbols in quarter turns, 0
    //! or 1. A rotation by two more quarter turns is reported by inverted().
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

//! Returns the constellation with the name \p name: "bpsk", "qpsk" or "oqpsk".
//! \throws std::invalid_argument for other names
constellation constellation_from_string(const std::string& name);

/*!
 * \brief Returns, for all codes, the hypotheses that can be distinguished.
 *
 * If the signs of two hypotheses differ by a code sequence, both fit every signal equally
 * well. An example is the two signs of a transparent code. Only the first hypothesis of
 * such a group is returned; \p alike, if not nullptr, receives the whole group of each
 * returned hypothesis. Hypotheses that read every stream value identically count as one.
 */
std::vector<hypothesis>
all_hypotheses(const std::vector<conv_code>& codes,
               constellation symbols,
               std::vector<std::vector<hypothesis>>* alike = nullptr);

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_HYPOTHESIS_H */
