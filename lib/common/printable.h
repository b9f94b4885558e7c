// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Escapes text from users and files for messages, because Python and JSON accept only
 * UTF-8 and terminals execute control characters. */

#ifndef INCLUDED_GPUFEC_COMMON_PRINTABLE_H
#define INCLUDED_GPUFEC_COMMON_PRINTABLE_H

#include <cstddef>
#include <string>

namespace gr::gpufec {

//! Returns the size in bytes of the UTF-8 character at offset \p at; 0 if the bytes at
//! this offset are not valid UTF-8.
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
    // The second byte shows overlong forms, surrogates, and values beyond U+10FFFF.
    const auto second = byte(at + 1);
    const bool bad =
        (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90);
    return bad ? 0 : size;
}

//! Calls write(true, character) for each valid UTF-8 character and write(false, byte) for
//! each other byte. Returns the concatenated results.
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

//! Returns \p text with each byte of a control character or of invalid UTF-8 replaced by
//! \\xNN. If \p lines is true, line feeds are kept.
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

//! Returns \p text with invalid bytes replaced by U+FFFD, for JSON.
inline std::string valid_utf8(const std::string& text)
{
    return by_characters(text, [](bool valid, const std::string& bytes) {
        return valid ? bytes : std::string("\xef\xbf\xbd");
    });
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_COMMON_PRINTABLE_H */
