// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#ifndef INCLUDED_GPUFEC_CHANNEL_BSID_BLOCK_H
#define INCLUDED_GPUFEC_CHANNEL_BSID_BLOCK_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <cstdint>
#include <string>

namespace gr::gpufec {

/*!
 * \brief A channel that inserts, deletes and flips bits, to test gpu_sync_map with.
 * \ingroup gpufec
 *
 * \details
 * Before each bit the channel inserts a random one with probability \p p_insert, and then
 * asks again. Else it drops the bit with probability \p p_delete, or passes it on,
 * flipped with probability \p p_substitute. Input and output have one bit per byte, or
 * one channel symbol of 0 to alphabet − 1. With the same seed, the same input gives the
 * same output.
 *
 * With \p frame_bits, that many input bits make a frame. The first output item of each
 * frame has a tag of key \p length_tag with the number of items received of it. A frame
 * of which nothing is received leaves no trace, and one that is not complete when the
 * input ends is not sent. Input tags of that key end here. Other tags go to what is
 * received of their bit or, if it was dropped, to the item that follows.
 */
class GPUFEC_API channel_bsid : virtual public gr::block
{
public:
    typedef std::shared_ptr<channel_bsid> sptr;

    /*!
     * Makes a channel.
     *
     * \param p_insert probability of an insertion, 0 to 0.99
     * \param p_delete probability of a deletion; p_insert + p_delete is below 1
     * \param p_substitute probability that a bit passed on is flipped, 0 to 1
     * \param frame_bits input bits per frame; 0: a stream without frames
     * \param length_tag key of the tag with a frame's received length
     * \param seed of the random numbers
     * \param alphabet channel symbols to choose from, 2 to 16
     * \throws std::invalid_argument naming the parameter, its value and what is allowed
     */
    static sptr make(double p_insert = 1e-3,
                     double p_delete = 1e-3,
                     double p_substitute = 0.0,
                     int frame_bits = 0,
                     const std::string& length_tag = "packet_len",
                     std::uint64_t seed = 1,
                     int alphabet = 2);

    //! Takes effect at once. \throws std::invalid_argument
    virtual void set_p_insert(double p_insert) = 0;
    //! Takes effect at once. \throws std::invalid_argument
    virtual void set_p_delete(double p_delete) = 0;
    //! Takes effect at once. \throws std::invalid_argument
    virtual void set_p_substitute(double p_substitute) = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CHANNEL_BSID_BLOCK_H */
