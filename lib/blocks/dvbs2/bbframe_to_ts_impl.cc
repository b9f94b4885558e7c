// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements the block bbframe_to_ts, which gathers BBFRAMEs, extracts their packets,
 * moves tags, and warns about invalid headers. */

#include "bbframe_to_ts_impl.h"
#include "common/refuse.h"
#include <gnuradio/gpufec/bch.h>
#include <gnuradio/io_signature.h>
#include <algorithm>
#include <utility>

namespace gr::gpufec {

bbframe_to_ts::sptr bbframe_to_ts::make(const bbframe_to_ts_options& given)
{
    return bbframe_to_ts_impl::make(given, "");
}

bbframe_to_ts::sptr bbframe_to_ts_impl::make(const bbframe_to_ts_options& given,
                                             const std::string& other_length_tag)
{
    require(given.isi >= -1 && given.isi <= 255,
            "isi",
            given.isi,
            "0 to 255, and -1 for all");
    const auto code = bch_code::standard(given.standard, given.frame_size, given.rate);
    return gnuradio::make_block_sptr<bbframe_to_ts_impl>(
        given.length_tag.empty() ? code.k() : 0,
        folded(given.standard) == "dvbt2",
        given.descramble,
        given.isi,
        given.length_tag,
        other_length_tag);
}

bbframe_to_ts_impl::bbframe_to_ts_impl(std::size_t frame_bits,
                                       bool high_efficiency,
                                       bool descramble,
                                       int isi,
                                       const std::string& length_tag,
                                       const std::string& other_length_tag)
    : gr::block("bbframe_to_ts",
                gr::io_signature::make(1, 1, sizeof(std::uint8_t)),
                gr::io_signature::make(1, 1, sizeof(std::uint8_t))),
      d_frame_bits(frame_bits),
      d_high_efficiency(high_efficiency),
      d_descramble(descramble),
      d_generic_port(pmt::mp("generic")),
      d_status_port(pmt::mp("status")),
      d_begin_key(pmt::mp("ts_begin")),
      d_error_key(pmt::mp("ts_error")),
      d_source(pmt::mp(alias())),
      d_other_key(other_length_tag.empty() ? pmt::pmt_t() : pmt::mp(other_length_tag)),
      d_extractor(high_efficiency,
                  isi,
                  [this](const bbframe::header& header,
                         const std::uint8_t* bytes,
                         std::size_t count) { send_generic(header, bytes, count); }),
      d_gatherer(length_tag.empty() ? pmt::pmt_t() : pmt::mp(length_tag),
                 sizeof(std::uint8_t),
                 [this](const std::string& text) { d_logger->warn("{}", text); })
{
    // A BBFRAME is shorter than a normal FECFRAME, which has 64,800 bits.
    constexpr std::size_t max_bytes = 64800 / 8;
    d_scrambling = bbframe::scrambling(max_bytes);
    d_gatherer.set_length((frame_bits + 7) / 8);
    d_gatherer.keep(max_bytes);
    message_port_register_out(d_generic_port);
    message_port_register_out(d_status_port);
    set_output_multiple(bbframe::packet_bytes);
}

void bbframe_to_ts_impl::begin_stream()
{
    d_extractor.restart();
    d_gatherer.restart();
    d_made.clear();
    d_sent = 0;
    d_made_before = 0;
    d_otherwise = 0;
    d_judged = d_synchronised = d_ended = false;
    d_logged = {};
    count();
}

void bbframe_to_ts_impl::forecast(int, gr_vector_int& ninput_items_required)
{
    const bool last = !d_ended && detail()->input(0)->done();
    ninput_items_required[0] = d_sent < d_made.size() || last ? 0 : 1;
}

int bbframe_to_ts_impl::general_work(int noutput_items,
                                     gr_vector_int& ninput_items,
                                     gr_vector_const_void_star& input_items,
                                     gr_vector_void_star& output_items)
{
    const auto* in = reinterpret_cast<const std::byte*>(input_items[0]);
    auto* const out = static_cast<std::uint8_t*>(output_items[0]);
    const std::size_t available = ninput_items[0];
    const std::size_t capacity = std::max(noutput_items, output_multiple());
    const bool ended = ended_after(*this, available);

    read_tags(available, [this](const tag_t& tag) {
        d_gatherer.on_tag(tag);
        return false;
    });

    std::size_t taken = 0, given = 0;
    for (;;) {
        given += send(out + given, capacity - given);
        if (d_sent < d_made.size()) {
            break;
        }
        const auto n = d_gatherer.gather(in + taken, d_taken + taken, available - taken);
        taken += n;
        if (d_gatherer.complete()) {
            take_frame(d_taken + taken);
            d_gatherer.clear();
        } else if (n == 0) {
            break;
        }
    }
    if (ended && taken == available && d_sent == d_made.size() && !d_ended) {
        d_ended = true;
        d_gatherer.end();
        judge_none();
        tell("ended");
    }
    return leave(taken, given);
}

std::size_t bbframe_to_ts_impl::send(std::uint8_t* out, std::size_t capacity)
{
    const auto n = std::min(capacity, d_made.size() - d_sent);
    std::copy_n(d_made.begin() + d_sent, n, out);
    d_sent += n;
    return n;
}

// Extracts the packets of the gathered frame, which ends before item \p end. All earlier
// packets must have been emitted.
void bbframe_to_ts_impl::take_frame(std::uint64_t end)
{
    const auto first = d_made_before;
    std::vector<held_tag> lengths;
    d_input_tags.release(end, [&](held_tag tag) {
        tag.offset = first;
        if (d_gatherer.is_length(tag.key) || (d_other_key && tag.key == d_other_key)) {
            lengths.push_back(std::move(tag));
        } else {
            d_tags.hold(std::move(tag));
        }
    });

    const auto* const received =
        reinterpret_cast<const std::uint8_t*>(d_gatherer.items());
    const auto* bytes = received;
    const auto kept = d_gatherer.kept();
    if (d_descramble) {
        d_frame.resize(kept);
        std::transform(bytes,
                       bytes + kept,
                       d_scrambling.begin(),
                       d_frame.begin(),
                       [](std::uint8_t a, std::uint8_t b) { return a ^ b; });
        bytes = d_frame.data();
    }
    d_made.clear();
    d_sent = 0;
    d_remarks.clear();
    d_extractor.push(bytes, d_frame_bits ? d_frame_bits : 8 * kept, d_made, d_remarks);
    d_made_before += d_made.size();
    for (auto& tag : lengths) {
        if (!d_made.empty()) {
            tag.value = pmt::from_long(long(d_made.size()));
            d_tags.hold(std::move(tag));
        }
    }
    for (const auto& remark : d_remarks) {
        tag_t tag;
        tag.offset = first + remark.at;
        tag.srcid = d_source;
        if (remark.first) {
            tag.key = d_begin_key;
            tag.value = pmt::from_long(remark.isi);
            d_tags.hold(tag);
        }
        if (remark.error) {
            tag.key = d_error_key;
            tag.value = pmt::PMT_T;
            d_tags.hold(tag);
        }
    }
    count();
    judge(received, kept);
    if (d_extractor.synchronised() != d_synchronised &&
        std::chrono::steady_clock::now() - d_logged >= std::chrono::seconds(1)) {
        d_synchronised = !d_synchronised;
        tell(d_synchronised ? "synchronised" : "lost");
    }
}

void bbframe_to_ts_impl::count()
{
    const auto& now = d_extractor.count();
    d_frames = now.frames;
    d_dropped = now.dropped;
    d_generic = now.generic;
    d_gaps = now.gaps;
    d_packets = now.packets;
    d_errors = now.errors;
}

// Called as long as no frame has had a valid header. Warns if all headers would be valid
// with the opposite value of the parameter descramble. Otherwise, judge_none() warns
// after 100 frames.
void bbframe_to_ts_impl::judge(const std::uint8_t* received, std::size_t bytes)
{
    d_judged = d_judged || d_frames > d_dropped;
    if (d_judged) {
        return;
    }
    std::uint8_t first[bbframe::header_bytes] = {};
    for (std::size_t i = 0; i < std::min(bytes, sizeof first); ++i) {
        first[i] = received[i] ^ (d_descramble ? 0 : d_scrambling[i]);
    }
    const auto header = bbframe::read_header(first, d_crc, d_high_efficiency);
    d_otherwise += header && header->dfl > 0; // a header of zeros also has a valid CRC-8
    // A random header passes the CRC-8 with probability 1/256, so three must pass.
    if (d_frames >= 3 && d_otherwise == d_frames) {
        d_judged = true;
        d_logger->warn(d_descramble
                           ? "the headers of BBFRAMEs are wrong with descrambling and "
                             "correct without it: the decoder already descrambles; use "
                             "descramble=False in one of the two blocks"
                           : "the headers of BBFRAMEs are wrong without descrambling and "
                             "correct with it: use descramble=True");
    } else if (d_frames == 100) {
        judge_none();
    }
}

void bbframe_to_ts_impl::judge_none()
{
    if (d_frames > 0 && d_dropped == d_frames && !std::exchange(d_judged, true)) {
        d_logger->warn(
            "none of {} BBFRAMEs has a correct header: check standard, "
            "frame_size, rate and descramble, and that the decoder outputs packed "
            "BBFRAMEs",
            d_frames.load());
    }
}

void bbframe_to_ts_impl::tell(const char* event)
{
    publish(d_status_port,
            event,
            { { "frame_count", d_frames },
              { "dropped_frame_count", d_dropped },
              { "generic_frame_count", d_generic },
              { "gap_count", d_gaps },
              { "packet_count", d_packets },
              { "packet_error_count", d_errors } });
    d_logged = std::chrono::steady_clock::now();
}

void bbframe_to_ts_impl::send_generic(const bbframe::header& header,
                                      const std::uint8_t* bytes,
                                      std::size_t count)
{
    auto meta = pmt::make_dict();
    meta = pmt::dict_add(meta, pmt::mp("ts_gs"), pmt::from_long(long(header.kind)));
    meta = pmt::dict_add(
        meta, pmt::mp("isi"), pmt::from_long(header.single_input ? -1 : header.isi));
    message_port_pub(d_generic_port, pmt::cons(meta, pmt::init_u8vector(count, bytes)));
}

} // namespace gr::gpufec
