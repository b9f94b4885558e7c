// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A JSON value that can be built and written. */

#ifndef INCLUDED_GPUFEC_APPS_JSON_H
#define INCLUDED_GPUFEC_APPS_JSON_H

#include <type_traits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace gr::gpufec {

class json
{
public:
    using member = std::pair<std::string, json>;

    json() : d_value(std::string("null")) {}
    json(bool value) : d_value(std::string(value ? "true" : "false")) {}
    json(double value) : d_value(number(value)) {}
    template <class Integer, class = std::enable_if_t<std::is_integral_v<Integer>>>
    json(Integer value) : d_value(std::to_string(value))
    {
    }
    json(const char* text) : json(std::string(text)) {}
    json(const std::string& text) : d_value(quoted(text)) {}

    static json object(std::vector<member> members = {})
    {
        json j;
        j.d_value = std::move(members);
        return j;
    }
    static json array(std::vector<json> items = {})
    {
        json j;
        j.d_value = std::move(items);
        return j;
    }

    //! Adds a member to an object.
    json& add(const std::string& name, json value)
    {
        std::get<std::vector<member>>(d_value).emplace_back(name, std::move(value));
        return *this;
    }
    //! Adds an item to an array.
    json& add(json value)
    {
        std::get<std::vector<json>>(d_value).push_back(std::move(value));
        return *this;
    }

    std::string to_string(unsigned indent = 0) const
    {
        const std::string margin(indent + 2, ' '), end = "\n" + std::string(indent, ' ');
        std::string text;
        if (const auto* scalar = std::get_if<std::string>(&d_value)) {
            return *scalar;
        }
        if (const auto* items = std::get_if<std::vector<json>>(&d_value)) {
            for (const auto& item : *items) {
                text +=
                    (text.empty() ? "\n" : ",\n") + margin + item.to_string(indent + 2);
            }
            return items->empty() ? "[]" : "[" + text + end + "]";
        }
        const auto& members = std::get<std::vector<member>>(d_value);
        for (const auto& [name, value] : members) {
            text += (text.empty() ? "\n" : ",\n") + margin + quoted(name) + ": " +
                    value.to_string(indent + 2);
        }
        return members.empty() ? "{}" : "{" + text + end + "}";
    }

private:
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
        for (const char c : text) {
            if (c == '"' || c == '\\') {
                out += '\\';
                out += c;
            } else if (static_cast<unsigned char>(c) < 0x20) {
                char code[8];
                std::snprintf(code, sizeof code, "\\u%04x", unsigned(c));
                out += code;
            } else {
                out += c;
            }
        }
        return out + '"';
    }

    std::variant<std::string, std::vector<json>, std::vector<member>> d_value;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_APPS_JSON_H */
