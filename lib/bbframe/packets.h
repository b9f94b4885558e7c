// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The packets of transport streams in BBFRAMEs: EN 302 307-1, 5.1 and annex D. */

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
 * \brief Puts packets together that lie across BBFRAMEs.
 *
 * A packet whose CRC-8 is wrong gets its transport error indicator set. Where the first
 * packet of a frame does not begin where the one before it ends, what there was of that
 * one is dropped. Each input stream goes on by itself. Null packets that were deleted are
 * put in again; ISSY fields are left out.
 */
class packets
{
public:
    //! What became of frames and packets so far.
    struct counts {
        std::uint64_t frames = 0;      //!< all
        std::uint64_t dropped = 0;     //!< with a header that is wrong or not supported
        std::uint64_t passed_over = 0; //!< of streams that were not asked for
        std::uint64_t generic = 0;     //!< of generic streams
        std::uint64_t gaps = 0;        //!< beginnings that did not fit to what was before
        std::uint64_t packets = 0;     //!< given, null packets that were put in included
        std::uint64_t errors = 0;      //!< of them, with a wrong CRC-8
    };
    //! What is said of a packet besides its bytes.
    struct remark {
        std::size_t at; //!< its first byte in the output
        bool error;     //!< its CRC-8 is wrong
        bool first;     //!< the first one after a beginning or a gap
        int isi;        //!< its input stream, −1 for a single one
    };
    //! Takes the bytes of a frame of a generic stream, header included, padding not.
    using generic_hook =
        std::function<void(const header&, const std::uint8_t*, std::size_t)>;

    /*!
     * \param efficient frames may be of DVB-T2's high efficiency mode
     * \param isi of several input streams the one that is wanted; −1 for all
     */
    packets(bool efficient, int isi, generic_hook generic = {});

    /*!
     * \brief Takes a frame that is descrambled, and appends the packets that it
     * completes. \param bits of the frame \param remarks appended, of packets with
     * something to be said
     */
    void push(const std::uint8_t* frame,
              std::size_t bits,
              std::vector<std::uint8_t>& out,
              std::vector<remark>& remarks);

    const counts& count() const { return d_count; }
    //! Whether the last frame's stream goes on.
    bool synchronised() const { return d_synchronised; }
    //! Another stream begins.
    void restart();

private:
    // Of an input stream.
    struct stream {
        bool synchronised = false, begun = false;
        std::size_t have = 0;                 // bits of the packet that is not complete
        std::size_t unit = 0;                 // bits of a packet with what goes with it
        std::uint8_t bytes[packet_bytes + 4]; // of that packet: CRC-8 last, no sync byte
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
    std::map<int, stream> d_streams; // by ISI, or −1
    counts d_count;
    bool d_synchronised = false;
};

} // namespace gr::gpufec::bbframe

#endif /* INCLUDED_GPUFEC_BBFRAME_PACKETS_H */
