// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Selection of a convolutional code by its parameters or a preset. */

#include "common/refuse.h"
#include "conv_parameters.h"

namespace gr::gpufec {

std::pair<conv_code, gpufec::termination>
conv_code_of(std::optional<int> constraint_length,
             const std::optional<std::vector<int>>& polynomials,
             const std::optional<std::string>& puncturing,
             std::optional<gpufec::termination> termination,
             const std::string& preset)
{
    if (preset.empty()) {
        return { conv_code(constraint_length.value_or(7),
                           polynomials.value_or(std::vector<int>{ 0171, 0133 }),
                           puncturing.value_or("")),
                 termination.value_or(gpufec::termination::streaming) };
    }
    const std::pair<const char*, bool> given[] = {
        { "constraint_length", constraint_length.has_value() },
        { "polynomials", polynomials.has_value() },
        { "puncturing", puncturing.has_value() },
        { "termination", termination.has_value() },
    };
    std::string both;
    for (const auto& [name, is_given] : given) {
        if (is_given) {
            both += (both.empty() ? "" : ", ") + std::string(name);
        }
    }
    const auto& found = find_conv_preset(preset);
    if (!both.empty()) {
        refuse("preset", '"' + preset + '"', "it cannot be combined with " + both);
    }
    return { conv_code::preset(preset), found.termination };
}

} // namespace gr::gpufec
