// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* gpufec decode viterbi: a file, or standard input, of soft values to a file of bits. */

#include "file_decoder.h"
#include "viterbi_options.h"
#include <csignal>

namespace gr::gpufec {

namespace {

double items_per_bit(const viterbi_options& options)
{
    const double values = 1 / options.code.rate();
    return options.format == soft_format::packed4 ? values / 2 : values;
}

} // namespace

int decode_viterbi(const arguments& args)
{
    namespace po = boost::program_options;
    command_line line{
        "gpufec decode viterbi",
        "[code options] [--pace BITS_PER_S] [--unpacked] IN OUT",
        "Decodes soft values (positive means bit 0) from the file IN to bits in the "
        "file\n"
        "OUT, - for standard input and output. Bits are packed eight a byte, the first\n"
        "most significant; each frame is padded to a byte.",
        viterbi_option_descriptions(),
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
    const auto options = parse_viterbi_options(values);
    const auto decoder = naming_options([&] {
        return std::make_unique<file_decoder<viterbi_decoder>>(
            options,
            options.format == soft_format::float32 ? sizeof(float) : 1,
            values.count("unpacked") ? &viterbi_decoder::pull_bits
                                     : &viterbi_decoder::pull_packed,
            pace * items_per_bit(options));
    });
    std::signal(SIGPIPE, SIG_IGN); // a reader that is gone is an error like others
    file in(values["IN"].as<std::string>(), O_RDONLY, STDIN_FILENO);
    file out(
        values["OUT"].as<std::string>(), O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    decoder->run(in, out);
    return 0;
}

} // namespace gr::gpufec
