// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The linear form with one frame per SIMD lane, compiled once per instruction set
 * (namespace GPUFEC_ISA, vectors of GPUFEC_LANES floats).
 *
 * A lattice row r has one weight per drift m. For each channel symbol x of a word, two
 * operators act on the row. I inserts any number of items; D_x transmits or deletes x:
 *   (I r)(m) = r(m) + Pi/s·(I r)(m − 1),   (D_x r)(m) = Q_x(m)·r(m) + Pd·r(m + 1).
 * Pi and Pd are the probabilities of insertion and deletion, s is the size of the
 * alphabet, and Q_x(m) is the transmission weight. The backward recursion applies the
 * transposed operators.
 *
 * Prefix rows are computed from α down the prefix trie; rows at its leaves include the
 * insertions before the next symbol. Suffix rows are computed from β down the suffix
 * trie. The scalar product of a prefix row and a suffix row is the posterior of a word,
 * not yet normalised. Sums over words are merged up a trie into the next α or β. */

#include "flush_denormals.h"
#include "kernels.h"
#include <type_traits>
#include <cmath>
#include <cstring>

namespace gr::gpufec::sync_map {
namespace GPUFEC_ISA {

namespace {

constexpr unsigned vector_bytes = 4 * GPUFEC_LANES;

// The linear form with lattice rows of type Row and boundary metrics of type Metric. A
// vector has one lane per Metric.
template <class Row, class Metric>
class linear_form
{
public:
    static constexpr unsigned lanes = vector_bytes / sizeof(Metric);

    static void decode(const lane_frames& frames)
    {
        const flush_denormals guard;
        linear_form form(frames);
        form.run_forward();
        form.run_backward();
    }

private:
    typedef Row vec __attribute__((vector_size(lanes * sizeof(Row))));
    typedef Metric mvec __attribute__((vector_size(vector_bytes)));

    explicit linear_form(const lane_frames& f)
        : d_f(f),
          d_tries(*f.tries),
          d_M(f.window),
          d_s(d_tries.alphabet()),
          d_insertion(vec{} + Row(f.insertion)),
          d_deletion(vec{} + Row(f.deletion)),
          d_transmission(static_cast<const vec*>(f.transmission)),
          d_priors(static_cast<const vec*>(f.priors)),
          d_alpha(static_cast<mvec*>(f.alpha))
    {
        auto* rows = static_cast<vec*>(f.rows);
        const auto take = [&](std::size_t count) {
            auto* r = rows;
            rows += count * d_M;
            return r;
        };
        d_boundary = take(1);
        d_prefix = take(d_tries.max_leaves());
        d_suffix = take(d_tries.max_leaves());
        d_sums = take(d_tries.max_leaves());
        d_stack = rows;
        for (unsigned l = 0; l < lanes; ++l) {
            d_log[l] = 0;
            d_product[l] = 1;
        }
    }

    // Returns the transmission weights of index i for branches below nodes at `depth`.
    template <bool Prefix>
    const vec* weights(unsigned i, unsigned depth) const
    {
        const auto t = Prefix ? depth : d_tries.n() - 1 - depth;
        return d_transmission + (std::size_t(d_tries.n()) * i + t) * d_s;
    }

    // Returns the index of the row element that a recursion visits in step k.
    template <bool Up>
    unsigned at(unsigned k) const
    {
        return Up ? k : d_M - 1 - k;
    }

    // ---- lattice steps, each for up to two branches ----

    // Computes the rows of a node's children: upwards for prefixes and, by the transposed
    // operators, downwards for suffixes. If Before is true, insertions are first applied
    // to the node's row; if After is true, the rows include the insertions that follow.
    template <bool Up, unsigned Branches, bool Before, bool After>
    void split(const vec* parent, const vec* Q, const word_trie::node* child, vec** out)
    {
        const vec c = d_insertion, pd = d_deletion;
        const unsigned M = d_M, s = d_s;
        vec x = parent[at<Up>(0)];
        vec inserted[Branches] = {};
        const auto emit = [&](unsigned m, vec deleted) {
            for (unsigned b = 0; b < Branches; ++b) {
                vec v = Q[m * s + child[b].symbol] * x + deleted;
                if (After) {
                    v += c * inserted[b];
                    inserted[b] = v;
                }
                out[b][m] = v;
            }
        };
        for (unsigned k = 0; k + 1 < M; ++k) {
            const vec received = parent[at<Up>(k + 1)];
            const vec next = Before ? received + c * x : received;
            emit(at<Up>(k), pd * next);
            x = next;
        }
        emit(at<Up>(M - 1), vec{});
    }

    // Applies D_x, with the symbol x of each child, to the children's rows and sums the
    // results into their node's row: upwards for suffixes and downwards for prefixes. If
    // Insert is true, insertions follow; if Add is true, the sum is added to the row's
    // present contents.
    template <bool Up, unsigned Branches, bool Insert, bool Add>
    void merge(vec** in, const vec* Q, const word_trie::node* child, vec* out)
    {
        const vec c = d_insertion, pd = d_deletion;
        const unsigned M = d_M, s = d_s;
        vec x[Branches];
        for (unsigned b = 0; b < Branches; ++b) {
            x[b] = in[b][at<Up>(0)];
        }
        vec inserted{};
        for (unsigned k = 0; k < M; ++k) {
            const auto m = at<Up>(k);
            vec v = Add ? out[m] : vec{};
            vec deleted{};
            for (unsigned b = 0; b < Branches; ++b) {
                v += Q[m * s + child[b].symbol] * x[b];
                x[b] = k + 1 < M ? in[b][at<Up>(k + 1)] : vec{};
                deleted = b == 0 ? x[b] : deleted + x[b];
            }
            v += pd * deleted;
            if (Insert) {
                v += c * inserted;
                inserted = v;
            }
            out[m] = v;
        }
    }

    template <bool Up>
    void insert(const vec* in, vec* out)
    {
        vec x{};
        for (unsigned k = 0; k < d_M; ++k) {
            const auto m = at<Up>(k);
            out[m] = x = in[m] + d_insertion * x;
        }
    }

    // Calls two(b) for each pair of children, because a step processes up to two branches
    // at a time, and one(b) for the last child if the number of children is odd.
    template <class Two, class One>
    static void in_pairs(unsigned children, Two&& two, One&& one)
    {
        unsigned b = 0;
        for (; b + 2 <= children; b += 2) {
            two(b);
        }
        if (b < children) {
            one(b);
        }
    }

    // ---- tries ----

    // Chooses the rows of a node's children: each leaf has its own row, other nodes use
    // scratch rows.
    void
    child_rows(const word_trie& t, const word_trie::node& node, vec* leaves, vec* scratch)
    {
        for (unsigned b = 0; b < node.children; ++b) {
            const auto& child = t.nodes[node.child + b];
            d_children[b] = child.children == 0 ? leaves + std::size_t(child.leaf) * d_M
                                                : scratch + b * d_M;
        }
    }

    // Computes the rows of all nodes below a node from its row.
    template <bool Prefix>
    void split_node(const word_trie& t,
                    const word_trie::node& node,
                    unsigned i,
                    unsigned depth,
                    const vec* row,
                    vec* scratch)
    {
        const auto* child = &t.nodes[node.child];
        const auto* Q = weights<Prefix>(i, depth);
        const bool leaf = child->children == 0;
        child_rows(t, node, Prefix ? d_prefix : d_suffix, scratch);
        const auto run = [&](auto before, auto after) {
            constexpr bool Before = decltype(before)::value,
                           After = decltype(after)::value;
            in_pairs(
                node.children,
                [&](unsigned b) {
                    split<Prefix, 2, Before, After>(row, Q, child + b, d_children + b);
                },
                [&](unsigned b) {
                    split<Prefix, 1, Before, After>(row, Q, child + b, d_children + b);
                });
        };
        if constexpr (Prefix) {
            leaf ? run(std::true_type(), std::true_type())
                 : run(std::true_type(), std::false_type());
        } else {
            depth == 0 ? run(std::false_type(), std::false_type())
                       : run(std::true_type(), std::false_type());
        }
        for (unsigned b = 0; !leaf && b < node.children; ++b) {
            split_node<Prefix>(t,
                               child[b],
                               i,
                               depth + 1,
                               scratch + b * d_M,
                               scratch + node.children * d_M);
        }
    }

    // Computes the row of a node from the sums at its leaves.
    template <bool Prefix>
    void merge_node(const word_trie& t,
                    const word_trie::node& node,
                    unsigned i,
                    unsigned depth,
                    vec* out,
                    vec* scratch)
    {
        const auto* child = &t.nodes[node.child];
        for (unsigned b = 0; child->children != 0 && b < node.children; ++b) {
            merge_node<Prefix>(t,
                               child[b],
                               i,
                               depth + 1,
                               scratch + b * d_M,
                               scratch + node.children * d_M);
        }
        const auto* Q = weights<Prefix>(i, depth);
        child_rows(t, node, d_sums, scratch);
        const bool inserts = Prefix || depth > 0;
        if (node.children > 2) {
            std::memset(out, 0, d_M * sizeof(vec));
            in_pairs(
                node.children,
                [&](unsigned b) {
                    merge<!Prefix, 2, false, true>(d_children + b, Q, child + b, out);
                },
                [&](unsigned b) {
                    merge<!Prefix, 1, false, true>(d_children + b, Q, child + b, out);
                });
            if (inserts) {
                insert<!Prefix>(out, out);
            }
        } else if (node.children == 2) {
            inserts ? merge<!Prefix, 2, true, false>(d_children, Q, child, out)
                    : merge<!Prefix, 2, false, false>(d_children, Q, child, out);
        } else {
            inserts ? merge<!Prefix, 1, true, false>(d_children, Q, child, out)
                    : merge<!Prefix, 1, false, false>(d_children, Q, child, out);
        }
    }

    // Stores in d_sums, for each leaf of trie `to`, the sum of the rows that the leaf's
    // words have in trie `from`, weighted by the priors of index i.
    void
    sum_words(const word_trie& to, const word_trie& from, const vec* rows, unsigned i)
    {
        for (unsigned leaf = 0; leaf < to.leaves(); ++leaf) {
            auto* out = d_sums + std::size_t(leaf) * d_M;
            for (unsigned k = to.begin[leaf]; k < to.begin[leaf + 1]; ++k) {
                const unsigned D = to.order[k];
                const auto* row = rows + std::size_t(from.leaf[D]) * d_M;
                const vec prior = d_priors ? d_priors[std::size_t(i) * d_tries.q() + D]
                                           : vec{} + Row(1);
                if (k == to.begin[leaf]) {
                    for (unsigned m = 0; m < d_M; ++m) {
                        out[m] = prior * row[m];
                    }
                } else {
                    for (unsigned m = 0; m < d_M; ++m) {
                        out[m] += prior * row[m];
                    }
                }
            }
        }
    }

    // Computes the rows of all prefixes of index i from α.
    void spread_alpha(const index_tries& t, unsigned i, const mvec* alpha)
    {
        for (unsigned m = 0; m < d_M; ++m) {
            d_boundary[m] = __builtin_convertvector(alpha[m], vec);
        }
        if (d_tries.split() == 0) {
            insert<true>(d_boundary, d_prefix);
        } else {
            split_node<true>(t.prefix, t.prefix.nodes[0], i, 0, d_boundary, d_stack);
        }
    }

    // ---- the recursions ----

    void run_forward()
    {
        std::memcpy(d_alpha, d_f.start, d_M * sizeof(mvec));
        for (unsigned i = 0; i < d_f.symbols; ++i) {
            const auto& t = d_tries[i % d_tries.frame_symbols()];
            spread_alpha(t, i, d_alpha + std::size_t(i) * d_M);
            sum_words(t.suffix, t.prefix, d_prefix, i);
            merge_node<false>(t.suffix, t.suffix.nodes[0], i, 0, d_boundary, d_stack);
            scale_by(normalise(d_boundary, d_alpha + std::size_t(i + 1) * d_M));
            // One logarithm serves four sums, because their product fits in a double.
            if (sizeof(Metric) == 8 || i % 4 == 3) {
                take_log();
            }
        }
        take_log();
    }

    void scale_by(const mvec& sum)
    {
        Metric each[lanes];
        std::memcpy(each, &sum, sizeof(each));
        for (unsigned l = 0; l < lanes; ++l) {
            d_product[l] *= each[l];
        }
    }

    void take_log()
    {
        for (unsigned l = 0; l < lanes; ++l) {
            d_log[l] += std::log(d_product[l]);
            d_product[l] = 1;
        }
    }

    // Scales a row to sum 1 unless its sum is 0; returns the sum.
    mvec normalise(const vec* row, mvec* out)
    {
        mvec sum{};
        for (unsigned m = 0; m < d_M; ++m) {
            sum += __builtin_convertvector(row[m], mvec);
        }
        const mvec scale = sum > 0 ? 1 / sum : mvec{};
        for (unsigned m = 0; m < d_M; ++m) {
            out[m] = __builtin_convertvector(row[m], mvec) * scale;
        }
        return sum;
    }

    void run_backward()
    {
        const unsigned N = d_f.symbols;
        const auto* end = static_cast<const mvec*>(d_f.end);
        mvec sum{};
        for (unsigned m = 0; m < d_M; ++m) {
            sum += d_alpha[std::size_t(N) * d_M + m] * end[m];
            d_boundary[m] = __builtin_convertvector(end[m], vec);
        }
        scale_by(sum);
        take_log();
        for (unsigned l = 0; l < lanes; ++l) {
            d_f.log_weight[l] = d_log[l];
        }
        for (unsigned i = N; i-- > 0;) {
            const auto& t = d_tries[i % d_tries.frame_symbols()];
            if (i + 1 == d_f.outputs) {
                drifts(i + 1, static_cast<mvec*>(d_f.last_drifts));
                keep_beta(d_f.last_beta);
            }
            split_node<false>(t.suffix, t.suffix.nodes[0], i, 0, d_boundary, d_stack);
            if (i < d_f.outputs) {
                spread_alpha(t, i, d_alpha + std::size_t(i) * d_M);
                posteriors(t, i);
            }
            sum_words(t.prefix, t.suffix, d_suffix, i);
            for (unsigned leaf = 0; leaf < t.prefix.leaves(); ++leaf) {
                auto* row = d_sums + std::size_t(leaf) * d_M;
                insert<false>(row, d_tries.split() == 0 ? d_boundary : row);
            }
            if (d_tries.split() > 0) {
                merge_node<true>(t.prefix, t.prefix.nodes[0], i, 0, d_boundary, d_stack);
            }
            rescale(d_boundary);
        }
        drifts(0, static_cast<mvec*>(d_f.first_drifts));
        keep_beta(d_f.first_beta);
    }

    void keep_beta(void* to) const
    {
        if (to) {
            std::memcpy(to, d_boundary, d_M * sizeof(vec));
        }
    }

    void rescale(vec* row)
    {
        vec sum{};
        for (unsigned m = 0; m < d_M; ++m) {
            sum += row[m];
        }
        const vec scale = sum > 0 ? 1 / sum : vec{};
        for (unsigned m = 0; m < d_M; ++m) {
            row[m] *= scale;
        }
    }

    // Computes λ = α·β at boundary i, scaled to sum 1; d_boundary must hold β.
    void drifts(unsigned i, mvec* out)
    {
        mvec sum{};
        for (unsigned m = 0; m < d_M; ++m) {
            out[m] = d_alpha[std::size_t(i) * d_M + m] *
                     __builtin_convertvector(d_boundary[m], mvec);
            sum += out[m];
        }
        const mvec scale = sum > 0 ? 1 / sum : mvec{};
        for (unsigned m = 0; m < d_M; ++m) {
            out[m] *= scale;
        }
    }

    void posteriors(const index_tries& t, unsigned i)
    {
        const unsigned q = d_tries.q();
        auto* out = static_cast<mvec*>(d_f.posteriors) + std::size_t(i) * q;
        mvec sum{};
        for (unsigned D = 0; D < q; ++D) {
            const auto* a = d_prefix + std::size_t(t.prefix.leaf[D]) * d_M;
            const auto* b = d_suffix + std::size_t(t.suffix.leaf[D]) * d_M;
            out[D] = dot(a, b);
            if (d_priors) {
                out[D] *= __builtin_convertvector(d_priors[std::size_t(i) * q + D], mvec);
            }
            sum += out[D];
        }
        const mvec scale = sum > 0 ? 1 / sum : mvec{};
        for (unsigned D = 0; D < q; ++D) {
            out[D] *= scale;
        }
    }

    // Returns the scalar product; four partial sums hide the latency of an addition.
    mvec dot(const vec* a, const vec* b) const
    {
        mvec sum[4] = {};
        unsigned m = 0;
        for (; m + 4 <= d_M; m += 4) {
            for (unsigned k = 0; k < 4; ++k) {
                sum[k] += __builtin_convertvector(a[m + k], mvec) *
                          __builtin_convertvector(b[m + k], mvec);
            }
        }
        for (; m < d_M; ++m) {
            sum[0] +=
                __builtin_convertvector(a[m], mvec) * __builtin_convertvector(b[m], mvec);
        }
        return sum[0] + sum[1] + (sum[2] + sum[3]);
    }

    const lane_frames& d_f;
    const word_tries& d_tries;
    const unsigned d_M, d_s;
    const vec d_insertion, d_deletion;
    const vec* d_transmission;
    const vec* d_priors;
    mvec* d_alpha;
    vec *d_boundary, *d_prefix, *d_suffix, *d_sums, *d_stack;
    vec* d_children[bsid_model::max_alphabet];
    double d_log[lanes], d_product[lanes];
};

template <class Row, class Metric>
constexpr lane_kernel kernel()
{
    using form = linear_form<Row, Metric>;
    return { form::lanes, sizeof(Row), sizeof(Metric), form::decode };
}

} // namespace

extern const lane_kernels kernels;
const lane_kernels kernels = {
    kernel<float, float>(), kernel<double, double>(), kernel<float, double>(), &carriers
};

} // namespace GPUFEC_ISA
} // namespace gr::gpufec::sync_map
