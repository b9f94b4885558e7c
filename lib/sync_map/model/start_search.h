// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Streams of frames without marks: the parameters of the search for the beginnings of
 * frames, and the data that the searching frames of a batch exchange. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_MODEL_START_SEARCH_H
#define INCLUDED_GPUFEC_SYNC_MAP_MODEL_START_SEARCH_H

#include "boundary_match_rule.h"
#include <gnuradio/gpufec/sync_map.h>

namespace gr::gpufec::sync_map {

/*!
 * \brief Parameters of the search by which a frame of a stream finds its beginning.
 *
 * An attempt assumes that the frame begins at a certain received item, the attempt's
 * place. An attempt starts the forward recursion some symbols before the frame (the
 * warm-up), with α = 1 over a window of drifts around the place. The warm-up is so long
 * that these initial values do not influence α at the frame. Attempts cover adjacent
 * places, from a guess outwards, until an attempt's evidence is accepted or the limits
 * below are reached. Evidence is the natural logarithm of a likelihood ratio: the
 * received items given the code, against random items. */
struct start_search {
    //! Number of warm-up symbols by default; 0: frames do not search.
    unsigned warmup = 0;
    unsigned max_warmup = 0; //!< maximum number of warm-up symbols of a job
    int frame_first = 0;     //!< first drift of a frame's window
    unsigned window = 0;     //!< number of drifts in the window of an attempt
    int first = 0; //!< first drift of an attempt's window, relative to its place
    //! An attempt finds a frame that begins at most this number of items from its place.
    int reach = 0;
    //! Largest expected error of a guess, in items. If no attempt is accepted, the best
    //! attempt with a full window within this distance is used.
    int radius = 0;
    //! Distance from the guess, in items, that attempts cover; less than half a period of
    //! the codebook.
    int most = 0;
    //! Number of frames from one anchor to the next. Anchors are frames whose beginnings
    //! are found in advance. The guess of each frame, anchor or not, comes from the last
    //! anchor before that frame.
    unsigned anchors = 1;
    double accepted = 12; //!< evidence that an attempt must reach
    //! A narrowing attempt begins with near_guess drifts to either side of its place, and
    //! tests the evidence after first_look symbols and then every next_look symbols. Once
    //! the evidence reaches `sufficient_evidence`, the attempt keeps only the `nearest`
    //! drifts to either side of the most likely drift, and repeats this every
    //! step_symbols symbols. After `decision_symbols` symbols, the attempt fails if the
    //! evidence is negative. Otherwise it narrows its window, even if the evidence is
    //! below `sufficient_evidence`.
    int near_guess = 0, nearest = 0;
    unsigned first_look = 0, next_look = 0, decision_symbols = 0;
    static constexpr unsigned step_symbols = 16;
    //! Log-likelihood ratio in nats; 7 is a likelihood ratio of about 1000 to 1.
    static constexpr double sufficient_evidence = 7;

    explicit operator bool() const { return warmup > 0; }
    //! Returns whether an attempt with this warm-up may narrow its window.
    bool may_narrow(unsigned symbols) const
    {
        return decision_symbols < symbols && symbols <= warmup;
    }
    //! Returns whether a search with this warm-up tries narrowing attempts before those
    //! with the full window. Narrowing a small window would save little time.
    bool narrows(unsigned symbols) const { return window >= 256 && may_narrow(symbols); }
    //! Returns the place of attempt number \p k relative to the guess.
    int offset(int k) const { return (k % 2 ? 1 : -1) * ((k + 1) / 2) * 2 * reach; }
};

//! Header of the data for boundary matches in a frame's output: the position of boundary
//! 0, and the result of the comparison with the previous frame.
struct boundary_match_header {
    std::int32_t origin; //!< index of the received item at boundary 0 and drift 0
    //! Evidence of the attempt that was used, see start_search; 0: no search.
    float evidence;
    std::uint32_t found; //!< 1 if the evidence was accepted or the frame did not search
    //! Whether the frame was compared with the previous frame of the batch.
    std::uint32_t compared = 0;
    boundary_match to_previous{}; //!< result of the comparison with the previous frame
    std::uint32_t unused = 0;
};
static_assert(sizeof(boundary_match_header) % 16 == 0,
              "the metrics after the header must be aligned");

//! Table entry of a frame in a batch of a stream whose frames search.
struct stream_piece {
    std::int32_t whole; //!< index among the whole inputs; negative: the frame searches
    std::int32_t guess; //!< item of the batch around which boundary 0 is searched for
};

//! Mean drift over a number of channel symbols, and the deviation from the mean (`most`)
//! that is exceeded with a probability of about 1e-9.
struct drift_spread {
    drift_spread(const bsid_model& channel, double symbols);
    double mean, most;
};

/*!
 * \brief Estimates the mean evidence of one received item for the code against random
 * items, in bits.
 *
 * The evidence is log2 of the alphabet size, minus the code's rate in bits per channel
 * symbol, minus the channel's entropy in bits per symbol.
 */
double evidence_per_item(const sync_options& options);

//! Returns the number of look-ahead symbols of a stream; 0 in framed mode.
unsigned chosen_lookahead(const sync_options& options);

//! Returns the parameters of the search. The search is empty in framed mode and in the
//! corridor form. The search is also empty if the warm-up would be too long or the
//! beginning of a frame ambiguous.
start_search make_search(const sync_options& options);

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_MODEL_START_SEARCH_H */
