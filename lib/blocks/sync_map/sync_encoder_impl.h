// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block sync_encoder, based on sync_encoder_kernel. */

#ifndef INCLUDED_GPUFEC_BLOCKS_SYNC_MAP_SYNC_ENCODER_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_SYNC_MAP_SYNC_ENCODER_IMPL_H

#include "blocks/common/frame_block.h"
#include <gnuradio/gpufec/sync_encoder.h>
#include <gnuradio/gpufec/sync_map.h>

namespace gr::gpufec {

class sync_encoder_impl : public frame_block<sync_encoder>
{
public:
    sync_encoder_impl(const sync_code& code, const std::string& length_tag);

private:
    void
    make_frame(const std::uint8_t* in, std::uint8_t* out, std::uint64_t first) override;
    std::size_t output_of_item(std::size_t item) const override
    {
        return item * d_encoder.code().n();
    }

    const sync_encoder_kernel d_encoder;
    const pmt::pmt_t d_length_key; // key of the length tags; null if there is none
    const pmt::pmt_t d_source;     // srcid of the tags that this block adds
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_SYNC_MAP_SYNC_ENCODER_IMPL_H */
