// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements convolutional codes: checks and conversion of polynomials, puncturing
 * patterns, output words of branches, numbers of stages and values, and the names of
 * terminations and formats. */

#include "common/refuse.h"
#include <gnuradio/gpufec/viterbi.h>
#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace gr::gpufec {

namespace {

std::string octal(int polynomial)
{
    std::ostringstream text;
    // The sum with 0LL is a long long, because −INT_MIN does not fit an int.
    text << (polynomial < 0 ? "-" : "") << std::oct << std::abs(0LL + polynomial);
    return text.str();
}

std::string octal(const std::vector<int>& polynomials)
{
    std::string text;
    for (const int p : polynomials) {
        text += (text.empty() ? "" : ",") + octal(p);
    }
    return text;
}

void check_constraint_length(int constraint_length)
{
    require(constraint_length >= int(conv_code::min_constraint_length) &&
                constraint_length <= int(conv_code::max_constraint_length),
            "constraint_length",
            constraint_length,
            "3 to 9");
}

bool in_range(int polynomial, int constraint_length)
{
    const auto magnitude = std::abs(0LL + polynomial);
    return magnitude > 0 && magnitude >> constraint_length == 0;
}

// Returns the polynomials that result if the decimal digits are read as octal digits,
// which a user who omitted the octal prefix probably meant. Returns nothing if a digit is
// 8 or 9.
std::vector<int> read_as_octal(const std::vector<int>& polynomials)
{
    std::vector<int> read;
    for (const int p : polynomials) {
        const auto digits = std::to_string(p);
        if (digits.find_first_of("89") != std::string::npos) {
            return {};
        }
        read.push_back(int(std::strtol(digits.c_str(), nullptr, 8)));
    }
    return read;
}

// Returns a preset with these polynomials, in any order and with any inversion, or
// nullptr if no preset has them.
const conv_preset* known_code(std::vector<int> polynomials)
{
    const auto sorted = [](std::vector<int> p) {
        for (int& entry : p) {
            entry = std::abs(entry);
        }
        std::sort(p.begin(), p.end());
        return p;
    };
    polynomials = sorted(polynomials);
    for (const auto& p : conv_presets()) {
        if (sorted(p.polynomials) == polynomials) {
            return &p;
        }
    }
    return nullptr;
}

void check_polynomials(const std::vector<int>& polynomials, int constraint_length)
{
    for (const int p : polynomials) {
        if (in_range(p, constraint_length)) {
            continue;
        }
        auto reason = "its magnitude must be 1 to " +
                      octal((1 << constraint_length) - 1) + " for constraint_length " +
                      std::to_string(constraint_length);
        const auto meant = read_as_octal(polynomials);
        if (!meant.empty() && std::all_of(meant.begin(), meant.end(), [&](int m) {
                return in_range(m, constraint_length);
            })) {
            reason += "; in decimal it is " + std::to_string(p) + ", and the octal " +
                      "numbers " + octal(meant) + " were probably meant, in Python 0o" +
                      octal(std::abs(meant[0])) + " and so on";
        }
        refuse("polynomials entry", octal(p) + " (octal)", reason);
    }
}

int backwards(int polynomial, int constraint_length)
{
    int reversed = 0;
    for (int bit = 0; bit < constraint_length; ++bit) {
        reversed = reversed << 1 | (std::abs(polynomial) >> bit & 1);
    }
    return polynomial < 0 ? -reversed : reversed;
}

unsigned parity(unsigned x) { return __builtin_parity(x); }

// Splits a puncturing pattern into rows. Throws std::invalid_argument unless there is one
// row per output, each of '0' and '1', and all rows have the same length up to
// max_period.
std::vector<std::string> split_pattern(const std::string& pattern, std::size_t outputs)
{
    const std::string allowed =
        "it must be one string of 0 and 1 for each of the " + std::to_string(outputs) +
        " outputs, separated by commas, all of the same length from 1 to " +
        std::to_string(conv_code::max_period);
    const std::string quoted = '"' + pattern + '"';
    std::vector<std::string> rows;
    std::istringstream text(pattern);
    for (std::string row; std::getline(text, row, ',');) {
        rows.push_back(row);
    }
    if (rows.size() != outputs || pattern.back() == ',') {
        refuse("puncturing", quoted, allowed);
    }
    for (const auto& row : rows) {
        if (row.empty() || row.size() != rows[0].size() ||
            row.size() > conv_code::max_period ||
            row.find_first_not_of("01") != std::string::npos) {
            refuse("puncturing", quoted, allowed);
        }
    }
    return rows;
}

} // namespace

conv_code::conv_code(int constraint_length,
                     const std::vector<int>& polynomials,
                     const std::string& puncturing)
    : d_constraint_length(constraint_length)
{
    check_constraint_length(constraint_length);
    const auto R = polynomials.size();
    require(R >= min_outputs && R <= max_outputs, "number of polynomials", R, "2 to 6");
    check_polynomials(polynomials, constraint_length);
    unsigned used = 0;
    for (const int p : polynomials) {
        used |= std::abs(p);
        d_polynomials.push_back(std::abs(p));
        d_inverted.push_back(p < 0);
    }
    const unsigned ends = 1u << (constraint_length - 1) | 1u;
    if ((used & ends) != ends) {
        refuse("polynomials",
               to_string(),
               "one polynomial must use the newest bit (most significant) and one the "
               "oldest (least significant), or the constraint length is smaller");
    }

    if (puncturing.empty()) {
        d_sent.assign(R, true);
        d_before = { 0, unsigned(R) };
        return;
    }
    auto rows = split_pattern(puncturing, R);
    if (rows[0].size() == 1 && puncturing.find('0') != std::string::npos) {
        // A period of one stage marks an unpunctured code. A pattern of one stage that
        // punctures an output is therefore repeated.
        for (auto& row : rows) {
            row += row;
        }
    }
    d_period = rows[0].size();
    d_before = { 0 };
    for (unsigned stage = 0; stage < d_period; ++stage) {
        unsigned count = 0;
        for (const auto& row : rows) {
            d_sent.push_back(row[stage] == '1');
            count += row[stage] == '1';
        }
        if (count == 0) {
            refuse("puncturing",
                   '"' + puncturing + '"',
                   "every stage must send at least one output, but stage " +
                       std::to_string(stage) + " sends none");
        }
        d_before.push_back(d_before.back() + count);
    }
}

unsigned conv_code::output_word(unsigned state, unsigned bit) const
{
    const unsigned shift_register = bit << (d_constraint_length - 1) | state;
    unsigned word = 0;
    for (const auto p : d_polynomials) {
        word = word << 1 | parity(shift_register & p);
    }
    return word;
}

conv_code conv_code::opposite() const
{
    auto code = *this;
    code.d_inverted.flip();
    return code;
}

std::uint64_t conv_code::stages(std::uint64_t values) const
{
    const auto whole = values / values_per_period();
    const auto rest = values % values_per_period();
    const auto last = std::lower_bound(d_before.begin(), d_before.end(), rest);
    return whole * d_period + (last - d_before.begin());
}

std::string conv_code::doubt() const
{
    std::vector<int> given, reversed;
    for (const int p : d_polynomials) {
        given.push_back(p);
        reversed.push_back(backwards(p, d_constraint_length));
    }
    if (known_code(given)) {
        return "";
    }
    const auto begin = "polynomials are " + octal(given) + " (octal): they are ";
    const auto* const forwards = known_code(reversed);
    if (forwards && forwards->constraint_length == int(d_constraint_length)) {
        return begin + "those of " + forwards->title + ", " + octal(reversed) +
               ", with reversed bits as in gr-fec, and are used unchanged; "
               "polynomials_from_gr_fec() reverses the bits";
    }
    const auto meant = read_as_octal(given);
    if (const auto* const known = known_code(meant)) {
        return begin + "decimal numbers with the octal digits of " + known->title + ", " +
               octal(meant) +
               ", and are used unchanged; in Python an octal number begins with 0o";
    }
    return "";
}

std::vector<int> polynomials_from_gr_fec(const std::vector<int>& polynomials,
                                         int constraint_length)
{
    check_constraint_length(constraint_length);
    std::vector<int> reversed;
    for (const int p : polynomials) {
        if (!in_range(p, constraint_length)) {
            refuse("polynomials entry",
                   p,
                   "its magnitude must be 1 to " +
                       std::to_string((1 << constraint_length) - 1) +
                       " for constraint_length " + std::to_string(constraint_length));
        }
        reversed.push_back(backwards(p, constraint_length));
    }
    return reversed;
}

std::string conv_code::to_string() const
{
    std::string text = "K=" + std::to_string(d_constraint_length) + " (";
    for (unsigned r = 0; r < d_polynomials.size(); ++r) {
        const int p = d_polynomials[r];
        text += (r ? "," : "") + octal(d_inverted[r] ? -p : p);
    }
    text += ")";
    for (unsigned r = 0; d_period > 1 && r < outputs(); ++r) {
        text += r ? "," : " ";
        for (unsigned stage = 0; stage < d_period; ++stage) {
            text += sent(stage, r) ? '1' : '0';
        }
    }
    return text;
}

termination termination_from_string(const std::string& name)
{
    return choose<termination>("termination",
                               name,
                               { { "streaming", termination::streaming },
                                 { "terminated", termination::terminated },
                                 { "truncated", termination::truncated },
                                 { "tailbiting", termination::tailbiting } });
}

const char* termination_name(termination ends)
{
    switch (ends) {
    case termination::streaming:
        return "streaming";
    case termination::terminated:
        return "terminated";
    case termination::truncated:
        return "truncated";
    case termination::tailbiting:
        break;
    }
    return "tailbiting";
}

soft_format soft_format_from_string(const std::string& name)
{
    return choose<soft_format>("soft_input",
                               name,
                               { { "int8", soft_format::int8 },
                                 { "float", soft_format::float32 },
                                 { "packed4", soft_format::packed4 },
                                 { "uint8", soft_format::uint8 } });
}

} // namespace gr::gpufec
