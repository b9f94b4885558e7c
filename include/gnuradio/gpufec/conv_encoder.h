// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block that encodes bits by a convolutional code. */

#ifndef INCLUDED_GPUFEC_CONV_ENCODER_H
#define INCLUDED_GPUFEC_CONV_ENCODER_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/viterbi.h>
#include <optional>
#include <string>
#include <vector>

namespace gr::gpufec {

//! Parameters of conv_encoder, in Python's order. Values in quotes are those of
//! Python; enumerators have the same names.
struct conv_encoder_options {
    // Code
    //! K, 3 to 9; default 7
    std::optional<int> constraint_length = std::nullopt;
    //! 2 to 6 generator polynomials as integers with the octal digits of the standards:
    //! octal 171 is 0171 in C++ and 0o171 in Python. The newest bit is the most
    //! significant; a negative value inverts its output. Default: 0171 and 0133
    std::optional<std::vector<int>> polynomials = std::nullopt;
    //! one string of 0 and 1 per output, comma separated, in the order of the
    //! polynomials: DVB rate 3/4 is "101,110"; "" for none
    std::optional<std::string> puncturing = std::nullopt;
    //! "streaming" (default), or frames: "terminated", "truncated" or "tailbiting"
    std::optional<gpufec::termination> termination = std::nullopt;
    //! number of information bits per frame; 0 if streaming
    int frame_bits = 0;

    // Input
    //! true: eight bits per input byte, the first most significant; false: one bit per
    //! byte
    bool packed_input = true;

    // Output
    //! true: eight bits per output byte, the first most significant; false: one bit per
    //! byte
    bool packed_output = true;

    // Code
    //! name of a code of conv_presets(), such as "ccsds", instead of the first four
    //! parameters, which must then be omitted; "": none
    std::string preset = "";

    // Input
    //! key of the length tags, whose value is the packet's length in items; "": none
    std::string length_tag = "packet_len";
};

/*!
 * \brief Convolutional encoder, punctured, for a stream or for frames.
 * \ingroup gpufec
 *
 * \details
 * Items are bytes with one bit or with eight packed bits. The first packed bit is the
 * most significant. A packed frame is a whole number of input bytes; padding bits after
 * frame_bits are ignored. In packed output, each frame and the end of a stream are padded
 * to a byte with zeros. An incomplete last frame is not sent.
 *
 * The shift register starts at zero in a stream, and in each frame with termination
 * "terminated" or "truncated". "terminated" appends K−1 zero bits to the frame, so that
 * the register also ends at zero. With "tailbiting" the register starts with the last K−1
 * information bits of the frame, and so ends in the state in which it started. The
 * puncturing pattern restarts with each frame.
 *
 * A tag moves to the output item that contains the first coded bit of its input item. The
 * value of a length tag, which is a tag of key \p length_tag, changes from the number of
 * input items of a packet to the number of output items. In frames, these are the items
 * of the packet's coded frames. In a stream, they begin with the output item that
 * contains the first coded bit of the packet, and end before the output item that
 * contains the first coded bit after the packet. A length tag whose value is not a
 * positive integer, or whose packet has no output item, is dropped with one warning.
 *
 * In frames, a length tag begins a packet of one or more frames. Until the first such
 * tag, frames follow one another. The block drops packets whose length is not a whole
 * number of frames, frames that the next tag cuts short, and items outside packets. The
 * block logs one warning for each kind of fault. The next tag restores alignment.
 *
 * gpu_viterbi_pbvd expects bit 1 to be mapped to a positive value, unless its
 * positive_bit is 0.
 */
class GPUFEC_API conv_encoder : virtual public gr::block
{
public:
    typedef std::shared_ptr<conv_encoder> sptr;

    //! Makes an encoder.
    //! \throws std::invalid_argument naming the parameter, its value and what is allowed
    static sptr make(const conv_encoder_options& options = {});
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CONV_ENCODER_H */
