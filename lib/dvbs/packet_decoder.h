// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decodes the packets of a DVB-S stream from the output of the Viterbi decoder (EN 300
 * 421, 4.4). */

#ifndef INCLUDED_GPUFEC_DVBS_PACKET_DECODER_H
#define INCLUDED_GPUFEC_DVBS_PACKET_DECODER_H

#include "sync_search.h"
#include <gnuradio/gpufec/reed_solomon.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::gpufec::dvbs {

/*!
 * \brief Decoder of the bits that the Viterbi decoder of a DVB-S receiver outputs.
 *
 * The decoder finds frames by their sync bytes, undoes the convolutional interleaving,
 * corrects each packet by Reed-Solomon decoding, and removes the energy dispersal. Frames
 * may begin at any bit, and an additive_sequence may have been added to the stream.
 *
 * After frames are found, each frame is assumed to follow the previous one. If the sync
 * bytes of 12 consecutive frames have more than max_errors wrong bits among 96, the
 * search starts again 13 frames earlier. A packet is output when the 12 frames that
 * contain its bytes have arrived, unless the search started again between these frames.
 */
class packet_decoder
{
public:
    //! Counts since construction or restart().
    struct counts {
        std::uint64_t packets = 0;   //!< output packets
        std::uint64_t errors = 0;    //!< packets that could not be corrected
        std::uint64_t corrected = 0; //!< corrected symbols (bytes)
        std::uint64_t losses = 0;    //!< number of losses of synchronisation
    };
    //! Status of an output packet.
    struct packet {
        //! Index in the stream of the byte after the first of the 12 frames that contain
        //! the packet's bytes.
        std::uint64_t end;
        bool first; //!< whether the packet is the first after a search
        //! Number of corrected symbols, or reed_solomon_decoder_kernel::failed.
        int corrected;
    };

    packet_decoder();

    /*!
     * \brief Processes the next bytes of the stream, eight bits each, the first most
     * significant.
     *
     * Appends packets to \p out, and the status of each to \p packets. If a packet could
     * not be corrected, its transport error indicator is set.
     */
    void push(const std::uint8_t* bytes,
              std::size_t count,
              std::vector<std::uint8_t>& out,
              std::vector<packet>& packets);

    //! Ends the stream: also decodes a frame that ends with the last pushed bit, and
    //! appends to \p out and \p packets like push().
    void finish(std::vector<std::uint8_t>& out, std::vector<packet>& packets);

    const counts& count() const { return d_count; }
    //! Returns whether the decoder has found frames and tracks them.
    bool synchronised() const { return d_synchronised; }
    //! Prepares for another stream and sets all counts to 0.
    void restart();

private:
    // Number of sync bits among 96 that may be wrong before the search begins again.
    // Random bits exceed this number of errors with a probability of 0.9998, and bits
    // with an error rate of 0.15 with a probability of 2e-5.
    static constexpr unsigned max_errors = 30;
    static constexpr unsigned window = sync_search::window_frames;
    // Number of frames that d_frames can hold. When d_frames is full, all of its oldest
    // frames are discarded in one step.
    static constexpr std::size_t stored_frames = 16 * branches;

    bool search();
    bool track(std::vector<std::uint8_t>& out, std::vector<packet>& packets);
    void lose();
    void make_packet(std::vector<std::uint8_t>& out, std::vector<packet>& packets);
    bool arrived(std::uint64_t first, std::size_t bytes) const;
    const std::uint8_t* at(std::uint64_t byte) const
    {
        return d_received.data() + (byte - d_first);
    }
    void discard();
    std::uint8_t expected_sync(std::uint64_t frame) const;

    const reed_solomon_decoder_kernel d_reed_solomon;
    // Sequence that the energy dispersal adds to a group of packets, sync bytes included.
    std::array<std::uint8_t, group_packets * packet_bytes> d_dispersal;

    // Received bytes that may be needed again, and the index in the stream of the first.
    std::vector<std::uint8_t> d_received;
    std::uint64_t d_first = 0;

    bool d_synchronised = false;
    sync_search d_search;
    std::uint64_t d_searched = 0; // index in the stream of the next byte to search

    // The following members describe the frames while synchronised. Frames are numbered
    // so that those with a number divisible by eight have inverted sync bytes.
    additive_sequence d_sequence;
    std::uint64_t d_bit = 0;   // index in the stream of the next frame's first bit
    std::uint64_t d_frame = 0; // number of the next frame
    // Errors in the sync bytes of the last frames, by frame number modulo `window`.
    std::array<unsigned, window> d_sync_errors;
    unsigned d_error_sum = 0;           // sum of d_sync_errors
    std::vector<std::uint8_t> d_frames; // aligned frames, the latest last
    bool d_any = false;                 // whether a packet was output since the search

    counts d_count;
};

} // namespace gr::gpufec::dvbs

#endif /* INCLUDED_GPUFEC_DVBS_PACKET_DECODER_H */
