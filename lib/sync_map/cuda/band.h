// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What a frame loses that is decoded with a few drifts about its path instead of all that
 * are considered: a bound that needs no more than what was computed.
 *
 * The weight of all paths that leave the band is summed over where they leave it for
 * the first time and where they come back for the last time. Up to there and from there
 * on, α and β of the band weigh them. Between, nothing is known of them, so that they
 * may be of any word at all, even of one that is none of the code: the sum over all 2^n
 * words needs no items, since an item fits one bit or the other. So a scalar follows α,
 * the most that paths can weigh that have left, and each boundary's β says what they can
 * weigh once they are back. Where a frame may end outside, paths need not come back: then
 * β of all drifts before the last indices says what they can weigh wherever they are. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_BAND_H
#define INCLUDED_GPUFEC_SYNC_MAP_BAND_H

#include <algorithm>
#include <cmath>
#include <vector>

namespace gr::gpufec::sync_map {

class band_bound
{
public:
    //! No weight is taken to be less, so that floats that underflow change nothing.
    static constexpr double least = 1e-30;

    /*! Weights relative to that of a deletion where a bit is sent. \p sent: a bit sent
     * and received, summed over the bit's values. \p drifts: those of the band. */
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
            // What has left weighs so much of all that will have at the index' end.
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

    //! What an index can multiply the weight of all paths by.
    double growth;
    //! What becomes of paths at a drift before an index, by its end, if they leave.
    std::vector<double> leave;
    //! The part that comes to a drift at an index' end of all that have left.
    std::vector<double> enter;

    /*! How many insertions and deletions a frame of so many symbols may have so that what
     * it loses is not above \p lost. \p likely: what one weighs beside a bit received. */
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
    // Says what leaves.
    double send(std::vector<double>& x) const
    {
        const double left = 2 * x[0];
        for (unsigned m = 0; m < d_drifts; ++m) {
            x[m] = d_sent * x[m] + (m + 1 < d_drifts ? 2 * x[m + 1] : 0);
        }
        return left;
    }
    // Within the band from row t to the index' end.
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

#endif /* INCLUDED_GPUFEC_SYNC_MAP_BAND_H */
