// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The main function of the gpufec command line tool: chooses the command and reports
 * errors. */

#include "common/names.h"
#include "common/printable.h"
#include "file.h"
#include "json.h"
#include "trait.h"
#include <algorithm>
#include <csignal>
#include <iomanip>
#include <iostream>
#include <utility>

namespace gr::gpufec {

namespace {

struct command {
    std::string name;
    std::string summary;
    // Function of a command that has a decoder as its argument, or null.
    int (*run)(const decoder_trait& trait, const arguments& args);
    trait_command decoder_trait::*part; // the command's member of decoder_trait, or null
    // Function of a command without a decoder, or null.
    int (*alone)(const arguments& args) = nullptr;
};

const std::vector<command> commands{
    { "info",
      "list devices, presets, LDPC codes and automatic parameters",
      nullptr,
      nullptr,
      info },
    { "bench", "measure the decoding rate", bench, &decoder_trait::bench },
    { "ber", "measure error rates over a simulated channel", ber, &decoder_trait::ber },
    { "decode", "decode a file, or standard input", decode, &decoder_trait::decode },
    { "encode", "encode a file, or standard input", encode, &decoder_trait::encode },
    { "circulants",
      "convert an LDPC code's alist file to a base matrix",
      nullptr,
      nullptr,
      circulants },
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
    { "bch", "outer BCH codes of DVB; only decode and encode", bch_trait },
    { "ccsds", "frames of CCSDS telemetry and telecommands; only decode", ccsds_trait },
};

// Returns the decoders that support a command.
std::vector<decoder_name> decoders_of(const command& c)
{
    auto all = decoders;
    all.erase(std::remove_if(
                  all.begin(),
                  all.end(),
                  [&](const auto& d) { return (d.trait().*c.part).description.empty(); }),
              all.end());
    return all;
}

const char* const examples = R"(
# Encode a file with the CCSDS code to soft values
gpufec encode viterbi --preset ccsds message.bin coded.s8
# Decode the soft values to bits, and report the channel's bit error rate
gpufec decode viterbi --preset ccsds coded.s8 decoded.bin
# Simulate the error rates of a DVB-S2 code, print them as a table, and draw them
gpufec ber ldpc --frame-size short --range 1:0.2:1.6 --max-frames 200 --plot rates.png
)";

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
const typename Rows::value_type&
chosen(const char* what, const std::string& word, const Rows& rows)
{
    name_list names;
    for (const auto& row : rows) {
        names.push_back(row.name);
    }
    const auto found = find_name(word, names);
    if (!found) {
        throw usage_error(unknown_name(what, word, names));
    }
    return rows[*found];
}

void help(std::ostream& out)
{
    out << "Usage: gpufec COMMAND [DECODER] [OPTIONS]\n\n"
           "Forward error correction on a GPU or the CPU.\n\n";
    print(out, "Commands", commands);
    print(out, "\nDecoders of bench, ber, decode and encode", decoders);
    out << "\nEach command, and each decoder of a command, has its own --help:\n"
           "gpufec bench --help, gpufec bench viterbi --help.\n\n"
        << help_end(examples);
}

int run(const command& c, const arguments& args)
{
    if (c.alone) {
        return c.alone(args);
    }
    const auto word = args.empty() ? "" : args.front();
    const auto known = decoders_of(c);
    if (is_help(word)) {
        std::cout << "Usage: gpufec " << c.name << " DECODER [OPTIONS]\n\n"
                  << "gpufec " << c.name << ": " << c.summary << ".\n\n";
        print(std::cout, "Decoders", known);
        std::string first; // the first example of each decoder
        for (const auto& d : known) {
            const auto all = (d.trait().*c.part).examples;
            first += all.substr(0, all.find('\n', all.find("\ngpufec") + 1));
        }
        std::cout << "\nTo list the options of a decoder, run: gpufec " << c.name
                  << " DECODER --help\n\n"
                  << help_end(first);
        return 0;
    }
    const auto& decoder = chosen("decoder", word, known);
    return c.run(decoder.trait(), { args.begin() + 1, args.end() });
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

// Prints the tables of all options as JSON, from which the manual page and the completion
// are generated.
int describe()
{
    std::cout << "{\n\"version\": " << json(GPUFEC_VERSION).to_string()
              << ",\n\"exit_status\": " << json(exit_status_text).to_string()
              << ",\n\"examples\": " << json(examples).to_string()
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
        for (const auto& d : decoders_of(c)) {
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
    return run(chosen("command", word, commands), { args.begin() + 1, args.end() });
}

// Runs the command, and checks that all of standard output was written.
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
    // SIGPIPE and SIGXFSZ are ignored, so that writes to a closed pipe, or beyond the
    // limit of a file's size, return errors.
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
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
