// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Functions that call a generic function with the C++ type of a precision or of an LLR
 * format. */

#ifndef INCLUDED_GPUFEC_LDPC_MODEL_VALUE_TYPES_H
#define INCLUDED_GPUFEC_LDPC_MODEL_VALUE_TYPES_H

#include <gnuradio/gpufec/ldpc.h>
#include <cstdint>

namespace gr::gpufec::ldpc {

//! Calls \p action with a value of the type that channel values have in \p precision.
template <class Action>
auto with_channel_value(ldpc_precision precision, Action&& action)
{
    switch (precision) {
    case ldpc_precision::int8:
        return action(std::int8_t());
    case ldpc_precision::int16:
        return action(std::int16_t());
    default:
        return action(float());
    }
}

//! Calls \p action with a value of the type of LLRs in \p format.
template <class Action>
auto with_llr(llr_format format, Action&& action)
{
    switch (format) {
    case llr_format::int8:
        return action(std::int8_t());
    case llr_format::uint8:
        return action(std::uint8_t());
    default:
        return action(float());
    }
}

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_MODEL_VALUE_TYPES_H */
