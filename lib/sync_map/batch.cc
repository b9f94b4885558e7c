/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "batch.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace gr {
namespace gpufec {

namespace {

unsigned log2(unsigned q) { return 31 - __builtin_clz(q); }

std::int8_t to_llr(double zero, double one)
{
    const double llr = 8 * (std::log(zero) - std::log(one));
    return std::isnan(llr) ? 0 : std::lrint(std::clamp(llr, -127.0, 127.0));
}

void write_llrs(unsigned q, const double* weight, std::byte* out)
{
    const unsigned bits = log2(q);
    for (unsigned b = 0; b < bits; ++b) {
        double sum[2] = { 0, 0 };
        for (unsigned D = 0; D < q; ++D) {
            sum[D >> (bits - 1 - b) & 1u] += weight[D];
        }
        const auto llr = to_llr(sum[0], sum[1]);
        std::memcpy(out + b, &llr, 1);
    }
}

template <class Value>
void write_values(const double* values, unsigned count, std::byte* out)
{
    for (unsigned k = 0; k < count; ++k) {
        const auto v = static_cast<Value>(values[k]);
        std::memcpy(out + k * sizeof(v), &v, sizeof(v));
    }
}

unsigned most_likely(const double* p, unsigned count)
{
    return std::max_element(p, p + count) - p;
}

} // namespace

std::size_t sync_plan::symbol_bytes() const
{
    switch (output) {
    case sync_output::symbols:
        return code.q() <= 256 ? 1 : 2;
    case sync_output::posteriors:
    case sync_output::extrinsics:
        return code.q() * sizeof(float);
    case sync_output::llr:
        return log2(code.q());
    case sync_output::posteriors64:
        break;
    }
    return code.q() * sizeof(double);
}

double sync_plan::largest_weight() const
{
    const bsid_weights w(channel);
    return std::max(w.match, w.mismatch);
}

double sync_plan::log_scale() const
{
    const unsigned uniform = priors ? symbols - outputs : symbols;
    return std::log(unit()) * code.n() * symbols - std::log(double(code.q())) * uniform;
}

sync_items::sync_items(const sync_plan& plan, const std::byte* frame)
    : d_plan(plan),
      d_start(frame + plan.start_at()),
      d_end(frame + plan.end_at()),
      d_items(frame + plan.items_at()),
      d_priors(plan.priors ? reinterpret_cast<const float*>(frame + plan.priors_at())
                           : nullptr)
{
    std::memcpy(&d_header, frame, sizeof(d_header));
    d_valid = d_header.length >= 0 && d_header.length <= std::int64_t(plan.max_items);
    const bsid_weights w(plan.channel);
    const double scale = 1 / plan.largest_weight();
    const double s = plan.code.alphabet();
    d_match = w.match * scale;
    d_mismatch = w.mismatch * scale;
    d_erased = w.transmission(1 / s) * scale;
    for (unsigned i = 0; d_priors && i < plan.outputs; ++i) {
        double sum = 0;
        for (unsigned D = 0; D < plan.code.q(); ++D) {
            const float p = d_priors[i * plan.code.q() + D];
            sum += p > 0 ? p : 0;
        }
        d_prior_scale.push_back(sum > 0 && std::isfinite(sum) ? 1 / sum : 0);
    }
}

double sync_items::weight(std::int64_t position, unsigned symbol) const
{
    if (position < 0 || position >= d_header.length) {
        return 0;
    }
    if (!d_plan.soft_input) {
        const auto y = unsigned(d_items[position]);
        return y >= d_plan.code.alphabet() ? d_erased
                                           : (y == symbol ? d_match : d_mismatch);
    }
    float one;
    std::memcpy(&one, d_items + position * sizeof(float), sizeof(float));
    if (std::isnan(one)) {
        return d_erased;
    }
    const double p = std::clamp(double(one), 0.0, 1.0);
    const double likelihood = symbol ? p : 1 - p;
    return d_match * likelihood + d_mismatch * (1 - likelihood);
}

double sync_items::boundary(const std::byte* row, unsigned m, unsigned i) const
{
    const std::int64_t at = std::int64_t(d_header.origin) + d_header.first + m +
                            std::int64_t(d_plan.code.n()) * i;
    double metric;
    std::memcpy(&metric, row + m * sizeof(double), sizeof(double));
    return at >= 0 && at <= d_header.length ? metric : 0;
}

double sync_items::end(unsigned m) const { return boundary(d_end, m, d_plan.symbols); }

double sync_items::prior(unsigned i, unsigned D) const
{
    if (!d_priors || i >= d_plan.outputs) {
        return 1;
    }
    const auto q = d_plan.code.q();
    const float p = d_priors[i * q + D];
    return d_prior_scale[i] > 0 ? (p > 0 ? p * d_prior_scale[i] : 0.0) : 1.0 / q;
}

void write_symbol(const sync_plan& plan,
                  const double* L,
                  const double* prior,
                  std::byte* out)
{
    const unsigned q = plan.code.q();
    switch (plan.output) {
    case sync_output::symbols: {
        const std::uint16_t D = most_likely(L, q);
        std::memcpy(out, &D, plan.symbol_bytes()); // little-endian, as every host here
        return;
    }
    case sync_output::posteriors:
        return write_values<float>(L, q, out);
    case sync_output::posteriors64:
        return write_values<double>(L, q, out);
    case sync_output::extrinsics:
    case sync_output::llr:
        break;
    }
    std::vector<double> extrinsic(L, L + q);
    double sum = 0;
    for (unsigned D = 0; D < q; ++D) {
        extrinsic[D] = prior ? (prior[D] > 0 ? L[D] / prior[D] : 0) : L[D];
        sum += extrinsic[D];
    }
    for (auto& e : extrinsic) {
        e /= sum;
    }
    plan.output == sync_output::llr ? write_llrs(q, extrinsic.data(), out)
                                    : write_values<float>(extrinsic.data(), q, out);
}

void write_unknown(const sync_plan& plan, std::byte* out, sync_status& status)
{
    const std::vector<double> L(plan.code.q(), 1.0 / plan.code.q());
    for (unsigned i = 0; i < plan.outputs; ++i) {
        write_symbol(plan, L.data(), nullptr, out + i * plan.symbol_bytes());
    }
    if (plan.drifts) {
        const std::vector<double> flat(2 * plan.window, 1.0 / plan.window);
        write_values<float>(flat.data(), flat.size(), out + plan.drifts_at());
    }
    status = { -INFINITY, float(std::log2(plan.window)), 0, 0, 0 };
}

void write_drifts(const sync_plan& plan,
                  const sync_frame_header& header,
                  const double* first,
                  const double* last,
                  double log_weight,
                  std::byte* out,
                  sync_status& status)
{
    const unsigned M = plan.window;
    if (plan.drifts) {
        write_values<float>(first, M, out + plan.drifts_at());
        write_values<float>(last, M, out + plan.drifts_at() + M * sizeof(float));
    }
    double entropy = 0;
    for (unsigned m = 0; m < M; ++m) {
        entropy -= last[m] > 0 ? last[m] * std::log2(last[m]) : 0;
    }
    status.log_probability = log_weight + plan.log_scale();
    status.entropy = entropy;
    status.start_drift = header.first + int(most_likely(first, M));
    status.end_drift = header.first + int(most_likely(last, M));
    status.valid = 1;
}

} // namespace gpufec
} // namespace gr
