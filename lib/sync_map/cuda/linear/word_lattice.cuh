// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The lattice of one word, which a lane keeps in registers. Sent and received bits select
 * the weight of a transmission without branches. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_WORD_LATTICE_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_WORD_LATTICE_CUH

#include "sync_map/cuda/common.cuh"

namespace gr::gpufec::sync_map {

// Returns x if mask is all ones, and 0 if mask is 0.
inline __device__ float masked(float x, std::int32_t mask)
{
    return __int_as_float(__float_as_int(x) & mask);
}
inline __device__ double masked(double x, std::int32_t mask)
{
    return __longlong_as_double(__double_as_longlong(x) & std::int64_t(mask));
}

// Returns b if mask is all ones, and a if mask is 0.
inline __device__ float selected(std::int32_t mask, float a, float b)
{
    return __int_as_float((__float_as_int(a) & ~mask) | (__float_as_int(b) & mask));
}
inline __device__ double selected(std::int32_t mask, double a, double b)
{
    return mask ? b : a;
}

// Returns x. The compiler keeps the result in a register instead of recomputing x at
// each use.
inline __device__ std::int32_t in_register(std::int32_t x)
{
#ifdef __CUDA_ARCH__
    asm volatile("" : "+r"(x));
#endif
    return x;
}

// Received item. All bits of `one` are set for a received 1; `if_zero` and `if_one` are
// the weights of a sent 0 and of a sent 1.
template <class Row>
struct bit_item {
    std::int32_t one;
    Row if_zero, if_one;

    // Returns \p before times the weight of the bit \p sent. \p sent is a mask.
    // With Clean, a match has weight 1, and a substitution weight 0.
    template <bool Clean>
    __device__ Row passed(std::int32_t sent, int, Row before) const
    {
        return Clean ? masked(before, ~(sent ^ one))
                     : selected(sent, if_zero, if_one) * before;
    }
};

/*! Lattice of a lane's word of N symbols. For shorter words, up to Spare rows after row 0
 * pass on their input. */
template <int N, int Spare, class Row>
struct word_lattice {
    Row x[N + 1];
    std::int32_t sent[N]; // symbols in the order of the sweep; see bit_items::split()
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

    // Advances rows low to high by one step. If high is N, returns the value of row N
    // before insertions. Rows above high have not begun, and rows below low are past the
    // window.
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

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_WORD_LATTICE_CUH */
