// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Bound on the weight that a frame loses when it is decoded in a band of a few drifts
 * about its most likely path. The weight of a frame is the sum of the weights of all
 * paths through its lattice. The bound needs only values that the decoder computes.
 *
 * The lost weight is the weight of all paths that leave the band. The bound sums over two
 * indices: the index in which a path first leaves the band, and the index in which that
 * path last returns. Before the first and after the last index, the path is in the band,
 * so α and β of the band include its weight. In between, the bound lets the path follow
 * any word, even one outside the code. The sum over all 2^n words does not depend on the
 * items, because an item matches one value of a bit and not the other. Therefore a single
 * number, stored beside α, bounds the weight of the paths that have left. β of each
 * boundary is the weight of the paths that return. If a frame may end outside the band,
 * paths need not return. For the last indices, β is then computed for all drifts, so that
 * it includes the weight of paths at any drift. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_BAND_H
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_BAND_H

#include <algorithm>
#include <cmath>
#include <vector>

namespace gr::gpufec::sync_map {

class band_bound
{
public:
    //! Lower limit of all weights, so that an underflow does not make the bound too
    //! small.
    static constexpr double least = 1e-30;

    /*! \p insertion: weight of an inserted item. \p sent: weight of a bit that is
     * received, relative to that of its deletion and summed over both values of the bit.
     * \p n: bits per word. \p drifts: width of the band. */
    band_bound(double insertion, double sent, unsigned n, unsigned drifts)
        : d_insertion(insertion), d_sent(sent), d_n(n), d_drifts(drifts)
    {
        const double step = (sent + 2) / (1 - insertion);
        growth = std::pow(step, n);
        for (unsigned m = 0; m < drifts; ++m) {
            leave.push_back(std::max(leaving(m, step), least * growth));
        }
        enter.assign(drifts, least);
        for (unsigned t = 0; t < n; ++t) {
            // Weight of the paths outside the band at row t, relative to that at the
            // index's end.
            const double part = std::pow(step, double(t) - n) / (1 - insertion);
            std::vector<double> above(drifts), below(drifts);
            above[drifts - 1] = 2;
            below[0] = insertion;
            advance(above, t + 1);
            advance(below, t);
            for (unsigned m = 0; m < drifts; ++m) {
                enter[m] += part * std::max(above[m], below[m]);
            }
        }
    }

    //! Largest factor by which an index multiplies the weight of all paths.
    double growth;
    //! For each drift at the beginning of an index: the weight, at the end of the index,
    //! of the paths that leave the band within the index.
    std::vector<double> leave;
    //! For each drift at the end of an index: the part of the weight outside the band
    //! that returns to this drift within the index.
    std::vector<double> enter;

    /*! Estimates how many insertions and deletions a frame of \p symbols symbols may have
     * so that the frame loses at most the fraction \p lost of its weight. \p likely:
     * weight of a received bit, relative to that of the rarer of insertion and
     * deletion. */
    double events_allowed(unsigned symbols, double lost, double likely) const
    {
        const unsigned middle = d_drifts / 2;
        const double most = symbols * std::max(leave[middle - 1], leave[middle]) /
                            growth * symbols * std::max(enter[middle - 1], enter[middle]);
        return std::log(lost / most) / std::log(likely);
    }

private:
    void insert(std::vector<double>& x) const
    {
        for (unsigned m = 1; m < d_drifts; ++m) {
            x[m] += d_insertion * x[m - 1];
        }
    }
    // Sends or deletes one bit. Returns the weight that leaves the band.
    double send(std::vector<double>& x) const
    {
        const double left = 2 * x[0];
        for (unsigned m = 0; m < d_drifts; ++m) {
            x[m] = d_sent * x[m] + (m + 1 < d_drifts ? 2 * x[m + 1] : 0);
        }
        return left;
    }
    // Advances the metrics within the band from row t to the end of the index.
    void advance(std::vector<double>& x, unsigned t) const
    {
        for (; t < d_n; ++t) {
            insert(x);
            send(x);
        }
    }
    double leaving(unsigned from, double step) const
    {
        std::vector<double> x(d_drifts);
        x[from] = 1;
        double sum = 0;
        for (unsigned t = 0; t < d_n; ++t) {
            insert(x);
            sum += d_insertion * x[d_drifts - 1] * std::pow(step, double(d_n - t));
            sum += send(x) * std::pow(step, double(d_n - t - 1));
        }
        return sum;
    }

    const double d_insertion, d_sent;
    const unsigned d_n, d_drifts;
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_BAND_H */
