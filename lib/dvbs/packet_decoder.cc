// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tracks the frames of a DVB-S stream and decodes their packets. */

#include "packet_decoder.h"
#include <algorithm>

namespace gr::gpufec::dvbs {

namespace {

// Returns the energy-dispersal sequence of a group of packets (EN 300 421, 4.4.1). The
// generator 1 + x^14 + x^15 starts after the inverted sync byte. During the other sync
// bytes the generator advances, but its output is not added.
std::array<std::uint8_t, group_packets * packet_bytes> dispersal()
{
    std::array<std::uint8_t, group_packets * packet_bytes> group;
    // Initial state 100101010000000 of the standard, its first bit least significant.
    unsigned state = 0x00a9;
    group[0] = 0xff;
    for (std::size_t b = 1; b < group.size(); ++b) {
        unsigned byte = 0;
        for (int i = 0; i < 8; ++i) {
            const auto bit = (state >> 13 ^ state >> 14) & 1u;
            state = (state << 1 | bit) & 0x7fff;
            byte = byte << 1 | bit;
        }
        group[b] = b % packet_bytes ? byte : 0;
    }
    return group;
}

// Returns, for each byte of a packet's codeword, its index among the bytes of 12 frames.
// Byte b of the codeword is byte b of the frame that comes b mod 12 frames after the
// packet's own frame.
constexpr std::array<std::uint16_t, frame_bytes> deinterleaving()
{
    std::array<std::uint16_t, frame_bytes> from{};
    for (std::size_t b = 0; b < frame_bytes; ++b) {
        from[b] = b % branches * frame_bytes + b;
    }
    return from;
}

unsigned ones(unsigned bits) { return __builtin_popcount(bits); }

} // namespace

packet_decoder::packet_decoder()
    : d_reed_solomon(reed_solomon_code::standard("dvb")), d_dispersal(dispersal())
{
    d_frames.reserve(stored_frames * frame_bytes);
}

void packet_decoder::restart()
{
    d_received.clear();
    d_first = d_searched = 0;
    d_synchronised = false;
    d_search.restart();
    d_count = {};
}

void packet_decoder::push(const std::uint8_t* bytes,
                          std::size_t count,
                          std::vector<std::uint8_t>& out,
                          std::vector<packet>& packets)
{
    d_received.insert(d_received.end(), bytes, bytes + count);
    while (d_synchronised ? track(out, packets) : search()) {
    }
    discard();
}

void packet_decoder::finish(std::vector<std::uint8_t>& out, std::vector<packet>& packets)
{
    // search() waits for the byte after a frame, because frames may begin at any bit.
    const std::uint8_t padding = 0;
    push(&padding, 1, out, packets);
}

bool packet_decoder::arrived(std::uint64_t first, std::size_t bytes) const
{
    return first + bytes <= d_first + d_received.size();
}

// Discards the bytes that search() and lose() no longer need.
void packet_decoder::discard()
{
    const auto needed = d_synchronised ? d_bit / 8 : d_searched;
    constexpr auto before = (window + 1) * frame_bytes;
    if (needed > d_first + before) {
        const auto unneeded = needed - before - d_first;
        d_received.erase(d_received.begin(), d_received.begin() + unneeded);
        d_first += unneeded;
    }
}

// Searches the next 204 bytes for the beginning of a frame. Returns false if these bytes
// have not all arrived.
bool packet_decoder::search()
{
    if (!arrived(d_searched, frame_bytes + 1)) {
        return false;
    }
    const auto found = d_search.add(at(d_searched), d_searched);
    d_searched += frame_bytes;
    if (found) {
        d_synchronised = true;
        d_sequence = found->sequence;
        d_bit = found->bit;
        d_frame = found->frame;
        d_sync_errors.fill(0);
        d_error_sum = 0;
        d_frames.clear();
        d_any = false;
    }
    return true;
}

std::uint8_t packet_decoder::expected_sync(std::uint64_t frame) const
{
    return frame % group_packets ? sync_byte : std::uint8_t(~sync_byte);
}

// Reads the next frame and outputs the packet that it completes. Returns false if the
// frame has not arrived completely.
bool packet_decoder::track(std::vector<std::uint8_t>& out, std::vector<packet>& packets)
{
    const auto byte = d_bit / 8;
    const unsigned shift = d_bit % 8;
    if (!arrived(byte, frame_bytes + (shift > 0))) {
        return false;
    }
    if (d_frames.size() == stored_frames * frame_bytes) {
        d_frames.erase(d_frames.begin(), d_frames.end() - (branches - 1) * frame_bytes);
    }
    d_frames.resize(d_frames.size() + frame_bytes);
    auto* const frame = d_frames.data() + d_frames.size() - frame_bytes;
    const auto* const from = at(byte);
    if (shift == 0) {
        std::copy_n(from, frame_bytes, frame);
    } else {
        for (std::size_t b = 0; b < frame_bytes; ++b) {
            frame[b] = from[b] << shift | from[b + 1] >> (8 - shift);
        }
    }
    d_sequence.add(d_bit, frame_bytes, frame);

    auto& errors = d_sync_errors[d_frame % window];
    d_error_sum -= errors;
    errors = ones(frame[0] ^ expected_sync(d_frame));
    d_error_sum += errors;
    ++d_frame;
    d_bit += frame_bits;
    if (d_error_sum > max_errors) {
        lose();
    } else if (d_frames.size() >= branches * frame_bytes) {
        make_packet(out, packets);
    }
    return true;
}

// Restarts the search at the frame before the latest `window` frames. Earlier frames were
// at their correct positions, because d_error_sum did not exceed its limit before.
void packet_decoder::lose()
{
    d_searched = (d_bit - (window + 1) * frame_bits) / 8;
    d_search.restart();
    d_synchronised = false;
    ++d_count.losses;
}

// Decodes the packet whose last bytes are in the latest frame.
void packet_decoder::make_packet(std::vector<std::uint8_t>& out,
                                 std::vector<packet>& packets)
{
    static constexpr auto from = deinterleaving();
    const auto* const frames = d_frames.data() + d_frames.size() - branches * frame_bytes;
    const auto number = d_frame - branches;
    std::uint8_t word[frame_bytes];
    for (std::size_t b = 0; b < frame_bytes; ++b) {
        word[b] = frames[from[b]];
    }
    word[0] = expected_sync(number);
    int corrected;
    d_reed_solomon.decode(word, &corrected);
    const bool failed = corrected == reed_solomon_decoder_kernel::failed;

    const auto begin = out.size();
    out.resize(begin + packet_bytes);
    std::transform(word,
                   word + packet_bytes,
                   d_dispersal.data() + number % group_packets * packet_bytes,
                   out.data() + begin,
                   [](std::uint8_t a, std::uint8_t b) { return a ^ b; });
    out[begin] = sync_byte;
    if (failed) {
        out[begin + 1] |= 0x80;
    }
    packets.push_back(
        { (d_bit - (branches - 1) * frame_bits + 7) / 8, !d_any, corrected });
    d_any = true;
    ++d_count.packets;
    d_count.errors += failed;
    d_count.corrected += failed ? 0 : corrected;
}

} // namespace gr::gpufec::dvbs
