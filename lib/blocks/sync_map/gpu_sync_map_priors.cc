// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The second input of gpu_sync_map, which has prior weights of the symbols of frames. */

#include "gpu_sync_map_impl.h"
#include <algorithm>
#include <cmath>
#include <utility>

namespace gr::gpufec {

namespace {

// Replaces negative, infinite and NaN weights by 0. If all q weights of a symbol are 0,
// replaces them by equal weights.
void mend(std::vector<float>& priors, std::size_t q)
{
    for (auto row = priors.begin(); row != priors.end(); row += q) {
        for (auto w = row; w != row + q; ++w) {
            *w = *w >= 0 && std::isfinite(*w) ? *w : 0;
        }
        if (std::all_of(row, row + q, [](float w) { return w == 0; })) {
            std::fill_n(row, q, 1.0f);
        }
    }
}

} // namespace

bool gpu_sync_map_impl::gather_priors(input& priors)
{
    const auto n = std::min(priors.left(), d_prior_count - d_priors.size());
    const auto* const from = reinterpret_cast<const float*>(priors.items) + priors.taken;
    d_priors.insert(d_priors.end(), from, from + n);
    priors.taken += n;
    d_priors_ended = priors.ended && priors.left() == 0;
    return n > 0;
}

// Returns whether the frame need not wait for priors, because priors are disabled or
// complete, or because the second input has ended.
bool gpu_sync_map_impl::priors_known() const
{
    return !d_options.priors || d_priors.size() == d_prior_count || d_priors_ended;
}

// Returns the priors of the current frame, or nullptr if there are none.
const float* gpu_sync_map_impl::frame_priors()
{
    if (!d_options.priors) {
        return nullptr;
    }
    if (d_priors.size() < d_prior_count) {
        if (!std::exchange(d_warned_of_priors, true)) {
            d_logger->warn(
                "the second input, which has the prior weights of the symbols, has "
                "ended: further frames are decoded without prior weights");
        }
        return nullptr;
    }
    mend(d_priors, d_options.code.q());
    return d_priors.data();
}

} // namespace gr::gpufec
