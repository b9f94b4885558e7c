// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The convolutional encoder. Unpacked bits are encoded one stage at a time, packed bits
 * eight stages at a time by tables. */

#include "common/packed_bits.h"
#include "viterbi/model/block_layout.h"
#include <algorithm>
#include <numeric>

namespace gr::gpufec {

using namespace viterbi;

/*
 * Tables that encode a byte, which has the bits of eight stages. The code is linear, so
 * the coded bits are the sum modulo 2 of the responses to this byte and to the previous
 * byte. */
struct conv_encoder_kernel::tables {
    explicit tables(const conv_code& code);

    // Coded bits of a stage, after the inversion of outputs. The index is the input bit
    // times the number of states, plus the state.
    std::vector<std::uint8_t> words;

    // Coded bits of eight stages, for one first position in the puncturing period.
    struct phase {
        // Responses to the current byte, with the inversion of outputs, and to the
        // previous byte.
        std::uint64_t now[256], before[256];
        unsigned sent[9]; // sent[s]: number of coded bits of the first s stages
    };
    // The information bits are encoded in groups of whole bytes and whole puncturing
    // periods. This table has one element for each byte of such a group.
    std::vector<phase> phases;
};

conv_encoder_kernel::tables::tables(const conv_code& code)
    : phases(std::lcm(code.period(), 8u) / 8)
{
    const unsigned R = code.outputs(), K = code.constraint_length();
    unsigned inverted = 0;
    for (unsigned r = 0; r < R; ++r) {
        inverted = inverted << 1 | unsigned(code.inverted(r));
    }
    for (unsigned bit = 0; bit < 2; ++bit) {
        for (unsigned state = 0; state < code.states(); ++state) {
            words.push_back(code.output_word(state, bit) ^ inverted);
        }
    }
    for (std::size_t p = 0; p < phases.size(); ++p) {
        auto& to = phases[p];
        for (unsigned s = 0; s <= 8; ++s) {
            to.sent[s] = code.values(8 * p + s) - code.values(8 * p);
        }
        // Returns the coded bits of eight stages. The low byte of `bits` has the
        // information bits of these stages, and the next byte has those of the previous
        // eight stages. The newest bit is the least significant.
        const auto sent = [&](unsigned bits) {
            std::uint64_t all = 0;
            for (unsigned s = 0; s < 8; ++s) {
                for (unsigned r = 0; r < R; ++r) {
                    if (code.sent(8 * p + s, r)) {
                        unsigned sum = 0;
                        for (unsigned delay = 0; delay < K; ++delay) {
                            sum ^= bits >> (7 - s + delay) &
                                   code.polynomial(r) >> (K - 1 - delay);
                        }
                        all = all << 1 | (sum & 1u);
                    }
                }
            }
            return all;
        };
        std::uint64_t inversion = 0;
        for (unsigned s = 0; s < 8; ++s) {
            for (unsigned r = 0; r < R; ++r) {
                if (code.sent(8 * p + s, r)) {
                    inversion = inversion << 1 | std::uint64_t(code.inverted(r));
                }
            }
        }
        for (unsigned byte = 0; byte < 256; ++byte) {
            to.now[byte] = sent(byte) ^ inversion;
            to.before[byte] = sent(byte << 8);
        }
    }
}

conv_encoder_kernel::conv_encoder_kernel(const conv_code& code,
                                         termination ends,
                                         unsigned frame_bits)
    : d_code(code), d_ends(ends), d_frame_bits(frame_bits)
{
    check_frame_bits(code, ends, frame_bits);
    d_tables = std::make_shared<tables>(code);
}

// Encodes one bit at stage `stage`, writes its coded bits to `out`, one per byte, updates
// `state`, and returns the end of the output.
std::uint8_t* conv_encoder_kernel::send(std::uint64_t stage,
                                        unsigned& state,
                                        unsigned bit,
                                        std::uint8_t* out) const
{
    const unsigned R = d_code.outputs();
    const unsigned word = d_tables->words[bit * d_code.states() + state];
    for (unsigned r = 0; r < R; ++r) {
        if (d_code.period() == 1 || d_code.sent(stage, r)) {
            *out++ = word >> (R - 1 - r) & 1u;
        }
    }
    state = d_code.next_state(state, bit);
    return out;
}

// Returns the state of a streaming encoder before the next bit.
unsigned conv_encoder_kernel::state() const
{
    const unsigned memory = d_code.constraint_length() - 1;
    unsigned state = 0;
    for (unsigned delay = 0; delay < memory; ++delay) {
        state |= unsigned(d_history >> delay & 1u) << (memory - 1 - delay);
    }
    return state;
}

std::size_t conv_encoder_kernel::coded_bits(std::size_t bits) const
{
    if (d_ends == termination::streaming) {
        return d_code.values(d_stage + bits) - d_code.values(d_stage);
    }
    return d_code.values(sent_stages(d_code, d_ends, d_frame_bits));
}

std::size_t conv_encoder_kernel::encode(const std::uint8_t* bits,
                                        std::size_t count,
                                        std::uint8_t* out)
{
    auto* end = out;
    auto now = state();
    for (std::size_t i = 0; i < count; ++i) {
        end = send(d_stage++, now, bits[i] & 1u, end);
        d_history = d_history << 1 | (bits[i] & 1u);
    }
    return end - out;
}

std::size_t conv_encoder_kernel::encode_frame(const std::uint8_t* bits,
                                              std::uint8_t* out) const
{
    unsigned state = 0;
    if (d_ends == termination::tailbiting) {
        for (unsigned i = d_frame_bits - (d_code.constraint_length() - 1);
             i < d_frame_bits;
             ++i) {
            state = d_code.next_state(state, bits[i] & 1u);
        }
    }
    const auto stages = sent_stages(d_code, d_ends, d_frame_bits);
    auto* end = out;
    for (unsigned i = 0; i < stages; ++i) {
        end = send(i, state, i < d_frame_bits ? bits[i] & 1u : 0u, end);
    }
    return end - out;
}

// Encodes `stages` packed bits, one per stage; the first belongs to stage number `stage`.
// `bytes` has `count` bits. The bits of further stages, the tail, are zeros. The output
// begins at bit `first` of the byte at `out`. `history` holds the 64 information bits
// before stage `stage`, the newest least significant. Returns the history for the next
// call.
std::uint64_t conv_encoder_kernel::run(std::uint64_t history,
                                       std::uint64_t stage,
                                       const std::uint8_t* bytes,
                                       std::size_t count,
                                       std::size_t stages,
                                       std::uint8_t* out,
                                       unsigned first) const
{
    const auto& phases = d_tables->phases;
    const auto coded = d_code.values(stage + stages) - d_code.values(stage);
    bit_writer writer(out, first, out + (first + coded + 7) / 8);
    // The tables encode bytes that begin at a multiple of eight stages. The first byte
    // therefore begins with `skip` bits of the history, whose coded bits are not written.
    const unsigned skip = stage % 8;
    const auto* phase = &phases[stage / 8 % phases.size()];
    const auto next = [&](const tables::phase* p) {
        return p + 1 == phases.data() + phases.size() ? phases.data() : p + 1;
    };
    // Two bytes are encoded together if their coded bits fit the 56 bits that the writer
    // accepts per call.
    const bool pairs = 2 * 8 * d_code.outputs() <= 56;
    auto before = unsigned(history >> skip & 255);
    for (std::size_t i = 0; i < skip + stages; i += 64) {
        auto word = packed_word(bytes, count, i ? i - skip : 0);
        if (i == 0 && skip) {
            word = word >> skip | history << (64 - skip);
        }
        const auto end = std::min<std::size_t>(64, skip + stages - i);
        if (pairs && end == 64 && (i > 0 || !skip)) {
            for (int at = 56; at >= 0; at -= 16) {
                const auto one = unsigned(word >> at & 255);
                const auto two = unsigned(word >> (at - 8) & 255);
                const auto* const second = next(phase);
                writer.put((phase->now[one] ^ phase->before[before]) << second->sent[8] |
                               (second->now[two] ^ second->before[one]),
                           phase->sent[8] + second->sent[8]);
                before = two;
                phase = next(second);
            }
            continue;
        }
        for (unsigned at = 0; at < end; at += 8) {
            const auto byte = unsigned(word >> (56 - at) & 255);
            auto bits = phase->now[byte] ^ phase->before[before];
            before = byte;
            auto n = phase->sent[8];
            if (end - at < 8) {
                bits >>= n - phase->sent[end - at];
                n = phase->sent[end - at];
            }
            if (i + at == 0 && skip) {
                n -= phase->sent[skip];
                bits &= (std::uint64_t(1) << n) - 1;
            }
            writer.put(bits, n);
            phase = next(phase);
        }
    }
    writer.finish();
    const auto last = std::min<std::size_t>(stages, 64);
    const auto newest = packed_word(bytes, count, stages - last);
    return last == 0    ? history
           : last == 64 ? newest
                        : history << last | newest >> (64 - last);
}

std::size_t conv_encoder_kernel::encode_packed(const std::uint8_t* bytes,
                                               std::size_t count,
                                               std::uint8_t* out,
                                               unsigned first)
{
    const auto coded = coded_bits(count);
    d_history = run(d_history, d_stage, bytes, count, count, out, first);
    d_stage += count;
    return coded;
}

std::size_t conv_encoder_kernel::encode_frame_packed(const std::uint8_t* bytes,
                                                     std::uint8_t* out) const
{
    std::uint64_t history = 0;
    if (d_ends == termination::tailbiting) {
        const unsigned memory = d_code.constraint_length() - 1;
        history =
            packed_word(bytes, d_frame_bits, d_frame_bits - memory) >> (64 - memory);
    }
    const auto stages = sent_stages(d_code, d_ends, d_frame_bits);
    run(history, 0, bytes, d_frame_bits, stages, out, 0);
    return (coded_bits(d_frame_bits) + 7) / 8;
}

} // namespace gr::gpufec
