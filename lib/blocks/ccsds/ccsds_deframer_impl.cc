// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements the block ccsds_deframer: its factory, input formats, tags and messages. */

#include "blocks/common/parameters.h"
#include "ccsds_deframer_impl.h"
#include "common/ranges.h"
#include "viterbi/model/soft_input.h"
#include <gnuradio/io_signature.h>
#include <algorithm>
#include <utility>

namespace gr::gpufec {

namespace {

using input_format = ccsds_deframer_impl::input_format;

std::size_t item_size(input_format format)
{
    return format == input_format::float32 ? sizeof(float) : 1;
}

} // namespace

ccsds_deframer::sptr ccsds_deframer::make(const ccsds_deframer_options& given)
{
    const auto format = choose<input_format>("soft_input",
                                             given.soft_input,
                                             { { "packed", input_format::packed },
                                               { "int8", input_format::int8 },
                                               { "uint8", input_format::uint8 },
                                               { "float", input_format::float32 } });
    require_above_0("soft_scale", given.soft_scale);
    require_above_0("llr_scale", given.llr_scale);
    require(given.max_iterations >= 1 && given.max_iterations <= 1000,
            "max_iterations",
            given.max_iterations,
            "1 to 1000");
    check_positive_bit(given.positive_bit);
    require(given.flywheel >= 0 && given.flywheel <= 100,
            "flywheel",
            given.flywheel,
            "0 to 100");
    require(
        given.threads >= 1 && given.threads <= 256, "threads", given.threads, "1 to 256");
    ccsds_framing framing;
    framing.code = given.code;
    framing.interleaving = not_negative("interleaving", given.interleaving, "1 to 8");
    framing.frame_bytes = not_negative("frame_bytes", given.frame_bytes);
    framing.randomiser = given.randomiser;
    framing.constellation = given.constellation;
    framing.differential = given.differential;
    framing.false_alarm = given.false_alarm;
    framing.flywheel = unsigned(given.flywheel);
    framing.drop_failed = given.drop_failed;
    framing.positive_bit = unsigned(given.positive_bit);
    framing.llr_scale = given.llr_scale;
    framing.max_iterations = unsigned(given.max_iterations);
    const auto* const telecommand = find_ccsds_telecommand_code(given.code);
    return gnuradio::make_block_sptr<ccsds_deframer_impl>(
        framing,
        format,
        telecommand && telecommand->ldpc ? given.llr_scale : given.soft_scale,
        given.status_tags,
        given.length_tag,
        unsigned(given.threads));
}

ccsds_deframer_impl::ccsds_deframer_impl(const ccsds_framing& framing,
                                         input_format format,
                                         float soft_scale,
                                         status_tags tags,
                                         const std::string& length_tag,
                                         unsigned threads)
    : gr::block("ccsds_deframer",
                gr::io_signature::make(1, 1, item_size(format)),
                gr::io_signature::make(1, 1, sizeof(std::uint8_t))),
      d_format(format),
      d_item_size(item_size(format)),
      d_soft_scale(soft_scale),
      d_bits_per_input(format == input_format::packed ? 8 : 1),
      d_status_port(pmt::mp("status")),
      d_ber_key(pmt::mp("viterbi_ber")),
      d_lock_key(pmt::mp("viterbi_lock")),
      d_error_rate_key(pmt::mp("error_rate")),
      d_in_parallel(threads > 1 && format == input_format::packed),
      d_telecommand(find_ccsds_telecommand_code(framing.code)),
      d_finder(framing, format != input_format::packed, "", threads),
      d_emitter(*this, d_tags, length_tag, tags),
      d_state(d_telecommand)
{
    message_port_register_out(d_status_port);
    set_min_output_buffer(1 << 20); // A large buffer reduces the number of calls.
    set_relative_rate(std::uint64_t(d_finder.frame_items()) * d_bits_per_input,
                      std::uint64_t(d_finder.period()));
}

void ccsds_deframer_impl::begin_stream()
{
    d_finder.reset();
    d_emitter.restart();
    d_state.restart();
    d_finished = d_told_locked = d_told_verdict = false;
    d_told = {};
    publish_state();
}

// Requests larger rings if several threads decode and the user has set no buffer sizes,
// so that each thread gets a long part of the input. The scheduler makes the input's ring
// large enough for twice the input of an output multiple.
bool ccsds_deframer_impl::check_topology(int, int)
{
    if (d_in_parallel && !output_multiple_set() && max_output_buffer(0) <= 0) {
        const auto frames = 8 * d_finder.piece() / d_finder.period();
        set_output_multiple(
            int(std::max<std::size_t>(frames, 1) * d_finder.frame_items()));
        set_min_output_buffer(std::max(min_output_buffer(0), 4l * output_multiple()));
    }
    return true;
}

void ccsds_deframer_impl::forecast(int, gr_vector_int& ninput_items_required)
{
    const bool last = !d_finished && detail()->input(0)->done();
    ninput_items_required[0] = !d_emitter.empty() || last ? 0 : 1;
}

int ccsds_deframer_impl::general_work(int noutput_items,
                                      gr_vector_int& ninput_items,
                                      gr_vector_const_void_star& input_items,
                                      gr_vector_void_star& output_items)
{
    const auto* const in = static_cast<const std::uint8_t*>(input_items[0]);
    const std::size_t available = ninput_items[0];
    const bool ended = ended_after(*this, available);
    // Length tags of the input do not describe the frames, so they are dropped.
    read_tags(available,
              [this](const tag_t& tag) { return d_emitter.is_length(tag.key); });
    d_emitter.begin_work(static_cast<std::uint8_t*>(output_items[0]),
                         std::max(noutput_items, output_multiple()));

    std::size_t taken = 0;
    while (d_emitter.empty()) {
        const std::uint8_t* items;
        if (const auto* const frame = d_finder.next(items)) {
            emit(*frame, items);
        } else if (taken < available) {
            // Input is pushed in pieces, so that few frames wait for output space.
            const auto frames = d_emitter.space() / d_finder.frame_items();
            const auto n = std::min({ available - taken,
                                      d_finder.piece(),
                                      std::max<std::size_t>(frames, 1) *
                                          d_finder.period() / d_bits_per_input });
            d_finder.set_output(d_emitter.end(), d_emitter.space());
            push(in + taken * d_item_size, n);
            taken += n;
            publish_state();
        } else if (ended && !d_finished) {
            d_finder.finish();
            d_finished = true;
        } else {
            break;
        }
    }
    if (d_emitter.empty()) {
        // Discards the tags that belong to no frame.
        d_input_tags.release(d_finder.needed() / d_bits_per_input,
                             [this](const held_tag& tag) { on_passed(tag); });
    }
    if (d_finished && d_emitter.empty() && ended) {
        publish_state();
        tell("ended");
    }
    return leave(taken, d_emitter.given());
}

// Converts input items and pushes them to the frame finder.
void ccsds_deframer_impl::push(const void* in, std::size_t count)
{
    if (d_format == input_format::packed) {
        d_finder.push(static_cast<const std::uint8_t*>(in), count);
        return;
    }
    if (d_format == input_format::int8) {
        d_finder.push(static_cast<const std::int8_t*>(in), count);
        return;
    }
    d_soft.resize(count);
    if (d_format == input_format::uint8) {
        viterbi::from_offset_binary(
            static_cast<const std::byte*>(in), count, d_soft.data());
    } else {
        viterbi::convert(static_cast<const float*>(in),
                         d_soft_scale,
                         reinterpret_cast<std::byte*>(d_soft.data()),
                         count);
    }
    d_finder.push(d_soft.data(), count);
}

// Appends a frame and its tags to the output.
void ccsds_deframer_impl::emit(const ccsds_frame& frame, const std::uint8_t* items)
{
    const bool soft = d_finder.soft_output();
    const auto first = d_emitter.next_item();
    const auto count = d_telecommand ? frame.bytes.size() : d_finder.frame_items();
    const auto data = frame.position + d_finder.marker_bits();
    const auto end = frame.end;
    d_input_tags.release(
        (end + d_bits_per_input - 1) / d_bits_per_input, [&](held_tag tag) {
            on_passed(tag);
            const auto bit = tag.offset * d_bits_per_input;
            if (bit + d_bits_per_input <= frame.position) {
                return;
            }
            const auto after = bit - std::min(bit, data);
            // In each codeword of a CLTU, the message bits come first.
            const auto item =
                !d_telecommand
                    ? after / (soft ? 1 : 8)
                    : after / d_finder.period() * d_finder.frame_items() +
                          std::min<std::uint64_t>(after % d_finder.period() / 8,
                                                  d_finder.frame_items() - 1);
            tag.offset = first + std::min<std::uint64_t>(item, count - 1);
            d_tags.hold(std::move(tag));
        });
    const bool needed = d_emitter.has_status_tag(frame.good) || d_emitter.sends_pdus();
    d_emitter.append(
        items, count, needed ? d_state.of(frame) : pmt::pmt_t(), frame.good, !soft);
}

// Reads the channel error rate from a tag of the Viterbi decoder.
void ccsds_deframer_impl::on_passed(const held_tag& tag)
{
    if (pmt::eq(tag.key, d_ber_key)) {
        d_state.set_error_rate(tag.value);
    } else if (pmt::eq(tag.key, d_lock_key) && pmt::is_dict(tag.value)) {
        const auto rate = pmt::dict_ref(tag.value, d_error_rate_key, pmt::PMT_NIL);
        if (pmt::is_real(rate)) {
            d_state.set_error_rate(rate);
        }
    }
}

// Copies the counts and the verdict for the getters, which other threads call, and
// publishes a status message for each change.
void ccsds_deframer_impl::publish_state()
{
    const bool locked = d_finder.locked();
    d_locked = locked;
    {
        std::lock_guard<std::mutex> guard(d_mutex);
        d_counts = d_finder.counts();
        if (d_verdict.empty() || d_taken == 0) {
            d_verdict = d_finder.verdict();
        }
    }
    if (const auto text = verdict();
        !text.empty() && !std::exchange(d_told_verdict, true)) {
        d_logger->warn("{}", text);
        tell("verdict", text);
    }
    if (locked != d_told_locked &&
        std::chrono::steady_clock::now() - d_told >= std::chrono::seconds(1)) {
        d_told_locked = locked;
        d_told = std::chrono::steady_clock::now();
        tell(locked ? "locked" : "lost");
    }
}

ccsds_counts ccsds_deframer_impl::counts() const
{
    std::lock_guard<std::mutex> guard(d_mutex);
    return d_counts;
}

std::string ccsds_deframer_impl::verdict() const
{
    std::lock_guard<std::mutex> guard(d_mutex);
    return d_verdict;
}

void ccsds_deframer_impl::tell(const char* event, const std::string& text)
{
    const auto now = counts();
    publish(d_status_port,
            event,
            { { "frame_count", now.frames },
              { "failed_frame_count", now.failed },
              { "corrected_symbol_count", now.corrected },
              { "missed_marker_count", now.missed },
              { "lock_count", now.locks },
              { "loss_count", now.losses },
              { "slip_count", now.slips },
              { "unconfirmed_marker_count", now.unconfirmed },
              { "cut_frame_count", now.cut } },
            text.c_str());
}

} // namespace gr::gpufec
