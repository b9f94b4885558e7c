// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The Viterbi decoder as a block: GNU Radio's side of viterbi_decoder. */

#ifndef INCLUDED_GPUFEC_BLOCKS_GPU_VITERBI_PBVD_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_GPU_VITERBI_PBVD_IMPL_H

#include "decoder_block.h"
#include "pipeline/deadline_timer.h"
#include <gnuradio/gpufec/gpu_viterbi_pbvd.h>
#include <gnuradio/gpufec/viterbi.h>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

namespace gr::gpufec {

class gpu_viterbi_pbvd_impl : public decoder_block<gpu_viterbi_pbvd>
{
public:
    gpu_viterbi_pbvd_impl(const viterbi_options& options,
                          bool packed_output,
                          const std::string& length_tag_key,
                          double status_period_s);
    ~gpu_viterbi_pbvd_impl() override { return_rings(); }

    bool start() override;
    bool stop() override;

    int decode_length() const override { return d_decoder.decode_length(); }
    int overlap() const override { return d_decoder.overlap(); }

    void set_soft_scale(float soft_scale) override;
    float soft_scale() const override { return d_soft_scale; }
    void set_max_latency_ms(double max_latency_ms) override;
    double max_latency_ms() const override { return d_max_latency_ms; }
    double channel_error_rate() const override { return d_channel_error_rate; }
    double metric() const override { return d_metric; }
    bool locked() const override;
    pmt::pmt_t lock_state() const override;
    std::uint64_t dropped() const override;

private:
    decoder& engine() override { return d_decoder; }
    const run_options& run() const override { return d_options; }
    std::size_t pull(std::byte* out, std::size_t room, std::uint64_t first) override;
    bool push(input& in, input& second) override;
    void restart() override;

    void move_tags(std::uint64_t end);
    void follow_lock(std::uint64_t end);
    void tell_state();
    void await_next_status();
    void hold_length_tag(held_tag tag, std::uint64_t input_item);

    const viterbi_options d_options;
    const bool d_packed;
    const pmt::pmt_t d_length_tag_key; // null: none
    const pmt::pmt_t d_ber_key, d_metric_key, d_lock_key;
    bool d_warned_of_length = false;
    std::deque<viterbi_decoder::batch_statistics> d_statistics; // of items to be given

    // What is found, and what the block's own tags say of it, until their items are
    // given.
    const bool d_locks;
    const double d_status_period_s;
    std::optional<deadline_timer> d_status_timer;
    std::deque<viterbi_lock> d_changes;
    mutable std::mutex d_lock_mutex;
    viterbi_lock d_lock;

    std::atomic<float> d_soft_scale;
    std::atomic<double> d_max_latency_ms;
    std::atomic<double> d_channel_error_rate{ 0 }, d_metric{ 0 };

    viterbi_decoder d_decoder; // last: its threads call this block
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_GPU_VITERBI_PBVD_IMPL_H */
