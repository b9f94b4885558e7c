// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Bound on the weight that a frame loses when it is decoded in a band of a few drifts
 * about its path. The bound needs only values that the decoder computes.
 *
 * The weight of all paths that leave the band is summed over the index where they first
 * leave and the index where they last return. Up to the first and from the last on, α and
 * β of the band weigh them. In between they may follow any word, even one outside the
 * code: the sum over all 2^n words needs no items, since an item matches one value of a
 * bit or the other. So a scalar beside α bounds the weight of the paths that have left,
 * and β of each boundary says what they weigh once they are back. Where a frame may end
 * outside the band, paths need not return: then β of all drifts before the last indices
 * weighs them wherever they are. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_BAND_H
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_BAND_H

#include <algorithm>
#include <cmath>
#include <vector>

namespace gr::gpufec::sync_map {

class band_bound
{
public:
    //! Lower limit of all weights, so that floats that underflow do not change the bound.
    static constexpr double least = 1e-30;

    /*! Takes weights relative to that of a deletion where a bit is sent. \p sent: weight
     * of a bit sent and received, summed over its values. \p drifts: width of the band.
     */
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
            // Paths outside at row t weigh this part of those outside at the index' end.
            const double part = std::pow(step, double(t) - n) / (1 - insertion);
            std::vector<double> above(drifts), below(drifts);
            above[drifts - 1] = 2;
            below[0] = insertion;
            go_on(above, t + 1);
            go_on(below, t);
            for (unsigned m = 0; m < drifts; ++m) {
                enter[m] += part * std::max(above[m], below[m]);
            }
        }
    }

    //! Largest factor by which an index multiplies the weight of all paths.
    double growth;
    //! Weight, at an index' end, of the paths that leave from each drift before it.
    std::vector<double> leave;
    //! Part of all paths outside that is back at each drift by an index' end.
    std::vector<double> enter;

    /*! Returns how many insertions and deletions a frame of so many symbols may have for
     * its loss to be at most \p lost. \p likely: weight of a received bit, relative to
     * one of them. */
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
    // Returns the weight that leaves.
    double send(std::vector<double>& x) const
    {
        const double left = 2 * x[0];
        for (unsigned m = 0; m < d_drifts; ++m) {
            x[m] = d_sent * x[m] + (m + 1 < d_drifts ? 2 * x[m + 1] : 0);
        }
        return left;
    }
    // Advances within the band from row t to the index' end.
    void go_on(std::vector<double>& x, unsigned t) const
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
