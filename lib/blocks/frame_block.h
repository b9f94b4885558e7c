// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What the blocks share that make one frame of each frame, both of constant length. */

#ifndef INCLUDED_GPUFEC_BLOCKS_FRAME_BLOCK_H
#define INCLUDED_GPUFEC_BLOCKS_FRAME_BLOCK_H

#include "tag_queue.h"
#include <gnuradio/block.h>
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace gr::gpufec {

//! \p Block: the public block, with bytes in and out.
template <class Block>
class frame_block : public Block
{
public:
    void forecast(int noutput_items, gr_vector_int& ninput_items_required) override
    {
        const auto frames = std::max(1, noutput_items / int(d_output));
        ninput_items_required[0] = frames * int(d_input);
    }

    int general_work(int noutput_items,
                     gr_vector_int& ninput_items,
                     gr_vector_const_void_star& input_items,
                     gr_vector_void_star& output_items) override
    {
        // There is room for a multiple, though a small max_noutput_items makes it 0 here.
        const std::size_t room = std::max(noutput_items, this->output_multiple());
        const auto frames =
            std::min(room / d_output, std::size_t(ninput_items[0]) / d_input);
        const auto* in = static_cast<const std::uint8_t*>(input_items[0]);
        auto* out = static_cast<std::uint8_t*>(output_items[0]);
        const auto first = this->nitems_written(0);
        for (std::size_t f = 0; f < frames; ++f) {
            make_frame(in + f * d_input, out + f * d_output, first + f * d_output);
        }
        std::vector<tag_t> tags;
        const auto read = this->nitems_read(0);
        this->get_tags_in_range(tags, 0, read, read + frames * d_input);
        tag_queue::sort(tags);
        for (auto& tag : tags) {
            const auto at = tag.offset - read;
            tag.offset = first + at / d_input * d_output +
                         std::min(output_of_item(at % d_input), d_output - 1);
            this->add_item_tag(0, tag);
        }
        this->consume_each(frames * d_input);
        return frames * d_output;
    }

protected:
    //! \p input and \p output items of a frame
    frame_block(std::size_t input, std::size_t output) : d_input(input), d_output(output)
    {
        // Whole frames only, so that nothing is left over between calls.
        this->set_output_multiple(output);
        const auto common = std::gcd(output, input);
        this->set_relative_rate(std::uint64_t(output / common),
                                std::uint64_t(input / common));
        this->set_tag_propagation_policy(gr::block::TPP_CUSTOM);
    }

    //! Makes a frame, whose first output item is number \p first.
    virtual void
    make_frame(const std::uint8_t* in, std::uint8_t* out, std::uint64_t first) = 0;
    //! The output item, counted in its frame, that an input item goes to.
    virtual std::size_t output_of_item(std::size_t item) const = 0;

    const std::size_t d_input, d_output; // items of a frame
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_FRAME_BLOCK_H */
