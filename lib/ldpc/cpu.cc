// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The CPU backend: one codeword a SIMD lane, groups of lanes dealt to threads. */

#include "flooding.h"
#include "lane_code.h"
#include "pipeline/cpu_decoder.h"
#include "pipeline/host_memory.h"
#include "room.h"
#include <algorithm>
#include <cstring>

namespace gr::gpufec::ldpc {

namespace {

// Scratch that suffices for a code, without its plan: every edge of a layer might be
// shared and deferred.
std::size_t scratch_bound(const lanes::kernel& kernel, const ldpc_code& code)
{
    const std::size_t in_layer =
        std::size_t(code.lifting()) * code.largest_check_degree();
    lanes::code_view v{};
    v.n = code.n();
    v.places = std::uint32_t(code.n() + 2 * in_layer);
    v.edges = std::uint32_t(code.edges());
    return kernel.scratch_bytes(v);
}

class cpu_ldpc : public cpu_decoder<job>
{
public:
    cpu_ldpc(const setup& setup,
             std::size_t codewords,
             unsigned threads,
             const std::string& variant)
        : cpu_decoder(setup.schedule == ldpc_schedule::layered ? cpu_variant(variant)
                                                               : "plain",
                      setup.limits(codewords),
                      threads),
          d_setup(setup),
          d_kernel(kernel_for(lanes::variants().of(variant), setup.precision)),
          d_codes(setup.codes.size())
    {
        std::size_t bytes = 0;
        for (const auto& code : setup.codes) {
            bytes = std::max(bytes, scratch_bound(d_kernel, code));
        }
        for (unsigned i = 0; i < d_pool.threads(); ++i) {
            if (layered()) {
                d_scratch.emplace_back(bytes);
            } else {
                d_flooding.emplace_back(d_setup);
            }
        }
    }

    ~cpu_ldpc() override { stop(); }

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
                    decode_plain(groups[g], memory, worker);
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

    void decode_plain(const job::run& group, const batch_memory& memory, unsigned worker)
    {
        const auto& f = reinterpret_cast<const frame_place*>(memory.input)[group.first];
        reinterpret_cast<frame_status*>(memory.status)[f.status] =
            d_flooding[worker].decode(d_setup.codes[group.code],
                                      d_codes[group.code]->rule,
                                      memory.input + f.input,
                                      memory.output + f.output);
    }

    const setup d_setup;
    const lanes::kernel& d_kernel;
    std::vector<std::unique_ptr<prepared>> d_codes;
    // One per thread, of one or the other.
    std::vector<host_memory> d_scratch;
    std::vector<flooding_decoder> d_flooding;
};

} // namespace

room::decoder room::make_cpu(const setup& s,
                             std::size_t codewords,
                             unsigned threads,
                             const std::string& variant)
{
    return std::make_unique<cpu_ldpc>(s, codewords, threads, variant);
}

// Keeps the lanes full.
std::size_t room::cpu_batch(const setup& s, unsigned threads)
{
    const auto& kernel = kernel_for(lanes::variants().of(""), s.precision);
    return std::size_t(kernel.lanes) * std::max(1u, threads);
}

} // namespace gr::gpufec::ldpc
