// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A JSON value that can be built and written. */

#ifndef INCLUDED_GPUFEC_APPS_JSON_H
#define INCLUDED_GPUFEC_APPS_JSON_H

#include "printable.h"
#include <type_traits>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
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
    //! Adds the members of another object.
    json& merge(const json& other)
    {
        d_members.insert(d_members.end(), other.d_members.begin(), other.d_members.end());
        return *this;
    }

    //! The member of an object; "a.b": b of its member a. Null if it is not there.
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
    //! NaN if it is none.
    double number() const { return null() ? NAN : std::stod(d_text); }

    //! An object of plain values in a line for people: "backend cpu, decode length 512".
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
    std::vector<member> d_members; // of an array: without names
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_APPS_JSON_H */
