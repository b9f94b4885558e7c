// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block gpu_ldpc_dvbs2, based on ldpc_decoder. */

#ifndef INCLUDED_GPUFEC_BLOCKS_LDPC_GPU_LDPC_DVBS2_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_LDPC_GPU_LDPC_DVBS2_IMPL_H

#include "bbframe/bbframe_output.h"
#include "blocks/common/decoder_block.h"
#include "blocks/common/length_tags.h"
#include "ldpc_parameters.h"
#include "symbol_input.h"
#include <gnuradio/gpufec/gpu_ldpc_dvbs2.h>
#include <gnuradio/gpufec/ldpc.h>
#include <gnuradio/gpufec/wifi.h>
#include <atomic>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gr::gpufec {

class gpu_ldpc_dvbs2_impl : public decoder_block<gpu_ldpc_dvbs2>
{
public:
    //! The decoder's options, and the parameters that the block needs for its input and
    //! output.
    struct parts {
        ldpc_options options;           //!< element 0 is the code of the first frame
        std::vector<std::string> names; //!< names of all codes, in the order of options
        std::optional<bbframe_output> bbframes; //!< set if the output is BBFRAMEs
        std::optional<symbol_input> symbols;    //!< set if the input is symbols
        std::optional<wifi_ppdu> ppdu;          //!< set if frames are PPDUs
    };

    gpu_ldpc_dvbs2_impl(const gpu_ldpc_dvbs2_options& given, parts p);
    ~gpu_ldpc_dvbs2_impl() override { release_memory(); }

    void set_code(const std::string& name) override;
    void set_llr_scale(float llr_scale) override;
    float llr_scale() const override { return d_llr_scale; }
    void set_esn0_db(double esn0_db) override;
    double esn0_db() const override { return d_esn0_db; }
    int iterations() const override { return d_iterations; }
    double mean_iterations() const override { return d_mean_iterations; }
    std::uint64_t skipped_frame_count() const override { return d_skipped; }
    std::uint64_t frame_count() const override { return d_frames; }
    std::uint64_t error_count() const override { return d_failed; }

    void warn(const std::string& text) const { d_logger->warn("{}", text); }

private:
    decoder& engine() override { return *d_decoder; }
    const run_options& run() const override { return d_options; }
    bool borrows_output() const override { return !d_bbframes; }
    void restart() override;
    void resume() override { d_lengths.resume(); }
    std::size_t pull(std::byte* out, std::size_t capacity, std::uint64_t first) override;
    bool all_emitted() override { return !d_bbframes || d_bbframes->all_emitted(); }
    void require_items(gr_vector_int& required) override;
    bool push(input& in, input& second) override;
    bool on_tag(const tag_t& tag) override;

    std::size_t pull_frame(std::uint8_t* out,
                           std::size_t capacity,
                           std::optional<ldpc_decoder::frame_status>& begun);
    void add_status(std::uint64_t item, const ldpc_decoder::frame_status& status);
    void send_llrs(const ldpc_decoder::frame_status& status);

    bool push_frames(input& in, std::size_t count);
    bool skip(input& in, std::size_t count);
    void drop_incomplete(std::uint64_t item);
    void tag_skipped();
    void apply_tags_at(std::uint64_t item);
    void apply(const held_tag& tag);
    void forget_applied();
    std::uint64_t output_in_frame(unsigned code, std::uint64_t in_frame) const;
    std::size_t output_items(unsigned code) const;
    std::size_t have() const;
    incomplete_frame incomplete() const override
    {
        return { have(), d_decoder->frame_items() };
    }
    bool select(const frame_kind& kind);
    void use_esn0_db(double esn0_db);

    const ldpc_options d_options;
    const std::map<std::string, unsigned> d_index; // index of each code by its name
    const bool d_soft, d_packed, d_acm;
    const status_tags d_status_tags;
    const pmt::pmt_t d_iterations_key, d_valid_key, d_weight_key;
    const pmt::pmt_t d_bch_errors_key, d_bch_valid_key, d_length_key, d_skipped_key;
    const pmt::pmt_t d_xfecframe_key, d_code_key;
    const pmt::pmt_t d_llr_port;

    const std::vector<std::string> d_names; // names of the codes, by index
    std::optional<bbframe_output> d_bbframes;
    // Constellation and Es/N0 of symbols; empty if the input is LLRs.
    std::optional<symbol_input> d_symbols;
    const std::optional<wifi_ppdu> d_ppdu; // empty if frames are codewords
    const pmt::pmt_t d_esn0_key; // key of Es/N0 tags; null if tags do not carry Es/N0
    unsigned d_code = 0;         // index of the code that set_code() selected last
    length_tags d_lengths;
    tag_queue d_code_tags; // code and Es/N0 tags of input that was not taken yet
    std::optional<held_tag> d_applied; // tag that selected the current code, if any
    // Number of tags at the front of d_code_tags that repeat d_applied.
    std::size_t d_repeated = 0;
    std::uint64_t d_frame_output = 0; // index of the next frame's first output item
    // Number of items still to skip in a frame of an unknown code.
    std::uint64_t d_skip = 0;
    bool d_lost = false; // whether input is dropped up to the next tag that names a code
    std::atomic<std::uint64_t> d_skipped{ 0 };
    // Number of skipped frames that ldpc_skipped tags have already reported.
    std::uint64_t d_skipped_before = 0;
    bool d_warned_of_code = false, d_warned_of_place = false;

    std::atomic<std::uint64_t> d_frames{ 0 }, d_failed{ 0 };
    std::atomic<int> d_iterations{ 0 };
    std::atomic<double> d_mean_iterations{ 0 };
    std::atomic<float> d_llr_scale;
    std::atomic<double> d_esn0_db{ NAN };

    // Declared last, so that it is destroyed first: its threads call this block.
    const ldpc_decoder::sptr d_decoder;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_LDPC_GPU_LDPC_DVBS2_IMPL_H */
