/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* The one way in which this room refuses a parameter. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CHECK_H
#define INCLUDED_GPUFEC_SYNC_MAP_CHECK_H

#include <sstream>
#include <stdexcept>
#include <string>

namespace gr {
namespace gpufec {

//! \throws std::invalid_argument that names the parameter, its value, what is allowed
template <class Value>
[[noreturn]] void
refuse(const std::string& name, const Value& value, const std::string& allowed)
{
    std::ostringstream text;
    text << name << " is " << value << ": " << allowed;
    throw std::invalid_argument(text.str());
}

} // namespace gpufec
} // namespace gr

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CHECK_H */
