// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

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
#include <type_traits>

namespace gr::gpufec::sync_map {

constexpr unsigned most_warps = 8; // of a block

//! What the kernels of the linear form are given beside the geometry.
struct linear_memory {
    //! Words as their items' kind has them, frame_symbols × q; or, in the general kernel,
    //! four bits a symbol and eight symbols a segment, frame_symbols × segments × q. The
    //! first segment has first_segment symbols.
    const std::uint32_t* words;
    std::uint32_t segments, first_segment;
    void* alpha; //!< a block: (symbols + 1) rows of metrics
    void* rows;  //!< a block: padded window × q lattice values, where there are segments
    double* prior_sums; //!< a block: those of each index
};

/*! How rows lie in memory, and a block's shared memory; made once, by the host.
 *
 * Sweeps take four steps at a time, so that step N, which is the number of a kernel's
 * rows, is the first of four and the window's last but N the last of four: the window is
 * as if it were a little longer, but what lies there weighs nothing, and rows begin a
 * little behind what is aligned. */
struct linear_layout {
    std::uint32_t window; //!< padded
    std::uint32_t offset; //!< of a row's first value
    std::uint32_t length; //!< of a row, a multiple of four
    std::uint32_t stride; //!< of rows that whole warps read, four values per lane
    std::uint32_t waiting_rows;
    std::uint32_t alpha, posterior, current, partial, waiting, prior, one, if_zero,
        if_one;        //!< bytes before each; weights lie where \p one does
    std::size_t bytes; //!< of all

    //! \p rows: of the kernel's lattice, beside row 0. \p symbols: of which each item has
    //! a weight; 0: items are those of bits.
    template <class Row, class Metric>
    static linear_layout
    of(const sync_geometry& g, unsigned rows, unsigned warps, unsigned symbols = 0)
    {
        linear_layout l{};
        l.window = g.window + (rows - g.window) % 4;
        l.offset = (0 - rows) % 4;
        l.length = (l.offset + l.window + 3) / 4 * 4;
        l.stride = (l.length + 127) / 128 * 128;
        // 28 outputs wait at most when a sweep comes to its last n.
        l.waiting_rows = 28 + rows;
        const unsigned steps = (l.length + rows + 3) / 4 * 4;
        l.bytes = 64 * sizeof(double); // scratch
        const auto take = [&](std::uint32_t& at, std::size_t bytes) {
            at = std::uint32_t(l.bytes);
            l.bytes += (bytes + 15) / 16 * 16;
        };
        take(l.alpha, sizeof(Metric) * l.stride * 2);
        take(l.posterior, sizeof(Metric) * g.q);
        take(l.current, sizeof(Row) * l.stride);
        take(l.partial, sizeof(Row) * l.stride * warps);
        take(l.waiting, sizeof(Row) * l.waiting_rows * lane_sums<Row>::stride * warps);
        take(l.prior, sizeof(Row) * 32 * warps);
        if (symbols) {
            take(l.one, sizeof(Row) * steps * symbols);
            return l;
        }
        take(l.one, sizeof(std::int32_t) * steps);
        take(l.if_zero, sizeof(Row) * steps);
        take(l.if_one, sizeof(Row) * steps);
        return l;
    }
};

// A block's shared memory. Rows are in the order of the sweep, and 0 beyond the window.
template <class Row, class Metric>
struct linear_shared {
    double* scratch;   // 64
    Metric* alpha;     // a boundary's and the one before, which is on its way
    Metric* posterior; // q
    Row* current;      // what lattices begin with
    Row* partial;      // sums over the words of each warp: warps × stride
    Row* waiting;      // outputs that are not summed over the lanes yet, of each warp
    Row* prior;        // of the words of each warp's lanes
    // The item of each step, window + n: a mask, all ones where it is a 1, and what the
    // bits 0 and 1 weigh.
    std::int32_t* one;
    Row *if_zero, *if_one;
    // Or what each symbol weighs: four steps × symbols × the steps of four.
    Row* weights;

    __device__ linear_shared(const linear_layout& l, std::byte* memory)
        : scratch(reinterpret_cast<double*>(memory)),
          alpha(reinterpret_cast<Metric*>(memory + l.alpha) + l.offset),
          posterior(reinterpret_cast<Metric*>(memory + l.posterior)),
          current(reinterpret_cast<Row*>(memory + l.current) + l.offset),
          partial(reinterpret_cast<Row*>(memory + l.partial) + l.offset),
          waiting(reinterpret_cast<Row*>(memory + l.waiting)),
          prior(reinterpret_cast<Row*>(memory + l.prior)),
          one(reinterpret_cast<std::int32_t*>(memory + l.one) + l.offset),
          if_zero(reinterpret_cast<Row*>(memory + l.if_zero) + l.offset),
          if_one(reinterpret_cast<Row*>(memory + l.if_one) + l.offset),
          weights(reinterpret_cast<Row*>(memory + l.one))
    {
    }
};

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

// The same value, which the compiler keeps instead of making it anew wherever it is used.
inline __device__ std::int32_t kept(std::int32_t x)
{
#ifdef __CUDA_ARCH__
    asm volatile("" : "+r"(x));
#endif
    return x;
}

// A received item: a mask, and what the bits 0 and 1 weigh. Clean: items are bits, of
// which a wrong one cannot be received and a right one weighs 1.
template <class Row>
struct bit_item {
    std::int32_t one;
    Row if_zero, if_one;

    // \p before times the weight of symbol number t, which is a mask.
    template <bool Clean>
    __device__ Row passed(std::int32_t sent, int, Row before) const
    {
        return Clean ? masked(before, ~(sent ^ one))
                     : selected(sent, if_zero, if_one) * before;
    }
};

/*! The lattice of a lane's word of N symbols, which are what items of a kind tell apart.
 * Of shorter words, up to Spare rows behind row 0 hand on what they are given. */
template <int N, int Spare, class Row>
struct word_lattice {
    Row x[N + 1];
    std::int32_t sent[N]; // in the order of the sweep
    const row_weights<Row>& weights;
    Row last_insertion;
    int spare;

    __device__ word_lattice(const row_weights<Row>& w, Row last, int spare_rows)
        : weights(w), last_insertion(last), spare(spare_rows)
    {
#pragma unroll
        for (int t = 0; t <= N; ++t) {
            x[t] = 0;
        }
    }

    // One step of rows low to high; gives row N, if it is one of them, before its
    // insertions. Rows above high have not begun, those below low are past the window.
    template <bool Clean, class Item>
    __device__ Row step(Row in, const Item& y, int low = 0, int high = N)
    {
        Row before = 0, now = 0, last = 0;
#pragma unroll
        for (int t = 0; t <= N; ++t) {
            const Row old = x[t];
            if (t < low || t > high) {
                now = 0;
            } else if (t == 0) {
                now = in;
            } else if (t <= Spare && t <= spare) {
                now = before;
            } else {
                const Row passed = y.template passed<Clean>(sent[t - 1], t - 1, before);
                if (t < N) {
                    now = weights.deletion * now + (weights.insertion * old + passed);
                } else {
                    last = weights.deletion * now + passed;
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

// A block's warps, of which there is but one if One.
template <bool One>
__device__ unsigned warp_number()
{
    return One ? 0 : threadIdx.x / 32;
}
template <bool One>
__device__ unsigned block_warps()
{
    return One ? 1 : blockDim.x / 32;
}

// use(k) for every fourth of a row's values, those of a thread; \p k counts from what is
// aligned. All threads of a warp do the same.
template <class Use>
__device__ void fours_of_row(unsigned stride, Use&& use)
{
#pragma unroll 1
    for (unsigned begin = 0; begin < stride; begin += 4 * blockDim.x) {
        const unsigned k = begin + 4 * threadIdx.x;
        if (blockDim.x == 32 || k < stride) {
            use(k);
        }
    }
}

// Sums the warps' parts, scales the row and makes it the current one.
template <bool One, class Row, class Metric>
__device__ void next_boundary(const linear_layout& l,
                              linear_shared<Row, Metric>& s,
                              row_scale& scale,
                              Metric* alpha,
                              bool keep)
{
    block_sync();
    const unsigned offset = l.offset, stride = l.stride;
    Row* const parts = s.partial - offset;
    Metric largest = 0;
    fours_of_row(stride, [&](unsigned k) {
        auto sum = read_four(parts + k);
        for (unsigned w = 1; w < block_warps<One>(); ++w) {
            const auto part = read_four(parts + w * stride + k);
            for (unsigned c = 0; c < 4; ++c) {
                sum.v[c] += part.v[c];
            }
        }
        if (!One) {
            write_four(parts + k, sum);
        }
        largest = max(max(largest, max(Metric(sum.v[0]), Metric(sum.v[1]))),
                      max(Metric(sum.v[2]), Metric(sum.v[3])));
    });
    const Metric factor =
        scale.next(block_max(largest, reinterpret_cast<Metric*>(s.scratch)));
    fours_of_row(stride, [&](unsigned k) {
        const auto sum = read_four(parts + k);
        four<Metric> kept;
        for (unsigned c = 0; c < 4; ++c) {
            kept.v[c] = Metric(sum.v[c]) * factor;
            s.current[int(k + c - offset)] = kept.v[c];
        }
        if (keep && k < l.length) {
            write_four(alpha - offset + k, kept);
        }
    });
    block_sync();
}

// Insertions before the first symbol: the current row becomes I times itself, and is
// kept as \p alpha.
template <class Row, class Metric>
__device__ void insert(const sync_geometry& g,
                       const linear_layout& l,
                       linear_shared<Row, Metric>& s,
                       Metric* alpha)
{
    if (threadIdx.x == 0) {
        Row x = 0;
        for (unsigned m = 0; m < g.window; ++m) {
            x = s.current[m] + Row(g.insertion) * x;
            s.current[m] = x;
        }
    }
    block_sync();
    const unsigned offset = l.offset;
    for (unsigned k = threadIdx.x; alpha && k < l.length; k += blockDim.x) {
        alpha[int(k - offset)] = s.current[int(k - offset)];
    }
}

// Begins to copy a boundary's α into shared memory.
template <class Metric>
__device__ void fetch_alpha(const linear_layout& l, Metric* to, const Metric* alpha)
{
    const unsigned offset = l.offset;
    fours_of_row(l.stride, [&](unsigned k) {
        // Nobody looks at what is copied beyond the row.
        const unsigned from = min(k, l.length - 4);
        for (unsigned c = 0; c < 4; c += 16 / sizeof(Metric)) {
            __pipeline_memcpy_async(to - offset + k + c, alpha - offset + from + c, 16);
        }
    });
    __pipeline_commit();
}

// Makes value(m), for every drift number of the window, the current row, for sweeps in
// that direction.
template <class Row, class Metric, class Value>
__device__ void begin_with(const sync_geometry& g,
                           const linear_layout& l,
                           direction d,
                           linear_shared<Row, Metric>& s,
                           Value&& value)
{
    for (unsigned k = threadIdx.x; k < l.stride; k += blockDim.x) {
        const unsigned at = k - l.offset;
        const unsigned m = d == direction::forward ? at : l.window - 1 - at;
        s.current[int(at)] = m < g.window ? value(m) : 0;
    }
    // Of the other direction.
    for (unsigned k = threadIdx.x; k < l.stride * (blockDim.x / 32); k += blockDim.x) {
        s.partial[int(k - l.offset)] = 0;
    }
    block_sync();
}

// The same with the boundary metrics that lie in the input at \p row_at.
template <class Row, class Metric>
__device__ void begin_at(const sync_geometry& g,
                         const linear_layout& l,
                         const frame_input& in,
                         std::size_t row_at,
                         unsigned i,
                         direction d,
                         linear_shared<Row, Metric>& s)
{
    begin_with(g, l, d, s, [&](unsigned m) { return in.boundary(g, row_at, i, m); });
}

// Σ α·β of the last boundary, whose α is the current row.
template <class Row, class Metric>
__device__ double
sum_of_ends(const sync_geometry& g, const frame_input& in, linear_shared<Row, Metric>& s)
{
    double part = 0;
    for (unsigned m = threadIdx.x; m < g.window; m += blockDim.x) {
        part += double(s.current[m]) * in.boundary(g, g.end_at, g.symbols, m);
    }
    const double sum = block_sum(part, s.scratch);
    block_sync();
    return sum;
}

/* One frame. Sweep: begin(i, direction) prepares index i, and run(j, last, alpha, to,
 * first) sweeps the lattices of its words 32·j to 32·j + 31 over the current row, with
 * insertions \p last after the last symbol; gives a lane's sum of row n times \p alpha,
 * if that is to be weighed. */
template <bool One, class Row, class Metric, class Sweep>
__device__ void decode_linear(const sync_geometry& g,
                              const linear_layout& l,
                              const frame_input& in,
                              Sweep& sweep,
                              linear_shared<Row, Metric>& s,
                              Metric* alpha,
                              std::byte* out,
                              sync_status& status)
{
    const unsigned stride = l.stride, length = l.length;
    const unsigned warp = warp_number<One>(), warps = block_warps<One>();
    const unsigned groups = One ? 1 : (g.q + 31) / 32;
    Row* const part = s.partial + warp * stride;
    float* const drifts = reinterpret_cast<float*>(out + g.drifts_at);
    begin_at(g, l, in, g.start_at, 0, direction::forward, s);
    insert(g, l, s, alpha);

    row_scale scale;
    double log_weight = 0, entropy = 0;
    unsigned last = 0;
    // One loop, and so one copy of the sweep, for both directions.
#pragma unroll 1
    for (unsigned k = 0; k < 2 * g.symbols; ++k) {
        const bool back = k >= g.symbols;
        const unsigned i = back ? 2 * g.symbols - 1 - k : k;
        const bool puts_out = back && i < g.outputs;
        Metric* const here = s.alpha + i % 2 * stride;
        Metric* const ahead = s.alpha + (i + 1) % 2 * stride;
        if (k == g.symbols) {
            const double ends = sum_of_ends(g, in, s);
            if (!(ends > 0) || !scale.alive) {
                return emit_unknown(g, out, status);
            }
            log_weight = scale.log() + log(ends) + g.log_scale;
            begin_at(g, l, in, g.end_at, g.symbols, direction::backward, s);
        }
        if (back && i + 1 == g.outputs) {
            const Metric* const at = alpha + std::size_t(i + 1) * length;
            emit_metrics<Metric>(
                g,
                true,
                out,
                [&](unsigned m) { return at[m]; },
                [&](unsigned m) { return Metric(s.current[l.window - 1 - m]); });
            last = emit_drifts(
                g,
                [&](unsigned m) { return at[m] * Metric(s.current[l.window - 1 - m]); },
                ahead,
                s.scratch,
                drifts + g.window,
                &entropy);
            fetch_alpha(l, here, alpha + std::size_t(i) * length);
        }
        sweep.begin(i, back ? direction::backward : direction::forward);
        if (puts_out) {
            __pipeline_wait_prior(0);
            block_sync();
            fetch_alpha(l, ahead, alpha + std::size_t(max(i, 1u) - 1) * length);
        }
        // Boundaries `outputs` and `symbols` are kept without insertions after them.
        const bool bare = (k + 1 == g.outputs) | (k + 1 == g.symbols);
        const Row insertion = bare ? Row(0) : sweep.weights.insertion;
        Metric L = 0;
        for (unsigned j = warp; j < groups; j += warps) {
            L = sweep.run(j, insertion, here, puts_out, part, One || j == warp);
            const unsigned D = 32 * j + threadIdx.x % 32;
            if (!One && D < g.q) {
                s.posterior[D] = L;
            }
        }
        if (puts_out) {
            One ? emit_symbol_of_warp(g, in, i, L, s.posterior, s.scratch, out)
                : emit_symbol(g, in, i, s.posterior, s.scratch, out);
        }
        next_boundary<One>(l, s, scale, alpha + std::size_t(i + 1) * length, !back);
        if (bare && i + 1 < g.symbols) {
            insert<Row, Metric>(g, l, s, nullptr);
        }
    }
    emit_metrics<Metric>(
        g,
        false,
        out,
        [&](unsigned m) { return Metric(in.boundary(g, g.start_at, 0, m)); },
        [&](unsigned m) { return Metric(s.current[l.window - 1 - m]); });
    double unused;
    const unsigned first = emit_drifts(
        g,
        [&](unsigned m) {
            return Metric(in.boundary(g, g.start_at, 0, m)) *
                   Metric(s.current[l.window - 1 - m]);
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
    __pipeline_wait_prior(0);
}

// The prior of word D at index i; lanes without a word weigh nothing.
template <class Row>
__device__ Row word_prior(const sync_geometry& g,
                          const frame_input& in,
                          unsigned i,
                          unsigned j,
                          const double* sum_of_index)
{
    const unsigned D = 32 * j + threadIdx.x % 32;
    if (g.priors && D < g.q && i < g.outputs) {
        const double sum = sum_of_index[i];
        return sum > 0 ? in.prior(g, i, D) / sum : 1.0 / g.q;
    }
    return D < g.q ? 1 : 0;
}

// Received position of the item that step \p k of index i meets.
inline __device__ std::int64_t item_position(const sync_geometry& g,
                                             const linear_layout& l,
                                             const frame_input& in,
                                             unsigned i,
                                             direction d,
                                             int k)
{
    return in.position(
        g, i, d == direction::forward ? k - 1 : int(g.n + l.window) - 1 - k);
}

// ---- items of words of N symbols, of which the first `spare` are not there ----

constexpr int steps_at_once = 4; // whose inputs are read at once

//! Of bits; bit t of a word is symbol t.
template <int N, class Row, class Metric>
struct bit_items {
    using word = std::uint32_t;
    static constexpr bool may_be_clean = true;

    const sync_geometry& g;
    const linear_layout& l;
    const frame_input& in;
    linear_shared<Row, Metric>& s;
    const row_weights<Row>& weights;
    const int spare;
    bool clean = false;

    // Of index i.
    __device__ void read(unsigned i, direction d)
    {
        bool special = g.soft_input || weights.mismatch != 0;
        const unsigned steps = l.window + N;
        if (!g.soft_input) {
            special |= read_bits(
                item_position(g, l, in, i, d, -spare), d == direction::backward, steps);
        }
        clean = blockDim.x == 32 ? !__any_sync(full_warp, special)
                                 : !__syncthreads_or(special);
        for (unsigned k = 1 + threadIdx.x; !clean && k < steps; k += blockDim.x) {
            const auto w =
                weigh_item(g, weights, in, item_position(g, l, in, i, d, int(k) - spare));
            s.if_zero[k] = w.match_symbol ? w.other_value : w.match_value;
            s.if_one[k] = w.match_symbol ? w.match_value : w.other_value;
        }
        block_sync();
    }

    // The items of all steps but step 0, in which no row needs one; says whether some of
    // a thread's are not bits. \p base: position of the item of step 0.
    __device__ bool read_bits(int base, bool reversed, unsigned steps) const
    {
        const auto* const items =
            reinterpret_cast<const std::uint8_t*>(in.data + g.items_at);
        const int onward = reversed ? -1 : 1;
        unsigned k = 1 + threadIdx.x, at = base + onward * int(k), most = 0;
#pragma unroll 1
        for (unsigned begin = 1; begin < steps; begin += blockDim.x) {
            unsigned y = k < steps ? 2 : 0;
            if (k < steps && at < unsigned(in.header.length)) {
                y = items[at];
            }
            if (k < steps) {
                s.one[k] = -std::int32_t(y & 1u);
            }
            most = max(most, y);
            k += blockDim.x;
            at += onward * int(blockDim.x);
        }
        return most > 1;
    }

    // A word's symbols, which are masks.
    __device__ void split(word w, bool reversed, std::int32_t (&sent)[N]) const
    {
        w = reversed ? __brev(w) >> (32 - N) : w << spare;
#pragma unroll
        for (int t = 0; t < N; ++t) {
            sent[t] = kept(std::int32_t(w << (31 - t)) >> 31);
        }
    }

    template <bool Clean, class Lattice>
    __device__ bit_item<Row> item(const Lattice&, int k) const
    {
        return Clean ? bit_item<Row>{ s.one[k], 0, 1 }
                     : bit_item<Row>{ s.one[k], s.if_zero[k], s.if_one[k] };
    }

    // Those of steps k to k + 3.
    template <bool Clean>
    struct some {
        four<std::int32_t> one;
        four<Row> if_zero, if_one;

        template <class Lattice>
        __device__ some(const bit_items& all, const Lattice&, int k)
            : one(read_four(all.s.one + k))
        {
            if (!Clean) {
                if_zero = read_four(all.s.if_zero + k);
                if_one = read_four(all.s.if_one + k);
            }
        }
        __device__ bit_item<Row> operator[](int c) const
        {
            return Clean ? bit_item<Row>{ one.v[c], 0, 1 }
                         : bit_item<Row>{ one.v[c], if_zero.v[c], if_one.v[c] };
        }
    };
};

/*! Of any alphabet; a word has four bits a symbol. An item is what each symbol weighs: a
 * row reads the weights of its own symbol, four steps at once. */
template <int N, class Row, class Metric>
struct symbol_items {
    static_assert(N <= 16);
    using word = std::conditional_t<(N > 8), std::uint64_t, std::uint32_t>;
    static constexpr bool may_be_clean = false;

    const sync_geometry& g;
    const linear_layout& l;
    const frame_input& in;
    linear_shared<Row, Metric>& s;
    const row_weights<Row>& weights;
    const int spare;

    __device__ void read(unsigned i, direction d)
    {
        for (unsigned k = 1 + threadIdx.x; k < l.window + N; k += blockDim.x) {
            const auto at = item_position(g, l, in, i, d, int(k) - spare);
            if (g.soft_input) {
                write(k, weigh_likelihoods(g, weights, in, at));
                continue;
            }
            const auto w = weigh_item(g, weights, in, at);
            write(k, [&](unsigned symbol) {
                return symbol == w.match_symbol ? w.match_value : w.other_value;
            });
        }
        block_sync();
    }

    template <class Weights>
    __device__ void write(int k, const Weights& of) const
    {
        Row* const to = weights_of(k);
        for (unsigned symbol = 0; symbol < g.alphabet; ++symbol) {
            to[4 * symbol] = of(symbol);
        }
    }

    // Those of step k, of each symbol four values further on.
    __device__ Row* weights_of(int k) const
    {
        const unsigned at = k + l.offset, c = at % 4;
        return s.weights + (at - c) * g.alphabet + c;
    }

    // A word's symbols, as how many bytes of weights lie before theirs.
    __device__ void split(word w, bool reversed, std::int32_t (&sent)[N]) const
    {
        w = reversed ? w : w << 4 * spare;
#pragma unroll
        for (int t = 0; t < N; ++t) {
            const auto symbol = unsigned(w >> 4 * (reversed ? N - 1 - t : t)) & 15u;
            sent[t] = kept(symbol * sizeof(four<Row>));
        }
    }

    __device__ static const Row* weights_at(const Row* from, std::int32_t bytes)
    {
        return reinterpret_cast<const Row*>(reinterpret_cast<const std::byte*>(from) +
                                            bytes);
    }

    template <bool>
    struct one_item {
        Row weight[N];
        template <bool>
        __device__ Row passed(std::int32_t, int t, Row before) const
        {
            return weight[t] * before;
        }
    };

    template <bool Clean, class Lattice>
    __device__ one_item<Clean> item(const Lattice& lattice, int k) const
    {
        const Row* const from = weights_of(k);
        one_item<Clean> y;
#pragma unroll
        for (int t = 0; t < N; ++t) {
            y.weight[t] = *weights_at(from, lattice.sent[t]);
        }
        return y;
    }

    template <bool Clean>
    struct some {
        four<Row> weight[N];

        template <class Lattice>
        __device__ some(const symbol_items& all, const Lattice& lattice, int k)
        {
            const Row* const from =
                all.s.weights + (k + int(all.l.offset)) * int(all.g.alphabet);
#pragma unroll
            for (int t = 0; t < N; ++t) {
                weight[t] = read_four(weights_at(from, lattice.sent[t]));
            }
        }
        struct one_of {
            const some& all;
            int c;
            template <bool>
            __device__ Row passed(std::int32_t, int t, Row before) const
            {
                return all.weight[t].v[c] * before;
            }
        };
        __device__ one_of operator[](int c) const { return { *this, c }; }
    };
};

// ---- words of N symbols, or of up to Spare less ----

template <template <int, class, class> class Items,
          int N,
          int Spare,
          bool One,
          class Row,
          class Metric>
struct word_sweep {
    using items = Items<N, Row, Metric>;
    using word = typename items::word;
    using lattice = word_lattice<N, Spare, Row>;

    const sync_geometry& g;
    const linear_layout& l;
    const frame_input& in;
    const linear_memory& memory;
    linear_shared<Row, Metric>& s;
    const double* prior_sums;
    const row_weights<Row>& weights;
    const int spare = Spare ? N - int(g.n) : 0;
    items received{ g, l, in, s, weights, spare };
    unsigned index = 0;
    word first_word = 0; // of the warp's first 32, read early
    bool reversed = false;

    __device__ void begin(unsigned i, direction d)
    {
        index = i;
        reversed = d == direction::backward;
        first_word = read_word(warp_number<One>());
        received.read(i, d);
    }

    __device__ word read_word(unsigned j) const
    {
        const unsigned D = 32 * j + threadIdx.x % 32;
        const auto place = index < g.frame_symbols ? index : index % g.frame_symbols;
        return D < g.q ? reinterpret_cast<const word*>(
                             memory.words)[std::size_t(place) * g.q + D]
                       : 0u;
    }

    static constexpr int C = steps_at_once;

    template <bool Clean>
    __device__ Metric
    sweep(lattice& rows, const Metric* alpha, bool weigh, Row* to, bool first) const
    {
        using some = typename items::template some<Clean>;
        const int M = l.window;
        const unsigned warp = warp_number<One>();
        lane_sums<Row> sums(s.waiting + warp * l.waiting_rows * lane_sums<Row>::stride);
        const auto priors = [&](unsigned lane) {
            return read_four(s.prior + 32 * warp + lane);
        };
        const unsigned beyond = reversed ? M - g.window : 0; // before the window
        const auto sum_up = [&](int begin, int count) {
            sums.take(count, priors, [&](unsigned o, Row sum) {
                Row& all = to[begin + o];
                if (begin + o - beyond < g.window) {
                    all = first ? sum : all + sum;
                }
            });
        };
        Metric L = 0;
        if (M < N) {
            for (int k = 0; k < M + N; ++k) {
                const Row in = k < M ? s.current[k] : Row(0);
                const Row bare =
                    rows.template step<Clean>(in,
                                              received.template item<Clean>(rows, k),
                                              max(0, k - M + 1),
                                              min(N, k));
                if (k >= N) {
                    L += weigh ? alpha[M - 1 - (k - N)] * Metric(bare) : Metric(0);
                    sums.put(k - N, rows.x[N]);
                }
            }
            sum_up(0, M);
            return L;
        }
        const auto add_weights = [&](int o, const Row(&bare)[C]) {
            if (weigh) {
                const auto a = read_four(alpha + M - C - o);
#pragma unroll
                for (int c = 0; c < C; ++c) {
                    L += a.v[C - 1 - c] * Metric(bare[c]);
                }
            }
        };
        // Rows begin one after the other.
#pragma unroll
        for (int k = -((C - N % C) % C); k < N; k += C) {
            const auto in = read_four(s.current + k);
            const some y(received, rows, k);
#pragma unroll
            for (int c = 0; c < C; ++c) {
                if (k + c >= 0) {
                    rows.template step<Clean>(in.v[c], y[c], 0, k + c);
                }
            }
        }
        // From here on step o + N puts out o, and those from number `summed` on wait.
        int o = 0, summed = 0;
        for (;;) {
            const int end = min(o + 32, M - N);
#pragma unroll 1
            for (; o < end; o += C) {
                const auto in = read_four(s.current + o + N);
                const some y(received, rows, o + N);
                Row bare[C];
#pragma unroll
                for (int c = 0; c < C; ++c) {
                    bare[c] = rows.template step<Clean>(in.v[c], y[c]);
                    sums.put(o - summed + c, rows.x[N]);
                }
                add_weights(o, bare);
            }
            if (o - summed < 32) {
                break;
            }
            sum_up(summed, 32);
            summed += 32;
        }
        // Rows end one after the other.
#pragma unroll
        for (int gone = 0; gone < N; gone += C) {
            const some y(received, rows, o + N + gone);
            Row bare[C] = {};
#pragma unroll
            for (int c = 0; c < C && gone + c < N; ++c) {
                bare[c] = rows.template step<Clean>(0, y[c], gone + c + 1, N);
                sums.put(o - summed + gone + c, rows.x[N]);
            }
            add_weights(o + gone, bare);
        }
        sum_up(summed, M - summed);
        return L;
    }

    __device__ Metric
    run(unsigned j, Row last, const Metric* alpha, bool weigh, Row* to, bool first) const
    {
        const word w = One || first ? first_word : read_word(j);
        const Row prior = word_prior<Row>(g, in, index, j, prior_sums);
        s.prior[threadIdx.x] = prior;
        lattice rows(weights, last, spare);
        received.split(w, reversed, rows.sent);
        if constexpr (items::may_be_clean) {
            return Metric(prior) * (received.clean
                                        ? sweep<true>(rows, alpha, weigh, to, first)
                                        : sweep<false>(rows, alpha, weigh, to, first));
        } else {
            return Metric(prior) * sweep<false>(rows, alpha, weigh, to, first);
        }
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

// Decodes frames of a batch, a block one after the other, with the sweep made for each.
template <bool One, class Row, class Metric, class MakeSweep, class Frames = all_frames>
__device__ void decode_batch(const sync_geometry& g,
                             const linear_layout& l,
                             const linear_memory& memory,
                             const std::byte* input,
                             std::byte* output,
                             sync_status* status,
                             MakeSweep&& make_sweep,
                             const Frames& frames = {})
{
    extern __shared__ double shared[];
    linear_shared<Row, Metric> s(l, reinterpret_cast<std::byte*>(shared));
    for (unsigned k = threadIdx.x; k < l.bytes / sizeof(double); k += blockDim.x) {
        shared[k] = 0;
    }
    Metric* const alpha = static_cast<Metric*>(memory.alpha) + l.offset +
                          std::size_t(blockIdx.x) * (g.symbols + 1) * l.length;
    double* const sums = memory.prior_sums + std::size_t(blockIdx.x) * g.outputs;
    const unsigned count = frames.size(g);
    for (unsigned k = blockIdx.x; k < count; k += gridDim.x) {
        const unsigned frame = frames[k];
        const frame_input in(g, input, frame);
        std::byte* const out = output + g.output_bytes * frame;
        if (!in.valid) {
            emit_unknown(g, out, status[frame]);
            continue;
        }
        block_sync();
        sum_priors(g, in, sums);
        auto sweep = make_sweep(in, s, sums);
        decode_linear<One>(g, l, in, sweep, s, alpha, out, status[frame]);
    }
}

// Warps of a multiprocessor that registers are to do for: more of them hide more waiting,
// but not if values are spilled. Some GPUs take no more than 16 blocks.
#if __CUDA_ARCH__ == 800 || __CUDA_ARCH__ >= 890
template <int N, class Metric>
constexpr unsigned resident_warps = N <= 10 && sizeof(Metric) == 4 ? 20 : 16;
#else
template <int N, class Metric>
constexpr unsigned resident_warps = 16;
#endif

// One: a block is one warp, for words that are no more than its lanes.
template <template <int, class, class> class Items,
          int N,
          int Spare,
          bool One,
          class Row,
          class Metric>
__global__ void __launch_bounds__(One ? 32 : 32 * most_warps,
                                  One ? resident_warps<N, Metric> : 2)
    linear_words(const sync_geometry g,
                 const linear_layout l,
                 const row_weights<Row> weights,
                 const linear_memory memory,
                 const std::byte* input,
                 std::byte* output,
                 sync_status* status)
{
    __builtin_assume(!One || blockDim.x == 32);
    __builtin_assume(!One || threadIdx.x < 32);
    decode_batch<One, Row, Metric>(
        g,
        l,
        memory,
        input,
        output,
        status,
        [&](const frame_input& in, linear_shared<Row, Metric>& s, const double* sums) {
            return word_sweep<Items, N, Spare, One, Row, Metric>{ g, l,    in,     memory,
                                                                  s, sums, weights };
        });
}

// The same of frames on a list, words of bits.
template <int N, bool One, class Row, class Metric>
__global__ void __launch_bounds__(One ? 32 : 32 * most_warps,
                                  One ? resident_warps<N, Metric> : 2)
    linear_words_listed(const sync_geometry g,
                        const linear_layout l,
                        const row_weights<Row> weights,
                        const linear_memory memory,
                        const listed_frames frames,
                        const std::byte* input,
                        std::byte* output,
                        sync_status* status)
{
    decode_batch<One, Row, Metric>(
        g,
        l,
        memory,
        input,
        output,
        status,
        [&](const frame_input& in, linear_shared<Row, Metric>& s, const double* sums) {
            return word_sweep<bit_items, N, 0, One, Row, Metric>{ g, l,    in,     memory,
                                                                  s, sums, weights };
        },
        frames);
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_CUH */
