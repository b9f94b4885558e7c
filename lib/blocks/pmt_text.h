// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What a tag holds, for a message: whatever it is, a list that contains itself too. */

#ifndef INCLUDED_GPUFEC_BLOCKS_PMT_TEXT_H
#define INCLUDED_GPUFEC_BLOCKS_PMT_TEXT_H

#include <pmt/pmt.h>
#include <string>

namespace gr::gpufec {

inline std::string pmt_text(const pmt::pmt_t& value)
{
    if (pmt::is_pair(value) || pmt::is_tuple(value) || pmt::is_vector(value)) {
        return "(a list)"; // pmt::write_string() would follow one without an end
    }
    return pmt::write_string(value);
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_PMT_TEXT_H */
