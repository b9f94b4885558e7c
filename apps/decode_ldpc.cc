// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* gpufec decode ldpc: a file, or standard input, of soft values to a file of bits. */

#include "file_decoder.h"
#include "ldpc_options.h"
#include <csignal>

namespace gr::gpufec {

int decode_ldpc(const arguments& args)
{
    namespace po = boost::program_options;
    command_line line{
        "gpufec decode ldpc",
        "[code options] [--pace BITS_PER_S] [--unpacked] IN OUT",
        "Decodes frames of soft values (positive means bit 0) from the file IN to bits\n"
        "in the file OUT, - for standard input and output. Bits are packed eight a "
        "byte,\n"
        "the first most significant; each frame is padded to a byte. A frame that is\n"
        "not complete at the end is dropped.",
        ldpc_option_descriptions(),
        { "IN", "OUT" }
    };
    po::options_description own("Decoding options");
    own.add_options()("pace",
                      po::value<double>()->default_value(0),
                      "decoded bits a second, as in real time; 0: as fast as possible")(
        "unpacked", "one bit a byte");
    line.options.add(own);
    po::variables_map values;
    if (!line.parse(args, values)) {
        return 0;
    }
    const double pace = pace_of(values);
    const auto options = parse_ldpc_options(values);
    const auto& code = options.codes[0];
    const double bits = options.codeword ? code.n() : code.k();
    const auto decoder = naming_options([&] {
        return std::make_unique<file_decoder<ldpc_decoder>>(
            options,
            bytes_of(options.format),
            values.count("unpacked") ? &ldpc_decoder::pull_bits
                                     : &ldpc_decoder::pull_packed,
            pace * code.n() / bits);
    });
    std::signal(SIGPIPE, SIG_IGN); // a reader that is gone is an error like others
    file in(text(values, "IN"), O_RDONLY, STDIN_FILENO);
    file out(text(values, "OUT"), O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    decoder->run(in, out);
    return 0;
}

} // namespace gr::gpufec
