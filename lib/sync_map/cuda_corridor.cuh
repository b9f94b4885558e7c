/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* The papers' form on CUDA: branch metrics of every index at once, the recursions over
 * boundaries with a block a frame, and the posteriors of every index at once.
 *
 * α and β need a branch metric's sum over the words alone, so that is kept for both of
 * them; the metrics themselves are kept for the posteriors (global storage) or computed
 * again (local storage). */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_CORRIDOR_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_CORRIDOR_CUH

#include "cuda_linear.cuh"

namespace gr {
namespace gpufec {

constexpr unsigned corridor_warps = 8; // of a block of the branch and posterior kernels
constexpr int longest_word = 256;      // channel symbols a word, where rows are in memory

//! What the kernels of the corridor form are given; frames are those of one pass.
template <class Lattice, class Metric>
struct corridor_memory {
    //! frame_symbols × q × words_per_word: bits, the last of them bit N − 1; or, for
    //! N = 0, four bits a symbol.
    const std::uint32_t* words;
    std::uint32_t words_per_word;
    double* prior_sums;   //!< frames × outputs
    Metric* sums;         //!< frames × symbols × changes × window
    Metric *alpha, *beta; //!< frames × (symbols + 1) × window
    Lattice* branches;    //!< frames × outputs × window × changes × q, or nullptr
    std::uint32_t* valid; //!< frames
    const std::byte* input;
    std::byte* output;
    sync_status* status;

    __device__ std::size_t
    sum_at(const sync_geometry& g, unsigned frame, unsigned i) const
    {
        return (std::size_t(frame) * g.symbols + i) * changes(g) * g.window;
    }
    __device__ std::size_t
    metric_at(const sync_geometry& g, unsigned frame, unsigned i) const
    {
        return (std::size_t(frame) * (g.symbols + 1) + i) * g.window;
    }
    __device__ Lattice*
    branch(const sync_geometry& g, unsigned frame, unsigned i, unsigned m) const
    {
        const auto at = (std::size_t(frame) * g.outputs + i) * g.window + m;
        return branches + at * changes(g) * g.q;
    }
    static __device__ unsigned changes(const sync_geometry& g)
    {
        return g.change_last - g.change_first + 1;
    }
};

/* The lattice of a lane's word from one start drift: a row lags one step behind the row
 * above, so in step k, with k items received, every row meets the same item.
 *
 * Bits in registers, N of them at most; shorter words leave the first rows unused. */
template <int N, class Lattice>
struct corridor_lattice {
    // sink(k, R): the branch metric of change number k.
    template <class Items, class Sink>
    static __device__ void run(const sync_geometry& g,
                               const row_weights<Lattice>& weights,
                               const std::uint32_t* word,
                               Items&& items,
                               Sink&& sink)
    {
        const Lattice c = weights.insertion, pd = weights.deletion;
        const int n = g.n;
        const int unused = N - n;
        Lattice x[N + 1];
        std::int32_t sent[N]; // masks
        Lattice deleted = 1;
#pragma unroll
        for (int t = 0; t <= N; ++t) {
            if (t < N) {
                sent[t] = -std::int32_t(*word >> t & 1u);
            }
            if (t > unused) {
                deleted = unused - t >= g.change_first ? deleted * pd : Lattice(0);
            }
            x[t] = t >= unused ? deleted : Lattice(0);
        }
        if (g.change_first <= -n) {
            sink(-n - g.change_first, deleted);
        }
        for (int k = 1; k <= n + g.change_last; ++k) {
            const auto y = items(k - 1);
            const std::int32_t one = -std::int32_t(y.match_symbol);
            const Lattice any = y.other_value, with = y.match_value - y.other_value;
            // Rows within the corridor.
            const int lowest = max(0, k - g.change_last + unused);
            const int highest = min(N, k - g.change_first + unused);
            const std::uint32_t active = (2u << highest) - (1u << min(lowest, 31));
            Lattice before = x[0];
            Lattice now = active & 1u ? c * before : Lattice(0);
            x[0] = now;
#pragma unroll
            for (int t = 1; t <= N; ++t) {
                const Lattice right = masked(before, ~(sent[t - 1] ^ one));
                Lattice next = t < N ? c * x[t] + any * before : any * before;
                next += with * right;
                next += pd * now;
                before = x[t];
                now = active & (1u << t) ? next : Lattice(0);
                x[t] = now;
            }
            const int change = k - n;
            if (change >= g.change_first) {
                sink(change - g.change_first, now);
            }
        }
    }
};

// Any alphabet and number of symbols, with rows in local memory.
template <class Lattice>
struct corridor_lattice<0, Lattice> {
    template <class Items, class Sink>
    static __device__ void run(const sync_geometry& g,
                               const row_weights<Lattice>& weights,
                               const std::uint32_t* word,
                               Items&& items,
                               Sink&& sink)
    {
        const Lattice c = weights.insertion, pd = weights.deletion;
        const int n = g.n;
        Lattice x[longest_word + 1];
        Lattice deleted = 1;
        for (int t = 0; t <= n; ++t) {
            x[t] = -t >= g.change_first ? deleted : Lattice(0);
            deleted *= pd;
        }
        if (g.change_first <= -n) {
            sink(-n - g.change_first, x[n]);
        }
        for (int k = 1; k <= n + g.change_last; ++k) {
            const auto y = items(k - 1);
            Lattice before = x[0];
            Lattice now = k <= g.change_last ? c * before : Lattice(0);
            x[0] = now;
            std::uint32_t symbols = 0;
            for (int t = 1; t <= n; ++t) {
                symbols = t % 8 == 1 ? word[t / 8] : symbols >> 4;
                const Lattice Q =
                    (symbols & 15u) == y.match_symbol ? y.match_value : y.other_value;
                Lattice next = Q * before + pd * now;
                next += t < n ? c * x[t] : Lattice(0);
                before = x[t];
                const int change = k - t;
                now = change >= g.change_first && change <= g.change_last ? next
                                                                          : Lattice(0);
                x[t] = now;
            }
            const int change = k - n;
            if (change >= g.change_first) {
                sink(change - g.change_first, now);
            }
        }
    }
};

// Adds sums over the lanes to successive places, two at a time.
template <class Metric>
struct lane_sums {
    Metric* to;
    Metric waiting = 0;
    unsigned place = 0;
    bool holds = false;

    __device__ void add(unsigned k, Metric x)
    {
        if (!holds) {
            waiting = x;
            place = k;
            holds = true;
            return;
        }
        Metric v[2] = { waiting, x };
        const Metric sum = sum_chunk(v);
        if (threadIdx.x % 16 == 0) {
            to[threadIdx.x % 32 ? k : place] += sum;
        }
        holds = false;
    }
    __device__ void flush()
    {
        if (holds) {
            const Metric sum = warp_sum(waiting);
            if (threadIdx.x % 32 == 0) {
                to[place] += sum;
            }
        }
        holds = false;
    }
};

// Branch metrics and their sums: block x an index, block y a frame; a warp a start drift.
template <int N, class Lattice, class Metric>
__global__ void corridor_branches(const sync_geometry g,
                                  const corridor_memory<Lattice, Metric> memory)
{
    extern __shared__ double shared[];
    const unsigned i = blockIdx.x, frame = blockIdx.y;
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned changes = memory.changes(g);
    const row_weights<Lattice> weights(g);
    const frame_input in(g, memory.input, frame);
    if (!in.valid) {
        return;
    }
    double* const prior_sums = memory.prior_sums + std::size_t(frame) * g.outputs;
    const bool priors = g.priors && i < g.outputs;
    double prior_sum = 0;
    for (unsigned D = lane; priors && D < g.q; D += 32) {
        prior_sum += in.prior(g, i, D);
    }
    prior_sum = warp_sum(prior_sum);
    if (priors && threadIdx.x == 0) {
        prior_sums[i] = prior_sum;
    }
    Metric* const sums = reinterpret_cast<Metric*>(shared) + warp * changes;
    Metric* const out = memory.sums + memory.sum_at(g, frame, i);
    for (unsigned m = warp; m < g.window; m += blockDim.x / 32) {
        for (unsigned k = lane; k < changes; k += 32) {
            sums[k] = 0;
        }
        __syncwarp();
        for (unsigned first = 0; first < g.q; first += 32) {
            const unsigned D = first + lane;
            const bool there = D < g.q;
            const auto* word = memory.words + (std::size_t(i % g.frame_symbols) * g.q +
                                               (there ? D : 0)) *
                                                  memory.words_per_word;
            Metric prior = there;
            if (priors && there) {
                prior = prior_sum > 0 && !isinf(prior_sum) ? in.prior(g, i, D) / prior_sum
                                                           : 1.0 / g.q;
            }
            lane_sums<Metric> over_words{ sums };
            Lattice* const branch = memory.branches && i < g.outputs && there
                                        ? memory.branch(g, frame, i, m)
                                        : nullptr;
            corridor_lattice<N, Lattice>::run(
                g,
                weights,
                word,
                [&](int k) {
                    return weigh_item(g, weights, in, in.position(g, i, int(m) + k));
                },
                [&](unsigned k, Lattice R) {
                    if (branch) {
                        branch[std::size_t(k) * g.q + D] = R;
                    }
                    over_words.add(k, prior * Metric(R));
                });
            over_words.flush();
            __syncwarp();
        }
        __syncwarp();
        for (unsigned k = lane; k < changes; k += 32) {
            out[std::size_t(k) * g.window + m] = sums[k];
        }
        __syncwarp();
    }
}

// α and β of a frame, one block each.
template <class Lattice, class Metric>
__global__ void corridor_boundaries(const sync_geometry g,
                                    const corridor_memory<Lattice, Metric> memory)
{
    extern __shared__ double shared[];
    double* const scratch = shared; // 64
    Metric* current = reinterpret_cast<Metric*>(shared + 64);
    Metric* next = current + g.window;
    const unsigned frame = blockIdx.x;
    const int M = g.window;
    const int changes = memory.changes(g);
    const frame_input in(g, memory.input, frame);
    std::byte* const out = memory.output + g.output_bytes * frame;
    memory.valid[frame] = 0;
    if (!in.valid) {
        return emit_unknown(g, out, memory.status[frame]);
    }
    // Scales next to sum 1, stores it and makes it the current row.
    const auto advance = [&](Metric* to) {
        Metric part = 0;
        __syncthreads();
        for (int m = threadIdx.x; m < M; m += blockDim.x) {
            part += next[m];
        }
        const Metric sum = block_sum(part, reinterpret_cast<Metric*>(scratch));
        const Metric scale = sum > 0 ? 1 / sum : 0;
        for (int m = threadIdx.x; m < M; m += blockDim.x) {
            to[m] = next[m] * scale;
            next[m] *= scale;
        }
        auto* const row = current;
        current = next;
        next = row;
        __syncthreads();
        return sum;
    };

    Metric* const alpha = memory.alpha + memory.metric_at(g, frame, 0);
    Metric* const beta = memory.beta + memory.metric_at(g, frame, 0);
    for (int m = threadIdx.x; m < M; m += blockDim.x) {
        alpha[m] = current[m] = in.boundary(g, g.start_at, 0, m);
    }
    __syncthreads();
    log_product weight;
    for (unsigned i = 0; i < g.symbols; ++i) {
        const Metric* const sums = memory.sums + memory.sum_at(g, frame, i);
        for (int m = threadIdx.x; m < M; m += blockDim.x) {
            Metric x = 0;
            for (int k = 0; k < changes; ++k) {
                const int from = m - (g.change_first + k);
                if (from >= 0 && from < M) {
                    x += current[from] * sums[std::size_t(k) * M + from];
                }
            }
            next[m] = x;
        }
        weight.multiply(advance(alpha + std::size_t(i + 1) * M));
    }
    double ends = 0;
    for (int m = threadIdx.x; m < M; m += blockDim.x) {
        const double end = in.boundary(g, g.end_at, g.symbols, m);
        ends += double(current[m]) * end;
        current[m] = end;
        beta[std::size_t(g.symbols) * M + m] = end;
    }
    ends = block_sum(ends, scratch);
    if (!(ends > 0) || !(weight.mantissa > 0)) {
        return emit_unknown(g, out, memory.status[frame]);
    }
    weight.multiply(ends);
    __syncthreads();
    for (unsigned i = g.symbols; i-- > 0;) {
        const Metric* const sums = memory.sums + memory.sum_at(g, frame, i);
        for (int m = threadIdx.x; m < M; m += blockDim.x) {
            Metric x = 0;
            for (int k = 0; k < changes; ++k) {
                const int to = m + g.change_first + k;
                if (to >= 0 && to < M) {
                    x += current[to] * sums[std::size_t(k) * M + m];
                }
            }
            next[m] = x;
        }
        advance(beta + std::size_t(i) * M);
    }
    double entropy = 0, unused;
    float* const drifts = reinterpret_cast<float*>(out + g.drifts_at);
    const auto last_at = std::size_t(g.outputs) * M;
    const unsigned first = emit_drifts(g, alpha, beta, next, scratch, drifts, &unused);
    const unsigned last = emit_drifts(
        g, alpha + last_at, beta + last_at, next, scratch, drifts + M, &entropy);
    if (threadIdx.x == 0) {
        memory.valid[frame] = 1;
        memory.status[frame] = { weight.log() + g.log_scale,
                                 float(entropy),
                                 in.header.first + int(first),
                                 in.header.first + int(last),
                                 1 };
    }
}

// Posteriors: block x an index, block y a frame; a warp every so many start drifts.
template <int N, class Lattice, class Metric>
__global__ void corridor_posteriors(const sync_geometry g,
                                    const corridor_memory<Lattice, Metric> memory)
{
    extern __shared__ double shared[];
    double* const scratch = shared; // 64
    Metric* const alpha = reinterpret_cast<Metric*>(shared + 64);
    Metric* const beta = alpha + g.window;
    Metric* const parts = beta + g.window; // warps × q
    const unsigned i = blockIdx.x, frame = blockIdx.y;
    if (!memory.valid[frame]) {
        return;
    }
    const row_weights<Lattice> weights(g);
    const frame_input in(g, memory.input, frame);
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned warps = blockDim.x / 32;
    const int M = g.window;
    const unsigned changes = memory.changes(g);
    for (int m = threadIdx.x; m < M; m += blockDim.x) {
        alpha[m] = memory.alpha[memory.metric_at(g, frame, i) + m];
        beta[m] = memory.beta[memory.metric_at(g, frame, i + 1) + m];
    }
    __syncthreads();
    for (unsigned first = 0; first < g.q; first += 32) {
        const unsigned D = first + lane;
        const bool there = D < g.q;
        Metric L = 0;
        const auto add = [&](int m, unsigned k, Lattice R) {
            const int to = m + g.change_first + int(k);
            if (to >= 0 && to < M) {
                L += alpha[m] * beta[to] * Metric(R);
            }
        };
        for (int m = warp; m < M; m += warps) {
            if (memory.branches) {
                const Lattice* const branch = memory.branch(g, frame, i, m);
                for (unsigned k = 0; there && k < changes; ++k) {
                    add(m, k, branch[std::size_t(k) * g.q + D]);
                }
            } else {
                const auto* word =
                    memory.words +
                    (std::size_t(i % g.frame_symbols) * g.q + (there ? D : 0)) *
                        memory.words_per_word;
                corridor_lattice<N, Lattice>::run(
                    g,
                    weights,
                    word,
                    [&](int k) {
                        return weigh_item(g, weights, in, in.position(g, i, m + k));
                    },
                    [&](unsigned k, Lattice R) { add(m, k, R); });
            }
        }
        if (there) {
            parts[warp * g.q + D] = L;
        }
    }
    __syncthreads();
    const double prior_sum =
        g.priors ? memory.prior_sums[std::size_t(frame) * g.outputs + i] : 0;
    for (unsigned D = threadIdx.x; D < g.q; D += blockDim.x) {
        Metric L = 0;
        for (unsigned w = 0; w < warps; ++w) {
            L += parts[w * g.q + D];
        }
        if (g.priors && prior_sum > 0 && !isinf(prior_sum)) {
            L *= in.prior(g, i, D) / prior_sum;
        }
        parts[D] = L;
    }
    emit_symbol(g, in, i, parts, scratch, memory.output + g.output_bytes * frame);
}

} // namespace gpufec
} // namespace gr

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_CORRIDOR_CUH */
