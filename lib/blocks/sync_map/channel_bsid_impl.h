// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block channel_bsid, which inserts, deletes and substitutes symbols at random. */

#ifndef INCLUDED_GPUFEC_BLOCKS_SYNC_MAP_CHANNEL_BSID_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_SYNC_MAP_CHANNEL_BSID_IMPL_H

#include "blocks/common/tagged_block.h"
#include "channel/bsid.h"
#include "sync_parameters.h"
#include <gnuradio/gpufec/channel_bsid.h>
#include <vector>

namespace gr::gpufec {

class channel_bsid_impl : public tagged_block<gr::gpufec::channel_bsid>
{
public:
    channel_bsid_impl(const bsid_model& model,
                      unsigned frame_bits,
                      const std::string& length_tag,
                      std::uint64_t seed);

    void forecast(int noutput_items, gr_vector_int& ninput_items_required) override;
    int general_work(int noutput_items,
                     gr_vector_int& ninput_items,
                     gr_vector_const_void_star& input_items,
                     gr_vector_void_star& output_items) override;

    void set_p_insert(double p) override { d_setting.set_p_insert(p); }
    void set_p_delete(double p) override { d_setting.set_p_delete(p); }
    void set_p_substitute(double p) override { d_setting.set_p_substitute(p); }

private:
    void restart() override;
    std::size_t transmit(const std::uint8_t* in, std::uint64_t item, std::size_t count);
    std::size_t give(std::uint8_t* out, std::size_t capacity);
    void end_frame();

    const unsigned d_frame_bits;
    const pmt::pmt_t d_length_key;
    const pmt::pmt_t d_source; // srcid of the tags that this block adds
    const std::uint64_t d_seed;
    channel_setting d_setting;
    bsid_model d_model;
    bsid_channel d_channel;

    std::vector<std::uint8_t> d_received; // output of the current frame
    std::size_t d_sent = 0;               // number of items of the frame that were sent
    std::size_t d_emitted_of_frame = 0;
    bool d_giving = false; // whether d_received is complete and is being emitted

    std::vector<held_tag> d_frame_tags; // tags of the frame; offsets count output items
    // Number of output items of the complete frames of this stream.
    std::uint64_t d_made = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_SYNC_MAP_CHANNEL_BSID_IMPL_H */
