// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Extracts packets from the data fields of BBFRAMEs, and joins packets that extend over
 * several frames. */

#include "packets.h"
#include <algorithm>
#include <utility>

namespace gr::gpufec::bbframe {

namespace {

constexpr unsigned none_begins = 65535; // value of SYNCD if no packet begins in the frame

// Returns the number of bits of a packet as sent. The sync byte is not sent; CRC-8, ISSY
// field and count of deleted packets are included if the mode has them.
std::size_t unit_of(const header& h)
{
    return h.high_efficiency ? 8 * (packet_bytes - 1 + h.deleted) : h.upl;
}

} // namespace

packets::packets(bool efficient, int isi, generic_hook generic)
    : d_efficient(efficient), d_isi(isi), d_generic(std::move(generic))
{
}

void packets::restart()
{
    d_streams.clear();
    d_count = {};
    d_synchronised = false;
}

void packets::lose(stream& s)
{
    s.synchronised = false;
    s.have = 0;
}

bool packets::supported(const header& h, std::size_t bits) const
{
    const bool transport = h.kind == header::stream::transport;
    if (h.dfl + header_bits > bits) {
        return false;
    }
    if (!transport) {
        return true;
    }
    if (h.syncd != none_begins && h.syncd > h.dfl) {
        return false;
    }
    if (h.high_efficiency) {
        return true;
    }
    // An ISSY field has two or three bytes; the count of deleted packets has one byte.
    const auto min_bytes = packet_bytes + h.deleted + (h.issy ? 2 : 0);
    const auto most = min_bytes + (h.issy ? 1 : 0);
    return h.upl % 8 == 0 && h.upl / 8u >= min_bytes && h.upl / 8u <= most;
}

void packets::push(const std::uint8_t* frame,
                   std::size_t bits,
                   std::vector<std::uint8_t>& out,
                   std::vector<remark>& remarks)
{
    ++d_count.frames;
    const auto h = bits < header_bits ? std::optional<header>()
                                      : read_header(frame, d_crc, d_efficient);
    if (!h || !supported(*h, bits)) {
        // The dropped frame may belong to any input stream, so all streams lose
        // synchronisation.
        for (auto& s : d_streams) {
            lose(s.second);
        }
        ++d_count.dropped;
        d_synchronised = false;
        return;
    }
    const int isi = h->single_input ? -1 : h->isi;
    if (d_isi >= 0 && isi >= 0 && isi != d_isi) {
        ++d_count.passed_over;
        return;
    }
    if (h->kind != header::stream::transport) {
        ++d_count.generic;
        if (d_generic) {
            d_generic(*h, frame, header_bytes + (h->dfl + 7) / 8);
        }
        return;
    }

    auto& s = d_streams[isi];
    const auto unit = unit_of(*h), dfl = std::size_t(h->dfl);
    const std::size_t check = h->high_efficiency ? 0 : 8;
    if (s.synchronised) {
        // SYNCD is the bit position of the first CRC-8 that begins in the frame. In modes
        // without CRC-8, it is the bit position of the first packet. A CRC-8 is sent
        // between its packet and the next packet.
        const auto next = (2 * unit - s.have - check) % unit;
        const bool fits =
            unit == s.unit && (next < dfl ? h->syncd == next : h->syncd >= dfl);
        if (!fits) {
            ++d_count.gaps;
            lose(s);
        }
    }
    std::size_t at = 0;
    if (!s.synchronised) {
        if (h->syncd == none_begins || h->syncd + check > dfl) {
            d_synchronised = false;
            return;
        }
        at = h->syncd + check;
        s.synchronised = true;
        s.begun = false;
        s.unit = unit;
        s.have = 0;
    }
    while (at < dfl) {
        const auto n = std::min(unit - s.have, dfl - at);
        append(s, frame, header_bits + at, n);
        at += n;
        if (s.have == unit) {
            give(s, *h, out, remarks);
            s.have = 0;
        }
    }
    d_synchronised = true;
}

void packets::append(stream& s,
                     const std::uint8_t* from,
                     std::size_t first,
                     std::size_t bits)
{
    if (s.have % 8 == 0 && first % 8 == 0) {
        std::copy_n(from + first / 8, bits / 8, s.bytes + s.have / 8);
        s.have += bits - bits % 8;
        first += bits - bits % 8;
        bits %= 8;
    }
    for (; bits > 0; --bits, ++first, ++s.have) {
        const auto bit = from[first / 8] >> (7 - first % 8) & 1u;
        auto& byte = s.bytes[s.have / 8];
        byte = (s.have % 8 ? byte : 0) | bit << (7 - s.have % 8);
    }
}

void packets::give(stream& s,
                   const header& h,
                   std::vector<std::uint8_t>& out,
                   std::vector<remark>& remarks)
{
    const auto bytes = s.unit / 8;
    const bool error =
        !h.high_efficiency && d_crc(s.bytes, bytes - 1) != s.bytes[bytes - 1];
    if (error || !s.begun) {
        remarks.push_back({ out.size(), error, !s.begun, h.single_input ? -1 : h.isi });
    }
    s.begun = true;
    if (h.deleted && !error) {
        const unsigned count = s.bytes[bytes - (h.high_efficiency ? 1 : 2)];
        for (unsigned i = 0; i < count; ++i) {
            const std::uint8_t null_packet[] = { 0x47, 0x1f, 0xff, 0x10 };
            out.insert(out.end(), std::begin(null_packet), std::end(null_packet));
            out.resize(out.size() + packet_bytes - sizeof(null_packet), 0xff);
        }
        d_count.packets += count;
    }
    out.push_back(0x47);
    out.push_back(s.bytes[0] | (error ? 0x80 : 0));
    out.insert(out.end(), s.bytes + 1, s.bytes + packet_bytes - 1);
    ++d_count.packets;
    d_count.errors += error;
}

} // namespace gr::gpufec::bbframe
