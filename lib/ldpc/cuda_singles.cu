// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Single codewords in int16 and float: the kernels, and their launch. */

#include "cuda_singles.cuh"
#include <algorithm>

namespace gr::gpufec::ldpc {
namespace device {

namespace {

constexpr unsigned blocks_at_once(unsigned message_edges)
{
    return message_edges <= 9 ? 2 : 1;
}

template <unsigned MessageEdges, bool Int16>
__global__ void __launch_bounds__(singles::threads, blocks_at_once(MessageEdges))
    decode_single(const __grid_constant__ chain_table table,
                  const __grid_constant__ single_arguments arguments)
{
    singles::decoder<MessageEdges, Int16>(table, arguments).run();
}

struct single_variant {
    void (*kernel)(chain_table, single_arguments) = nullptr;
    chain_layers::form form;
    std::size_t (*state_words)(unsigned q) = nullptr;
    std::size_t (*shared_bytes)(const chain_table& table,
                                bool filled,
                                const shared_room& room) = nullptr;
    unsigned least_layers = 0;
};

template <unsigned MessageEdges, bool Int16>
single_variant variant()
{
    using d = singles::decoder<MessageEdges, Int16>;
    return { decode_single<MessageEdges, Int16>,
             { MessageEdges, d::most_shared },
             d::state_words,
             d::shared_bytes,
             d::least_layers };
}

template <bool Int16>
single_variant choose(unsigned edges)
{
#ifdef GPUFEC_FEW_KERNELS
    return edges <= 5 ? variant<5, Int16>() : single_variant{};
#else
    return edges <= 2    ? variant<2, Int16>()
           : edges <= 3  ? variant<3, Int16>()
           : edges <= 4  ? variant<4, Int16>()
           : edges <= 5  ? variant<5, Int16>()
           : edges <= 8  ? variant<8, Int16>()
           : edges <= 9  ? variant<9, Int16>()
           : edges <= 12 ? variant<12, Int16>()
           : edges <= 16 ? variant<16, Int16>()
           : edges <= 20 ? variant<20, Int16>()
           : edges <= 25 ? variant<25, Int16>()
           : edges <= 28 ? variant<28, Int16>()
                         : single_variant{};
#endif
}

class singles_plan : public block_plan
{
public:
    singles_plan(std::unique_ptr<chain_table> table,
                 const message_rule& rule,
                 const single_variant& v,
                 const shared_room& shared,
                 std::size_t shared_bytes,
                 unsigned each,
                 unsigned multiprocessors)
        : block_plan(each, multiprocessors),
          d_table(std::move(table)),
          d_entries(
              cuda::uploaded(d_table->entries(v.form.message_edges), "table of a code")),
          d_rule(rule),
          d_variant(v),
          d_shared(shared),
          d_shared_bytes(shared_bytes)
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
                                          d_rule.offset,
                                          limit,
                                          d_rule.normalization,
                                          1 / limit,
                                          -d_rule.offset / limit,
                                          limit * d_rule.sixteenths / 16,
                                          d_variant.form.filled,
                                          d_shared.wrap,
                                          d_shared.layers,
                                          d_shared.long_queue,
                                          d_entries.get() };
        const auto kernel = d_variant.kernel;
        const auto table = *d_table;
        kernel<<<frames.count, singles::threads, d_shared_bytes, stream>>>(table,
                                                                           arguments);
        cuda::check(cudaGetLastError(), "LDPC kernel");
    }

private:
    const std::unique_ptr<chain_table> d_table;
    const cuda::buffer<std::uint32_t> d_entries;
    const message_rule d_rule;
    const single_variant d_variant;
    const shared_room d_shared;
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
    auto v = rule.precision == ldpc_precision::int16 ? choose<true>(layers.largest())
                                                     : choose<false>(layers.largest());
    if (!v.kernel) {
        return nullptr;
    }
    v.form.filled = layers.irregular() || layers.largest() < v.form.message_edges;
    cudaDeviceProp p;
    cuda::check(cudaGetDeviceProperties(&p, device), "device properties");
    const auto room = p.sharedMemPerBlockOptin;
    auto table = layers.table(v.form);
    const auto bytes = [&](const shared_room& r) {
        return v.shared_bytes(*table, v.form.filled, r);
    };
    // A group of the largest codes is left out.
    if (table && bytes({}) > room && v.form.message_edges > 25) {
        v.form.external = true;
        table = layers.table(v.form);
    }
    if (!table || bytes({}) > room || table->q < v.least_layers) {
        return nullptr;
    }
    cuda::allow_shared(v.kernel, bytes({}), "the code");
    const auto blocks_with = [&](const shared_room& r) {
        int blocks = 0;
        if (bytes(r) <= room) {
            cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                            &blocks, v.kernel, int(singles::threads), bytes(r)),
                        "occupancy");
        }
        return blocks;
    };
    const int most = blocks_with({});
    if (most == 0) {
        return nullptr;
    }
    // What the blocks leave of shared memory is used, for the L2 cache does not hold what
    // is kept of long codewords.
    shared_room shared{};
    const auto unless_fewer = [&](shared_room with) {
        if (blocks_with(with) == most) {
            shared = with;
        }
    };
    unless_fewer({ true, false, 0 });
    unless_fewer(
        { shared.wrap,
          v.least_layers > 0 &&
              table->q >= v.least_layers + singles::long_queue - singles::short_queue,
          0 });
    for (unsigned i = 1; i <= table->q && shared.layers + 1 == i; ++i) {
        unless_fewer({ shared.wrap, shared.long_queue, i });
    }
    return std::make_unique<singles_plan>(
        std::move(table), rule, v, shared, bytes(shared), most, p.multiProcessorCount);
}

} // namespace device
} // namespace gr::gpufec::ldpc
