// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Common parts of the CUDA kernels of both forms: the geometry of a batch, the weights of
 * received items, sums over warps and blocks, and the output of a frame.
 *
 * Notation: index i is the position of a message symbol in a frame, and boundary i lies
 * before it. D is a value of a message symbol and the number of its word; L(D) is its
 * posterior before normalisation. α and β are the forward and backward metrics of the
 * drifts in the window at a boundary. A row holds the metrics of all drifts after the
 * first t symbols of a word (t = 0 … n). An item is one received symbol, hard or soft. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_COMMON_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_COMMON_CUH

#include "sync_map/model/frame.h"
#include <cuda_runtime.h>
#include <cstdint>

namespace gr::gpufec::sync_map {

//! The values of a setup that kernels use, and the number of frames of a batch.
struct sync_geometry {
    std::uint32_t n, q, frame_symbols, symbols, outputs, window, alphabet, max_items;
    std::int32_t change_first, change_last; //!< range of drift changes (corridor form)
    std::uint32_t frames;
    bool soft_input, priors, drifts, boundary_matches;
    sync_output output;
    unsigned positive_bit; //!< the bit value that a positive LLR indicates
    std::uint32_t symbol_bytes;
    //! Sizes of a frame's input and output, and offsets of the arrays in each, in bytes.
    std::size_t input_bytes, start_at, end_at, priors_at, items_at;
    std::size_t output_bytes, drifts_at, metrics_at;
    //! Weights of an insertion and a deletion (see setup); transmission weights of a
    //! matching, a different and an erased item, in units of setup::largest_weight(); and
    //! the term setup::log_scale() of the log-probability.
    double insertion, deletion, match, mismatch, erased, log_scale;
};

constexpr unsigned full_warp = 0xffffffffu;

//! The frames that a kernel decodes: all frames of a batch, or the frames on a list that
//! another kernel has written. A list of more than \p most frames counts as empty.
struct frame_list {
    //! Frame numbers and their count; nullptr: all frames.
    const std::uint32_t *frames = nullptr, *count = nullptr;
    std::uint32_t most = 0;

    __device__ unsigned size(const sync_geometry& g) const
    {
        return !frames ? g.frames : *count <= most ? *count : 0;
    }
    __device__ unsigned operator[](unsigned k) const { return frames ? frames[k] : k; }
};

//! Condition for decoding all frames of a batch: a kernel's list has more than \p most
//! frames, so that frame_list counts it as empty.
struct if_many_listed {
    const std::uint32_t* count = nullptr; //!< length of the list; nullptr: no condition
    std::uint32_t most = 0;

    __device__ bool operator()() const { return !count || *count > most; }
};

inline __device__ void prefetch([[maybe_unused]] const void* from)
{
#ifdef __CUDA_ARCH__
    asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
#endif
}

// The input of a frame. `valid` is false if the length in the header is out of range.
struct frame_input {
    __device__ frame_input(const sync_geometry& g, const std::byte* batch, unsigned frame)
        : data(batch + g.input_bytes * frame),
          header(*reinterpret_cast<const frame_header*>(data)),
          valid(header.length >= 0 && header.length <= std::int64_t(g.max_items))
    {
    }

    //! Uses items that are not part of a frame's input, with a separate header.
    __device__ frame_input(const std::byte* items, const frame_header& where)
        : data(items), header(where), valid(true)
    {
    }

    // Returns the position of the received item at boundary i and drift number m of the
    // window.
    __device__ std::int64_t position(const sync_geometry& g, unsigned i, int m) const
    {
        return std::int64_t(header.origin) + header.first + std::int64_t(g.n) * i + m;
    }

    // Returns the metric of drift number m of the window at boundary i, from the row at
    // byte row_at of the input; 0 if that drift leads to a position outside the received
    // items.
    __device__ double
    boundary(const sync_geometry& g, std::size_t row_at, unsigned i, unsigned m) const
    {
        const auto at = position(g, i, m);
        return at >= 0 && at <= header.length
                   ? reinterpret_cast<const double*>(data + row_at)[m]
                   : 0;
    }

    __device__ double prior(const sync_geometry& g, unsigned i, unsigned D) const
    {
        const float p =
            reinterpret_cast<const float*>(data + g.priors_at)[std::size_t(i) * g.q + D];
        return p > 0 ? p : 0;
    }

    const std::byte* data;
    const frame_header header;
    const bool valid;
};

// Transmission weight of an item: match_value if the symbol sent is match_symbol, else
// other_value.
template <class Real>
struct item_weights {
    Real match_value, other_value;
    std::uint32_t match_symbol;
};

// The weights of sync_geometry in the number type of a lattice.
template <class Row>
struct row_weights {
    __host__ __device__ explicit row_weights(const sync_geometry& g)
        : insertion(g.insertion),
          deletion(g.deletion),
          match(g.match),
          mismatch(g.mismatch),
          erased(g.erased)
    {
    }
    Row insertion, deletion, match, mismatch, erased;
};

template <class Real>
__device__ item_weights<Real> weigh_item(const sync_geometry& g,
                                         const row_weights<Real>& w,
                                         const frame_input& in,
                                         std::int64_t position)
{
    if (position < 0 || position >= in.header.length) {
        return { 0, 0, 0 };
    }
    if (!g.soft_input) {
        const unsigned y = std::uint8_t((in.data + g.items_at)[position]);
        return y < g.alphabet ? item_weights<Real>{ w.match, w.mismatch, y }
                              : item_weights<Real>{ w.erased, w.erased, 0 };
    }
    const float one = reinterpret_cast<const float*>(in.data + g.items_at)[position];
    if (isnan(one)) {
        return { w.erased, w.erased, 0 };
    }
    const Real p = fminf(fmaxf(one, 0.0f), 1.0f);
    return { w.match * p + w.mismatch * (1 - p), w.match * (1 - p) + w.mismatch * p, 1 };
}

// Transmission weight of an item that consists of one likelihood per symbol.
template <class Real>
struct likelihood_weights {
    const float* of; // likelihoods; nullptr: every symbol has the weight `least`
    Real factor, least;

    __device__ Real operator()(unsigned symbol) const
    {
        return of ? factor * Real(fmaxf(of[symbol], 0.0f)) + least : least;
    }
};

template <class Real>
__device__ likelihood_weights<Real> weigh_likelihoods(const sync_geometry& g,
                                                      const row_weights<Real>& w,
                                                      const frame_input& in,
                                                      std::int64_t position)
{
    if (position < 0 || position >= in.header.length) {
        return { nullptr, 0, 0 };
    }
    const float* const of =
        reinterpret_cast<const float*>(in.data + g.items_at) + position * g.alphabet;
    Real sum = 0;
    for (unsigned symbol = 0; symbol < g.alphabet; ++symbol) {
        sum += of[symbol] < 0 ? 0 : of[symbol]; // a NaN makes the sum NaN
    }
    if (!(sum > 0) || isinf(sum)) {
        return { nullptr, 0, w.erased };
    }
    return { of, (w.match - w.mismatch) / sum, w.mismatch };
}

template <class T>
__device__ T warp_sum(T x)
{
    for (int d = 16; d > 0; d /= 2) {
        x += __shfl_xor_sync(full_warp, x, d);
    }
    return x;
}

// Four values that are read or written by one instruction.
template <class T>
struct alignas(16) four {
    T v[4];
};

template <class T>
__device__ four<T> read_four(const T* from)
{
    return *reinterpret_cast<const four<T>*>(from);
}

template <class T>
__device__ void write_four(T* to, const four<T>& values)
{
    *reinterpret_cast<four<T>*>(to) = values;
}

// Rows of one value per lane of a warp, kept in shared memory until each row is summed. A
// lane then sums a whole row or, if at most eight rows are left, a quarter of a row, 16
// bytes at a time.
template <class Row>
struct lane_sums {
    // With this stride, lanes access different banks when each lane reads its own row.
    static constexpr unsigned stride = 32 + 16 / sizeof(Row);

    Row *rows, *mine; // \p mine: this lane's value of the first row

    __device__ explicit lane_sums(Row* memory)
        : rows(memory), mine(memory + threadIdx.x % 32)
    {
    }

    __device__ void put(int row, Row value) const { mine[row * int(stride)] = value; }

    __device__ void add(int row, Row value, bool first) const
    {
        Row& to = mine[row * int(stride)];
        to = first ? value : to + value;
    }

    // Calls use(row, sum) with the sums of the first \p count rows over the lanes.
    template <class Use>
    __device__ void take(unsigned count, Use&& use) const
    {
        take(
            count,
            [](unsigned) {
                return four<Row>{ { 1, 1, 1, 1 } };
            },
            use);
    }

    // Calls use(row, sum) with weighted sums; weights(lane) returns the weights of lanes
    // `lane` to `lane` + 3.
    template <class Weights, class Use>
    __device__ void take(unsigned count, Weights&& weights, Use&& use) const
    {
        const unsigned lane = threadIdx.x % 32;
        __syncwarp();
#pragma unroll 1
        for (unsigned begin = 0; begin < count; begin += 32) {
            const unsigned rest = count - begin;
            if (rest > 8) {
                const unsigned row = begin + min(lane, rest - 1);
                const Row x = sum<32>(row, 0, weights);
                if (lane < rest) {
                    use(row, x);
                }
            } else {
                const unsigned row = begin + min(lane / 4, rest - 1);
                Row x = sum<8>(row, lane % 4 * 8, weights);
                x += __shfl_xor_sync(full_warp, x, 1);
                x += __shfl_xor_sync(full_warp, x, 2);
                if (lane < 4 * rest && lane % 4 == 0) {
                    use(row, x);
                }
            }
        }
        __syncwarp();
    }

private:
    template <unsigned Lanes, class Weights>
    __device__ Row sum(unsigned row, unsigned first, Weights&& weights) const
    {
        Row all[4];
#pragma unroll
        for (unsigned lane = 0; lane < Lanes; lane += 4) {
            const auto next = read_four(rows + row * stride + first + lane);
            const auto weight = weights(first + lane);
#pragma unroll
            for (unsigned k = 0; k < 4; ++k) {
                const Row x = next.v[k] * weight.v[k];
                all[k] = lane ? all[k] + x : x;
            }
        }
        return all[0] + all[1] + (all[2] + all[3]);
    }
};

// Waits for all threads of a block. A block of one warp needs no barrier.
inline __device__ void block_sync()
{
    if (blockDim.x == 32) {
        __syncwarp();
    } else {
        __syncthreads();
    }
}

// Stores the value \p x of the first thread of each warp w of a block in scratch[w].
template <class T>
__device__ void exchange_between_warps(T x, T* scratch)
{
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        scratch[threadIdx.x / 32] = x;
    }
    __syncthreads();
}

// Returns to each thread of a block the sum of \p x over all threads of the block.
// \p scratch: 32 values. Blocks consist of whole warps.
template <class T>
__device__ T block_sum(T x, T* scratch)
{
    x = warp_sum(x);
    if (blockDim.x == 32) {
        return x;
    }
    exchange_between_warps(x, scratch);
    return warp_sum(threadIdx.x % 32 < blockDim.x / 32 ? scratch[threadIdx.x % 32]
                                                       : T(0));
}

// Returns to each thread of a block the maximum of \p x over all threads of the block.
// \p x must be >= 0. \p scratch: 32 values. Blocks consist of whole warps.
template <class T>
__device__ T block_max(T x, T* scratch)
{
#if __CUDA_ARCH__ >= 800
    if constexpr (sizeof(T) == sizeof(float)) {
        // The bit patterns of floats >= 0 have the same order as the floats.
        x = __uint_as_float(__reduce_max_sync(full_warp, __float_as_uint(x)));
    } else
#endif
    {
        for (int d = 16; d > 0; d /= 2) {
            x = max(x, __shfl_xor_sync(full_warp, x, d));
        }
    }
    if (blockDim.x == 32) {
        return x;
    }
    exchange_between_warps(x, scratch);
    for (unsigned w = 0; w < blockDim.x / 32; ++w) {
        x = max(x, scratch[w]);
    }
    return x;
}

// Sets \p best to its maximum over a warp, and returns the smallest \p at of the lanes
// that have this maximum. Values are -1 or at least 0.
template <class T>
__device__ unsigned warp_argmax(T& best, unsigned at)
{
#if __CUDA_ARCH__ >= 800
    if constexpr (sizeof(T) == sizeof(float)) {
        // The bit patterns of floats >= 0 have the same order as the floats.
        const std::uint32_t bits = best < 0 ? 0 : __float_as_uint(best) + 1;
        const auto largest = __reduce_max_sync(full_warp, bits);
        best = largest ? __uint_as_float(largest - 1) : -1;
        at = __reduce_min_sync(full_warp, bits == largest ? at : 0xffffffffu);
    } else
#endif
    {
        for (int d = 16; d > 0; d /= 2) {
            const T other = __shfl_xor_sync(full_warp, best, d);
            const unsigned other_at = __shfl_xor_sync(full_warp, at, d);
            if (other > best || (other == best && other_at < at)) {
                best = other;
                at = other_at;
            }
        }
    }
    return at;
}

// Returns to each thread of a block the index of the first maximum of \p values.
// \p scratch: 64 values.
template <class T>
__device__ unsigned block_argmax(const T* values, unsigned count, double* scratch)
{
    T best = -1;
    unsigned at = 0;
    for (unsigned k = threadIdx.x; k < count; k += blockDim.x) {
        if (values[k] > best) {
            best = values[k];
            at = k;
        }
    }
    at = warp_argmax(best, at);
    if (blockDim.x == 32) {
        return at;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        scratch[threadIdx.x / 32] = best;
        scratch[32 + threadIdx.x / 32] = at;
    }
    __syncthreads();
    const bool there = threadIdx.x % 32 < blockDim.x / 32;
    best = there ? T(scratch[threadIdx.x % 32]) : T(-1);
    at = there ? unsigned(scratch[32 + threadIdx.x % 32]) : 0xffffffffu;
    return warp_argmax(best, at);
}

// Product of the divisors by which rows of metrics were scaled. The divisors are powers
// of two, so that scaling does not round.
struct row_scale {
    long long exponent = 0;
    bool alive = true; // whether no row was all zeros

    // Returns the factor that brings a row's sum or maximum to between 1 and 2.
    template <class T>
    __device__ T next(T size)
    {
        constexpr bool is_float = sizeof(T) == sizeof(float);
        const int e = is_float ? (__float_as_int(float(size)) >> 23) - 127
                               : (__double2hiint(double(size)) >> 20) - 1023;
        alive = alive && size > 0;
        exponent += e;
        return is_float ? T(__int_as_float((127 - e) << 23))
                        : T(__hiloint2double((1023 - e) << 20, 0));
    }
    __device__ double log() const { return exponent * 0.69314718055994530942; }
};

inline __device__ void write_symbol(const sync_geometry& g, unsigned D, std::byte* out)
{
    if (threadIdx.x == 0) {
        g.symbol_bytes == 1
            ? void(*reinterpret_cast<std::uint8_t*>(out) = std::uint8_t(D))
            : void(*reinterpret_cast<std::uint16_t*>(out) = std::uint16_t(D));
    }
}

// Writes the output of message symbol i from L(D) in shared memory, which may be
// overwritten. Every thread of the block must call this function.
template <class Metric>
__device__ void emit_symbol(const sync_geometry& g,
                            const frame_input& in,
                            unsigned i,
                            Metric* L,
                            double* scratch,
                            std::byte* frame_output)
{
    std::byte* const out = frame_output + std::size_t(i) * g.symbol_bytes;
    block_sync();
    if (g.output == sync_output::symbols) {
        return write_symbol(g, block_argmax(L, g.q, scratch), out);
    }
    const bool extrinsic =
        g.output == sync_output::extrinsics || g.output == sync_output::llr;
    Metric part = 0;
    for (unsigned D = threadIdx.x; D < g.q; D += blockDim.x) {
        if (extrinsic && g.priors) {
            const Metric prior = in.prior(g, i, D);
            L[D] = prior > 0 ? L[D] / prior : 0;
        }
        part += L[D];
    }
    const Metric sum = block_sum(part, reinterpret_cast<Metric*>(scratch));
    if (g.output == sync_output::llr) {
        block_sync();
        const unsigned bits = g.symbol_bytes;
        for (unsigned b = threadIdx.x / 32; b < bits; b += blockDim.x / 32) {
            Metric positive = 0, negative = 0;
            for (unsigned D = threadIdx.x % 32; D < g.q; D += 32) {
                const unsigned bit = D >> (bits - 1 - b) & 1u;
                (bit == g.positive_bit ? positive : negative) += L[D];
            }
            positive = warp_sum(positive);
            negative = warp_sum(negative);
            const double llr = 8 * (::log(double(positive)) - ::log(double(negative)));
            if (threadIdx.x % 32 == 0) {
                reinterpret_cast<std::int8_t*>(out)[b] =
                    isnan(llr) ? 0 : std::int8_t(rint(fmin(fmax(llr, -127.0), 127.0)));
            }
        }
        return;
    }
    for (unsigned D = threadIdx.x; D < g.q; D += blockDim.x) {
        const double p = sum > 0 ? double(L[D]) / double(sum) : 1.0 / g.q;
        if (g.output == sync_output::posteriors64) {
            reinterpret_cast<double*>(out)[D] = p;
        } else {
            reinterpret_cast<float*>(out)[D] = float(p);
        }
    }
}

// Writes the output of message symbol i in a block of one warp; lane D has L(D).
// \p memory: q values.
template <class Metric>
__device__ void emit_symbol_of_warp(const sync_geometry& g,
                                    const frame_input& in,
                                    unsigned i,
                                    Metric L,
                                    Metric* memory,
                                    double* scratch,
                                    std::byte* frame_output)
{
    const unsigned D = threadIdx.x;
    if (g.output == sync_output::symbols) {
        L = D < g.q ? L : Metric(-1);
        const unsigned at = warp_argmax(L, D);
        return write_symbol(g, at, frame_output + std::size_t(i) * g.symbol_bytes);
    }
    if (D < g.q) {
        memory[D] = L;
    }
    emit_symbol(g, in, i, memory, scratch, frame_output);
}

// Writes the output and the status of a frame that cannot be decoded: uniform
// posteriors, extrinsics and drift posteriors, and zeros as symbols, LLRs and metrics
// for boundary matches.
inline __device__ void
emit_unknown(const sync_geometry& g, std::byte* out, sync_status& status)
{
    const auto count = std::size_t(g.outputs) * g.q;
    for (std::size_t k = threadIdx.x; k < count; k += blockDim.x) {
        if (g.output == sync_output::posteriors64) {
            reinterpret_cast<double*>(out)[k] = 1.0 / g.q;
        } else if (g.output == sync_output::posteriors ||
                   g.output == sync_output::extrinsics) {
            reinterpret_cast<float*>(out)[k] = float(1.0 / g.q);
        } else if (k < std::size_t(g.outputs) * g.symbol_bytes) {
            out[k] = std::byte(0);
        }
    }
    for (unsigned m = threadIdx.x; g.drifts && m < 2 * g.window; m += blockDim.x) {
        reinterpret_cast<float*>(out + g.drifts_at)[m] = float(1.0 / g.window);
    }
    const std::size_t words =
        g.boundary_matches ? (g.output_bytes - g.metrics_at) / 4 : 0;
    for (std::size_t k = threadIdx.x; k < words; k += blockDim.x) {
        reinterpret_cast<std::uint32_t*>(out + g.metrics_at)[k] = 0;
    }
    if (threadIdx.x == 0) {
        status = { -INFINITY, log2f(float(g.window)), 0, 0, 0 };
    }
}

// Writes α and β of one boundary if g.boundary_matches is set: of boundary `outputs` if
// \p last is true, otherwise of boundary 0.
template <class Metric, class Alpha, class Beta>
__device__ void emit_metrics(
    const sync_geometry& g, bool last, std::byte* out, Alpha&& alpha, Beta&& beta)
{
    auto* const to =
        reinterpret_cast<Metric*>(out + g.metrics_at) + (last ? 2 * g.window : 0);
    for (unsigned m = threadIdx.x; g.boundary_matches && m < g.window; m += blockDim.x) {
        to[m] = alpha(m);
        to[g.window + m] = beta(m);
    }
}

// Normalises weight(m), the weights of the window's drifts at one boundary, to drift
// posteriors, and writes these if g.drifts is set. Returns the number of the most likely
// drift, and stores the entropy in bits. \p lambda: window values of scratch in shared
// memory.
template <class Metric, class Weight>
__device__ unsigned emit_drifts(const sync_geometry& g,
                                Weight&& weight,
                                Metric* lambda,
                                double* scratch,
                                float* out,
                                double* entropy)
{
    double part = 0;
    for (unsigned m = threadIdx.x; m < g.window; m += blockDim.x) {
        lambda[m] = weight(m);
        part += lambda[m];
    }
    const double sum = block_sum(part, scratch);
    double bits = 0;
    for (unsigned m = threadIdx.x; m < g.window; m += blockDim.x) {
        const double p = sum > 0 ? lambda[m] / sum : 0;
        bits -= p > 0 ? p * log2(p) : 0;
        if (g.drifts) {
            out[m] = float(p);
        }
    }
    *entropy = block_sum(bits, scratch);
    block_sync();
    const unsigned at = block_argmax(lambda, g.window, scratch);
    block_sync();
    return at;
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_COMMON_CUH */
