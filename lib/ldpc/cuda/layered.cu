// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Layered min-sum for any code and precision. A thread block decodes one codeword, and
 * its threads share the checks of a layer. The posteriors of the first bits are in shared
 * memory, as far as they fit, all others in device memory, as are the messages. Memory
 * latency limits the kernel. The checks of a layer are therefore grouped by their number
 * of edges, so that a thread can load the values of all edges of a check at once. */

#include "arithmetic.h"
#include "by_size.h"
#include "chain_entries.cuh"
#include "soft_output.cuh"
#include <algorithm>
#include <map>

namespace gr::gpufec::ldpc {
namespace device {

namespace {

constexpr unsigned any_check = 32; // MostBits of the kernel for checks of any size
// Largest number of threads per block, which limits the registers per thread.
template <unsigned MostBits>
constexpr unsigned block_threads = MostBits == 8 ? 1024 : 512;
constexpr unsigned flag_words = 4; // words of shared memory before the posteriors
constexpr unsigned round_shift = 24;
constexpr std::uint32_t bit_mask = (1u << round_shift) - 1;

// Checks of a layer that have the same number of edges.
struct check_group {
    std::uint32_t first_edge; // index of the group's first edge in code_tables::edges
    std::uint32_t checks;
    std::uint32_t degree;
};

struct device_layer {
    std::uint32_t first_group, end_group;
    std::uint32_t rounds; // number of rounds of deferred edges (layer_plan.h)
};

// The type of an edge in the tables of a code. It has the index of the edge's variable
// node in the bits below round_shift, and the edge's round (layer_plan.h) in the other
// bits. Kernels for checks of up to 16 bits use short indices, because the tables are a
// large part of what they read. These kernels support no deferred edges and no more than
// 65,536 bits.
template <unsigned MostBits>
using edge_of = std::conditional_t<MostBits == any_check, std::uint32_t, std::uint16_t>;

/* Tables of a code. The edges of a group are the first edges of all checks, then the
 * second edges, and so on. Messages have the same order. */
template <unsigned MostBits>
struct code_tables {
    const edge_of<MostBits>* edges;
    const check_group* groups;
    const device_layer* layers;
    std::uint32_t edge_count, layer_count;
    std::uint32_t n;
    std::uint32_t in_shared; // number of bits whose posteriors are in shared memory
};

// The memory of the blocks. Each block has places for messages, then for the changes by a
// layer with deferred edges, then for the posteriors that are not in shared memory.
struct scratch_view {
    std::uint32_t* counter;
    std::uint8_t* blocks;
    std::size_t bytes_a_block, changes_at, posteriors_at;
};

// The decoder of a thread block, for checks of at most MostBits bits. If MostBits is
// any_check, checks may have any number of bits. External: some posteriors are in device
// memory.
template <class Values, unsigned MostBits, bool External>
class layered_kernel
{
public:
    using value = typename Values::value;
    using posterior = typename Values::posterior;
    using message = typename Values::message;

    __device__ layered_kernel(const code_tables<MostBits>& code,
                              const device_frames& frames,
                              const device_arithmetic& arithmetic,
                              const stopping& stop,
                              const scratch_view& scratch)
        : d_code(code), d_frames(frames), d_arithmetic(arithmetic), d_stop(stop)
    {
        auto* const mine = scratch.blocks + blockIdx.x * scratch.bytes_a_block;
        d_flags = shared_words();
        d_message = reinterpret_cast<message*>(mine);
        d_change = reinterpret_cast<posterior*>(mine + scratch.changes_at);
        d_posterior = reinterpret_cast<posterior*>(d_flags + flag_words);
        d_external =
            reinterpret_cast<posterior*>(mine + scratch.posteriors_at) - code.in_shared;
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
        load(frame);
        __syncthreads();
        std::uint32_t i = 1;
        bool valid = false;
        for (;; ++i) {
            for (std::uint32_t l = 0; l < d_code.layer_count; ++l) {
                update(d_code.layers[l]);
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
                llrs.write<message>(i, posterior_at(i));
            }
        }
    }

    __device__ void load(const frame_place& frame)
    {
        const auto* const channel =
            reinterpret_cast<const message*>(d_frames.input + frame.input);
        for (std::uint32_t i = threadIdx.x; i < d_code.n; i += blockDim.x) {
            posterior_at(i) = Values::add(channel[i], 0); // turns a float −0 into 0
        }
        for (std::uint32_t i = threadIdx.x; i < d_code.edge_count; i += blockDim.x) {
            d_message[i] = 0;
        }
    }

    __device__ posterior& posterior_at(std::uint32_t bit) const
    {
        return (External && bit >= d_code.in_shared ? d_external : d_posterior)[bit];
    }

    // Returns a copy of a pointer that the compiler takes for another one. With one
    // variable for loads and stores, the compiler would keep all 64-bit addresses from
    // the loads until the stores and spill registers.
    template <class T>
    __device__ static T* opaque(T* pointer)
    {
#ifdef __CUDA_ARCH__
        asm volatile("" : "+l"(pointer));
#endif
        return pointer;
    }

    __device__ void update(const device_layer l)
    {
        if (MostBits == any_check && l.rounds > 0) {
            update_sharing_checks(l);
            return;
        }
        for (auto i = l.first_group; i < l.end_group; ++i) {
            const auto g = d_code.groups[i];
            switch (g.degree <= 16 ? g.degree : (g.degree + 3) / 4 * 4) {
#define GPUFEC_DEGREE(D)               \
    case D:                            \
        if constexpr (D <= MostBits) { \
            update_short_checks<D>(g); \
        }                              \
        break;
                GPUFEC_DEGREE(1)
                GPUFEC_DEGREE(2)
                GPUFEC_DEGREE(3)
                GPUFEC_DEGREE(4)
                GPUFEC_DEGREE(5)
                GPUFEC_DEGREE(6)
                GPUFEC_DEGREE(7)
                GPUFEC_DEGREE(8)
                GPUFEC_DEGREE(9)
                GPUFEC_DEGREE(10)
                GPUFEC_DEGREE(11)
                GPUFEC_DEGREE(12)
                GPUFEC_DEGREE(13)
                GPUFEC_DEGREE(14)
                GPUFEC_DEGREE(15)
                GPUFEC_DEGREE(16)
                GPUFEC_DEGREE(20)
                GPUFEC_DEGREE(24)
                GPUFEC_DEGREE(28)
                GPUFEC_DEGREE(32)
#undef GPUFEC_DEGREE
            default:
                if constexpr (MostBits == any_check) {
                    update_long_checks(g);
                }
            }
        }
    }

    // Updates checks of up to MaxDegree edges, which fit in registers, so that their
    // loads overlap. Above 16, the last three of the edges may be missing.
    template <unsigned MaxDegree>
    __device__ void update_short_checks(const check_group g)
    {
        constexpr unsigned sure = MaxDegree <= 16 ? MaxDegree : MaxDegree - 3;
        auto* const posteriors = opaque(d_posterior);
        auto* const external = opaque(d_external);
        auto* const messages = opaque(d_message);
        for (unsigned c = threadIdx.x; c < g.checks; c += blockDim.x) {
            std::uint32_t bit[MaxDegree];
            value t[MaxDegree];
            auto place = g.first_edge + c;
#pragma unroll
            for (unsigned e = 0; e < MaxDegree; ++e, place += g.checks) {
                if (e < sure || e < g.degree) {
                    bit[e] = __ldg(d_code.edges + place);
                    t[e] = d_message[place];
                }
            }
#pragma unroll
            for (unsigned e = 0; e < MaxDegree; ++e) {
                if (e < sure || e < g.degree) {
                    t[e] = Values::subtract(posterior_at(bit[e]), t[e]);
                }
            }
            check_input<Values> h;
#pragma unroll
            for (unsigned e = 0; e < MaxDegree; ++e) {
                if (e < sure || e < g.degree) {
                    h.add(t[e]);
                }
            }
            const auto magnitudes = h.check_to_variable(d_arithmetic);
            place = g.first_edge + c;
#pragma unroll
            for (unsigned e = 0; e < MaxDegree; ++e, place += g.checks) {
                if (e < sure || e < g.degree) {
                    const value r = h.message_to(t[e], magnitudes);
                    auto* const to =
                        External && bit[e] >= d_code.in_shared ? external : posteriors;
                    to[bit[e]] = Values::add(t[e], r);
                    messages[place] = r;
                }
            }
        }
    }

    // Calls action(edge, place) for the edges of check c of a group. \c place is the
    // index of the edge in the tables.
    template <class Action>
    __device__ void each_edge(const check_group g, unsigned c, Action&& action) const
    {
        auto place = g.first_edge + c;
        for (unsigned e = 0; e < g.degree; ++e, place += g.checks) {
            action(__ldg(d_code.edges + place), place);
        }
    }

    // Calls action(edge, place, t, r) with the messages t to and r from check c, for all
    // its edges, and stores r.
    template <class Action>
    __device__ void update_check(const check_group g, unsigned c, Action&& action)
    {
        const auto input = [this](std::uint32_t edge, std::uint32_t place) {
            return Values::subtract(posterior_at(edge & bit_mask), d_message[place]);
        };
        check_input<Values> h;
        each_edge(g, c, [&](std::uint32_t edge, std::uint32_t place) {
            h.add(input(edge, place));
        });
        const auto magnitudes = h.check_to_variable(d_arithmetic);
        each_edge(g, c, [&](std::uint32_t edge, std::uint32_t place) {
            const value t = input(edge, place);
            const value r = h.message_to(t, magnitudes);
            action(edge, place, t, r);
            d_message[place] = r;
        });
    }

    __device__ void update_long_checks(const check_group g)
    {
        for (unsigned c = threadIdx.x; c < g.checks; c += blockDim.x) {
            update_check(g, c, [&](std::uint32_t edge, std::uint32_t, value t, value r) {
                posterior_at(edge) = Values::add(t, r);
            });
        }
    }

    // Calls action(g, c) for the thread's checks c of all groups g of a layer.
    template <class Action>
    __device__ void each_check(const device_layer l, Action&& action) const
    {
        for (auto i = l.first_group; i < l.end_group; ++i) {
            const auto g = d_code.groups[i];
            for (unsigned c = threadIdx.x; c < g.checks; c += blockDim.x) {
                action(g, c);
            }
        }
    }

    // Updates a layer in which bits occur more than once. An edge of round 0 writes its
    // bit, and those of later rounds add their changes.
    __device__ void update_sharing_checks(const device_layer l)
    {
        const auto begin = d_code.groups[l.first_group].first_edge;
        const auto change = [&](std::uint32_t place) -> posterior& {
            return d_change[place - begin];
        };
        each_check(l, [&](const check_group g, unsigned c) {
            update_check(
                g, c, [&](std::uint32_t edge, std::uint32_t place, value t, value r) {
                    change(place) = edge >> round_shift
                                        ? Values::subtract(r, d_message[place])
                                        : Values::add(t, r);
                });
        });
        for (unsigned round = 0; round <= l.rounds; ++round) {
            __syncthreads();
            each_check(l, [&](const check_group g, unsigned c) {
                each_edge(g, c, [&](std::uint32_t edge, std::uint32_t place) {
                    if (edge >> round_shift == round) {
                        auto& p = posterior_at(edge & bit_mask);
                        p = round ? Values::add(p, change(place)) : change(place);
                    }
                });
            });
        }
    }

    // Returns the number of violated checks among the thread's checks of a layer.
    __device__ std::uint32_t violated(const device_layer l) const
    {
        std::uint32_t count = 0;
        each_check(l, [&](const check_group g, unsigned c) {
            bool sum = false;
            each_edge(g, c, [&](std::uint32_t edge, std::uint32_t) {
                sum ^= posterior_at(edge & bit_mask) < 0;
            });
            count += sum;
        });
        return count;
    }

    __device__ bool satisfied() const
    {
        for (std::uint32_t l = 0; l < d_code.layer_count; ++l) {
            if (__syncthreads_or(violated(d_code.layers[l]) > 0)) {
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
        for (std::uint32_t l = 0; l < d_code.layer_count; ++l) {
            count += violated(d_code.layers[l]);
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
            for (auto i = byte * 8; i < byte * 8 + 8; ++i) {
                bits = bits << 1 | (i < d_stop.out_bits && posterior_at(i) < 0);
            }
            out[byte] = std::uint8_t(bits);
        }
    }

    const code_tables<MostBits>& d_code;
    const device_frames& d_frames;
    const device_arithmetic& d_arithmetic;
    const stopping& d_stop;
    std::uint32_t* d_flags; // words for the index of the frame and the count of violated
                            // checks
    message* d_message;
    posterior* d_change; // changes by the edges of a layer with deferred edges
    posterior* d_posterior;
    posterior* d_external; // posteriors in device memory, by the index of the bit
};

template <class Values, unsigned MostBits, bool External>
__global__ void __launch_bounds__(block_threads<MostBits>, 1)
    decode_layered(code_tables<MostBits> code,
                   device_frames frames,
                   device_arithmetic arithmetic,
                   stopping stop,
                   scratch_view scratch)
{
    layered_kernel<Values, MostBits, External>(code, frames, arithmetic, stop, scratch)
        .run(scratch.counter);
}

struct host_tables {
    std::vector<std::uint32_t> edges;
    std::vector<check_group> groups;
    std::vector<device_layer> layers;
    std::size_t changes = 0; // largest number of edges of a layer with deferred edges
};

host_tables make_tables(const ldpc_code& code)
{
    const auto plan = make_layer_plan(code);
    host_tables t;
    for (std::size_t l = 0; l < plan.layers(); ++l) {
        std::map<std::uint32_t, std::vector<std::uint32_t>> by_degree;
        for (auto i = plan.layer_begin[l]; i < plan.layer_begin[l + 1]; ++i) {
            by_degree[plan.edge_begin[i + 1] - plan.edge_begin[i]].push_back(i);
        }
        const auto first_edge = t.edges.size();
        const auto first_group = std::uint32_t(t.groups.size());
        for (const auto& [degree, checks] : by_degree) {
            t.groups.push_back(
                { std::uint32_t(t.edges.size()), std::uint32_t(checks.size()), degree });
            for (std::uint32_t e = 0; e < degree; ++e) {
                for (const auto check : checks) {
                    const auto& edge = plan.edges[plan.edge_begin[check] + e];
                    t.edges.push_back(edge.bit | std::uint32_t(edge.round)
                                                     << round_shift);
                }
            }
        }
        t.layers.push_back(
            { first_group, std::uint32_t(t.groups.size()), plan.rounds[l] });
        if (plan.rounds[l] > 0) {
            t.changes = std::max(t.changes, t.edges.size() - first_edge);
        }
    }
    return t;
}

// Returns the number of bits of a codeword whose posteriors fit in shared memory.
template <class Values>
std::uint32_t bits_in_shared(std::uint32_t n, int device)
{
    const auto bytes =
        cuda::shared_per_block(device) - flag_words * sizeof(std::uint32_t);
    return std::min<std::size_t>(n, bytes / sizeof(typename Values::posterior));
}

template <class Values, unsigned MostBits, bool External>
class layered_plan : public launch_plan
{
public:
    layered_plan(const host_tables& t,
                 const ldpc_code& code,
                 const message_rule& rule,
                 int device)
        : d_edges(
              to_device(std::vector<edge_of<MostBits>>(t.edges.begin(), t.edges.end()))),
          d_groups(to_device(t.groups)),
          d_layers(to_device(t.layers)),
          d_tables{ d_edges.get(),
                    d_groups.get(),
                    d_layers.get(),
                    std::uint32_t(t.edges.size()),
                    std::uint32_t(t.layers.size()),
                    code.n(),
                    bits_in_shared<Values>(code.n(), device) },
          d_arithmetic(arithmetic_of(rule)),
          d_shared_bytes(flag_words * sizeof(std::uint32_t) +
                         d_tables.in_shared * sizeof(posterior)),
          d_changes_at(padded(t.edges.size() * sizeof(message))),
          d_posteriors_at(d_changes_at + padded(t.changes * sizeof(posterior))),
          d_bytes_a_block(d_posteriors_at +
                          padded((code.n() - d_tables.in_shared) * sizeof(posterior)))
    {
        cuda::allow_shared(kernel, d_shared_bytes, "the code");
        choose_threads(device);
    }

    std::size_t scratch_bytes(std::size_t codewords) const override
    {
        return counter_bytes + grid(codewords) * d_bytes_a_block;
    }

    void launch(const device_frames& frames,
                const stopping& stop,
                void* scratch,
                cudaStream_t stream) const override
    {
        auto* const counter = static_cast<std::uint32_t*>(scratch);
        cuda::check(cudaMemsetAsync(counter, 0, sizeof(*counter), stream), "memset");
        const scratch_view view{ counter,
                                 static_cast<std::uint8_t*>(scratch) + counter_bytes,
                                 d_bytes_a_block,
                                 d_changes_at,
                                 d_posteriors_at };
        kernel<<<grid(frames.count), d_threads, d_shared_bytes, stream>>>(
            d_tables, frames, d_arithmetic, stop, view);
        cuda::check(cudaGetLastError(), "LDPC kernel");
    }

private:
    using posterior = typename Values::posterior;
    using message = typename Values::message;
    static constexpr std::size_t counter_bytes = 256;
    static constexpr auto* kernel = decode_layered<Values, MostBits, External>;

    static std::size_t padded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

    // Chooses the block size with the most resident threads per multiprocessor. Among
    // sizes with equally many, the smallest is chosen for which the scratch memory of all
    // blocks takes at most three quarters of the L2 cache.
    void choose_threads(int device)
    {
        const auto l2 = cuda::device_attribute(cudaDevAttrL2CacheSize, device);
        unsigned most = 0;
        for (auto threads = block_threads<MostBits>; threads >= 32; threads /= 2) {
            const auto resident = cuda::resident_blocks(kernel, threads, d_shared_bytes);
            const auto blocks = resident * cuda::multiprocessors(device);
            if (resident * threads > most ||
                (resident * threads == most &&
                 4 * blocks * d_bytes_a_block <= 3 * std::size_t(l2))) {
                most = resident * threads;
                d_threads = threads;
                d_blocks = blocks;
            }
        }
    }

    std::size_t grid(std::size_t codewords) const
    {
        return std::min<std::size_t>(d_blocks, codewords);
    }

    const cuda::buffer<edge_of<MostBits>> d_edges;
    const cuda::buffer<check_group> d_groups;
    const cuda::buffer<device_layer> d_layers;
    const code_tables<MostBits> d_tables;
    const device_arithmetic d_arithmetic;
    const std::size_t d_shared_bytes, d_changes_at, d_posteriors_at, d_bytes_a_block;
    unsigned d_threads = 0; // number of threads per block
    unsigned d_blocks = 0;  // number of blocks that are resident on the device at a time
};

template <class Values, bool External>
std::unique_ptr<launch_plan>
make_plan(const ldpc_code& code, const message_rule& rule, int device)
{
    const auto tables = make_tables(code);
    return at_least<std::unique_ptr<launch_plan>, 8, 16, any_check>(
        tables.changes || code.n() > 0x10000
            ? any_check
            : std::min(code.largest_check_degree(), any_check),
        [&](auto most) -> std::unique_ptr<launch_plan> {
            return std::make_unique<layered_plan<Values, most(), External>>(
                tables, code, rule, device);
        });
}

} // namespace

std::unique_ptr<launch_plan>
make_layered_plan(const ldpc_code& code, const message_rule& rule, bool, int device)
{
    return with_channel_value(rule.precision, [&](auto value) {
        using values = values_of<decltype(value)>;
        return bits_in_shared<values>(code.n(), device) < code.n()
                   ? make_plan<values, true>(code, rule, device)
                   : make_plan<values, false>(code, rule, device);
    });
}

} // namespace device
} // namespace gr::gpufec::ldpc
