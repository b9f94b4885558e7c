// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The last block of ccsds_fec_receiver if the code is an LDPC code. The block drops
 * invalid frames and sends PDUs. */

#ifndef INCLUDED_GPUFEC_BLOCKS_CCSDS_LDPC_FRAMES_H
#define INCLUDED_GPUFEC_BLOCKS_CCSDS_LDPC_FRAMES_H

#include "blocks/common/tagged_block.h"
#include "frame_emitter.h"
#include <gnuradio/block.h>
#include <gnuradio/gpufec/status_tags.h>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief Converts packed messages of gpu_ldpc_dvbs2 to transfer frames.
 *
 * The tags ccsds_frame, ldpc_valid and ldpc_iterations of each frame become one tag
 * ccsds_frame, whose entry \c good is true if the frame is valid.
 */
class ldpc_frames : public stream_block<gr::block>
{
public:
    typedef std::shared_ptr<ldpc_frames> sptr;

    //! \param frame_bytes length of a frame in bytes
    //! \param drop_failed whether to drop invalid frames
    //! \param tags, length_tag see ccsds_deframer_options
    ldpc_frames(std::size_t frame_bytes,
                bool drop_failed,
                status_tags tags,
                const std::string& length_tag);

    void forecast(int noutput_items, gr_vector_int& ninput_items_required) override;
    int general_work(int noutput_items,
                     gr_vector_int& ninput_items,
                     gr_vector_const_void_star& input_items,
                     gr_vector_void_star& output_items) override;

    std::uint64_t frame_count() const { return d_frames; }
    std::uint64_t failed_frame_count() const { return d_failed; }

private:
    void begin_stream() override;
    void emit(std::uint64_t end);

    const std::size_t d_frame_bytes;
    const bool d_drop_failed;
    const pmt::pmt_t d_frame_key, d_valid_key, d_iterations_key, d_good_key;
    frame_emitter d_emitter;
    std::vector<std::uint8_t> d_frame; // the frame being received
    std::atomic<std::uint64_t> d_frames{ 0 }, d_failed{ 0 };
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_CCSDS_LDPC_FRAMES_H */
