// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Searches for the phase hypothesis that fits. The search decodes a window of soft values
 * under all hypotheses, and rates each hypothesis. An ordinary decoder decodes the
 * windows as truncated frames. locking.h defines lock; hypothesis.h defines hypothesis
 * and stream value.
 *
 * A decoder finds a code sequence close to any input. A sign of the input is wrong if it
 * disagrees with that sequence. The chance level is the share of wrong signs when signs
 * are random. The chance level depends on the code and on the values' magnitudes. A
 * hypothesis with w of n signs wrong, at a chance level c > w/n, is rated by
 *
 *     G = w ln(w/(nc)) + (n−w) ln((n−w)/(n(1−c))),
 *
 * the log-likelihood ratio of the observed rate to the chance level. If n signs are wrong
 * independently with a probability of c, w or fewer of them are wrong with a probability
 * of at most exp(−G) (Chernoff). The number of wrong signs after decoding varies less.
 * A window is divided into parts. For each of H hypotheses, the search rates up to R
 * runs, which are consecutive parts of the newest window and of windows before it. If the
 * search requires G ≥ ln(HR/P), it finds a hypothesis in a window of noise with a
 * probability below P. */

#ifndef INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_PHASE_SEARCH_H
#define INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_PHASE_SEARCH_H

#include "hypothesis.h"
#include "viterbi/code/reencoder.h"
#include "viterbi/stream/search_buffer.h"
#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace gr::gpufec::viterbi {

class phase_search
{
public:
    //! P, the limit of the probability of a false lock per window of noise.
    static constexpr double false_alarm = 1e-12;
    //! A hypothesis fits only if its error rate is below this share of the chance level.
    static constexpr double highest_rate = 0.8;

    static constexpr unsigned max_stages = 2048; //!< maximum number of stages per window

    //! Prepares a search for \p codes in windows of \p stages stages, a multiple of 32
    //! from 512 to max_stages. The decoders run with the run_options of \p run.
    //! \throws std::invalid_argument if there are too many hypotheses, or if a code has
    //! rate 1
    phase_search(const viterbi_options& run,
                 const std::vector<conv_code>& codes,
                 constellation symbols,
                 const decoder_hooks& hooks,
                 unsigned stages = max_stages);
    ~phase_search();

    const std::vector<hypothesis>& hypotheses() const { return d_hypotheses; }
    //! Returns all hypotheses that no signal can distinguish from hypothesis \p index.
    //! The first element is hypothesis \p index.
    const std::vector<hypothesis>& alike(unsigned index) const { return d_alike[index]; }
    //! Returns the re-encoder of code \p which.
    const reencoder& encoder(unsigned which) const { return d_encoders[which]; }

    //! Returns the number of soft values in a window.
    std::size_t window() const { return d_window; }
    //! Returns the number of values from the beginning of one window to the beginning of
    //! the next. With up to 16 hypotheses, windows overlap by 1/16. With more hypotheses,
    //! values between windows (3/4 of a window) are skipped to save work.
    std::size_t stride() const
    {
        return d_hypotheses.size() <= few ? d_window / 16 * 15 : d_window / 4 * 7;
    }
    //! Returns the number of windows per call of search() that keeps the CPU or GPU busy.
    std::size_t windows_at_once() const { return d_at_once; }

    //! A hypothesis that fits.
    struct found {
        unsigned index;             //!< index of the hypothesis
        std::uint64_t begins, ends; //!< stream values `begins` to `ends` − 1 fit
        double error_rate;          //!< share of wrong signs among these values
        double chance;              //!< chance level for these values
        std::uint64_t looked_at;    //!< end of the newest searched window
    };

    /*!
     * \brief Searches \p windows windows. The first window begins at value \p first, and
     * further windows follow at distances of stride().
     *
     * Values outside \p values count as erased. Returns the hypothesis of the first
     * window in which a hypothesis has a sufficient G, or nothing. G may count the
     * signs of up to three windows that were searched before that window and after the
     * last forget().
     */
    std::optional<found>
    search(const value_span& values, std::uint64_t first, std::size_t windows);
    //! Discards the sign counts of earlier windows.
    void forget() { d_windows.clear(); }

    //! A hypothesis of an earlier lock, with its chance level.
    struct lock {
        unsigned index;
        double chance;
    };
    //! Returns the index of the stream value, \p from or later, at which lock \p before
    //! most likely changes to lock \p after: the last maximum of the joint likelihood of
    //! the two locks. The index is found in steps of 8 values, in at most 2^22 values
    //! before the end of \p after. Returns the first value of this range if there is no
    //! evidence for \p before.
    std::uint64_t change_point(const value_span& values,
                               const lock& before,
                               const found& after,
                               std::uint64_t from);

private:
    using sign_count = reencoder::sign_count;
    // Maximum number of hypotheses for which windows overlap.
    static constexpr unsigned few = 16;
    // Windows are divided into parts, so that signals shorter than a window are found.
    static constexpr unsigned parts = 8;
    // Maximum number of windows that are rated together.
    static constexpr unsigned windows_as_one = 4;
    // R, the maximum number of runs that best_run() rates for each hypothesis.
    static constexpr unsigned runs = windows_as_one * parts * parts;
    using in_parts = std::array<sign_count, parts>;
    // The sign counts of a window.
    struct seen {
        std::uint64_t first;      // index of the window's first stream value
        std::vector<in_parts> of; // sign counts of each part, indexed by hypothesis
    };
    // A run: consecutive parts of the newest window and of windows before it, and the
    // hypothesis that fits them best.
    struct run {
        unsigned index; // index of the hypothesis
        // Number of windows in the run before the newest one, and the first part of the
        // oldest window in the run.
        unsigned before, first;
        unsigned last; // last part in the newest window
        sign_count signs;
        double ratio; // G of these signs, as defined at the top of this file
    };
    // The decoder of a mother code, for the hypotheses of all codes that are punctured
    // from the mother code.
    struct mother;
    // The depuncturing of a hypothesis, in a whole number of its cycles (hypothesis.h):
    // for each value of the mother code, its position among the stream values and its
    // sign.
    struct reading {
        unsigned mother;                // index in d_mothers
        std::vector<std::int32_t> from; // position, counted from the cycles' beginning
        std::vector<std::int8_t> sign;  // 1, −1, or 0 for a punctured value
        unsigned stages, values; // number of stages and stream values in the cycles
    };

    // Writes the soft values of a window that begins at stream value `start`,
    // depunctured and in the order of the mother code.
    void depuncture(const reading& r,
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

    // Number of stages per window, and number of stages whose signs are counted; these
    // are at the end of the window.
    const unsigned d_stages, d_settled;
    std::vector<conv_code> d_codes;
    // Results of alike(), indexed by hypothesis.
    std::vector<std::vector<hypothesis>> d_alike;
    std::vector<hypothesis> d_hypotheses;
    std::vector<reencoder> d_encoders; // re-encoder of each code
    std::vector<std::unique_ptr<mother>> d_mothers;
    std::vector<reading> d_readings; // depuncturing of each hypothesis
    // Chance level for Gaussian noise, indexed by code.
    std::vector<double> d_chance;
    std::size_t d_window = 0, d_at_once = 1;
    std::deque<seen> d_windows; // sign counts of the last windows, newest first
};

//! Returns G as defined at the top of this file; 0 at the chance level and above.
double likelihood_ratio(double values, double wrong, double chance);

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_PHASE_SEARCH_H */
