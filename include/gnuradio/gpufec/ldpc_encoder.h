// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#ifndef INCLUDED_GPUFEC_LDPC_ENCODER_H
#define INCLUDED_GPUFEC_LDPC_ENCODER_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <string>

namespace gr::gpufec {

/*!
 * \brief LDPC encoder for DVB-S2, and for any code from an alist file.
 * \ingroup gpufec
 *
 * \details
 * The input is the K message bits of each frame, eight per byte, the first of which is
 * the most significant, or one. A packed frame is padded to a byte. The output is its N
 * bits, likewise. A frame that is not complete when the input ends is not sent. Tags go
 * to the output item of their bit.
 *
 * Map bit 0 to a positive value for gpu_ldpc_dvbs2, or tell it what you do.
 */
class GPUFEC_API ldpc_encoder : virtual public gr::block
{
public:
    typedef std::shared_ptr<ldpc_encoder> sptr;

    /*!
     * Makes an encoder.
     *
     * \param standard "dvbs2"
     * \param frame_size "normal" (64800 bits) or "short" (16200)
     * \param rate "1/4", "1/3", "2/5", "1/2", "3/5", "2/3", "3/4", "4/5", "5/6", "8/9",
     *        or "9/10" (normal frames only)
     * \param code_file an alist file, whose code takes the place of the three above; ""
     *        for none
     * \param packed_input eight bits per byte, first bit most significant, else one
     * \param packed_output the same of the output
     * \throws std::invalid_argument naming the parameter, its value and what is allowed
     */
    static sptr make(const std::string& standard = "dvbs2",
                     const std::string& frame_size = "normal",
                     const std::string& rate = "1/2",
                     const std::string& code_file = "",
                     bool packed_input = true,
                     bool packed_output = true);
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_LDPC_ENCODER_H */
