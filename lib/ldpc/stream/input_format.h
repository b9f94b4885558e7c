// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Turns channel values as a caller has them into the steps of a code's rule. */

#ifndef INCLUDED_GPUFEC_LDPC_INPUT_FORMAT_H
#define INCLUDED_GPUFEC_LDPC_INPUT_FORMAT_H

#include "input_kernels.h"
#include "message_rule.h"
#include <cstddef>

namespace gr::gpufec::ldpc {

/*!
 * \brief The conversion for one code.
 *
 * Values are scaled, rounded to the nearest step (ties to even; not in float) and
 * clamped. NaN and −0 become 0; −128 counts as −127.
 */
class input_format
{
public:
    //! The conversion that is done with these, of a raw_frame. With kernels that were
    //! chosen before it takes no memory.
    input_format(ldpc_precision precision,
                 llr_format format,
                 float factor,
                 float limit,
                 const input::kernels& kernels = input::variants().of(""));
    //! A positive value means \p positive_bit, and a positive step bit 0.
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

#endif /* INCLUDED_GPUFEC_LDPC_INPUT_FORMAT_H */
