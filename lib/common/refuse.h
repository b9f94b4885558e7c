// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Parameter checks, which throw exceptions with uniform messages; conversion of a value
 * to text; choice of a value by name. */

#ifndef INCLUDED_GPUFEC_COMMON_REFUSE_H
#define INCLUDED_GPUFEC_COMMON_REFUSE_H

#include "names.h"
#include "printable.h"
#include <initializer_list>
#include <type_traits>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace gr::gpufec {

//! Returns \p value as text. Floating-point values have six significant digits, or more
//! if these are needed to convert the text back to the same value.
template <class Value>
std::string value_text(const Value& value)
{
    std::ostringstream text;
    text << value;
    if constexpr (std::is_floating_point_v<Value>) {
        for (int digits = 7; digits <= 17 && std::isfinite(value); ++digits) {
            if (Value(std::strtod(text.str().c_str(), nullptr)) == value) {
                break;
            }
            text.str("");
            text.precision(digits);
            text << value;
        }
    }
    return text.str();
}

//! Throws std::invalid_argument "NAME is VALUE: REASON".
template <class Value>
[[noreturn]] void
refuse(const std::string& name, const Value& value, const std::string& reason)
{
    throw std::invalid_argument(
        printable(name + " is " + value_text(value) + ": " + reason));
}

//! Throws std::invalid_argument "NAME is VALUE: allowed values are ALLOWED" unless \p
//! good.
template <class Value>
void require(bool good,
             const std::string& name,
             const Value& value,
             const std::string& allowed)
{
    if (!good) {
        refuse(name, value, "allowed values are " + allowed);
    }
}

//! Throws std::invalid_argument unless the parameter \c positive_bit is 0 or 1.
template <class Value>
void check_positive_bit(Value bit)
{
    require(bit == 0 || bit == 1, "positive_bit", bit, "0 and 1");
}

//! Returns the value of the entry \p name of \p choices; names are compared after
//! folded().
//! \throws std::invalid_argument, which lists the names, if there is no entry
template <class Value>
Value choose(const std::string& parameter,
             const std::string& name,
             std::initializer_list<std::pair<const char*, Value>> choices)
{
    name_list names;
    for (const auto& choice : choices) {
        names.emplace_back(choice.first);
    }
    return choices.begin()[index_of_name(parameter, name, names)].second;
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_COMMON_REFUSE_H */
