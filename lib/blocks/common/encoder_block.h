// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What the blocks of encoders share: items are gathered up to the end of a frame (or of a
 * piece of a stream), encoded, and sent; tags move to the output of the item they are on.
 */

#ifndef INCLUDED_GPUFEC_BLOCKS_ENCODER_BLOCK_H
#define INCLUDED_GPUFEC_BLOCKS_ENCODER_BLOCK_H

#include "tag_queue.h"
#include <gnuradio/block.h>
#include <gnuradio/block_detail.h>
#include <gnuradio/buffer_reader.h>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace gr::gpufec {

//! \p Block: the public block, with bytes in and out.
template <class Block>
class encoder_block : public Block
{
public:
    bool start() override
    {
        // lock() and unlock() keep the detail, and what is in its buffers: the same
        // stream goes on. Else another one begins.
        if (d_detail.lock() != this->detail()) {
            restart();
            d_coded.clear();
            d_sent = 0;
            d_tags.clear();
            d_taken = d_given = 0;
            d_detail = this->detail();
        }
        return Block::start();
    }

    void forecast(int, gr_vector_int& ninput_items_required) override
    {
        const bool more =
            d_sent < d_coded.size() || (unsent() && this->detail()->input(0)->done());
        ninput_items_required[0] = more ? 0 : 1;
    }

    int general_work(int noutput_items,
                     gr_vector_int& ninput_items,
                     gr_vector_const_void_star& input_items,
                     gr_vector_void_star& output_items) override
    {
        const auto* const in = static_cast<const std::uint8_t*>(input_items[0]);
        auto* const out = static_cast<std::uint8_t*>(output_items[0]);
        const std::size_t available = ninput_items[0];
        const std::size_t room = noutput_items;
        const bool ended = ended_after(available);
        std::size_t taken = 0;
        std::size_t given = send(out, room);
        while (given < room && taken < available) {
            taken += gather(in + taken, available - taken);
            encode(d_coded);
            given += send(out + given, room - given);
        }
        if (ended && taken == available && d_coded.empty() && unsent()) {
            finish(d_coded);
            given += send(out + given, room - given);
        }

        hold_tags(taken);
        this->consume_each(taken);
        d_taken += taken;
        d_tags.give(d_given + given,
                    this->nitems_written(0) - d_given,
                    [this](const tag_t& tag) { this->add_item_tag(0, tag); });
        d_given += given;
        return given;
    }

protected:
    encoder_block() { this->set_tag_propagation_policy(gr::block::TPP_CUSTOM); }

    //! Another stream begins.
    virtual void restart() = 0;
    //! Takes some of the items, at most up to the end of a frame, and says how many.
    virtual std::size_t gather(const std::uint8_t* in, std::size_t items) = 0;
    //! Puts what is gathered into the empty \p coded, as output items, if it is enough.
    virtual void encode(std::vector<std::uint8_t>& coded) = 0;
    //! Whether something is held back that fills no output item.
    virtual bool unsent() const { return false; }
    //! Puts that into the empty \p coded: the input has ended.
    virtual void finish(std::vector<std::uint8_t>&) {}
    //! The output item that input item \p item of the stream goes to.
    virtual std::uint64_t output_of_item(std::uint64_t item) const = 0;

private:
    //! Whether nothing follows the items at hand.
    bool ended_after(std::size_t available) const
    {
        // In this order: what had arrived when the input ended is available afterwards.
        const auto reader = this->detail()->input(0);
        gr::thread::scoped_lock guard(*reader->mutex());
        return reader->done() && std::size_t(reader->items_available()) <= available;
    }

    std::size_t send(std::uint8_t* out, std::size_t room)
    {
        const auto n = std::min(room, d_coded.size() - d_sent);
        std::copy_n(d_coded.begin() + d_sent, n, out);
        d_sent += n;
        if (d_sent == d_coded.size()) {
            d_coded.clear();
            d_sent = 0;
        }
        return n;
    }

    void hold_tags(std::size_t taken)
    {
        const auto first = this->nitems_read(0);
        std::vector<tag_t> tags;
        this->get_tags_in_range(tags, 0, first, first + taken);
        tag_queue::sort(tags);
        for (auto& tag : tags) {
            tag.offset = output_of_item(tag.offset - first + d_taken);
            d_tags.hold(tag);
        }
    }

    std::vector<std::uint8_t> d_coded; // items that are being sent
    std::size_t d_sent = 0;

    // Items of this stream so far; the flowgraph's own counts restart with unlock().
    std::uint64_t d_taken = 0;
    std::uint64_t d_given = 0;
    std::weak_ptr<gr::block_detail> d_detail; // that the stream came through
    tag_queue d_tags;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_ENCODER_BLOCK_H */
