// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A loop over the edges of a check. The function is in an unnamed namespace, so that each
 * source that is compiled for several instruction sets has its own copy. */

#ifndef INCLUDED_GPUFEC_LDPC_MODEL_EACH_EDGE_H
#define INCLUDED_GPUFEC_LDPC_MODEL_EACH_EDGE_H

namespace gr::gpufec::ldpc {
namespace {

// Calls action(e) for the index e of each edge of a check. A \p Degree other than 0
// replaces \p degree and unrolls the loop.
template <unsigned Degree, class Action>
inline __attribute__((always_inline)) void each_edge(unsigned degree, Action&& action)
{
    if constexpr (Degree == 0) {
        for (unsigned e = 0; e < degree; ++e) {
            action(e);
        }
    } else {
#pragma GCC unroll 32
        for (unsigned e = 0; e < Degree; ++e) {
            action(e);
        }
    }
}

} // namespace
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_MODEL_EACH_EDGE_H */
