// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Cuts a stream into frames whose boundaries are known through α alone. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_STREAM_H
#define INCLUDED_GPUFEC_SYNC_MAP_STREAM_H

#include "cpu.h"
#include "links.h"
#include "setup.h"
#include <memory>
#include <vector>

namespace gr::gpufec::sync_map {

/*!
 * \brief What a stream that follows its frames is more likely than random items, as a
 * logarithm per item; half of that is the limit.
 *
 * An item that the code explains is worth the code's rate and the channel's entropy,
 * instead of that of a random symbol.
 */
double lock_limit(const sync_options& options);

/*!
 * \brief The sequential part of stream decoding: where each frame begins.
 *
 * A frame starts with α of the boundary before, which the forward recursion carries from
 * frame to frame and in which nothing later than the boundary takes part. After the
 * look-ahead every further item is any of s symbols alike, so that β is 1 where every
 * item weighs s. The window moves along with the mean of α. All that is here is
 * sequential and cheap; what it writes are frames that can be decoded in any order.
 */
class stream_cutter
{
public:
    stream_cutter(const sync_options& options, const setup& setup);

    //! Goes on where another one, of another channel, has come to.
    void resume(stream_cutter&& other);

    //! Takes all items.
    void push(const void* items, std::size_t count);
    void finish() { d_finished = true; }

    //! Whether the next frame can be written.
    bool ready() const;
    //! Whether nothing more will become ready().
    bool done() const { return d_finished && !ready(); }

    //! Where a frame lies in the stream.
    struct place {
        std::int64_t origin; //!< received item of boundary 0 at drift 0
        std::int64_t items;  //!< received of it and its look-ahead, if there is no drift
    };

    //! Writes the input of the next frame.
    place write(std::byte* frame);

    //! Items that are held and not yet part of the past.
    std::size_t held() const { return d_items.end() - d_items.first(); }

    // For frames that others look for.

    //! Items since the beginning.
    std::int64_t received() const { return d_items.end(); }
    //! Number of the first one held.
    std::int64_t first_item() const { return d_items.first(); }
    bool finished() const { return d_finished; }
    //! Expected received item of the next frame's boundary 0.
    std::int64_t origin() const { return d_origin; }
    //! The next frame begins with what another ends with.
    void go_on(const frame_ends& before);
    //! A frame that lies there.
    place place_of(std::int64_t origin) const;
    //! Writes a frame that begins with what another ends with.
    place write(const frame_ends& before, std::byte* frame) const;
    //! Items \p first to \p last − 1 as far as they are held, until the next call.
    item_span items(std::int64_t first, std::int64_t last) const;
    //! Copies items \p first to \p last − 1; those after the end are erased.
    void copy(std::int64_t first, std::int64_t last, std::byte* to) const;
    //! Items before number \p first are not asked for any more.
    void forget(std::int64_t first) { d_items.forget(first); }

    //! Items in place of push(), which stay where they are; see item_store.
    item_store& store() { return d_items; }
    const item_store& store() const { return d_items; }

private:
    // What a frame begins with: where, and with which window metrics.
    struct beginning {
        std::int64_t origin;
        std::vector<double> alpha;
    };
    beginning after(std::int64_t origin, const double* carried) const;
    beginning after(const frame_ends& before) const;
    void acquire();
    struct boundary {
        int offset;
        double log_probability; // per item, against that of random ones
    };
    boundary most_likely_boundary(unsigned first, unsigned last);
    void fill(const setup& setup,
              std::int64_t origin,
              drift_range window,
              const std::vector<double>& start,
              std::byte* frame) const;
    void advance(const std::byte* frame);
    void erase(std::byte* to, std::int64_t count) const;

    // What looks for the first boundary, until it is found.
    struct search {
        search(setup wide, const lane_kernels& kernels);

        const setup wide; // its window holds the drifts of all beginnings looked at
        lane_group group;
        host_memory input, output;
    };

    sync_options d_options;
    setup d_setup;
    drift_range d_window;
    alpha_carrier d_carrier;
    item_store d_items;
    std::int64_t d_origin = 0; // of the next frame, at drift 0
    std::vector<double> d_alpha;
    std::unique_ptr<search> d_search;
    bool d_acquired;
    bool d_finished = false;
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_STREAM_H */
