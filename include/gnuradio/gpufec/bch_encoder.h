// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block that encodes the outer BCH codes of DVB. */

#ifndef INCLUDED_GPUFEC_BCH_ENCODER_H
#define INCLUDED_GPUFEC_BCH_ENCODER_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <string>

namespace gr::gpufec {

/*!
 * \brief Encoder of the BCH codes of DVB-S2, DVB-S2X and DVB-T2.
 * \ingroup gpufec
 *
 * \details
 * The input is the K_bch bits of each BBFRAME, packed with the first bit most
 * significant, or one per byte. A packed frame is padded to a byte. The output is its
 * N_bch bits in the same format, the input of ldpc_encoder. An incomplete frame at the
 * end of the input is not sent. Tags move to the output item that holds their bit.
 *
 * A tag of key \p length_tag begins a packet of one or more frames. Its value is the
 * length of the packet in input items, and is converted to output items. Until the first
 * such tag, frames follow one another. A packet whose length is not a multiple of the
 * frame's, a frame that the next tag cuts short, and items outside packets are dropped,
 * with one warning each. The next tag restores alignment.
 *
 * The codes are those of EN 302 307-1 (5.3.1), EN 302 307-2 and EN 302 755 (6.1.1).
 */
class GPUFEC_API bch_encoder : virtual public gr::block
{
public:
    typedef std::shared_ptr<bch_encoder> sptr;

    /*!
     * Makes an encoder.
     *
     * \param standard "dvbs2", "dvbs2x" or "dvbt2"
     * \param frame_size "normal" or "short"; with dvbs2x also "vl-snr normal", "vl-snr
     *        medium", "vl-snr short" and "vl-snr short sf2"
     * \param rate of the LDPC code that follows, as in ldpc_encoder
     * \param packed_input whether the input has eight bits per byte, the first most
     *        significant, or one
     * \param packed_output likewise for the output
     * \param length_tag key of tags with the length of a packet in items; "": none
     * \throws std::invalid_argument naming the parameter, its value and what is allowed
     */
    static sptr make(const std::string& standard = "dvbs2",
                     const std::string& frame_size = "normal",
                     const std::string& rate = "1/2",
                     bool packed_input = true,
                     bool packed_output = true,
                     const std::string& length_tag = "packet_len");
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BCH_ENCODER_H */
