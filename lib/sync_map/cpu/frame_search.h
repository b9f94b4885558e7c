// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the beginnings of frames of a stream, on the CPU. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CPU_FRAME_SEARCH_H
#define INCLUDED_GPUFEC_SYNC_MAP_CPU_FRAME_SEARCH_H

#include "common/host_memory.h"
#include "forward_recursion_kernels.h"
#include "received_window.h"
#include "sync_map/model/frame.h"
#include <vector>

namespace gr::gpufec::sync_map {

struct lane_kernels;

//! Returns the channel symbols of all words, one word per lane; unused lanes hold zeros.
//! Result: frame_symbols × groups of words × n × \p lanes.
std::vector<std::uint8_t> words_by_lane(const sync_code& code, unsigned lanes);

class start_finder
{
public:
    //! Computes in double unless the setup's precision is float32.
    start_finder(const setup& setup, const lane_kernels& kernels);

    /*!
     * \brief Searches for boundary 0 of a frame around item \p guess.
     *
     * \param warmup number of symbols before the boundary at which the recursion
     *        begins, up to search.max_warmup
     * \param radius distance from the guess, in items; if no attempt is accepted, the
     *        best attempt with a full window within this distance is used
     * \param accepted evidence at which an attempt is accepted (see start_search in
     *        setup.h)
     * \param start result: the frame's start metrics, scaled to sum 1; may be nullptr
     * \returns a header whose origin is relative to the guess; `found` is 0 if no attempt
     *          was accepted
     */
    boundary_match_header find(const item_span& items,
                               std::int64_t guess,
                               unsigned warmup,
                               int radius,
                               double accepted,
                               double* start);

    /*!
     * \brief Searches for boundary 0 faster and less accurately than find(), to predict
     * where other frames begin.
     *
     * Once the first symbols have shown roughly where the frame begins, the recursion
     * continues only with drifts near that place, and stops when the evidence is
     * accepted. The origin may differ from that of find() by a few items. If no attempt
     * is accepted, boundary_match_header::found is 0.
     */
    boundary_match_header find_coarse(const item_span& items,
                                      std::int64_t guess,
                                      unsigned warmup,
                                      double accepted);

    //! Searches for the beginning of a frame around item \p guess and writes the frame's
    //! input. Returns a header whose origin counts from the first item of \p items.
    boundary_match_header
    write(const item_span& items, std::int64_t guess, unsigned warmup, std::byte* frame);

private:
    // Result of an attempt; `begin` is the item at the window's first drift.
    struct found_at {
        std::int64_t origin;
        double evidence;
        std::int64_t begin;
    };
    found_at run(const item_span& items,
                 std::int64_t place,
                 unsigned warmup,
                 bool narrow,
                 double accepted);
    template <class Real>
    found_at run_in_full(const item_span& items, std::int64_t place, unsigned warmup);
    template <class Real>
    found_at run_narrowing(const item_span& items,
                           std::int64_t place,
                           unsigned warmup,
                           double accepted);
    template <class Real>
    void carry(const item_span& items,
               std::int64_t base,
               unsigned index,
               unsigned symbols,
               unsigned window);
    template <class Real>
    found_at centre(std::int64_t begin, double evidence) const;
    template <class Real>
    void cut(const found_at& found, double* start) const;

    const setup d_setup;
    const drift_range d_window;
    const forward_recursion_kernel d_kernel;
    const item_weigher d_weigh;
    // Natural logarithm of the factor per symbol that the recursion leaves out: the scale
    // of lattice weights, setup::unit()^n, and the prior 1/q.
    const double d_log_symbol;
    std::vector<std::uint8_t> d_words;
    host_memory d_transmission, d_alpha, d_scratch;
    carried_frame d_frame;
    double d_log_sum = 0;
    std::vector<double> d_start;
    // End metrics, all 1: the drift at the end of a frame is unknown.
    const std::vector<double> d_ends;
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CPU_FRAME_SEARCH_H */
