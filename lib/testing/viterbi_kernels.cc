// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Replaces the Viterbi launch plans and the kernels that convert input, for tests of the
 * host code without a GPU. Each launch of a plan runs the CPU decoder. */

#include "viterbi/cuda/kernels.h"
#include "viterbi/model/soft_input.h"
#include "viterbi/stream/traits.h"
#include <thread>

namespace gr::gpufec::viterbi {
namespace device {

namespace {

class emulated_plan : public launch_plan
{
public:
    explicit emulated_plan(const setup& setup) : d_setup(setup)
    {
        cuda::allow_shared(&emulated_launch, 1024, "the puncturing pattern");
    }

    output_order order() const override { return {}; }

    std::size_t survivor_words(const block_layout& plan) const override
    {
        return plan.window;
    }

    void launch(const batch_geometry& g,
                const device_buffers& memory,
                cudaStream_t stream,
                const cuda::marker& mark) const override
    {
        mark("prepare");
        emulated_launch(stream, [=] {
            const auto decoder = traits::make_cpu(d_setup, g.job.blocks, 1);
            auto job = g.job;
            // Earlier launches have converted and rotated the input, and a later launch
            // counts the sign errors.
            job.floats = job.offset_binary = false;
            job.phase_rotation = {};
            job.error_counts = false;
            decoder->submit(0, job, { memory.input, memory.output, nullptr });
            while (!decoder->finished(0)) {
                std::this_thread::yield();
            }
        });
        mark("forward");
        emulated_launch(stream, [] {});
        mark("traceback");
    }

private:
    const setup d_setup;
};

} // namespace

std::unique_ptr<launch_plan> make_launch_plan(const setup& setup)
{
    return std::make_unique<emulated_plan>(setup);
}

void launch_quantise(const job& job,
                     const float* floats,
                     std::size_t count,
                     std::int8_t* values,
                     cudaStream_t stream)
{
    emulated_launch(stream, [=] {
        for (std::size_t i = 0; i < count; ++i) {
            values[i] = soft_value(floats[i], job.scale_of(i));
        }
    });
}

void launch_offset_binary(std::byte* values, std::size_t count, cudaStream_t stream)
{
    emulated_launch(stream, [=] {
        from_offset_binary(values, count, reinterpret_cast<std::int8_t*>(values));
    });
}

void launch_rotation(const phase_rotation& t,
                     std::int8_t* values,
                     std::size_t count,
                     cudaStream_t stream)
{
    emulated_launch(stream, [=] {
        rotate_pairs(t, values, count / 2, values);
        if (count % 2) {
            std::int8_t last[2] = { values[count - 1], 0 };
            rotate_pairs(t, last, 1, last);
            values[count - 1] = last[0];
        }
    });
}

} // namespace device
} // namespace gr::gpufec::viterbi
