// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Viterbi decoding of arrays on CUDA devices. */

#include "device_arrays.cuh"
#include "viterbi/stream/traits.h"

namespace gr::gpufec {

using namespace cuda;
using namespace cuda::arrays;

namespace {

// Scales floats to int8: rounds to nearest even, saturates, and converts NaN to 0.
__global__ void
convert(const float* from, std::size_t count, float factor, float limit, std::int8_t* to)
{
    for (auto i = first_item(); i < count; i += item_stride()) {
        const float x = __fmul_rn(value_of(from[i]), factor);
        set(to[i], fminf(fmaxf(x, -limit - 1), limit));
    }
}

struct viterbi_array_slot : array_slot {
    // All members describe the batch in flight.
    bool direct = false;        // whether the decoder writes to the caller's memory
    std::size_t first_item = 0; // index of the first output item of the batch
    std::size_t rows = 0;
    std::size_t bits = 0; // number of bits per row
};

class device_viterbi_arrays final
    : public device_arrays<device_viterbi, viterbi::traits, viterbi_array_slot>
{
public:
    device_viterbi_arrays(const viterbi_options& options, bool packed, int device)
        : device_arrays(viterbi::make_setup(options), options, device),
          d_options(options),
          d_packed(packed)
    {
    }

    void decode(const device_call& call, std::uint64_t items) override
    {
        const auto& plan = d_setup.plan;
        const std::uint64_t per_item = d_setup.packed4 ? 2 : 1;
        const auto values = items * per_item;
        const std::uint64_t stages = plan.streaming() ? d_setup.code.stages(values) : 0;
        const auto work_items =
            plan.streaming() ? (stages + plan.decode_length - 1) / plan.decode_length
                             : items / d_setup.frame_input_bytes();
        const auto per_batch = d_work_items / plan.blocks_per_frame;
        run((work_items + per_batch - 1) / per_batch,
            [&](viterbi_array_slot& s, unsigned number, std::size_t b) {
                const auto first = b * per_batch;
                const auto n = std::min<std::uint64_t>(per_batch, work_items - first);
                if (plan.streaming()) {
                    fill_stream(s, number, call, first, n, values, stages);
                } else {
                    fill_frames(s, number, call, first, n);
                }
            },
            [&](viterbi_array_slot& s) {
                empty(s, call);
                call.check();
                return true;
            });
    }

private:
    void fill_frames(viterbi_array_slot& s,
                     unsigned number,
                     const device_call& call,
                     std::uint64_t first,
                     std::size_t n)
    {
        const auto row = d_setup.frame_input_bytes();
        s.rows = n;
        s.bits = d_setup.plan.frame_bits;
        s.first_item = first * items_of(s.bits, d_packed);
        viterbi::job j;
        j.blocks = n * d_setup.plan.blocks_per_frame;
        start(s,
              number,
              call,
              j,
              first * row,
              n * row,
              d_packed && items_of(s.bits, true) == d_setup.frame_output_bytes(),
              n * d_setup.frame_output_bytes());
    }

    // Submits \p n parallel blocks, beginning with block \p first. viterbi_decoder
    // divides a stream into the same blocks.
    void fill_stream(viterbi_array_slot& s,
                     unsigned number,
                     const device_call& call,
                     std::uint64_t first,
                     std::size_t n,
                     std::uint64_t values,
                     std::uint64_t stages)
    {
        const auto& plan = d_setup.plan;
        const std::uint64_t per_item = d_setup.packed4 ? 2 : 1;
        const auto begin_stage = first * plan.decode_length;
        const auto begin =
            d_setup.code.values(begin_stage -
                                std::min<std::uint64_t>(begin_stage, plan.overlap)) /
            per_item;
        const auto end_value = std::min<std::uint64_t>(
            values, d_setup.code.values((first + n) * plan.decode_length + plan.overlap));
        const auto end = (end_value + per_item - 1) / per_item;
        viterbi::job j;
        j.first_block = first;
        j.blocks = n;
        j.first_value = begin * per_item;
        j.values = std::min(end * per_item, values) - j.first_value;
        s.rows = 1;
        s.bits = std::min<std::uint64_t>((first + n) * plan.decode_length, stages) -
                 begin_stage;
        s.first_item = items_of(begin_stage, d_packed);
        const auto whole = n * (plan.decode_length / 8);
        start(s,
              number,
              call,
              j,
              begin,
              end - begin,
              d_packed && items_of(s.bits, true) == whole,
              whole);
    }

    // Submits \p items items, beginning with item \p begin. \p dense is true if the
    // decoder's output, \p output_bytes bytes, is already in the caller's format.
    void start(viterbi_array_slot& s,
               unsigned number,
               const device_call& call,
               viterbi::job j,
               std::size_t begin,
               std::size_t items,
               bool dense,
               std::size_t output_bytes)
    {
        j.offset_binary = d_setup.offset_binary;
        auto* const out = call.out + s.first_item;
        s.direct = dense && place_of(out).kind != memory_kind::ordinary;
        const auto* in = call.in + begin * item_bytes(d_options.format);
        if (d_options.format == soft_format::float32) {
            in = converted(s, in, items);
        }
        submit(s,
               number,
               j,
               { in,
                 s.direct ? out
                          : reinterpret_cast<std::byte*>(ensure(s.output, output_bytes)),
                 nullptr });
    }

    const std::byte* converted(viterbi_array_slot& s, const std::byte* in, std::size_t n)
    {
        const auto* const from =
            reinterpret_cast<const float*>(on_device(s, in, n * sizeof(float)));
        auto* const to = reinterpret_cast<std::int8_t*>(ensure(s.input, n));
        convert<<<blocks_of(n), threads, 0, s.queue>>>(
            from, n, d_options.soft_scale, 127.0f, to);
        check(cudaGetLastError(), "kernel launch");
        return reinterpret_cast<const std::byte*>(to);
    }

    void empty(viterbi_array_slot& s, const device_call& call)
    {
        if (!s.direct) {
            give(s,
                 { s.output->get(),
                   d_setup.plan.streaming() ? 0 : d_setup.frame_output_bytes(),
                   nullptr,
                   s.rows,
                   unsigned(s.bits),
                   d_packed },
                 call.out + s.first_item);
        }
    }

    const viterbi_options d_options;
    const bool d_packed;
};

} // namespace

std::unique_ptr<device_viterbi>
make_device_viterbi(const viterbi_options& options, bool packed, int device)
{
    return std::make_unique<device_viterbi_arrays>(options, packed, device);
}

} // namespace gr::gpufec
