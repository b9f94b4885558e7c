// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Quantisation of channel values from the caller's format to steps. */

#ifndef INCLUDED_GPUFEC_LDPC_STREAM_INPUT_FORMAT_H
#define INCLUDED_GPUFEC_LDPC_STREAM_INPUT_FORMAT_H

#include "ldpc/cpu/input_kernels.h"
#include "ldpc/model/message_rule.h"
#include <cstddef>

namespace gr::gpufec::ldpc {

/*!
 * \brief The quantisation for one code.
 *
 * Values are scaled, clamped and, except in float precision, rounded to the nearest step,
 * ties to even. NaN and −0 become 0. The lowest byte (−128, or 0 in offset binary) counts
 * as −127.
 */
class input_format
{
public:
    //! Makes a format from the factor and limit of a caller_frame. If \p kernels are
    //! given, the constructor allocates nothing.
    input_format(ldpc_precision precision,
                 llr_format format,
                 float factor,
                 float limit,
                 const input::kernels& kernels = input::variants().of(""));
    //! Makes a format for a rule. Positive values mean bit \p positive_bit; positive
    //! quantised values mean bit 0.
    input_format(const message_rule& rule,
                 llr_format format,
                 float llr_scale,
                 unsigned positive_bit = 0);

    float factor() const { return d_factor; }
    float limit() const { return d_limit; }

    //! Converts values first … first + count − 1 of \p from to \p to.
    void
    convert(const void* from, std::size_t first, std::size_t count, std::byte* to) const;

private:
    llr_format d_format;
    ldpc_precision d_precision;
    float d_factor;
    float d_limit;
    const input::kernels& d_kernels;
};

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_STREAM_INPUT_FORMAT_H */
