// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Checks the options and computes windows, search parameters and memory layouts. */

#include "common/checked_size.h"
#include "frame.h"
#include "setup.h"
#include "sync_map/stream/traits.h"
#include <algorithm>
#include <cmath>

namespace gr::gpufec::sync_map {

namespace {

bool power_of_two(unsigned q) { return (q & (q - 1)) == 0; }

void check_threshold(const std::string& name, double value)
{
    require(value >= 0 && value < 1, name, value, "from 0 to below 1");
}

void check_prior(const std::string& end, const drift_prior& prior)
{
    const int limit = drift_prior::max_first;
    require(prior.first >= -limit && prior.first <= limit,
            end + "_first",
            prior.first,
            "-1048576 to 1048576");
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

// Returns the number of message symbols of a frame and its look-ahead.
checked_size symbols_of(const sync_options& o)
{
    return checked_size(o.code.frame_symbols()) + chosen_lookahead(o);
}

unsigned bits_of(const sync_options& o)
{
    return (symbols_of(o) * o.code.n())
        .within(1, 2 * sync_code::max_frame_bits, "(frame_symbols + lookahead) * n");
}

// Limit of two sizes, so that a frame fits in memory: the number of boundary metrics of a
// frame, and the number of branch metrics of a word (drifts × drift changes).
constexpr std::uint64_t max_metrics = std::uint64_t(1) << 26;

// Returns the drift changes per symbol that the corridor form allows.
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
               "the code has " + std::to_string(o.code.alphabet()) + " channel symbols");
    }
    if (o.output == sync_output::llr && !power_of_two(o.code.q())) {
        refuse("output", "llr", "LLRs require that q is a power of two");
    }
    require(o.exclusion >= 1e-15 && o.exclusion < 1,
            "exclusion",
            o.exclusion,
            "from 1e-15 to below 1");
    require(o.change_first <= 0 && o.change_first >= -int(o.code.n()),
            "mn_min",
            o.change_first,
            "-n to 0");
    require(o.change_last >= 0 && o.change_last <= int(drift_range::max_size),
            "mn_max",
            o.change_last,
            "0 to " + std::to_string(drift_range::max_size));
    checked_size(o.lookahead).within(0, sync_options::max_lookahead, "lookahead");
    checked_size(o.acquire).within(0, sync_options::max_acquire, "acquire");
    check_positive_bit(o.positive_bit);
    check_threshold("state_threshold", o.state_threshold);
    check_threshold("lattice_threshold", o.lattice_threshold);
    check_prior("start", o.start);
    check_prior("end", o.end);
    if (o.form == sync_form::linear) {
        const std::string allowed = "it is allowed only with form corridor";
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
    if (o.frame_items > 0 && (o.mode == sync_mode::stream || o.priors)) {
        refuse("frame_items",
               o.frame_items,
               "the only allowed value is 0 in mode \"stream\" and with priors");
    }
    if (o.mode == sync_mode::stream && o.priors) {
        refuse("mode", "stream", "priors of symbols require framed mode");
    }
    if (o.mode == sync_mode::stream && (!begins_at_0(o) || !o.end.probability.empty())) {
        refuse(begins_at_0(o) ? "end_prior" : "start_prior",
               "given",
               "priors of the drift require framed mode; use acquire in a stream");
    }
}

drift_range decoder_window(const sync_options& o)
{
    if (o.mode == sync_mode::framed) {
        return drift_limits(o.channel, o.code.frame_bits(), o.exclusion, o.start);
    }
    const auto bits = bits_of(o);
    const auto limits = drift_limits(o.channel, bits, o.exclusion);
    // The frame's beginning is known only roughly, so the window is symmetric.
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
        .within(1, max_metrics, "drifts * (frame_symbols + lookahead + 1)");
    if (o.mode == sync_mode::stream && o.acquire > 0) {
        // The search for the first boundary covers one frame's items at a time.
        const auto span = std::min(o.acquire, o.code.frame_bits());
        (boundaries * (checked_size(window.size()) + span))
            .within(1,
                    max_metrics,
                    "(drifts + min(acquire, n * frame_symbols)) * "
                    "(frame_symbols + lookahead + 1)");
    }
    const auto search = make_search(o);
    const auto change = change_limits(o);
    if (o.form == sync_form::corridor) {
        (checked_size(window.size()) * change.size())
            .within(1, max_metrics, "drifts * (mn_max - mn_min + 1)");
    }
    return {
        o.code,
        o.channel,
        window.size(),
        symbols,
        o.code.frame_symbols(),
        unsigned(items) + before,
        change,
        o.soft_input,
        o.item_bytes(),
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
        begins_at_0(o) && o.end.probability.empty() ? double(o.code.alphabet()) : 1.0,
        o.positive_bit,
        search,
        bool(search),
        o.mode == sync_mode::framed && !o.priors,
        window.first,
        window_metrics(o.start, window),
        o.end.probability.empty() ? std::vector<double>() : window_metrics(o.end, window)
    };
}

batch_limits setup::limits(std::size_t frames) const
{
    batch_limits l{ frames,
                    frames * input_bytes(),
                    frames * output_bytes(),
                    frames * sizeof(sync_status) };
    if (search) {
        const auto batch = stream_input(frames);
        l.input_bytes = batch.bytes;
        l.table_bytes = batch.items_at;
        l.caller_item_bytes = batch.item_capacity * item_bytes();
    } else if (placed) {
        const auto batch = placed_input(frames);
        l.table_bytes = batch.items_at;
        l.caller_item_bytes = batch.item_capacity * item_bytes();
    }
    return l;
}

setup::placed_batch setup::placed_input(std::size_t frames) const
{
    constexpr std::size_t most = 1 << 30; // keeps item numbers within 32-bit integers
    return { std::min(std::max<std::size_t>(most, max_items), frames * max_items),
             round_up(frames * sizeof(placed_frame)) };
}

setup::stream_batch setup::stream_input(std::size_t frames) const
{
    constexpr double most = 1 << 30; // keeps item numbers within 32-bit integers
    const double bits = code.frame_bits();
    const drift_spread spread(channel, bits * frames);
    const double between = 4.0 * search.most + 2.0 * window + 4.0 * search.window +
                           double(code.n()) * (search.max_warmup + 2.0 * symbols);
    stream_batch b;
    b.item_capacity = std::size_t(
        std::min(most, bits * frames + std::abs(spread.mean) + spread.most + between));
    b.max_whole = std::min(frames, std::max<std::size_t>(64, frames / 16));
    b.whole_at = round_up(frames * sizeof(stream_piece));
    b.items_at = b.whole_at + b.max_whole * input_bytes();
    b.bytes = round_up(b.items_at + b.item_capacity * item_bytes());
    return b;
}

std::string traits::describe(const setup& s)
{
    return "synchronisation, n=" + std::to_string(s.code.n()) +
           " q=" + std::to_string(s.code.q()) +
           " N=" + std::to_string(s.code.frame_symbols()) + ", " +
           std::to_string(s.window) + " drifts," +
           (s.symbols > s.outputs && !s.search
                ? " frames decoded one after the other by one thread,"
                : "");
}

} // namespace gr::gpufec::sync_map
