// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Other interpretations of DVB-S2 symbols (formats, phases and PLFRAMEs), which
 * frame_judge tries if frames fail. */

#ifndef INCLUDED_GPUFEC_LDPC_STREAM_SYMBOL_READINGS_H
#define INCLUDED_GPUFEC_LDPC_STREAM_SYMBOL_READINGS_H

#include "demap/rule.h"
#include <complex>
#include <cstddef>
#include <string>
#include <vector>

namespace gr::gpufec::ldpc {

using symbol_vector = std::vector<std::complex<float>>;

//! Reads the bytes as symbols of a format. Values that are not finite count as 0.
symbol_vector read_symbols(const std::vector<std::byte>& bytes,
                           demap::symbol_format format);

//! Returns the symbols after an exchange of I and Q, if \p exchanged is set, and a
//! rotation by \p turn times 360 degrees.
symbol_vector turned(const symbol_vector& symbols, bool exchanged, double turn);

//! Parts of PLFRAMEs that a receiver must remove before decoding (EN 302 307-1, 5.5).
struct plframe_parts {
    bool header, pilots, scrambling;

    //! Returns advice on how to remove these parts.
    std::string mend() const;
};

//! Removes \p parts of PLFRAMEs and returns their XFECFRAMEs, of \p frame_symbols symbols
//! each. Scrambling is undone for sequence 0. The input must begin with a PLFRAME; an
//! incomplete PLFRAME at its end is dropped.
symbol_vector without(const plframe_parts& parts,
                      const symbol_vector& symbols,
                      std::size_t frame_symbols);

//! Demaps at most \p max_frames whole frames of \p frame_bits bits. Estimates the Es/N0
//! of each frame. Returns LLRs in nats.
std::vector<float> llrs_of(const demap::constellation& points,
                           demap::method how,
                           const symbol_vector& symbols,
                           unsigned frame_bits,
                           std::size_t max_frames);

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_STREAM_SYMBOL_READINGS_H */
