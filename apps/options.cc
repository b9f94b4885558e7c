// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Parsing, checking and describing the options of the commands. */

#include "common/names.h"
#include "common/printable.h"
#include "options.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <boost/algorithm/cxx11/any_of.hpp>
#include <boost/algorithm/string.hpp>
#include <boost/lexical_cast.hpp>
#include <boost/range/algorithm/count.hpp>

namespace gr::gpufec {

namespace po = boost::program_options;

const char* const exit_status_text =
    "Exit status: 0 after success, 1 after an error, 2 if the command line is wrong,\n"
    "3 if the input of decode does not fit the code and the format, and 129, 130 or\n"
    "143 if a signal interrupted ber.\n";

void refuse_option(const std::string& name,
                   const std::string& value,
                   const std::string& allowed)
{
    // Without printable(), a NUL character would end the message.
    throw usage_error("--" + name + " is " + printable(value) + ": allowed values are " +
                      allowed);
}

const char* const run_options_help = R"(
batch           int            0     number of work items per batch; 0: chosen for the device
slots           int            3     number of batches in flight
max-latency-ms  real           50    longest time in ms before an incomplete batch is submitted
backend         auto|cuda|cpu  auto  auto: CUDA if a device can be used, otherwise the CPU
device          text           0     number of the CUDA device, or comma separated numbers of several devices
threads         int            1     number of threads of the CPU backend or, with a GPU, of threads that copy the input
device-timeout-ms real         10000 timeout in ms for one batch, after which the device is abandoned; 0: no timeout
)";

namespace {

std::string quoted(const std::string& text) { return '"' + text + '"'; }

std::vector<std::string> split(const std::string& text, const char* separators)
{
    std::vector<std::string> parts;
    return text.empty() ? parts : boost::split(parts, text, boost::is_any_of(separators));
}

// Joins words to a list such as "a, b or c", in which \p last is " or ".
std::string listed(const std::vector<std::string>& words, const char* last)
{
    const std::vector<std::string> but_last(words.begin(), words.end() - 1);
    return boost::join(but_last, ", ") + (but_last.empty() ? "" : last) + words.back();
}

po::options_description described(const option_table& table)
{
    po::options_description options(table.title);
    for (const auto& o : table.options) {
        const auto choices = o.choices();
        auto help = choices.empty() ? "" : listed(choices, " or ");
        help += help.empty() || o.help.empty() ? o.help : "; " + o.help;
        if (o.kind == "flag") {
            options.add_options()(o.name.c_str(), help.c_str());
            continue;
        }
        auto* const value = po::value<std::string>()->value_name("");
        if (!o.initial.empty()) {
            value->default_value(o.initial);
        }
        options.add_options()(o.name.c_str(), value, help.c_str());
    }
    return options;
}

template <class Number>
Number
number_of(const option_values& values, const std::string& name, const char* allowed)
{
    Number number;
    if (!boost::conversion::try_lexical_convert(values.text(name), number)) {
        refuse_option(name, quoted(values.text(name)), allowed);
    }
    return number;
}

template <class Refuse>
std::vector<double>
numbers_of(const std::string& text, const char* separator, const Refuse& refuse)
{
    std::vector<double> numbers;
    for (const auto& item : split(text, separator)) {
        numbers.emplace_back();
        if (!boost::conversion::try_lexical_convert(item, numbers.back())) {
            refuse();
        }
    }
    return numbers;
}

} // namespace

std::vector<std::string> option::choices() const
{
    static const std::set<std::string> kinds{ "flag", "int",  "real", "count",
                                              "seed", "file", "text" };
    return kinds.count(kind) ? std::vector<std::string>() : split(kind, "|");
}

option_table::option_table(const std::string& t, const std::string& rows) : title(t)
{
    for (const auto& line : split(rows, "\n")) {
        std::istringstream row(line);
        option o;
        if (row >> o.name >> o.kind >> o.initial) {
            std::getline(row >> std::ws, o.help);
            o.initial = o.initial == "-" ? "" : o.initial;
            options.push_back(o);
        }
    }
}

option_values::option_values(const arguments& args,
                             const std::vector<option_table>& tables,
                             const std::vector<std::string>& positional)
{
    po::options_description all;
    all.add_options()("help,h", "");
    for (const auto& table : tables) {
        all.add(described(table));
        d_options.insert(d_options.end(), table.options.begin(), table.options.end());
    }
    po::positional_options_description order;
    for (const auto& p : positional) {
        order.add(p.c_str(), 1);
        all.add_options()(p.c_str(), po::value<std::string>());
    }
    try {
        po::store(po::command_line_parser(args).options(all).positional(order).run(),
                  d_values);
    } catch (const po::unknown_option& error) {
        // error.what() would loop endlessly if the option contained Boost's placeholder
        // "%original_token%".
        name_list names;
        for (const auto& o : d_options) {
            names.push_back("--" + o.name);
        }
        const auto given = printable(error.get_option_name()).substr(0, 40);
        const auto near = nearest_name(given, names);
        throw usage_error("unrecognised option '" + given + "'" +
                          (near.empty() ? "" : ": " + near + "?") +
                          "\n--help lists the options");
    } catch (const po::ambiguous_option& error) {
        throw usage_error("option '" + error.get_option_name() + "' may be --" +
                          listed(error.alternatives(), " or --"));
    } catch (const po::error& error) {
        throw usage_error(error.what());
    }
    for (const auto& o : d_options) {
        const auto choices = o.choices();
        if (choices.empty() || !has(o.name)) {
            continue;
        }
        const auto found = find_name(text(o.name), choices);
        if (!found) {
            throw usage_error(unknown_name(
                "--" + o.name, text(o.name), choices, "allowed values are", "--help"));
        }
        d_values.at(o.name).as<std::string>() = choices[*found];
    }
}

void option_values::warn_unused(bool used,
                                const std::vector<std::string>& names,
                                const std::string& where) const
{
    for (const auto& name : names) {
        if (!used && given(name)) {
            std::cerr << "gpufec: WARNING: --" << name
                      << " has no effect: it applies only to " << where << "\n";
        }
    }
}

std::string option_values::text(const std::string& name) const
{
    return has(name) ? d_values[name].as<std::string>() : "";
}

int option_values::integer(const std::string& name, int minimum, int maximum) const
{
    const int value = number_of<int>(*this, name, "whole numbers");
    if (value < minimum || value > maximum) {
        const auto above =
            maximum == INT_MAX ? " or more" : " to " + std::to_string(maximum);
        refuse_option(name, std::to_string(value), std::to_string(minimum) + above);
    }
    return value;
}

double option_values::real(const std::string& name) const
{
    return number_of<double>(*this, name, "numbers");
}

std::uint64_t option_values::count(const std::string& name) const
{
    const double value = real(name);
    if (!(value >= 0 && value <= 1e15)) {
        refuse_option(name, text(name), "0 to 1e15");
    }
    return std::uint64_t(value);
}

std::uint64_t option_values::seed(const std::string& name) const
{
    return number_of<std::uint64_t>(*this, name, "whole numbers");
}

std::vector<double> option_values::reals(const std::string& name) const
{
    return numbers_of(text(name), ",", [&] {
        refuse_option(name, quoted(text(name)), "comma separated numbers");
    });
}

std::vector<int> option_values::integers(const std::string& name, int base) const
{
    std::vector<int> numbers;
    for (const auto& item : split(text(name), ",")) {
        // Python's octal notation is accepted too: 0o171, -0o133.
        static const std::regex octal("(-?)0[oO](?=[0-7])");
        const auto digits_of = base == 8 ? std::regex_replace(item, octal, "$1") : item;
        char* end;
        const long number = std::strtol(digits_of.c_str(), &end, base);
        if (item.empty() || *end || number != int(number)) {
            const auto digits = base == 8 ? " of octal digits" : "";
            refuse_option(name,
                          quoted(text(name)),
                          std::string("comma separated numbers") + digits);
        }
        numbers.push_back(int(number));
    }
    return numbers;
}

std::vector<double> parse_range(const std::string& name, const std::string& text)
{
    const auto refuse = [&] {
        refuse_option(name,
                      quoted(text),
                      "A:STEP:B with A up to B, STEP above 0 and up to 1000 points, a "
                      "single value, and inf (no noise)");
    };
    const auto parts = numbers_of(text, ":", refuse);
    if (parts.size() == 1 && !std::isnan(parts[0])) {
        return parts;
    }
    if (!(parts.size() == 3 && parts[1] > 0 && parts[2] >= parts[0] &&
          (parts[2] - parts[0]) / parts[1] < 1000)) {
        refuse();
    }
    std::vector<double> points;
    for (int i = 0; parts[0] + i * parts[1] <= parts[2] + 1e-9; ++i) {
        points.push_back(parts[0] + i * parts[1]);
    }
    return points;
}

std::vector<std::string> option_values::files() const
{
    std::vector<std::string> names;
    for (const auto& o : d_options) {
        if (o.kind == "file" && has(o.name)) {
            names.push_back(o.name);
        }
    }
    return names;
}

json option_values::to_json(const option_table& table, json known) const
{
    for (const auto& o : table.options) {
        const auto name = boost::replace_all_copy(o.name, "-", "_");
        if (!has(o.name) || !known.at(name).null()) {
            continue;
        }
        if (o.kind == "int" || o.kind == "real" || o.kind == "count") {
            known.add(name, real(o.name));
        } else if (o.kind == "true|false") {
            known.add(name, text(o.name) == "true");
        } else {
            known.add(name, text(o.name));
        }
    }
    return known;
}

// Returns the option for \p parameter of the library; "" if there is no such option.
std::string option_values::option_of(const std::string& parameter) const
{
    static const std::map<std::string, std::vector<std::string>> others{
        { "devices", { "device" } },
        { "code", { "code-file" } },
        { "ebn0_db", { "range", "eb-n0" } }
    };
    const auto other = others.find(parameter);
    const auto names = other == others.end()
                           ? std::vector{ boost::replace_all_copy(parameter, "_", "-") }
                           : other->second;
    for (const auto& o : d_options) {
        if (boost::count(names, o.name)) {
            return o.name;
        }
    }
    return "";
}

bool option_values::has_option(const std::string& name) const
{
    return boost::algorithm::any_of(d_options,
                                    [&](const auto& o) { return o.name == name; });
}

// Replaces the library's parameter names in a message by option names, and rate="1/2" by
// --rate 1/2. In an error message, the first word that matches a parameter is replaced if
// the word stands before " is ". Other words are replaced only if they contain an
// underscore or have a value, because they may be ordinary English.
std::string option_values::as_typed(const std::string& message, bool error) const
{
    static const std::regex word("([A-Za-z0-9_]+)(=(?:\"([^\"]*)\")?)?");
    const auto head = message.find(" is ");
    std::string typed;
    std::size_t done = 0;
    bool named = !error;
    for (std::sregex_iterator w(message.begin(), message.end(), word), end; w != end;
         ++w) {
        const std::size_t at = w->position();
        const auto name = w->str(1), value = w->str(3);
        const bool spaced = value.find(' ') != std::string::npos;
        const bool modcod = name == "rate" && spaced && has_option("modcod");
        const auto option = modcod ? "modcod" : option_of(name);
        const bool ahead = !named && head != std::string::npos && at < head;
        if (!option.empty() &&
            (ahead || w->length(2) > 0 || name.find('_') != std::string::npos)) {
            typed += message.substr(done, at - done) + "--" + option;
            typed += w->length(2) > 0 ? ' ' + (spaced ? quoted(value) : value) : "";
            done = at + w->length();
            named = true;
        }
    }
    return typed + message.substr(done);
}

std::string option_values::warning(const std::string& text) const
{
    static const std::regex factor("multiply them by ([0-9.e+-]+)");
    const auto typed = as_typed(text, false);
    std::smatch found;
    if (!has_option("llr-factor") || !std::regex_search(typed, found, factor)) {
        return typed;
    }
    std::ostringstream use; // the input has been multiplied by --llr-factor
    use << "use --llr-factor " << std::stod(found[1]) * real("llr-factor");
    return found.prefix().str() + use.str() + found.suffix().str();
}

std::string help_end(const std::string& examples)
{
    std::string text = exit_status_text + std::string("\nExamples:\n");
    for (const auto& line : split(examples, "\n")) {
        text += line.empty() ? "" : "  " + line + "\n";
    }
    return text;
}

std::string wrapped(const std::string& text)
{
    std::string lines;
    std::size_t column = 0;
    for (const auto& word : split(text, " ")) {
        if (column > 0) {
            const bool fits = column + 1 + word.size() <= 80;
            lines += fits ? ' ' : '\n';
            column = fits ? column + 1 : 0;
        }
        lines += word;
        column += word.size();
    }
    return lines;
}

json command_line::description_for_programs() const
{
    auto all = json::array();
    for (const auto& table : tables) {
        auto options = json::array();
        for (const auto& o : table.options) {
            options.add(json::object({ { "name", o.name },
                                       { "kind", o.kind },
                                       { "initial", o.initial },
                                       { "help", o.help } }));
        }
        all.add(json::object({ { "title", table.title }, { "options", options } }));
    }
    return json::object({ { "name", name },
                          { "synopsis", synopsis },
                          { "description", description },
                          { "tables", all },
                          { "examples", examples } });
}

std::optional<option_values> command_line::parse(const arguments& args) const
{
    if (args == arguments{ "--describe" }) {
        std::cout << description_for_programs().to_string() << "\n";
        return {};
    }
    option_values values(args, tables, positional);
    if (values.has("help")) {
        std::cout << "Usage: " << name << " " << synopsis << "\n\n"
                  << wrapped(description) << "\n";
        for (const auto& table : tables) {
            std::cout << "\n" << described(table);
        }
        std::cout << "\n" << help_end(examples);
        return {};
    }
    for (const auto& p : positional) {
        if (!values.has(p)) {
            throw usage_error(p + " is missing: see " + name + " --help");
        }
    }
    return values;
}

} // namespace gr::gpufec
