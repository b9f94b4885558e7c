// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads a parity-check matrix in MacKay's alist format. Refuses files with errors, and
 * warns if a matrix looks like a generator matrix. */

#include "code_tables.h"
#include "common/refuse.h"
#include <algorithm>
#include <fstream>
#include <istream>
#include <optional>
#include <sstream>

namespace gr::gpufec {

namespace {

/* The format, line by line: N M; the largest bit degree and the largest check degree; N
 * bit degrees; M check degrees; N lists of checks; M lists of bits. Indices begin at 1,
 * and lists may be padded with zeros to the largest degree. Lists grow as they are read,
 * so a wrong size in the file costs no memory. */
class alist_reader
{
public:
    alist_reader(std::istream& text, const std::string& name) : d_text(text), d_name(name)
    {
    }

    std::vector<unsigned>
    line(const std::string& what, std::size_t most, std::size_t read = 0)
    {
        for (unsigned blank = 0; is_blank(look(what)); ++blank) {
            if (blank == max_blank) {
                fail("there are more than " + std::to_string(max_blank) +
                     " empty lines before " + what);
            }
            take();
        }
        const auto text = take();

        std::istringstream numbers(text);
        std::vector<unsigned> values;
        for (std::string word; numbers >> word;) {
            if (word.size() > 9 || word.find_first_not_of("0123456789") != word.npos) {
                fail("\"" + word.substr(0, 20) + "\" in " + what + " is not a number");
            }
            if (read + values.size() == most) {
                fail("there are more than " + std::to_string(most) + " numbers for " +
                     what);
            }
            values.push_back(std::stoul(word));
        }
        return values;
    }

    //! Reads exactly \p count numbers, which may be spread over several lines.
    std::vector<unsigned> numbers(const std::string& what, std::size_t count)
    {
        std::vector<unsigned> values;
        while (values.size() < count) {
            const auto more = line(what, count, values.size());
            values.insert(values.end(), more.begin(), more.end());
        }
        return values;
    }

    //! Reads a line of up to \p largest numbers: \p degree distinct indices from 1 to
    //! \p limit, and padding zeros. Returns the indices minus 1 in ascending order.
    std::vector<std::uint32_t>
    list(const std::string& what, unsigned degree, unsigned largest, unsigned limit)
    {
        // A list without entries may be an empty line, or may be missing at the end of
        // the file.
        const auto values = degree ? line(what, largest) : skip_empty(what, largest);
        std::vector<std::uint32_t> entries;
        for (const auto v : values) {
            if (v > limit) {
                fail(what + " has index " + std::to_string(v) +
                     ": allowed values are 1 to " + std::to_string(limit));
            }
            if (v == 0) {
                continue;
            }
            entries.push_back(v - 1);
        }
        if (entries.size() != degree) {
            fail(what + " has " + std::to_string(entries.size()) +
                 " entries, but its degree is " + std::to_string(degree));
        }
        std::sort(entries.begin(), entries.end());
        const auto twice = std::adjacent_find(entries.begin(), entries.end());
        if (twice != entries.end()) {
            fail(what + " has index " + std::to_string(*twice + 1) + " twice");
        }
        return entries;
    }

    [[noreturn]] void fail(const std::string& reason) const
    {
        refuse("code_file", d_name, "line " + std::to_string(d_line) + ": " + reason);
    }

private:
    // Limits of a line's length in characters and of the number of successive empty lines
    // and comments. They stop the reading of an endless device or pipe.
    static constexpr std::size_t longest_line = std::size_t(1) << 24;
    static constexpr unsigned max_blank = 1u << 16;

    // Returns whether a line is empty or a comment.
    static bool is_blank(const std::string& text)
    {
        const auto first = text.find_first_not_of(" \t\r");
        return first == std::string::npos || text[first] == '#';
    }

    std::vector<unsigned> skip_empty(const std::string& what, unsigned largest)
    {
        if (!read() || is_blank(*d_next)) {
            take();
            return {};
        }
        return line(what, largest);
    }

    // Returns the next line without consuming it.
    const std::string& look(const std::string& what)
    {
        if (!read()) {
            ++d_line;
            fail("the file ends before " + what);
        }
        return *d_next;
    }

    std::string take()
    {
        ++d_line;
        auto text = std::move(d_next).value_or("");
        d_next.reset();
        return text;
    }

    // Reads the next line, unless it has been read ahead. Returns false at the end of the
    // text.
    bool read()
    {
        if (d_next) {
            return true;
        }
        std::string text;
        for (;;) {
            const auto c = d_text.rdbuf()->sbumpc();
            if (c == std::char_traits<char>::eof() && text.empty()) {
                return false;
            }
            if (c == std::char_traits<char>::eof() || c == '\n') {
                break;
            }
            if (text.size() == longest_line) {
                ++d_line;
                fail("the line is longer than " + std::to_string(longest_line) +
                     " characters");
            }
            text.push_back(char(c));
        }
        d_next = std::move(text);
        return true;
    }

    std::istream& d_text;
    const std::string d_name;
    std::optional<std::string> d_next; // line read ahead
    unsigned d_line = 0;               // number of the last consumed line
};

std::size_t checked_sum(const alist_reader& reader,
                        const std::string& what,
                        const std::vector<unsigned>& degrees,
                        unsigned largest)
{
    std::size_t sum = 0;
    for (std::size_t i = 0; i < degrees.size(); ++i) {
        if (degrees[i] > largest) {
            reader.fail("the degree of " + what + " " + std::to_string(i + 1) + " is " +
                        std::to_string(degrees[i]) + ", but the largest degree is " +
                        std::to_string(largest));
        }
        sum += degrees[i];
    }
    if (sum == 0 || sum > ldpc_code::max_edges) {
        reader.fail("the degrees of all " + what + "s sum to " + std::to_string(sum) +
                    ": allowed values are 1 to " + std::to_string(ldpc_code::max_edges));
    }
    return sum;
}

// Returns a warning if the matrix looks like a generator matrix [I P], else "". A
// generator matrix begins with an identity matrix, and its other columns are dense.
// Parity-check matrices have columns of few ones, or end with the identity matrix.
std::string warning_of(unsigned n, const std::vector<std::vector<std::uint32_t>>& rows)
{
    constexpr double dense = 0.25, many = 12; // minimum share and minimum number of ones
                                              // in a dense column
    const auto checks = unsigned(rows.size());
    double ones = 0;
    for (unsigned c = 0; c < checks; ++c) {
        if (rows[c].empty() || rows[c][0] != c ||
            (rows[c].size() > 1 && rows[c][1] < checks)) {
            return "";
        }
        ones += rows[c].size() - 1;
    }
    if (n <= checks || ones < std::max(many, dense * checks) * (n - checks)) {
        return "";
    }
    std::ostringstream text;
    text
        << "looks like a generator matrix [I P] of K = " << checks
        << ", and is used as a parity-check matrix of K = " << n - checks
        << ": its first " << checks
        << " columns are an identity matrix, and the other columns have "
        << unsigned(ones / (n - checks) + 0.5)
        << " ones on average. The parity-check matrix of [I P] is [P' I]. A parity-check "
           "matrix as dense as this one corrects few errors.";
    return text.str();
}

} // namespace

ldpc_code ldpc_code::from_alist(std::istream& text, const std::string& name)
{
    alist_reader reader(text, name);
    const auto size = reader.numbers("N and M", 2);
    const unsigned n = size[0], m = size[1];
    if (n < 2 || n > max_bits || m < 1 || m > max_bits) {
        reader.fail("N is " + std::to_string(n) + " and M is " + std::to_string(m) +
                    ": allowed values are N from 2 to " + std::to_string(max_bits) +
                    " and M from 1 to " + std::to_string(max_bits));
    }
    const auto largest = reader.numbers("the largest degrees", 2);
    if (largest[1] < 1 || largest[1] > max_check_degree || largest[0] < 1 ||
        largest[0] > m) {
        reader.fail("the largest degrees are " + std::to_string(largest[0]) + " and " +
                    std::to_string(largest[1]) +
                    ": allowed values are 1 to M for bits and 1 to " +
                    std::to_string(max_check_degree) + " for checks");
    }
    const auto bit_degrees = reader.numbers("the bit degrees", n);
    const auto bit_edges = checked_sum(reader, "bit", bit_degrees, largest[0]);
    const auto check_degrees = reader.numbers("the check degrees", m);
    const auto check_edges = checked_sum(reader, "check", check_degrees, largest[1]);
    if (bit_edges != check_edges) {
        reader.fail("the bit degrees sum to " + std::to_string(bit_edges) +
                    ", but the check degrees sum to " + std::to_string(check_edges));
    }

    // Bits are read in ascending order, so that the bits of each check ascend too.
    std::vector<std::vector<std::uint32_t>> rows(m);
    for (unsigned b = 0; b < n; ++b) {
        const auto list =
            reader.list("bit " + std::to_string(b + 1), bit_degrees[b], largest[0], m);
        for (const auto c : list) {
            rows[c].push_back(b);
        }
    }
    auto t = std::make_shared<tables>();
    t->name = name;
    t->n = n;
    t->checks = m;
    t->begin.push_back(0);
    for (unsigned c = 0; c < m; ++c) {
        const auto what = "check " + std::to_string(c + 1);
        if (reader.list(what, check_degrees[c], largest[1], n) != rows[c]) {
            reader.fail("the list of " + what + " contradicts the lists of bits");
        }
        t->bits.insert(t->bits.end(), rows[c].begin(), rows[c].end());
        t->begin.push_back(t->bits.size());
    }
    const auto warning = warning_of(n, rows);
    t->warning = warning.empty() ? "" : printable(name + " " + warning);
    t->complete();
    return ldpc_code(std::move(t));
}

ldpc_code ldpc_code::from_alist_file(const std::string& path)
{
    std::ifstream file(path);
    if (!file) {
        refuse("code_file", '"' + path + '"', "the file cannot be read");
    }
    return from_alist(file, path);
}

} // namespace gr::gpufec
