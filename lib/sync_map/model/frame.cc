// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Converts frames between the memory of a batch and the values that the CPU decoders use,
 * and computes output sizes and scale factors of a setup. */

#include "frame.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace gr::gpufec::sync_map {

namespace {

unsigned log2(unsigned q) { return 31 - __builtin_clz(q); }

std::int8_t to_llr(double positive, double negative)
{
    const double llr = 8 * (std::log(positive) - std::log(negative));
    return std::isnan(llr) ? 0 : std::lrint(std::clamp(llr, -127.0, 127.0));
}

void write_llrs(unsigned q, unsigned positive_bit, const double* weight, std::byte* out)
{
    const unsigned bits = log2(q);
    for (unsigned b = 0; b < bits; ++b) {
        double sum[2] = { 0, 0 };
        for (unsigned D = 0; D < q; ++D) {
            sum[D >> (bits - 1 - b) & 1u] += weight[D];
        }
        const auto llr = to_llr(sum[positive_bit], sum[!positive_bit]);
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

std::size_t setup::symbol_bytes() const
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

double setup::largest_weight() const
{
    const bsid_weights w(channel);
    return std::max(w.match, w.mismatch);
}

double setup::log_scale() const
{
    const unsigned uniform = priors ? symbols - outputs : symbols;
    return std::log(unit()) * code.n() * symbols - std::log(double(code.q())) * uniform;
}

frame_scratch::frame_scratch(const setup& setup)
    : prior_scale(setup.priors ? setup.outputs : 0),
      symbol(setup.code.q()),
      prior(setup.code.q()),
      weights(setup.code.q()),
      first(setup.window),
      last(setup.window)
{
    for (auto& row : metrics) {
        row.resize(setup.boundary_matches ? setup.window : 0);
    }
}

item_weigher::item_weigher(const setup& setup)
    : d_soft(setup.soft_input), d_alphabet(setup.code.alphabet())
{
    const bsid_weights w(setup.channel);
    const double scale = 1 / setup.largest_weight();
    d_match = w.match * scale;
    d_mismatch = w.mismatch * scale;
    d_erased = w.transmission(1.0 / d_alphabet) * scale;
}

template <class Real>
void item_weigher::operator()(const std::byte* item,
                              Real* weights,
                              std::size_t stride) const
{
    const unsigned s = d_alphabet;
    if (!d_soft) {
        const auto y = unsigned(*item);
        for (unsigned x = 0; x < s; ++x) {
            weights[x * stride] = y >= s ? d_erased : (y == x ? d_match : d_mismatch);
        }
        return;
    }
    float values[bsid_model::max_alphabet];
    std::memcpy(values, item, (s == 2 ? 1 : s) * sizeof(float));
    double likelihood[bsid_model::max_alphabet], sum = 0;
    if (s == 2) {
        const double p = std::clamp(double(values[0]), 0.0, 1.0);
        likelihood[0] = 1 - p;
        likelihood[1] = p;
        sum = std::isnan(values[0]) ? NAN : 1;
    } else {
        for (unsigned x = 0; x < s; ++x) {
            likelihood[x] = values[x] < 0 ? 0 : values[x];
            sum += likelihood[x];
        }
    }
    const bool known = sum > 0 && std::isfinite(sum);
    for (unsigned x = 0; x < s; ++x) {
        const double p = likelihood[x] / sum;
        weights[x * stride] = known ? d_match * p + d_mismatch * (1 - p) : d_erased;
    }
}

template void item_weigher::operator()(const std::byte*, float*, std::size_t) const;
template void item_weigher::operator()(const std::byte*, double*, std::size_t) const;

frame_items::frame_items(const setup& setup,
                         const std::byte* frame,
                         frame_scratch& scratch)
    : d_setup(setup),
      d_start(frame + setup.start_at()),
      d_end(frame + setup.end_at()),
      d_items(frame + setup.items_at()),
      d_priors(setup.priors ? reinterpret_cast<const float*>(frame + setup.priors_at())
                            : nullptr),
      d_weigh(setup),
      d_prior_scale(scratch.prior_scale.data())
{
    std::memcpy(&d_header, frame, sizeof(d_header));
    d_valid = d_header.length >= 0 && d_header.length <= std::int64_t(setup.max_items);
    for (unsigned i = 0; d_priors && i < setup.outputs; ++i) {
        double sum = 0;
        for (unsigned D = 0; D < setup.code.q(); ++D) {
            const float p = d_priors[std::size_t(i) * setup.code.q() + D];
            sum += p > 0 ? p : 0;
        }
        scratch.prior_scale[i] = sum > 0 && std::isfinite(sum) ? 1 / sum : 0;
    }
}

template <class Real>
void frame_items::weigh(std::int64_t position, Real* weights, std::size_t stride) const
{
    if (position >= 0 && position < d_header.length) {
        return d_weigh(d_items + position * d_setup.item_bytes(), weights, stride);
    }
    for (unsigned x = 0; x < d_setup.code.alphabet(); ++x) {
        weights[x * stride] = 0;
    }
}

template void frame_items::weigh(std::int64_t, float*, std::size_t) const;
template void frame_items::weigh(std::int64_t, double*, std::size_t) const;

double frame_items::boundary(const std::byte* row, unsigned m, unsigned i) const
{
    const std::int64_t at = std::int64_t(d_header.origin) + d_header.first + m +
                            std::int64_t(d_setup.code.n()) * i;
    double metric;
    std::memcpy(&metric, row + m * sizeof(double), sizeof(double));
    return at >= 0 && at <= d_header.length ? metric : 0;
}

double frame_items::end(unsigned m) const { return boundary(d_end, m, d_setup.symbols); }

double frame_items::prior(unsigned i, unsigned D) const
{
    if (!d_priors || i >= d_setup.outputs) {
        return 1;
    }
    const auto q = d_setup.code.q();
    const float p = d_priors[std::size_t(i) * q + D];
    return d_prior_scale[i] > 0 ? (p > 0 ? p * d_prior_scale[i] : 0.0) : 1.0 / q;
}

void write_symbol(const setup& setup,
                  const double* L,
                  const double* prior,
                  double* weights,
                  std::byte* out)
{
    const unsigned q = setup.code.q();
    switch (setup.output) {
    case sync_output::symbols: {
        const std::uint16_t D = most_likely(L, q);
        // If symbol_bytes() is 1, this copies the low byte of D, because all supported
        // hosts are little-endian.
        std::memcpy(out, &D, setup.symbol_bytes());
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
    double sum = 0;
    for (unsigned D = 0; D < q; ++D) {
        weights[D] = prior ? (prior[D] > 0 ? L[D] / prior[D] : 0) : L[D];
        sum += weights[D];
    }
    for (unsigned D = 0; D < q; ++D) {
        weights[D] /= sum;
    }
    setup.output == sync_output::llr ? write_llrs(q, setup.positive_bit, weights, out)
                                     : write_values<float>(weights, q, out);
}

void write_unknown(const setup& setup,
                   frame_scratch& scratch,
                   std::byte* out,
                   sync_status& status)
{
    auto& L = scratch.symbol;
    std::fill(L.begin(), L.end(), 1.0 / setup.code.q());
    for (unsigned i = 0; i < setup.outputs; ++i) {
        write_symbol(setup,
                     L.data(),
                     nullptr,
                     scratch.weights.data(),
                     out + i * setup.symbol_bytes());
    }
    if (setup.drifts) {
        const float flat = 1.0 / setup.window;
        for (unsigned m = 0; m < 2 * setup.window; ++m) {
            std::memcpy(out + setup.drifts_at() + m * sizeof(flat), &flat, sizeof(flat));
        }
    }
    if (setup.boundary_matches) {
        std::memset(out + setup.boundary_matches_at(),
                    0,
                    setup.output_bytes() - setup.boundary_matches_at());
    }
    status = { -INFINITY, float(std::log2(setup.window)), 0, 0, 0 };
}

void write_boundary_matches(const setup& setup,
                            const frame_header& header,
                            const double* const (&metrics)[4],
                            std::byte* out)
{
    const boundary_match_header boundary_match{ header.origin, 0, 1 };
    std::memcpy(
        out + setup.boundary_matches_at(), &boundary_match, sizeof(boundary_match));
    auto* to = out + setup.metrics_at();
    for (const auto* row : metrics) {
        setup.precision == sync_precision::float32
            ? write_values<float>(row, setup.window, to)
            : write_values<double>(row, setup.window, to);
        to += setup.window * setup.metric_bytes();
    }
}

void write_drifts(const setup& setup,
                  const frame_header& header,
                  const double* first,
                  const double* last,
                  double log_weight,
                  std::byte* out,
                  sync_status& status)
{
    const unsigned M = setup.window;
    if (setup.drifts) {
        write_values<float>(first, M, out + setup.drifts_at());
        write_values<float>(last, M, out + setup.drifts_at() + M * sizeof(float));
    }
    double entropy = 0;
    for (unsigned m = 0; m < M; ++m) {
        entropy -= last[m] > 0 ? last[m] * std::log2(last[m]) : 0;
    }
    status.log_probability = log_weight + setup.log_scale();
    status.entropy = entropy;
    status.start_drift = header.first + int(most_likely(first, M));
    status.end_drift = header.first + int(most_likely(last, M));
    status.valid = 1;
}

std::vector<double> window_metrics(const drift_prior& prior, drift_range window)
{
    std::vector<double> metrics(window.size(), 0);
    for (std::size_t k = 0; k < prior.probability.size(); ++k) {
        const int m = prior.first + int(k);
        if (window.contains(m)) {
            metrics[m - window.first] = prior.probability[k];
        }
    }
    return metrics;
}

void write_frame(const setup& setup,
                 const frame_header& header,
                 const std::vector<double>& start,
                 const std::vector<double>& end,
                 const float* priors,
                 std::byte* frame)
{
    std::memcpy(frame, &header, sizeof(header));
    std::memcpy(frame + setup.start_at(), start.data(), setup.window * sizeof(double));
    std::memcpy(frame + setup.end_at(), end.data(), setup.window * sizeof(double));
    if (setup.priors) {
        auto* to = reinterpret_cast<float*>(frame + setup.priors_at());
        const auto count = std::size_t(setup.outputs) * setup.code.q();
        priors ? std::copy_n(priors, count, to) : std::fill_n(to, count, 1.0f);
    }
}

std::int32_t length_of_frame(const setup& setup, std::size_t count)
{
    const std::int64_t drift = std::int64_t(count) - setup.code.frame_bits();
    const bool possible =
        count <= setup.max_items &&
        (!setup.end.empty() ||
         (drift >= setup.first && drift < setup.first + std::int64_t(setup.window)));
    return possible ? int(count) : -1;
}

void write_placed(const setup& setup,
                  const placed_frame& place,
                  const std::byte* items,
                  const float* priors,
                  std::vector<double>& end,
                  std::byte* frame)
{
    if (setup.end.empty()) {
        std::fill(end.begin(), end.end(), 0.0);
        if (place.length >= 0) {
            end[place.length - std::int64_t(setup.code.frame_bits()) - setup.first] = 1;
        }
    }
    write_frame(setup,
                { place.length, 0, setup.first, 0 },
                setup.start,
                setup.end.empty() ? end : setup.end,
                priors,
                frame);
    if (place.length > 0) {
        std::memcpy(frame + setup.items_at(),
                    items + place.at * setup.item_bytes(),
                    place.length * setup.item_bytes());
    }
}

void write_framed(const setup& setup,
                  const void* items,
                  std::size_t count,
                  const float* priors,
                  std::byte* frame)
{
    std::vector<double> end(setup.window);
    write_placed(setup,
                 { length_of_frame(setup, count), 0 },
                 static_cast<const std::byte*>(items),
                 priors,
                 end,
                 frame);
}

} // namespace gr::gpufec::sync_map
