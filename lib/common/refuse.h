// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The one way in which this module refuses a parameter. */

#ifndef INCLUDED_GPUFEC_PIPELINE_REFUSE_H
#define INCLUDED_GPUFEC_PIPELINE_REFUSE_H

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

//! \p value as text; of floating point as many digits as tell it from its neighbours.
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

//! "NAME is VALUE: REASON". \throws std::invalid_argument
template <class Value>
[[noreturn]] void
refuse(const std::string& name, const Value& value, const std::string& reason)
{
    throw std::invalid_argument(
        printable(name + " is " + value_text(value) + ": " + reason));
}

//! Refuses a parameter unless it is \p good: "NAME is VALUE: allowed are ALLOWED".
template <class Value>
void require(bool good,
             const std::string& name,
             const Value& value,
             const std::string& allowed)
{
    if (!good) {
        refuse(name, value, "allowed are " + allowed);
    }
}

//! Refuses a parameter \c positive_bit that is no bit. \throws std::invalid_argument
template <class Value>
void check_positive_bit(Value bit)
{
    require(bit == 0 || bit == 1, "positive_bit", bit, "0 and 1");
}

//! What \p name stands for among \p choices. \throws std::invalid_argument that lists
//! them
template <class Value>
Value choose(const std::string& parameter,
             const std::string& name,
             std::initializer_list<std::pair<const char*, Value>> choices)
{
    std::string allowed;
    std::size_t left = choices.size();
    for (const auto& [choice, value] : choices) {
        if (name == choice) {
            return value;
        }
        allowed += choice;
        allowed += --left == 0 ? "" : left == 1 ? " and " : ", ";
    }
    refuse(parameter, '"' + name + '"', "allowed are " + allowed);
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_REFUSE_H */
