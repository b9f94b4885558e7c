// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements the block dvbs_deframer: its factory, its output of packets, its tags, its
 * status messages and its warnings about the input. */

#include "dvbs_deframer_impl.h"
#include <gnuradio/io_signature.h>
#include <algorithm>
#include <functional>
#include <numeric>

namespace gr::gpufec {

namespace {

// Maximum number of bytes pushed to the decoder at a time, so that few packets wait for
// output space.
constexpr std::size_t max_taken = 64 * dvbs::frame_bytes;
// Number of bytes without frames after which a warning is logged, and the minimum number
// of bytes in which frames can be expected.
constexpr std::uint64_t many_bytes = 1 << 20;
constexpr std::uint64_t few_bytes = 24 * dvbs::frame_bytes;

} // namespace

dvbs_deframer::sptr dvbs_deframer::make(const dvbs_deframer_options& given)
{
    return gnuradio::make_block_sptr<dvbs_deframer_impl>(given.length_tag);
}

dvbs_deframer_impl::dvbs_deframer_impl(const std::string& length_tag)
    : gr::block("dvbs_deframer",
                gr::io_signature::make(1, 1, sizeof(std::uint8_t)),
                gr::io_signature::make(1, 1, sizeof(std::uint8_t))),
      tagged_block(length_tag, false),
      d_status_port(pmt::mp("status")),
      d_begin_key(pmt::mp("ts_begin")),
      d_error_key(pmt::mp("ts_error")),
      d_source(pmt::mp(alias()))
{
    message_port_register_out(d_status_port);
    set_output_multiple(dvbs::packet_bytes);
    set_relative_rate(dvbs::packet_bytes, dvbs::frame_bytes);
}

void dvbs_deframer_impl::restart()
{
    d_decoder.restart();
    d_made.clear();
    d_packets.clear();
    d_sent = 0;
    d_made_before = 0;
    d_received = 0;
    d_ended = d_judged = d_told_synchronised = false;
    d_union = 0;
    d_told = {};
    count();
}

void dvbs_deframer_impl::forecast(int, gr_vector_int& ninput_items_required)
{
    const bool last = !d_ended && detail()->input(0)->done();
    ninput_items_required[0] = d_sent < d_made.size() || last ? 0 : 1;
}

int dvbs_deframer_impl::general_work(int noutput_items,
                                     gr_vector_int& ninput_items,
                                     gr_vector_const_void_star& input_items,
                                     gr_vector_void_star& output_items)
{
    const auto* const in = static_cast<const std::uint8_t*>(input_items[0]);
    auto* const out = static_cast<std::uint8_t*>(output_items[0]);
    const std::size_t available = ninput_items[0];
    // The buffer has space for an output multiple even if a small max_noutput_items makes
    // noutput_items 0.
    const std::size_t capacity = std::max(noutput_items, output_multiple());
    const bool ended = ended_after(*this, available);
    read_tags(available);

    std::size_t taken = 0, given = 0;
    for (;;) {
        given += send(out + given, capacity - given);
        if (d_sent < d_made.size()) {
            break;
        }
        if (taken < available) {
            const auto n = std::min(max_taken, available - taken);
            take(in + taken, n);
            taken += n;
        } else if (ended && !d_ended) {
            end();
        } else {
            break;
        }
    }
    return leave(taken, given);
}

std::size_t dvbs_deframer_impl::send(std::uint8_t* out, std::size_t capacity)
{
    const auto n = std::min(capacity, d_made.size() - d_sent);
    std::copy_n(d_made.begin() + d_sent, n, out);
    d_sent += n;
    return n;
}

// Decodes input bytes. All earlier packets must have been emitted.
void dvbs_deframer_impl::take(const std::uint8_t* bytes, std::size_t count)
{
    d_made_before += d_made.size();
    d_made.clear();
    d_packets.clear();
    d_sent = 0;
    d_decoder.push(bytes, count, d_made, d_packets);
    d_received += count;
    hold_tags();
    this->count();
    judge(bytes, count);
    if (d_synchronised != d_told_synchronised &&
        std::chrono::steady_clock::now() - d_told >= std::chrono::seconds(1)) {
        d_told_synchronised = d_synchronised;
        tell(d_synchronised ? "synchronised" : "lost");
    }
}

// Ends the stream. All earlier packets must have been emitted.
void dvbs_deframer_impl::end()
{
    d_ended = true;
    d_made_before += d_made.size();
    d_made.clear();
    d_packets.clear();
    d_sent = 0;
    d_decoder.finish(d_made, d_packets);
    hold_tags();
    count();
    judge(nullptr, 0);
    tell("ended");
}

// Moves input tags to the packets in d_made, and adds the status tags of these packets.
void dvbs_deframer_impl::hold_tags()
{
    auto offset = d_made_before;
    for (const auto& packet : d_packets) {
        const auto first = [offset](std::uint64_t) { return offset; };
        move_tags(packet.end, first, first);
        tag_t tag;
        tag.offset = offset;
        tag.srcid = d_source;
        if (packet.first) {
            tag.key = d_begin_key;
            tag.value = pmt::from_long(-1);
            d_tags.hold(tag);
        }
        if (packet.corrected < 0) {
            tag.key = d_error_key;
            tag.value = pmt::PMT_T;
            d_tags.hold(tag);
        }
        offset += dvbs::packet_bytes;
    }
}

void dvbs_deframer_impl::count()
{
    const auto& now = d_decoder.count();
    d_synchronised = d_decoder.synchronised();
    d_packet_count = now.packets;
    d_errors = now.errors;
    d_corrected = now.corrected;
    d_losses = now.losses;
}

// Until frames are found, warns once if the input has one bit per byte, or if a long
// input has no frames.
void dvbs_deframer_impl::judge(const std::uint8_t* bytes, std::size_t count)
{
    d_judged = d_judged || d_synchronised;
    if (d_judged) {
        return;
    }
    d_union = std::accumulate(bytes, bytes + count, d_union, std::bit_or<>());
    if (d_received < (d_ended ? few_bytes : many_bytes)) {
        return;
    }
    d_judged = true;
    if (d_union == 1) {
        d_logger->warn(
            "all {} bytes of the input are 0 or 1, but the input must be packed, with "
            "eight bits per byte: use packed_output=True in the Viterbi decoder",
            d_received);
    } else {
        d_logger->warn(
            "no frames of DVB-S were found in {} bytes: check the rate and the lock of "
            "the Viterbi decoder, and that the signal is DVB-S",
            d_received);
    }
}

void dvbs_deframer_impl::tell(const char* event)
{
    publish(d_status_port,
            event,
            { { "packet_count", d_packet_count },
              { "packet_error_count", d_errors },
              { "corrected_byte_count", d_corrected },
              { "sync_loss_count", d_losses } });
    d_told = std::chrono::steady_clock::now();
}

} // namespace gr::gpufec
