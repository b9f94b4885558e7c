// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Converts a code's addresses to the layers and edges of the CPU decoder of single
 * codewords. */

#include "chain_order.h"
#include "circulant_code.h"

namespace gr::gpufec::ldpc {

std::unique_ptr<circulant_code> circulant_code::of(const ldpc_code& code)
{
    const bool fits = code.q() >= 2 && code.lifting() == dvb_single_codeword::size &&
                      code.largest_check_degree() <= dvb_single_codeword::max_edges;
    return std::unique_ptr<circulant_code>(fits ? new circulant_code(code) : nullptr);
}

circulant_code::circulant_code(const ldpc_code& code)
{
    const unsigned q = code.q();
    const auto groups = std::uint32_t(code.addresses().size());
    std::vector<std::vector<dvb_single_codeword::edge>> added(q), edges(q);
    for (std::uint32_t g = 0; g < groups; ++g) {
        for (const unsigned x : code.addresses()[g]) {
            const auto shift =
                (dvb_single_codeword::size - x / q) % dvb_single_codeword::size;
            auto& own = edges[x % q];
            auto& to = !own.empty() && own.back().group == g ? added[x % q] : own;
            to.push_back({ std::uint16_t(g), std::uint16_t(shift) });
        }
    }
    std::uint32_t with_first = 0;
    for (const unsigned i : chain_order(code).layers()) {
        if (i == 0) {
            with_first = std::uint32_t(d_layers.size());
        }
        auto& e = edges[i];
        e.insert(e.begin(), added[i].begin(), added[i].end());
        const auto before = std::uint16_t(groups + (i + q - 1) % q);
        const auto shifted = std::uint16_t(i == 0 ? dvb_single_codeword::size - 1 : 0);
        e.push_back({ std::uint16_t(groups + i), 0 });
        e.push_back({ before, shifted });
        d_layers.push_back({ std::uint32_t(d_edges.size()),
                             std::uint32_t(e.size()),
                             std::uint32_t(added[i].size()) });
        d_edges.insert(d_edges.end(), e.begin(), e.end());
    }
    d_view = {
        groups,        q, std::uint32_t(d_edges.size()), with_first, d_layers.data(),
        d_edges.data()
    };
}

compiled_variants<dvb_single_codeword::kernel> dvb_single_codeword::variants()
{
    return GPUFEC_VARIANTS(int8);
}

} // namespace gr::gpufec::ldpc
