// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Single codewords in int16 and float: the kernels, and their launch. */

#include "cuda_singles.cuh"
#include <algorithm>

namespace gr::gpufec::ldpc {
namespace device {

namespace {

constexpr unsigned blocks_at_once(unsigned message_edges, unsigned chains)
{
    return message_edges <= 9 && chains == 1 ? 2 : 1;
}

template <unsigned MessageEdges, bool Int16, unsigned Chains>
__global__ void __launch_bounds__(chain_threads<Chains>::count,
                                  blocks_at_once(MessageEdges, Chains))
    decode_single(const __grid_constant__ chain_table table,
                  const __grid_constant__ single_arguments arguments)
{
    singles::decoder<MessageEdges, Int16, Chains>(table, arguments).run();
}

struct single_variant {
    void (*kernel)(chain_table, single_arguments) = nullptr;
    chain_layers::form form;
    std::size_t (*state_words)(unsigned q) = nullptr;
    std::size_t (*shared_bytes)(const chain_table& table,
                                bool filled,
                                unsigned layers) = nullptr;
    unsigned threads = 0;
};

template <unsigned MessageEdges, bool Int16, unsigned Chains>
single_variant variant()
{
    using d = singles::decoder<MessageEdges, Int16, Chains>;
    return { decode_single<MessageEdges, Int16, Chains>,
             { MessageEdges, d::most_shared, d::most_deferred },
             d::state_words,
             d::shared_bytes,
             chain_threads<Chains>::count };
}

template <bool Int16>
single_variant choose(unsigned edges, unsigned chains)
{
    const bool two = chains == 2;
    if (edges <= 5) {
#ifndef GPUFEC_FEW_KERNELS
        if (edges <= 2) {
            return two ? variant<2, Int16, 2>() : variant<2, Int16, 1>();
        }
        if (edges == 3) {
            return two ? variant<3, Int16, 2>() : variant<3, Int16, 1>();
        }
        if (edges == 4) {
            return two ? variant<4, Int16, 2>() : variant<4, Int16, 1>();
        }
#endif
        return two ? variant<5, Int16, 2>() : variant<5, Int16, 1>();
    }
#ifndef GPUFEC_FEW_KERNELS
    return edges <= 8    ? variant<8, Int16, 1>()
           : edges <= 9  ? variant<9, Int16, 1>()
           : edges <= 12 ? variant<12, Int16, 1>()
           : edges <= 16 ? variant<16, Int16, 1>()
           : edges <= 20 ? variant<20, Int16, 1>()
           : edges <= 25 ? variant<25, Int16, 1>()
           : edges <= 28 ? variant<28, Int16, 1>()
                         : single_variant{};
#else
    return {};
#endif
}

class singles_plan : public block_plan
{
public:
    singles_plan(std::unique_ptr<chain_table> table,
                 const message_rule& rule,
                 const single_variant& v,
                 unsigned shared_layers,
                 unsigned each,
                 unsigned multiprocessors)
        : block_plan(each, multiprocessors),
          d_table(std::move(table)),
          d_entries(
              cuda::uploaded(d_table->entries(v.form.message_edges), "table of a code")),
          d_rule(rule),
          d_variant(v),
          d_shared_layers(shared_layers),
          d_shared_bytes(v.shared_bytes(*d_table, v.form.filled, shared_layers))
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
        const float limit = d_rule.message_limit;
        const single_arguments arguments{ block_plan::arguments(
                                              frames, stop, scratch, stream),
                                          d_rule.twice_to_all.base,
                                          d_rule.twice_to_least.base,
                                          d_rule.decline,
                                          d_rule.normalization,
                                          1 / limit,
                                          -d_rule.offset / limit,
                                          limit * d_rule.sixteenths / 16,
                                          d_variant.form.filled,
                                          d_shared_layers,
                                          d_entries.get() };
        const auto kernel = d_variant.kernel;
        const auto table = *d_table;
        kernel<<<frames.count, d_variant.threads, d_shared_bytes, stream>>>(table,
                                                                            arguments);
        cuda::check(cudaGetLastError(), "LDPC kernel");
    }

private:
    const std::unique_ptr<chain_table> d_table;
    const cuda::buffer<std::uint32_t> d_entries;
    const message_rule d_rule;
    const single_variant d_variant;
    const unsigned d_shared_layers;
    const std::size_t d_shared_bytes;
};

} // namespace

std::unique_ptr<launch_plan>
make_singles_plan(const ldpc_code& code, const message_rule& rule, bool, int device)
{
    if (code.addresses().empty() || rule.precision == ldpc_precision::int8) {
        return nullptr;
    }
    const chain_layers layers(code);
    const bool int16 = rule.precision == ldpc_precision::int16;
    auto v = (int16 ? choose<true> : choose<false>)(layers.largest(), layers.chains());
    if (!v.kernel) {
        return nullptr;
    }
    v.form.filled = layers.irregular() || layers.largest() < v.form.message_edges;
    cudaDeviceProp p;
    cuda::check(cudaGetDeviceProperties(&p, device), "device properties");
    const auto room = p.sharedMemPerBlockOptin;
    auto table = layers.table(v.form);
    const auto bytes = [&](unsigned shared_layers) {
        return v.shared_bytes(*table, v.form.filled, shared_layers);
    };
    // A group of the largest codes is left out.
    if (table && bytes(0) > room && v.form.message_edges > 25) {
        v.form.external = true;
        table = layers.table(v.form);
    }
    if (!table || bytes(0) > room) {
        return nullptr;
    }
    cuda::allow_shared(v.kernel, bytes(0), "the code");
    const auto blocks_with = [&](unsigned shared_layers) {
        int blocks = 0;
        if (bytes(shared_layers) <= room) {
            cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                            &blocks, v.kernel, int(v.threads), bytes(shared_layers)),
                        "occupancy");
        }
        return blocks;
    };
    const int most = blocks_with(0);
    if (most == 0) {
        return nullptr;
    }
    // What the blocks leave of shared memory is used, for the L2 cache does not hold what
    // is kept of long codewords.
    unsigned shared_layers = 0;
    while (shared_layers < table->begins[1] && blocks_with(shared_layers + 1) == most) {
        ++shared_layers;
    }
    return std::make_unique<singles_plan>(
        std::move(table), rule, v, shared_layers, most, p.multiProcessorCount);
}

} // namespace device
} // namespace gr::gpufec::ldpc
