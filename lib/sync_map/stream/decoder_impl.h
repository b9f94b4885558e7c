// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The part of sync_decoder that its modes share: returns decoded frames in order, and
 * changes the channel between frames.
 *
 * framed_decoder.cc decodes frames that the caller marks. unmarked_decoder.cc decodes
 * streams, which sequential_frames.h or searching_frames.cc cuts into frames. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_STREAM_DECODER_IMPL_H
#define INCLUDED_GPUFEC_SYNC_MAP_STREAM_DECODER_IMPL_H

#include "pipeline/stream_decoder.h"
#include "stream.h"
#include "traits.h"
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace gr::gpufec {

using namespace sync_map;

class sync_decoder_impl : public stream_decoder<sync_decoder, traits>
{
public:
    void set_channel(const bsid_model& channel) override;

    const sync_options& options() const override { return d_options; }
    drift_range window() const override { return d_window; }
    unsigned lookahead() const override { return d_setup->symbols - d_setup->outputs; }
    std::size_t symbol_bytes() const override { return d_setup->symbol_bytes(); }

    std::uint64_t links_failed() const override { return d_links_failed; }
    std::uint64_t frames_again() const override { return d_frames_again; }

    std::size_t pull(output_items out) override;
    using sync_decoder::pull;
    std::optional<frame_status> status() override { return std::exchange(d_status, {}); }

    bool ready() override;
    bool wait(std::chrono::milliseconds limit) override;

protected:
    // The constructor of a derived class calls open_channel().
    sync_decoder_impl(const sync_options& options,
                      decoder_hooks hooks,
                      std::shared_ptr<std::atomic<bool>> notified =
                          std::make_shared<std::atomic<bool>>(true));

    friend class stream_engine;
    friend class sequential_frames;
    friend class searching_frames;

    item_type expected_type() const;
    item_type output_type() const;

    void open_channel();
    // Prepares the derived class for the setup of a channel, at the beginning or after
    // frames with another channel.
    virtual void begin_channel() = 0;
    // Returns whether all frames that were cut have been submitted.
    virtual bool idle() const { return d_count == 0; }
    // Switches to the next channel once all frames of the current channel are pulled.
    // Returns whether the channel changed.
    bool take_next();

    void restart() override;
    bool all_pulled() override;
    std::size_t waiting() const override { return d_count; }

    // Returns whether a frame can be written to the open slot.
    bool open_slot() { return !d_next && filling(); }
    std::byte* next_input();
    // Counts frames that were written to the open slot.
    void added(std::size_t frames);
    virtual void send();
    // Submits frames that have waited long enough.
    void send_due();
    output_rows rows() const;
    // Drops the frames that have been pulled. Releases a slot when all its frames have
    // been pulled.
    virtual void release_emitted();
    // Sets all members of up to \p count \p frames except begin, locked and bound to
    // those of the next frames of the oldest slot. Returns the number of frames; 0 if the
    // slot is in flight.
    std::size_t pull_from_slot(frame* frames, std::size_t count);
    void point_to(const std::byte* out, frame& f) const;

    sync_options d_options;
    drift_range d_window;
    // Options with a new channel; set while frames with the old channel are in flight.
    std::optional<sync_options> d_next;
    std::size_t d_frame_bytes = 0; // size of a frame's output
    std::size_t d_count = 0;       // number of frames in the open slot
    std::size_t d_emitted = 0;     // number of pulled frames not yet released
    std::uint64_t d_number = 0;    // number of the next frame to be pulled
    // Whether decoder_hooks::wake was called.
    const std::shared_ptr<std::atomic<bool>> d_notified;
    std::uint64_t d_links_failed = 0, d_frames_again = 0;
    bool d_reported_sequential = false;   // whether sequential decoding was reported
    std::optional<frame_status> d_status; // status of the latest frame, not yet read
};

//! Makes a decoder of frames that the caller marks.
sync_decoder::sptr make_framed_decoder(const sync_options& options, decoder_hooks hooks);
//! Makes a decoder of a stream of frames without marks.
sync_decoder::sptr make_unmarked_decoder(const sync_options& options,
                                         decoder_hooks hooks);

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_SYNC_MAP_STREAM_DECODER_IMPL_H */
