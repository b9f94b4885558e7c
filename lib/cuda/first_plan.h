// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Selection of a launch plan: the kernels and launch parameters for a decoder's setup.
 * Each decoder has a list of plan factories, the fastest plan first. A factory returns
 * nullptr if its plan does not support the setup. */

#ifndef INCLUDED_GPUFEC_CUDA_FIRST_PLAN_H
#define INCLUDED_GPUFEC_CUDA_FIRST_PLAN_H

#include <initializer_list>
#include <memory>

namespace gr::gpufec::cuda {

//! Returns the plan of the first factory that supports the setup; nullptr if none does.
template <class Plan, class... Parameters, class... Arguments>
std::unique_ptr<Plan>
first_plan(std::initializer_list<std::unique_ptr<Plan> (*)(Parameters...)> makers,
           const Arguments&... arguments)
{
    for (const auto make : makers) {
        if (auto plan = make(arguments...)) {
            return plan;
        }
    }
    return nullptr;
}

} // namespace gr::gpufec::cuda

#endif /* INCLUDED_GPUFEC_CUDA_FIRST_PLAN_H */
