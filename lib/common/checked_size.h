// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Unsigned arithmetic that saturates on overflow, for sizes that users choose. */

#ifndef INCLUDED_GPUFEC_COMMON_CHECKED_SIZE_H
#define INCLUDED_GPUFEC_COMMON_CHECKED_SIZE_H

#include "refuse.h"
#include <cstdint>
#include <limits>
#include <string>

namespace gr::gpufec {

class checked_size
{
public:
    constexpr checked_size(std::uint64_t value) : d_value(value) {}

    constexpr std::uint64_t value() const { return d_value; }

    friend constexpr checked_size operator+(checked_size a, checked_size b)
    {
        std::uint64_t sum = 0;
        return __builtin_add_overflow(a.d_value, b.d_value, &sum) ? largest() : sum;
    }
    friend constexpr checked_size operator*(checked_size a, checked_size b)
    {
        std::uint64_t product = 0;
        return __builtin_mul_overflow(a.d_value, b.d_value, &product) ? largest()
                                                                      : product;
    }

    //! Returns the value if \p low ≤ value ≤ \p high.
    //! \throws std::invalid_argument otherwise, with the parameter's \p name, the value
    //! and both limits in the message
    std::uint64_t
    within(std::uint64_t low, std::uint64_t high, const std::string& name) const
    {
        require(d_value >= low && d_value <= high,
                name,
                d_value,
                std::to_string(low) + " to " + std::to_string(high));
        return d_value;
    }

private:
    static constexpr std::uint64_t largest()
    {
        return std::numeric_limits<std::uint64_t>::max();
    }

    std::uint64_t d_value;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_COMMON_CHECKED_SIZE_H */
