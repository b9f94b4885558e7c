// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "layer_plan.h"
#include <algorithm>

namespace gr::gpufec::ldpc {

namespace {

// The layer of each check.
std::vector<std::uint32_t> circulant_layers(const ldpc_code& code)
{
    std::vector<std::uint32_t> layer(code.checks());
    for (unsigned c = 0; c < code.checks(); ++c) {
        layer[c] = c % code.q();
    }
    return layer;
}

std::vector<std::uint32_t> first_fit_layers(const ldpc_code& code)
{
    std::vector<std::uint32_t> layer(code.checks());
    std::vector<std::vector<std::uint32_t>> layers_of_bit(code.n());
    std::vector<std::uint32_t> taken_by; // the last check that found the layer taken
    for (unsigned c = 0; c < code.checks(); ++c) {
        for (const auto bit : code.check(c)) {
            for (const auto l : layers_of_bit[bit]) {
                taken_by[l] = c + 1;
            }
        }
        const auto free = std::find_if(
            taken_by.begin(), taken_by.end(), [c](auto by) { return by != c + 1; });
        layer[c] = free - taken_by.begin();
        if (free == taken_by.end()) {
            taken_by.push_back(0);
        }
        for (const auto bit : code.check(c)) {
            layers_of_bit[bit].push_back(layer[c]);
        }
    }
    return layer;
}

// Gives the edges of the layer that begins at first their rounds; returns their number.
std::uint8_t
mark_shared(layer_plan& plan, std::uint32_t first, std::vector<std::uint32_t>& seen)
{
    struct occurrence {
        std::uint32_t bit, place, edge;
    };
    std::vector<occurrence> all;
    for (auto i = first; i < plan.order.size(); ++i) {
        for (auto e = plan.edge_begin[i]; e < plan.edge_begin[i + 1]; ++e) {
            all.push_back({ plan.edges[e].bit, e - plan.edge_begin[i], e });
            ++seen[plan.edges[e].bit];
        }
    }
    std::uint8_t rounds = 0;
    std::vector<occurrence> several;
    for (const auto& o : all) {
        if (seen[o.bit] > 1) {
            several.push_back(o);
        }
    }
    std::stable_sort(several.begin(), several.end(), [](const auto& a, const auto& b) {
        return a.bit != b.bit ? a.bit < b.bit : a.place < b.place;
    });
    for (std::size_t i = 0; i < several.size(); ++i) {
        auto& e = plan.edges[several[i].edge];
        e.shared = true;
        if (i > 0 && several[i - 1].bit == several[i].bit) {
            e.round = plan.edges[several[i - 1].edge].round + 1;
            rounds = std::max(rounds, e.round);
        }
    }
    for (const auto& o : all) {
        seen[o.bit] = 0;
    }
    return rounds;
}

} // namespace

layer_plan make_layer_plan(const ldpc_code& code)
{
    const auto layer = code.q() ? circulant_layers(code) : first_fit_layers(code);
    const auto layers = *std::max_element(layer.begin(), layer.end()) + 1;
    std::vector<std::vector<std::uint32_t>> checks(layers);
    for (unsigned c = 0; c < code.checks(); ++c) {
        checks[layer[c]].push_back(c);
    }

    layer_plan plan;
    plan.edges.reserve(code.edges());
    plan.edge_begin.push_back(0);
    std::vector<std::uint32_t> seen(code.n(), 0);
    for (const auto& members : checks) {
        const std::uint32_t first = plan.order.size();
        plan.layer_begin.push_back(first);
        for (const auto c : members) {
            plan.order.push_back(c);
            for (const auto bit : code.check(c)) {
                plan.edges.push_back({ bit, false, 0 });
            }
            plan.edge_begin.push_back(plan.edges.size());
        }
        plan.rounds.push_back(mark_shared(plan, first, seen));
    }
    plan.layer_begin.push_back(plan.order.size());
    return plan;
}

} // namespace gr::gpufec::ldpc
