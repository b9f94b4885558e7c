// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block that encodes message symbols with a codebook. */

#ifndef INCLUDED_GPUFEC_SYNC_ENCODER_H
#define INCLUDED_GPUFEC_SYNC_ENCODER_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <cstdint>
#include <string>
#include <vector>

namespace gr::gpufec {

//! Parameters of sync_encoder, in Python's order.
struct sync_encoder_options {
    // Code
    //! N·q rows of n bits; row i·q + D is the word for message symbol D at index i of a
    //! frame, and its leftmost bit is sent first
    std::vector<std::uint8_t> codebook;
    //! q, number of values of a message symbol, 2 to 65536
    int q = 32;
    //! n, number of bits per message symbol, 1 to 4096
    int n = 10;
    //! N, number of message symbols per frame
    int frame_symbols = 210;

    // Output
    //! key of the tag with the number of bits of a frame; "": none
    std::string length_tag = "packet_len";

    // Code
    //! number of different channel symbols, 2 to 16; 2: the channel symbols are bits
    int alphabet = 2;
};

/*!
 * \brief Encoder of message symbols with a codebook, for gpu_sync_map.
 * \ingroup gpufec
 *
 * \details
 * Each message symbol is replaced by a word of the codebook. The input is message symbols
 * of 0 to q − 1, N per frame, as bytes if q is at most 256, otherwise as unsigned shorts.
 * A symbol that is not below q is reduced modulo q. The output is the n·N bits of each
 * frame, one per byte. The first bit of a frame has a tag of key \p length_tag with the
 * number of bits of the frame. An incomplete frame at the end of the input is not sent.
 *
 * Input tags of key \p length_tag begin packets whose length is a multiple of N. Frames
 * that such a tag cuts short, and items outside packets after the first such tag, are
 * dropped with one warning. Other tags move to the first bit of their symbol.
 */
class GPUFEC_API sync_encoder : virtual public gr::block
{
public:
    typedef std::shared_ptr<sync_encoder> sptr;

    //! Makes an encoder.
    //! \throws std::invalid_argument naming the parameter, its value and what is allowed
    static sptr make(const sync_encoder_options& options);
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_SYNC_ENCODER_H */
