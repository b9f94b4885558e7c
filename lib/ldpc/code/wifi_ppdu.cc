// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The codewords of a Wi-Fi PPDU: IEEE 802.11-2020, 19.3.11.7.5, "LDPC PPDU encoding
 * process". */

#include "code_tables.h"
#include "common/refuse.h"
#include <gnuradio/gpufec/wifi.h>
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace gr::gpufec {

namespace {

using count = std::uint64_t;

count divided_up(count x, count by) { return (x + by - 1) / by; }
count difference(count x, count y) { return x > y ? x - y : 0; }

struct fraction {
    count over, under;

    count of(count bits) const { return bits * over / under; }
    count parity(count bits) const { return bits - of(bits); }
};

fraction rate_named(const std::string& name)
{
    const auto rates = ldpc_code::rates("wifi", "648");
    require(std::find(rates.begin(), rates.end(), name) != rates.end(),
            "rate",
            '"' + name + '"',
            "1/2, 2/3, 3/4 and 5/6");
    return { count(name[0] - '0'), count(name[2] - '0') };
}

struct codeword_format {
    count codewords, bits;
};

// Returns the number and length of the codewords (table 19-16).
codeword_format format_of(count payload, count available, const fraction& rate)
{
    if (available <= 648) {
        return { 1, available >= payload + rate.parity(912) ? 1296u : 648u };
    }
    if (available <= 1296) {
        return { 1, available >= payload + rate.parity(1464) ? 1944u : 1296u };
    }
    if (available <= 1944) {
        return { 1, 1944 };
    }
    if (available <= 2592) {
        return { 2, available >= payload + rate.parity(2916) ? 1944u : 1296u };
    }
    return { divided_up(payload, rate.of(1944)), 1944 };
}

// Returns the number of bits of a codeword if \p total bits are divided among all
// codewords. If the bits do not divide evenly, the first codewords have one bit more.
unsigned share(count total, count codewords, count codeword)
{
    return unsigned(total / codewords + (codeword < total % codewords));
}

std::vector<std::uint32_t> last_before(unsigned end, unsigned count)
{
    std::vector<std::uint32_t> positions(count);
    std::iota(positions.begin(), positions.end(), end - count);
    return positions;
}

// Returns \p code with \p repeated further sent bits. They repeat the sent bits in order,
// and begin again with the first bit after the last one.
ldpc_code with_repetition(const ldpc_code& code, unsigned repeated)
{
    const auto t = ldpc_code_access::of(code).copy();
    t->complete();
    if (t->sent.empty()) {
        t->sent = last_before(t->n, t->n);
    }
    const auto different = t->sent.size();
    for (unsigned i = 0; i < repeated; ++i) {
        t->sent.push_back(t->sent[i % different]);
    }
    return ldpc_code_access::make(t);
}

} // namespace

wifi_ppdu::wifi_ppdu(unsigned psdu_bytes,
                     unsigned symbol_bits,
                     const std::string& rate_name,
                     bool stbc)
    : d_symbol_bits(symbol_bits)
{
    const auto allowed = [](unsigned most) { return "1 to " + std::to_string(most); };
    require(psdu_bytes >= 1 && psdu_bytes <= max_psdu_bytes,
            "psdu_bytes",
            psdu_bytes,
            allowed(max_psdu_bytes));
    require(symbol_bits >= 1 && symbol_bits <= max_symbol_bits,
            "symbol_bits",
            symbol_bits,
            allowed(max_symbol_bits));
    const auto rate = rate_named(rate_name);
    const count payload = count(psdu_bytes) * 8 + service_bits;
    const count step = count(symbol_bits) * (stbc ? 2 : 1);
    auto available = step * divided_up(payload * rate.under, step * rate.over);
    const auto format = format_of(payload, available, rate);
    const auto all = format.codewords * format.bits;
    const auto parity = rate.parity(all);
    const auto shortened = difference(rate.of(all), payload);
    auto punctured = difference(all, available + shortened);
    // The conditions are N_punc > 0.1·N_CW·L·(1 − R) and N_shrt < 1.2·N_punc·R/(1 − R),
    // or N_punc > 0.3·N_CW·L·(1 − R).
    if ((10 * punctured > parity &&
         10 * shortened * (rate.under - rate.over) < 12 * punctured * rate.over) ||
        10 * punctured > 3 * parity) {
        available += step;
        punctured = difference(all, available + shortened);
    }
    d_payload_bits = unsigned(payload);
    d_coded_bits = unsigned(available);
    d_shortened = unsigned(shortened);
    d_punctured = unsigned(punctured);
    d_repeated = unsigned(difference(available, parity + payload));

    const auto code = ldpc_code::standard("wifi", std::to_string(format.bits), rate_name);
    std::map<std::tuple<unsigned, unsigned, unsigned>, unsigned> known;
    d_first_payload = d_first_coded = { 0 };
    for (count c = 0; c < format.codewords; ++c) {
        const auto shorter = share(d_shortened, format.codewords, c),
                   unsent = share(d_punctured, format.codewords, c),
                   more = share(d_repeated, format.codewords, c);
        const auto found = known.emplace(std::make_tuple(shorter, unsent, more),
                                         unsigned(d_codes.size()));
        if (found.second) {
            const auto sent = code.with_positions(last_before(code.n(), unsent),
                                                  last_before(code.k(), shorter));
            d_codes.push_back(more > 0 ? with_repetition(sent, more) : sent);
        }
        d_code_of.push_back(found.first->second);
        const auto& own = d_codes[d_code_of.back()];
        d_first_payload.push_back(d_first_payload.back() + own.k());
        d_first_coded.push_back(d_first_coded.back() + own.sent());
    }
}

void wifi_ppdu::encode(const std::uint8_t* payload, std::uint8_t* coded) const
{
    std::vector<ldpc_encoder_kernel> encoders(d_codes.begin(), d_codes.end());
    std::vector<std::uint8_t> codeword(codeword_bits());
    for (unsigned c = 0; c < codewords(); ++c) {
        const auto& encoder = encoders[d_code_of[c]];
        encoder.encode(payload + d_first_payload[c], codeword.data());
        encoder.send(codeword.data(), coded + d_first_coded[c]);
    }
}

unsigned wifi_ppdu::payload_bit(unsigned coded) const
{
    const auto next = std::upper_bound(d_first_coded.begin(), d_first_coded.end(), coded);
    const auto c = std::min<std::size_t>(next - d_first_coded.begin(), codewords()) - 1;
    const auto& code = d_codes[d_code_of[c]];
    const auto bit = std::min(coded - d_first_coded[c], code.sent() - 1);
    const auto& sent = code.sent_positions();
    return d_first_payload[c] + code.message_bit(sent.empty() ? bit : sent[bit]);
}

unsigned wifi_ppdu::coded_bit(unsigned payload) const
{
    const auto next =
        std::upper_bound(d_first_payload.begin(), d_first_payload.end(), payload);
    const auto c = std::min<std::size_t>(next - d_first_payload.begin(), codewords()) - 1;
    // The message bits of a codeword are sent first.
    return d_first_coded[c] + payload - d_first_payload[c];
}

} // namespace gr::gpufec
