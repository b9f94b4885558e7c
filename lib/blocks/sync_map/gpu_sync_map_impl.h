// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The synchronisation decoder as a block: GNU Radio's side of sync_decoder. */

#ifndef INCLUDED_GPUFEC_BLOCKS_GPU_SYNC_MAP_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_GPU_SYNC_MAP_IMPL_H

#include "decoder_block.h"
#include "frame_gatherer.h"
#include "sync_parameters.h"
#include <gnuradio/gpufec/gpu_sync_map.h>
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace gr::gpufec {

class gpu_sync_map_impl : public decoder_block<gpu_sync_map>
{
public:
    //! \p frame_items of every frame; 0: length tags say
    gpu_sync_map_impl(const sync_options& options,
                      const std::string& length_tag,
                      bool bounds,
                      status_tags tags,
                      std::size_t frame_items);
    ~gpu_sync_map_impl() override { return_rings(); }

    bool check_topology(int ninputs, int noutputs) override;

    void set_p_insert(double p) override
    {
        set_channel(&channel_setting::set_p_insert, p);
    }
    void set_p_delete(double p) override
    {
        set_channel(&channel_setting::set_p_delete, p);
    }
    void set_p_substitute(double p) override
    {
        set_channel(&channel_setting::set_p_substitute, p);
    }
    void set_max_latency_ms(double max_latency_ms) override;
    std::uint64_t links_failed() const override { return d_links_failed; }
    std::uint64_t frames_again() const override { return d_frames_again; }

private:
    decoder& engine() override { return *d_decoder; }
    const run_options& run() const override { return d_options; }
    std::size_t spare_batches() const override { return 2; }
    std::size_t held_output() const override { return d_rest.size() - d_rest_given; }
    void restart() override;
    std::size_t pull(std::byte* out, std::size_t room, std::uint64_t first) override;
    bool push(input& in, input& second) override;
    // A length is about this block's input, and goes no further. Streams have none.
    bool note(const tag_t& tag) override
    {
        return d_stream ? d_frame.is_length(tag) : d_frame.note(tag);
    }
    bool held_up() override;
    bool lends() const override { return !d_options.priors; }
    bool all_pushed() override { return !d_frame.open(); }
    bool all_given() override { return d_rest.empty(); }
    void require_items(gr_vector_int& required) override;

    void make_decoder();
    void set_channel(void (channel_setting::*set)(double), double p);
    void take_channel();

    bool push_stream(input& in);
    bool push_frames(input& in, input& priors);
    std::size_t give_rest(std::byte* out, std::size_t room);

    // Framed mode.
    bool push_whole_frames(input& in);
    bool push_part(input& in);
    void move_tags(std::uint64_t first, std::size_t count, std::uint64_t before);
    bool gather_priors(input& priors);
    bool priors_known() const;
    bool push_frame();

    void report(const sync_decoder::frame& f, std::uint64_t first_item);
    pmt::pmt_t drift_value(int drift);
    void hold_input_tags(const sync_decoder::frame& f, std::uint64_t first_item);

    sync_options d_options;
    const bool d_stream;
    const bool d_bounds;
    const std::size_t d_symbol_items; // output items of a symbol
    const std::size_t d_prior_count;  // of a frame
    const status_tags d_status_tags;
    const pmt::pmt_t d_length_key; // null: none
    const pmt::pmt_t d_drift_key, d_logp_key, d_valid_key, d_lock_key, d_bound_key;
    // Values of tags that come again and again.
    const pmt::pmt_t d_length_value;
    std::array<pmt::pmt_t, 128> d_drift_values; // from -64 on, as far as there were any

    frame_gatherer d_frame;      // whose items the decoder has
    std::vector<float> d_priors; // of that frame, so far
    bool d_priors_ended = true, d_warned_of_priors = false;
    std::uint64_t d_pushed = 0; // frames

    std::vector<std::byte> d_rest; // a frame of which a part was given
    std::size_t d_rest_given = 0;  // bytes

    // Of the input, not yet given: by received item, or in frames by symbol.
    tag_queue d_moving;

    // Copies that any thread may read.
    std::atomic<std::uint64_t> d_links_failed{ 0 }, d_frames_again{ 0 };

    channel_setting d_channel;
    std::unique_ptr<sync_decoder> d_decoder; // last: its threads call this block
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_GPU_SYNC_MAP_IMPL_H */
