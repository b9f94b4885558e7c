// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "command.h"
#include "viterbi_options.h"
#include <sstream>

namespace gr::gpufec {

namespace po = boost::program_options;

po::options_description viterbi_option_descriptions()
{
    std::string presets;
    for (const auto& p : conv_presets()) {
        presets += (presets.empty() ? "" : ", ") + p.name;
    }
    po::options_description options("Code options");
    // clang-format off
    options.add_options()
        ("preset", po::value<std::string>(),
         ("code of a standard: " + presets + "; options below override it").c_str())
        ("constraint-length", po::value<int>(), "K, 3 to 9 [7]")
        ("polynomials", po::value<std::string>(),
         "comma separated, octal, newest bit most significant; a negative one is an "
         "inverted output [171,133]")
        ("puncturing", po::value<std::string>(),
         "one string of 0 and 1 an output, comma separated: DVB rate 3/4 is 101,110")
        ("termination", po::value<std::string>(),
         "streaming, terminated, truncated or tailbiting [streaming]")
        ("frame-bits", po::value<int>()->default_value(0, ""),
         "information bits a frame; 0 in streaming")
        ("soft-input", po::value<std::string>()->default_value("int8"),
         "int8, float or packed4; positive means bit 0")
        ("soft-scale", po::value<float>()->default_value(32), "int8 steps a unit of float")
        ("decode-length", po::value<int>()->default_value(0), "D; 0: chosen")
        ("overlap", po::value<int>()->default_value(0), "L; 0: chosen")
        ("batch", po::value<int>()->default_value(0), "parallel blocks a slot; 0: chosen")
        ("slots", po::value<int>()->default_value(3), "batches in flight")
        ("max-latency-ms", po::value<double>()->default_value(50),
         "a batch that does not fill in this time goes as it is")
        ("backend", po::value<std::string>()->default_value("auto"), "auto, cuda or cpu")
        ("device", po::value<std::string>()->default_value("0"),
         "CUDA device, or several, comma separated")
        ("threads", po::value<int>()->default_value(1), "of the CPU backend")
        ("cuda-kernel", po::value<std::string>()->default_value("auto"), "auto or pbvd");
    // clang-format on
    return options;
}

viterbi_options parse_viterbi_options(const po::variables_map& values)
{
    int constraint_length = 7;
    std::vector<int> polynomials{ 0171, 0133 };
    std::string puncturing;
    auto ends = termination::streaming;
    return naming_options([&] {
        if (values.count("preset")) {
            conv_code::preset(text(values, "preset")); // says which are allowed
            for (const auto& p : conv_presets()) {
                if (p.name == text(values, "preset")) {
                    constraint_length = p.constraint_length;
                    polynomials = p.polynomials;
                    puncturing = p.puncturing;
                    ends = p.ends;
                }
            }
        }
        if (values.count("constraint-length")) {
            constraint_length = values["constraint-length"].as<int>();
        }
        if (values.count("polynomials")) {
            polynomials = parse_list("polynomials", text(values, "polynomials"), 8);
        }
        if (values.count("puncturing")) {
            puncturing = text(values, "puncturing");
        }
        if (values.count("termination")) {
            ends = termination_from_string(text(values, "termination"));
        }
        viterbi_options options{ conv_code(constraint_length, polynomials, puncturing) };
        options.ends = ends;
        options.frame_bits = at_least_zero(values, "frame-bits");
        options.format = soft_format_from_string(text(values, "soft-input"));
        options.soft_scale = values["soft-scale"].as<float>();
        options.decode_length = at_least_zero(values, "decode-length");
        options.overlap = at_least_zero(values, "overlap");
        options.batch = at_least_zero(values, "batch");
        options.slots = at_least_zero(values, "slots");
        options.max_latency_ms = values["max-latency-ms"].as<double>();
        options.where = backend_from_string(text(values, "backend"));
        options.devices = parse_list("device", text(values, "device"), 10);
        options.threads = at_least_zero(values, "threads");
        options.cuda_kernel = text(values, "cuda-kernel");
        return options;
    });
}

json to_json(const viterbi_options& options)
{
    const auto& code = options.code;
    auto polynomials = json::array();
    for (unsigned r = 0; r < code.outputs(); ++r) {
        std::ostringstream octal;
        octal << (code.inverted(r) ? "-" : "") << std::oct << code.polynomial(r);
        polynomials.add(octal.str());
    }
    return json::object({ { "code", code.to_string() },
                          { "constraint_length", code.constraint_length() },
                          { "polynomials", polynomials },
                          { "rate", code.rate() },
                          { "termination", to_string(options.ends) },
                          { "frame_bits", options.frame_bits },
                          { "soft_input", to_string(options.format) } });
}

const char* to_string(termination ends)
{
    switch (ends) {
    case termination::streaming:
        return "streaming";
    case termination::terminated:
        return "terminated";
    case termination::truncated:
        return "truncated";
    case termination::tailbiting:
        break;
    }
    return "tailbiting";
}

const char* to_string(soft_format format)
{
    switch (format) {
    case soft_format::int8:
        return "int8";
    case soft_format::float32:
        return "float";
    case soft_format::packed4:
        break;
    }
    return "packed4";
}

} // namespace gr::gpufec
