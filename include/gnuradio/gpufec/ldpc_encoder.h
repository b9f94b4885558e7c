// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#ifndef INCLUDED_GPUFEC_LDPC_ENCODER_H
#define INCLUDED_GPUFEC_LDPC_ENCODER_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief LDPC encoder for DVB-S2 and other standards, and for any code from a file.
 * \ingroup gpufec
 *
 * \details
 * The input is the K message bits of each frame, eight per byte, the first of which is
 * the most significant, or one. A packed frame is padded to a byte. The output is the
 * bits that are sent of its N, likewise. A frame that is not complete when the input ends
 * is not sent. Tags go to the output item of their bit.
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
     * \param standard "dvbs2", "dvbs2x", "dvbt2", "ccsds_c2", "ccsds_ar4ja", "wifi", "nr"
     * \param frame_size as gpu_ldpc_dvbs2 has them
     * \param rate likewise
     * \param code_file an alist file or a base matrix, whose code takes the place of the
     *        three above; "" for none
     * \param packed_input eight bits per byte, first bit most significant, else one
     * \param packed_output the same of the output
     * \param punctured positions of the codeword, from 0, that are not sent, besides
     *        those of the standard
     * \param shortened positions that are 0 and not sent; no message bits are there
     * \throws std::invalid_argument naming the parameter, its value and what is allowed
     */
    static sptr make(const std::string& standard = "dvbs2",
                     const std::string& frame_size = "normal",
                     const std::string& rate = "1/2",
                     const std::string& code_file = "",
                     bool packed_input = true,
                     bool packed_output = true,
                     const std::vector<int>& punctured = {},
                     const std::vector<int>& shortened = {});
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_LDPC_ENCODER_H */
