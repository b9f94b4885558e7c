// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Coders that work on the caller's thread, and the output formats of gpufec encode. */

#include "common/packed_bits.h"
#include "encode.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace gr::gpufec {

piece_coder::piece_coder(const stream_rates& r, std::size_t items, function code)
    : byte_coder(r), d_piece_bytes(items * r.item_bytes), d_code(std::move(code))
{
}

std::size_t piece_coder::push(const void* items, std::size_t count)
{
    if (d_pulled < d_out.size()) {
        return 0;
    }
    const auto lacking = (d_piece_bytes - d_in.size()) / rates.item_bytes;
    const auto n = std::min(count, lacking);
    const auto* const bytes = static_cast<const std::uint8_t*>(items);
    d_in.insert(d_in.end(), bytes, bytes + n * rates.item_bytes);
    if (n == lacking) {
        code();
    }
    return n;
}

void piece_coder::code()
{
    d_out.erase(d_out.begin(), d_out.begin() + d_pulled);
    d_pulled = 0;
    d_code(d_in.data(), d_in.size() / rates.item_bytes, d_out);
    d_in.clear();
}

std::size_t piece_coder::pull(std::uint8_t* out, std::size_t bytes)
{
    const auto n = std::min(bytes, d_out.size() - d_pulled);
    std::copy_n(d_out.begin() + d_pulled, n, out);
    d_pulled += n;
    return n;
}

void piece_coder::finish()
{
    if (rates.frame_items == 0 && !d_in.empty()) {
        code();
    }
    d_in.clear();
    code();
    d_finished = true;
}

std::string bit_encoder_options(const std::string& outputs,
                                const std::string& positive_bit)
{
    const std::string of_bits = "packed|unpacked";
    return "unpacked flag - IN has one bit per byte\noutput " +
           (outputs.empty()
                ? of_bits +
                      " packed bits, eight per byte (packed) or one per byte (unpacked)\n"
                : outputs + '|' + of_bits + ' ' + outputs.substr(0, outputs.find('|')) +
                      " noiseless soft values, which decode accepts, or bits, eight per "
                      "byte (packed) or one per byte (unpacked)\n"
                      "positive-bit 0|1 " +
                      positive_bit + " the bit that a positive soft value means\n");
}

namespace {

constexpr std::size_t stream_piece_bits = 1u << 16;

template <class Value>
void append(const byte_vector& bits, Value zero, Value one, byte_vector& out)
{
    const auto before = out.size();
    out.resize(before + bits.size() * sizeof(Value));
    for (std::size_t i = 0; i < bits.size(); ++i) {
        const auto value = bits[i] ? one : zero;
        std::memcpy(&out[before + i * sizeof value], &value, sizeof value);
    }
}

// A writer of coded bits in the format of --output.
class bit_output
{
public:
    bit_output(const option_values& values, const bit_encoder& encoder)
        : d_kind(values.text("output")),
          d_sign(values.text("positive-bit") == "1" ? 1 : -1),
          d_encoder(encoder)
    {
    }

    void write(const byte_vector& coded, byte_vector& out)
    {
        constexpr int level = 32; // magnitude of int8 and uint8 soft values
        if (d_kind == "int8") {
            append<std::int8_t>(coded, -level * d_sign, level * d_sign, out);
        } else if (d_kind == "uint8") {
            append<std::uint8_t>(coded, 128 - level * d_sign, 128 + level * d_sign, out);
        } else if (d_kind == "float") {
            append(coded, -d_encoder.level * d_sign, d_encoder.level * d_sign, out);
        } else if (d_kind == "symbols") {
            d_encoder.map(coded, out);
        } else if (d_kind == "unpacked") {
            out.insert(out.end(), coded.begin(), coded.end());
        } else {
            d_rest.insert(d_rest.end(), coded.begin(), coded.end());
            pack(d_encoder.frame_bits ? d_rest.size() : d_rest.size() / 8 * 8, out);
        }
    }
    void finish(byte_vector& out) { pack(d_rest.size(), out); }

private:
    void pack(std::size_t bits, byte_vector& out)
    {
        const auto before = out.size();
        out.resize(before + (bits + 7) / 8);
        pack_bits(d_rest.data(), bits, out.data() + before);
        d_rest.erase(d_rest.begin(), d_rest.begin() + bits);
    }

    const std::string d_kind;
    const int d_sign;
    const bit_encoder d_encoder;
    byte_vector d_rest; // last bits of a stream, fewer than a byte
};

} // namespace

void append_symbols(const demap::model& m, const byte_vector& bits, byte_vector& out)
{
    const auto count = m.symbols(bits.size());
    const auto put = [&](double i, double q) {
        const float symbol[] = { float(i), float(q) };
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(symbol);
        out.insert(out.end(), bytes, bytes + sizeof symbol);
    };
    for (std::uint32_t s = 0; s < count; ++s) {
        unsigned label = 0;
        for (unsigned b = 0; b < m.bits; ++b) {
            const auto place = m.place(s, b, count);
            label = label << 1 | (place < bits.size() ? bits[place] : 0u);
        }
        put(m.i[label], m.q[label]);
    }
    for (auto s = count; s % 90 != 0; ++s) {
        put(std::sqrt(0.5), std::sqrt(0.5));
    }
}

std::unique_ptr<byte_coder> make_bit_encoder(const option_values& values,
                                             const bit_encoder& encoder)
{
    const auto output = values.text("output");
    values.warn_unused(output == "int8" || output == "uint8" || output == "float",
                       { "positive-bit" },
                       "--output of soft values");
    const bool unpacked = values.has("unpacked");
    const auto items_of = [&](std::size_t bits) {
        return unpacked ? bits : (bits + 7) / 8;
    };
    const auto frame_items = items_of(encoder.frame_bits);
    const stream_rates rates{ 1,
                              encoder.frame_bits
                                  ? double(frame_items) / encoder.frame_bits
                                  : (unpacked ? 1 : 1. / 8),
                              0,
                              frame_items };
    const auto piece = encoder.frame_bits ? encoder.frame_bits : stream_piece_bits;
    return std::make_unique<piece_coder>(
        rates,
        items_of(piece),
        [=,
         written = bit_output(values, encoder),
         message = byte_vector(),
         coded = byte_vector()](
            const std::uint8_t* items, std::size_t count, byte_vector& out) mutable {
            if (count == 0) {
                written.finish(out);
                return;
            }
            message.resize(encoder.frame_bits ? encoder.frame_bits
                                              : count * (unpacked ? 1 : 8));
            if (unpacked) {
                std::transform(items, items + count, message.begin(), [](auto item) {
                    return item & 1u;
                });
            } else {
                unpack_bits(items, 0, message.size(), message.data());
            }
            encoder.encode(message, coded);
            written.write(coded, out);
        });
}

} // namespace gr::gpufec
