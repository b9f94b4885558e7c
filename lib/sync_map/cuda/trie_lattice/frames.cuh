// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The linear form on CUDA with tries that meet in the middle: a thread holds C drifts, a
 * frame is some adjacent lanes, a warp as many frames as fit. All frames of a warp are at
 * the same index, so the codebook is the same for its lanes.
 *
 * With D_b what a channel symbol b does and I the insertions, forward is the sum over the
 * words of I·D(x₉) … I·D(x₀), applied to I·α; backward, with drifts counted from the
 * window's end, is the same of the word read from its end, applied to β. So both are one
 * sweep: a binary trie of its first four bits makes 16 rows of one, these are summed for
 * each of the 64 endings, and a trie of the last six bits makes one of them again. In the
 * backward sweep α runs down the second trie as well, and meets the 16 rows:
 * L(D) = ⟨what the prefix of D makes of α, what the suffix of D makes of β⟩.
 *
 * A word has as many D as bits, so their common factor is left out: a deletion weighs 1,
 * and D is one multiply-add a drift. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_TRIES_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_TRIES_CUH

#include "cuda_common.cuh"
#include <cuda_pipeline.h>
#include <cmath>

namespace gr::gpufec::sync_map {

//! Bits of words that this kernel takes.
constexpr unsigned trie_bits = 10;
constexpr int trie_rows = 16;

/*! A word of an index as the kernel reads it, in the order in which the second trie is
 * walked: bits 0 to 3 and 15 to 17 are its ending, the walk's first bit being the
 * highest; bits 4 to 7 its row; those from number_shift on its number. */
struct trie_word {
    static constexpr std::uint32_t row = 0xf0, ending = 0x3800f, none = 0xffffffff;
    static constexpr unsigned outer_shift = 15, number_shift = 18;
};

//! Weights, relative to that of a deletion where a bit is sent.
template <class Row, int C>
struct trie_weights {
    Row match, mismatch, erased;
    Row insertion[C + 1]; //!< its powers from 0
    Row size;             //!< what rows are scaled to, a power of two
    double log_size;
    double log_index; //!< logarithm of what an index leaves out

    //! How many bits of a row's range an index may take before rows become too large or
    //! too small.
    static constexpr double range = sizeof(Row) == 4 ? 120 : 1000;
    static constexpr double least_range = sizeof(Row) == 4 ? 80 : 500;

    //! Logarithm, base 2, of what an index can multiply a row by.
    static double growth(const sync_geometry& g)
    {
        const double most = std::fmax(g.match, g.mismatch) / g.deletion;
        return g.n * std::log2((most + 1) / (1 - g.insertion)) + std::log2(double(g.q));
    }
    //! False if the weights are too far apart.
    static bool possible(const sync_geometry& g)
    {
        return g.deletion > 0 && growth(g) <= 2 * range - least_range;
    }

    explicit trie_weights(const sync_geometry& g)
        : match(g.match / g.deletion),
          mismatch(g.mismatch / g.deletion),
          erased(g.erased / g.deletion),
          log_index(g.n * std::log(g.deletion))
    {
        for (int k = 0; k <= C; ++k) {
            insertion[k] = std::pow(g.insertion, k);
        }
        const int exponent = std::fmin(0, std::floor(range - growth(g)));
        size = std::ldexp(1.0, exponent);
        log_size = exponent * std::log(2.0);
    }
};

// Items as bits, and whether they are bits.
struct alignas(8) trie_items {
    std::uint32_t bits, known;
};

struct trie_memory {
    const std::uint32_t* words; //!< 2 directions × frame_symbols × q
    void* alpha;                //!< a warp: (outputs + 2) × 32·C
    void* partial;              //!< a warp: q × 32
    trie_items* items;          //!< a warp: frames × item_words
};

// Sixteen bytes, which are read or written at once.
template <class Row>
struct alignas(16) sixteen {
    Row v[16 / sizeof(Row)];
};

template <class Row>
__device__ sixteen<Row> read_sixteen(const std::byte* from)
{
    return *reinterpret_cast<const sixteen<Row>*>(from);
}

// The C drifts of a thread at some row of the lattice; and how its 16 rows lie in shared
// memory: a single value that sixteen bytes leave over lies behind all rows.
template <class Row, int C>
struct alignas(16) trie_row {
    Row x[C];

    static constexpr int piece = 16 / sizeof(Row);
    static constexpr bool single = C % piece == 1;
    static constexpr int pieces = single ? C / piece : (C + piece - 1) / piece;
    static constexpr unsigned bytes = 16 * pieces;
    static constexpr unsigned singles_at = trie_rows * bytes;
    // Lanes begin at different banks.
    static constexpr unsigned lane_bytes =
        (singles_at / 16 + single * trie_rows * sizeof(Row) / 16) / 2 * 32 + 16;
};

// \p number: the row's, times 16.
template <class Row, int C>
__device__ trie_row<Row, C> read_row(const std::byte* lane, unsigned number)
{
    using row = trie_row<Row, C>;
    row r;
    for (int k = 0; k < row::pieces; ++k) {
        const auto piece = read_sixteen<Row>(lane + number * row::pieces + k * 16);
        for (int c = 0; c < row::piece && k * row::piece + c < C; ++c) {
            r.x[k * row::piece + c] = piece.v[c];
        }
    }
    if (row::single) {
        r.x[C - 1] = *reinterpret_cast<const Row*>(lane + row::singles_at +
                                                   number / 16 * sizeof(Row));
    }
    return r;
}

template <class Row, int C>
__device__ void write_row(std::byte* lane, unsigned number, const trie_row<Row, C>& r)
{
    using row = trie_row<Row, C>;
    for (int k = 0; k < row::pieces; ++k) {
        sixteen<Row> piece{};
        for (int c = 0; c < row::piece && k * row::piece + c < C; ++c) {
            piece.v[c] = r.x[k * row::piece + c];
        }
        *reinterpret_cast<sixteen<Row>*>(lane + number * row::pieces + k * 16) = piece;
    }
    if (row::single) {
        *reinterpret_cast<Row*>(lane + row::singles_at + number / 16 * sizeof(Row)) =
            r.x[C - 1];
    }
}

//! How a warp's frames share its lanes and its memory; made by the host.
struct trie_layout {
    std::uint32_t lanes;      //!< of a frame
    std::uint32_t frames;     //!< of a warp
    std::uint32_t item_words; //!< of a frame: its items as bits
    std::uint32_t warp_bytes; //!< of shared memory

    template <class Row, int C>
    static trie_layout of(unsigned window, unsigned symbols)
    {
        trie_layout l;
        l.lanes = (window + C - 1) / C;
        l.frames = 32 / l.lanes;
        // A window of 32 bits is read wherever an index begins.
        l.item_words = (symbols * trie_bits + l.lanes * C + 31) / 32 + 2;
        l.warp_bytes = l.lanes * l.frames * trie_row<Row, C>::lane_bytes;
        return l;
    }
};

/* A warp and its frames. Drifts are in the order of the sweep. Insertions are followed
 * over J drifts into the next lane; over all of them, and the one behind it if Reach is
 * 2, if J is C. J is 0 where a frame is one lane. */
template <class Row, int C, int J, int Reach>
struct trie_warp {
    using row = trie_row<Row, C>;
    static constexpr bool alone = J == 0;
    static_assert(Reach == 1 || (Reach == 2 && J == C));
    static constexpr int inner = C + 3; // weights of bits 4 to 7 at a thread's drifts

    const sync_geometry& g;
    const trie_layout& l;
    const trie_weights<Row, C>& w;
    const unsigned lane, slot, place; // frame of the warp, lane of the frame
    const Row below, above;           // 1 if the frame has a lane before, behind this one
    const Row far_below, far_above;   // what insertions over a lane weigh, if it has two
    std::byte* const warp_rows;
    std::byte* const rows; // of this lane
    Row* const partial;    // sums that are met, of this lane: 32 per word
    Row* met_at = nullptr;
    const std::uint32_t* words = nullptr;
    std::uint32_t chunk = 0, word = 0;
    unsigned next_word = 0;
    trie_items items{ 0, 0 }; // of this lane, that of bit 0 at its first drift first
    bool clean = false;       // all are bits, in all lanes
    Row best = -1;            // of the words met, where a frame is one lane
    unsigned best_word = 0;
    Row q[2][inner];

    __device__ trie_warp(const sync_geometry& geometry,
                         const trie_layout& layout,
                         const trie_weights<Row, C>& weigh,
                         std::byte* shared,
                         Row* sums)
        : g(geometry),
          l(layout),
          w(weigh),
          lane(threadIdx.x % 32),
          slot(lane / layout.lanes),
          place(lane % layout.lanes),
          below(place > 0),
          above(place + 1 < layout.lanes),
          far_below(place > 1 ? weigh.insertion[C] : Row(0)),
          far_above(place + 2 < layout.lanes ? weigh.insertion[C] : Row(0)),
          warp_rows(shared),
          rows(shared + min(lane, layout.lanes * layout.frames - 1) * row::lane_bytes),
          partial(sums + lane)
    {
    }

    __device__ bool has_frame() const { return slot < l.frames; }
    __device__ unsigned lanes() const { return alone ? 1 : l.lanes; } // of a frame

    // ---- sums over a frame's lanes, to all of them ----

    template <class T, class Join>
    __device__ T over_frame(T x, Join&& join) const
    {
        for (unsigned d = 1; d < lanes(); d *= 2) {
            const T other = __shfl_down_sync(full_warp, x, d);
            x = place + d < l.lanes ? join(x, other) : x;
        }
        return __shfl_sync(full_warp, x, slot * l.lanes);
    }
    template <class T>
    __device__ T frame_sum(T x) const
    {
        return over_frame(x, [](T a, T b) { return a + b; });
    }

    // ---- one step of the lattice, in the direction of the sweep and against it ----

    __device__ void insert(row& r) const
    {
        for (int c = 1; c < C; ++c) {
            r.x[c] += w.insertion[1] * r.x[c - 1];
        }
        if (alone) {
            return;
        }
        Row carry = __shfl_up_sync(full_warp, r.x[C - 1], 1) * below;
        if (Reach > 1) {
            carry += far_below * __shfl_up_sync(full_warp, r.x[C - 1], 2);
        }
        for (int k = 0; k < J; ++k) {
            r.x[k] += w.insertion[k + 1] * carry;
        }
    }

    __device__ void insert_against(row& r) const
    {
        for (int c = C - 2; c >= 0; --c) {
            r.x[c] += w.insertion[1] * r.x[c + 1];
        }
        if (alone) {
            return;
        }
        Row carry = __shfl_down_sync(full_warp, r.x[0], 1) * above;
        if (Reach > 1) {
            carry += far_above * __shfl_down_sync(full_warp, r.x[0], 2);
        }
        for (int k = 0; k < J; ++k) {
            r.x[C - 1 - k] += w.insertion[k + 1] * carry;
        }
    }

    __device__ Row behind(const row& r) const
    {
        return alone ? Row(0) : __shfl_down_sync(full_warp, r.x[0], 1) * above;
    }
    __device__ Row before(const row& r) const
    {
        return alone ? Row(0) : __shfl_up_sync(full_warp, r.x[C - 1], 1) * below;
    }

    // A bit sent, of those weights at the thread's drifts.
    __device__ row send(const row& r, Row border, const Row* weight) const
    {
        row to;
        for (int c = 0; c < C; ++c) {
            to.x[c] = weight[c] * r.x[c] + (c + 1 < C ? r.x[c + 1] : border);
        }
        return to;
    }
    __device__ void
    add_sent(row& to, const row& r, const Row* weight, bool first = false) const
    {
        const Row border = behind(r);
        if (first) {
            to = send(r, border, weight);
            return;
        }
        for (int c = 0; c < C; ++c) {
            to.x[c] += weight[c] * r.x[c];
            to.x[c] += c + 1 < C ? r.x[c + 1] : border;
        }
    }
    __device__ row send_against(const row& r, Row border, const Row* weight) const
    {
        row to;
        for (int c = 0; c < C; ++c) {
            to.x[c] = weight[c] * r.x[c] + (c > 0 ? r.x[c - 1] : border);
        }
        return to;
    }

    // The weights of Count items from number \p first on, where bit \p b is sent.
    template <int Count>
    __device__ void weigh(unsigned first, unsigned b, Row* to) const
    {
        const std::uint32_t right = (b ? items.bits : ~items.bits) >> first;
        if (clean) {
            for (int k = 0; k < Count; ++k) {
                to[k] = right & 1u << k ? w.match : w.mismatch;
            }
        } else {
            const std::uint32_t known = items.known >> first;
            for (int k = 0; k < Count; ++k) {
                to[k] =
                    known & 1u << k ? (right & 1u << k ? w.match : w.mismatch) : w.erased;
            }
        }
    }

    // The weights of bits t to t + 3 of the sweep.
    template <int Count>
    __device__ void fetch_weights(unsigned t)
    {
        weigh<Count>(t, 0, q[0]);
        weigh<Count>(t, 1, q[1]);
    }
    __device__ const Row* fetched(int t, unsigned b) const { return q[b] + t; }

    // Weights of a bit that is not known when compiled.
    __device__ row weights_of(unsigned t, unsigned b) const
    {
        row to;
        weigh<C>(t, b, to.x);
        return to;
    }

    // ---- the first trie: 16 rows ----

    __device__ void split(const row& from)
    {
        fetch_weights<C + 1>(2);
        row one;
#pragma unroll 1
        for (unsigned outer = 0; outer < 4; ++outer) {
            if (outer % 2 == 0) {
                one = send(from, behind(from), weights_of(0, outer / 2).x);
                insert(one);
            }
            row two = send(one, behind(one), weights_of(1, outer % 2).x);
            insert(two);
            const Row two_behind = behind(two);
#pragma unroll
            for (int b = 0; b < 2; ++b) {
                row three = send(two, two_behind, fetched(0, b));
                insert(three);
                const Row three_behind = behind(three);
#pragma unroll
                for (int c = 0; c < 2; ++c) {
                    row four = send(three, three_behind, fetched(1, c));
                    insert(four);
                    if (has_frame()) {
                        write_row(rows, (outer * 4 + b * 2 + c) * 16, four);
                    }
                }
            }
        }
    }

    // ---- the words ----

    __device__ void begin_words(const std::uint32_t* list)
    {
        words = list;
        next_word = 0;
        met_at = partial;
        best = -1;
        best_word = 0;
        take_word();
    }
    __device__ void take_word()
    {
        if (next_word % 32 == 0) {
            chunk = next_word + lane < g.q ? words[next_word + lane] : trie_word::none;
        }
        word = __shfl_sync(full_warp, chunk, next_word % 32);
        ++next_word;
    }

    // What a word comes to in this lane.
    __device__ void meet(Row L, std::uint32_t of)
    {
        if (!alone || g.output != sync_output::symbols) {
            *met_at = L;
            met_at += 32;
        } else if (L > best || (L == best && of < best_word)) {
            best = L; // words are ordered as their numbers are
            best_word = of;
        }
    }

    // Words of an ending: adds their rows, after bit 4, to sum, and weighs them.
    template <bool Back>
    __device__ void
    add_words(std::uint32_t ending, const Row* weight, const row& met, row& sum)
    {
        do {
            const row r = read_row<Row, C>(rows, word & trie_word::row);
            const std::uint32_t this_word = word;
            take_word();
            if (Back) {
                Row dot[2] = { met.x[0] * r.x[0], met.x[1] * r.x[1] };
                for (int c = 2; c < C; ++c) {
                    dot[c % 2] += met.x[c] * r.x[c];
                }
                meet(dot[0] + dot[1], this_word);
            }
            add_sent(sum, r, weight);
        } while ((word & trie_word::ending) == ending);
    }

    // ---- the second trie, from bit 5 and 4 at its leaves ----

    template <bool Back>
    __device__ void leaf(std::uint32_t ending, const row& from_alpha, row& to)
    {
        const Row alpha_before = Back ? before(from_alpha) : Row(0);
#pragma unroll
        for (int v = 0; v < 2; ++v) {
            const std::uint32_t two = ending | v << 1;
            if ((word & (trie_word::ending - 1)) != two) {
                if (v == 0) {
                    to = row{};
                }
                continue;
            }
            row met;
            if (Back) {
                met = send_against(from_alpha, alpha_before, fetched(1, v));
                insert_against(met);
            }
            const Row met_before = Back ? before(met) : Row(0);
            row sum{};
#pragma unroll
            for (int u = 0; u < 2; ++u) {
                if ((word & trie_word::ending) == (two | u)) {
                    row met_word;
                    if (Back) {
                        met_word = send_against(met, met_before, fetched(0, u));
                    }
                    add_words<Back>(two | u, fetched(0, u), met_word, sum);
                }
            }
            insert(sum);
            add_sent(to, sum, fetched(1, v), v == 0);
        }
    }

    template <bool Back, int Bit>
    __device__ void merge(std::uint32_t ending, const row& from_alpha, row& to)
    {
        const Row alpha_before = Back ? before(from_alpha) : Row(0);
#pragma unroll
        for (int b = 0; b < 2; ++b) {
            row met;
            if (Back) {
                met = send_against(from_alpha, alpha_before, fetched(Bit - 4, b));
                insert_against(met);
            }
            row sum;
            const std::uint32_t all = ending | b << (Bit - 4);
            if constexpr (Bit == 6) {
                leaf<Back>(all, met, sum);
            } else {
                merge<Back, Bit - 1>(all, met, sum);
            }
            insert(sum);
            add_sent(to, sum, fetched(Bit - 4, b), b == 0);
        }
    }

    // One index: the row before it becomes the one behind it, without its insertions.
    template <bool Back>
    __device__ void sweep(row& r, const std::uint32_t* list, const Row* alpha)
    {
        // The lane and the drifts that these are in the order of α.
        const unsigned other = (lane - place + l.lanes - 1 - place) % 32;
        const auto take_alpha = [&](row& to) {
            for (int c = 0; c < C; ++c) {
                to.x[c] = alpha[(C - 1 - c) * 32 + other];
            }
        };
        row one, from_alpha, sum;
        if (Back) {
            take_alpha(one);
        }
        if (alone) {
            begin_words(list);
        }
        split(r);
        // Lanes without a frame look at the rows of others.
        __syncwarp();
        fetch_weights<inner>(4);
        if (!alone) {
            begin_words(list);
        }
        r = row{};
#pragma unroll 1
        for (unsigned outer = 0; outer < 4; ++outer) {
            if (Back) {
                if (outer % 2 == 0) {
                    if (outer > 0) {
                        take_alpha(one);
                    }
                    one = send_against(one, before(one), weights_of(9, outer / 2).x);
                    insert_against(one);
                }
                from_alpha = send_against(one, before(one), weights_of(8, outer % 2).x);
                insert_against(from_alpha);
            }
            if (outer % 2 == 0) {
                sum = row{};
            }
            row part;
            merge<Back, 7>(outer << trie_word::outer_shift, from_alpha, part);
            insert(part);
            add_sent(sum, part, weights_of(8, outer % 2).x);
            if (outer % 2 == 1) {
                insert(sum);
                add_sent(r, sum, weights_of(9, outer / 2).x);
            }
        }
    }
};

// One group of frames, a warp's.
template <class Row, int C, int J, int Reach>
struct trie_frames {
    using warp = trie_warp<Row, C, J, Reach>;
    using row = trie_row<Row, C>;

    const sync_geometry& g;
    const trie_layout& l;
    warp& t;
    Row* const alpha;
    trie_items* const items;
    const frame_input in;
    const bool there; // this lane's frame
    std::byte* const out;
    unsigned first = 0;  // drift of the window that rows begin with
    unsigned before = 0; // items that are packed before the window's first one
    row_scale scale;
    bool valid;

    __device__ trie_frames(warp& lanes,
                           Row* rows,
                           trie_items* bits,
                           const std::byte* input,
                           std::byte* output,
                           unsigned group)
        : g(lanes.g),
          l(lanes.l),
          t(lanes),
          alpha(rows),
          items(bits),
          in(g, input, frame(group)),
          there(t.has_frame() && group * l.frames + t.slot < g.frames),
          out(output + g.output_bytes * frame(group)),
          valid(there && in.valid)
    {
    }

    // Lanes without a frame go along with some other.
    __device__ unsigned frame(unsigned group) const
    {
        return min(group * l.frames + t.slot, g.frames - 1);
    }

    __device__ unsigned drift(int c, bool back) const
    {
        const unsigned at = t.place * C + c;
        return first + (back ? l.lanes * C - 1 - at : at);
    }

    // Items of the warp's frames as bits, from the window's first one of index \p symbol
    // on. What lies beyond those received is unknown: no path that counts meets it.
    __device__ void
    pack_items(const std::byte* input, unsigned group, unsigned symbol = 0) const
    {
        __syncwarp();
        for (unsigned f = 0; f < l.frames; ++f) {
            const frame_input from(g, input, min(group * l.frames + f, g.frames - 1));
            const auto* const data =
                reinterpret_cast<const std::uint8_t*>(from.data + g.items_at);
            const int begin = int(from.position(g, symbol, 0)) + int(t.lane);
            const unsigned length = from.valid ? from.header.length : 0;
#pragma unroll 8
            for (unsigned k = 0; k < l.item_words; ++k) {
                const unsigned at = begin + 32 * k;
                const unsigned y = at < length ? data[at] : 2;
                const trie_items all{ __ballot_sync(full_warp, y == 1),
                                      __ballot_sync(full_warp, y < 2) };
                if (t.lane == 0) {
                    items[f * l.item_words + k] = all;
                }
            }
        }
        __syncwarp();
    }

    // Takes an index's items, in the order of the sweep; \p i counts from the first that
    // is packed.
    __device__ void take_items(unsigned i, bool back)
    {
        constexpr unsigned count = C + trie_bits - 1;
        static_assert(count <= 32);
        const unsigned at = before + i * trie_bits + drift(back ? C - 1 : 0, back);
        const trie_items* const from =
            items + min(t.slot, l.frames - 1) * l.item_words + at / 32;
        const trie_items low = from[0], high = from[1];
        std::uint32_t bits = __funnelshift_r(low.bits, high.bits, at % 32);
        std::uint32_t known = __funnelshift_r(low.known, high.known, at % 32);
        if (back) {
            bits = __brev(bits) >> (32 - count);
            known = __brev(known) >> (32 - count);
        }
        t.items = { bits, known };
        t.clean = __all_sync(full_warp, (~known & ((1u << count) - 1)) == 0);
    }

    // Clears drifts beyond the window and scales the row; says by what.
    __device__ Row normalise(row& r, bool back)
    {
        Row largest = 0;
        for (int c = 0; c < C; ++c) {
            r.x[c] = drift(c, back) < g.window ? r.x[c] : Row(0);
            largest = max(largest, r.x[c]);
        }
        largest = t.over_frame(largest, [](Row a, Row b) { return max(a, b); });
        const Row factor = scale.next(largest) * t.w.size;
        for (int c = 0; c < C; ++c) {
            r.x[c] *= factor;
        }
        return factor;
    }

    __device__ row boundary(std::size_t row_at, unsigned i, bool back) const
    {
        row r;
        for (int c = 0; c < C; ++c) {
            const unsigned m = drift(c, back);
            r.x[c] = valid && m < g.window ? Row(in.boundary(g, row_at, i, m)) : Row(0);
        }
        return r;
    }

    __device__ void keep(unsigned i, const row& r) const
    {
        for (int c = 0; c < C; ++c) {
            alpha[(i * C + c) * 32 + t.lane] = r.x[c];
        }
    }

    // What the drift posteriors of a boundary come to.
    struct boundary_drift {
        unsigned likeliest;
        double entropy, sum; // of products of α and β
    };

    // Drift posteriors from a boundary's bare α, kept as row i, and β.
    __device__ boundary_drift emit_drifts(unsigned i, const row& beta, float* to) const
    {
        row before;
        Row best = -1;
        unsigned at = 0;
        double part = 0;
        const unsigned other = (t.lane - t.place + l.lanes - 1 - t.place) % 32;
        for (int c = 0; c < C; ++c) {
            const unsigned m = drift(c, true);
            before.x[c] = m < g.window ? alpha[(i * C + C - 1 - c) * 32 + other] : Row(0);
            const Row lambda = before.x[c] * beta.x[c];
            part += double(lambda);
            if (m < g.window && lambda >= best) {
                best = lambda;
                at = m;
            }
        }
        const double sum = t.frame_sum(part);
        const bool possible = valid && sum > 0;
        double bits = 0;
        for (int c = 0; c < C; ++c) {
            const unsigned m = drift(c, true);
            const double p = sum > 0 ? double(before.x[c] * beta.x[c]) / sum : 0;
            bits -= p > 0 ? p * log2(p) : 0;
            if (there && g.links && m < g.window) {
                auto* const metrics = reinterpret_cast<Row*>(out + g.metrics_at) +
                                      (i == g.outputs ? 0 : 2 * g.window) + m;
                metrics[0] = possible ? before.x[c] : Row(0);
                metrics[g.window] = possible ? beta.x[c] : Row(0);
            }
            if (there && g.drifts && m < g.window) {
                to[m] = possible ? float(p) : float(1.0 / g.window);
            }
        }
        return { first_largest(best, at), t.frame_sum(bits), sum };
    }

    template <class T>
    __device__ unsigned first_largest(T best, unsigned at) const
    {
        for (unsigned d = 1; d < t.lanes(); d *= 2) {
            const T other = __shfl_down_sync(full_warp, best, d);
            const unsigned other_at = __shfl_down_sync(full_warp, at, d);
            if (t.place + d < l.lanes &&
                (other > best || (other == best && other_at < at))) {
                best = other;
                at = other_at;
            }
        }
        return __shfl_sync(full_warp, at, t.slot * l.lanes);
    }

    // use(D, L, where it can be kept) of the words that this lane sums.
    template <class Use>
    __device__ void sum_words(Use&& use) const
    {
        if constexpr (warp::alone) {
#pragma unroll 4
            for (unsigned k = 0; k < g.q; ++k) {
                Row* const mine = t.partial + std::size_t(k) * 32;
                use(t.words[k] >> trie_word::number_shift, valid ? *mine : Row(0), mine);
            }
        } else {
            join_words(use);
        }
    }
    // They come by way of shared memory, whose rows are done with.
    template <class Use>
    __device__ void join_words(Use&& use) const
    {
        constexpr unsigned piece = 16, bytes = 32 * sizeof(Row), stride = bytes + piece;
        std::byte* const staged = t.warp_rows;
        const auto* const from = reinterpret_cast<const std::byte*>(t.partial - t.lane);
        const unsigned most = l.warp_bytes / stride / l.lanes * l.lanes;
        for (unsigned begin = 0; begin < g.q; begin += most) {
            const unsigned count = min(g.q - begin, most);
            __syncwarp();
#pragma unroll 4
            for (unsigned k = t.lane; k < count * (bytes / piece); k += 32) {
                __pipeline_memcpy_async(staged + k / (bytes / piece) * stride +
                                            k % (bytes / piece) * piece,
                                        from + std::size_t(begin) * bytes + k * piece,
                                        piece);
            }
            __pipeline_commit();
            __pipeline_wait_prior(0);
            __syncwarp();
            const std::uint32_t* const list = t.words + begin;
            for (unsigned k = t.place; t.has_frame() && k < count; k += l.lanes) {
                const auto* const mine =
                    reinterpret_cast<const Row*>(staged + k * stride) + t.lane - t.place;
                Row sum[2] = { mine[0], 0 };
                unsigned part = 1;
                for (; part + 1 < l.lanes; part += 2) {
                    sum[1] += mine[part];
                    sum[0] += mine[part + 1];
                }
                if (part < l.lanes) {
                    sum[1] += mine[part];
                }
                use(list[k] >> trie_word::number_shift,
                    valid ? sum[0] + sum[1] : Row(0),
                    t.partial - t.place + std::size_t(begin + k) * 32);
            }
        }
        __syncwarp();
    }
    // use(D, L) of the words that were summed and kept.
    template <class Use>
    __device__ void kept_words(Use&& use) const
    {
        const Row* const mine = t.partial - t.place;
        for (unsigned k = t.place; t.has_frame() && k < g.q; k += l.lanes) {
            use(t.words[k] >> trie_word::number_shift, mine[std::size_t(k) * 32]);
        }
    }

    __device__ void emit_symbol(unsigned i) const
    {
        __syncwarp();
        std::byte* const to = out + std::size_t(i) * g.symbol_bytes;
        if (g.output == sync_output::symbols) {
            Row best = t.best;
            unsigned at = t.best_word >> trie_word::number_shift;
            if constexpr (!warp::alone) {
                best = -1;
                at = 0;
                sum_words([&](unsigned D, Row L, Row*) {
                    const bool better = L > best || (L == best && D < at);
                    best = better ? L : best;
                    at = better ? D : at;
                });
                at = first_largest(best, at);
            }
            if (there && t.place == 0) {
                g.symbol_bytes == 1
                    ? void(*reinterpret_cast<std::uint8_t*>(to) = std::uint8_t(at))
                    : void(*reinterpret_cast<std::uint16_t*>(to) = std::uint16_t(at));
            }
            return __syncwarp();
        }
        // What the lanes gave to a word is summed in the place of the first of them. Of
        // the words next to a likely one, floats would lose all that are far less likely.
        double part = 0;
        sum_words([&](unsigned, Row L, Row* kept) {
            *kept = L;
            part += L;
        });
        if (g.output == sync_output::llr) {
            const unsigned bits = g.symbol_bytes;
            for (unsigned b = 0; b < bits; ++b) {
                Row positive = 0, negative = 0;
                kept_words([&](unsigned D, Row L) {
                    const unsigned bit = D >> (bits - 1 - b) & 1u;
                    (bit == g.positive_bit ? positive : negative) += L;
                });
                positive = t.frame_sum(positive);
                negative = t.frame_sum(negative);
                const double llr =
                    8 * (::log(double(positive)) - ::log(double(negative)));
                if (there && t.place == 0) {
                    reinterpret_cast<std::int8_t*>(to)[b] =
                        isnan(llr) ? 0
                                   : std::int8_t(rint(fmin(fmax(llr, -127.0), 127.0)));
                }
            }
        } else {
            const double sum = t.frame_sum(part);
            kept_words([&](unsigned D, Row L) {
                const double p = sum > 0 ? double(L) / sum : 1.0 / g.q;
                if (there && t.has_frame()) {
                    g.output == sync_output::posteriors64
                        ? void(reinterpret_cast<double*>(to)[D] = p)
                        : void(reinterpret_cast<float*>(to)[D] = float(p));
                }
            });
        }
        __syncwarp();
    }

    // The warps of a block keep step: what they run does not fit in the caches twice.
    __device__ void decode(const std::uint32_t* words, sync_status* status)
    {
        const std::size_t per_direction = std::size_t(g.frame_symbols) * g.q;
        const auto words_of = [&](unsigned i, bool back) {
            return words + (back ? per_direction : 0) +
                   std::size_t(i % g.frame_symbols) * g.q;
        };
        // Rows outputs and outputs + 1: α of boundaries 0 and outputs as they are.
        row r = boundary(g.start_at, 0, false);
        normalise(r, false);
        keep(g.outputs, r);
        t.insert(r);
        keep(0, r);
#pragma unroll 1
        for (unsigned i = 0; i < g.outputs; ++i) {
            __syncthreads();
            take_items(i, false);
            t.template sweep<false>(r, words_of(i, false), nullptr);
            normalise(r, false);
            if (i + 1 < g.outputs) {
                t.insert(r);
                keep(i + 1, r);
            }
        }
        keep(g.outputs + 1, r);
        __syncwarp();

        // β. Nobody reads what it meets behind the outputs.
        float* const drifts = reinterpret_cast<float*>(out + g.drifts_at);
        boundary_drift last{};
        double log_weight = 0;
        r = boundary(g.end_at, g.symbols, true);
        normalise(r, true);
#pragma unroll 1
        for (unsigned i = g.symbols; i-- > 0;) {
            if (i + 1 == g.outputs) {
                last = emit_drifts(g.outputs + 1, r, drifts + g.window);
                valid = valid && last.sum > 0;
                log_weight = scale.log() - (g.symbols + 2.0) * t.w.log_size +
                             g.symbols * t.w.log_index + ::log(last.sum) + g.log_scale;
            }
            __syncthreads();
            take_items(i, true);
            t.template sweep<true>(
                r, words_of(i, true), alpha + min(i, g.outputs - 1) * C * 32);
            if (i < g.outputs) {
                emit_symbol(i);
            }
            normalise(r, true);
            t.insert(r);
        }
        const auto first = emit_drifts(g.outputs, r, drifts);
        if (there && t.place == 0) {
            *status = valid ? sync_status{ log_weight,
                                           float(last.entropy),
                                           in.header.first + int(first.likeliest),
                                           in.header.first + int(last.likeliest),
                                           1 }
                            : sync_status{ -INFINITY, log2f(float(g.window)), 0, 0, 0 };
        }
        __syncwarp();
    }
};

// A warp of a grid: its part of the memory of all, and which groups of frames it decodes.
template <class Row, int C>
struct warp_memory {
    __device__
    warp_memory(const sync_geometry& g, const trie_layout& l, const trie_memory& memory)
    {
        extern __shared__ double shared[];
        const unsigned number = __shfl_sync(full_warp, threadIdx.x / 32, 0);
        // Few frames are spread over all multiprocessors.
        warp = number * gridDim.x + blockIdx.x;
        rows = reinterpret_cast<std::byte*>(shared) + number * l.warp_bytes;
        partial = static_cast<Row*>(memory.partial) + std::size_t(warp) * g.q * 32;
        alpha = static_cast<Row*>(memory.alpha) +
                std::size_t(warp) * (g.outputs + 2) * C * 32;
        items = memory.items + std::size_t(warp) * l.frames * l.item_words;
        groups = (g.frames + l.frames - 1) / l.frames;
    }
    static __device__ unsigned step() { return gridDim.x * (blockDim.x / 32); }

    unsigned warp, groups;
    std::byte* rows; // in shared memory
    Row *partial, *alpha;
    trie_items* items;
};

// Warps of a block, of which there may be fewer, work for themselves; a block is all that
// a multiprocessor holds.
template <int Warps, class Row, int C, int J, int Reach>
__global__ void __launch_bounds__(32 * Warps, 1)
    linear_tries(const sync_geometry g,
                 const trie_layout l,
                 const trie_weights<Row, C> weights,
                 const trie_memory memory,
                 const if_many_listed run,
                 const std::byte* input,
                 std::byte* output,
                 sync_status* status)
{
    if (!run()) {
        return;
    }
    const warp_memory<Row, C> own(g, l, memory);
    trie_warp<Row, C, J, Reach> lanes(g, l, weights, own.rows, own.partial);
    for (auto group = own.warp; group < own.groups; group += own.step()) {
        trie_frames<Row, C, J, Reach> frames(
            lanes, own.alpha, own.items, input, output, group);
        frames.pack_items(input, group);
        frames.decode(memory.words, status + frames.frame(group));
    }
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_TRIES_CUH */
