// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block ccsds_deframer, based on ccsds_frame_finder. */

#ifndef INCLUDED_GPUFEC_BLOCKS_CCSDS_CCSDS_DEFRAMER_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_CCSDS_CCSDS_DEFRAMER_IMPL_H

#include "blocks/common/tagged_block.h"
#include "frame_emitter.h"
#include "frame_state.h"
#include <gnuradio/gpufec/ccsds.h>
#include <gnuradio/gpufec/ccsds_deframer.h>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

namespace gr::gpufec {

class ccsds_deframer_impl : public stream_block<ccsds_deframer>
{
public:
    //! Formats of the input.
    enum class input_format { packed, int8, uint8, float32 };

    ccsds_deframer_impl(const ccsds_framing& framing,
                        input_format format,
                        float soft_scale,
                        status_tags tags,
                        const std::string& length_tag,
                        unsigned threads);

    bool check_topology(int, int) override;
    void forecast(int noutput_items, gr_vector_int& ninput_items_required) override;
    int general_work(int noutput_items,
                     gr_vector_int& ninput_items,
                     gr_vector_const_void_star& input_items,
                     gr_vector_void_star& output_items) override;

    bool locked() const override { return d_locked; }
    std::uint64_t frame_count() const override { return counts().frames; }
    std::uint64_t failed_frame_count() const override { return counts().failed; }
    std::uint64_t corrected_symbol_count() const override { return counts().corrected; }
    std::uint64_t missed_marker_count() const override { return counts().missed; }
    std::uint64_t lock_count() const override { return counts().locks; }
    std::uint64_t loss_count() const override { return counts().losses; }
    std::uint64_t slip_count() const override { return counts().slips; }
    std::uint64_t unconfirmed_marker_count() const override
    {
        return counts().unconfirmed;
    }
    std::uint64_t cut_frame_count() const override { return counts().cut; }
    std::string verdict() const override;

private:
    ccsds_counts counts() const;
    void begin_stream() override;
    void push(const void* in, std::size_t count);
    void emit(const ccsds_frame& frame, const std::uint8_t* items);
    void on_passed(const held_tag& tag);
    void publish_state();
    void tell(const char* event, const std::string& text = "");

    const input_format d_format;
    const std::size_t d_item_size;
    const float d_soft_scale;
    const unsigned d_bits_per_input; // bits or soft values per input item
    const pmt::pmt_t d_status_port, d_ber_key, d_lock_key, d_error_rate_key;

    const bool d_in_parallel; // whether several threads decode packed bits
    const bool d_telecommand; // whether the block receives CLTUs instead of telemetry
    ccsds_frame_finder d_finder;
    frame_emitter d_emitter;
    frame_state d_state;
    std::vector<std::int8_t> d_soft;

    bool d_finished = false;

    // State and time of the last published status message.
    bool d_told_locked = false, d_told_verdict = false;
    std::chrono::steady_clock::time_point d_told{};

    std::atomic<bool> d_locked{ false };
    mutable std::mutex d_mutex; // guards the next two members
    ccsds_counts d_counts;
    std::string d_verdict;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_CCSDS_CCSDS_DEFRAMER_IMPL_H */
