// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "command.h"
#include "ldpc_options.h"

namespace gr::gpufec {

namespace po = boost::program_options;

po::options_description ldpc_option_descriptions()
{
    po::options_description options("Code options");
    // clang-format off
    options.add_options()
        ("standard", po::value<std::string>()->default_value("dvbs2"), "dvbs2")
        ("frame-size", po::value<std::string>()->default_value("normal"),
         "normal (64800 bits) or short (16200)")
        ("rate", po::value<std::string>()->default_value("1/2"),
         "1/4, 1/3, 2/5, 1/2, 3/5, 2/3, 3/4, 4/5, 5/6, 8/9, or 9/10 (normal only)")
        ("code-file", po::value<std::string>()->default_value(""),
         "alist file, in place of the three above")
        ("soft-input", po::value<std::string>()->default_value("int8"),
         "int8 or float; positive means bit 0")
        ("llr-scale", po::value<float>()->default_value(2), "int8 steps a nat")
        ("algorithm", po::value<std::string>()->default_value("offset_min_sum"),
         "offset_min_sum, normalized_min_sum or min_sum")
        ("precision", po::value<std::string>()->default_value("int8"),
         "int8, int16 or float")
        ("schedule", po::value<std::string>()->default_value("layered"),
         "layered or flooding")
        ("max-iterations", po::value<int>()->default_value(25), "1 to 1000")
        ("early-stop", po::value<bool>()->default_value(true, "true"),
         "stop once every check is satisfied")
        ("offset", po::value<double>()->default_value(-1),
         "nats; negative: the code's own")
        ("normalization", po::value<double>()->default_value(-1),
         "factor; negative: the code's own")
        ("output", po::value<std::string>()->default_value("message"),
         "message (K bits a frame) or codeword (N)")
        ("batch", po::value<int>()->default_value(0), "frames a slot; 0: chosen")
        ("slots", po::value<int>()->default_value(3), "batches in flight")
        ("max-latency-ms", po::value<double>()->default_value(50),
         "a batch that does not fill in this time goes as it is")
        ("backend", po::value<std::string>()->default_value("auto"), "auto, cuda or cpu")
        ("device", po::value<std::string>()->default_value("0"),
         "CUDA device, or several, comma separated")
        ("threads", po::value<int>()->default_value(1), "of the CPU backend");
    // clang-format on
    return options;
}

namespace {

ldpc_code code_of(const po::variables_map& values)
{
    const auto file = text(values, "code-file");
    if (!file.empty()) {
        return ldpc_code::from_alist_file(file);
    }
    if (text(values, "standard") != "dvbs2") {
        throw std::invalid_argument("standard is \"" + text(values, "standard") +
                                    "\": allowed is dvbs2");
    }
    return ldpc_code::dvbs2(text(values, "frame-size"), text(values, "rate"));
}

} // namespace

ldpc_options parse_ldpc_options(const po::variables_map& values)
{
    return naming_options([&] {
        ldpc_options options;
        options.codes = { code_of(values) };
        options.format = llr_format_from_string(text(values, "soft-input"));
        options.llr_scale = values["llr-scale"].as<float>();
        options.algorithm = ldpc_algorithm_from_string(text(values, "algorithm"));
        options.precision = ldpc_precision_from_string(text(values, "precision"));
        options.schedule = ldpc_schedule_from_string(text(values, "schedule"));
        options.max_iterations = at_least_zero(values, "max-iterations");
        options.early_stop = values["early-stop"].as<bool>();
        options.offset = values["offset"].as<double>();
        options.normalization = values["normalization"].as<double>();
        const auto output = text(values, "output");
        if (output != "message" && output != "codeword") {
            throw std::invalid_argument("output is \"" + output +
                                        "\": allowed are message and codeword");
        }
        options.codeword = output == "codeword";
        options.batch = at_least_zero(values, "batch");
        options.slots = at_least_zero(values, "slots");
        options.max_latency_ms = values["max-latency-ms"].as<double>();
        options.where = backend_from_string(text(values, "backend"));
        options.devices = parse_list("device", text(values, "device"), 10);
        options.threads = at_least_zero(values, "threads");
        return options;
    });
}

json to_json(const ldpc_options& options)
{
    const auto& code = options.codes[0];
    return json::object({ { "code", code.name() },
                          { "n", code.n() },
                          { "k", code.k() },
                          { "edges", code.edges() },
                          { "soft_input", to_string(options.format) },
                          { "llr_scale", options.llr_scale },
                          { "algorithm", to_string(options.algorithm) },
                          { "precision", to_string(options.precision) },
                          { "schedule", to_string(options.schedule) },
                          { "max_iterations", options.max_iterations },
                          { "early_stop", options.early_stop },
                          { "offset", options.offset },
                          { "normalization", options.normalization } });
}

const char* to_string(ldpc_algorithm algorithm)
{
    switch (algorithm) {
    case ldpc_algorithm::offset_min_sum:
        return "offset_min_sum";
    case ldpc_algorithm::normalized_min_sum:
        return "normalized_min_sum";
    case ldpc_algorithm::min_sum:
        break;
    }
    return "min_sum";
}

const char* to_string(ldpc_precision precision)
{
    switch (precision) {
    case ldpc_precision::int8:
        return "int8";
    case ldpc_precision::int16:
        return "int16";
    case ldpc_precision::float32:
        break;
    }
    return "float";
}

const char* to_string(ldpc_schedule schedule)
{
    return schedule == ldpc_schedule::layered ? "layered" : "flooding";
}

const char* to_string(llr_format format)
{
    return format == llr_format::int8 ? "int8" : "float";
}

std::size_t bytes_of(llr_format format)
{
    return format == llr_format::int8 ? 1 : sizeof(float);
}

} // namespace gr::gpufec
