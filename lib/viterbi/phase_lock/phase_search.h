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
#include "held_input.h"
#include "hypothesis.h"
#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace gr::gpufec::viterbi {

class phase_search
{
public:
    //! P: of a false lock, for each window of noise.
    static constexpr double false_alarm = 1e-12;
    //! Decoding is of no use nearer to the chance level.
    static constexpr double highest_rate = 0.8;

    static constexpr unsigned most_stages = 2048;

    //! Searches for \p codes as received by such symbols, with decoders that run as \p
    //! run says, in windows of \p stages stages, a multiple of 32 from 512 to
    //! most_stages. \throws std::invalid_argument
    phase_search(const viterbi_options& run,
                 const std::vector<conv_code>& codes,
                 constellation symbols,
                 const decoder_hooks& hooks,
                 unsigned stages = most_stages);
    ~phase_search();

    const std::vector<hypothesis>& hypotheses() const { return d_hypotheses; }
    //! All readings that fit whatever a hypothesis fits.
    const std::vector<hypothesis>& alike(unsigned index) const { return d_alike[index]; }
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
        unsigned index;             //!< of the hypothesis
        std::uint64_t begins, ends; //!< the values that showed it
        double error_rate;          //!< part of their signs that were wrong
        double chance;              //!< what it would have been by chance
        std::uint64_t looked_at;    //!< the value that was to be there to see it, and 1
    };

    /*!
     * \brief Looks at the window that begins at \p first, and at those that follow it by
     * stride(), \p windows in all.
     *
     * What \p values lack is erased. The first window that decides, with what of those
     * before it since forget() makes its evidence strongest, ends the search.
     */
    std::optional<found>
    search(const value_span& values, std::uint64_t first, std::size_t windows);
    void forget() { d_windows.clear(); }

    //! A hypothesis that held before, with its chance level.
    struct lock {
        unsigned index;
        double chance;
    };
    /*!
     * \brief The value, from \p from on, at which \p after takes the place of what held
     * before.
     *
     * Of all values it is that before which the one explains most of the signal, and
     * behind which the other does, and the last of those; \p from, if \p before explains
     * nothing.
     */
    std::uint64_t takeover(const value_span& values,
                           const lock& before,
                           const found& after,
                           std::uint64_t from);

private:
    using tally = encode_again::tally;
    static constexpr unsigned few = 16;
    static constexpr unsigned parts = 8; // of a window, for signals shorter than it
    static constexpr unsigned windows_as_one = 4;
    static constexpr unsigned runs = windows_as_one * parts * parts;
    using in_parts = std::array<tally, parts>;
    // What a window shows.
    struct seen {
        std::uint64_t first;
        std::vector<in_parts> of; // by hypothesis
    };
    // Parts of windows that follow one another, and the hypothesis they show.
    struct run {
        unsigned index;
        unsigned before, first; // windows before the newest, and the part of the oldest
        unsigned last;          // part of the newest
        tally signs;
        double ratio;
    };
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
    std::optional<run> best_run() const;
    in_parts count_parts(const mother& m, std::size_t frame) const;
    double chance_of(const run& r, const value_span& values);
    std::vector<float> evidence(const value_span& values,
                                const lock& of,
                                std::uint64_t from,
                                std::uint64_t to);
    void measure_chance();
    double threshold() const;

    const unsigned d_stages, d_settled; // of a window, and those that count
    std::vector<conv_code> d_codes;
    std::vector<std::vector<hypothesis>> d_alike; // by hypothesis
    std::vector<hypothesis> d_hypotheses;
    std::vector<encode_again> d_encoders; // by code
    std::vector<std::unique_ptr<mother>> d_mothers;
    std::vector<reading> d_readings; // by hypothesis
    std::vector<double> d_chance;    // by code, of Gaussian noise
    std::size_t d_window = 0, d_at_once = 1;
    std::deque<seen> d_windows; // the last ones, the newest first
};

//! G of the comment above; 0 at the chance level and beyond.
double likelihood_ratio(double values, double wrong, double chance);

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_LOCK_H */
