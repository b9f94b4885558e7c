// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Makes the tables of the lane decoder from a layer plan, and selects its kernel by
 * precision. */

#include "lane_code.h"
#include <algorithm>
#include <tuple>

namespace gr::gpufec::ldpc {

lane_code::lane_code(const ldpc_code& code, const layer_plan& plan)
    : d_places(code.n()), d_copy_of(code.n(), 0)
{
    for (std::size_t l = 0; l < plan.layers(); ++l) {
        add_layer(plan, l);
    }
    d_copy_of = {};
    d_view = { code.n(),
               d_places,
               std::uint32_t(d_edges.size()),
               d_layers.data(),
               std::uint32_t(d_layers.size()),
               d_checks.data(),
               std::uint32_t(d_checks.size()),
               d_bits.data(),
               d_edges.data(),
               d_copies.data(),
               d_added.data() };
}

void lane_code::add_layer(const layer_plan& plan, std::size_t l)
{
    // Copies and differences are needed within one layer only, so all layers use the same
    // entries for them.
    auto place = std::uint32_t(d_copy_of.size());
    lanes::layer layer{ plan.layer_begin[l],
                        plan.layer_begin[l + 1],
                        std::uint32_t(d_copies.size()),
                        0,
                        std::uint32_t(d_added.size()),
                        0 };
    struct added {
        std::uint32_t round, from, bit;
    };
    std::vector<added> differences;
    for (auto i = layer.first; i < layer.last; ++i) {
        const auto begin = plan.edge_begin[i], end = plan.edge_begin[i + 1];
        lanes::check check{ begin, end - begin, 0 };
        for (auto e = begin; e < end; ++e) {
            const auto& edge = plan.edges[e];
            lanes::edge mine{ edge.bit, edge.bit };
            if (edge.shared) {
                auto& copy = d_copy_of[edge.bit];
                if (copy == 0) {
                    copy = place++;
                    d_copies.push_back({ edge.bit, copy });
                }
                mine.from = copy;
            }
            if (edge.round > 0) {
                mine.to = place++;
                check.deferred |= 1u << (e - begin);
                differences.push_back({ edge.round, mine.to, edge.bit });
            }
            d_edges.push_back(mine);
            d_bits.push_back(edge.bit);
        }
        d_checks.push_back(check);
    }
    std::sort(differences.begin(), differences.end(), [](const auto& a, const auto& b) {
        return std::tie(a.round, a.from) < std::tie(b.round, b.from);
    });
    for (const auto& d : differences) {
        d_added.push_back({ d.from, d.bit });
    }
    layer.last_copy = d_copies.size();
    layer.last_added = d_added.size();
    for (auto i = layer.first_copy; i < layer.last_copy; ++i) {
        d_copy_of[d_copies[i].from] = 0;
    }
    d_layers.push_back(layer);
    d_places = std::max(d_places, place);
}

compiled_variants<lanes::kernels> lanes::variants() { return GPUFEC_VARIANTS(all); }

const lanes::kernel& kernel_for(const lanes::kernels& k, ldpc_precision p)
{
    switch (p) {
    case ldpc_precision::int8:
        return k.int8;
    case ldpc_precision::int16:
        return k.int16;
    default:
        return k.float32;
    }
}

} // namespace gr::gpufec::ldpc
