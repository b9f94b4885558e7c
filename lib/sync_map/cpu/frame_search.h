// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the beginnings of frames of a stream, on the CPU. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CPU_FRAME_SEARCH_H
#define INCLUDED_GPUFEC_SYNC_MAP_CPU_FRAME_SEARCH_H

#include "common/host_memory.h"
#include "forward_recursion_kernels.h"
#include "received_window.h"
#include "sync_map/model/frame.h"
#include <cmath>
#include <limits>
#include <vector>

namespace gr::gpufec::sync_map {

struct lane_kernels;

//! Returns the channel symbols of all words, one word per lane; unused lanes hold zeros.
//! Result: frame_symbols × groups of words × n × \p lanes.
std::vector<std::uint8_t> words_by_lane(const sync_code& code, unsigned lanes);

//! The forward recursion of the linear form with its memory. Computes in double unless
//! the setup's precision is float32.
class forward_recursion
{
public:
    //! Allocates memory for calls of run() with up to \p max_symbols symbols and windows
    //! of up to \p max_window drifts.
    forward_recursion(const setup& setup,
                      const lane_kernels& kernels,
                      unsigned max_symbols,
                      unsigned max_window);

    bool in_float() const { return d_kernel.real_bytes == sizeof(float); }
    unsigned lanes() const { return d_kernel.lanes; }
    unsigned window() const { return d_frame.window; } //!< window of the last run

    //! Returns α, one value per drift. run() begins with these metrics and replaces them
    //! by its result. Real is float if in_float() is true, otherwise double.
    template <class Real>
    Real* alpha()
    {
        return reinterpret_cast<Real*>(d_alpha.data());
    }

    /*!
     * Runs the recursion over \p symbols symbols, beginning with symbol index \p index.
     * weigh(k, out) writes the transmission weights of item k. Item 0 belongs to the
     * first boundary and the window's first drift. Returns the natural logarithm of the
     * unscaled sum of α.
     */
    template <class Real, class Weigh>
    double run(unsigned index, unsigned symbols, unsigned window, Weigh&& weigh)
    {
        const auto is = [](Real weight, Real value) {
            return std::abs(weight - value) < 4 * std::numeric_limits<Real>::epsilon();
        };
        const auto count = std::int64_t(d_frame.n) * symbols + window;
        auto* out = reinterpret_cast<Real*>(d_transmission.data());
        d_frame.clean = d_frame.alphabet == 2;
        for (std::int64_t k = 0; k < count; ++k, out += d_frame.alphabet) {
            weigh(k, out);
            d_frame.clean = d_frame.clean && ((is(out[0], 1) && out[1] == 0) ||
                                              (is(out[1], 1) && out[0] == 0));
        }
        double log_sum = 0;
        d_frame.index = index;
        d_frame.symbols = symbols;
        d_frame.window = window;
        d_frame.log_sum = &log_sum;
        d_kernel.carry(d_frame);
        return log_sum;
    }

private:
    const forward_recursion_kernel d_kernel;
    std::vector<std::uint8_t> d_words;
    host_memory d_transmission, d_alpha, d_scratch;
    carried_frame d_frame{};
};

//! Search for the beginning of a frame by attempts (see start_search.h).
class start_finder
{
public:
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
    double carry(const item_span& items,
                 std::int64_t base,
                 unsigned index,
                 unsigned symbols,
                 unsigned window);
    template <class Real>
    found_at centre(std::int64_t begin, double evidence);
    template <class Real>
    void cut(const found_at& found, double* start);

    const setup d_setup;
    const drift_range d_window;
    const item_weigher d_weigh;
    // Natural logarithm of the factor per symbol that the recursion leaves out: the scale
    // of lattice weights, setup::unit()^n, and the prior 1/q.
    const double d_log_symbol;
    forward_recursion d_recursion;
    std::vector<double> d_start;
    // End metrics, all 1: the drift at the end of a frame is unknown.
    const std::vector<double> d_ends;
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CPU_FRAME_SEARCH_H */
