// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The reference decoders, which are written for clarity, not speed. */

#include "common/refuse.h"
#include "reference.h"
#include "sync_map/code/channel.h"
#include "sync_map/reads/reads.h"
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <algorithm>
#include <cmath>

namespace gr::gpufec::sync_map {
namespace reference {

namespace {

using exact = boost::multiprecision::cpp_bin_float_50;

// Weights of the lattice transitions, boundaries and priors of a problem, in the number
// type Real.
template <class Real>
class lattice_weights
{
public:
    explicit lattice_weights(const map_problem& p)
        : d_problem(p), d_weights(p.channel), d_M(p.window.size())
    {
    }

    Real insertion() const { return d_weights.insertion; }
    Real deletion() const { return d_weights.deletion; }

    // Returns the transmission weight of the item at a position for a sent symbol; 0
    // outside the received items.
    Real transmission(int position, unsigned symbol) const
    {
        if (position < 0 || position >= d_problem.positions()) {
            return 0;
        }
        return d_weights.transmission(
            d_problem.likelihood[position * d_problem.code.alphabet() + symbol]);
    }

    Real prior(unsigned i, unsigned D) const
    {
        const auto q = d_problem.code.q();
        return d_problem.priors.empty() ? Real(1) / q : Real(d_problem.priors[i * q + D]);
    }

    const std::uint8_t* word(unsigned i, unsigned D) const
    {
        return d_problem.code.word(i % d_problem.code.frame_symbols(), D);
    }

    // Returns the received position of boundary i at the window's drift number m.
    int position(unsigned i, int m) const
    {
        return d_problem.origin + int(d_problem.code.n() * i) + d_problem.window.first +
               m;
    }

    // Returns a boundary's weights; 0 for drifts outside the received items.
    std::vector<Real> boundary(const std::vector<double>& weights, unsigned i) const
    {
        std::vector<Real> row(d_M);
        for (int m = 0; m < int(d_M); ++m) {
            const int at = position(i, m);
            if (at >= 0 && at <= d_problem.positions()) {
                row[m] = weights[m];
            }
        }
        return row;
    }

private:
    const map_problem& d_problem;
    bsid_weights d_weights;
    unsigned d_M;
};

template <class Real>
Real sum(const std::vector<Real>& row)
{
    Real s = 0;
    for (const auto& x : row) {
        s += x;
    }
    return s;
}

// Scales a row to sum 1, unless its sum is 0. Returns the sum before scaling.
template <class Real>
Real normalise(std::vector<Real>& row)
{
    Real s = sum(row);
    for (auto& x : row) {
        x = s > 0 ? Real(x / s) : x;
    }
    return s;
}

map_result unknown(const map_problem& p)
{
    map_result r;
    r.posteriors.assign(std::size_t(p.symbols) * p.code.q(), 1.0 / p.code.q());
    r.drifts.assign((p.symbols + 1u) * p.window.size(), 1.0 / p.window.size());
    r.log_probability = -INFINITY;
    r.valid = false;
    return r;
}

template <class Real>
void append_normalised(std::vector<double>& to, std::vector<Real> row)
{
    normalise(row);
    for (const auto& x : row) {
        to.push_back(double(x));
    }
}

// Runs the forward-backward recursion over the boundaries. A row holds one metric per
// drift of the window. step.forward(i, D, row) returns the row after the word of symbol D
// at index i; step.backward(i, D, row) returns the row before that word.
template <class Real, class Step>
map_result forward_backward(const map_problem& p, const Step& step)
{
    const lattice_weights<Real> w(p);
    const unsigned M = p.window.size();
    const unsigned q = p.code.q();
    std::vector<std::vector<Real>> alpha = { w.boundary(p.start, 0) };
    Real log_probability = 0;
    using std::log;
    for (unsigned i = 0; i < p.symbols; ++i) {
        std::vector<Real> next(M, Real(0));
        for (unsigned D = 0; D < q; ++D) {
            const auto row = step.forward(i, D, alpha[i]);
            for (unsigned m = 0; m < M; ++m) {
                next[m] += w.prior(i, D) * row[m];
            }
        }
        const Real scale = normalise(next);
        if (!(scale > 0)) {
            return unknown(p);
        }
        log_probability += log(scale);
        alpha.push_back(std::move(next));
    }

    const auto product = [](const std::vector<Real>& a, const std::vector<Real>& b) {
        std::vector<Real> c(a.size());
        for (std::size_t m = 0; m < a.size(); ++m) {
            c[m] = a[m] * b[m];
        }
        return c;
    };
    auto beta = w.boundary(p.end, p.symbols);
    const Real ends = sum(product(alpha.back(), beta));
    if (!(ends > 0)) {
        return unknown(p);
    }
    map_result r;
    r.log_probability = double(log_probability + log(ends));
    std::vector<std::vector<double>> posteriors(p.symbols), drifts(p.symbols + 1);
    append_normalised(drifts[p.symbols], product(alpha[p.symbols], beta));
    for (unsigned i = p.symbols; i-- > 0;) {
        std::vector<Real> before(M, Real(0));
        std::vector<Real> L(q);
        for (unsigned D = 0; D < q; ++D) {
            const auto row = step.backward(i, D, beta);
            L[D] = w.prior(i, D) * sum(product(alpha[i], row));
            for (unsigned m = 0; m < M; ++m) {
                before[m] += w.prior(i, D) * row[m];
            }
        }
        normalise(before);
        beta = std::move(before);
        append_normalised(posteriors[i], std::move(L));
        append_normalised(drifts[i], product(alpha[i], beta));
    }
    for (const auto& row : posteriors) {
        r.posteriors.insert(r.posteriors.end(), row.begin(), row.end());
    }
    for (const auto& row : drifts) {
        r.drifts.insert(r.drifts.end(), row.begin(), row.end());
    }
    return r;
}

// Step of the corridor form with branch metrics R(ẏ|x), the weight of receiving ẏ for the
// word x, for each start drift and drift change.
template <class Real>
class corridor_step
{
public:
    corridor_step(const map_problem& p, drift_range change)
        : d_problem(p), d_weights(p), d_change(change)
    {
    }

    std::vector<Real> forward(unsigned i, unsigned D, const std::vector<Real>& row) const
    {
        return apply(i, D, row, false);
    }

    std::vector<Real> backward(unsigned i, unsigned D, const std::vector<Real>& row) const
    {
        return apply(i, D, row, true);
    }

private:
    std::vector<Real>
    apply(unsigned i, unsigned D, const std::vector<Real>& row, bool adjoint) const
    {
        const int M = row.size();
        std::vector<Real> out(M, Real(0));
        for (int from = 0; from < M; ++from) {
            const auto R = receiver(i, D, from);
            for (int d = d_change.first; d <= d_change.last; ++d) {
                const int to = from + d;
                if (to >= 0 && to < M) {
                    const auto& r = R[d - d_change.first];
                    adjoint ? out[from] += r * row[to] : out[to] += r * row[from];
                }
            }
        }
        return out;
    }

    // Returns the branch metrics of a word for start drift number `from` and all drift
    // changes. F(t, j) is the weight of the paths on which t symbols were sent and j
    // items received. Insertions belong to the symbol that follows them, so there are
    // none at t = n. Only the cells of the corridor are computed: change.first ≤ j − t ≤
    // change.last.
    std::vector<Real> receiver(unsigned i, unsigned D, int from) const
    {
        const int n = d_problem.code.n();
        const auto* x = d_weights.word(i, D);
        const int at = d_weights.position(i, from);
        const int columns = n + d_change.last + 1;
        std::vector<Real> above(columns, Real(0)), row(columns, Real(0));
        for (int t = 0; t <= n; ++t) {
            std::fill(row.begin(), row.end(), Real(0));
            for (int j = std::max(0, t + d_change.first);
                 j <= std::min(columns - 1, t + d_change.last);
                 ++j) {
                Real F = t == 0 && j == 0 ? 1 : 0;
                if (t > 0) {
                    F += d_weights.deletion() * above[j];
                    if (j > 0) {
                        F += d_weights.transmission(at + j - 1, x[t - 1]) * above[j - 1];
                    }
                }
                if (t < n && j > 0) {
                    F += d_weights.insertion() * row[j - 1];
                }
                row[j] = F;
            }
            std::swap(above, row);
        }
        std::vector<Real> R(d_change.size());
        for (int d = d_change.first; d <= d_change.last; ++d) {
            R[d - d_change.first] = n + d >= 0 ? above[n + d] : Real(0);
        }
        return R;
    }

    const map_problem& d_problem;
    lattice_weights<Real> d_weights;
    drift_range d_change;
};

// Step of the linear form: one lattice per word for all start drifts together.
class linear_step
{
public:
    explicit linear_step(const map_problem& p) : d_n(p.code.n()), d_weights(p) {}

    std::vector<double> forward(unsigned i, unsigned D, std::vector<double> F) const
    {
        const auto* x = d_weights.word(i, D);
        const int M = F.size();
        insert(F);
        for (int t = 0; t < d_n; ++t) {
            for (int m = 0; m < M; ++m) {
                const double next = m + 1 < M ? F[m + 1] : 0;
                const double Q =
                    d_weights.transmission(d_weights.position(i, m) + t, x[t]);
                F[m] = Q * F[m] + d_weights.deletion() * next;
            }
            if (t + 1 < d_n) {
                insert(F);
            }
        }
        return F;
    }

    std::vector<double> backward(unsigned i, unsigned D, std::vector<double> B) const
    {
        const auto* x = d_weights.word(i, D);
        const int M = B.size();
        for (int t = d_n; t-- > 0;) {
            for (int m = M; m-- > 0;) {
                const double Q =
                    d_weights.transmission(d_weights.position(i, m) + t, x[t]);
                B[m] = Q * B[m] + (m > 0 ? d_weights.deletion() * B[m - 1] : 0);
            }
            for (int m = M - 1; m-- > 0;) {
                B[m] += d_weights.insertion() * B[m + 1];
            }
        }
        return B;
    }

private:
    void insert(std::vector<double>& F) const
    {
        for (std::size_t m = 1; m < F.size(); ++m) {
            F[m] += d_weights.insertion() * F[m - 1];
        }
    }

    int d_n;
    lattice_weights<double> d_weights;
};

// Forward and backward weights of all channel paths of one message, for each pair of t
// symbols sent and j items received.
class message_lattice
{
public:
    message_lattice(const map_problem& p, const std::vector<unsigned>& message)
        : d_problem(p), d_weights(p), d_T(p.symbols * p.code.n()), d_J(p.positions())
    {
        for (unsigned i = 0; i < p.symbols; ++i) {
            const auto* x = d_weights.word(i, message[i]);
            d_sent.insert(d_sent.end(), x, x + p.code.n());
        }
        run_forward();
        run_backward();
    }

    double probability() const
    {
        double P = 0;
        for (int j = 0; j <= d_J; ++j) {
            P += d_forward[d_T * (d_J + 1) + j] * d_backward[d_T * (d_J + 1) + j];
        }
        return P;
    }

    // Returns the weight of the paths that pass boundary i at the window's drift number
    // m.
    double through(unsigned i, int m) const
    {
        const int j = d_weights.position(i, m);
        const int t = i * d_problem.code.n();
        return j < 0 || j > d_J
                   ? 0
                   : d_forward[t * (d_J + 1) + j] * d_backward[t * (d_J + 1) + j];
    }

private:
    // Computes the weight of the paths on which t symbols were sent and j items received,
    // without insertions after symbol t. The backward weights include these insertions.
    void run_forward()
    {
        const auto start = d_weights.boundary(d_problem.start, 0);
        d_forward.assign((d_T + 1) * (d_J + 1), 0);
        set_boundary(d_forward, start, 0);
        for (int t = 0; t < d_T; ++t) {
            double inserted = 0; // weight at (t, j), including insertions
            double before = 0;   // weight at (t, j − 1), including insertions
            for (int j = 0; j <= d_J; ++j) {
                inserted =
                    d_forward[t * (d_J + 1) + j] + d_weights.insertion() * inserted;
                auto& next = d_forward[(t + 1) * (d_J + 1) + j];
                next = d_weights.deletion() * inserted;
                if (j > 0) {
                    next += d_weights.transmission(j - 1, d_sent[t]) * before;
                }
                before = inserted;
            }
        }
    }

    void run_backward()
    {
        const auto end = d_weights.boundary(d_problem.end, d_problem.symbols);
        d_backward.assign((d_T + 1) * (d_J + 1), 0);
        set_boundary(d_backward, end, d_problem.symbols);
        for (int t = d_T; t-- > 0;) {
            for (int j = d_J; j >= 0; --j) {
                double b = d_weights.deletion() * d_backward[(t + 1) * (d_J + 1) + j];
                if (j < d_J) {
                    b += d_weights.transmission(j, d_sent[t]) *
                         d_backward[(t + 1) * (d_J + 1) + j + 1];
                    b += d_weights.insertion() * d_backward[t * (d_J + 1) + j + 1];
                }
                d_backward[t * (d_J + 1) + j] = b;
            }
        }
    }

    void
    set_boundary(std::vector<double>& grid, const std::vector<double>& row, unsigned i)
    {
        const int t = i * d_problem.code.n();
        for (int m = 0; m < int(row.size()); ++m) {
            const int j = d_weights.position(i, m);
            if (j >= 0 && j <= d_J) {
                grid[t * (d_J + 1) + j] = row[m];
            }
        }
    }

    const map_problem& d_problem;
    lattice_weights<double> d_weights;
    int d_T, d_J;
    std::vector<std::uint8_t> d_sent;
    std::vector<double> d_forward, d_backward;
};

} // namespace

map_problem frame_problem(const sync_code& code,
                          const bsid_model& channel,
                          drift_range window,
                          const std::vector<std::uint8_t>& received)
{
    map_problem p{ code, channel, window, code.frame_symbols(), 0, {}, {}, {}, {} };
    for (const auto y : received) {
        for (unsigned x = 0; x < code.alphabet(); ++x) {
            p.likelihood.push_back(x == y);
        }
    }
    const int end = int(received.size()) - int(code.frame_bits());
    if (!window.contains(0) || !window.contains(end)) {
        refuse("drift at the frame's end", end, "the drift must be in the window");
    }
    p.start.assign(window.size(), 0);
    p.start[-window.first] = 1;
    p.end.assign(window.size(), 0);
    p.end[end - window.first] = 1;
    return p;
}

namespace {

// Replaces \p message by the next message; returns false after the last message.
bool next_message(std::vector<unsigned>& message, unsigned q)
{
    for (auto& D : message) {
        D = (D + 1) % q;
        if (D != 0) {
            return true;
        }
    }
    return false;
}

} // namespace

map_result enumeration(const map_problem& p)
{
    const unsigned q = p.code.q();
    const lattice_weights<double> w(p);
    const unsigned M = p.window.size();
    map_result r;
    r.posteriors.assign(std::size_t(p.symbols) * q, 0);
    r.drifts.assign((p.symbols + 1u) * M, 0);
    double total = 0;
    std::vector<unsigned> message(p.symbols, 0);
    for (bool more = true; more;) {
        const message_lattice lattice(p, message);
        double prior = 1;
        for (unsigned i = 0; i < p.symbols; ++i) {
            prior *= w.prior(i, message[i]);
        }
        const double P = prior * lattice.probability();
        total += P;
        for (unsigned i = 0; i <= p.symbols; ++i) {
            if (i < p.symbols) {
                r.posteriors[i * q + message[i]] += P;
            }
            for (unsigned m = 0; m < M; ++m) {
                r.drifts[i * M + m] += prior * lattice.through(i, m);
            }
        }
        more = next_message(message, q);
    }
    if (!(total > 0)) {
        return unknown(p);
    }
    for (auto& x : r.posteriors) {
        x /= total;
    }
    for (unsigned i = 0; i <= p.symbols; ++i) {
        std::vector<double> row(&r.drifts[i * M], &r.drifts[i * M] + M);
        normalise(row);
        std::copy(row.begin(), row.end(), &r.drifts[i * M]);
    }
    r.log_probability = std::log(total);
    return r;
}

map_result corridor(const map_problem& p, drift_range change)
{
    return forward_backward<double>(p, corridor_step<double>(p, change));
}

map_result corridor_exact(const map_problem& p, drift_range change)
{
    return forward_backward<exact>(p, corridor_step<exact>(p, change));
}

map_result linear(const map_problem& p)
{
    return forward_backward<double>(p, linear_step(p));
}

namespace {

// The quantity that scale_rows() makes 1 in each row: the sum or the largest value.
enum class unit { sum, largest };
void scale_rows(std::vector<double>& rows, unsigned q, unit of, double floor = 0)
{
    for (std::size_t i = 0; i < rows.size(); i += q) {
        double whole = 0;
        for (unsigned D = 0; D < q; ++D) {
            whole = of == unit::sum ? whole + rows[i + D] : std::max(whole, rows[i + D]);
        }
        for (unsigned D = 0; D < q; ++D) {
            rows[i + D] = std::max(floor, rows[i + D] / whole);
        }
    }
}

// Returns the priors with each row divided by its largest value and rounded to float;
// ones if the problem has no priors.
std::vector<double> known_before(const map_problem& p)
{
    if (p.priors.empty()) {
        return std::vector<double>(p.symbols * p.code.q(), 1.0);
    }
    auto known = p.priors;
    scale_rows(known, p.code.q(), unit::largest);
    for (auto& weight : known) {
        weight = float(weight);
    }
    return known;
}

} // namespace

std::vector<double> joint_posteriors(const std::vector<map_problem>& reads)
{
    const auto& first = reads.front();
    const unsigned q = first.code.q(), N = first.symbols;
    const auto known = known_before(first);
    std::vector<double> L(known.size());
    std::vector<unsigned> message(N);
    do {
        double P = 1;
        for (unsigned i = 0; i < N; ++i) {
            P *= known[i * q + message[i]];
        }
        for (const auto& p : reads) {
            P *= message_lattice(p, message).probability();
        }
        for (unsigned i = 0; i < N; ++i) {
            L[i * q + message[i]] += P;
        }
    } while (next_message(message, q));
    scale_rows(L, q, unit::sum);
    return L;
}

std::vector<double> read_by_read(const std::vector<map_problem>& reads, unsigned passes)
{
    const unsigned q = reads.front().code.q();
    const auto known = known_before(reads.front());
    std::vector<std::vector<double>> extrinsics(reads.size(),
                                                std::vector<double>(known.size(), 1.0));
    const auto product_but = [&](std::size_t r) {
        std::vector<double> product(known.size(), 1.0);
        for (std::size_t other = 0; other < extrinsics.size(); ++other) {
            for (std::size_t k = 0; other != r && k < product.size(); ++k) {
                product[k] *= extrinsics[other][k];
            }
        }
        return product;
    };
    for (unsigned pass = 0; pass < passes; ++pass) {
        for (std::size_t r = 0; r < reads.size(); ++r) {
            auto weights = product_but(r);
            scale_rows(weights, q, unit::largest, read_rule::min_extrinsic);
            for (std::size_t k = 0; k < weights.size(); ++k) {
                weights[k] = float(weights[k] * known[k]);
            }
            auto p = reads[r];
            p.priors = weights;
            scale_rows(p.priors, q, unit::sum);
            const auto found = linear(p);
            if (!found.valid) {
                continue;
            }
            auto extrinsic = found.posteriors;
            for (std::size_t k = 0; k < extrinsic.size(); ++k) {
                extrinsic[k] = weights[k] > 0 ? extrinsic[k] / weights[k] : 0;
            }
            scale_rows(extrinsic, q, unit::largest, read_rule::min_extrinsic);
            for (std::size_t k = 0; k < extrinsic.size(); ++k) {
                extrinsics[r][k] = float(extrinsic[k]);
            }
        }
    }
    auto L = product_but(reads.size());
    for (std::size_t k = 0; k < L.size(); ++k) {
        L[k] *= known[k];
    }
    scale_rows(L, q, unit::sum);
    return L;
}

} // namespace reference
} // namespace gr::gpufec::sync_map
