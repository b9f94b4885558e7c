// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The lengths and the codes that follow from the parameters of a telemetry format. */

#ifndef INCLUDED_GPUFEC_FRAMING_CCSDS_FORMAT_H
#define INCLUDED_GPUFEC_FRAMING_CCSDS_FORMAT_H

#include "sync_marker.h"
#include <gnuradio/gpufec/ccsds.h>
#include <gnuradio/gpufec/reed_solomon.h>
#include <optional>
#include <string>

namespace gr::gpufec::framing {

//! Maximum number of bytes of a transfer frame.
inline constexpr unsigned max_frame_bytes = 16384;

struct ccsds_format {
    //! \throws std::invalid_argument naming the parameter, its value and what is allowed
    explicit ccsds_format(const ccsds_framing& framing);

    std::optional<reed_solomon_code>
        code; //!< shortened to the frame; empty without Reed-Solomon
    const ccsds_ldpc_code* ldpc = nullptr;
    sync_marker marker = ccsds_marker;
    unsigned frame_bytes;  //!< length of a transfer frame
    std::size_t sent_bits; //!< number of bits after the marker
};

/*!
 * \brief Returns the parameters that decode a frame, as "code=…, interleaving=… and
 * randomiser=…", or "" if no combination of standard values decodes the frame.
 * \param sent the received bytes after the marker, still randomised
 */
std::string fitting_parameters(const std::vector<std::uint8_t>& sent);

} // namespace gr::gpufec::framing

#endif /* INCLUDED_GPUFEC_FRAMING_CCSDS_FORMAT_H */
