// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads, rotates and demaps symbols for frame_judge, and removes parts of PLFRAMEs. */

#include "demap/vlsnr.h"
#include "symbol_readings.h"
#include <algorithm>
#include <cmath>
#include <optional>

namespace gr::gpufec::ldpc {

namespace {

// Number of symbols per slot, of slots between pilot blocks, and of symbols per pilot
// block.
constexpr std::size_t slot = 90, slots_per_pilot = 16, pilot = 36;

// Returns the angle, in multiples of 90 degrees, by which scrambling rotates each symbol
// after the PLHEADER.
std::vector<unsigned> scrambling(std::size_t count)
{
    constexpr unsigned period = (1u << 18) - 1, offset = 131072;
    std::vector<unsigned char> z(period);
    // Shift registers with the next 18 bits of two sequences, the first bit lowest.
    std::uint32_t x = 1, y = period;
    for (auto& bit : z) {
        bit = (x ^ y) & 1u;
        x = x >> 1 | ((x ^ x >> 7) & 1u) << 17;
        y = y >> 1 | ((y ^ y >> 5 ^ y >> 7 ^ y >> 10) & 1u) << 17;
    }
    std::vector<unsigned> turns(count);
    for (std::size_t i = 0; i < count; ++i) {
        turns[i] = 2u * z[(i + offset) % period] + z[i % period];
    }
    return turns;
}

} // namespace

symbol_vector read_symbols(const std::vector<std::byte>& bytes,
                           demap::symbol_format format)
{
    symbol_vector symbols;
    demap::read_symbols(
        bytes.data(), bytes.size() / demap::symbol_bytes(format), format, symbols);
    return symbols;
}

symbol_vector turned(const symbol_vector& symbols, bool exchanged, double turn)
{
    const auto factor =
        std::complex<float>(std::polar(1.0, 2 * 3.14159265358979323846 * turn));
    symbol_vector all;
    all.reserve(symbols.size());
    for (const auto s : symbols) {
        all.push_back((exchanged ? std::complex(s.imag(), s.real()) : s) * factor);
    }
    return all;
}

std::string plframe_parts::mend() const
{
    std::string text;
    const auto add = [&](bool there, const char* step) {
        text += !there ? "" : (text.empty() ? "" : ", ") + std::string(step);
    };
    add(header, "remove the PLHEADER, 90 symbols at the beginning of each frame");
    add(scrambling, "undo the PL scrambling (sequence 0)");
    add(pilots, "remove the pilots, 36 symbols after each 16 slots of 90");
    return "the symbols look like those of PLFRAMEs: " + text;
}

symbol_vector without(const plframe_parts& parts,
                      const symbol_vector& symbols,
                      std::size_t frame_symbols)
{
    const auto header = parts.header ? slot : 0;
    const auto slots = (frame_symbols + slot - 1) / slot;
    const auto pilots = parts.pilots ? (slots - 1) / slots_per_pilot * pilot : 0;
    const auto length = header + frame_symbols + pilots;
    const auto turns = scrambling(parts.scrambling ? length : 0);
    const std::complex<float> back[] = { 1, { 0, -1 }, -1, { 0, 1 } };
    symbol_vector all;
    for (std::size_t begin = 0; begin + length <= symbols.size(); begin += length) {
        for (std::size_t i = 0; i < length - header; ++i) {
            const auto in_stretch = i % (slot * slots_per_pilot + pilot);
            if (!parts.pilots || in_stretch < slot * slots_per_pilot) {
                const auto s = symbols[begin + header + i];
                all.push_back(parts.scrambling ? s * back[turns[i]] : s);
            }
        }
    }
    return all;
}

std::vector<float> llrs_of(const demap::constellation& points,
                           demap::method how,
                           const symbol_vector& symbols,
                           unsigned frame_bits,
                           std::size_t max_frames)
{
    std::optional<demap::model> model;
    std::optional<demap::vlsnr_demapper> bpsk;
    if (points.bits == 1) {
        bpsk.emplace(points, how, demap::symbol_format::float32);
    } else {
        model = demap::make_model(points);
    }
    const auto length = points.frame_symbols(frame_bits);
    const auto frames = std::min(max_frames, symbols.size() / length);
    std::vector<float> nats;
    std::vector<std::int8_t> steps(frame_bits);
    for (std::size_t f = 0; f < frames; ++f) {
        const auto* const frame = symbols.data() + f * length;
        if (bpsk) {
            bpsk->demap(frame, frame_bits, std::nan(""), steps.data());
        } else {
            demap::reference_demap(*model,
                                   how,
                                   demap::symbol_format::float32,
                                   frame,
                                   frame_bits,
                                   demap::estimated,
                                   steps.data());
        }
        for (const auto step : steps) {
            nats.push_back(float(step) / demap::steps_per_nat);
        }
    }
    return nats;
}

} // namespace gr::gpufec::ldpc
