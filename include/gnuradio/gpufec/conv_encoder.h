// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block that encodes convolutional codes. */

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
 * Input and output are packed bytes, the first bit most significant, or one bit per byte.
 * A packed frame takes whole bytes of the input, whose bits after frame_bits are ignored.
 * In the output, frames and the end of a stream are padded to a byte with zeros. In a
 * stream the register starts at zero. Each frame starts as its termination requires, and
 * restarts the puncturing pattern. An incomplete last frame is not sent.
 *
 * Tags move to the output item that holds the first coded bit of their item's first
 * information bit. The value of a tag of key \p length_tag, a number of input items, is
 * converted to output items. In a stream both ends of the packet are rounded down; a tag
 * with another value, or whose packet has no output item, is dropped with one warning. In
 * frames, such a tag begins a packet of one or more frames; until the first tag, frames
 * follow one another. A packet whose length is not a multiple of the frame's, a frame
 * that the next tag cuts short, and items outside packets are dropped, with one warning
 * each. The next tag restores alignment.
 *
 * gpu_viterbi_pbvd expects bit 1 to be mapped to a positive value, unless its
 * positive_bit is 0.
 */
class GPUFEC_API conv_encoder : virtual public gr::block
{
public:
    typedef std::shared_ptr<conv_encoder> sptr;

    /*!
     * Makes an encoder.
     *
     * \param constraint_length K, 3 to 9; default 7
     * \param polynomials 2 to 6 generator polynomials, octal as in the standards: the
     *        newest bit is the most significant; a negative value inverts its output;
     *        default 171 and 133
     * \param puncturing one string of 0 and 1 per output, comma separated, in the order
     *        of the polynomials: DVB rate 3/4 is "101,110"; "" for none
     * \param termination "streaming" (default), or frames: "terminated", "truncated" or
     *        "tailbiting"
     * \param frame_bits information bits per frame; 0 if streaming
     * \param packed_input whether the input has eight bits per byte, the first most
     *        significant, or one
     * \param packed_output likewise for the output
     * \param preset name of a code of conv_presets(), such as "ccsds", in place of the
     *        first four parameters, which must not be given then; "": none
     * \param length_tag key of tags with the length of a packet in items; "": none
     * \throws std::invalid_argument naming the parameter, its value and what is allowed
     */
    static sptr make(std::optional<int> constraint_length = std::nullopt,
                     const std::optional<std::vector<int>>& polynomials = std::nullopt,
                     const std::optional<std::string>& puncturing = std::nullopt,
                     const std::optional<std::string>& termination = std::nullopt,
                     int frame_bits = 0,
                     bool packed_input = true,
                     bool packed_output = true,
                     const std::string& preset = "",
                     const std::string& length_tag = "packet_len");
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CONV_ENCODER_H */
