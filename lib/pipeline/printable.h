// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Text from outside as it may stand in a message: Python takes UTF-8 only, and terminals
 * obey control characters. */

#ifndef INCLUDED_GPUFEC_PIPELINE_PRINTABLE_H
#define INCLUDED_GPUFEC_PIPELINE_PRINTABLE_H

#include <cstddef>
#include <string>

namespace gr::gpufec {

//! Bytes of the character that \p text has at \p at; 0 if it is none of UTF-8, or a
//! control character.
inline std::size_t printable_character(const std::string& text, std::size_t at)
{
    const auto byte = [&](std::size_t k) {
        return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u;
    };
    const auto first = byte(at);
    if (first < 0x80) {
        return first >= 0x20 && first != 0x7f;
    }
    const std::size_t size = first >= 0xc2 && first < 0xe0   ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
    for (std::size_t k = 1; k < size; ++k) {
        if (byte(at + k) >> 6 != 2) {
            return 0;
        }
    }
    // Longer forms than need be, surrogates, beyond U+10FFFF, C1 controls.
    const auto second = byte(at + 1);
    const bool bad =
        (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90) ||
        (first == 0xc2 && second < 0xa0);
    return bad ? 0 : size;
}

//! \p text with every byte of what cannot be printed as \\xNN.
inline std::string printable(const std::string& text)
{
    const char* const digits = "0123456789abcdef";
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        if (const auto size = printable_character(text, at)) {
            out.append(text, at, size);
            at += size;
        } else {
            const auto byte = static_cast<unsigned char>(text[at++]);
            out += { '\\', 'x', digits[byte >> 4], digits[byte & 15] };
        }
    }
    return out;
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_PRINTABLE_H */
