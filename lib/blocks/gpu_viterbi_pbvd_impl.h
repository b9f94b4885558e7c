// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The Viterbi decoder as a block: GNU Radio's side of viterbi_decoder. */

#ifndef INCLUDED_GPUFEC_BLOCKS_GPU_VITERBI_PBVD_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_GPU_VITERBI_PBVD_IMPL_H

#include "decoder_port.h"
#include "tag_queue.h"
#include <gnuradio/gpufec/gpu_viterbi_pbvd.h>
#include <gnuradio/gpufec/viterbi.h>
#include <mutex>
#include <string>

namespace gr::gpufec {

class gpu_viterbi_pbvd_impl : public gpu_viterbi_pbvd
{
public:
    gpu_viterbi_pbvd_impl(const viterbi_options& options,
                          bool packed_output,
                          const std::string& length_tag_key);
    ~gpu_viterbi_pbvd_impl() override { return_input(); }

    bool check_topology(int ninputs, int noutputs) override;
    bool start() override;
    bool stop() override;
    void forecast(int noutput_items, gr_vector_int& ninput_items_required) override;
    int general_work(int noutput_items,
                     gr_vector_int& ninput_items,
                     gr_vector_const_void_star& input_items,
                     gr_vector_void_star& output_items) override;

    std::string active_backend() const override;
    int batch() const override { return d_decoder.batch(); }
    int decode_length() const override { return d_decoder.decode_length(); }
    int overlap() const override { return d_decoder.overlap(); }

    void set_soft_scale(float soft_scale) override;
    float soft_scale() const override;
    void set_max_latency_ms(double max_latency_ms) override;
    double max_latency_ms() const override;

private:
    void set_exact_rate();
    std::size_t wanted_input_buffer() const;
    void borrow_input();
    void return_input();
    void apply_settings();

    int decode(std::size_t room, const std::byte* in, std::uint8_t* out);
    void publish_backend();
    std::size_t pull(std::uint8_t* out, std::size_t items);
    bool end_of_input(bool everything_taken);

    std::uint64_t output_of_bit(std::uint64_t bit) const;
    std::uint64_t output_offset(std::uint64_t item);
    void hold_tags(std::size_t lent, std::size_t taken);
    void hold_length_tag(tag_t tag, std::uint64_t input_item);
    void add_statistics(const viterbi_decoder::batch_statistics& statistics);
    void warn_of_length_tag(const pmt::pmt_t& value);

    const viterbi_options d_options;
    const bool d_packed;
    const pmt::pmt_t d_length_tag_key; // null: none
    const pmt::pmt_t d_ber_key, d_metric_key;
    const pmt::pmt_t d_source; // of the tags that this block adds
    const std::size_t d_item_size;

    // Items of this stream so far; the flowgraph's own counts restart with unlock().
    std::uint64_t d_taken = 0; // what is lent included
    std::uint64_t d_given = 0;
    std::weak_ptr<gr::block_detail> d_detail; // that the stream came through
    tag_queue d_tags;
    bool d_warned_of_length = false;
    bool d_finished = false; // the decoder knows that the input has ended
    std::string d_failure;   // of the device, seen by forecast()

    // Shared with the threads that call setters. Only the block's own thread calls the
    // decoder, so that no setter waits while it works or sleeps.
    mutable std::mutex d_settings_mutex;
    float d_soft_scale;
    double d_max_latency_ms;
    std::string d_active_backend;
    bool d_settings_changed = false;

    gr::buffer_sptr d_borrowed; // ring that the decoder reads its input from in place
    wake_port d_wake_port;
    viterbi_decoder d_decoder; // last: its threads call this block
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_GPU_VITERBI_PBVD_IMPL_H */
