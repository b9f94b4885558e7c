// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block that encodes LDPC codes. */

#ifndef INCLUDED_GPUFEC_LDPC_ENCODER_H
#define INCLUDED_GPUFEC_LDPC_ENCODER_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <string>
#include <variant>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief LDPC encoder for DVB-S2 and other standards, and for any code from a file.
 * \ingroup gpufec
 *
 * \details
 * The input is the K message bits of each frame, packed with the first bit most
 * significant, or one per byte. A packed frame is padded to a byte. The output is those
 * of its N bits that are sent, in the same format. An incomplete frame at the end of the
 * input is not sent. Tags move to the output item that holds their bit.
 *
 * A tag of key \p length_tag begins a packet of one or more frames. Its value is the
 * length of the packet in input items, and is converted to output items. Until the first
 * such tag, frames follow one another. A packet whose length is not a multiple of the
 * frame's, a frame that the next tag cuts short, and items outside packets are dropped,
 * with one warning each. The next tag restores alignment.
 *
 * gpu_ldpc_dvbs2 expects bit 0 to be mapped to a positive value, unless its positive_bit
 * is 1.
 */
class GPUFEC_API ldpc_encoder : virtual public gr::block
{
public:
    typedef std::shared_ptr<ldpc_encoder> sptr;

    /*!
     * Makes an encoder.
     *
     * \param standard "dvbs2", "dvbs2x", "dvbt2", "ccsds_c2", "ccsds_ar4ja", "wifi", "nr"
     * \param frame_size as in gpu_ldpc_dvbs2
     * \param rate as in gpu_ldpc_dvbs2
     * \param code_file an alist file or a base matrix, whose code replaces the three
     *        above; "" for none
     * \param packed_input whether the input has eight bits per byte, the first most
     *        significant, or one
     * \param packed_output likewise for the output
     * \param punctured positions of the codeword, from 0, that are not sent, besides
     *        those of the standard
     * \param shortened positions that are 0 and not sent; they hold no message bits
     * \param message_positions of the code of \p code_file: "systematic" (found by
     *        elimination), "first" or "last" (K bits), "gr_fec_ldpc_encoder", or a
     *        list of the positions of all message bits, from 0
     * \param length_tag key of tags with the length of a packet in items; "": none
     * \throws std::invalid_argument naming the parameter, its value and what is allowed
     */
    static sptr make(const std::string& standard = "dvbs2",
                     const std::string& frame_size = "normal",
                     const std::string& rate = "1/2",
                     const std::string& code_file = "",
                     bool packed_input = true,
                     bool packed_output = true,
                     const std::vector<int>& punctured = {},
                     const std::vector<int>& shortened = {},
                     const std::variant<std::string, std::vector<int>>&
                         message_positions = "systematic",
                     const std::string& length_tag = "packet_len");
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_LDPC_ENCODER_H */
