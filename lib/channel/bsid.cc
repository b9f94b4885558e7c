// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Draws insertions, deletions and substitutions for each symbol sent. */

#include "bsid.h"

namespace gr::gpufec {

bsid_channel::bsid_channel(const bsid_model& model, std::uint64_t seed)
    : d_model(model), d_random(seed)
{
}

unsigned bsid_channel::send(std::uint8_t symbol, std::vector<std::uint8_t>& out)
{
    const auto before = out.size();
    const unsigned s = d_model.alphabet();
    double event = uniform();
    while (event < d_model.p_insert()) {
        out.push_back(below(s));
        event = uniform();
    }
    if (event >= d_model.p_insert() + d_model.p_delete()) {
        const bool substituted = uniform() < d_model.p_substitute();
        out.push_back(substituted ? (symbol + 1 + below(s - 1)) % s : symbol);
    }
    return out.size() - before;
}

std::vector<std::uint8_t> bsid_channel::send(const std::vector<std::uint8_t>& symbols)
{
    std::vector<std::uint8_t> received;
    for (const auto symbol : symbols) {
        send(symbol, received);
    }
    return received;
}

} // namespace gr::gpufec
