// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Selection of the launch plan for a setup. */

#include "cuda/first_plan.h"
#include "plans.h"
#include <type_traits>
#include <stdexcept>

namespace gr::gpufec::sync_map {

sync_geometry make_geometry(const setup& p)
{
    const bsid_weights w(p.channel);
    const double scale = 1 / p.largest_weight();
    sync_geometry g{};
    g.n = p.code.n();
    g.q = p.code.q();
    g.frame_symbols = p.code.frame_symbols();
    g.symbols = p.symbols;
    g.outputs = p.outputs;
    g.window = p.window;
    g.alphabet = p.code.alphabet();
    g.max_items = p.max_items;
    g.change_first = p.change.first;
    g.change_last = p.change.last;
    g.soft_input = p.soft_input;
    g.priors = p.priors;
    g.drifts = p.drifts;
    g.boundary_matches = p.boundary_matches;
    g.output = p.output;
    g.positive_bit = p.positive_bit;
    g.symbol_bytes = p.symbol_bytes();
    g.input_bytes = p.input_bytes();
    g.start_at = p.start_at();
    g.end_at = p.end_at();
    g.priors_at = p.priors_at();
    g.items_at = p.items_at();
    g.output_bytes = p.output_bytes();
    g.drifts_at = p.drifts_at();
    g.metrics_at = p.metrics_at();
    g.insertion = p.insertion();
    g.deletion = p.deletion();
    g.match = w.match * scale;
    g.mismatch = w.mismatch * scale;
    g.erased = w.transmission(1.0 / g.alphabet) * scale;
    g.log_scale = p.log_scale();
    return g;
}

namespace {

template <class Row, class Metric>
std::unique_ptr<launch_plan> make_launch_plan(const setup& setup, int device)
{
    const auto linear = make_linear_plan<Row, Metric>;
    const auto corridor = make_corridor_plan<Row, Metric>;
    if constexpr (std::is_same<Metric, float>::value) {
        return cuda::first_plan(
            { make_banded_lattice_plan, make_float_trie_lattice_plan, linear, corridor },
            setup,
            device);
    } else if constexpr (std::is_same<Row, double>::value) {
        return cuda::first_plan(
            { make_double_trie_lattice_plan, linear, corridor }, setup, device);
    } else {
        return cuda::first_plan({ linear, corridor }, setup, device);
    }
}

} // namespace

std::unique_ptr<launch_plan> make_launch_plan(const setup& setup, int device)
{
    if (setup.form == sync_form::corridor &&
        (setup.receiver != sync_receiver::corridor || setup.state_threshold > 0 ||
         setup.lattice_threshold > 0)) {
        throw std::runtime_error("thresholds and receivers other than corridor require "
                                 "backend cpu");
    }
    if (setup.form == sync_form::corridor && has_likelihoods(setup)) {
        throw std::runtime_error("form corridor with soft_input float and an alphabet of "
                                 "more than 2 requires backend cpu");
    }
    return with_precision(setup.precision, [&](auto row, auto metric) {
        return make_launch_plan<decltype(row), decltype(metric)>(setup, device);
    });
}

} // namespace gr::gpufec::sync_map
