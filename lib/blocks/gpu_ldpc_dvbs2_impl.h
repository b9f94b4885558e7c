// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The LDPC decoder as a block: GNU Radio's side of ldpc_decoder. */

#ifndef INCLUDED_GPUFEC_BLOCKS_GPU_LDPC_DVBS2_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_GPU_LDPC_DVBS2_IMPL_H

#include "decoder_port.h"
#include "ldpc_parameters.h"
#include "tag_queue.h"
#include <gnuradio/gpufec/gpu_ldpc_dvbs2.h>
#include <gnuradio/gpufec/ldpc.h>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace gr::gpufec {

class gpu_ldpc_dvbs2_impl : public gpu_ldpc_dvbs2
{
public:
    //! The codes of \p options, first the one to begin with, and their names.
    gpu_ldpc_dvbs2_impl(const ldpc_options& options,
                        const std::vector<std::string>& names,
                        bool packed_output,
                        bool acm);

    bool start() override;
    void forecast(int noutput_items, gr_vector_int& ninput_items_required) override;
    int general_work(int noutput_items,
                     gr_vector_int& ninput_items,
                     gr_vector_const_void_star& input_items,
                     gr_vector_void_star& output_items) override;

    std::string active_backend() const override;
    int batch() const override { return d_decoder.batch(); }
    void set_code(const std::string& name) override;
    void set_llr_scale(float llr_scale) override;
    void set_max_latency_ms(double max_latency_ms) override;

private:
    void apply_settings();
    void restart();

    int decode(std::size_t room, const std::byte* in, std::uint8_t* out);
    std::size_t pull(std::uint8_t* out, std::size_t room, std::uint64_t at);
    std::size_t push(const std::byte* in, std::size_t from, std::size_t available);
    std::size_t push_frame(const std::byte* in, std::size_t from, std::size_t count);
    void add_report(std::uint64_t item, const ldpc_decoder::report& report);
    void send_decisions(const ldpc_decoder::report& report);

    // Of the tags from input item d_taken on.
    void read_tags(std::size_t available);
    void obey_tags_at(std::uint64_t item);
    std::uint64_t next_code_tag(std::uint64_t from, std::uint64_t end) const;
    std::optional<frame_kind> kind_of(const tag_t& tag) const;
    void obey(const tag_t& tag);
    std::uint64_t output_in_frame(std::uint64_t in_frame) const;
    std::size_t output_items(unsigned code) const;
    void warn_once(bool& warned, const std::string& text);

    const ldpc_options d_options;
    const std::map<std::string, unsigned> d_index; // of the codes, by name
    const bool d_packed, d_acm;
    const pmt::pmt_t d_iterations_key, d_valid_key, d_weight_key;
    const pmt::pmt_t d_xfecframe_key, d_code_key;
    const pmt::pmt_t d_llr_port;
    const pmt::pmt_t d_source; // of the tags that this block adds
    const std::size_t d_item_size;

    // Items of this stream so far; the flowgraph's own counts restart with unlock().
    std::uint64_t d_taken = 0;
    std::uint64_t d_given = 0;
    std::weak_ptr<gr::block_detail> d_detail; // that the stream came through
    bool d_finished = false; // the decoder knows that the input has ended
    std::string d_failure;   // of the device, seen by forecast()

    std::vector<tag_t> d_window;      // tags of the input at hand, by stream item
    std::vector<tag_t> d_frame_tags;  // of the frame being pushed, by output item
    tag_queue d_tags;                 // of complete frames
    std::uint64_t d_frame_output = 0; // output item that the next frame begins with
    std::uint64_t d_skip = 0;         // values of a frame of unknown code still to come
    bool d_lost = false;              // until the next tag that names a code
    bool d_warned_of_code = false, d_warned_of_place = false;

    // Shared with the threads that call setters. Only the block's own thread calls the
    // decoder, so that no setter waits while it works or sleeps.
    mutable std::mutex d_settings_mutex;
    std::optional<unsigned> d_new_code;
    std::optional<float> d_new_llr_scale;
    std::optional<double> d_new_max_latency_ms;
    std::string d_active_backend;

    wake_port d_wake_port;
    ldpc_decoder d_decoder; // last: its threads call this block
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_GPU_LDPC_DVBS2_IMPL_H */
