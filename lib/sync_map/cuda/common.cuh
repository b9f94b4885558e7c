// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Common parts of the CUDA kernels of both forms: the geometry of a batch, and the
 * weights of received items.
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

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_COMMON_CUH */
