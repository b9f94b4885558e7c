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

//! Parameters of ldpc_encoder, in Python's order.
struct ldpc_encoder_options {
    // Code
    //! "dvbs2", "dvbs2x", "dvbt2", "ccsds_c2", "ccsds_ar4ja", "ccsds_tc", "wifi",
    //! "nr"
    std::string standard = "dvbs2";
    //! frame size of the code, as in gpu_ldpc_dvbs2
    std::string frame_size = "normal";
    //! rate of the code, as in gpu_ldpc_dvbs2
    std::string rate = "1/2";
    //! an alist or base matrix file, whose code replaces \p standard, \p frame_size and
    //! \p rate; "" for none
    std::string code_file = "";

    // Input
    //! true: eight bits per input byte, the first most significant; false: one bit per
    //! byte
    bool packed_input = true;

    // Output
    //! true: eight bits per output byte, the first most significant; false: one bit per
    //! byte
    bool packed_output = true;

    // Code
    //! positions of the codeword, from 0, that are not sent, in addition to those
    //! that the standard omits
    std::vector<int> punctured = {};
    //! positions of the codeword that are always 0 and not sent; they contain no message
    //! bits
    std::vector<int> shortened = {};
    //! positions of the message bits in the codeword of \p code_file: "systematic" (found
    //! by elimination), "first" or "last" (the first or last K bits),
    //! "gr_fec_ldpc_encoder" (as in gr-fec), or a list of the positions of all message
    //! bits, from 0
    std::variant<std::string, std::vector<int>> message_positions = "systematic";

    // Input
    //! key of the length tags, whose value is the packet's length in items; "": none
    std::string length_tag = "packet_len";

    // Code
    //! length in bytes of the PSDU of Wi-Fi PPDUs (\p standard "wifi"), 1 to 65535: a
    //! frame is a whole PPDU, and \p frame_size has no effect; 0: a frame is one codeword
    int psdu_bytes = 0;
    //! number of coded bits per OFDM symbol of a PPDU (N_CBPS), 1 to 65535
    int symbol_bits = 0;
    //! whether PPDUs use space-time block coding, and so an even number of OFDM symbols
    bool stbc = false;
};

/*!
 * \brief LDPC encoder for DVB-S2 and other standards, and for any code from a file.
 * \ingroup gpufec
 *
 * \details
 * The input is the K message bits of each frame, and the output is the sent bits of its
 * codeword of N bits. Items are bytes with one bit or with eight packed bits. The first
 * packed bit is the most significant. Packed frames are padded to a byte. An incomplete
 * frame at the end of the input is not sent. Tags move to the output item that contains
 * their bit.
 *
 * A tag of key \p length_tag begins a packet of one or more frames. The value of the tag
 * is the number of input items of the packet, and is converted to the number of output
 * items. Until the first such tag, frames follow one another. The block drops packets
 * whose length is not a whole number of frames, frames that the next tag cuts short, and
 * items outside packets. The block logs one warning for each kind of fault. The next tag
 * restores alignment.
 *
 * With \p psdu_bytes, a frame is a Wi-Fi PPDU (IEEE 802.11-2020, 19.3.11.7.5): the input
 * is the scrambled bits of SERVICE field (16 bits) and PSDU, and the output is the coded
 * bits of all OFDM symbols, shortened and punctured or repeated. All PPDUs of a block
 * have the same format.
 *
 * gpu_ldpc_dvbs2 expects bit 0 to be mapped to a positive value, unless its positive_bit
 * is 1.
 */
class GPUFEC_API ldpc_encoder : virtual public gr::block
{
public:
    typedef std::shared_ptr<ldpc_encoder> sptr;

    //! Makes an encoder.
    //! \throws std::invalid_argument naming the parameter, its value and what is allowed
    static sptr make(const ldpc_encoder_options& options = {});
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_LDPC_ENCODER_H */
