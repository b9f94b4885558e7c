// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The CUDA backend, which allocates device memory, enqueues copies and kernels, and
 * chooses the batch size. Each slot has its own CUDA stream and device memory. */

#include "kernels.h"
#include "viterbi/stream/traits.h"
#include <algorithm>
#include <memory>
#include <vector>

namespace gr::gpufec::viterbi {

namespace {

using namespace cuda;
using namespace device;

struct viterbi_slot : device_slot {
    viterbi_slot(std::size_t input_bytes,
                 std::size_t soft_words,
                 std::size_t survivor_words,
                 std::size_t output_bytes,
                 std::size_t status_bytes)
        : input(input_bytes),
          soft(soft_words),
          survivors(survivor_words),
          output(output_bytes),
          status(status_bytes)
    {
    }
    buffer<std::byte> input;
    buffer<std::uint32_t> soft, survivors;
    buffer<std::byte> output, status;
    std::unique_ptr<buffer<float>> floats; // float input before its conversion to int8
};

class cuda_viterbi : public cuda::device_decoder<job, viterbi_slot>
{
public:
    cuda_viterbi(const setup& setup, std::size_t blocks, unsigned slots, int device)
        : device_decoder(device), d_setup(setup), d_launch(make_launch_plan(setup))
    {
        d_limits = setup.limits(blocks);
        d_limits.device_bytes = device_bytes(setup, *d_launch, blocks);
        const auto pairs = padded_pairs(blocks);
        const auto soft = pairs * setup.plan.window * soft_words(setup.map.outputs);
        const auto survivors = pairs * d_launch->survivor_words(setup.plan);
        need_memory(slots * d_limits.device_bytes);
        for (unsigned i = 0; i < slots; ++i) {
            d_slots.emplace_back(d_limits.input_bytes,
                                 soft,
                                 survivors,
                                 d_limits.output_bytes,
                                 d_limits.status_bytes);
        }
    }

    ~cuda_viterbi() override { wait_idle(); }

    bool reserve_conversion_buffers() noexcept override
    {
        return take(&viterbi_slot::floats, d_limits.input_bytes);
    }

    //! Returns the bytes of device memory that a slot for \p blocks parallel blocks
    //! needs, without the buffers that are allocated on first use.
    static std::size_t
    device_bytes(const setup& setup, const launch_plan& plan, std::size_t blocks)
    {
        const auto limits = setup.limits(blocks);
        const auto words = setup.plan.window * soft_words(setup.map.outputs) +
                           plan.survivor_words(setup.plan);
        return limits.input_bytes + limits.output_bytes + limits.status_bytes +
               padded_pairs(blocks) * words * sizeof(std::uint32_t);
    }

private:
    void enqueue(viterbi_slot& s,
                 const job& job,
                 const batch_memory& memory,
                 const marker& mark) override
    {
        mark("");
        const auto bytes = input_bytes(job);
        const std::byte* input = s.input.get();
        if (job.floats) {
            const auto* const floats =
                bring_in(s, s.floats->get(), memory.input, bytes * sizeof(float));
            mark("copy_in");
            launch_quantise(job,
                            floats,
                            bytes,
                            reinterpret_cast<std::int8_t*>(s.input.get()),
                            s.queue.get());
        } else if (job.offset_binary || job.phase_rotation.any()) {
            copy_in(s, s.input.get(), memory.input, bytes); // kernels change the values
            mark("copy_in");
        } else {
            input = bring_in(s, s.input.get(), memory.input, bytes);
            mark("copy_in");
        }
        if (job.offset_binary) {
            launch_offset_binary(s.input.get(), bytes, s.queue.get());
        }
        if (job.phase_rotation.any()) {
            launch_rotation(job.phase_rotation,
                            reinterpret_cast<std::int8_t*>(s.input.get()),
                            bytes,
                            s.queue.get());
        }
        const device_buffers on_device{
            input, s.soft.get(), s.survivors.get(), target(s.output.get(), memory)
        };
        // At most two batches that occupy half of the schedulers or more run at the same
        // time. If the batches of all slots ran together, they would also end together,
        // and the device would be idle while the host fills the slots again.
        const auto large = d_launch->large_batch();
        if (large > 0 && 6 * job.blocks >= large) {
            start_after(s, 2);
        }
        d_launch->launch(geometry(job), on_device, s.queue.get(), mark);
        check(cudaGetLastError(), "kernel launch");
        if (memory.status) {
            enqueue_counts(s, job, on_device, memory.status);
        }
        unpack_output(s, memory, on_device.output);
        end_kernels(s);
        copy_output(s, memory, on_device.output, output_bytes(job));
        mark("copy_out");
    }

    // Enqueues the kernels that compute the status of a batch, and the copy of the
    // status.
    void enqueue_counts(viterbi_slot& s,
                        const job& job,
                        const device_buffers& on_device,
                        std::byte* status)
    {
        const auto& samples = d_setup.samples;
        auto* const to = target(s.status.get(), status);
        auto* const end = samples.checks(job, to);
        launch_channel_counts(
            geometry(job), samples, on_device, samples.counts(to), s.queue.get());
        std::size_t checks = 0;
        if (job.error_counts) {
            const auto D = d_setup.plan.decode_length;
            checks = job.checks(d_setup.checks, D);
            launch_sign_error_counts(
                d_setup.checks, D, job, d_setup.packed4, on_device, end, s.queue.get());
        }
        check(cudaGetLastError(), "kernel launch");
        copy_out(s, status, to, reinterpret_cast<std::byte*>(end + checks) - to);
    }

    static std::size_t padded_pairs(std::size_t blocks)
    {
        return (blocks + 63) / 64 * 32;
    }

    batch_geometry geometry(const job& job) const
    {
        return { d_setup.plan,
                 d_setup.map,
                 job,
                 d_launch->order(),
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
    const std::unique_ptr<launch_plan> d_launch;
};

// Returns the number of bytes of pinned memory for all slots together. A batch takes at
// least the time to decode one parallel block, so batches of long blocks must be larger
// to keep the bus busy with three slots. For K=7 at rate 3/4 the result is 160 MiB, as
// chosen in docs/decisions/2026-11-23-copies-to-a-device.md.
std::size_t host_bytes(const setup& s)
{
    // Number of stages in the default window of K=7 at rate 1/2.
    constexpr double short_window = 1152, most = 3;
    const auto longer = s.plan.window / short_window - 1;
    return std::size_t(page_locked_bytes * std::clamp(1 + 1.5 * longer, 1.0, most));
}

} // namespace

// Returns the default number of parallel blocks per batch, at least those of one work
// item. All slots together fit in host_bytes() and a quarter of the device's free memory.
std::size_t traits::cuda_batch(const setup& s, const run_options& run, int device)
{
    select(device);
    const auto host = s.limits(batch_granularity(s));
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "device memory");
    // Floats that are borrowed stay in the caller's ring buffer, so the slots may hold
    // twice as many blocks.
    auto by_host = host_bytes(s) / run.slots * (s.floats ? 2 : 1) /
                   (host.input_bytes * s.caller_factor() + host.output_bytes);
    const auto plan = make_launch_plan(s);
    // Input in device memory needs no host memory.
    if (run.input_on_device) {
        by_host =
            std::clamp(plan->large_batch() / batch_granularity(s), by_host, 12 * by_host);
    }
    const auto by_device =
        free / 4 / run.slots /
        cuda_viterbi::device_bytes(s, *plan, 64 * batch_granularity(s)) * 64;
    const auto work_items = std::max<std::size_t>(1, std::min(by_host, by_device));
    // Batches of more than 1024 blocks are rounded down to a multiple of 64 work items,
    // because a thread block decodes 32 pairs.
    return work_items * batch_granularity(s) > 1024
               ? work_items / 64 * 64 * batch_granularity(s)
               : work_items * batch_granularity(s);
}

traits::decoder
traits::make_cuda(const setup& s, std::size_t blocks, unsigned slots, int device)
{
    return std::make_unique<cuda_viterbi>(s, blocks, slots, device);
}

} // namespace gr::gpufec::viterbi
