// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Search for the beginnings of a stream's frames on CUDA: the forward recursion of the
 * linear form over some symbols before each frame, a block per frame. Each frame is
 * written in the input format of the decoding kernels. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_FRAME_SEARCH_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_FRAME_SEARCH_CUH

#include "linear_any.cuh"
#include "word_sweep.cuh"

namespace gr::gpufec::sync_map {

//! Parameters of the search. Kernels also receive a sync_geometry that describes an
//! attempt (see start_search.h): `window` is the attempt's window, and `symbols`
//! is the number of warm-up symbols.
struct start_geometry {
    start_search search;
    //! Natural logarithm of the constant factor per symbol that rows of α omit.
    double log_symbol;
    bool narrow;                   //!< whether the first attempts narrow their windows
    std::uint32_t window, symbols; // numbers of drifts and symbols of a frame
    // Size of a frame's input and offsets in the input, then size of its output and an
    // offset in the output, in bytes.
    std::size_t input_bytes, start_at, end_at, items_at, output_bytes,
        boundary_matches_at;
    std::uint32_t item_bytes;
    // Layout of the batch's input: number of items, and offsets in bytes.
    std::uint32_t items;
    std::size_t whole_at, batch_items_at;
};

// Result of an attempt: the item at which the frame begins, and the evidence (see
// start_search.h). The current row then holds α at the frame's beginning, for
// `window` drifts from drift number `low` of the attempt on.
struct found_start {
    std::int64_t origin;
    double evidence;
    int low = 0;
    unsigned window = 0;
};

// Returns the layout of a window of fewer drifts.
inline __device__ linear_layout narrowed(linear_layout l, unsigned window)
{
    l.window = window + (l.window - window) % 4;
    l.length = (l.offset + l.window + 3) / 4 * 4;
    l.stride = (l.length + 127) / 128 * 128;
    return l;
}

// Runs one attempt. The attempt begins with α = 1 at all drifts around a place before the
// frame, and leaves α at the frame's beginning in the current row. Once the evidence of a
// narrowing attempt suffices, its window is reduced to the drifts near the most likely
// drift.
template <bool One, class Row, class Metric, class MakeSweep>
__device__ found_start try_start(const sync_geometry& full,
                                 const start_geometry& sg,
                                 const linear_layout& layout,
                                 const row_weights<Row>& weights,
                                 const std::byte* items,
                                 std::int64_t place,
                                 bool narrow,
                                 linear_shared<Row, Metric>& s,
                                 MakeSweep&& make_sweep)
{
    const auto& search = sg.search;
    const unsigned N = full.frame_symbols, symbols = full.symbols;
    const unsigned first_index = (N - symbols % N) % N;
    const unsigned warp = warp_number<One>(), warps = block_warps<One>();
    const unsigned groups = One ? 1 : (full.q + 31) / 32;
    sync_geometry g = full;
    linear_layout l = layout;
    int low = 0;
    unsigned done = 0, until = symbols;
    if (narrow) {
        low = -search.near_guess - search.first;
        g.window = min(int(g.window) - low, 2 * search.near_guess + 1);
        l = narrowed(layout, g.window);
        until = search.first_look;
    }
    // α is 1 at every drift, to which insertions before the first symbol are added: the
    // sum c^0 + … + c^m at drift number m.
    const Row c = weights.insertion, limit = 1 / (1 - c);
    block_sync();
    begin_with(g, l, direction::forward, s, [&](unsigned m) {
        return limit * (1 - pow(c, Row(m + 1)));
    });
    row_scale scale;
    const auto evidence = [&](double sum) {
        return scale.log() + ::log(sum) + done * sg.log_symbol -
               ::log(double(full.window));
    };
    bool narrows = false;
    int mode;
#pragma unroll 1
    for (;;) {
        const frame_input in(
            items,
            { std::int32_t(sg.items),
              std::int32_t(place - std::int64_t(g.n) * (first_index + symbols)),
              search.first + low,
              0 });
        auto sweep = make_sweep(g, l, in, s);
        Row* const part = s.partial + warp * l.stride;
#pragma unroll 1
        for (; done < until; ++done) {
            sweep.begin(first_index + done, direction::forward);
            const Row insertion = done + 1 == symbols ? Row(0) : c;
            for (unsigned j = warp; j < groups; j += warps) {
                sweep.run(j, insertion, s.alpha, false, part, One || j == warp);
            }
            next_boundary<One>(l, s, scale, static_cast<Metric*>(nullptr), false);
        }
        if (!narrows && done < symbols) {
            double sum = 0;
            for (unsigned m = threadIdx.x; m < g.window; m += blockDim.x) {
                sum += s.current[m];
            }
            sum = block_sum(sum, s.scratch);
            block_sync();
            const double found = evidence(sum);
            if (done >= search.decision_symbols && !(found >= 0)) {
                return { place, -INFINITY };
            }
            narrows =
                done >= search.decision_symbols || found >= search.sufficient_evidence;
            if (!narrows) {
                until = min(done + search.next_look, symbols);
                continue;
            }
        }
        mode = int(block_argmax(s.current, g.window, s.scratch));
        block_sync();
        if (done == symbols) {
            break;
        }
        const int begin = max(0, mode - search.nearest);
        const int end = min(int(g.window), mode + search.nearest + 1);
        for (int m = begin + int(threadIdx.x); m < end; m += int(blockDim.x)) {
            s.alpha[m] = s.current[m];
        }
        block_sync();
        g.window = end - begin;
        l = narrowed(layout, g.window);
        low += begin;
        begin_with(g, l, direction::forward, s, [&](unsigned m) {
            return Row(s.alpha[begin + int(m)]);
        });
        until = min(done + search.step_symbols, symbols);
    }

    const int first = max(0, mode + search.frame_first);
    const int last =
        min(int(g.window) - 1, mode + search.frame_first + int(sg.window) - 1);
    double all = 0, sum = 0, mean = 0;
    for (int m = int(threadIdx.x); m < int(g.window); m += int(blockDim.x)) {
        const double x = s.current[m];
        all += x;
        if (m >= first && m <= last) {
            sum += x;
            mean += x * m;
        }
    }
    all = block_sum(all, s.scratch);
    block_sync();
    sum = block_sum(sum, s.scratch);
    block_sync();
    mean = block_sum(mean, s.scratch);
    block_sync();
    if (!(scale.alive && sum > 0)) {
        return { place, -INFINITY };
    }
    return { place + search.first + low + std::int64_t(llrint(mean / sum)),
             evidence(all),
             low,
             g.window };
}

// Writes the input of a frame. Its start metrics are the current row, the result of an
// attempt at \p place.
template <class Row, class Metric>
__device__ void write_found(const start_geometry& sg,
                            linear_shared<Row, Metric>& s,
                            const std::byte* items,
                            unsigned n,
                            std::int64_t place,
                            const found_start& found,
                            std::byte* frame)
{
    const auto& search = sg.search;
    const auto origin = found.origin;
    const std::int64_t begin = max(std::int64_t(0), origin + search.frame_first);
    const std::int64_t end =
        origin + std::int64_t(n) * sg.symbols + search.frame_first + int(sg.window) - 1;
    const std::int64_t count =
        max(std::int64_t(0), min(end, std::int64_t(sg.items)) - begin);
    if (threadIdx.x == 0) {
        *reinterpret_cast<frame_header*>(frame) = {
            std::int32_t(count), std::int32_t(origin - begin), search.frame_first, 0
        };
    }
    const std::int64_t shift =
        origin - place - search.first - found.low + search.frame_first;
    const auto weight = [&](unsigned m) {
        const std::int64_t from = shift + m;
        return from >= 0 && from < std::int64_t(found.window)
                   ? double(s.current[int(from)])
                   : 0;
    };
    double sum = 0;
    for (unsigned m = threadIdx.x; m < sg.window; m += blockDim.x) {
        sum += weight(m);
    }
    sum = block_sum(sum, s.scratch);
    auto* const start = reinterpret_cast<double*>(frame + sg.start_at);
    auto* const ends = reinterpret_cast<double*>(frame + sg.end_at);
    for (unsigned m = threadIdx.x; m < sg.window; m += blockDim.x) {
        start[m] = sum > 0 ? weight(m) / sum : 1;
        ends[m] = 1;
    }
    const std::byte* const from = items + begin * sg.item_bytes;
    std::byte* const to = frame + sg.items_at;
#pragma unroll 8
    for (unsigned k = threadIdx.x; k < count * sg.item_bytes; k += blockDim.x) {
        to[k] = from[k];
    }
    block_sync();
}

// Writes the inputs of a batch's frames: copies inputs that are complete already, and
// searches for the beginnings of the other frames. A block handles one frame at a time.
template <class Sweep, class MakeSweep>
__device__ void find_starts(const sync_geometry& g,
                            const start_geometry& sg,
                            const linear_layout& l,
                            const row_weights<typename Sweep::row>& weights,
                            const linear_memory& memory,
                            const std::byte* batch,
                            std::byte* frames,
                            std::byte* output,
                            MakeSweep&& make_sweep)
{
    linear_shared<typename Sweep::row, typename Sweep::metric> s(
        l, block_memory<Sweep::always_shared>(l, memory));
    const auto& search = sg.search;
    const std::byte* const items = batch + sg.batch_items_at;
    const auto run = [&](std::int64_t place, bool narrow) {
        return try_start<Sweep::one_warp>(
            g, sg, l, weights, items, place, narrow, s, make_sweep);
    };
    for (unsigned f = blockIdx.x; f < g.frames; f += gridDim.x) {
        const auto piece = reinterpret_cast<const stream_piece*>(batch)[f];
        std::byte* const frame = frames + f * sg.input_bytes;
        auto* const boundary_match = reinterpret_cast<boundary_match_header*>(
            output + f * sg.output_bytes + sg.boundary_matches_at);
        if (piece.whole >= 0) {
            const auto* const from = reinterpret_cast<const int4*>(
                batch + sg.whole_at + piece.whole * sg.input_bytes);
            for (unsigned k = threadIdx.x; k < sg.input_bytes / sizeof(int4);
                 k += blockDim.x) {
                reinterpret_cast<int4*>(frame)[k] = from[k];
            }
            if (threadIdx.x == 0) {
                *boundary_match = { reinterpret_cast<const frame_header*>(from)->origin,
                                    0,
                                    1 };
            }
            continue;
        }
        // Narrowing attempts cover the places within the radius. If none is accepted,
        // full attempts begin again at the guess.
        const std::int64_t guess = piece.guess;
        std::int64_t place = guess, best_place = guess;
        found_start best{ guess, -INFINITY };
        bool narrow = sg.narrow;
#pragma unroll 1
        for (int k = 0;; ++k) {
            const int away = (k + 1) / 2 * 2 * search.reach;
            if (away - search.reach >= (narrow ? search.radius : search.most)) {
                if (!narrow) {
                    break;
                }
                narrow = false;
                k = -1;
                continue;
            }
            place = guess + (k % 2 ? away : -away);
            const auto last = run(place, narrow);
            const bool near = !narrow && away - search.reach < search.radius;
            const bool accepted = last.evidence >= search.accepted;
            if (accepted || (near && last.evidence > best.evidence)) {
                best = last;
                best_place = place;
            }
            if (accepted) {
                break;
            }
        }
        const auto off = best.origin - best_place;
        if (off > search.reach || off < -search.reach || best_place != place) {
            // Repeats the attempt around the best origin, because the current row may
            // belong to another attempt or lack drifts at one end of the frame's window.
            place = best.origin;
            const auto again = run(place, false);
            best = again.evidence > -INFINITY ? again : best;
        }
        write_found(sg, s, items, g.n, place, best, frame);
        if (threadIdx.x == 0) {
            *boundary_match = { std::int32_t(best.origin),
                                float(best.evidence),
                                best.evidence >= search.accepted };
        }
    }
}

template <class Sweep>
__global__ void __launch_bounds__(Sweep::max_threads, Sweep::min_blocks)
    starts_of_words(const sync_geometry g,
                    const start_geometry sg,
                    const linear_layout l,
                    const row_weights<typename Sweep::row> weights,
                    const linear_memory memory,
                    const std::byte* batch,
                    std::byte* frames,
                    std::byte* output)
{
    __builtin_assume(!Sweep::one_warp || blockDim.x == 32);
    __builtin_assume(!Sweep::one_warp || threadIdx.x < 32);
    const auto make_sweep = [&](const sync_geometry& tried,
                                const linear_layout& layout,
                                const frame_input& in,
                                auto& s) {
        return Sweep{ tried, layout, in, memory, s, nullptr, weights };
    };
    find_starts<Sweep>(g, sg, l, weights, memory, batch, frames, output, make_sweep);
}

template <bool Likelihoods, class Row, class Metric>
__global__ void starts_of_any(const sync_geometry g,
                              const start_geometry sg,
                              const linear_layout l,
                              const row_weights<Row> weights,
                              const linear_memory memory,
                              const std::byte* batch,
                              std::byte* frames,
                              std::byte* output)
{
    Row* const rows =
        static_cast<Row*>(memory.rows) + std::size_t(blockIdx.x) * l.window * g.q;
    using sweep = any_sweep<Likelihoods, Row, Metric>;
    const auto make_sweep = [&](const sync_geometry& tried,
                                const linear_layout& layout,
                                const frame_input& in,
                                auto& s) {
        return sweep{ tried, layout, in, memory, s, nullptr, rows, weights };
    };
    find_starts<sweep>(g, sg, l, weights, memory, batch, frames, output, make_sweep);
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_FRAME_SEARCH_CUH */
