// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The forward recursion of the linear form with one word per SIMD lane, because only one
 * frame at a time is available. The file is compiled once per instruction set (namespace
 * GPUFEC_ISA, vectors of GPUFEC_LANES floats).
 *
 * A sweep over the drifts computes a few lattice rows in registers. Row t lags t steps
 * behind row 0, so that in step k all rows use the same received item. */

#include "flush_denormals.h"
#include "forward_recursion_kernels.h"
#include <cmath>
#include <cstring>

namespace gr::gpufec::sync_map {
namespace GPUFEC_ISA {

namespace {

// Maximum number of rows of a sweep. All rows must fit in registers; AVX-512 has twice as
// many registers as AVX2.
constexpr unsigned max_rows = GPUFEC_LANES >= 16 ? 10 : 5;

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
        c.scale_to_1();
        *frame.log_sum = c.d_log;
    }

private:
    typedef Real vec __attribute__((vector_size(4 * GPUFEC_LANES)));
    typedef std::uint8_t bytes __attribute__((vector_size(lanes)));
    // Result of a comparison of vecs: integers as wide as a Real.
    typedef decltype(vec{} < vec{}) mask;

    explicit carrier(const carried_frame& f)
        : d_f(f),
          d_M(f.window),
          d_groups((f.q + lanes - 1) / lanes),
          d_alpha(static_cast<vec*>(f.alpha)),
          d_sum(static_cast<vec*>(f.scratch)),
          d_rows(d_sum + (d_M + lanes - 1) / lanes * lanes)
    {
        for (unsigned m = d_M; d_sum + m < d_rows; ++m) {
            d_sum[m] = vec{};
        }
    }

    // Advances α from boundary i to the next.
    void step(unsigned i)
    {
        for (unsigned g = 0; g < d_groups; ++g) {
            words(i, g);
        }
        vec total{};
        for (unsigned m = 0; m < d_M; m += lanes) {
            total += d_alpha[m / lanes] = sums_of_lanes<lanes>(d_sum + m);
        }
        // Scales α only if its sum is outside a wide range. Scaling at every index would
        // make each index wait for the sum of the previous one.
        d_total = sum_of_lanes(total);
        if (!(d_total >= 1 && d_total < Real(1ull << 60))) {
            scale_to_1();
        }
    }

    void words(unsigned i, unsigned group)
    {
        const auto* word =
            d_f.words +
            (std::size_t((d_f.index + i) % d_f.frame_symbols) * d_groups + group) *
                d_f.n * lanes;
        const auto* Q = static_cast<const Real*>(d_f.transmission) +
                        std::size_t(i) * d_f.n * d_f.alphabet;
        // Divides the word into sweeps of nearly equal numbers of symbols.
        const unsigned most = d_f.alphabet == 2 && d_M >= max_rows ? max_rows : 1;
        const unsigned sweeps = (d_f.n + most - 1) / most;
        for (unsigned k = 0, t = 0; k < sweeps; ++k) {
            const unsigned rows = (d_f.n - t) / (sweeps - k);
            vec symbols[max_rows];
            for (unsigned r = 0; r < rows; ++r) {
                bytes b;
                std::memcpy(&b, word + std::size_t(t + r) * lanes, sizeof(b));
                symbols[r] = __builtin_convertvector(b, vec);
            }
            const auto* const at = Q + std::size_t(t) * d_f.alphabet;
            t += rows;
            const Real last = t < d_f.n ? Real(d_f.insertion) : 0;
            k == 0 ? sweep<true>(rows, at, symbols, last)
                   : sweep<false>(rows, at, symbols, last);
        }
        const mask real = lane_numbers() < vec{} + Real(int(d_f.q) - int(group * lanes));
        for (unsigned m = 0; m < d_M; ++m) {
            const vec x = real ? d_rows[m] : vec{};
            d_sum[m] = group == 0 ? x : d_sum[m] + x;
        }
    }

    /* Advances the lattices by `rows` rows. Each row applies the transmission or deletion
     * of a symbol and then insertions; in the last row the insertions have the weight
     * `last`. Q begins with the item at the first symbol of the sweep and the window's
     * first drift. If First is true, the sweep starts from α with insertions, otherwise
     * from d_rows. */
    template <bool First>
    void sweep(unsigned rows, const Real* Q, const vec* symbols, Real last)
    {
        if (d_f.alphabet == 2) {
            sweep_bits<max_rows, First>(rows, Q, symbols, last);
        } else {
            sweep<1, First, items::any>(Q, symbols, last);
        }
    }

    // Calls the sweep with template parameter Rows = `rows`, which is at most Most.
    template <unsigned Most, bool First>
    void sweep_bits(unsigned rows, const Real* Q, const vec* symbols, Real last)
    {
        if (rows == Most) {
            d_f.clean ? sweep<Most, First, items::clean_bits>(Q, symbols, last)
                      : sweep<Most, First, items::bits>(Q, symbols, last);
        } else if constexpr (Most > 1) {
            sweep_bits<Most - 1, First>(rows, Q, symbols, last);
        }
    }

    // Kinds of items: any alphabet; alphabet 2; and alphabet 2 with transmission weight 1
    // for one bit and 0 for the other, which saves multiplications.
    enum class items { any, bits, clean_bits };

    template <unsigned Rows, bool First, items Items>
    void sweep(const Real* Q, const vec* symbols, Real last)
    {
        const vec c = vec{} + Real(d_f.insertion), pd = vec{} + Real(d_f.deletion),
                  c_last = vec{} + last;
        const std::size_t M = d_M, s = Items == items::any ? d_f.alphabet : 2;
        const auto* const alpha = reinterpret_cast<const Real*>(d_alpha);
        mask is_sent[2][Rows]; // [b][r]: lanes whose symbol in row r is the bit b
        for (unsigned r = 0; r < Rows; ++r) {
            is_sent[1][r] = symbols[r] > 0;
            is_sent[0][r] = ~is_sent[1][r];
        }
        vec x[Rows + 1] = {};
        const auto input = [&](std::size_t k) __attribute__((always_inline))
        {
            return First ? c * x[0] + alpha[k] : d_rows[k];
        };
        // Computes step k of rows low to high. These rows must lie within the window.
        const auto step = [&](std::size_t k, vec in, unsigned low, unsigned high)
            __attribute__((always_inline))
        {
            const auto* const at = Q + (k - 1) * s;
            const vec zero = vec{} + at[0], one = vec{} + at[1];
            const mask* const right = is_sent[at[1] > 0];
            vec before = x[0], now = in;
            x[0] = in;
            for (unsigned t = 1; t <= Rows; ++t) {
                const vec old = x[t];
                if (t < low || t > high) {
                    now = vec{};
                } else {
                    const vec inserted = (t < Rows ? c : c_last) * old;
                    if (Items == items::clean_bits) {
                        now = pd * now + (inserted + vec(mask(before) & right[t - 1]));
                    } else {
                        vec weight = is_sent[1][t - 1] ? one : zero;
                        for (unsigned y = 2; y < s; ++y) {
                            weight = symbols[t - 1] == Real(y) ? vec{} + at[y] : weight;
                        }
                        now = pd * now + (inserted + weight * before);
                    }
                    x[t] = now;
                }
                before = old;
            }
        };
        x[0] = input(0);
        for (std::size_t k = 1; k < Rows; ++k) {
            step(k, input(k), 1, k);
        }
        for (std::size_t k = Rows; k < M; ++k) {
            step(k, input(k), 1, Rows);
            d_rows[k - Rows] = x[Rows];
        }
        for (std::size_t gone = 0; gone < Rows; ++gone) {
            step(M + gone, vec{}, gone + 1, Rows);
            d_rows[M + gone - Rows] = x[Rows];
        }
    }

    static mask mask_of(unsigned first, unsigned stride)
    {
        mask m;
        for (unsigned l = 0; l < lanes; ++l) {
            m[l] = first + l * stride;
        }
        return m;
    }
    static vec lane_numbers() { return __builtin_convertvector(mask_of(0, 1), vec); }

    // Selects lanes of a and b: index k in `from` selects lane k of a if k < `lanes`, and
    // lane k − `lanes` of b otherwise.
    static vec picked(vec a, vec b, mask from)
    {
#ifdef __clang__
        vec found;
        for (unsigned l = 0; l < lanes; ++l) {
            const auto at = unsigned(from[l]);
            found[l] = at < lanes ? a[at] : b[at - lanes];
        }
        return found;
#else
        return __builtin_shuffle(a, b, from);
#endif
    }

    // Returns lanes / Rows partial sums of each of `Rows` rows, in row order. With as
    // many rows as lanes, these are the sums over all lanes.
    template <unsigned Rows>
    static vec sums_of_lanes(const vec* rows)
    {
        if constexpr (Rows == 1) {
            return rows[0];
        } else {
            const vec a = sums_of_lanes<Rows / 2>(rows),
                      b = sums_of_lanes<Rows / 2>(rows + Rows / 2);
            return picked(a, b, mask_of(0, 2)) + picked(a, b, mask_of(1, 2));
        }
    }

    static Real sum_of_lanes(vec v)
    {
        Real each[lanes];
        std::memcpy(each, &v, sizeof(v));
        for (unsigned half = lanes / 2; half > 0; half /= 2) {
            for (unsigned l = 0; l < half; ++l) {
                each[l] += each[l + half];
            }
        }
        return each[0];
    }

    // Scales α to sum 1 unless its sum is 0.
    void scale_to_1()
    {
        const vec scale = vec{} + (d_total > 0 ? 1 / d_total : 0);
        for (unsigned m = 0; m < d_M; m += lanes) {
            d_alpha[m / lanes] *= scale;
        }
        d_log += std::log(double(d_total));
        d_total = d_total > 0 ? 1 : 0;
    }

    const carried_frame& d_f;
    const unsigned d_M, d_groups;
    vec* d_alpha;
    Real d_total = 0; // sum of α
    double d_log = 0; // natural logarithm of the product of all divisors of α
    vec* d_sum;       // per drift: the last lattice row, summed over groups of words
    vec* d_rows;      // lattice row from which a sweep starts, and its result
};

template <class Real>
constexpr forward_recursion_kernel kernel()
{
    return { carrier<Real>::lanes, sizeof(Real), carrier<Real>::carry };
}

} // namespace

extern const forward_recursion_kernels carriers;
const forward_recursion_kernels carriers = { kernel<float>(), kernel<double>() };

} // namespace GPUFEC_ISA
} // namespace gr::gpufec::sync_map
