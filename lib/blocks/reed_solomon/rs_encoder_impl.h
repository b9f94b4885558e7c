// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block rs_encoder, based on reed_solomon_encoder_kernel. */

#ifndef INCLUDED_GPUFEC_BLOCKS_REED_SOLOMON_RS_ENCODER_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_REED_SOLOMON_RS_ENCODER_IMPL_H

#include "blocks/common/frame_block.h"
#include <gnuradio/gpufec/reed_solomon.h>
#include <gnuradio/gpufec/rs_encoder.h>

namespace gr::gpufec {

class rs_encoder_impl : public frame_block<rs_encoder>
{
public:
    rs_encoder_impl(const reed_solomon_encoder_kernel& kernel,
                    const std::string& length_tag);

private:
    void
    make_frame(const std::uint8_t* in, std::uint8_t* out, std::uint64_t first) override;
    std::size_t output_of_item(std::size_t item) const override { return item; }

    const reed_solomon_encoder_kernel d_kernel;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_REED_SOLOMON_RS_ENCODER_IMPL_H */
