// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Pairs of codewords in int8, and single ones folded: the table of a code, and the launch
 * of its kernel. */

#include "cuda_pair_plan.h"
#include "cuda_pair_variants.cuh"
#include <algorithm>

namespace gr::gpufec::ldpc {
namespace device {

namespace {

class pairs_plan : public pair_plan
{
public:
    pairs_plan(std::unique_ptr<chain_table> table,
               const pair_outgoing& rule,
               const pair_variant& v,
               bool wrap_shared,
               unsigned each,
               unsigned multiprocessors)
        : pair_plan(rule, each, multiprocessors),
          d_table(std::move(table)),
          d_entries(cuda::uploaded(d_table->entries(v.form.message_edges, v.form.folded),
                                   "table of a code")),
          d_variant(v),
          d_wrap_shared(wrap_shared)
    {
    }

    std::size_t scratch_bytes(std::size_t codewords) const override
    {
        return scratch_for(codewords, d_variant.state_words(d_table->q));
    }

    void launch(const device_frames& frames,
                const stopping& stop,
                void* scratch,
                cudaStream_t stream) const override
    {
        // Where each codeword can have a multiprocessor to itself, none shares a block.
        const unsigned at_once =
            d_variant.form.folded || frames.count <= multiprocessors() ? 1 : 2;
        const auto kernel = d_variant.kernel;
        const auto table = *d_table;
        const auto of_launch = arguments(
            frames, stop, scratch, at_once, d_wrap_shared, stream, d_entries.get());
        kernel<<<(frames.count + at_once - 1) / at_once,
                 d_variant.threads,
                 d_variant.shared_bytes(*d_table, d_wrap_shared),
                 stream>>>(table, of_launch);
        cuda::check(cudaGetLastError(), "LDPC kernel");
    }

private:
    const std::unique_ptr<chain_table> d_table;
    const cuda::buffer<std::uint32_t> d_entries;
    const pair_variant d_variant;
    const bool d_wrap_shared;
};

// With the kernel that choose() has for the layers of the code.
template <class Choose>
std::unique_ptr<launch_plan>
make_plan(const ldpc_code& code, const message_rule& rule, int device, Choose&& choose)
{
    // Halves hold integers up to 2048.
    if (code.addresses().empty() || !code.shortened().empty() ||
        rule.precision != ldpc_precision::int8 ||
        rule.posterior_limit(code.largest_bit_degree()) + rule.message_limit > 1400) {
        return nullptr;
    }
    const pair_outgoing values(rule);
    const chain_layers layers(code);
    const pair_variant v = choose(layers);
    auto table = v.kernel ? layers.table(v.form) : nullptr;
    if (!table || !values.follows(rule)) {
        return nullptr;
    }
    cudaDeviceProp p;
    cuda::check(cudaGetDeviceProperties(&p, device), "device properties");
    if (p.major < pairs::first_capability && !v.form.folded) {
        return nullptr;
    }
    const bool wrap_shared = v.shared_bytes(*table, true) <= p.sharedMemPerBlockOptin;
    const auto bytes = v.shared_bytes(*table, wrap_shared);
    if (bytes > p.sharedMemPerBlockOptin) {
        return nullptr;
    }
    cuda::allow_shared(v.kernel, bytes, "the code");
    int resident = 0;
    cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                    &resident, v.kernel, int(v.threads), bytes),
                "occupancy");
    if (resident == 0) {
        return nullptr;
    }
    return std::make_unique<pairs_plan>(
        std::move(table), values, v, wrap_shared, resident, p.multiProcessorCount);
}

} // namespace

std::unique_ptr<launch_plan>
make_pairs_plan(const ldpc_code& code, const message_rule& rule, bool soft, int device)
{
    return make_plan(code, rule, device, [&](const chain_layers& layers) {
        return (soft ? choose_soft_pairs : choose_pairs)(layers, code.n() <= 16200);
    });
}

std::unique_ptr<launch_plan>
make_folded_plan(const ldpc_code& code, const message_rule& rule, bool, int device)
{
    return make_plan(code, rule, device, choose_folded);
}

} // namespace device
} // namespace gr::gpufec::ldpc
