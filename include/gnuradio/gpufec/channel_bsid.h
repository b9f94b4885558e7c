// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block that simulates a channel with insertions, deletions and flipped bits. */

#ifndef INCLUDED_GPUFEC_CHANNEL_BSID_BLOCK_H
#define INCLUDED_GPUFEC_CHANNEL_BSID_BLOCK_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <cstdint>
#include <string>

namespace gr::gpufec {

//! Parameters of channel_bsid, in Python's order.
struct channel_bsid_options {
    //! probability of an insertion, 0 to 0.99
    double p_insert = 1e-3;
    //! probability of a deletion; p_insert + p_delete is below 1
    double p_delete = 1e-3;
    //! probability that a transmitted bit is flipped, 0 to 1
    double p_substitute = 0.0;
    //! number of input bits per frame; 0: a stream without frames
    int frame_bits = 0;
    //! key of the tag with the number of received items of a frame
    std::string length_tag = "packet_len";
    //! seed of the random numbers
    std::uint64_t seed = 1;
    //! number of different channel symbols, 2 to 16
    int alphabet = 2;
};

/*!
 * \brief Channel that inserts, deletes and flips bits, for tests of gpu_sync_map.
 * \ingroup gpufec
 *
 * \details
 * For each bit the channel draws an event: insertion of a random bit (probability
 * \p p_insert), deletion (\p p_delete), or else transmission. After an insertion it draws
 * again for the same bit. A transmitted bit is flipped with probability \p p_substitute.
 * Input and output have one bit per byte. With an \p alphabet above 2, they have one
 * channel symbol of 0 to alphabet − 1 per byte, and a flip replaces the channel symbol by
 * a different one. With the same seed, the same input results in the same output.
 *
 * With \p frame_bits, each frame of the input has this number of bits. The first output
 * item of each frame has a tag of key \p length_tag with the number of received items. A
 * frame without received items has no tag. An incomplete frame at the end of the input is
 * not sent. Input tags of that key begin packets whose length is a multiple of
 * frame_bits, and are removed. Frames that a tag cuts short, and items outside packets
 * after the first tag, are dropped with one warning.
 *
 * Any other tag moves to the received item of its bit or, if the bit was deleted, to the
 * next item.
 */
class GPUFEC_API channel_bsid : virtual public gr::block
{
public:
    typedef std::shared_ptr<channel_bsid> sptr;

    //! Makes a channel.
    //! \throws std::invalid_argument naming the parameter, its value and what is allowed
    static sptr make(const channel_bsid_options& options = {});

    //! Sets p_insert for the bits not yet transmitted.
    //! \throws std::invalid_argument unless \p p_insert is 0 to 0.99 and p_insert +
    //! p_delete is below 1
    virtual void set_p_insert(double p_insert) = 0;
    //! Sets p_delete for the bits not yet transmitted.
    //! \throws std::invalid_argument unless \p p_delete is at least 0 and p_insert +
    //! p_delete is below 1
    virtual void set_p_delete(double p_delete) = 0;
    //! Sets p_substitute for the bits not yet transmitted.
    //! \throws std::invalid_argument unless \p p_substitute is 0 to 1
    virtual void set_p_substitute(double p_substitute) = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CHANNEL_BSID_BLOCK_H */
