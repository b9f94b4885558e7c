// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The phase search: decodes windows under all hypotheses, compares the shares of wrong
 * signs with the chance level, and finds where one lock changes to another.
 * phase_search.h defines the terms. */

#include "channel/counter_random.h"
#include "common/refuse.h"
#include "phase_search.h"
#include <algorithm>
#include <cmath>
#include <numeric>

namespace gr::gpufec::viterbi {

namespace {

// Number of stages at the beginning of a frame whose signs are not counted, because the
// path metrics are still settling.
constexpr unsigned unsettled = 128;
constexpr std::size_t max_hypotheses = 1024;
// Number of frames per call of decode() in evidence() and, with random signs, in the
// measurement of a chance level.
constexpr unsigned control_frames = 32;

// The following constants belong to change_point(), which finds the change point between
// two locks.
constexpr std::size_t grain = 8; // number of values in a group that is rated as a whole
// Maximum number of values in which the change point is searched.
constexpr std::uint64_t max_range = 1u << 22;
// evidence() compares noise with a signal whose error rate is this share of the chance
// level.
constexpr double weak = 0.6;
// Evidence, in nats, that a part of the signal after a pause must exceed.
constexpr double resumption_evidence = 10;

// Returns the code's outputs in the order that they have in its mother code.
std::vector<unsigned> output_order(const conv_code& code)
{
    std::vector<unsigned> order(code.outputs());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
        return code.polynomial(a) > code.polynomial(b);
    });
    return order;
}

// Returns the mother code: without puncturing and inversion, and with its polynomials in
// descending order, so that codes with the same polynomials share a mother code.
conv_code mother_of(const conv_code& code)
{
    std::vector<int> polynomials;
    for (const auto r : output_order(code)) {
        polynomials.push_back(int(code.polynomial(r)));
    }
    return conv_code(int(code.constraint_length()), polynomials);
}

// Returns Gaussian noise with a standard deviation of 32, rounded to int8.
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

// The decoder of one mother code. Each frame is a window under one hypothesis.
struct phase_search::mother {
    mother(const viterbi_options& run,
           const conv_code& c,
           const decoder_hooks& hooks,
           unsigned frame_stages)
        : code(c), encoder(c), stages(frame_stages)
    {
        viterbi_options o{ c };
        static_cast<run_options&>(o) = run;
        o.watch = false;
        o.batch = 0;
        o.slots = 1;
        o.max_latency_ms = 1e9; // decode() flushes the decoder explicitly
        o.positive_bit = 0;
        o.termination = termination::truncated;
        o.frame_bits = o.decode_length = frame_stages;
        decoder_hooks quiet;
        quiet.log = [log = hooks.log](log_level level, const std::string& text) {
            if (level != log_level::info) {
                log(level, text);
            }
        };
        decoder = viterbi_decoder::make(o, quiet);
    }

    // Returns the memory of frame i. May move the memory of all frames.
    std::int8_t* frame(std::size_t i)
    {
        const auto size = frame_values();
        if (input.size() < (i + 1) * size + reencoder::slack) {
            input.resize((i + 1) * size + reencoder::slack);
        }
        return input.data() + i * size;
    }
    std::size_t frame_values() const { return stages * code.outputs(); }

    void decode(std::size_t frames)
    {
        const auto values = frames * frame_values(), bytes = frames * (stages / 8);
        bits.resize(bytes + reencoder::slack);
        for (std::size_t given = 0, taken = 0; taken < bytes;) {
            given += decoder->push({ input.data() + given, values - given });
            if (given == values) {
                decoder->flush();
            }
            const auto n = decoder->pull({ bits.data() + taken, bytes - taken, true });
            taken += n;
            if (n == 0 && !decoder->ready()) {
                decoder->wait(std::chrono::milliseconds(100));
            }
        }
    }

    // Counts the signs of decoded frame i, except its unsettled stages. `each`, if not
    // nullptr, receives the count of each step.
    sign_count count(std::size_t i, sign_count* each = nullptr) const
    {
        return encoder(bits.data(),
                       i * stages + unsettled,
                       input.data() + i * frame_values() + unsettled * code.outputs(),
                       (stages - unsettled) / encoder.step_stages(),
                       each);
    }

    const conv_code code;
    const reencoder encoder;
    const std::size_t stages; // stages per frame
    viterbi_decoder::sptr decoder;
    std::vector<std::int8_t> input;
    std::vector<std::uint8_t> bits;
    std::size_t used = 0; // number of frames in use
};

phase_search::phase_search(const viterbi_options& run,
                           const std::vector<conv_code>& codes,
                           constellation symbols,
                           const decoder_hooks& hooks,
                           unsigned stages)
    : d_stages(stages),
      d_settled(stages - unsettled),
      d_codes(codes),
      d_hypotheses(all_hypotheses(codes, symbols, &d_alike))
{
    if (d_hypotheses.size() > max_hypotheses) {
        refuse("lock",
               "\"auto\"",
               "the searched codes have " + std::to_string(d_hypotheses.size()) +
                   " hypotheses; the limit is " + std::to_string(max_hypotheses));
    }
    std::vector<unsigned> mother_of_code;
    for (const auto& code : codes) {
        if (code.rate() >= 1) {
            refuse("lock",
                   "\"auto\"",
                   "a code of rate 1, such as " + code.to_string() + ", fits any input");
        }
        d_encoders.emplace_back(code);
        const auto mother_code = mother_of(code);
        const auto same =
            std::find_if(d_mothers.begin(), d_mothers.end(), [&](const auto& m) {
                return m->code.to_string() == mother_code.to_string();
            });
        mother_of_code.push_back(unsigned(same - d_mothers.begin()));
        if (same == d_mothers.end()) {
            d_mothers.push_back(
                std::make_unique<mother>(run, mother_code, hooks, stages));
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
        // Repeats the pattern until it has at least 64 values, because a few long loops
        // are faster than many short ones.
        const auto once = r.from.size();
        const unsigned times = (64 + once - 1) / once;
        for (std::size_t i = once; i < times * once; ++i) {
            r.from.push_back(r.from[i - once] + std::int32_t(h.cycle()));
            r.sign.push_back(r.sign[i - once]);
        }
        r.stages *= times;
        r.values *= times;
        d_window = std::max<std::size_t>(
            d_window, code.values(d_stages) + h.cycle() + hypothesis::ahead);
        d_readings.push_back(std::move(r));
    }
    // Chooses the number of windows per search so that their frames, one per hypothesis,
    // occupy all vector lanes of the CPU, or the GPU.
    const bool gpu = d_mothers.front()->decoder->active_backend() == "cuda";
    d_at_once = std::max<std::size_t>(1, (gpu ? 2048 : 64) / d_hypotheses.size());
    measure_chance();
}

phase_search::~phase_search() = default;

void phase_search::depuncture(const reading& r,
                              const value_span& values,
                              std::int64_t start,
                              std::int8_t* out) const
{
    const auto first = std::int64_t(values.first), end = std::int64_t(values.end);
    const std::size_t outputs = d_mothers[r.mother]->code.outputs();
    const auto all = d_stages * outputs;
    const auto cycles = (d_stages + r.stages - 1) / r.stages;
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

// Measures each code's chance level on Gaussian noise. best_run() selects a run with this
// level. For the selected run, chance_of() then measures the level more exactly.
void phase_search::measure_chance()
{
    const auto noise = gaussian_noise(control_frames * 512 + d_window);
    const value_span span{ noise.data(), 0, noise.size() };
    for (unsigned which = 0; which < d_codes.size(); ++which) {
        found f{};
        while (f.index < d_hypotheses.size() && d_hypotheses[f.index].which() != which) {
            ++f.index;
        }
        // If all hypotheses of this code are equivalent to those of an earlier code, the
        // chance level of this code is not used.
        if (f.index == d_hypotheses.size()) {
            d_chance.push_back(0.5);
            continue;
        }
        sign_count all;
        for (unsigned round = 0; round < 2; ++round) {
            auto& m = *d_mothers[d_readings[f.index].mother];
            const counter_random random(2 + round);
            for (unsigned i = 0; i < control_frames; ++i) {
                auto* const frame = m.frame(i);
                depuncture(d_readings[f.index], span, i * 512, frame);
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

phase_search::in_parts phase_search::count_parts(const mother& m, std::size_t frame) const
{
    in_parts counted{};
    sign_count each[max_stages];
    const std::size_t steps = d_settled / m.encoder.step_stages();
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
    return std::log(d_hypotheses.size() * runs / false_alarm);
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
            depuncture(d_readings[i],
                       values,
                       d_hypotheses[i].start(first + w * stride()),
                       m.frame(m.used++));
        }
    }
    for (auto& m : d_mothers) {
        m->decode(std::exchange(m->used, 0));
    }
    // The signs of all windows are counted first, because chance_of() overwrites the
    // frames.
    std::vector<seen> all(windows);
    for (std::size_t w = 0; w < windows; ++w) {
        all[w].first = first + w * stride();
        for (const auto& r : d_readings) {
            auto& m = *d_mothers[r.mother];
            all[w].of.push_back(count_parts(m, m.used++));
        }
    }
    for (auto& window : all) {
        d_windows.push_front(std::move(window));
        if (d_windows.size() > windows_as_one) {
            d_windows.pop_back();
        }
        const auto run = best_run();
        if (!run) {
            continue;
        }
        const auto chance = chance_of(*run, values);
        const auto& signs = run->signs;
        if (signs.rate() < highest_rate * chance &&
            likelihood_ratio(signs.values, signs.wrong, chance) >= threshold()) {
            const auto& h = d_hypotheses[run->index];
            const auto value = [&](unsigned before, unsigned part) {
                return h.start(d_windows[before].first) +
                       h.code().values(unsettled + d_settled * part / parts);
            };
            return found{ run->index,
                          value(run->before, run->first),
                          value(0, run->last + 1),
                          signs.rate(),
                          chance,
                          d_windows[0].first + d_window };
        }
    }
    return {};
}

// Returns the run, ending in the newest window, with the strongest evidence for one
// hypothesis, if the evidence reaches the threshold. Runs that a second hypothesis fits
// nearly as well do not count.
std::optional<phase_search::run> phase_search::best_run() const
{
    const auto required = threshold();
    const auto size = d_hypotheses.size();
    std::optional<run> best;
    std::vector<sign_count> sum(size);
    std::vector<double> ratio(size);
    for (unsigned last = 0; last < parts; ++last) {
        std::fill(sum.begin(), sum.end(), sign_count());
        for (unsigned before = 0, part = last;;) {
            unsigned strongest = 0;
            for (std::size_t i = 0; i < size; ++i) {
                sum[i] += d_windows[before].of[i][part];
                const auto chance = d_chance[d_hypotheses[i].which()];
                ratio[i] = sum[i].wrong < highest_rate * chance * sum[i].values
                               ? likelihood_ratio(sum[i].values, sum[i].wrong, chance)
                               : 0;
                strongest = ratio[i] > ratio[strongest] ? unsigned(i) : strongest;
            }
            const auto most = ratio[strongest];
            if (most >= required && (!best || most > best->ratio)) {
                const auto rivals =
                    std::count_if(ratio.begin(), ratio.end(), [&](double r) {
                        return r > most - required / 2;
                    });
                if (rivals == 1) {
                    best = { strongest, before, part, last, sum[strongest], most };
                }
            }
            if (part > 0) {
                --part;
            } else if (++before < d_windows.size()) {
                part = parts - 1;
            } else {
                break;
            }
        }
    }
    return best;
}

// Measures the chance level for the run `found`: decodes the magnitudes of the newest
// window with random signs.
double phase_search::chance_of(const run& found, const value_span& values)
{
    const auto& r = d_readings[found.index];
    auto& m = *d_mothers[r.mother];
    const auto window = d_windows[0].first;
    const counter_random random(window);
    // The last frame is requested first, which allocates the memory of all frames, so
    // that later calls of frame() do not move the memory.
    m.frame(control_frames);
    depuncture(r, values, d_hypotheses[found.index].start(window), m.frame(0));
    const auto size = m.frame_values();
    for (unsigned i = 1; i <= control_frames; ++i) {
        const auto* const from = m.frame(0);
        auto* const frame = m.frame(i);
        for (std::size_t k = 0; k < size; ++k) {
            frame[k] = random.bit(i * size + k) ? -from[k] : from[k];
        }
    }
    m.decode(control_frames + 1);
    sign_count all;
    for (unsigned i = 1; i <= control_frames; ++i) {
        const auto counted = count_parts(m, i);
        for (auto part = found.before ? 0 : found.first; part <= found.last; ++part) {
            all += counted[part];
        }
    }
    return all.rate();
}

// Returns the evidence for a lock, in nats, of each group of `grain` stream values from
// value `from` to value `to` − 1.
std::vector<float> phase_search::evidence(const value_span& values,
                                          const lock& of,
                                          std::uint64_t from,
                                          std::uint64_t to)
{
    const auto& h = d_hypotheses[of.index];
    const auto& r = d_readings[of.index];
    auto& m = *d_mothers[r.mother];
    const auto step_stages = m.encoder.step_stages();
    const double p = of.chance * weak;
    const double if_wrong = std::log(p / of.chance);
    const double if_right = std::log((1 - p) / (1 - of.chance));

    // The frames overlap, so that no gaps remain between their settled parts. The first
    // frame begins before `from`, so that its path metrics have settled at `from`.
    const auto cycles = d_settled / r.stages;
    const auto steps = cycles * r.stages / step_stages;
    const auto lead = (h.code().values(unsettled) / h.cycle() + 2) * h.cycle();
    const auto start = std::int64_t(h.start(from)) - std::int64_t(lead);
    std::vector<float> grains((to - from + grain - 1) / grain);
    std::vector<sign_count> each(d_settled / step_stages);
    const std::size_t frames =
        (to - std::min<std::int64_t>(to, start)) / (cycles * r.values) + 1;
    for (std::size_t first = 0; first < frames; first += control_frames) {
        const auto n = std::min<std::size_t>(control_frames, frames - first);
        for (std::size_t i = 0; i < n; ++i) {
            depuncture(r, values, start + (first + i) * cycles * r.values, m.frame(i));
        }
        m.decode(n);
        for (std::size_t i = 0; i < n; ++i) {
            m.count(i, each.data());
            for (std::size_t s = 0; s < steps; ++s) {
                const auto at =
                    start + std::int64_t((first + i) * cycles * r.values +
                                         h.code().values(unsettled + s * step_stages));
                if (at >= std::int64_t(from) && at < std::int64_t(to)) {
                    grains[(at - from) / grain] +=
                        float(each[s].wrong * if_wrong +
                              (each[s].values - each[s].wrong) * if_right);
                }
            }
        }
    }
    return grains;
}

std::uint64_t phase_search::change_point(const value_span& values,
                                         const lock& before,
                                         const found& after,
                                         std::uint64_t from)
{
    const auto to = std::min(values.end, after.ends);
    from = std::max(from, to - std::min(to, max_range));
    // Returns, for i = 0 to the number of grains, the evidence for a lock in the first i
    // grains. The signal may pause, but each beginning after a pause costs
    // `resumption_evidence`.
    const auto cumulative_evidence = [](auto grain, auto end) {
        std::vector<double> sums{ 0 };
        double holds = 0, best = 0;
        for (; grain != end; ++grain) {
            holds = std::max(holds, best - resumption_evidence) + *grain;
            best = std::max(best, holds);
            sums.push_back(best);
        }
        return sums;
    };
    const auto old_one = evidence(values, before, from, to);
    const auto new_one = evidence(values, { after.index, after.chance }, from, to);
    const auto until = cumulative_evidence(old_one.begin(), old_one.end());
    const auto behind = cumulative_evidence(new_one.rbegin(), new_one.rend());
    std::size_t where = 0;
    const auto all = behind.size() - 1;
    for (std::size_t i = 1; i <= all; ++i) {
        if (until[i] + behind[all - i] >= until[where] + behind[all - where]) {
            where = i;
        }
    }
    return until[where] > 0 ? std::min(to, from + where * grain) : from;
}

} // namespace gr::gpufec::viterbi
