// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Division by the generator polynomial: with tables for eight bytes at a time, or with
 * carry-less multiplication for 32 bytes at a time. */

#include "common/cpu_variant.h"
#include "divider.h"
#ifdef __aarch64__
#include <sys/auxv.h>
#endif
#include <cstring>

namespace gr::gpufec {

namespace {

using remainder = bch_divider::remainder;

const bch::kernels& kernels_of(const std::string& variant)
{
    const auto name = cpu_variant(variant);
#ifdef GPUFEC_X86_VARIANTS
    if (name != "baseline" && __builtin_cpu_supports("pclmul")) {
        return bch::avx2::all;
    }
#elif defined(__aarch64__)
    // Some Arm processors do not have PMULL, for example that of the Raspberry Pi 4.
    constexpr unsigned long has_pmull = 1 << 4; // HWCAP_PMULL in Linux
    if (name == "neon" && getauxval(AT_HWCAP) & has_pmull) {
        return bch::pmull::all;
    }
#endif
    return bch::baseline::all;
}

std::uint64_t load(const std::uint8_t* bytes)
{
    std::uint64_t word;
    std::memcpy(&word, bytes, 8);
    return __builtin_bswap64(word);
}

// Multiplies by x and returns the bit that is shifted out at the top.
bool shift(remainder& r)
{
    const bool carry = r[0] >> 63;
    r = { r[0] << 1 | r[1] >> 63, r[1] << 1 | r[2] >> 63, r[2] << 1 };
    return carry;
}

void add(remainder& r, const remainder& other)
{
    for (int i = 0; i < 3; ++i) {
        r[i] ^= other[i];
    }
}

} // namespace

bch_divider::bch_divider(const bch_code& code, const std::string& variant)
    : d_rows(8 * 256), d_kernels(&kernels_of(variant))
{
    // The generator without its highest term, aligned to the top and to the bottom of 192
    // bits.
    const auto& g = code.generator();
    const auto degree = unsigned(g.size() - 1);
    remainder top{}, bottom{};
    for (unsigned i = 0; i < degree; ++i) {
        const auto place = [i](unsigned last) { return last - i; };
        const auto high = place(degree - 1);
        top[high / 64] |= std::uint64_t(g[i]) << (63 - high % 64);
        const auto low = place(191);
        bottom[low / 64] |= std::uint64_t(g[i]) << (63 - low % 64);
    }

    for (unsigned b = 1; b < 256; ++b) {
        remainder r{ std::uint64_t(b) << 56, 0, 0 };
        for (int i = 0; i < 8; ++i) {
            if (shift(r)) {
                add(r, top);
            }
        }
        d_rows[b] = { { r[0], r[1], r[2], 0 } };
    }
    for (unsigned b = 256; b < d_rows.size(); ++b) {
        const auto& before = d_rows[b - 256].words;
        remainder r{ before[0], before[1], before[2] };
        take_byte(r, 0);
        d_rows[b] = { { r[0], r[1], r[2], 0 } };
    }

    remainder power{ 0, 0, 1 };
    const auto is_one = [&](unsigned bit) {
        const auto place = 191 - bit;
        return power[place / 64] >> (63 - place % 64) & 1;
    };
    for (unsigned e = 1; e <= 256 + 3 * 64; ++e) {
        const bool carry = is_one(degree - 1);
        shift(power);
        if (carry) {
            add(power, bottom);
            if (degree < 192) {
                const auto place = 191 - degree;
                power[place / 64] &= ~(std::uint64_t(1) << (63 - place % 64));
            }
        }
        if (e >= 256 && e % 64 == 0) {
            const auto i = 3 - (e - 256) / 64;
            std::copy(power.begin(), power.end(), d_constants.words[i]);
        }
    }
}

void bch_divider::take_byte(remainder& r, std::uint8_t byte) const
{
    const auto& row = d_rows[(r[0] >> 56) ^ byte].words;
    r = { (r[0] << 8 | r[1] >> 56) ^ row[0],
          (r[1] << 8 | r[2] >> 56) ^ row[1],
          r[2] << 8 ^ row[2] };
}

void bch_divider::take_bytes(remainder& r,
                             const std::uint8_t* bytes,
                             std::size_t count) const
{
    for (; count >= 8; count -= 8, bytes += 8) {
        const auto x = r[0] ^ load(bytes);
        row next = { { r[1], r[2], 0, 0 } };
        for (unsigned j = 0; j < 8; ++j) {
            const auto& row = d_rows[256 * j + (x >> 8 * j & 0xff)];
            for (int i = 0; i < 4; ++i) {
                next.words[i] ^= row.words[i];
            }
        }
        r = { next.words[0], next.words[1], next.words[2] };
    }
    for (; count > 0; --count) {
        take_byte(r, *bytes++);
    }
}

remainder bch_divider::divide(const std::uint8_t* bytes, std::size_t bits) const
{
    auto whole = bits / 8;
    remainder r{};
    if (d_kernels->fold && whole >= 64) {
        // Leading zeros, which do not change the remainder, fill the first block.
        const auto head = whole % 32;
        std::uint8_t block[32] = {};
        std::copy(bytes, bytes + head, block + 32 - head);
        std::uint64_t sum[4];
        for (int i = 0; i < 4; ++i) {
            sum[i] = load(block + 8 * i);
        }
        d_kernels->fold(bytes + head, whole / 32, sum, d_constants);
        for (int i = 0; i < 4; ++i) {
            const auto word = __builtin_bswap64(sum[i]);
            std::memcpy(block + 8 * i, &word, 8);
        }
        take_bytes(r, block, 32);
    } else {
        take_bytes(r, bytes, whole);
    }
    if (bits % 8) {
        take_byte(r, bytes[whole] & 0xff00u >> bits % 8);
    }
    return r;
}

} // namespace gr::gpufec
