// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The gpufec command line tool: chooses the command. */

#include "command.h"
#include <algorithm>
#include <functional>
#include <iostream>

namespace gr::gpufec {

int info(const arguments& args);
int bench_viterbi(const arguments& args);
int bench_ldpc(const arguments& args);
int bench_sync(const arguments& args);
int ber_viterbi(const arguments& args);
int ber_ldpc(const arguments& args);
int ber_sync(const arguments& args);
int decode_viterbi(const arguments& args);
int decode_ldpc(const arguments& args);
int decode_sync(const arguments& args);

namespace {

struct command {
    std::string name;    // "info"
    std::string decoder; // "viterbi"; empty if there is nothing to choose
    std::string summary;
    std::function<int(const arguments&)> run;
};

const std::vector<command>& commands()
{
    static const std::vector<command> list{
        { "info", "", "devices, presets and chosen defaults", info },
        { "bench", "viterbi", "how fast decoding is", bench_viterbi },
        { "bench", "ldpc", "how fast decoding is", bench_ldpc },
        { "bench", "sync", "how fast decoding is", bench_sync },
        { "ber", "viterbi", "error rates over a simulated channel", ber_viterbi },
        { "ber", "ldpc", "error rates over a simulated channel", ber_ldpc },
        { "ber", "sync", "error rates over a simulated channel", ber_sync },
        { "decode", "viterbi", "decode a file, or standard input", decode_viterbi },
        { "decode", "ldpc", "decode a file, or standard input", decode_ldpc },
        { "decode", "sync", "decode a file, or standard input", decode_sync },
    };
    return list;
}

void help(std::ostream& out)
{
    out << "Usage: gpufec COMMAND [DECODER] [OPTIONS]\n\n"
           "Forward error correction on a GPU or the CPU. Commands:\n";
    for (const auto& c : commands()) {
        auto name = "  gpufec " + c.name + (c.decoder.empty() ? "" : " " + c.decoder);
        name.resize(std::max<std::size_t>(28, name.size() + 2), ' ');
        out << name << c.summary << "\n";
    }
    out << "\nEach command has its own --help.\n"
           "Exit status: 0 done, 1 failed, 2 wrong usage.\n";
}

int run(arguments args)
{
    if (args.empty()) {
        help(std::cerr);
        return 2;
    }
    const auto name = args.front();
    args.erase(args.begin());
    if (name == "--help" || name == "-h" || name == "help") {
        help(std::cout);
        return 0;
    }
    if (name == "--version") {
        std::cout << "gpufec " GPUFEC_VERSION "\n";
        return 0;
    }
    std::string decoders;
    for (const auto& c : commands()) {
        if (c.name != name) {
            continue;
        }
        if (c.decoder.empty()) {
            return c.run(args);
        }
        if (!args.empty() && args.front() == c.decoder) {
            return c.run({ args.begin() + 1, args.end() });
        }
        decoders += (decoders.empty() ? "" : ", ") + c.decoder;
    }
    if (decoders.empty()) {
        throw usage_error("command is \"" + name +
                          "\": see gpufec --help for those known");
    }
    throw usage_error("decoder is \"" + (args.empty() ? "" : args.front()) +
                      "\": gpufec " + name + " knows " + decoders);
}

} // namespace
} // namespace gr::gpufec

int main(int argc, char** argv)
{
    try {
        return gr::gpufec::run({ argv + 1, argv + argc });
    } catch (const gr::gpufec::usage_error& error) {
        std::cerr << "gpufec: " << error.what() << "\n";
        return 2;
    } catch (const std::exception& error) {
        std::cerr << "gpufec: " << error.what() << "\n";
        return 1;
    }
}
