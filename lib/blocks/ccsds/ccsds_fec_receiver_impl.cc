// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements the factory of ccsds_fec_receiver, and connects the blocks of the receiver.
 * */

#include "blocks/common/parameters.h"
#include "ccsds_fec_receiver_impl.h"
#include "common/ranges.h"
#include <gnuradio/gpufec/ccsds.h>
#include <gnuradio/io_signature.h>

namespace gr::gpufec {

namespace {

using options = ccsds_fec_receiver_options;

// Returns the LDPC code with this name; null if there is none.
const ccsds_ldpc_code* find_ldpc(const std::string& name)
{
    for (const auto& code : ccsds_ldpc_codes()) {
        if (folded(code.name) == folded(name)) {
            return &code;
        }
    }
    return nullptr;
}

gpu_viterbi_pbvd_options viterbi_part(const options& given)
{
    gpu_viterbi_pbvd_options part;
    part.preset = given.convolutional;
    part.soft_input = soft_format_from_string(given.soft_input);
    part.soft_scale = given.soft_scale;
    part.positive_bit = given.positive_bit;
    part.lock = given.lock;
    part.lock_constellation = given.constellation;
    part.lock_presets = given.lock_presets;
    part.lock_memory = given.lock_memory;
    pass_run_options(part, given);
    part.length_tag_key = ""; // input lengths do not describe the frames
    return part;
}

ccsds_deframer_options deframer_part(const options& given, bool behind_viterbi, bool ldpc)
{
    ccsds_deframer_options part;
    part.code = given.code;
    part.interleaving = given.interleaving;
    part.frame_bytes = given.frame_bytes;
    part.randomiser = given.randomiser;
    part.differential = given.differential;
    part.soft_input = behind_viterbi ? "packed" : given.soft_input;
    part.soft_scale = ldpc ? given.llr_scale : given.soft_scale;
    part.positive_bit = given.positive_bit;
    part.constellation = behind_viterbi ? "bpsk" : given.constellation;
    part.drop_failed = given.drop_failed;
    part.status_tags = ldpc ? status_tags::all : given.status_tags;
    part.length_tag = ldpc ? "packet_len" : given.length_tag;
    part.threads = given.threads;
    part.false_alarm = given.false_alarm;
    part.flywheel = given.flywheel;
    part.llr_scale = given.llr_scale;
    part.max_iterations = given.max_iterations;
    return part;
}

gpu_ldpc_dvbs2_options ldpc_part(const options& given, const ccsds_ldpc_code& code)
{
    gpu_ldpc_dvbs2_options part;
    part.standard = code.standard;
    part.frame_size = code.frame_size;
    part.rate = code.rate;
    part.llr_scale = given.llr_scale;
    // With int8 messages, about 5 % of the codewords of AR4JA 4096 2/3 at an Eb/N0 of 3.3
    // dB are decoded to the correct message but violate checks at punctured bits, so they
    // would be dropped.
    if (code.standard == "ccsds_ar4ja") {
        part.precision = ldpc_precision::int16;
    }
    part.positive_bit = given.positive_bit;
    part.max_iterations = given.max_iterations;
    pass_run_options(part, given);
    return part;
}

} // namespace

ccsds_fec_receiver::sptr ccsds_fec_receiver::make(const options& given)
{
    choose<int>("soft_input",
                given.soft_input,
                { { "int8", 0 }, { "uint8", 1 }, { "float", 2 } });
    const auto* const ldpc = find_ldpc(given.code);
    const bool convolutional = folded(given.convolutional) != "none";
    const auto* const telecommand = find_ccsds_telecommand_code(given.code);
    if (convolutional && (ldpc || telecommand)) {
        refuse("convolutional",
               given.convolutional,
               "the only allowed value is \"none\" with code=\"" +
                   (ldpc ? ldpc->name : telecommand->name) + '"');
    }
    require_above_0("llr_scale", given.llr_scale);
    ccsds_fec_receiver_impl::chain blocks;
    blocks.deframer = ccsds_deframer::make(deframer_part(given, convolutional, ldpc));
    if (convolutional) {
        blocks.viterbi = gpu_viterbi_pbvd::make(viterbi_part(given));
        blocks.searches = folded(given.lock) == "auto";
    }
    if (ldpc) {
        blocks.ldpc = gpu_ldpc_dvbs2::make(ldpc_part(given, *ldpc));
        blocks.frames = gnuradio::make_block_sptr<ldpc_frames>(ldpc->message_bits / 8,
                                                               given.drop_failed,
                                                               given.status_tags,
                                                               given.length_tag);
    }
    return gnuradio::make_block_sptr<ccsds_fec_receiver_impl>(blocks);
}

ccsds_fec_receiver_impl::ccsds_fec_receiver_impl(const chain& blocks)
    : gr::hier_block2(
          "ccsds_fec_receiver",
          gr::io_signature::make(
              1,
              1,
              blocks.viterbi ? blocks.viterbi->input_signature()->sizeof_stream_item(0)
                             : blocks.deframer->input_signature()->sizeof_stream_item(0)),
          gr::io_signature::make(1, 1, sizeof(std::uint8_t))),
      d_blocks(blocks)
{
    const auto& [viterbi, deframer, ldpc, frames, searches] = d_blocks;
    message_port_register_hier_out(pmt::mp("pdus"));
    message_port_register_hier_out(pmt::mp("status"));
    if (viterbi) {
        connect(self(), 0, viterbi, 0);
        connect(viterbi, 0, deframer, 0);
        msg_connect(viterbi, "status", self(), "status");
    } else {
        connect(self(), 0, deframer, 0);
    }
    msg_connect(deframer, "status", self(), "status");
    if (ldpc) {
        connect(deframer, 0, ldpc, 0);
        connect(ldpc, 0, frames, 0);
        connect(frames, 0, self(), 0);
        msg_connect(ldpc, "status", self(), "status");
        msg_connect(frames, "pdus", self(), "pdus");
    } else {
        connect(deframer, 0, self(), 0);
        msg_connect(deframer, "pdus", self(), "pdus");
    }
}

std::string ccsds_fec_receiver_impl::active_backend() const
{
    const auto& [viterbi, deframer, ldpc, frames, searches] = d_blocks;
    return viterbi ? viterbi->active_backend() : ldpc ? ldpc->active_backend() : "cpu";
}

void ccsds_fec_receiver_impl::set_max_latency_ms(double milliseconds)
{
    if (d_blocks.viterbi) {
        d_blocks.viterbi->set_max_latency_ms(milliseconds);
    }
    if (d_blocks.ldpc) {
        d_blocks.ldpc->set_max_latency_ms(milliseconds);
    }
}

std::string ccsds_fec_receiver_impl::verdict() const
{
    const auto text = d_blocks.deframer->verdict();
    return text.empty() && d_blocks.viterbi ? d_blocks.viterbi->verdict() : text;
}

} // namespace gr::gpufec
