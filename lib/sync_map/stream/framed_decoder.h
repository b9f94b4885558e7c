// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decodes frames that the caller marks. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_STREAM_FRAMED_DECODER_H
#define INCLUDED_GPUFEC_SYNC_MAP_STREAM_FRAMED_DECODER_H

#include "decoder_impl.h"
#include <vector>

namespace gr::gpufec {

class framed_decoder : public sync_decoder_impl
{
public:
    framed_decoder(const sync_options& options, decoder_hooks hooks)
        : sync_decoder_impl(options, std::move(hooks))
    {
        open_channel();
    }

    bool push_frame(const void* items, std::size_t count, const float* priors) override;
    std::size_t push(const void* items, std::size_t count) override;
    bool end_frame(const float* priors) override;
    std::size_t skip(std::size_t count) override;
    bool pull(frame& f) override;
    bool can_borrow() const override;
    bool full() const override;

    std::uint64_t links_failed() const override { return 0; }
    std::uint64_t frames_again() const override { return 0; }

private:
    static constexpr std::size_t beyond_limits = INT32_MAX;

    void begin_channel() override;
    void restart() override;
    void advance() override { send_due(); }
    void send() override;
    bool can_borrow_output() const override { return !d_setup->drifts; }

    // Releases pulled frames, switches to a waiting channel if possible, and returns
    // whether a frame can be written to the open slot.
    bool capacity_for_frame();
    void add_placed(const placed_frame& place, std::size_t count);
    // Returns the number of borrowed items of the open frame that will be decoded.
    std::size_t kept_of_open() const { return d_too_long ? 0 : d_have; }
    // Returns the number of items that the open batch can still borrow. The limit is one
    // item more than a batch may have, so that a frame that is too long is detected.
    std::size_t borrowed_capacity() const;
    std::size_t take_borrowed(std::size_t count) override
    {
        return take_borrowed(count, true);
    }
    // Marks borrowed items as received. If \p of_frame is true, the items belong to the
    // open frame; otherwise they are skipped.
    std::size_t take_borrowed(std::size_t count, bool of_frame);
    void store_borrowed() override;

    double d_log_item = 0; // log-probability of a random item
    setup::placed_batch d_layout{};
    std::size_t d_items = 0; // number of items of the placed frames in the open slot
    std::size_t d_have = 0;  // number of items of the open frame
    std::vector<std::byte> d_part; // items of the open frame, unless they are borrowed
    bool d_too_long = false;       // the open frame is borrowed and too long
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_SYNC_MAP_STREAM_FRAMED_DECODER_H */
