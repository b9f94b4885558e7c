// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Products of extrinsics, in double, and the priors that follow from them, in float. */

#include "reads.h"
#include <algorithm>
#include <cfloat>
#include <cmath>

namespace gr::gpufec::sync_map {

namespace {

// Lower limit of the products of extrinsics, relative to the largest of a row. This limit
// is smaller than every positive float, and larger than denormal doubles, which are slow.
constexpr double min_total = 1e-280;

// Returns the largest value; separate lanes let compilers use vector instructions.
double largest_of(const double* row, unsigned q)
{
    constexpr unsigned lanes = 8;
    double largest[lanes] = {};
    unsigned D = 0;
    for (; D + lanes <= q; D += lanes) {
        for (unsigned k = 0; k < lanes; ++k) {
            largest[k] = std::max(largest[k], row[D + k]);
        }
    }
    for (; D < q; ++D) {
        largest[0] = std::max(largest[0], row[D]);
    }
    return *std::max_element(largest, largest + lanes);
}

// Divides a row by its largest value, then raises values below \p floor to \p floor.
void scale(double* row, unsigned q, double floor)
{
    const double factor = 1 / largest_of(row, q);
    for (unsigned D = 0; D < q; ++D) {
        row[D] = std::max(floor, row[D] * factor);
    }
}

} // namespace

read_rule::read_rule(unsigned symbols, unsigned q, unsigned reads, bool remember)
    : d_symbols(symbols),
      d_q(q),
      d_reads(reads),
      d_remember(remember),
      d_others(q),
      d_row(q),
      d_priors(std::size_t(symbols) * q)
{
}

double read_rule::bytes() const
{
    const double values = double(d_symbols) * d_q;
    return values * (sizeof(double) + sizeof(float) * (1 + (d_remember ? d_reads : 0)));
}

void read_rule::begin(read_beliefs& b, const float* weights) const
{
    const auto values = std::size_t(d_symbols) * d_q;
    b.total.assign(values, 1.0);
    b.extrinsics.resize(d_remember ? d_reads : 0);
    for (auto& extrinsics : b.extrinsics) {
        extrinsics.assign(values, 1.0f);
    }
    b.known.clear();
    for (unsigned i = 0; weights && i < d_symbols; ++i) {
        const auto* const row = weights + std::size_t(i) * d_q;
        float largest = 0;
        double sum = 0;
        for (unsigned D = 0; D < d_q; ++D) {
            largest = std::max(largest, row[D]);
            sum += row[D] > 0 ? row[D] : 0;
        }
        // Decoders treat a row without a finite positive sum as uniform.
        const bool nothing = !(sum > 0) || !std::isfinite(sum);
        for (unsigned D = 0; D < d_q; ++D) {
            b.known.push_back(nothing ? 1 : row[D] > 0 ? row[D] / largest : 0);
        }
    }
}

// Computes two rows for the symbol at index i: the product of the other reads'
// extrinsics, in d_others, and the priors for decoding read r.
void read_rule::weigh_others(const read_beliefs& b, unsigned r, unsigned i, float* priors)
{
    const auto at = std::size_t(i) * d_q;
    const auto* const total = b.total.data() + at;
    auto* const others = d_others.data();
    if (d_remember) {
        const auto* const extrinsics = b.extrinsics[r].data() + at;
        for (unsigned D = 0; D < d_q; ++D) {
            others[D] = total[D] / extrinsics[D];
        }
    } else {
        std::copy_n(total, d_q, others);
    }
    scale(others, d_q, 0);
    for (unsigned D = 0; D < d_q; ++D) {
        priors[D] = std::max(min_extrinsic, others[D]);
    }
    if (!b.known.empty()) {
        const auto* const known = b.known.data() + at;
        for (unsigned D = 0; D < d_q; ++D) {
            priors[D] = std::max(min_extrinsic, others[D]) * known[D];
        }
    }
}

const float* read_rule::priors(const read_beliefs& b, unsigned r)
{
    for (unsigned i = 0; i < d_symbols; ++i) {
        weigh_others(b, r, i, d_priors.data() + std::size_t(i) * d_q);
    }
    return d_priors.data();
}

template <class Value>
void read_rule::take(read_beliefs& b, unsigned r, const Value* L)
{
    const auto* const priors = d_priors.data();
    const auto* const others = d_others.data();
    auto* const row = d_row.data();
    for (unsigned i = 0; i < d_symbols; ++i) {
        const auto at = std::size_t(i) * d_q;
        weigh_others(b, r, i, d_priors.data());
        for (unsigned D = 0; D < d_q; ++D) {
            // FLT_MIN avoids a division 0 / 0: a symbol with prior 0 has posterior 0.
            row[D] = L[at + D] / std::max<double>(priors[D], FLT_MIN);
        }
        scale(row, d_q, min_extrinsic);
        auto* const total = b.total.data() + at;
        if (d_remember) {
            std::copy_n(row, d_q, b.extrinsics[r].data() + at);
        }
        for (unsigned D = 0; D < d_q; ++D) {
            total[D] = others[D] * float(row[D]);
        }
        scale(total, d_q, min_total);
    }
}

const double* read_rule::symbol(const read_beliefs& b, unsigned i, bool extrinsic)
{
    const auto at = std::size_t(i) * d_q;
    double sum = 0;
    for (unsigned D = 0; D < d_q; ++D) {
        const bool known = !extrinsic && !b.known.empty();
        d_row[D] = b.total[at + D] * (known ? b.known[at + D] : 1.0);
        sum += d_row[D];
    }
    for (auto& p : d_row) {
        p /= sum;
    }
    return d_row.data();
}

template void read_rule::take(read_beliefs&, unsigned, const float*);
template void read_rule::take(read_beliefs&, unsigned, const double*);

} // namespace gr::gpufec::sync_map
