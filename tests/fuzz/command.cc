// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Fuzzes the command `gpufec decode`. The input has an option per line and, after an
 * empty line, the contents of the file for --lengths. The command runs in a temporary
 * folder. Long options, and options that name files in other folders, are skipped. The
 * exit status must be 0, 1 or 2. */

#include "fuzz.h"
#include <fcntl.h>
#include <unistd.h>
#include <fstream>
#include <iostream>

int gpufec_main(int argc, char** argv); // main() of the tool

using namespace gr::gpufec;

extern "C" int LLVMFuzzerInitialize(int*, char***)
{
    char folder[] = "/tmp/gpufec-command-XXXXXX";
    fuzz::demand(mkdtemp(folder) != nullptr && chdir(folder) == 0);
    std::ofstream in("in", std::ios::binary);
    for (unsigned i = 0; i < 3000; ++i) {
        in.put(char(i * 2654435761u >> 24));
    }
    // Discards the tool's output.
    const int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, STDOUT_FILENO);
    std::cerr.setstate(std::ios::failbit);
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    fuzz::reader input(data, size);
    static const char* const decoders[] = { "viterbi", "ldpc", "sync" };
    std::vector<std::string> words{ "gpufec", "decode", decoders[input.byte() % 3] };
    while (input.left() > 0) {
        const auto word = input.line();
        if (word.empty()) {
            break;
        }
        // Skips options that name files in other folders, and long options.
        const bool elsewhere = word.find('/') != std::string::npos && word[0] != '-' &&
                               word.find_first_not_of("0123456789/") != std::string::npos;
        if (!elsewhere && word.find("=/") == std::string::npos && word.size() < 60) {
            words.push_back(word);
        }
    }
    std::ofstream("lengths", std::ios::binary) << input.rest();
    for (const char* const last : { "--backend=cpu", "--threads=1", "in", "out" }) {
        words.emplace_back(last);
    }
    std::vector<char*> argv;
    for (auto& word : words) {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    const int status = gpufec_main(int(words.size()), argv.data());
    fuzz::demand(status >= 0 && status <= 2);
    return 0;
}
