// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the decoder of DVB-S frames: packets, status and counts after errors, slips,
 * fades and noise. The transmitter is independent of the library. */

#include "packet_decoder.h"
#include "qa_transmitter.h"
#include <gtest/gtest.h>
#include <algorithm>
#include <map>
#include <numeric>

using namespace gr::gpufec::dvbs;
using namespace gr::gpufec::dvbs::test;

namespace {

struct received {
    bytes out;
    std::vector<packet_decoder::packet> packets;
    packet_decoder::counts count;
    bool synchronised;
};

// Decodes a stream that is pushed in parts of `part` bytes; with 0, in one part.
received decode(const bytes& stream, std::size_t part = 0)
{
    received r;
    packet_decoder decoder;
    for (std::size_t at = 0; at < stream.size();) {
        const auto n = std::min(part ? part : stream.size(), stream.size() - at);
        decoder.push(&stream[at], n, r.out, r.packets);
        at += n;
    }
    decoder.finish(r.out, r.packets);
    r.count = decoder.count();
    r.synchronised = decoder.synchronised();
    EXPECT_EQ(r.out.size(), packet_bytes * r.packets.size());
    EXPECT_EQ(r.count.packets, r.packets.size());
    EXPECT_EQ(r.count.errors,
              std::count_if(r.packets.begin(), r.packets.end(), [](auto& p) {
                  return p.corrected < 0;
              }));
    return r;
}

bytes part(const bytes& of, std::size_t first, std::size_t end)
{
    return bytes(of.begin() + packet_bytes * first, of.begin() + packet_bytes * end);
}

// Returns, in order, the indices of the sent packets that were received correctly. Fails
// the test if a packet that is marked as correct was not sent.
std::vector<std::size_t> right_packets(const received& r, const bytes& sent)
{
    std::map<bytes, std::size_t> numbers;
    for (std::size_t p = 0; p < sent.size() / packet_bytes; ++p) {
        numbers[part(sent, p, p + 1)] = p;
    }
    std::vector<std::size_t> right;
    for (std::size_t p = 0; p < r.packets.size(); ++p) {
        if (r.packets[p].corrected >= 0) {
            const auto found = numbers.find(part(r.out, p, p + 1));
            EXPECT_NE(found, numbers.end());
            right.push_back(found == numbers.end() ? 0 : found->second);
        } else {
            EXPECT_EQ(r.out[packet_bytes * p], 0x47);
            EXPECT_TRUE(r.out[packet_bytes * p + 1] & 0x80);
        }
    }
    return right;
}

std::vector<std::size_t> numbers(std::size_t first, std::size_t end)
{
    std::vector<std::size_t> all(end - first);
    std::iota(all.begin(), all.end(), first);
    return all;
}

} // namespace

TEST(DvbsPacketDecoder, StreamWithoutErrors_YieldsEveryCompletePacket)
{
    std::mt19937 random(1);
    const auto sent = random_packets(300, random);
    const auto r = decode(transmitter().send(sent));
    // A packet is complete when the eleventh frame after its own frame has arrived.
    EXPECT_EQ(r.out, part(sent, 0, 289));
    EXPECT_EQ(r.count.errors + r.count.corrected + r.count.losses, 0u);
    EXPECT_TRUE(r.synchronised);
    for (std::size_t p = 0; p < r.packets.size(); ++p) {
        EXPECT_EQ(r.packets[p].first, p == 0);
        EXPECT_EQ(r.packets[p].end, frame_bytes * (p + 1));
        EXPECT_EQ(r.packets[p].corrected, 0);
    }
}

TEST(DvbsPacketDecoder, AnyBitOffsetAndAdditiveSequence_YieldTheSamePackets)
{
    std::mt19937 random(2);
    const auto sent = random_packets(40, random);
    const auto frames = bits_of(transmitter().send(sent));
    for (unsigned test = 0; test < 48; ++test) {
        // Noise, or the end of a frame, precedes the first whole frame.
        const bool cut = test % 3 == 0;
        const std::size_t extra = 16 + test % 8 + 8 * (random() % 180);
        std::vector<bool> bits;
        if (cut) {
            bits.assign(frames.begin() + frame_bits - extra, frames.end());
        } else {
            bits = bits_of(random_bytes(extra / 8 + 1, random));
            bits.resize(extra);
            bits.insert(bits.end(), frames.begin(), frames.end());
        }
        bits.resize((bits.size() + 7) / 8 * 8);
        auto stream = packed(bits);
        additive_sequence(test % 6, test % 4 < 2).add(3, stream.size(), stream.data());
        const auto r = decode(stream);
        EXPECT_EQ(right_packets(r, sent), numbers(cut, 29)) << "test " << test;
        EXPECT_EQ(r.count.errors, 0u);
        ASSERT_FALSE(r.packets.empty());
        EXPECT_EQ(r.packets[0].end, (extra + frame_bits + 7) / 8);
    }
}

TEST(DvbsPacketDecoder, StreamInPartsOfAnySize_YieldsTheSameResult)
{
    std::mt19937 random(3);
    const auto sent = random_packets(100, random);
    auto bits = bits_of(transmitter().send(sent));
    bits.erase(bits.begin() + 70003, bits.begin() + 70010);
    for (std::size_t i = 0; i < bits.size(); i += 211) {
        bits[i] = !bits[i];
    }
    const auto stream = packed(bits);
    const auto whole = decode(stream);
    EXPECT_GT(whole.count.corrected, 100u);
    EXPECT_EQ(whole.count.losses, 1u);
    for (const std::size_t part : { 1, 7, 203, 204, 205, 1000, 4096 }) {
        const auto r = decode(stream, part);
        EXPECT_EQ(r.out, whole.out);
        ASSERT_EQ(r.packets.size(), whole.packets.size());
        for (std::size_t p = 0; p < r.packets.size(); ++p) {
            EXPECT_EQ(r.packets[p].end, whole.packets[p].end);
            EXPECT_EQ(r.packets[p].first, whole.packets[p].first);
            EXPECT_EQ(r.packets[p].corrected, whole.packets[p].corrected);
        }
    }
}

TEST(DvbsPacketDecoder, UpToEightWrongBytes_AreCorrectedAndCounted)
{
    std::mt19937 random(4);
    constexpr unsigned count = 200;
    const auto sent = random_packets(count, random);
    auto frames = transmitter().send(sent);
    std::vector<int> expected;
    for (unsigned p = 0; p + 11 < count; ++p) {
        const unsigned errors = p % 12;
        std::vector<std::size_t> places(203);
        std::iota(places.begin(), places.end(), 1);
        std::shuffle(places.begin(), places.end(), random);
        for (unsigned e = 0; e < errors; ++e) {
            const auto b = places[e]; // byte b of packet p is sent in frame p + b mod 12
            frames[(p + b % 12) * frame_bytes + b] ^= 1 + random() % 255;
        }
        expected.push_back(errors <= 8 ? int(errors) : -1);
    }
    const auto r = decode(frames);
    ASSERT_EQ(r.packets.size(), expected.size());
    std::uint64_t corrected = 0;
    for (std::size_t p = 0; p < expected.size(); ++p) {
        EXPECT_EQ(r.packets[p].corrected, expected[p]);
        corrected += std::max(expected[p], 0);
        if (expected[p] >= 0) {
            EXPECT_EQ(part(r.out, p, p + 1), part(sent, p, p + 1));
        } else {
            EXPECT_TRUE(r.out[packet_bytes * p + 1] & 0x80);
        }
    }
    EXPECT_EQ(r.count.corrected, corrected);
    EXPECT_EQ(r.count.losses, 0u);
}

TEST(DvbsPacketDecoder, WrongSyncBytes_LoseNoPacket)
{
    std::mt19937 random(5);
    const auto sent = random_packets(200, random);
    auto frames = transmitter().send(sent);
    // A third of the sync bytes are wrong, which is 32 bits in 12 frames.
    for (unsigned f = 12; f < 200; f += 3) {
        frames[f * frame_bytes] ^= 0xff >> random() % 2;
    }
    const auto whole = decode(transmitter().send(sent));
    const auto mild = [&] {
        auto some = transmitter().send(sent);
        for (unsigned f = 12; f < 200; f += 4) {
            some[f * frame_bytes] ^= 0xff;
        }
        return decode(some);
    }();
    EXPECT_EQ(mild.out, whole.out);
    EXPECT_EQ(mild.count.losses, 0u);
    EXPECT_EQ(mild.count.corrected, 0u); // corrections of sync bytes do not count
    const auto right = right_packets(decode(frames), sent);
    EXPECT_TRUE(std::is_sorted(right.begin(), right.end()));
}

TEST(DvbsPacketDecoder, Slips_LoseOnlyDamagedPackets)
{
    std::mt19937 random(6);
    constexpr unsigned count = 120;
    const auto sent = random_packets(count, random);
    const auto frames = bits_of(transmitter().send(sent));
    for (unsigned test = 0; test < 40; ++test) {
        const std::size_t place = 30 * frame_bits + random() % (50 * frame_bits);
        const std::size_t slip = 1 + random() % (test % 2 ? 9 : 3000);
        auto bits = frames;
        if (test % 4 < 2) {
            bits.erase(bits.begin() + place, bits.begin() + place + slip);
        } else {
            auto extra = bits_of(random_bytes(slip / 8 + 1, random));
            extra.resize(slip);
            bits.insert(bits.begin() + place, extra.begin(), extra.end());
        }
        bits.resize((bits.size() + 7) / 8 * 8);
        const auto r = decode(packed(bits));
        EXPECT_EQ(r.count.losses, 1u) << "test " << test;
        // Counts the packets that the slip does not affect: their last frame ends before
        // the slip, or their first frame begins after the lost or inserted bits. A
        // packet that begins or ends with an incomplete frame may still be corrected.
        auto expected = numbers(0, place / frame_bits - 11);
        const auto next = test % 4 < 2 ? place + slip : place;
        const auto later = numbers((next + frame_bits - 1) / frame_bits, count - 11);
        expected.insert(expected.end(), later.begin(), later.end());
        const auto right = right_packets(r, sent);
        EXPECT_TRUE(
            std::includes(right.begin(), right.end(), expected.begin(), expected.end()))
            << "test " << test;
        EXPECT_LE(right.size(), expected.size() + 2);
        // The slip is detected within twelve frames.
        EXPECT_LE(r.count.errors, 12u);
        EXPECT_EQ(std::count_if(r.packets.begin(),
                                r.packets.end(),
                                [](auto& p) { return p.first; }),
                  2);
        EXPECT_TRUE(std::is_sorted(r.packets.begin(),
                                   r.packets.end(),
                                   [](auto& a, auto& b) { return a.end < b.end; }));
    }
}

TEST(DvbsPacketDecoder, FadeWithoutSlip_LosesOnlyItsPackets)
{
    std::mt19937 random(7);
    const auto sent = random_packets(120, random);
    const auto frames = transmitter().send(sent);
    for (const unsigned faded : { 1u, 5u, 20u, 40u }) {
        auto stream = frames;
        for (std::size_t b = 40 * frame_bytes; b < (40 + faded) * frame_bytes; ++b) {
            stream[b] = random();
        }
        const auto r = decode(stream);
        auto expected = numbers(0, 29);
        const auto later = numbers(40 + faded, 109);
        expected.insert(expected.end(), later.begin(), later.end());
        EXPECT_EQ(right_packets(r, sent), expected);
        EXPECT_EQ(r.count.losses, faded >= 20 ? 1u : 0u);
    }
}

TEST(DvbsPacketDecoder, InversionWithinTheStream_IsCorrected)
{
    std::mt19937 random(8);
    const auto sent = random_packets(120, random);
    auto frames = transmitter().send(sent);
    for (std::size_t b = 50 * frame_bytes; b < frames.size(); ++b) {
        frames[b] ^= 0xff;
    }
    auto expected = numbers(0, 39);
    const auto later = numbers(50, 109);
    expected.insert(expected.end(), later.begin(), later.end());
    EXPECT_EQ(right_packets(decode(frames), sent), expected);
}

TEST(DvbsPacketDecoder, ShortConstantAndNoisyStreams_YieldNoPackets)
{
    std::mt19937 random(9);
    EXPECT_TRUE(decode({}).out.empty());
    const auto frames = transmitter().send(random_packets(40, random));
    for (const std::size_t size : { std::size_t(1), frame_bytes, 12 * frame_bytes - 1 }) {
        EXPECT_TRUE(decode(bytes(frames.begin(), frames.begin() + size)).out.empty());
    }
    const auto first = decode(bytes(frames.begin(), frames.begin() + 12 * frame_bytes));
    EXPECT_EQ(first.packets.size(), 1u);
    EXPECT_TRUE(decode(random_bytes(2000000, random)).out.empty());
    for (const unsigned constant : { 0x00, 0xff, 0x47, 0xb8, 0x55 }) {
        EXPECT_TRUE(decode(bytes(1000000, constant)).out.empty());
    }
}

TEST(DvbsPacketDecoder, Restart_DiscardsThePreviousStream)
{
    std::mt19937 random(10);
    const auto sent = random_packets(60, random);
    const auto frames = transmitter().send(sent);
    packet_decoder decoder;
    received r;
    decoder.push(frames.data(), 30 * frame_bytes + 77, r.out, r.packets);
    decoder.restart();
    EXPECT_FALSE(decoder.synchronised());
    EXPECT_EQ(decoder.count().packets, 0u);
    r = {};
    decoder.push(frames.data(), frames.size(), r.out, r.packets);
    EXPECT_EQ(r.out, part(sent, 0, 49));
    EXPECT_EQ(r.packets[0].end, frame_bytes);
}
