// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Chooses between one and two chains of layers, and finds the cheapest phases of two
 * chains by dynamic programming. */

#include "chain_order.h"
#include <algorithm>
#include <bitset>
#include <cstdint>
#include <limits>

namespace gr::gpufec::ldpc {

namespace {

// Limits of codes with two chains. Two chains help where a layer has too few edges to
// hide the latency of its instructions and a multiprocessor holds only one thread block
// (docs/decisions/2026-11-24-ldpc-two-chains.md).
constexpr unsigned max_edges = 7; // largest number of edges of a check
constexpr unsigned min_bits = 32401, min_layers = 40;

// Estimated run times of a layer and of a barrier; only their ratio matters.
constexpr unsigned layer_cost = 10, barrier_cost = 2;

using groups = std::bitset<180>; // a set of groups of message bits

struct layer {
    groups used;
    unsigned cost = layer_cost; // including barriers within the layer
};

std::vector<layer> layers_of(const ldpc_code& code)
{
    std::vector<layer> layers(code.q());
    for (unsigned g = 0; g < code.addresses().size(); ++g) {
        for (const auto x : code.addresses()[g]) {
            auto& l = layers[x % code.q()];
            // Each further use of a group within the layer needs two barriers.
            l.cost += l.used[g] ? 2 * barrier_cost : 0;
            l.used[g] = true;
        }
    }
    return layers;
}

// The cost of successive layers of one chain, with the barriers between them.
struct run {
    groups used;       // groups used by any of the layers
    groups since_last; // groups used since the last barrier
    unsigned cost = 0;

    void add(const layer& l)
    {
        if ((since_last & l.used).any()) {
            cost += barrier_cost;
            since_last.reset();
        }
        used |= l.used;
        since_last |= l.used;
        cost += l.cost;
    }
};

struct plan {
    std::vector<std::array<unsigned, 2>> phases;
    unsigned cost = std::numeric_limits<unsigned>::max();
};

// Returns the cheapest plan whose first chain has \p first layers, or a plan without
// phases if there is none.
plan cheapest(const std::vector<layer>& layers, unsigned first)
{
    constexpr unsigned most = 12; // largest number of layers per chain and phase
    const unsigned second = unsigned(layers.size()) - first;
    // The cost of the cheapest sequence of phases that decodes a given number of layers
    // of each chain, and the number of layers of each chain in the last phase.
    struct way {
        unsigned cost = plan().cost;
        std::array<unsigned, 2> last;
    };
    std::vector<way> ways((first + 1) * (second + 1));
    const auto way_to = [&](unsigned a, unsigned b) -> way& {
        return ways[a * (second + 1) + b];
    };
    way_to(0, 0).cost = 0;
    for (unsigned a = 0; a < first; ++a) {
        for (unsigned b = 0; b < second; ++b) {
            const auto before = way_to(a, b).cost;
            run of_first;
            for (unsigned i = 1; before < plan().cost && i <= most && a + i <= first;
                 ++i) {
                of_first.add(layers[a + i - 1]);
                run of_second;
                for (unsigned k = 1; k <= most && b + k <= second; ++k) {
                    of_second.add(layers[first + b + k - 1]);
                    if ((of_first.used & of_second.used).any()) {
                        break;
                    }
                    auto& to = way_to(a + i, b + k);
                    const auto cost =
                        before + std::max(of_first.cost, of_second.cost) + barrier_cost;
                    if (cost < to.cost) {
                        to = { cost, { i, k } };
                    }
                }
            }
        }
    }
    plan p;
    p.cost = ways.back().cost;
    if (p.cost < plan().cost) {
        for (unsigned a = first, b = second; a > 0;) {
            p.phases.push_back(way_to(a, b).last);
            a -= p.phases.back()[0];
            b -= p.phases.back()[1];
        }
        std::reverse(p.phases.begin(), p.phases.end());
    }
    return p;
}

} // namespace

chain_order::chain_order(const ldpc_code& code)
    : begins{ 0, code.q(), code.q() }, phases{ { code.q(), 0 } }
{
    if (code.q() < min_layers || code.n() < min_bits ||
        code.largest_check_degree() > max_edges ||
        code.addresses().size() > groups().size()) {
        return;
    }
    const auto layers = layers_of(code);
    const unsigned middle = code.q() / 2, around = code.q() / 16;
    plan best;
    for (unsigned first = middle - around; first <= middle + around; ++first) {
        auto p = cheapest(layers, first);
        if (p.cost < best.cost) {
            best = std::move(p);
            begins[1] = first;
        }
    }
    if (!best.phases.empty()) {
        phases = std::move(best.phases);
    }
}

std::vector<unsigned> chain_order::layers() const
{
    std::vector<unsigned> order;
    auto next = begins;
    for (const auto& p : phases) {
        for (unsigned c = 0; c < 2; ++c) {
            for (unsigned i = 0; i < p[c]; ++i) {
                order.push_back(next[c]++);
            }
        }
    }
    return order;
}

} // namespace gr::gpufec::ldpc
