// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block that decodes the frames of DVB-S to transport-stream packets. */

#ifndef INCLUDED_GPUFEC_DVBS_DEFRAMER_H
#define INCLUDED_GPUFEC_DVBS_DEFRAMER_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <cstdint>
#include <string>

namespace gr::gpufec {

//! Parameters of dvbs_deframer, in Python's order.
struct dvbs_deframer_options {
    // Input
    //! key of length tags, which are dropped, because packets of the input do not
    //! correspond to packets of the output; "": none
    std::string length_tag = "packet_len";
};

/*!
 * \brief Decodes the frames of DVB-S to transport-stream packets.
 * \ingroup gpufec
 *
 * \details
 * The input is the bits from a Viterbi decoder, eight per byte with the first most
 * significant. The output is the bytes of transport-stream packets, 188 per packet. The
 * block does what EN 300 421 requires after Viterbi decoding: it finds the frames of 204
 * bytes by their sync bytes, undoes the convolutional interleaving (I = 12), corrects up
 * to 8 wrong bytes per packet by Reed-Solomon decoding (204, 188), and removes the energy
 * dispersal. DVB-T (EN 300 744) has the same frames.
 *
 * Frames are found at any bit of a byte, upright and inverted, and at rate 5/6 also if
 * the Viterbi decoder has decoded a reflected constellation. 12 frames are enough: at
 * most 10 of the 96 bits of their sync bytes may be wrong. Noise causes a false alarm
 * once in 4e10 frame lengths. The frames are lost when 12 of them have more than 30 such
 * errors. The search then begins before these 12, so that a lost bit affects only the
 * packets of damaged frames.
 *
 * A packet's bytes are spread over 12 frames, and a packet is output only if all 12 were
 * received. Packets at the beginning, at the end and around a lost bit are not output. A
 * packet with more than 8 wrong bytes is output with its transport error indicator set.
 *
 * An input tag moves to the packet whose frame contains its byte, or to the next packet
 * if that packet is not output. Tags after the last packet are dropped. The block adds
 * these tags on the first byte of packets:
 *  - \c ts_begin (long, −1): on the first packet, and on the first packet after frames
 *    were lost,
 *  - \c ts_error (bool, true): on packets that could not be corrected.
 *
 * The message port \c status sends a dictionary when frames are found, when they are
 * lost, and at the end of the input. The dictionary has \c event ("synchronised", "lost"
 * or "ended") and the counters below by the names of their functions. At most one
 * dictionary is sent per second, except for the last.
 */
class GPUFEC_API dvbs_deframer : virtual public gr::block
{
public:
    typedef std::shared_ptr<dvbs_deframer> sptr;

    //! Makes the block.
    static sptr make(const dvbs_deframer_options& options = {});

    //! Returns whether frames are found.
    virtual bool synchronised() const = 0;
    //! Returns the number of packets so far.
    virtual std::uint64_t packet_count() const = 0;
    //! Returns the number of packets that could not be corrected.
    virtual std::uint64_t packet_error_count() const = 0;
    //! Returns the number of bytes that were corrected.
    virtual std::uint64_t corrected_byte_count() const = 0;
    //! Returns the number of times that the frames were lost.
    virtual std::uint64_t sync_loss_count() const = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_DVBS_DEFRAMER_H */
