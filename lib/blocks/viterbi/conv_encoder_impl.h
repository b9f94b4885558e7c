// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block conv_encoder, based on conv_encoder_kernel. */

#ifndef INCLUDED_GPUFEC_BLOCKS_VITERBI_CONV_ENCODER_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_VITERBI_CONV_ENCODER_IMPL_H

#include "blocks/common/encoder_block.h"
#include <gnuradio/gpufec/conv_encoder.h>
#include <gnuradio/gpufec/viterbi.h>
#include <vector>

namespace gr::gpufec {

class conv_encoder_impl : public encoder_block<conv_encoder>
{
public:
    conv_encoder_impl(const conv_code& code,
                      termination ends,
                      unsigned frame_bits,
                      bool packed_input,
                      bool packed_output,
                      const std::string& length_tag);

private:
    void restart() override;
    void encode(const std::vector<std::uint8_t>& items,
                std::vector<std::uint8_t>& coded) override;
    bool unsent() const override { return d_left_bits > 0; }
    void finish(std::vector<std::uint8_t>& coded) override;
    std::uint64_t output_of_item(std::uint64_t item) const override;
    void hold_incomplete_byte(std::vector<std::uint8_t>& coded, std::size_t bits);

    const conv_code d_code;
    const termination d_ends;
    const unsigned d_frame_bits;
    const bool d_packed_input, d_packed_output;

    conv_encoder_kernel d_kernel;
    // Packed information bits and packed coded bits, used if items are single bits.
    std::vector<std::uint8_t> d_bytes, d_coded;
    // Coded bits of a stream that do not fill a byte yet, the first most significant.
    std::uint8_t d_left = 0;
    unsigned d_left_bits = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_VITERBI_CONV_ENCODER_IMPL_H */
