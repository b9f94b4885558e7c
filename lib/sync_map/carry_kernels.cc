/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* The forward recursion of the linear form with one word a SIMD lane: frames of a stream
 * come one after the other, so there is only one to be carried over at a time. Compiled
 * for each instruction set (namespace GPUFEC_ISA, vectors of GPUFEC_LANES floats). */

#include "carry_kernels.h"
#include "flush_denormals.h"
#include <algorithm>
#include <cstring>

namespace gr {
namespace gpufec {
namespace GPUFEC_ISA {

namespace {

template <class Real>
class carrier
{
public:
    static constexpr unsigned lanes = 4 * GPUFEC_LANES / sizeof(Real);

    static void carry(const carried_frame& frame)
    {
        const flush_denormals guard;
        carrier c(frame);
        for (unsigned i = 0; i < frame.symbols; ++i) {
            c.step(i);
        }
    }

private:
    typedef Real vec __attribute__((vector_size(4 * GPUFEC_LANES)));
    typedef std::uint8_t bytes __attribute__((vector_size(lanes)));
    // Of the width of a Real, as comparisons of vecs give.
    typedef decltype(vec{} < vec{}) mask;

    explicit carrier(const carried_frame& f)
        : d_f(f),
          d_M(f.window),
          d_groups((f.q + lanes - 1) / lanes),
          d_alpha(static_cast<Real*>(f.alpha)),
          d_sum(static_cast<vec*>(f.scratch)),
          d_first(reinterpret_cast<Real*>(d_sum + d_M)),
          d_rows(d_sum + 2 * std::size_t(d_M))
    {
    }

    // α of boundary i becomes that of the next.
    void step(unsigned i)
    {
        const Real c = d_f.insertion;
        Real x = 0;
        for (unsigned m = 0; m < d_M; ++m) {
            d_first[m] = x = d_alpha[m] + c * x;
        }
        std::fill_n(d_sum, d_M, vec{});
        // Several at once, for each waits for its own insertions.
        unsigned g = 0;
        for (; g + 4 <= d_groups; g += 4) {
            words<4>(i, g);
        }
        for (; g + 2 <= d_groups; g += 2) {
            words<2>(i, g);
        }
        if (g < d_groups) {
            words<1>(i, g);
        }
        normalise();
    }

    template <unsigned Groups>
    void words(unsigned i, unsigned group)
    {
        const auto* word =
            d_f.words +
            (std::size_t(i % d_f.frame_symbols) * d_groups + group) * d_f.n * lanes;
        const auto* Q = static_cast<const Real*>(d_f.transmission) +
                        std::size_t(i) * d_f.n * d_f.alphabet;
        for (unsigned g = 0; g < Groups; ++g) {
            for (unsigned m = 0; m < d_M; ++m) {
                d_rows[m * Groups + g] = vec{} + d_first[m];
            }
        }
        for (unsigned t = 0; t < d_f.n; ++t) {
            vec symbols[Groups];
            for (unsigned g = 0; g < Groups; ++g) {
                bytes b;
                std::memcpy(&b, word + (std::size_t(g) * d_f.n + t) * lanes, sizeof(b));
                symbols[g] = __builtin_convertvector(b, vec);
            }
            const Real c = t + 1 < d_f.n ? d_f.insertion : 0;
            const auto* const at = Q + std::size_t(t) * d_f.alphabet;
            d_f.alphabet == 2 ? row<Groups, true>(at, symbols, c)
                              : row<Groups, false>(at, symbols, c);
        }
        for (unsigned g = 0; g < Groups; ++g) {
            const mask real =
                lane_numbers() < vec{} + Real(int(d_f.q) - int((group + g) * lanes));
            for (unsigned m = 0; m < d_M; ++m) {
                d_sum[m] += real ? d_rows[m * Groups + g] : vec{};
            }
        }
    }

    // One row of the lattices on: D, then the insertions.
    template <unsigned Groups, bool Bits>
    void row(const Real* Q, const vec* symbols, Real insertion)
    {
        const vec c = vec{} + insertion, pd = vec{} + Real(d_f.deletion);
        const unsigned s = d_f.alphabet;
        vec now[Groups], inserted[Groups] = {};
        for (unsigned g = 0; g < Groups; ++g) {
            now[g] = d_rows[g];
        }
        for (unsigned m = 0; m < d_M; ++m, Q += s) {
            for (unsigned g = 0; g < Groups; ++g) {
                const vec next = m + 1 < d_M ? d_rows[(m + 1) * Groups + g] : vec{};
                vec weight = symbols[g] > 0 ? vec{} + Q[1] : vec{} + Q[0];
                for (unsigned x = 2; !Bits && x < s; ++x) {
                    weight = symbols[g] == Real(x) ? vec{} + Q[x] : weight;
                }
                inserted[g] = weight * now[g] + pd * next + c * inserted[g];
                d_rows[m * Groups + g] = inserted[g];
                now[g] = next;
            }
        }
    }

    static vec lane_numbers()
    {
        vec v;
        for (unsigned l = 0; l < lanes; ++l) {
            v[l] = l;
        }
        return v;
    }

    // Words summed, and scaled to sum 1, where there is a sum.
    void normalise()
    {
        Real sum = 0;
        for (unsigned m = 0; m < d_M; ++m) {
            Real each[lanes];
            std::memcpy(each, &d_sum[m], sizeof(each));
            for (unsigned half = lanes / 2; half > 0; half /= 2) {
                for (unsigned l = 0; l < half; ++l) {
                    each[l] += each[l + half];
                }
            }
            d_alpha[m] = each[0];
            sum += each[0];
        }
        const Real scale = sum > 0 ? 1 / sum : 0;
        for (unsigned m = 0; m < d_M; ++m) {
            d_alpha[m] *= scale;
        }
    }

    const carried_frame& d_f;
    const unsigned d_M, d_groups;
    Real* d_alpha;
    vec* d_sum;
    Real* d_first; // row 0 of every word
    vec* d_rows;   // of up to four groups, those of a drift together
};

template <class Real>
constexpr carry_kernel kernel()
{
    return { carrier<Real>::lanes, sizeof(Real), carrier<Real>::carry };
}

} // namespace

extern const carry_kernels carriers;
const carry_kernels carriers = { kernel<float>(), kernel<double>() };

} // namespace GPUFEC_ISA
} // namespace gpufec
} // namespace gr
