// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#ifndef INCLUDED_GPUFEC_BBFRAME_TO_TS_H
#define INCLUDED_GPUFEC_BBFRAME_TO_TS_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <cstdint>
#include <string>

namespace gr::gpufec {

/*!
 * \brief Takes the transport stream out of BBFRAMEs of DVB-S2, DVB-S2X and DVB-T2.
 * \ingroup gpufec
 *
 * \details
 * The input is BBFRAMEs, K_bch bits each, eight per byte, the first of which is the most
 * significant, each frame padded to a byte: what bch_decoder gives. The output is
 * packets of 188 bytes.
 *
 * A frame is dropped if the CRC-8 of its BBHEADER is wrong or if the header cannot be
 * (EN 302 307-1, 5.1). A packet whose CRC-8 is wrong leaves with its transport error
 * indicator set. Where the first packet of a frame does not begin where the one before it
 * ends, what there was of that one is dropped. Null packets that the transmitter deleted
 * are put in again, ISSY fields are left out (annex D). With several input streams each
 * goes on by itself. Of DVB-T2 the high efficiency mode is known by its header.
 *
 * BBFRAMEs of generic streams, GSE among them, leave by the message port \c generic: a
 * PDU per frame with the header and the data field as bytes, and \c ts_gs (long: bits of
 * MATYPE) and \c isi (long: input stream, −1 for a single one) as metadata.
 *
 * Tags on the input go to the first packet that ends in their frame or after it. The
 * block adds
 *  - \c ts_begin (long): on the first packet after a beginning or a gap, its input
 *    stream, −1 for a single one,
 *  - \c ts_error (bool, true): on packets whose CRC-8 is wrong.
 *
 * The message port \c status sends a dictionary when packets begin, after they were lost,
 * and at the end of the input: \c event ("synchronised", "lost" or "ended") and the
 * counters below. There is at most one per second, but for the last.
 */
class GPUFEC_API bbframe_to_ts : virtual public gr::block
{
public:
    typedef std::shared_ptr<bbframe_to_ts> sptr;

    /*!
     * Makes the block.
     *
     * \param standard "dvbs2", "dvbs2x" or "dvbt2"
     * \param frame_size of the FEC code, as bch_decoder has them
     * \param rate likewise
     * \param descramble undo the scrambling of the frame (EN 302 307-1, 5.2.2) first
     * \param isi of several input streams the one that is wanted, 0 to 255; −1: all
     * \param length_tag key of tags (long) with the bytes of each frame, for ACM, instead
     *        of one length for all by \p frame_size and \p rate; "": none
     * \throws std::invalid_argument naming the parameter, its value and what is allowed
     */
    static sptr make(const std::string& standard = "dvbs2",
                     const std::string& frame_size = "normal",
                     const std::string& rate = "1/2",
                     bool descramble = true,
                     int isi = -1,
                     const std::string& length_tag = "");

    //! Frames so far.
    virtual std::uint64_t frame_count() const = 0;
    //! Frames dropped because of their header.
    virtual std::uint64_t dropped_frame_count() const = 0;
    //! Frames of generic streams.
    virtual std::uint64_t generic_frame_count() const = 0;
    //! Frames whose first packet did not begin where the one before it ended.
    virtual std::uint64_t gap_count() const = 0;
    //! Packets, null packets that were put in included.
    virtual std::uint64_t packet_count() const = 0;
    //! Packets whose CRC-8 is wrong.
    virtual std::uint64_t packet_error_count() const = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BBFRAME_TO_TS_H */
