// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Checks of block parameters that a decoder's own options cannot even express. */

#ifndef INCLUDED_GPUFEC_BLOCKS_PARAMETERS_H
#define INCLUDED_GPUFEC_BLOCKS_PARAMETERS_H

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief The int \p value of a parameter as an unsigned number.
 * \throws std::invalid_argument if it is negative
 */
inline unsigned
not_negative(const std::string& name, int value, const std::string& allowed)
{
    if (value < 0) {
        throw std::invalid_argument(name + " is " + std::to_string(value) + ": " +
                                    allowed);
    }
    return value;
}

//! The CUDA devices that the parameters device and devices name.
//! \throws std::invalid_argument for numbers below 0
inline std::vector<int> devices_of(int device, const std::vector<int>& devices)
{
    const std::string from_0 = "allowed are 0 and more";
    not_negative("device", device, from_0);
    for (const int d : devices) {
        not_negative("devices", d, from_0);
    }
    return devices.empty() ? std::vector<int>{ device } : devices;
}

//! \throws std::invalid_argument unless \p good
inline void
check_number(const std::string& name, double value, bool good, const std::string& allowed)
{
    if (!good) {
        std::ostringstream text;
        text << name << " is " << value << ": " << allowed;
        throw std::invalid_argument(text.str());
    }
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_PARAMETERS_H */
