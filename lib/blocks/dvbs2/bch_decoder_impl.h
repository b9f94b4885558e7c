// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block bch_decoder, based on bch_decoder_kernel. */

#ifndef INCLUDED_GPUFEC_BLOCKS_DVBS2_BCH_DECODER_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_DVBS2_BCH_DECODER_IMPL_H

#include "blocks/common/frame_block.h"
#include <gnuradio/gpufec/bch.h>
#include <gnuradio/gpufec/bch_decoder.h>
#include <atomic>
#include <vector>

namespace gr::gpufec {

class bch_decoder_impl : public frame_block<bch_decoder>
{
public:
    bch_decoder_impl(const bch_code& code,
                     bool packed_input,
                     bool packed_output,
                     status_tags tags,
                     const std::string& length_tag);

    std::uint64_t frame_count() const override { return d_frames; }
    std::uint64_t error_count() const override { return d_failures; }
    std::uint64_t corrected_bits() const override { return d_corrected; }
    std::uint64_t skipped_frame_count() const override { return d_skipped; }

private:
    void
    make_frame(const std::uint8_t* in, std::uint8_t* out, std::uint64_t first) override;
    std::size_t output_of_item(std::size_t item) const override;

    const bch_decoder_kernel d_kernel;
    const bool d_packed_input, d_packed_output;
    const status_tags d_status_tags;
    const pmt::pmt_t d_errors_key, d_valid_key;
    std::vector<std::uint8_t> d_packed; // packed bits of the current frame
    std::atomic<std::uint64_t> d_frames{ 0 }, d_failures{ 0 }, d_corrected{ 0 };
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_DVBS2_BCH_DECODER_IMPL_H */
