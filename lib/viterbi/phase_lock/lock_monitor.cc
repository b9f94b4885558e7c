// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decides from the rate of wrong signs whether a lock holds, and where it was lost.
 * locking.h defines lock and check, and class reencoder defines a step. */

#include "lock_monitor.h"
#include <algorithm>
#include <cmath>

namespace gr::gpufec::viterbi {

namespace {

// Limits of evidence(), in nats. At or above `lost`, a lock counts as lost. Below
// −`holds`, it counts as confirmed.
constexpr double lost = 20, holds = 7;
// A loss is reported only if at least this many values, not counting erasures, lie
// between the loss and the check.
constexpr std::size_t lost_values = 256;
// Maximum number of values before a check that the check may leave undecided until the
// next check. The lock counts as holding before these values.
constexpr std::uint64_t max_doubtful = 8192;
// Time constant of the running average of the error rate, in values.
constexpr double averaged = 4096;
// Number of calls after which weigh() derives the weights from the error rate again.
constexpr unsigned weighed = 64;

} // namespace

void lock_monitor::begin(const reencoder& encoder,
                         double error_rate,
                         double chance,
                         std::uint64_t clear)
{
    d_encoder = &encoder;
    d_error_rate = error_rate;
    d_chance = chance;
    d_clear = clear;
    d_weighed = 0;
}

void lock_monitor::resume(double error_rate, std::uint64_t clear)
{
    d_error_rate = error_rate;
    d_clear = std::max(d_clear, clear);
    d_weighed = 0;
}

void lock_monitor::weigh()
{
    if (d_weighed-- > 0) {
        return;
    }
    d_weighed = weighed;
    const double p = std::clamp(d_error_rate, d_chance / 20, d_chance * 0.7);
    d_wrong = std::log(d_chance / p);
    d_right = std::log((1 - d_chance) / (1 - p));
    // Expected decrease of the evidence per value while the lock holds.
    const double each = -(p * d_wrong + (1 - p) * d_right);
    // The factor 1.6 is a margin for the variation of the evidence.
    const auto needed = 1.6 * holds / each / d_encoder->step_values();
    for (d_size = 0; double(sign_error_counts::steps(d_size)) < needed; ++d_size) {
    }
}

bool lock_monitor::judge(lock_segment& s,
                         std::uint64_t target,
                         const reader& values,
                         const sign_error_counts* made)
{
    // The counts of the last steps are tried first, because they usually decide the check
    // and are fast to compute. Checks must be fast, because they run on the thread that
    // submits batches.
    const auto unit = d_encoder->step_stages();
    const auto known = std::max(d_clear, s.lead + s.code().constraint_length());
    const auto end = target / unit;
    if (end * unit <= known) {
        return false;
    }
    weigh();
    const auto cleared = [&](std::uint64_t step, const reencoder::sign_count& signs) {
        d_clear = std::max(d_clear, step * unit);
        if (signs.values > 0) {
            d_error_rate += (signs.rate() - d_error_rate) *
                            std::min(1.0, double(signs.values) / averaged);
        }
    };
    for (const auto size : { d_size, d_size + 2 }) {
        const auto part = sign_error_counts::steps(size);
        if (part > end || (end - part) * unit < known) {
            break;
        }
        const auto seen = sample(s, size, end, values, made);
        if (evidence(seen) < -holds) {
            cleared(end - part, seen);
            return false;
        }
    }
    // `where` is the step at which the lock was most likely lost. Evidence of at least
    // `holds` contradicts a loss before step `doubt`.
    const auto first = (known + unit - 1) / unit;
    const auto all = encode(s, first, end, values);
    double sum = 0, best = 0;
    reencoder::sign_count signs, doubtful;
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
        if (!repeats(s.code().values(where * unit), s.code().values(target), values)) {
            d_lost = where * unit;
            return true;
        }
        doubt = end;
        doubtful = {};
    }
    const auto most = max_doubtful / d_encoder->step_values();
    cleared(std::max(doubt, end - std::min(end, most)),
            { all.values - doubtful.values, all.wrong - doubtful.wrong });
    return false;
}

bool lock_monitor::repeats(std::uint64_t from, std::uint64_t to, const reader& values)
{
    const auto n = std::size_t(to - std::min(from, to));
    d_read.resize(std::max(d_read.size(), n));
    values(from, n, d_read.data());
    std::size_t alike = 0, all = 0;
    for (std::size_t i = 0; i + 2 < n; ++i) {
        const int a = d_read[i], b = d_read[i + 2];
        all += a != 0 && b != 0;
        alike += (a > 0 && b > 0) || (a < 0 && b < 0);
    }
    return alike >= 0.95 * all;
}

reencoder::sign_count lock_monitor::sample(lock_segment& s,
                                           unsigned size,
                                           std::uint64_t end,
                                           const reader& values,
                                           const sign_error_counts* made)
{
    if (made && size < sign_error_counts::sizes &&
        made->values[size] != sign_error_counts::missing) {
        return { made->values[size], made->wrong[size] };
    }
    return encode(s, end - sign_error_counts::steps(size), end, values);
}

reencoder::sign_count lock_monitor::encode(lock_segment& s,
                                           std::uint64_t first,
                                           std::uint64_t end,
                                           const reader& values)
{
    const auto stage = first * d_encoder->step_stages();
    const auto count = (end - first) * d_encoder->step_values();
    if (d_read.size() < count + reencoder::slack) {
        d_read.resize(count + reencoder::slack);
    }
    if (d_each.size() < end - first) {
        d_each.resize(end - first);
    }
    values(s.code().values(stage), count, d_read.data());
    const auto at = s.bits(stage - d_encoder->memory(), end * d_encoder->step_stages());
    return (*d_encoder)(at.bits,
                        at.first + d_encoder->memory(),
                        d_read.data(),
                        end - first,
                        d_each.data());
}

} // namespace gr::gpufec::viterbi
