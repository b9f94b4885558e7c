// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Holds decoded frames of a stream until it is proven that each began where the one
 * before ended. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_STREAM_STREAM_RESULTS_H
#define INCLUDED_GPUFEC_SYNC_MAP_STREAM_STREAM_RESULTS_H

#include "ring_queue.h"
#include "sync_map/model/boundary_matches.h"
#include "sync_map/model/setup.h"
#include <functional>
#include <vector>

namespace gr::gpufec::sync_map {

//! A decoded frame of a stream.
struct stream_frame {
    std::uint64_t number = 0;
    const std::byte* output = nullptr;
    sync_status status{};
    std::int64_t origin = 0; //!< received item of boundary 0 at drift 0
    bool locked = false;
    double bound = 0;             //!< see sync_decoder::frame
    bool compared = false;        //!< to the frame before it, as both were first decoded
    boundary_match to_previous{}; //!< if so
};

/*!
 * \brief Frames in order, of which the first ones are proven.
 *
 * If the boundary match between two frames fails, the second is decoded again from the
 * end metrics of the first, provided that the first is proven and follows the code. In a
 * run of failed matches only the first is treated so, because the others may be right. If
 * the second frame follows the code only from its own beginning, that result is kept:
 * items were lost or inserted before it.
 */
class stream_results
{
public:
    //! Orders a frame to be decoded again from the end metrics of the one before it.
    using order = std::function<void(std::uint64_t number, const frame_ends& before)>;

    //! \param first number of the first frame
    stream_results(const setup& setup, std::uint64_t first, order again);

    //! Allocates memory for \p frames.
    void reserve(std::size_t frames) { d_frames.reserve(frames); }

    //! Adds the next frame of the stream without copying its output. \param known it
    //! began with the end metrics of the one before
    void add(const stream_frame& f, bool known);
    //! Takes a frame that was decoded again.
    void replace(const stream_frame& f);
    //! Compares all boundaries that it can, and orders frames to be decoded again.
    void settle();

    //! Number of frames, and of proven frames.
    std::size_t size() const { return d_frames.size(); }
    std::size_t proven() const { return d_proven; }
    //! Number of the first frame that is not proven or not added.
    std::uint64_t next() const;

    const stream_frame& front() const { return d_frames.front().frame; }
    void pop();

    //! Copies outputs, because the memory of their slot will be reused.
    void keep();
    //! Drops unproven frames; returns the end metrics of the frame before them, if any.
    const frame_ends* abandon();
    std::uint64_t boundary_matches() const { return d_boundary_matches; }
    std::uint64_t failed() const { return d_failed; }
    //! Failed matches whose first frame follows the code.
    std::uint64_t unproven() const { return d_unproven; }

private:
    struct entry {
        stream_frame frame;
        std::vector<std::byte> memory; // copy of the output, if kept
        bool kept = false;
        unsigned version = 0; // times that it was decoded again
        long from = -1;       // version of the frame before that it began with
        long looked_at = -1;  // version of the frame before that it was compared to
        bool holds = false;   // the boundary match
        bool waits = false;   // to be decoded again

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
    entry d_before; // the last popped frame
    bool d_any = false;
    frame_ends d_last{};
    std::size_t d_proven = 0;
    std::uint64_t d_boundary_matches = 0, d_failed = 0, d_unproven = 0;
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_STREAM_STREAM_RESULTS_H */
