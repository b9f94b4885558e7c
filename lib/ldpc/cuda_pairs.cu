// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Pairs of codewords in int8: the table of a code, its kernel, and the launch. */

#include "cuda_pair_plan.h"
#include "cuda_pair_variants.cuh"
#include <algorithm>
#include <cmath>
#include <vector>

namespace gr::gpufec::ldpc {
namespace device {

namespace {

struct edge {
    unsigned group, shift, round;
    bool shared;
};

// By layer: deferred edges by their rounds, those that write the same bits, the others.
std::vector<std::vector<edge>> layers_of(const ldpc_code& code)
{
    const auto q = code.q();
    std::vector<std::vector<edge>> layers(q);
    for (unsigned g = 0; g < code.addresses().size(); ++g) {
        std::vector<unsigned> rounds(q, 0);
        for (const unsigned x : code.addresses()[g]) {
            layers[x % q].push_back({ g, x / q, rounds[x % q]++, false });
        }
        for (auto& layer : layers) {
            for (auto& e : layer) {
                e.shared |= e.group == g && rounds[&layer - layers.data()] > 1;
            }
        }
    }
    for (auto& layer : layers) {
        std::stable_sort(layer.begin(), layer.end(), [](const edge& a, const edge& b) {
            const auto rank = [](const edge& e) {
                return e.round ? int(e.round) : e.shared ? 1000 : 1001;
            };
            return rank(a) != rank(b) ? rank(a) < rank(b) : a.group < b.group;
        });
    }
    return layers;
}

// Whether layers have a barrier; \p used: the groups since the last one.
class barriers
{
public:
    explicit barriers(unsigned groups) : d_used(groups, false) {}
    bool before(const std::vector<edge>& layer)
    {
        const bool needed =
            std::any_of(layer.begin(), layer.end(), [this](const edge& e) {
                return d_used[e.group];
            });
        if (needed) {
            passed();
        }
        for (const auto& e : layer) {
            d_used[e.group] = true;
        }
        if (layer.front().round) { // has its own, after which only these are used
            passed();
            for (const auto& e : layer) {
                d_used[e.group] = d_used[e.group] || e.shared;
            }
        }
        return needed;
    }
    void passed() { std::fill(d_used.begin(), d_used.end(), false); }

private:
    std::vector<bool> d_used;
};

// None for a code that the kernels are not made for.
std::unique_ptr<pair_table> make_table(const ldpc_code& code, bool soft, pair_variant& v)
{
    const auto layers = layers_of(code);
    const auto q = code.q();
    unsigned largest = 0;
    bool irregular = false;
    for (const auto& layer : layers) {
        if (layer.empty()) {
            return nullptr;
        }
        largest = std::max(largest, unsigned(layer.size()));
        irregular |= layer.size() != layers[0].size();
    }
    const unsigned message_bits = code.n() - code.checks(); // shortened ones too
    const auto choose = soft ? choose_soft_pairs : choose_pairs;
    v = choose(largest, irregular, message_bits > 32400, code.n() <= 16200);
    auto table = std::make_unique<pair_table>();
    if (!v.kernel || q > std::size(table->layer) ||
        q * v.message_edges > std::size(table->edges)) {
        return nullptr;
    }
    const unsigned groups = message_bits / pairs::group;
    table->q = q;
    table->message_bits = message_bits;
    table->shared_groups = groups - v.external;
    barriers needed(groups);
    bool since_first = false; // a barrier after the first layer
    for (unsigned i = 0; i < q; ++i) {
        auto layer = layers[i];
        std::uint32_t head = unsigned(layer.size());
        unsigned deferred = 0, shared = 0;
        for (const auto& e : layer) {
            if (e.round && (deferred == 0 || e.round != layer[deferred - 1].round)) {
                head |= 1u << (pair_table::round_at + deferred);
            }
            deferred += e.round > 0;
            shared += e.shared;
        }
        if (shared > v.most_shared) {
            return nullptr;
        }
        head |= deferred << pair_table::deferred_at;
        head |= deferred ? pair_table::shares : 0;
        // What a thread kept of its neighbour's bit in the first layer that one fetches
        // some layers before the last.
        bool barrier = needed.before(layer) && i > 0;
        if (i > 0 && i + 4 >= q && !since_first) {
            barrier = true;
        }
        since_first |= i > 0 && barrier;
        head |= barrier ? pair_table::barrier : 0;
        if (v.external) {
            for (std::size_t e = 0; e < layer.size(); ++e) {
                if (layer[e].group == groups - 1) {
                    if (layer[e].shared || (head & pair_table::external)) {
                        return nullptr;
                    }
                    head |= pair_table::external;
                    std::swap(layer[e], layer.back());
                    e = layer.size() - 1;
                }
            }
        }
        table->layer[i] = head;
        for (std::size_t e = 0; e < layer.size(); ++e) {
            const bool outside = v.external && layer[e].group == groups - 1;
            table->edges[i * v.message_edges + e] = {
                -4 * int(layer[e].shift), outside ? 0 : pairs::bytes * layer[e].group
            };
        }
    }
    return table;
}

class pairs_plan : public pair_plan
{
public:
    pairs_plan(std::unique_ptr<pair_table> table,
               const pair_outgoing& rule,
               const pair_variant& v,
               bool wrap_shared,
               unsigned each,
               unsigned multiprocessors)
        : pair_plan(rule, each, multiprocessors),
          d_table(std::move(table)),
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
        // Where each codeword can have a block to itself, none shares one.
        const unsigned at_once = frames.count <= blocks() ? 1 : 2;
        d_variant.kernel<<<(frames.count + at_once - 1) / at_once,
                           pairs::threads,
                           d_variant.shared_bytes(*d_table, d_wrap_shared),
                           stream>>>(
            *d_table, arguments(frames, stop, scratch, at_once, d_wrap_shared, stream));
        cuda::check(cudaGetLastError(), "LDPC kernel");
    }

private:
    const std::unique_ptr<pair_table> d_table;
    const pair_variant d_variant;
    const bool d_wrap_shared;
};

} // namespace

pair_variant choose_pairs(unsigned edges, bool irregular, bool large, bool small)
{
    return choose<false>(edges, irregular, large, small);
}

namespace {

double half_of(double x) { return __half2float(__double2half(x)); }

} // namespace

std::uint32_t in_both_halves(double x)
{
    const auto h = __half_as_ushort(__double2half(x));
    return h | std::uint32_t(h) << 16;
}

pair_outgoing::pair_outgoing(const message_rule& rule)
{
    const double limit = rule.message_limit;
    slope = half_of(1 / (limit * pairs::unit));
    // Halves are rounded up, so they are made a little more.
    floor = half_of((1 / 32.0 - rule.offset) / limit);
    span = half_of(limit * rule.sixteenths / 16 * pairs::unit);
}

double pair_outgoing::of(int m) const
{
    const double x =
        std::min(1.0, std::max(0.0, half_of(m * double(pairs::unit) * slope + floor)));
    return (half_of(x * span + 0.5) - 0.5) / pairs::unit;
}

bool pair_outgoing::follows(const message_rule& rule) const
{
    for (int m = 0; m < 2048; ++m) {
        const int x =
            std::max(0, std::min(m - int(rule.offset), int(rule.message_limit)));
        if (of(m) != (x * rule.sixteenths + 8) >> 4) {
            return false;
        }
    }
    return true;
}

std::unique_ptr<launch_plan>
make_pairs_plan(const ldpc_code& code, const message_rule& rule, bool soft, int device)
{
    // Halves hold integers up to 2048.
    if (code.addresses().empty() || !code.shortened().empty() ||
        rule.precision != ldpc_precision::int8 ||
        rule.posterior_limit(code.largest_bit_degree()) + rule.message_limit > 1400) {
        return nullptr;
    }
    const pair_outgoing values(rule);
    pair_variant v;
    auto table = make_table(code, soft, v);
    if (!table || !values.follows(rule)) {
        return nullptr;
    }
    cudaDeviceProp p;
    cuda::check(cudaGetDeviceProperties(&p, device), "device properties");
    if (p.major < pairs::first_capability) {
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
                    &resident, v.kernel, int(pairs::threads), bytes),
                "occupancy");
    if (resident == 0) {
        return nullptr;
    }
    return std::make_unique<pairs_plan>(
        std::move(table), values, v, wrap_shared, resident, p.multiProcessorCount);
}

} // namespace device
} // namespace gr::gpufec::ldpc
