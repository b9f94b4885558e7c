// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The output of the stream decoder: messages, codewords or LLRs of finished batches. */

#include "common/packed_bits.h"
#include "decoder_impl.h"
#include <algorithm>
#include <cstring>

namespace gr::gpufec {

using namespace ldpc;

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
    advance();
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
    const auto size = packed ? (bits + 7) / 8 : bits;
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

} // namespace gr::gpufec
