// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Computes a check's new messages from its minima (the check node update). */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_DVB_FLOAT_CHECK_NODE_UPDATE_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_DVB_FLOAT_CHECK_NODE_UPDATE_CUH

#include "record.cuh"

namespace gr::gpufec::ldpc {
namespace device {
namespace dvb_float {

// The update of a check node. message() must be called for all edges in ascending order,
// because it collects their signs.
template <unsigned Edges, bool Int16, unsigned Pitch>
class check_node_update;

template <unsigned Edges, unsigned Pitch>
class check_node_update<Edges, true, Pitch>
{
    using check_record = record<Edges, true, Pitch>;

public:
    __device__ check_node_update(const two_minima& of,
                                 std::uint32_t product,
                                 const dvb_float_arguments& a)
    {
        d_above = __fadd_rn(of.min1, 1);
        d_first = integer_check_to_variable(of.min1, a);
        d_second = integer_check_to_variable(of.min2, a);
        d_signed_first = signed_by(__fsub_rn(d_first, low_bits), product);
        d_signed_step = signed_by(__fsub_rn(d_second, d_first), product);
    }
    // Returns the new message to edge e, whose variable-to-check message is t.
    __device__ float message(unsigned e, float t)
    {
        // 1 if |t| is min1, else 0
        const float is_min1 = __saturatef(__fsub_rn(d_above, fabsf(t)));
        d_place = fmaf(is_min1, check_record::place_unit * e, d_place);
        const float r = signed_by(fmaf(is_min1, d_signed_step, d_signed_first), bits(t));
        d_signs = __funnelshift_l(bits(r), d_signs, 1);
        return r;
    }
    __device__ void keep(check_record& in, float posterior_before) const
    {
        in.set(d_first, d_second, d_place, d_signs, posterior_before);
    }

private:
    // d_above is min1 + 1. d_second is the magnitude of the message to the edge with
    // min1, and d_first is the magnitude to all other edges. Both magnitudes are integers
    // in the low bits.
    float d_above, d_first, d_second;
    float d_signed_first, d_signed_step;
    float d_place = low_bits;
    std::uint32_t d_signs = 0;
};

template <unsigned Edges, unsigned Pitch>
class check_node_update<Edges, false, Pitch>
{
    using check_record = record<Edges, false, Pitch>;

public:
    __device__ check_node_update(const three_minima& of,
                                 std::uint32_t product,
                                 const dvb_float_arguments& a)
        : d_min1(of.min1()),
          d_magnitudes(check_to_variable_without_stored_floats(of.min1(),
                                                               of.min2(),
                                                               of.third(),
                                                               a.offset_x2_others,
                                                               a.offset_x2_min,
                                                               a.decline,
                                                               a.normalization)),
          d_signed_first(check_record::message(d_magnitudes.to_all, product)),
          d_signed_second(check_record::message(d_magnitudes.to_min1, product))
    {
    }
    __device__ float message(unsigned e, float t)
    {
        // If several edges have min1, both magnitudes are equal.
        const bool has_min1 = fabsf(t) == d_min1;
        d_place = has_min1 ? e : d_place;
        const float r = signed_by(has_min1 ? d_signed_second : d_signed_first, bits(t));
        d_signs = __funnelshift_l(bits(r), d_signs, 1);
        return r;
    }
    __device__ void keep(check_record& in, float posterior_before) const
    {
        in.set(d_magnitudes.to_all,
               d_magnitudes.to_min1,
               d_place,
               d_signs,
               posterior_before);
    }

private:
    const float d_min1;
    const message_magnitudes<float> d_magnitudes;
    const float d_signed_first, d_signed_second;
    unsigned d_place = 0;
    std::uint32_t d_signs = 0;
};

} // namespace dvb_float
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_DVB_FLOAT_CHECK_NODE_UPDATE_CUH */
