// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Converts the value of a tag to text for a message, even if the value is a list that
 * contains itself. */

#ifndef INCLUDED_GPUFEC_BLOCKS_COMMON_PMT_TEXT_H
#define INCLUDED_GPUFEC_BLOCKS_COMMON_PMT_TEXT_H

#include <pmt/pmt.h>
#include <string>

namespace gr::gpufec {

//! Returns whether \p value has at most \p most elements, including nested ones, and
//! subtracts their number from \p most. Returns false for a list that contains itself,
//! with which pmt::write_string() would not return.
inline bool is_short(const pmt::pmt_t& value, unsigned& most)
{
    if (most == 0) {
        return false;
    }
    --most;
    if (pmt::is_pair(value)) {
        return is_short(pmt::car(value), most) && is_short(pmt::cdr(value), most);
    }
    for (std::size_t i = 0; pmt::is_vector(value) && i < pmt::length(value); ++i) {
        if (!is_short(pmt::vector_ref(value, i), most)) {
            return false;
        }
    }
    for (std::size_t i = 0; pmt::is_tuple(value) && i < pmt::length(value); ++i) {
        if (!is_short(pmt::tuple_ref(value, i), most)) {
            return false;
        }
    }
    return true;
}

//! Returns the text that GNU Radio writes for \p value, cut after 200 characters. Returns
//! a fixed text if \p value has more than 100 elements or contains itself.
inline std::string pmt_text(const pmt::pmt_t& value)
{
    constexpr std::size_t longest = 200;
    unsigned most = 100;
    if (!is_short(value, most)) {
        return "(a list that is long or contains itself)";
    }
    const auto text = pmt::write_string(value);
    return text.size() <= longest ? text : text.substr(0, longest) + "...";
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_COMMON_PMT_TEXT_H */
