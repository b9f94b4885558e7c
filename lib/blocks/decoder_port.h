// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Between GNU Radio's scheduler and a decoder with threads of its own: what the blocks of
 * decoders share. */

#ifndef INCLUDED_GPUFEC_BLOCKS_DECODER_PORT_H
#define INCLUDED_GPUFEC_BLOCKS_DECODER_PORT_H

#include <gnuradio/block.h>
#include <gnuradio/block_detail.h>
#include <gnuradio/buffer_reader.h>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>

namespace gr::gpufec {

// How long work() may sleep: tb.stop() waits for it.
constexpr std::chrono::milliseconds longest_sleep{ 100 };

//! A message port through which any thread makes the scheduler look at its block again.
class wake_port
{
public:
    explicit wake_port(gr::block& block) : d_block(block), d_port(pmt::mp("wake"))
    {
        block.message_port_register_in(d_port);
        // The message itself says nothing.
        block.set_msg_handler(d_port, [this](const pmt::pmt_t&) { d_waking = false; });
    }

    void wake()
    {
        if (!d_waking.exchange(true)) {
            d_block._post(d_port, pmt::PMT_NIL);
        }
    }

private:
    gr::block& d_block;
    const pmt::pmt_t d_port;
    std::atomic<bool> d_waking{ false }; // a message is on its way to the block
};

//! The hooks of a decoder that wakes its block, and writes to its log (a member of the
//! block, which gets another one with an alias).
template <class Decoder>
typename Decoder::hooks make_hooks(wake_port& port, const gr::logger_ptr& logger)
{
    using level = typename Decoder::level;
    typename Decoder::hooks hooks;
    hooks.wake = [&port] { port.wake(); };
    hooks.log = [&logger](level l, const std::string& text) {
        switch (l) {
        case level::info:
            logger->info("{}", text);
            break;
        case level::warning:
            logger->warn("{}", text);
            break;
        case level::error:
            logger->error("{}", text);
            break;
        }
    };
    return hooks;
}

//! Whether no more will arrive at a block's input 0 than is available after this call.
inline bool input_ended(const gr::block& block)
{
    const auto reader = block.detail()->input(0);
    gr::thread::scoped_lock guard(*reader->mutex());
    return reader->done();
}

//! Items that wait at a block's input 0.
inline std::size_t input_available(const gr::block& block)
{
    const auto reader = block.detail()->input(0);
    gr::thread::scoped_lock guard(*reader->mutex());
    return reader->items_available();
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_DECODER_PORT_H */
