// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block ldpc_encoder, whose frames are codewords or Wi-Fi PPDUs. */

#ifndef INCLUDED_GPUFEC_BLOCKS_LDPC_LDPC_ENCODER_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_LDPC_LDPC_ENCODER_IMPL_H

#include "blocks/common/encoder_block.h"
#include <gnuradio/gpufec/ldpc_encoder.h>
#include <functional>
#include <string>
#include <vector>

namespace gr::gpufec {

class ldpc_encoder_impl : public encoder_block<ldpc_encoder>
{
public:
    //! The sizes and the encoder of a frame.
    struct frame_format {
        std::size_t message_bits, sent_bits;
        //! Encodes \p message to \p sent. Both arrays have eight bits per byte.
        std::function<void(const std::uint8_t* message, std::uint8_t* sent)> encode;
        //! Returns the index of the last sent bit at or before a message bit.
        std::function<std::size_t(std::size_t)> sent_bit;
        std::string warning; //!< warning about the code; "" if there is none
    };

    ldpc_encoder_impl(frame_format format,
                      bool packed_input,
                      bool packed_output,
                      const std::string& length_tag);

private:
    void encode(const std::vector<std::uint8_t>& items,
                std::vector<std::uint8_t>& coded) override;
    std::uint64_t output_of_item(std::uint64_t item) const override;

    const frame_format d_format;
    const bool d_packed_input, d_packed_output;
    // Packed message and packed sent bits of a frame, if items are single bits.
    std::vector<std::uint8_t> d_message, d_sent;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_LDPC_LDPC_ENCODER_IMPL_H */
