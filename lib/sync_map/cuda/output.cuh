// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The output of a frame: symbols or posteriors, drift posteriors, and metrics for
 * boundary matches. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_OUTPUT_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_OUTPUT_CUH

#include "common.cuh"
#include "reductions.cuh"

namespace gr::gpufec::sync_map {

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

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_OUTPUT_CUH */
