// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decoded frames of a stream that wait for proof that they began where the one before
 * ended. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_STREAM_RESULTS_H
#define INCLUDED_GPUFEC_SYNC_MAP_STREAM_RESULTS_H

#include "links.h"
#include "ring.h"
#include "setup.h"
#include <functional>
#include <vector>

namespace gr::gpufec::sync_map {

struct stream_frame {
    std::uint64_t number = 0;
    const std::byte* output = nullptr;
    sync_status status{};
    std::int64_t origin = 0; //!< received item of boundary 0 at drift 0
    bool locked = false;
    double bound = 0;      //!< see sync_decoder::frame
    bool compared = false; //!< with the frame before it, as both were first decoded
    link to_previous{};    //!< if so
};

/*!
 * \brief Frames in order, the first ones proven.
 *
 * A frame whose link to the one before fails is decoded again from what that one ends
 * with, if that one is known to have begun right and follows the code; only the first of
 * a run of failed links, for the others may be right. If the frame follows the code only
 * from its own beginning, that is kept: items were lost or inserted before it.
 */
class stream_results
{
public:
    //! \p again is to have a frame decoded from what the one before it ends with.
    using order = std::function<void(std::uint64_t number, const frame_ends& before)>;

    //! \p first: number of the first frame.
    stream_results(const setup& setup, std::uint64_t first, order again);

    //! Makes room for so many frames.
    void reserve(std::size_t frames) { d_frames.reserve(frames); }

    //! The next frame of the stream, whose output stays where it is; \p known: it began
    //! with what the one before ends with.
    void add(const stream_frame& f, bool known);
    //! A frame that was ordered.
    void replace(const stream_frame& f);
    //! Looks at all links that it can, and orders what is to be decoded again.
    void settle();

    //! Frames that are there, and of them those that are proven.
    std::size_t size() const { return d_frames.size(); }
    std::size_t proven() const { return d_proven; }
    //! Number of the next frame that is not proven, or was not added.
    std::uint64_t next() const;

    const stream_frame& front() const { return d_frames.front().frame; }
    void pop();

    //! Keeps what lies in memory that will be gone.
    void keep();
    //! Forgets frames that are not proven; gives what the one before them ends with, if
    //! there is one.
    const frame_ends* give_up();
    std::uint64_t links() const { return d_links; }
    std::uint64_t failed() const { return d_failed; }
    //! Of them those behind frames that follow the code.
    std::uint64_t unproven() const { return d_unproven; }

private:
    struct entry {
        stream_frame frame;
        std::vector<std::byte> memory; // for output that is kept
        bool kept = false;
        unsigned version = 0; // how often it was decoded again
        long from = -1;       // version of the one before that it began with
        long looked_at = -1; // version of the one before that the link was looked at with
        bool holds = false;  // the link
        bool waits = false;  // to be decoded again

        frame_ends ends(const setup& s) const
        {
            return { frame.output + s.metrics_at(), frame.origin };
        }
    };

    void look(const entry& before, entry& e);
    void keep(entry& e) const;

    const setup d_setup;
    const std::uint64_t d_first;
    const order d_again;
    const double d_tolerance;
    ring<entry> d_frames;
    entry d_before; // the last one that was popped
    bool d_any = false;
    frame_ends d_last{};
    std::size_t d_proven = 0;
    std::uint64_t d_links = 0, d_failed = 0, d_unproven = 0;
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_STREAM_RESULTS_H */
