// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Options of the command line: declared in tables, from which parsing, help and error
 * messages follow. */

#ifndef INCLUDED_GPUFEC_APPS_OPTIONS_H
#define INCLUDED_GPUFEC_APPS_OPTIONS_H

#include "json.h"
#include <gnuradio/gpufec/backend.h>
#include <climits>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <boost/program_options.hpp>

namespace gr::gpufec {

using arguments = std::vector<std::string>;

//! The command line makes no sense: exit status 2.
class usage_error : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

//! \throws usage_error "--NAME is VALUE: allowed are ALLOWED"
[[noreturn]] void refuse_option(const std::string& name,
                                const std::string& value,
                                const std::string& allowed);

struct option {
    std::string name; //!< without dashes
    //! "flag" (without a value), "int", "real", "count" (a whole number such as 1e8),
    //! "seed", "file", "text" or, with | between them, all values that are allowed.
    std::string kind;
    std::string initial; //!< its value where none is given; "": none
    std::string help;
    std::vector<std::string> choices() const; //!< empty if any value is allowed
};

struct option_table {
    std::string title;
    std::vector<option> options;

    //! \p rows has an option a line: name, kind, initial value (- for none) and help.
    option_table(const std::string& title, const std::string& rows);
};

//! The options that all decoders have: batches, backend, devices and threads.
extern const char* const run_options;

//! The options of one call.
class option_values
{
public:
    //! \throws usage_error
    option_values(const arguments& args,
                  const std::vector<option_table>& tables,
                  const std::vector<std::string>& positional);

    //! Whether it was given, or has a value where it is not.
    bool has(const std::string& name) const { return d_values.count(name) > 0; }
    //! "" where there is none.
    std::string text(const std::string& name) const;
    // These throw a usage_error where it is nothing of the kind.
    int integer(const std::string& name, int least = 0, int most = INT_MAX) const;
    double real(const std::string& name) const;
    std::uint64_t count(const std::string& name) const;
    std::uint64_t seed(const std::string& name) const;
    //! "0.5,0.5"
    std::vector<double> reals(const std::string& name) const;
    //! "1,2", or "171,133" to the base 8.
    std::vector<int> integers(const std::string& name, int base = 10) const;

    //! The options that are files.
    std::vector<std::string> files() const;
    //! Batches, backend, devices and threads.
    template <class Options>
    void set_run_options(Options& options) const
    {
        options.batch = integer("batch");
        options.slots = integer("slots");
        options.max_latency_ms = real("max-latency-ms");
        options.where = backend_from_string(text("backend"));
        options.devices = integers("device");
        options.threads = integer("threads");
        options.device_timeout_ms = real("device-timeout-ms");
    }

    //! \p known and the values of those options of \p table that it does not name.
    json to_json(const option_table& table, json known) const;

    /*!
     * \brief Runs \p work; where the library refuses a parameter ("frame_bits is 3: …"),
     * a usage_error names the option ("--frame-bits is 3: …").
     */
    template <class Work>
    auto naming_options(const Work& work) const
    {
        try {
            return work();
        } catch (const std::invalid_argument& error) {
            throw usage_error(as_typed(error.what()));
        }
    }

private:
    std::string option_of(const std::string& parameter) const;
    std::string as_typed(const std::string& message) const;

    std::vector<option> d_options;
    boost::program_options::variables_map d_values;
};

//! A command's options and the text around them.
struct command_line {
    std::string name;        //!< "gpufec ber viterbi"
    std::string synopsis;    //!< what follows the name
    std::string description; //!< for --help, in one paragraph
    std::vector<option_table> tables;
    std::vector<std::string> positional = {}; //!< names of what follows without dashes

    //! All of it, for programs that make manuals and completions.
    json description_for_programs() const;

    //! Nothing if help was asked for, and is given; so with --describe alone, for
    //! programs. \throws usage_error
    std::optional<option_values> parse(const arguments& args) const;
};

//! What all help ends with.
extern const char* const exit_status_text;

//! \p text in lines of 80 characters.
std::string wrapped(const std::string& text);

//! "A:STEP:B", "A", or "inf". \throws usage_error that names \p name
std::vector<double> parse_range(const std::string& name, const std::string& text);

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_APPS_OPTIONS_H */
