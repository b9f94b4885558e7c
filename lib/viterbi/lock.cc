// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "channel/counter_random.h"
#include "lock.h"
#include "pipeline/refuse.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace gr::gpufec::viterbi {

namespace {

constexpr unsigned frame_stages = 2048;
// Of a frame, before its decoder has settled.
constexpr unsigned unsettled = 128;
constexpr std::size_t most_hypotheses = 1024;
constexpr unsigned windows_as_one = 4;
constexpr unsigned control_frames = 32;
constexpr unsigned frame_bytes = frame_stages / 8;

// The order in which a mother code has the outputs of its codes.
std::vector<unsigned> output_order(const conv_code& code)
{
    std::vector<unsigned> order(code.outputs());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
        return code.polynomial(a) > code.polynomial(b);
    });
    return order;
}

conv_code mother_of(const conv_code& code)
{
    std::vector<int> polynomials;
    for (const auto r : output_order(code)) {
        polynomials.push_back(int(code.polynomial(r)));
    }
    return conv_code(int(code.constraint_length()), polynomials);
}

// Standard normal numbers times 32, as int8.
std::vector<std::int8_t> gaussian_noise(std::size_t count)
{
    const counter_random random(1);
    std::vector<std::int8_t> noise(count);
    for (std::size_t i = 0; i < count; ++i) {
        const double a = (double(random(2 * i) >> 11) + 1) * 0x1p-53;
        const double b = double(random(2 * i + 1) >> 11) * 0x1p-53;
        const double g = 32 * std::sqrt(-2 * std::log(a)) * std::cos(2 * M_PI * b);
        noise[i] = std::int8_t(std::clamp(std::round(g), -127.0, 127.0));
    }
    return noise;
}

} // namespace

double likelihood_ratio(double values, double wrong, double chance)
{
    if (values <= 0 || wrong >= values * chance) {
        return 0;
    }
    const double right = values - wrong;
    const double of_wrong = wrong > 0 ? wrong * std::log(wrong / (values * chance)) : 0;
    return of_wrong + right * std::log(right / (values * (1 - chance)));
}

// Frames of one mother code, from any state to any state.
struct phase_search::mother {
    mother(const viterbi_options& run, const conv_code& c, const decoder_hooks& hooks)
        : code(c), encoder(c)
    {
        viterbi_options o{ c };
        static_cast<run_options&>(o) = run;
        o.batch = 0;
        o.slots = 1;
        o.max_latency_ms = 1e9; // flushed by hand
        o.positive_bit = 0;
        o.ends = termination::truncated;
        o.frame_bits = o.decode_length = frame_stages;
        decoder_hooks quiet;
        quiet.log = [log = hooks.log](log_level level, const std::string& text) {
            if (level != log_level::info) {
                log(level, text);
            }
        };
        decoder = std::make_unique<viterbi_decoder>(o, quiet);
    }

    std::int8_t* frame(std::size_t i)
    {
        const auto size = frame_values();
        if (input.size() < (i + 1) * size + encode_again::slack) {
            input.resize((i + 1) * size + encode_again::slack);
        }
        return input.data() + i * size;
    }
    std::size_t frame_values() const { return frame_stages * code.outputs(); }

    // Decodes the first `frames` of them.
    void decode(std::size_t frames)
    {
        const auto values = frames * frame_values(), bytes = frames * frame_bytes;
        bits.resize(bytes + encode_again::slack);
        for (std::size_t given = 0, taken = 0; taken < bytes;) {
            given += decoder->push(input.data() + given, values - given);
            if (given == values) {
                decoder->flush();
            }
            const auto n = decoder->pull_packed(bits.data() + taken, bytes - taken);
            taken += n;
            if (n == 0 && !decoder->ready()) {
                decoder->wait(std::chrono::milliseconds(100));
            }
        }
    }

    tally count(std::size_t i, tally* each = nullptr) const
    {
        return encoder(bits.data(),
                       i * frame_stages + unsettled,
                       input.data() + i * frame_values() + unsettled * code.outputs(),
                       (frame_stages - unsettled) / encoder.step_stages(),
                       each);
    }

    const conv_code code;
    const encode_again encoder;
    std::unique_ptr<viterbi_decoder> decoder;
    std::vector<std::int8_t> input;
    std::vector<std::uint8_t> bits;
    std::size_t used = 0; // frames
};

phase_search::phase_search(const viterbi_options& run,
                           const std::vector<conv_code>& codes,
                           constellation symbols,
                           const decoder_hooks& hooks)
    : d_codes(codes), d_hypotheses(all_hypotheses(codes, symbols))
{
    if (d_hypotheses.size() > most_hypotheses) {
        refuse("lock",
               "\"auto\"",
               "these codes can be received in " + std::to_string(d_hypotheses.size()) +
                   " ways; allowed are " + std::to_string(most_hypotheses));
    }
    std::vector<unsigned> mother_of_code;
    for (const auto& code : codes) {
        if (code.rate() >= 1) {
            refuse("lock",
                   "\"auto\"",
                   "a code of rate 1, as " + code.to_string() + ", fits everything");
        }
        d_encoders.emplace_back(code);
        const auto mother_code = mother_of(code);
        const auto same =
            std::find_if(d_mothers.begin(), d_mothers.end(), [&](const auto& m) {
                return m->code.to_string() == mother_code.to_string();
            });
        mother_of_code.push_back(unsigned(same - d_mothers.begin()));
        if (same == d_mothers.end()) {
            d_mothers.push_back(std::make_unique<mother>(run, mother_code, hooks));
        }
    }
    for (const auto& h : d_hypotheses) {
        const auto& code = h.code();
        reading r;
        r.mother = mother_of_code[h.which()];
        r.values = h.cycle();
        r.stages = r.values / code.values_per_period() * code.period();
        const auto order = output_order(code);
        for (unsigned stage = 0; stage < r.stages; ++stage) {
            for (const auto output : order) {
                auto j = code.values(stage);
                for (unsigned before = 0; before < output; ++before) {
                    j += code.sent(stage, before);
                }
                const bool sent = code.sent(stage, output);
                const bool flipped = h.flips(j) != code.inverted(output);
                r.from.push_back(sent ? std::int32_t(h.from(j)) : 0);
                r.sign.push_back(!sent ? 0 : flipped ? -1 : 1);
            }
        }
        // Longer than a cycle, for the loops that go through it.
        const auto once = r.from.size();
        const unsigned times = (64 + once - 1) / once;
        for (std::size_t i = once; i < times * once; ++i) {
            r.from.push_back(r.from[i - once] + std::int32_t(h.cycle()));
            r.sign.push_back(r.sign[i - once]);
        }
        r.stages *= times;
        r.values *= times;
        d_window = std::max<std::size_t>(
            d_window, code.values(frame_stages) + h.cycle() + hypothesis::ahead);
        d_readings.push_back(std::move(r));
    }
    // On the CPU so that lanes are not idle, on a GPU that there is work for all of it.
    const bool gpu = d_mothers.front()->decoder->active_backend() == "cuda";
    d_at_once = std::max<std::size_t>(1, (gpu ? 2048 : 64) / d_hypotheses.size());
    measure_chance();
}

phase_search::~phase_search() = default;

void phase_search::lay(const reading& r,
                       const value_span& values,
                       std::int64_t start,
                       std::int8_t* out) const
{
    const auto first = std::int64_t(values.first), end = std::int64_t(values.end);
    const std::size_t outputs = d_mothers[r.mother]->code.outputs();
    const auto all = frame_stages * outputs;
    const auto cycles = (frame_stages + r.stages - 1) / r.stages;
    const bool inside =
        start >= first &&
        start + std::int64_t(cycles * r.values) + hypothesis::ahead <= end;
    const auto* from = r.from.data();
    const auto* sign = r.sign.data();
    const auto per_cycle = r.from.size();
    for (std::size_t i = 0; i < all; i += per_cycle, start += r.values) {
        const auto n = std::min(per_cycle, all - i);
        if (inside) {
            const auto* at = values.values + (start - first);
            for (std::size_t k = 0; k < n; ++k) {
                out[i + k] = std::int8_t(at[from[k]] * sign[k]);
            }
            continue;
        }
        for (std::size_t k = 0; k < n; ++k) {
            const auto at = start + from[k];
            const bool there = at >= first && at < end;
            out[i + k] =
                there ? std::int8_t(values.values[at - first] * sign[k]) : std::int8_t(0);
        }
    }
}

// The chance level of each code, on Gaussian noise: what is worth a closer look.
void phase_search::measure_chance()
{
    const auto noise = gaussian_noise(control_frames * 512 + d_window);
    const value_span span{ noise.data(), 0, noise.size() };
    for (unsigned which = 0; which < d_codes.size(); ++which) {
        found f{};
        while (d_hypotheses[f.index].which() != which) {
            ++f.index;
        }
        tally all;
        for (unsigned round = 0; round < 2; ++round) {
            auto& m = *d_mothers[d_readings[f.index].mother];
            const counter_random random(2 + round);
            for (unsigned i = 0; i < control_frames; ++i) {
                auto* const frame = m.frame(i);
                lay(d_readings[f.index], span, i * 512, frame);
                for (std::size_t k = 0; k < m.frame_values(); ++k) {
                    frame[k] =
                        random.bit(i * m.frame_values() + k) ? -frame[k] : frame[k];
                }
            }
            m.decode(control_frames);
            for (unsigned i = 0; i < control_frames; ++i) {
                all += m.count(i);
            }
        }
        d_chance.push_back(all.rate());
    }
}

// The chance level of these very values: their signs are drawn by lot.
double phase_search::chance_of(const found& f, const value_span& values)
{
    if (d_control && d_control->index == f.index && d_control->window == f.window) {
        tally all;
        for (auto part = f.first; part <= f.last; ++part) {
            all += d_control->of[part];
        }
        return all.rate();
    }
    const auto& r = d_readings[f.index];
    auto& m = *d_mothers[r.mother];
    const counter_random random(f.window);
    const auto start = d_hypotheses[f.index].start(f.window);
    auto* const first = m.frame(0);
    lay(r, values, start, first);
    m.frame(control_frames); // all are there
    const auto size = m.frame_values();
    for (unsigned i = 1; i <= control_frames; ++i) {
        const auto* const from = m.frame(0);
        auto* const frame = m.frame(i);
        for (std::size_t k = 0; k < size; ++k) {
            frame[k] = random.bit(i * size + k) ? -from[k] : from[k];
        }
    }
    m.decode(control_frames + 1);
    d_control = control{ f.index, f.window, {} };
    for (unsigned i = 1; i <= control_frames; ++i) {
        const auto counted = count_parts(m, i);
        for (unsigned part = 0; part < parts; ++part) {
            d_control->of[part] += counted[part];
        }
    }
    return chance_of(f, values);
}

std::array<encode_again::tally, phase_search::parts>
phase_search::count_parts(const mother& m, std::size_t frame) const
{
    std::array<tally, parts> counted{};
    tally each[frame_stages];
    const std::size_t steps = (frame_stages - unsettled) / m.encoder.step_stages();
    m.count(frame, each);
    for (unsigned part = 0; part < parts; ++part) {
        for (auto k = steps * part / parts; k < steps * (part + 1) / parts; ++k) {
            counted[part] += each[k];
        }
    }
    return counted;
}

double phase_search::threshold() const
{
    return std::log(d_hypotheses.size() * (windows_as_one + runs) / false_alarm);
}

std::optional<phase_search::found>
phase_search::search(const value_span& values, std::uint64_t first, std::size_t windows)
{
    for (auto& m : d_mothers) {
        m->used = 0;
    }
    for (std::size_t w = 0; w < windows; ++w) {
        for (std::size_t i = 0; i < d_hypotheses.size(); ++i) {
            auto& m = *d_mothers[d_readings[i].mother];
            lay(d_readings[i],
                values,
                d_hypotheses[i].start(first + w * stride()),
                m.frame(m.used++));
        }
    }
    for (auto& m : d_mothers) {
        m->decode(std::exchange(m->used, 0));
    }
    d_control.reset();
    // All of them first: what the frames hold goes when a chance level is measured.
    std::vector<std::vector<std::array<tally, parts>>> counted(windows);
    for (auto& window : counted) {
        for (const auto& r : d_readings) {
            auto& m = *d_mothers[r.mother];
            window.push_back(count_parts(m, m.used++));
        }
    }
    const auto size = d_hypotheses.size();
    for (std::size_t w = 0; w < windows; ++w) {
        found f{};
        f.window = first + w * stride();
        // Windows before this one, with it.
        std::vector<tally> whole(size);
        for (std::size_t i = 0; i < size; ++i) {
            for (const auto& part : counted[w][i]) {
                whole[i] += part;
            }
        }
        d_before.push_front(std::move(whole));
        if (d_before.size() > windows_as_one) {
            d_before.pop_back();
        }
        std::vector<tally> sum(size);
        f.first = 0;
        f.last = parts - 1;
        for (const auto& window : d_before) {
            for (std::size_t i = 0; i < size; ++i) {
                sum[i] += window[i];
            }
            if (decides(sum, f, values)) {
                return f;
            }
        }
        // A part of it alone, where a signal is short or fades.
        for (f.first = 0; f.first < parts; ++f.first) {
            sum.assign(size, tally());
            for (f.last = f.first; f.last < parts; ++f.last) {
                for (std::size_t i = 0; i < size; ++i) {
                    sum[i] += counted[w][i][f.last];
                }
                if (decides(sum, f, values)) {
                    return f;
                }
            }
        }
    }
    return {};
}

// Whether one hypothesis alone fits; if so, `f` says which.
bool phase_search::decides(const std::vector<tally>& sum,
                           found& f,
                           const value_span& values)
{
    std::vector<double> ratio;
    for (std::size_t i = 0; i < sum.size(); ++i) {
        const auto chance = d_chance[d_hypotheses[i].which()];
        ratio.push_back(sum[i].rate() < highest_rate * chance
                            ? likelihood_ratio(sum[i].values, sum[i].wrong, chance)
                            : 0);
    }
    const auto best = std::max_element(ratio.begin(), ratio.end());
    if (*best < threshold()) {
        return false;
    }
    const auto rivals = std::count_if(ratio.begin(), ratio.end(), [&](double other) {
        return other > *best - threshold() / 2;
    });
    if (rivals > 1) {
        return false;
    }
    f.index = unsigned(best - ratio.begin());
    const auto& its = sum[f.index];
    const auto& h = d_hypotheses[f.index];
    f.begins = h.start(f.window) +
               h.code().values(unsettled + (frame_stages - unsettled) * f.first / parts);
    f.error_rate = its.rate();
    f.chance = chance_of(f, values);
    return f.error_rate < highest_rate * f.chance &&
           likelihood_ratio(its.values, its.wrong, f.chance) >= threshold();
}

std::uint64_t
phase_search::beginning(const value_span& values, const found& f, std::uint64_t least)
{
    const auto& h = d_hypotheses[f.index];
    const auto& r = d_readings[f.index];
    auto& m = *d_mothers[r.mother];
    const auto step_stages = m.encoder.step_stages();
    const auto steps = (frame_stages - unsettled) / step_stages;
    // A frame after the other, backwards, the settled part of each up to that of the one
    // before.
    const auto cycles = (frame_stages - unsettled) / r.stages; // or several of them
    const double p = std::clamp(f.error_rate, f.chance / 20, f.chance * highest_rate);
    const double if_wrong = std::log(p / f.chance);
    const double if_right = std::log((1 - p) / (1 - f.chance));
    constexpr double hopeless = 30, near = 3;
    const auto bottom = std::int64_t(std::max(least, values.first));

    const auto newest = h.start(f.window);
    double sum = 0, best = 0;
    auto where = newest;
    std::vector<tally> each(steps);
    for (std::size_t frame = 0, at_once = 1;;
         at_once = std::min<std::size_t>(32, 2 * at_once)) {
        // What lies before the stream's beginning is erased.
        std::vector<std::int64_t> starts;
        for (std::size_t i = 0; i < at_once; ++i) {
            const auto back = std::int64_t((frame + i) * cycles * r.values);
            starts.push_back(std::int64_t(newest) - back);
        }
        for (std::size_t i = 0; i < at_once; ++i) {
            lay(r, values, starts[i], m.frame(i));
        }
        m.decode(at_once);
        for (std::size_t i = 0; i < at_once; ++i) {
            m.count(i, each.data());
            const auto end =
                frame + i == 0
                    ? steps * (f.last + 1) / parts
                    : std::min<std::size_t>(steps, cycles * r.stages / step_stages);
            for (auto s = end; s-- > 0;) {
                const auto right = each[s].values - each[s].wrong;
                sum += each[s].wrong * if_wrong + right * if_right;
                const auto stage = unsettled + s * step_stages;
                const auto at = starts[i] + std::int64_t(h.code().values(stage));
                if (at < bottom) {
                    // If nothing speaks against the few before, they belong to it.
                    return sum > best - near ? std::uint64_t(bottom) : where;
                }
                if (sum > best) {
                    best = sum;
                    where = std::uint64_t(at);
                }
                if (sum < best - hopeless) {
                    return where;
                }
            }
        }
        frame += at_once;
    }
}

} // namespace gr::gpufec::viterbi
