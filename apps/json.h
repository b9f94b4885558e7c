// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A JSON value that can be built, written, and read again. */

#ifndef INCLUDED_GPUFEC_APPS_JSON_H
#define INCLUDED_GPUFEC_APPS_JSON_H

#include "common/printable.h"
#include <type_traits>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace gr::gpufec {

class json
{
public:
    using member = std::pair<std::string, json>;

    json() : d_text("null") {}
    json(bool value) : d_text(value ? "true" : "false") {}
    json(double value) : d_text(number(value)) {}
    template <class Integer, class = std::enable_if_t<std::is_integral_v<Integer>>>
    json(Integer value) : d_text(std::to_string(value))
    {
    }
    json(const char* text) : json(std::string(text)) {}
    json(const std::string& text) : d_text(quoted(text)) {}

    static json object(std::vector<member> members = {})
    {
        json j;
        j.d_form = form::object;
        j.d_members = std::move(members);
        return j;
    }
    static json array(const std::vector<json>& items = {})
    {
        json j;
        j.d_form = form::array;
        for (const auto& item : items) {
            j.add(item);
        }
        return j;
    }

    //! Adds a member to an object.
    json& add(const std::string& name, json value)
    {
        d_members.emplace_back(name, std::move(value));
        return *this;
    }
    //! Adds an item to an array.
    json& add(json value) { return add("", std::move(value)); }
    //! Adds the members of \p other, an object.
    json& merge(const json& other)
    {
        d_members.insert(d_members.end(), other.d_members.begin(), other.d_members.end());
        return *this;
    }

    //! Returns a member of an object, or null if there is none. The path "a.b" is member
    //! b of member a.
    json at(const std::string& path) const
    {
        const auto dot = path.find('.');
        for (const auto& [name, value] : d_members) {
            if (name == path.substr(0, dot)) {
                return dot == std::string::npos ? value : value.at(path.substr(dot + 1));
            }
        }
        return {};
    }
    bool null() const { return d_form == form::scalar && d_text == "null"; }
    bool scalar() const { return d_form == form::scalar; }
    //! Returns the value as a number; NaN if it is not a number.
    double number() const
    {
        char* end = nullptr;
        const double value = std::strtod(d_text.c_str(), &end);
        return d_text.empty() || *end ? NAN : value;
    }

    //! Returns the items of an array.
    std::vector<json> items() const
    {
        std::vector<json> all;
        for (const auto& [name, value] : d_members) {
            all.push_back(value);
        }
        return all;
    }

    //! Parses the text of to_string().
    //! \throws std::runtime_error if the text is not one JSON value, or if more than 64
    //! arrays and objects are nested
    static json parse(const std::string& text)
    {
        const char* at = text.c_str();
        auto value = parse_value(at, 0);
        if (*skip_space(at)) {
            throw std::runtime_error("the text has more than one JSON value");
        }
        return value;
    }

    //! Returns an object without nested values as a line: "backend cpu, decode length
    //! 512".
    std::string line() const
    {
        std::string text;
        for (const auto& [name, value] : d_members) {
            text += (text.empty() ? "" : ", ") + name + ' ' + value.d_text;
        }
        std::replace(text.begin(), text.end(), '_', ' ');
        text.erase(std::remove(text.begin(), text.end(), '"'), text.end());
        return text;
    }

    std::string to_string(unsigned indent = 0) const
    {
        if (d_form == form::scalar) {
            return d_text;
        }
        const bool named = d_form == form::object;
        const std::string margin(indent + 2, ' ');
        std::string text;
        for (const auto& [name, value] : d_members) {
            text += (text.empty() ? "\n" : ",\n") + margin +
                    (named ? quoted(name) + ": " : "") + value.to_string(indent + 2);
        }
        text += text.empty() ? "" : "\n" + std::string(indent, ' ');
        return (named ? '{' : '[') + text + (named ? '}' : ']');
    }

private:
    enum class form { scalar, array, object };

    static const char*& skip_space(const char*& at)
    {
        return at += std::strspn(at, " \t\r\n");
    }

    // Parses the value at \p at, and sets \p at to its end. Numbers, null, true and false
    // are stored as text.
    static json parse_value(const char*& at, int depth)
    {
        const char first = *skip_space(at);
        if (first == '"') {
            return json(parse_text(at));
        }
        if (first == '{' || first == '[') {
            return parse_members(at, depth);
        }
        json j;
        j.d_text.assign(at, std::strcspn(at, ",]} \t\r\n"));
        char* end = nullptr;
        std::strtod(j.d_text.c_str(), &end);
        if (j.d_text.empty() ||
            (*end && j.d_text != "null" && j.d_text != "true" && j.d_text != "false")) {
            throw std::runtime_error("the text is not JSON");
        }
        at += j.d_text.size();
        return j;
    }

    static json parse_members(const char*& at, int depth)
    {
        const bool named = *at == '{';
        const char close = named ? '}' : ']';
        auto j = named ? object() : array();
        if (depth == 64) {
            throw std::runtime_error("the values are nested too deeply");
        }
        if (*skip_space(++at) == close) {
            ++at;
            return j;
        }
        for (;;) {
            std::string name;
            if (named) {
                skip_space(at);
                name = parse_text(at);
                expect(at, ':');
            }
            j.add(name, parse_value(at, depth + 1));
            if (*skip_space(at) == close) {
                ++at;
                return j;
            }
            expect(at, ',');
        }
    }

    static void expect(const char*& at, char c)
    {
        if (*skip_space(at) != c) {
            throw std::runtime_error("the text is not JSON, or is incomplete");
        }
        ++at;
    }

    static std::string parse_text(const char*& at)
    {
        expect(at, '"');
        std::string text;
        for (; *at && *at != '"'; ++at) {
            unsigned code = 0;
            if (*at != '\\') {
                text += *at;
            } else if (*++at == 'u' && std::sscanf(at + 1, "%4x", &code) == 1 &&
                       code < 0x20) {
                text += char(code);
                at += 4;
            } else {
                text += *at;
            }
        }
        expect(at, '"');
        return text;
    }

    static std::string number(double value)
    {
        if (!std::isfinite(value)) {
            return "null";
        }
        char text[32];
        std::snprintf(text, sizeof text, "%.10g", value);
        return text;
    }

    static std::string quoted(const std::string& text)
    {
        std::string out = "\"";
        for (const char c : valid_utf8(text)) {
            if (static_cast<unsigned char>(c) < 0x20) {
                char code[8];
                std::snprintf(code, sizeof code, "\\u%04x", unsigned(c));
                out += code;
            } else {
                out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
            }
        }
        return out + '"';
    }

    form d_form = form::scalar;
    std::string d_text;
    std::vector<member> d_members; // of an object, or items with empty names of an array
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_APPS_JSON_H */
