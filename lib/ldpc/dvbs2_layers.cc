// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "chain_order.h"
#include "dvbs2_layers.h"
#include <algorithm>

namespace gr::gpufec::ldpc {
namespace device {

dvbs2_layers make_dvbs2_layers(const ldpc_code& code)
{
    struct edge {
        layer_table::edge entry;
        unsigned round;
    };
    constexpr unsigned words = 180; // of a group
    const auto q = code.q();
    std::vector<std::vector<edge>> edges(q);
    for (unsigned g = 0; g < code.addresses().size(); ++g) {
        std::vector<unsigned> rounds(q, 0);
        for (const unsigned x : code.addresses()[g]) {
            const int shift = x / q % words, turned = x / q >= words;
            edges[x % q].push_back(
                { { turned - 4 * shift, int(4 * words * g) - turned }, rounds[x % q]++ });
        }
    }
    dvbs2_layers layers{};
    auto& table = layers.table;
    table.q = q;
    table.message_bits = code.n() - code.checks(); // shortened ones too
    const chain_order order(code);
    const auto in_order = order.layers();
    std::copy(in_order.begin(), in_order.end(), table.order);
    table.second = order.begins[1];
    unsigned next = 0;
    for (unsigned i = 0; i < q; ++i) {
        std::stable_sort(edges[i].begin(),
                         edges[i].end(),
                         [](const edge& a, const edge& b) { return a.round < b.round; });
        const auto degree = unsigned(edges[i].size());
        unsigned deferred = 0;
        table.layer[i] = next | degree << 16;
        for (const auto& e : edges[i]) {
            table.edges[next++] = e.entry;
            deferred += e.round > 0;
        }
        table.layer[i] |= deferred << 24;
        layers.irregular |= degree != edges[0].size();
        layers.largest_degree = std::max(layers.largest_degree, degree);
    }
    return layers;
}

} // namespace device
} // namespace gr::gpufec::ldpc
