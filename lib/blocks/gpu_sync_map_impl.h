// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The synchronisation decoder as a block: GNU Radio's side of sync_decoder. */

#ifndef INCLUDED_GPUFEC_BLOCKS_GPU_SYNC_MAP_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_GPU_SYNC_MAP_IMPL_H

#include "decoder_port.h"
#include "frame_gatherer.h"
#include "sync_parameters.h"
#include "tag_queue.h"
#include <gnuradio/gpufec/gpu_sync_map.h>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace gr::gpufec {

class gpu_sync_map_impl : public gpu_sync_map
{
public:
    gpu_sync_map_impl(const sync_options& options, const std::string& length_tag);

    bool check_topology(int ninputs, int noutputs) override;
    bool start() override;
    void forecast(int noutput_items, gr_vector_int& ninput_items_required) override;
    int general_work(int noutput_items,
                     gr_vector_int& ninput_items,
                     gr_vector_const_void_star& input_items,
                     gr_vector_void_star& output_items) override;

    std::string active_backend() const override;
    int batch() const override;
    void set_p_insert(double p) override { d_channel.set_p_insert(p); }
    void set_p_delete(double p) override { d_channel.set_p_delete(p); }
    void set_p_substitute(double p) override { d_channel.set_p_substitute(p); }
    void set_max_latency_ms(double max_latency_ms) override;

private:
    //! Items at hand on an input, of which some are already taken.
    struct input {
        const std::byte* items = nullptr;
        std::size_t available = 0, taken = 0;
        bool ended = true;

        std::size_t left() const { return available - taken; }
    };

    void make_decoder();
    void apply_settings();
    void publish_choices();
    void restart();
    input look_at(unsigned port, const void* items) const;
    int required_items() const;
    int required_priors() const;

    int decode(std::size_t room,
               const gr_vector_const_void_star& input_items,
               std::byte* out);
    std::size_t pull(std::byte* out, std::size_t room);
    bool push_stream(input& in);
    bool push_frames(input& in, input& priors);

    // Framed mode.
    std::size_t gather(const input& in);
    bool gather_priors(input& priors);
    bool priors_known() const;
    bool push_frame();

    // Tags; those of d_window are of the input from item d_taken on, by stream item.
    void read_tags(std::size_t available);
    void hold_report(const sync_decoder::frame& f, std::uint64_t first_item);
    void hold_input_tags(const sync_decoder::frame& f, std::uint64_t first_item);

    sync_options d_options;
    const bool d_stream;
    const std::size_t d_item_size;
    const std::size_t d_symbol_items; // output items of a symbol
    const std::size_t d_output_size;  // of an output item
    const std::size_t d_prior_count;  // of a frame
    const pmt::pmt_t d_length_key;    // null: none
    const pmt::pmt_t d_drift_key, d_logp_key, d_valid_key, d_lock_key;
    const pmt::pmt_t d_source; // of the tags that this block adds

    // Items of this stream so far; the flowgraph's own counts restart with unlock().
    std::uint64_t d_taken = 0;
    std::uint64_t d_given = 0;
    std::weak_ptr<gr::block_detail> d_detail; // that the stream came through
    bool d_finished = false; // the decoder knows that the input has ended
    std::string d_failure;   // seen by forecast()

    frame_gatherer d_frame; // no more of it is kept than can be decoded
    std::size_t d_most_items = 0;
    std::vector<float> d_priors; // of that frame, so far
    bool d_priors_ended = true, d_warned_of_priors = false;
    std::uint64_t d_pushed = 0; // frames

    std::vector<std::byte> d_rest; // of a frame that is being given
    std::size_t d_rest_given = 0;  // bytes

    std::vector<tag_t> d_window;
    // Of the input, not yet given: by received item, or in frames by symbol.
    std::deque<tag_t> d_input_tags;
    tag_queue d_tags;

    // Shared with the threads that call setters. Only the block's own thread calls the
    // decoder, so that no setter waits while it works or sleeps.
    channel_setting d_channel;
    mutable std::mutex d_settings_mutex;
    std::optional<double> d_new_max_latency_ms;
    std::string d_active_backend;
    int d_batch = 0;

    wake_port d_wake_port;
    std::unique_ptr<sync_decoder> d_decoder; // last: its threads call this block
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_GPU_SYNC_MAP_IMPL_H */
