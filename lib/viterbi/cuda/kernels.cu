// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The launch plans of the CUDA backend, and the kernels that convert input. */

#include "cuda/first_plan.h"
#include "kernels.h"
#include "pbvd.cuh"
#include "prepare.cuh"
#include "register_input.cuh"
#include "register_kernel.cuh"
#include "viterbi/model/metric_rule.h"
#include <stdexcept>
#include <string>

namespace gr::gpufec::viterbi {
namespace device {

using namespace cuda;

namespace {

std::size_t round_up(std::size_t x, std::size_t unit)
{
    return (x + unit - 1) / unit * unit;
}

void launch_prepare(const batch_geometry& g,
                    const device_buffers& memory,
                    cudaStream_t stream)
{
    const dim3 tiles(g.pairs / 32, (g.plan.window + prepare_stages - 1) / prepare_stages);
    choose_prepare(
        g.map.outputs)<<<tiles, prepare_threads, prepare_shared_bytes(g.map), stream>>>(
        g, memory.input, memory.soft);
}

output_order as_sent(const conv_code& code)
{
    output_order o{};
    for (unsigned r = 0; r < code.outputs(); ++r) {
        o.source[r] = r;
        o.inverted = o.inverted << 1 | code.inverted(r);
    }
    return o;
}

// Launch plan for any code: prepare() and the kernels of pbvd.cuh.
class pbvd : public launch_plan
{
public:
    explicit pbvd(const conv_code& code)
        : d_history(metric_history(code.constraint_length(), code.outputs())),
          d_layout(make_pbvd_layout(code, d_history)),
          d_forward(forward_kernel(
              d_history, code.outputs(), d_layout.states, d_layout.even_chunk)),
          d_order(as_sent(code)),
          d_separate(pbvd_shared_bytes(d_layout, true) <= shared_per_block())
    {
        allow_shared(d_forward,
                     pbvd_shared_bytes(d_layout, d_separate),
                     "a code with this number of states");
    }

    output_order order() const override { return d_order; }

    std::size_t survivor_words(const block_layout& plan) const override
    {
        return round_up(plan.window, d_history) / d_history * d_layout.words;
    }

    void launch(const batch_geometry& g,
                const device_buffers& memory,
                cudaStream_t stream,
                const marker& mark) const override
    {
        launch_prepare(g, memory, stream);
        mark("prepare");
        d_forward<<<g.pairs / 32,
                    dim3(32, d_layout.warps),
                    pbvd_shared_bytes(d_layout, d_separate),
                    stream>>>(g, d_layout, d_separate, memory.soft, memory.survivors);
        mark("forward");
        const auto traceback = d_history == 4 ? pbvd_traceback<4> : pbvd_traceback<2>;
        traceback<<<(g.job.blocks + 255) / 256, 256, 0, stream>>>(
            g, d_layout, memory.survivors, memory.output);
        mark("traceback");
    }

private:
    using forward = void (*)(const batch_geometry,
                             const pbvd_layout,
                             bool,
                             const std::uint32_t*,
                             std::uint32_t*);

    // Returns the forward kernel that is compiled for these four numbers or, if that
    // kernel does not exist, the forward kernel for all codes with this history and this
    // number of outputs.
    static forward forward_kernel(unsigned history,
                                  unsigned outputs,
                                  unsigned states,
                                  unsigned even_chunk)
    {
        const auto is = [&](unsigned h, unsigned r, unsigned n, unsigned c) {
            return history == h && outputs == r && states == n && even_chunk == c;
        };
        if (is(4, 2, 64, 8)) {
            return pbvd_forward<4, 2, 64, 8>;
        }
        if (is(4, 2, 256, 16)) {
            return pbvd_forward<4, 2, 256, 16>;
        }
        if (is(4, 3, 64, 4)) {
            return pbvd_forward<4, 3, 64, 4>;
        }
        if (is(2, 3, 256, 16)) {
            return pbvd_forward<2, 3, 256, 16>;
        }
        if (is(2, 4, 64, 4)) {
            return pbvd_forward<2, 4, 64, 4>;
        }
        switch (outputs) {
        case 2:
            return history == 4 ? pbvd_forward<4, 2, 0, 0> : pbvd_forward<2, 2, 0, 0>;
        case 3:
            return history == 4 ? pbvd_forward<4, 3, 0, 0> : pbvd_forward<2, 3, 0, 0>;
        case 4:
            return history == 4 ? pbvd_forward<4, 4, 0, 0> : pbvd_forward<2, 4, 0, 0>;
        case 5:
            return history == 4 ? pbvd_forward<4, 5, 0, 0> : pbvd_forward<2, 5, 0, 0>;
        default:
            return pbvd_forward<2, 6, 0, 0>;
        }
    }

    const unsigned d_history;
    const pbvd_layout d_layout;
    const forward d_forward;
    const output_order d_order;
    const bool d_separate; // see pbvd_shared_bytes()
};

// Launch plan with path metrics in registers. Large batches use 2^Wide threads per pair
// of blocks, and two kernels (called wide here). Small batches use 2^Narrow threads per
// pair, and the fused kernel (called narrow).
template <class Code, unsigned Wide, unsigned Narrow>
class registers : public launch_plan
{
public:
    enum class use { automatic, wide, narrow };

    registers(const setup& setup, const output_order& order, use which)
        : d_order(order), d_use(which)
    {
        d_processors = multiprocessors();
        for (d_threads = register_threads; d_threads >= 32; d_threads /= 2) {
            d_shared = fused_shared_bytes<Code, Narrow>(setup.plan, d_threads);
            if (d_shared <= shared_per_block()) {
                break;
            }
        }
        d_narrow_fits = d_threads >= 32;
        if (d_narrow_fits) {
            const std::string fused_blocks = "the window of a block";
            allow_shared(fused<prepared, false>(), d_shared, fused_blocks);
            allow_shared(fused<prepared, true>(), d_shared, fused_blocks);
            if constexpr (Code::outputs == 2) {
                allow_shared(fused<direct_input, false>(), d_shared, fused_blocks);
            }
            d_round = std::size_t(d_processors) *
                      resident_blocks(fused<prepared, false>(), d_threads, d_shared);
        }
    }

    //! Returns whether \p code has the polynomials of Code, in any order. If so, stores
    //! that order and the inverted outputs in \p order.
    static bool match(const conv_code& code, output_order& order)
    {
        if (code.constraint_length() != Code::constraint_length ||
            code.outputs() != Code::outputs) {
            return false;
        }
        order = {};
        for (unsigned r = 0; r < Code::outputs; ++r) {
            unsigned sent = 0;
            while (sent < Code::outputs && code.polynomial(sent) != Code::polynomial(r)) {
                ++sent;
            }
            if (sent == Code::outputs) {
                return false;
            }
            order.source[r] = sent;
            order.inverted = order.inverted << 1 | code.inverted(sent);
        }
        return true;
    }

    output_order order() const override { return d_order; }

    std::size_t survivor_words(const block_layout& plan) const override
    {
        return round_up(plan.window, wide::round) / 4 * (Code::states / 4);
    }

    // Returns the number of parallel blocks with which each scheduler has three warps. In
    // a flowgraph with ports in device memory, K=7 then decodes 125 Gb/s; with two warps
    // per scheduler 116 Gb/s, and with four 113 Gb/s (H200).
    std::size_t large_batch() const override
    {
        return 6 * (std::size_t(register_threads) * d_processors >> Wide);
    }

    void launch(const batch_geometry& g,
                const device_buffers& memory,
                cudaStream_t stream,
                const marker& mark) const override
    {
        const bool frames =
            !g.plan.streaming() && g.plan.termination != termination::tailbiting;
        if constexpr (Code::outputs == 2) {
            if (reads_directly(g)) {
                mark("prepare");
                launch<direct_input, false>(g, memory.input, memory, stream, mark);
                return;
            }
        }
        launch_prepare(g, memory, stream);
        mark("prepare");
        if (frames) {
            launch<prepared, true>(g, memory.soft, memory, stream, mark);
        } else {
            launch<prepared, false>(g, memory.soft, memory, stream, mark);
        }
    }

private:
    using prepared = prepared_input<Code::outputs>;
    using wide = wide_trellis<Code, Wide>;
    using narrow = register_trellis<Code, Narrow>;

    // Largest grid for the narrow kernel, in multiples of the number of thread blocks
    // that are resident at the same time. The narrow kernel is faster than the wide
    // kernels up to one multiple (4096 blocks: 0.09 instead of 0.15 ms per batch). At two
    // multiples (8192 blocks) the times differ by less than 10 %. At three multiples
    // (10240 blocks) the wide kernels are faster (0.17 instead of 0.24 ms). Source:
    // bench/results/viterbi/viterbi-table3-h200.json.
    static constexpr std::size_t narrow_rounds = 2;

    template <class Input, bool Frames>
    static auto fused()
    {
        return fused_registers<Code, Narrow, Input, Frames>;
    }

    // Returns the wide forward kernel. With one thread per pair and direct input, one
    // kernel is compiled for each mask of inverted outputs, because a test at run time
    // would cost instructions at every stage.
    template <class Input, bool Frames>
    static auto forward([[maybe_unused]] unsigned inverted)
    {
        if constexpr (Wide == 0 && std::is_same_v<Input, direct_input>) {
            switch (inverted) {
            case 1:
                return forward_registers<Code, Wide, Input, Frames, 1>;
            case 2:
                return forward_registers<Code, Wide, Input, Frames, 2>;
            case 3:
                return forward_registers<Code, Wide, Input, Frames, 3>;
            default:
                break;
            }
        }
        return forward_registers<Code, Wide, Input, Frames>;
    }

    // Returns whether direct_input can read the windows in aligned 8-byte words, in the
    // wide and in the narrow kernel.
    static bool reads_directly(const batch_geometry& g)
    {
        if (!g.plan.streaming() || g.packed4 || g.map.period > 1) {
            return false;
        }
        const auto aligned = [&](unsigned round) {
            const std::int64_t before = round_up(g.plan.window, round) - g.plan.window;
            const std::int64_t first = g.plan.at(g.job.first_block).start - before;
            return (first * 2 - std::int64_t(g.job.first_value)) % 8 == 0;
        };
        return aligned(wide::round) && aligned(narrow::round);
    }

    template <class Input, bool Frames>
    void launch(const batch_geometry& g,
                const void* input,
                const device_buffers& memory,
                cudaStream_t stream,
                const marker& mark) const
    {
        const auto pairs = (g.job.blocks + 1) / 2;
        const auto grid = ((pairs << Narrow) + d_threads - 1) / d_threads;
        const bool few = d_use == use::narrow ||
                         (d_use == use::automatic && grid <= narrow_rounds * d_round);
        if (few && d_narrow_fits) {
            fused<Input, Frames>()<<<grid, d_threads, d_shared, stream>>>(
                g, input, memory.output);
            mark("forward");
            mark("traceback");
            return;
        }
        // The warps of a large thread block share fetched instructions. All
        // multiprocessors receive the same number of warps, as nearly as possible.
        const auto all = std::size_t(g.pairs) << Wide;
        const auto rounds = (all - 1) / (std::size_t(wide_threads) * d_processors) + 1;
        const auto threads =
            round_up((all - 1) / (rounds * d_processors) + 1, register_threads);
        forward<Input, Frames>(
            g.order.inverted)<<<(all + threads - 1) / threads, threads, 0, stream>>>(
            g, input, memory.survivors);
        mark("forward");
        traceback_registers<Code, Wide>
            <<<(g.job.blocks + traceback_threads - 1) / traceback_threads,
               traceback_threads,
               0,
               stream>>>(g, memory.survivors, memory.output);
        mark("traceback");
    }

    const output_order d_order;
    const use d_use;
    int d_processors;
    unsigned d_threads;
    std::size_t d_shared = 0;
    std::size_t d_round = 0; // resident thread blocks of the narrow kernel on the device
    bool d_narrow_fits;
};

template <class Code, unsigned Wide, unsigned Narrow>
std::unique_ptr<launch_plan> make_registers(const setup& setup)
{
    using type = registers<Code, Wide, Narrow>;
    const auto& name = setup.cuda_kernel;
    output_order order;
    if (name == "pbvd" || !type::match(setup.code, order)) {
        return nullptr;
    }
    const auto which = name == "registers" ? type::use::wide
                       : name == "fused"   ? type::use::narrow
                                           : type::use::automatic;
    return std::make_unique<type>(setup, order, which);
}

std::unique_ptr<launch_plan> make_pbvd(const setup& setup)
{
    const bool takes = setup.cuda_kernel == "auto" || setup.cuda_kernel == "pbvd";
    return takes ? std::make_unique<pbvd>(setup.code) : nullptr;
}

} // namespace

std::unique_ptr<launch_plan> make_launch_plan(const setup& setup)
{
    allow_shared(choose_prepare(setup.map.outputs),
                 prepare_shared_bytes(setup.map),
                 "the puncturing pattern");
    auto plan = cuda::first_plan({ make_registers<static_code<7, 0171, 0133>, 0, 3>,
                                   make_registers<static_code<7, 0133, 0171, 0165>, 0, 3>,
                                   make_registers<static_code<9, 0753, 0561>, 2, 5>,
                                   make_pbvd },
                                 setup);
    if (!plan) {
        throw std::runtime_error("cuda_kernel is \"" + setup.cuda_kernel +
                                 "\": this kernel does not support the code " +
                                 setup.named.to_string() + ", but \"auto\" does");
    }
    return plan;
}

namespace {

__device__ unsigned soft_step(float x, float scale)
{
    const float scaled = x == x ? x * scale : 0;
    return unsigned(__float2int_rn(fminf(fmaxf(scaled, -128.0f), 127.0f))) & 0xffu;
}

// Each thread converts four floats to int8.
__global__ void steps(job job, const float* from, std::size_t count, std::int8_t* to)
{
    const auto first = 4 * (std::size_t(blockIdx.x) * blockDim.x + threadIdx.x);
    if (first + 4 <= count) {
        const auto x = *reinterpret_cast<const float4*>(from + first);
        *reinterpret_cast<std::uint32_t*>(to + first) =
            soft_step(x.x, job.scale_of(first)) |
            soft_step(x.y, job.scale_of(first + 1)) << 8 |
            soft_step(x.z, job.scale_of(first + 2)) << 16 |
            soft_step(x.w, job.scale_of(first + 3)) << 24;
        return;
    }
    for (auto i = first; i < count; ++i) {
        to[i] = std::int8_t(soft_step(from[i], job.scale_of(i)));
    }
}

} // namespace

void launch_quantise(const job& job,
                     const float* floats,
                     std::size_t count,
                     std::int8_t* values,
                     cudaStream_t stream)
{
    constexpr unsigned threads = 256;
    const auto blocks = (count + 4 * threads - 1) / (4 * threads);
    if (blocks > 0) {
        steps<<<unsigned(blocks), threads, 0, stream>>>(job, floats, count, values);
    }
}

namespace {

// Each thread converts four values from offset binary to int8.
__global__ void from_offset_binary(std::uint8_t* values, std::size_t count)
{
    const auto first = 4 * (std::size_t(blockIdx.x) * blockDim.x + threadIdx.x);
    if (first + 4 <= count) {
        *reinterpret_cast<std::uint32_t*>(values + first) ^= 0x80808080u;
        return;
    }
    for (auto i = first; i < count; ++i) {
        values[i] ^= 0x80u;
    }
}

} // namespace

void launch_offset_binary(std::byte* values, std::size_t count, cudaStream_t stream)
{
    constexpr unsigned threads = 256;
    const auto blocks = (count + 4 * threads - 1) / (4 * threads);
    if (blocks > 0) {
        from_offset_binary<<<unsigned(blocks), threads, 0, stream>>>(
            reinterpret_cast<std::uint8_t*>(values), count);
    }
}

namespace {

// Each thread applies the rotation to a word of four values, I and Q of two symbols.
__global__ void rotate_pairs(phase_rotation t, std::uint32_t* values, std::size_t count)
{
    const auto word = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (4 * word >= count) {
        return;
    }
    std::uint32_t v = values[word];
    const auto left = count - 4 * word; // bytes after the last value become erasures
    v &= left >= 4 ? ~0u : (1u << 8 * left) - 1;
    v = __vmaxs4(t.exchanged ? __byte_perm(v, 0, 0x2301) : v, 0x81818181u);
    const std::uint32_t changed =
        (t.changed[0] ? 0x00ff00ffu : 0u) | (t.changed[1] ? 0xff00ff00u : 0u);
    values[word] = (v & ~changed) | (__vneg4(v) & changed);
}

} // namespace

void launch_rotation(const phase_rotation& t,
                     std::int8_t* values,
                     std::size_t count,
                     cudaStream_t stream)
{
    constexpr unsigned threads = 256;
    const auto blocks = (count + 4 * threads - 1) / (4 * threads);
    if (blocks > 0) {
        rotate_pairs<<<unsigned(blocks), threads, 0, stream>>>(
            t, reinterpret_cast<std::uint32_t*>(values), count);
    }
}

} // namespace device
} // namespace gr::gpufec::viterbi
