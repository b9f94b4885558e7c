// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block that encodes the outer BCH codes of DVB. */

#ifndef INCLUDED_GPUFEC_BCH_ENCODER_H
#define INCLUDED_GPUFEC_BCH_ENCODER_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <string>

namespace gr::gpufec {

//! Parameters of bch_encoder, in Python's order.
struct bch_encoder_options {
    // Code
    //! "dvbs2", "dvbs2x" or "dvbt2"
    std::string standard = "dvbs2";
    //! "normal" or "short"; with dvbs2x also "vl-snr normal", "vl-snr medium", "vl-snr
    //! short" and "vl-snr short sf2"
    std::string frame_size = "normal";
    //! rate of the LDPC code that follows, as in ldpc_encoder
    std::string rate = "1/2";

    // Input
    //! true: eight bits per input byte, the first most significant; false: one bit per
    //! byte
    bool packed_input = true;

    // Output
    //! true: eight bits per output byte, the first most significant; false: one bit per
    //! byte
    bool packed_output = true;

    // Input
    //! key of the length tags, whose value is the packet's length in items; "": none
    std::string length_tag = "packet_len";
};

/*!
 * \brief Encoder of the BCH codes of DVB-S2, DVB-S2X and DVB-T2.
 * \ingroup gpufec
 *
 * \details
 * The input is the K_bch message bits of each BBFRAME. The output is the N_bch bits of
 * its codeword, which are the input of ldpc_encoder. Items are bytes with one bit or with
 * eight packed bits. The first packed bit is the most significant. Packed frames are
 * padded to a byte. An incomplete frame at the end of the input is not sent. Tags move to
 * the output item that contains their bit.
 *
 * A tag of key \p length_tag begins a packet of one or more frames. The value of the tag
 * is the number of input items of the packet, and is converted to the number of output
 * items. Until the first such tag, frames follow one another. The block drops packets
 * whose length is not a whole number of frames, frames that the next tag cuts short, and
 * items outside packets. The block logs one warning for each kind of fault. The next tag
 * restores alignment.
 *
 * The codes are those of EN 302 307-1 (5.3.1), EN 302 307-2 (5.3.1) and EN 302 755
 * (6.1.1).
 */
class GPUFEC_API bch_encoder : virtual public gr::block
{
public:
    typedef std::shared_ptr<bch_encoder> sptr;

    //! Makes an encoder.
    //! \throws std::invalid_argument naming the parameter, its value and what is allowed
    static sptr make(const bch_encoder_options& options = {});
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BCH_ENCODER_H */
