// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Extracts packets of transport streams from BBFRAMEs: EN 302 307-1, 5.1 and annex D. */

#ifndef INCLUDED_GPUFEC_BBFRAME_PACKETS_H
#define INCLUDED_GPUFEC_BBFRAME_PACKETS_H

#include "header.h"
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace gr::gpufec::bbframe {

constexpr std::size_t packet_bytes = 188;

/*!
 * \brief Assembler of transport-stream packets. A packet may extend over several
 * BBFRAMEs.
 *
 * The packets of each input stream are assembled separately. If a frame does not continue
 * the incomplete packet of the previous frame of its input stream, that packet is
 * dropped. The transport error indicator is set in packets with a wrong CRC-8. Deleted
 * null packets are inserted again, and ISSY fields are dropped. Frames of generic streams
 * are passed to a callback.
 */
class packets
{
public:
    //! Counts of frames and packets since construction or restart().
    struct counts {
        std::uint64_t frames = 0;      //!< number of frames pushed
        std::uint64_t dropped = 0;     //!< frames with a wrong or unsupported header
        std::uint64_t passed_over = 0; //!< frames of input streams that are not extracted
        std::uint64_t generic = 0;     //!< frames of generic streams
        //! Frames that did not continue the previous frame of their input stream. The
        //! first frame after a dropped one is not counted.
        std::uint64_t gaps = 0;
        std::uint64_t packets = 0; //!< output packets, including inserted null packets
        std::uint64_t errors = 0;  //!< packets with a wrong CRC-8
    };
    //! Status of a packet that has an error, begins a stream, or follows a gap.
    struct remark {
        //! Index in the output of the packet's first byte or, if null packets are
        //! inserted before the packet, of their first byte.
        std::size_t at;
        bool error; //!< whether the packet's CRC-8 is wrong
        bool first; //!< whether the packet begins a stream or follows a gap or a dropped
                    //!< frame
        int isi;    //!< input stream identifier (ISI); −1 for a single stream
    };
    //! Callback for the frames of generic streams. The arguments are the parsed header,
    //! the frame (with header, without padding), and the size of the frame in bytes.
    using generic_hook =
        std::function<void(const header&, const std::uint8_t*, std::size_t)>;

    /*!
     * \param efficient whether frames may have DVB-T2's high efficiency mode
     * \param isi identifier of the input stream to extract; −1 for all. Frames of a
     *        single stream are always extracted
     * \param generic called for frames of generic streams; may be empty
     */
    packets(bool efficient, int isi, generic_hook generic = {});

    /*!
     * \brief Processes a descrambled frame of \p bits bits. Appends to \p out the
     * packets that the frame completes. Appends to \p remarks the status of each packet
     * that has an error, begins a stream, or follows a gap.
     */
    void push(const std::uint8_t* frame,
              std::size_t bits,
              std::vector<std::uint8_t>& out,
              std::vector<remark>& remarks);

    const counts& count() const { return d_count; }
    //! Returns whether packets can be extracted from the latest frame's input stream.
    //! Frames of generic streams and of input streams that are not extracted are ignored.
    bool synchronised() const { return d_synchronised; }
    //! Discards the state of all input streams and sets all counts to 0.
    void restart();

private:
    struct stream {
        bool synchronised = false, begun = false;
        std::size_t have = 0; // number of bits received of the incomplete packet
        std::size_t unit = 0; // number of bits of a packet as sent, see unit_of()
        std::uint8_t
            bytes[packet_bytes + 4]; // incomplete packet as sent, without sync byte
    };

    void lose(stream& s);
    bool supported(const header& h, std::size_t bits) const;
    static void
    append(stream& s, const std::uint8_t* from, std::size_t first, std::size_t bits);
    void give(stream& s,
              const header& h,
              std::vector<std::uint8_t>& out,
              std::vector<remark>& remarks);

    const bool d_efficient;
    const int d_isi;
    const generic_hook d_generic;
    const crc8 d_crc;
    std::map<int, stream> d_streams; // key: ISI, or −1 for a single stream
    counts d_count;
    bool d_synchronised = false;
};

} // namespace gr::gpufec::bbframe

#endif /* INCLUDED_GPUFEC_BBFRAME_PACKETS_H */
