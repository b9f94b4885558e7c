// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The BSID channel: checks of its parameters, the distribution and limits of its drift,
 * and the weights that decoders use. */

#include "channel.h"
#include "common/checked_size.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace gr::gpufec {

using namespace sync_map;

namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

double log_choose(double n, double k)
{
    return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

// Returns k·log(p), where 0·log(0) is 0.
double log_power(double p, double k) { return k == 0 ? 0 : k * std::log(p); }

// Probabilities of the drift after a number of symbols, given a prior of the drift before
// them. Probabilities of the distribution without a prior are computed on first use and
// cached.
class drift_distribution
{
public:
    drift_distribution(const bsid_model& channel,
                       unsigned symbols,
                       const drift_prior& start)
        : d_channel(channel), d_symbols(symbols), d_start(start)
    {
        checked_size(start.probability.size())
            .within(1, drift_prior::max_size, "size of start_prior");
        require(std::abs(std::int64_t(start.first)) <= drift_prior::max_first,
                "start_first",
                start.first,
                "-1048576 to 1048576");
        double largest = 0;
        for (const double p : start.probability) {
            if (!(p >= 0) || std::isinf(p)) {
                refuse(
                    "start_prior", p, "allowed values are finite weights of 0 or more");
            }
            largest = std::max(largest, p);
        }
        require(largest > 0, "sum of start_prior", largest, "above 0");
        // Scaling by the largest weight keeps sums and reciprocals within a double's
        // range.
        double sum = 0, mean = 0;
        for (std::size_t k = 0; k < start.probability.size(); ++k) {
            d_prior.push_back(start.probability[k] / largest);
            sum += d_prior.back();
            mean += d_prior.back() * (start.first + double(k));
        }
        for (auto& p : d_prior) {
            p /= sum;
        }
        const double expected =
            mean / sum + symbols * (channel.p_insert() - channel.p_delete()) /
                             (1 - channel.p_insert());
        if (std::abs(expected) > drift_range::max_size) {
            refuse_drifts(std::abs(expected));
        }
        d_mean = expected;
    }

    double mean() const { return d_mean; }

    //! Throws because \p drifts exceeds drift_range::max_size.
    [[noreturn]] void refuse_drifts(double drifts) const
    {
        refuse("number of drifts of " + std::to_string(d_symbols) +
                   " symbols with p_insert " + value_text(d_channel.p_insert()) +
                   ", p_delete " + value_text(d_channel.p_delete()) +
                   " and the start_prior",
               std::uint64_t(drifts),
               "allowed values are up to " + std::to_string(drift_range::max_size));
    }

    double operator()(int m)
    {
        double p = 0;
        for (std::size_t k = 0; k < d_prior.size(); ++k) {
            if (d_prior[k] > 0) {
                p += d_prior[k] * plain(m - d_start.first - int(k));
            }
        }
        return p;
    }

private:
    double plain(int m)
    {
        auto& side = m < 0 ? d_negative : d_positive;
        const std::size_t at = std::abs(m);
        while (side.size() <= at) {
            const int next = m < 0 ? -int(side.size()) : int(side.size());
            side.push_back(std::exp(d_channel.log_drift_probability(d_symbols, next)));
        }
        return side[at];
    }

    const bsid_model& d_channel;
    unsigned d_symbols;
    const drift_prior& d_start;
    double d_mean = 0;
    std::vector<double> d_prior; // normalised to sum 1
    std::vector<double> d_positive, d_negative;
};

// Returns the last drift in direction \p step whose probability is at least \p floor; 0
// if there is none.
int last_above(drift_distribution& phi, int step, double floor)
{
    int last = 0;
    for (int m = step;; m += step) {
        if (std::abs(last) >= int(drift_range::max_size)) {
            phi.refuse_drifts(std::abs(m));
        }
        const double p = phi(m);
        if (p >= floor) {
            last = m;
        } else if ((m - phi.mean()) * step > 0) {
            return last;
        }
    }
}

// Returns the total probability of the drifts beyond \p from in direction \p step. The
// sum stops at the first drift beyond the mean with a probability below \p negligible.
double tail(drift_distribution& phi, int from, int step, double negligible)
{
    double sum = 0;
    for (int m = from + step;; m += step) {
        const double p = phi(m);
        sum += p;
        if (p < negligible && (m - phi.mean()) * step > 0) {
            return sum;
        }
    }
}

} // namespace

bsid_model::bsid_model(double p_insert,
                       double p_delete,
                       double p_substitute,
                       unsigned alphabet)
    : d_insert(p_insert),
      d_delete(p_delete),
      d_substitute(p_substitute),
      d_alphabet(alphabet)
{
    // NaN satisfies none of these conditions.
    require(p_insert >= 0 && p_insert <= max_p_insert,
            "p_insert",
            p_insert,
            "0 to " + value_text(max_p_insert));
    require(p_delete >= 0 && p_delete < 1, "p_delete", p_delete, "from 0 to below 1");
    require(1 - p_insert - p_delete > 0,
            "p_insert + p_delete",
            p_insert + p_delete,
            "below 1");
    require(p_substitute >= 0 && p_substitute <= 1,
            "p_substitute",
            p_substitute,
            "from 0 to 1");
    require(alphabet >= 2 && alphabet <= max_alphabet, "alphabet", alphabet, "2 to 16");
}

double bsid_model::log_drift_probability(unsigned symbols, int drift) const
{
    const double T = symbols;
    const double m = drift;
    if (symbols == 0) {
        return drift == 0 ? 0 : minus_infinity;
    }
    // Returns the logarithm of the probability of j deletions and m + j insertions.
    const auto term = [&](double j) {
        if ((d_delete == 0 && j > 0) || (d_insert == 0 && m + j > 0)) {
            return minus_infinity;
        }
        return log_power(p_transmit(), T - j) + log_power(d_delete, j) +
               log_power(d_insert, m + j) + log_choose(T, j) +
               log_choose(T + m + j - 1, m + j);
    };
    const double fewest = std::max(-m, 0.0);
    if (fewest > T) {
        return minus_infinity;
    }
    if (d_delete == 0 || d_insert == 0) {
        return term(fewest);
    }
    // The ratio of successive terms decreases with j, so the terms have a single peak.
    const auto ratio = [&](double j) {
        return d_delete * d_insert / p_transmit() * ((T - j) / (j + 1)) *
               ((T + m + j) / (m + j + 1));
    };
    double peak = fewest;
    for (double last = T; peak < last;) {
        const double middle = std::floor((peak + last) / 2);
        ratio(middle) > 1 ? peak = middle + 1 : last = middle;
    }
    const double negligible = 1e-26;
    double sum = 1; // sum of the terms, each divided by the peak term
    double part = 1;
    for (double j = peak; j < T && part > negligible; ++j) {
        part *= ratio(j);
        sum += part;
    }
    part = 1;
    for (double j = peak; j > fewest && part > negligible; --j) {
        part /= ratio(j - 1);
        sum += part;
    }
    return term(peak) + std::log(sum);
}

drift_range drift_limits(const bsid_model& channel,
                         unsigned symbols,
                         double exclusion,
                         const drift_prior& start)
{
    require(exclusion >= 1e-300 && exclusion < 1,
            "exclusion",
            exclusion,
            "above 0 and below 1");
    checked_size(symbols).within(0, 2 * sync_code::max_frame_bits, "symbols");
    drift_distribution phi(channel, symbols, start);
    drift_range range{ last_above(phi, -1, exclusion / 2),
                       last_above(phi, +1, exclusion / 2) };
    const double negligible = exclusion * 1e-9;
    double outside =
        tail(phi, range.first, -1, negligible) + tail(phi, range.last, +1, negligible);
    while (outside >= exclusion) {
        const double below = phi(range.first - 1);
        const double above = phi(range.last + 1);
        if (below > above) {
            --range.first;
        } else {
            ++range.last;
        }
        outside -= std::max(below, above);
    }
    if (range.size() > drift_range::max_size) {
        phi.refuse_drifts(range.size());
    }
    return range;
}

namespace sync_map {

double exclusion_per_symbol(double exclusion, unsigned symbols)
{
    return -std::expm1(std::log1p(-exclusion) / symbols);
}

bsid_weights::bsid_weights(const bsid_model& channel)
{
    const double s = channel.alphabet();
    match = channel.p_transmit() * (1 - channel.p_substitute());
    mismatch = channel.p_transmit() * channel.p_substitute() / (s - 1);
    insertion = channel.p_insert() / s;
    deletion = channel.p_delete();
}

} // namespace sync_map

} // namespace gr::gpufec
