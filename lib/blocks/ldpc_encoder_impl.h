/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* The LDPC encoder as a block: GNU Radio's side of ldpc_encoder_kernel. */

#ifndef INCLUDED_GPUFEC_BLOCKS_LDPC_ENCODER_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_LDPC_ENCODER_IMPL_H

#include "tag_queue.h"
#include <gnuradio/gpufec/ldpc.h>
#include <gnuradio/gpufec/ldpc_encoder.h>
#include <vector>

namespace gr {
namespace gpufec {

class ldpc_encoder_impl : public ldpc_encoder
{
public:
    ldpc_encoder_impl(const ldpc_code& code, bool packed_input, bool packed_output);

    bool start() override;
    void forecast(int noutput_items, gr_vector_int& ninput_items_required) override;
    int general_work(int noutput_items,
                     gr_vector_int& ninput_items,
                     gr_vector_const_void_star& input_items,
                     gr_vector_void_star& output_items) override;

private:
    std::size_t gather(const std::uint8_t* in, std::size_t items);
    void encode();
    std::size_t send(std::uint8_t* out, std::size_t room);
    std::uint64_t output_of_item(std::uint64_t item) const;
    void hold_tags(std::size_t taken);

    const ldpc_encoder_kernel d_kernel;
    const bool d_packed_input, d_packed_output;
    const std::size_t d_frame_input, d_frame_output; // items a frame

    std::vector<std::uint8_t> d_items; // of the frame that is being gathered
    std::vector<std::uint8_t> d_coded; // items of the frame that is being sent
    std::size_t d_sent = 0;

    // Items of this stream so far; the flowgraph's own counts restart with unlock().
    std::uint64_t d_taken = 0;
    std::uint64_t d_given = 0;
    std::weak_ptr<gr::block_detail> d_detail; // that the stream came through
    tag_queue d_tags;
};

} // namespace gpufec
} // namespace gr

#endif /* INCLUDED_GPUFEC_BLOCKS_LDPC_ENCODER_IMPL_H */
