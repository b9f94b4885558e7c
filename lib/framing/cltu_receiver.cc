// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The receiver of telecommands. It finds CLTUs by their start sequences and decodes one
 * codeword after the other, until a codeword cannot be decoded. */

#include "ccsds_format.h"
#include "common/refuse.h"
#include "frame_receiver.h"
#include "marker_search.h"
#include "randomiser.h"
#include "received_bits.h"
#include "telecommand.h"
#include <gnuradio/gpufec/ldpc.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <optional>
#include <utility>

namespace gr::gpufec::framing {

namespace {

// Returns the largest number of errors whose probability in `hypotheses` words of random
// bits is at most `limit`, or 0 if no number satisfies the limit.
unsigned tolerated_errors(unsigned bits, unsigned hypotheses, double limit)
{
    unsigned errors = 0;
    while (errors + 1 < bits / 2 &&
           hypotheses * chance_of_marker(bits, errors + 1) <= limit) {
        ++errors;
    }
    return errors;
}

ldpc_options ldpc_part(const ccsds_framing& framing, const ccsds_telecommand_code& code)
{
    ldpc_options options;
    options.codes = { ldpc_code::standard(
        "ccsds_tc", std::to_string(code.codeword_bits), "1/2") };
    options.llr_scale = framing.llr_scale;
    options.max_iterations = framing.max_iterations;
    options.positive_bit = framing.positive_bit;
    options.precision = ldpc_precision::float32;
    options.codeword = true;
    options.backend = backend::cpu; // codewords are decoded one at a time
    options.batch = options.slots = 1;
    options.watch = false;
    return options;
}

class cltu_receiver final : public frame_receiver
{
public:
    cltu_receiver(const ccsds_framing& framing,
                  const ccsds_telecommand_code& code,
                  bool soft,
                  const std::string& variant)
        : d_code(code),
          d_corrects(code.name != "tc-bch-detect"),
          d_max_bytes(framing.frame_bytes ? framing.frame_bytes : max_frame_bytes),
          d_start(start_sequence(code)),
          d_tails(tail_sequences(code)),
          d_start_errors(tolerated_errors(d_start.bits, 2, framing.false_alarm)),
          d_tail_errors(tolerated_errors(code.codeword_bits, 1, framing.false_alarm)),
          d_sequence(randomiser_sequence(telecommand_randomiser(framing.randomiser),
                                         code.ldpc ? code.codeword_bits / 8
                                                   : max_frame_bytes + 8)),
          d_search(d_start,
                   // At most 1 in 500 random positions passes this limit, so that few
                   // positions need soft values.
                   code.ldpc ? tolerated_errors(
                                   d_start.bits, 2, std::max(0.002, framing.false_alarm))
                             : d_start_errors,
                   variant),
          d_bits(code.ldpc, framing.positive_bit, framing.differential),
          d_received(code.codeword_bits / 8),
          d_soft(code.codeword_bits)
    {
        if (framing.interleaving != 1) {
            refuse("interleaving",
                   framing.interleaving,
                   "the only allowed value is 1 with telecommand codes");
        }
        require(framing.frame_bytes <= max_frame_bytes,
                "frame_bytes",
                framing.frame_bytes,
                "0 to " + std::to_string(max_frame_bytes) + " with telecommand codes");
        if (orientations_of(framing.constellation).size() != 1) {
            refuse("constellation",
                   '"' + framing.constellation + '"',
                   "the only allowed value is \"bpsk\" with telecommand codes");
        }
        require(framing.false_alarm > 0 && framing.false_alarm < 1,
                "false_alarm",
                framing.false_alarm,
                "above 0 and below 1");
        check_positive_bit(framing.positive_bit);
        require(!code.ldpc || soft,
                "code",
                '"' + code.name + '"',
                "\"tc-bch\" and \"tc-bch-detect\" with bits as input");
        if (code.ldpc && framing.differential) {
            refuse("differential",
                   "true",
                   "the only allowed value is false with LDPC codes");
        }
        if (code.ldpc) {
            d_ldpc = ldpc_decoder::make(ldpc_part(framing, code));
        }
    }

    std::size_t frame_items() const override { return d_code.message_bits / 8; }
    bool soft_output() const override { return false; }
    unsigned marker_bits() const override { return d_start.bits; }
    std::size_t period() const override { return d_code.codeword_bits; }
    unsigned search_errors() const override { return d_start_errors; }
    unsigned track_errors() const override { return d_tail_errors; }

    void push(const std::uint8_t* bytes, std::size_t count) override
    {
        push_pieces(bytes, count);
    }
    void push(const std::int8_t* values, std::size_t count) override
    {
        push_pieces(values, count);
    }
    std::size_t piece() const override { return 8192; }
    void finish() override { run(true); }
    ccsds_frame* next(const std::uint8_t*& items) override
    {
        if (d_found.empty()) {
            return nullptr;
        }
        d_next = std::move(d_found.front());
        d_found.pop_front();
        items = d_next.bytes.data();
        return &d_next;
    }
    std::uint64_t needed() const override { return d_cltu ? d_cltu->position : d_at; }
    void reset() override
    {
        d_bits.clear();
        d_cltu.reset();
        d_found.clear();
        d_at = d_undecoded = 0;
        d_counts = {};
    }

    bool locked() const override { return d_cltu.has_value(); }
    ccsds_counts counts() const override { return d_counts; }
    std::string verdict() const override
    {
        return d_counts.frames == 0 && d_undecoded >= enough_starts
                   ? "start sequences were found, but no codeword after them could be "
                     "decoded: check code and randomiser"
                   : "";
    }

private:
    // Wrong parameters are reported after `enough_starts` start sequences of 64 bits, if
    // no codeword has followed any of these start sequences. Only start sequences with at
    // most `few_errors` errors count.
    static constexpr unsigned enough_starts = 8, few_errors = 4;

    template <class Item>
    void push_pieces(const Item* items, std::size_t count)
    {
        for (std::size_t i = 0; i < count; i += piece()) {
            d_bits.push(items + i, std::min(piece(), count - i));
            run(false);
        }
    }

    unsigned errors(double correlation) const
    {
        return unsigned(std::lround(d_start.bits * (1 - std::abs(correlation)) / 2));
    }

    void run(bool ended);
    bool search();
    int decode();
    bool is_tail() const;
    void end_cltu(bool tail);
    // Returns whether the CLTU has all bytes that its length allows.
    bool full() const { return d_cltu->bytes.size() >= d_max_bytes; }

    const ccsds_telecommand_code d_code;
    const bool d_corrects;
    const std::size_t d_max_bytes;
    const sync_marker d_start;
    const std::vector<std::vector<std::uint8_t>> d_tails;
    const unsigned d_start_errors, d_tail_errors;
    // The randomiser restarts at each codeword of an LDPC code. With BCH codes, it starts
    // once, at the content of a CLTU.
    const std::vector<std::uint8_t> d_sequence;
    const marker_search d_search;
    const telecommand_bch d_bch;
    ldpc_decoder::sptr d_ldpc; // null with BCH codes

    received_bits d_bits;
    std::uint64_t d_at = 0;               // first position to search
    std::optional<ccsds_frame> d_cltu;    // CLTU that is being received
    std::vector<std::uint8_t> d_received; // hard bits of the current codeword
    std::vector<std::uint8_t> d_decoded;  // message of the current codeword
    std::vector<std::int8_t> d_soft;      // soft values of the codeword, for LDPC codes
    std::deque<ccsds_frame> d_found;
    ccsds_frame d_next;       // result of next()
    unsigned d_undecoded = 0; // see enough_starts
    ccsds_counts d_counts;
};

void cltu_receiver::run(bool ended)
{
    while (d_cltu || search()) {
        const bool whole = d_cltu->end + d_code.codeword_bits <= d_bits.end();
        if (!whole && !ended) {
            break;
        }
        if (!whole) {
            d_counts.cut += !d_cltu->bytes.empty() && !full();
            end_cltu(false);
            continue;
        }
        d_bits.read_bits(
            { 0, false, false }, d_cltu->end, d_received.size(), d_received.data());
        for (auto& byte : d_received) {
            byte ^= d_cltu->inverted ? 0xff : 0;
        }
        if (full()) {
            end_cltu(is_tail());
            continue;
        }
        const int corrected = decode();
        // Without this test, a tail sequence with errors could be corrected to a
        // codeword.
        if (corrected != 0 && is_tail()) {
            end_cltu(true);
        } else if (corrected < 0) {
            end_cltu(false);
        } else {
            d_cltu->bytes.insert(d_cltu->bytes.end(), d_decoded.begin(), d_decoded.end());
            d_cltu->corrected.push_back(corrected);
            d_cltu->end += d_code.codeword_bits;
            if (full() && d_tails.empty()) {
                end_cltu(false);
            }
        }
    }
    // Before its first codeword is decoded, a CLTU may be false, and the search must then
    // continue after the first bit of the CLTU.
    d_bits.discard(d_cltu && !d_cltu->bytes.empty() ? d_cltu->end : needed());
}

// Begins a CLTU at the next start sequence. Returns whether there is one.
bool cltu_receiver::search()
{
    constexpr std::size_t chunk = 4096;
    std::uint8_t bytes[chunk / 8 + 8];
    const auto last =
        d_bits.end() - std::min<std::uint64_t>(d_bits.end(), d_start.bits - 1);
    while (d_at < last) {
        const auto start = d_at / 8 * 8;
        const auto limit = std::size_t(std::min<std::uint64_t>(last - start, chunk));
        d_bits.read_bytes(
            { 0, false, false }, start, (limit + d_start.bits - 1 + 7) / 8, bytes);
        d_search.find(bytes, d_at - start, limit, [&](std::size_t hit) {
            const auto c = d_bits.correlation({ 0, false, false }, start + hit, d_start);
            if (errors(c) > d_start_errors) {
                return false;
            }
            d_cltu.emplace();
            d_cltu->position = start + hit;
            d_cltu->end = d_cltu->position + d_start.bits;
            d_cltu->inverted = c < 0;
            d_cltu->marker_found = true;
            d_cltu->marker_correlation = std::abs(c);
            return true;
        });
        if (d_cltu) {
            return true;
        }
        d_at = start + limit;
    }
    return false;
}

// Decodes the codeword of d_received to d_decoded. Returns the number of corrected bits,
// or −1 if the codeword cannot be decoded.
int cltu_receiver::decode()
{
    const auto message_bytes = d_code.message_bits / 8;
    if (!d_ldpc) {
        std::uint64_t word = bits_at(d_received.data(), 0, 64);
        const int corrected = d_bch.correct(word);
        if (corrected < 0 || (corrected > 0 && !d_corrects)) {
            return -1;
        }
        d_decoded.resize(message_bytes);
        for (unsigned i = 0; i < message_bytes; ++i) {
            d_decoded[i] = std::uint8_t(word >> (56 - 8 * i));
        }
        return corrected;
    }
    d_bits.read_soft({ 0, false, false }, d_cltu->end, d_soft.size(), d_soft.data());
    for (std::size_t i = 0; i < d_soft.size(); ++i) {
        const bool flip = d_cltu->inverted != bool(d_sequence[i / 8] >> (7 - i % 8) & 1);
        d_soft[i] = std::int8_t(flip ? -d_soft[i] : d_soft[i]);
    }
    d_ldpc->push({ d_soft.data(), d_soft.size() });
    d_ldpc->flush();
    while (!d_ldpc->wait(std::chrono::seconds(1))) {
    }
    d_decoded.resize(d_received.size());
    d_ldpc->pull({ d_decoded.data(), d_decoded.size(), true });
    if (d_ldpc->status()->unsatisfied > 0) {
        return -1;
    }
    int corrected = 0;
    for (std::size_t i = 0; i < d_decoded.size(); ++i) {
        corrected += __builtin_popcount(d_decoded[i] ^ d_received[i] ^ d_sequence[i]);
    }
    d_decoded.resize(message_bytes);
    return corrected;
}

bool cltu_receiver::is_tail() const
{
    return std::any_of(d_tails.begin(), d_tails.end(), [this](const auto& tail) {
        unsigned wrong = 0;
        for (std::size_t i = 0; i < tail.size(); ++i) {
            wrong += unsigned(__builtin_popcount(tail[i] ^ d_received[i]));
        }
        return wrong <= d_tail_errors;
    });
}

// Ends the CLTU before the codeword at its end, which may be a tail sequence.
void cltu_receiver::end_cltu(bool tail)
{
    auto cltu = std::move(*d_cltu);
    d_cltu.reset();
    if (cltu.bytes.empty()) {
        // The true start sequence may begin within a false one.
        d_at = cltu.position + 1;
        ++d_counts.unconfirmed;
        d_undecoded +=
            d_start.bits == 64 && errors(cltu.marker_correlation) <= few_errors;
        return;
    }
    d_at = cltu.end + (tail ? d_code.codeword_bits : 0);
    if (!d_code.ldpc) {
        randomise(cltu.bytes.data(), d_sequence.data(), cltu.bytes.size());
    }
    cltu.bytes.resize(std::min(cltu.bytes.size(), d_max_bytes));
    cltu.good = true;
    cltu.tail_found = tail;
    ++d_counts.frames;
    ++d_counts.locks;
    for (const auto bits : cltu.corrected) {
        d_counts.corrected += bits;
    }
    d_found.push_back(std::move(cltu));
}

} // namespace

std::unique_ptr<frame_receiver> make_cltu_receiver(const ccsds_framing& framing,
                                                   const ccsds_telecommand_code& code,
                                                   bool soft_input,
                                                   const std::string& variant)
{
    return std::make_unique<cltu_receiver>(framing, code, soft_input, variant);
}

} // namespace gr::gpufec::framing
