// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The CUDA backend: slots in flight on a device, each on its own stream. The decoding
 * kernels of different slots run one after the other, so that they share scratch memory
 * and the L2 cache. Copies of one slot overlap with kernels of another. */

#include "cuda/device_decoder.h"
#include "kernels.h"
#include "ldpc/cuda/input/symbols.h"
#include "ldpc/stream/traits.h"
#include <algorithm>

namespace gr::gpufec::ldpc {

namespace {

using namespace device;

struct ldpc_slot : cuda::device_slot {
    ldpc_slot(const batch_limits& l, std::size_t decoded_bytes)
        : input(decoded_bytes), output(l.output_bytes), status(l.work_items)
    {
        output.clear();
    }
    cuda::buffer<std::uint8_t> input;
    cuda::buffer<std::uint8_t> output;
    cuda::buffer<ldpc_status> status;
    // Input in the caller's format, before conversion; null until memory is reserved.
    std::unique_ptr<cuda::buffer<std::uint8_t>> caller_format;
};

class cuda_ldpc : public cuda::device_decoder<job, ldpc_slot>
{
public:
    cuda_ldpc(const setup& setup, std::size_t codewords, unsigned slots, int device)
        : device_decoder(device), d_setup(setup), d_codes(setup.codes.size())
    {
        d_limits = setup.limits(codewords);
        std::size_t decoded = d_limits.input_bytes;
        if (setup.symbols) {
            decoded = 0;
            for (const auto& code : setup.codes) {
                decoded = std::max(decoded, setup.frame_input_bytes(code));
            }
            decoded = d_limits.table_bytes + codewords * decoded;
        }
        d_limits.device_bytes = decoded + d_limits.output_bytes + d_limits.status_bytes +
                                (setup.symbols ? d_limits.caller_item_bytes : 0);
        cuda::need_memory(slots * d_limits.device_bytes);
        for (unsigned i = 0; i < slots; ++i) {
            d_slots.emplace_back(d_limits, decoded);
        }
        if (setup.symbols) {
            d_demapper = std::make_unique<symbol_demapper>(setup, codewords);
            for (auto& s : d_slots) {
                s.caller_format = std::make_unique<cuda::buffer<std::uint8_t>>(
                    d_limits.caller_item_bytes);
            }
        }
        prepare(0);
    }

    ~cuda_ldpc() override { wait_idle(); }

    bool reserve_conversion_buffers() noexcept override
    {
        return d_demapper || // the demapper was made in the constructor
               take(&ldpc_slot::caller_format, d_limits.caller_item_bytes);
    }

private:
    void enqueue(ldpc_slot& s,
                 const job& job,
                 const batch_memory& memory,
                 const cuda::marker& mark) override
    {
        const auto stream = s.queue.get();
        for (const auto& run : job.runs) {
            prepare(run.code);
        }
        mark("");
        // The kernels' input, to which the offsets in the table refer, and the table.
        const std::uint8_t *input = s.input.get(), *table = input;
        if (job.caller_item_bytes > 0) {
            table = bring_in(
                s, s.input.get(), memory.table, job::values_offset(d_limits.work_items));
            const auto* const items =
                bring_in(s, s.caller_format->get(), memory.input, job.caller_item_bytes);
            mark("copy_in");
            convert_input(reinterpret_cast<const caller_frame*>(
                              table + job::caller_offset(d_limits.work_items)),
                          job.codewords,
                          items,
                          s);
            mark("steps");
        } else {
            input = table = bring_in(s, s.input.get(), memory.input, job.input_bytes);
            mark("copy_in");
        }
        auto* const output = target(s.output.get(), memory);
        auto* const status = target(s.status.get(), memory.status);
        start_after(s, 1);
        for (const auto& run : job.runs) {
            const device_frames frames{ reinterpret_cast<const frame_place*>(table) +
                                            run.first,
                                        run.count,
                                        input,
                                        output,
                                        status };
            decode(run.code, frames, stream);
        }
        unpack_output(s, memory, output);
        end_kernels(s);
        mark("kernels");
        copy_output(s, memory, output, job.output_bytes);
        copy_out(s, memory.status, status, job.codewords * sizeof(ldpc_status));
        mark("copy_out");
    }

    // Converts input in the caller's format, channel values or symbols, to the kernels'
    // input.
    void convert_input(const caller_frame* frames,
                       std::uint32_t count,
                       const std::uint8_t* items,
                       ldpc_slot& s)
    {
        const auto stream = s.queue.get();
        if (d_demapper) {
            d_demapper->launch(frames, count, items, s.input.get(), stream);
        } else {
            launch_quantise(frames, count, items, d_setup, s.input.get(), stream);
        }
    }

    void decode(std::uint32_t index, const device_frames& frames, cudaStream_t stream)
    {
        const auto& code = d_setup.codes[index];
        const stopping stop{ d_setup.max_iterations,
                             d_setup.early_stop,
                             d_setup.output_bits(code),
                             d_setup.soft,
                             std::uint32_t(d_setup.soft_offset(code)) };
        d_codes[index]->launch(frames, stop, d_scratch->get(), stream);
    }

    // Makes the launch plan of a code unless it exists, and allocates larger scratch
    // memory if the plan needs it. Must be called before the first kernel of a batch is
    // launched.
    void prepare(std::uint32_t index)
    {
        if (d_codes[index]) {
            return;
        }
        const auto& code = d_setup.codes[index];
        auto launch = make_launch_plan(code,
                                       d_setup.rule(code),
                                       d_setup.soft != ldpc_soft_output::none,
                                       d_setup.schedule,
                                       d_device);
        const auto bytes = launch->scratch_bytes(d_limits.work_items);
        if (!d_scratch || d_scratch->bytes() < bytes) {
            // The old scratch memory is freed only after the allocation of the larger
            // one, so that prepared codes still have memory if the allocation fails. If
            // kernels in flight may use the old memory, it is freed later: the host
            // must not wait for these kernels, because they might hang.
            const bool unused = !d_scratch || idle();
            if (unused) {
                d_outgrown.clear();
            }
            cuda::need_memory(bytes);
            auto larger = std::make_unique<cuda::buffer<std::uint8_t>>(bytes);
            larger->clear(); // kernels read ahead, past the words that they write
            if (!unused) {
                d_outgrown.push_back(std::move(d_scratch));
            }
            d_scratch = std::move(larger);
        }
        d_codes[index] = std::move(launch);
    }

    bool idle() const
    {
        for (const auto& s : d_slots) {
            const auto state = cudaEventQuery(s.done.get());
            if (state == cudaErrorNotReady) {
                return false;
            }
            cuda::check(state, "decoding");
        }
        return true;
    }

    const setup d_setup;
    std::unique_ptr<symbol_demapper> d_demapper; // null if the input is not symbols
    std::vector<std::unique_ptr<launch_plan>> d_codes;
    std::unique_ptr<cuda::buffer<std::uint8_t>> d_scratch;
    // Former scratch memory that may still be in use.
    std::vector<std::unique_ptr<cuda::buffer<std::uint8_t>>> d_outgrown;
};

} // namespace

// Returns the default number of codewords per batch. The host memory of all slots stays
// within page_locked_bytes, unless this limit would make a batch smaller than a wave.
// Batches are larger if the input is in memory of the device, because the input then
// occupies no host memory. The number of codewords is a multiple of a wave if possible.
// In a wave, each multiprocessor has one block with two codewords.
std::size_t traits::cuda_batch(const setup& s, const run_options& run, int device)
{
    cuda::select(device);
    const auto one = s.limits(1);
    const std::size_t bytes = one.input_bytes + one.output_bytes + one.status_bytes;
    // Size of a wave in codewords.
    const std::size_t wave = 2 * cuda::multiprocessors(device);
    const auto fit = [&](std::size_t all) {
        return all / std::max(1u, run.slots) / bytes;
    };
    const auto capacity = fit((run.input_on_device ? 4 : 1) * cuda::page_locked_bytes);
    if (capacity >= wave) {
        return capacity / wave * wave;
    }
    // A batch of half a wave or more takes as long as a whole wave. The batch is
    // therefore a whole wave, which may occupy up to twice page_locked_bytes. Symbols
    // need more memory than LLRs. With symbols, all slots may occupy up to 224 MiB,
    // because an input buffer that is read in place may have up to 256 MB.
    if (2 * capacity >= wave ||
        (s.symbols && fit(7 * cuda::page_locked_bytes / 2) >= wave)) {
        return wave;
    }
    return std::max<std::size_t>(1, capacity);
}

traits::decoder
traits::make_cuda(const setup& s, std::size_t codewords, unsigned slots, int device)
{
    return std::make_unique<cuda_ldpc>(s, codewords, slots, device);
}

} // namespace gr::gpufec::ldpc
