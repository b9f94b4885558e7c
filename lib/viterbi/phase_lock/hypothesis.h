// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What a receiver that has no phase yet may have before it, and how its soft values
 * become those of the code. */

#ifndef INCLUDED_GPUFEC_VITERBI_HYPOTHESIS_H
#define INCLUDED_GPUFEC_VITERBI_HYPOTHESIS_H

#include "job.h"
#include <gnuradio/gpufec/viterbi.h>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gr::gpufec::viterbi {

/*!
 * \brief One way of reading a stream of soft values as a code.
 *
 * The code's value number j is that of the stream at \p start() + from(j), with its sign
 * changed where flips(j) says so. All of it repeats after cycle() values.
 */
class hypothesis
{
public:
    //! In what order the two values of a symbol come.
    enum class order {
        as_sent,
        swapped,
        half,        //!< the second is the one of the symbol after
        half_swapped //!< the first is
    };

    //! \p place of the stream at which a puncturing period and a symbol begin, below
    //! cycle().
    hypothesis(const conv_code& code,
               unsigned which,
               unsigned cycle,
               unsigned place,
               order arrangement,
               bool alternate,
               bool inverted);

    const conv_code& code() const { return d_code; }
    //! Index of the code among those searched.
    unsigned which() const { return d_which; }
    unsigned cycle() const { return d_cycle; }
    unsigned place() const { return d_place; }
    order arrangement() const { return d_arrangement; }
    //! Every second value of the code has its sign changed.
    bool alternate() const { return d_alternate; }
    bool inverted() const { return d_inverted; }

    //! The first place from \p value of the stream on at which a cycle may begin.
    std::uint64_t start(std::uint64_t value) const
    {
        return value + (d_cycle + d_place - value % d_cycle) % d_cycle;
    }
    std::int64_t from(std::uint64_t j) const
    {
        return std::int64_t(j / 2 * 2) + d_from[j % 2];
    }
    bool flips(std::uint64_t j) const { return d_inverted ^ (d_alternate && j % 2); }

    //! Whether read() changes nothing.
    bool as_received() const
    {
        return d_arrangement == order::as_sent && !d_alternate && !d_inverted;
    }

    //! Whether it reads pair by pair, as the decoder does by itself.
    bool in_pairs() const
    {
        return d_arrangement == order::as_sent || d_arrangement == order::swapped;
    }
    turn as_turn() const
    {
        return { d_arrangement == order::swapped, { flips(0), flips(1) } };
    }

    //! Values behind \p count of the code's that have to be there for them.
    static constexpr unsigned ahead = 3;

    //! The code's \p count values from number \p first on, where \p values holds those
    //! of the stream from start() + \p begin to start() + \p end. Others are erased.
    void read(const std::int8_t* values,
              std::int64_t begin,
              std::int64_t end,
              std::uint64_t first,
              std::size_t count,
              std::int8_t* out) const;

    //! Quarter turns counterclockwise that the receiver's symbols are ahead by, 0 or 1
    //! (with 2 more, a transparent code looks the same).
    unsigned quarter_turns() const;
    //! Whether I and Q are exchanged, before they are turned.
    bool swapped() const;

private:
    conv_code d_code;
    unsigned d_which, d_cycle, d_place;
    order d_arrangement;
    bool d_alternate, d_inverted;
    int d_from[2];
};

enum class constellation { bpsk, qpsk, oqpsk };

//! \throws std::invalid_argument
constellation constellation_from_string(const std::string& name);

/*!
 * \brief All that a receiver of such symbols can tell apart, of each code.
 *
 * Of readings that differ by a sequence of the code, as by the sign of all values where
 * it is transparent, only the first is there: all fit alike. If \p alike is given it gets
 * all of them, the first included, for each that is there.
 */
std::vector<hypothesis>
all_hypotheses(const std::vector<conv_code>& codes,
               constellation symbols,
               std::vector<std::vector<hypothesis>>* alike = nullptr);

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_HYPOTHESIS_H */
