// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface of the engines that cut a stream into frames. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_STREAM_STREAM_ENGINE_H
#define INCLUDED_GPUFEC_SYNC_MAP_STREAM_STREAM_ENGINE_H

#include "decoder_impl.h"
#include <memory>

namespace gr::gpufec {

//! Cuts a stream into frames, submits them in batches and returns their results.
class stream_engine
{
public:
    virtual ~stream_engine() = default;

    //! Cuts all frames that can be cut, and submits a batch if it is full or has waited
    //! long enough.
    virtual void advance() = 0;
    //! Returns the number of frames to be submitted: frames in the open slot, and frames
    //! to be decoded again.
    virtual std::size_t waiting() const = 0;
    //! Returns whether all cut frames are in the pipeline or have been pulled.
    virtual bool idle() const = 0;
    //! Returns whether pull() returns a frame without a call of advance().
    virtual bool decoded() const = 0;
    //! Returns whether a frame can be pulled.
    virtual bool ready() = 0;
    //! Stores the next frame of the stream in \p f. Returns false if that frame is not
    //! decoded yet.
    virtual bool pull(sync_decoder::frame& f) = 0;
    //! Drops the frames that have been pulled.
    virtual void release_emitted() = 0;
    //! Returns whether the stream has ended, all frames are cut, and no frame outside the
    //! pipeline waits to be pulled.
    virtual bool ended() = 0;
    //! Returns the number of received items after the beginning of the next frame to be
    //! cut.
    virtual std::size_t ahead() const = 0;
    //! Returns the number of items by which ahead() may exceed the limit of a stream that
    //! is decoded sequentially.
    virtual std::size_t more_ahead() const { return 0; }
    //! Returns whether the engine can read input in place, in the caller's memory.
    virtual bool can_borrow() const { return false; }
    //! Drops the items that no frame still needs.
    virtual void forget_unneeded() {}
    //! Makes the cutter continue after the last proven frame (stream_results.h).
    virtual void follow_proven() {}

    stream_cutter d_cutter;

protected:
    explicit stream_engine(sync_decoder_impl& decoder)
        : d_cutter(decoder.d_options, *decoder.d_setup),
          d(decoder),
          d_lock_limit(lock_limit(decoder.d_options))
    {
    }

    //! Returns whether a frame's log-likelihood ratio per item exceeds lock_limit() (see
    //! stream.h). For \p items, see stream_cutter::place::items.
    bool follows(const sync_status& status, std::int64_t items) const
    {
        return status.log_probability / items > d_lock_limit;
    }

    sync_decoder_impl& d;

private:
    const double d_lock_limit;
};

//! Makes an engine whose frames search for their beginnings.
std::unique_ptr<stream_engine> make_searching_frames(sync_decoder_impl& decoder);

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_SYNC_MAP_STREAM_STREAM_ENGINE_H */
