// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "lock_watch.h"
#include <algorithm>
#include <cmath>

namespace gr::gpufec::viterbi {

namespace {

// Signs that are looked at, at the end of a stretch of the stream.
constexpr double sample_values = 128, sample_errors = 9;
// Evidence, as a logarithm of a likelihood ratio, that a lock is lost, and the values
// that it has to come from; and that it is not.
constexpr double lost = 20, holds = 5;
constexpr std::size_t lost_values = 256;
// Values that may be in doubt.
constexpr std::uint64_t most_doubtful = 8192;

// Whether signs come again every second value: idle, or nothing is modulated, and no
// hypothesis can be told from others.
bool repeats(const value_span& values, std::uint64_t from, std::uint64_t to)
{
    std::size_t alike = 0, all = 0;
    for (auto v = std::max(from, values.first); v + 2 < std::min(to, values.end); ++v) {
        const int a = values.values[v - values.first],
                  b = values.values[v + 2 - values.first];
        all += a != 0 && b != 0;
        alike += (a > 0 && b > 0) || (a < 0 && b < 0);
    }
    return alike >= 0.95 * all;
}

} // namespace

void lock_watch::begin(const encode_again& encoder,
                       double error_rate,
                       double chance,
                       std::uint64_t clear)
{
    d_encoder = &encoder;
    d_error_rate = error_rate;
    d_chance = chance;
    d_clear = clear;
    d_sample = std::uint64_t(std::ceil(std::max(sample_values, sample_errors / chance) /
                                       encoder.step_values()));
}

void lock_watch::resume(double error_rate, std::uint64_t clear)
{
    d_error_rate = error_rate;
    d_clear = std::max(d_clear, clear);
}

bool lock_watch::judge(const lock_segment& s,
                       std::uint64_t target,
                       const value_span& values)
{
    const auto unit = d_encoder->step_stages();
    const auto K = s.code().constraint_length();
    const auto first = (std::max(d_clear, s.lead + K) + unit - 1) / unit;
    const auto end = target / unit;
    const auto sample = end - std::min(d_sample, end);
    if (first >= end) {
        return false;
    }
    const double p = std::clamp(d_error_rate, d_chance / 20, d_chance * 0.7);
    const double wrong = std::log(d_chance / p);
    const double right = std::log((1 - d_chance) / (1 - p));
    // For chance.
    const auto evidence = [&](const encode_again::tally& t) {
        return t.wrong * wrong + (t.values - t.wrong) * right;
    };
    const auto cleared = [&](std::uint64_t step, const encode_again::tally& signs) {
        d_clear = std::max(d_clear, step * unit);
        if (signs.values >= sample_values) {
            d_error_rate += (signs.rate() - d_error_rate) / 32;
        }
    };
    const auto seen = encode(s, std::max(first, sample), end, values);
    if (sample >= first && evidence(seen) < -holds) {
        cleared(sample, seen);
        return false;
    }
    // Where chance is likeliest to have begun, and before where it is not likely to.
    const auto all = encode(s, first, end, values);
    double sum = 0, best = 0;
    encode_again::tally signs, doubtful;
    std::uint64_t where = end, doubt = end;
    std::uint64_t of_best = 0;
    for (auto step = end; step-- > first;) {
        signs += d_each[step - first];
        sum += evidence(d_each[step - first]);
        if (sum > best) {
            best = sum;
            where = step;
            of_best = signs.values;
        }
        if (sum > -holds) {
            doubt = step;
            doubtful = signs;
        }
    }
    if (best >= lost && of_best >= lost_values) {
        if (!repeats(values, s.value_of(where * unit), s.value_of(target))) {
            d_lost = where * unit;
            return true;
        }
        doubt = end;
        doubtful = {};
    }
    const auto most = most_doubtful / d_encoder->step_values();
    cleared(std::max(doubt, end - std::min(end, most)),
            { all.values - doubtful.values, all.wrong - doubtful.wrong });
    return false;
}

encode_again::tally lock_watch::encode(const lock_segment& s,
                                       std::uint64_t first,
                                       std::uint64_t end,
                                       const value_span& v)
{
    const auto stage = first * d_encoder->step_stages();
    const auto from = s.code().values(stage);
    const auto count = (end - first) * d_encoder->step_values();
    if (d_read.size() < count + encode_again::slack) {
        d_read.resize(count + encode_again::slack);
    }
    if (d_each.size() < end - first) {
        d_each.resize(end - first);
    }
    s.reading->read(v.values,
                    std::int64_t(v.first) - std::int64_t(s.start),
                    std::int64_t(v.end - s.start),
                    from,
                    count,
                    d_read.data());
    return (*d_encoder)(
        s.bytes.data(), stage - s.base, d_read.data(), end - first, d_each.data());
}

} // namespace gr::gpufec::viterbi
