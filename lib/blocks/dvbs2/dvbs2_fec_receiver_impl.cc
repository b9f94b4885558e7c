// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block dvbs2_fec_receiver: factory, and connections of its two blocks. */

#include "bbframe_to_ts_impl.h"
#include "common/refuse.h"
#include "demap/constellation.h"
#include "dvbs2_fec_receiver_impl.h"
#include <gnuradio/io_signature.h>

namespace gr::gpufec {

dvbs2_fec_receiver::sptr dvbs2_fec_receiver::make(const std::string& frame_size,
                                                  const std::string& rate_or_modcod,
                                                  const std::string& constellation,
                                                  const std::string& soft_input,
                                                  bool acm,
                                                  int isi,
                                                  int max_iterations,
                                                  const std::string& esn0,
                                                  double esn0_db,
                                                  const std::string& demapper,
                                                  int batch,
                                                  int slots,
                                                  double max_latency_ms,
                                                  const std::string& backend,
                                                  int device,
                                                  int threads,
                                                  const std::string& standard,
                                                  const std::string& length_tag)
{
    // gpu_ldpc_dvbs2 also accepts LLRs, other standards and other frame sizes, which this
    // block excludes.
    choose<int>("soft_input",
                soft_input,
                { { "symbols", 0 }, { "symbols16", 1 }, { "symbols8", 2 } });
    choose<int>("standard", standard, { { "dvbs2", 0 }, { "dvbs2x", 1 } });
    choose<int>("frame_size", frame_size, { { "normal", 0 }, { "short", 1 } });
    const auto modcod = demap::split_modcod(rate_or_modcod);
    const auto rate = modcod ? modcod->second : rate_or_modcod;
    const std::string none;
    const auto decoder = gpu_ldpc_dvbs2::make(standard,
                                              frame_size,
                                              rate_or_modcod,
                                              none,
                                              soft_input,
                                              2.0f,
                                              "offset_min_sum",
                                              "int8",
                                              max_iterations,
                                              true,
                                              "bbframe",
                                              true,
                                              batch,
                                              slots,
                                              max_latency_ms,
                                              backend,
                                              device,
                                              threads,
                                              "layered",
                                              -1,
                                              -1,
                                              acm,
                                              {},
                                              false,
                                              {},
                                              0,
                                              10000,
                                              {},
                                              {},
                                              "failures",
                                              false,
                                              constellation,
                                              esn0,
                                              esn0_db,
                                              demapper,
                                              "systematic",
                                              length_tag);
    const auto packets = bbframe_to_ts_impl::make(
        standard, frame_size, rate, true, isi, acm ? "bbframe_length" : none, length_tag);
    return gnuradio::make_block_sptr<dvbs2_fec_receiver_impl>(decoder, packets);
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
