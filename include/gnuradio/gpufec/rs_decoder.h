// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block that decodes Reed-Solomon codes. */

#ifndef INCLUDED_GPUFEC_RS_DECODER_H
#define INCLUDED_GPUFEC_RS_DECODER_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/status_tags.h>
#include <cstdint>
#include <string>

namespace gr::gpufec {

//! Parameters of rs_decoder, in Python's order. Values in quotes are those of
//! Python; enumerators have the same names.
struct rs_decoder_options {
    // Code
    //! "ccsds-223", "ccsds-239" (dual basis), "ccsds-223-conventional",
    //! "ccsds-239-conventional" or "dvb"
    std::string code = "ccsds-223";
    //! number I of codewords per frame, 1 to 16
    int interleaving = 1;
    //! number of message symbols of each codeword that are 0 and not sent
    int virtual_fill = 0;

    // Input
    //! key of the length tags, whose value is the packet's length in items; "": none
    std::string length_tag = "packet_len";

    // Output
    //! true: frames with a codeword that cannot be corrected are not output; false: they
    //! are output, with the symbols of that codeword as received
    bool drop = false;

    // Running
    //! number of threads that decode, 1 to 256
    int threads = 1;

    // Output
    //! frames to which status tags are added: "all", "failures" (those with a codeword
    //! that cannot be corrected) or "none"
    gpufec::status_tags status_tags = gpufec::status_tags::all;

    // Input
    //! true: a second input has a byte for each byte of the first; a value other than 0
    //! marks an erased symbol
    bool erasures = false;
};

/*!
 * \brief Decoder of Reed-Solomon codes, on the CPU.
 * \ingroup gpufec
 *
 * \details
 * Items are bytes, which are the symbols. The input is frames of I · n bytes, where I is
 * the interleaving depth: byte j·I + i of a frame is symbol j of codeword i. The output
 * is the I · k message bytes of each frame, in the same order. The codes are
 *  - ccsds-223 and ccsds-239: (255, 223) and (255, 239) of CCSDS 131.0-B, section 4, with
 *    symbols in the dual basis, or as powers of alpha where the name ends in
 *    "-conventional",
 *  - dvb: (204, 188) of EN 300 421, 4.4.2.
 *
 * \p virtual_fill makes n and k smaller. A codeword with e erased symbols is corrected if
 * the number of other wrong symbols is at most (n−k−e)/2. A codeword with more errors is
 * recognised and output as received, or in rare cases becomes a wrong codeword. An
 * incomplete frame at the end of the input is dropped.
 *
 * A tag of key \p length_tag begins a packet of one or more frames. The value of the tag
 * is the number of input items of the packet, and is converted to the number of output
 * items. Until the first such tag, frames follow one another. The block drops packets
 * whose length is not a whole number of frames, frames that the next tag cuts short, and
 * items outside packets. The block logs one warning for each kind of fault, and
 * skipped_frame_count() counts the dropped frames and packets. The next tag restores
 * alignment. With \p drop, each frame of a packet becomes a packet of its own, with a
 * length tag.
 *
 * Input tags move to the output item of their symbol; those of parity symbols move to the
 * last item of the frame, and those of dropped frames are dropped. The block adds these
 * tags on the first output item of each frame that \p status_tags selects:
 *  - \c rs_corrected (s32vector): for each codeword, the number of corrected symbols,
 *    parity symbols included; −1 if the codeword could not be corrected,
 *  - \c rs_valid (bool): whether all codewords of the frame are valid after correction.
 */
class GPUFEC_API rs_decoder : virtual public gr::block
{
public:
    typedef std::shared_ptr<rs_decoder> sptr;

    //! Makes a decoder.
    //! \throws std::invalid_argument naming the parameter, its value and what is allowed
    static sptr make(const rs_decoder_options& options = {});

    //! Returns the number of frames decoded so far, including dropped frames.
    virtual std::uint64_t frame_count() const = 0;
    //! Returns the number of symbols corrected so far.
    virtual std::uint64_t corrected_count() const = 0;
    //! Returns the number of codewords so far that could not be corrected.
    virtual std::uint64_t failed_count() const = 0;
    //! Returns the number of frames that a length tag cut short, plus the number of
    //! packets with a wrong length.
    virtual std::uint64_t skipped_frame_count() const = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_RS_DECODER_H */
