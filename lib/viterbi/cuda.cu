// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The CUDA backend: a stream and device memory for each slot, and the launch plan. */

#include "cuda/device_decoder.h"
#include "cuda_pbvd.cuh"
#include "cuda_prepare.cuh"
#include "cuda_registers.cuh"
#include "metric_rule.h"
#include "room.h"
#include <stdexcept>
#include <vector>

namespace gr::gpufec::viterbi {

namespace {

using namespace cuda;
using namespace device;

std::size_t round_up(std::size_t x, std::size_t unit)
{
    return (x + unit - 1) / unit * unit;
}

// Device memory of a slot.
struct device_buffers {
    const std::byte* input;
    std::uint32_t* soft;
    std::uint32_t* survivors;
    std::byte* output;
};

// The kernels that decode a code.
class kernels
{
public:
    virtual ~kernels() = default;
    virtual output_order order() const = 0;
    //! Words of survivors of a pair of blocks.
    virtual std::size_t survivor_words(const block_plan& plan) const = 0;
    virtual void launch(const batch_geometry& g,
                        const device_buffers& memory,
                        cudaStream_t stream,
                        const marker& mark) const = 0;

protected:
    static void launch_prepare(const batch_geometry& g,
                               const device_buffers& memory,
                               cudaStream_t stream)
    {
        const dim3 tiles(g.pairs / 32,
                         (g.plan.window + prepare_stages - 1) / prepare_stages);
        choose_prepare(g.map.outputs)<<<tiles,
                                        prepare_threads,
                                        prepare_shared_bytes(g.map),
                                        stream>>>(g, memory.input, memory.soft);
    }

    static output_order as_sent(const conv_code& code)
    {
        output_order o{};
        for (unsigned r = 0; r < code.outputs(); ++r) {
            o.source[r] = r;
            o.inverted = o.inverted << 1 | code.inverted(r);
        }
        return o;
    }
};

// The paper's decoder: prepare, forward, traceback.
class pbvd : public kernels
{
public:
    explicit pbvd(const conv_code& code)
        : d_history(metric_history(code.constraint_length(), code.outputs())),
          d_layout(make_pbvd_layout(code, d_history)),
          d_forward(forward_kernel(
              d_history, code.outputs(), d_layout.states, d_layout.even_chunk)),
          d_order(as_sent(code))
    {
        allow_shared(
            d_forward, pbvd_shared_bytes(d_layout), "a code with so many outputs");
    }

    output_order order() const override { return d_order; }

    std::size_t survivor_words(const block_plan& plan) const override
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
                    pbvd_shared_bytes(d_layout),
                    stream>>>(g, d_layout, memory.soft, memory.survivors);
        mark("forward");
        const auto traceback = d_history == 4 ? pbvd_traceback<4> : pbvd_traceback<2>;
        traceback<<<(g.job.blocks + 255) / 256, 256, 0, stream>>>(
            g, d_layout, memory.survivors, memory.output);
        mark("traceback");
    }

private:
    using forward = void (*)(const batch_geometry,
                             const pbvd_layout,
                             const std::uint32_t*,
                             std::uint32_t*);

    // The codes of the standards have kernels of their own.
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
};

// Path metrics in registers: many blocks with a thread a pair (2^Wide of them), few with
// 2^Narrow threads a pair and everything in one kernel.
template <class Code, unsigned Wide, unsigned Narrow>
class registers : public kernels
{
public:
    enum class use { automatic, wide, narrow };

    registers(const setup& setup, const output_order& order, use which)
        : d_order(order), d_use(which)
    {
        int device = 0, most = 0;
        check(cudaGetDevice(&device), "device");
        check(cudaDeviceGetAttribute(
                  &most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
              "device attribute");
        check(
            cudaDeviceGetAttribute(&d_processors, cudaDevAttrMultiProcessorCount, device),
            "device attribute");
        for (d_threads = register_threads; d_threads >= 32; d_threads /= 2) {
            d_shared = fused_shared_bytes<Code, Narrow>(setup.plan, d_threads);
            if (d_shared <= std::size_t(most)) {
                break;
            }
        }
        d_narrow_fits = d_threads >= 32;
        if (d_narrow_fits) {
            const std::string fused_blocks = "the window of a block";
            allow_shared(fused<prepared, false>(), d_shared, fused_blocks);
            allow_shared(fused<prepared, true>(), d_shared, fused_blocks);
            if constexpr (Code::outputs == 2) {
                allow_shared(fused<direct_input<false>, false>(), d_shared, fused_blocks);
                allow_shared(fused<direct_input<true>, false>(), d_shared, fused_blocks);
            }
            int resident = 0;
            check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                      &resident, fused<prepared, false>(), d_threads, d_shared),
                  "occupancy");
            d_round = std::size_t(resident) * d_processors;
        }
    }

    //! The order of a code's outputs, if it is this one.
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

    std::size_t survivor_words(const block_plan& plan) const override
    {
        return round_up(plan.window, wide::turn) / 4 * (Code::states / 4);
    }

    void launch(const batch_geometry& g,
                const device_buffers& memory,
                cudaStream_t stream,
                const marker& mark) const override
    {
        const bool frames = !g.plan.streaming() && g.plan.ends != termination::tailbiting;
        if constexpr (Code::outputs == 2) {
            if (reads_directly(g)) {
                mark("prepare");
                if (g.order.inverted) {
                    launch<direct_input<true>, false>(
                        g, memory.input, memory, stream, mark);
                } else {
                    launch<direct_input<false>, false>(
                        g, memory.input, memory, stream, mark);
                }
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

    // Up to so many rounds of thread blocks the narrow kernel is the faster one,
    // measured.
    static constexpr std::size_t narrow_rounds = 2;

    template <class Input, bool Frames>
    static auto fused()
    {
        return fused_registers<Code, Narrow, Input, Frames>;
    }

    // Rows of 8-byte words for direct_input, whichever trellis reads them.
    static bool reads_directly(const batch_geometry& g)
    {
        if (!g.plan.streaming() || g.packed4 || g.map.period > 1 ||
            g.order.inverted > 1) {
            return false;
        }
        const auto aligned = [&](unsigned turn) {
            const std::int64_t before = round_up(g.plan.window, turn) - g.plan.window;
            const std::int64_t first = g.plan.at(g.job.first_block).start - before;
            return (first * 2 - std::int64_t(g.job.first_value)) % 8 == 0;
        };
        return aligned(wide::turn) && aligned(narrow::turn);
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
        // Large thread blocks, whose warps share what is fetched, if all processors get
        // one.
        const auto all = std::size_t(g.pairs) << Wide;
        unsigned threads = wide_threads;
        while (threads > register_threads && all < std::size_t(threads) * d_processors) {
            threads /= 2;
        }
        forward_registers<Code, Wide, Input, Frames>
            <<<(all + threads - 1) / threads, threads, 0, stream>>>(
                g, input, memory.survivors);
        mark("forward");
        traceback_registers<Code, Wide>
            <<<g.pairs / 32, 32, 0, stream>>>(g, memory.survivors, memory.output);
        mark("traceback");
    }

    const output_order d_order;
    const use d_use;
    int d_processors;
    unsigned d_threads;
    std::size_t d_shared = 0;
    std::size_t d_round = 0; // thread blocks of the narrow kernel at a time
    bool d_narrow_fits;
};

template <class Code, unsigned Wide, unsigned Narrow>
std::unique_ptr<kernels> make_registers(const setup& setup, const std::string& name)
{
    using type = registers<Code, Wide, Narrow>;
    output_order order;
    if (!type::match(setup.code, order)) {
        return nullptr;
    }
    const auto which = name == "registers" ? type::use::wide
                       : name == "fused"   ? type::use::narrow
                                           : type::use::automatic;
    return std::make_unique<type>(setup, order, which);
}

std::unique_ptr<kernels> make_kernels(const setup& setup)
{
    const auto& name = setup.cuda_kernel;
    if (name != "pbvd") {
        if (auto k = make_registers<static_code<7, 0171, 0133>, 0, 3>(setup, name)) {
            return k;
        }
        if (auto k =
                make_registers<static_code<7, 0133, 0171, 0165>, 0, 3>(setup, name)) {
            return k;
        }
        if (auto k = make_registers<static_code<9, 0753, 0561>, 2, 5>(setup, name)) {
            return k;
        }
        if (name != "auto") {
            throw std::runtime_error("cuda_kernel is \"" + name +
                                     "\": not made for the code " +
                                     setup.code.to_string() + ", \"auto\" is");
        }
    }
    return std::make_unique<pbvd>(setup.code);
}

struct viterbi_slot : device_slot {
    viterbi_slot(std::size_t input_bytes,
                 std::size_t soft_words,
                 std::size_t survivor_words,
                 std::size_t output_bytes)
        : input(input_bytes),
          soft(soft_words),
          survivors(survivor_words),
          output(output_bytes)
    {
    }
    buffer<std::byte> input;
    buffer<std::uint32_t> soft, survivors;
    buffer<std::byte> output;
};

class cuda_viterbi : public cuda::device_decoder<job, viterbi_slot>
{
public:
    cuda_viterbi(const setup& setup, std::size_t blocks, unsigned slots, int device)
        : device_decoder(device), d_setup(setup), d_kernels(make_kernels(setup))
    {
        d_limits = setup.limits(blocks);
        d_limits.device_bytes = device_bytes(setup, *d_kernels, blocks);
        allow_shared(choose_prepare(setup.map.outputs),
                     prepare_shared_bytes(setup.map),
                     "the puncturing pattern");
        const auto pairs = padded_pairs(blocks);
        const auto soft = pairs * setup.plan.window * soft_words(setup.map.outputs);
        const auto survivors = pairs * d_kernels->survivor_words(setup.plan);
        for (unsigned i = 0; i < slots; ++i) {
            d_slots.emplace_back(
                d_limits.input_bytes, soft, survivors, d_limits.output_bytes);
        }
    }

    ~cuda_viterbi() override { settle(); }

    //! Bytes of device memory that a slot of \p blocks takes.
    static std::size_t
    device_bytes(const setup& setup, const kernels& kernels, std::size_t blocks)
    {
        const auto limits = setup.limits(blocks);
        const auto words = setup.plan.window * soft_words(setup.map.outputs) +
                           kernels.survivor_words(setup.plan);
        return limits.input_bytes + limits.output_bytes +
               padded_pairs(blocks) * words * sizeof(std::uint32_t);
    }

private:
    void enqueue(viterbi_slot& s,
                 const job& job,
                 const batch_memory& memory,
                 const marker& mark) override
    {
        mark("");
        copy_in(s, s.input.get(), memory.input, input_bytes(job));
        mark("copy_in");
        const device_buffers on_device{
            s.input.get(), s.soft.get(), s.survivors.get(), s.output.get()
        };
        d_kernels->launch(geometry(job), on_device, s.queue.get(), mark);
        check(cudaGetLastError(), "kernel launch");
        copy_out(s, memory.output, s.output.get(), output_bytes(job));
        mark("copy_out");
    }

    static std::size_t padded_pairs(std::size_t blocks)
    {
        return round_up((blocks + 1) / 2, 32);
    }

    batch_geometry geometry(const job& job) const
    {
        return { d_setup.plan,
                 d_setup.map,
                 job,
                 d_kernels->order(),
                 d_setup.packed4,
                 std::uint32_t(d_setup.frame_input_bytes()),
                 std::uint32_t(d_setup.frame_output_bytes()),
                 std::uint32_t(padded_pairs(job.blocks)) };
    }

    std::size_t frames(const job& job) const
    {
        return job.blocks / d_setup.plan.blocks_per_frame;
    }

    std::size_t input_bytes(const job& job) const
    {
        return d_setup.plan.streaming() ? d_setup.input_bytes(job.values)
                                        : frames(job) * d_setup.frame_input_bytes();
    }

    std::size_t output_bytes(const job& job) const
    {
        return d_setup.plan.streaming()
                   ? std::size_t(job.blocks) * (d_setup.plan.decode_length / 8)
                   : frames(job) * d_setup.frame_output_bytes();
    }

    const setup d_setup;
    const std::unique_ptr<kernels> d_kernels;
};

} // namespace

// As many blocks as page-locked memory and a quarter of the device's free memory hold.
std::size_t room::cuda_batch(const setup& s, unsigned slots, int device)
{
    select(device);
    const auto host = s.limits(unit(s));
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "device memory");
    const auto by_host =
        page_locked_bytes / slots / (host.input_bytes + host.output_bytes);
    const auto by_device = free / 4 / slots /
                           cuda_viterbi::device_bytes(s, *make_kernels(s), 64 * unit(s)) *
                           64;
    const auto pieces = std::max<std::size_t>(1, std::min(by_host, by_device));
    // Whole thread blocks of 32 pairs, where it is more than a few.
    return pieces * unit(s) > 1024 ? pieces / 64 * 64 * unit(s) : pieces * unit(s);
}

room::decoder
room::make_cuda(const setup& s, std::size_t blocks, unsigned slots, int device)
{
    return std::make_unique<cuda_viterbi>(s, blocks, slots, device);
}

} // namespace gr::gpufec::viterbi
