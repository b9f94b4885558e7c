// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the extraction of packets from BBFRAMEs, of the CRC-8 and of the scrambler.
 * The tests assemble BBFRAMEs bit by bit, as the standard describes. */

#include "packets.h"
#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace gr::gpufec::bbframe;

namespace {

using bytes = std::vector<std::uint8_t>;

// Returns the CRC-8, computed bit by bit from its definition.
std::uint8_t plain_crc(const bytes& of)
{
    unsigned r = 0;
    for (const auto byte : of) {
        for (int i = 7; i >= 0; --i) {
            const unsigned out = (r >> 7 ^ byte >> i) & 1u;
            r = (r << 1 & 0xff) ^ (out ? 0xd5u : 0);
        }
    }
    return r;
}

// Returns a BBHEADER with its CRC-8.
bytes header_of(unsigned type, unsigned isi, unsigned upl, unsigned dfl, unsigned syncd)
{
    bytes header;
    for (const auto byte :
         { type, isi, upl >> 8, upl, dfl >> 8, dfl, 0x47u, syncd >> 8, syncd }) {
        header.push_back(std::uint8_t(byte));
    }
    header.push_back(plain_crc(header));
    return header;
}

bytes random_packet(std::mt19937& random)
{
    bytes packet = { 0x47 };
    while (packet.size() < packet_bytes) {
        packet.push_back(random());
    }
    packet[1] &= 0x1f;
    return packet;
}

bytes null_packet()
{
    bytes packet(packet_bytes, 0xff);
    packet[0] = 0x47;
    packet[1] = 0x1f;
    packet[3] = 0x10;
    return packet;
}

struct mode {
    bool efficient = false;
    unsigned issy = 0; // size of the ISSY field in bytes
    bool deletion = false;
    int isi = -1;
};

// Transmitter of packets. `bits` holds the transmitted bits, one per byte. `starts`
// holds one bit index per packet. In the high efficiency mode this is the index of the
// packet's first bit. In other modes it is the index of the first bit of the CRC-8
// before the packet.
struct sender {
    explicit sender(const mode& of) : m(of) {}

    void put(const bytes& packet)
    {
        if (m.deletion && packet == null_packet() && deleted < 255) {
            ++deleted;
            return;
        }
        starts.push_back(bits.size());
        bytes useful(packet.begin() + 1, packet.end());
        for (unsigned i = 0; i < m.issy; ++i) {
            useful.push_back(0x80 + i);
        }
        if (m.deletion) {
            useful.push_back(deleted);
            deleted = 0;
        }
        if (!m.efficient) {
            put_byte(last_crc);
            last_crc = plain_crc(useful);
        }
        for (const auto byte : useful) {
            put_byte(byte);
        }
    }
    void put_byte(unsigned byte)
    {
        for (int i = 7; i >= 0; --i) {
            bits.push_back(byte >> i & 1);
        }
    }

    // Returns the next frame, with a data field of \p dfl bits.
    bytes frame(unsigned frame_bits, unsigned dfl)
    {
        unsigned syncd = 65535;
        for (const auto start : starts) {
            if (start >= sent && start < sent + dfl) {
                syncd = start - sent;
                break;
            }
        }
        const unsigned upl = m.efficient ? 0 : 8 * (188 + m.issy + m.deletion);
        auto made =
            header_of(0xc0 | (m.isi < 0) << 5 | (m.issy > 0) << 3 | m.deletion << 2,
                      m.isi < 0 ? 0 : m.isi,
                      upl,
                      dfl,
                      syncd);
        made.back() ^= m.efficient ? 1 : 0;
        made.resize((frame_bits + 7) / 8, 0x5a); // padding
        for (unsigned i = 0; i < dfl; ++i) {
            auto& byte = made[(80 + i) / 8];
            const auto mask = 0x80u >> i % 8;
            byte = (byte & ~mask) | (bits.at(sent + i) ? mask : 0);
        }
        sent += dfl;
        return made;
    }
    bool has(unsigned dfl) const { return sent + dfl <= bits.size(); }

    mode m;
    unsigned deleted = 0, last_crc = 0;
    std::vector<std::uint8_t> bits;
    std::vector<std::size_t> starts;
    std::size_t sent = 0;
};

bytes joined(const std::vector<bytes>& packets, std::size_t first, std::size_t end)
{
    bytes all;
    for (auto i = first; i < end; ++i) {
        all.insert(all.end(), packets[i].begin(), packets[i].end());
    }
    return all;
}

} // namespace

TEST(Crc8, AnyBytes_EqualDefinition)
{
    std::mt19937 random(1);
    const crc8 crc;
    for (unsigned n = 0; n < 40; ++n) {
        bytes some(n);
        for (auto& byte : some) {
            byte = random();
        }
        EXPECT_EQ(crc(some.data(), n), plain_crc(some));
    }
}

TEST(Scrambling, FirstBits_EqualThoseOfTheStandard)
{
    // Simulates the register of EN 302 307-1, 5.2.2, stage by stage.
    std::vector<int> stages = { 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0 };
    const auto sequence = scrambling(7000);
    EXPECT_EQ(sequence[0], 0x03);
    for (std::size_t i = 0; i < 8 * sequence.size(); ++i) {
        const int bit = stages[13] ^ stages[14];
        ASSERT_EQ(sequence[i / 8] >> (7 - i % 8) & 1, bit) << i;
        stages.pop_back();
        stages.insert(stages.begin(), bit);
    }
}

TEST(Packets, FramesOfAnyLengthAndMode_YieldSentPackets)
{
    std::mt19937 random(2);
    for (const auto& m : { mode{},
                           mode{ true },
                           mode{ false, 2 },
                           mode{ false, 3, true },
                           mode{ false, 0, true },
                           mode{ true, 0, true },
                           mode{ false, 0, false, 7 } }) {
        for (const unsigned frame_bits : { 32208u, 2512u, 5660u, 1000u }) {
            SCOPED_TRACE(testing::Message()
                         << "high efficiency " << m.efficient << ", ISSY bytes " << m.issy
                         << ", deletion " << m.deletion << ", frame bits " << frame_bits);
            std::vector<bytes> sent;
            sender s(m);
            for (unsigned i = 0; i < 200; ++i) {
                sent.push_back(random() % 4 ? random_packet(random) : null_packet());
                s.put(sent.back());
            }
            packets receiver(m.efficient, m.isi);
            bytes out;
            std::vector<packets::remark> remarks;
            unsigned frames = 0;
            while (s.has(frame_bits - 80)) {
                // Some data fields are shorter than the frame, so that padding follows.
                const auto dfl = frame_bits - 80 - random() % 3 * 8 * (random() % 5);
                receiver.push(s.frame(frame_bits, dfl).data(), frame_bits, out, remarks);
                ++frames;
            }
            ASSERT_GE(out.size(), 140 * packet_bytes);
            ASSERT_EQ(out.size() % packet_bytes, 0u);
            ASSERT_EQ(out, joined(sent, 0, out.size() / packet_bytes));
            EXPECT_EQ(receiver.count().frames, frames);
            EXPECT_EQ(receiver.count().packets, out.size() / packet_bytes);
            EXPECT_EQ(receiver.count().gaps + receiver.count().errors +
                          receiver.count().dropped,
                      0u);
            ASSERT_EQ(remarks.size(), 1u);
            EXPECT_TRUE(remarks[0].first && !remarks[0].error);
            EXPECT_EQ(remarks[0].at, 0u);
            EXPECT_TRUE(receiver.synchronised());
        }
    }
}

TEST(Packets, LostAndCorruptedFrames_LoseOnlyTheirPackets)
{
    std::mt19937 random(3);
    constexpr unsigned frame_bits = 7032, dfl = frame_bits - 80;
    std::vector<bytes> sent;
    sender s({});
    for (unsigned i = 0; i < 300; ++i) {
        sent.push_back(random_packet(random));
        s.put(sent.back());
    }
    packets receiver(false, -1);
    bytes out;
    std::vector<packets::remark> remarks;
    std::set<unsigned> whole; // indices of the packets without a lost bit
    for (unsigned i = 0; i + 1 < 300; ++i) {
        whole.insert(i);
    }
    const auto lose = [&](std::size_t first, std::size_t end) {
        // Bits 0 to 7 from starts[i] are the CRC-8 of packet i − 1, in place of the sync
        // byte. Bits 8 to 1511 are packet i without its sync byte, and its CRC-8.
        for (unsigned i = 0; i < 300; ++i) {
            if (s.starts[i] + 8 < end && s.starts[i] + 1512 > first) {
                whole.erase(i);
            }
        }
    };
    unsigned broken = 0, gaps = 0;
    bool lost = false;
    for (unsigned f = 0; s.has(dfl); ++f) {
        auto frame = s.frame(frame_bits, dfl);
        if (f % 10 == 3) {
            lose(s.sent - dfl, s.sent);
            lost = true;
            continue;
        }
        gaps += lost;
        lost = false;
        if (f % 10 == 6) { // corrupts the header
            frame[4] ^= 1;
            ++broken;
            lose(s.sent - dfl, s.sent);
        }
        receiver.push(frame.data(), frame_bits, out, remarks);
    }
    lose(s.sent, s.bits.size() + 1512);
    std::vector<bytes> expected;
    for (const auto i : whole) {
        expected.push_back(sent[i]);
    }
    EXPECT_EQ(out, joined(expected, 0, expected.size()));
    EXPECT_EQ(receiver.count().dropped, broken);
    EXPECT_EQ(receiver.count().gaps, gaps);
    EXPECT_GE(gaps, 6u);
    EXPECT_EQ(receiver.count().errors, 0u);
    std::size_t beginnings = 0;
    for (const auto i : whole) {
        beginnings += i == 0 || whole.count(i - 1) == 0;
    }
    EXPECT_EQ(remarks.size(), beginnings);
}

TEST(Packets, WrongCrc_SetsErrorIndicator)
{
    std::mt19937 random(4);
    sender s({});
    std::vector<bytes> sent;
    for (unsigned i = 0; i < 30; ++i) {
        sent.push_back(random_packet(random));
        s.put(sent.back());
    }
    s.bits[s.starts[5] + 8 + 1000] ^= 1;
    s.bits[s.starts[10] + 3] ^= 1; // corrupts the CRC-8 of packet 9
    packets receiver(false, -1);
    bytes out;
    std::vector<packets::remark> remarks;
    while (s.has(6952)) {
        receiver.push(s.frame(7032, 6952).data(), 7032, out, remarks);
    }
    sent[5][1 + 1000 / 8] ^= 0x80 >> 1000 % 8;
    sent[5][1] |= 0x80;
    sent[9][1] |= 0x80;
    ASSERT_EQ(out, joined(sent, 0, out.size() / packet_bytes));
    EXPECT_EQ(receiver.count().errors, 2u);
    ASSERT_EQ(remarks.size(), 3u);
    EXPECT_EQ(remarks[1].at, 5 * packet_bytes);
    EXPECT_EQ(remarks[2].at, 9 * packet_bytes);
    EXPECT_TRUE(remarks[2].error && !remarks[2].first);
}

TEST(Packets, SeveralStreams_AreAssembledSeparately)
{
    std::mt19937 random(5);
    std::vector<sender> senders = { sender({ false, 0, false, 1 }),
                                    sender({ false, 0, false, 2 }) };
    std::vector<bytes> sent[2];
    for (unsigned i = 0; i < 60; ++i) {
        for (int k = 0; k < 2; ++k) {
            sent[k].push_back(random_packet(random));
            senders[k].put(sent[k].back());
        }
    }
    packets both(false, -1), second(false, 2);
    bytes of_both, of_min2;
    std::vector<packets::remark> remarks;
    unsigned first_frames = 0;
    while (senders[0].has(6952) && senders[1].has(6952)) {
        const auto k = random() % 2;
        const auto frame = senders[k].frame(7032, 6952);
        first_frames += k == 0;
        both.push(frame.data(), 7032, of_both, remarks);
        second.push(frame.data(), 7032, of_min2, remarks);
    }
    EXPECT_EQ(of_min2, joined(sent[1], 0, of_min2.size() / packet_bytes));
    EXPECT_EQ(second.count().passed_over, first_frames);
    EXPECT_EQ(both.count().gaps + both.count().errors, 0u);
    std::size_t next[2] = {};
    for (std::size_t at = 0; at < of_both.size(); at += packet_bytes) {
        const bytes packet(&of_both[at], &of_both[at] + packet_bytes);
        const int k = packet == sent[0][next[0]] ? 0 : 1;
        ASSERT_EQ(packet, sent[k][next[k]]);
        ++next[k];
    }
}

TEST(Packets, IgnoredStream_DoesNotDesynchroniseTheExtractedOne)
{
    std::mt19937 random(7);
    sender wanted({ false, 0, false, 2 }), other({ false, 0, false, 1 });
    for (unsigned i = 0; i < 30; ++i) {
        wanted.put(random_packet(random));
        other.put(random_packet(random));
    }
    packets receiver(false, 2);
    bytes out;
    std::vector<packets::remark> remarks;
    receiver.push(other.frame(7032, 6952).data(), 7032, out, remarks);
    EXPECT_FALSE(receiver.synchronised());
    receiver.push(wanted.frame(7032, 6952).data(), 7032, out, remarks);
    EXPECT_TRUE(receiver.synchronised());
    receiver.push(other.frame(7032, 6952).data(), 7032, out, remarks);
    EXPECT_TRUE(receiver.synchronised());
    bytes generic = { 0x50, 2, 0, 0, 0x01, 0x40, 0, 0, 0 };
    generic.push_back(plain_crc(generic));
    generic.resize(7032 / 8);
    receiver.push(generic.data(), 7032, out, remarks);
    EXPECT_EQ(receiver.count().generic, 1u);
    EXPECT_TRUE(receiver.synchronised());
}

TEST(Packets, SyncdWithinAPacket_IsReportedAsGap)
{
    std::mt19937 random(8);
    std::vector<bytes> sent;
    sender s({});
    for (unsigned i = 0; i < 4; ++i) {
        sent.push_back(random_packet(random));
        s.put(sent.back());
    }
    // The second frame lies entirely within the first packet, but its SYNCD may claim
    // that a packet begins in it.
    for (const unsigned syncd : { 65535u, 0u, 100u, 399u, 400u }) {
        s.sent = 0;
        packets receiver(false, -1);
        bytes out;
        std::vector<packets::remark> remarks;
        receiver.push(s.frame(480, 400).data(), 480, out, remarks);
        auto frame = s.frame(480, 400);
        frame[7] = syncd >> 8;
        frame[8] = syncd;
        frame.resize(9);
        frame.push_back(plain_crc(frame));
        frame.resize(480 / 8, 0x77);
        receiver.push(frame.data(), 480, out, remarks);
        EXPECT_EQ(receiver.count().dropped, 0u);
        EXPECT_EQ(receiver.count().gaps, syncd < 400 ? 1u : 0u) << syncd;
    }
}

TEST(Packets, ChangedPacketLength_IsReportedAsGap)
{
    std::mt19937 random(9);
    sender one({}), longer({ false, 0, true });
    std::vector<bytes> first, second;
    for (unsigned i = 0; i < 6; ++i) {
        first.push_back(random_packet(random));
        second.push_back(random_packet(random));
        one.put(first.back());
        longer.put(second.back());
    }
    packets receiver(false, -1);
    bytes out;
    std::vector<packets::remark> remarks;
    // The packet length changes after 600 bits of an incomplete packet.
    receiver.push(one.frame(2192, 8 + 1504 + 600).data(), 2192, out, remarks);
    longer.sent = 608;
    const auto dfl = unsigned(longer.bits.size() - longer.sent);
    receiver.push(longer.frame(80 + dfl, dfl).data(), 80 + dfl, out, remarks);
    auto expected = joined(first, 0, 1);
    const auto rest = joined(second, 1, 5); // the CRC-8 of the last packet is missing
    expected.insert(expected.end(), rest.begin(), rest.end());
    EXPECT_EQ(out, expected);
    EXPECT_EQ(receiver.count().gaps, 1u);
    ASSERT_EQ(remarks.size(), 2u);
    EXPECT_TRUE(remarks[1].first && !remarks[1].error);
    EXPECT_EQ(remarks[1].at, packet_bytes);
}

// Two input streams, both with ISSY fields and deleted null packets, are sent as frames
// in random order. Expects that the receiver of each stream returns at least the first
// 250 of the stream's 300 packets, without gaps or errors.
TEST(Packets, MultipleStreamsWithIssyAndDeletion_YieldSentPackets)
{
    std::mt19937 random(6);
    const std::vector<unsigned> isis{ 3, 200 };
    std::vector<sender> senders = { sender({ false, 3, true, 3 }),
                                    sender({ false, 2, true, 200 }) };
    std::vector<bytes> sent[2];
    for (unsigned i = 0; i < 300; ++i) {
        for (int k = 0; k < 2; ++k) {
            // One stream has a run of null packets longer than the count's maximum.
            const bool null = random() % 3 == 0 || (k == 1 && i >= 20 && i < 290);
            sent[k].push_back(null ? null_packet() : random_packet(random));
            senders[k].put(sent[k].back());
        }
    }
    packets receivers[] = { { false, 3 }, { false, 200 } };
    bytes out[2];
    std::vector<packets::remark> remarks[2];
    constexpr unsigned frame_bits = 4000;
    while (senders[0].has(frame_bits - 80) || senders[1].has(frame_bits - 80)) {
        const auto turn = random() % 2;
        if (!senders[turn].has(frame_bits - 80)) {
            continue;
        }
        const auto dfl = frame_bits - 80 - random() % 3 * 8 * (random() % 5);
        const auto frame = senders[turn].frame(frame_bits, dfl);
        for (int k = 0; k < 2; ++k) {
            receivers[k].push(frame.data(), frame_bits, out[k], remarks[k]);
        }
    }
    for (int k = 0; k < 2; ++k) {
        SCOPED_TRACE(isis[k]);
        ASSERT_GE(out[k].size(), (k ? 270 : 250) * packet_bytes);
        ASSERT_EQ(out[k].size() % packet_bytes, 0u);
        ASSERT_EQ(out[k], joined(sent[k], 0, out[k].size() / packet_bytes));
        EXPECT_EQ(receivers[k].count().gaps + receivers[k].count().errors +
                      receivers[k].count().dropped,
                  0u);
        EXPECT_GT(receivers[k].count().passed_over, 0u);
        ASSERT_EQ(remarks[k].size(), 1u);
        EXPECT_EQ(remarks[k][0].isi, int(isis[k]));
    }
}

TEST(Packets, GenericStream_IsPassedToCallbackOnly)
{
    bytes seen;
    int calls = 0;
    packets receiver(
        false, -1, [&](const header& h, const std::uint8_t* of, std::size_t n) {
            EXPECT_EQ(h.kind, header::stream::generic_continuous);
            seen.assign(of, of + n);
            ++calls;
        });
    bytes frame = { 0x60, 0, 0, 0, 0x01, 0x40, 0, 0, 0 };
    frame.push_back(plain_crc(frame));
    frame.resize(7032 / 8, 0x33);
    bytes out;
    std::vector<packets::remark> remarks;
    receiver.push(frame.data(), 7032, out, remarks);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(seen, bytes(frame.begin(), frame.begin() + 10 + 40));
    EXPECT_TRUE(out.empty());
    EXPECT_EQ(receiver.count().generic, 1u);
}

TEST(Packets, ImpossibleHeader_IsDropped)
{
    bytes out;
    std::vector<packets::remark> remarks;
    packets receiver(false, -1);
    unsigned dropped = 0;
    const auto push =
        [&](unsigned upl, unsigned dfl, unsigned syncd, unsigned type = 0xe0) {
            auto frame = header_of(type, 0, upl, dfl, syncd);
            frame.resize(7032 / 8);
            receiver.push(frame.data(), 7032, out, remarks);
            return receiver.count().dropped;
        };
    EXPECT_EQ(push(1504, 6952, 0), dropped);
    EXPECT_EQ(push(1504, 6960, 0), ++dropped); // the data field exceeds the frame
    EXPECT_EQ(push(1504, 65535, 0), ++dropped);
    EXPECT_EQ(push(1504, 3000, 3001), ++dropped); // SYNCD exceeds the data field
    EXPECT_EQ(push(1496, 6952, 0), ++dropped);    // shorter than a transport packet
    EXPECT_EQ(push(1512, 6952, 0), ++dropped);    // no flag explains the extra byte
    EXPECT_EQ(push(1512, 6952, 0, 0xe4), dropped);
    EXPECT_EQ(push(0, 6952, 0), ++dropped);
    EXPECT_EQ(push(65535, 6952, 0, 0xec), ++dropped);
    EXPECT_EQ(push(1504, 6952, 65535), dropped);
    EXPECT_EQ(push(1504, 0, 0), dropped);
    receiver.push(out.data(), 0, out, remarks);
    EXPECT_EQ(receiver.count().dropped, ++dropped);
}

TEST(Packets, Noise_YieldsOnlyValidPackets)
{
    std::mt19937 random(6);
    for (const bool efficient : { false, true }) {
        packets receiver(efficient, -1);
        bytes out;
        std::vector<packets::remark> remarks;
        const crc8 crc;
        for (unsigned i = 0; i < 20000; ++i) {
            bytes frame(300 + random() % 20);
            for (auto& byte : frame) {
                byte = random();
            }
            frame[0] |= random() % 4 ? 0xc0 : 0;
            frame[4] &= 0x07;
            if (random() % 2) {
                const unsigned upl = 1504 + 8 * (random() % 5);
                frame[2] = upl >> 8;
                frame[3] = upl;
                frame[7] &= 7;
            }
            frame[9] = crc(frame.data(), 9) ^ (efficient && random() % 2);
            receiver.push(frame.data(), 8 * frame.size() - random() % 8, out, remarks);
            ASSERT_EQ(out.size() % packet_bytes, 0u);
            out.clear();
            remarks.clear();
        }
        EXPECT_GT(receiver.count().packets, 50u);
        EXPECT_GT(receiver.count().dropped, 100u);
    }
}
