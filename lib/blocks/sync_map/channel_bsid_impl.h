// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The channel that inserts, deletes and flips bits as a block. */

#ifndef INCLUDED_GPUFEC_BLOCKS_CHANNEL_BSID_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_CHANNEL_BSID_IMPL_H

#include "channel/bsid.h"
#include "sync_parameters.h"
#include "tag_queue.h"
#include <gnuradio/gpufec/channel_bsid.h>
#include <vector>

namespace gr::gpufec {

class channel_bsid_impl : public gr::gpufec::channel_bsid
{
public:
    channel_bsid_impl(const bsid_model& model,
                      unsigned frame_bits,
                      const std::string& length_tag,
                      std::uint64_t seed);

    bool start() override;
    void forecast(int noutput_items, gr_vector_int& ninput_items_required) override;
    int general_work(int noutput_items,
                     gr_vector_int& ninput_items,
                     gr_vector_const_void_star& input_items,
                     gr_vector_void_star& output_items) override;

    void set_p_insert(double p) override { d_setting.set_p_insert(p); }
    void set_p_delete(double p) override { d_setting.set_p_delete(p); }
    void set_p_substitute(double p) override { d_setting.set_p_substitute(p); }

private:
    std::size_t transmit(const std::uint8_t* in, std::size_t from, std::size_t count);
    std::size_t give(std::uint8_t* out, std::size_t room);
    void end_frame();
    void read_tags(std::size_t count);

    const unsigned d_frame_bits;
    const pmt::pmt_t d_length_key;
    const pmt::pmt_t d_source; // of the tags that this block adds
    const std::uint64_t d_seed;
    channel_setting d_setting;
    bsid_model d_model;
    bsid_channel d_channel;

    std::vector<std::uint8_t> d_received; // of the frame at hand, or to be given
    std::size_t d_sent = 0;               // input bits of the frame at hand
    std::size_t d_given_of_frame = 0;
    bool d_giving = false; // d_received is complete

    std::vector<tag_t> d_window;     // input tags of this call, by item of this call
    std::vector<tag_t> d_frame_tags; // of the frame at hand, by output item
    tag_queue d_tags;
    // Items of this stream so far: made of complete frames, and given.
    std::uint64_t d_made = 0, d_given = 0;
    std::weak_ptr<gr::block_detail> d_detail; // that the stream came through
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_CHANNEL_BSID_IMPL_H */
