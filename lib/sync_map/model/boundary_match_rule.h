// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The arithmetic of boundary matches: comparisons of the metrics of two consecutive
 * frames of a stream at their common boundary. For the same metrics, the CPU and the GPU
 * obtain bit-identical results, so that both select the same frames for a second
 * decoding.
 */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_MODEL_BOUNDARY_MATCH_RULE_H
#define INCLUDED_GPUFEC_SYNC_MAP_MODEL_BOUNDARY_MATCH_RULE_H

#include <cmath>

#ifdef __CUDACC__
#define GPUFEC_ANYWHERE __host__ __device__
#else
#define GPUFEC_ANYWHERE
#endif

namespace gr::gpufec::sync_map {

struct boundary_match {
    //! Total variation distance between the forward metrics α at the end of a frame and
    //! at the beginning of the next frame, each scaled to sum 1.
    float difference = 0;
    //! Upper bound on the error that this difference causes in the next frame's
    //! posteriors.
    float start_bound = 0;
    //! Upper bound on the error that the limited look-ahead causes in the posteriors of
    //! the frame before the boundary.
    float end_bound = 0;
};

//! Number of partial sums per sum. Several partial sums hide the latency of an
//! addition. Part k adds the terms k, k + boundary_match_parts, and so on. The parts are
//! then added in order, in double.
constexpr int boundary_match_parts = 8;

//! Returns the product, rounded to its type. Prevents nvcc from fusing the multiplication
//! with an addition, which would skip this rounding and change the result.
GPUFEC_ANYWHERE inline float rounded_product(float a, float b)
{
#ifdef __CUDA_ARCH__
    return __fmul_rn(a, b);
#else
    return a * b;
#endif
}
GPUFEC_ANYWHERE inline double rounded_product(double a, double b)
{
#ifdef __CUDA_ARCH__
    return __dmul_rn(a, b);
#else
    return a * b;
#endif
}

/*!
 * \brief Compares the metrics of two frames at their common boundary.
 *
 * The posterior of a symbol D is A(D) / Σ α·β. The sum runs over the drifts at the
 * boundary. A(D) is the part of the sum that paths with symbol D contribute, so A(D) is
 * at most Σ α·β. If α and another version α' are both scaled to Σ α·β = 1, the posterior
 * therefore differs by at most Σ |α − α'|·β. The bound also applies with α and β
 * exchanged. β is scaled to sum 1, so no value exceeds 1. At drifts outside the next
 * frame's window, β is unknown, and 1 is used.
 *
 * \param alpha_end, beta_end α and β at the end of the frame, \p window values each
 * \param alpha_begin, beta_begin α and β at the beginning of the next frame, \p window
 *        values each
 * \param window number of drifts
 * \param shift number to add to a drift number of the next frame to obtain the number of
 *        the same drift in this frame
 * \param sum function sum(first, last, term, all) that adds the arrays that term(m, to)
 *        writes for m = first … last − 1 and stores the sum in \c all
 */
template <class Real, class Sum>
GPUFEC_ANYWHERE boundary_match boundary_match_of(const Real* alpha_end,
                                                 const Real* beta_end,
                                                 const Real* alpha_begin,
                                                 const Real* beta_begin,
                                                 int window,
                                                 int shift,
                                                 const Sum& sum)
{
    const auto inverse = [](double x) { return x > 0 ? Real(1 / x) : Real(0); };
    const auto there = [window](int m) { return m >= 0 && m < window; };

    double rows[4];
    sum(
        0,
        window,
        [&](int m, Real(&to)[4]) {
            to[0] = alpha_end[m];
            to[1] = beta_end[m];
            to[2] = alpha_begin[m];
            to[3] = beta_begin[m];
        },
        rows);
    // Factors that scale each row to sum 1, so that products stay within the range of a
    // float.
    const Real scale_alpha_end = inverse(rows[0]), scale_beta_end = inverse(rows[1]),
               scale_alpha_begin = inverse(rows[2]), scale_beta_begin = inverse(rows[3]);
    const auto a = [&](int m) {
        return there(m + shift) ? rounded_product(alpha_end[m + shift], scale_alpha_end)
                                : Real(0);
    };
    const auto y = [&](int m) {
        return there(m + shift) ? rounded_product(beta_end[m + shift], scale_beta_end)
                                : Real(0);
    };
    const auto b = [&](int m) {
        return there(m) ? rounded_product(alpha_begin[m], scale_alpha_begin) : Real(0);
    };
    const auto x = [&](int m) {
        return there(m) ? rounded_product(beta_begin[m], scale_beta_begin) : Real(0);
    };
    const int first = shift > 0 ? -shift : 0;
    const int last = shift < 0 ? window - shift : window;

    double products[3];
    sum(
        first,
        last,
        [&](int m, Real(&to)[3]) {
            to[0] = rounded_product(a(m), x(m));
            to[1] = rounded_product(b(m), x(m));
            to[2] = rounded_product(a(m), y(m));
        },
        products);
    const Real p = inverse(products[0]), q = inverse(products[1]),
               r = inverse(products[2]);

    double differences[3];
    sum(
        first,
        last,
        [&](int m, Real(&to)[3]) {
            const Real am = a(m), bm = b(m), xm = x(m);
            to[0] = std::abs(am - bm);
            to[1] =
                rounded_product(std::abs(rounded_product(am, p) - rounded_product(bm, q)),
                                there(m) ? xm : Real(1));
            to[2] = rounded_product(
                am, std::abs(rounded_product(y(m), r) - rounded_product(xm, p)));
        },
        differences);
    const auto at_most_1 = [](double x) { return x < 1 ? float(x) : 1.0f; };
    if (p > 0 && q > 0 && r > 0) {
        return { at_most_1(differences[0] / 2),
                 at_most_1(differences[1]),
                 at_most_1(differences[2]) };
    }
    return { 1, 1, 1 };
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_MODEL_BOUNDARY_MATCH_RULE_H */
