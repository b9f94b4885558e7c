// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Recursion of the trie lattice over one index: both tries, in either direction, for the
 * frames of a warp. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_TRIE_LATTICE_RECURSION_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_TRIE_LATTICE_RECURSION_CUH

#include "layout.cuh"

namespace gr::gpufec::sync_map {

/* A warp and its frames. Each lane processes C drifts of a frame, in the order of the
 * sweep. Runs of insertions extend over the next Reach lanes, 1 or 2. Reach is 0 if a
 * frame occupies one lane. */
template <class Row, int C, int Reach>
struct trie_warp {
    using row = trie_row<Row, C>;
    static constexpr bool alone = Reach == 0;
    static_assert(Reach <= 2);
    // Number of weights of bits 4 to 7 at a lane's drifts.
    static constexpr int inner = C + 3;

    const sync_geometry& g;
    const trie_layout& l;
    const trie_weights<Row, C>& w;
    // Indices: `lane` of this lane in the warp, `slot` of the lane's frame in the warp,
    // and `place` of the lane in the frame.
    const unsigned lane, slot, place;
    // 1 if the frame has a lane before (below) or after (above) this one, else 0.
    const Row below, above;
    // Weight of C insertions if the frame has two lanes before (far_below) or after
    // (far_above) this one, else 0.
    const Row far_below, far_above;
    std::byte* const warp_rows;
    std::byte* const rows; // this lane's 16 rows
    Row* const partial;    // this lane's parts of L(D), 32 elements apart for each word
    Row* met_at = nullptr;
    const std::uint32_t* words = nullptr;
    std::uint32_t chunk = 0, word = 0;
    unsigned next_word = 0;
    trie_items items{ 0, 0 }; // this lane's items, from bit 0 and its first drift on
    bool clean = false;       // whether no item of the warp is an erasure
    Row best = -1;            // largest L(D) so far, if a frame occupies one lane
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
    __device__ unsigned lanes() const { return alone ? 1 : l.lanes; }

    // ---- sums over a frame's lanes; every lane receives the result ----

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
        for (int k = 0; k < C; ++k) {
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
        for (int k = 0; k < C; ++k) {
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

    // Returns the row after a bit is transmitted or deleted. \p weight: transmission
    // weights at the lane's drifts; \p border: value of the drift after the lane's last
    // one.
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

    // Computes the weights of a sent bit \p b for Count items from number \p first on.
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

    // Computes the weights of bits t to t + Count − C of the sweep, for both values.
    template <int Count>
    __device__ void fetch_weights(unsigned t)
    {
        weigh<Count>(t, 0, q[0]);
        weigh<Count>(t, 1, q[1]);
    }
    __device__ const Row* fetched(int t, unsigned b) const { return q[b] + t; }

    // Returns the weights of bit number t with value \p b.
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

    // Stores this lane's part of L(D). If a frame occupies one lane and the output is
    // symbols, stores only the largest L(D) and its word.
    __device__ void meet(Row L, std::uint32_t of)
    {
        if (!alone || g.output != sync_output::symbols) {
            *met_at = L;
            met_at += 32;
        } else if (L > best || (L == best && of < best_word)) {
            best = L; // packed words compare like D, which is in their highest bits
            best_word = of;
        }
    }

    // Applies bit 4, with the weights \p weight, to the rows of the words that have the
    // ending \p ending, and adds the results to \p sum. If Back is true, also computes
    // L(D) of these words from \p met, the row of α after the bits of the ending.
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

    // ---- the second trie: bits 9, 8 in sweep(), 7, 6 in merge(), 5, 4 in leaf() ----

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

    // Sweeps an index: replaces the row at one boundary of the index by the row at the
    // other boundary, without the insertions at that boundary. If Back is true, also
    // computes L(D) from \p alpha.
    template <bool Back>
    __device__ void sweep(row& r, const std::uint32_t* list, const Row* alpha)
    {
        // The lane that holds this lane's drifts in α, which counts drifts in the other
        // direction.
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
        // Lanes without a frame read the rows of other lanes, which must be complete.
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

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_TRIE_LATTICE_RECURSION_CUH */
