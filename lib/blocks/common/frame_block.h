// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The base class of blocks that convert each input frame to one output frame, both of
 * constant length. */

#ifndef INCLUDED_GPUFEC_BLOCKS_COMMON_FRAME_BLOCK_H
#define INCLUDED_GPUFEC_BLOCKS_COMMON_FRAME_BLOCK_H

#include "tagged_block.h"
#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>
#include <vector>

namespace gr::gpufec {

//! \tparam Block the public block, with bytes as output
template <class Block>
class frame_block : public tagged_block<Block>
{
public:
    int general_work(int noutput_items,
                     gr_vector_int& ninput_items,
                     gr_vector_const_void_star& input_items,
                     gr_vector_void_star& output_items) override
    {
        // The buffer has space for an output multiple even if a small max_noutput_items
        // makes noutput_items 0.
        const std::size_t capacity = std::max(noutput_items, this->output_multiple());
        const std::size_t available = ninput_items[0];
        const auto* const in = static_cast<const std::uint8_t*>(input_items[0]);
        auto* const out = static_cast<std::uint8_t*>(output_items[0]);
        this->read_tags(available);
        std::size_t taken = 0, given = 0;
        const auto make = [&](const std::uint8_t* frames, std::size_t count) {
            given +=
                d_output *
                make_frames(frames, count, out + given, this->nitems_written(0) + given);
            return count;
        };
        while (taken < available && given + d_output <= capacity) {
            if (d_have > 0 && d_lengths.cuts_frame(d_taken + taken)) {
                this->drop(d_taken + taken, std::exchange(d_have, 0));
                ++d_skipped;
            }
            const auto run = d_lengths.next(d_taken + taken, available - taken, d_input);
            d_skipped += run.lost;
            if (!run.of_frames) {
                taken += run.items;
                this->drop(d_taken + taken, run.items);
                continue;
            }
            const auto* const from = in + taken * d_item_size;
            std::size_t made = 0;
            if (d_have == 0 && run.items >= d_input) {
                const auto frames =
                    std::min(run.items / d_input, (capacity - given) / d_output);
                made = make(from, frames);
                taken += frames * d_input;
            } else {
                const auto n = std::min(run.items, d_input - d_have);
                std::copy_n(from, n * d_item_size, d_part.begin() + d_have * d_item_size);
                taken += n;
                d_have += n;
                if (d_have == d_input) {
                    made = make(d_part.data(), 1);
                    d_have = 0;
                }
            }
            for (std::size_t f = 0; f < made; ++f) {
                if (drops_frame(f)) {
                    const auto end = d_taken + taken - (made - 1 - f) * d_input;
                    move_tags(end - d_input);
                    leave_out(end);
                }
            }
            move_tags(d_taken + taken);
        }
        return this->leave(taken, given);
    }

protected:
    //! \param input number of items per input frame
    //! \param item_size size of an input item in bytes
    //! \param output number of items per output frame, one byte each
    //! \param length_tag, passes_lengths see tagged_block
    frame_block(std::size_t input,
                std::size_t item_size,
                std::size_t output,
                const std::string& length_tag,
                bool passes_lengths = true)
        : tagged_block<Block>(length_tag, passes_lengths),
          d_input(input),
          d_output(output),
          d_item_size(item_size),
          d_part(input * item_size)
    {
        this->set_output_multiple(output);
        const auto common = std::gcd(output, input);
        this->set_relative_rate(std::uint64_t(output / common),
                                std::uint64_t(input / common));
    }

    //! Computes an output frame from an input frame. \p first is the tag offset of the
    //! first output item.
    virtual void
    make_frame(const std::uint8_t* in, std::uint8_t* out, std::uint64_t first) = 0;
    //! Computes the output frames of successive input frames with make_frame().
    //! Dropped frames have no output. Returns the number of output frames.
    virtual std::size_t make_frames(const std::uint8_t* in,
                                    std::size_t frames,
                                    std::uint8_t* out,
                                    std::uint64_t first)
    {
        for (std::size_t f = 0; f < frames; ++f) {
            make_frame(in + f * d_input * d_item_size, out + f * d_output, first);
            first += d_output;
        }
        return frames;
    }
    //! Returns whether the last call of make_frames() dropped the input frame with the
    //! given index.
    virtual bool drops_frame(std::size_t) const { return false; }
    //! Returns the index in the output frame to which the tags of item \p item of the
    //! input frame move.
    virtual std::size_t output_of_item(std::size_t item) const = 0;

    // Number of items per input frame and per output frame.
    const std::size_t d_input, d_output;
    // Number of dropped incomplete frames and of invalid or shortened packets.
    std::atomic<std::uint64_t> d_skipped{ 0 };

    using tagged_block<Block>::d_lengths;

private:
    using tagged_block<Block>::d_taken;

    void restart() override { d_have = 0; }
    incomplete_frame incomplete() const override { return { d_have, d_input }; }

    // Drops the tags of the frame that ends before item `end` and has no output.
    void leave_out(std::uint64_t end)
    {
        this->d_dropped += d_input;
        this->d_input_tags.release(end, [](const held_tag&) {});
        d_lengths.took(end);
        d_lengths.forget(end);
    }

    // Moves the tags of items before `end` whose frame is complete.
    void move_tags(std::uint64_t end)
    {
        d_lengths.took(end);
        end -= d_have;
        const auto begin = [this](std::uint64_t item) {
            return item / d_input * d_output;
        };
        tagged_block<Block>::move_tags(
            end,
            [&](std::uint64_t item) {
                return begin(item) +
                       std::min(output_of_item(item % d_input), d_output - 1);
            },
            begin);
    }

    const std::size_t d_item_size;
    std::vector<std::uint8_t> d_part; // input of the incomplete frame
    std::size_t d_have = 0;           // number of items in d_part
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_COMMON_FRAME_BLOCK_H */
