/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* The linear form on CUDA: one lane a word, one warp or more a frame.
 *
 * A lane's lattice is swept over the drifts while its n rows stand side by side in
 * registers: row t lags t steps behind, so that in step k every row meets the same
 * received item. A lane needs n registers whatever the window; a chunk of outputs is
 * summed over the lanes at a time.
 *
 * Forward and backward are the same sweep, so that both run the same instructions, of
 * which the caches of a multiprocessor hold but so many. With D what a symbol does and I
 * its insertions, forward is (D₀I) … (Dₙ₋₁I) read from the left, backward the transpose.
 * Forward rows are kept as I·α, and backward drifts are counted from the window's end;
 * then row t is, for both of them,
 *   x_t(k−t) = Q·x_{t−1}(k−t) + Pd·x_{t−1}(k−t+1) + c·x_t(k−t−1),
 * and the weight of a word is the sum of I·α times row n before its insertions. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_CUH

#include "cuda_common.cuh"
#include <cuda_pipeline.h>

namespace gr {
namespace gpufec {

constexpr unsigned most_warps = 8; // of a block

//! What the kernels of the linear form are given beside the geometry.
struct linear_memory {
    //! Words: bit t is symbol t, frame_symbols × q; or, in the general kernel, four bits
    //! a symbol and eight symbols a segment, frame_symbols × segments × q. The first
    //! segment has first_segment symbols.
    const std::uint32_t* words;
    std::uint32_t segments, first_segment;
    void* alpha; //!< a block: (symbols + 1) × window metrics
    void* rows;  //!< a block: window × q lattice values, where there are segments
};

// A block's shared memory. Rows are in the order of the sweep.
template <class Row, class Metric>
struct linear_shared {
    double* scratch;   // 64
    Metric* alpha;     // a boundary's and the one before, which is on its way
    Metric* posterior; // q
    Row* current;      // what lattices begin with
    Row* partial;      // sums over the words of each warp: warps × window
    Row* waiting;      // outputs that are not summed over the lanes yet, of each warp
    // The item of each step, window + n: a mask, all ones where it is a 1, and what the
    // bits 0 and 1 weigh.
    std::int32_t* one;
    Row *if_zero, *if_one;

    // 28 outputs wait at most when a sweep comes to its last 3 and n.
    static __host__ __device__ unsigned waiting_rows(const sync_geometry& g)
    {
        return 28 + 3 + g.n;
    }

    static __host__ __device__ unsigned alpha_stride(const sync_geometry& g)
    {
        return (g.window + 3) / 4 * 4;
    }

    // Places everything from \p memory on; gives the bytes that takes.
    __host__ __device__ std::size_t
    place(const sync_geometry& g, unsigned warps, std::byte* memory)
    {
        std::size_t bytes = 0;
        // So that step n is aligned.
        const std::size_t before = (4 - g.n % 4) % 4;
        const auto take = [&](auto*& to, std::size_t count, std::size_t offset = 0) {
            using T = std::remove_reference_t<decltype(*to)>;
            to = reinterpret_cast<T*>(memory + bytes) + offset;
            bytes += ((count + offset) * sizeof(T) + 15) / 16 * 16;
        };
        take(scratch, 64);
        take(alpha, 2 * alpha_stride(g));
        take(posterior, g.q);
        take(current, g.window, before);
        take(partial, std::size_t(g.window) * warps);
        take(waiting, std::size_t(waiting_rows(g)) * lane_sums<Row>::stride * warps);
        take(one, g.window + g.n, before);
        take(if_zero, g.window + g.n, before);
        take(if_one, g.window + g.n, before);
        return bytes;
    }
};

template <class Row, class Metric>
std::size_t linear_shared_bytes(const sync_geometry& g, unsigned warps)
{
    return linear_shared<Row, Metric>().place(g, warps, nullptr);
}

// ---- lattices of bits ----

// x where mask is all ones, 0 where it is 0.
inline __device__ float masked(float x, std::int32_t mask)
{
    return __int_as_float(__float_as_int(x) & mask);
}
inline __device__ double masked(double x, std::int32_t mask)
{
    return __longlong_as_double(__double_as_longlong(x) & std::int64_t(mask));
}

// b where mask is all ones, a where it is 0.
inline __device__ float selected(std::int32_t mask, float a, float b)
{
    return __int_as_float((__float_as_int(a) & ~mask) | (__float_as_int(b) & mask));
}
inline __device__ double selected(std::int32_t mask, double a, double b)
{
    return mask ? b : a;
}

// A received item: a mask, and what the bits 0 and 1 weigh.
template <class Row>
struct bit_item {
    std::int32_t one;
    Row if_zero, if_one;
};

/* The lattice of a lane's word of N bits. Clean: items are bits, of which a wrong one
 * cannot be received and a right one weighs 1. */
template <int N, class Row>
struct bit_lattice {
    Row x[N + 1];
    std::int32_t sent[N]; // masks, in the order of the sweep
    Row insertion, deletion, last_insertion;

    __device__ bit_lattice(const row_weights<Row>& w, std::uint32_t word, Row last)
        : insertion(w.insertion), deletion(w.deletion), last_insertion(last)
    {
#pragma unroll
        for (int t = 0; t < N; ++t) {
            sent[t] = -std::int32_t(word >> t & 1u);
            x[t] = 0;
        }
        x[N] = 0;
    }

    // One step of rows low to high; gives row N, if it is one of them, before its
    // insertions. Rows above high have not begun, those below low are past the window.
    template <bool Clean>
    __device__ Row step(Row in, const bit_item<Row>& y, int low = 0, int high = N)
    {
        Row before = 0, now = 0, last = 0;
#pragma unroll
        for (int t = 0; t <= N; ++t) {
            const Row old = x[t];
            if (t < low || t > high) {
                now = 0;
            } else if (t == 0) {
                now = in;
            } else {
                const Row passed =
                    Clean ? masked(before, ~(sent[t - 1] ^ y.one))
                          : selected(sent[t - 1], y.if_zero, y.if_one) * before;
                if (t < N) {
                    now = deletion * now + (insertion * old + passed);
                } else {
                    last = deletion * now + passed;
                    now = last_insertion * old + last;
                }
            }
            if (t >= low && t <= high) {
                x[t] = now;
            }
            before = old;
        }
        return last;
    }
};

// ---- the recursions, shared by both kernels ----

enum class direction { forward, backward };

// Sums the warps' parts, scales the row and makes it the current one.
template <class Row, class Metric>
__device__ void next_boundary(const sync_geometry& g,
                              linear_shared<Row, Metric>& s,
                              row_scale& scale,
                              Metric* alpha)
{
    block_sync();
    Metric part = 0;
    for (unsigned m = threadIdx.x; m < g.window; m += blockDim.x) {
        Metric sum = s.partial[m];
        for (unsigned w = 1; w < blockDim.x / 32; ++w) {
            sum += s.partial[w * g.window + m];
        }
        s.partial[m] = sum;
        part += sum;
    }
    const Metric factor =
        scale.next(block_sum(part, reinterpret_cast<Metric*>(s.scratch)));
    for (unsigned m = threadIdx.x; m < g.window; m += blockDim.x) {
        const Metric x = Metric(s.partial[m]) * factor;
        s.current[m] = x;
        if (alpha) {
            alpha[m] = x;
        }
    }
    block_sync();
}

// Insertions before the first symbol: the current row becomes I times itself, and is
// kept as \p alpha.
template <class Row, class Metric>
__device__ void
insert(const sync_geometry& g, linear_shared<Row, Metric>& s, Metric* alpha)
{
    if (threadIdx.x == 0) {
        Row x = 0;
        for (unsigned m = 0; m < g.window; ++m) {
            x = s.current[m] + Row(g.insertion) * x;
            s.current[m] = x;
        }
    }
    block_sync();
    for (unsigned m = threadIdx.x; alpha && m < g.window; m += blockDim.x) {
        alpha[m] = s.current[m];
    }
}

// Begins to copy a boundary's α, from the window's end, into shared memory.
template <class Metric>
__device__ void fetch_alpha(const sync_geometry& g, Metric* to, const Metric* alpha)
{
    for (unsigned m = threadIdx.x; m < g.window; m += blockDim.x) {
        __pipeline_memcpy_async(to + m, alpha + g.window - 1 - m, sizeof(Metric));
    }
    __pipeline_commit();
}

// Σ α·β of the last boundary; makes β the current row.
template <class Row, class Metric>
__device__ double
turn(const sync_geometry& g, const frame_input& in, linear_shared<Row, Metric>& s)
{
    double part = 0;
    for (unsigned m = threadIdx.x; m < g.window; m += blockDim.x) {
        part += double(s.current[m]) * in.boundary(g, g.end_at, g.symbols, m);
    }
    const double sum = block_sum(part, s.scratch);
    block_sync();
    for (unsigned m = threadIdx.x; m < g.window; m += blockDim.x) {
        s.current[g.window - 1 - m] = in.boundary(g, g.end_at, g.symbols, m);
    }
    block_sync();
    return sum;
}

/* One frame. Sweep: begin(i, direction) prepares index i, and run(j, last, alpha, to,
 * first) sweeps the lattices of its words 32·j to 32·j + 31 over the current row, with
 * insertions \p last after the last symbol; gives a lane's sum of row n times \p alpha,
 * unless that is nullptr. */
template <class Row, class Metric, class Sweep>
__device__ void decode_linear(const sync_geometry& g,
                              const frame_input& in,
                              Sweep& sweep,
                              linear_shared<Row, Metric>& s,
                              Metric* alpha,
                              std::byte* out,
                              sync_status& status)
{
    const unsigned M = g.window;
    const unsigned warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const unsigned groups = (g.q + 31) / 32;
    Row* const part = s.partial + warp * M;
    float* const drifts = reinterpret_cast<float*>(out + g.drifts_at);
    for (unsigned m = threadIdx.x; m < M; m += blockDim.x) {
        s.current[m] = in.boundary(g, g.start_at, 0, m);
    }
    block_sync();
    insert(g, s, alpha);

    row_scale scale;
    double log_weight = 0, entropy = 0;
    unsigned last = 0;
    // One loop, and so one copy of the sweep, for both directions.
    for (unsigned k = 0; k < 2 * g.symbols; ++k) {
        const bool back = k >= g.symbols;
        const unsigned i = back ? 2 * g.symbols - 1 - k : k;
        const bool puts_out = back && i < g.outputs;
        Metric* const here = s.alpha + i % 2 * s.alpha_stride(g);
        Metric* const ahead = s.alpha + (i + 1) % 2 * s.alpha_stride(g);
        if (k == g.symbols) {
            const double ends = turn(g, in, s);
            if (!(ends > 0) || !scale.alive) {
                return emit_unknown(g, out, status);
            }
            log_weight = scale.log() + log(ends) + g.log_scale;
        }
        if (back && i + 1 == g.outputs) {
            const Metric* const at = alpha + std::size_t(i + 1) * M;
            last = emit_drifts(
                g,
                [&](unsigned m) { return at[m] * Metric(s.current[M - 1 - m]); },
                ahead,
                s.scratch,
                drifts + M,
                &entropy);
            fetch_alpha(g, here, alpha + std::size_t(i) * M);
        }
        sweep.begin(i, back ? direction::backward : direction::forward);
        if (puts_out) {
            __pipeline_wait_prior(0);
            block_sync();
            if (i > 0) {
                fetch_alpha(g, ahead, alpha + std::size_t(i - 1) * M);
            }
        }
        // Boundaries `outputs` and `symbols` are kept without insertions after them.
        const bool bare = !back && (i + 1 == g.outputs || i + 1 == g.symbols);
        for (unsigned j = warp; j < groups; j += warps) {
            const Metric L = sweep.run(j,
                                       bare ? Row(0) : sweep.weights.insertion,
                                       puts_out ? here : nullptr,
                                       part,
                                       j == warp);
            const unsigned D = 32 * j + threadIdx.x % 32;
            if (D < g.q) {
                s.posterior[D] = L;
            }
        }
        if (puts_out) {
            emit_symbol(g, in, i, s.posterior, s.scratch, out);
        }
        next_boundary(g, s, scale, back ? nullptr : alpha + std::size_t(i + 1) * M);
        if (bare && i + 1 < g.symbols) {
            insert<Row, Metric>(g, s, nullptr);
        }
    }
    double unused;
    const unsigned first = emit_drifts(
        g,
        [&](unsigned m) {
            return Metric(in.boundary(g, g.start_at, 0, m)) *
                   Metric(s.current[M - 1 - m]);
        },
        s.alpha,
        s.scratch,
        drifts,
        &unused);
    if (threadIdx.x == 0) {
        status = { log_weight,
                   float(entropy),
                   in.header.first + int(first),
                   in.header.first + int(last),
                   1 };
    }
}

// The prior of word D at index i; lanes without a word weigh nothing.
inline __device__ double word_prior(const sync_geometry& g,
                                    const frame_input& in,
                                    unsigned i,
                                    unsigned j,
                                    double* sum_of_index)
{
    const unsigned D = 32 * j + threadIdx.x % 32;
    if (D >= g.q) {
        return 0;
    }
    if (!g.priors || i >= g.outputs) {
        return 1;
    }
    const double sum = sum_of_index[i];
    return sum > 0 ? in.prior(g, i, D) / sum : 1.0 / g.q;
}

// Received position of the item that step \p k of index i meets.
inline __device__ std::int64_t item_position(
    const sync_geometry& g, const frame_input& in, unsigned i, direction d, int k)
{
    return in.position(
        g, i, d == direction::forward ? k - 1 : int(g.n + g.window) - 1 - k);
}

// ---- words of exactly N bits ----

template <int N, class Row, class Metric>
struct bit_sweep {
    const sync_geometry& g;
    const frame_input& in;
    const linear_memory& memory;
    linear_shared<Row, Metric>& s;
    double* prior_sums; // of each index, in device memory
    row_weights<Row> weights;
    unsigned index = 0;
    bool reversed = false, clean = false;

    __device__ void begin(unsigned i, direction d)
    {
        index = i;
        reversed = d == direction::backward;
        // No row needs an item in step 0.
        bool special = g.soft_input || weights.mismatch != 0;
        const int base = item_position(g, in, i, d, 0), onward = reversed ? -1 : 1;
        const auto* const items =
            reinterpret_cast<const std::uint8_t*>(in.data + g.items_at);
        for (int k = 1 + threadIdx.x; !g.soft_input && k < int(g.window) + N;
             k += blockDim.x) {
            const unsigned at = base + onward * k;
            const unsigned y = at < unsigned(in.header.length) ? items[at] : 2;
            s.one[k] = -std::int32_t(y & 1u);
            special |= y > 1;
        }
        clean = blockDim.x == 32 ? !__any_sync(full_warp, special)
                                 : !__syncthreads_or(special);
        for (unsigned k = 1 + threadIdx.x; !clean && k < g.window + N; k += blockDim.x) {
            const auto w = weigh_item(g, weights, in, item_position(g, in, i, d, k));
            s.if_zero[k] = w.match_symbol ? w.other_value : w.match_value;
            s.if_one[k] = w.match_symbol ? w.match_value : w.other_value;
        }
        block_sync();
    }

    template <bool Clean>
    __device__ bit_item<Row> item(int k) const
    {
        return Clean ? bit_item<Row>{ s.one[k], 0, 1 }
                     : bit_item<Row>{ s.one[k], s.if_zero[k], s.if_one[k] };
    }

    template <bool Clean>
    __device__ Metric sweep(bit_lattice<N, Row>& lattice,
                            Row prior,
                            const Metric* alpha,
                            Row* to,
                            bool first) const
    {
        constexpr int C = 4; // steps whose inputs are read at once
        const int M = g.window;
        lane_sums<Row> sums(s.waiting + threadIdx.x / 32 * s.waiting_rows(g) *
                                            lane_sums<Row>::stride);
        const auto sum_up = [&](int begin, int count) {
            sums.take(count, [&](unsigned o, Row sum) {
                Row& all = to[begin + o];
                all = first ? sum : all + sum;
            });
        };
        Metric L = 0;
        if (M < N) {
            for (int k = 0; k < M + N; ++k) {
                const Row in = k < M ? s.current[k] * prior : Row(0);
                const Row bare = lattice.template step<Clean>(
                    in, item<Clean>(k), max(0, k - M + 1), min(N, k));
                if (k >= N) {
                    L += alpha ? alpha[k - N] * Metric(bare) : Metric(0);
                    sums.put(k - N, lattice.x[N]);
                }
            }
            sum_up(0, M);
            return L;
        }
        // Rows begin one after the other.
        four<Row> row;
        four<std::int32_t> one;
        four<Row> if_zero{}, if_one{};
        const auto read_steps = [&](int k) {
            row = read_four(s.current + k);
            one = read_four(s.one + k);
            if (!Clean) {
                if_zero = read_four(s.if_zero + k);
                if_one = read_four(s.if_one + k);
            }
        };
#pragma unroll
        for (int k = 0; k < N; ++k) {
            const int c = (k + C - N % C) % C;
            if (k < N % C) {
                lattice.template step<Clean>(s.current[k] * prior, item<Clean>(k), 0, k);
                continue;
            }
            if (c == 0) {
                read_steps(k);
            }
            lattice.template step<Clean>(
                row.v[c] * prior, { one.v[c], if_zero.v[c], if_one.v[c] }, 0, k);
        }
        // From here on step o + N puts out o, and those from number `summed` on wait.
        int o = 0, summed = 0;
        for (; o + C <= M - N; o += C) {
            read_steps(o + N);
            Row bare[C];
#pragma unroll
            for (int c = 0; c < C; ++c) {
                bare[c] = lattice.template step<Clean>(
                    row.v[c] * prior, { one.v[c], if_zero.v[c], if_one.v[c] });
                sums.put(o - summed + c, lattice.x[N]);
            }
            if (alpha) {
                const auto a = read_four(alpha + o);
#pragma unroll
                for (int c = 0; c < C; ++c) {
                    L += a.v[c] * Metric(bare[c]);
                }
            }
            if (o + C - summed == 32) {
                sum_up(summed, 32);
                summed += 32;
            }
        }
        // A step by itself; rows below \p low are past the window.
        const auto step = [&](int number, Row in, int low) {
            const Row bare =
                lattice.template step<Clean>(in * prior, item<Clean>(number + N), low, N);
            L += alpha ? alpha[number] * Metric(bare) : Metric(0);
            sums.put(number - summed, lattice.x[N]);
        };
        for (; o < M - N; ++o) {
            step(o, s.current[o + N], 0);
        }
#pragma unroll
        for (int gone = 0; gone < N; ++gone) {
            step(o + gone, 0, gone + 1);
        }
        sum_up(summed, M - summed);
        return L;
    }

    __device__ Metric
    run(unsigned j, Row last, const Metric* alpha, Row* to, bool first) const
    {
        const unsigned D = 32 * j + threadIdx.x % 32;
        const auto place = index < g.frame_symbols ? index : index % g.frame_symbols;
        std::uint32_t word = D < g.q ? memory.words[std::size_t(place) * g.q + D] : 0u;
        word = reversed ? __brev(word) >> (32 - N) : word;
        const Row prior = word_prior(g, in, index, j, prior_sums);
        bit_lattice<N, Row> lattice(weights, word, last);
        return clean ? sweep<true>(lattice, prior, alpha, to, first)
                     : sweep<false>(lattice, prior, alpha, to, first);
    }
};

// Sums of the priors of each index, into device memory that the block owns.
inline __device__ void
sum_priors(const sync_geometry& g, const frame_input& in, double* sums)
{
    for (unsigned i = threadIdx.x / 32; g.priors && i < g.outputs; i += blockDim.x / 32) {
        double sum = 0;
        for (unsigned D = threadIdx.x % 32; D < g.q; D += 32) {
            sum += in.prior(g, i, D);
        }
        sum = warp_sum(sum);
        if (threadIdx.x % 32 == 0) {
            sums[i] = isinf(sum) ? 0 : sum;
        }
    }
    block_sync();
}

// Decodes the frames of a batch, a block one after the other, with the sweep made for
// each.
template <class Row, class Metric, class MakeSweep>
__device__ void decode_batch(const sync_geometry& g,
                             const linear_memory& memory,
                             double* prior_sums,
                             const std::byte* input,
                             std::byte* output,
                             sync_status* status,
                             MakeSweep&& make_sweep)
{
    extern __shared__ double shared[];
    linear_shared<Row, Metric> s;
    s.place(g, blockDim.x / 32, reinterpret_cast<std::byte*>(shared));
    Metric* const alpha = static_cast<Metric*>(memory.alpha) +
                          std::size_t(blockIdx.x) * (g.symbols + 1) * g.window;
    double* const sums = prior_sums + std::size_t(blockIdx.x) * g.outputs;
    for (unsigned frame = blockIdx.x; frame < g.frames; frame += gridDim.x) {
        const frame_input in(g, input, frame);
        std::byte* const out = output + g.output_bytes * frame;
        if (!in.valid) {
            emit_unknown(g, out, status[frame]);
            continue;
        }
        block_sync();
        sum_priors(g, in, sums);
        auto sweep = make_sweep(in, s, sums);
        decode_linear(g, in, sweep, s, alpha, out, status[frame]);
    }
}

// One: a block is one warp.
template <int N, bool One, class Row, class Metric>
__global__ void __launch_bounds__(32 * most_warps, 2)
    linear_bits(const sync_geometry g,
                const linear_memory memory,
                double* prior_sums,
                const std::byte* input,
                std::byte* output,
                sync_status* status)
{
    __builtin_assume((blockDim.x == 32) == One);
    decode_batch<Row, Metric>(
        g,
        memory,
        prior_sums,
        input,
        output,
        status,
        [&](const frame_input& in, linear_shared<Row, Metric>& s, double* sums) {
            return bit_sweep<N, Row, Metric>{
                g, in, memory, s, sums, row_weights<Row>(g)
            };
        });
}

} // namespace gpufec
} // namespace gr

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_CUH */
