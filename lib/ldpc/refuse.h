/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* Errors of this room: the parameter, its value and what is allowed. */

#ifndef INCLUDED_GPUFEC_LDPC_REFUSE_H
#define INCLUDED_GPUFEC_LDPC_REFUSE_H

#include <sstream>
#include <stdexcept>
#include <string>

namespace gr {
namespace gpufec {

template <class Value>
[[noreturn]] void
refuse_ldpc(const std::string& name, const Value& value, const std::string& allowed)
{
    std::ostringstream text;
    text << name << " is " << value << ": " << allowed;
    throw std::invalid_argument(text.str());
}

} // namespace gpufec
} // namespace gr

#endif /* INCLUDED_GPUFEC_LDPC_REFUSE_H */
