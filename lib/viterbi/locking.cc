// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A decoder that finds its own phase: input is held while all hypotheses are tried, what
 * was held is decoded once one is known, and decoded bits are encoded again to see that
 * it still holds. */

#include "decoder_impl.h"
#include "frame_finder.h"
#include "lock.h"
#include "lock_input.h"
#include "lock_output.h"
#include "lock_plan.h"
#include "lock_watch.h"
#include "pipeline/engine.h"
#include "pipeline/refuse.h"
#include <algorithm>

namespace gr::gpufec {

using namespace viterbi;

namespace {

// Input is taken so far ahead of what is decoded.
constexpr std::size_t most_ahead = 1u << 18;
// A lock that was lost is looked for in so many windows, as if it had only faded.
constexpr unsigned windows_of_doubt = 3;
// Of a lock that ends: what another may be older by, and what is kept of checked values.
constexpr std::uint64_t older = 256, kept = 1024;
constexpr unsigned least_stretch = 512;
// A lock is checked every long_values values once it has held for so many stages.
constexpr std::uint64_t young = 1u << 16, long_values = 16384;
constexpr std::size_t chunk = 1u << 14;
constexpr std::uint64_t never = ~std::uint64_t(0);
constexpr std::size_t most_at_once = 1u << 16; // items, that are held
constexpr std::size_t most_changes = 1u << 16;
constexpr std::size_t most_statistics = 1u << 16;

} // namespace

class viterbi_decoder::locking : public decoder::engine, public viterbi_decoder::impl
{
public:
    locking(const viterbi_options& options, decoder_hooks hooks)
        : d_options(options),
          d_hooks(std::move(hooks)),
          d_plan(options),
          d_search(options,
                   d_plan.received,
                   constellation_from_string(options.lock_constellation),
                   d_hooks,
                   d_plan.window_stages()),
          d_input(options.format, d_plan.layout.stream()),
          d_output(d_plan.layout),
          d_most_ahead(std::max<std::size_t>(
              most_ahead, 2 * d_plan.values_of(frame_finder::most_frames + 2))),
          d_values([this](std::uint64_t first, std::size_t count, std::int8_t* to) {
              d_input.read(first, count, to);
          })
    {
        open(0);
        if (!layout().stream()) {
            d_finder.emplace(d_options, d_plan.received, options.frame_bits, d_hooks);
        }
        d_hooks.log(log_level::info,
                    "finds its phase among " +
                        std::to_string(d_search.hypotheses().size()) + " hypotheses");
    }

    // ---- the engine of every decoder ----

    void finish() override
    {
        d_finishing = true;
        advance();
    }
    bool ready() override
    {
        advance();
        return d_output.available();
    }
    bool due() const override { return d_state == state::locked && d_decoder->due(); }
    void flush() override
    {
        if (d_state == state::locked) {
            d_decoder->flush();
        }
    }
    bool full() const override
    {
        return d_input.passing() ? d_decoder->full() : ahead() >= d_most_ahead;
    }
    bool done() override
    {
        advance();
        return d_finishing && d_ended && !d_output.available();
    }
    bool wait(std::chrono::milliseconds limit) override
    {
        return ready() || (d_state == state::locked && d_decoder->wait(limit));
    }
    void reset() override
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
        statistics.reset();
        stream_statistics.clear();
    }
    void set_max_latency_ms(double ms) override
    {
        d_decoder->set_max_latency_ms(ms);
        d_options.max_latency_ms = ms;
    }
    std::size_t batch() const override { return d_decoder->batch(); }
    std::string active_backend() const override { return d_decoder->active_backend(); }
    std::string active_device() const override { return d_decoder->active_device(); }

    std::size_t input_bytes() const override { return d_decoder->input_bytes(); }
    bool can_lend() const override { return d_input.can_lend(); }
    std::size_t lend(const void* items, std::size_t count) override
    {
        const auto lent = d_input.lent();
        return take(count - lent, [&](std::size_t, std::size_t n) {
            return d_input.lend(
                static_cast<const std::byte*>(items), count, d_options.soft_scale, n);
        });
    }
    std::size_t lent() const override { return d_input.lent(); }
    std::size_t take_back() override { return d_input.take_back(); }
    void end_lending() override { d_input.end_lending(); }
    bool lock_lent(void* memory, std::size_t bytes) override
    {
        return d_input.lock_lent(memory, bytes);
    }
    void unlock_lent(void*) override { d_input.unlock_lent(); }

    // ---- of this decoder ----

    std::size_t push(const void* items, std::size_t count) override
    {
        const auto* const from = static_cast<const std::byte*>(items);
        const auto size = d_options.format == soft_format::float32 ? sizeof(float) : 1;
        return take(count, [&](std::size_t taken, std::size_t n) {
            return d_input.push(from + taken * size, n, d_options.soft_scale);
        });
    }

    std::size_t pull_packed(std::uint8_t* out, std::size_t bytes) override
    {
        // What follows may come from where it was decoded.
        auto n = d_output.pull_packed(out, bytes);
        d_direct = { out + n, bytes - n };
        advance();
        const auto direct = bytes - n - std::exchange(d_direct, {}).bytes;
        n += direct;
        return direct > 0 ? n : n + d_output.pull_packed(out + n, bytes - n);
    }

    std::size_t pull_bits(std::uint8_t* out, std::size_t bits) override
    {
        return pull([&] { return d_output.pull_bits(out, bits); });
    }

    void set_soft_scale(float scale) override
    {
        d_decoder->set_soft_scale(scale);
        d_options.soft_scale = scale;
    }

    bool take_lock(viterbi_lock& change) override
    {
        if (d_changes.empty()) {
            return false;
        }
        change = d_changes.front();
        d_changes.pop_front();
        return true;
    }

    viterbi_lock lock() const override
    {
        auto now = d_now;
        now.error_rate = now.locked ? d_watch.error_rate() : 0;
        return now;
    }

    std::uint64_t placed_items() const override
    {
        if (d_ended) {
            return never / d_input.values_per_item();
        }
        const auto value = d_state == state::searching
                               ? d_input.first()
                               : segment().value_of(segment().stages);
        return value / d_input.values_per_item();
    }

    const conv_code& code() const override { return d_plan.codes[d_which]; }
    unsigned decode_length() const override { return d_decoder->decode_length(); }
    unsigned overlap() const override { return d_decoder->overlap(); }
    std::size_t items_per_frame() const override
    {
        return layout().stream() ? 1
                                 : d_plan.codes[0].values(layout().stages()) /
                                       d_input.values_per_item();
    }

    std::uint64_t output_of_item(std::uint64_t item, bool packed) const override
    {
        return d_output.item_of(item * d_input.values_per_item(), packed);
    }

private:
    enum class state { searching, locked, doubting };

    // Items that \p take(items taken before, how many more may be) takes of \p count.
    template <class Take>
    std::size_t take(std::size_t count, Take&& take)
    {
        const auto values = d_input.values_per_item();
        std::size_t taken = 0;
        while (taken < count) {
            advance();
            if (full()) {
                break;
            }
            const auto left = count - taken;
            const auto room = (d_most_ahead - ahead() + values - 1) / values;
            const auto n = take(
                taken, d_input.passing() ? left : std::min({ left, room, most_at_once }));
            if (n == 0) {
                break;
            }
            taken += n;
        }
        advance();
        return taken;
    }

    // What is to be decoded from some value on.
    struct start {
        phase_search::found found;
        std::uint64_t value, known; // and the one that had to be there to know it
        std::optional<frame_finder::place> frames{};
    };

    const frame_layout& layout() const { return d_output.layout(); }
    // Makes what decodes a code.
    void open(unsigned which)
    {
        if (d_decoder && which == d_which) {
            d_decoder->reset();
        } else {
            auto o = d_options;
            o.code = d_plan.codes[which];
            o.lock = "off";
            if (o.format == soft_format::packed4) {
                o.format = soft_format::int8;
            }
            d_input.use(nullptr, nullptr);
            d_decoder.reset();
            d_decoder = std::make_unique<viterbi_decoder>(o, d_hooks);
            d_inner = &d_decoder->self();
            d_input.use(d_decoder.get(), d_inner);
            d_which = which;
        }
        if (layout().stream()) {
            d_inner->keep_pulled();
        }
        // Of blocks, or frames.
        const auto D = layout().stream() ? d_decoder->decode_length() : layout().stages();
        d_stretch = (least_stretch + D - 1) / D * D;
        d_long_stretch =
            std::max(d_stretch, d_plan.codes[which].stages(long_values) / D * D);
        d_checked = d_finely_until = 0;
        d_inner_finished = false;
    }

    lock_segment& segment() { return d_output.last(); }
    const lock_segment& segment() const { return d_output.last(); }
    const hypothesis& reading(unsigned index) const
    {
        return d_search.hypotheses()[index];
    }
    // Values that were taken and not yet looked at.
    std::size_t ahead() const
    {
        const auto seen =
            d_state == state::locked ? segment().start + d_input.fed() : d_next_window;
        return d_input.end() - std::min(seen, d_input.end());
    }

    // ---- going on ----

    void advance()
    {
        for (;;) {
            const bool some = d_state == state::locked ? decode() : search();
            if (!some) {
                return;
            }
        }
    }

    template <class Pull>
    std::size_t pull(Pull&& from_output)
    {
        advance();
        const auto n = from_output();
        if (n > 0) {
            advance();
        }
        return n;
    }

    // ---- while searching ----

    // Tries the next windows; whether something went on.
    bool search()
    {
        if (d_ended) {
            return false;
        }
        if (d_unframed) {
            return find_frames();
        }
        const auto end = d_input.end();
        const auto window = d_search.window(), stride = d_search.stride();
        std::size_t windows = 0;
        if (end >= d_next_window + window) {
            windows = 1 + (end - d_next_window - window) / stride;
            windows = std::min(windows, d_search.windows_at_once());
        } else if (d_finishing) {
            // The last one as far as there is something.
            windows = end > d_next_window ? 1 : 0;
            if (windows == 0) {
                if (d_state == state::doubting) {
                    give_up();
                }
                drop_unlocked(end);
                d_ended = true;
                return true;
            }
        }
        if (d_state == state::doubting) {
            windows = std::min<std::size_t>(windows, windows_of_doubt - d_windows);
        }
        if (windows == 0) {
            return false;
        }
        if (const auto found = d_search.search(d_input.held(), d_next_window, windows)) {
            if (!layout().stream()) {
                d_unframed = found;
                d_frames = 2;
                return true;
            }
            take(*found, {});
            return true;
        }
        missed(windows);
        return true;
    }

    // Tries more frames, as they come; whether something went on.
    bool find_frames()
    {
        const auto& found = *d_unframed;
        const auto& readings = d_search.alike(found.index);
        while (d_frames <= frame_finder::most_frames) {
            const auto needed =
                found.begins + d_finder->values(readings.front(), d_frames);
            if (needed > d_input.end()) {
                if (!d_finishing) {
                    return false;
                }
                break;
            }
            const auto place =
                d_finder->find(d_input.held(), readings, found.begins, d_frames);
            if (place) {
                auto with = *std::exchange(d_unframed, {});
                with.looked_at = std::max(with.looked_at, needed);
                take(with, place);
                return true;
            }
            ++d_frames;
        }
        // A stream, or frames of another length, or that cannot be told apart.
        d_next_window = found.looked_at - d_search.window();
        d_unframed.reset();
        d_search.forget();
        missed(1);
        return true;
    }

    void missed(std::size_t windows)
    {
        d_windows += windows;
        d_next_window += windows * d_search.stride();
        if (d_state != state::doubting) {
            forget_before(d_next_window);
        } else if (d_windows >= windows_of_doubt) {
            give_up();
        }
    }

    // What is older than the memory, seen from a window that is searched, is dropped.
    void forget_before(std::uint64_t window)
    {
        const auto keep = window - std::min<std::uint64_t>(window, d_options.lock_memory);
        drop_unlocked(std::min(keep, d_input.end()));
    }

    void drop_unlocked(std::uint64_t value)
    {
        if (value > d_input.first()) {
            d_now.dropped += value - d_input.first();
            d_input.drop_before(value);
        }
    }

    // What was in doubt is lost.
    void give_up()
    {
        const auto looked_at = d_next_window + d_search.window() - d_search.stride();
        // What was decoded until that was known may be the weak end of a frame.
        end_segment(whole(segment(), d_lost_target),
                    std::min(d_input.end(), looked_at) - 1);
        d_input.drop_before(segment().value_of(d_lost_stage));
        d_state = state::searching;
        d_decoder->reset();
    }

    // A hypothesis was found: decides from where on it is decoded, and what is until
    // then.
    void take(const phase_search::found& found,
              const std::optional<frame_finder::place>& frames)
    {
        const auto known =
            std::min(d_input.end(), std::max(d_judged, found.looked_at)) - 1;
        d_search.forget();
        if (d_state == state::doubting) {
            auto& s = segment();
            d_state = state::locked;
            const auto same = d_before->index == found.index;
            if (same && (!frames || same_frames(s, *frames))) {
                // It had only faded: goes on as if nothing had been.
                d_watch.resume(found.error_rate, stages_before(s, found.begins));
                return;
            }
            const auto lost = s.value_of(d_lost_stage);
            const auto value = d_search.takeover(
                d_input.held(),
                *d_before,
                found,
                std::max(d_input.first(), lost - std::min(lost, older)));
            d_until = std::max(d_lost_stage, stages_before(s, value));
            d_next = start{ found, value, known };
            return;
        }
        // Windows were searched at once, and what is dropped must not depend on it.
        forget_before(found.looked_at - d_search.window());
        const start next{ found, d_input.first(), known, frames };
        if (d_before && d_before->index != found.index) {
            // Frames too weak to be found may belong to what was there before.
            const auto value =
                d_search.takeover(d_input.held(), *d_before, found, next.value);
            if (value > next.value) {
                auto again = found;
                again.index = d_before->index;
                again.chance = d_before->chance;
                begin({ again, next.value, known, d_before_frames });
                d_until = whole(segment(), stages_before(segment(), value));
                d_next = start{ found, value, known, frames };
                return;
            }
        }
        begin(next);
    }

    // Stages of a segment that end at a value of the stream.
    static std::uint64_t stages_before(const lock_segment& s, std::uint64_t value)
    {
        return s.code().stages(std::max(value, s.start) - s.start);
    }

    // Of frames only whole ones.
    std::uint64_t whole(const lock_segment& s, std::uint64_t stages) const
    {
        const auto T = layout().stages();
        return s.lead + (std::max(stages, s.lead) - s.lead) / T * T;
    }

    // Stages from a place at which a reading may begin to the next frame.
    std::uint64_t lead_of(const frame_finder::place& frames, std::uint64_t start) const
    {
        const auto& code = frames.reading->code();
        const auto T = layout().stages();
        return (start < frames.start
                    ? frames.stage + code.stages(frames.start - start)
                    : frames.stage + T - code.stages(start - frames.start) % T) %
               T;
    }
    bool same_frames(const lock_segment& s, const frame_finder::place& frames) const
    {
        return s.reading == frames.reading && s.lead == lead_of(frames, s.start);
    }

    // All that was kept from its value on is decoded.
    void begin(const start& from)
    {
        const auto& h = from.frames ? *from.frames->reading : reading(from.found.index);
        const auto first = h.start(from.value);
        d_now.dropped += first - std::min(first, from.value);
        d_input.drop_before(first);
        open(h.which());
        const auto lead = from.frames ? lead_of(*from.frames, first) : 0;
        d_output.open(h, first, lead);
        d_input.begin(h, first, h.code().values(lead));
        d_checked = lead;
        d_frame.clear();
        d_before_frames = from.frames;
        d_before = { from.found.index, from.found.chance };
        d_until = never;
        d_watch.begin(d_search.encoder(h.which()),
                      from.found.error_rate,
                      from.found.chance,
                      stages_before(segment(), from.found.begins));
        d_state = state::locked;

        auto& now = d_now;
        now.locked = true;
        now.first_value = segment().value_of(segment().lead);
        now.known_value = from.known;
        now.preset = d_plan.preset_of(h.which());
        now.code = d_plan.codes[h.which()].to_string();
        const auto n = h.code().values_per_period();
        const bool symbols = d_options.lock_constellation != "bpsk";
        now.pair_phase =
            first % (h.code().period() == 1 && !symbols ? h.code().outputs() : 2);
        now.puncturing_phase = h.code().period() == 1 ? 0 : first % n;
        now.rotation = 90 * h.quarter_turns();
        now.swapped = h.swapped() != (symbols && d_options.lock_first_item == "q");
        now.half_symbol = h.arrangement() >= hypothesis::order::half;
        now.inverted = h.inverted();
        now.error_rate = from.found.error_rate;
        ++now.locks;
        note_change();
    }

    void end_segment(std::uint64_t stages, std::uint64_t known)
    {
        d_output.close(stages);
        while (!stream_statistics.empty() &&
               stream_statistics.back().first_bit >= d_output.total_bits()) {
            stream_statistics.pop_back();
        }
        d_now.locked = false;
        d_now.first_value = segment().value_of(segment().stages);
        d_now.known_value = known;
        note_change();
    }

    void note_change()
    {
        d_now.first_bit = d_output.total_bits();
        d_now.first_byte = d_output.total_bytes();
        d_changes.push_back(d_now);
        if (d_changes.size() > most_changes) {
            d_changes.pop_front(); // nobody takes them
        }
    }

    // ---- while locked ----

    bool decode()
    {
        const bool fed = feed();
        const bool collected = collect();
        if (d_state != state::locked) {
            return true;
        }
        const bool checked = d_until == never ? check() : reach_end();
        if (d_state != state::locked) {
            return true;
        }
        if (d_until == never && all_collected() &&
            segment().stages == segment().collected) {
            d_output.close(segment().stages);
            d_input.drop_before(d_input.end());
            d_ended = true;
            d_state = state::searching;
            return true;
        }
        return fed || collected || checked;
    }

    // Gives the decoder what is held.
    bool feed()
    {
        bool some =
            d_input.feed(d_until == never ? never : values_until_end(), d_finishing);
        if (d_until == never) {
            d_input.pass();
        }
        if (d_finishing && segment().start + d_input.fed() >= d_input.end() &&
            !d_inner_finished) {
            d_decoder->finish();
            d_inner_finished = some = true;
        }
        return some;
    }

    bool all_collected() { return d_inner_finished && d_decoder->done(); }

    // Takes what the decoder has.
    bool collect()
    {
        bool some = false;
        for (;;) {
            if (give_directly()) {
                some = true;
                if (d_state != state::locked) {
                    return true;
                }
                continue;
            }
            if (d_output.full() ||
                (d_input.passing() && d_direct.bytes == 0 && d_output.available())) {
                return some;
            }
            const auto n = d_inner->pull_packed(room_for_decoded(), to_collect());
            take_statistics();
            if (n == 0) {
                return some;
            }
            take_decoded(n);
            some = true;
            if (layout().stream() && !settle_pulled()) {
                return true;
            }
        }
    }

    void take_statistics()
    {
        if (d_inner->statistics) {
            statistics = moved(*d_inner->statistics);
            d_inner->statistics.reset();
        }
        for (auto& there = d_inner->stream_statistics; !there.empty();
             there.pop_front()) {
            stream_statistics.push_back(moved(there.front()));
            if (stream_statistics.size() > most_statistics) {
                stream_statistics.pop_front(); // nobody takes them
            }
        }
    }

    // Bytes: up to the next check, if what follows may be given directly.
    std::size_t to_collect() const
    {
        if (!d_input.passing() || d_direct.bytes == 0) {
            return chunk;
        }
        const auto& s = segment();
        const auto target = d_checked + stretch();
        const auto left = target - std::min(s.collected, target);
        return std::clamp<std::size_t>((left + 7) / 8, 1, chunk);
    }

    // Gives bits from the decoder's own memory to the caller, as far as they are sure;
    // whether there were some.
    bool give_directly()
    {
        if (!d_input.passing() || d_direct.bytes == 0 || !d_output.all_given()) {
            return false;
        }
        const auto bits = d_inner->ready_bits();
        auto& s = segment();
        const auto target = d_checked + stretch();
        if (!bits.bytes || s.collected != bits.next || target > bits.end ||
            d_watch.needs(s) < bits.first + 64 ||
            target > 8 * (s.given + d_direct.bytes)) {
            return false;
        }
        const auto next = s.code().values(target + stretch() - d_watch.sample());
        d_input.prefetch(next, s.code().values(target + stretch()) - next);
        if (d_watch.judge(s, { bits.bytes, bits.first }, target, d_values)) {
            // What follows is asked for up to there.
            const auto bytes = (target - s.collected + 7) / 8;
            while (s.collected < target) {
                take_decoded(d_inner->pull_packed(d_output.room_for(bytes), bytes));
            }
            take_statistics();
            doubt(target);
            d_input.forget_pulled();
            return true;
        }
        d_checked = target;
        const auto clear = std::min(d_watch.clear(), target);
        drop_checked(clear);
        const auto sure = std::max(clear / 8 * 8, 8 * s.given);
        const auto past = sure - std::min(sure, s.collected);
        const auto n = d_output.give(bits.bytes, bits.first, sure, d_direct.out);
        d_direct.out += n;
        d_direct.bytes -= n;
        if (past > 0) {
            d_inner->pulled_there(past / 8);
            take_statistics();
            d_input.forget_pulled();
        }
        return true;
    }

    // What was pulled is checked while its input is there; whether the lock holds.
    bool settle_pulled()
    {
        const auto batch = d_inner->pulled();
        if (!batch.full && batch.value > d_input.cut()) {
            d_finely_until = batch.end;
        }
        if (batch.done) {
            segment().collected = batch.end; // the last byte may be padded
        }
        if (d_until == never) {
            check();
        }
        d_input.forget_pulled();
        return d_state == state::locked;
    }

    std::uint8_t* room_for_decoded()
    {
        if (layout().stream()) {
            return d_output.room_for(chunk);
        }
        d_part.resize(chunk);
        return d_part.data();
    }
    // So many bytes of it.
    void take_decoded(std::size_t n)
    {
        const auto needed = d_until == never ? d_watch.clear() : never;
        if (layout().stream()) {
            d_output.collected(n, needed);
            return;
        }
        for (std::size_t i = 0; i < n;) {
            const auto m = std::min(n - i, layout().bytes() - d_frame.size());
            d_frame.insert(d_frame.end(), &d_part[i], &d_part[i] + m);
            i += m;
            if (d_frame.size() == layout().bytes()) {
                d_output.collected_frame(d_frame.data(), needed);
                d_frame.clear();
            }
        }
    }

    batch_statistics moved(batch_statistics made) const
    {
        made.first_bit += segment().first_bit;
        made.first_byte += segment().first_byte;
        return made;
    }

    // Encodes the end of each stretch again; whether something went on.
    bool check()
    {
        bool some = false;
        for (;;) {
            auto& s = segment();
            auto target = d_checked + stretch();
            const bool last = s.collected < target && all_collected();
            if (last) {
                target = s.collected;
            }
            if (s.collected < target || s.stages == target) {
                return some;
            }
            some = true;
            if (d_watch.judge(s, { s.bytes.data(), s.base }, target, d_values)) {
                doubt(target);
                return true;
            }
            d_checked = target;
            const auto clear = last ? target : std::min(d_watch.clear(), target);
            s.stages = std::max(s.stages, whole(s, clear));
            drop_checked(clear);
        }
    }

    // Values before a stage that is sure, but for a little more, for where a lock begins
    // that takes this one's place.
    void drop_checked(std::uint64_t clear)
    {
        const auto value = segment().value_of(clear);
        d_input.drop_before(value - std::min(value, kept));
    }

    // Stages to the next check: few at first, and where latency is so short that batches
    // are.
    std::uint64_t stretch() const
    {
        const bool finely =
            d_checked < segment().lead + young || d_checked < d_finely_until;
        return finely ? d_stretch : d_long_stretch;
    }

    // The lock seems to be lost, as what is decoded up to a stage shows.
    void doubt(std::uint64_t target)
    {
        const auto& s = segment();
        d_lost_stage = std::max(s.stages, d_watch.lost_stage());
        d_lost_target = target;
        d_input.hold();
        d_judged = s.value_of(target + overlap());
        d_next_window = s.value_of(d_lost_stage);
        d_windows = 0;
        d_search.forget();
        d_state = state::doubting;
    }

    // Of a segment that ends: the values that all blocks up to there are decoded from.
    std::uint64_t values_until_end() const
    {
        const auto D = d_decoder->decode_length();
        return layout().stream() ? code().values((d_until + D - 1) / D * D + overlap())
                                 : code().values(d_until);
    }

    // Gives what is decoded before the segment's end, and begins the next one there.
    bool reach_end()
    {
        auto& s = segment();
        const bool last = all_collected();
        if (d_input.fed() >= values_until_end()) {
            d_decoder->flush();
        }
        s.stages = std::max(s.stages, std::min(s.collected, d_until));
        if (s.stages < d_until && !last) {
            return false;
        }
        const auto next = *std::exchange(d_next, {});
        end_segment(s.stages, next.known);
        begin(next);
        return true;
    }

    viterbi_options d_options;
    const decoder_hooks d_hooks;
    const lock_plan d_plan;
    phase_search d_search;
    lock_input d_input;
    lock_output d_output;
    const std::size_t d_most_ahead;
    const lock_watch::reader d_values;
    lock_watch d_watch;
    std::optional<frame_finder> d_finder;
    std::unique_ptr<viterbi_decoder> d_decoder; // of code d_which
    impl* d_inner = nullptr;                    // what stands behind it
    unsigned d_which = 0;

    state d_state = state::searching;
    std::uint64_t d_next_window = 0; // to be searched
    unsigned d_windows = 0;          // that were, since the lock was in doubt
    std::optional<phase_search::found> d_unframed; // whose frames are looked for
    unsigned d_frames = 0;                         // in so many of them

    std::uint64_t d_until = never; // the segment that is decoded ends, if that is known
    // Stages that are checked at once, finely or not, that were, and those up to which
    // batches were short.
    std::uint64_t d_stretch = least_stretch, d_long_stretch = least_stretch;
    std::uint64_t d_checked = 0, d_finely_until = 0;
    std::optional<start> d_next;                // what follows it
    std::optional<phase_search::lock> d_before; // the last lock
    std::optional<frame_finder::place> d_before_frames;
    // Where it was lost, if it was, and the stage and the value that showed it.
    std::uint64_t d_lost_stage = 0, d_lost_target = 0;
    std::uint64_t d_judged = 0;
    std::vector<std::uint8_t> d_part, d_frame; // of frames that are decoded
    bool d_finishing = false, d_inner_finished = false, d_ended = false;

    // Where the caller wants bytes, while it asks.
    struct {
        std::uint8_t* out = nullptr;
        std::size_t bytes = 0;
    } d_direct;

    std::deque<viterbi_lock> d_changes;
    viterbi_lock d_now;
};

std::unique_ptr<decoder::engine>
viterbi_decoder::make_locking(const viterbi_options& options, decoder_hooks hooks)
{
    return std::make_unique<locking>(options, std::move(hooks));
}

} // namespace gr::gpufec
