// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#ifndef INCLUDED_GPUFEC_CONV_ENCODER_H
#define INCLUDED_GPUFEC_CONV_ENCODER_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief Convolutional encoder, punctured, for a stream or for frames.
 * \ingroup gpufec
 *
 * \details
 * Input: bytes, one bit each or eight (the first most significant; a frame then takes
 * a whole number of bytes, the bits beyond frame_bits are ignored). Output: one coded
 * bit a byte. In a stream the register starts at zero; each frame starts as its
 * termination says, and puncturing anew. A last frame that is not complete is not sent.
 *
 * Tags go to the first coded bit of their item's first information bit.
 *
 * Map bit 0 to a positive value for gpu_viterbi_pbvd.
 */
class GPUFEC_API conv_encoder : virtual public gr::block
{
public:
    typedef std::shared_ptr<conv_encoder> sptr;

    /*!
     * The code's parameters are those of gpu_viterbi_pbvd.
     * \throws std::invalid_argument naming the parameter, its value and what is allowed
     */
    static sptr make(int constraint_length = 7,
                     const std::vector<int>& polynomials = { 0171, 0133 },
                     const std::string& puncturing = "",
                     const std::string& termination = "streaming",
                     int frame_bits = 0,
                     bool packed_input = true);
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CONV_ENCODER_H */
