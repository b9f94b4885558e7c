// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements the factory of dvbs2_fec_receiver, and connects the two blocks of the
 * receiver. */

#include "bbframe_to_ts_impl.h"
#include "blocks/common/parameters.h"
#include "common/refuse.h"
#include "demap/constellation.h"
#include "dvbs2_fec_receiver_impl.h"
#include <gnuradio/io_signature.h>

namespace gr::gpufec {

namespace {

// Checks soft_input, standard and frame_size, because gpu_ldpc_dvbs2 accepts more values
// of these parameters than the receiver supports.
// \throws std::invalid_argument
void check(const dvbs2_fec_receiver_options& given)
{
    choose<int>("soft_input",
                given.soft_input,
                { { "symbols", 0 }, { "symbols16", 1 }, { "symbols8", 2 } });
    choose<int>("standard", given.standard, { { "dvbs2", 0 }, { "dvbs2x", 1 } });
    name_list sizes{ "normal", "short" };
    if (folded(given.standard) == "dvbs2x") {
        for (const auto& m : demap::vlsnr_modcods()) {
            if (sizes.back() != m.frame_size) {
                sizes.push_back(m.frame_size);
            }
        }
    }
    known_name("frame_size", given.frame_size, sizes);
}

gpu_ldpc_dvbs2_options decoder_options(const dvbs2_fec_receiver_options& given)
{
    gpu_ldpc_dvbs2_options options;
    options.standard = given.standard;
    options.frame_size = given.frame_size;
    options.rate = given.rate;
    options.soft_input = ldpc_input_from_string(given.soft_input);
    options.max_iterations = given.max_iterations;
    options.output = ldpc_output::bbframe;
    pass_run_options(options, given);
    options.acm = given.acm;
    options.status_tags = status_tags::failures;
    options.constellation = given.constellation;
    options.esn0 = given.esn0;
    options.esn0_db = given.esn0_db;
    options.demapper = given.demapper;
    options.length_tag = given.length_tag;
    return options;
}

} // namespace

dvbs2_fec_receiver::sptr dvbs2_fec_receiver::make(const dvbs2_fec_receiver_options& given)
{
    check(given);
    const auto modcod = demap::split_modcod(given.rate);
    const auto decoder = gpu_ldpc_dvbs2::make(decoder_options(given));
    bbframe_to_ts_options packets;
    packets.standard = given.standard;
    packets.frame_size = given.frame_size;
    packets.rate = modcod ? modcod->second : given.rate;
    packets.isi = given.isi;
    packets.length_tag = given.acm ? "bbframe_length" : "";
    return gnuradio::make_block_sptr<dvbs2_fec_receiver_impl>(
        decoder, bbframe_to_ts_impl::make(packets, given.length_tag));
}

dvbs2_fec_receiver_impl::dvbs2_fec_receiver_impl(gpu_ldpc_dvbs2::sptr decoder,
                                                 bbframe_to_ts::sptr packets)
    : gr::hier_block2(
          "dvbs2_fec_receiver",
          gr::io_signature::make(1, 1, decoder->input_signature()->sizeof_stream_item(0)),
          gr::io_signature::make(1, 1, sizeof(std::uint8_t))),
      d_decoder(std::move(decoder)),
      d_packets(std::move(packets))
{
    connect(self(), 0, d_decoder, 0);
    connect(d_decoder, 0, d_packets, 0);
    connect(d_packets, 0, self(), 0);
    for (const auto* const port : { "status", "generic" }) {
        message_port_register_hier_out(pmt::mp(port));
        msg_connect(d_packets, port, self(), port);
    }
    msg_connect(d_decoder, "status", self(), "status");
}

} // namespace gr::gpufec
