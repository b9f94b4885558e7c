// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block ldpc_encoder, based on ldpc_encoder_kernel or wifi_ppdu. */

#ifndef INCLUDED_GPUFEC_BLOCKS_LDPC_LDPC_ENCODER_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_LDPC_LDPC_ENCODER_IMPL_H

#include "blocks/common/encoder_block.h"
#include <gnuradio/gpufec/ldpc.h>
#include <gnuradio/gpufec/ldpc_encoder.h>
#include <gnuradio/gpufec/wifi.h>
#include <vector>

namespace gr::gpufec {

//! An encoder whose frame is one codeword.
class ldpc_encoder_impl : public encoder_block<ldpc_encoder>
{
public:
    ldpc_encoder_impl(const ldpc_code& code,
                      bool packed_input,
                      bool packed_output,
                      const std::string& length_tag);

private:
    void encode(const std::vector<std::uint8_t>& items,
                std::vector<std::uint8_t>& coded) override;
    std::uint64_t output_of_item(std::uint64_t item) const override;

    const ldpc_encoder_kernel d_kernel;
    const bool d_packed_input, d_packed_output;
    // Packed message and packed sent bits of a frame, if items are single bits.
    std::vector<std::uint8_t> d_packed, d_codeword;
};

//! An encoder whose frame is one Wi-Fi PPDU.
class ppdu_encoder_impl : public encoder_block<ldpc_encoder>
{
public:
    ppdu_encoder_impl(const wifi_ppdu& ppdu,
                      bool packed_input,
                      bool packed_output,
                      const std::string& length_tag);

private:
    void encode(const std::vector<std::uint8_t>& items,
                std::vector<std::uint8_t>& coded) override;
    std::uint64_t output_of_item(std::uint64_t item) const override;

    const wifi_ppdu d_ppdu;
    const bool d_packed_input, d_packed_output;
    std::vector<std::uint8_t> d_payload, d_bits; // one bit per byte
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_LDPC_LDPC_ENCODER_IMPL_H */
