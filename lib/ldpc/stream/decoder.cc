// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The LDPC stream decoder: assembly of batches, input in place, and the output of
 * finished batches. copied_input.cc defines the functions for input that is copied. */

#include "common/packed_bits.h"
#include "common/ranges.h"
#include "decoder_impl.h"
#include "vlsnr_decoder.h"
#include <algorithm>
#include <cstring>

namespace gr::gpufec {

using namespace ldpc;

ldpc_decoder_impl::ldpc_decoder_impl(const ldpc_options& options, decoder_hooks hooks)
    : stream_decoder(options, std::move(hooks), 1, options.item_bytes()),
      d_options(options),
      d_formats(options.codes.size())
{
    require_above_0("llr_scale", options.llr_scale);
    require_from_0("soft_scale", options.soft_scale);
    open(make_setup(options));
    d_filling.emplace(*d_setup, d_pipeline->active().limits());
    std::size_t largest = 0, spread = 0;
    for (const auto& code : options.codes) {
        largest = std::max(largest, code.sent() * d_setup->caller_value_bytes());
        if (!code.sent_positions().empty()) {
            spread = std::max(spread, code.sent() * d_setup->value_bytes());
        }
    }
    if (symbols()) {
        largest = d_pipeline->active().limits().caller_item_bytes / d_batch;
    }
    d_partial.resize(largest);
    d_quantised.resize(spread);
    if (options.watch) {
        auto judge =
            std::make_unique<frame_judge>(options, d_hooks, d_setup->constellations);
        d_frame_judge = judge.get();
        d_judge = std::move(judge);
    }
}

void ldpc_decoder_impl::select(unsigned code, unsigned constellation)
{
    const auto check = [](const char* what, auto index, auto count) {
        if (index >= count) {
            throw std::out_of_range(what + (" is " + std::to_string(index)) +
                                    ": allowed values are 0 to " +
                                    std::to_string(count - 1));
        }
    };
    check("code", code, d_options.codes.size());
    if (symbols()) {
        check("constellation", constellation, d_setup->constellation_of.size());
        constellation = d_setup->constellation_of[constellation];
    }
    d_next = { code, constellation, d_next.level };
}

bool ldpc_decoder_impl::whole_codewords() const
{
    return std::all_of(d_options.codes.begin(), d_options.codes.end(), [](auto& code) {
        return code.sent_positions().empty() && code.sent() == code.n();
    });
}

void ldpc_decoder_impl::set_llr_scale(float scale)
{
    require_above_0("llr_scale", scale);
    d_options.llr_scale = scale;
    for (auto& f : d_formats) {
        f.reset();
    }
    if (d_frame_judge) {
        d_frame_judge->set_llr_scale(scale);
    }
}

void ldpc_decoder_impl::set_soft_scale(float scale)
{
    require_above_0("soft_scale", scale);
    d_options.soft_scale = scale;
}

item_type item_type_of(const ldpc_options& options)
{
    switch (options.symbols) {
    case ldpc_symbols::float32:
        return item_type::complex_float32;
    case ldpc_symbols::int16:
        return item_type::complex_int16;
    case ldpc_symbols::int8:
        return item_type::complex_int8;
    case ldpc_symbols::none:
        break;
    }
    return options.format == llr_format::float32 ? item_type::float32
           : options.format == llr_format::int8  ? item_type::int8
                                                 : item_type::uint8;
}

std::size_t ldpc_decoder_impl::skip(std::size_t count)
{
    advance();
    if (!borrowing()) {
        return count;
    }
    if (borrowed_capacity() == 0 && filling()) {
        send(*filling());
    }
    const auto n = std::min(count, borrowed_capacity());
    d_input.took(n);
    forget_unneeded();
    return n;
}

void ldpc_decoder_impl::drop_incomplete()
{
    d_have = 0;
    forget_unneeded();
    if (d_frame_judge) {
        d_frame_judge->drop_incomplete();
    }
}

const input_format& ldpc_decoder_impl::format()
{
    auto& f = d_formats[d_kind.code];
    if (!f) {
        f.emplace(d_setup->rule(d_options.codes[d_kind.code]),
                  d_setup->format,
                  symbols() ? demap::steps_per_nat : d_options.llr_scale,
                  symbols() ? 0 : d_options.positive_bit);
    }
    return *f;
}

float ldpc_decoder_impl::soft_factor() const
{
    return d_setup->soft == ldpc_soft_output::none
               ? 0
               : ldpc::soft_factor(d_setup->rule(d_options.codes[d_kind.code]),
                                   d_options.soft_scale > 0 ? d_options.soft_scale
                                                            : d_options.llr_scale,
                                   d_options.positive_bit);
}

void ldpc_decoder_impl::add_caller_frame(std::size_t at)
{
    const auto& f = format();
    d_filling->add_caller_frame(d_kind.code,
                                soft_factor(),
                                at,
                                f.factor(),
                                f.limit(),
                                d_kind.constellation,
                                d_kind.level);
    d_deadline.start();
}

// Applies the selected code, constellation and Es/N0 to the frame that begins. If this
// frame must not be in the batch being filled, sends the batch and returns true.
bool ldpc_decoder_impl::begin_frame()
{
    d_kind = d_next;
    const bool ends = ends_batch();
    if (ends) {
        send(*filling());
    }
    return ends;
}

void ldpc_decoder_impl::send(slot& to)
{
    const auto job = d_filling->make_job(to.input);
    d_batches.push_back(d_filling->take());
    const auto rows = rows_of(d_batches.back());
    if (borrowing()) {
        submit(job, d_input.end() - d_have, rows);
    } else if (job.caller_item_bytes > 0) {
        submit_from(job, caller_format_of(to), rows);
    } else {
        submit(job, rows);
    }
}

std::size_t ldpc_decoder_impl::take_borrowed(std::size_t count)
{
    std::size_t taken = 0;
    advance();
    if (d_frame_judge) {
        d_frame_judge->select(now().code, now().constellation);
    }
    while (taken < count && filling()) {
        if (d_have == 0 && begin_frame()) {
            continue;
        }
        const auto n = items_of(d_kind);
        const auto m = std::min({ count - taken, n - d_have, borrowed_capacity() });
        if (m == 0) { // skipped items have used up the capacity
            send(*filling());
            continue;
        }
        d_input.took(m);
        taken += m;
        d_have += m;
        if (d_have == n) {
            const auto first = (d_input.end() - d_input.first()) - n;
            add_caller_frame(first * d_setup->caller_value_bytes());
            d_have = 0;
            if (d_filling->full()) {
                advance();
            }
        }
    }
    advance();
    return taken;
}

std::size_t ldpc_decoder_impl::borrowed_capacity() const
{
    const auto limits = d_pipeline->active().limits();
    const auto most = std::min<std::size_t>(limits.caller_item_bytes, 0xffffffffu);
    const auto reached = d_input.end() - d_input.first();
    return most / d_setup->caller_value_bytes() - reached;
}

void ldpc_decoder_impl::forget_unneeded()
{
    if (borrowing() && waiting() == 0 && d_have == 0) {
        d_input.skip();
    }
}

output_rows
ldpc_decoder_impl::rows_of(const std::vector<frame_batch::frame>& frames) const
{
    const auto& code = d_options.codes[frames.front().code];
    const auto bits = output_bits(code);
    output_rows rows{ soft() ? d_setup->soft_offset(code) : 0,
                      frames.size(),
                      soft() ? bits : (bits + 7) / 8,
                      d_setup->frame_output_bytes(code),
                      borrows_bits() ? bits : 0 };
    const bool alike = std::all_of(frames.begin(), frames.end(), [&](auto& f) {
        return f.code == frames.front().code;
    });
    if (!alike) {
        rows = { 0, 1, 0, 0 };
        for (const auto& f : frames) {
            const auto n = output_bits(d_options.codes[f.code]);
            rows.bytes += soft() || borrows_bits() ? n : (n + 7) / 8;
        }
    } else if (!stays_in_slot(code)) {
        rows.pitch = 0;
    }
    return rows;
}

bool ldpc_decoder_impl::stays_in_slot(const ldpc_code& code) const
{
    return soft() || d_options.codeword ||
           (code.systematic_prefix() && (d_setup->message_only || code.k() % 8 == 0));
}

void ldpc_decoder_impl::require_bits(bool bits) const
{
    if (soft() == bits) {
        throw std::logic_error(bits ? "the output of this decoder is LLRs, not bits"
                                    : "the output of this decoder is bits, not LLRs");
    }
}

template <class Copy>
std::size_t ldpc_decoder_impl::pull(std::size_t capacity, bool packed, Copy&& copy)
{
    if (d_emitted_frames == 0) {
        advance(); // once per slot only, because advance() reads the clock
    }
    const auto* const slot = d_pipeline->ready();
    if (!slot || capacity == 0) {
        return 0;
    }
    const auto& batch = d_batches.front();
    const auto& frame = batch[d_emitted_frames];
    if (d_emitted == 0) {
        begin_frame(*slot, frame);
    }
    const auto bits = output_bits(frame.code);
    const auto size = gpufec::items_of(bits, packed);
    const auto n = std::min(capacity, size - d_emitted);
    if (!in_place(*slot, !packed && !soft())) {
        copy(output_of(*slot, frame), d_emitted, n);
    }
    pulled(n);
    d_emitted += n;
    if (d_emitted == size) {
        end_frame(batch.size());
    }
    return n;
}

std::size_t ldpc_decoder_impl::pull(bit_span out)
{
    require_bits(true);
    const auto copy = [out](const std::uint8_t* from, std::size_t first, std::size_t n) {
        if (out.packed) {
            std::memcpy(out.data(), from + first, n);
        } else {
            unpack_bits(from, first, n, out.data());
        }
    };
    return pull(out.size(), out.packed, copy);
}

std::size_t ldpc_decoder_impl::pull(span<std::int8_t> out)
{
    require_bits(false);
    const auto copy = [out](const std::uint8_t* from, std::size_t first, std::size_t n) {
        std::memcpy(out.data(), from + first, n);
    };
    return pull(out.size(), false, copy);
}

void ldpc_decoder_impl::begin_frame(const slot& s, const frame_batch::frame& frame)
{
    const auto& status = reinterpret_cast<const ldpc_status*>(s.status)[d_emitted_frames];
    d_status = frame_status{ status, d_frame++, frame.code };
    if (d_frame_judge) {
        d_frame_judge->count(status.unsatisfied == 0);
    }
    const auto* const bits = decisions(s, frame);
    const auto& code = d_options.codes[frame.code];
    if (d_options.keep_codeword) {
        d_codeword.assign(bits, bits + (code.n() + 7) / 8);
    }
    if (d_options.keep_soft) {
        const auto* const llrs = bits + d_setup->soft_offset(code);
        d_llrs.assign(reinterpret_cast<const std::int8_t*>(llrs),
                      reinterpret_cast<const std::int8_t*>(llrs) + code.n());
    }
    if (!stays_in_slot(code)) {
        d_message.assign((code.k() + 7) / 8, 0);
        for (unsigned i = 0; i < code.k(); ++i) {
            const auto at = code.message_positions()[i];
            d_message[i / 8] |= (bits[at / 8] >> (7 - at % 8) & 1u) << (7 - i % 8);
        }
    }
}

const std::uint8_t* ldpc_decoder_impl::output_of(const slot& s,
                                                 const frame_batch::frame& frame) const
{
    const auto& code = d_options.codes[frame.code];
    return !stays_in_slot(code)
               ? d_message.data()
               : decisions(s, frame) + (soft() ? d_setup->soft_offset(code) : 0);
}

void ldpc_decoder_impl::end_frame(std::size_t frames_in_batch)
{
    d_emitted = 0;
    if (++d_emitted_frames == frames_in_batch) {
        d_emitted_frames = 0;
        d_batches.pop_front();
        release();
        advance();
    }
}

void ldpc_decoder_impl::restart()
{
    d_batches.clear();
    d_filling->clear();
    d_have = 0;
    d_next = {};
    d_emitted_frames = 0;
    d_emitted = 0;
    d_frame = 0;
    d_status.reset();
}

ldpc_decoder::sptr ldpc_decoder::make(const ldpc_options& options, decoder_hooks hooks)
{
    if (has_vlsnr_symbols(options)) {
        return make_vlsnr_decoder(options, std::move(hooks));
    }
    return make_process_bound<ldpc_decoder_impl>(options, std::move(hooks));
}

} // namespace gr::gpufec
