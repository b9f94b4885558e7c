// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What the launch plans for pairs of codewords share. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_PAIR_PLAN_H
#define INCLUDED_GPUFEC_LDPC_CUDA_PAIR_PLAN_H

#include "cuda_pair_rule.h"
#include "cuda_pairs.h"

namespace gr::gpufec::ldpc {
namespace device {

//! A plan for pairs, by a rule.
class pair_plan : public block_plan
{
protected:
    pair_plan(const pair_outgoing& rule, unsigned each, unsigned multiprocessors)
        : block_plan(each, multiprocessors), d_rule(rule)
    {
    }

    pair_arguments arguments(const device_frames& frames,
                             const stopping& stop,
                             void* scratch,
                             unsigned at_once,
                             bool wrap_shared,
                             cudaStream_t stream,
                             const std::uint32_t* entries = nullptr) const
    {
        return { block_plan::arguments(frames, stop, scratch, stream),
                 in_both_halves(d_rule.slope),
                 in_both_halves(d_rule.floor),
                 in_both_halves(d_rule.span),
                 at_once,
                 wrap_shared,
                 entries };
    }

private:
    const pair_outgoing d_rule;
};

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_PAIR_PLAN_H */
