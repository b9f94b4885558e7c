// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Length tags of blocks that change the rate. A tag has the length of a packet of frames,
 * which the block converts to the length of the packet's output. */

#ifndef INCLUDED_GPUFEC_BLOCKS_COMMON_LENGTH_TAGS_H
#define INCLUDED_GPUFEC_BLOCKS_COMMON_LENGTH_TAGS_H

#include "tag_queue.h"
#include <pmt/pmt.h>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>

namespace gr::gpufec {

//! Size of an incomplete frame that is dropped at the end of the input.
struct incomplete_frame {
    std::size_t have = 0;  //!< number of items in the incomplete frame
    std::size_t items = 0; //!< number of items in a complete frame

    //! Logs the loss, as a warning unless there was \p other output.
    template <class Logger>
    void log(Logger& logger, bool other) const
    {
        constexpr auto text = "the input ends within a frame, after {} of its {} "
                              "items; the items are dropped";
        if (have > 0 && other) {
            logger.info(text, have, items);
        } else if (have > 0) {
            logger.warn(text, have, items);
        }
    }
};

/*!
 * \brief Alignment of frames of a known length to the length tags of a stream.
 *
 * Until the first length tag, frames follow one another. From then on a packet of one
 * or more whole frames begins at each tag. If a packet's length is not a positive
 * multiple of the frame length, items are dropped up to the next tag. A tag inside a
 * packet ends the packet. The caller counts these two cases. Items that belong to no
 * packet are dropped. If an item has several tags with different lengths, the last tag is
 * used. Each kind of irregularity is logged once, as a warning.
 *
 * Items are counted from the stream's beginning. The caller passes every tag to on_tag()
 * in the order of items, and also keeps it in a queue with the other tags.
 */
class length_tags
{
public:
    //! \param key key of the length tags; "" for none
    //! \param warn logs a warning
    length_tags(const std::string& key, std::function<void(const std::string&)> warn);

    bool is_length(const pmt::pmt_t& key) const
    {
        return d_key && (key == d_key || pmt::eqv(key, d_key));
    }
    //! Returns whether a packet has begun, so that frames are parts of packets.
    bool has_packets() const { return d_seen; }
    //! Stores a length tag of the input before its item is taken; ignores other tags.
    void on_tag(const tag_t& tag);

    //! Returns whether the open frame is cut short at \p item, by a tag or by the end of
    //! the packet. The caller then drops and counts the frame.
    bool cuts_frame(std::uint64_t item);

    //! Consecutive items that all belong to frames or are all dropped.
    struct run {
        std::size_t items;
        //! Whether the items belong to frames; otherwise the caller drops them.
        bool of_frames;
        //! Number of invalid or shortened packets, which the caller adds up.
        unsigned lost;
    };
    //! Returns the run that begins with item \p item and ends within the \p count
    //! available items. \p frame is the length of a frame. If a frame is open,
    //! cuts_frame(item) must have returned false.
    run next(std::uint64_t item, std::size_t count, std::size_t frame);
    //! Records that the items before \p end were taken as frames.
    void took(std::uint64_t end)
    {
        for (; d_begun < d_tags.size() && d_tags[d_begun].item < end; ++d_begun) {
            d_end = d_tags[d_begun].item + d_tags[d_begun].length;
        }
    }
    //! Drops the \p tags of items before \p end and ends their packet.
    void drop(tag_queue& tags, std::uint64_t end)
    {
        tags.release(end, [](const held_tag&) {});
        end_packet(end);
    }

    /*!
     * \brief Moves the tags of items before \p end from one queue to another. All these
     * items must have been taken.
     *
     * Lengths in input items are converted to lengths in output items. Both ends of a
     * packet are rounded in the same way, so that the lengths of consecutive packets
     * add up. A tag whose length becomes 0 is dropped.
     * \param output_of_item(item) returns the output item to which a tag moves
     * \param output_of_end(item) returns the first output item after a boundary of
     *        packets that lies before input item \c item
     */
    template <class OutputOfItem, class OutputOfEnd>
    void move(tag_queue& from,
              std::uint64_t end,
              tag_queue& to,
              OutputOfItem&& output_of_item,
              OutputOfEnd&& output_of_end)
    {
        from.release(end, [&](held_tag tag) {
            if (!is_length(tag.key)) {
                tag.offset = output_of_item(tag.offset);
                to.hold(std::move(tag));
                return;
            }
            const auto item = tag.offset;
            tag.offset = output_of_end(item);
            const auto length = output_of_end(item + length_of(item)) - tag.offset;
            if (length > 0) {
                tag.value = pmt::from_long(long(length));
                to.hold(std::move(tag));
            } else {
                warn_of_none(tag.value);
            }
        });
        forget(end);
    }

    //! Discards length tags of items before \p end.
    void forget(std::uint64_t end);
    //! Continues the stream after lock() and unlock(), which make GNU Radio lose the tags
    //! of unread items. Up to the next tag, items are dropped if the last items before
    //! lock() were dropped. Otherwise frames follow one another.
    void resume() { d_seen = d_seen && d_dropping; }
    //! Prepares for another stream.
    void restart();

private:
    struct entry {
        std::uint64_t item;
        std::uint64_t length; // number of items in the packet; 0 if the tag is not valid
        pmt::pmt_t value;
    };

    static std::uint64_t whole_frames(const entry& tag, std::size_t frame)
    {
        return tag.length % frame == 0 ? tag.length : 0;
    }
    bool begins_at(std::size_t tag, std::uint64_t item) const
    {
        return tag < d_tags.size() && d_tags[tag].item == item;
    }
    bool begin_packet(std::uint64_t item, std::size_t frame);
    void end_packet(std::uint64_t end);
    std::uint64_t length_of(std::uint64_t item);
    void warn_of_none(const pmt::pmt_t& value);
    void pop();
    void warn_once(bool& warned, const std::string& text) const;

    const pmt::pmt_t d_key; // key of the length tags; null if there is none
    const std::function<void(const std::string&)> d_warn;
    std::deque<entry> d_tags; // length tags not yet converted
    std::size_t d_begun = 0;  // number of tags at the front whose packets have begun
    std::uint64_t d_end = 0;  // index of the item after the packet that has begun
    bool d_seen = false;      // whether a packet has begun
    // Whether the packet's length is not a multiple of the frame length.
    bool d_refused = false;
    bool d_dropping = false; // whether the caller must drop the last run
    // Whether the item of the last moved tag has a later length tag.
    bool d_superseded = false;
    bool d_warned_of_length = false, d_warned_of_overlap = false;
    bool d_warned_of_loose = false, d_warned_of_two = false;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_COMMON_LENGTH_TAGS_H */
