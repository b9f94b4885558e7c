// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

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
 * The input is the K_bch bits of each BBFRAME, eight per byte, the first of which is the
 * most significant, or one. A packed frame is padded to a byte. The output is N_bch bits
 * likewise, which ldpc_encoder takes. A frame that is not complete when the input ends is
 * not sent. Tags go to the output item of their bit.
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
     * \param frame_size "normal" or "short"; of dvbs2x also "vl-snr normal", "vl-snr
     *        medium", "vl-snr short" and "vl-snr short sf2"
     * \param rate of the LDPC code that follows, as ldpc_encoder has them
     * \param packed_input eight bits per byte, first bit most significant, else one
     * \param packed_output the same of the output
     * \throws std::invalid_argument naming the parameter, its value and what is allowed
     */
    static sptr make(const std::string& standard = "dvbs2",
                     const std::string& frame_size = "normal",
                     const std::string& rate = "1/2",
                     bool packed_input = true,
                     bool packed_output = true);
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BCH_ENCODER_H */
