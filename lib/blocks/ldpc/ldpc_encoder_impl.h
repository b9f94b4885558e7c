// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The LDPC encoder as a block: GNU Radio's side of ldpc_encoder_kernel. */

#ifndef INCLUDED_GPUFEC_BLOCKS_LDPC_ENCODER_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_LDPC_ENCODER_IMPL_H

#include "encoder_block.h"
#include <gnuradio/gpufec/ldpc.h>
#include <gnuradio/gpufec/ldpc_encoder.h>
#include <vector>

namespace gr::gpufec {

class ldpc_encoder_impl : public encoder_block<ldpc_encoder>
{
public:
    ldpc_encoder_impl(const ldpc_code& code, bool packed_input, bool packed_output);

private:
    void restart() override { d_items.clear(); }
    std::size_t gather(const std::uint8_t* in, std::size_t items) override;
    void encode(std::vector<std::uint8_t>& coded) override;
    std::uint64_t output_of_item(std::uint64_t item) const override;

    const ldpc_encoder_kernel d_kernel;
    const bool d_packed_input, d_packed_output;
    const std::size_t d_frame_input, d_frame_output; // items per frame

    std::vector<std::uint8_t> d_items;              // of the frame that is being gathered
    std::vector<std::uint8_t> d_packed, d_codeword; // of it, where items are bits
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_LDPC_ENCODER_IMPL_H */
