// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The output of blocks that emit telemetry frames: items, tags and PDUs. */

#ifndef INCLUDED_GPUFEC_BLOCKS_CCSDS_FRAME_EMITTER_H
#define INCLUDED_GPUFEC_BLOCKS_CCSDS_FRAME_EMITTER_H

#include "blocks/common/tag_queue.h"
#include <gnuradio/block.h>
#include <gnuradio/gpufec/status_tags.h>
#include <pmt/pmt.h>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gr::gpufec {

class frame_emitter
{
public:
    //! \param block the block, to which the constructor adds the message port \c pdus
    //! \param tags_out queue to which the tags of output items are added
    //! \param length_tag key of the length tags; "" for none
    //! \param tags which frames have a status tag
    frame_emitter(gr::block& block,
                  tag_queue& tags_out,
                  const std::string& length_tag,
                  status_tags tags)
        : d_block(block),
          d_tags(tags_out),
          d_port(pmt::mp("pdus")),
          d_length_key(length_tag.empty() ? pmt::pmt_t() : pmt::mp(length_tag)),
          d_frame_key(pmt::mp("ccsds_frame")),
          d_status_tags(tags)
    {
        d_tag.srcid = pmt::mp(block.alias());
        block.message_port_register_out(d_port);
    }

    //! Begins a new stream.
    void restart()
    {
        d_items.clear();
        d_sent = d_before = 0;
    }

    //! Returns whether all stored items were emitted; if not, the output buffer is full.
    bool empty() const { return d_sent == d_items.size(); }
    //! Returns the stream index of the next output item.
    std::uint64_t next_item() const { return d_before + d_items.size(); }
    bool is_length(const pmt::pmt_t& key) const
    {
        return d_length_key && key == d_length_key;
    }

    //! Returns whether a frame has a status tag.
    bool has_status_tag(bool good) const
    {
        return d_status_tags == status_tags::all ||
               (d_status_tags == status_tags::failures && !good);
    }
    //! Begins a call of general_work() that can emit \p capacity items to \p out.
    void begin_work(std::uint8_t* out, std::size_t capacity)
    {
        d_out = out;
        d_capacity = capacity;
        d_given = 0;
        send();
        // The query for subscribers takes as long as decoding a frame, so it is made once
        // per call.
        d_sends_pdus = !pmt::is_null(d_block.message_subscribers(d_port));
    }
    //! Returns whether a block subscribes to the PDUs.
    bool sends_pdus() const { return d_sends_pdus; }

    //! Returns where the next frame will be written, if all items have been emitted.
    std::uint8_t* end() const { return d_out + d_given; }
    //! Returns the number of items that can still be emitted in this call.
    std::size_t space() const { return d_capacity - d_given; }

    /*!
     * \brief Emits a frame. Stores the items for which the output buffer has no space.
     * All earlier items must have been emitted.
     * \param items the frame's items, one byte each, which may already be at end()
     * \param count number of items
     * \param state value of the tag ccsds_frame and metadata of the PDU; not used unless
     *        has_status_tag() or sends_pdus() returns true
     * \param good whether the frame was decoded correctly
     * \param as_pdu whether to send a PDU, if the port has a subscriber
     */
    void append(const std::uint8_t* items,
                std::size_t count,
                const pmt::pmt_t& state,
                bool good,
                bool as_pdu)
    {
        d_tag.offset = next_item();
        if (d_length_key) {
            if (!d_length || std::exchange(d_count, count) != count) {
                d_length = pmt::from_long(long(count));
            }
            d_tag.key = d_length_key;
            d_tag.value = d_length;
            d_tags.hold(d_tag);
        }
        if (has_status_tag(good)) {
            d_tag.key = d_frame_key;
            d_tag.value = state;
            d_tags.hold(d_tag);
        }
        const auto n = std::min(count, space());
        if (items != end()) {
            std::copy_n(items, n, end());
        }
        d_given += n;
        d_before += d_items.size() + n;
        d_items.assign(items + n, items + count);
        d_sent = 0;
        if (as_pdu && sends_pdus()) {
            d_block.message_port_pub(d_port,
                                     pmt::cons(state, pmt::init_u8vector(count, items)));
        }
    }

    //! Returns the number of items emitted since begin_work().
    std::size_t given() const { return d_given; }

private:
    // Emits stored items.
    void send()
    {
        const auto n = std::min(d_capacity, d_items.size() - d_sent);
        std::copy_n(d_items.begin() + d_sent, n, d_out);
        d_sent += n;
        d_given += n;
    }

    gr::block& d_block;
    tag_queue& d_tags;
    const pmt::pmt_t d_port, d_length_key, d_frame_key;
    const status_tags d_status_tags;
    bool d_sends_pdus = false;
    tag_t d_tag;         // The tag is a member, so that its source is not copied for each
                         // tag.
    pmt::pmt_t d_length; // value of the last length tag, for d_count items; may be null
    std::size_t d_count = 0;
    std::uint8_t* d_out = nullptr; // output of this call, with d_given items so far
    std::size_t d_capacity = 0, d_given = 0;
    std::vector<std::uint8_t> d_items; // stored items of the last frame
    std::size_t d_sent = 0;
    std::uint64_t d_before = 0; // number of stream items before d_items
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_CCSDS_FRAME_EMITTER_H */
