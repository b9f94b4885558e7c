// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decodes a stream of frames without marks. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_STREAM_UNMARKED_DECODER_H
#define INCLUDED_GPUFEC_SYNC_MAP_STREAM_UNMARKED_DECODER_H

#include "decoder_impl.h"
#include <atomic>
#include <memory>

namespace gr::gpufec {

/*!
 * \brief Decoder of a stream whose frames an engine cuts and returns.
 *
 * The constructor and each change of the channel choose the engine: `searching` if the
 * frames can search for their beginnings, and `sequential` otherwise.
 */
class unmarked_decoder : public sync_decoder_impl
{
public:
    unmarked_decoder(const sync_options& options,
                     decoder_hooks hooks,
                     std::shared_ptr<std::atomic<bool>> notified =
                         std::make_shared<std::atomic<bool>>(true));
    ~unmarked_decoder() override;

    bool push_frame(const void* items, std::size_t count, const float* priors) override;
    std::size_t push(const void* items, std::size_t count) override;
    bool end_frame(const float* priors) override;
    std::size_t skip(std::size_t count) override;
    bool pull(frame& f) override;
    void finish() override;
    bool ready() override;
    bool wait(std::chrono::milliseconds limit) override;

    bool can_borrow() const override;
    std::size_t borrow(const void* items, std::size_t count) override;
    std::size_t borrowed() const override;
    std::size_t release_borrowed() override;
    void copy_borrowed() override;
    // Returns the size in bytes of the input of all slots and one more batch: the items
    // of unproven frames and of frames that are not yet cut.
    std::size_t input_bytes() const override;

    std::uint64_t links_failed() const override { return d_links_failed; }
    std::uint64_t frames_again() const override { return d_frames_again; }

private:
    class engine;
    class sequential;
    class searching;

    void begin_channel() override;
    bool idle() const override;
    void restart() override;
    void advance() override;
    std::size_t waiting() const override;
    bool all_pulled() override;
    void release_emitted() override;

    std::unique_ptr<engine> make_engine();
    // Returns the number of items that push() accepts now. The number of items that wait
    // to be cut into frames is limited, so that a caller with much input does not fill
    // the memory.
    std::size_t capacity() const;
    // Returns whether a frame's log-likelihood ratio per item exceeds lock_limit() (see
    // stream.h). For \p items, see stream_cutter::place::items.
    bool follows(const sync_status& status, std::int64_t items) const;

    const std::shared_ptr<std::atomic<bool>> d_notified; // set by decoder_hooks::wake
    std::uint64_t d_links_failed = 0, d_frames_again = 0;
    bool d_said_carried = false;
    double d_lock_limit = 0;
    std::unique_ptr<engine> d_engine;
};

//! Cuts the stream into frames, submits them in batches and returns their results.
class unmarked_decoder::engine
{
public:
    virtual ~engine() = default;

    //! Cuts all frames that can be cut, and submits a batch if it is full or has waited
    //! long enough.
    virtual void advance() = 0;
    //! Returns the number of frames that are cut or ordered and not submitted.
    virtual std::size_t waiting() const = 0;
    //! Returns whether no frame outside the pipeline waits to be submitted or pulled.
    virtual bool idle() const = 0;
    //! Returns whether pull() returns a frame without a call of advance().
    virtual bool decoded() const = 0;
    //! Returns whether a frame can be pulled.
    virtual bool ready() = 0;
    //! Gets the next frame in order. Returns false if that frame is not decoded yet.
    virtual bool pull(frame& f) = 0;
    //! Drops the frames that have been pulled.
    virtual void release_emitted() = 0;
    //! Returns whether the stream has ended and all frames have been pulled, those in the
    //! pipeline aside.
    virtual bool ended() = 0;
    //! Returns the number of items received after the next frame to be cut begins.
    virtual std::size_t ahead() const = 0;
    //! Returns how many more items than in a sequential stream may be received ahead.
    virtual std::size_t more_ahead() const { return 0; }
    //! Returns whether input can be read in the caller's memory.
    virtual bool can_borrow() const { return false; }
    //! Drops the items that no frame still needs.
    virtual void forget_unneeded() {}
    //! Makes the next frame that the cutter cuts follow the last proven frame.
    virtual void follow_proven() {}

    stream_cutter d_cutter;

protected:
    explicit engine(unmarked_decoder& decoder)
        : d_cutter(decoder.d_options, *decoder.d_setup), d(decoder)
    {
    }

    unmarked_decoder& d;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_SYNC_MAP_STREAM_UNMARKED_DECODER_H */
