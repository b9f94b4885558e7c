// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Launch plans for DVB-S2 codes in int8, with two codewords per word or two checks of one
 * codeword per word. */

#include "ldpc/cuda/chain_plan.h"
#include "plan.h"
#include "variants.cuh"
#include <algorithm>

namespace gr::gpufec::ldpc {
namespace device {

namespace {

class dvb_int8x2_plan : public chain_plan<int8x2_plan, dvb_int8x2_variant>
{
public:
    dvb_int8x2_plan(std::unique_ptr<chain_table> table,
                    const int8x2_message_rule& rule,
                    const dvb_int8x2_variant& v,
                    bool wrap_shared,
                    unsigned per_sm)
        : chain_plan(std::move(table), v, rule, per_sm), d_wrap_shared(wrap_shared)
    {
    }

    bool fits_shared_memory() const override { return d_variant.form.max_external <= 1; }

    void launch(const device_frames& frames,
                const stopping& stop,
                void* scratch,
                cudaStream_t stream) const override
    {
        // Two codewords share a block only if there are fewer multiprocessors than
        // codewords.
        const unsigned codewords_per_word =
            d_variant.form.two_checks_per_word || frames.count <= multiprocessors() ? 1
                                                                                    : 2;
        const auto kernel = d_variant.kernel;
        const auto table = *d_table;
        const auto of_launch = arguments(frames,
                                         stop,
                                         scratch,
                                         codewords_per_word,
                                         d_wrap_shared,
                                         stream,
                                         d_entries.get());
        kernel<<<(frames.count + codewords_per_word - 1) / codewords_per_word,
                 d_variant.threads,
                 d_variant.shared_bytes(table.q, table.shared_groups, d_wrap_shared),
                 stream>>>(table, of_launch);
        cuda::check(cudaGetLastError(), "LDPC kernel");
    }

private:
    const bool d_wrap_shared;
};

// Makes a plan with the kernel that choose() returns for the layers of the code, or
// returns null.
template <class Choose>
std::unique_ptr<launch_plan>
make_plan(const ldpc_code& code, const message_rule& rule, int device, Choose&& choose)
{
    // Variable-to-check magnitudes must stay below \c missing, and a 16-bit float holds
    // integers exactly only up to 2048.
    if (code.addresses().empty() || !code.shortened().empty() ||
        rule.precision != ldpc_precision::int8 ||
        rule.posterior_limit(code.largest_bit_degree()) + rule.message_limit > 1400) {
        return nullptr;
    }
    const int8x2_message_rule values(rule);
    const chain_layers layers(code);
    dvb_int8x2_variant v = choose(layers);
    if (!v.kernel || !values.follows(rule)) {
        return nullptr;
    }
    const auto capacity = cuda::shared_per_block(device);
    if (v.form.max_external > 0) {
        const auto others = v.shared_bytes(code.q(), 0, false);
        v.form.shared_groups =
            others < capacity ? unsigned((capacity - others) / chain_table::bytes) : 0;
    }
    auto table = layers.table(v.form);
    if (!table) {
        return nullptr;
    }
    const auto bytes_with = [&](bool wrap_shared) {
        return v.shared_bytes(table->q, table->shared_groups, wrap_shared);
    };
    const bool wrap_shared = bytes_with(true) <= capacity;
    const auto bytes = bytes_with(wrap_shared);
    if (bytes > capacity) {
        return nullptr;
    }
    cuda::allow_shared(v.kernel, bytes, "the code");
    const auto resident = cuda::resident_blocks(v.kernel, v.threads, bytes);
    if (resident == 0) {
        return nullptr;
    }
    return std::make_unique<dvb_int8x2_plan>(
        std::move(table), values, v, wrap_shared, resident);
}

} // namespace

std::unique_ptr<launch_plan> make_dvb_int8x2_plan(const ldpc_code& code,
                                                  const message_rule& rule,
                                                  bool soft,
                                                  int device)
{
    auto plan = make_plan(code, rule, device, [&](const chain_layers& layers) {
        return (soft ? choose_soft_dvb_int8x2 : choose_dvb_int8x2)(layers,
                                                                   code.n() <= 16200);
    });
    return plan ? std::move(plan)
                : make_plan(code, rule, device, [&](const chain_layers& layers) {
                      return choose_external(layers, soft);
                  });
}

std::unique_ptr<launch_plan> make_two_checks_per_word_plan(const ldpc_code& code,
                                                           const message_rule& rule,
                                                           bool,
                                                           int device)
{
    return make_plan(code, rule, device, choose_two_checks_per_word);
}

} // namespace device
} // namespace gr::gpufec::ldpc
