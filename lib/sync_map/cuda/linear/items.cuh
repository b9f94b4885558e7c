// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Input of the linear form: priors of the words, and received items of the binary
 * alphabet. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_ITEMS_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_ITEMS_CUH

#include "boundaries.cuh"
#include "word_lattice.cuh"

namespace gr::gpufec::sync_map {

// Stores in \p sums, for each index, the sum of the priors of all words; 0 if the sum is
// infinite. \p sums is the block's own part of device memory.
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

// Returns the normalised prior of the lane's word, number 32·j + lane, at index i.
// Returns 1 if index i has no priors, and 0 for lanes without a word.
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

// Returns the position of the received item that step \p k of index i reads.
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

// ---- items for kernels of N rows; shorter words leave `spare` rows unused ----

constexpr int steps_at_once = 4; // number of steps that one read_four() serves

//! Items of the binary alphabet: bits, erasures or probabilities of a 1. Bit t of a word
//! is symbol t.
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

    // Reads the items of index i into shared memory. Sets `clean` if all are bits and
    // substitutions have weight 0; otherwise also stores the weights of a sent 0 and 1.
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

    // Reads the items of all steps except step 0, where no row needs one. Returns whether
    // an item of this thread is not a bit. \p base: position of step 0's item.
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

    // Unpacks the bits of a word as masks, in the order of the sweep.
    __device__ void split(word w, bool reversed, std::int32_t (&sent)[N]) const
    {
        w = reversed ? __brev(w) >> (32 - N) : w << spare;
#pragma unroll
        for (int t = 0; t < N; ++t) {
            sent[t] = in_register(std::int32_t(w << (31 - t)) >> 31);
        }
    }

    template <bool Clean, class Lattice>
    __device__ bit_item<Row> item(const Lattice&, int k) const
    {
        return Clean ? bit_item<Row>{ s.one[k], 0, 1 }
                     : bit_item<Row>{ s.one[k], s.if_zero[k], s.if_one[k] };
    }

    // Items of steps k to k + 3.
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

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_ITEMS_CUH */
