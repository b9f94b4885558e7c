// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The decoder with phase search: its construction, its public functions, and the loop
 * that searches or decodes. locking.h defines the terms. */

#include "locking.h"
#include "pipeline/stream_decoder.h"

namespace gr::gpufec {

using namespace viterbi;

namespace {

// Limit of the number of buffered values that were not yet searched or decoded. For long
// frames the limit is higher.
constexpr std::size_t max_ahead = 1u << 18;

} // namespace

locking_viterbi_decoder::locking_viterbi_decoder(const viterbi_options& options,
                                                 decoder_hooks hooks)
    : d_options(options),
      d_hooks(without_exceptions(std::move(hooks))),
      d_plan(options),
      d_search(options,
               d_plan.received,
               constellation_from_string(options.lock_constellation),
               d_hooks,
               d_plan.window_stages()),
      d_input(options.format, d_plan.layout.stream()),
      d_output(d_plan.layout),
      d_max_ahead(std::max<std::size_t>(
          max_ahead, 2 * d_plan.values_of(frame_finder::max_frames + 2))),
      d_values([this](std::uint64_t first, std::size_t count, std::int8_t* to) {
          d_input.read(first, count, to);
      })
{
    open(0);
    if (!layout().stream()) {
        d_finder.emplace(d_options, d_plan.received, options.frame_bits, d_hooks);
    }
    d_hooks.log(log_level::info,
                "the decoder searches for the phase among " +
                    std::to_string(d_search.hypotheses().size()) + " hypotheses");
    if (options.watch) {
        d_judge = std::make_unique<signal_judge>(
            options, d_hooks, [this] { return d_now.locks > 0; });
    }
}

void locking_viterbi_decoder::flush()
{
    if (d_state == state::locked) {
        d_decoder->flush();
    }
}

void locking_viterbi_decoder::reset()
{
    open(d_which);
    d_search.forget();
    d_input.clear();
    d_output.clear();
    d_next_window = d_judged = 0;
    d_windows = 0;
    d_finishing = d_ended = false;
    d_state = state::searching;
    d_before.reset();
    d_unframed.reset();
    d_next.reset();
    d_until = never;
    d_changes.clear();
    d_now = viterbi_lock();
    d_statistics.reset();
    d_stream_statistics.clear();
    d_judge->reset();
}

double locking_viterbi_decoder::chance_error_rate() const
{
    return d_now.locked ? d_now.chance_error_rate : d_judge->chance_error_rate();
}

std::size_t locking_viterbi_decoder::borrow(const void* items, std::size_t count)
{
    const auto borrowed = d_input.borrowed();
    const auto taken = take_items(count - borrowed, [&](std::size_t, std::size_t n) {
        return d_input.borrow(
            static_cast<const std::byte*>(items), count, d_options.soft_scale, n);
    });
    d_judge->look_at(items, borrowed, taken);
    return taken;
}

std::size_t locking_viterbi_decoder::push(input_items items)
{
    items.require(item_type_of(d_options.format));
    const auto* const from = static_cast<const std::byte*>(items.data());
    const auto size = item_bytes(d_options.format);
    const auto all = take_items(items.size(), [&](std::size_t taken, std::size_t n) {
        return d_input.push(from + taken * size, n, d_options.soft_scale);
    });
    d_judge->look_at(items.data(), 0, all);
    return all;
}

std::size_t locking_viterbi_decoder::pull(bit_span out)
{
    advance();
    const auto n = d_output.pull(out);
    if (n > 0) {
        advance();
    }
    return n;
}

bool locking_viterbi_decoder::take_lock(viterbi_lock& change)
{
    if (d_changes.empty()) {
        return false;
    }
    change = d_changes.front();
    d_changes.pop_front();
    return true;
}

viterbi_lock locking_viterbi_decoder::lock() const
{
    auto now = d_now;
    now.error_rate = now.locked ? d_monitor.error_rate() : 0;
    return now;
}

std::uint64_t locking_viterbi_decoder::placed_items() const
{
    if (d_ended) {
        return never / d_input.values_per_item();
    }
    const auto value = d_state == state::searching ? d_input.first()
                                                   : segment().value_of(segment().stages);
    return value / d_input.values_per_item();
}

std::size_t locking_viterbi_decoder::items_per_frame() const
{
    return layout().stream()
               ? 1
               : d_plan.codes[0].values(layout().stages()) / d_input.values_per_item();
}

// Creates the inner decoder for code `which`, or resets it if it already decodes that
// code.
void locking_viterbi_decoder::open(unsigned which)
{
    if (d_decoder && which == d_which) {
        d_decoder->reset();
    } else {
        auto o = d_options;
        o.code = d_plan.codes[which];
        o.lock = "off";
        o.watch = false;
        if (o.format == soft_format::packed4) {
            o.format = soft_format::int8;
        }
        // A decoder that may use a GPU has one more slot, up to max_slots, because a
        // batch stays in its slot until the batch is checked. An invalid number of slots
        // is left unchanged, so that the inner decoder refuses it.
        if (o.backend != backend::cpu && o.slots >= 1 && o.slots < max_slots) {
            ++o.slots;
        }
        d_input.use(nullptr);
        d_decoder.reset();
        d_decoder = std::static_pointer_cast<viterbi_decoder_base>(
            viterbi_decoder::make(o, d_hooks));
        d_input.use(d_decoder.get());
        d_which = which;
    }
    if (layout().stream()) {
        d_decoder->watch();
    }
    const auto D = layout().stream() ? d_decoder->decode_length() : layout().stages();
    d_stretch = young_stretch(D);
    d_long_stretch = old_stretch(d_plan.codes[which], D);
    d_checked = d_finely_until = 0;
    d_inner_finished = false;
}

// Returns the number of values that were accepted but not yet searched or decoded.
std::size_t locking_viterbi_decoder::ahead() const
{
    const auto seen =
        d_state == state::locked ? segment().start + d_input.fed() : d_next_window;
    return d_input.end() - std::min(seen, d_input.end());
}

void locking_viterbi_decoder::advance()
{
    for (;;) {
        const bool some = d_state == state::locked ? decode() : search();
        if (!some) {
            return;
        }
    }
}

viterbi_decoder::sptr make_locking_decoder(const viterbi_options& options,
                                           decoder_hooks hooks)
{
    return make_process_bound<locking_viterbi_decoder>(options, std::move(hooks));
}

} // namespace gr::gpufec
