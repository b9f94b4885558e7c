// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Divides the checks of a code into layers and defers edges, see layer_plan.h. */

#include "chain_order.h"
#include "layer_plan.h"
#include <algorithm>
#include <numeric>

namespace gr::gpufec::ldpc {

namespace {

// Largest numbers of checks per layer and of bits per check for which the decoders
// support deferred edges.
constexpr unsigned max_checks = 360, max_degree = 32;

// Returns the number of parts into which each row of circulants is divided, so that no
// part has a bit twice. The number is 0 if two shifts in a block of the row differ by
// less than `min_distance`, modulo the lifting size. The parts would then be too small.
std::vector<unsigned> parts_of_rows(const ldpc_code& code)
{
    constexpr unsigned min_distance = 32; // smallest distance of two shifts of a block
    const unsigned z = code.lifting();
    std::vector<unsigned> parts(code.checks() / z, 1);
    const auto& all = code.circulants();
    for (auto a = all.begin(); a != all.end(); ++a) {
        for (auto b = a + 1; b != all.end() && b->row == a->row; ++b) {
            if (b->column == a->column) {
                const auto apart = (b->shift + z - a->shift) % z;
                const auto most = std::min(apart, z - apart);
                auto& p = parts[a->row];
                p = p == 0 || most < min_distance ? 0
                                                  : std::max(p, (z + most - 1) / most);
            }
        }
    }
    return parts;
}

// Returns whether circulant_layers() chooses the layers of the code; if not,
// first_fit_layers() chooses them.
bool by_circulants(const ldpc_code& code)
{
    const auto z = code.lifting();
    if (z == 0) {
        return false;
    }
    const auto parts = parts_of_rows(code);
    const bool defers = std::any_of(parts.begin(), parts.end(), [&code](auto p) {
        return code.q() ? p != 1 : p == 0;
    });
    return !defers ||
           (code.largest_check_degree() <= max_degree && (!code.q() || z <= max_checks));
}

// Returns the rows of circulants in the order of their layers.
std::vector<unsigned> order_of_rows(const ldpc_code& code)
{
    constexpr std::size_t max_candidates = 64;
    const unsigned z = code.lifting();
    std::vector<std::vector<unsigned>> columns(code.checks() / z);
    for (const auto& c : code.circulants()) {
        columns[c.row].push_back(c.column);
    }
    std::vector<unsigned> left(columns.size()), order;
    std::iota(left.begin(), left.end(), 0);
    std::stable_sort(left.begin(), left.end(), [&columns](auto a, auto b) {
        return columns[a].size() > columns[b].size();
    });
    std::vector<bool> used(code.n() / z, false);
    const auto waits = [&](unsigned row) {
        return std::any_of(columns[row].begin(), columns[row].end(), [&used](auto c) {
            return used[c];
        });
    };
    while (!left.empty()) {
        const auto most = left.begin() + std::min(max_candidates, left.size());
        auto next = std::find_if(left.begin(), most, [&](auto row) {
            return columns[row].size() < columns[left[0]].size() || !waits(row);
        });
        if (next == most || columns[*next].size() < columns[left[0]].size()) {
            next = left.begin();
        }
        if (waits(*next)) {
            std::fill(used.begin(), used.end(), false);
        }
        for (const auto c : columns[*next]) {
            used[c] = true;
        }
        order.push_back(*next);
        left.erase(next);
    }
    return order;
}

// Returns the layer of each check for parity chains and circulants.
std::vector<std::uint32_t> circulant_layers(const ldpc_code& code)
{
    std::vector<std::uint32_t> layer(code.checks());
    if (code.q()) {
        const auto order = chain_order(code).layers();
        for (std::uint32_t i = 0; i < order.size(); ++i) {
            for (auto c = order[i]; c < code.checks(); c += code.q()) {
                layer[c] = i;
            }
        }
        return layer;
    }
    const unsigned z = code.lifting();
    auto parts = parts_of_rows(code);
    std::replace(parts.begin(), parts.end(), 0u, (z + max_checks - 1) / max_checks);
    std::uint32_t first = 0; // first layer of the current row
    for (const auto row : order_of_rows(code)) {
        const unsigned size = (z + parts[row] - 1) / parts[row];
        for (unsigned j = 0; j < z; ++j) {
            layer[row * z + j] = first + j / size;
        }
        first += (z + size - 1) / size;
    }
    return layer;
}

std::vector<std::uint32_t> first_fit_layers(const ldpc_code& code)
{
    std::vector<std::uint32_t> layer(code.checks());
    std::vector<std::vector<std::uint32_t>> layers_of_bit(code.n());
    // For each layer: 1 + the index of the last check that shares a bit with the layer,
    // or 0 if there is no such check.
    std::vector<std::uint32_t> taken_by;
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

// Marks the shared edges of the plan's last layer, which begins at index \p first of the
// order, and sets their rounds. Returns the number of rounds of deferred edges. \p seen
// has a counter for each bit; all must be 0, and are 0 again on return.
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
    const auto layer =
        by_circulants(code) ? circulant_layers(code) : first_fit_layers(code);
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
