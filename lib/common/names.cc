// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Lookup of names, their similarity by edit distance, and the messages for unknown
 * names. */

#include "names.h"
#include "printable.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace gr::gpufec {

namespace {

constexpr std::size_t max_in_line = 120, max_listed = 8, max_quoted = 40,
                      max_compared = 100;

// Returns the edit distance of two texts: the minimum number of insertions, deletions,
// replacements and transpositions (optimal string alignment).
std::size_t edit_distance(const std::string& a, const std::string& b)
{
    std::vector<std::size_t> before_last, last, row(b.size() + 1);
    std::iota(row.begin(), row.end(), 0u);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before_last = std::move(last);
        last = row;
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min(
                { last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]) });
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before_last[j - 2] + 1);
            }
        }
    }
    return row.back();
}

// Returns the value of a decimal number or fraction, such as "0.5" or "1/2"; NaN for
// other texts.
double value_of(const std::string& text)
{
    char* end = nullptr;
    const double first = std::strtod(text.c_str(), &end);
    if (end == text.c_str() || (*end && *end != '/')) {
        return std::nan("");
    }
    if (!*end) {
        return first;
    }
    const char* const behind = end + 1;
    const double second = std::strtod(behind, &end);
    return end == behind || *end ? std::nan("") : first / second;
}

// Added to the distance of two numbers that differ by 0.005 or more. Every edit distance
// is smaller, because at most max_compared characters of a name are compared.
constexpr double far_apart = 1000;

// Returns the distance of two names and, to decide between names of equal distance, their
// edit distance: "lock_preset" is nearer to "lock_presets" than to "preset". If \p known
// is a fraction and \p name a number, their values are compared and the second result
// is 0.
std::pair<double, std::size_t> distance(const std::string& name, const std::string& known)
{
    const auto a = folded(name), b = folded(known);
    const double difference = std::abs(value_of(a) - value_of(b));
    if (b.find('/') != std::string::npos && !std::isnan(difference)) {
        return { difference < 0.005 ? 0 : far_apart + difference, 0 };
    }
    const auto edits = edit_distance(a, b);
    // Two names are near if one contains the other, such as "QPSK 1/2" and "1/2".
    const bool part = (b.size() >= 3 && a.find(b) != std::string::npos) ||
                      (a.size() >= 3 && b.find(a) != std::string::npos);
    return { part ? std::min<std::size_t>(edits, 1) : edits, edits };
}

name_list by_distance(const std::string& name, name_list names)
{
    std::vector<std::pair<std::pair<double, std::size_t>, std::string>> sorted;
    for (const auto& known : names) {
        sorted.emplace_back(distance(name, known), known);
    }
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
        return a.first < b.first;
    });
    for (std::size_t i = 0; i < names.size(); ++i) {
        names[i] = sorted[i].second;
    }
    return names;
}

// Returns the names separated by ", ", with the separator `last` before the last name.
std::string listed(const name_list& names, const char* last)
{
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        text += i == 0 ? "" : i + 1 == names.size() ? last : ", ";
        text += names[i];
    }
    return text;
}

} // namespace

std::string folded(const std::string& name)
{
    std::string text;
    for (const char& c : name) {
        // A '-' at the beginning is a sign and is kept.
        if (&c == &name[0] || (c != '-' && c != '_')) {
            text += c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
        }
    }
    return text;
}

std::optional<std::size_t> find_name(const std::string& name, const name_list& names)
{
    const auto exact = std::find(names.begin(), names.end(), name);
    const auto found = exact != names.end()
                           ? exact
                           : std::find_if(names.begin(), names.end(), [&](auto& known) {
                                 return folded(known) == folded(name);
                             });
    if (found == names.end()) {
        return {};
    }
    return found - names.begin();
}

std::string nearest_name(const std::string& name, const name_list& names)
{
    if (names.empty()) {
        return "";
    }
    const auto typed = name.substr(0, max_compared);
    const auto nearest = by_distance(typed, names).front();
    const auto few = std::max<std::size_t>(1, folded(typed).size() / 3);
    return distance(typed, nearest).first <= few ? nearest : "";
}

std::string unknown_name(const std::string& parameter,
                         const std::string& name,
                         const name_list& names,
                         const std::string& allowed,
                         const std::string& all)
{
    auto quoted = printable(name);
    if (quoted.size() > max_quoted) {
        quoted = printable(quoted.substr(0, max_quoted)) + "...";
    }
    const auto head = parameter + " is \"" + quoted + "\": ";
    const auto near = nearest_name(name, names);
    auto shown = names;
    std::string others;
    const auto list = [&] {
        return allowed + " " + listed(shown, others.empty() ? " and " : ", ") + others;
    };
    const auto fits = [&] { return (head + list()).size() <= max_in_line; };
    if (!fits() || (names.size() > max_listed && !near.empty())) {
        if (names.size() > max_listed) {
            shown = by_distance(name.substr(0, max_compared), names);
            shown.resize(max_listed);
            others = " and others" + (all.empty() ? "" : ": see " + all);
        }
        if (!near.empty()) {
            return printable(head + near + "?\n" + list(), true);
        }
        while (shown.size() > 1 && !fits()) {
            shown.pop_back();
            others = " and others" + (all.empty() ? "" : ": see " + all);
        }
    }
    return printable(head + list());
}

std::size_t index_of_name(const std::string& parameter,
                          const std::string& name,
                          const name_list& names,
                          const std::string& allowed,
                          const std::string& all)
{
    if (const auto found = find_name(name, names)) {
        return *found;
    }
    throw std::invalid_argument(unknown_name(parameter, name, names, allowed, all));
}

} // namespace gr::gpufec
