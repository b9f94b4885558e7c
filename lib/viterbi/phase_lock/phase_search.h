// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The phase search. It decodes a window of soft values under all hypotheses, as frames of
 * one batch, and rates how well each hypothesis fits.
 *
 * A decoder finds a code sequence near any input. A sign is wrong if it disagrees with
 * that sequence. The chance level is the share of wrong signs when signs are random. It
 * depends on the code and on the values' magnitudes. A hypothesis with w of n signs
 * wrong, at a chance level c > w/n, is rated by
 *
 *     G = w ln(w/(nc)) + (n−w) ln((n−w)/(n(1−c))),
 *
 * the log-likelihood ratio of the observed rate to the chance level. Among n independent
 * random signs, w or fewer are wrong with a probability of at most exp(−G) (Chernoff).
 * The number of signs that a decoder finds wrong varies less. For each of H hypotheses,
 * the search rates up to R runs of parts of windows. So if it requires G ≥ ln(HR/P), a
 * window of noise gives a lock with a probability below P. */

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
    //! P: limit of the probability of a false lock per window of noise.
    static constexpr double false_alarm = 1e-12;
    //! Highest error rate that is accepted, as a share of the chance level. A signal with
    //! more errors is too weak to be decoded.
    static constexpr double highest_rate = 0.8;

    static constexpr unsigned max_stages = 2048;

    //! Searches for \p codes in windows of \p stages stages, a multiple of 32 from 512
    //! to max_stages; decoders run with the options \p run. \throws std::invalid_argument
    phase_search(const viterbi_options& run,
                 const std::vector<conv_code>& codes,
                 constellation symbols,
                 const decoder_hooks& hooks,
                 unsigned stages = max_stages);
    ~phase_search();

    const std::vector<hypothesis>& hypotheses() const { return d_hypotheses; }
    //! Returns the hypotheses that fit every signal as well as hypothesis \p index, which
    //! is the first of them.
    const std::vector<hypothesis>& alike(unsigned index) const { return d_alike[index]; }
    const reencoder& encoder(unsigned which) const { return d_encoders[which]; }

    //! Returns the number of soft values in a window.
    std::size_t window() const { return d_window; }
    //! Returns the number of values from the beginning of one window to the next. If
    //! there are few hypotheses, windows overlap; otherwise values between windows are
    //! skipped to save work.
    std::size_t stride() const
    {
        return d_hypotheses.size() <= few ? d_window / 16 * 15 : d_window / 4 * 7;
    }
    //! Returns the number of windows per call of search() that gives the best speed.
    std::size_t windows_at_once() const { return d_at_once; }

    struct found {
        unsigned index;             //!< index of the hypothesis
        std::uint64_t begins, ends; //!< range of the values that support it
        double error_rate;          //!< share of wrong signs among them
        double chance;              //!< chance level of that share
        std::uint64_t looked_at;    //!< end of the values that were searched
    };

    /*!
     * \brief Searches \p windows windows. The first begins at value \p first, the others
     * follow at distances of stride().
     *
     * Values outside \p values are erased. The search ends at the first window with
     * enough evidence, alone or together with up to three windows before it since
     * forget().
     */
    std::optional<found>
    search(const value_span& values, std::uint64_t first, std::size_t windows);
    void forget() { d_windows.clear(); }

    //! A hypothesis of an earlier lock, with its chance level.
    struct lock {
        unsigned index;
        double chance;
    };
    //! Returns the value, at or after \p from, at which lock \p before most likely
    //! changes to lock \p after. It maximises the joint likelihood of the two locks; if
    //! several values do, the last one is returned. Returns \p from if there is no
    //! evidence for \p before.
    std::uint64_t takeover(const value_span& values,
                           const lock& before,
                           const found& after,
                           std::uint64_t from);

private:
    using sign_count = reencoder::sign_count;
    static constexpr unsigned few = 16;
    // Windows are divided into parts, so that signals shorter than a window are found.
    static constexpr unsigned parts = 8;
    static constexpr unsigned windows_as_one = 4;
    // R: number of runs of parts that best_run() rates for each hypothesis.
    static constexpr unsigned runs = windows_as_one * parts * parts;
    using in_parts = std::array<sign_count, parts>;
    // The counts of a window.
    struct seen {
        std::uint64_t first;
        std::vector<in_parts> of; // by hypothesis
    };
    // Consecutive parts of one or more windows, and the hypothesis that fits them best.
    struct run {
        unsigned index;
        // Number of windows before the newest, and the first part in the oldest window.
        unsigned before, first;
        unsigned last; // last part in the newest window
        sign_count signs;
        double ratio;
    };
    // The decoder of a mother code. It decodes the hypotheses of all codes that are
    // punctured from that code.
    struct mother;
    // The depuncturing of a hypothesis. For each value of the mother code in some cycles
    // of the hypothesis, it holds the position in the stream and the sign.
    struct reading {
        unsigned mother;
        std::vector<std::int32_t> from;
        std::vector<std::int8_t> sign; // 0: erased
        unsigned stages, values;       // number of stages and values in these cycles
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

    // Number of stages per window, and number of those whose signs are counted.
    const unsigned d_stages, d_settled;
    std::vector<conv_code> d_codes;
    std::vector<std::vector<hypothesis>> d_alike; // equivalent hypotheses, by hypothesis
    std::vector<hypothesis> d_hypotheses;
    std::vector<reencoder> d_encoders; // encoders by code
    std::vector<std::unique_ptr<mother>> d_mothers;
    std::vector<reading> d_readings; // depuncturing by hypothesis
    std::vector<double> d_chance;    // chance level by code, for Gaussian noise
    std::size_t d_window = 0, d_at_once = 1;
    std::deque<seen> d_windows; // the last windows, newest first
};

//! Returns G as defined at the top of this file; 0 at the chance level and above.
double likelihood_ratio(double values, double wrong, double chance);

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_PHASE_SEARCH_H */
