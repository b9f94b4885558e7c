// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A layered sum-product decoder in single precision on a device, because the
 * double-precision reference on the CPU is too slow for low error rates. Messages
 * saturate at about 17 nats. layer_plan.h defines the layers. */

#ifndef INCLUDED_GPUFEC_BENCH_LDPC_SUM_PRODUCT_CUH
#define INCLUDED_GPUFEC_BENCH_LDPC_SUM_PRODUCT_CUH

#include "ldpc/cuda/kernels.h"

namespace gr::gpufec {
namespace sum_product_kernel {

using namespace ldpc;

constexpr unsigned checks = 360; // maximum number of checks per layer, one thread each
constexpr unsigned max_edges = 32;

// Edges of the checks in layers. Edge e of check c of a layer is at first + 360·e + c, as
// bit | round << 24, or all ones if the check has fewer edges. If a bit has several edges
// in a layer, the edges after the first are deferred: they are added to the posterior in
// later rounds, so that no two threads write the same posterior at the same time.
struct tables {
    const std::uint32_t* edges;
    const std::uint32_t* first; // index of each layer's first edge, and of the end
    const std::uint8_t* rounds; // number of rounds of deferred edges in each layer
    std::uint32_t layers, n;
};

// Returns −ln tanh(x/2), which is its own inverse, in a form that is accurate for small
// and large x.
__device__ inline float phi(float x)
{
    return log1pf(2 / expm1f(fminf(fmaxf(x, 1e-7f), 80.0f)));
}

__device__ inline bool
violated(const tables& t, std::uint32_t layer, const float* posterior)
{
    bool sum = false;
    for (auto e = t.first[layer] + threadIdx.x; e < t.first[layer + 1]; e += checks) {
        sum ^= t.edges[e] != ~0u && posterior[t.edges[e] & 0xffffffu] < 0;
    }
    return sum;
}

__device__ inline void
do_layer(const tables& t, std::uint32_t layer, float* posterior, float* message)
{
    const auto* const edge = t.edges + t.first[layer] + threadIdx.x;
    auto* const kept = message + t.first[layer] + threadIdx.x;
    const unsigned degree = (t.first[layer + 1] - t.first[layer]) / checks;
    float in[max_edges];
    float sum = 0;
    bool negative = false;
    for (unsigned e = 0; e < degree; ++e) {
        const auto x = edge[e * checks];
        in[e] = x == ~0u ? 1000 : posterior[x & 0xffffffu] - kept[e * checks];
        sum += phi(fabsf(in[e]));
        negative ^= in[e] < 0;
    }
    __syncthreads(); // All threads have now read the posteriors that change below.
    for (unsigned e = 0; e < degree; ++e) {
        const auto x = edge[e * checks];
        if (x == ~0u) {
            continue;
        }
        const float m = phi(fmaxf(sum - phi(fabsf(in[e])), 0.0f));
        const float r = negative != (in[e] < 0) ? -m : m;
        if (x >> 24 == 0) {
            posterior[x] = in[e] + r;
        }
        in[e] = r - kept[e * checks]; // change of the message, for deferred edges
        kept[e * checks] = r;
    }
    for (unsigned round = 1; round <= t.rounds[layer]; ++round) {
        __syncthreads();
        for (unsigned e = 0; e < degree; ++e) {
            const auto x = edge[e * checks];
            if (x != ~0u && x >> 24 == round) {
                posterior[x & 0xffffffu] += in[e];
            }
        }
    }
    __syncthreads();
}

__global__ void __launch_bounds__(checks) decode(tables t,
                                                 ldpc::device::device_frames frames,
                                                 ldpc::device::stopping stop,
                                                 std::uint32_t* counter,
                                                 float* state,
                                                 std::size_t state_floats)
{
    __shared__ std::uint32_t taken, count;
    float* const posterior = state + blockIdx.x * state_floats;
    float* const message = posterior + t.n;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) {
            taken = atomicAdd(counter, 1u);
            count = 0;
        }
        __syncthreads();
        if (taken >= frames.count) {
            return;
        }
        const auto frame = frames.table[taken];
        const auto* const channel =
            reinterpret_cast<const float*>(frames.input + frame.input);
        for (unsigned i = threadIdx.x; i < t.n; i += checks) {
            posterior[i] = channel[i];
        }
        for (unsigned i = threadIdx.x; i < t.first[t.layers]; i += checks) {
            message[i] = 0;
        }
        __syncthreads();
        std::uint32_t iterations = 0;
        bool valid = false;
        while (!valid && iterations < stop.max_iterations) {
            for (unsigned l = 0; l < t.layers; ++l) {
                do_layer(t, l, posterior, message);
            }
            ++iterations;
            valid = stop.early_stop;
            for (unsigned l = 0; valid && l < t.layers; ++l) {
                valid = !__syncthreads_or(violated(t, l, posterior));
            }
        }
        for (unsigned l = 0; l < t.layers; ++l) {
            if (violated(t, l, posterior)) {
                atomicAdd(&count, 1u);
            }
        }
        for (unsigned byte = threadIdx.x; byte * 8 < stop.out_bits; byte += checks) {
            unsigned bits = 0;
            for (unsigned i = byte * 8; i < byte * 8 + 8; ++i) {
                bits = bits << 1 | (i < stop.out_bits && posterior[i] < 0);
            }
            frames.output[frame.output + byte] = std::uint8_t(bits);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            frames.status[frame.status] = { iterations, count };
        }
    }
}

class kernel : public ldpc::device::launch_plan
{
public:
    explicit kernel(const ldpc_code& code)
        : kernel(in_parts(make_layer_plan(code)), code.n())
    {
    }

    std::size_t scratch_bytes(std::size_t) const override
    {
        return 256 + d_blocks * d_state_floats * sizeof(float);
    }

    void launch(const ldpc::device::device_frames& frames,
                const ldpc::device::stopping& stop,
                void* scratch,
                cudaStream_t stream) const override
    {
        auto* const counter = static_cast<std::uint32_t*>(scratch);
        cuda::check(cudaMemsetAsync(counter, 0, sizeof(*counter), stream), "memset");
        const tables t{ d_edges.get(), d_first.get(), d_rounds.get(), d_layers, d_n };
        decode<<<d_blocks, checks, 0, stream>>>(t,
                                                frames,
                                                stop,
                                                counter,
                                                reinterpret_cast<float*>(counter + 64),
                                                d_state_floats);
        cuda::check(cudaGetLastError(), "sum-product");
    }

private:
    // Divides layers of more than 360 checks. In such a layer no bit occurs twice, so its
    // checks can be processed in any order.
    static layer_plan in_parts(layer_plan plan)
    {
        std::vector<std::uint32_t> begin;
        std::vector<std::uint8_t> rounds;
        for (std::size_t l = 0; l < plan.layers(); ++l) {
            for (auto c = plan.layer_begin[l]; c < plan.layer_begin[l + 1]; c += checks) {
                begin.push_back(c);
                rounds.push_back(plan.rounds[l]);
            }
        }
        begin.push_back(plan.layer_begin.back());
        plan.layer_begin = begin;
        plan.rounds = rounds;
        return plan;
    }

    kernel(const layer_plan& plan, unsigned n)
        : d_layers(plan.layers()),
          d_n(n),
          d_edges(places(plan)),
          d_first(plan.layers() + 1),
          d_rounds(plan.layers()),
          d_state_floats(n + places(plan))
    {
        std::vector<std::uint32_t> edges, first;
        for (unsigned l = 0; l < plan.layers(); ++l) {
            first.push_back(edges.size());
            edges.resize(edges.size() + degree(plan, l) * checks, ~0u);
            for (unsigned c = 0; c < plan.layer_begin[l + 1] - plan.layer_begin[l]; ++c) {
                const auto begin = plan.edge_begin[plan.layer_begin[l] + c];
                const auto end = plan.edge_begin[plan.layer_begin[l] + c + 1];
                for (auto e = begin; e < end; ++e) {
                    edges[first.back() + (e - begin) * checks + c] =
                        plan.edges[e].bit | std::uint32_t(plan.edges[e].round) << 24;
                }
            }
        }
        first.push_back(edges.size());
        put(d_edges, edges);
        put(d_first, first);
        put(d_rounds, plan.rounds);
        cudaDeviceProp p;
        cuda::check(cudaGetDeviceProperties(&p, 0), "device properties");
        d_blocks = 4 * p.multiProcessorCount;
    }

    static unsigned degree(const layer_plan& plan, unsigned l)
    {
        unsigned most = 0;
        for (auto i = plan.layer_begin[l]; i < plan.layer_begin[l + 1]; ++i) {
            most = std::max(most, plan.edge_begin[i + 1] - plan.edge_begin[i]);
        }
        return most;
    }
    static std::size_t places(const layer_plan& plan)
    {
        std::size_t sum = 0;
        for (unsigned l = 0; l < plan.layers(); ++l) {
            sum += std::size_t(degree(plan, l)) * checks;
        }
        return sum;
    }
    template <class T>
    static void put(const cuda::buffer<T>& to, const std::vector<T>& from)
    {
        cuda::check(cudaMemcpy(to.get(), from.data(), to.bytes(), cudaMemcpyHostToDevice),
                    "copy");
    }

    const std::uint32_t d_layers, d_n;
    const cuda::buffer<std::uint32_t> d_edges, d_first;
    const cuda::buffer<std::uint8_t> d_rounds;
    const std::size_t d_state_floats;
    unsigned d_blocks = 0;
};

} // namespace sum_product_kernel
} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BENCH_LDPC_SUM_PRODUCT_CUH */
