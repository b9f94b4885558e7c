// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Copies the values of sent bits to their positions in a codeword. */

#ifndef INCLUDED_GPUFEC_LDPC_STREAM_SENT_VALUES_H
#define INCLUDED_GPUFEC_LDPC_STREAM_SENT_VALUES_H

#include "ldpc/model/setup.h"
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::gpufec::ldpc {

//! Returns whether a code sends bits more than once.
bool repeats_bits(const ldpc_code& code);

//! Entries of sources_of() for punctured and for shortened positions.
constexpr std::uint32_t no_value = ~0u, certain_zero = ~1u;

//! Returns the index of the sent value of each position of a codeword.
std::vector<std::uint32_t> sources_of(const ldpc_code& code);

/*!
 * \brief Copies the quantised values of sent bits to their positions in a codeword.
 *
 * Values of punctured positions become 0. Values of shortened positions become the rule's
 * channel limit, because these bits are certainly 0. The values of a bit that is sent
 * several times are added, and the sum is clamped to the channel limit.
 */
void spread_sent(const ldpc_code& code,
                 const setup& setup,
                 const std::byte* values,
                 std::byte* codeword);

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_STREAM_SENT_VALUES_H */
