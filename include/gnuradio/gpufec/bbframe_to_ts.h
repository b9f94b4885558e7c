// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block that extracts a transport stream from BBFRAMEs. */

#ifndef INCLUDED_GPUFEC_BBFRAME_TO_TS_H
#define INCLUDED_GPUFEC_BBFRAME_TO_TS_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <cstdint>
#include <string>

namespace gr::gpufec {

//! Parameters of bbframe_to_ts, in Python's order.
struct bbframe_to_ts_options {
    // Code
    //! "dvbs2", "dvbs2x" or "dvbt2"
    std::string standard = "dvbs2";
    //! frame size of the LDPC code, as in bch_decoder
    std::string frame_size = "normal";
    //! rate of the LDPC code, as in bch_decoder
    std::string rate = "1/2";

    // Input
    //! whether to descramble the frame first (EN 302 307-1, 5.2.2)
    bool descramble = true;

    // Output
    //! identifier of the input stream to extract, 0 to 255; −1: all. Frames of a single
    //! stream are always extracted
    int isi = -1;

    // Input
    //! key of tags (long) with the number of bytes of each frame, for ACM; they replace
    //! \p frame_size and \p rate. "": none
    std::string length_tag = "";
};

/*!
 * \brief Extracts the transport stream from BBFRAMEs of DVB-S2, DVB-S2X and DVB-T2.
 * \ingroup gpufec
 *
 * \details
 * The input is the BBFRAMEs from bch_decoder: K_bch bits each, eight per byte with the
 * first most significant, and each frame padded to a byte. The output is the bytes of
 * transport-stream packets, 188 per packet.
 *
 * A frame is dropped if the CRC-8 of its BBHEADER is wrong or the header is not valid
 * (EN 302 307-1, 5.1). A packet with a wrong CRC-8 is output with its transport error
 * indicator set. A packet can extend over several frames; if one of them does not
 * continue the packet, the earlier parts of the packet are dropped. Null packets that the
 * transmitter deleted are inserted again, and ISSY fields are removed (annex D). Several
 * input streams are processed independently. The high efficiency mode of DVB-T2 is
 * recognised by its header.
 *
 * The message port \c generic sends one PDU for each BBFRAME of a generic stream, such as
 * GSE. The PDU contains the header and the data field as bytes. The metadata are \c ts_gs
 * (long: the TS/GS bits of MATYPE) and \c isi (long: identifier of the input stream, −1
 * for a single stream).
 *
 * Input tags move to the first packet that ends in their frame or after it. The value of
 * a tag of key \p length_tag is converted to the number of bytes of the packets that end
 * in its frame. If no packet ends there, the tag is dropped. The block adds these tags on
 * the first byte of packets:
 *  - \c ts_begin (long): identifier of the input stream, −1 for a single stream; on the
 *    first packet of a stream and on the first packet after a gap,
 *  - \c ts_error (bool, true): on packets with a wrong CRC-8.
 *
 * The message port \c status sends a dictionary when packets begin, when they are lost,
 * and at the end of the input. The dictionary has \c event ("synchronised", "lost" or
 * "ended") and the counters below by the names of their functions. At most one dictionary
 * is sent per second, except for the last.
 */
class GPUFEC_API bbframe_to_ts : virtual public gr::block
{
public:
    typedef std::shared_ptr<bbframe_to_ts> sptr;

    //! Makes the block.
    //! \throws std::invalid_argument naming the parameter, its value and what is allowed
    static sptr make(const bbframe_to_ts_options& options = {});

    //! Returns the number of frames so far, including dropped frames.
    virtual std::uint64_t frame_count() const = 0;
    //! Returns the number of frames dropped because their header is wrong or not
    //! supported.
    virtual std::uint64_t dropped_frame_count() const = 0;
    //! Returns the number of frames of generic streams.
    virtual std::uint64_t generic_frame_count() const = 0;
    //! Returns the number of frames that did not continue the previous frame of their
    //! input stream. The first frame after a dropped frame is not counted.
    virtual std::uint64_t gap_count() const = 0;
    //! Returns the number of packets, including inserted null packets.
    virtual std::uint64_t packet_count() const = 0;
    //! Returns the number of packets with a wrong CRC-8.
    virtual std::uint64_t packet_error_count() const = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BBFRAME_TO_TS_H */
