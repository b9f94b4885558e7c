// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernels for DVB-S2 codes: which one a code gets, and its launch. */

#include "cuda_dvbs2.h"
#include <algorithm>
#include <iterator>
#include <vector>

namespace gr::gpufec::ldpc {
namespace device {

namespace {

class folded_plan : public launch_plan
{
public:
    folded_plan(const layer_table& table,
                const message_rule& rule,
                const dvbs2_variant& v,
                int blocks)
        : d_table(table), d_rule(rule), d_variant(v), d_blocks(blocks)
    {
    }

    std::size_t scratch_bytes(std::size_t codewords) const override
    {
        return 256 + std::size_t(grid(codewords)) * d_variant.state_words * 4;
    }

    void launch(const device_frames& frames,
                const stopping& stop,
                void* scratch,
                cudaStream_t stream) const override
    {
        auto* const counter = static_cast<std::uint32_t*>(scratch);
        cuda::check(cudaMemsetAsync(counter, 0, sizeof(*counter), stream), "memset");
        const dvbs2_arguments arguments{ frames,
                                         stop,
                                         counter + 64,
                                         counter,
                                         d_rule.offset * d_variant.unit,
                                         d_rule.message_limit * d_variant.unit,
                                         d_rule.sixteenths / 16.0f };
        d_variant.kernel<<<grid(frames.count),
                           d_variant.threads,
                           d_variant.shared_bytes,
                           stream>>>(d_table, arguments);
        cuda::check(cudaGetLastError(), "LDPC kernel");
    }

private:
    unsigned grid(std::size_t codewords) const
    {
        return unsigned(std::min<std::size_t>(d_blocks, codewords));
    }

    const layer_table d_table;
    const message_rule d_rule;
    const dvbs2_variant d_variant;
    const int d_blocks; // resident at once
};

} // namespace

namespace {

// Kernels in the order of their speed, each for batches from a size on.
class plan_by_batch : public launch_plan
{
public:
    struct plan {
        std::unique_ptr<launch_plan> launch;
        std::size_t from; // codewords
    };
    explicit plan_by_batch(std::vector<plan> plans) : d_plans(std::move(plans)) {}

    std::size_t scratch_bytes(std::size_t codewords) const override
    {
        std::size_t most = 0;
        for (const auto& p : d_plans) {
            most = std::max(most, p.launch->scratch_bytes(codewords));
        }
        return most;
    }
    void launch(const device_frames& frames,
                const stopping& stop,
                void* scratch,
                cudaStream_t stream) const override
    {
        for (const auto& p : d_plans) {
            if (frames.count >= p.from) {
                return p.launch->launch(frames, stop, scratch, stream);
            }
        }
    }

private:
    const std::vector<plan> d_plans; // the last for all
};

} // namespace

std::unique_ptr<launch_plan>
make_dvbs2_plan(const ldpc_code& code, const message_rule& rule, bool soft, int device)
{
    if (rule.precision != ldpc_precision::int8) {
        return make_singles_plan(code, rule, soft, device);
    }
    std::vector<plan_by_batch::plan> plans;
    if (auto pairs = make_pairs_plan(code, rule, soft, device)) {
        // Where checks are large and a codeword has a multiprocessor to itself, fewer
        // threads with twice the work are faster.
        int multiprocessors = 0;
        cuda::check(cudaDeviceGetAttribute(
                        &multiprocessors, cudaDevAttrMultiProcessorCount, device),
                    "device attribute");
        const bool large_checks = code.edges() > 24 * code.checks();
        plans.push_back(
            { std::move(pairs), large_checks ? std::size_t(multiprocessors) + 1 : 0 });
    }
    if (plans.empty() || plans.back().from > 0) {
        if (auto folded = make_folded_plan(code, rule, soft, device)) {
            plans.push_back({ std::move(folded), 0 });
        } else if (!plans.empty()) {
            plans.back().from = 0;
        }
    }
    return plans.empty() ? nullptr : std::make_unique<plan_by_batch>(std::move(plans));
}

std::unique_ptr<launch_plan>
make_folded_plan(const ldpc_code& code, const message_rule& rule, bool, int device)
{
    // Tables of the kernels have room for so many edges and layers, and halves hold
    // integers up to 2048.
    if (rule.precision != ldpc_precision::int8 || code.addresses().empty() ||
        code.q() > std::size(layer_table{}.layer) ||
        code.edges() - (2 * code.checks() - 1) > 360 * std::size(layer_table{}.edges) ||
        rule.posterior_limit(code.largest_bit_degree()) + rule.message_limit > 1400) {
        return nullptr;
    }
    cudaDeviceProp p;
    cuda::check(cudaGetDeviceProperties(&p, device), "device properties");
    const auto layers = make_dvbs2_layers(code);
    const auto v = choose_int8_kernel(layers, p.sharedMemPerMultiprocessor);
    if (!v.kernel || v.shared_bytes > p.sharedMemPerBlockOptin) {
        return nullptr;
    }
    cuda::allow_shared(v.kernel, v.shared_bytes, "the code");
    int resident = 0;
    cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                    &resident, v.kernel, int(v.threads), v.shared_bytes),
                "occupancy");
    if (resident == 0) {
        return nullptr;
    }
    return std::make_unique<folded_plan>(
        layers.table, rule, v, resident * p.multiProcessorCount);
}

} // namespace device
} // namespace gr::gpufec::ldpc
