// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Launch plans: how a room's kernels are launched for a setup. A room lists the makers of
 * its plans, the fastest first; each may decline. */

#ifndef INCLUDED_GPUFEC_CUDA_FIRST_PLAN_H
#define INCLUDED_GPUFEC_CUDA_FIRST_PLAN_H

#include <initializer_list>
#include <memory>

namespace gr::gpufec::cuda {

//! The plan of the first maker that does not decline with nullptr; nullptr if all do.
template <class Plan, class... Taken, class... Asked>
std::unique_ptr<Plan>
first_plan(std::initializer_list<std::unique_ptr<Plan> (*)(Taken...)> makers,
           const Asked&... asked)
{
    for (const auto make : makers) {
        if (auto plan = make(asked...)) {
            return plan;
        }
    }
    return nullptr;
}

} // namespace gr::gpufec::cuda

#endif /* INCLUDED_GPUFEC_CUDA_FIRST_PLAN_H */
