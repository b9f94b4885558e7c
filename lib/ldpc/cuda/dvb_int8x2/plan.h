// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The base class of the launch plans for int8 kernels, which compute with two 16-bit
 * floats per word. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_PLAN_H
#define INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_PLAN_H

#include "dvb_int8x2.h"
#include "message_rule.h"

namespace gr::gpufec::ldpc {
namespace device {

class int8x2_plan : public persistent_grid
{
protected:
    int8x2_plan(const int8x2_message_rule& rule, unsigned per_sm)
        : persistent_grid(per_sm), d_rule(rule)
    {
    }

    int8x2_arguments arguments(const device_frames& frames,
                               const stopping& stop,
                               void* scratch,
                               unsigned codewords_per_word,
                               bool wrap_shared,
                               cudaStream_t stream,
                               const std::uint32_t* entries = nullptr) const
    {
        return { persistent_grid::arguments(frames, stop, scratch, stream),
                 in_both_halves(d_rule.slope),
                 in_both_halves(d_rule.floor),
                 in_both_halves(d_rule.span),
                 codewords_per_word,
                 wrap_shared,
                 entries };
    }

private:
    const int8x2_message_rule d_rule;
};

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_PLAN_H */
