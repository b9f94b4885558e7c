// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The arithmetic of links, which both backends follow to the last bit: whoever compares,
 * the same frames are decoded again. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_LINK_RULE_H
#define INCLUDED_GPUFEC_SYNC_MAP_LINK_RULE_H

#include <cmath>

#ifdef __CUDACC__
#define GPUFEC_ANYWHERE __host__ __device__
#else
#define GPUFEC_ANYWHERE
#endif

namespace gr::gpufec::sync_map {

struct link {
    //! Total variation between α that a frame ends with and α that the next began with.
    float difference = 0;
    //! No posterior of the next frame is off by more because of that.
    float start_bound = 0;
    //! No posterior of the frame is off by more because it looks ahead so far only.
    float end_bound = 0;
};

//! Sums have so many parts, for one alone would wait for each addition: part k has every
//! term whose number is k modulo so many. Parts are added in order, in double.
constexpr int link_parts = 8;

//! Rounded, and never joined with an addition.
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
 * \brief Compares the boundary between two frames.
 *
 * With β of boundary 0, a posterior is A(D) / Σ α·β with A(D) at most Σ α·β; so, with
 * both α scaled to Σ α·β = 1, it changes by at most Σ |α − α'|·β. The same holds with α
 * and β exchanged. No β of boundary 0 is above 1, which is what is taken where it is not
 * known.
 *
 * \p carried, \p looked: α and β that the frame ends with; \p began, \p ahead: that the
 * next begins with, \p window values each. Drift number m of the next frame is number
 * m + \p shift of this one, −window to window. \p sum(first, last, term, all) sums what
 * term(m, to) writes to arrays of as many sums.
 */
template <class Real, class Sum>
GPUFEC_ANYWHERE link link_of(const Real* carried,
                             const Real* looked,
                             const Real* began,
                             const Real* ahead,
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
            to[0] = carried[m];
            to[1] = looked[m];
            to[2] = began[m];
            to[3] = ahead[m];
        },
        rows);
    // All rows are scaled to sum 1, so that products stay within the range of a float.
    const Real scale_carried = inverse(rows[0]), scale_looked = inverse(rows[1]),
               scale_began = inverse(rows[2]), scale_ahead = inverse(rows[3]);
    const auto a = [&](int m) {
        return there(m + shift) ? rounded_product(carried[m + shift], scale_carried)
                                : Real(0);
    };
    const auto y = [&](int m) {
        return there(m + shift) ? rounded_product(looked[m + shift], scale_looked)
                                : Real(0);
    };
    const auto b = [&](int m) {
        return there(m) ? rounded_product(began[m], scale_began) : Real(0);
    };
    const auto x = [&](int m) {
        return there(m) ? rounded_product(ahead[m], scale_ahead) : Real(0);
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

#endif /* INCLUDED_GPUFEC_SYNC_MAP_LINK_RULE_H */
