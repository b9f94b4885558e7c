// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The gpufec command line tool: chooses the command. */

#include "file.h"
#include "printable.h"
#include "trait.h"
#include <csignal>
#include <iostream>

namespace gr::gpufec {

namespace {

struct command {
    std::string name;
    std::string summary;
    int (*run)(const decoder_trait& trait, const arguments& args);
};

const std::vector<command> decoder_commands{
    { "bench", "how fast decoding is", bench },
    { "ber", "error rates over a simulated channel", ber },
    { "decode", "decode a file, or standard input", decode },
};

struct decoder_name {
    std::string name;
    std::string summary;
    decoder_trait (*trait)();
};

const std::vector<decoder_name> decoders{
    { "viterbi", "convolutional codes, in a stream or in frames", viterbi_trait },
    { "ldpc", "LDPC codes, of DVB-S2 or of a file", ldpc_trait },
    { "sync", "codes for channels that insert, delete and flip bits", sync_trait },
};

bool is_help(const std::string& word)
{
    return word == "--help" || word == "-h" || word == "help";
}

void print_row(std::ostream& out, std::string name, const std::string& summary)
{
    name.resize(std::max<std::size_t>(12, name.size() + 2), ' ');
    out << "  " << name << summary << "\n";
}

void print_decoders(std::ostream& out)
{
    out << "\nDecoders:\n";
    for (const auto& d : decoders) {
        print_row(out, d.name, d.summary);
    }
}

void help(std::ostream& out)
{
    out << "Usage: gpufec COMMAND [DECODER] [OPTIONS]\n\n"
           "Forward error correction on a GPU or the CPU. Commands:\n";
    print_row(out, "info", "devices, presets and chosen defaults");
    for (const auto& c : decoder_commands) {
        print_row(out, c.name, c.summary);
    }
    print_decoders(out);
    out << "\nEach command has its own --help, and so has each of its decoders:\n"
           "gpufec bench --help, gpufec bench viterbi --help.\n"
        << exit_status_text;
}

void help(const command& c)
{
    std::cout << "Usage: gpufec " << c.name << " DECODER [OPTIONS]\n\n"
              << "gpufec " << c.name << ": " << c.summary << ".\n";
    print_decoders(std::cout);
    std::cout << "\nThe options of each: gpufec " << c.name << " DECODER --help.\n"
              << exit_status_text;
}

int run(const command& c, const arguments& args)
{
    if (!args.empty() && is_help(args.front())) {
        help(c);
        return 0;
    }
    std::string known;
    for (const auto& d : decoders) {
        if (!args.empty() && args.front() == d.name) {
            return c.run(d.trait(), { args.begin() + 1, args.end() });
        }
        known += (known.empty() ? "" : ", ") + d.name;
    }
    throw usage_error("decoder is \"" + (args.empty() ? "" : args.front()) +
                      "\": allowed are " + known);
}

int run(const arguments& args)
{
    if (args.empty()) {
        help(std::cerr);
        return 2;
    }
    const auto& name = args.front();
    const arguments rest(args.begin() + 1, args.end());
    if (is_help(name)) {
        help(std::cout);
        return 0;
    }
    if (name == "--version") {
        std::cout << "gpufec " GPUFEC_VERSION "\n";
        return 0;
    }
    if (name == "info") {
        return info(rest);
    }
    std::string known = "info";
    for (const auto& c : decoder_commands) {
        if (c.name == name) {
            return run(c, rest);
        }
        known += ", " + c.name;
    }
    throw usage_error("command is \"" + name + "\": allowed are " + known);
}

// Standard output is checked to the last byte.
int run_checked(const arguments& args)
{
    const checked_standard_output output;
    const int status = run(args);
    std::cout << std::flush;
    return status;
}

} // namespace
} // namespace gr::gpufec

int main(int argc, char** argv)
{
    using namespace gr::gpufec;
    std::signal(SIGPIPE, SIG_IGN); // a reader that is gone is an error like others
    try {
        return run_checked({ argv + 1, argv + argc });
    } catch (const usage_error& error) {
        std::cerr << "gpufec: " << printable(error.what()) << "\n";
        return 2;
    } catch (const std::exception& error) {
        std::cerr << "gpufec: " << printable(error.what()) << "\n";
        return 1;
    }
}
