// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Flooding min-sum for any code, as in L. Feltrin's thesis (README.md, Sources), with one
 * kernel for check nodes and one for variable nodes. Codewords are interleaved; a thread
 * updates one node of one codeword. */

#include "arithmetic.h"
#include "soft_output.cuh"
#include <algorithm>

namespace gr::gpufec::ldpc {
namespace device {

namespace {

constexpr unsigned threads = 256;

// The Tanner graph: the bits of each check, and the indices of the messages on the edges
// of each bit.
struct graph {
    const std::uint32_t* check_begin;
    const std::uint32_t* check_bits;
    const std::uint32_t* bit_begin;
    const std::uint32_t* bit_edges;
    std::uint32_t n, checks, edges;
};

// Arrays of a batch. Value i of codeword w has index i·width + w.
template <class Values>
struct batch {
    typename Values::message* channel;
    typename Values::message* messages;
    typename Values::posterior* posteriors;
    std::uint32_t* violated; // number of violated checks of each codeword
    std::uint32_t* done;     // number of iterations of each stopped codeword, else 0
    std::uint32_t width;     // number of codewords
};

__device__ inline std::uint32_t node(std::uint32_t width)
{
    return (blockIdx.x * blockDim.x + threadIdx.x) / width;
}
__device__ inline std::uint32_t lane(std::uint32_t width)
{
    return (blockIdx.x * blockDim.x + threadIdx.x) % width;
}

template <class Values>
__global__ void begin(graph g, device_frames frames, batch<Values> b)
{
    const auto w = lane(b.width), bit = node(b.width);
    if (bit >= g.n) {
        return;
    }
    const auto* const from = reinterpret_cast<const typename Values::message*>(
        frames.input + frames.table[w].input);
    const auto x = typename Values::message(Values::add(from[bit], 0)); // turns −0 into 0
    const auto at = std::size_t(bit) * b.width + w;
    b.channel[at] = x;
    b.posteriors[at] = x;
    if (bit == 0) {
        b.done[w] = 0;
        b.violated[w] = 0;
    }
}

template <class Values>
__global__ void
update_checks(graph g, device_arithmetic arithmetic, batch<Values> b, bool first)
{
    const auto w = lane(b.width), c = node(b.width);
    if (c >= g.checks || b.done[w]) {
        return;
    }
    const auto input = [&](std::uint32_t e) {
        const std::size_t message = std::size_t(e) * b.width + w;
        const std::size_t bit = std::size_t(g.check_bits[e]) * b.width + w;
        return Values::subtract(b.posteriors[bit],
                                first ? typename Values::value(0)
                                      : typename Values::value(b.messages[message]));
    };
    check_input<Values> h;
    for (auto e = g.check_begin[c]; e < g.check_begin[c + 1]; ++e) {
        h.add(input(e));
    }
    const auto magnitudes = h.check_to_variable(arithmetic);
    for (auto e = g.check_begin[c]; e < g.check_begin[c + 1]; ++e) {
        b.messages[std::size_t(e) * b.width + w] = h.message_to(input(e), magnitudes);
    }
}

template <class Values>
__global__ void update_bits(graph g, batch<Values> b)
{
    const auto w = lane(b.width), bit = node(b.width);
    if (bit >= g.n || b.done[w]) {
        return;
    }
    const auto at = std::size_t(bit) * b.width + w;
    typename Values::value sum = b.channel[at];
    for (auto i = g.bit_begin[bit]; i < g.bit_begin[bit + 1]; ++i) {
        sum = Values::add(sum, b.messages[std::size_t(g.bit_edges[i]) * b.width + w]);
    }
    b.posteriors[at] = sum;
}

template <class Values>
__global__ void count_violated(graph g, batch<Values> b)
{
    const auto w = lane(b.width), c = node(b.width);
    if (c >= g.checks || b.done[w]) {
        return;
    }
    bool sum = false;
    for (auto e = g.check_begin[c]; e < g.check_begin[c + 1]; ++e) {
        sum ^= b.posteriors[std::size_t(g.check_bits[e]) * b.width + w] < 0;
    }
    if (sum) {
        atomicAdd(b.violated + w, 1u);
    }
}

// Stops the codewords that satisfy every check, or all codewords if \p last is set.
template <class Values>
__global__ void
judge(device_frames frames, batch<Values> b, std::uint32_t iteration, bool last)
{
    const auto w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= b.width || b.done[w]) {
        return;
    }
    if (last || b.violated[w] == 0) {
        b.done[w] = iteration;
        frames.status[frames.table[w].status] = { iteration, b.violated[w] };
    }
    b.violated[w] = 0;
}

template <class Values>
__global__ void
write_decisions(device_frames frames, batch<Values> b, std::uint32_t out_bits)
{
    const auto w = lane(b.width), byte = node(b.width);
    if (byte * 8 >= out_bits) {
        return;
    }
    unsigned bits = 0;
    for (auto i = byte * 8; i < byte * 8 + 8; ++i) {
        bits =
            bits << 1 | (i < out_bits && b.posteriors[std::size_t(i) * b.width + w] < 0);
    }
    frames.output[frames.table[w].output + byte] = std::uint8_t(bits);
}

template <class Values>
__global__ void write_llrs(graph g, device_frames frames, batch<Values> b, stopping stop)
{
    const auto w = lane(b.width), bit = node(b.width);
    if (bit < g.n) {
        const soft_writer llrs(frames, frames.table[w], stop);
        llrs.write<typename Values::message>(
            bit, b.posteriors[std::size_t(bit) * b.width + w]);
    }
}

struct host_graph {
    std::vector<std::uint32_t> check_begin, check_bits, bit_begin, bit_edges;

    explicit host_graph(const ldpc_code& code)
    {
        std::vector<std::vector<std::uint32_t>> edges_of(code.n());
        check_begin.push_back(0);
        for (unsigned c = 0; c < code.checks(); ++c) {
            for (const auto bit : code.check(c)) {
                edges_of[bit].push_back(std::uint32_t(check_bits.size()));
                check_bits.push_back(bit);
            }
            check_begin.push_back(std::uint32_t(check_bits.size()));
        }
        bit_begin.push_back(0);
        for (const auto& edges : edges_of) {
            bit_edges.insert(bit_edges.end(), edges.begin(), edges.end());
            bit_begin.push_back(std::uint32_t(bit_edges.size()));
        }
    }
};

template <class Values>
class flooding_plan : public launch_plan
{
public:
    flooding_plan(const ldpc_code& code, const message_rule& rule)
        : flooding_plan(host_graph(code), code, rule)
    {
    }

    std::size_t scratch_bytes(std::size_t codewords) const override
    {
        return layout(nullptr, codewords).second;
    }

    void launch(const device_frames& frames,
                const stopping& stop,
                void* scratch,
                cudaStream_t stream) const override
    {
        const auto b = layout(static_cast<std::uint8_t*>(scratch), frames.count).first;
        const auto g = view();
        const auto grid = [&b](std::size_t nodes) {
            return unsigned((nodes * b.width + threads - 1) / threads);
        };
        begin<Values><<<grid(g.n), threads, 0, stream>>>(g, frames, b);
        for (std::uint32_t i = 1; i <= stop.max_iterations; ++i) {
            const bool last = i == stop.max_iterations;
            update_checks<Values>
                <<<grid(g.checks), threads, 0, stream>>>(g, d_arithmetic, b, i == 1);
            update_bits<Values><<<grid(g.n), threads, 0, stream>>>(g, b);
            if (last || stop.early_stop) {
                count_violated<Values><<<grid(g.checks), threads, 0, stream>>>(g, b);
                judge<Values><<<grid(1), threads, 0, stream>>>(frames, b, i, last);
            }
        }
        if (stop.out_bits > 0) {
            write_decisions<Values>
                <<<grid((stop.out_bits + 7) / 8), threads, 0, stream>>>(
                    frames, b, stop.out_bits);
        }
        if (stop.soft != ldpc_soft_output::none) {
            write_llrs<Values><<<grid(g.n), threads, 0, stream>>>(g, frames, b, stop);
        }
        cuda::check(cudaGetLastError(), "LDPC kernels");
    }

private:
    flooding_plan(const host_graph& g, const ldpc_code& code, const message_rule& rule)
        : d_check_begin(to_device(g.check_begin)),
          d_check_bits(to_device(g.check_bits)),
          d_bit_begin(to_device(g.bit_begin)),
          d_bit_edges(to_device(g.bit_edges)),
          d_n(code.n()),
          d_checks(code.checks()),
          d_edges(std::uint32_t(code.edges())),
          d_arithmetic(arithmetic_of(rule))
    {
    }

    graph view() const
    {
        return { d_check_begin.get(),
                 d_check_bits.get(),
                 d_bit_begin.get(),
                 d_bit_edges.get(),
                 d_n,
                 d_checks,
                 d_edges };
    }

    // Returns the arrays in scratch memory, and their size in bytes.
    std::pair<batch<Values>, std::size_t> layout(std::uint8_t* scratch,
                                                 std::size_t codewords) const
    {
        std::size_t used = 0;
        const auto take = [&](auto*& pointer, std::size_t count) {
            pointer = reinterpret_cast<std::decay_t<decltype(pointer)>>(scratch + used);
            used += (count * sizeof(*pointer) + 255) / 256 * 256;
        };
        batch<Values> b{};
        b.width = std::uint32_t(codewords);
        take(b.channel, d_n * codewords);
        take(b.messages, d_edges * codewords);
        take(b.posteriors, d_n * codewords);
        take(b.violated, codewords);
        take(b.done, codewords);
        return { b, used };
    }

    const cuda::buffer<std::uint32_t> d_check_begin, d_check_bits, d_bit_begin,
        d_bit_edges;
    const std::uint32_t d_n, d_checks, d_edges;
    const device_arithmetic d_arithmetic;
};

} // namespace

std::unique_ptr<launch_plan> make_flooding_plan(const ldpc_code& code,
                                                const message_rule& rule)
{
    return with_channel_value(
        rule.precision, [&](auto value) -> std::unique_ptr<launch_plan> {
            return std::make_unique<flooding_plan<values_of<decltype(value)>>>(code,
                                                                               rule);
        });
}

} // namespace device
} // namespace gr::gpufec::ldpc
