// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decodes a stream that is cut into frames sequentially. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_STREAM_SEQUENTIAL_FRAMES_H
#define INCLUDED_GPUFEC_SYNC_MAP_STREAM_SEQUENTIAL_FRAMES_H

#include "stream_engine.h"
#include <algorithm>
#include <deque>

namespace gr::gpufec {

//! Engine in which each frame begins with the end metrics of the previous frame.
class sequential_frames : public stream_engine
{
public:
    explicit sequential_frames(sync_decoder_impl& decoder) : stream_engine(decoder) {}

    void advance() override
    {
        while (d_cutter.ready() && d.open_slot()) {
            d_places.push_back(d_cutter.write(d.next_input()));
            d.added(1);
        }
        d.send_due();
    }
    bool pull(sync_decoder::frame& f) override
    {
        if (d.pull_from_slot(&f, 1) == 0) {
            return false;
        }
        const auto place = d_places.front();
        d_places.pop_front();
        f.begin = place.origin + f.status.start_drift;
        f.locked = f.status.valid && follows(f.status, place.items);
        f.bound = 0;
        return true;
    }
    // Returns false before the first frame of each slot, so that advance(), which reads
    // the clock, is called once per slot and not for each frame.
    bool decoded() const override { return d.d_emitted > 0; }
    bool ready() override { return d.stream_decoder::ready(); }
    void release_emitted() override { d.sync_decoder_impl::release_emitted(); }
    std::size_t waiting() const override { return d.d_count; }
    bool idle() const override { return d.d_count == 0; }
    bool ended() override { return d_cutter.done(); }
    std::size_t ahead() const override
    {
        return std::max<std::int64_t>(0, d_cutter.received() - d_cutter.origin());
    }

private:
    std::deque<stream_cutter::place> d_places; // places of frames not yet pulled
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_SYNC_MAP_STREAM_SEQUENTIAL_FRAMES_H */
