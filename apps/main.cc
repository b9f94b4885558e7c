// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The gpufec command line tool: chooses the command. */

#include "file.h"
#include "json.h"
#include "pipeline/printable.h"
#include "trait.h"
#include <csignal>
#include <iomanip>
#include <iostream>
#include <utility>

namespace gr::gpufec {

namespace {

struct command {
    std::string name;
    std::string summary;
    int (*run)(const decoder_trait& trait, const arguments& args); // of a decoder
    int (*alone)(const arguments& args) = nullptr;                 // or of none
};

const std::vector<command> commands{
    { "info", "devices, presets and chosen defaults", nullptr, info },
    { "bench", "how fast decoding is", bench },
    { "ber", "error rates over a simulated channel", ber },
    { "decode", "decode a file, or standard input", decode },
    { "circulants", "an LDPC code's alist file as a base matrix", nullptr, circulants },
};

struct decoder_name {
    std::string name;
    std::string summary;
    decoder_trait (*trait)();
};

const std::vector<decoder_name> decoders{
    { "viterbi", "convolutional codes, in a stream or in frames", viterbi_trait },
    { "ldpc", "LDPC codes, of standards or of a file", ldpc_trait },
    { "sync", "codes for channels that insert, delete and flip bits", sync_trait },
};

bool is_help(const std::string& word)
{
    return word == "--help" || word == "-h" || word == "help";
}

template <class Rows>
void print(std::ostream& out, const char* title, const Rows& rows)
{
    out << title << ":\n";
    for (const auto& row : rows) {
        out << "  " << std::left << std::setw(12) << row.name << row.summary << "\n";
    }
}

template <class Rows>
[[noreturn]] void refuse(const char* what, const std::string& word, const Rows& rows)
{
    std::string known;
    for (const auto& row : rows) {
        known += (known.empty() ? "" : ", ") + row.name;
    }
    throw usage_error(what + (" is \"" + word) + "\": allowed are " + known);
}

void help(std::ostream& out)
{
    out << "Usage: gpufec COMMAND [DECODER] [OPTIONS]\n\n"
           "Forward error correction on a GPU or the CPU.\n\n";
    print(out, "Commands", commands);
    print(out, "\nDecoders of bench, ber and decode", decoders);
    out << "\nEach command has its own --help, and so has each of its decoders:\n"
           "gpufec bench --help, gpufec bench viterbi --help.\n"
        << exit_status_text;
}

int run(const command& c, const arguments& args)
{
    if (c.alone) {
        return c.alone(args);
    }
    const auto word = args.empty() ? "" : args.front();
    if (is_help(word)) {
        std::cout << "Usage: gpufec " << c.name << " DECODER [OPTIONS]\n\n"
                  << "gpufec " << c.name << ": " << c.summary << ".\n\n";
        print(std::cout, "Decoders", decoders);
        std::cout << "\nThe options of each: gpufec " << c.name << " DECODER --help.\n"
                  << exit_status_text;
        return 0;
    }
    for (const auto& d : decoders) {
        if (d.name == word) {
            return c.run(d.trait(), { args.begin() + 1, args.end() });
        }
    }
    refuse("decoder", word, decoders);
}

template <class Rows>
json summaries(const Rows& rows)
{
    auto all = json::array();
    for (const auto& row : rows) {
        all.add(json::object({ { "name", row.name }, { "summary", row.summary } }));
    }
    return all;
}

// The tables of all options as JSON, from which the manual page and the completion are
// made.
int describe()
{
    std::cout << "{\n\"version\": " << json(GPUFEC_VERSION).to_string()
              << ",\n\"exit_status\": " << json(exit_status_text).to_string()
              << ",\n\"commands\": " << summaries(commands).to_string()
              << ",\n\"decoders\": " << summaries(decoders).to_string()
              << ",\n\"lines\": [\n";
    std::string between;
    const auto next = [&] { std::cout << std::exchange(between, ",\n"); };
    for (const auto& c : commands) {
        if (c.alone) {
            next();
            c.alone({ "--describe" });
            continue;
        }
        for (const auto& d : decoders) {
            next();
            c.run(d.trait(), { "--describe" });
        }
    }
    std::cout << "]\n}\n";
    return 0;
}

int run(const arguments& args)
{
    const auto word = args.empty() ? "" : args.front();
    if (word.empty() || is_help(word)) {
        help(word.empty() ? std::cerr : std::cout);
        return word.empty() ? 2 : 0;
    }
    if (word == "--version") {
        std::cout << "gpufec " GPUFEC_VERSION "\n";
        return 0;
    }
    if (word == "--describe") {
        return describe();
    }
    for (const auto& c : commands) {
        if (c.name == word) {
            return run(c, { args.begin() + 1, args.end() });
        }
    }
    refuse("command", word, commands);
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
        std::cerr << "gpufec: " << printable(error.what(), true) << "\n";
        return 2;
    } catch (const std::exception& error) {
        std::cerr << "gpufec: " << printable(error.what(), true) << "\n";
        return 1;
    }
}
