// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Launch plans for DVB-S2 codes in int16 and float, with one codeword per block. */

#include "dvb_float.cuh"
#include "ldpc/cuda/by_size.h"
#include "ldpc/cuda/chain_plan.h"
#include <algorithm>

namespace gr::gpufec::ldpc {
namespace device {

namespace {

constexpr unsigned blocks_at_once(unsigned message_edges, unsigned chains)
{
    return message_edges <= 9 && chains == 1 ? 2 : 1;
}

template <unsigned MessageEdges, bool Int16, unsigned Chains, unsigned External>
__global__ void __launch_bounds__(chain_threads<Chains>::count,
                                  External ? 1 : blocks_at_once(MessageEdges, Chains))
    decode_dvb_float(const __grid_constant__ chain_table table,
                     const __grid_constant__ dvb_float_arguments arguments)
{
    dvb_float::layered_float_kernel<MessageEdges, Int16, Chains, External>(table,
                                                                           arguments)
        .run();
}

struct dvb_float_variant {
    void (*kernel)(chain_table, dvb_float_arguments) = nullptr;
    chain_layers::form form;
    std::size_t (*state_words)(const chain_table& table) = nullptr;
    std::size_t (*shared_bytes)(unsigned q,
                                unsigned shared_groups,
                                bool filled,
                                unsigned layers) = nullptr;
    unsigned threads = 0;
};

template <unsigned MessageEdges, bool Int16, unsigned Chains, unsigned External = 0>
dvb_float_variant variant()
{
    using d = dvb_float::layered_float_kernel<MessageEdges, Int16, Chains, External>;
    return {
        decode_dvb_float<MessageEdges, Int16, Chains, External>,
        { MessageEdges, d::max_shared, d::max_deferred, ~0u, External, d::max_early },
        d::state_words,
        d::shared_bytes,
        chain_threads<Chains>::count
    };
}

#ifdef GPUFEC_FEW_KERNELS
template <bool Int16>
dvb_float_variant choose(unsigned edges, unsigned chains)
{
    return at_least<dvb_float_variant, 5>(edges, [chains](auto e) {
        return chains == 2 ? variant<e, Int16, 2>() : variant<e, Int16, 1>();
    });
}

template <bool Int16>
dvb_float_variant choose_external(unsigned edges, unsigned chains)
{
    return at_least<dvb_float_variant, 5>(edges, [chains](auto e) {
        return chains == 2 ? variant<e, Int16, 2, e>() : variant<e, Int16, 1, e>();
    });
}
#else
template <bool Int16>
dvb_float_variant choose(unsigned edges, unsigned chains)
{
    using any = dvb_float_variant;
    if (chains == 2 && edges <= 5) {
        return at_least<any, 2, 3, 4, 5>(edges,
                                         [](auto e) { return variant<e, Int16, 2>(); });
    }
    return at_least<any, 2, 3, 4, 5, 8, 9, 12, 16, 20, 25, 28>(edges, [](auto e) {
        // One group of the largest code is in device memory.
        return variant<e, Int16, 1, e == 28>();
    });
}

// Returns the variant for codes whose posteriors do not fit in shared memory.
template <bool Int16>
dvb_float_variant choose_external(unsigned edges, unsigned chains)
{
    using any = dvb_float_variant;
    if (chains == 2 && edges <= 5) {
        return at_least<any, 2, 3, 4, 5>(
            edges, [](auto e) { return variant<e, Int16, 2, e>(); });
    }
    return at_least<any, 5, 9, 12, 16, 20, 28>(
        edges, [](auto e) { return variant<e, Int16, 1, e>(); });
}
#endif

class dvb_float_plan : public chain_plan<persistent_grid, dvb_float_variant>
{
public:
    dvb_float_plan(std::unique_ptr<chain_table> table,
                   const message_rule& rule,
                   const dvb_float_variant& v,
                   unsigned shared_layers,
                   unsigned per_sm)
        : chain_plan(std::move(table), v, per_sm),
          d_rule(rule),
          d_shared_layers(shared_layers),
          d_shared_bytes(v.shared_bytes(
              d_table->q, d_table->shared_groups, v.form.filled, shared_layers))
    {
    }

    void launch(const device_frames& frames,
                const stopping& stop,
                void* scratch,
                cudaStream_t stream) const override
    {
        const float limit = d_rule.message_limit;
        const dvb_float_arguments arguments{ persistent_grid::arguments(
                                                 frames, stop, scratch, stream),
                                             d_rule.offset_x2_others.base,
                                             d_rule.offset_x2_min.base,
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
    const message_rule d_rule;
    const unsigned d_shared_layers;
    const std::size_t d_shared_bytes;
};

} // namespace

std::unique_ptr<launch_plan>
make_dvb_float_plan(const ldpc_code& code, const message_rule& rule, bool, int device)
{
    if (code.addresses().empty() || rule.precision == ldpc_precision::int8) {
        return nullptr;
    }
    const chain_layers layers(code);
    const bool int16 = rule.precision == ldpc_precision::int16;
    const auto capacity = cuda::shared_per_block(device);
    const unsigned groups = layers.message_bits() / chain_table::group;
    dvb_float_variant v;
    std::unique_ptr<chain_table> table;
    const auto bytes_for = [&](unsigned shared_groups, unsigned shared_layers) {
        return v.shared_bytes(code.q(), shared_groups, v.form.filled, shared_layers);
    };
    for (const auto choices :
         { int16 ? choose<true> : choose<false>,
           int16 ? choose_external<true> : choose_external<false> }) {
        v = choices(layers.largest(), layers.chains());
        if (!v.kernel) {
            continue;
        }
        v.form.filled = layers.irregular() || layers.largest() < v.form.message_edges;
        if (bytes_for(0, 0) > capacity) {
            continue;
        }
        v.form.shared_groups =
            unsigned((capacity - bytes_for(0, 0)) / chain_table::bytes);
        // Parity bits are loaded through the shared memory of the groups, which must hold
        // the parity bits of eight threads.
        if ((v.form.shared_groups < groups && v.form.max_external == 0) ||
            v.form.shared_groups * chain_table::group < 8 * code.q()) {
            continue;
        }
        table = layers.table(v.form);
        if (table) {
            break;
        }
    }
    if (!table) {
        return nullptr;
    }
    const auto bytes = [&](unsigned shared_layers) {
        return bytes_for(table->shared_groups, shared_layers);
    };
    cuda::allow_shared(v.kernel, bytes(0), "the code");
    const auto blocks_with = [&](unsigned shared_layers) {
        const auto needed = bytes(shared_layers);
        return needed <= capacity ? cuda::resident_blocks(v.kernel, v.threads, needed)
                                  : 0;
    };
    const auto most = blocks_with(0);
    if (most == 0) {
        return nullptr;
    }
    // The free part of shared memory holds the records of some layers, because the L2
    // cache does not hold all records of long codewords.
    unsigned shared_layers = 0;
    while (shared_layers < table->begins[1] && blocks_with(shared_layers + 1) == most) {
        ++shared_layers;
    }
    return std::make_unique<dvb_float_plan>(
        std::move(table), rule, v, shared_layers, most);
}

} // namespace device
} // namespace gr::gpufec::ldpc
