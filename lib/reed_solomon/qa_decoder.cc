// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests the fast encoder and decoder against the reference, and the reference against all
 * codewords of a small code. */

#include "common/cpu_variant.h"
#include "reference.h"
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <numeric>
#include <random>

using namespace gr::gpufec;
using namespace gr::gpufec::reed_solomon;

namespace {

using bytes = std::vector<std::uint8_t>;
constexpr int failed = reed_solomon_decoder_kernel::failed;

bytes random_bytes(std::size_t count, std::mt19937& random)
{
    bytes made(count);
    std::generate(made.begin(), made.end(), [&] { return std::uint8_t(random()); });
    return made;
}

// Returns \p count different positions below \p n.
std::vector<unsigned> positions_of(unsigned count, unsigned n, std::mt19937& random)
{
    std::vector<unsigned> all(n);
    std::iota(all.begin(), all.end(), 0);
    std::shuffle(all.begin(), all.end(), random);
    all.resize(count);
    return all;
}

// Interleaves codewords into a frame.
bytes interleaved(const std::vector<bytes>& codewords)
{
    bytes frame;
    for (std::size_t j = 0; j < codewords[0].size(); ++j) {
        for (const auto& codeword : codewords) {
            frame.push_back(codeword[j]);
        }
    }
    return frame;
}

// Received words, their erasures, and the expected results of the decoder.
struct test_frame {
    std::vector<bytes> received, erasures, corrected;
    std::vector<int> counts;
};

// Adds a codeword with wrong symbols. Some wrong symbols and some correct symbols are
// erased.
void add_codeword(test_frame& frame,
                  const reed_solomon_code& code,
                  unsigned errors,
                  unsigned erased,
                  std::mt19937& random)
{
    auto codeword = reference_encode(code, random_bytes(code.k(), random));
    bytes erasures(code.n());
    const auto count = std::min(errors + erased, code.n());
    const auto places = positions_of(count, code.n(), random);
    for (unsigned i = 0; i < count; ++i) {
        if (i < erased) {
            erasures[places[i]] = std::uint8_t(1 + random() % 255);
        }
        if (i >= erased || random() % 4) {
            codeword[places[i]] ^= 1 + random() % 255;
        }
    }
    frame.received.push_back(codeword);
    frame.erasures.push_back(erasures);
    frame.counts.push_back(reference_decode(code, codeword, erasures));
    frame.corrected.push_back(codeword);
}

void compare(const reed_solomon_decoder_kernel& decoder,
             const test_frame& frame,
             bool with_erasures)
{
    auto decoded = interleaved(frame.received);
    const auto erasures = interleaved(frame.erasures);
    std::vector<int> counts(decoder.interleaving(), 99);
    decoder.decode(
        decoded.data(), counts.data(), with_erasures ? erasures.data() : nullptr);
    EXPECT_EQ(counts, frame.counts);
    EXPECT_EQ(decoded, interleaved(frame.corrected));
}

// Returns the codes of the standards, and codes with other fields, roots and lengths;
// some have an odd number of parity symbols or more than 32.
std::vector<reed_solomon_code> several_codes()
{
    std::vector<reed_solomon_code> codes;
    for (const auto& name : reed_solomon_code::standards()) {
        codes.push_back(reed_solomon_code::standard(name));
    }
    codes.push_back(reed_solomon_code::standard("ccsds-223").shortened(33));
    codes.push_back(reed_solomon_code::standard("ccsds-239").shortened(238));
    codes.emplace_back(255, 191, 0x11d, 1, 1);
    codes.emplace_back(20, 13, 0x12b, 254, 7);
    codes.emplace_back(2, 1, 0x11d, 0, 1);
    codes.emplace_back(77, 40, 0x187, 100, 11, true);
    return codes;
}

} // namespace

TEST(Reference, SmallCode_DecodesToNearestCodeword)
{
    // The code has two message symbols, 65536 codewords, and a minimum distance of 5.
    const reed_solomon_code code(6, 2, 0x11d, 3, 2);
    std::vector<bytes> codewords;
    for (unsigned m = 0; m < 65536; ++m) {
        codewords.push_back(
            reference_encode(code, { std::uint8_t(m >> 8), std::uint8_t(m) }));
    }
    const reed_solomon_decoder_kernel decoder(code);
    std::mt19937 random(5);
    unsigned wrong_codewords = 0, failures = 0;
    for (unsigned trial = 0; trial < 60; ++trial) {
        const auto& sent = codewords[random() % codewords.size()];
        const auto erased = trial % 5;
        bytes received = sent, erasures(6);
        const auto places = positions_of(6, 6, random);
        for (unsigned i = 0; i < erased; ++i) {
            erasures[places[i]] = 1;
            received[places[i]] = std::uint8_t(random());
        }
        const auto errors = random() % 4;
        for (unsigned i = erased; i < std::min<std::size_t>(erased + errors, 6); ++i) {
            received[places[i]] ^= 1 + random() % 255;
        }
        // Erased symbols do not count towards the distance. At most one codeword is
        // within half the minimum distance.
        auto expected = received;
        int count = failed;
        for (const auto& codeword : codewords) {
            unsigned distance = 0, changed = 0;
            for (unsigned i = 0; i < 6; ++i) {
                changed += codeword[i] != received[i];
                distance += codeword[i] != received[i] && !erasures[i];
            }
            if (2 * distance + erased <= 4) {
                expected = codeword;
                count = int(changed);
            }
        }
        wrong_codewords += count != failed && expected != sent;
        failures += count == failed;
        auto plain = received;
        EXPECT_EQ(reference_decode(code, plain, erasures), count);
        EXPECT_EQ(plain, expected);
        int corrected = 0;
        decoder.decode(received.data(), &corrected, erasures.data());
        EXPECT_EQ(corrected, count);
        EXPECT_EQ(received, expected);
    }
    EXPECT_GT(failures, 0u);
    EXPECT_LT(wrong_codewords, 10u);
}

TEST(Encoder, AnyMessage_EncodesAsReference)
{
    std::mt19937 random(1);
    for (const auto& code : several_codes()) {
        SCOPED_TRACE(code.name());
        for (unsigned interleaving = 1; interleaving <= 16; ++interleaving) {
            const reed_solomon_encoder_kernel encoder(code, interleaving);
            std::vector<bytes> messages, codewords;
            for (unsigned i = 0; i < interleaving; ++i) {
                messages.push_back(random_bytes(code.k(), random));
                codewords.push_back(reference_encode(code, messages.back()));
            }
            const auto message = interleaved(messages);
            bytes frame(interleaving * code.n());
            encoder.encode(message.data(), frame.data());
            EXPECT_EQ(frame, interleaved(codewords)) << interleaving;
            auto in_place = message;
            in_place.resize(frame.size());
            encoder.encode(in_place.data(), in_place.data());
            EXPECT_EQ(in_place, frame);
        }
    }
}

TEST(Decoder, EveryErrorCount_DecodesAsReference)
{
    std::mt19937 random(2);
    for (const auto& code : several_codes()) {
        SCOPED_TRACE(code.name());
        for (const auto& variant : cpu_variants()) {
            SCOPED_TRACE(variant);
            const reed_solomon_decoder_kernel decoder(code, 1, variant);
            for (unsigned errors = 0; errors <= std::min(code.t() + 3, code.n());
                 ++errors) {
                test_frame frame;
                add_codeword(frame, code, errors, 0, random);
                if (errors <= code.t()) {
                    EXPECT_EQ(frame.counts[0], int(errors));
                }
                compare(decoder, frame, false);
            }
        }
    }
}

TEST(Decoder, AnyInterleaving_DecodesCodewordsIndependently)
{
    std::mt19937 random(3);
    for (const auto& code : { reed_solomon_code::standard("ccsds-223"),
                              reed_solomon_code::standard("dvb"),
                              reed_solomon_code::standard("ccsds-239").shortened(201),
                              reed_solomon_code(7, 4, 0x11d, 0, 1) }) {
        SCOPED_TRACE(code.name());
        for (const auto& variant : cpu_variants()) {
            SCOPED_TRACE(variant);
            for (unsigned interleaving = 1; interleaving <= 16; ++interleaving) {
                const reed_solomon_decoder_kernel decoder(code, interleaving, variant);
                test_frame frame;
                for (unsigned i = 0; i < interleaving; ++i) {
                    const auto errors = random() % (code.t() + 2);
                    add_codeword(frame, code, errors, 0, random);
                }
                compare(decoder, frame, false);
            }
        }
    }
}

TEST(Decoder, ErrorsAndErasures_AreCorrectedUpToTheBound)
{
    std::mt19937 random(4);
    for (const auto& code : several_codes()) {
        SCOPED_TRACE(code.name());
        for (const auto& variant : cpu_variants()) {
            SCOPED_TRACE(variant);
            const reed_solomon_decoder_kernel decoder(code, 2, variant);
            const auto most = std::min(code.parity() + 1, code.n());
            for (unsigned erased = 0; erased <= most; ++erased) {
                const unsigned errors =
                    erased < code.parity() ? (code.parity() - erased) / 2 : 0;
                test_frame frame;
                add_codeword(frame, code, errors, erased, random);
                if (erased <= code.parity()) {
                    EXPECT_NE(frame.counts[0], failed) << erased;
                }
                add_codeword(frame, code, random() % (errors + 2), erased, random);
                compare(decoder, frame, true);
            }
        }
    }
}

TEST(Decoder, TooManyErrors_LeaveCodewordUnchanged)
{
    std::mt19937 random(6);
    const auto code = reed_solomon_code::standard("ccsds-223");
    const reed_solomon_decoder_kernel decoder(code, 5);
    unsigned failures = 0;
    for (int trial = 0; trial < 200; ++trial) {
        const auto received = random_bytes(5 * code.n(), random);
        auto decoded = received;
        int counts[5];
        decoder.decode(decoded.data(), counts);
        failures += unsigned(std::count(counts, counts + 5, failed));
        EXPECT_EQ(decoded, received);
    }
    // A random word is within distance 16 of a codeword with probability 2.6e-14.
    EXPECT_EQ(failures, 1000u);
}

TEST(Decoder, RandomWords_HaveTheoreticalMiscorrectionRate)
{
    // The fraction of words within distance 2 of a codeword of (255, 251) is
    // (1 + 255 · 255 + 255 · 254 / 2 · 255²) / 256⁴ = 0.4905.
    std::mt19937 random(7);
    const reed_solomon_code code(255, 251, 0x11d, 0, 1);
    const reed_solomon_encoder_kernel encoder(code);
    for (const auto& variant : cpu_variants()) {
        const reed_solomon_decoder_kernel decoder(code, 1, variant);
        int corrected = 0;
        for (int trial = 0; trial < 2000; ++trial) {
            auto word = random_bytes(code.n(), random);
            int count;
            decoder.decode(word.data(), &count);
            if (count != failed) {
                ++corrected;
                auto again = word;
                encoder.encode(again.data(), again.data());
                ASSERT_EQ(again, word);
            }
        }
        // The tolerance is five standard deviations of 0.0112 each.
        EXPECT_NEAR(corrected / 2000.0, 0.4905, 0.056) << variant;
    }
}

TEST(Decoder, ErrorInVirtualFill_IsDecodingFailure)
{
    // Words of the full code with an error in the fill look like correctable words.
    std::mt19937 random(8);
    const auto full = reed_solomon_code::standard("ccsds-223");
    const auto shortened = full.shortened(100);
    for (const auto& variant : cpu_variants()) {
        const reed_solomon_decoder_kernel decoder(shortened, 1, variant);
        for (unsigned errors = 1; errors <= full.t(); ++errors) {
            auto message = random_bytes(full.k(), random);
            std::fill_n(message.begin(), 100, std::uint8_t(0));
            message[random() % 100] = 0x5a;
            auto word = reference_encode(full, message);
            for (const auto place : positions_of(errors - 1, shortened.n(), random)) {
                word[100 + place] ^= 0x33;
            }
            const bytes received(word.begin() + 100, word.end());
            auto decoded = received;
            int count = 0;
            decoder.decode(decoded.data(), &count);
            EXPECT_EQ(count, failed) << errors;
            EXPECT_EQ(decoded, received);
        }
    }
}

TEST(Decoder, CodewordWithManyErasures_IsAccepted)
{
    std::mt19937 random(9);
    const auto code = reed_solomon_code::standard("dvb");
    const reed_solomon_decoder_kernel decoder(code);
    auto codeword = reference_encode(code, random_bytes(code.k(), random));
    const bytes all(code.n(), 1);
    auto decoded = codeword;
    int count = failed;
    decoder.decode(decoded.data(), &count, all.data());
    EXPECT_EQ(count, 0);
    EXPECT_EQ(decoded, codeword);
    decoded[7] ^= 1;
    codeword = decoded;
    decoder.decode(decoded.data(), &count, all.data());
    EXPECT_EQ(count, failed);
    EXPECT_EQ(decoded, codeword);
}

TEST(Decoder, FrameBetweenProtectedPages_ReadsNoOtherBytes)
{
    std::mt19937 random(10);
    const std::size_t page = sysconf(_SC_PAGESIZE);
    auto* const memory = static_cast<std::uint8_t*>(mmap(
        nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(memory, MAP_FAILED);
    ASSERT_EQ(mprotect(memory, page, PROT_NONE), 0);
    ASSERT_EQ(mprotect(memory + 2 * page, page, PROT_NONE), 0);
    for (const auto& code : { reed_solomon_code(9, 5, 0x11d, 0, 1),
                              reed_solomon_code::standard("ccsds-223") }) {
        for (const auto& variant : cpu_variants()) {
            for (unsigned interleaving = 1; interleaving <= 16; ++interleaving) {
                const reed_solomon_decoder_kernel decoder(code, interleaving, variant);
                test_frame frame;
                for (unsigned i = 0; i < interleaving; ++i) {
                    add_codeword(frame, code, i % 3, 0, random);
                }
                const auto received = interleaved(frame.received);
                for (const bool at_end : { false, true }) {
                    auto* const place =
                        memory + (at_end ? 2 * page - received.size() : page);
                    std::copy(received.begin(), received.end(), place);
                    std::vector<int> counts(interleaving);
                    decoder.decode(place, counts.data());
                    EXPECT_EQ(counts, frame.counts);
                }
            }
        }
    }
    munmap(memory, 3 * page);
}
