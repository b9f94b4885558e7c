// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decoding of frames with the trie lattice: items, metrics at the boundaries, the order
 * of the recursions, and the output of symbols and drifts. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_TRIE_LATTICE_FRAMES_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_TRIE_LATTICE_FRAMES_CUH

#include "recursion.cuh"
#include "sync_map/cuda/output.cuh"
#include <cuda_pipeline.h>

namespace gr::gpufec::sync_map {

// The group of frames that a warp decodes together.
template <class Row, int C, int Reach>
struct trie_frames {
    using warp = trie_warp<Row, C, Reach>;
    using row = trie_row<Row, C>;

    const sync_geometry& g;
    const trie_layout& l;
    warp& t;
    Row* const alpha;
    trie_items* const items;
    const frame_input in;
    const bool there; // whether this lane has a frame of the batch
    std::byte* const out;
    unsigned first = 0;  // window index of the drift of a row's first value
    unsigned before = 0; // number of packed items before the window's first item
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

    // Returns the lane's frame. A lane without a frame repeats the frame of another lane.
    __device__ unsigned frame(unsigned group) const
    {
        return min(group * l.frames + t.slot, g.frames - 1);
    }

    __device__ unsigned drift(int c, bool back) const
    {
        const unsigned at = t.place * C + c;
        return first + (back ? l.lanes * C - 1 - at : at);
    }

    // Packs the items of the warp's frames as bits, from the item at boundary \p symbol
    // and the window's first drift on. Positions outside the received sequence are marked
    // unknown, which is harmless: each path through such positions begins or ends at a
    // drift of metric 0.
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

    // Loads the items of an index in the order of the sweep; \p i counts from the first
    // index packed.
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

    // Clears drifts beyond the window and scales the row. Returns the factor.
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

    // Summary of a boundary's drift posteriors.
    struct boundary_drift {
        unsigned likeliest;
        double entropy; // entropy of the drift posteriors, in bits
        double sum;     // sum of α·β over all drifts
    };

    // Writes the drift posteriors of a boundary, proportional to α·β, if g.drifts is set,
    // and α and β if g.boundary_matches is set. Row \p i of `alpha` holds α before
    // insertions. Returns a summary of the posteriors.
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
            if (there && g.boundary_matches && m < g.window) {
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

    // Calls use(D, L, storage) for the words whose L(D) this lane computes. `storage` is
    // an element of t.partial in which use() may store L for stored_words().
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
    // Sums the parts of L(D) of a frame's lanes. The parts are staged in the shared
    // memory of the rows, which are no longer needed.
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
    // Calls use(D, L) for this lane's words, with the L(D) that a callback of sum_words()
    // has stored.
    template <class Use>
    __device__ void stored_words(Use&& use) const
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
        // L(D) is stored in place of the first lane's part of L(D). The total is a
        // double, because a float would ignore words that are much less likely than the
        // most likely word.
        double part = 0;
        sum_words([&](unsigned, Row L, Row* storage) {
            *storage = L;
            part += L;
        });
        if (g.output == sync_output::llr) {
            const unsigned bits = g.symbol_bytes;
            for (unsigned b = 0; b < bits; ++b) {
                Row positive = 0, negative = 0;
                stored_words([&](unsigned D, Row L) {
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
            stored_words([&](unsigned D, Row L) {
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

    // A barrier per index keeps the warps of a block at the same code, because the loop
    // is too large for the instruction caches (docs/decisions/2026-11-22-sync-tries.md).
    __device__ void decode(const std::uint32_t* words, sync_status* status)
    {
        const std::size_t per_direction = std::size_t(g.frame_symbols) * g.q;
        const auto words_of = [&](unsigned i, bool back) {
            return words + (back ? per_direction : 0) +
                   std::size_t(i % g.frame_symbols) * g.q;
        };
        // Rows `outputs` and `outputs` + 1 of `alpha` hold α at boundaries 0 and
        // `outputs`, without insertions.
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

        // The backward recursion. L(D) of indices after the last output is not read.
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

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_TRIE_LATTICE_FRAMES_CUH */
