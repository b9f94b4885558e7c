// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Layered min-sum of one codeword, as message_rule.h and layer_plan.h define it. A vector
 * holds successive checks of one layer. Posteriors and messages of one codeword take less
 * than 1 MB, so that they can stay in a core's L2 cache.
 *
 * Magnitudes are bytes and may saturate, because message_limit + offset fits in a byte
 * and all larger magnitudes result in the same message. Posteriors have 16 bits. Messages
 * and posteriors are stored with \c bias added, so that zero extension widens a message
 * to 16 bits.
 *
 * A layer reads the 360 posteriors of a group cyclically, beginning at the edge's
 * shift, and stores the results in the order of reading (shifted_group). Writes are
 * then aligned; unaligned writes cost more than unaligned reads. The first values of a
 * group are repeated after its last value, so that every vector is contiguous. Each group
 * has two buffers. A layer reads one and writes the other, because its first writes would
 * overwrite posteriors that the layer has yet to read.
 *
 * The code calls no function of the standard library; kernels.cc explains why. */

#include "byte_tiles.h"
#include "dvb_single_codeword_kernels.h"
#include "ldpc/model/each_edge.h"

#ifdef __SSE2__
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace gr::gpufec::ldpc {
namespace dvb_single_codeword {
namespace GPUFEC_ISA {

#if defined(__SSE2__) || defined(__aarch64__)

namespace {

// Vectors of 16 bytes; low(), high() and pack() also use words of 16 bits.
#ifdef __SSE2__

struct simd_128 {
    using vec = __m128i;
    static vec all(int x) { return _mm_set1_epi8(char(x)); }
    static vec all_16(int x) { return _mm_set1_epi16(short(x)); }
    static vec load(const void* p) { return _mm_loadu_si128(static_cast<const vec*>(p)); }
    static void store(void* p, vec x) { _mm_storeu_si128(static_cast<vec*>(p), x); }
    static vec exclusive_or(vec a, vec b) { return _mm_xor_si128(a, b); }
    static vec low(vec x) { return _mm_unpacklo_epi8(x, _mm_setzero_si128()); }
    static vec high(vec x) { return _mm_unpackhi_epi8(x, _mm_setzero_si128()); }
    static vec pack(vec a, vec b) { return _mm_packs_epi16(a, b); }
    static vec pack_unsigned(vec a, vec b) { return _mm_packus_epi16(a, b); }
    static vec add_16(vec a, vec b) { return _mm_add_epi16(a, b); }
    static vec subtract_16(vec a, vec b) { return _mm_sub_epi16(a, b); }
    static vec multiply_16(vec a, vec b) { return _mm_mullo_epi16(a, b); }
    static vec sixteenth(vec a) { return _mm_srli_epi16(a, 4); }
    static vec add(vec a, vec b) { return _mm_add_epi8(a, b); }
    static vec less_or_0(vec a, vec b) { return _mm_subs_epu8(a, b); }
    static vec smaller(vec a, vec b) { return _mm_min_epu8(a, b); }
    static vec larger(vec a, vec b) { return _mm_max_epu8(a, b); }
    static vec magnitude(vec a)
    {
        const vec negative = _mm_cmpgt_epi8(_mm_setzero_si128(), a);
        return _mm_sub_epi8(_mm_xor_si128(a, negative), negative);
    }
    static vec chosen(vec x, vec y, vec a, vec b, vec sign)
    {
        const vec same = _mm_cmpeq_epi8(x, y);
        const vec m = _mm_or_si128(_mm_and_si128(same, b), _mm_andnot_si128(same, a));
        const vec negative = _mm_cmpgt_epi8(_mm_setzero_si128(), sign);
        return _mm_sub_epi8(_mm_xor_si128(m, negative), negative);
    }
    // Returns a mask of the negative bytes, the first in the lowest bit.
    static unsigned signs(vec a) { return unsigned(_mm_movemask_epi8(a)); }
    static unsigned negatives(vec a) { return __builtin_popcountll(signs(a)); }
};

#else

struct simd_128 {
    using vec = uint8x16_t;
    static vec all(int x) { return vdupq_n_u8(std::uint8_t(x)); }
    static vec all_16(int x) { return vec(vdupq_n_s16(short(x))); }
    static vec load(const void* p)
    {
        return vld1q_u8(static_cast<const std::uint8_t*>(p));
    }
    static void store(void* p, vec x) { vst1q_u8(static_cast<std::uint8_t*>(p), x); }
    static vec exclusive_or(vec a, vec b) { return veorq_u8(a, b); }
    static vec low(vec x) { return vec(vmovl_u8(vget_low_u8(x))); }
    static vec high(vec x) { return vec(vmovl_high_u8(x)); }
    static vec pack(vec a, vec b)
    {
        return vec(vqmovn_high_s16(vqmovn_s16(int16x8_t(a)), int16x8_t(b)));
    }
    static vec pack_unsigned(vec a, vec b)
    {
        return vqmovun_high_s16(vqmovun_s16(int16x8_t(a)), int16x8_t(b));
    }
    static vec add_16(vec a, vec b) { return vec(uint16x8_t(a) + uint16x8_t(b)); }
    static vec subtract_16(vec a, vec b) { return vec(uint16x8_t(a) - uint16x8_t(b)); }
    static vec multiply_16(vec a, vec b) { return vec(uint16x8_t(a) * uint16x8_t(b)); }
    static vec sixteenth(vec a) { return vec(vshrq_n_u16(uint16x8_t(a), 4)); }
    static vec add(vec a, vec b) { return vaddq_u8(a, b); }
    static vec less_or_0(vec a, vec b) { return vqsubq_u8(a, b); }
    static vec smaller(vec a, vec b) { return vminq_u8(a, b); }
    static vec larger(vec a, vec b) { return vmaxq_u8(a, b); }
    static vec magnitude(vec a) { return vec(vabsq_s8(int8x16_t(a))); }
    static vec chosen(vec x, vec y, vec a, vec b, vec sign)
    {
        const vec m = vbslq_u8(vceqq_u8(x, y), b, a);
        const vec negative = vcltzq_s8(int8x16_t(sign));
        return vsubq_u8(veorq_u8(m, negative), negative);
    }
    static unsigned signs(vec a)
    {
        const vec weights{ 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
        const vec bits = vandq_u8(vcltzq_s8(int8x16_t(a)), weights);
        return vaddv_u8(vget_low_u8(bits)) | vaddv_u8(vget_high_u8(bits)) << 8;
    }
    static unsigned negatives(vec a) { return vaddvq_u8(vshrq_n_u8(a, 7)); }
};

#endif

#if defined(__AVX512BW__)

struct simd {
    using vec = __m512i;
    static vec all(int x) { return _mm512_set1_epi8(char(x)); }
    static vec all_16(int x) { return _mm512_set1_epi16(short(x)); }
    static vec load(const void* p) { return _mm512_loadu_si512(p); }
    static void store(void* p, vec x) { _mm512_storeu_si512(p, x); }
    static vec exclusive_or(vec a, vec b) { return _mm512_xor_si512(a, b); }
    static vec low(vec x) { return _mm512_unpacklo_epi8(x, _mm512_setzero_si512()); }
    static vec high(vec x) { return _mm512_unpackhi_epi8(x, _mm512_setzero_si512()); }
    static vec pack(vec a, vec b) { return _mm512_packs_epi16(a, b); }
    static vec pack_unsigned(vec a, vec b) { return _mm512_packus_epi16(a, b); }
    static vec add_16(vec a, vec b) { return _mm512_add_epi16(a, b); }
    static vec subtract_16(vec a, vec b) { return _mm512_sub_epi16(a, b); }
    static vec multiply_16(vec a, vec b) { return _mm512_mullo_epi16(a, b); }
    static vec sixteenth(vec a) { return _mm512_srli_epi16(a, 4); }
    static vec add(vec a, vec b) { return _mm512_add_epi8(a, b); }
    static vec less_or_0(vec a, vec b) { return _mm512_subs_epu8(a, b); }
    static vec smaller(vec a, vec b) { return _mm512_min_epu8(a, b); }
    static vec larger(vec a, vec b) { return _mm512_max_epu8(a, b); }
    static vec magnitude(vec a) { return _mm512_abs_epi8(a); }
    // Returns b where x equals y, else a. The result is negated where the sign is set.
    static vec chosen(vec x, vec y, vec a, vec b, vec sign)
    {
        const vec m = _mm512_mask_mov_epi8(a, _mm512_cmpeq_epi8_mask(x, y), b);
        return _mm512_mask_sub_epi8(
            m, _mm512_movepi8_mask(sign), _mm512_setzero_si512(), m);
    }
    static unsigned negatives(vec a)
    {
        return __builtin_popcountll(_mm512_movepi8_mask(a));
    }
};

#elif defined(__AVX2__)

struct simd {
    using vec = __m256i;
    static vec all(int x) { return _mm256_set1_epi8(char(x)); }
    static vec all_16(int x) { return _mm256_set1_epi16(short(x)); }
    static vec load(const void* p)
    {
        return _mm256_loadu_si256(static_cast<const vec*>(p));
    }
    static void store(void* p, vec x) { _mm256_storeu_si256(static_cast<vec*>(p), x); }
    static vec exclusive_or(vec a, vec b) { return _mm256_xor_si256(a, b); }
    static vec low(vec x) { return _mm256_unpacklo_epi8(x, _mm256_setzero_si256()); }
    static vec high(vec x) { return _mm256_unpackhi_epi8(x, _mm256_setzero_si256()); }
    static vec pack(vec a, vec b) { return _mm256_packs_epi16(a, b); }
    static vec pack_unsigned(vec a, vec b) { return _mm256_packus_epi16(a, b); }
    static vec add_16(vec a, vec b) { return _mm256_add_epi16(a, b); }
    static vec subtract_16(vec a, vec b) { return _mm256_sub_epi16(a, b); }
    static vec multiply_16(vec a, vec b) { return _mm256_mullo_epi16(a, b); }
    static vec sixteenth(vec a) { return _mm256_srli_epi16(a, 4); }
    static vec add(vec a, vec b) { return _mm256_add_epi8(a, b); }
    static vec less_or_0(vec a, vec b) { return _mm256_subs_epu8(a, b); }
    static vec smaller(vec a, vec b) { return _mm256_min_epu8(a, b); }
    static vec larger(vec a, vec b) { return _mm256_max_epu8(a, b); }
    static vec magnitude(vec a) { return _mm256_abs_epi8(a); }
    static vec chosen(vec x, vec y, vec a, vec b, vec sign)
    {
        const vec m = _mm256_blendv_epi8(a, b, _mm256_cmpeq_epi8(x, y));
        const vec negative = _mm256_cmpgt_epi8(_mm256_setzero_si256(), sign);
        return _mm256_sub_epi8(_mm256_xor_si256(m, negative), negative);
    }
    static unsigned negatives(vec a)
    {
        return __builtin_popcountll(unsigned(_mm256_movemask_epi8(a)));
    }
};

#else

using simd = simd_128;

#endif

using vec = simd::vec;
using posterior = std::int16_t;
// Number of checks, and so of messages, per vector.
constexpr unsigned width = sizeof(vec);
constexpr unsigned half = width / 2; // number of posteriors per vector
// Number of vectors of checks per layer.
constexpr unsigned blocks = (size + width - 1) / width;
constexpr unsigned row = (size + 63) / 64 * 64; // bytes per edge for messages, in
                                                // whole cache lines
constexpr unsigned stride = size + 64 + 24;     // posteriors per group, with
                                                // repeated ones and padding
constexpr int bias = 128;
static_assert(stride * sizeof(posterior) % 64 == 0 && stride >= size + width, "");

// The posteriors of a group: values[j] belongs to bit (j + first_bit) mod 360.
struct shifted_group {
    posterior* values;
    posterior* other; // receives the posteriors after the layer
    unsigned first_bit;

    // Returns the index of the first posterior for an edge with this shift.
    unsigned place(unsigned shift) const
    {
        return shift >= first_bit ? shift - first_bit : shift + size - first_bit;
    }
};

// Returns the index `count` posteriors further on, modulo the group size.
unsigned next_place(unsigned place, unsigned count = width)
{
    const auto on = place + count;
    return on < size ? on : on - size;
}

class single_codeword_decoder
{
public:
    static std::size_t scratch_bytes(const code_view& c)
    {
        return (2 * groups(c) + max_edges) * stride * sizeof(posterior) +
               (std::size_t(c.edges) + 1) * row + groups(c) * sizeof(shifted_group);
    }

    single_codeword_decoder(const code_view& code,
                            const lanes::arithmetic& a,
                            lanes::frames& f,
                            void* scratch)
        : d_code(code),
          d_offset(simd::all(int(a.offset))),
          d_limit(simd::all(int(a.message_limit))),
          d_sixteenths(a.sixteenths),
          d_channel_limit(int(a.channel_limit)),
          d_frames(f),
          d_changes(static_cast<posterior*>(scratch)),
          d_messages(reinterpret_cast<std::uint8_t*>(
              d_changes + (max_edges + 2 * groups(code)) * stride)),
          d_no_messages(d_messages + std::size_t(code.edges) * row),
          d_groups(reinterpret_cast<shifted_group*>(d_no_messages + row))
    {
        auto* p = d_changes + max_edges * stride;
        for (std::size_t g = 0; g < groups(code); ++g, p += 2 * stride) {
            d_groups[g] = { p, p + stride, 0 };
        }
    }

    void decode()
    {
        load();
        for (unsigned i = 1;; ++i) {
            iterate(i == 1);
            const bool last = i == d_frames.max_iterations;
            if (!last && !(d_frames.early_stop && violated(true) == 0)) {
                continue;
            }
            d_frames.iterations[0] = i;
            if (last) {
                d_frames.unsatisfied[0] += violated(false);
            }
            write_decisions();
            return;
        }
    }

private:
    static std::size_t groups(const code_view& c)
    {
        return std::size_t(c.message_groups) + c.q;
    }

    // Copies the first posteriors of a group to the memory after its last posterior.
    static void extend(posterior* p)
    {
        __builtin_memcpy(p + size, p, width * sizeof(posterior));
    }

    void load()
    {
        const auto* const in = static_cast<const std::int8_t*>(d_frames.channel[0]);
        for (unsigned g = 0; g < d_code.message_groups; ++g) {
            load_group(in + std::size_t(g) * size, d_groups[g].values);
        }
        load_parity(in + std::size_t(d_code.message_groups) * size);
        for (unsigned i = 0; i < row; ++i) {
            d_no_messages[i] = bias;
        }
    }

    void load_group(const std::int8_t* in, posterior* p) const
    {
        using v = simd_128;
        const auto biased = v::all(bias), highest = v::all(bias + d_channel_limit),
                   lowest = v::all(bias - d_channel_limit);
        for (unsigned k = 0; k < size; k += 16) {
            const auto i = k + 16 <= size ? k : size - 16;
            const auto x = v::smaller(v::exclusive_or(v::load(in + i), biased), highest);
            v::store(p + i, v::low(v::larger(x, lowest)));
            v::store(p + i + 8, v::high(v::larger(x, lowest)));
        }
        extend(p);
    }

    // Deinterleaves the parity values in tiles of 16 groups × 16 bits. The last tile
    // overlaps the one before, so that all tiles are full. If q is less than 16, tiles
    // have q groups.
    void load_parity(const std::int8_t* in)
    {
        const unsigned q = d_code.q, wide = q < 16 ? q : 16;
        alignas(64) std::int8_t columns[16][size];
        for (unsigned first = 0; first < q; first += wide) {
            const auto i = first + wide <= q ? first : q - wide;
            for (unsigned k = 0; k < size; k += 16) {
                const auto j = k + 16 <= size ? k : size - 16;
                byte_row a[16] = {};
                for (unsigned r = 0; r < 16; ++r) {
                    const auto* const from = in + std::size_t(j + r) * q + i;
                    if (wide == 16) {
                        __builtin_memcpy(&a[r], from, 16);
                    } else {
                        __builtin_memcpy(&a[r], from, wide);
                    }
                }
                transpose(a);
                for (unsigned r = 0; r < wide; ++r) {
                    __builtin_memcpy(columns[r] + j, &a[r], 16);
                }
            }
            for (unsigned r = 0; r < wide; ++r) {
                load_group(columns[r], d_groups[d_code.message_groups + i + r].values);
            }
        }
    }

    // Runs action() while `stand_in` replaces the posterior of the last parity bit. In
    // the layer of the code's first check, every other check has an edge to a bit of the
    // last parity group. With a stand-in that does not affect the first check, the whole
    // layer is processed as if the first check also had an edge to this group.
    template <class Action>
    void without_bit_before_first(posterior stand_in, Action&& action)
    {
        const auto& last = d_groups[groups(d_code) - 1];
        const auto own = last.values[last.place(size - 1)];
        set_last(last, stand_in);
        action();
        set_last(last, own);
    }

    static void set_last(const shifted_group& g, posterior x)
    {
        g.values[g.place(size - 1)] = x;
        extend(g.values);
    }

    void iterate(bool first)
    {
        for (unsigned i = 0; i < d_code.q; ++i) {
            const auto& l = d_code.layers[i];
            if (i == d_code.with_first) {
                without_bit_before_first(20000, [&] { decode_layer(l, first); });
                d_messages[std::size_t(l.first_edge + l.degree - 1) * row] = bias;
            } else {
                decode_layer(l, first);
            }
        }
    }

    void decode_layer(const layer& l, bool first)
    {
        // Unrolls only these degrees: the values of larger checks do not fit in
        // registers.
        switch (l.degree) {
#define GPUFEC_DEGREE(D) \
    case D:              \
        return decode_checks<D>(l, first);
            GPUFEC_DEGREE(4)
            GPUFEC_DEGREE(5)
            GPUFEC_DEGREE(6)
            GPUFEC_DEGREE(7)
#undef GPUFEC_DEGREE
        default:
            return decode_checks<0>(l, first);
        }
    }

    // Returns the magnitude of a new message, with `bias` added. The argument is the
    // smallest magnitude on the other edges of the check.
    vec check_to_variable(vec min1) const
    {
        vec x = simd::smaller(simd::less_or_0(min1, d_offset), d_limit);
        if (d_sixteenths != 16) {
            const auto part = [&](vec y) {
                const vec product = simd::multiply_16(y, simd::all_16(d_sixteenths));
                return simd::sixteenth(simd::add_16(product, simd::all_16(8)));
            };
            x = simd::pack_unsigned(part(simd::low(x)), part(simd::high(x)));
        }
        return simd::add(x, simd::all(bias));
    }

    // Updates a layer. All edges read the posteriors as they were before the layer. If
    // several edges share a group, one edge writes the group's posteriors, and the
    // changes by the other edges are added afterwards.
    template <unsigned Degree>
    void decode_checks(const layer& l, bool first)
    {
        constexpr unsigned capacity = Degree ? Degree : max_edges;
        const edge* const edges = d_code.edge_list + l.first_edge;
        auto* const messages = d_messages + std::size_t(l.first_edge) * row;
        const auto* const old = first ? d_no_messages : messages;
        const std::size_t old_row = first ? 0 : row;
        const unsigned added = l.added;
        const posterior* from[capacity];
        posterior* to[capacity];
        unsigned place[capacity];
        each_edge<Degree>(l.degree, [&](unsigned e) {
            const auto& g = d_groups[edges[e].group];
            from[e] = g.values;
            to[e] = e < added ? change(e) : g.other;
            place[e] = g.place(edges[e].shift);
        });
        for (unsigned at = 0; at < size; at += width) {
            vec min1 = simd::all(255), min2 = min1, signs = simd::all(0);
            vec low[capacity], high[capacity], bytes[capacity];
            each_edge<Degree>(l.degree, [&](unsigned e) {
                const auto* const p = from[e] + place[e];
                const vec m = simd::load(old + e * old_row + at);
                low[e] = simd::subtract_16(simd::load(p), simd::low(m));
                high[e] = simd::subtract_16(simd::load(p + half), simd::high(m));
                bytes[e] = simd::pack(low[e], high[e]);
                const vec x = simd::magnitude(bytes[e]);
                signs = simd::exclusive_or(signs, bytes[e]);
                // The first two edges need no comparison with the initial values.
                if (Degree && e == 0) {
                    min1 = x;
                } else if (Degree && e == 1) {
                    min2 = simd::larger(min1, x);
                    min1 = simd::smaller(min1, x);
                } else {
                    min2 = simd::smaller(min2, simd::larger(min1, x));
                    min1 = simd::smaller(min1, x);
                }
            });
            const vec to_all = check_to_variable(min1), to_min1 = check_to_variable(min2);
            each_edge<Degree>(l.degree, [&](unsigned e) {
                auto* const there = to[e] + at;
                const vec m = simd::chosen(simd::magnitude(bytes[e]),
                                           min1,
                                           to_all,
                                           to_min1,
                                           simd::exclusive_or(signs, bytes[e]));
                vec a = simd::add_16(low[e], simd::low(m));
                vec b = simd::add_16(high[e], simd::high(m));
                if (e < added) {
                    const auto* const p = from[e] + place[e];
                    a = simd::subtract_16(a, simd::load(p));
                    b = simd::subtract_16(b, simd::load(p + half));
                }
                simd::store(there, a);
                simd::store(there + half, b);
                simd::store(messages + e * row + at, m);
            });
            for (unsigned e = 0; e < (Degree ? Degree : l.degree); ++e) {
                place[e] = next_place(place[e]);
            }
        }
        for (unsigned e = added; e < l.degree; ++e) {
            auto& g = d_groups[edges[e].group];
            g = { g.other, g.values, edges[e].shift };
            extend(g.values);
        }
        for (unsigned e = 0; e < added; ++e) {
            add_change(d_groups[edges[e].group], edges[e].shift, change(e));
        }
    }

    posterior* change(unsigned e) const { return d_changes + std::size_t(e) * stride; }

    // Adds \p changes, which an edge with this shift causes, to the posteriors of its
    // group.
    static void add_change(const shifted_group& g, unsigned shift, posterior* changes)
    {
        extend(changes);
        unsigned place =
            g.first_bit >= shift ? g.first_bit - shift : g.first_bit + size - shift;
        for (unsigned at = 0; at < size; at += half) {
            simd::store(
                g.values + at,
                simd::add_16(simd::load(g.values + at), simd::load(changes + place)));
            place = next_place(place, half);
        }
        extend(g.values);
    }

    // Counts violated checks. If \p any is set, stops after the first layer with a
    // violated check.
    unsigned violated(bool any)
    {
        unsigned count = 0;
        for (unsigned i = 0; i < d_code.q && !(any && count > 0); ++i) {
            const auto& l = d_code.layers[i];
            if (i == d_code.with_first) {
                without_bit_before_first(bias, [&] { count += violated(l); });
            } else {
                count += violated(l);
            }
        }
        return count;
    }

    unsigned violated(const layer& l) const
    {
        const vec zero = simd::all_16(bias);
        const edge* const edges = d_code.edge_list + l.first_edge;
        unsigned place[max_edges], count = 0;
        for (unsigned e = 0; e < l.degree; ++e) {
            place[e] = d_groups[edges[e].group].place(edges[e].shift);
        }
        for (unsigned k = 0; k < blocks; ++k) {
            vec low = simd::all(0), high = low;
            for (unsigned e = 0; e < l.degree; ++e) {
                const auto* const p = d_groups[edges[e].group].values + place[e];
                low = simd::exclusive_or(low, simd::subtract_16(simd::load(p), zero));
                high = simd::exclusive_or(high,
                                          simd::subtract_16(simd::load(p + half), zero));
                place[e] = next_place(place[e]);
            }
            const unsigned left = size - k * width;
            if (left < width) {
                posterior values[width];
                simd::store(values, low);
                simd::store(values + half, high);
                for (unsigned i = left; i < width; ++i) {
                    values[i] = 0;
                }
                low = simd::load(values);
                high = simd::load(values + half);
            }
            count += simd::negatives(simd::pack(low, high));
        }
        return count;
    }

    bool is_one(unsigned bit) const
    {
        const auto message = d_code.message_groups * size;
        const auto p = bit - message;
        const auto& g =
            d_groups[bit < message ? bit / size : d_code.message_groups + p % d_code.q];
        return g.values[g.place(bit < message ? bit % size : p / d_code.q)] < bias;
    }

    // Returns the decisions of sixteen posteriors, the first in the lowest bit.
    static std::uint64_t ones(const posterior* p)
    {
        using v = simd_128;
        const auto zero = v::all_16(bias);
        return v::signs(v::pack(v::subtract_16(v::load(p), zero),
                                v::subtract_16(v::load(p + 8), zero)));
    }

    // Writes the decisions of a group, the first bit of each byte most significant.
    static void write_group(const shifted_group& g, std::uint8_t* out)
    {
        static_assert(size % 8 == 0 && width >= 16, "");
        unsigned place = g.place(0);
        for (unsigned i = 0; i < size; i += 64) {
            std::uint64_t x = 0;
            for (unsigned k = 0; k < 64; k += 16) {
                x |= ones(g.values + place) << k;
                place = next_place(place, 16);
            }
            constexpr std::uint64_t nibbles = 0x0f0f0f0f0f0f0f0f;
            constexpr std::uint64_t pairs = 0x3333333333333333;
            constexpr std::uint64_t bits = 0x5555555555555555;
            x = (x & nibbles) << 4 | (x >> 4 & nibbles);
            x = (x & pairs) << 2 | (x >> 2 & pairs);
            x = (x & bits) << 1 | (x >> 1 & bits);
            __builtin_memcpy(out + i / 8, &x, (size - i < 64 ? size - i : 64) / 8);
        }
    }

    void write_decisions() const
    {
        auto* out = d_frames.decisions[0];
        const unsigned n = d_frames.out_bits;
        unsigned bit = 0;
        for (unsigned g = 0; g < d_code.message_groups && bit + size <= n; ++g) {
            write_group(d_groups[g], out);
            out += size / 8;
            bit += size;
        }
        for (; bit < n; bit += 8) {
            unsigned byte = 0;
            for (unsigned i = bit; i < bit + 8; ++i) {
                byte = byte << 1 | (i < n && is_one(i));
            }
            *out++ = std::uint8_t(byte);
        }
    }

    const code_view& d_code;
    const vec d_offset, d_limit;
    const int d_sixteenths, d_channel_limit;
    lanes::frames& d_frames;
    posterior* const d_changes;     // new − old message for each deferred edge of the
                                    // layer
    std::uint8_t* const d_messages; // a row for each edge
    std::uint8_t* const d_no_messages; // a row of zero messages, for iteration 1
    shifted_group* const d_groups;
};

void decode(const code_view& code,
            const lanes::arithmetic& a,
            lanes::frames& f,
            void* scratch)
{
    single_codeword_decoder(code, a, f, scratch).decode();
}

} // namespace

extern const kernel int8 = { single_codeword_decoder::scratch_bytes, decode };

#else

extern const kernel int8 = {};

#endif

} // namespace GPUFEC_ISA
} // namespace dvb_single_codeword
} // namespace gr::gpufec::ldpc
