// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block bch_encoder, based on bch_encoder_kernel. */

#ifndef INCLUDED_GPUFEC_BLOCKS_DVBS2_BCH_ENCODER_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_DVBS2_BCH_ENCODER_IMPL_H

#include "blocks/common/frame_block.h"
#include <gnuradio/gpufec/bch.h>
#include <gnuradio/gpufec/bch_encoder.h>
#include <vector>

namespace gr::gpufec {

class bch_encoder_impl : public frame_block<bch_encoder>
{
public:
    bch_encoder_impl(const bch_code& code,
                     bool packed_input,
                     bool packed_output,
                     const std::string& length_tag);

private:
    void
    make_frame(const std::uint8_t* in, std::uint8_t* out, std::uint64_t first) override;
    std::size_t output_of_item(std::size_t item) const override;

    const bch_encoder_kernel d_kernel;
    const bool d_packed_input, d_packed_output;
    // Packed bits of a frame, if input or output items are single bits.
    std::vector<std::uint8_t> d_packed;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_DVBS2_BCH_ENCODER_IMPL_H */
