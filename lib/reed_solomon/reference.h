// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Reference Reed-Solomon encoder and decoder of one codeword, for tests of
 * reed_solomon_encoder_kernel and reed_solomon_decoder_kernel. */

#ifndef INCLUDED_GPUFEC_REED_SOLOMON_REFERENCE_H
#define INCLUDED_GPUFEC_REED_SOLOMON_REFERENCE_H

#include <gnuradio/gpufec/reed_solomon.h>
#include <cstdint>
#include <vector>

namespace gr::gpufec::reed_solomon {

//! Encodes k symbols to n symbols.
std::vector<std::uint8_t> reference_encode(const reed_solomon_code& code,
                                           const std::vector<std::uint8_t>& message);

//! Corrects n symbols. \p erasures is empty or has n values, nonzero for erased symbols.
//! Returns the same count as reed_solomon_decoder_kernel::decode().
int reference_decode(const reed_solomon_code& code,
                     std::vector<std::uint8_t>& codeword,
                     const std::vector<std::uint8_t>& erasures = {});

} // namespace gr::gpufec::reed_solomon

#endif /* INCLUDED_GPUFEC_REED_SOLOMON_REFERENCE_H */
