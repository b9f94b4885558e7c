// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "pipeline/checked_size.h"
#include "room.h"
#include "setup.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace gr::gpufec::sync_map {

namespace {

bool power_of_two(unsigned q) { return (q & (q - 1)) == 0; }

void check_threshold(const std::string& name, double value)
{
    if (!(value >= 0 && value < 1)) {
        refuse(name, value, "0 to below 1 is allowed");
    }
}

void check_prior(const std::string& end, const drift_prior& prior)
{
    const int limit = drift_prior::max_first;
    if (prior.first < -limit || prior.first > limit) {
        refuse(end + "_first", prior.first, "-1048576 to 1048576 is allowed");
    }
    const auto name = end + "_prior";
    checked_size(prior.probability.size())
        .within(0, drift_prior::max_size, "size of " + name);
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

// Symbols of a frame and its look-ahead, and their channel symbols.
checked_size symbols_of(const sync_options& o)
{
    return checked_size(o.code.frame_symbols()) + chosen_lookahead(o);
}

unsigned bits_of(const sync_options& o)
{
    return (symbols_of(o) * o.code.n())
        .within(1, 2 * sync_code::max_frame_bits, "(frame_symbols + lookahead) * n");
}

// Boundary metrics, and drifts times drift changes, that memory is asked for.
constexpr std::uint64_t most_metrics = std::uint64_t(1) << 26;

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
    if (o.change_last < 0 || o.change_last > int(drift_range::max_size)) {
        refuse("mn_max",
               o.change_last,
               "0 to " + std::to_string(drift_range::max_size) + " is allowed");
    }
    checked_size(o.lookahead).within(0, sync_options::max_lookahead, "lookahead");
    checked_size(o.acquire).within(0, sync_options::max_acquire, "acquire");
    check_positive_bit(o.positive_bit);
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
    const auto bits = bits_of(o);
    const auto limits = drift_limits(o.channel, bits, o.exclusion);
    // Where the frame begins is known but roughly, and may be off to either side.
    const auto& c = o.channel;
    const double mean = double(bits) * (c.p_insert() - c.p_delete()) / (1 - c.p_insert());
    const int spread = std::ceil(std::max(limits.last - mean, mean - limits.first));
    const drift_range window{ std::min(limits.first, -spread),
                              std::max(limits.last, spread) };
    checked_size(window.size())
        .within(1, 2 * drift_range::max_size, "number of drifts of a stream");
    return window;
}

setup make_setup(const sync_options& o)
{
    check_options(o);
    const auto window = decoder_window(o);
    const auto bits = bits_of(o);
    const unsigned symbols = symbols_of(o).value();
    const auto items = std::max<std::int64_t>(0, std::int64_t(bits) + window.last);
    const unsigned before = o.mode == sync_mode::stream ? -window.first : 0;
    const auto boundaries = checked_size(symbols) + 1;
    (boundaries * window.size())
        .within(1, most_metrics, "drifts times frame_symbols and lookahead");
    if (o.mode == sync_mode::stream && o.acquire > 0) {
        // The first boundary is looked for among a frame's items at a time.
        const auto span = std::min(o.acquire, o.code.frame_bits());
        (boundaries * (checked_size(window.size()) + span))
            .within(1,
                    most_metrics,
                    "acquire, or a frame if that is less, and drifts, times "
                    "frame_symbols and lookahead");
    }
    const auto change = change_limits(o);
    if (o.form == sync_form::corridor) {
        (checked_size(window.size()) * change.size())
            .within(1, most_metrics, "drifts times mn_min to mn_max");
    }
    return { o.code,
             o.channel,
             window.size(),
             symbols,
             o.code.frame_symbols(),
             unsigned(items) + before,
             change,
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
                                                         : 1.0,
             o.positive_bit };
}

std::string room::describe(const setup& s)
{
    return "synchronisation, n=" + std::to_string(s.code.n()) +
           " q=" + std::to_string(s.code.q()) +
           " N=" + std::to_string(s.code.frame_symbols()) + ", " +
           std::to_string(s.window) + " drifts,";
}

} // namespace gr::gpufec::sync_map
