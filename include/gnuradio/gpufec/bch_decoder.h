// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block that decodes the outer BCH codes of DVB. */

#ifndef INCLUDED_GPUFEC_BCH_DECODER_H
#define INCLUDED_GPUFEC_BCH_DECODER_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/status_tags.h>
#include <cstdint>
#include <string>

namespace gr::gpufec {

//! Parameters of bch_decoder, in Python's order. Values in quotes are those of
//! Python; enumerators have the same names.
struct bch_decoder_options {
    // Code
    //! "dvbs2", "dvbs2x" or "dvbt2"
    std::string standard = "dvbs2";
    //! "normal" or "short"; with dvbs2x also "vl-snr normal", "vl-snr medium", "vl-snr
    //! short" and "vl-snr short sf2"
    std::string frame_size = "normal";
    //! rate of the preceding LDPC code, as in gpu_ldpc_dvbs2
    std::string rate = "1/2";

    // Input
    //! true: eight bits per input byte, the first most significant; false: one bit per
    //! byte
    bool packed_input = true;

    // Output
    //! true: eight bits per output byte, the first most significant; false: one bit per
    //! byte
    bool packed_output = true;
    //! frames to which status tags are added: "all", "failures" (those that are not
    //! valid) or "none"
    gpufec::status_tags status_tags = gpufec::status_tags::all;

    // Input
    //! key of the length tags, whose value is the packet's length in items; "": none
    std::string length_tag = "packet_len";
};

/*!
 * \brief Decoder of the BCH codes of DVB-S2, DVB-S2X and DVB-T2, on the CPU.
 * \ingroup gpufec
 *
 * \details
 * The input is the N_bch bits of each frame, which are the information bits that
 * gpu_ldpc_dvbs2 outputs. For each frame, the output is the K_bch bits of the BBFRAME.
 * Items are bytes with one bit or with eight packed bits. The first packed bit is the
 * most significant. Packed frames are padded to a byte. The block corrects up to 8, 10 or
 * 12 wrong bits per frame, depending on the code. A frame with more errors is output
 * uncorrected, or in rare cases as a wrong codeword. An incomplete frame at the end of
 * the input is dropped. The codes are those of EN 302 307-1 (5.3.1), EN 302 307-2 (5.3.1)
 * and EN 302 755 (6.1.1).
 *
 * A tag of key \p length_tag begins a packet of one or more frames. The value of the tag
 * is the number of input items of the packet, and is converted to the number of output
 * items. Until the first such tag, frames follow one another. The block drops packets
 * whose length is not a whole number of frames, frames that the next tag cuts short, and
 * items outside packets. The block logs one warning for each kind of fault, and
 * skipped_frame_count() counts the dropped frames and packets. The next tag restores
 * alignment.
 *
 * Input tags move to the output item that contains their bit, and tags of parity bits to
 * the last output item of their frame. The block adds these tags
 * on the first output item of each frame that \p status_tags selects:
 *  - \c bch_errors (long): number of corrected bits, parity bits included; −1 if the
 *    frame could not be corrected,
 *  - \c bch_valid (bool): whether the frame is a codeword after correction.
 */
class GPUFEC_API bch_decoder : virtual public gr::block
{
public:
    typedef std::shared_ptr<bch_decoder> sptr;

    //! Makes a decoder.
    //! \throws std::invalid_argument if standard, frame_size and rate name no BCH code;
    //!         the message names the parameter, its value and what is allowed
    static sptr make(const bch_decoder_options& options = {});

    //! Returns the number of frames decoded so far.
    virtual std::uint64_t frame_count() const = 0;
    //! Returns the number of frames so far that could not be corrected.
    virtual std::uint64_t error_count() const = 0;
    //! Returns the number of bits corrected so far.
    virtual std::uint64_t corrected_bits() const = 0;
    //! Returns the number of frames that a length tag cut short, plus the number of
    //! packets with a wrong length.
    virtual std::uint64_t skipped_frame_count() const = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BCH_DECODER_H */
