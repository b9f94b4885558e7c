// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* LDPC decoding of arrays on CUDA devices. */

#include "device_arrays.cuh"
#include "ldpc/model/value_types.h"
#include "ldpc/stream/frame_batch.h"
#include "ldpc/stream/sent_values.h"
#include "ldpc/stream/traits.h"

namespace gr::gpufec {

using namespace cuda;
using namespace cuda::arrays;

namespace {

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
            float x = source == ldpc::certain_zero ? limit : 0.0f;
            if (source < sent) {
                x = __fmul_rn(value_of(from[r * sent + source]), factor);
            }
            set(to[r * stride + i], fminf(fmaxf(x, -limit), limit));
        }
    }
}

struct ldpc_array_slot : frames_slot {
    // The table has each frame's offset and factors, see ldpc::frame_batch.
    std::size_t tabled = 0; // number of frames in the table
    ldpc::job job;
};

class device_ldpc_arrays final
    : public device_arrays<device_ldpc, ldpc::traits, ldpc_array_slot>
{
public:
    device_ldpc_arrays(const ldpc_options& options, bool packed, int device)
        // The batch is four times as large as traits::cuda_batch(), which may be a single
        // wave of thread blocks. With single waves, the device would be idle between the
        // kernels of two batches.
        : device_arrays(ldpc::make_setup(options),
                        options,
                        device,
                        4,
                        options.codes[0].sent_positions().empty()),
          d_options(options),
          d_packed(packed),
          d_code(options.codes[0]),
          d_limits(d_setup.limits(d_work_items))
    {
        if (!options.codeword && d_setup.bits &&
            !(d_setup.message_only && d_code.systematic_prefix())) {
            d_positions = copied(d_code.message_positions());
        }
        if (!whole()) {
            d_sources = copied(ldpc::sources_of(d_code));
        }
        for (auto& s : d_slots) {
            if (!whole()) {
                ensure(s.input, d_limits.input_bytes);
            }
            ensure(s.output, d_limits.output_bytes);
            s.allocate(d_limits.status_bytes, ldpc::job::values_offset(d_work_items));
        }
    }

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
        const auto items = items_of(bits, d_packed);
        give(s,
             { s.output->get(),
               d_setup.frame_output_bytes(d_code),
               d_positions ? d_positions->get() : nullptr,
               s.frames,
               bits,
               d_packed },
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
        return std::make_unique<numbers>(uploaded(list, "copy of positions"));
    }

    // Returns whether every code bit is transmitted, in order. The decoder's own kernels
    // then convert the values.
    bool whole() const { return d_code.sent_positions().empty(); }
    float factor() const
    {
        const float scale = d_setup.rule(d_code).scale;
        return (d_options.positive_bit ? -1 : 1) *
               (d_options.format == llr_format::float32 ? scale
                                                        : scale / d_options.llr_scale);
    }

    void fill(ldpc_array_slot& s, unsigned number, const device_call& call)
    {
        const auto row = d_code.sent() * d_options.item_bytes();
        const auto* const in = call.in + s.first * row;
        if (s.tabled != s.frames) {
            make_table(s, row);
        }
        if (whole()) {
            submit(s,
                   number,
                   s.job,
                   { in, s.output_bytes(), s.statuses->data(), s.table->data() });
            return;
        }
        const auto* const there = on_device(s, in, s.frames * row);
        auto* const to = s.input->get() + ldpc::job::values_offset(d_work_items);
        ldpc::with_llr(d_options.format, [&](auto llr) {
            ldpc::with_channel_value(d_setup.precision, [&](auto value) {
                convert(s,
                        reinterpret_cast<const decltype(llr)*>(there),
                        reinterpret_cast<decltype(value)*>(to));
            });
        });
        check(cudaGetLastError(), "kernel launch");
        submit(s,
               number,
               s.job,
               { reinterpret_cast<const std::byte*>(s.input->get()),
                 s.output_bytes(),
                 s.statuses->data() });
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
    template <class From, class To>
    void convert(const ldpc_array_slot& s, const From* from, To* to)
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
