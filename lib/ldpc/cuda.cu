/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* The CUDA backend: slots in flight on a device, each on a stream of its own. Kernels of
 * all slots run one after the other, so that they share their scratch memory and what of
 * it the L2 cache holds; copies of one slot run beside the kernels of another. */

#include "cuda_kernels.h"
#include <algorithm>
#include <map>

namespace gr {
namespace gpufec {

namespace {

using namespace ldpc_cuda;

constexpr std::size_t page_locked_bytes = 64u << 20; // of all slots, chosen batches

class cuda_ldpc : public ldpc_batch_decoder
{
public:
    cuda_ldpc(const ldpc_setup& setup, std::size_t codewords, unsigned slots, int device)
        : d_setup(setup), d_device(device), d_codes(setup.codes.size())
    {
        cuda::select(device);
        cudaDeviceProp p;
        cuda::check(cudaGetDeviceProperties(&p, device), "device properties");
        d_name = p.name;
        if (codewords == 0) {
            codewords = choose_batch(slots, p.multiProcessorCount);
        }
        d_limits = setup.limits(codewords);
        for (unsigned i = 0; i < slots; ++i) {
            d_slots.emplace_back(d_limits);
        }
        prepare(0);
    }

    ~cuda_ldpc() override
    {
        cudaSetDevice(d_device);
        cudaDeviceSynchronize();
    }

    batch_limits limits() const override { return d_limits; }
    std::string backend() const override { return "cuda"; }
    std::string device() const override { return d_name; }
    bool page_lock(void* memory, std::size_t bytes) override
    {
        cuda::use(d_device);
        return cuda::page_lock(memory, bytes);
    }
    void page_unlock(void* memory) noexcept override
    {
        cudaSetDevice(d_device);
        cuda::page_unlock(memory);
    }
    void on_completion(std::function<void()> notify) override
    {
        d_notify = std::move(notify);
    }

    void submit(unsigned slot, const ldpc_job& job, const buffers& memory) override
    {
        cuda::use(d_device);
        auto& s = state_of(slot);
        const auto stream = s.stream.get();
        for (const auto& run : job.runs) {
            prepare(run.code);
        }
        cuda::check(cudaMemcpyAsync(s.input.get(),
                                    memory.input,
                                    job.input_bytes,
                                    cudaMemcpyHostToDevice,
                                    stream),
                    "copy to the device");
        if (d_last && d_last != &s) {
            cuda::check(cudaStreamWaitEvent(stream, d_last->decoded.get(), 0), "event");
        }
        for (const auto& run : job.runs) {
            decode(run, s);
        }
        cuda::check(cudaEventRecord(s.decoded.get(), stream), "event");
        d_last = &s;
        cuda::check(cudaMemcpyAsync(memory.output,
                                    s.output.get(),
                                    job.output_bytes,
                                    cudaMemcpyDeviceToHost,
                                    stream),
                    "copy from the device");
        cuda::check(cudaMemcpyAsync(memory.status,
                                    s.status.get(),
                                    job.codewords * sizeof(ldpc_status),
                                    cudaMemcpyDeviceToHost,
                                    stream),
                    "copy from the device");
        cuda::check(cudaEventRecord(s.back.get(), stream), "event");
        cuda::check(cudaLaunchHostFunc(
                        stream,
                        [](void* self) { static_cast<cuda_ldpc*>(self)->d_notify(); },
                        this),
                    "callback");
    }

    bool finished(unsigned slot) override
    {
        cuda::use(d_device);
        const auto state = cudaEventQuery(state_of(slot).back.get());
        if (state == cudaErrorNotReady) {
            return false;
        }
        cuda::check(state, "decoding");
        return true;
    }

    //! Medians of \p rounds batches, each alone on the device.
    cuda_ldpc_times measure(const ldpc_job& job, const buffers& memory, unsigned rounds)
    {
        cuda::use(d_device);
        auto& s = state_of(0);
        const auto stream = s.stream.get();
        for (const auto& run : job.runs) {
            prepare(run.code);
        }
        std::vector<cuda::event> events;
        for (unsigned i = 0; i < 4; ++i) {
            events.emplace_back(cudaEventDefault);
        }
        std::vector<double> times[3];
        for (unsigned round = 0; round <= rounds; ++round) {
            cudaEventRecord(events[0].get(), stream);
            cudaMemcpyAsync(s.input.get(),
                            memory.input,
                            job.input_bytes,
                            cudaMemcpyHostToDevice,
                            stream);
            cudaEventRecord(events[1].get(), stream);
            for (const auto& run : job.runs) {
                decode(run, s);
            }
            cudaEventRecord(events[2].get(), stream);
            cudaMemcpyAsync(memory.output,
                            s.output.get(),
                            job.output_bytes,
                            cudaMemcpyDeviceToHost,
                            stream);
            cudaMemcpyAsync(memory.status,
                            s.status.get(),
                            job.codewords * sizeof(ldpc_status),
                            cudaMemcpyDeviceToHost,
                            stream);
            cudaEventRecord(events[3].get(), stream);
            cuda::check(cudaStreamSynchronize(stream), "measuring");
            for (unsigned i = 0; i < 3 && round > 0; ++i) { // the first warms up
                float ms = 0;
                cuda::check(
                    cudaEventElapsedTime(&ms, events[i].get(), events[i + 1].get()),
                    "measuring");
                times[i].push_back(ms);
            }
        }
        for (auto& t : times) {
            std::sort(t.begin(), t.end());
        }
        return { times[0][rounds / 2], times[1][rounds / 2], times[2][rounds / 2] };
    }

private:
    struct slot {
        explicit slot(const batch_limits& l)
            : input(l.input_bytes), output(l.output_bytes), status(l.pieces)
        {
            output.clear();
        }
        cuda::stream stream;
        cuda::event decoded, back;
        cuda::buffer<std::uint8_t> input;
        cuda::buffer<std::uint8_t> output;
        cuda::buffer<ldpc_status> status;
    };

    // The memory of a slot: slots come with any numbers, but no more of them than made.
    slot& state_of(unsigned number)
    {
        const auto next = d_state_of.size();
        return d_slots.at(d_state_of.emplace(number, next).first->second);
    }

    // Whole waves of two blocks a multiprocessor, within the memory to be locked.
    std::size_t choose_batch(unsigned slots, int multiprocessors) const
    {
        const auto one = d_setup.limits(1);
        const std::size_t bytes = one.input_bytes + one.output_bytes + one.status_bytes;
        const std::size_t wave = 2 * multiprocessors;
        const auto room = page_locked_bytes / std::max(1u, slots) / bytes;
        return std::max<std::size_t>(1, room >= wave ? room / wave * wave : room);
    }

    void decode(const ldpc_job::run& run, slot& s)
    {
        const auto& code = d_setup.codes[run.code];
        const device_frames frames{ reinterpret_cast<const ldpc_frame*>(s.input.get()) +
                                        run.first,
                                    run.count,
                                    s.input.get(),
                                    s.output.get(),
                                    s.status.get() };
        const stopping stop{ d_setup.max_iterations,
                             d_setup.early_stop,
                             d_setup.output_bits(code) };
        d_codes[run.code]->launch(frames, stop, d_scratch->get(), s.stream.get());
    }

    // The tables of a code, made when it is first used, and scratch memory for it; before
    // a batch's first kernel, which may use the scratch memory there is.
    void prepare(std::uint32_t index)
    {
        auto& kernel = d_codes[index];
        if (kernel) {
            return;
        }
        const auto& code = d_setup.codes[index];
        const auto rule = d_setup.rule(code);
        if (d_setup.schedule == ldpc_schedule::flooding) {
            kernel = make_flooding_kernel(code, rule);
        } else {
            kernel = make_dvbs2_kernel(code, rule, d_device);
            if (!kernel) {
                kernel = make_layered_kernel(code, rule, d_device);
            }
        }
        const auto bytes = kernel->scratch_bytes(d_limits.pieces);
        if (!d_scratch || d_scratch->bytes() < bytes) {
            if (d_last) {
                cuda::check(cudaEventSynchronize(d_last->decoded.get()), "synchronise");
            }
            d_scratch.reset();
            d_scratch = std::make_unique<cuda::buffer<std::uint8_t>>(bytes);
        }
    }

    const ldpc_setup d_setup;
    const int d_device;
    std::string d_name;
    batch_limits d_limits;
    std::vector<std::unique_ptr<code_kernel>> d_codes;
    std::vector<slot> d_slots;
    std::map<unsigned, std::size_t> d_state_of; // slot number to its place
    const slot* d_last = nullptr;               // whose kernels were submitted last
    std::unique_ptr<cuda::buffer<std::uint8_t>> d_scratch;
    std::function<void()> d_notify = [] {};
};

} // namespace

std::unique_ptr<ldpc_batch_decoder>
make_cuda_ldpc(const ldpc_setup& setup, std::size_t codewords, unsigned slots, int device)
{
    return std::make_unique<cuda_ldpc>(setup, codewords, slots, device);
}

cuda_ldpc_times measure_cuda_ldpc(const ldpc_setup& setup,
                                  const ldpc_job& job,
                                  const ldpc_batch_decoder::buffers& memory,
                                  int device,
                                  unsigned rounds)
{
    return cuda_ldpc(setup, job.codewords, 1, device).measure(job, memory, rounds);
}

} // namespace gpufec
} // namespace gr
