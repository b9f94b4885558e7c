// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A decoder that finds its own phase: input is held while all hypotheses are tried, what
 * was held is decoded once one is known, and decoded bits are encoded again to see that
 * it still holds. */

#include "decoder_impl.h"
#include "frame_finder.h"
#include "held_input.h"
#include "lock.h"
#include "lock_output.h"
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
constexpr std::size_t chunk = 1u << 14;
constexpr std::uint64_t never = ~std::uint64_t(0);
constexpr std::size_t most_changes = 1u << 16;
constexpr std::size_t most_statistics = 1u << 16;

} // namespace

class viterbi_decoder::locking : public decoder::engine, public viterbi_decoder::impl
{
public:
    locking(const viterbi_options& options, decoder_hooks hooks)
        : d_options(checked(options)),
          d_hooks(std::move(hooks)),
          d_codes(codes_of(options)),
          d_search(options,
                   as_received(d_codes, options.positive_bit),
                   constellation_from_string(options.lock_constellation),
                   d_hooks,
                   window_stages(options)),
          d_held(options.format),
          d_output(layout_of(options)),
          d_most_ahead(std::max<std::size_t>(most_ahead, 2 * frames_ahead()))
    {
        open(0);
        if (!layout().stream()) {
            d_finder.emplace(d_options,
                             as_received(d_codes, options.positive_bit),
                             options.frame_bits,
                             d_hooks);
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
    bool full() const override { return ahead() >= d_most_ahead; }
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
        d_held.clear();
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

    // Input is held, so none is lent.
    std::size_t input_bytes() const override { return d_decoder->input_bytes(); }
    bool can_lend() const override { return false; }
    std::size_t lend(const void*, std::size_t) override { return 0; }
    std::size_t lent() const override { return 0; }
    std::size_t take_back() override { return 0; }
    void end_lending() override {}
    bool lock_lent(void*, std::size_t) override { return false; }
    void unlock_lent(void*) override {}

    // ---- of this decoder ----

    std::size_t push(const void* items, std::size_t count) override
    {
        const auto* const from = static_cast<const std::byte*>(items);
        const auto size = d_options.format == soft_format::float32 ? sizeof(float) : 1;
        const auto values = d_held.values_per_item();
        std::size_t taken = 0;
        while (taken < count) {
            advance();
            if (full()) {
                break;
            }
            const auto room = (d_most_ahead - ahead() + values - 1) / values;
            const auto n = std::min({ count - taken, room, std::size_t(1u << 16) });
            d_held.append(from + taken * size, n, d_options.soft_scale);
            taken += n;
        }
        advance();
        return taken;
    }

    std::size_t pull_packed(std::uint8_t* out, std::size_t bytes) override
    {
        return pull([&] { return d_output.pull_packed(out, bytes); });
    }

    std::size_t pull_bits(std::uint8_t* out, std::size_t bits) override
    {
        return pull([&] { return d_output.pull_bits(out, bits); });
    }

    void set_soft_scale(float scale) override
    {
        check_scale(scale);
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
            return never / d_held.values_per_item();
        }
        const auto value = d_state == state::searching
                               ? d_held.first()
                               : segment().value_of(segment().stages);
        return value / d_held.values_per_item();
    }

    const conv_code& code() const override { return d_codes[d_which]; }
    unsigned decode_length() const override { return d_decoder->decode_length(); }
    unsigned overlap() const override { return d_decoder->overlap(); }
    std::size_t items_per_frame() const override
    {
        return layout().stream()
                   ? 1
                   : d_codes[0].values(layout().stages()) / d_held.values_per_item();
    }

    std::uint64_t output_of_item(std::uint64_t item, bool packed) const override
    {
        return d_output.item_of(item * d_held.values_per_item(), packed);
    }

private:
    enum class state { searching, locked, doubting };

    // What is to be decoded from some value on.
    struct start {
        phase_search::found found;
        std::uint64_t value, known; // and the one that had to be there to know it
        std::optional<frame_finder::place> frames{};
    };

    static const viterbi_options& checked(const viterbi_options& o)
    {
        require(
            o.ends == termination::streaming || o.ends == termination::terminated,
            "lock",
            "\"auto\"",
            "only \"off\", unless termination is \"streaming\" or \"terminated\": other "
            "frames have no known bits at their ends");
        if (o.ends == termination::terminated) {
            check_frames(o);
        }
        require(o.lock_memory >= 10000 && o.lock_memory <= 1000000000,
                "lock_memory",
                o.lock_memory,
                "10000 to 1000000000");
        require(o.lock_first_item == "i" || o.lock_first_item == "q",
                "lock_first_item",
                '"' + o.lock_first_item + '"',
                "i and q");
        check_scale(o.soft_scale);
        check_positive_bit(o.positive_bit);
        return o;
    }

    // Frames that follow one another are to be one sequence of the code.
    static void check_frames(const viterbi_options& o)
    {
        require(o.frame_bits >= 1 && o.frame_bits <= 1u << 24,
                "frame_bits",
                o.frame_bits,
                "1 to 16777216");
        std::uint64_t most = 0;
        for (const auto& code : codes_of(o)) {
            const auto stages = o.frame_bits + code.constraint_length() - 1;
            if (stages % code.period() != 0) {
                refuse("lock",
                       "\"auto\"",
                       "frames of " + code.to_string() +
                           " have to have whole puncturing "
                           "periods, with their tail");
            }
            if (code.values(stages) % 2 != 0 && o.format == soft_format::packed4) {
                refuse(
                    "soft_input",
                    "\"packed4\"",
                    "frames that are to be found have to have an even number of values");
            }
            most = std::max(most, code.values(stages));
        }
        require(o.lock_memory >= 24 * most,
                "lock_memory",
                o.lock_memory,
                std::to_string(24 * most) + " to 1000000000, as 24 frames are kept");
    }

    static frame_layout layout_of(const viterbi_options& o)
    {
        return o.ends == termination::streaming
                   ? frame_layout{}
                   : frame_layout{ o.frame_bits, o.code.constraint_length() - 1 };
    }
    const frame_layout& layout() const { return d_output.layout(); }
    std::size_t frames_ahead() const
    {
        std::uint64_t most = 0;
        for (const auto& code : d_codes) {
            most = std::max(most, code.values(layout().stages()));
        }
        return layout().stream() ? 0 : (frame_finder::most_frames + 2) * most;
    }
    // Less where so many hold some twenty frames.
    static unsigned window_stages(const viterbi_options& o)
    {
        const auto layout = layout_of(o);
        const auto some = layout.stages() * 12 / 32 * 32;
        return layout.stream()
                   ? phase_search::most_stages
                   : std::clamp<std::uint64_t>(some, 512, phase_search::most_stages);
    }

    static std::vector<conv_code> codes_of(const viterbi_options& o)
    {
        std::vector<conv_code> codes{ o.code };
        for (const auto& name : o.lock_presets) {
            const auto code = conv_code::preset(name);
            const auto same =
                std::find_if(codes.begin(), codes.end(), [&](const conv_code& c) {
                    return c.to_string() == code.to_string();
                });
            if (same == codes.end()) {
                codes.push_back(code);
            }
        }
        return codes;
    }

    // With positive values for 0.
    static std::vector<conv_code> as_received(std::vector<conv_code> codes,
                                              unsigned positive_bit)
    {
        for (auto& code : codes) {
            code = positive_bit ? code.opposite() : code;
        }
        return codes;
    }

    std::string preset_of(unsigned which) const
    {
        if (which == 0 && !d_options.lock_preset.empty()) {
            return d_options.lock_preset;
        }
        for (const auto& name : d_options.lock_presets) {
            if (conv_code::preset(name).to_string() == d_codes[which].to_string()) {
                return name;
            }
        }
        return "";
    }

    // Makes what decodes a code.
    void open(unsigned which)
    {
        if (d_decoder && which == d_which) {
            d_decoder->reset();
        } else {
            auto o = d_options;
            o.code = d_codes[which];
            o.lock = "off";
            o.format = soft_format::int8;
            d_decoder.reset();
            d_decoder = std::make_unique<viterbi_decoder>(o, d_hooks);
            d_which = which;
        }
        // Of blocks, or frames.
        const auto D = layout().stream() ? d_decoder->decode_length() : layout().stages();
        d_stretch = (least_stretch + D - 1) / D * D;
        d_fed = d_checked = 0;
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
            d_state == state::locked ? segment().start + d_fed : d_next_window;
        return d_held.end() - std::min(seen, d_held.end());
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
        const auto end = d_held.end();
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
        if (const auto found = d_search.search(d_held.span(), d_next_window, windows)) {
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
            if (needed > d_held.end()) {
                if (!d_finishing) {
                    return false;
                }
                break;
            }
            const auto place =
                d_finder->find(d_held.span(), readings, found.begins, d_frames);
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
        drop_unlocked(std::min(keep, d_held.end()));
    }

    void drop_unlocked(std::uint64_t value)
    {
        if (value > d_held.first()) {
            d_now.dropped += value - d_held.first();
            d_held.drop_before(value);
        }
    }

    // What was in doubt is lost.
    void give_up()
    {
        const auto looked_at = d_next_window + d_search.window() - d_search.stride();
        // What was decoded until that was known may be the weak end of a frame.
        end_segment(whole(segment(), d_lost_target),
                    std::min(d_held.end(), looked_at) - 1);
        d_held.drop_before(segment().value_of(d_lost_stage));
        d_state = state::searching;
        d_decoder->reset();
    }

    // A hypothesis was found: decides from where on it is decoded, and what is until
    // then.
    void take(const phase_search::found& found,
              const std::optional<frame_finder::place>& frames)
    {
        const auto known =
            std::min(d_held.end(), std::max(d_judged, found.looked_at)) - 1;
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
            const auto value =
                d_search.takeover(d_held.span(),
                                  *d_before,
                                  found,
                                  std::max(d_held.first(), lost - std::min(lost, older)));
            d_until = std::max(d_lost_stage, stages_before(s, value));
            d_next = start{ found, value, known };
            return;
        }
        // Windows were searched at once, and what is dropped must not depend on it.
        forget_before(found.looked_at - d_search.window());
        const start next{ found, d_held.first(), known, frames };
        if (d_before && d_before->index != found.index) {
            // Frames too weak to be found may belong to what was there before.
            const auto value =
                d_search.takeover(d_held.span(), *d_before, found, next.value);
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
        d_held.drop_before(first);
        open(h.which());
        const auto lead = from.frames ? lead_of(*from.frames, first) : 0;
        d_output.open(h, first, lead);
        d_fed = h.code().values(lead);
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
        now.preset = preset_of(h.which());
        now.code = d_codes[h.which()].to_string();
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
        const bool checked = d_until == never ? check() : reach_end();
        if (d_state != state::locked) {
            return true;
        }
        if (d_until == never && all_collected() &&
            segment().stages == segment().collected) {
            d_output.close(segment().stages);
            d_held.drop_before(d_held.end());
            d_ended = true;
            d_state = state::searching;
            return true;
        }
        return fed || collected || checked;
    }

    // Gives the decoder what is held.
    bool feed()
    {
        const auto& s = segment();
        const auto& h = *s.reading;
        const auto all = d_held.end() - std::min(d_held.end(), s.start);
        auto there = all - (d_finishing ? 0 : std::min<std::uint64_t>(all, h.ahead));
        if (d_until != never) {
            there = std::min(there, values_until_end());
        }
        bool some = false;
        while (d_fed < there) {
            const auto n = std::min<std::uint64_t>(there - d_fed, d_fresh.size());
            const auto begin = std::int64_t(d_held.first()) - std::int64_t(s.start);
            const auto* values = d_held.span().values + (std::int64_t(d_fed) - begin);
            if (!h.as_received()) {
                h.read(d_held.span().values, begin, all, d_fed, n, d_fresh.data());
                values = d_fresh.data();
            }
            const auto taken = d_decoder->push(values, n);
            d_fed += taken;
            some |= taken > 0;
            if (taken < n) {
                break;
            }
        }
        if (d_finishing && d_fed == all && !d_inner_finished) {
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
        while (!d_output.full()) {
            const auto n = d_decoder->pull_packed(room_for_decoded(), chunk);
            batch_statistics made;
            if (d_decoder->take_statistics(made)) {
                statistics = moved(made);
            }
            while (d_decoder->take_stream_statistics(made)) {
                stream_statistics.push_back(moved(made));
                if (stream_statistics.size() > most_statistics) {
                    stream_statistics.pop_front(); // nobody takes them
                }
            }
            if (n == 0) {
                break;
            }
            take_decoded(n);
            some = true;
        }
        if (layout().stream() && all_collected()) {
            // The last byte may be padded.
            auto& s = segment();
            s.collected = std::min(s.collected, stages_before(s, d_held.end()));
        }
        return some;
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
            auto target = d_checked + d_stretch;
            const bool last = s.collected < target && all_collected();
            if (last) {
                target = s.collected;
            }
            if (s.collected < target || s.stages == target) {
                return some;
            }
            some = true;
            if (d_watch.judge(s, target, d_held.span())) {
                doubt(target);
                return true;
            }
            d_checked = target;
            const auto clear = last ? target : std::min(d_watch.clear(), target);
            s.stages = std::max(s.stages, whole(s, clear));
            // A little more, for where a lock begins that takes this one's place.
            const auto value = s.value_of(clear);
            d_held.drop_before(value - std::min(value, kept));
        }
    }

    // The lock seems to be lost, as what is decoded up to a stage shows.
    void doubt(std::uint64_t target)
    {
        const auto& s = segment();
        d_lost_stage = std::max(s.stages, d_watch.lost_stage());
        d_lost_target = target;
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
        if (d_fed >= values_until_end()) {
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
    const std::vector<conv_code> d_codes;
    phase_search d_search;
    held_input d_held;
    lock_output d_output;
    const std::size_t d_most_ahead;
    lock_watch d_watch;
    std::optional<frame_finder> d_finder;
    std::unique_ptr<viterbi_decoder> d_decoder; // of code d_which
    unsigned d_which = 0;

    state d_state = state::searching;
    std::uint64_t d_next_window = 0; // to be searched
    unsigned d_windows = 0;          // that were, since the lock was in doubt
    std::optional<phase_search::found> d_unframed; // whose frames are looked for
    unsigned d_frames = 0;                         // in so many of them

    // Of the segment that is decoded: values given to the decoder, and where it ends, if
    // that is known.
    std::uint64_t d_fed = 0, d_until = never;
    std::uint64_t d_stretch = least_stretch;    // stages that are checked at once
    std::uint64_t d_checked = 0;                // stages that were
    std::optional<start> d_next;                // what follows it
    std::optional<phase_search::lock> d_before; // the last lock
    std::optional<frame_finder::place> d_before_frames;
    // Where it was lost, if it was, and the stage and the value that showed it.
    std::uint64_t d_lost_stage = 0, d_lost_target = 0;
    std::uint64_t d_judged = 0;
    std::vector<std::uint8_t> d_part, d_frame; // of frames that are decoded
    std::vector<std::int8_t> d_fresh = std::vector<std::int8_t>(1u << 14);
    bool d_finishing = false, d_inner_finished = false, d_ended = false;

    std::deque<viterbi_lock> d_changes;
    viterbi_lock d_now;
};

std::unique_ptr<decoder::engine>
viterbi_decoder::make_locking(const viterbi_options& options, decoder_hooks hooks)
{
    return std::make_unique<locking>(options, std::move(hooks));
}

} // namespace gr::gpufec
