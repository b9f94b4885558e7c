// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The choice of frames to which status tags are added. */

#ifndef INCLUDED_GPUFEC_STATUS_TAGS_H
#define INCLUDED_GPUFEC_STATUS_TAGS_H

#include <gnuradio/gpufec/api.h>
#include <string>

namespace gr::gpufec {

//! Frames for which a block adds status tags.
enum class status_tags {
    all,      //!< every frame
    failures, //!< frames whose decoding failed
    none      //!< no frame
};

//! Converts the name "all", "failures" or "none".
//! \throws std::invalid_argument for any other name
GPUFEC_API status_tags status_tags_from_string(const std::string& name);

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_STATUS_TAGS_H */
