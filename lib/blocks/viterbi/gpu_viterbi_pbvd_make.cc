// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The factory and the constructor of gpu_viterbi_pbvd, which check the block's options
 * and make its decoder. */

#include "common/ranges.h"
#include "conv_parameters.h"
#include "gpu_viterbi_pbvd_impl.h"
#include "lock_parameters.h"

namespace gr::gpufec {

namespace {

viterbi_options decoder_options(const gpu_viterbi_pbvd_options& given)
{
    const auto [code, ends] = conv_code_of(given.constraint_length,
                                           given.polynomials,
                                           given.puncturing,
                                           given.termination,
                                           given.preset);
    viterbi_options options{ code };
    options.termination = ends;
    options.frame_bits = not_negative("frame_bits", given.frame_bits);
    options.format = given.soft_input;
    options.soft_scale = given.soft_scale;
    options.decode_length = not_negative("decode_length", given.decode_length);
    options.overlap = not_negative("overlap", given.overlap);
    options.cuda_kernel = given.cuda_kernel;
    options.positive_bit = not_negative("positive_bit", given.positive_bit, "0 and 1");
    options.bits_in_place = !given.packed_output;
    set_run_options(options, given);
    set_lock_options(options,
                     { given.lock,
                       given.lock_constellation,
                       given.lock_presets,
                       given.lock_memory,
                       given.lock_first_item,
                       given.preset });
    return options;
}

} // namespace

gpu_viterbi_pbvd::sptr gpu_viterbi_pbvd::make(const gpu_viterbi_pbvd_options& given)
{
    const auto options = decoder_options(given);
    require_from_0("status_period_s", given.status_period_s);
    return gnuradio::make_block_sptr<gpu_viterbi_pbvd_impl>(options,
                                                            given.packed_output,
                                                            given.length_tag_key,
                                                            given.status_period_s,
                                                            given.io);
}

gpu_viterbi_pbvd_impl::gpu_viterbi_pbvd_impl(const viterbi_options& options,
                                             bool packed_output,
                                             const std::string& length_tag_key,
                                             double status_period_s,
                                             port_memory io)
    : gr::block("gpu_viterbi_pbvd",
                input_port(io, item_bytes(options.format)),
                output_port(io, sizeof(std::uint8_t))),
      decoder_block(
          item_bytes(options.format), sizeof(std::uint8_t), io, options.devices[0]),
      d_options(options),
      d_packed(packed_output),
      d_ber_key(pmt::mp("viterbi_ber")),
      d_metric_key(pmt::mp("viterbi_metric")),
      d_lock_key(pmt::mp("viterbi_lock")),
      d_lengths(length_tag_key,
                [this](const std::string& text) { d_logger->warn("{}", text); }),
      d_locks(options.lock == "auto"),
      d_status_period_s(status_period_s),
      d_frame_output(options.termination == termination::streaming ? 0
                     : packed_output ? (options.frame_bits + 7) / 8
                                     : options.frame_bits),
      d_soft_scale(options.soft_scale),
      d_decoder(viterbi_decoder::make(options, hooks()))
{
    publish_choices();
    if (const auto unused = given_lock_options(options); !d_locks && !unused.empty()) {
        d_logger->warn("parameters without effect, because lock is \"off\": {}", unused);
    }
    if (status_period_s > 0) {
        d_status_timer.emplace([this] { change("status", [this] { tell_state(); }); });
    }
    const bool packed_input = options.format == soft_format::packed4;
    if (options.termination == termination::streaming) {
        // The phase search may choose any of several codes. GNU Radio needs one rate, so
        // the lowest code rate is used.
        auto code = options.code;
        for (const auto& name : options.lock_presets) {
            if (d_locks && conv_code::preset(name).rate() < code.rate()) {
                code = conv_code::preset(name);
            }
        }
        set_exact_rate(code.period() * (packed_input ? 2 : 1),
                       std::uint64_t(code.values_per_period()) * (d_packed ? 8 : 1));
    } else {
        set_exact_rate(d_frame_output, d_decoder->items_per_frame());
    }
}

} // namespace gr::gpufec
