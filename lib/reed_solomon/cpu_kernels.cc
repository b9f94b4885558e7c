// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Syndromes and the search for errors with SIMD: byte shuffles as tables of products
 * (AVX2, NEON), or instructions for Galois fields (AVX-512 with GFNI). This file is
 * compiled once for each instruction set. */

#include "cpu_kernels.h"
#include <cstring>

#if defined(__GFNI__) || defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace gr::gpufec::reed_solomon {
namespace GPUFEC_ISA {

namespace {

#if defined(__GFNI__)
#define GPUFEC_FIELD_VECTORS

using vec = __m512i;
constexpr unsigned width = 64;
constexpr unsigned roots_per_pass = 8;
constexpr bool with_gfni = true;

vec load(const std::uint8_t* from) { return _mm512_loadu_si512(from); }
void store(std::uint8_t* to, vec a) { _mm512_storeu_si512(to, a); }
vec add(vec a, vec b) { return _mm512_xor_si512(a, b); }
std::uint64_t zero_lanes(vec a) { return _mm512_testn_epi8_mask(a, a); }

vec shifted_words(vec a, unsigned bits) { return _mm512_srli_epi64(a, bits); }

// Returns a vector whose word i is the sum of the words of vector i.
vec word_sums(const vec* a)
{
    const auto pair = [](vec a, vec b) {
        return add(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
    };
    // Adds the two halves of a, and the two halves of b, and concatenates the sums.
    const auto halves = [](vec a, vec b) {
        return add(_mm512_shuffle_i64x2(a, b, 0x44), _mm512_shuffle_i64x2(a, b, 0xee));
    };
    const auto first = halves(pair(a[0], a[1]), pair(a[2], a[3]));
    const auto second = halves(pair(a[4], a[5]), pair(a[6], a[7]));
    return add(_mm512_shuffle_i64x2(first, second, 0x88),
               _mm512_shuffle_i64x2(first, second, 0xdd));
}

// Multiplication of all lanes by a constant, which is stored as a matrix over GF(2).
struct step {
    step() = default;
    explicit step(const std::uint8_t* from)
    {
        std::uint64_t word;
        std::memcpy(&word, from, 8);
        matrix = _mm512_set1_epi64(word);
    }
    vec of(vec a) const { return _mm512_gf2p8affine_epi64_epi8(a, matrix, 0); }

    static constexpr unsigned bytes = 8;
    vec matrix;
};

// Multiplication of all lanes by a constant in the field of GFNI.
struct multiplier {
    explicit multiplier(const std::uint8_t* from) : factor(_mm512_set1_epi8(*from)) {}
    vec of(vec a) const { return _mm512_gf2p8mul_epi8(a, factor); }

    static constexpr unsigned bytes = 1;
    vec factor;
};

constexpr unsigned lane_vectors = 1;
// Multiplies each lane by its own constant.
vec weighted(vec a, const std::uint8_t* lanes, std::uint64_t conversion)
{
    const auto converted =
        _mm512_gf2p8affine_epi64_epi8(a, _mm512_set1_epi64(conversion), 0);
    return _mm512_gf2p8mul_epi8(converted, load(lanes));
}

#elif defined(__AVX2__) || defined(__aarch64__)
#define GPUFEC_FIELD_VECTORS

#ifdef __AVX2__
using vec = __m256i;
constexpr unsigned width = 32;
constexpr unsigned roots_per_pass = 4; // with their tables, these fill 16 registers

vec load(const std::uint8_t* from)
{
    return _mm256_loadu_si256(reinterpret_cast<const vec*>(from));
}
void store(std::uint8_t* to, vec a)
{
    _mm256_storeu_si256(reinterpret_cast<vec*>(to), a);
}
vec add(vec a, vec b) { return _mm256_xor_si256(a, b); }
std::uint64_t zero_lanes(vec a)
{
    const auto equal = _mm256_cmpeq_epi8(a, _mm256_setzero_si256());
    return std::uint32_t(_mm256_movemask_epi8(equal));
}
// Returns a table of 16 bytes for lookup().
vec table(const std::uint8_t* from)
{
    return _mm256_broadcastsi128_si256(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}
vec lookup(vec table, vec index) { return _mm256_shuffle_epi8(table, index); }
vec low_nibbles(vec a) { return _mm256_and_si256(a, _mm256_set1_epi8(15)); }
vec high_nibbles(vec a) { return low_nibbles(_mm256_srli_epi16(a, 4)); }
// Returns b in lanes of a whose highest bit is set, and 0 in other lanes.
vec where_high_bit(vec a, vec b)
{
    return _mm256_and_si256(_mm256_cmpgt_epi8(_mm256_setzero_si256(), a), b);
}
vec doubled(vec a) { return _mm256_add_epi8(a, a); }
vec shifted_words(vec a, unsigned bits) { return _mm256_srli_epi64(a, bits); }
// Returns a vector whose word i is the sum of the words of vector i.
vec word_sums(const vec* a)
{
    const auto pair = [](vec a, vec b) {
        return add(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
    };
    const auto first = pair(a[0], a[1]), second = pair(a[2], a[3]);
    return add(_mm256_permute2x128_si256(first, second, 0x20),
               _mm256_permute2x128_si256(first, second, 0x31));
}
#else
using vec = uint8x16_t;
constexpr unsigned width = 16;
constexpr unsigned roots_per_pass = 8;

vec load(const std::uint8_t* from) { return vld1q_u8(from); }
void store(std::uint8_t* to, vec a) { vst1q_u8(to, a); }
vec add(vec a, vec b) { return veorq_u8(a, b); }
std::uint64_t zero_lanes(vec a)
{
    const vec bits = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
    const auto zeros = vandq_u8(vceqzq_u8(a), bits);
    return vaddv_u8(vget_low_u8(zeros)) | std::uint64_t(vaddv_u8(vget_high_u8(zeros)))
                                              << 8;
}
vec table(const std::uint8_t* from) { return load(from); }
vec lookup(vec table, vec index) { return vqtbl1q_u8(table, index); }
vec low_nibbles(vec a) { return vandq_u8(a, vdupq_n_u8(15)); }
vec high_nibbles(vec a) { return vshrq_n_u8(a, 4); }
vec where_high_bit(vec a, vec b)
{
    return vandq_u8(vcltzq_s8(vreinterpretq_s8_u8(a)), b);
}
vec doubled(vec a) { return vaddq_u8(a, a); }
vec shifted_words(vec a, unsigned bits)
{
    const auto words = vreinterpretq_u64_u8(a);
    return vreinterpretq_u8_u64(vshlq_u64(words, vdupq_n_s64(-std::int64_t(bits))));
}
// Returns a vector whose word i is the sum of the words of vector i.
vec word_sums(const vec* a)
{
    const auto first = vreinterpretq_u64_u8(a[0]), second = vreinterpretq_u64_u8(a[1]);
    return vreinterpretq_u8_u64(
        veorq_u64(vzip1q_u64(first, second), vzip2q_u64(first, second)));
}
#endif
constexpr bool with_gfni = false;

// Multiplication of all lanes by a constant, with tables of the products of nibbles.
struct step {
    step() = default;
    explicit step(const std::uint8_t* from) : low(table(from)), high(table(from + 16)) {}
    vec of(vec a) const
    {
        return add(lookup(low, low_nibbles(a)), lookup(high, high_nibbles(a)));
    }

    static constexpr unsigned bytes = 32;
    vec low, high;
};

using multiplier = step;

constexpr unsigned lane_vectors = 8;
// Multiplies each lane by its own constant, bit by bit.
vec weighted(vec a, const std::uint8_t* lanes, std::uint64_t)
{
    vec sum = where_high_bit(a, load(lanes));
    for (unsigned i = 1; i < lane_vectors; ++i) {
        a = doubled(a);
        sum = add(sum, where_high_bit(a, load(lanes + i * width)));
    }
    return sum;
}

#endif

#ifdef GPUFEC_FIELD_VECTORS

std::uint64_t word_at(const std::uint8_t* from)
{
    std::uint64_t word;
    std::memcpy(&word, from, 8);
    return word;
}

std::uint64_t first_bytes(unsigned count)
{
    return count >= 8 ? ~std::uint64_t(0) : (std::uint64_t(1) << 8 * count) - 1;
}

// Adds the lanes of each codeword for interleaving depths that divide 8. Writes the sums
// of width / 8 roots.
void add_words(const vec* values, unsigned interleaving, std::uint8_t* sums)
{
    auto words = word_sums(values);
    for (unsigned bits = 32; bits >= 8 * interleaving; bits /= 2) {
        words = add(words, shifted_words(words, bits));
    }
    std::uint8_t bytes[width];
    store(bytes, words);
    const auto mask = first_bytes(interleaving);
    for (unsigned r = 0; r < width / 8; ++r) {
        const auto sum = word_at(bytes + 8 * r) & mask;
        std::memcpy(sums + r * syndrome_stride, &sum, 8);
    }
}

// For one root and any interleaving depth, adds the lanes of each codeword. \p end points
// past the last lane, and the 8 bytes from \p end on must be readable.
void add_lanes(const std::uint8_t* end,
               unsigned interleaving,
               unsigned positions,
               std::uint8_t* sums)
{
    std::uint64_t first = 0, second = 0;
    for (unsigned i = 0; i < positions; ++i) {
        end -= interleaving;
        first ^= word_at(end);
        if (interleaving > 8) {
            second ^= word_at(end + 8);
        }
    }
    first &= first_bytes(interleaving);
    std::memcpy(sums, &first, 8);
    if (interleaving > 8) {
        second &= first_bytes(interleaving - 8);
        std::memcpy(sums + 8, &second, 8);
    }
}

void syndromes(const syndrome_constants& constants,
               const std::uint8_t* frame,
               std::uint8_t* sums)
{
    const auto interleaving = constants.interleaving;
    const auto stride = constants.positions * interleaving;
    // The first vector holds the symbols that do not fill a vector; zeros precede them.
    const auto partial = constants.symbols % constants.positions;
    const auto head = (partial ? partial : constants.positions) * interleaving;
    const auto steps = (constants.symbols * interleaving - head) / stride;
    std::uint8_t first[width] = {};
    std::memcpy(first + width - head, frame, head);
    const auto* const vectors = frame + head + stride - width;

    alignas(width) std::uint8_t row[width + 8] = {};
    for (unsigned root = 0; root < constants.roots; root += roots_per_pass) {
        step multiply[roots_per_pass];
        for (unsigned r = 0; r < roots_per_pass; ++r) {
            multiply[r] = step(constants.steps + (root + r) * step::bytes);
        }
        vec values[roots_per_pass];
        for (auto& value : values) {
            value = load(first);
        }
        for (unsigned i = 0; i < steps; ++i) {
            const auto symbols = load(vectors + i * stride);
            for (unsigned r = 0; r < roots_per_pass; ++r) {
                values[r] = add(multiply[r].of(values[r]), symbols);
            }
        }
        for (unsigned r = 0; r < roots_per_pass; ++r) {
            const auto* const lanes = constants.lanes + (root + r) * lane_vectors * width;
            values[r] = weighted(values[r], lanes, constants.conversion);
        }
        if (8 % interleaving == 0) {
            for (unsigned r = 0; r < roots_per_pass; r += width / 8) {
                add_words(values + r, interleaving, sums + (root + r) * syndrome_stride);
            }
            continue;
        }
        for (unsigned r = 0; r < roots_per_pass; ++r) {
            store(row, values[r]);
            add_lanes(row + width,
                      interleaving,
                      constants.positions,
                      sums + (root + r) * syndrome_stride);
        }
    }
}

void zeros(const search_constants& constants,
           const std::uint8_t* coefficients,
           unsigned degree,
           std::uint64_t found[4])
{
    constexpr unsigned count = 256 / width;
    constexpr unsigned per_pass = count < 4 ? count : 4;
    for (unsigned i = 0; i < 4; ++i) {
        found[i] = 0;
    }
    for (unsigned pass = 0; pass < count; pass += per_pass) {
        vec values[per_pass] = {};
        for (unsigned i = 0; i <= degree; ++i) {
            const multiplier multiply(constants.multipliers +
                                      coefficients[i] * multiplier::bytes);
            for (unsigned v = 0; v < per_pass; ++v) {
                const auto powers = load(constants.powers + i * 256 + (pass + v) * width);
                values[v] = add(values[v], multiply.of(powers));
            }
        }
        for (unsigned v = 0; v < per_pass; ++v) {
            const auto position = (pass + v) * width;
            found[position / 64] |= zero_lanes(values[v]) << position % 64;
        }
    }
}
#endif

} // namespace

extern const kernels all;
#ifdef GPUFEC_FIELD_VECTORS
const kernels all = { width, roots_per_pass, with_gfni, syndromes, zeros };
#else
const kernels all = { 0, 1, false, nullptr, nullptr };
#endif

} // namespace GPUFEC_ISA
} // namespace gr::gpufec::reed_solomon
