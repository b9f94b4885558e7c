// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The options that a decoder of Wi-Fi PPDUs allows. */

#ifndef INCLUDED_GPUFEC_LDPC_STREAM_PPDU_DECODER_H
#define INCLUDED_GPUFEC_LDPC_STREAM_PPDU_DECODER_H

#include <gnuradio/gpufec/ldpc.h>

namespace gr::gpufec::ldpc {

//! Checks the options of make_wifi_ppdu_decoder().
//! \throws std::invalid_argument if the output is not messages or the input is not LLRs
void check_ppdu_options(const ldpc_options& options);

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_STREAM_PPDU_DECODER_H */
