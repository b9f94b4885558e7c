// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads and writes files with base matrices of quasi-cyclic codes, and finds the base
 * matrix of a parity-check matrix. Also makes copies of a code with other punctured,
 * shortened or message positions. */

#include "code_tables.h"
#include "common/refuse.h"
#include <algorithm>
#include <fstream>
#include <map>
#include <ostream>
#include <sstream>

namespace gr::gpufec {

using namespace ldpc;

namespace {

using tables = ldpc_code_access::tables;
using circulant = ldpc_code::circulant;

class base_matrix_reader
{
public:
    base_matrix_reader(std::istream& text, const std::string& name)
        : d_text(text), d_name(name)
    {
    }

    std::shared_ptr<tables> read()
    {
        auto t = std::make_shared<tables>();
        t->name = d_name;
        auto words = next_words();
        if (words.empty() || words[0] != "lifting" || words.size() != 2) {
            fail("the first words must be \"lifting\" and the lifting size");
        }
        t->lifting = number(words[1], "the lifting size", 1, ldpc_code::max_bits);
        std::size_t edges = 0;
        while (!(words = next_words()).empty()) {
            if (words[0] == "chain" && words.size() == 1) {
                t->chain = true;
            } else if (words[0] == "punctured") {
                read_positions(words, t->punctured);
            } else if (words[0] == "shortened") {
                read_positions(words, t->shortened);
            } else {
                const auto before = t->circulants.size();
                read_row(words, *t);
                edges += (t->circulants.size() - before) * t->lifting;
                if (edges > ldpc_code::max_edges) {
                    fail("the matrix has more than " +
                         std::to_string(ldpc_code::max_edges) + " edges up to this row");
                }
            }
        }
        if (t->rows == 0) {
            fail("the matrix has no rows");
        }
        const auto bits =
            (std::uint64_t(d_columns) + (t->chain ? t->rows : 0)) * t->lifting;
        if (bits < 2 || bits > ldpc_code::max_bits ||
            std::uint64_t(t->rows) * t->lifting > ldpc_code::max_bits) {
            fail("the matrix has " + std::to_string(bits) + " bits and " +
                 std::to_string(std::uint64_t(t->rows) * t->lifting) +
                 " checks: at most " + std::to_string(ldpc_code::max_bits) +
                 " of each are allowed");
        }
        t->expand(d_columns);
        return t;
    }

private:
    [[noreturn]] void fail(const std::string& reason) const
    {
        refuse("code_file", d_name, "line " + std::to_string(d_line) + ": " + reason);
    }

    // Returns the words of the next line that is neither empty nor a comment, or no words
    // at the end of the file.
    std::vector<std::string> next_words()
    {
        constexpr std::size_t longest = std::size_t(1) << 24;
        for (;;) {
            ++d_line;
            std::string text;
            int c;
            while ((c = d_text.rdbuf()->sbumpc()) != std::char_traits<char>::eof() &&
                   c != '\n') {
                text.push_back(char(c));
                if (text.size() > longest || d_line > longest) {
                    fail("the line is longer than " + std::to_string(longest) +
                         " characters");
                }
            }
            text = text.substr(0, text.find('#'));
            std::istringstream stream(text);
            std::vector<std::string> words;
            for (std::string word; stream >> word;) {
                words.push_back(word);
            }
            if (!words.empty() || c == std::char_traits<char>::eof()) {
                return words;
            }
        }
    }

    unsigned number(const std::string& word,
                    const std::string& what,
                    unsigned min,
                    unsigned max) const
    {
        const bool digits = !word.empty() && word.size() <= 8 &&
                            word.find_first_not_of("0123456789") == word.npos;
        const unsigned value = digits ? std::stoul(word) : 0;
        if (!digits || value < min || value > max) {
            fail(what + " is \"" + word.substr(0, 20) + "\": allowed values are " +
                 std::to_string(min) + " to " + std::to_string(max));
        }
        return value;
    }

    void read_row(const std::vector<std::string>& words, tables& t)
    {
        if (t.rows > 0 && words.size() != d_columns) {
            fail("the row has " + std::to_string(words.size()) +
                 " blocks, but the rows before it have " + std::to_string(d_columns));
        }
        d_columns = unsigned(words.size());
        unsigned degree = 0;
        for (unsigned column = 0; column < words.size(); ++column) {
            if (words[column] == "-1") {
                continue;
            }
            std::vector<unsigned> shifts;
            std::istringstream list(words[column] + ",");
            for (std::string shift; std::getline(list, shift, ',');) {
                shifts.push_back(number(shift,
                                        "a shift of block " + std::to_string(column + 1),
                                        0,
                                        t.lifting - 1));
                if (std::count(shifts.begin(), shifts.end(), shifts.back()) > 1) {
                    fail("block " + std::to_string(column + 1) + " has the shift " +
                         shift + " twice");
                }
                t.circulants.push_back({ t.rows, column, shifts.back() });
                ++degree;
            }
        }
        if (degree > ldpc_code::max_check_degree - 2) {
            fail("a check has " + std::to_string(degree) +
                 " bits: allowed values are up to " +
                 std::to_string(ldpc_code::max_check_degree - 2));
        }
        ++t.rows;
    }

    void read_positions(const std::vector<std::string>& words,
                        std::vector<std::uint32_t>& positions)
    {
        for (std::size_t i = 1; i < words.size(); ++i) {
            const auto dash = words[i].find('-');
            const auto first = number(
                words[i].substr(0, dash), "a position", 0, ldpc_code::max_bits - 1);
            const auto last = dash == std::string::npos
                                  ? first
                                  : number(words[i].substr(dash + 1),
                                           "the last position of a range",
                                           first,
                                           ldpc_code::max_bits - 1);
            for (auto p = first; p <= last; ++p) {
                positions.push_back(p);
            }
            if (positions.size() > ldpc_code::max_bits) {
                fail("the line has more than " + std::to_string(ldpc_code::max_bits) +
                     " positions");
            }
        }
    }

    std::istream& d_text;
    const std::string d_name;
    std::size_t d_line = 0;
    unsigned d_columns = 0;
};

std::string ranges(const std::vector<std::uint32_t>& positions)
{
    std::string text;
    for (std::size_t i = 0; i < positions.size();) {
        auto last = i;
        while (last + 1 < positions.size() &&
               positions[last + 1] == positions[last] + 1) {
            ++last;
        }
        text += " " + std::to_string(positions[i]) +
                (last > i ? "-" + std::to_string(positions[last]) : "");
        i = last + 1;
    }
    return text;
}

// A search for the circulants of one lifting size in a matrix.
class circulant_finder
{
public:
    explicit circulant_finder(const tables& t) : d_t(t), d_rows(t.checks)
    {
        for (unsigned c = 0; c < t.checks; ++c) {
            d_rows[c].assign(t.bits.begin() + t.begin[c],
                             t.bits.begin() + t.begin[c + 1]);
            std::sort(d_rows[c].begin(), d_rows[c].end());
        }
    }

    bool find(unsigned lifting, bool chain, std::vector<circulant>& found) const
    {
        const unsigned checks = d_t.checks;
        const unsigned message = chain ? d_t.n - checks : d_t.n;
        if (checks % lifting || message % lifting || d_t.n < checks) {
            return false;
        }
        const unsigned rows = checks / lifting;
        found.clear();
        for (unsigned r = 0; r < rows; ++r) {
            const auto check = [&](unsigned j) {
                return chain ? j * rows + r : r * lifting + j;
            };
            std::vector<std::uint32_t> expected;
            for (unsigned j = 0; j < lifting; ++j) {
                const auto c = check(j);
                expected.clear();
                const auto& first = d_rows[check(0)];
                for (const auto bit : first) {
                    if (bit < message) {
                        expected.push_back(bit / lifting * lifting +
                                           (bit % lifting + j) % lifting);
                    }
                }
                if (chain) {
                    if (c > 0) {
                        expected.push_back(message + c - 1);
                    }
                    expected.push_back(message + c);
                }
                std::sort(expected.begin(), expected.end());
                if (expected != d_rows[c]) {
                    return false;
                }
            }
            for (const auto bit : d_rows[check(0)]) {
                if (bit < message) {
                    found.push_back({ r, bit / lifting, bit % lifting });
                }
            }
        }
        return !found.empty();
    }

private:
    const tables& d_t;
    std::vector<std::vector<std::uint32_t>> d_rows;
};

} // namespace

ldpc_code ldpc_code::from_base_matrix(std::istream& text, const std::string& name)
{
    auto t = base_matrix_reader(text, name).read();
    const auto punctured = std::move(t->punctured), shortened = std::move(t->shortened);
    t->punctured.clear();
    t->shortened.clear();
    if (punctured.empty() && shortened.empty()) {
        t->complete();
        return ldpc_code(std::move(t));
    }
    try {
        return ldpc_code(std::move(t)).with_positions(punctured, shortened);
    } catch (const std::invalid_argument& e) {
        refuse("code_file", name, e.what());
    }
}

ldpc_code ldpc_code::from_file(const std::string& path)
{
    std::ifstream file(path);
    if (!file) {
        refuse("code_file", '"' + path + '"', "the file cannot be read");
    }
    // After empty lines and comments, a base matrix begins with "lifting", and an alist
    // with a number.
    int c = 0;
    bool comment = false;
    for (std::size_t i = 0; i < 65536; ++i) {
        c = file.get();
        comment = c == '#' || (comment && c != '\n' && c != EOF);
        if (!comment && c != ' ' && c != '\t' && c != '\n' && c != '\r') {
            break;
        }
    }
    file.clear();
    file.seekg(0);
    return c == 'l' ? from_base_matrix(file, path) : from_alist(file, path);
}

ldpc_code ldpc_code::with_circulants(unsigned lifting) const
{
    const auto& from = *d_tables;
    const circulant_finder finder(from);
    std::vector<circulant> found;
    bool chain = false;
    unsigned size = 0;
    const auto try_size = [&](unsigned z) {
        for (const bool with_chain : { false, true }) {
            if (size == 0 && finder.find(z, with_chain, found)) {
                size = z;
                chain = with_chain;
            }
        }
    };
    if (lifting > 0) {
        if (from.checks % lifting) {
            refuse("lifting",
                   lifting,
                   "it does not divide the " + std::to_string(from.checks) +
                       " checks of " + from.name);
        }
        try_size(lifting);
    } else {
        for (unsigned z = from.checks; z >= 2 && size == 0; --z) {
            if (from.checks % z == 0) {
                try_size(z);
            }
        }
    }
    if (size == 0) {
        refuse("code",
               from.name,
               lifting ? "it does not consist of circulants of size " +
                             std::to_string(lifting)
                       : "it does not consist of circulants of size 2 or more");
    }
    auto t = from.copy();
    t->lifting = size;
    t->rows = from.checks / size;
    t->chain = chain;
    t->circulants = found;
    t->expand((chain ? from.n - from.checks : from.n) / size);
    t->complete();
    return ldpc_code(std::move(t));
}

void ldpc_code::write_base_matrix(std::ostream& text) const
{
    const auto& t = *d_tables;
    if (t.lifting == 0) {
        refuse("code", t.name, "it has no circulants");
    }
    const unsigned columns = (t.n - (t.chain ? t.checks : 0)) / t.lifting;
    text << "lifting " << t.lifting << '\n';
    if (t.chain) {
        text << "chain\n";
    }
    if (!t.punctured.empty()) {
        text << "punctured" << ranges(t.punctured) << '\n';
    }
    if (!t.shortened.empty()) {
        text << "shortened" << ranges(t.shortened) << '\n';
    }
    auto next = t.circulants.begin();
    for (unsigned r = 0; r < t.rows; ++r) {
        std::vector<std::string> blocks(columns);
        for (; next != t.circulants.end() && next->row == r; ++next) {
            auto& block = blocks[next->column];
            block += (block.empty() ? "" : ",") + std::to_string(next->shift);
        }
        for (unsigned c = 0; c < columns; ++c) {
            text << (c ? " " : "") << (blocks[c].empty() ? "-1" : blocks[c]);
        }
        text << '\n';
    }
}

ldpc_code ldpc_code::with_positions(const std::vector<std::uint32_t>& punctured,
                                    const std::vector<std::uint32_t>& shortened) const
{
    const auto& from = *d_tables;
    std::vector<const char*> taken(from.n, nullptr);
    const auto take = [&](const char* name, const auto& positions, const char* as) {
        for (const auto position : positions) {
            if (position >= from.n) {
                refuse(name,
                       position,
                       from.name + " has positions 0 to " + std::to_string(from.n - 1));
            }
            if (taken[position]) {
                refuse(name, position, "the position is " + std::string(taken[position]));
            }
            taken[position] = as;
        }
    };
    take("punctured", from.punctured, "already punctured by the code");
    take("shortened", from.shortened, "already shortened by the code");
    take("punctured", punctured, "already in punctured");
    take("shortened", shortened, "already in shortened");

    auto t = from.copy();
    const auto merge = [](auto& to, const auto& more) {
        to.insert(to.end(), more.begin(), more.end());
        std::sort(to.begin(), to.end());
    };
    merge(t->punctured, punctured);
    merge(t->shortened, shortened);
    if (t->punctured.size() + t->shortened.size() >= from.n) {
        refuse("punctured",
               std::to_string(t->punctured.size()) + " positions",
               "all " + std::to_string(from.n) +
                   " positions of the code are punctured or shortened, so no bit would "
                   "be sent");
    }
    t->complete();
    return ldpc_code(std::move(t));
}

ldpc_code ldpc_code::with_message_positions(const std::string& rule) const
{
    static const std::map<std::string, message_place> rules{
        { "systematic", message_place::systematic },
        { "first", message_place::first },
        { "last", message_place::last },
        { "gr_fec_ldpc_encoder", message_place::gr_fec_ldpc_encoder },
    };
    const auto found = rules.find(rule);
    if (found == rules.end()) {
        refuse("message_positions",
               '"' + rule + '"',
               "allowed values are systematic, first, last, gr_fec_ldpc_encoder and "
               "lists of positions");
    }
    auto t = d_tables->copy();
    t->placement = found->second;
    t->listed.clear();
    t->complete();
    return ldpc_code(std::move(t));
}

ldpc_code
ldpc_code::with_message_positions(const std::vector<std::uint32_t>& positions) const
{
    auto t = d_tables->copy();
    std::vector<bool> there(t->n, false);
    for (std::size_t i = 0; i < positions.size(); ++i) {
        const auto name = "message_positions[" + std::to_string(i) + "]";
        if (positions[i] >= t->n) {
            refuse(name,
                   positions[i],
                   "allowed values are 0 to " + std::to_string(t->n - 1));
        }
        if (there[positions[i]]) {
            refuse(name, positions[i], "the position is already in the list");
        }
        there[positions[i]] = true;
    }
    t->placement = message_place::listed;
    t->listed = positions;
    t->complete();
    return ldpc_code(std::move(t));
}

} // namespace gr::gpufec
