/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* The CUDA backend: a stream and device memory for each slot, and the launch plan. */

#include "cuda/runtime.h"
#include "cuda_pbvd.cuh"
#include "job.h"
#include <stdexcept>
#include <vector>

namespace gr {
namespace gpufec {

namespace {

using namespace cuda;

constexpr std::size_t page_locked_bytes = 64u << 20; // of all slots, if batch is chosen

std::size_t round_up(std::size_t x, std::size_t unit)
{
    return (x + unit - 1) / unit * unit;
}

// The paper's decoder: prepare, forward, traceback.
class pbvd
{
public:
    pbvd(const viterbi_setup& setup)
        : d_history(metric_history(setup.code.constraint_length(), setup.code.outputs())),
          d_layout(make_pbvd_layout(setup.code, d_history)),
          d_forward(forward_kernel(
              d_history, setup.code.outputs(), d_layout.states, d_layout.even_chunk))
    {
        const auto shared = pbvd_shared_bytes(d_layout);
        check(cudaFuncSetAttribute(reinterpret_cast<const void*>(d_forward),
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   int(shared)),
              "shared memory of the forward kernel");
    }

    std::size_t survivor_words(const block_plan& plan) const // of a pair of blocks
    {
        return round_up(plan.window, d_history) / d_history * d_layout.words;
    }

    //! The kernels of a batch; \p mark is called before the first and after each.
    template <class Mark>
    void launch(const batch_geometry& g,
                const std::byte* input,
                std::uint32_t* soft,
                std::uint32_t* survivors,
                std::byte* output,
                cudaStream_t stream,
                Mark&& mark) const
    {
        const dim3 tiles(g.pairs / 32,
                         (g.plan.window + prepare_stages - 1) / prepare_stages);
        mark();
        prepare<<<tiles, prepare_threads, 0, stream>>>(g, input, soft);
        mark();
        d_forward<<<g.pairs / 32,
                    dim3(32, d_layout.warps),
                    pbvd_shared_bytes(d_layout),
                    stream>>>(g, d_layout, soft, survivors);
        mark();
        constexpr unsigned threads = 256;
        const auto grid = (g.job.blocks + threads - 1) / threads;
        if (d_history == 4) {
            pbvd_traceback<4>
                <<<grid, threads, 0, stream>>>(g, d_layout, survivors, output);
        } else {
            pbvd_traceback<2>
                <<<grid, threads, 0, stream>>>(g, d_layout, survivors, output);
        }
        mark();
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
};

class cuda_viterbi : public viterbi_batch_decoder
{
public:
    cuda_viterbi(const viterbi_setup& setup,
                 std::size_t blocks,
                 unsigned slots,
                 int device)
        : d_setup(setup),
          d_device((select(device), device)),
          d_kernels(setup),
          d_limits(setup.limits(blocks))
    {
        cudaDeviceProp properties;
        check(cudaGetDeviceProperties(&properties, device), "device properties");
        d_name = properties.name;
        const auto pairs = padded_pairs(blocks);
        const auto soft = pairs * setup.plan.window * soft_words(setup.map.outputs);
        const auto survivors = pairs * d_kernels.survivor_words(setup.plan);
        for (unsigned i = 0; i < slots; ++i) {
            d_slots.emplace_back(
                d_limits.input_bytes, soft, survivors, d_limits.output_bytes);
        }
    }

    ~cuda_viterbi() override
    {
        cudaSetDevice(d_device);
        for (auto& s : d_slots) {
            cudaStreamSynchronize(s.queue.get());
        }
    }

    batch_limits limits() const override { return d_limits; }
    std::string backend() const override { return "cuda"; }
    std::string device() const override { return d_name; }
    void page_lock(void* memory, std::size_t bytes) override
    {
        use(d_device);
        cuda::page_lock(memory, bytes);
    }
    void page_unlock(void* memory) noexcept override { cuda::page_unlock(memory); }
    void on_completion(std::function<void()> notify) override
    {
        d_notify = std::move(notify);
    }

    void submit(unsigned slot, const viterbi_job& job, const buffers& memory) override
    {
        use(d_device);
        auto& s = d_slots[slot];
        const auto stream = s.queue.get();
        enqueue(s, job, memory, [] {});
        // Before the callback, so that who is called finds the batch finished.
        check(cudaEventRecord(s.done.get(), stream), "event");
        check(cudaLaunchHostFunc(
                  stream,
                  [](void* self) { static_cast<cuda_viterbi*>(self)->d_notify(); },
                  this),
              "completion callback");
    }

    bool finished(unsigned slot) override
    {
        use(d_device);
        const auto state = cudaEventQuery(d_slots[slot].done.get());
        if (state == cudaErrorNotReady) {
            return false;
        }
        check(state, "decoding");
        return true;
    }

    cuda_viterbi_times measure(const viterbi_job& job, const buffers& memory)
    {
        use(d_device);
        auto& s = d_slots[0];
        std::vector<event> marks;
        enqueue(s, job, memory, [&] {
            marks.emplace_back(cudaEventDefault);
            check(cudaEventRecord(marks.back().get(), s.queue.get()), "event");
        });
        check(cudaStreamSynchronize(s.queue.get()), "decoding");
        float ms[5];
        for (unsigned i = 0; i < 5; ++i) {
            check(cudaEventElapsedTime(&ms[i], marks[i].get(), marks[i + 1].get()),
                  "event");
        }
        return { ms[0], ms[1], ms[2], ms[3], ms[4] };
    }

    //! Bytes of device memory that a slot of \p blocks takes.
    static std::size_t device_bytes(const viterbi_setup& setup, std::size_t blocks)
    {
        const auto limits = setup.limits(blocks);
        const auto words = setup.plan.window * soft_words(setup.map.outputs) +
                           pbvd(setup).survivor_words(setup.plan);
        return limits.input_bytes + limits.output_bytes +
               padded_pairs(blocks) * words * sizeof(std::uint32_t);
    }

private:
    struct slot_memory {
        slot_memory(std::size_t input_bytes,
                    std::size_t soft_words,
                    std::size_t survivor_words,
                    std::size_t output_bytes)
            : input(input_bytes),
              soft(soft_words),
              survivors(survivor_words),
              output(output_bytes)
        {
        }
        stream queue;
        event done;
        buffer<std::byte> input;
        buffer<std::uint32_t> soft, survivors;
        buffer<std::byte> output;
    };

    // Copies and kernels of a batch; \p mark is called before the first and after each.
    template <class Mark>
    void
    enqueue(slot_memory& s, const viterbi_job& job, const buffers& memory, Mark&& mark)
    {
        const auto stream = s.queue.get();
        mark();
        check(cudaMemcpyAsync(s.input.get(),
                              memory.input,
                              input_bytes(job),
                              cudaMemcpyHostToDevice,
                              stream),
              "copy to the device");
        d_kernels.launch(geometry(job),
                         s.input.get(),
                         s.soft.get(),
                         s.survivors.get(),
                         s.output.get(),
                         stream,
                         mark);
        check(cudaGetLastError(), "kernel launch");
        check(cudaMemcpyAsync(memory.output,
                              s.output.get(),
                              output_bytes(job),
                              cudaMemcpyDeviceToHost,
                              stream),
              "copy to the host");
        mark();
    }

    static std::size_t padded_pairs(std::size_t blocks)
    {
        return round_up((blocks + 1) / 2, 32);
    }

    batch_geometry geometry(const viterbi_job& job) const
    {
        return { d_setup.plan,
                 d_setup.map,
                 job,
                 d_setup.packed4,
                 std::uint32_t(d_setup.frame_input_bytes()),
                 std::uint32_t(d_setup.frame_output_bytes()),
                 std::uint32_t(padded_pairs(job.blocks)) };
    }

    std::size_t frames(const viterbi_job& job) const
    {
        return job.blocks / d_setup.plan.blocks_per_frame;
    }

    std::size_t input_bytes(const viterbi_job& job) const
    {
        return d_setup.plan.streaming() ? d_setup.input_bytes(job.values)
                                        : frames(job) * d_setup.frame_input_bytes();
    }

    std::size_t output_bytes(const viterbi_job& job) const
    {
        return d_setup.plan.streaming()
                   ? std::size_t(job.blocks) * (d_setup.plan.decode_length / 8)
                   : frames(job) * d_setup.frame_output_bytes();
    }

    const viterbi_setup d_setup;
    const int d_device;
    const pbvd d_kernels;
    const batch_limits d_limits;
    std::string d_name;
    std::vector<slot_memory> d_slots;
    std::function<void()> d_notify = [] {};
};

// As many blocks as page-locked memory and a quarter of the device's free memory hold.
std::size_t choose_batch(const viterbi_setup& setup, unsigned slots)
{
    const std::size_t unit = setup.plan.blocks_per_frame;
    const auto host = setup.limits(unit);
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "device memory");
    const auto by_host =
        page_locked_bytes / slots / (host.input_bytes + host.output_bytes);
    const auto by_device =
        free / 4 / slots / cuda_viterbi::device_bytes(setup, 64 * unit) * 64;
    const auto pieces = std::max<std::size_t>(1, std::min(by_host, by_device));
    // Whole thread blocks of 32 pairs, where it is more than a few.
    return pieces * unit > 1024 ? pieces * unit / (64 * unit) * (64 * unit)
                                : pieces * unit;
}

} // namespace

std::unique_ptr<viterbi_batch_decoder> make_cuda_viterbi(const viterbi_setup& setup,
                                                         std::size_t blocks,
                                                         unsigned slots,
                                                         int device,
                                                         const std::string&)
{
    select(device);
    const std::size_t unit = setup.plan.blocks_per_frame;
    if (blocks == 0) {
        blocks = choose_batch(setup, slots);
    }
    for (;;) {
        std::size_t free = 0, total = 0;
        check(cudaMemGetInfo(&free, &total), "device memory");
        const auto needed = slots * cuda_viterbi::device_bytes(setup, blocks);
        if (needed <= free) {
            try {
                return std::make_unique<cuda_viterbi>(setup, blocks, slots, device);
            } catch (const device_error&) {
                cudaGetLastError();
                if (blocks == unit) {
                    throw;
                }
            }
        } else if (blocks == unit) {
            throw std::runtime_error("the CUDA device has " + std::to_string(free >> 20) +
                                     " MiB free, one " + "piece of work needs " +
                                     std::to_string(needed >> 20) + " MiB");
        }
        blocks = std::max(unit, blocks / 2 / unit * unit);
    }
}


cuda_viterbi_times measure_cuda_viterbi(const viterbi_setup& setup,
                                        const viterbi_job& job,
                                        const viterbi_batch_decoder::buffers& memory,
                                        int device,
                                        const std::string&,
                                        unsigned rounds)
{
    cuda_viterbi decoder(setup, job.blocks, 1, device);
    std::vector<cuda_viterbi_times> times;
    for (unsigned i = 0; i < rounds; ++i) {
        times.push_back(decoder.measure(job, memory));
    }
    const auto median = [&](double cuda_viterbi_times::*part) {
        std::vector<double> v;
        for (const auto& t : times) {
            v.push_back(t.*part);
        }
        std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
        return v[v.size() / 2];
    };
    using t = cuda_viterbi_times;
    return { median(&t::copy_in_ms),
             median(&t::prepare_ms),
             median(&t::forward_ms),
             median(&t::traceback_ms),
             median(&t::copy_out_ms) };
}

} // namespace gpufec
} // namespace gr
