// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block gpu_viterbi_pbvd, based on viterbi_decoder. */

#ifndef INCLUDED_GPUFEC_BLOCKS_VITERBI_GPU_VITERBI_PBVD_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_VITERBI_GPU_VITERBI_PBVD_IMPL_H

#include "blocks/common/decoder_block.h"
#include "blocks/common/length_tags.h"
#include "pipeline/deadline_timer.h"
#include <gnuradio/gpufec/gpu_viterbi_pbvd.h>
#include <gnuradio/gpufec/viterbi.h>
#include <atomic>
#include <cmath>
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
                          double status_period_s,
                          port_memory io);
    ~gpu_viterbi_pbvd_impl() override { release_memory(); }

    bool start() override;
    bool stop() override;

    int decode_length() const override { return d_decoder->decode_length(); }
    int overlap() const override { return d_decoder->overlap(); }

    void set_soft_scale(float soft_scale) override;
    float soft_scale() const override { return d_soft_scale; }
    double channel_error_rate() const override { return d_channel_error_rate; }
    double metric() const override { return d_metric; }
    bool locked() const override { return latest_lock().locked; }
    pmt::pmt_t lock_state() const override;
    std::uint64_t dropped() const override { return latest_lock().dropped; }
    std::uint64_t frame_count() const override { return d_frames; }
    std::uint64_t skipped_frame_count() const override { return d_skipped; }

private:
    decoder& engine() override { return *d_decoder; }
    const run_options& run() const override { return d_options; }
    // The phase search runs on the host, so it cannot read device memory.
    bool borrows_input() const override { return !(d_ports && d_locks); }
    std::size_t pull(std::byte* out, std::size_t capacity, std::uint64_t first) override;
    bool push(input& in, input& second) override;
    void restart() override;
    void resume() override { d_lengths.resume(); }
    bool on_tag(const tag_t& tag) override
    {
        d_lengths.on_tag(tag);
        return false; // the tag is passed on like other tags
    }

    incomplete_frame incomplete() const override
    {
        return { d_have, d_have > 0 ? d_decoder->items_per_frame() : 0 };
    }

    bool push_frames(input& in);
    void move_tags(std::uint64_t end);
    void follow_lock(std::uint64_t end);
    void tell_state();
    void await_next_status();
    viterbi_lock latest_lock() const;

    const viterbi_options d_options;
    const bool d_packed;
    const pmt::pmt_t d_ber_key, d_metric_key, d_lock_key;
    length_tags d_lengths;
    std::size_t d_have = 0;      // number of pushed items of the incomplete frame
    std::uint64_t d_dropped = 0; // number of dropped items
    std::atomic<std::uint64_t> d_skipped{ 0 }, d_frames{ 0 };
    // Statistics of output that is not emitted yet.
    std::deque<viterbi_decoder::batch_statistics> d_statistics;

    // State of the phase lock. d_changes has the changes whose tags are not added yet.
    const bool d_locks;
    const double d_status_period_s;
    std::optional<deadline_timer> d_status_timer;
    std::deque<viterbi_lock> d_changes;
    mutable std::mutex d_lock_mutex;
    viterbi_lock d_lock;

    const std::size_t d_frame_output; // number of output items per frame; 0 for a stream
    std::atomic<float> d_soft_scale;
    std::atomic<double> d_channel_error_rate{ NAN }, d_metric{ NAN };

    // Declared last, so that it is destroyed first: its threads call this block.
    const viterbi_decoder::sptr d_decoder;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_VITERBI_GPU_VITERBI_PBVD_IMPL_H */
