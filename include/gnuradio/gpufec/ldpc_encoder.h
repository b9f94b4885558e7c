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
 * Input: the K message bits of each frame, one a byte or eight (the first most
 * significant, a frame padded to a byte). Output: its N bits, likewise. A frame that is
 * not complete when the input ends is not sent. Tags go to the output item of their bit.
 *
 * Map bit 0 to a positive value for gpu_ldpc_dvbs2.
 */
class GPUFEC_API ldpc_encoder : virtual public gr::block
{
public:
    typedef std::shared_ptr<ldpc_encoder> sptr;

    /*!
     * The code's parameters are those of gpu_ldpc_dvbs2.
     * \throws std::invalid_argument naming the parameter, its value and what is allowed
     */
    static sptr make(const std::string& standard = "dvbs2",
                     const std::string& frame_size = "normal",
                     const std::string& rate = "1/2",
                     const std::string& code_file = "",
                     bool packed_input = false,
                     bool packed_output = false);
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_LDPC_ENCODER_H */
