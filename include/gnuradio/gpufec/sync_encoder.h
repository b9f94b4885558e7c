// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#ifndef INCLUDED_GPUFEC_SYNC_ENCODER_H
#define INCLUDED_GPUFEC_SYNC_ENCODER_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <cstdint>
#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief Encodes message symbols with a codebook for gpu_sync_map. \ingroup gpufec
 *
 * \details
 * Input: symbols 0 to q − 1, N a frame, bytes up to q = 256, else shorts; a symbol of q
 * or above counts modulo q. Output: the n·N bits of each frame, one a byte, with their
 * number in a tag of key \p length_tag on the first. A frame that is not complete when
 * the input ends is not sent. Other tags go to the first bit of their symbol.
 */
class GPUFEC_API sync_encoder : virtual public gr::block
{
public:
    typedef std::shared_ptr<sync_encoder> sptr;

    /*!
     * \param codebook N·q rows of n bits, row i·q + D for symbol D at index i, the
     *        leftmost bit sent first
     * \param q symbols to choose from, 2 to 65536
     * \param n bits a symbol
     * \param frame_symbols N, symbols a frame
     * \param length_tag key of the tag with a frame's length; "" for none
     * \param alphabet channel symbols to choose from, 2 to 16; above 2 they take the
     * place of bits \throws std::invalid_argument naming the parameter, its value and
     * what is allowed
     */
    static sptr make(const std::vector<std::uint8_t>& codebook,
                     int q = 32,
                     int n = 10,
                     int frame_symbols = 210,
                     const std::string& length_tag = "packet_len",
                     int alphabet = 2);
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_SYNC_ENCODER_H */
