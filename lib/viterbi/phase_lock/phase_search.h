// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The phase search: all hypotheses decode the same window side by side, as frames of one
 * batch.
 *
 * A decoder finds a code sequence near any input. The chance level is the share of signs
 * that disagree with the decoded sequence when the signs are random. It depends on the
 * code and on the values' magnitudes. A hypothesis with w of n signs wrong, at a chance
 * level c > w/n, is rated by
 *
 *     G = w ln(w/(nc)) + (n−w) ln((n−w)/(n(1−c))),
 *
 * the log-likelihood ratio of the observed rate to the chance level. Independent signs
 * have w wrong or fewer with a probability of at most exp(−G) (Chernoff), and those of a
 * decoder vary less. So G ≥ ln(H/P) for H hypotheses keeps the probability that a window
 * of noise gives a lock below P. */

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
    //! P: probability of a false lock per window of noise.
    static constexpr double false_alarm = 1e-12;
    //! Highest error rate that is accepted, as a share of the chance level. Decoded bits
    //! of a weaker signal are useless.
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
    //! Returns the group of hypotheses that fit equally well as hypothesis \p index.
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
    //! Returns the number of windows per call of search() for the best speed.
    std::size_t windows_at_once() const { return d_at_once; }

    struct found {
        unsigned index;             //!< index of the hypothesis
        std::uint64_t begins, ends; //!< range of the values that support it
        double error_rate;          //!< share of wrong signs among them
        double chance;              //!< chance level of that share
        std::uint64_t looked_at;    //!< end of the values that were searched
    };

    /*!
     * \brief Searches \p windows windows, the first at \p first, at distances of
     * stride().
     *
     * Values outside \p values are erased. The first window with enough evidence, alone
     * or together with those before it since forget(), ends the search.
     */
    std::optional<found>
    search(const value_span& values, std::uint64_t first, std::size_t windows);
    void forget() { d_windows.clear(); }

    //! A hypothesis of an earlier lock, with its chance level.
    struct lock {
        unsigned index;
        double chance;
    };
    //! Returns the change point, from \p from on, that maximises the joint likelihood of
    //! \p before up to it and \p after from it on; the last one if several do. Returns
    //! \p from if \p before explains nothing.
    std::uint64_t takeover(const value_span& values,
                           const lock& before,
                           const found& after,
                           std::uint64_t from);

private:
    using sign_count = reencoder::sign_count;
    static constexpr unsigned few = 16;
    // Parts per window, which allow shorter signals to be found.
    static constexpr unsigned parts = 8;
    static constexpr unsigned windows_as_one = 4;
    static constexpr unsigned runs = windows_as_one * parts * parts;
    using in_parts = std::array<sign_count, parts>;
    // The counts of a window.
    struct seen {
        std::uint64_t first;
        std::vector<in_parts> of; // by hypothesis
    };
    // Consecutive parts of windows, and the hypothesis that fits them best.
    struct run {
        unsigned index;
        // Number of windows before the newest, and the first part in the oldest window.
        unsigned before, first;
        unsigned last; // last part in the newest window
        sign_count signs;
        double ratio;
    };
    // A mother code, which decodes the hypotheses of all codes punctured from it.
    struct mother;
    // The depuncturing of a hypothesis: for each value of the mother code, over some
    // cycles, its position in the stream and its sign.
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

    // Stages per window, and stages whose signs are counted.
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
