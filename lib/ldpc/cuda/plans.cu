// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Selection of the launch plan for a code. */

#include "cuda/first_plan.h"
#include "kernels.h"

namespace gr::gpufec::ldpc::device {

std::unique_ptr<launch_plan> make_launch_plan(const ldpc_code& code,
                                              const message_rule& rule,
                                              bool soft,
                                              ldpc_schedule schedule,
                                              int device)
{
    if (schedule == ldpc_schedule::flooding) {
        return make_flooding_plan(code, rule);
    }
    return cuda::first_plan({ make_dvbs2_plan,
                              make_quasi_cyclic_plan,
                              make_unstructured_int8x2_plan,
                              make_layered_plan },
                            code,
                            rule,
                            soft,
                            device);
}

} // namespace gr::gpufec::ldpc::device
