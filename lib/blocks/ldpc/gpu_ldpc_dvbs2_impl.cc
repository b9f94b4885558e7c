// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements the input and output of frames and the tags of gpu_ldpc_dvbs2. */

#include "common/packed_bits.h"
#include "common/ranges.h"
#include "gpu_ldpc_dvbs2_impl.h"
#include <gnuradio/io_signature.h>
#include <algorithm>

namespace gr::gpufec {

namespace {

std::map<std::string, unsigned> index_of(const std::vector<std::string>& names)
{
    std::map<std::string, unsigned> index;
    for (const auto& name : names) {
        index.emplace(name, unsigned(index.size()));
    }
    return index;
}

} // namespace

gpu_ldpc_dvbs2_impl::gpu_ldpc_dvbs2_impl(const gpu_ldpc_dvbs2_options& given, parts p)
    : gr::block("gpu_ldpc_dvbs2",
                input_port(given.io, p.options.item_bytes()),
                output_port(given.io, sizeof(std::uint8_t))),
      decoder_block(
          p.options.item_bytes(), sizeof(std::uint8_t), given.io, p.options.devices[0]),
      d_options(p.options),
      d_index(index_of(p.names)),
      d_soft(p.options.soft != ldpc_soft_output::none),
      d_packed(given.packed_output && !d_soft),
      d_acm(given.acm),
      d_status_tags(given.status_tags),
      d_iterations_key(pmt::mp("ldpc_iterations")),
      d_valid_key(pmt::mp("ldpc_valid")),
      d_weight_key(pmt::mp("ldpc_syndrome_weight")),
      d_bch_errors_key(pmt::mp("bch_errors")),
      d_bch_valid_key(pmt::mp("bch_valid")),
      d_length_key(pmt::mp("bbframe_length")),
      d_skipped_key(pmt::mp("ldpc_skipped")),
      d_xfecframe_key(pmt::mp("XFECFRAME")),
      d_code_key(pmt::mp("ldpc_code")),
      d_llr_port(pmt::mp("llr_pdu")),
      d_names(std::move(p.names)),
      d_bbframes(std::move(p.bbframes)),
      d_symbols(std::move(p.symbols)),
      d_ppdu(std::move(p.ppdu)),
      d_esn0_key(d_symbols && given.esn0 == esn0_source::tag ? pmt::mp("esn0_db")
                                                             : pmt::pmt_t()),
      d_lengths(given.length_tag,
                [this](const std::string& text) { d_logger->warn("{}", text); }),
      d_llr_scale(given.llr_scale),
      d_decoder(d_ppdu ? make_wifi_ppdu_decoder(*d_ppdu, p.options, hooks())
                       : ldpc_decoder::make(p.options, hooks()))
{
    for (const auto& code : d_options.codes) {
        if (!code.warning().empty()) {
            d_logger->warn("{}", code.warning());
        }
    }
    publish_choices();
    message_port_register_out(d_llr_port);
    set_exact_rate(output_items(0), d_decoder->frame_items());
    if (d_symbols) {
        use_esn0_db(d_symbols->first_esn0_db());
    }
}

void gpu_ldpc_dvbs2_impl::restart()
{
    if (d_symbols) {
        d_symbols->restart();
        select({ d_names[d_acm ? 0 : d_code], d_symbols->first() });
        use_esn0_db(d_symbols->first_esn0_db());
    } else {
        d_decoder->select(d_acm ? 0 : d_code);
    }
    d_code_tags.clear();
    forget_applied();
    d_lengths.restart();
    d_frame_output = 0;
    d_skip = 0;
    d_lost = false;
    d_skipped = d_skipped_before = 0;
    d_frames = d_failed = 0;
    if (d_bbframes) {
        d_bbframes->restart();
    }
}

void gpu_ldpc_dvbs2_impl::require_items(gr_vector_int& required)
{
    if (all_emitted()) {
        decoder_block::require_items(required);
    }
}

std::size_t
gpu_ldpc_dvbs2_impl::pull(std::byte* out, std::size_t capacity, std::uint64_t first)
{
    auto* const to = reinterpret_cast<std::uint8_t*>(out);
    std::size_t given = 0;
    std::optional<ldpc_decoder::frame_status> last;
    double iterations = 0;
    const auto before = d_frames.load();
    while (given < capacity) {
        std::optional<ldpc_decoder::frame_status> begun;
        const auto n = pull_frame(to + given, capacity - given, begun);
        if (n == 0) {
            break;
        }
        if (begun) {
            add_status(first + given, *begun);
            if (d_options.keep_soft) {
                send_llrs(*begun);
            }
            iterations += begun->iterations;
            ++d_frames;
            last = begun;
        }
        given += n;
    }
    if (last) {
        const auto mean = before ? d_mean_iterations.load() : 0;
        d_iterations = last->iterations;
        d_mean_iterations = mean + (iterations - mean * (d_frames - before)) / d_frames;
    }
    return given;
}

// Pulls output items of one frame and returns their number. If the first of these items
// begins the frame, sets \p begun to the frame's status.
std::size_t
gpu_ldpc_dvbs2_impl::pull_frame(std::uint8_t* out,
                                std::size_t capacity,
                                std::optional<ldpc_decoder::frame_status>& begun)
{
    std::size_t n = 0;
    if (d_bbframes && !d_bbframes->all_emitted()) {
        return d_bbframes->pull(out, capacity);
    }
    if (d_bbframes) {
        auto& message = d_bbframes->message(); // has space for the longest message
        n = d_decoder->pull(packed_bits(message));
    } else if (d_soft) {
        n = d_decoder->pull({ reinterpret_cast<std::int8_t*>(out), capacity });
    } else {
        n = d_decoder->pull({ out, capacity, d_packed });
    }
    begun = d_decoder->status();
    if (begun && d_bbframes) {
        d_bbframes->decode(begun->code);
        n = d_bbframes->pull(out, capacity);
    }
    return n;
}

void gpu_ldpc_dvbs2_impl::send_llrs(const ldpc_decoder::frame_status& status)
{
    const auto& llr = d_decoder->llrs();
    auto meta = pmt::make_dict();
    meta = pmt::dict_add(meta, pmt::mp("simd_size"), pmt::from_long(1));
    meta = pmt::dict_add(meta, pmt::mp("frame_cnt"), pmt::from_uint64(status.frame));
    message_port_pub(d_llr_port,
                     pmt::cons(meta, pmt::init_s8vector(llr.size(), llr.data())));
}

void gpu_ldpc_dvbs2_impl::add_status(std::uint64_t item,
                                     const ldpc_decoder::frame_status& status)
{
    const bool valid = status.unsatisfied == 0;
    const bool correct = d_bbframes ? d_bbframes->errors() >= 0 : valid;
    d_failed += !correct;
    if (d_bbframes && d_acm) {
        add_tag(item, d_length_key, pmt::from_long(output_items(status.code)));
    }
    if (d_status_tags == status_tags::none ||
        (d_status_tags == status_tags::failures && correct)) {
        return;
    }
    add_tag(item, d_iterations_key, pmt::from_long(status.iterations));
    add_tag(item, d_valid_key, pmt::from_bool(valid));
    if (!valid) {
        add_tag(item, d_weight_key, pmt::from_long(status.unsatisfied));
    }
    if (d_bbframes) {
        add_tag(item, d_bch_errors_key, pmt::from_long(d_bbframes->errors()));
        add_tag(item, d_bch_valid_key, pmt::from_bool(correct));
    }
}

// Pushes or skips items, at most up to the next tag that may change code or Es/N0.
bool gpu_ldpc_dvbs2_impl::push(input& in, input&)
{
    const auto item = next_item(in);
    auto limit = item + in.left();
    apply_tags_at(item);
    if (d_repeated < d_code_tags.size()) {
        limit = std::min(limit, d_code_tags[d_repeated].offset);
    }
    if (d_lost || d_skip > 0) {
        return skip(in, limit - item);
    }
    if (have() > 0 && d_lengths.cuts_frame(item)) {
        ++d_skipped;
        drop_incomplete(item);
    }
    const auto run = d_lengths.next(item, limit - item, d_decoder->frame_items());
    d_skipped += run.lost;
    return run.of_frames ? push_frames(in, run.items) : skip(in, run.items);
}

bool gpu_ldpc_dvbs2_impl::skip(input& in, std::size_t count)
{
    const auto item = next_item(in);
    const auto most = d_skip == 0 ? count : std::min<std::uint64_t>(d_skip, count);
    const auto n = pass_over(in, [&] { return d_decoder->skip(most); });
    d_skip -= d_skip == 0 ? 0 : n;
    d_lengths.drop(d_input_tags, item + n);
    return n > 0;
}

// Drops the incomplete frame and its tags. The frame's last item is \p item − 1.
void gpu_ldpc_dvbs2_impl::drop_incomplete(std::uint64_t item)
{
    d_decoder->drop_incomplete();
    d_lengths.drop(d_input_tags, item);
}

// Pushes at most \p count items of frames. If a frame is incomplete, pushes only the
// remaining items of that frame, because settings may change at its end.
bool gpu_ldpc_dvbs2_impl::push_frames(input& in, std::size_t count)
{
    const auto item = next_item(in);
    const auto code = d_decoder->selected();
    const auto bits = std::size_t(d_decoder->code(code).sent());
    const auto n = d_decoder->frame_items(), before = have();
    const auto pushed = take(in,
                             before > 0 ? std::min(count, n - before) : count,
                             [this](const std::byte* items, std::size_t most) {
                                 return d_decoder->push({ items, most });
                             });
    if (pushed == 0) {
        return false;
    }
    d_lengths.took(item + pushed);
    const auto complete = (before + pushed) / n;
    if (complete > 0) {
        tag_skipped();
    }
    // Moves only the tags of complete frames, because an incomplete frame may be dropped.
    const auto begin = item - before;
    const auto output_of_frame = [&](std::uint64_t at) {
        return d_frame_output + (at - begin) / n * output_items(code);
    };
    const auto output_of_item = [&](std::uint64_t at) {
        const auto in_frame = (at - begin) % n;
        const auto bit = d_symbols ? d_symbols->bit_of(in_frame, bits) : in_frame;
        return output_of_frame(at) + output_in_frame(code, bit);
    };
    d_lengths.move(
        d_input_tags, begin + complete * n, d_tags, output_of_item, output_of_frame);
    d_frame_output += complete * output_items(code);
    if (complete > 0) {
        apply_settings();
    }
    return true;
}

// Tags the next output frame with the number of frames skipped before it, unless that
// number is 0 or status tags are disabled.
void gpu_ldpc_dvbs2_impl::tag_skipped()
{
    const auto missing = d_skipped - d_skipped_before;
    if (missing > 0 && d_status_tags != status_tags::none) {
        hold_tag(d_frame_output, d_skipped_key, pmt::from_long(long(missing)));
    }
    d_skipped_before = d_skipped;
}

// Returns the number of items pushed for the incomplete frame; 0 if there is none.
std::size_t gpu_ldpc_dvbs2_impl::have() const
{
    const auto missing = d_decoder->missing();
    return missing ? d_decoder->frame_items() - missing : 0;
}

std::size_t gpu_ldpc_dvbs2_impl::output_items(unsigned code) const
{
    const auto bits = d_bbframes ? d_bbframes->bits(code) : d_decoder->output_bits(code);
    return items_of(bits, d_packed);
}

// Returns the index within the output frame of the item that holds transmitted bit
// \p in_frame, or of the item to which tags move if that bit is not output.
std::uint64_t gpu_ldpc_dvbs2_impl::output_in_frame(unsigned code,
                                                   std::uint64_t in_frame) const
{
    if (d_ppdu) {
        const auto bit = d_ppdu->payload_bit(unsigned(in_frame));
        return d_packed ? bit / 8 : bit;
    }
    const auto& sent = d_decoder->code(code).sent_positions();
    if (!sent.empty()) { // a filler bit counts as the last sent bit
        in_frame = std::min(sent[in_frame], d_decoder->code(code).n() - 1);
    }
    auto bit = in_frame;
    if (!d_options.codeword && !d_soft) {
        bit = d_decoder->code(code).message_bit(in_frame);
    }
    if (d_bbframes) { // BCH parity bits are not output
        bit = std::min<std::uint64_t>(bit, d_bbframes->bits(code) - 1);
    }
    return d_packed ? bit / 8 : bit;
}

bool gpu_ldpc_dvbs2_impl::on_tag(const tag_t& tag)
{
    d_lengths.on_tag(tag);
    const bool names_code =
        pmt::eqv(tag.key, d_xfecframe_key) || pmt::eqv(tag.key, d_code_key);
    const bool gives_esn0 = d_esn0_key && pmt::eqv(tag.key, d_esn0_key);
    if ((d_acm && names_code) || gives_esn0) {
        d_code_tags.hold(tag);
    }
    return false; // the tag is passed on like other tags
}

} // namespace gr::gpufec
