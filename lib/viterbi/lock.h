// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds out how a stream of soft values is to be read: all hypotheses decode the same
 * window side by side, as frames of one batch.
 *
 * A decoder finds a sequence of its code near anything. How near is the chance level: the
 * part of the signs that disagree with what was decoded, when the signs are random. It
 * differs from code to code, and with the magnitudes of the values. A hypothesis that has
 * w of n signs wrong, at a chance level of c > w/n, is held against it by
 *
 *     G = w ln(w/(nc)) + (n−w) ln((n−w)/(n(1−c))),
 *
 * the logarithm of the likelihood ratio of the rate that was seen to the chance level.
 * Independent signs have such a w, or a smaller one, with a probability of at most
 * exp(−G) (Chernoff), and those of a decoder vary less. So G ≥ ln(H/P) for H hypotheses
 * keeps the probability that a window of noise gives a lock below P. */

#ifndef INCLUDED_GPUFEC_VITERBI_LOCK_H
#define INCLUDED_GPUFEC_VITERBI_LOCK_H

#include "encode_again.h"
#include "hypothesis.h"
#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace gr::gpufec::viterbi {

//! Soft values of a stream, by their number; −127 is the least.
struct value_span {
    const std::int8_t* values;
    std::uint64_t first, end;
};

class phase_search
{
public:
    //! P: of a false lock, for each window of noise.
    static constexpr double false_alarm = 1e-12;
    //! Decoding is of no use nearer to the chance level.
    static constexpr double highest_rate = 0.8;

    //! Searches for \p codes as received by such symbols, with decoders that run as \p
    //! run says. \throws std::invalid_argument
    phase_search(const viterbi_options& run,
                 const std::vector<conv_code>& codes,
                 constellation symbols,
                 const decoder_hooks& hooks);
    ~phase_search();

    const std::vector<hypothesis>& hypotheses() const { return d_hypotheses; }
    const encode_again& encoder(unsigned which) const { return d_encoders[which]; }

    //! Values that a window has, and those from the beginning of one to the next.
    std::size_t window() const { return d_window; }
    // Where that is no great work, they leave nothing out.
    std::size_t stride() const
    {
        return d_hypotheses.size() <= few ? d_window / 16 * 15 : d_window / 4 * 7;
    }
    //! Windows to be given at once, for speed.
    std::size_t windows_at_once() const { return d_at_once; }

    struct found {
        unsigned index;       //!< of the hypothesis
        std::uint64_t window; //!< the first value of the window that showed it
        unsigned first, last; //!< quarters of the window, with those between
        std::uint64_t begins; //!< the value that these begin with
        double error_rate;    //!< part of the signs that were wrong
        double chance;        //!< what it would have been by chance
    };

    /*!
     * \brief Looks at the window that begins at \p first, and at those that follow it by
     * stride(), \p windows in all.
     *
     * What \p values lack is erased. The first window that decides ends the search.
     * Windows that follow one another, since forget(), are seen as one, up to four.
     */
    std::optional<found>
    search(const value_span& values, std::uint64_t first, std::size_t windows);
    void forget() { d_before.clear(); }

    //! The value from which on \p found holds, at or behind \p least: looks back from its
    //! window as long as it does.
    std::uint64_t
    beginning(const value_span& values, const found& found, std::uint64_t least);

private:
    using tally = encode_again::tally;
    static constexpr unsigned few = 16;
    static constexpr unsigned parts = 4; // of a window, for signals shorter than it
    static constexpr unsigned runs = parts * (parts + 1) / 2;
    struct mother; // decodes all hypotheses of codes that differ by their puncturing
                   // alone
    // Where a hypothesis has its code's values among a mother's.
    struct reading {
        unsigned mother;
        std::vector<std::int32_t> from; // the values of some cycles
        std::vector<std::int8_t> sign;  // 0: erased
        unsigned stages, values;        // of these
    };

    void lay(const reading& r,
             const value_span& values,
             std::int64_t start,
             std::int8_t* out) const;
    bool decides(const std::vector<tally>& sum, found& f, const value_span& values);
    std::array<tally, parts> count_parts(const mother& m, std::size_t frame) const;
    double chance_of(const found& f, const value_span& values);
    void measure_chance();
    double threshold() const;

    std::vector<conv_code> d_codes;
    std::vector<hypothesis> d_hypotheses;
    std::vector<encode_again> d_encoders; // by code
    std::vector<std::unique_ptr<mother>> d_mothers;
    std::vector<reading> d_readings; // by hypothesis
    std::vector<double> d_chance;    // by code, of Gaussian noise
    // The last chance level that was measured.
    struct control {
        unsigned index;
        std::uint64_t window;
        std::array<tally, parts> of;
    };
    std::optional<control> d_control;
    std::size_t d_window = 0, d_at_once = 1;
    std::deque<std::vector<tally>> d_before; // of the last windows, by hypothesis
};

//! G of the comment above; 0 at the chance level and beyond.
double likelihood_ratio(double values, double wrong, double chance);

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_LOCK_H */
