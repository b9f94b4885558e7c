// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests Reed-Solomon codes against the codec of gr-fec, by Phil Karn. */

#include <gnuradio/gpufec/reed_solomon.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <random>

extern "C" {
#include <gnuradio/fec/rs.h>
}

using namespace gr::gpufec;

namespace {

using bytes = std::vector<std::uint8_t>;

// A codec of gr-fec for words of 255 symbols in the conventional basis
class gr_fec_codec
{
public:
    explicit gr_fec_codec(const reed_solomon_code& code)
        : d_code(code),
          d_codec(init_rs_char(
              8, code.field(), code.first_root(), code.root_step(), code.parity()))
    {
    }
    ~gr_fec_codec() { free_rs_char(d_codec); }
    gr_fec_codec(const gr_fec_codec&) = delete;
    gr_fec_codec& operator=(const gr_fec_codec&) = delete;

    // Encodes k symbols to n.
    bytes encode(const bytes& message) const
    {
        bytes word(255 - d_code.n());
        word.insert(word.end(), message.begin(), message.end());
        word.resize(255);
        encode_rs_char(d_codec, word.data(), word.data() + 255 - d_code.parity());
        return { word.begin() + 255 - d_code.n(), word.end() };
    }
    // Corrects n symbols. Returns the number of errors and erasures, or −1 if decoding
    // fails.
    int decode(bytes& codeword, const bytes& erasures) const
    {
        const auto fill = 255 - d_code.n();
        bytes word(fill);
        word.insert(word.end(), codeword.begin(), codeword.end());
        int places[255];
        int count = 0;
        for (unsigned j = 0; j < d_code.n(); ++j) {
            if (erasures[j]) {
                places[count++] = int(fill + j);
            }
        }
        const auto result = decode_rs_char(d_codec, word.data(), places, count);
        codeword.assign(word.begin() + fill, word.end());
        return result;
    }

private:
    const reed_solomon_code d_code;
    void* const d_codec;
};

// Converts between conventional symbols and those of the dual basis: CCSDS 131.0-B, annex
// F.
std::uint8_t to_dual(unsigned u)
{
    const std::uint8_t rows[] = { 0x8d, 0xef, 0xec, 0x86, 0xfa, 0x99, 0xaf, 0x7b };
    std::uint8_t z = 0;
    for (unsigned bit = 0; bit < 8; ++bit) {
        z ^= u >> (7 - bit) & 1 ? rows[bit] : 0;
    }
    return z;
}

// Converts conventional symbols to the basis of a code.
bytes in_basis_of(const reed_solomon_code& code, bytes symbols)
{
    if (code.dual_basis()) {
        std::transform(symbols.begin(), symbols.end(), symbols.begin(), to_dual);
    }
    return symbols;
}

std::vector<reed_solomon_code> codes()
{
    std::vector<reed_solomon_code> made;
    for (const auto& name : reed_solomon_code::standards()) {
        made.push_back(reed_solomon_code::standard(name));
        made.push_back(made.back().shortened(50));
    }
    return made;
}

} // namespace

TEST(GrFec, EncodedMessage_HasParityOfGrFec)
{
    std::mt19937 random(11);
    for (const auto& code : codes()) {
        SCOPED_TRACE(code.name());
        const gr_fec_codec codec(code);
        const reed_solomon_encoder_kernel encoder(code);
        for (int trial = 0; trial < 20; ++trial) {
            bytes message(code.k());
            std::generate(
                message.begin(), message.end(), [&] { return std::uint8_t(random()); });
            const auto expected = in_basis_of(code, codec.encode(message));
            bytes frame(code.n());
            encoder.encode(in_basis_of(code, message).data(), frame.data());
            EXPECT_EQ(frame, expected);
        }
    }
}

TEST(GrFec, ErrorsAndErasures_AreCorrectedAsByGrFec)
{
    std::mt19937 random(12);
    for (const auto& code : codes()) {
        SCOPED_TRACE(code.name());
        const gr_fec_codec codec(code);
        const reed_solomon_decoder_kernel decoder(code);
        for (unsigned errors = 0; errors <= code.t() + 1; ++errors) {
            // With erasures, gr-fec may correct words beyond the error bound, so the
            // uncorrectable words have no erasures.
            const auto spare = errors <= code.t() ? code.parity() - 2 * errors : 0;
            for (const auto erased : { 0u, std::min(1u, spare), spare }) {
                bytes message(code.k());
                std::generate(message.begin(), message.end(), [&] {
                    return std::uint8_t(random());
                });
                const auto sent = codec.encode(message);
                auto received = sent;
                bytes erasures(code.n());
                std::vector<unsigned> places(code.n());
                for (unsigned j = 0; j < code.n(); ++j) {
                    places[j] = j;
                }
                std::shuffle(places.begin(), places.end(), random);
                for (unsigned i = 0; i < errors + erased; ++i) {
                    received[places[i]] ^= 1 + random() % 255;
                    erasures[places[i]] = i < erased;
                }
                auto frame = in_basis_of(code, received);
                int count = 0;
                decoder.decode(frame.data(), &count, erasures.data());
                const auto expected = codec.decode(received, erasures);
                EXPECT_EQ(count, expected) << errors << ' ' << erased;
                EXPECT_EQ(frame, in_basis_of(code, received));
                EXPECT_EQ(expected >= 0, received == sent);
            }
        }
    }
}
