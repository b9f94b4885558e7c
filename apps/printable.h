// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Text of unknown origin, such as a file's, for JSON and for a terminal. */

#ifndef INCLUDED_GPUFEC_APPS_PRINTABLE_H
#define INCLUDED_GPUFEC_APPS_PRINTABLE_H

#include <cstdio>
#include <string>

#include <boost/locale/utf.hpp>

namespace gr::gpufec {

//! \p text with what \p escape makes of each byte that is part of no character.
template <class Escape>
std::string with_escapes(const std::string& text, const Escape& escape)
{
    namespace utf = boost::locale::utf;
    std::string out;
    for (auto at = text.begin(); at != text.end();) {
        auto next = at;
        const auto point = utf::utf_traits<char>::decode(next, text.end());
        const bool valid = point != utf::illegal && point != utf::incomplete;
        out += escape(valid, point, std::string(at, valid ? next : at + 1));
        at = valid ? next : at + 1;
    }
    return out;
}

//! As UTF-8, for JSON: a byte that is none becomes U+FFFD.
inline std::string valid_utf8(const std::string& text)
{
    return with_escapes(text, [](bool valid, auto, const std::string& bytes) {
        return valid ? bytes : std::string("\xef\xbf\xbd");
    });
}

//! For a terminal: control characters, and bytes that are no UTF-8, become \xNN.
inline std::string printable(const std::string& text)
{
    return with_escapes(text, [](bool valid, auto point, const std::string& bytes) {
        const bool control = point < 0x20 || (point >= 0x7f && point < 0xa0);
        if (valid && (!control || point == '\n')) {
            return bytes;
        }
        std::string escaped;
        for (const unsigned char byte : bytes) {
            char code[8];
            std::snprintf(code, sizeof code, "\\x%02x", unsigned(byte));
            escaped += code;
        }
        return escaped;
    });
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_APPS_PRINTABLE_H */
