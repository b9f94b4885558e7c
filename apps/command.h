// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What the commands of the tool have in common: how they are called, how they fail, how
 * they show progress. */

#ifndef INCLUDED_GPUFEC_APPS_COMMAND_H
#define INCLUDED_GPUFEC_APPS_COMMAND_H

#include "json.h"
#include <cstdint>
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

//! A subcommand's options and the text around them.
struct command_line {
    std::string name;        //!< "gpufec ber viterbi"
    std::string synopsis;    //!< what follows the name
    std::string description; //!< for --help
    boost::program_options::options_description options;
    std::vector<std::string> positional; //!< names of what follows without dashes

    /*!
     * \brief Parses; on --help writes the help and returns false.
     * \throws usage_error
     */
    bool parse(const arguments& args, boost::program_options::variables_map& values);
};

/*!
 * \brief Runs \p work; an invalid argument becomes a usage_error that names the option
 * ("--frame-bits is 3: …") as the library names the parameter ("frame_bits is 3: …").
 */
template <class Work>
auto naming_options(const Work& work)
{
    try {
        return work();
    } catch (const std::invalid_argument& error) {
        std::string text = error.what();
        for (std::size_t i = 0; i < text.find(' ') && i < text.size(); ++i) {
            text[i] = text[i] == '_' ? '-' : text[i];
        }
        throw usage_error("--" + text);
    }
}

// Values of options; \throws usage_error that names the option.
//! "1,2" of digits to the base \p base.
std::vector<int> parse_list(const std::string& option, const std::string& text, int base);
unsigned at_least_zero(const boost::program_options::variables_map& values,
                       const std::string& option);
std::string text(const boost::program_options::variables_map& values,
                 const std::string& option);
//! Of --range: "A:STEP:B", "A", or "inf" for no noise.
std::vector<double> parse_range(const std::string& text);
//! Of --pace: 0 or more.
double pace_of(const boost::program_options::variables_map& values);
//! A number like 1e8.
std::uint64_t count_of(const boost::program_options::variables_map& values,
                       const std::string& option);

//! One line on stderr that is overwritten; nothing if stderr is no terminal.
class progress_line
{
public:
    progress_line();
    ~progress_line();
    //! Shows \p text, at most a few times a second.
    void show(const std::string& text);
    void clear();

private:
    bool d_terminal;
    bool d_shown = false;
    double d_last = 0;
};

//! Seconds of a steady clock.
double seconds();

double median(std::vector<double> values);

//! How `gpufec bench` measures.
struct bench_settings {
    double duration; //!< seconds for all runs together
    int runs;
};

//! Adds --seconds, --runs and --json.
void add_bench_options(boost::program_options::options_description& to);
bench_settings parse_bench_options(const boost::program_options::variables_map& values);

//! The rates of several runs, each of \p unit bits a second.
json rates(const std::string& what, const std::vector<double>& runs, double unit = 1);

//! Version of the module, processor and time, as they go with a measurement.
json environment();

//! Writes \p value to the file \p path, "-" for stdout. \throws std::runtime_error
void write_json(const json& value, const std::string& path);

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_APPS_COMMAND_H */
