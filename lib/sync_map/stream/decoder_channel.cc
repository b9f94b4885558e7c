// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Makes a sync_decoder, and changes its channel between frames. */

#include "decoder_impl.h"

namespace gr::gpufec {

namespace {

// Returns hooks whose wake() also sets \p notified.
decoder_hooks notifying(decoder_hooks hooks, std::shared_ptr<std::atomic<bool>> notified)
{
    hooks.wake = [notified = std::move(notified), wake = std::move(hooks.wake)] {
        *notified = true;
        wake();
    };
    return hooks;
}

} // namespace

sync_decoder_impl::sync_decoder_impl(const sync_options& options,
                                     decoder_hooks hooks,
                                     std::shared_ptr<std::atomic<bool>> notified)
    : stream_decoder(options,
                     notifying(std::move(hooks), notified),
                     options.item_bytes(),
                     options.item_bytes()),
      d_options(options),
      d_notified(std::move(notified))
{
}

void sync_decoder_impl::set_channel(const bsid_model& channel)
{
    auto options = d_options;
    options.channel = channel;
    // If the channel cannot be decoded, this call throws before any member changes.
    make_setup(options);
    d_next = std::move(options);
    flush();
    take_next();
}

void sync_decoder_impl::open_channel()
{
    d_window = decoder_window(d_options);
    open(make_setup(d_options));
    d_frame_bytes = d_setup->outputs * symbol_bytes();
    begin_channel();
}

bool sync_decoder_impl::take_next()
{
    if (!d_next || !idle() || !d_pipeline->empty()) {
        return false;
    }
    const auto options = std::exchange(d_options, std::move(*d_next));
    d_next.reset();
    try {
        open_channel();
    } catch (...) {
        d_options = options; // memory sufficed for the previous options
        open_channel();
        throw;
    }
    return true;
}

sync_decoder::sptr sync_decoder::make(const sync_options& options, decoder_hooks hooks)
{
    return options.mode == sync_mode::framed
               ? make_framed_decoder(options, std::move(hooks))
               : make_unmarked_decoder(options, std::move(hooks));
}

} // namespace gr::gpufec
