// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Text from outside as it may stand in a message: Python and JSON take UTF-8 only, and
 * terminals obey control characters. */

#ifndef INCLUDED_GPUFEC_PIPELINE_PRINTABLE_H
#define INCLUDED_GPUFEC_PIPELINE_PRINTABLE_H

#include <cstddef>
#include <string>

namespace gr::gpufec {

//! Bytes of the character of UTF-8 that \p text has at \p at; 0 if it has none there.
inline std::size_t utf8_size(const std::string& text, std::size_t at)
{
    const auto byte = [&](std::size_t k) {
        return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u;
    };
    const auto first = byte(at);
    if (first < 0x80) {
        return 1;
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
    // Longer forms than need be, surrogates, beyond U+10FFFF.
    const auto second = byte(at + 1);
    const bool bad =
        (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90);
    return bad ? 0 : size;
}

//! \p text with what \p write makes of each piece: of a character's bytes (true), or of a
//! byte that is part of none (false).
template <class Write>
std::string by_characters(const std::string& text, const Write& write)
{
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const auto size = utf8_size(text, at);
        const auto bytes = text.substr(at, size ? size : 1);
        out += write(size > 0, bytes);
        at += bytes.size();
    }
    return out;
}

//! \p text with every byte of what cannot be printed as \\xNN. \p lines: ends of lines
//! stay.
inline std::string printable(const std::string& text, bool lines = false)
{
    return by_characters(text, [&](bool valid, const std::string& bytes) {
        const auto first = static_cast<unsigned char>(bytes[0]);
        const bool control =
            first < 0x20 || first == 0x7f ||
            (first == 0xc2 && static_cast<unsigned char>(bytes[1]) < 0xa0);
        if (valid && (!control || (lines && first == '\n'))) {
            return bytes;
        }
        const char* const digits = "0123456789abcdef";
        std::string escaped;
        for (const unsigned char byte : bytes) {
            escaped += { '\\', 'x', digits[byte >> 4], digits[byte & 15] };
        }
        return escaped;
    });
}

//! As UTF-8, for JSON: a byte that is part of no character becomes U+FFFD.
inline std::string valid_utf8(const std::string& text)
{
    return by_characters(text, [](bool valid, const std::string& bytes) {
        return valid ? bytes : std::string("\xef\xbf\xbd");
    });
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_PRINTABLE_H */
