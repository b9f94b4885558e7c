// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Lengths and codes of telemetry formats, and the search for parameters that decode a
 * frame. */

#include "ccsds_format.h"
#include "common/names.h"
#include "common/refuse.h"
#include "randomiser.h"
#include <algorithm>

namespace gr::gpufec {

const std::vector<ccsds_ldpc_code>& ccsds_ldpc_codes()
{
    static const std::vector<ccsds_ldpc_code> codes = [] {
        std::vector<ccsds_ldpc_code> all{
            { "c2", "ccsds_c2", "8160", "7/8", 8160, 7136 }
        };
        for (const unsigned k : { 1024, 4096, 16384 }) {
            const auto size = std::to_string(k);
            for (const auto& [rate, sent] : { std::pair("1/2", 2 * k),
                                              { "2/3", 3 * k / 2 },
                                              { "4/5", 5 * k / 4 } }) {
                all.push_back(
                    { "ar4ja-" + size + "-" + rate, "ccsds_ar4ja", size, rate, sent, k });
            }
        }
        return all;
    }();
    return codes;
}

namespace {

std::vector<std::string> reed_solomon_names()
{
    return {
        "ccsds-223", "ccsds-239", "ccsds-223-conventional", "ccsds-239-conventional"
    };
}

} // namespace

std::vector<std::string> ccsds_codes()
{
    std::vector<std::string> names{ "none" };
    for (const auto& name : reed_solomon_names()) {
        names.push_back(name);
    }
    for (const auto& code : ccsds_ldpc_codes()) {
        names.push_back(code.name);
    }
    for (const auto& code : ccsds_telecommand_codes()) {
        names.push_back(code.name);
    }
    return names;
}

namespace framing {

namespace {

// Returns the code shortened by a virtual fill, so that its interleaved messages have
// `frame_bytes` bytes.
reed_solomon_code
shortened_code(const std::string& name, unsigned interleaving, unsigned frame_bytes)
{
    const auto code = reed_solomon_code::standard(name);
    const auto longest = interleaving * code.k();
    if (frame_bytes == 0) {
        return code;
    }
    require(frame_bytes % interleaving == 0 && frame_bytes <= longest,
            "frame_bytes",
            frame_bytes,
            "0 and the multiples of " + std::to_string(interleaving) + " up to " +
                std::to_string(longest) + " with this code and interleaving");
    return code.shortened(code.k() - frame_bytes / interleaving);
}

} // namespace

ccsds_format::ccsds_format(const ccsds_framing& framing)
{
    require(framing.interleaving >= 1 && framing.interleaving <= 8,
            "interleaving",
            framing.interleaving,
            "1 to 8");
    const auto name = known_name("code", framing.code, ccsds_codes());
    for (const auto& code : ccsds_ldpc_codes()) {
        if (code.name == name) {
            ldpc = &code;
        }
    }
    if (ldpc) {
        require(framing.frame_bytes == 0 || framing.frame_bytes == ldpc->message_bits / 8,
                "frame_bytes",
                framing.frame_bytes,
                "0 and " + std::to_string(ldpc->message_bits / 8) + " with this code");
        frame_bytes = ldpc->message_bits / 8;
        sent_bits = ldpc->sent_bits;
        marker = ldpc->standard == "ccsds_ar4ja" ? ccsds_ar4ja_marker : ccsds_marker;
    } else if (name == "none") {
        require(framing.frame_bytes >= 1 && framing.frame_bytes <= max_frame_bytes,
                "frame_bytes",
                framing.frame_bytes,
                "1 to " + std::to_string(max_frame_bytes) + " without a code");
        frame_bytes = framing.frame_bytes;
        sent_bits = std::size_t(8) * frame_bytes;
    } else {
        code = shortened_code(name, framing.interleaving, framing.frame_bytes);
        frame_bytes = framing.interleaving * code->k();
        sent_bits = std::size_t(8) * framing.interleaving * code->n();
    }
    if (framing.interleaving != 1 && !code) {
        refuse("interleaving",
               framing.interleaving,
               "the only allowed value is 1 without Reed-Solomon");
    }
}

std::string fitting_parameters(const std::vector<std::uint8_t>& sent)
{
    for (const auto& name : reed_solomon_names()) {
        const auto code = reed_solomon_code::standard(name);
        for (unsigned depth = 1; depth <= 8; ++depth) {
            const auto n = unsigned(sent.size() / depth);
            if (sent.size() % depth != 0 || n > code.n() || n <= code.parity()) {
                continue;
            }
            const reed_solomon_decoder_kernel decoder(code.shortened(code.n() - n),
                                                      depth);
            for (const auto* const randomiser : { "short", "long", "none" }) {
                auto frame = sent;
                const auto sequence = randomiser_sequence(randomiser, frame.size());
                randomise(frame.data(), sequence.data(), frame.size());
                std::vector<int> corrected(depth);
                decoder.decode(frame.data(), corrected.data());
                if (std::find(corrected.begin(), corrected.end(), decoder.failed) ==
                    corrected.end()) {
                    return "code=\"" + name +
                           "\", interleaving=" + std::to_string(depth) +
                           " and randomiser=\"" + randomiser + "\"";
                }
            }
        }
    }
    return "";
}

} // namespace framing
} // namespace gr::gpufec
