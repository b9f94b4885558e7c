// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The channel values of a codeword from those of the bits that are sent. */

#ifndef INCLUDED_GPUFEC_LDPC_SENT_VALUES_H
#define INCLUDED_GPUFEC_LDPC_SENT_VALUES_H

#include "setup.h"
#include <cstddef>

namespace gr::gpufec::ldpc {

/*!
 * \brief Puts the converted values of sent bits where they belong in a codeword.
 *
 * Nothing is known of punctured positions, 0; shortened ones are as certain as the rule
 * lets them be.
 */
void spread_sent(const ldpc_code& code,
                 const setup& setup,
                 const std::byte* values,
                 std::byte* codeword);

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_SENT_VALUES_H */
