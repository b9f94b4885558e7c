// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds where frames of a stream begin, on the CPU. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_START_FINDER_H
#define INCLUDED_GPUFEC_SYNC_MAP_START_FINDER_H

#include "carry_kernels.h"
#include "frame.h"
#include "item_store.h"
#include "pipeline/host_memory.h"
#include <vector>

namespace gr::gpufec::sync_map {

struct lane_kernels;

//! The channel symbols of all words, a word per lane; what lanes are left over hold
//! zeros.
std::vector<std::uint8_t> words_by_lane(const sync_code& code, unsigned lanes);

class start_finder
{
public:
    //! In doubles unless the setup's precision is float32. \p words by_lane of kernels.
    start_finder(const setup& setup, const lane_kernels& kernels);

    /*!
     * \brief Looks for boundary 0 of a frame about item \p guess.
     *
     * \param warmup symbols before it, up to search.most_warmup
     * \param radius that is looked at in any case
     * \param accepted logarithm of how much more likely than random items a try must be
     * \param start window metrics of the frame found, of sum 1; not where nullptr
     * \returns where it is, relative to the guess
     */
    link_header find(const item_span& items,
                     std::int64_t guess,
                     unsigned warmup,
                     int radius,
                     double accepted,
                     double* start);

    /*!
     * \brief Looks for it to guess others from, at less expense.
     *
     * Once some symbols have told where the frame must be, only drifts near that are
     * carried on, and no further than until it is accepted. Finds it as find() does, to
     * some items, or finds nothing.
     */
    link_header find_soon(const item_span& items,
                          std::int64_t guess,
                          unsigned warmup,
                          double accepted);

    //! Writes the input of the frame, and says where it was found.
    link_header
    write(const item_span& items, std::int64_t guess, unsigned warmup, std::byte* frame);

private:
    // Where, and the item of the first drift of the window that was carried there.
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
    const carry_kernel d_kernel;
    const item_weigher d_weigh;
    const double d_log_symbol; // of what the recursion leaves out, per symbol
    std::vector<std::uint8_t> d_words;
    host_memory d_transmission, d_alpha, d_scratch;
    carried_frame d_frame;
    double d_log_sum = 0;
    std::vector<double> d_start;
    const std::vector<double> d_ends; // what comes after a frame is unknown
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_START_FINDER_H */
