// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Replaces the LDPC launch plans and the kernel that quantises input, for tests of the
 * host code without a GPU. Each launch of a plan runs the CPU decoder. */

#include "ldpc/cuda/kernels.h"
#include "ldpc/stream/input_format.h"
#include "ldpc/stream/traits.h"
#include <thread>

namespace gr::gpufec::ldpc {
namespace device {

namespace {

class emulated_plan : public launch_plan
{
public:
    emulated_plan(const ldpc_code& code, const message_rule& rule, ldpc_schedule schedule)
        : d_table(
              cuda::uploaded(std::vector<std::uint32_t>{ 0 }, "copy of a code's tables"))
    {
        cuda::allow_shared(&emulated_launch, 1024, "the code");
        d_setup.codes = { code };
        d_setup.schedule = schedule;
        d_setup.precision = rule.precision;
    }

    std::size_t scratch_bytes(std::size_t codewords) const override
    {
        return codewords * d_setup.codes[0].n();
    }

    void launch(const device_frames& frames,
                const stopping& stop,
                void* scratch,
                cudaStream_t stream) const override
    {
        cuda::check(cudaMemsetAsync(scratch, 0, scratch_bytes(frames.count), stream),
                    "memset");
        emulated_launch(stream, [=] {
            auto setup = d_setup;
            setup.max_iterations = stop.max_iterations;
            setup.early_stop = stop.early_stop;
            setup.message_only = stop.out_bits < setup.codes[0].n();
            setup.bits = stop.out_bits > 0;
            setup.soft = stop.soft;
            const auto decoder = traits::make_cpu(setup, frames.count, 1);
            job j;
            j.runs.push_back({ 0, 0, frames.count });
            decoder->submit(0,
                            j,
                            { reinterpret_cast<const std::byte*>(frames.input),
                              reinterpret_cast<std::byte*>(frames.output),
                              reinterpret_cast<std::byte*>(frames.status),
                              reinterpret_cast<const std::byte*>(frames.table) });
            while (!decoder->finished(0)) {
                std::this_thread::yield();
            }
        });
        cuda::check(cudaGetLastError(), "LDPC kernel");
    }

private:
    const cuda::buffer<std::uint32_t> d_table;
    setup d_setup;
};

} // namespace

std::unique_ptr<launch_plan> make_launch_plan(
    const ldpc_code& code, const message_rule& rule, bool, ldpc_schedule schedule, int)
{
    return std::make_unique<emulated_plan>(code, rule, schedule);
}

void launch_quantise(const caller_frame* frames,
                     std::uint32_t count,
                     const std::uint8_t* caller_format,
                     const setup& setup,
                     std::uint8_t* input,
                     cudaStream_t stream)
{
    const auto precision = setup.precision;
    const auto format = setup.format;
    emulated_launch(stream, [=] {
        for (const auto* f = frames; f != frames + count; ++f) {
            input_format(precision, format, f->factor, f->limit)
                .convert(caller_format + f->from,
                         0,
                         f->values,
                         reinterpret_cast<std::byte*>(input + f->to));
        }
    });
    cuda::check(cudaGetLastError(), "kernel launch");
}

} // namespace device
} // namespace gr::gpufec::ldpc
