// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#ifndef INCLUDED_GPUFEC_CONV_ENCODER_H
#define INCLUDED_GPUFEC_CONV_ENCODER_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <optional>
#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief Convolutional encoder, punctured, for a stream or for frames.
 * \ingroup gpufec
 *
 * \details
 * The input is bytes of eight bits, the first most significant, or of one, and so is the
 * output. A packed frame takes a whole number of bytes of the input, whose bits beyond
 * frame_bits are ignored, and is padded to a byte in the output, as the end of a stream
 * is, with zeros. In a stream the register starts at zero. Each frame starts as
 * its termination says, and puncturing starts anew with it. A last frame that is not
 * complete is not sent.
 *
 * Tags go to the output item that holds the first coded bit of their item's first
 * information bit.
 *
 * Map bit 1 to a positive value for gpu_viterbi_pbvd, or tell it what you do.
 */
class GPUFEC_API conv_encoder : virtual public gr::block
{
public:
    typedef std::shared_ptr<conv_encoder> sptr;

    /*!
     * Makes an encoder.
     *
     * \param constraint_length K, 3 to 9; if none is given 7
     * \param polynomials 2 to 6 generator polynomials, octal as in the standards: the
     *        newest bit is the most significant; a negative one is an inverted output; if
     *        none are given those of most standards, 171 and 133
     * \param puncturing one string of 0 and 1 per output, comma separated, in the order
     *        of the polynomials: DVB rate 3/4 is "101,110"; "" for none
     * \param termination "streaming", which it is if not given, or "terminated",
     *        "truncated", "tailbiting" frames
     * \param frame_bits information bits per frame; 0 in streaming
     * \param packed_input eight bits per byte, first bit most significant, else one
     * \param packed_output the same of the output
     * \param preset a code of conv_presets() by its name, such as "ccsds", in place of
     *        the first four parameters, of which none must be given then; "": none
     * \throws std::invalid_argument naming the parameter, its value and what is allowed
     */
    static sptr make(std::optional<int> constraint_length = std::nullopt,
                     const std::optional<std::vector<int>>& polynomials = std::nullopt,
                     const std::optional<std::string>& puncturing = std::nullopt,
                     const std::optional<std::string>& termination = std::nullopt,
                     int frame_bits = 0,
                     bool packed_input = true,
                     bool packed_output = true,
                     const std::string& preset = "");
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CONV_ENCODER_H */
