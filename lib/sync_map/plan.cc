/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "check.h"
#include "plan.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace gr {
namespace gpufec {

namespace {

template <class Value>
Value chosen(const std::string& parameter,
             const std::string& name,
             const std::vector<std::pair<std::string, Value>>& known)
{
    std::string allowed;
    for (const auto& k : known) {
        if (k.first == name) {
            return k.second;
        }
        allowed += (allowed.empty() ? "" : ", ") + k.first;
    }
    refuse(parameter, '"' + name + '"', "allowed are " + allowed);
}

bool power_of_two(unsigned q) { return (q & (q - 1)) == 0; }

void check_threshold(const std::string& name, double value)
{
    if (!(value >= 0 && value < 1)) {
        refuse(name, value, "0 to below 1 is allowed");
    }
}

void check_prior(const std::string& end, const drift_prior& prior)
{
    const int limit = 1 << 20;
    if (prior.first < -limit || prior.first > limit) {
        refuse(end + "_first", prior.first, "-1048576 to 1048576 is allowed");
    }
    const auto name = end + "_prior";
    double sum = 0;
    for (const double p : prior.probability) {
        if (!(p >= 0) || std::isinf(p)) {
            refuse(name, p, "probabilities must be finite and not negative");
        }
        sum += p;
    }
    if (!prior.probability.empty() && !(sum > 0)) {
        refuse(name, sum, "the sum of its probabilities must be above 0");
    }
}

bool begins_at_0(const sync_options& o)
{
    return o.start.first == 0 && o.start.probability.size() == 1;
}

// The drifts of one symbol that the corridor form allows for.
drift_range change_limits(const sync_options& o)
{
    const int n = o.code.n();
    if (o.change_first == 0 && o.change_last == 0) {
        auto range = drift_limits(
            o.channel, n, exclusion_per_symbol(o.exclusion, o.code.frame_symbols()));
        return { std::max(range.first, -n), range.last };
    }
    return { o.change_first, o.change_last };
}

} // namespace

sync_mode sync_mode_from_string(const std::string& name)
{
    return chosen<sync_mode>(
        "mode",
        name,
        { { "framed", sync_mode::framed }, { "stream", sync_mode::stream } });
}

sync_form sync_form_from_string(const std::string& name)
{
    return chosen<sync_form>(
        "form",
        name,
        { { "linear", sync_form::linear }, { "corridor", sync_form::corridor } });
}

sync_precision sync_precision_from_string(const std::string& name)
{
    return chosen<sync_precision>("precision",
                                  name,
                                  { { "float", sync_precision::float32 },
                                    { "double", sync_precision::float64 },
                                    { "mixed", sync_precision::mixed } });
}

sync_storage sync_storage_from_string(const std::string& name)
{
    return chosen<sync_storage>("storage",
                                name,
                                { { "auto", sync_storage::automatic },
                                  { "global", sync_storage::global },
                                  { "local", sync_storage::local } });
}

sync_receiver sync_receiver_from_string(const std::string& name)
{
    return chosen<sync_receiver>("receiver",
                                 name,
                                 { { "corridor", sync_receiver::corridor },
                                   { "lattice", sync_receiver::lattice },
                                   { "trellis", sync_receiver::trellis } });
}

sync_output sync_output_from_string(const std::string& name)
{
    return chosen<sync_output>("output",
                               name,
                               { { "symbols", sync_output::symbols },
                                 { "posteriors", sync_output::posteriors },
                                 { "extrinsics", sync_output::extrinsics },
                                 { "llr", sync_output::llr },
                                 { "posteriors64", sync_output::posteriors64 } });
}

void check_options(const sync_options& o)
{
    if (o.code.alphabet() != o.channel.alphabet()) {
        refuse("alphabet of the channel",
               o.channel.alphabet(),
               "that of the code, " + std::to_string(o.code.alphabet()) + ", is allowed");
    }
    if (o.soft_input && o.code.alphabet() != 2) {
        refuse("soft_input", "float", "it is allowed with two channel symbols");
    }
    if (o.output == sync_output::llr && !power_of_two(o.code.q())) {
        refuse("output", "llr", "it is allowed where q is a power of two");
    }
    if (!(o.exclusion >= 1e-15 && o.exclusion < 1)) {
        refuse("exclusion", o.exclusion, "1e-15 to below 1 is allowed");
    }
    if (o.change_first > 0 || o.change_first < -int(o.code.n())) {
        refuse("mn_min", o.change_first, "-n to 0 is allowed");
    }
    if (o.change_last < 0) {
        refuse("mn_max", o.change_last, "at least 0 is allowed");
    }
    check_threshold("state_threshold", o.state_threshold);
    check_threshold("lattice_threshold", o.lattice_threshold);
    check_prior("start", o.start);
    check_prior("end", o.end);
    if (o.form == sync_form::linear) {
        const std::string allowed = "it is allowed with form corridor";
        if (o.receiver != sync_receiver::corridor) {
            refuse("receiver",
                   o.receiver == sync_receiver::lattice ? "lattice" : "trellis",
                   allowed);
        }
        if (o.state_threshold > 0) {
            refuse("state_threshold", o.state_threshold, allowed);
        }
        if (o.lattice_threshold > 0) {
            refuse("lattice_threshold", o.lattice_threshold, allowed);
        }
    }
    if (o.mode == sync_mode::stream && o.priors) {
        refuse("mode", "stream", "priors of symbols are allowed in framed mode");
    }
    if (o.mode == sync_mode::stream && (!begins_at_0(o) || !o.end.probability.empty())) {
        refuse(begins_at_0(o) ? "end_prior" : "start_prior",
               "given",
               "it is allowed in framed mode; see acquire");
    }
}

unsigned chosen_lookahead(const sync_options& o)
{
    if (o.mode == sync_mode::framed) {
        return 0;
    }
    // Enough for the unknown end to be forgotten, as the tests of streams show.
    return o.lookahead ? o.lookahead : std::max(4u, (200 + o.code.n() - 1) / o.code.n());
}

drift_range decoder_window(const sync_options& o)
{
    if (o.mode == sync_mode::framed) {
        return drift_limits(o.channel, o.code.frame_bits(), o.exclusion, o.start);
    }
    const auto bits = (o.code.frame_symbols() + chosen_lookahead(o)) * o.code.n();
    const auto limits = drift_limits(o.channel, bits, o.exclusion);
    // Where the frame begins is known but roughly, and may be off to either side.
    const auto& c = o.channel;
    const double mean = bits * (c.p_insert() - c.p_delete()) / (1 - c.p_insert());
    const int spread = std::ceil(std::max(limits.last - mean, mean - limits.first));
    return { std::min(limits.first, -spread), std::max(limits.last, spread) };
}

sync_plan make_plan(const sync_options& o)
{
    check_options(o);
    const auto window = decoder_window(o);
    const unsigned symbols = o.code.frame_symbols() + chosen_lookahead(o);
    const auto items =
        std::max<std::int64_t>(0, std::int64_t(o.code.n()) * symbols + window.last);
    const unsigned before = o.mode == sync_mode::stream ? -window.first : 0;
    return { o.code,
             o.channel,
             window.size(),
             symbols,
             o.code.frame_symbols(),
             unsigned(items) + before,
             change_limits(o),
             o.soft_input,
             o.priors,
             o.drifts,
             o.output,
             o.form,
             o.precision,
             o.storage,
             o.receiver,
             o.insertion_cap,
             o.state_threshold,
             o.lattice_threshold,
             begins_at_0(o) && o.end.probability.empty() ? double(o.code.alphabet())
                                                         : 1.0 };
}

std::vector<double> window_metrics(const drift_prior& prior, drift_range window)
{
    std::vector<double> metrics(window.size(), 0);
    for (std::size_t k = 0; k < prior.probability.size(); ++k) {
        const int m = prior.first + int(k);
        if (window.contains(m)) {
            metrics[m - window.first] = prior.probability[k];
        }
    }
    return metrics;
}

void write_frame(const sync_plan& plan,
                 const sync_frame_header& header,
                 const std::vector<double>& start,
                 const std::vector<double>& end,
                 const float* priors,
                 std::byte* frame)
{
    std::memcpy(frame, &header, sizeof(header));
    std::memcpy(frame + plan.start_at(), start.data(), plan.window * sizeof(double));
    std::memcpy(frame + plan.end_at(), end.data(), plan.window * sizeof(double));
    if (plan.priors) {
        auto* to = reinterpret_cast<float*>(frame + plan.priors_at());
        const auto count = std::size_t(plan.outputs) * plan.code.q();
        priors ? std::copy_n(priors, count, to) : std::fill_n(to, count, 1.0f);
    }
}

void write_framed(const sync_options& o,
                  const sync_plan& plan,
                  drift_range window,
                  const void* items,
                  std::size_t count,
                  const float* priors,
                  std::byte* frame)
{
    const std::int64_t drift = std::int64_t(count) - o.code.frame_bits();
    const bool possible =
        count <= plan.max_items &&
        (!o.end.probability.empty() || (drift >= window.first && drift <= window.last));
    sync_frame_header header{ possible ? int(count) : -1, 0, window.first, 0 };
    const auto end = !possible || !o.end.probability.empty()
                         ? o.end
                         : drift_prior{ int(drift), { 1 } };
    write_frame(plan,
                header,
                window_metrics(o.start, window),
                window_metrics(end, window),
                priors,
                frame);
    if (possible && count > 0) {
        std::memcpy(frame + plan.items_at(), items, count * plan.item_bytes());
    }
}

} // namespace gpufec
} // namespace gr
