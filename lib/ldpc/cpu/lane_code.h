// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The tables of a code for the CPU decoder with one codeword per SIMD lane. */

#ifndef INCLUDED_GPUFEC_LDPC_CPU_LANE_CODE_H
#define INCLUDED_GPUFEC_LDPC_CPU_LANE_CODE_H

#include "common/cpu_variant.h"
#include "kernels.h"
#include "ldpc/model/layer_plan.h"
#include "ldpc/model/message_rule.h"
#include <vector>

namespace gr::gpufec::ldpc {

class lane_code
{
public:
    lane_code(const ldpc_code& code, const layer_plan& plan);

    lane_code(const lane_code&) = delete;
    lane_code& operator=(const lane_code&) = delete;

    const lanes::code_view& view() const { return d_view; }

private:
    void add_layer(const layer_plan& plan, std::size_t l);

    std::vector<lanes::layer> d_layers;
    std::vector<lanes::check> d_checks;
    std::vector<std::uint32_t> d_bits;
    std::vector<lanes::edge> d_edges;
    std::vector<lanes::transfer> d_copies;
    std::vector<lanes::transfer> d_added;
    std::uint32_t d_places;               // number of posteriors, copies and differences
    std::vector<std::uint32_t> d_copy_of; // for each bit, index of its copy in the
                                          // current layer, or 0 if there is none
    lanes::code_view d_view;
};

namespace lanes {
compiled_variants<kernels> variants();
}

const lanes::kernel& kernel_for(const lanes::kernels& k, ldpc_precision p);

inline lanes::arithmetic lane_arithmetic(const message_rule& r)
{
    static_assert(lanes::arithmetic::declining::most == declining_offset::most);
    const auto of = [](const declining_offset& o) {
        return lanes::arithmetic::declining{ o.base, o.per_edge };
    };
    return { r.offset,    of(r.offset_x2_others), of(r.offset_x2_min), kept_bits,
             r.decline,   r.message_limit,        r.channel_limit,     r.normalization,
             r.sixteenths };
}

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CPU_LANE_CODE_H */
