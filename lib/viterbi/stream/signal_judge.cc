// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decodes windows of the input, and reports a wrong code, format, scale or sign.
 * signal_judge.h defines W, C and the conditions. */

#include "search_buffer.h"
#include "signal_judge.h"
#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstring>
#include <random>
#include <utility>

namespace gr::gpufec::viterbi {

namespace {

constexpr unsigned window_stages = 4096;
constexpr unsigned fewest_stages = 256; // minimum number of stages for a decision
// Maximum number of values of a frame that is decoded as a frame. Longer frames are
// judged like streams.
constexpr std::size_t longest_frame = 1u << 16;
constexpr unsigned windows_per_call = 16; // limits a call of look_at() to about 0.1 s
constexpr unsigned repeats = 2;           // number of measurements of the chance level
constexpr double better = 0.15; // decrease of W / C that another interpretation requires
constexpr double level = 32;    // mean magnitude to which floats are scaled

viterbi_options for_windows(viterbi_options o)
{
    o.watch = false;
    o.lock = "off";
    o.format = soft_format::int8;
    o.backend = backend::cpu;
    o.batch = 0;
    o.slots = 1;
    o.max_batch = 64;
    o.threads = 1;
    o.max_latency_ms = 1e9;
    return o;
}

// Returns whether more than 15/16 of the values have the same sign or are 0. Such values
// allow no decision, because the all-zero and all-one words belong to many codes.
bool one_sided(const std::vector<std::int8_t>& values)
{
    const auto positive =
        std::count_if(values.begin(), values.end(), [](int v) { return v > 0; });
    const auto negative =
        std::count_if(values.begin(), values.end(), [](int v) { return v < 0; });
    return std::size_t(std::min(positive, negative)) < values.size() / 16;
}

} // namespace

bool signal_judge::evidence::signal() const
{
    return wrong < 0.85 * chance && chance - wrong >= 6 * std::sqrt(chance);
}

bool signal_judge::evidence::none() const
{
    return wrong > 0.9 * chance &&
           wrong - 0.8 * chance >= 5 * std::sqrt(wrong + 0.32 * chance);
}

signal_judge::signal_judge(const viterbi_options& options,
                           const decoder_hooks& hooks,
                           std::function<bool()> locked)
    : input_judge(hooks),
      d_options(options),
      d_locked(std::move(locked)),
      d_decoding(for_windows(options))
{
    const auto& code = options.code;
    const std::size_t per_item = options.format == soft_format::packed4 ? 2 : 1;
    const bool framed = options.frame_bits > 0 && !searches();
    const auto tail =
        options.termination == termination::terminated ? code.constraint_length() - 1 : 0;
    const std::size_t values = code.values(options.frame_bits + std::uint64_t(tail));
    const auto items = (values + per_item - 1) / per_item;
    if (framed && values <= longest_frame) {
        d_frame_values = values;
        d_window = std::max<std::size_t>(1, code.values(window_stages) / values) * items;
        d_stride = d_window;
        return;
    }
    d_decoding.termination = termination::streaming;
    d_decoding.frame_bits = 0;
    // The chance level does not depend on the length of parallel blocks.
    d_decoding.decode_length = 64;
    // A window is a multiple of eight puncturing periods. It therefore has whole periods
    // even if it is read in a format with another number of values per byte.
    const auto unit = std::size_t(code.period()) * 8;
    const auto stages = (window_stages + unit - 1) / unit * unit;
    d_window = code.values(stages) / per_item;
    d_stride = framed ? items : d_window;
}

signal_judge::~signal_judge() = default;

void signal_judge::reset()
{
    d_sample.clear();
    d_position = d_next = d_judged = 0;
    // After `streams_judged` successive streams without a fault, only one stream in
    // `streams_judged` is judged.
    if (std::exchange(d_seen, false)) {
        d_right = d_right_by_now ? d_right + 1 : 0;
    }
    d_settled = d_right >= streams_judged && d_right % streams_judged != 0;
    d_right_by_now = d_settled;
    d_sum = {};
    d_upright = d_inverted = 0;
    forget();
}

double signal_judge::chance_error_rate() const
{
    return d_sum.values > 0 && d_sum.chance > 0 ? d_sum.chance / d_sum.values
                                                : input_judge::chance_error_rate();
}

void signal_judge::look_at(const void* items, std::size_t first, std::size_t count)
{
    d_seen = d_seen || count > 0;
    if (d_settled || count == 0) {
        return;
    }
    const auto size = item_bytes(d_options.format);
    const auto* from = static_cast<const std::byte*>(items) + first * size;
    const auto end = d_position + count;
    unsigned windows = 0; // counts the windows of this call, which must return soon
    while (!d_settled && d_position < end && windows < windows_per_call) {
        const auto begin = d_next * d_stride + d_sample.size() / size;
        if (begin >= end) {
            break;
        }
        from += (begin - d_position) * size;
        d_position = begin;
        const auto n =
            std::min<std::uint64_t>(d_window - d_sample.size() / size, end - d_position);
        d_sample.insert(d_sample.end(), from, from + n * size);
        from += n * size;
        d_position += n;
        if (d_sample.size() == d_window * size) {
            judge();
            ++windows;
            go_on();
        }
    }
    d_position = end;
    if (windows == windows_per_call) {
        skip();
    }
}

// Moves to the next window. Windows are consecutive up to index max_undecided; the
// distances of later windows increase.
void signal_judge::go_on()
{
    d_sample.clear();
    d_next += 1 + (d_next > max_undecided ? d_next / 16 : 0);
    skip();
}

// Moves to the first window that begins at or after the current position, if that is
// later.
void signal_judge::skip()
{
    d_next = std::max(d_next, (d_position + d_stride - 1) / d_stride);
}

void signal_judge::conclude()
{
    if (d_settled) {
        return;
    }
    if (!d_sample.empty()) {
        judge();
        d_sample.clear();
    }
    if (!d_settled && verdict().empty() && d_judged > 0 &&
        (searches() ? !d_locked() : d_sum.none())) {
        say(no_signal());
    }
    d_settled = true;
}

std::string signal_judge::no_signal() const
{
    if (searches()) {
        return "the search found no signal of this code: check the code, puncturing, "
               "lock_presets, lock_constellation, soft_input, carrier and baud rate";
    }
    return "no signal of this code: the channel bit error rate is " +
           short_number(d_sum.wrong / d_sum.values) + ", and noise alone would show " +
           short_number(d_sum.chance / d_sum.values) +
           "; check the code, its puncturing, " +
           (d_options.frame_bits > 0
                ? "where frames begin, "
                : "the first value of a period (lock=\"auto\" finds it), ") +
           "signs, carrier and baud rate";
}

std::string signal_judge::changed_signs() const
{
    return "the signs look inverted: use positive_bit=" +
           std::to_string(1 - d_options.positive_bit);
}

// Counts the frames that have a lower cost with the declared sign, and the frames that
// have a lower cost with the other sign.
void signal_judge::compare_signs(const evidence& as_declared)
{
    const auto other =
        count(steps({ d_options.format, d_options.soft_scale, false, true }));
    const auto frames =
        std::min(as_declared.frame_costs.size(), other.frame_costs.size());
    for (std::size_t f = 0; f < frames; ++f) {
        d_upright += as_declared.frame_costs[f] < other.frame_costs[f];
        d_inverted += as_declared.frame_costs[f] > other.frame_costs[f];
    }
}

std::vector<std::int8_t> signal_judge::steps(const reading& r) const
{
    search_buffer buffer(r.format);
    buffer.append(d_sample.data(), d_sample.size() / item_bytes(r.format), r.scale);
    const auto span = buffer.span();
    std::vector<std::int8_t> values(span.values, span.values + (span.end - span.first));
    // Removes the padding values after frames with an odd number of values.
    if (r.format == soft_format::packed4 && d_frame_values % 2) {
        std::size_t to = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (i % (d_frame_values + 1) < d_frame_values) {
                values[to++] = values[i];
            }
        }
        values.resize(to);
    }
    for (auto& v : values) {
        v = r.bits ? (v > 0 ? 1 : -1) : r.inverted ? -v : v;
    }
    return values;
}

std::vector<signal_judge::reading> signal_judge::readings() const
{
    std::vector<reading> all;
    const auto declared = d_options.format;
    const auto add = [&](soft_format format, const char* looks, const char* name) {
        if (format != declared) {
            all.push_back({ format,
                            d_options.soft_scale,
                            false,
                            false,
                            std::string("the input looks like ") + looks +
                                ": use soft_input=\"" + name + '"' });
        }
    };
    add(soft_format::uint8, "offset binary, with 128 in the middle", "uint8");
    add(soft_format::int8, "signed bytes", "int8");
    const auto per_byte = [](soft_format f) { return f == soft_format::packed4 ? 2 : 1; };
    if (d_frame_values == 0 || per_byte(declared) == 2) {
        add(soft_format::packed4, "two values per byte", "packed4");
    }
    if (d_sample.size() < sizeof(float)) {
        return all;
    }
    constexpr auto hard_bits =
        "the input looks like hard bits 0 and 1, of which 0 is decoded as an erasure: "
        "send -1 and 1 (2·bit - 1) as soft_input=\"int8\" or \"float\"";
    // The bytes may be floats if less than 1 % of the floats are implausible.
    std::vector<float> floats(d_sample.size() / sizeof(float));
    std::memcpy(floats.data(), d_sample.data(), floats.size() * sizeof(float));
    const auto odd = std::count_if(floats.begin(), floats.end(), [](float x) {
        return !std::isfinite(x) || std::abs(x) > 1e9f || (x != 0 && std::abs(x) < 1e-9f);
    });
    const auto f = facts_of(floats.data(), floats.size());
    if (std::size_t(odd) * 100 < floats.size() && f.mean > 0) {
        const auto scale = float(level / f.mean);
        const bool is_float = declared == soft_format::float32;
        const auto advice = "soft_scale=" + short_number(scale);
        const double size = f.mean * d_options.soft_scale;
        if (!is_float) {
            add(soft_format::float32, "floats", "float");
            all.back().scale = scale;
            all.back().advice += " and " + advice;
        } else if (size < 2 || size > 127) {
            all.push_back({ declared,
                            scale,
                            false,
                            false,
                            "soft_scale is " + short_number(d_options.soft_scale) +
                                ", so that the mean magnitude of " +
                                short_number(f.mean) + " becomes " + short_number(size) +
                                " steps of a range of 127: use " + advice });
        }
        if (is_float && f.only_bits()) {
            all.push_back({ declared, 1, true, false, hard_bits });
        }
    }
    if (declared == soft_format::int8 || declared == soft_format::uint8) {
        const auto* const bytes = reinterpret_cast<const std::int8_t*>(d_sample.data());
        if (facts_of(bytes, d_sample.size()).only_bits()) {
            all.push_back({ soft_format::int8, 1, true, false, hard_bits });
        }
    }
    if (!searches()) {
        all.push_back({ declared, d_options.soft_scale, false, true, changed_signs() });
    }
    return all;
}

// Returns whether many different sequences of 16 signs occur. The coded bits of constant
// data have a short period, and therefore few different sequences.
bool signal_judge::varied(const std::vector<std::int8_t>& values)
{
    std::bitset<65536> seen;
    unsigned last = 0;
    for (const auto v : values) {
        last = (last << 1 | unsigned(v > 0)) & 0xffffu;
        seen.set(last);
    }
    return seen.count() > 1024;
}

// Returns whether soft_scale saturates more than 95 % of the floats although their
// magnitudes differ. Returns false below an error rate of 1 %, because the lost
// reliability matters little at such a rate.
bool signal_judge::saturates(const evidence& as_declared) const
{
    if (d_options.format != soft_format::float32 ||
        as_declared.wrong < 0.01 * as_declared.values) {
        return false;
    }
    const auto* const floats = reinterpret_cast<const float*>(d_sample.data());
    const auto n = d_sample.size() / sizeof(float);
    const auto out = std::count_if(floats, floats + n, [&](float x) {
        return std::abs(x) * d_options.soft_scale >= 127;
    });
    return std::size_t(out) > n / 20 * 19 && facts_of(floats, n).spread > 0.3;
}

void signal_judge::judge()
{
    const auto declared = steps({ d_options.format, d_options.soft_scale });
    const auto fewest = d_options.code.values(fewest_stages);
    if (declared.size() < fewest) {
        return;
    }
    const auto as_declared = measure(declared);
    const auto facts = facts_of(declared.data(), declared.size());
    const bool inverts = as_declared.upside_down() && facts.mean >= 64;
    std::optional<reading> best;
    double ratio = as_declared.ratio() - better;
    // Other interpretations are tried on the first eight windows, and then on one window
    // in eight, because a stream does not change its format.
    const bool tries_readings = d_judged < 8 || d_judged % 8 == 0;
    for (const auto& r : tries_readings ? readings() : std::vector<reading>()) {
        // Skips interpretations that would require a negative ratio W / C, unless another
        // criterion applies to them.
        if (ratio <= 0 && !inverts && !r.bits && r.scale == d_options.soft_scale) {
            continue;
        }
        const auto values = steps(r);
        if (values.size() < fewest || one_sided(values) || (r.bits && !varied(values))) {
            continue;
        }
        const auto e = measure(values);
        const bool bytes =
            r.format == soft_format::uint8 || r.format == soft_format::int8;
        const bool mirrored = inverts && bytes && e.strong * 4 < e.wrong;
        const double margin = searches() && bytes && facts.mean >= 64 ? better / 2 : 0;
        const bool saturated = r.format == d_options.format && !r.bits && !r.inverted &&
                               r.scale < d_options.soft_scale && e.signal() &&
                               saturates(as_declared);
        const bool certain = saturated || (e.signal() && (mirrored || r.bits));
        if (certain || (e.signal() && e.ratio() < ratio + margin)) {
            best = r;
            ratio = certain ? 0 : e.ratio();
        }
    }
    if (best) {
        say(best->advice);
        d_settled = true;
        return;
    }
    if (facts.blank()) {
        return;
    }
    ++d_judged;
    d_sum.values += as_declared.values;
    d_sum.wrong += as_declared.wrong;
    d_sum.chance += as_declared.chance;
    if (d_frame_values > 0 && d_options.termination != termination::tailbiting) {
        compare_signs(as_declared);
    }
    // True if no frame so far has a lower cost with the declared sign, and at least one
    // frame has a lower cost with the other sign.
    const bool inverted = d_upright == 0 && d_inverted > 0;
    if (inverted && d_inverted >= frames_with_sign) {
        say(changed_signs());
        d_settled = true;
    } else if (!inverted &&
               (as_declared.signal() || d_sum.signal() || (searches() && d_locked()))) {
        withdraw("the input is now a signal of this code");
        d_settled = d_right_by_now = true;
    } else if (d_judged == max_undecided && (searches() || d_sum.none())) {
        say(no_signal());
    }
}

signal_judge::evidence signal_judge::measure(const std::vector<std::int8_t>& values)
{
    if (searches()) {
        return search(values);
    }
    auto e = count(values);
    std::mt19937 random(1);
    auto noise = values;
    for (unsigned k = 0; k < repeats; ++k) {
        for (auto& v : noise) {
            v = random() >> 31 ? -v : v;
        }
        e.chance += count(noise).wrong / repeats;
    }
    return e;
}

// Returns the evidence for the hypothesis that a phase search finds; all members are 0 if
// the search finds no hypothesis.
signal_judge::evidence signal_judge::search(const std::vector<std::int8_t>& values)
{
    if (!d_search) {
        d_search = std::make_unique<phase_search>(
            d_decoding,
            lock_plan(d_options).received,
            constellation_from_string(d_options.lock_constellation),
            decoder_hooks());
    }
    d_search->forget();
    if (values.size() < d_search->window()) {
        return {};
    }
    const auto windows = 1 + (values.size() - d_search->window()) / d_search->stride();
    const auto found = d_search->search({ values.data(), 0, values.size() }, 0, windows);
    if (!found) {
        return {};
    }
    const double n = double(found->ends - found->begins);
    return { n, n * found->error_rate, n * found->chance };
}

// Decodes the values, re-encodes the bits, and counts wrong signs.
signal_judge::evidence signal_judge::count(const std::vector<std::int8_t>& values)
{
    if (!d_decoder) {
        d_decoder = viterbi_decoder::make(d_decoding);
    }
    auto& d = *d_decoder;
    d.reset();
    std::vector<std::uint8_t> bits(values.size() + 64);
    std::size_t pushed = 0, pulled = 0;
    bool finished = false;
    while (!d.done()) {
        if (pushed < values.size()) {
            pushed += d.push(span(values).from(pushed));
        } else if (!std::exchange(finished, true)) {
            d.finish();
        }
        const auto n = d.pull(unpacked_bits(span(bits).from(pulled)));
        pulled += n;
        if (n == 0 && !d.done()) {
            d.wait(std::chrono::milliseconds(100));
        }
    }
    const auto& code = d_decoding.code;
    conv_encoder_kernel encoder(code, d_decoding.termination, d_decoding.frame_bits);
    std::vector<std::uint8_t> coded(encoder.coded_bits(pulled) + 64);
    std::size_t begin = 0, end = values.size();
    if (d_decoding.frame_bits > 0) {
        const auto frames = pulled / d_decoding.frame_bits;
        coded.resize(frames * d_frame_values);
        for (std::size_t f = 0; f < frames; ++f) {
            encoder.encode_frame(bits.data() + f * d_decoding.frame_bits,
                                 coded.data() + f * d_frame_values);
        }
        end = std::min(end, coded.size());
    } else {
        // The encoder's state before the window is unknown, so the values of the first
        // K−1 stages are not counted.
        end = std::min(end, encoder.encode(bits.data(), pulled, coded.data()));
        begin = code.values(code.constraint_length() - 1);
    }
    const auto mean = facts_of(values.data(), values.size()).mean;
    evidence e;
    e.frame_costs.resize(d_frame_values > 0 ? end / d_frame_values : 0);
    for (auto i = begin; i < end; ++i) {
        if (values[i] == 0) {
            continue;
        }
        ++e.values;
        if ((values[i] > 0) != (coded[i] == d_decoding.positive_bit)) {
            const int size = std::abs(int(values[i]));
            ++e.wrong;
            e.strong += size > mean && size < 127;
            if (d_frame_values > 0) {
                e.frame_costs[i / d_frame_values] += size;
            }
        }
    }
    return e;
}

} // namespace gr::gpufec::viterbi
