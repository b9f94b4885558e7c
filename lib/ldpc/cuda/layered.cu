// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Layered min-sum for any code and precision. A thread block decodes one codeword, and
 * its threads share the checks of a layer. Posteriors are in shared memory if they fit,
 * messages in device memory. Memory latency limits the kernel, so its speed depends on
 * the number of resident threads per multiprocessor. Codes with checks of up to 16 bits
 * and without deferred edges therefore have kernels that need fewer registers, and use
 * the block size with the most resident threads. */

#include "arithmetic.h"
#include "soft_output.cuh"
#include <algorithm>

namespace gr::gpufec::ldpc {
namespace device {

namespace {

constexpr unsigned max_threads = 512;
// Threads per block of the kernels for checks of any size. A layer with deferred edges
// has up to 360 checks, one per thread.
constexpr unsigned any_check_threads = 384;
constexpr unsigned any_check = 32; // MostBits of the kernel for checks of any size
constexpr std::uint32_t nothing = ~0u;
constexpr unsigned round_shift = 24;
constexpr std::uint32_t bit_mask = (1u << round_shift) - 1;

struct device_layer {
    std::uint32_t first_edge; // index of the layer's first edge in code_tables::edges
    std::uint32_t checks;
    std::uint32_t degree; // largest number of edges of a check
    std::uint32_t rounds;
};

/* Tables of a code. The word of an edge has the index of the edge's variable node in the
 * bits below round_shift, and the edge's round (layer_plan.h) in the other bits. The
 * words of a layer are those of the first edges of all checks, then those of the second
 * edges, and so on. The words of missing edges are \c nothing. Messages have the same
 * order. */
struct code_tables {
    const std::uint32_t* edges;
    const device_layer* layers;
    std::uint32_t layer_count;
    std::uint32_t edge_places;
    std::uint32_t n;
};

// Number of values in a block's scratch memory for the changes by deferred edges: up to
// 32 edges per thread.
template <unsigned MostBits>
constexpr unsigned changes = MostBits == any_check ? any_check_threads * 32 : 0;

struct scratch_view {
    std::uint32_t* counter;
    std::uint8_t* blocks;
    std::size_t bytes_a_block;
    bool posteriors_in_shared;
};

// The decoder of a thread block, for checks of at most MostBits bits. If MostBits is
// any_check, checks may have any number of bits.
template <class Values, unsigned MostBits>
class layered_kernel
{
public:
    using value = typename Values::value;
    using posterior = typename Values::posterior;
    using message = typename Values::message;

    __device__ layered_kernel(const code_tables& code,
                              const device_frames& frames,
                              const device_arithmetic& arithmetic,
                              const stopping& stop,
                              const scratch_view& scratch)
        : d_code(code), d_frames(frames), d_arithmetic(arithmetic), d_stop(stop)
    {
        extern __shared__ std::uint32_t shared[];
        auto* const mine = scratch.blocks + blockIdx.x * scratch.bytes_a_block;
        d_flags = shared;
        d_message = reinterpret_cast<message*>(mine);
        d_change = reinterpret_cast<posterior*>(
            mine + (std::size_t(code.edge_places) * sizeof(message) + 15) / 16 * 16);
        d_posterior = scratch.posteriors_in_shared
                          ? reinterpret_cast<posterior*>(shared + 4)
                          : d_change + changes<MostBits>;
    }

    __device__ void run(std::uint32_t* counter)
    {
        for (;;) {
            __syncthreads();
            if (threadIdx.x == 0) {
                d_flags[0] = atomicAdd(counter, 1u);
            }
            __syncthreads();
            const auto frame = d_flags[0];
            if (frame >= d_frames.count) {
                return;
            }
            decode(d_frames.table[frame]);
        }
    }

private:
    __device__ void decode(const frame_place& frame)
    {
        const auto* const channel =
            reinterpret_cast<const message*>(d_frames.input + frame.input);
        for (std::uint32_t i = threadIdx.x; i < d_code.n; i += blockDim.x) {
            d_posterior[i] = Values::add(channel[i], 0); // turns a float −0 into 0
        }
        __syncthreads();
        std::uint32_t i = 1;
        bool valid = false;
        for (;; ++i) {
            for (std::uint32_t l = 0; l < d_code.layer_count; ++l) {
                do_layer(d_code.layers[l], i == 1);
                __syncthreads();
            }
            if (i == d_stop.max_iterations ||
                (d_stop.early_stop && (valid = satisfied()))) {
                break;
            }
        }
        const auto violated = valid ? 0 : count_violated();
        if (threadIdx.x == 0) {
            d_frames.status[frame.status] = { i, violated };
        }
        write_decisions(d_frames.output + frame.output);
        if (d_stop.soft != ldpc_soft_output::none) {
            const soft_writer llrs(d_frames, frame, d_stop);
            for (std::uint32_t i = threadIdx.x; i < d_code.n; i += blockDim.x) {
                llrs.write<message>(i, d_posterior[i]);
            }
        }
    }

    __device__ std::uint32_t place(const device_layer& l, unsigned e, unsigned c) const
    {
        return l.first_edge + e * l.checks + c;
    }

    // Calls action(edge, place) for the edges of check c of a layer; \c place is the
    // index of the edge in the tables.
    template <class Action>
    __device__ void each_edge(const device_layer& l, unsigned c, Action&& action) const
    {
        for (unsigned e = 0; e < l.degree; ++e) {
            const auto at = place(l, e, c);
            const auto edge = d_code.edges[at];
            if (edge == nothing) {
                break;
            }
            action(edge, at);
        }
    }

    __device__ value input(std::uint32_t edge, std::uint32_t at, bool first) const
    {
        const value p = d_posterior[edge & bit_mask];
        return Values::subtract(p, first ? value(0) : value(d_message[at]));
    }

    __device__ void do_layer(const device_layer& l, bool first)
    {
        if constexpr (MostBits < any_check) {
            do_short_checks<MostBits>(l, first);
        } else if (l.rounds > 0) {
            do_shared_layer(l, first);
        } else if (l.degree <= 8) {
            do_short_checks<8>(l, first);
        } else if (l.degree <= 16) {
            do_short_checks<16>(l, first);
        } else if (l.degree <= 32) {
            do_short_checks<32>(l, first);
        } else {
            do_long_checks(l, first);
        }
    }

    // Updates checks whose edges fit in registers, so that their loads overlap.
    template <unsigned Most>
    __device__ void do_short_checks(const device_layer& l, bool first)
    {
        for (unsigned c = threadIdx.x; c < l.checks; c += blockDim.x) {
            std::uint32_t edge[Most];
            value t[Most];
#pragma unroll
            for (unsigned e = 0; e < Most; ++e) {
                edge[e] = e < l.degree ? __ldg(d_code.edges + place(l, e, c)) : nothing;
                t[e] = edge[e] != nothing && !first ? value(d_message[place(l, e, c)])
                                                    : value(0);
            }
            check_input<Values> h;
#pragma unroll
            for (unsigned e = 0; e < Most; ++e) {
                if (edge[e] != nothing) {
                    t[e] = Values::subtract(d_posterior[edge[e]], t[e]);
                    h.add(t[e]);
                }
            }
            const auto magnitudes = h.check_to_variable(d_arithmetic);
#pragma unroll
            for (unsigned e = 0; e < Most; ++e) {
                if (edge[e] != nothing) {
                    const value r = h.message_to(t[e], magnitudes);
                    d_posterior[edge[e]] = Values::add(t[e], r);
                    d_message[place(l, e, c)] = r;
                }
            }
        }
    }

    __device__ void do_long_checks(const device_layer& l, bool first)
    {
        for (unsigned c = threadIdx.x; c < l.checks; c += blockDim.x) {
            const auto h = input_of(l, c, first);
            const auto magnitudes = h.check_to_variable(d_arithmetic);
            each_edge(l, c, [&](std::uint32_t edge, std::uint32_t at) {
                const value t = input(edge, at, first);
                const value r = h.message_to(t, magnitudes);
                d_posterior[edge & bit_mask] = Values::add(t, r);
                d_message[at] = r;
            });
        }
    }

    __device__ check_input<Values>
    input_of(const device_layer& l, unsigned c, bool first) const
    {
        check_input<Values> h;
        each_edge(l, c, [&](std::uint32_t edge, std::uint32_t at) {
            h.add(input(edge, at, first));
        });
        return h;
    }

    // Updates a layer in which bits occur more than once, with at most one check per
    // thread.
    __device__ void do_shared_layer(const device_layer& l, bool first)
    {
        const unsigned c = threadIdx.x;
        check_input<Values> h;
        message_magnitudes<value> magnitudes{};
        if (c < l.checks) {
            h = input_of(l, c, first);
            magnitudes = h.check_to_variable(d_arithmetic);
            unsigned e = 0;
            each_edge(l, c, [&](std::uint32_t edge, std::uint32_t at) {
                if (edge >> round_shift) {
                    const value t = input(edge, at, first);
                    const value r = h.message_to(t, magnitudes);
                    const value old = first ? value(0) : value(d_message[at]);
                    d_change[e * any_check_threads + c] = Values::subtract(r, old);
                    d_message[at] = r;
                }
                ++e;
            });
        }
        __syncthreads();
        if (c < l.checks) {
            each_edge(l, c, [&](std::uint32_t edge, std::uint32_t at) {
                if (edge >> round_shift == 0) {
                    const value t = input(edge, at, first);
                    const value r = h.message_to(t, magnitudes);
                    d_posterior[edge] = Values::add(t, r);
                    d_message[at] = r;
                }
            });
        }
        for (unsigned round = 1; round <= l.rounds; ++round) {
            __syncthreads();
            if (c < l.checks) {
                unsigned e = 0;
                each_edge(l, c, [&](std::uint32_t edge, std::uint32_t) {
                    if (edge >> round_shift == round) {
                        auto& p = d_posterior[edge & bit_mask];
                        p = Values::add(p, d_change[e * any_check_threads + c]);
                    }
                    ++e;
                });
            }
        }
    }

    __device__ bool violated(const device_layer& l, unsigned c) const
    {
        bool sum = false;
        each_edge(l, c, [&](std::uint32_t edge, std::uint32_t) {
            sum ^= d_posterior[edge & bit_mask] < 0;
        });
        return sum;
    }

    __device__ bool satisfied() const
    {
        for (std::uint32_t i = 0; i < d_code.layer_count; ++i) {
            const auto& l = d_code.layers[i];
            bool any = false;
            for (unsigned c = threadIdx.x; c < l.checks; c += blockDim.x) {
                any |= violated(l, c);
            }
            if (__syncthreads_or(any)) {
                return false;
            }
        }
        return true;
    }

    __device__ std::uint32_t count_violated()
    {
        if (threadIdx.x == 0) {
            d_flags[1] = 0;
        }
        __syncthreads();
        std::uint32_t count = 0;
        for (std::uint32_t i = 0; i < d_code.layer_count; ++i) {
            const auto& l = d_code.layers[i];
            for (unsigned c = threadIdx.x; c < l.checks; c += blockDim.x) {
                count += violated(l, c);
            }
        }
        atomicAdd(d_flags + 1, count);
        __syncthreads();
        return d_flags[1];
    }

    __device__ void write_decisions(std::uint8_t* out) const
    {
        for (std::uint32_t byte = threadIdx.x; byte * 8 < d_stop.out_bits;
             byte += blockDim.x) {
            unsigned bits = 0;
            for (std::uint32_t i = byte * 8; i < byte * 8 + 8; ++i) {
                bits = bits << 1 | (i < d_stop.out_bits && d_posterior[i] < 0);
            }
            out[byte] = std::uint8_t(bits);
        }
    }

    const code_tables& d_code;
    const device_frames& d_frames;
    const device_arithmetic& d_arithmetic;
    const stopping& d_stop;
    std::uint32_t* d_flags; // words for the index of the frame and the count of violated
                            // checks
    message* d_message;
    posterior* d_change; // changes by deferred edges, for each edge of each thread's
                         // check
    posterior* d_posterior;
};

template <class Values, unsigned MostBits>
__global__ void __launch_bounds__(MostBits == any_check ? any_check_threads : max_threads)
    decode_layered(code_tables code,
                   device_frames frames,
                   device_arithmetic arithmetic,
                   stopping stop,
                   scratch_view scratch)
{
    layered_kernel<Values, MostBits>(code, frames, arithmetic, stop, scratch)
        .run(scratch.counter);
}

struct host_tables {
    std::vector<std::uint32_t> edges;
    std::vector<device_layer> layers;
};

host_tables make_tables(const ldpc_code& code)
{
    const auto plan = make_layer_plan(code);
    host_tables t;
    for (std::size_t l = 0; l < plan.layers(); ++l) {
        const auto first = plan.layer_begin[l], last = plan.layer_begin[l + 1];
        device_layer layer{
            std::uint32_t(t.edges.size()), last - first, 0, plan.rounds[l]
        };
        for (auto i = first; i < last; ++i) {
            layer.degree =
                std::max(layer.degree, plan.edge_begin[i + 1] - plan.edge_begin[i]);
        }
        t.edges.resize(t.edges.size() + std::size_t(layer.degree) * layer.checks,
                       nothing);
        for (auto i = first; i < last; ++i) {
            const auto begin = plan.edge_begin[i];
            for (auto e = begin; e < plan.edge_begin[i + 1]; ++e) {
                const auto& edge = plan.edges[e];
                t.edges[layer.first_edge + (e - begin) * layer.checks + (i - first)] =
                    edge.bit | std::uint32_t(edge.round) << round_shift;
            }
        }
        t.layers.push_back(layer);
    }
    return t;
}

template <class Values, unsigned MostBits>
class layered_plan : public launch_plan
{
public:
    layered_plan(const host_tables& t,
                 const ldpc_code& code,
                 const message_rule& rule,
                 int device)
        : d_edges(to_device(t.edges)),
          d_layers(to_device(t.layers)),
          d_layer_count(std::uint32_t(t.layers.size())),
          d_places(std::uint32_t(t.edges.size())),
          d_n(code.n()),
          d_arithmetic(arithmetic_of(rule))
    {
        const std::size_t posteriors = std::size_t(d_n) * sizeof(posterior);
        d_in_shared = posteriors + 16 <= cuda::shared_per_block(device);
        d_shared_bytes = 16 + (d_in_shared ? posteriors : 0);
        d_bytes_a_block = (d_places * sizeof(message) + 15) / 16 * 16 +
                          changes<MostBits> * sizeof(posterior) +
                          (d_in_shared ? 0 : (posteriors + 15) / 16 * 16);
        d_bytes_a_block = (d_bytes_a_block + 255) / 256 * 256;
        if (d_in_shared) {
            cuda::allow_shared(
                decode_layered<Values, MostBits>, d_shared_bytes, "the code");
        }
        choose_threads(device);
    }

    std::size_t scratch_bytes(std::size_t codewords) const override
    {
        return 256 + grid(codewords) * d_bytes_a_block;
    }

    void launch(const device_frames& frames,
                const stopping& stop,
                void* scratch,
                cudaStream_t stream) const override
    {
        auto* const counter = static_cast<std::uint32_t*>(scratch);
        cuda::check(cudaMemsetAsync(counter, 0, sizeof(*counter), stream), "memset");
        const code_tables tables{
            d_edges.get(), d_layers.get(), d_layer_count, d_places, d_n
        };
        const scratch_view view{ counter,
                                 static_cast<std::uint8_t*>(scratch) + 256,
                                 d_bytes_a_block,
                                 d_in_shared };
        decode_layered<Values, MostBits>
            <<<grid(frames.count), d_threads, d_shared_bytes, stream>>>(
                tables, frames, d_arithmetic, stop, view);
        cuda::check(cudaGetLastError(), "LDPC kernel");
    }

private:
    using posterior = typename Values::posterior;
    using message = typename Values::message;

    // Chooses the block size with the most resident threads per multiprocessor. Among
    // sizes with equally many, the smallest is chosen.
    void choose_threads(int device)
    {
        unsigned most = 0;
        const unsigned first = MostBits == any_check ? any_check_threads : 128;
        for (auto threads = first; threads <= max_threads; threads *= 2) {
            const auto resident = cuda::resident_blocks(
                decode_layered<Values, MostBits>, threads, d_shared_bytes);
            if (resident * threads > most) {
                most = resident * threads;
                d_threads = threads;
                d_blocks = resident * cuda::multiprocessors(device);
            }
        }
    }

    std::size_t grid(std::size_t codewords) const
    {
        return std::min<std::size_t>(d_blocks, codewords);
    }

    const cuda::buffer<std::uint32_t> d_edges;
    const cuda::buffer<device_layer> d_layers;
    const std::uint32_t d_layer_count, d_places, d_n;
    const device_arithmetic d_arithmetic;
    bool d_in_shared;
    std::size_t d_shared_bytes, d_bytes_a_block;
    unsigned d_threads = any_check_threads; // number of threads per block
    // Number of blocks that are resident on the device at a time.
    unsigned d_blocks = 1;
};

template <class Values>
std::unique_ptr<launch_plan>
make_plan(const ldpc_code& code, const message_rule& rule, int device)
{
    const auto tables = make_tables(code);
    const bool defers = std::any_of(tables.layers.begin(),
                                    tables.layers.end(),
                                    [](const auto& l) { return l.rounds > 0; });
    const auto degree = defers ? ~0u : code.largest_check_degree();
    if (degree <= 8) {
        return std::make_unique<layered_plan<Values, 8>>(tables, code, rule, device);
    }
    if (degree <= 16) {
        return std::make_unique<layered_plan<Values, 16>>(tables, code, rule, device);
    }
    return std::make_unique<layered_plan<Values, any_check>>(tables, code, rule, device);
}

} // namespace

std::unique_ptr<launch_plan>
make_layered_plan(const ldpc_code& code, const message_rule& rule, bool, int device)
{
    return with_channel_value(rule.precision, [&](auto value) {
        return make_plan<values_of<decltype(value)>>(code, rule, device);
    });
}

} // namespace device
} // namespace gr::gpufec::ldpc
