// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block gpu_sync_map, based on sync_decoder. */

#ifndef INCLUDED_GPUFEC_BLOCKS_SYNC_MAP_GPU_SYNC_MAP_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_SYNC_MAP_GPU_SYNC_MAP_IMPL_H

#include "blocks/common/decoder_block.h"
#include "blocks/common/frame_gatherer.h"
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
    gpu_sync_map_impl(const sync_options& options,
                      const std::string& length_tag,
                      bool bounds,
                      status_tags tags,
                      port_memory io);
    ~gpu_sync_map_impl() override { release_memory(); }

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
    double p_insert() const override { return d_channel.get().p_insert(); }
    double p_delete() const override { return d_channel.get().p_delete(); }
    double p_substitute() const override { return d_channel.get().p_substitute(); }
    std::uint64_t links_failed() const override { return d_links_failed; }
    std::uint64_t frames_again() const override { return d_frames_again; }
    std::uint64_t frame_count() const override { return d_frames; }
    std::uint64_t error_count() const override { return d_failed; }
    std::uint64_t skipped_frame_count() const override { return d_skipped; }

private:
    decoder& engine() override { return *d_decoder; }
    const run_options& run() const override { return d_options; }
    // The host cannot keep the rest of a frame in device memory for the next call, so a
    // device writes there in place only if each call has space for a frame.
    bool borrows_output() const override
    {
        return !d_ports || !d_ports->gives_output() ||
               std::size_t(output_multiple()) >= d_frame_output;
    }
    std::size_t spare_batches() const override { return 2; }
    std::size_t held_output() const override { return d_rest.size() - d_rest_emitted; }
    void restart() override;
    std::string judgement() const override { return d_judgement; }
    void ending() override;
    void judge_frames();
    std::size_t pull(std::byte* out, std::size_t capacity, std::uint64_t first) override;
    bool push(input& in, input& second) override;
    // Removes length tags, because their values are lengths of the input. In stream mode
    // the values have no effect.
    bool on_tag(const tag_t& tag) override;
    bool held_up() override;
    bool borrows_input() const override { return !d_options.priors; }
    bool all_pushed() override { return !d_frame.open(); }
    bool all_emitted() override { return d_rest.empty(); }
    void require_items(gr_vector_int& required) override;

    void make_decoder();
    void set_channel(void (channel_setting::*set)(double), double p);
    void take_channel();

    // Returns whether the decoder divides the input into frames.
    bool decoder_divides() const
    {
        return d_stream || (d_options.frame_items > 0 && !d_options.priors);
    }
    bool push_items(input& in);
    std::uint64_t symbol_at(std::uint64_t frame, std::uint64_t item) const;
    bool push_frames(input& in, input& priors);
    std::size_t give_rest(std::byte* out, std::size_t capacity);

    // Members for framed mode, unless the decoder divides the input.
    bool push_whole_frames(input& in);
    bool push_part(input& in);
    void move_tags(std::uint64_t first, std::size_t count, std::uint64_t before);
    bool gather_priors(input& priors);
    bool priors_known() const;
    const float* frame_priors();
    bool push_frame();

    void report(const sync_decoder::frame& f, std::uint64_t first_item);
    pmt::pmt_t drift_value(int drift);
    void hold_input_tags(const sync_decoder::frame& f, std::uint64_t first_item);

    sync_options d_options;
    const bool d_stream;
    const bool d_bounds;
    const std::size_t d_symbol_items; // number of output items per symbol
    const std::size_t d_frame_output; // number of output items per frame
    const std::size_t d_prior_count;  // number of priors per frame
    const status_tags d_status_tags;
    const pmt::pmt_t d_length_key; // key of the length tags; null if there is none
    const pmt::pmt_t d_drift_key, d_logp_key, d_valid_key, d_lock_key, d_bound_key;
    // Tag values are stored, because many frames have the same values.
    const pmt::pmt_t d_length_value;
    // Values of sync_drift tags for drifts from -64 to 63, each made on first use.
    std::array<pmt::pmt_t, 128> d_drift_values;

    frame_gatherer d_frame;      // frames of the input, unless the decoder divides it
    std::vector<float> d_priors; // priors of the current frame received so far
    bool d_priors_ended = true, d_warned_of_priors = false;
    std::uint64_t d_pushed = 0; // number of pushed frames
    // In stream mode, index of the first item after the frame pulled last.
    std::int64_t d_frame_end = 0;

    std::vector<std::byte> d_rest;  // output of a frame that is emitted in parts
    std::size_t d_rest_emitted = 0; // number of bytes of d_rest already emitted

    // Input tags of frames that are not pulled yet. The offsets of these tags count input
    // items in stream mode, and symbols in framed mode.
    tag_queue d_moving;

    // Copies of the decoder's counts, for getters that any thread may call.
    std::atomic<std::uint64_t> d_links_failed{ 0 }, d_frames_again{ 0 };
    std::atomic<std::uint64_t> d_frames{ 0 }, d_failed{ 0 }, d_skipped{ 0 };
    std::string d_judgement;

    channel_setting d_channel;
    // Declared last and so destroyed first, because its threads call this block.
    sync_decoder::sptr d_decoder;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_SYNC_MAP_GPU_SYNC_MAP_IMPL_H */
