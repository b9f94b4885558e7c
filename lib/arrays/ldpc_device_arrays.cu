// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* LDPC decoding of arrays on CUDA devices. */

#include "device_arrays.cuh"
#include "ldpc/stream/frame_batch.h"
#include "ldpc/stream/traits.h"

namespace gr::gpufec {

using namespace cuda;
using namespace cuda::arrays;

namespace {

constexpr std::uint32_t no_value = ~0u, certain_zero = ~1u;

// Computes the channel values of all \p n bits of each codeword. A codeword has \p sent
// transmitted values in \p from; in \p to, codewords begin \p stride values apart.
// Transmitted values are multiplied by \p factor and limited to ±\p limit. For each bit,
// \p sources has the index of the transmitted value, no_value if the bit is punctured, or
// certain_zero if the bit is shortened. Thread blocks with the same y index convert the
// same codewords.
template <class From, class To>
__global__ void convert_sent(const From* from,
                             std::size_t codewords,
                             unsigned n,
                             unsigned sent,
                             const std::uint32_t* sources,
                             unsigned stride,
                             float factor,
                             float limit,
                             To* to)
{
    for (std::size_t r = blockIdx.y; r < codewords; r += gridDim.y) {
        for (auto i = first_item(); i < n; i += item_stride()) {
            const auto source = sources[i];
            float x = source == certain_zero ? limit : 0.0f;
            if (source < sent) {
                x = __fmul_rn(value_of(from[r * sent + source]), factor);
            }
            set(to[r * stride + i], fminf(fmaxf(x, -limit), limit));
        }
    }
}

struct ldpc_array_slot : array_slot {
    std::unique_ptr<locked_memory> statuses, table;
    // The table has each frame's offset and factors, see ldpc::frame_batch.
    std::size_t tabled = 0; // number of frames in the table
    ldpc::job job;
    // Index of the batch's first frame, and number of its frames.
    std::size_t first = 0, frames = 0;
};

class device_ldpc_arrays final : public device_ldpc,
                                 private device_arrays<ldpc::traits, ldpc_array_slot>
{
public:
    device_ldpc_arrays(const ldpc_options& options, bool packed, int device)
        // The batch is four times as large as that of traits::cuda_batch(). The latter
        // may be a single wave of thread blocks, and the device would be idle between the
        // kernels of two such batches.
        : device_arrays(ldpc::make_setup(options),
                        options,
                        device,
                        4,
                        options.codes[0].sent_positions().empty()),
          d_options(options),
          d_packed(packed),
          d_code(options.codes[0]),
          d_limits(d_setup.limits(d_work_items)),
          d_name(name_of(device))
    {
        if (!options.codeword && d_setup.bits &&
            !(d_setup.message_only && d_code.systematic_prefix())) {
            d_positions = copied(d_code.message_positions());
        }
        if (const auto& sent = d_code.sent_positions(); !sent.empty()) {
            std::vector<std::uint32_t> sources(d_code.n(), no_value);
            for (const auto bit : d_code.shortened()) {
                sources[bit] = certain_zero;
            }
            for (std::size_t i = 0; i < sent.size(); ++i) {
                if (sent[i] != ldpc_code::fill) {
                    sources[sent[i]] = std::uint32_t(i);
                }
            }
            d_sources = copied(sources);
        }
        for (auto& s : d_slots) {
            if (!whole()) {
                ensure(s.input, d_limits.input_bytes);
            }
            ensure(s.output, d_limits.output_bytes);
            s.statuses = std::make_unique<locked_memory>(d_limits.status_bytes);
            s.table =
                std::make_unique<locked_memory>(ldpc::job::values_offset(d_work_items));
        }
    }

    std::string device() const override { return d_name; }

    void decode(const device_call& call,
                std::size_t frames,
                ldpc_array_decoder::status* statuses) override
    {
        const auto batch = batch_of(call.in, frames);
        run((frames + batch - 1) / batch,
            [&](ldpc_array_slot& s, unsigned number, std::size_t b) {
                s.first = b * batch;
                s.frames = std::min(batch, frames - s.first);
                fill(s, number, call);
            },
            [&](ldpc_array_slot& s) {
                if (d_options.soft == ldpc_soft_output::none) {
                    give_decisions(s, call.out);
                } else {
                    give_llrs(s, call.out);
                }
                const auto* const from =
                    reinterpret_cast<const ldpc_status*>(s.statuses->data());
                for (std::size_t f = 0; f < s.frames; ++f) {
                    statuses[s.first + f] = { from[f].iterations, from[f].unsatisfied };
                }
                call.check();
                return true;
            });
    }

private:
    void give_decisions(ldpc_array_slot& s, std::byte* out)
    {
        const auto bits = d_options.codeword ? d_code.n() : d_code.k();
        const std::size_t items = d_packed ? (bits + 7) / 8 : bits;
        give(s,
             d_setup.frame_output_bytes(d_code),
             d_positions ? d_positions->get() : nullptr,
             s.frames,
             bits,
             d_packed,
             out + s.first * items);
    }

    void give_llrs(ldpc_array_slot& s, std::byte* out)
    {
        const std::size_t n = d_code.n();
        give_rows(s,
                  s.output->get() + d_setup.soft_offset(d_code),
                  d_setup.frame_output_bytes(d_code),
                  n,
                  s.frames,
                  out + s.first * n);
    }

    using numbers = buffer<std::uint32_t>;

    static std::unique_ptr<numbers> copied(const std::vector<std::uint32_t>& list)
    {
        return std::make_unique<numbers>(uploaded(list, "positions"));
    }

    // Returns whether every code bit is transmitted, in order. The decoder's own kernels
    // then convert the values.
    bool whole() const { return d_code.sent_positions().empty(); }
    std::size_t value_bytes() const
    {
        return d_options.format == llr_format::float32 ? sizeof(float) : 1;
    }
    float factor() const
    {
        const float scale = d_setup.rule(d_code).scale;
        return (d_options.positive_bit ? -1 : 1) *
               (d_options.format == llr_format::float32 ? scale
                                                        : scale / d_options.llr_scale);
    }

    void fill(ldpc_array_slot& s, unsigned number, const device_call& call)
    {
        const auto row = d_code.sent() * value_bytes();
        const auto* const in = call.in + s.first * row;
        if (s.tabled != s.frames) {
            make_table(s, row);
        }
        if (whole()) {
            submit(
                s, number, s.job, { in, out_of(s), s.statuses->data(), s.table->data() });
            return;
        }
        const auto* const there = on_device(s, in, s.frames * row);
        auto* const to = s.input->get() + ldpc::job::values_offset(d_work_items);
        if (d_options.format == llr_format::float32) {
            convert_from(s, reinterpret_cast<const float*>(there), to);
        } else if (d_options.format == llr_format::uint8) {
            convert_from(s, reinterpret_cast<const std::uint8_t*>(there), to);
        } else {
            convert_from(s, reinterpret_cast<const std::int8_t*>(there), to);
        }
        check(cudaGetLastError(), "kernel launch");
        submit(s,
               number,
               s.job,
               { reinterpret_cast<const std::byte*>(s.input->get()),
                 out_of(s),
                 s.statuses->data() });
    }

    static std::byte* out_of(const ldpc_array_slot& s)
    {
        return reinterpret_cast<std::byte*>(s.output->get());
    }

    void make_table(ldpc_array_slot& s, std::size_t row)
    {
        ldpc::frame_batch batch(d_setup, d_limits);
        const auto rule = d_setup.rule(d_code);
        const auto soft = ldpc::soft_factor(
            rule,
            d_options.soft_scale > 0 ? d_options.soft_scale : d_options.llr_scale,
            d_options.positive_bit);
        for (std::size_t f = 0; f < s.frames; ++f) {
            if (whole()) {
                batch.add_caller_frame(
                    0, soft, f * row, factor(), rule.channel_limit, 0, 0);
            } else {
                batch.add(0, soft);
            }
        }
        s.job = batch.make_job(s.table->data());
        if (!whole()) {
            check(cudaMemcpyAsync(s.input->get(),
                                  s.table->data(),
                                  s.table->size(),
                                  cudaMemcpyDefault,
                                  s.queue),
                  "copy of the table");
        }
        s.tabled = s.frames;
    }

    // Queues the conversion of values. The results equal those of ldpc::input_format.
    template <class From>
    void convert_from(const ldpc_array_slot& s, const From* from, std::uint8_t* to)
    {
        switch (d_setup.precision) {
        case ldpc_precision::int8:
            return convert_to(s, from, reinterpret_cast<std::int8_t*>(to));
        case ldpc_precision::int16:
            return convert_to(s, from, reinterpret_cast<std::int16_t*>(to));
        default:
            return convert_to(s, from, reinterpret_cast<float*>(to));
        }
    }
    template <class From, class To>
    void convert_to(const ldpc_array_slot& s, const From* from, To* to)
    {
        constexpr std::size_t max_rows = 65535;
        const auto frames = s.frames;
        const auto n = d_code.n(), sent = d_code.sent();
        const auto* const sources = d_sources->get();
        const auto stride = unsigned(d_setup.frame_input_bytes(d_code) / sizeof(To));
        const float by = factor(), limit = d_setup.rule(d_code).channel_limit;
        const dim3 blocks(std::min(blocks_of(n), 8u), std::min(frames, max_rows));
        const auto stream = s.queue;
        convert_sent<<<blocks, threads, 0, stream>>>(
            from, frames, n, sent, sources, stride, by, limit, to);
    }

    const ldpc_options d_options;
    const bool d_packed;
    const ldpc_code d_code;
    const batch_limits d_limits;
    const std::string d_name;
    std::unique_ptr<numbers> d_positions; // positions of output bits; null if these are
                                          // the first bits of a row
    // Index of the sent value of each bit; null if whole().
    std::unique_ptr<numbers> d_sources;
};

} // namespace

std::unique_ptr<device_ldpc>
make_device_ldpc(const ldpc_options& options, bool packed, int device)
{
    return std::make_unique<device_ldpc_arrays>(options, packed, device);
}

} // namespace gr::gpufec
