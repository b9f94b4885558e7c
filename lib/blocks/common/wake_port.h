// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A message port through which any thread can make the scheduler call a block. */

#ifndef INCLUDED_GPUFEC_BLOCKS_COMMON_WAKE_PORT_H
#define INCLUDED_GPUFEC_BLOCKS_COMMON_WAKE_PORT_H

#include <gnuradio/block.h>
#include <pmt/pmt.h>
#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

namespace gr::gpufec {

class wake_port
{
public:
    explicit wake_port(gr::block& block) : d_block(block), d_port(pmt::mp("wake"))
    {
        block.message_port_register_in(d_port);
        // The content of the message does not matter.
        block.set_msg_handler(d_port, [this](const pmt::pmt_t&) { d_waking = false; });
    }

    void wake()
    {
        if (d_waking.exchange(true)) {
            return;
        }
        // The calling threads handle no exceptions, and a block that is not woken would
        // sleep forever. If posting the message fails for lack of memory, it is therefore
        // retried for about a second.
        for (unsigned tries = 0; tries < 1000; ++tries) {
            try {
                d_block._post(d_port, pmt::PMT_NIL);
                return;
            } catch (const std::exception&) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        }
        d_waking = false;
    }

private:
    gr::block& d_block;
    const pmt::pmt_t d_port;
    std::atomic<bool> d_waking{ false }; // whether a posted message is not handled yet
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_COMMON_WAKE_PORT_H */
