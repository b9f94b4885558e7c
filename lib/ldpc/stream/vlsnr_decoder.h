// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The decoder of symbols of VL-SNR frames. */

#ifndef INCLUDED_GPUFEC_LDPC_STREAM_VLSNR_DECODER_H
#define INCLUDED_GPUFEC_LDPC_STREAM_VLSNR_DECODER_H

#include <gnuradio/gpufec/ldpc.h>

namespace gr::gpufec::ldpc {

//! Returns whether the input consists of symbols of VL-SNR frames.
//! \throws std::invalid_argument if only some of the constellations belong to VL-SNR
//! frames
bool has_vlsnr_symbols(const ldpc_options& options);

/*!
 * \brief Makes a decoder of symbols of VL-SNR frames.
 *
 * The thread that pushes symbols demaps them, and an inner decoder receives LLRs.
 * Demapping on the host is fast enough, because carriers of VL-SNR frames have few
 * symbols per second. The host also inserts the values of punctured and shortened bits.
 * \throws std::invalid_argument if an option is not allowed
 */
ldpc_decoder::sptr make_vlsnr_decoder(const ldpc_options& options, decoder_hooks hooks);

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_STREAM_VLSNR_DECODER_H */
