// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block rs_decoder, based on reed_solomon_decoder_kernel. */

#ifndef INCLUDED_GPUFEC_BLOCKS_REED_SOLOMON_RS_DECODER_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_REED_SOLOMON_RS_DECODER_IMPL_H

#include "blocks/common/frame_block.h"
#include "pipeline/thread_team.h"
#include <gnuradio/gpufec/reed_solomon.h>
#include <gnuradio/gpufec/rs_decoder.h>
#include <atomic>
#include <vector>

namespace gr::gpufec {

class rs_decoder_impl : public frame_block<rs_decoder>
{
public:
    rs_decoder_impl(const reed_solomon_decoder_kernel& kernel,
                    const rs_decoder_options& given);

    int general_work(int noutput_items,
                     gr_vector_int& ninput_items,
                     gr_vector_const_void_star& input_items,
                     gr_vector_void_star& output_items) override;

    std::uint64_t frame_count() const override { return d_frames; }
    std::uint64_t corrected_count() const override { return d_corrected; }
    std::uint64_t failed_count() const override { return d_failed; }
    std::uint64_t skipped_frame_count() const override { return d_skipped; }

private:
    void
    make_frame(const std::uint8_t* in, std::uint8_t* out, std::uint64_t first) override
    {
        make_frames(in, 1, out, first);
    }
    std::size_t make_frames(const std::uint8_t* in,
                            std::size_t frames,
                            std::uint8_t* out,
                            std::uint64_t first) override;
    bool drops_frame(std::size_t frame) const override
    {
        return d_drop && !is_valid(frame);
    }
    std::size_t output_of_item(std::size_t item) const override { return item; }

    void decode(const std::uint8_t* in,
                std::size_t first,
                std::size_t count,
                std::uint8_t* out);
    bool is_valid(std::size_t frame) const;
    void add_tags(std::size_t frame, std::uint64_t first);

    const reed_solomon_decoder_kernel d_kernel;
    const bool d_erasures, d_drop;
    const status_tags d_status_tags;
    const pmt::pmt_t d_corrected_key, d_valid_key, d_length_key;
    // The available symbols, each followed by its erasure flag; used if the input has
    // erasures
    std::vector<std::uint8_t> d_pairs;
    // Counts of the frames of the last call of make_frames(), one per codeword
    std::vector<int> d_counts;
    std::atomic<std::uint64_t> d_frames{ 0 }, d_corrected{ 0 }, d_failed{ 0 };
    thread_team d_team;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_REED_SOLOMON_RS_DECODER_IMPL_H */
