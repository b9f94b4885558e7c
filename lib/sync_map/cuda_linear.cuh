/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* The linear form on CUDA: one block a frame, one lane a word.
 *
 * A lane's lattice is swept over the drifts while its n rows stand side by side in
 * registers: row t lags t steps behind, so that in step k every row meets the same
 * received item. A lane needs n registers whatever the window; a chunk of outputs is
 * summed over the lanes at a time. Forward, with x_t row t after its insertions:
 *   x_0(k) = α(k) + c·x_0(k−1)
 *   x_t(k−t) = Q·x_{t−1}(k−t) + c·x_t(k−t−1) + Pd·x_{t−1}(k−t+1),  c = 0 in row n.
 * Backward the transpose, from the last row and the highest drift. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_CUH

#include "cuda_common.cuh"

namespace gr {
namespace gpufec {

constexpr unsigned chunk = 8;       // outputs that are summed over lanes at a time
constexpr unsigned row_padding = 8; // zeros before and after a row

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

//! Bytes of shared memory of a block.
template <class Row, class Metric>
std::size_t linear_shared_bytes(const sync_geometry& g, unsigned threads)
{
    const std::size_t row = g.window + 2 * row_padding;
    const std::size_t codes =
        (std::size_t(g.n) * g.symbols + g.window + g.n + 64) / 16 + 2;
    return 64 * sizeof(double) + row * sizeof(Metric) * 2 + g.q * sizeof(Metric) +
           row * sizeof(Row) * (1 + threads / 32) + codes * sizeof(std::uint32_t) + 64;
}

// The block's shared memory.
template <class Row, class Metric>
struct linear_shared {
    __device__ linear_shared(const sync_geometry& g, std::byte* memory)
    {
        const unsigned row = g.window + 2 * row_padding;
        const auto take = [&](auto*& to, std::size_t count) {
            to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(memory);
            memory += (count * sizeof(*to) + 7) / 8 * 8;
        };
        take(scratch, 64);
        take(alpha[0], row);
        take(alpha[1], row);
        take(posterior, g.q);
        take(current, row);
        current += row_padding;
        take(partial, std::size_t(row) * (blockDim.x / 32));
        take(codes, 0);
    }
    double* scratch;
    Metric* alpha[2];
    Metric* posterior; // q
    Row* current;      // the boundary that lattices begin with, and zeros
    Row* partial;      // sums over the words of each warp
    std::uint32_t* codes;
};

// ---- how lattices step: bits with hard decisions ----

// Received items as two bits each: 0, 1, 2 outside, 3 erased.
struct bit_items {
    const std::uint32_t* codes; // in shared memory

    // Codes of eight steps from number u ≥ −16 on.
    __device__ std::uint32_t fetch(int u) const
    {
        u += 16;
        return __funnelshift_r(codes[u / 16], codes[u / 16 + 1], u % 16 * 2);
    }
};

// x where mask is all ones, 0 where it is 0.
inline __device__ float masked(float x, std::int32_t mask)
{
    return __int_as_float(__float_as_int(x) & mask);
}
inline __device__ double masked(double x, std::int32_t mask)
{
    return __longlong_as_double(__double_as_longlong(x) & std::int64_t(mask));
}

// A received item: a row's value weighs any·x, and with·x more if \p one, a mask, is what
// was sent.
template <class Row>
struct bit_item {
    std::int32_t one;
    Row any, with;
};

/* The lattice of a lane's word of N bits. Clean: items are bits, of which a wrong one
 * cannot be received and a right one weighs 1. */
template <int N, class Row>
struct bit_lattice {
    Row x[N + 1];
    std::int32_t sent[N]; // masks
    Row insertion, deletion, prior;

    __device__ bit_lattice(const row_weights<Row>& w, std::uint32_t word, Row p)
        : insertion(w.insertion), deletion(w.deletion), prior(p)
    {
#pragma unroll
        for (int t = 0; t < N; ++t) {
            sent[t] = -std::int32_t(word >> t & 1u);
            x[t] = 0;
        }
        x[N] = 0;
    }

    template <bool Clean>
    __device__ Row transmit(Row from, int t, const bit_item<Row>& y, Row to) const
    {
        const Row right = masked(from, ~(sent[t] ^ y.one));
        return Clean ? right + to : y.with * right + (y.any * from + to);
    }

    /* One step of ascending drift, of rows Low (whose drift is beyond the window if it is
     * above 0) to High; gives row N if that is High. The prior comes in with the last
     * symbol. */
    template <bool Clean>
    __device__ Row up(Row in, const bit_item<Row>& y, int low, int high)
    {
        Row before = 0, now = 0;
#pragma unroll
        for (int t = 0; t <= N; ++t) {
            if (t == 0 && low < 0) {
                before = x[0];
                now = in + insertion * before;
                x[0] = now;
            } else if (t == low) {
                before = x[t];
            } else if (t > low && t <= high) {
                const Row stay =
                    transmit<Clean>(before, t - 1, y, t < N ? insertion * x[t] : Row(0));
                before = x[t];
                now = stay + deletion * now;
                x[t] = now;
            }
        }
        return prior * now;
    }

    // The same of descending drift, from row N to row 0.
    template <bool Clean>
    __device__ Row down(Row in, const bit_item<Row>& y, int low, int high)
    {
        Row before = 0, now = 0;
#pragma unroll
        for (int t = 0; t <= N; ++t) {
            if (t == 0 && low < 0) {
                before = x[0];
                now = in;
                x[0] = now;
            } else if (t == low) {
                before = x[t];
            } else if (t > low && t <= high) {
                const Row stay = transmit<Clean>(before, N - t, y, insertion * x[t]);
                before = x[t];
                now = stay + deletion * now;
                x[t] = now;
            }
        }
        return prior * now;
    }

    template <bool Up, bool Clean>
    __device__ Row step(Row in, const bit_item<Row>& y, int low = -1, int high = N)
    {
        return Up ? up<Clean>(in, y, low, high) : down<Clean>(in, y, low, high);
    }
};

// ---- sums over lanes ----

// Sums a few values over the lanes of a warp: lane l gets that of value l·Count / 32.
template <class Row, int Count>
__device__ Row sum_chunk(Row (&v)[Count])
{
    const unsigned lane = threadIdx.x % 32;
    int d = 16;
#pragma unroll
    for (int half = Count / 2; half > 0; half /= 2, d /= 2) {
        const bool upper = lane & d;
#pragma unroll
        for (int j = 0; j < half; ++j) {
            const Row keep = upper ? v[j + half] : v[j];
            const Row send = upper ? v[j] : v[j + half];
            v[j] = keep + __shfl_xor_sync(full_warp, send, d);
        }
    }
#pragma unroll
    for (; d > 0; d /= 2) {
        v[0] += __shfl_xor_sync(full_warp, v[0], d);
    }
    return v[0];
}

// ---- the recursions, shared by both kernels ----

// Sums the warps' parts, scales the row to sum 1 and makes it the current one.
template <class Row, class Metric>
__device__ Metric next_boundary(const sync_geometry& g,
                                linear_shared<Row, Metric>& s,
                                Metric* alpha)
{
    __syncthreads();
    const unsigned row = g.window + row_padding;
    Metric part = 0;
    for (unsigned m = threadIdx.x; m < g.window; m += blockDim.x) {
        Metric sum = s.partial[m];
        for (unsigned w = 1; w < blockDim.x / 32; ++w) {
            sum += s.partial[w * row + m];
        }
        s.partial[m] = sum;
        part += sum;
    }
    const Metric sum = block_sum(part, reinterpret_cast<Metric*>(s.scratch));
    const Metric scale = sum > 0 ? 1 / sum : 0;
    for (unsigned m = threadIdx.x; m < g.window; m += blockDim.x) {
        const Metric x = Metric(s.partial[m]) * scale;
        s.current[m] = x;
        if (alpha) {
            alpha[m] = x;
        }
    }
    __syncthreads();
    return sum;
}

// Adds to a warp's part of a row; the first words of a warp begin it.
template <class Row>
__device__ void add_part(Row* part, Row value, bool first)
{
    *part = first ? value : *part + value;
}

/* One frame. Sweep: up(i, j, ...) and down(i, j, ...) sweep the lattices of words
 * 32·j to 32·j + 31 of index i over the window. */
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
    Row* const part = s.partial + warp * (M + row_padding);
    for (int m = int(threadIdx.x) - int(row_padding); m < int(M + row_padding);
         m += blockDim.x) {
        const bool inside = m >= 0 && m < int(M);
        const Metric x = inside ? Metric(in.boundary(g, g.start_at, 0, m)) : Metric(0);
        s.current[m] = x;
        if (inside) {
            alpha[m] = x;
        }
    }
    for (unsigned m = threadIdx.x; m < (M + row_padding) * warps; m += blockDim.x) {
        s.partial[m] = 0; // of warps that have no words
    }
    __syncthreads();

    log_product weight;
    for (unsigned i = 0; i < g.symbols; ++i) {
        for (unsigned j = warp; j < groups; j += warps) {
            sweep.up(i, j, s.current, part, j == warp);
        }
        weight.multiply(next_boundary(g, s, alpha + std::size_t(i + 1) * M));
    }

    double ends = 0;
    for (unsigned m = threadIdx.x; m < M; m += blockDim.x) {
        const double end = in.boundary(g, g.end_at, g.symbols, m);
        ends += double(s.current[m]) * end;
        s.current[m] = end;
    }
    ends = block_sum(ends, s.scratch);
    if (!(ends > 0) || !(weight.mantissa > 0)) {
        return emit_unknown(g, out, status);
    }
    weight.multiply(ends);
    __syncthreads();

    double entropy = 0;
    unsigned last = 0;
    float* const drifts = reinterpret_cast<float*>(out + g.drifts_at);
    for (unsigned i = g.symbols; i-- > 0;) {
        if (i + 1 == g.outputs) {
            last = emit_drifts(g,
                               alpha + std::size_t(i + 1) * M,
                               s.current,
                               s.alpha[1],
                               s.scratch,
                               drifts + M,
                               &entropy);
        }
        for (unsigned m = threadIdx.x; m < M + row_padding; m += blockDim.x) {
            s.alpha[0][m] = m < M ? alpha[std::size_t(i) * M + m] : Metric(0);
        }
        __syncthreads();
        for (unsigned j = warp; j < groups; j += warps) {
            const Metric L = sweep.down(i, j, s.current, part, s.alpha[0], j == warp);
            const unsigned D = 32 * j + threadIdx.x % 32;
            if (D < g.q) {
                s.posterior[D] = L;
            }
        }
        if (i < g.outputs) {
            emit_symbol(g, in, i, s.posterior, s.scratch, out);
        }
        next_boundary<Row, Metric>(g, s, nullptr);
    }
    double unused;
    const unsigned first =
        emit_drifts(g, alpha, s.current, s.alpha[1], s.scratch, drifts, &unused);
    if (threadIdx.x == 0) {
        status = { weight.log() + g.log_scale,
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

// ---- hard bits, words of exactly N of them ----

template <int N, class Row, class Metric>
struct bit_sweep {
    const sync_geometry& g;
    const frame_input& in;
    const linear_memory& memory;
    bit_items items;
    double* prior_sums; // of each index, in device memory
    row_weights<Row> weights;

    __device__ bit_lattice<N, Row> lattice_of(unsigned i, unsigned j) const
    {
        const unsigned D = 32 * j + threadIdx.x % 32;
        const auto index = std::size_t(i % g.frame_symbols) * g.q;
        const auto word = D < g.q ? memory.words[index + D] : 0u;
        return { weights, word, Row(word_prior(g, in, i, j, prior_sums)) };
    }

    template <bool Clean>
    __device__ bit_item<Row> item(std::uint32_t code) const
    {
        const std::int32_t one = -std::int32_t(code & 1u);
        if (Clean) {
            return { one, 0, 1 };
        }
        const Row erased = code & 1u ? weights.erased : Row(0);
        return code & 2u ? bit_item<Row>{ 0, erased, 0 }
                         : bit_item<Row>{ one,
                                          weights.mismatch,
                                          weights.match - weights.mismatch };
    }

    // Whether the items that index i meets are bits within what was received.
    __device__ bool clean(unsigned i) const
    {
        if (weights.mismatch != 0) {
            return false;
        }
        const unsigned first = 16 + g.n * i, last = first + N + g.window;
        bool special = false;
        for (unsigned w = first / 16 + threadIdx.x % 32; w <= last / 16; w += 32) {
            std::uint32_t codes = items.codes[w] & 0xaaaaaaaau;
            codes = w == first / 16 ? codes >> 2 * (first % 16) : codes;
            codes = w == last / 16 ? codes << 2 * (15 - last % 16) : codes;
            special |= codes != 0;
        }
        return !__any_sync(full_warp, special);
    }

    /* Sweeps one lattice. At step k row(k) comes in and item u0 ± k is met; what comes
     * out from step N on goes to sink(o, values, count), outputs number o to o + count −
     * 1 in the order of the sweep; o may begin below 0. */
    template <bool Up, bool Clean, class Input, class Sink>
    __device__ void
    sweep(bit_lattice<N, Row>& lattice, int u0, Input&& row, Sink&& sink) const
    {
        constexpr int C = chunk;
        const int M = g.window;
        const auto codes_from = [&](int k) {
            return Up ? items.fetch(u0 + k) : items.fetch(u0 - k - (C - 1));
        };
        const auto code = [](std::uint32_t codes, int c) {
            return codes >> 2 * (Up ? c : C - 1 - c);
        };
        if (M < N) {
            for (int k = 0; k < M + N; ++k) {
                const auto y = item<false>(items.fetch(Up ? u0 + k : u0 - k) & 3u);
                Row v[1] = { lattice.template step<Up, false>(k < M ? row(k) : Row(0),
                                                              y) };
                if (k >= N) {
                    sink(k - N, v, 1);
                }
            }
            return;
        }
        // Rows come into the window one by one; the rest is whole chunks; then they
        // leave.
        const int ahead = (C - (M - N) % C) % C;
#pragma unroll
        for (int k = 0; k < N; ++k) {
            if (k < N - ahead) {
                const auto y = item<Clean>(items.fetch(Up ? u0 + k : u0 - k) & 3u);
                lattice.template step<Up, Clean>(row(k), y, -1, k);
            }
        }
        for (int o = -ahead; o < M - N; o += C) {
            const auto codes = codes_from(o + N);
            Row v[C];
#pragma unroll
            for (int c = 0; c < C; ++c) {
                v[c] = lattice.template step<Up, Clean>(row(o + N + c),
                                                        item<Clean>(code(codes, c) & 3u));
            }
            sink(o, v, C);
        }
#pragma unroll
        for (int first = 0; first < N; first += C) {
            const auto codes = codes_from(M + first);
            Row v[C];
#pragma unroll
            for (int c = 0; c < C; ++c) {
                v[c] = first + c < N
                           ? lattice.template step<Up, Clean>(
                                 0, item<Clean>(code(codes, c) & 3u), first + c, N)
                           : Row(0);
            }
            sink(M - N + first, v, N - first < C ? N - first : C);
        }
    }

    template <bool Clean>
    __device__ void
    sweep_up(unsigned i, unsigned j, const Row* from, Row* to, bool first) const
    {
        auto lattice = lattice_of(i, j);
        sweep<true, Clean>(
            lattice,
            g.n * i,
            [&](int k) { return from[k]; },
            [&](int o, auto& v, int count) { add_sums<true>(to, o, v, count, first); });
    }

    template <bool Clean>
    __device__ Metric sweep_down(unsigned i,
                                 unsigned j,
                                 const Row* from,
                                 Row* to,
                                 const Metric* alpha,
                                 bool first) const
    {
        auto lattice = lattice_of(i, j);
        const int top = int(g.window) - 1;
        Metric L = 0;
        sweep<false, Clean>(
            lattice,
            g.n * i + N + g.window,
            [&](int k) { return from[top - k]; },
            [&](int o, auto& v, int count) {
#pragma unroll
                for (int c = 0; c < int(sizeof(v) / sizeof(v[0])); ++c) {
                    L += c < count ? alpha[top - o - c] * Metric(v[c]) : Metric(0);
                }
                add_sums<false>(to + top, o, v, count, first);
            });
        return L;
    }

    // Adds the sums over lanes of outputs o … to a row that goes up or down.
    template <bool Up, int Count>
    __device__ void add_sums(Row* to, int o, Row (&v)[Count], int count, bool first) const
    {
        const unsigned lane = threadIdx.x % 32;
        const Row sum = sum_chunk(v);
        constexpr unsigned each = 32 / Count; // lanes
        const int c = lane / each;
        if (lane % each == 0 && c < count && o + c >= 0) {
            add_part(to + (Up ? o + c : -(o + c)), sum, first);
        }
    }

    __device__ void up(unsigned i, unsigned j, const Row* from, Row* to, bool first) const
    {
        clean(i) ? sweep_up<true>(i, j, from, to, first)
                 : sweep_up<false>(i, j, from, to, first);
    }

    // Gives Σ_m α(m)·B_0(m) of the lane's word.
    __device__ Metric down(unsigned i,
                           unsigned j,
                           const Row* from,
                           Row* to,
                           const Metric* alpha,
                           bool first) const
    {
        return clean(i) ? sweep_down<true>(i, j, from, to, alpha, first)
                        : sweep_down<false>(i, j, from, to, alpha, first);
    }
};

// Packs the received items of a frame into shared memory: number u, of −16 and more, is
// the item at the window's first drift of boundary 0, plus u − 1.
inline __device__ void
pack_codes(const sync_geometry& g, const frame_input& in, std::uint32_t* codes)
{
    const unsigned words = (std::size_t(g.n) * g.symbols + g.window + g.n + 64) / 16 + 2;
    const auto base = in.position(g, 0, -17);
    for (unsigned w = threadIdx.x; w < words; w += blockDim.x) {
        std::uint32_t packed = 0;
        for (unsigned k = 0; k < 16; ++k) {
            const auto at = base + 16 * std::int64_t(w) + k;
            std::uint32_t code = 2;
            if (at >= 0 && at < in.header.length) {
                const unsigned y = std::uint8_t((in.data + g.items_at)[at]);
                code = y < 2 ? y : 3;
            }
            packed |= code << 2 * k;
        }
        codes[w] = packed;
    }
    __syncthreads();
}

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
    __syncthreads();
}

template <int N, class Row, class Metric>
__global__ void linear_bits(const sync_geometry g,
                            const linear_memory memory,
                            double* prior_sums,
                            const std::byte* input,
                            std::byte* output,
                            sync_status* status)
{
    extern __shared__ double shared[];
    linear_shared<Row, Metric> s(g, reinterpret_cast<std::byte*>(shared));
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
        __syncthreads();
        pack_codes(g, in, s.codes);
        sum_priors(g, in, sums);
        bit_sweep<N, Row, Metric> sweep{ g,           in,   memory,
                                         { s.codes }, sums, row_weights<Row>(g) };
        decode_linear(g, in, sweep, s, alpha, out, status[frame]);
    }
}

} // namespace gpufec
} // namespace gr

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_CUH */
