// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The trie lattice in a band of C drifts that follows a frame's path. A lane decodes a
 * frame, so lanes exchange no data. Frames that lose more than max_lost of their weight
 * (see band.h) and frames without a path in the band are put on a list, to be decoded
 * again with all drifts. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_TRIE_LATTICE_BANDED_LATTICE_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_TRIE_LATTICE_BANDED_LATTICE_CUH

#include "sync_map/cuda/band.h"
#include "trie_lattice.cuh"

namespace gr::gpufec::sync_map {

inline __device__ void prefetch([[maybe_unused]] const void* from)
{
#ifdef __CUDA_ARCH__
    asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
#endif
}

//! Largest fraction of a frame's weight that may be lost, and therefore the largest error
//! of a posterior.
constexpr double max_lost = 1e-8;

//! Values of a band_bound (see band.h) in float, for the kernel.
template <int C>
struct band_weights {
    float growth, leave[C], enter[C];

    explicit band_weights(const band_bound& b) : growth(b.growth)
    {
        std::copy_n(b.leave.begin(), C, leave);
        std::copy_n(b.enter.begin(), C, enter);
    }
};

//! List of the frames of a batch that are to be decoded again.
struct frames_again {
    std::uint32_t *frames, *count;
};

/* β of all drifts at the boundary before a frame's last indices. β is computed if the end
 * prior spans more than half the band, because paths that have left the band then need
 * not return. β is the weight of such paths over the last indices. */
struct band_ends {
    std::uint32_t from;      // first index for which β is used; 0: β is unused
    float* metrics;          // β per frame: `window` values
    std::int32_t* exponents; // per frame: exponent of the scale of its metrics

    __device__ float* of(const sync_geometry& g, unsigned frame) const
    {
        return metrics + std::size_t(frame) * g.window;
    }
};

template <int C>
struct end_frames : trie_frames<float, C, 1> {
    using base = trie_frames<float, C, 1>;
    using base::base, base::g, base::t, base::there;

    __device__ void
    decode(const std::uint32_t* words, unsigned frame, const band_ends& ends)
    {
        const std::uint32_t* const back = words + std::size_t(g.frame_symbols) * g.q;
        auto r = this->boundary(g.end_at, g.symbols, true);
        this->normalise(r, true);
#pragma unroll 1
        for (unsigned i = g.symbols; i-- > ends.from;) {
            __syncthreads();
            this->take_items(i - ends.from, true);
            t.template sweep<false>(r, back + std::size_t(i) * g.q, nullptr);
            this->normalise(r, true);
            t.insert(r);
        }
        for (int c = 0; there && c < C; ++c) {
            const unsigned m = this->drift(c, true);
            if (m < g.window) {
                ends.of(g, frame)[m] = r.x[c];
            }
        }
        if (there && t.place == 0) {
            ends.exponents[frame] = int(this->scale.exponent);
        }
    }
};

template <int Warps, int C>
__global__ void __launch_bounds__(32 * Warps, 1)
    ends_of_frames(const sync_geometry g,
                   const trie_layout l,
                   const trie_weights<float, C> weights,
                   const trie_memory memory,
                   const band_ends ends,
                   const std::byte* input)
{
    const warp_memory<float, C> own(g, l, memory);
    trie_warp<float, C, 1> lanes(g, l, weights, own.rows, own.partial);
    for (auto group = own.warp; group < own.groups; group += own.step()) {
        end_frames<C> frames(lanes, nullptr, own.items, input, nullptr, group);
        frames.pack_items(input, group, ends.from);
        frames.decode(memory.words, frames.frame(group), ends);
    }
}

// Data stored beside α for each of the outputs + 1 boundaries of a frame.
struct band_boundary {
    float escaped;         // bound on the weight of paths that have left, with α's scale
    std::int32_t exponent; // exponent of α's scale
    std::uint32_t first;   // the band's first drift
};

template <int C>
struct band_frames : trie_frames<float, C, 0> {
    using base = trie_frames<float, C, 0>;
    using row = typename base::row;
    using base::first, base::g, base::in, base::scale, base::t, base::there, base::valid;

    const band_weights<C>& bound;
    band_boundary* const boundaries; // this lane's entries, 32 elements apart
    float escaped = 0;

    __device__ band_frames(typename base::warp& lanes,
                           const band_weights<C>& weights,
                           float* rows,
                           band_boundary* sides,
                           trie_items* bits,
                           const std::byte* input,
                           std::byte* output,
                           unsigned group)
        : base(lanes, rows, bits, input, output, group),
          bound(weights),
          boundaries(sides + lanes.lane)
    {
    }

    /* Packs the items of the warp's frames as bits. Unlike in trie_frames::pack_items(),
     * a lane packs 32 items by itself and reads sixteen bytes at a time. */
    __device__ void pack_items(const std::byte* input, unsigned group)
    {
        const int begin = int(in.position(g, 0, 0)), aligned = begin & ~15;
        const unsigned length = in.valid ? in.header.length : 0;
        this->before = begin - aligned;
        const unsigned words = this->l.item_words;
#pragma unroll 4
        for (unsigned k = t.lane; k < 32 * words; k += 32) {
            const unsigned f = k / words;
            const auto* const from =
                input + g.input_bytes * min(group * 32 + f, g.frames - 1) + g.items_at;
            const int at = __shfl_sync(full_warp, aligned, f) + 32 * int(k - f * words);
            const unsigned count = __shfl_sync(full_warp, length, f);
            trie_items all{ 0, 0 };
            for (int half = 0; half < 2; ++half) {
                const unsigned here = at + 16 * half; // a negative sum wraps
                if (here < count) {
                    const auto some = pack(
                        *reinterpret_cast<const sixteen<std::uint32_t>*>(from + here));
                    all.bits |= some.bits << (16 * half);
                    const unsigned rest = count - here;
                    const std::uint32_t there = rest < 16 ? (1u << rest) - 1 : 0xffff;
                    all.known |= (some.known & there) << (16 * half);
                }
            }
            this->items[k] = all;
        }
        __syncwarp();
    }

    __device__ static trie_items pack(const sixteen<std::uint32_t>& bytes)
    {
        const auto gather = [](std::uint32_t y) { // gathers the lowest bit of each byte
            return (y & 0x01010101u) * 0x01020408u >> 24 & 15u;
        };
        trie_items all{ 0, 0 };
        for (int k = 0; k < 4; ++k) {
            const std::uint32_t y = bytes.v[k], more = y & 0xfefefefeu;
            const std::uint32_t unknown =
                (((more & 0x7f7f7f7fu) + 0x7f7f7f7fu) | more) >> 7;
            all.bits |= gather(y) << 4 * k;
            all.known |= gather(~unknown) << 4 * k;
        }
        return all;
    }

    // Scales the row and returns the factor. The band is within the window, so no drifts
    // have to be cleared.
    __device__ float normalise(row& r)
    {
        float largest[2] = { r.x[0], r.x[1] };
        for (int c = 2; c < C; ++c) {
            largest[c % 2] = fmaxf(largest[c % 2], r.x[c]);
        }
        const float factor = scale.next(fmaxf(largest[0], largest[1])) * t.w.size;
        for (int c = 0; c < C; ++c) {
            r.x[c] *= factor;
        }
        return factor;
    }

    __device__ bool outside(unsigned m) const { return m - first >= unsigned(C); }

    // Centres the band at the most likely start drift. The start metrics outside the band
    // count as escaped.
    __device__ void begin()
    {
        double most = 0, sum = 0;
        unsigned at = 0;
        for (unsigned m = 0; m < g.window; ++m) {
            const double p = valid ? in.boundary(g, g.start_at, 0, m) : 0;
            at = p > most ? m : at;
            most = p > most ? p : most;
        }
        first = min(max(at, C / 2u) - C / 2u, g.window - C);
        for (unsigned m = 0; m < g.window; ++m) {
            sum += valid && outside(m) ? in.boundary(g, g.start_at, 0, m) : 0;
        }
        escaped = float(sum);
    }

    // Returns the largest end metric of a drift outside the band.
    __device__ float end_outside() const
    {
        double most = 0;
        for (unsigned m = 0; m < g.window; ++m) {
            const double p =
                valid && outside(m) ? in.boundary(g, g.end_at, g.symbols, m) : 0;
            most = p > most ? p : most;
        }
        return float(most);
    }

    // Sets β in the band from \p metrics, which cover all drifts of the window. Returns
    // the largest metric outside the band.
    __device__ float take_end(row& r, const float* metrics) const
    {
        float most = 0;
        for (unsigned m = 0; m < g.window; ++m) {
            most = outside(m) ? fmaxf(most, metrics[m]) : most;
        }
        for (int c = 0; c < C; ++c) {
            r.x[c] = metrics[this->drift(c, true)];
        }
        return most;
    }

    // Shifts the band by \p by: -1, 0 or 1. Returns the value of the drift that leaves
    // the band.
    __device__ static float shift(row& r, int by)
    {
        row to;
        for (int c = 0; c < C; ++c) {
            const float next = c + 1 < C ? r.x[c + 1] : 0, last = c > 0 ? r.x[c - 1] : 0;
            to.x[c] = by > 0 ? next : by < 0 ? last : r.x[c];
        }
        const float out = by > 0 ? r.x[0] : by < 0 ? r.x[C - 1] : 0;
        r = to;
        return out;
    }

    // If one side of the band holds more than half of α, moves the band by one drift to
    // that side, within the window.
    __device__ void follow(row& r)
    {
        float low = 0, middle = 0, high = 0;
        for (int c = 0; c < C; ++c) {
            (2 * c + 2 < C ? low : 2 * c > C ? high : middle) += r.x[c];
        }
        const bool up = high > low + middle && first + C < g.window;
        const bool down = low > high + middle && first > 0;
        const int by = int(up) - int(down);
        escaped += shift(r, by);
        first += by;
    }

    __device__ void store_boundary(unsigned i) const
    {
        boundaries[i * 32] = { escaped, int(scale.exponent), first };
    }

    // Applies the insertions before the first bit of an index. Returns the weight, at the
    // end of the index, of the paths that leave the band within the index.
    __device__ float leave(row& r) const
    {
        float sum = 0;
        for (int c = 0; c < C; ++c) {
            sum += bound.leave[c] * r.x[c];
        }
        t.insert(r);
        return sum;
    }

    // Prefetches the data that the backward recursion reads at index i − 1.
    __device__ void fetch(unsigned i) const
    {
        constexpr unsigned line = 128;
        const auto* const rows = this->alpha + (i > 0 ? i - 1 : 0) * C * 32;
        const auto* const sides = boundaries - t.lane + (i > 0 ? i - 1 : 0) * 32;
        if (t.lane < unsigned(C)) {
            prefetch(rows + t.lane * 32);
        } else if ((t.lane - C) * line < 32 * sizeof(band_boundary)) {
            prefetch(reinterpret_cast<const std::byte*>(sides) + (t.lane - C) * line);
        }
    }

    __device__ void decode(const std::uint32_t* words,
                           sync_status* status,
                           unsigned frame,
                           const band_ends& ends,
                           const frames_again& again)
    {
        constexpr float least = band_bound::least;
        const std::size_t per_direction = std::size_t(g.frame_symbols) * g.q;
        const auto words_of = [&](unsigned i, bool back) {
            return words + (back ? per_direction : 0) + std::size_t(i) * g.q;
        };
        begin();
        row r = this->boundary(g.start_at, 0, false);
        escaped *= normalise(r);
        store_boundary(0);
        this->keep(g.outputs, r);
        float leaving = leave(r);
        this->keep(0, r);
#pragma unroll 1
        for (unsigned i = 0; i < g.outputs; ++i) {
            __syncthreads();
            this->take_items(i, false);
            t.template sweep<false>(r, words_of(i, false), nullptr);
            escaped = bound.growth * escaped + leaving;
            escaped = fmaxf(escaped * normalise(r), least);
            if (i + 1 < g.outputs) {
                store_boundary(i + 1);
                if (i + 1 == ends.from) {
                    escaped = least; // take_end() accounts for paths that left before
                }
                follow(r);
                boundaries[(i + 1) * 32].first = first;
                leaving = leave(r);
                this->keep(i + 1, r);
            }
        }
        store_boundary(g.outputs);
        this->keep(g.outputs + 1, r);
        __syncwarp();

        const auto reach = scale.exponent;
        r = this->boundary(g.end_at, g.symbols, true);
        const float beyond = end_outside() * normalise(r);
        const auto whole = reach + scale.exponent;
        float* const drifts = reinterpret_cast<float*>(this->out + g.drifts_at);
        for (unsigned m = 0; there && g.drifts && m < 2 * g.window; ++m) {
            drifts[m] = 0;
        }
        const auto last = this->emit_drifts(g.outputs + 1, r, drifts + g.window);
        valid = valid && last.sum > 0;
        const double log_weight = scale.log() - (g.symbols + 2.0) * t.w.log_size +
                                  g.symbols * t.w.log_index + ::log(last.sum) +
                                  g.log_scale;
        double lost = double(escaped) * double(beyond);
#pragma unroll 1
        for (unsigned i = g.symbols; i-- > 0;) {
            __syncthreads();
            fetch(i);
            const unsigned to = boundaries[i * 32].first;
            float back = 0;
            if (i + 1 == ends.from) {
                first = to;
                back = take_end(r, ends.of(g, frame));
                scale.exponent = reach + ends.exponents[frame];
            } else {
                back = shift(r, int(first - to));
                first = to;
            }
            for (int c = 0; c < C; ++c) {
                back += bound.enter[C - 1 - c] * r.x[c];
            }
            const float before = boundaries[(i + 1) * 32].escaped;
            const int exponent =
                int(boundaries[(i + 1) * 32].exponent + scale.exponent - whole);
            lost += double(before) * double(back) *
                    __hiloint2double((1023 + max(-1000, min(1000, exponent))) << 20, 0);
            this->take_items(i, true);
            t.template sweep<true>(r, words_of(i, true), this->alpha + i * C * 32);
            this->emit_symbol(i);
            normalise(r);
            t.insert(r);
        }
        const auto start = this->emit_drifts(g.outputs, r, drifts);
        if (there && valid && lost <= max_lost * last.sum) {
            *status = { log_weight,
                        float(last.entropy),
                        in.header.first + int(start.likeliest),
                        in.header.first + int(last.likeliest),
                        1 };
        } else if (there) {
            *status = { -INFINITY, 0, 0, 0, 0 };
            again.frames[atomicAdd(again.count, 1u)] = frame;
        }
        __syncwarp();
    }
};

template <int Warps, int C>
__global__ void __launch_bounds__(32 * Warps, 1)
    banded_trie_lattice(const sync_geometry g,
                        const trie_layout l,
                        const trie_weights<float, C> weights,
                        const band_weights<C> bound,
                        const trie_memory memory,
                        band_boundary* boundaries,
                        const band_ends ends,
                        const frames_again again,
                        const std::byte* input,
                        std::byte* output,
                        sync_status* status)
{
    const warp_memory<float, C> own(g, l, memory);
    trie_warp<float, C, 0> lanes(g, l, weights, own.rows, own.partial);
    for (auto group = own.warp; group < own.groups; group += own.step()) {
        band_frames<C> frames(lanes,
                              bound,
                              own.alpha,
                              boundaries + std::size_t(own.warp) * (g.outputs + 1) * 32,
                              own.items,
                              input,
                              output,
                              group);
        frames.pack_items(input, group);
        const unsigned frame = frames.frame(group);
        frames.decode(memory.words, status + frame, frame, ends, again);
    }
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_TRIE_LATTICE_BANDED_LATTICE_CUH */
