// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Base classes of blocks that pass the tags of a stream on. Tag offsets are counted from
 * the beginning of the stream. */

#ifndef INCLUDED_GPUFEC_BLOCKS_COMMON_TAGGED_BLOCK_H
#define INCLUDED_GPUFEC_BLOCKS_COMMON_TAGGED_BLOCK_H

#include "input_port.h"
#include "length_tags.h"
#include <initializer_list>
#include <pmt/pmt.h>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief Base class of blocks that count items and queue tags of a stream.
 * \tparam Block the public block, with one input and one output
 */
template <class Block>
class stream_block : public Block
{
public:
    bool start() override
    {
        // lock() and unlock() keep the block_detail and its buffers, so the stream
        // continues. A new block_detail means that a new stream begins.
        if (d_detail.lock() == this->detail()) {
            resume_stream();
        } else {
            d_input_tags.clear();
            d_tags.clear();
            d_taken = d_emitted = 0;
            begin_stream();
            d_detail = this->detail();
        }
        return Block::start();
    }

protected:
    template <class... Arguments>
    explicit stream_block(Arguments&&... arguments)
        : Block(std::forward<Arguments>(arguments)...)
    {
        this->set_tag_propagation_policy(gr::block::TPP_CUSTOM);
    }

    virtual void begin_stream() = 0;
    virtual void resume_stream() {}

    //! Reads the tags of those available items whose tags were not read before. For \p
    //! see, see input_tags::read().
    template <class See>
    void read_tags(std::size_t available, See&& see)
    {
        const auto read = this->nitems_read(0);
        const auto fetch = [&](std::vector<tag_t>& tags, std::uint64_t from) {
            this->get_tags_in_range(tags, 0, read + from, read + available);
            for (auto& tag : tags) {
                tag.offset -= read + from;
            }
        };
        d_input_tags.read(d_taken, available, fetch, std::forward<See>(see));
    }

    //! Ends a call of general_work() that took \p taken items and emitted \p given
    //! items: consumes the former, adds the tags of the latter, and returns \p given.
    int leave(std::size_t taken, std::size_t given)
    {
        this->consume_each(taken);
        d_taken += taken;
        d_tags.give(d_emitted + given,
                    this->nitems_written(0) - d_emitted,
                    [this](const tag_t& tag) { this->add_item_tag(0, tag); });
        d_emitted += given;
        return given;
    }

    //! Publishes a dictionary with \p event, \p counts and, unless it is null, \p text.
    void publish(const pmt::pmt_t& port,
                 const char* event,
                 std::initializer_list<std::pair<const char*, std::uint64_t>> counts,
                 const char* text = nullptr)
    {
        auto message = pmt::dict_add(pmt::make_dict(), pmt::mp("event"), pmt::mp(event));
        if (text) {
            message = pmt::dict_add(message, pmt::mp("text"), pmt::mp(text));
        }
        for (const auto& [key, count] : counts) {
            message = pmt::dict_add(message, pmt::mp(key), pmt::from_uint64(count));
        }
        this->message_port_pub(port, message);
    }

    // Item counts of this stream; GNU Radio's own counts restart with unlock().
    std::uint64_t d_taken = 0;
    std::uint64_t d_emitted = 0;

    input_tags d_input_tags; // input tags that are not converted yet
    tag_queue d_tags;        // tags of output items that are not emitted yet

private:
    std::weak_ptr<gr::block_detail> d_detail; // block_detail of this stream, see start()
};

//! Base class of blocks that move each tag to the output of the tag's item.
template <class Block>
class tagged_block : public stream_block<Block>
{
public:
    // Requests one item, not a frame: items must be consumed on arrival, because lock()
    // and unlock() would lose unread items.
    void forecast(int, gr_vector_int& ninput_items_required) override
    {
        std::fill(ninput_items_required.begin(), ninput_items_required.end(), 1);
    }

    // Reports an incomplete frame only if the input has ended, because lock() also calls
    // stop().
    bool stop() override
    {
        if (const auto detail = this->detail(); detail && detail->input(0)->done()) {
            incomplete().log(*this->d_logger, d_emitted > 0);
        }
        return Block::stop();
    }

protected:
    /*!
     * \param length_tag key of tags with the length of a packet in items; "" for none
     * \param passes_lengths whether length tags are converted to lengths of the output;
     *        otherwise they are removed
     */
    explicit tagged_block(const std::string& length_tag, bool passes_lengths = true)
        : d_passes_lengths(passes_lengths),
          d_lengths(length_tag,
                    [this](const std::string& text) { this->d_logger->warn("{}", text); })
    {
    }

    using stream_block<Block>::d_emitted;
    using stream_block<Block>::d_input_tags;
    using stream_block<Block>::d_tags;

    //! Called at the beginning of a stream.
    virtual void restart() {}
    virtual incomplete_frame incomplete() const { return {}; }

    //! Reads the tags of those available items whose tags were not read before.
    void read_tags(std::size_t available)
    {
        stream_block<Block>::read_tags(available, [this](const tag_t& tag) {
            d_lengths.on_tag(tag);
            return !d_passes_lengths && d_lengths.is_length(tag.key);
        });
    }

    //! Counts the last \p count items before \p end as dropped. Drops the tags before
    //! \p end that were not moved.
    void drop(std::uint64_t end, std::size_t count)
    {
        d_dropped += count;
        d_lengths.drop(d_input_tags, end);
    }

    //! Moves the tags of items before \p end to the output. \p output_of_item and
    //! \p output_of_end do not count dropped items; see length_tags::move().
    template <class OutputOfItem, class OutputOfEnd>
    void move_tags(std::uint64_t end,
                   OutputOfItem&& output_of_item,
                   OutputOfEnd&& output_of_end)
    {
        d_lengths.move(
            d_input_tags,
            end,
            d_tags,
            [&](std::uint64_t item) { return output_of_item(item - d_dropped); },
            [&](std::uint64_t item) { return output_of_end(item - d_dropped); });
    }

    std::uint64_t d_dropped = 0; // number of dropped items, which d_taken includes

    const bool d_passes_lengths;
    length_tags d_lengths;

private:
    void begin_stream() override
    {
        restart();
        d_lengths.restart();
        d_dropped = 0;
    }
    void resume_stream() override { d_lengths.resume(); }
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_COMMON_TAGGED_BLOCK_H */
