// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Constants of telecommand formats, the BCH code, and the encoder of CLTUs. */

#include "ccsds_format.h"
#include "common/refuse.h"
#include "randomiser.h"
#include "telecommand.h"
#include <gnuradio/gpufec/ldpc.h>

namespace gr::gpufec {

const std::vector<ccsds_telecommand_code>& ccsds_telecommand_codes()
{
    static const std::vector<ccsds_telecommand_code> codes{
        { "tc-bch", false, 64, 56 },
        { "tc-bch-detect", false, 64, 56 },
        { "tc-ldpc-128", true, 128, 64 },
        { "tc-ldpc-512", true, 512, 256 },
    };
    return codes;
}

const ccsds_telecommand_code* find_ccsds_telecommand_code(const std::string& name)
{
    for (const auto& code : ccsds_telecommand_codes()) {
        if (folded(code.name) == folded(name)) {
            return &code;
        }
    }
    return nullptr;
}

namespace framing {

namespace {

constexpr std::uint64_t generator = 0xc5; // x^7 + x^6 + x^2 + 1

// Returns the remainder of a polynomial with 63 coefficients, divided by the generator.
std::uint64_t remainder(std::uint64_t polynomial)
{
    for (int degree = 62; degree >= 7; --degree) {
        if (polynomial >> degree & 1) {
            polynomial ^= generator << (degree - 7);
        }
    }
    return polynomial;
}

// Returns the syndrome of the 63 bits before the filler bit.
std::uint64_t syndrome(std::uint64_t word) { return remainder(word >> 1 ^ 0x7f); }

} // namespace

sync_marker start_sequence(const ccsds_telecommand_code& code)
{
    return code.ldpc ? ccsds_ar4ja_marker : sync_marker{ 0xEB90, 16 };
}

std::vector<std::vector<std::uint8_t>> tail_sequences(const ccsds_telecommand_code& code)
{
    if (!code.ldpc) {
        return { { 0xC5, 0xC5, 0xC5, 0xC5, 0xC5, 0xC5, 0xC5, 0x79 } };
    }
    if (code.codeword_bits == 512) {
        return {};
    }
    // Corrigendum 1 of CCSDS 231.0-B-4 replaced the first half of this sequence.
    std::vector<std::uint8_t> now{ 0x63, 0xA1, 0xED, 0x72, 0xC6, 0xAC, 0x79, 0xE2 };
    std::vector<std::uint8_t> before{ 0x55, 0x55, 0x55, 0x56, 0xAA, 0xAA, 0xAA, 0xAA };
    now.resize(16, 0x55);
    before.resize(16, 0x55);
    return { now, before };
}

std::string telecommand_randomiser(const std::string& name)
{
    return choose<const char*>(
        "randomiser", name, { { "none", "none" }, { "short", "telecommand" } });
}

telecommand_bch::telecommand_bch()
{
    for (int bit = 1; bit < 64; ++bit) {
        const auto error = std::uint64_t(1) << bit;
        d_error[remainder(error >> 1)] = error;
    }
}

std::uint64_t telecommand_bch::encode(std::uint64_t message)
{
    message = message << 8 >> 8;
    return message << 8 | (remainder(message << 7) ^ 0x7f) << 1;
}

int telecommand_bch::correct(std::uint64_t& word) const
{
    const auto s = syndrome(word);
    const auto error = s ? d_error[s] : word & 1;
    if (s && (error == 0 || word & 1)) {
        return -1;
    }
    word ^= error;
    return error ? 1 : 0;
}

} // namespace framing

std::vector<std::uint8_t> ccsds_encode_cltu(const std::uint8_t* frame,
                                            std::size_t bytes,
                                            const std::string& code_name,
                                            const std::string& randomiser)
{
    std::vector<std::string> names;
    for (const auto& code : ccsds_telecommand_codes()) {
        names.push_back(code.name);
    }
    const auto& code = *find_ccsds_telecommand_code(known_name("code", code_name, names));
    const auto sequence_name = framing::telecommand_randomiser(randomiser);
    require(bytes >= 1 && bytes <= framing::max_frame_bytes,
            "length of the frame",
            bytes,
            "1 to " + std::to_string(framing::max_frame_bytes) + " bytes");

    const auto start = framing::start_sequence(code);
    std::vector<std::uint8_t> cltu;
    for (unsigned i = start.bits; i > 0; i -= 8) {
        cltu.push_back(std::uint8_t(start.word >> (i - 8)));
    }
    const auto message_bytes = code.message_bits / 8;
    const auto codewords = (bytes + message_bytes - 1) / message_bytes;
    std::vector<std::uint8_t> content(frame, frame + bytes);
    if (!code.ldpc) {
        const auto sequence = framing::randomiser_sequence(sequence_name, bytes);
        framing::randomise(content.data(), sequence.data(), bytes);
    }
    content.resize(codewords * message_bytes, 0x55); // alternating fill bits
    std::vector<std::uint8_t> codeword(code.codeword_bits / 8);
    if (code.ldpc) {
        const ldpc_encoder_kernel encoder(
            ldpc_code::standard("ccsds_tc", std::to_string(code.codeword_bits), "1/2"));
        const auto sequence =
            framing::randomiser_sequence(sequence_name, codeword.size());
        for (std::size_t i = 0; i < codewords; ++i) {
            encoder.encode_packed(content.data() + i * message_bytes, codeword.data());
            framing::randomise(codeword.data(), sequence.data(), codeword.size());
            cltu.insert(cltu.end(), codeword.begin(), codeword.end());
        }
    } else {
        for (std::size_t i = 0; i < codewords; ++i) {
            std::uint64_t message = 0;
            for (unsigned b = 0; b < message_bytes; ++b) {
                message = message << 8 | content[i * message_bytes + b];
            }
            const auto word = framing::telecommand_bch::encode(message);
            for (int shift = 56; shift >= 0; shift -= 8) {
                cltu.push_back(std::uint8_t(word >> shift));
            }
        }
    }
    if (const auto tails = framing::tail_sequences(code); !tails.empty()) {
        cltu.insert(cltu.end(), tails[0].begin(), tails[0].end());
    }
    return cltu;
}

} // namespace gr::gpufec
