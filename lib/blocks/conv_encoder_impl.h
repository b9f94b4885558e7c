/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* The convolutional encoder as a block. */

#ifndef INCLUDED_GPUFEC_BLOCKS_CONV_ENCODER_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_CONV_ENCODER_IMPL_H

#include "tag_queue.h"
#include <gnuradio/gpufec/conv_encoder.h>
#include <gnuradio/gpufec/viterbi.h>
#include <vector>

namespace gr {
namespace gpufec {

class conv_encoder_impl : public conv_encoder
{
public:
    conv_encoder_impl(const conv_code& code,
                      termination ends,
                      unsigned frame_bits,
                      bool packed_input);

    bool start() override;
    void forecast(int noutput_items, gr_vector_int& ninput_items_required) override;
    int general_work(int noutput_items,
                     gr_vector_int& ninput_items,
                     gr_vector_const_void_star& input_items,
                     gr_vector_void_star& output_items) override;

private:
    std::uint64_t output_of_item(std::uint64_t item) const;
    std::size_t gather(const std::uint8_t* in, std::size_t items);
    void encode();
    std::size_t send(std::uint8_t* out, std::size_t room);
    void hold_tags(std::size_t taken);

    const conv_code d_code;
    const termination d_ends;
    const unsigned d_frame_bits;
    const bool d_packed;
    const std::size_t d_block_bits;  // encoded at once: a frame, or a piece of a stream
    const std::size_t d_block_items; // the input items of that

    conv_encoder_kernel d_kernel;
    std::vector<std::uint8_t> d_bits;  // gathered, to be encoded
    std::vector<std::uint8_t> d_coded; // encoded, to be sent
    std::size_t d_sent = 0;            // of d_coded

    // Items of this stream so far; the flowgraph's own counts restart with unlock().
    std::uint64_t d_taken = 0;
    std::uint64_t d_given = 0;
    std::weak_ptr<gr::block_detail> d_detail; // that the stream came through
    tag_queue d_tags;
};

} // namespace gpufec
} // namespace gr

#endif /* INCLUDED_GPUFEC_BLOCKS_CONV_ENCODER_IMPL_H */
