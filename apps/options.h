// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Command-line options, declared in tables. Parsing, help and error messages are derived
 * from the tables. */

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

//! An error in the command line, with exit status 2.
class usage_error : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

//! Throws usage_error "--NAME is VALUE: allowed values are ALLOWED".
[[noreturn]] void refuse_option(const std::string& name,
                                const std::string& value,
                                const std::string& allowed);

struct option {
    std::string name; //!< without dashes
    //! Kind of value: "flag" (without a value), "int", "real", "count" (a whole number
    //! such as 1e8), "seed" (0 to 2^64 − 1), "file", "text", or all allowed values
    //! separated by |.
    std::string kind;
    std::string initial; //!< default value; "": none
    std::string help;
    std::vector<std::string> choices() const; //!< the values that `kind` lists; empty if
                                              //!< it lists none
};

struct option_table {
    std::string title;
    std::vector<option> options;

    //! \p rows has one option per line: name, kind, default value (- for none) and help.
    option_table(const std::string& title, const std::string& rows);
};

//! Rows of an option_table that all decoders have: batches, backend, devices, threads.
extern const char* const run_options_help;

//! The values of the command-line options of one run of the program.
class option_values
{
public:
    //! \throws usage_error if an option is unknown, or a value is missing or not allowed
    option_values(const arguments& args,
                  const std::vector<option_table>& tables,
                  const std::vector<std::string>& positional);

    //! Returns whether the option was given or has a default value.
    bool has(const std::string& name) const { return d_values.count(name) > 0; }
    //! Returns whether the option was given.
    bool given(const std::string& name) const
    {
        return has(name) && !d_values[name].defaulted();
    }
    //! If \p used is false, warns for each given option in \p names that it has no
    //! effect. \p where completes the warning "it applies only to …".
    void warn_unused(bool used,
                     const std::vector<std::string>& names,
                     const std::string& where) const;
    //! Returns the value as text, or "" if the option has no value.
    std::string text(const std::string& name) const;
    // The following functions throw a usage_error if the value is not of their type or
    // not in the allowed range. count() allows 0 to 1e15.
    int integer(const std::string& name, int minimum = 0, int maximum = INT_MAX) const;
    double real(const std::string& name) const;
    std::uint64_t count(const std::string& name) const;
    std::uint64_t seed(const std::string& name) const;
    //! Returns comma separated numbers, such as "0.5,0.5".
    std::vector<double> reals(const std::string& name) const;
    //! Returns comma separated integers, such as "1,2", or "171,133" with base 8.
    std::vector<int> integers(const std::string& name, int base = 10) const;

    //! Returns the names of the options of kind "file" that have a value.
    std::vector<std::string> files() const;
    //! Sets the members of \p options from the command-line options of the table
    //! run_options. With the CPU backend, warns of given options that apply only to a
    //! GPU.
    template <class Options>
    void set_run_options(Options& options) const
    {
        options.batch = integer("batch");
        options.slots = integer("slots");
        options.max_latency_ms = real("max-latency-ms");
        options.backend = backend_from_string(text("backend"));
        options.devices = integers("device");
        options.threads = integer("threads");
        options.device_timeout_ms = real("device-timeout-ms");
        warn_unused(options.backend != backend::cpu,
                    { "device", "device-timeout-ms", "cuda-kernel" },
                    "--backend cuda and auto");
    }

    //! Returns \p known, extended by the values of the options of \p table that \p known
    //! lacks.
    json to_json(const option_table& table, json known) const;

    /*!
     * \brief Runs \p work. If the library refuses a parameter ("frame_bits is 3: …"),
     * this function throws a usage_error that names the option ("--frame-bits is 3: …").
     */
    template <class Work>
    auto naming_options(const Work& work) const
    {
        try {
            return work();
        } catch (const std::invalid_argument& error) {
            throw usage_error(as_typed(error.what(), true));
        }
    }

    //! Returns a warning of the library with options in place of parameters, such as
    //! --soft-input uint8 in place of soft_input="uint8".
    std::string warning(const std::string& text) const;

private:
    std::string option_of(const std::string& parameter) const;
    bool has_option(const std::string& name) const;
    std::string as_typed(const std::string& message, bool error) const;

    std::vector<option> d_options;
    boost::program_options::variables_map d_values;
};

//! Options and help text of a command.
struct command_line {
    std::string name;        //!< such as "gpufec ber viterbi"
    std::string synopsis;    //!< arguments after the name
    std::string description; //!< for --help, in one paragraph
    std::vector<option_table> tables;
    std::vector<std::string> positional = {}; //!< names of positional arguments
    //! Lines of working commands; a line that begins with "# " describes the next one.
    std::string examples = "";

    //! Returns the whole description as JSON, for programs that make manuals and
    //! completions.
    json description_for_programs() const;

    //! Parses the arguments. Returns nothing after printing the help for --help, or the
    //! description for --describe.
    //! \throws usage_error if a positional argument is missing or an option is invalid
    std::optional<option_values> parse(const arguments& args) const;
};

extern const char* const exit_status_text;
//! Returns the end of each help text: exit_status_text, and the \p examples as in
//! command_line::examples.
std::string help_end(const std::string& examples);

//! Wraps \p text to lines of at most 80 characters.
std::string wrapped(const std::string& text);

//! Returns the values of a range: "A:STEP:B" (A, A + STEP and so on, up to and including
//! B; at most 1000 values), a single number, or "inf".
//! \throws usage_error, which names the option \p name, if \p text is none of these
std::vector<double> parse_range(const std::string& name, const std::string& text);

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_APPS_OPTIONS_H */
