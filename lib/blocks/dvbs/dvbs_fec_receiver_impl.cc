// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements the factory of dvbs_fec_receiver, and connects the three blocks of the
 * receiver. */

#include "blocks/common/parameters.h"
#include "common/refuse.h"
#include "dvbs_fec_receiver_impl.h"
#include <gnuradio/io_signature.h>
#include <vector>

namespace gr::gpufec {

namespace {

gpu_viterbi_pbvd_options decoder_options(const dvbs_fec_receiver_options& given)
{
    const std::vector<std::string> presets{
        "dvb_1_2", "dvb_2_3", "dvb_3_4", "dvb_5_6", "dvb_7_8"
    };
    const auto rate = choose<int>("rate",
                                  given.rate,
                                  { { "auto", -1 },
                                    { "1/2", 0 },
                                    { "2/3", 1 },
                                    { "3/4", 2 },
                                    { "5/6", 3 },
                                    { "7/8", 4 } });
    gpu_viterbi_pbvd_options options;
    options.preset = presets[rate < 0 ? 0 : rate];
    if (rate < 0) {
        options.lock_presets.assign(presets.begin() + 1, presets.end());
    }
    options.lock = "auto";
    options.lock_constellation = "qpsk";
    options.positive_bit = 0; // EN 300 421, figure 4
    options.length_tag_key = "";
    pass_run_options(options, given);
    return options;
}

} // namespace

dvbs_fec_receiver::sptr dvbs_fec_receiver::make(const dvbs_fec_receiver_options& given)
{
    using demap::symbol_format;
    const auto format = choose<symbol_format>("soft_input",
                                              given.soft_input,
                                              { { "symbols", symbol_format::float32 },
                                                { "symbols16", symbol_format::int16 },
                                                { "symbols8", symbol_format::int8 } });
    dvbs_deframer_options frames;
    frames.length_tag = "";
    return gnuradio::make_block_sptr<dvbs_fec_receiver_impl>(
        qpsk_soft_values::make(format, given.length_tag),
        gpu_viterbi_pbvd::make(decoder_options(given)),
        dvbs_deframer::make(frames));
}

dvbs_fec_receiver_impl::dvbs_fec_receiver_impl(qpsk_soft_values::sptr soft_values,
                                               gpu_viterbi_pbvd::sptr decoder,
                                               dvbs_deframer::sptr deframer)
    : gr::hier_block2("dvbs_fec_receiver",
                      gr::io_signature::make(
                          1, 1, soft_values->input_signature()->sizeof_stream_item(0)),
                      gr::io_signature::make(1, 1, sizeof(std::uint8_t))),
      d_soft_values(std::move(soft_values)),
      d_decoder(std::move(decoder)),
      d_deframer(std::move(deframer))
{
    connect(self(), 0, d_soft_values, 0);
    connect(d_soft_values, 0, d_decoder, 0);
    connect(d_decoder, 0, d_deframer, 0);
    connect(d_deframer, 0, self(), 0);
    message_port_register_hier_out(pmt::mp("status"));
    msg_connect(d_decoder, "status", self(), "status");
    msg_connect(d_deframer, "status", self(), "status");
}

} // namespace gr::gpufec
