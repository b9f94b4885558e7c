// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block that encodes Reed-Solomon codes. */

#ifndef INCLUDED_GPUFEC_RS_ENCODER_H
#define INCLUDED_GPUFEC_RS_ENCODER_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <string>

namespace gr::gpufec {

//! Parameters of rs_encoder, in Python's order.
struct rs_encoder_options {
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
};

/*!
 * \brief Encoder of Reed-Solomon codes.
 * \ingroup gpufec
 *
 * \details
 * Items are bytes, which are the symbols. The input is messages of I · k bytes, where I
 * is the interleaving depth: byte j·I + i of a message is symbol j of codeword i. The
 * output is frames of I · n bytes in the same order: a message and its parity symbols.
 * The codes are those of rs_decoder. An incomplete message at the end of the input is not
 * sent. Tags move to the output item of their symbol.
 *
 * A tag of key \p length_tag begins a packet of one or more messages. The value of the
 * tag is the number of input items of the packet, and is converted to the number of
 * output items. Until the first such tag, messages follow one another. The block drops
 * packets whose length is not a whole number of messages, messages that the next tag cuts
 * short, and items outside packets. The block logs one warning for each kind of fault.
 * The next tag restores alignment.
 */
class GPUFEC_API rs_encoder : virtual public gr::block
{
public:
    typedef std::shared_ptr<rs_encoder> sptr;

    //! Makes an encoder.
    //! \throws std::invalid_argument naming the parameter, its value and what is allowed
    static sptr make(const rs_encoder_options& options = {});
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_RS_ENCODER_H */
