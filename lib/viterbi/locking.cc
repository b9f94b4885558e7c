// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A decoder that finds its own phase: input is held while all hypotheses are tried, what
 * was held is decoded once one is known, and decoded bits are encoded again to see that
 * it still holds. */

#include "decoder_impl.h"
#include "lock.h"
#include "pipeline/engine.h"
#include "pipeline/refuse.h"
#include "soft_input.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace gr::gpufec {

using namespace viterbi;

namespace {

// Input is taken so far ahead of what is decoded.
constexpr std::size_t most_ahead = 1u << 18;
// Checked output is made so far ahead of what is pulled.
constexpr std::size_t most_given = 1u << 17;
// A lock that was lost is looked for in so many windows, as if it had only faded.
constexpr unsigned windows_of_doubt = 3;
// Signs that are looked at, at the end of a stretch of the stream.
constexpr double sample_values = 128, sample_errors = 9;
constexpr unsigned least_stretch = 512;
// Evidence that a lock is lost, as a logarithm of a likelihood ratio, and the values that
// it has to come from.
constexpr double lost = 20;
constexpr std::size_t lost_values = 256;
// Places whose tags may not have been asked for yet.
constexpr std::size_t most_segments = 4096;
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
                   d_hooks)
    {
        open(0);
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
        return available() > 0;
    }
    bool due() const override { return d_state != state::searching && d_decoder->due(); }
    void flush() override
    {
        if (d_state == state::locked) {
            d_decoder->flush();
        }
    }
    bool full() const override { return ahead() >= most_ahead; }
    bool done() override
    {
        advance();
        return d_finishing && d_ended && available() == 0;
    }
    bool wait(std::chrono::milliseconds limit) override
    {
        return ready() || (d_state == state::locked && d_decoder->wait(limit));
    }
    void reset() override
    {
        open(d_which);
        d_search.forget();
        d_head = d_tail = 0;
        d_first = d_next_window = d_judged = 0;
        d_windows = 0;
        d_finishing = d_ended = false;
        d_state = state::searching;
        d_segments.clear();
        d_pulling = 0;
        d_changes.clear();
        d_total_bits = d_total_bytes = 0;
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
        std::size_t taken = 0;
        const auto packed = d_options.format == soft_format::packed4;
        while (taken < count) {
            advance();
            if (full()) {
                break;
            }
            const auto most = (most_ahead - ahead() + 1) / (packed ? 2 : 1);
            const auto n = std::min<std::size_t>(
                count - taken,
                std::max<std::size_t>(1, std::min<std::size_t>(most, 1u << 16)));
            auto* const to = room_for(n * (packed ? 2 : 1));
            if (d_options.format == soft_format::float32) {
                convert(static_cast<const float*>(items) + taken,
                        d_options.soft_scale,
                        reinterpret_cast<std::byte*>(to),
                        n);
                limit(to, to, n);
            } else if (packed) {
                unpack4(static_cast<const std::byte*>(items) + taken, 0, 2 * n, to);
            } else {
                limit(static_cast<const std::int8_t*>(items) + taken, to, n);
            }
            taken += n;
        }
        advance();
        return taken;
    }

    std::size_t pull_packed(std::uint8_t* out, std::size_t bytes) override
    {
        return pull(bytes, true, [&](const segment& s, std::size_t n) {
            std::memcpy(out, s.bytes.data() + (s.given - s.base) / 8, n);
        });
    }

    std::size_t pull_bits(std::uint8_t* out, std::size_t bits) override
    {
        return pull(bits, false, [&](const segment& s, std::size_t n) {
            for (std::size_t i = 0; i < n; ++i) {
                const auto bit = s.given - s.base + i;
                out[i] = s.bytes[bit / 8] >> (7 - bit % 8) & 1u;
            }
        });
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
        now.error_rate = now.locked ? d_error_rate : 0;
        return now;
    }

    std::uint64_t placed_items() const override
    {
        const auto packed = d_options.format == soft_format::packed4;
        auto value = first_held();
        if (d_state != state::searching) {
            const auto& s = d_segments.back();
            value = s.start + code().values(s.bits);
        }
        return (d_ended ? ~std::uint64_t(0) : value) / (packed ? 2 : 1);
    }

    const conv_code& code() const override { return d_codes[d_which]; }
    unsigned decode_length() const override { return d_decoder->decode_length(); }
    unsigned overlap() const override { return d_decoder->overlap(); }
    std::size_t items_per_frame() const override { return 1; }

    std::uint64_t output_of_item(std::uint64_t item, bool packed) const override
    {
        const auto value = item * (d_options.format == soft_format::packed4 ? 2 : 1);
        std::uint64_t at = packed ? d_total_bytes : d_total_bits;
        for (auto s = d_segments.rbegin(); s != d_segments.rend(); ++s) {
            const auto first = packed ? s->first_byte : s->first_bit;
            if (value >= s->start) {
                const auto bit = d_codes[s->which].stage_of(value - s->start);
                return bit >= s->bits && s->closed
                           ? std::min(at, first + (packed ? (s->bits + 7) / 8 : s->bits))
                           : first + (packed ? bit / 8 : bit);
            }
            at = first;
        }
        return at;
    }

private:
    enum class state { searching, locked, doubting };

    // What one lock decodes.
    struct segment {
        unsigned which, index; // of the code, and of the hypothesis
        std::uint64_t start;   // its first value in the stream
        std::uint64_t first_bit, first_byte;
        std::uint64_t bits = 0;            // checked
        std::uint64_t given = 0;           // of these, pulled
        bool closed = false;               // there will not be more
        std::vector<std::uint8_t> bytes{}; // from bit `base` on
        std::size_t filled = 0;
        std::uint64_t base = 0;
    };

    static const viterbi_options& checked(const viterbi_options& o)
    {
        require(o.ends == termination::streaming,
                "lock",
                "\"auto\"",
                "only \"off\", unless termination is \"streaming\"");
        require(o.lock_memory >= 10000 && o.lock_memory <= 1000000000,
                "lock_memory",
                o.lock_memory,
                "10000 to 1000000000");
        check_scale(o.soft_scale);
        check_positive_bit(o.positive_bit);
        return o;
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
        const auto D = d_decoder->decode_length();
        d_stretch = (least_stretch + D - 1) / D * D;
        d_fed = d_collected = d_clear = 0;
        d_undecided = 0;
        d_inner_finished = false;
    }

    // ---- what is held ----

    std::uint64_t first_held() const { return d_first; }
    std::uint64_t end_held() const { return d_first + d_tail - d_head; }
    // Where the next n values go.
    std::int8_t* room_for(std::size_t n)
    {
        if (d_tail + n > d_held.size()) {
            const auto count = d_tail - d_head;
            std::memmove(d_held.data(), d_held.data() + d_head, count);
            d_head = 0;
            d_tail = count;
            // So large that this is rare.
            const auto spare = std::min<std::size_t>(8 * (count + n), 1u << 24);
            if (count + n + spare / 2 > d_held.size()) {
                d_held.resize(count + n + spare);
            }
        }
        d_tail += n;
        return d_held.data() + d_tail - n;
    }
    // −128 has no opposite, and counts as −127.
    static void limit(const std::int8_t* from, std::int8_t* to, std::size_t n)
    {
        for (std::size_t i = 0; i < n; ++i) {
            to[i] = std::max<std::int8_t>(from[i], -127);
        }
    }
    value_span held() const
    {
        return { d_held.data() + d_head, first_held(), end_held() };
    }
    void drop_before(std::uint64_t value)
    {
        const auto n = std::min<std::uint64_t>(value, end_held()) - first_held();
        if (value <= first_held()) {
            return;
        }
        d_first += n;
        d_head += n;
    }
    // Values that were taken and not yet looked at.
    std::size_t ahead() const
    {
        const auto seen =
            d_state == state::locked ? d_segments.back().start + d_fed : d_next_window;
        return end_held() - std::min(seen, end_held());
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

    // Tries the next windows; whether something went on.
    bool search()
    {
        if (d_ended) {
            return false;
        }
        const auto end = end_held();
        const auto window = d_search.window(), stride = d_search.stride();
        std::size_t windows = 0;
        if (end >= d_next_window + window) {
            windows = 1 + (end - d_next_window - window) / stride;
            windows = std::min(windows, d_search.windows_at_once());
        } else if (d_finishing) {
            // The last one as far as there is something.
            windows = end > d_next_window ? 1 : 0;
            if (windows == 0) {
                give_up();
                end_of_stream();
                return true;
            }
        }
        if (d_state == state::doubting) {
            windows = std::min<std::size_t>(windows, windows_of_doubt - d_windows);
        }
        if (windows == 0) {
            return false;
        }
        const auto found = d_search.search(held(), d_next_window, windows);
        if (found) {
            begin(*found);
            return true;
        }
        d_windows += windows;
        d_next_window += windows * stride;
        if (d_state == state::doubting) {
            if (d_windows >= windows_of_doubt) {
                give_up();
            }
            return true;
        }
        forget_before(d_next_window);
        return true;
    }

    // What is older than the memory, seen from a window that is searched, is dropped.
    void forget_before(std::uint64_t window)
    {
        const auto keep = window - std::min<std::uint64_t>(window, d_options.lock_memory);
        drop_unlocked(std::min(keep, end_held()));
    }

    void drop_unlocked(std::uint64_t value)
    {
        if (value > first_held()) {
            d_now.dropped += value - first_held();
            drop_before(value);
        }
    }

    // A hypothesis holds from somewhere before its window on.
    void begin(const phase_search::found& found)
    {
        const auto& h = d_search.hypotheses()[found.index];
        if (d_state == state::doubting) {
            auto& s = d_segments.back();
            if (s.index == found.index) {
                // It had only faded: goes on as if nothing had been.
                d_state = state::locked;
                d_clear = std::max(d_clear, code().stages(found.begins - s.start));
                d_error_rate = found.error_rate;
                d_search.forget();
                return;
            }
            close(d_lost_bits);
            d_now.locked = false;
            d_now.first_value = d_lost_value;
            d_now.known_value = d_judged;
            note_change();
        } else {
            // Windows were searched at once, and what is dropped must not depend on it.
            forget_before(found.window);
        }
        const auto before = d_state == state::doubting ? d_lost_value : first_held();
        // A slip is found where it was; else all that was kept is decoded.
        const auto from =
            d_state == state::doubting
                ? d_search.beginning(
                      held(),
                      found,
                      std::max(first_held(),
                               before - std::min<std::uint64_t>(before, lost_values)))
                : before;
        const auto start = h.start(from);
        d_now.dropped += start - std::min(start, before);
        drop_before(start);
        d_search.forget();
        open(h.which());
        segment s{};
        s.which = h.which();
        s.index = found.index;
        s.start = start;
        s.first_bit = d_total_bits;
        s.first_byte = d_total_bytes;
        d_segments.push_back(std::move(s));
        while (d_segments.size() > most_segments && d_segments.front().closed &&
               d_pulling > 0) {
            d_segments.pop_front();
            --d_pulling;
        }
        d_error_rate = found.error_rate;
        d_chance = found.chance;
        // What was decoded before is not held against it.
        d_clear = code().stages(std::max(found.begins, start) - start);
        d_state = state::locked;

        auto& now = d_now;
        now.locked = true;
        now.first_value = start;
        now.known_value =
            std::min(end_held(), std::max(d_judged, found.window + d_search.window())) -
            1;
        now.preset = preset_of(h.which());
        now.code = d_codes[h.which()].to_string();
        const auto n = h.code().values_per_period();
        const bool symbols = d_options.lock_constellation != "bpsk";
        now.pair_phase =
            start % (h.code().period() == 1 && !symbols ? h.code().outputs() : 2);
        now.puncturing_phase = h.code().period() == 1 ? 0 : start % n;
        now.rotation = 90 * h.quarter_turns();
        now.swapped = h.swapped();
        now.half_symbol = h.arrangement() >= hypothesis::order::half;
        now.inverted = h.inverted();
        now.error_rate = found.error_rate;
        ++now.locks;
        note_change();
    }

    void note_change()
    {
        d_now.first_bit = d_total_bits;
        d_now.first_byte = d_total_bytes;
        d_changes.push_back(d_now);
        if (d_changes.size() > most_changes) {
            d_changes.pop_front(); // nobody takes them
        }
    }

    // The last segment ends with `bits`, at least what was checked.
    void close(std::uint64_t bits)
    {
        auto& s = d_segments.back();
        s.bits = std::max(s.bits, bits);
        s.closed = true;
        d_total_bits = s.first_bit + s.bits;
        d_total_bytes = s.first_byte + (s.bits + 7) / 8;
        while (!stream_statistics.empty() &&
               stream_statistics.back().first_bit >= d_total_bits) {
            stream_statistics.pop_back();
        }
    }

    // What was in doubt is lost.
    void give_up()
    {
        if (d_state == state::doubting) {
            close(d_lost_bits);
            drop_before(d_lost_value);
            d_state = state::searching;
            d_decoder->reset();
            d_now.locked = false;
            d_now.first_value = d_lost_value;
            d_now.known_value =
                std::min(end_held(),
                         d_next_window + d_search.window() - d_search.stride()) -
                1;
            note_change();
        }
    }

    void end_of_stream()
    {
        drop_unlocked(end_held());
        d_ended = true;
    }

    // ---- while locked ----

    bool decode()
    {
        const bool fed = feed();
        const bool collected = collect();
        const bool checked = check();
        if (d_state != state::locked) {
            return true;
        }
        auto& s = d_segments.back();
        if (all_collected() && s.bits == d_collected) {
            close(s.bits);
            drop_before(end_held());
            d_ended = true;
            d_state = state::searching;
            return true;
        }
        return fed || collected || checked;
    }

    // Gives the decoder what is held.
    bool feed()
    {
        const auto& s = d_segments.back();
        const auto& h = d_search.hypotheses()[s.index];
        const auto there = end_held() - std::min(end_held(), s.start);
        const auto missing = d_finishing ? 0 : std::min<std::uint64_t>(there, h.ahead);
        bool some = false;
        while (d_fed < there - missing) {
            const auto n =
                std::min<std::uint64_t>(there - missing - d_fed, d_fresh.size());
            const auto begin = std::int64_t(first_held()) - std::int64_t(s.start);
            const auto* values = held().values + (std::int64_t(d_fed) - begin);
            if (!h.as_received()) {
                h.read(held().values, begin, there, d_fed, n, d_fresh.data());
                values = d_fresh.data();
            }
            const auto taken = d_decoder->push(values, n);
            d_fed += taken;
            some |= taken > 0;
            if (taken < n) {
                break;
            }
        }
        if (d_finishing && d_fed == there && !d_inner_finished) {
            d_decoder->finish();
            d_inner_finished = some = true;
        }
        return some;
    }

    bool all_collected() { return d_inner_finished && d_decoder->done(); }

    // Takes what the decoder has.
    bool collect()
    {
        auto& s = d_segments.back();
        bool some = false;
        while (d_collected - std::min(d_collected, s.given) < 8 * most_given) {
            trim(s);
            if (s.bytes.size() < s.filled + chunk + encode_again::slack) {
                s.bytes.resize(s.filled + chunk + encode_again::slack);
            }
            const auto n = d_decoder->pull_packed(s.bytes.data() + s.filled, chunk);
            batch_statistics made;
            if (d_decoder->take_statistics(made)) {
                statistics = moved(s, made);
            }
            while (d_decoder->take_stream_statistics(made)) {
                stream_statistics.push_back(moved(s, made));
                if (stream_statistics.size() > most_statistics) {
                    stream_statistics.pop_front(); // nobody takes them
                }
            }
            if (n == 0) {
                break;
            }
            s.filled += n;
            d_collected += 8 * n;
            some = true;
        }
        if (all_collected()) {
            // The last byte may be padded.
            d_collected =
                std::min<std::uint64_t>(d_collected, code().stages(end_held() - s.start));
        }
        return some;
    }

    static batch_statistics moved(const segment& s, batch_statistics made)
    {
        made.first_byte = s.first_byte + made.first_bit / 8;
        made.first_bit += s.first_bit;
        return made;
    }

    // Forgets bits that are given and checked.
    void trim(segment& s) const
    {
        const auto needed = std::min(s.given, std::min(s.bits, d_clear));
        const auto past = (needed - std::min<std::uint64_t>(needed, 64)) / 8 * 8;
        const auto bytes = (past - std::min(past, s.base)) / 8;
        if (bytes >= most_given) {
            std::memmove(s.bytes.data(), s.bytes.data() + bytes, s.filled - bytes);
            s.filled -= bytes;
            s.base = past;
        }
    }

    // Encodes the end of each stretch again; whether something went on.
    bool check()
    {
        bool some = false;
        for (;;) {
            auto& s = d_segments.back();
            const auto stretch = d_stretch * (1 + d_undecided);
            auto target = s.bits + stretch;
            if (d_collected < target) {
                if (!all_collected() || s.bits == d_collected) {
                    return some;
                }
                target = d_collected;
            }
            some = true;
            const auto what = judge(s, target);
            if (what == verdict::lost) {
                return true;
            }
            if (what == verdict::undecided &&
                target < s.bits + most_undecided * d_stretch &&
                !(all_collected() && target == d_collected)) {
                ++d_undecided;
                continue;
            }
            d_undecided = 0;
            s.bits = target;
            // A little more, for where a lock begins that takes this one's place.
            const auto clear = s.start + code().values(std::min(d_clear, target));
            drop_before(clear - std::min<std::uint64_t>(clear, 4 * lost_values));
        }
    }

    enum class verdict { holds, undecided, lost };

    // Whether the lock holds up to a stage.
    verdict judge(const segment& s, std::uint64_t target)
    {
        const auto& encoder = d_search.encoder(s.which);
        const auto unit = encoder.step_stages();
        const auto up = [&](std::uint64_t stage) { return (stage + unit - 1) / unit; };
        const auto first =
            up(std::max<std::uint64_t>(d_clear, code().constraint_length()));
        const auto end = target / unit;
        const auto most = std::uint64_t(std::ceil(
            std::max(sample_values, sample_errors / d_chance) / encoder.step_values()));
        const auto sample = end - std::min(most, end);
        if (first >= end) {
            return verdict::holds;
        }
        const double p = std::clamp(d_error_rate, d_chance / 20, d_chance * 0.7);
        const double wrong = std::log(d_chance / p);
        const double right = std::log((1 - d_chance) / (1 - p));
        const auto evidence = [&](const encode_again::tally& t) {
            return t.wrong * wrong + (t.values - t.wrong) * right;
        };
        const auto seen = encode(s, std::max(first, sample), end);
        if (evidence(seen) < 0 && sample >= first) {
            d_error_rate += (seen.rate() - d_error_rate) / 32;
            d_clear = end * unit;
            return verdict::holds;
        }
        // From where on is chance likelier?
        encode(s, first, end);
        double sum = 0, best = 0;
        std::uint64_t where = end, values = 0, of_best = 0;
        for (auto step = end; step-- > first;) {
            sum += evidence(d_each[step - first]);
            values += d_each[step - first].values;
            if (sum > best) {
                best = sum;
                where = step;
                of_best = values;
            }
        }
        if (best <= 0) {
            d_clear = end * unit;
            return verdict::holds;
        }
        if (best < lost || of_best < lost_values) {
            return verdict::undecided;
        }
        if (repeats(s.start + code().values(where * unit),
                    s.start + code().values(target))) {
            d_clear = end * unit;
            return verdict::holds;
        }
        d_lost_bits = std::max(s.bits, where * unit);
        d_judged = s.start + code().values(target + overlap());
        d_lost_value = s.start + code().values(d_lost_bits);
        d_next_window = d_lost_value;
        d_windows = 0;
        d_undecided = 0;
        d_search.forget();
        d_state = state::doubting;
        return verdict::lost;
    }

    encode_again::tally encode(const segment& s, std::uint64_t first, std::uint64_t end)
    {
        const auto& encoder = d_search.encoder(s.which);
        const auto& h = d_search.hypotheses()[s.index];
        const auto from = code().values(first * encoder.step_stages());
        const auto count = (end - first) * encoder.step_values();
        d_again.resize(count + encode_again::slack);
        d_each.resize(end - first);
        h.read(held().values,
               std::int64_t(first_held()) - std::int64_t(s.start),
               std::int64_t(end_held() - s.start),
               from,
               count,
               d_again.data());
        return encoder(s.bytes.data(),
                       first * encoder.step_stages() - s.base,
                       d_again.data(),
                       end - first,
                       d_each.data());
    }

    // Whether signs come again every second value: idle, or nothing is modulated, and no
    // hypothesis can be told from others.
    bool repeats(std::uint64_t from, std::uint64_t to) const
    {
        const auto span = held();
        std::size_t alike = 0, all = 0;
        for (auto v = std::max(from, span.first); v + 2 < std::min(to, span.end); ++v) {
            const int a = span.values[v - span.first],
                      b = span.values[v + 2 - span.first];
            all += a != 0 && b != 0;
            alike += (a > 0 && b > 0) || (a < 0 && b < 0);
        }
        return alike >= 0.95 * all;
    }

    // ---- what is given ----

    static std::uint64_t available_of(const segment& s, bool packed)
    {
        if (!packed) {
            return s.bits - std::min(s.bits, s.given);
        }
        const auto bytes = s.closed ? (s.bits + 7) / 8 : s.bits / 8;
        return bytes - std::min(bytes, s.given / 8);
    }
    static bool all_given(const segment& s) { return s.closed && s.given >= s.bits; }

    std::uint64_t available()
    {
        for (; d_pulling < d_segments.size(); ++d_pulling) {
            auto& s = d_segments[d_pulling];
            if (!all_given(s)) {
                return available_of(s, true);
            }
            s.bytes = {};
        }
        d_pulling -= !d_segments.empty();
        return 0;
    }

    template <class Copy>
    std::size_t pull(std::size_t room, bool packed, Copy&& copy)
    {
        advance();
        if (available() == 0 || room == 0) {
            return 0;
        }
        auto& s = d_segments[d_pulling];
        const auto n = std::min<std::uint64_t>(room, available_of(s, packed));
        copy(s, n);
        s.given += packed ? 8 * n : n;
        advance();
        return n;
    }

    static constexpr std::size_t chunk = 1u << 14;
    static constexpr unsigned most_undecided = 8;

    viterbi_options d_options;
    const decoder_hooks d_hooks;
    const std::vector<conv_code> d_codes;
    phase_search d_search;
    std::unique_ptr<viterbi_decoder> d_decoder; // of code d_which
    unsigned d_which = 0;

    // Values of the stream that are held, from number d_first on, from d_head
    // to d_tail.
    std::vector<std::int8_t> d_held;
    std::size_t d_head = 0, d_tail = 0;
    std::uint64_t d_first = 0;

    state d_state = state::searching;
    std::uint64_t d_next_window = 0; // to be searched
    unsigned d_windows = 0;          // that were, since the lock was in doubt

    // Of the last segment: values given to the decoder, bits taken from it, and the stage
    // up to which there is no doubt.
    std::uint64_t d_fed = 0, d_collected = 0, d_clear = 0;
    std::uint64_t d_stretch = least_stretch; // stages that are checked and given at once
    unsigned d_undecided = 0;                // stretches that wait for the next
    double d_error_rate = 0, d_chance = 0.1;
    std::uint64_t d_lost_bits = 0, d_lost_value = 0; // where it was lost, if it was
    std::uint64_t d_judged = 0;                      // value that showed it
    std::vector<std::int8_t> d_fresh = std::vector<std::int8_t>(1u << 14);
    std::vector<std::int8_t> d_again;
    std::vector<encode_again::tally> d_each;
    bool d_finishing = false, d_inner_finished = false, d_ended = false;

    std::deque<segment> d_segments;
    std::size_t d_pulling = 0;                         // the segment that is given
    std::uint64_t d_total_bits = 0, d_total_bytes = 0; // of segments that are closed
    std::deque<viterbi_lock> d_changes;
    viterbi_lock d_now;
};

std::unique_ptr<decoder::engine>
viterbi_decoder::make_locking(const viterbi_options& options, decoder_hooks hooks)
{
    return std::make_unique<locking>(options, std::move(hooks));
}

} // namespace gr::gpufec
