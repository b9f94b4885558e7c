// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Makes the tables of message edges: sorts the edges of each layer, places the groups in
 * memory and finds the barriers. */

#include "chain_table.h"
#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>

namespace gr::gpufec::ldpc {
namespace device {

chain_layers::chain_layers(const ldpc_code& code)
    : d_layers(code.addresses().empty() ? 0 : code.q()),
      d_order(code),
      d_message_bits(code.n() - code.checks())
{
    for (unsigned g = 0; g < code.addresses().size(); ++g) {
        std::vector<unsigned> rounds(d_layers.size(), 0);
        for (const unsigned x : code.addresses()[g]) {
            const unsigned i = x % code.q();
            d_layers[i].push_back({ g, x / code.q(), rounds[i]++, false });
        }
        for (std::size_t i = 0; i < d_layers.size(); ++i) {
            for (auto& e : d_layers[i]) {
                e.shared |= e.group == g && rounds[i] > 1;
            }
        }
    }
    std::size_t smallest = ~std::size_t(0);
    for (auto& layer : d_layers) {
        std::stable_sort(layer.begin(), layer.end(), [](const edge& a, const edge& b) {
            const auto rank = [](const edge& e) {
                return e.round ? int(e.round) : e.shared ? 1000 : 1001;
            };
            return rank(a) != rank(b) ? rank(a) < rank(b) : a.group < b.group;
        });
        d_largest = std::max(d_largest, unsigned(layer.size()));
        smallest = std::min(smallest, layer.size());
    }
    d_irregular = smallest != d_largest;
    if (smallest == 0) { // no kernel supports a check that has only parity bits
        d_largest = 0;
    }
}

// The groups in use since the last barrier. A layer that uses one of these groups needs a
// barrier.
class chain_layers::barriers
{
public:
    explicit barriers(unsigned groups) : d_used(groups, false) {}
    bool before(const std::vector<edge>& layer)
    {
        const bool needed = std::any_of(
            layer.begin(), layer.end(), [this](const edge& e) { return used(e.group); });
        if (needed) {
            passed();
        }
        return needed;
    }
    void use(const std::vector<edge>& layer)
    {
        for (const auto& e : layer) {
            d_used[e.group] = true;
        }
        // Deferred edges need a barrier within the layer. After that barrier, only
        // groups with a bit that the layer has more than once are in use.
        if (layer.front().round) {
            passed();
            for (const auto& e : layer) {
                d_used[e.group] = d_used[e.group] || e.shared;
            }
        }
    }
    bool used(unsigned group) const { return d_used[group]; }
    void passed() { std::fill(d_used.begin(), d_used.end(), false); }

private:
    std::vector<bool> d_used;
};

namespace {

// Returns an edge to the group whose posteriors begin at byte \p first.
chain_table::edge to_bytes(unsigned first, unsigned shift)
{
    const int start = int(first) - 4 * int(shift);
    return { float(shift), start < 0 ? 0x80000000u | unsigned(-start) : unsigned(start) };
}
chain_table::edge to_group(unsigned group, unsigned shift)
{
    return to_bytes(chain_table::bytes * group, shift);
}

// Returns the byte at which the posteriors of an edge's group begin.
unsigned first_of(const chain_table::edge& e)
{
    const int start = int(e.start & 0x7fffffffu);
    return unsigned((e.start >> 31 ? -start : start) + 4 * int(e.shift));
}

} // namespace

std::vector<std::uint32_t> chain_table::entries(unsigned message_edges,
                                                bool two_checks_per_word) const
{
    const auto words = chain_entry_words(message_edges, two_checks_per_word);
    const auto edge_words = chain_edge_words(two_checks_per_word);
    std::vector<std::uint32_t> all((q + 1) * words, 0);
    for (unsigned i = 0; i < q; ++i) {
        auto* const at = &all[i * words];
        for (unsigned k = 0; k < message_edges; ++k) {
            auto e = edges[i * message_edges + k];
            if (two_checks_per_word) {
                const unsigned half = group / 2, shift = unsigned(e.shift);
                e = to_bytes(first_of(e) / 2, shift % half);
                at[edge_words * k + 2] = shift < half ? 0 : 16;
            }
            std::memcpy(at + edge_words * k, &e, sizeof(e));
        }
        at[edge_words * message_edges] = layer[i];
        if (!two_checks_per_word) {
            at[edge_words * message_edges + 1] = shared_edges[i] | early_edges[i] << 8;
        }
    }
    if (!two_checks_per_word) { // the entry after the last layer reads no posterior early
        all[q * words + edge_words * message_edges + 1] = message_edges << 8;
    }
    return all;
}

bool chain_layers::place_groups(chain_table& table, unsigned shared_groups) const
{
    const unsigned groups = d_message_bits / chain_table::group;
    if (groups > chain_table::max_groups) {
        return false;
    }
    table.shared_groups = std::min(groups, shared_groups);
    // The groups with the fewest edges go to device memory, except groups that a layer
    // has twice.
    std::vector<unsigned> uses(groups, 0);
    std::vector<bool> twice(groups, false);
    for (const auto& layer : d_layers) {
        for (const auto& e : layer) {
            ++uses[e.group];
            twice[e.group] = twice[e.group] || e.shared;
        }
    }
    std::vector<unsigned> order(groups);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
        return twice[a] != twice[b] ? bool(twice[a]) : uses[a] > uses[b];
    });
    std::sort(order.begin(), order.begin() + table.shared_groups);
    for (unsigned i = 0; i < groups; ++i) {
        table.place[order[i]] = std::uint8_t(i);
    }
    return std::none_of(order.begin() + table.shared_groups,
                        order.end(),
                        [&](unsigned g) { return twice[g]; });
}

std::vector<std::vector<bool>> chain_layers::set_barriers(chain_table& table,
                                                          bool two_checks_per_word) const
{
    // The first layer of a chain stores the last parity bits of the other chain, or of
    // the same chain if there is only one. Kernels load these bits less than \c ahead
    // layers before the last layer of the chain that has them. A single chain needs a
    // barrier between the store and the load. With two chains, the barriers between
    // phases order them.
    constexpr unsigned ahead = 4;
    const unsigned passed = two_checks_per_word ? chain_table::passed_after : 1;
    std::copy(d_order.begins.begin(), d_order.begins.end(), table.begins);
    const bool one = d_order.chains() == 1;
    const unsigned groups = d_message_bits / chain_table::group;
    std::vector<std::vector<bool>> early(table.q, std::vector<bool>(groups, false));
    for (unsigned c = 0; c < d_order.chains(); ++c) {
        barriers needed(groups);
        // Whether a barrier at or after layer `passed` has been set. Only such a barrier
        // orders the first layer's stores before later loads.
        bool since_first = false;
        unsigned i = d_order.begins[c];
        early[i].assign(groups, true);
        for (const auto& p : d_order.phases) {
            if (&p != &d_order.phases.front()) {
                table.layer[i - 1] |= chain_table::last_of_phase;
                table.layer[i] = chain_table::phase;
                needed.passed();
            }
            for (const auto after = i + p[c]; i < after; ++i) {
                bool own = needed.before(d_layers[i]);
                own |= one && i > 0 && i + ahead >= table.q && !since_first;
                since_first |= i >= passed && own;
                table.layer[i] |= own ? chain_table::barrier : 0;
                if (i + 1 < after) { // another chain may change groups between phases
                    for (unsigned g = 0; g < groups; ++g) {
                        early[i + 1][g] = !needed.used(g);
                    }
                    for (const auto& e : d_layers[i]) {
                        early[i + 1][e.group] = false;
                    }
                }
                needed.use(d_layers[i]);
            }
        }
    }
    return early;
}

std::unique_ptr<chain_table> chain_layers::table(const form& f) const
{
    auto table = std::make_unique<chain_table>(); // all members are 0
    const unsigned q = unsigned(d_layers.size());
    if (d_largest == 0 || d_largest > f.message_edges || q > std::size(table->layer) ||
        q * f.message_edges > std::size(table->edges)) {
        return nullptr;
    }
    const unsigned before_end =
        chains() == 2 ? d_order.begins[1] - d_order.phases.back()[0] : q - 1;
    if (f.two_checks_per_word && before_end < chain_table::passed_after) {
        return nullptr;
    }
    table->q = q;
    table->message_bits = d_message_bits;
    if (!place_groups(*table, f.shared_groups)) {
        return nullptr;
    }
    const auto early = set_barriers(*table, f.two_checks_per_word);
    for (unsigned i = 0; i < q; ++i) {
        auto layer = d_layers[i];
        std::uint32_t head = unsigned(layer.size()) | chain_table::not_zero;
        unsigned deferred = 0, shared = 0;
        for (const auto& e : layer) {
            if (e.round > 1) {
                head |= chain_table::several_rounds;
                if (e.round != layer[deferred - 1].round) {
                    head |= 1u << (chain_table::round_at + deferred);
                }
            }
            deferred += e.round > 0;
            shared += e.shared;
        }
        if (shared > f.max_shared || deferred > f.max_deferred) {
            return nullptr;
        }
        head |= deferred << chain_table::deferred_at;
        head |= deferred ? chain_table::shares : 0;
        const auto in_shared = [&](const edge& e) {
            return table->place[e.group] < table->shared_groups;
        };
        const auto device_edges =
            std::stable_partition(layer.begin(), layer.end(), in_shared);
        if (layer.end() - device_edges > std::ptrdiff_t(f.max_external)) {
            return nullptr;
        }
        const auto late_end = std::stable_partition(
            device_edges, layer.end(), [&](const edge& e) { return !early[i][e.group]; });
        const auto early_count =
            std::min<std::size_t>(f.max_early, layer.end() - late_end);
        table->layer[i] |= head;
        auto* const edges = table->edges + i * f.message_edges;
        auto* to = edges;
        for (auto e = layer.begin(); e != device_edges; ++e) {
            *to++ = to_group(table->place[e->group], e->shift);
        }
        for (auto n = layer.size(); f.filled && n < f.message_edges; ++n) {
            *to++ = to_group(table->shared_groups, 0);
        }
        table->shared_edges[i] = std::uint8_t(to - edges);
        for (auto e = device_edges; e != layer.end(); ++e) {
            *to++ = to_group(table->place[e->group] - table->shared_groups, e->shift);
        }
        table->early_edges[i] = std::uint8_t(to - edges - early_count);
    }
    return table;
}

} // namespace device
} // namespace gr::gpufec::ldpc
