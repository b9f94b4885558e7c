// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The CPU backend: one codeword a SIMD lane, groups of lanes dealt to threads. */

#include "job.h"
#include "lane_code.h"
#include "pipeline/host_memory.h"
#include "pipeline/refuse.h"
#include "pipeline/worker_pool.h"
#include "reference.h"
#include <algorithm>
#include <cstring>

namespace gr::gpufec::ldpc {

namespace {

const lanes::kernels& choose_lanes(const std::string& name)
{
    for (const auto* lanes : usable_ldpc_lanes()) {
        if (name.empty() || name == lanes->name) {
            return *lanes;
        }
    }
    refuse("instruction set", name, "it is not usable here");
}

// Scratch that suffices for a code, without its plan: every edge of a layer might be
// shared and deferred.
std::size_t scratch_bound(const lanes::kernel& kernel, const ldpc_code& code)
{
    const std::size_t in_layer =
        code.q() ? std::size_t(code.checks() / code.q()) * code.largest_check_degree()
                 : 0;
    lanes::code_view v{};
    v.n = code.n();
    v.places = std::uint32_t(code.n() + 2 * in_layer);
    v.edges = std::uint32_t(code.edges());
    return kernel.scratch_bytes(v);
}

class cpu_ldpc : public batch_decoder<job>
{
public:
    cpu_ldpc(const setup& setup,
             std::size_t codewords,
             unsigned threads,
             const std::string& instruction_set)
        : d_setup(setup),
          d_lanes(choose_lanes(instruction_set)),
          d_kernel(kernel_for(d_lanes, setup.precision)),
          d_limits(setup.limits(codewords)),
          d_codes(setup.codes.size()),
          d_pool(threads)
    {
        std::size_t bytes = 0;
        for (const auto& code : setup.codes) {
            bytes = std::max(bytes, scratch_bound(d_kernel, code));
        }
        for (unsigned i = 0; i < d_pool.threads() && layered(); ++i) {
            d_scratch.emplace_back(bytes);
        }
    }

    batch_limits limits() const override { return d_limits; }
    std::string backend() const override { return "cpu"; }
    std::string device() const override
    {
        return std::string(layered() ? d_lanes.name : "plain") + ", " +
               std::to_string(d_pool.threads()) +
               (d_pool.threads() == 1 ? " thread" : " threads");
    }
    void on_completion(std::function<void()> notify) override
    {
        d_pool.on_completion(std::move(notify));
    }
    bool finished(unsigned slot) override { return d_pool.finished(slot); }

    void submit(unsigned slot, const job& job, const batch_memory& memory) override
    {
        // Each code's codewords in groups of lanes.
        std::vector<job::run> groups;
        const auto size = layered() ? d_kernel.lanes : 1u;
        for (const auto& run : job.runs) {
            prepare(run.code);
            for (std::uint32_t i = 0; i < run.count; i += size) {
                groups.push_back(
                    { run.code, run.first + i, std::min(size, run.count - i) });
            }
        }
        const auto count = groups.size();
        d_pool.submit(
            slot,
            count,
            [this, groups = std::move(groups), memory](std::size_t g, unsigned worker) {
                if (layered()) {
                    decode_lanes(groups[g], memory, worker);
                } else {
                    decode_plain(groups[g], memory);
                }
            });
    }

private:
    struct prepared {
        message_rule rule;
        std::unique_ptr<lane_code> lanes;
    };

    bool layered() const { return d_setup.schedule == ldpc_schedule::layered; }

    // The tables of a code, made when it is first used.
    void prepare(std::uint32_t index)
    {
        auto& p = d_codes[index];
        if (p) {
            return;
        }
        const auto& code = d_setup.codes[index];
        auto fresh = std::make_unique<prepared>();
        fresh->rule = d_setup.rule(code);
        if (layered()) {
            fresh->lanes = std::make_unique<lane_code>(code, make_layer_plan(code));
        }
        p = std::move(fresh);
    }

    void decode_lanes(const job::run& group, const batch_memory& memory, unsigned worker)
    {
        const auto& p = *d_codes[group.code];
        const auto* const table = reinterpret_cast<const frame_place*>(memory.input);
        auto* const status = reinterpret_cast<frame_status*>(memory.status);
        lanes::frames frames{};
        frames.count = group.count;
        frames.out_bits = d_setup.output_bits(d_setup.codes[group.code]);
        frames.max_iterations = d_setup.max_iterations;
        frames.early_stop = d_setup.early_stop;
        for (unsigned l = 0; l < group.count; ++l) {
            const auto& f = table[group.first + l];
            frames.channel[l] = memory.input + f.input;
            frames.decisions[l] =
                reinterpret_cast<std::uint8_t*>(memory.output + f.output);
        }
        d_kernel.decode(
            p.lanes->view(), lane_arithmetic(p.rule), frames, d_scratch[worker].data());
        for (unsigned l = 0; l < group.count; ++l) {
            status[table[group.first + l].status] = { frames.iterations[l],
                                                      frames.unsatisfied[l] };
        }
    }

    // One codeword, by the model: as slow as it is plain.
    void decode_plain(const job::run& group, const batch_memory& memory)
    {
        const auto& code = d_setup.codes[group.code];
        const auto& p = *d_codes[group.code];
        const auto& f = reinterpret_cast<const frame_place*>(memory.input)[group.first];
        const auto result =
            reference::flooding(code,
                                p.rule,
                                channel_values(code, memory.input + f.input),
                                d_setup.max_iterations,
                                d_setup.early_stop);
        auto* const out = memory.output + f.output;
        std::memset(out, 0, d_setup.frame_output_bytes(code));
        for (unsigned i = 0; i < d_setup.output_bits(code); ++i) {
            out[i / 8] |= std::byte(result.bits[i] << (7 - i % 8));
        }
        reinterpret_cast<frame_status*>(memory.status)[f.status] = { result.iterations,
                                                                     result.unsatisfied };
    }

    std::vector<float> channel_values(const ldpc_code& code, const std::byte* from) const
    {
        const auto read = [&](auto sample) {
            using value = decltype(sample);
            const auto* const first = reinterpret_cast<const value*>(from);
            return std::vector<float>(first, first + code.n());
        };
        switch (d_setup.precision) {
        case ldpc_precision::int8:
            return read(std::int8_t());
        case ldpc_precision::int16:
            return read(std::int16_t());
        default:
            return read(float());
        }
    }

    const setup d_setup;
    const lanes::kernels& d_lanes;
    const lanes::kernel& d_kernel;
    const batch_limits d_limits;
    std::vector<std::unique_ptr<prepared>> d_codes;
    std::vector<host_memory> d_scratch; // one a thread
    worker_pool d_pool;                 // last: its threads use the rest
};

} // namespace

std::vector<std::string> cpu_instruction_sets()
{
    std::vector<std::string> names;
    for (const auto* lanes : usable_ldpc_lanes()) {
        names.push_back(lanes->name);
    }
    return names;
}

std::unique_ptr<batch_decoder<job>> make_cpu(const setup& setup,
                                             std::size_t codewords,
                                             unsigned threads,
                                             const std::string& instruction_set)
{
    return std::make_unique<cpu_ldpc>(setup, codewords, threads, instruction_set);
}

std::size_t cpu_batch(const setup& setup, unsigned threads)
{
    const auto& lanes = kernel_for(choose_lanes(""), setup.precision);
    return std::size_t(lanes.lanes) * std::max(1u, threads);
}

} // namespace gr::gpufec::ldpc
