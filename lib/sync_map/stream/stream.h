// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Cuts a stream into frames. The forward metrics α determine the boundaries. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_STREAM_STREAM_H
#define INCLUDED_GPUFEC_SYNC_MAP_STREAM_STREAM_H

#include "sync_map/cpu/decoder.h"
#include "sync_map/model/boundary_matches.h"
#include "sync_map/model/setup.h"
#include <memory>
#include <vector>

namespace gr::gpufec::sync_map {

/*!
 * \brief Returns the log-likelihood ratio of the code to random items, in nats per item,
 * above which a frame counts as locked. The limit is half the mean ratio of frames of the
 * code, or -inf if that mean is not positive.
 */
double lock_limit(const sync_options& options);

/*!
 * \brief The sequential part of stream decoding, which finds where each frame begins.
 *
 * The forward recursion carries α from frame to frame and needs no look-ahead. The window
 * of each frame is centred on the mean of α. Items after the look-ahead are unknown, so β
 * is 1 at the end of the look-ahead; with setup::item_weight, an unknown item has weight
 * 1. Decoders can decode the written frames in any order.
 */
class stream_cutter
{
public:
    stream_cutter(const sync_options& options, const setup& setup);

    //! Moves the items, the position and α from \p other, the cutter for another channel.
    void resume(stream_cutter&& other);

    //! Appends \p count received items.
    void push(const void* items, std::size_t count);
    void finish() { d_finished = true; }

    //! Returns whether the next frame can be written.
    bool ready() const;
    //! Returns whether no further frame will become ready.
    bool done() const { return d_finished && !ready(); }

    struct place {
        std::int64_t origin; //!< index in the stream of the item at boundary 0, drift 0
        //! Number of received items of the frame and its look-ahead at drift 0; fewer if
        //! the stream ends earlier.
        std::int64_t items;
    };

    //! Writes the input of the next frame to \p frame, moves on to the frame after it,
    //! and returns the place of the frame written.
    place write(std::byte* frame);

    // The following functions serve searching frames and frames that are decoded again.

    //! Returns the number of items received since the beginning.
    std::int64_t received() const { return d_items.end(); }
    //! Returns the index in the stream of the first item held.
    std::int64_t first_item() const { return d_items.first(); }
    bool finished() const { return d_finished; }
    //! Returns the index of the item at boundary 0 and drift 0 of the next frame.
    std::int64_t origin() const { return d_origin; }
    //! Makes the next frame begin with the end metrics of another frame.
    void begin_after(const frame_ends& before);
    //! Returns the place of the frame that begins at \p origin.
    place place_of(std::int64_t origin) const;
    //! Writes a frame that begins with the end metrics of another frame.
    place write(const frame_ends& before, std::byte* frame) const;
    //! Returns the held items among \p first to \p last − 1. The span is valid until the
    //! next call of items() or of a function that is not const.
    item_span items(std::int64_t first, std::int64_t last) const;
    //! Copies items \p first to \p last − 1; items that have not been received are
    //! written as erasures.
    void copy(std::int64_t first, std::int64_t last, std::byte* to) const;
    //! Drops the items before index \p first.
    void forget(std::int64_t first) { d_items.forget(first); }

    //! Returns the received_window that holds the items. Callers may use its borrow()
    //! instead of push().
    received_window& store() { return d_items; }
    const received_window& store() const { return d_items; }

private:
    // Origin and initial window metrics of a frame.
    struct beginning {
        std::int64_t origin;
        std::vector<double> alpha;
    };
    beginning after(std::int64_t origin, const double* carried) const;
    beginning after(const frame_ends& before) const;
    void acquire();
    struct boundary {
        int offset;
        double log_probability; // log-likelihood ratio of code to random items, nats/item
    };
    boundary most_likely_boundary(unsigned first, unsigned last);
    void fill(const setup& setup,
              std::int64_t origin,
              drift_range window,
              const std::vector<double>& start,
              std::byte* frame) const;
    void advance(const std::byte* frame);
    void erase(std::byte* to, std::int64_t count) const;

    // Decoder and buffers for the search for the first boundary.
    struct search {
        search(setup wide, const lane_kernels& kernels);

        // Setup whose window holds the drifts of all offsets of one search range.
        const setup wide;
        lane_group group;
        host_memory input, output;
    };

    sync_options d_options;
    setup d_setup;
    drift_range d_window;
    alpha_carrier d_carrier;
    received_window d_items;
    std::int64_t d_origin = 0; // item at boundary 0 and drift 0 of the next frame
    std::vector<double> d_alpha;
    std::unique_ptr<search> d_search;
    bool d_acquired;
    bool d_finished = false;
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_STREAM_STREAM_H */
