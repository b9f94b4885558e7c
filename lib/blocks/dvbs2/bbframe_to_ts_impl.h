// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block bbframe_to_ts, based on bbframe::packets. */

#ifndef INCLUDED_GPUFEC_BLOCKS_DVBS2_BBFRAME_TO_TS_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_DVBS2_BBFRAME_TO_TS_IMPL_H

#include "bbframe/packets.h"
#include "blocks/common/frame_gatherer.h"
#include "blocks/common/tagged_block.h"
#include <gnuradio/gpufec/bbframe_to_ts.h>
#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

namespace gr::gpufec {

class bbframe_to_ts_impl : public stream_block<bbframe_to_ts>
{
public:
    //! Creates the block like bbframe_to_ts::make(). Length tags with the key \p
    //! other_length_tag, if it is not "", are converted to lengths of the output too.
    static sptr make(const bbframe_to_ts_options& given,
                     const std::string& other_length_tag);

    //! \p frame_bits is the length of each frame in bits; 0 if the tags \p length_tag
    //! have the lengths.
    bbframe_to_ts_impl(std::size_t frame_bits,
                       bool high_efficiency,
                       bool descramble,
                       int isi,
                       const std::string& length_tag,
                       const std::string& other_length_tag);

    void forecast(int noutput_items, gr_vector_int& ninput_items_required) override;
    int general_work(int noutput_items,
                     gr_vector_int& ninput_items,
                     gr_vector_const_void_star& input_items,
                     gr_vector_void_star& output_items) override;

    std::uint64_t frame_count() const override { return d_frames; }
    std::uint64_t dropped_frame_count() const override { return d_dropped; }
    std::uint64_t generic_frame_count() const override { return d_generic; }
    std::uint64_t gap_count() const override { return d_gaps; }
    std::uint64_t packet_count() const override { return d_packets; }
    std::uint64_t packet_error_count() const override { return d_errors; }

private:
    void begin_stream() override;
    std::size_t send(std::uint8_t* out, std::size_t capacity);
    void take_frame(std::uint64_t end);
    void send_generic(const bbframe::header& header,
                      const std::uint8_t* bytes,
                      std::size_t count);
    void count();
    void judge(const std::uint8_t* received, std::size_t bytes);
    void judge_none();
    void tell(const char* event);

    const std::size_t d_frame_bits;
    const bool d_high_efficiency, d_descramble;
    const pmt::pmt_t d_generic_port, d_status_port, d_begin_key, d_error_key, d_source;
    // Key of further length tags to convert (other_length_tag); null if there are none.
    const pmt::pmt_t d_other_key;

    bbframe::packets d_extractor;
    frame_gatherer d_gatherer;
    std::vector<std::uint8_t> d_scrambling, d_frame;
    std::vector<std::uint8_t> d_made; // packets that are being emitted
    std::size_t d_sent = 0;
    std::vector<bbframe::packets::remark> d_remarks;

    std::uint64_t d_made_before = 0; // number of bytes in the packets before d_made

    // Number of frames whose header is valid with the opposite value of descramble,
    // counted until a frame has a valid header.
    std::uint64_t d_otherwise = 0;
    bool d_judged = false; // whether a header was valid or a warning was logged
    const bbframe::crc8 d_crc;

    // State and time of the last published status message.
    bool d_synchronised = false, d_ended = false;
    std::chrono::steady_clock::time_point d_logged{};

    std::atomic<std::uint64_t> d_frames{ 0 }, d_dropped{ 0 }, d_generic{ 0 }, d_gaps{ 0 },
        d_packets{ 0 }, d_errors{ 0 };
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_DVBS2_BBFRAME_TO_TS_IMPL_H */
