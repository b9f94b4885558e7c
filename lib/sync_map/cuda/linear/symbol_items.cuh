// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Input of the linear form: received items of alphabets other than the binary one. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_SYMBOL_ITEMS_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_SYMBOL_ITEMS_CUH

#include "items.cuh"
#include <type_traits>

namespace gr::gpufec::sync_map {

/*! Items of any alphabet of up to 16 symbols; a word has four bits per symbol. Each item
 * is stored as one weight per symbol. A row reads the weights of its own symbol for four
 * steps with one access. */
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

    // Returns the address of symbol 0's weight at step k. The weight of each further
    // symbol is four values after the previous one.
    __device__ Row* weights_of(int k) const
    {
        const unsigned at = k + l.offset, c = at % 4;
        return s.weights + (at - c) * g.alphabet + c;
    }

    // Unpacks the symbols of a word as byte offsets of their weights, in the order of the
    // sweep.
    __device__ void split(word w, bool reversed, std::int32_t (&sent)[N]) const
    {
        w = reversed ? w : w << 4 * spare;
#pragma unroll
        for (int t = 0; t < N; ++t) {
            const auto symbol = unsigned(w >> 4 * (reversed ? N - 1 - t : t)) & 15u;
            sent[t] = in_register(symbol * sizeof(four<Row>));
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

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_SYMBOL_ITEMS_CUH */
