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

    //! Returns the value if \p least ≤ value ≤ \p most. \throws std::invalid_argument
    //! otherwise; the text has the parameter's \p name, the value and both limits
    std::uint64_t
    within(std::uint64_t least, std::uint64_t most, const std::string& name) const
    {
        require(d_value >= least && d_value <= most,
                name,
                d_value,
                std::to_string(least) + " to " + std::to_string(most));
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
