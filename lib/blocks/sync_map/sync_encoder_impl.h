// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The encoder for the synchronisation decoder as a block. */

#ifndef INCLUDED_GPUFEC_BLOCKS_SYNC_ENCODER_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_SYNC_ENCODER_IMPL_H

#include <gnuradio/gpufec/sync_encoder.h>
#include <gnuradio/gpufec/sync_map.h>

namespace gr::gpufec {

class sync_encoder_impl : public sync_encoder
{
public:
    sync_encoder_impl(const sync_code& code, const std::string& length_tag);

    void forecast(int noutput_items, gr_vector_int& ninput_items_required) override;
    int general_work(int noutput_items,
                     gr_vector_int& ninput_items,
                     gr_vector_const_void_star& input_items,
                     gr_vector_void_star& output_items) override;

private:
    void add_tags(std::size_t frames);

    const sync_encoder_kernel d_encoder;
    const pmt::pmt_t d_length_key; // null: none
    const pmt::pmt_t d_source;     // of the tags that this block adds
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_SYNC_ENCODER_IMPL_H */
