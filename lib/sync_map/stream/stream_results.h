// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Holds decoded frames of a stream until each frame is proven to begin where the previous
 * frame ended. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_STREAM_STREAM_RESULTS_H
#define INCLUDED_GPUFEC_SYNC_MAP_STREAM_STREAM_RESULTS_H

#include "ring_queue.h"
#include "sync_map/model/boundary_matches.h"
#include "sync_map/model/setup.h"
#include <functional>
#include <vector>

namespace gr::gpufec::sync_map {

struct stream_frame {
    std::uint64_t number = 0;
    const std::byte* output = nullptr;
    sync_status status{};
    std::int64_t origin = 0; //!< index in the stream of the item at boundary 0, drift 0
    bool locked = false;
    double bound = 0; //!< bound on errors of posteriors; see sync_decoder::frame::bound
    //! Whether the batch decoder compared the frame with the previous frame.
    bool compared = false;
    boundary_match to_previous{}; //!< result of the comparison with the previous frame
};

/*!
 * \brief Decoded frames in order: first the proven frames, then frames that are not yet
 * proven.
 *
 * A boundary match compares the metrics at the end of a frame with those at the beginning
 * of the next frame. If the match fails, and the earlier frame is locked and has itself
 * matched its predecessor, the later frame is decoded again from the end metrics of the
 * earlier frame. Therefore only the first of several consecutive failed matches causes
 * another decoding; the later frames may be correct. If a frame's first result is locked,
 * and the new result is not locked or is much less likely, items were probably lost or
 * inserted before the frame. The first result is then retained.
 */
class stream_results
{
public:
    //! Callback that requests to decode a frame again from the end metrics \p before of
    //! the previous frame.
    using order = std::function<void(std::uint64_t number, const frame_ends& before)>;

    //! \param first number of the first frame
    stream_results(const setup& setup, std::uint64_t first, order again);

    void reserve(std::size_t frames) { d_frames.reserve(frames); }

    //! Adds the next frame of the stream without copying its output.
    //! \param known whether the frame began with the end metrics of the previous frame
    void add(const stream_frame& f, bool known);
    //! Stores the result of a frame that was decoded again, unless the first result is
    //! retained.
    void replace(const stream_frame& f);
    //! Compares frames at boundaries that are not compared yet, and requests the second
    //! decodings that failed matches require.
    void compare_boundaries();

    std::size_t size() const { return d_frames.size(); }
    //! Returns the number of proven frames, which precede all other held frames.
    std::size_t proven() const { return d_proven; }
    //! Returns the number of the first frame that is not proven or not added yet.
    std::uint64_t next() const;

    const stream_frame& front() const { return d_frames.front().frame; }
    void pop();

    //! Copies the outputs of the frames, because the memory of their slot will be reused.
    void keep();
    //! Drops unproven frames. Returns the end metrics of the last proven frame; nullptr
    //! if there is none.
    const frame_ends* abandon();
    std::uint64_t boundary_matches() const { return d_boundary_matches; }
    std::uint64_t failed() const { return d_failed; }
    //! Returns the number of failed matches whose earlier frame was locked.
    std::uint64_t unproven() const { return d_unproven; }

private:
    struct entry {
        stream_frame frame;
        std::vector<std::byte> memory; // copy of the output, if `copied` is set
        bool copied = false;
        unsigned version = 0; // number of times that the frame's result was replaced
        // Version of the previous frame's result from whose end metrics this frame was
        // decoded; −1: the decoder searched for the beginning.
        long from = -1;
        // Version of the previous frame with which this frame was compared; −1: none.
        long compared_with = -1;
        bool matches = false;    // whether the boundary match succeeded
        bool redecoding = false; // whether another decoding of the frame is outstanding

        frame_ends ends(const setup& s) const
        {
            return { frame.output + s.metrics_at(), frame.origin };
        }
    };

    void compare_with_previous(const entry& before, entry& e);
    void keep(entry& e) const;

    const setup d_setup;
    const std::uint64_t d_first;
    const order d_again;
    const double d_tolerance;
    ring<entry> d_frames;
    entry d_before; // the frame that was popped last
    bool d_any = false;
    frame_ends d_last{};
    std::size_t d_proven = 0;
    std::uint64_t d_boundary_matches = 0, d_failed = 0, d_unproven = 0;
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_STREAM_STREAM_RESULTS_H */
