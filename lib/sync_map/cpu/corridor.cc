// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The corridor form on the CPU, one frame at a time. */

#include "common/checked_size.h"
#include "common/host_memory.h"
#include "corridor.h"
#include <algorithm>
#include <cmath>

namespace gr::gpufec::sync_map {

namespace {

bool keep_all(const setup& setup)
{
    const auto needed = branch_metric_bytes(setup);
    const auto there = physical_memory();
    if (setup.storage == sync_storage::global && needed > there) {
        refuse("storage",
               "global",
               "the branch metrics of a frame need " + std::to_string(needed >> 20) +
                   " MiB, but the machine has " + std::to_string(there >> 20) +
                   " MiB; use storage local");
    }
    return setup.storage == sync_storage::global ||
           (setup.storage == sync_storage::automatic && needed <= there / 8);
}

// Decoder of the corridor form. Lattice is the type of lattices, transmission weights and
// branch metrics; Metric is the type of all other metrics, such as α and β. The innermost
// loops run over start drifts, so that compilers can vectorise these loops.
template <class Lattice, class Metric>
class corridor : public corridor_decoder
{
public:
    explicit corridor(const setup& setup)
        : d_setup(setup),
          d_M(setup.window),
          d_Mn(setup.change.size()),
          d_keep(keep_all(setup)),
          d_lowest(setup.receiver == sync_receiver::lattice ? -int(setup.code.n())
                                                            : setup.change.first),
          d_highest(setup.receiver == sync_receiver::lattice
                        ? int(setup.code.n()) + setup.change.last
                        : setup.change.last),
          d_alpha((setup.symbols + 1) * std::size_t(d_M)),
          d_beta(d_M),
          d_sum(std::size_t(d_Mn) * d_M),
          d_product(std::size_t(d_Mn) * d_M),
          d_lattice(std::size_t(d_highest - d_lowest + 1) * d_M),
          d_branch((d_keep ? std::size_t(setup.symbols) * setup.code.q() : 1) * d_Mn *
                   d_M),
          d_row(d_M),
          d_scratch(setup)
    {
        d_before = std::max(0, -d_lowest);
        d_positions =
            d_before + std::size_t(setup.code.n()) * setup.symbols + d_M + d_highest + 1;
        d_transmission.resize(setup.code.alphabet() * d_positions);
        d_insertion = setup.insertion();
        d_deletion = setup.deletion();
    }

    void decode(const std::byte* input, std::byte* output, sync_status& status) override
    {
        const frame_items items(d_setup, input, d_scratch);
        double log_weight = -INFINITY;
        if (items.valid()) {
            load(items);
            log_weight = forward(items);
        }
        if (!std::isfinite(log_weight)) {
            return write_unknown(d_setup, d_scratch, output, status);
        }
        backward(items, output);
        write_drifts(d_setup,
                     items.header(),
                     d_scratch.first.data(),
                     d_scratch.last.data(),
                     log_weight,
                     output,
                     status);
    }

private:
    // Loads the transmission weights as one row per channel symbol, with contiguous
    // positions. Each row includes the positions outside the received items that lattices
    // read; their weights are 0.
    void load(const frame_items& items)
    {
        const std::int64_t base =
            std::int64_t(items.header().origin) + items.header().first - d_before;
        for (std::size_t k = 0; k < d_positions; ++k) {
            items.weigh(base + std::int64_t(k), &d_transmission[k], d_positions);
        }
    }

    Lattice* lattice_row(int change)
    {
        return d_lattice.data() + std::size_t(change - d_lowest) * d_M;
    }

    // Applies the insertion transitions before a symbol. The trellis receiver allows at
    // most insertion_cap insertions; with the other receivers, only the size of the
    // lattice is a limit.
    void insert(unsigned first, unsigned last)
    {
        const Lattice c = d_insertion;
        if (d_setup.receiver != sync_receiver::trellis) {
            for (int k = d_lowest + 1; k <= d_highest; ++k) {
                auto* to = lattice_row(k);
                const auto* from = lattice_row(k - 1);
                for (unsigned m = first; m < last; ++m) {
                    to[m] += c * from[m];
                }
            }
            return;
        }
        for (int k = d_highest; k > d_lowest; --k) {
            auto* to = lattice_row(k);
            Lattice weight = c;
            for (int u = 1; u <= int(d_setup.insertion_cap) && k - u >= d_lowest; ++u) {
                const auto* from = lattice_row(k - u);
                for (unsigned m = first; m < last; ++m) {
                    to[m] += weight * from[m];
                }
                weight *= c;
            }
        }
    }

    // Applies the transmission and deletion transitions of symbol t of a word.
    void transmit(unsigned i, unsigned t, unsigned symbol, unsigned first, unsigned last)
    {
        const auto at = std::int64_t(d_setup.code.n()) * i + t + d_before;
        const auto* Q = d_transmission.data() + symbol * d_positions + at;
        for (int k = d_lowest; k <= d_highest; ++k) {
            auto* row = lattice_row(k);
            const auto* next = k < d_highest ? lattice_row(k + 1) : nullptr;
            const Lattice pd = d_deletion;
            if (next) {
                for (unsigned m = first; m < last; ++m) {
                    row[m] = Q[int(m) + k] * row[m] + pd * next[m];
                }
            } else {
                for (unsigned m = first; m < last; ++m) {
                    row[m] = Q[int(m) + k] * row[m];
                }
            }
        }
    }

    // Sets lattice values to 0 if they are below lattice_threshold times the largest
    // value of the same start drift.
    void prune(unsigned first, unsigned last)
    {
        for (unsigned m = first; m < last; ++m) {
            Lattice largest = 0;
            for (int k = d_lowest; k <= d_highest; ++k) {
                largest = std::max(largest, lattice_row(k)[m]);
            }
            const Lattice floor = largest * Lattice(d_setup.lattice_threshold);
            for (int k = d_lowest; k <= d_highest; ++k) {
                auto& value = lattice_row(k)[m];
                value = value < floor ? 0 : value;
            }
        }
    }

    // Computes the branch metrics of word D at symbol index i for start drifts first to
    // last − 1. Layout: R[drift change][start drift].
    void receive(unsigned i, unsigned D, unsigned first, unsigned last, Lattice* R)
    {
        const auto index = i % d_setup.code.frame_symbols();
        const auto* x = d_setup.code.word(index, D);
        std::fill(d_lattice.begin(), d_lattice.end(), Lattice(0));
        std::fill(lattice_row(0) + first, lattice_row(0) + last, Lattice(1));
        for (unsigned t = 0; t < d_setup.code.n(); ++t) {
            insert(first, last);
            transmit(i, t, x[t], first, last);
            if (d_setup.lattice_threshold > 0) {
                prune(first, last);
            }
        }
        for (unsigned k = 0; k < d_Mn; ++k) {
            const auto* row = lattice_row(d_setup.change.first + int(k));
            std::fill(R + k * d_M, R + (k + 1) * d_M, Lattice(0));
            std::copy(row + first, row + last, R + k * d_M + first);
        }
    }

    Lattice* branch(unsigned i, unsigned D)
    {
        const auto number = d_keep ? std::size_t(i) * d_setup.code.q() + D : 0;
        return d_branch.data() + number * d_Mn * d_M;
    }

    // Finds the smallest range of start drifts, first to last − 1, that contains all
    // drifts whose α is not 0.
    void live(unsigned i, unsigned& first, unsigned& last) const
    {
        const auto* alpha = &d_alpha[std::size_t(i) * d_M];
        first = 0;
        last = d_M;
        while (first < last && alpha[first] == 0) {
            ++first;
        }
        while (first < last && alpha[last - 1] == 0) {
            --last;
        }
    }

    void add_to_sum(const Lattice* R, Metric prior)
    {
        for (std::size_t k = 0; k < d_sum.size(); ++k) {
            d_sum[k] += prior * Metric(R[k]);
        }
    }

    // Finds drift change number k, and the start drifts, begin to end − 1, that remain in
    // the window after this change.
    void starts(unsigned k, int& change, int& begin, int& end) const
    {
        change = d_setup.change.first + int(k);
        begin = std::max(0, -change);
        end = std::min(int(d_M), int(d_M) - change);
    }

    Metric scale(Metric* row, double threshold)
    {
        Metric sum = 0;
        if (threshold > 0) {
            const Metric floor = *std::max_element(row, row + d_M) * Metric(threshold);
            std::replace_if(
                row, row + d_M, [floor](Metric x) { return x < floor; }, Metric(0));
        }
        for (unsigned m = 0; m < d_M; ++m) {
            sum += row[m];
        }
        for (unsigned m = 0; m < d_M; ++m) {
            row[m] = sum > 0 ? row[m] / sum : 0;
        }
        return sum;
    }

    double forward(const frame_items& items)
    {
        double log_weight = 0;
        for (unsigned m = 0; m < d_M; ++m) {
            d_alpha[m] = items.start(m);
        }
        for (unsigned i = 0; i < d_setup.symbols; ++i) {
            unsigned first, last;
            live(i, first, last);
            std::fill(d_sum.begin(), d_sum.end(), Metric(0));
            for (unsigned D = 0; D < d_setup.code.q(); ++D) {
                receive(i, D, first, last, branch(i, D));
                add_to_sum(branch(i, D), items.prior(i, D));
            }
            const auto* alpha = &d_alpha[std::size_t(i) * d_M];
            auto* next = &d_alpha[std::size_t(i + 1) * d_M];
            std::fill(next, next + d_M, Metric(0));
            for (unsigned k = 0; k < d_Mn; ++k) {
                int change, begin, end;
                starts(k, change, begin, end);
                for (int m = begin; m < end; ++m) {
                    next[m + change] += alpha[m] * d_sum[k * d_M + m];
                }
            }
            log_weight += std::log(double(scale(next, d_setup.state_threshold)));
        }
        Metric sum = 0;
        for (unsigned m = 0; m < d_M; ++m) {
            d_beta[m] = items.end(m);
            sum += d_beta[m] * d_alpha[std::size_t(d_setup.symbols) * d_M + m];
        }
        return log_weight + std::log(double(sum));
    }

    // Computes the drift posteriors λ of boundary i.
    void drifts(unsigned i, std::vector<double>& row) const
    {
        double sum = 0;
        for (unsigned m = 0; m < d_M; ++m) {
            row[m] = double(d_alpha[std::size_t(i) * d_M + m]) * double(d_beta[m]);
            sum += row[m];
        }
        for (auto& x : row) {
            x = sum > 0 ? x / sum : 0;
        }
    }

    void backward(const frame_items& items, std::byte* output)
    {
        const unsigned q = d_setup.code.q();
        auto& L = d_scratch.symbol;
        auto& prior = d_scratch.prior;
        for (unsigned i = d_setup.symbols; i-- > 0;) {
            if (i + 1 == d_setup.outputs) {
                drifts(i + 1, d_scratch.last);
            }
            unsigned first, last;
            live(i, first, last);
            weigh(i);
            std::fill(d_sum.begin(), d_sum.end(), Metric(0));
            double sum = 0;
            for (unsigned D = 0; D < q; ++D) {
                if (!d_keep) {
                    receive(i, D, first, last, branch(i, D));
                }
                prior[D] = items.prior(i, D);
                L[D] = prior[D] * likelihood(branch(i, D));
                sum += L[D];
                add_to_sum(branch(i, D), prior[D]);
            }
            step_back();
            if (i < d_setup.outputs) {
                for (auto& x : L) {
                    x = sum > 0 ? x / sum : 1.0 / q;
                }
                write_symbol(d_setup,
                             L.data(),
                             d_setup.priors ? prior.data() : nullptr,
                             d_scratch.weights.data(),
                             output + i * d_setup.symbol_bytes());
            }
        }
        drifts(0, d_scratch.first);
    }

    // Computes the products α(m)·β(m + change), which all words at a symbol index share.
    void weigh(unsigned i)
    {
        const auto* alpha = &d_alpha[std::size_t(i) * d_M];
        std::fill(d_product.begin(), d_product.end(), Metric(0));
        for (unsigned k = 0; k < d_Mn; ++k) {
            int change, begin, end;
            starts(k, change, begin, end);
            for (int m = begin; m < end; ++m) {
                d_product[k * d_M + m] = alpha[m] * d_beta[m + change];
            }
        }
    }

    double likelihood(const Lattice* R) const
    {
        Metric sum[8] = {};
        std::size_t k = 0;
        for (; k + 8 <= d_product.size(); k += 8) {
            for (unsigned j = 0; j < 8; ++j) {
                sum[j] += d_product[k + j] * Metric(R[k + j]);
            }
        }
        for (; k < d_product.size(); ++k) {
            sum[0] += d_product[k] * Metric(R[k]);
        }
        double total = 0;
        for (const auto s : sum) {
            total += s;
        }
        return total;
    }

    void step_back()
    {
        auto& before = d_row;
        std::fill(before.begin(), before.end(), Metric(0));
        for (unsigned k = 0; k < d_Mn; ++k) {
            int change, begin, end;
            starts(k, change, begin, end);
            for (int m = begin; m < end; ++m) {
                before[m] += d_sum[k * d_M + m] * d_beta[m + change];
            }
        }
        scale(before.data(), 0);
        std::swap(d_beta, before);
    }

    setup d_setup;
    unsigned d_M, d_Mn;
    bool d_keep;
    int d_lowest, d_highest; // smallest and largest drift change in a lattice
    int d_before = 0;
    std::size_t d_positions = 0;
    Lattice d_insertion, d_deletion;
    std::vector<Metric> d_alpha, d_beta, d_sum, d_product;
    std::vector<Lattice> d_lattice, d_branch, d_transmission;
    std::vector<Metric> d_row;
    frame_scratch d_scratch;
};

} // namespace

std::size_t branch_metric_bytes(const setup& setup)
{
    const checked_size each = setup.precision == sync_precision::float64 ? 8 : 4;
    return (each * setup.symbols * setup.code.q() * setup.window * setup.change.size())
        .value();
}

std::unique_ptr<corridor_decoder> make_corridor_decoder(const setup& setup)
{
    return with_precision(
        setup.precision, [&](auto row, auto metric) -> std::unique_ptr<corridor_decoder> {
            return std::make_unique<corridor<decltype(row), decltype(metric)>>(setup);
        });
}

} // namespace gr::gpufec::sync_map
