// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The lane-parallel decoder, which decodes one parallel block per SIMD lane. This file is
 * compiled once for each instruction set (namespace GPUFEC_ISA, GPUFEC_LANES lanes of 16
 * bits).
 *
 * A word of 16 bits holds a path metric and, in its low bits, H decisions. A strip is a
 * group of H stages. A branch from an odd predecessor adds 1 << t, its decision, at stage
 * t of a strip. The minimum of two words therefore also selects the decisions of the
 * survivor, and on a tie the even predecessor survives. At the end of a strip the
 * decisions are moved to the survivor memory.
 *
 * Range: with R outputs, a branch metric is at most B = 127·R. After K−1 stages two path
 * metrics differ by at most S = (K−1)·B. A path metric is at most M = 2^(16−H) − 1, and a
 * strip adds at most H·B. When the metric of state 0 exceeds M − H·B − S, the smallest
 * path metric is therefore subtracted from all. A state that cannot be reached yet has a
 * path metric that exceeds the smallest one by S + 1, so that no path from this state
 * survives. */

#include "kernels.h"
#include <cstring>
#ifdef __SSSE3__
#include <tmmintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace gr::gpufec::viterbi {
namespace GPUFEC_ISA {

namespace {

constexpr unsigned lanes = GPUFEC_LANES;

typedef std::uint16_t vec __attribute__((vector_size(2 * GPUFEC_LANES)));
typedef std::int16_t svec __attribute__((vector_size(2 * GPUFEC_LANES)));
typedef std::int8_t bytes __attribute__((vector_size(GPUFEC_LANES)));

inline vec minimum(vec a, vec b) { return a < b ? a : b; }
inline vec all(unsigned x) { return vec{} + std::uint16_t(x); }

inline svec widened(bytes x)
{
#ifdef __aarch64__
    // With a plain vector conversion, GCC 12 would convert the bytes one by one.
    return svec(vmovl_s8(int8x8_t(x)));
#else
    return __builtin_convertvector(x, svec);
#endif
}

inline bool any_above(vec a, unsigned limit)
{
    const auto above = a > all(limit);
    std::uint64_t words[sizeof(above) / 8];
    std::memcpy(words, &above, sizeof(above));
    std::uint64_t any = 0;
    for (const auto w : words) {
        any |= w;
    }
    return any != 0;
}

// The output words of branches, from lane_trellis::word.
struct table_words {
    const std::uint8_t (*word)[4];
    unsigned operator()(unsigned butterfly, unsigned branch) const
    {
        return word[butterfly][branch];
    }
};

// The output words of the code with polynomials 171 and 133 (octal), which are
// compile-time constants in unrolled loops.
struct words_171_133 {
    constexpr unsigned operator()(unsigned butterfly, unsigned branch) const
    {
        const unsigned shift_register =
            (branch & 1) << 6 | (2 * butterfly + (branch >> 1));
        return __builtin_parity(shift_register & 0171) << 1 |
               __builtin_parity(shift_register & 0133);
    }
};

// Branch metrics of all output words at one stage, shifted left by H bits.
template <unsigned Words>
struct branch_costs {
    vec even[Words]; // branch metric from an even predecessor
    vec odd[Words];  // branch metric from an odd predecessor, including its decision bit
};

// Returns a vector whose lane i is lane i of the i-th vector.
template <unsigned Count>
inline vec selected(const vec* from, vec index)
{
    if constexpr (Count == 1) {
        return *from;
    } else {
        const vec low = selected<Count / 2>(from, index);
        const vec high = selected<Count / 2>(from + Count / 2, index);
        return (index & all(Count / 2)) != vec{} ? high : low;
    }
}

// Vectors of sixteen bytes, for transposing. store_rows() stores two values of eight
// lanes in successive rows of the tile.
#ifdef __SSE2__
using bytes_16 = __m128i;
inline bytes_16 load_16(const std::int8_t* from)
{
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}
inline bytes_16 zip_low(bytes_16 a, bytes_16 b) { return _mm_unpacklo_epi8(a, b); }
inline bytes_16 zip_high(bytes_16 a, bytes_16 b) { return _mm_unpackhi_epi8(a, b); }
inline void store_rows(std::int8_t* to, bytes_16 x)
{
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), x);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to + lanes), _mm_unpackhi_epi64(x, x));
}
#elif defined(__aarch64__)
using bytes_16 = int8x16_t;
inline bytes_16 load_16(const std::int8_t* from) { return vld1q_s8(from); }
inline bytes_16 zip_low(bytes_16 a, bytes_16 b) { return vzip1q_s8(a, b); }
inline bytes_16 zip_high(bytes_16 a, bytes_16 b) { return vzip2q_s8(a, b); }
inline void store_rows(std::int8_t* to, bytes_16 x)
{
    static_assert(lanes == 8, "rows are adjacent only with 8 lanes");
    vst1q_s8(to, x);
}
#endif

// Transposes the soft values of `stages` stages, from stage `first` on, from one row per
// lane to a tile [stage][output][lane].
void transpose(const lane_blocks& blocks,
               unsigned outputs,
               unsigned first,
               unsigned stages,
               std::int8_t* tile)
{
    const unsigned begin = first * outputs;
    const unsigned n = stages * outputs;
    unsigned i = 0;
#if defined(__SSE2__) || defined(__aarch64__)
    // Eight rows are processed completely before the next eight. If the distance between
    // rows is a power of two, the L1 cache cannot hold one cache line of every row.
    for (unsigned group = 0; group < lanes; group += 8) {
        for (i = 0; i + 16 <= n; i += 16) {
            bytes_16 row[8];
            for (unsigned l = 0; l < 8; ++l) {
                row[l] = load_16(blocks.soft[group + l] + begin + i);
            }
            // After three rounds of interleaving bytes, the eight lanes of a value are
            // next to each other.
            bytes_16 a[8], b[8];
            for (unsigned l = 0; l < 4; ++l) {
                a[2 * l] = zip_low(row[l], row[l + 4]);
                a[2 * l + 1] = zip_high(row[l], row[l + 4]);
            }
            for (unsigned h = 0; h < 2; ++h) {
                for (unsigned l = 0; l < 2; ++l) {
                    b[4 * h + 2 * l] = zip_low(a[2 * l + h], a[2 * (l + 2) + h]);
                    b[4 * h + 2 * l + 1] = zip_high(a[2 * l + h], a[2 * (l + 2) + h]);
                }
            }
            for (unsigned q = 0; q < 4; ++q) {
                const auto& x = b[4 * (q / 2) + q % 2];
                const auto& y = b[4 * (q / 2) + 2 + q % 2];
                auto* const to = tile + (i + 4 * q) * lanes + group;
                store_rows(to, zip_low(x, y));
                store_rows(to + 2 * lanes, zip_high(x, y));
            }
        }
    }
#endif
    for (; i < n; ++i) {
        for (unsigned l = 0; l < lanes; ++l) {
            tile[i * lanes + l] = blocks.soft[l][begin + i];
        }
    }
}

template <unsigned K, unsigned H, unsigned R, class Words>
class decoder_of
{
public:
    static constexpr unsigned N = 1u << (K - 1);
    static constexpr unsigned quads = N / 4;

    decoder_of(const lane_trellis& trellis, const Words& words, void* scratch)
        : d_outputs(R ? R : trellis.outputs),
          d_inverted(trellis.inverted),
          d_swapped(trellis.is_171_133 && trellis.swapped),
          d_words(words),
          d_survivors(static_cast<vec*>(scratch))
    {
        d_branch = 127 * d_outputs;
        d_spread = (K - 1) * d_branch;
    }

    static std::size_t scratch_bytes(unsigned window)
    {
        const std::size_t strips = (window + H - 1) / H;
        return strips * quads * sizeof(vec) + lanes * path_words(window) * 2;
    }

    void decode(const lane_blocks& blocks)
    {
        forward(blocks);
        traceback(blocks);
    }

private:
    static constexpr unsigned max_words = R ? 1u << R : 64;
    static constexpr unsigned tile_stages = 32;

    // Words of 16 bits of a lane's path. write_bits() reads 64 bits per access.
    static std::size_t path_words(unsigned window) { return (window + H) / 16 + 4; }

    // Returns H minus the number of stages in the first strip. The last strip ends with
    // the window.
    static unsigned skipped(unsigned window) { return (H - window % H) % H; }

    void costs(const std::int8_t* soft, unsigned t, branch_costs<max_words>& c) const
    {
        const unsigned outputs = R ? R : d_outputs; // a constant if R is not 0
        vec zero[R ? R : 6], one[R ? R : 6];
        for (unsigned r = 0; r < outputs; ++r) {
            const unsigned sent = r ^ d_swapped;
            bytes narrow;
            std::memcpy(&narrow, soft + sent * lanes, sizeof(narrow));
            svec s = widened(narrow);
            const svec lowest = svec{} - std::int16_t(127);
            s = s < lowest ? lowest : s;
            const std::int16_t inverted = d_inverted >> sent & 1;
            const svec sign = svec{} - inverted;
            s = (s ^ sign) - sign;
            const svec none{};
            zero[r] = vec((s < none ? none - s : none) << H);
            one[r] = vec((s > none ? s : none) << H);
        }
        const unsigned words = 1u << outputs;
        for (unsigned w = 0; w < words; ++w) {
            vec sum{};
            for (unsigned r = 0; r < outputs; ++r) {
                sum += w >> (outputs - 1 - r) & 1 ? one[r] : zero[r];
            }
            c.even[w] = sum;
            c.odd[w] = sum + all(1u << t);
        }
    }

    inline void butterfly(const branch_costs<max_words>& c,
                          unsigned j,
                          vec even,
                          vec odd,
                          vec& low,
                          vec& high) const
    {
        low = minimum(even + c.even[d_words(j, 0)], odd + c.odd[d_words(j, 2)]);
        high = minimum(even + c.even[d_words(j, 1)], odd + c.odd[d_words(j, 3)]);
    }

    // Computes stage t of a strip.
    void stage(const std::int8_t* soft, unsigned t, const vec* from, vec* to) const
    {
        branch_costs<max_words> c;
        costs(soft, t, c);
        for (unsigned j = 0; j < N / 2; ++j) {
            butterfly(c, j, from[2 * j], from[2 * j + 1], to[j], to[j + N / 2]);
        }
    }

    // Computes stages t and t+1 of a strip, with four states at a time in registers. If
    // these are the strip's last stages, moves the decisions to the survivors.
    template <bool Last>
    void two_stages(const std::int8_t* soft,
                    unsigned t,
                    const vec* from,
                    vec* to,
                    vec* survivors) const
    {
        branch_costs<max_words> first, second;
        costs(soft, t, first);
        costs(soft + d_outputs * lanes, t + 1, second);
#pragma GCC unroll 16
        for (unsigned i = 0; i < quads; ++i) {
            vec a[4], b[4];
            butterfly(first, 2 * i, from[4 * i], from[4 * i + 1], a[0], a[2]);
            butterfly(first, 2 * i + 1, from[4 * i + 2], from[4 * i + 3], a[1], a[3]);
            butterfly(second, i, a[0], a[1], b[0], b[2]);
            butterfly(second, i + quads, a[2], a[3], b[1], b[3]);
            if (Last) {
                strip(b, survivors[i]);
            }
            for (unsigned k = 0; k < 4; ++k) {
                to[i + k * quads] = b[k];
            }
        }
    }

    // Moves the decisions of four states from their path metrics into one survivor word.
    static inline void strip(vec* b, vec& survivor)
    {
        const vec mask = all((1u << H) - 1);
        survivor = (b[0] & mask) | (b[1] & mask) << H | (b[2] & mask) << (2 * H) |
                   (H == 4 ? b[3] << (3 * H) : (b[3] & mask) << (3 * H));
        for (unsigned k = 0; k < 4; ++k) {
            b[k] &= ~mask;
        }
    }

    void strip_all(vec* metrics, vec* survivors) const
    {
        for (unsigned i = 0; i < quads; ++i) {
            vec b[4];
            for (unsigned k = 0; k < 4; ++k) {
                b[k] = metrics[i + k * quads];
            }
            strip(b, survivors[i]);
            for (unsigned k = 0; k < 4; ++k) {
                metrics[i + k * quads] = b[k];
            }
        }
    }

    void bring_down(vec* metrics) const
    {
        vec low = metrics[0];
        for (unsigned j = 1; j < N; ++j) {
            low = minimum(low, metrics[j]);
        }
        const vec most = all((d_spread + 1) << H);
        for (unsigned j = 0; j < N; ++j) {
            metrics[j] = minimum(metrics[j] - low, most);
        }
    }

    void forward(const lane_blocks& blocks)
    {
        alignas(64) vec metrics[2][N];
        alignas(64) std::int8_t tile[tile_stages * (R ? R : 6) * lanes];

        vec elsewhere; // initial path metric of all states but 0
        bool any_zero = false;
        for (unsigned l = 0; l < lanes; ++l) {
            elsewhere[l] = blocks.from_zero[l] ? (d_spread + 1) << H : 0;
            any_zero |= blocks.from_zero[l];
        }
        vec* now = metrics[0];
        vec* next = metrics[1];
        now[0] = vec{};
        for (unsigned j = 1; j < N; ++j) {
            now[j] = elsewhere;
        }

        const unsigned threshold = ((1u << (16 - H)) - 1 - H * d_branch - d_spread) << H;
        // In a window from state 0, path metrics differ by at most S only after K−1
        // stages. Until then, bring_down() is called after every strip.
        const unsigned settled = any_zero ? (K - 1 + H - 1) / H + 1 : 0;
        const unsigned missing = skipped(blocks.window);
        const unsigned strips = (blocks.window + H - 1) / H;
        unsigned in_tile = 0, tile_end = 0;
        for (unsigned s = 0; s < strips; ++s) {
            const unsigned first = s * H - (s ? missing : 0);
            const unsigned count = s ? H : H - missing;
            if (first + count > tile_end) {
                in_tile = first;
                tile_end = first + tile_stages < blocks.window ? first + tile_stages
                                                               : blocks.window;
                transpose(blocks, d_outputs, first, tile_end - first, tile);
            }
            const auto* soft = tile + (first - in_tile) * d_outputs * lanes;
            vec* survivors = d_survivors + std::size_t(s) * quads;
            if (count == H) {
                if (H == 4) {
                    two_stages<false>(soft, 0, now, next, survivors);
                    two_stages<true>(
                        soft + 2 * d_outputs * lanes, 2, next, now, survivors);
                } else {
                    two_stages<true>(soft, 0, now, next, survivors);
                    swap(now, next);
                }
            } else {
                for (unsigned t = missing; t < H; ++t, soft += d_outputs * lanes) {
                    stage(soft, t, now, next);
                    swap(now, next);
                }
                strip_all(now, survivors);
            }
            if (s < settled || any_above(now[0], threshold)) {
                bring_down(now);
            }
        }
    }

    static void swap(vec*& a, vec*& b)
    {
        vec* const c = a;
        a = b;
        b = c;
    }

    // Traces the survivors back from state 0 and writes the decoded bits. Bit i of a
    // lane's path belongs to stage i − skipped(window) of the window.
    void traceback(const lane_blocks& blocks)
    {
        const unsigned strips = (blocks.window + H - 1) / H;
        const unsigned words = path_words(blocks.window);
        auto* const path =
            reinterpret_cast<std::uint16_t*>(d_survivors + std::size_t(strips) * quads);
        constexpr unsigned per_word = 16 / H;
        vec state{}, gathered{};
        for (unsigned s = strips; s-- > 0;) {
            vec word = selected<quads>(d_survivors + std::size_t(s) * quads, state);
            word = (state & all(2 * quads)) != vec{} ? word >> (2 * H) : word;
            word = (state & all(quads)) != vec{} ? word >> H : word;
            const vec longer = state << H | (word & all((1u << H) - 1));
            gathered = gathered << H | longer >> (K - 1);
            state = longer & all(N - 1);
            if (s % per_word == 0) {
                for (unsigned l = 0; l < lanes; ++l) {
                    path[l * words + s / per_word] = gathered[l];
                }
                gathered = vec{};
            }
        }
        const unsigned missing = skipped(blocks.window);
        for (unsigned l = 0; l < lanes; ++l) {
            write_bits(path + l * words,
                       blocks.lead[l] + missing,
                       blocks.count[l],
                       blocks.bits[l]);
        }
    }

    // Writes `count` bits of a path, from bit `first` on. In a path, the first bit of a
    // word is the least significant; in a byte of the output, the most significant.
    static void write_bits(const std::uint16_t* path,
                           unsigned first,
                           unsigned count,
                           std::uint8_t* out)
    {
        for (unsigned done = 0; done < count; done += 32) {
            const unsigned at = first + done;
            std::uint64_t two;
            std::memcpy(&two, path + at / 16, sizeof(two));
            std::uint32_t w = two >> at % 16;
            w = (w & 0x55555555u) << 1 | (w >> 1 & 0x55555555u);
            w = (w & 0x33333333u) << 2 | (w >> 2 & 0x33333333u);
            w = (w & 0x0f0f0f0fu) << 4 | (w >> 4 & 0x0f0f0f0fu);
            const unsigned left = count - done;
            if (left >= 32) {
                std::memcpy(out + done / 8, &w, 4);
            } else {
                for (unsigned i = 0; 8 * i < left; ++i) {
                    const unsigned keep = left - 8 * i < 8 ? left - 8 * i : 8;
                    out[done / 8 + i] = (w >> 8 * i & 0xffu) & (0xff00u >> keep);
                }
            }
        }
    }

    const unsigned d_outputs;
    const unsigned d_inverted;
    const unsigned d_swapped; // 1 if the output of 133 is sent first, else 0
    const Words d_words;
    vec* const d_survivors;
    unsigned d_branch; // largest branch metric, B
    unsigned d_spread; // largest spread of path metrics, S
};

// Calls `action` with the decoder for the trellis's constraint length K.
template <unsigned K, class Action>
void for_constraint_length(const lane_trellis& t, void* scratch, Action&& action)
{
    const table_words words{ t.word };
    if (t.history == 4) {
        action(decoder_of<K, 4, 0, table_words>(t, words, scratch));
    } else {
        action(decoder_of<K, 2, 0, table_words>(t, words, scratch));
    }
}

template <class Action>
void for_trellis(const lane_trellis& t, void* scratch, Action&& action)
{
    if (t.is_171_133) {
        const words_171_133 words;
        return action(decoder_of<7, 4, 2, words_171_133>(t, words, scratch));
    }
    switch (t.constraint_length) {
    case 3:
        return for_constraint_length<3>(t, scratch, action);
    case 4:
        return for_constraint_length<4>(t, scratch, action);
    case 5:
        return for_constraint_length<5>(t, scratch, action);
    case 6:
        return for_constraint_length<6>(t, scratch, action);
    case 7:
        return for_constraint_length<7>(t, scratch, action);
    case 8:
        return for_constraint_length<8>(t, scratch, action);
    default:
        return for_constraint_length<9>(t, scratch, action);
    }
}

std::size_t scratch_bytes(const lane_trellis& t, unsigned window)
{
    std::size_t bytes = 0;
    for_trellis(t, nullptr, [&](auto&& d) { bytes = d.scratch_bytes(window); });
    return bytes;
}

void decode(const lane_trellis& t, const lane_blocks& blocks, void* scratch)
{
    for_trellis(t, scratch, [&](auto&& d) { d.decode(blocks); });
}

std::size_t depuncture(const depuncturing& d,
                       const std::int8_t* sent,
                       std::size_t values,
                       std::int8_t* to,
                       std::size_t places)
{
    std::size_t times = 0;
#if defined(__SSSE3__) || defined(__aarch64__)
#ifdef __SSSE3__
    const auto from = _mm_load_si128(reinterpret_cast<const __m128i*>(d.from));
    const auto shuffle = [&] {
        const auto in = _mm_loadu_si128(reinterpret_cast<const __m128i*>(sent));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_shuffle_epi8(in, from));
    };
#else
    const auto from = vld1q_u8(d.from);
    const auto shuffle = [&] { vst1q_s8(to, vqtbl1q_s8(vld1q_s8(sent), from)); };
#endif
    for (; values >= 16 && places >= 16; ++times) {
        shuffle();
        sent += d.sent;
        values -= d.sent;
        to += d.places;
        places -= d.places;
    }
#endif
    return times;
}

} // namespace

extern const lane_decoder decoder = { lanes, scratch_bytes, decode, depuncture };

} // namespace GPUFEC_ISA
} // namespace gr::gpufec::viterbi
