// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The base class of conv_encoder and ldpc_encoder. The class gathers a frame, or a
 * limited number of items of a stream, encodes the items and emits the output. A tag
 * moves to the output of its item. */

#ifndef INCLUDED_GPUFEC_BLOCKS_COMMON_ENCODER_BLOCK_H
#define INCLUDED_GPUFEC_BLOCKS_COMMON_ENCODER_BLOCK_H

#include "tagged_block.h"
#include <algorithm>
#include <numeric>

namespace gr::gpufec {

//! \tparam Block the public block, with bytes as input and output
template <class Block>
class encoder_block : public tagged_block<Block>
{
public:
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
        const std::size_t capacity = noutput_items;
        const bool ended = ended_after(*this, available);
        this->read_tags(available);
        std::size_t taken = 0;
        std::size_t given = send(out, capacity);
        while (given < capacity && taken < available) {
            taken += gather(in + taken, d_taken + taken, available - taken);
            if (d_items.size() == d_block_items || !(framed() || d_items.empty())) {
                encode(d_items, d_coded);
                d_items.clear();
            }
            given += send(out + given, capacity - given);
        }
        if (ended && taken == available && d_coded.empty() && unsent()) {
            finish(d_coded);
            given += send(out + given, capacity - given);
        }
        return this->leave(taken, given);
    }

protected:
    /*!
     * \param block_items number of input items per frame; for a stream, the maximum
     *        number encoded at a time
     * \param frame_output number of output items per frame; 0 for a stream
     * \param length_tag key of tags with the length of a packet in items; "" for none
     */
    encoder_block(std::size_t block_items,
                  std::size_t frame_output,
                  const std::string& length_tag)
        : tagged_block<Block>(length_tag),
          d_block_items(block_items),
          d_frame_output(frame_output)
    {
    }

    //! Sets the relative rate of an encoder of frames.
    void set_frame_rate()
    {
        const auto common = std::gcd(d_frame_output, d_block_items);
        this->set_relative_rate(std::uint64_t(d_frame_output / common),
                                std::uint64_t(d_block_items / common));
    }

    void restart() override
    {
        d_items.clear();
        d_coded.clear();
        d_sent = 0;
    }
    //! Encodes a frame, or at least one and at most d_block_items items of a stream, and
    //! appends the output to \p coded, which is empty.
    virtual void encode(const std::vector<std::uint8_t>& items,
                        std::vector<std::uint8_t>& coded) = 0;
    //! Returns whether coded bits remain that do not fill an output item.
    virtual bool unsent() const { return false; }
    //! Called at the end of the input if unsent() returns true. Appends one output item
    //! with the remaining bits to the argument, an empty vector.
    virtual void finish(std::vector<std::uint8_t>&) {}
    //! Returns the index of the output item to which the tags of input item \p item
    //! move. Both indices count from the stream's beginning and leave out dropped items.
    virtual std::uint64_t output_of_item(std::uint64_t item) const = 0;

    const std::size_t d_block_items, d_frame_output;

private:
    using tagged_block<Block>::d_taken;
    using tagged_block<Block>::d_dropped;
    using tagged_block<Block>::d_lengths;

    bool framed() const { return d_frame_output > 0; }
    incomplete_frame incomplete() const override
    {
        return { framed() ? d_items.size() : 0, d_block_items };
    }

    // Takes at most `count` items, beginning with stream item `item`, until d_items is
    // full, with d_block_items items. Between frames, drops items instead. If a length
    // tag cuts a frame short, drops that frame first. Returns the number of items taken
    // or dropped from `in`. Tags wait until their frame is complete.
    std::size_t gather(const std::uint8_t* in, std::uint64_t item, std::size_t count)
    {
        if (framed()) {
            if (!d_items.empty() && d_lengths.cuts_frame(item)) {
                this->drop(item, d_items.size());
                d_items.clear();
            }
            const auto run = d_lengths.next(item, count, d_block_items);
            count = run.items;
            if (!run.of_frames) {
                this->drop(item + count, count);
                return count;
            }
        }
        const auto n = std::min(count, d_block_items - d_items.size());
        d_items.insert(d_items.end(), in, in + n);
        d_lengths.took(item + n);
        if (!framed() || d_items.size() == d_block_items) {
            this->move_tags(
                item + n,
                [&](std::uint64_t at) { return output_of_item(at); },
                [&](std::uint64_t at) {
                    return framed() ? at / d_block_items * d_frame_output
                                    : output_of_item(at);
                });
        }
        return n;
    }

    std::size_t send(std::uint8_t* out, std::size_t capacity)
    {
        const auto n = std::min(capacity, d_coded.size() - d_sent);
        std::copy_n(d_coded.begin() + d_sent, n, out);
        d_sent += n;
        if (d_sent == d_coded.size()) {
            d_coded.clear();
            d_sent = 0;
        }
        return n;
    }

    std::vector<std::uint8_t> d_items; // input that is not encoded yet
    std::vector<std::uint8_t> d_coded; // output that is being emitted
    std::size_t d_sent = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_COMMON_ENCODER_BLOCK_H */
