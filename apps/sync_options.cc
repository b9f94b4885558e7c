// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "command.h"
#include "sync_options.h"
#include <cmath>
#include <sstream>

namespace gr::gpufec {

namespace po = boost::program_options;

po::options_description sync_option_descriptions()
{
    po::options_description options("Code options");
    const auto word = [](const char* value) {
        return po::value<std::string>()->default_value(value);
    };
    const auto number = [](int value) { return po::value<int>()->default_value(value); };
    const auto real = [](double value, const char* shown) {
        return po::value<double>()->default_value(value, shown);
    };
    // clang-format off
    options.add_options()
        ("codebook", word("davey_mackay"),
         "davey_mackay, random, marker, or a file of N q rows of n digits")
        ("codebook-seed", po::value<std::uint64_t>()->default_value(1),
         "of the first two")
        ("marker", word("00111"), "of a marker code: n is log2 q and its length")
        ("q", number(32), "symbols to choose from")
        ("n", number(10), "bits a symbol")
        ("frame-symbols", number(210), "N, symbols a frame")
        ("alphabet", number(2), "channel symbols, 2 to 16")
        ("p-insert", real(1e-3, "1e-3"), "probability of an insertion before a bit")
        ("p-delete", real(1e-3, "1e-3"), "probability that a bit is dropped")
        ("p-substitute", real(0, "0"), "probability that a bit passed on is flipped")
        ("mode", word("framed"), "framed, or stream: frames are found")
        ("soft-input", word("hard"), "hard (a byte) or float (probability of a 1)")
        ("output", word("symbols"), "symbols, posteriors, extrinsics or llr")
        ("precision", word("float"), "float, double or mixed")
        ("form", word("linear"), "linear or corridor")
        ("storage", word("auto"), "of form corridor: auto, global or local")
        ("receiver", word("corridor"), "of form corridor: corridor, lattice or trellis")
        ("insertion-cap", number(2), "of receiver trellis: insertions before a bit")
        ("state-threshold", real(0, "0"), "of form corridor: part of the largest metric")
        ("lattice-threshold", real(0, "0"), "of form corridor: part of a row's largest")
        ("mn-min", number(0), "of form corridor: least drift change of a symbol")
        ("mn-max", number(0), "largest; both 0: from the exclusion")
        ("start-first", number(0), "drift of start-prior's first entry")
        ("start-prior", word(""), "weights of the drifts at a frame's start: 0.5,0.5")
        ("end-first", number(0), "drift of end-prior's first entry")
        ("end-prior", word(""), "weights of the drifts at a frame's end")
        ("exclusion", real(1e-10, "1e-10"), "probability of drifts not considered")
        ("lookahead", number(0), "of mode stream: symbols beyond a frame; 0: chosen")
        ("acquire", number(0), "of mode stream: items that the first frame may begin at")
        ("batch", number(0), "frames a slot; 0: chosen")
        ("slots", number(3), "batches in flight")
        ("max-latency-ms", po::value<double>()->default_value(50),
         "a batch that does not fill in this time goes as it is")
        ("backend", word("auto"), "auto, cuda or cpu")
        ("device", word("0"), "CUDA device, or several, comma separated")
        ("threads", number(1), "of the CPU backend");
    // clang-format on
    return options;
}

namespace {

sync_code code_of(const po::variables_map& values)
{
    const auto n = at_least_zero(values, "n"), q = at_least_zero(values, "q"),
               N = at_least_zero(values, "frame-symbols"),
               alphabet = at_least_zero(values, "alphabet");
    const auto seed = values["codebook-seed"].as<std::uint64_t>();
    const auto kind = text(values, "codebook");
    if (kind == "random") {
        return codebook_random(n, q, N, seed, alphabet);
    }
    if (kind != "davey_mackay" && kind != "marker") {
        return sync_code::from_file(kind, n, q, N, alphabet);
    }
    const auto code = kind == "marker" ? codebook_marker(q, N, text(values, "marker"))
                                       : codebook_davey_mackay(n, q, N, seed);
    if (code.n() != n) {
        throw std::invalid_argument("n is " + std::to_string(n) +
                                    ": the symbol's bits and the marker are " +
                                    std::to_string(code.n()));
    }
    return code;
}

std::vector<double> weights(const po::variables_map& values, const std::string& option)
{
    std::vector<double> numbers;
    std::istringstream list(text(values, option));
    for (std::string item; std::getline(list, item, ',');) {
        std::size_t used = 0;
        try {
            numbers.push_back(std::stod(item, &used));
        } catch (const std::exception&) {
            used = 0;
        }
        if (used == 0 || used != item.size()) {
            throw usage_error("--" + option + " is \"" + text(values, option) +
                              "\": comma separated numbers are allowed");
        }
    }
    return numbers;
}

} // namespace

sync_options parse_sync_options(const po::variables_map& values)
{
    return naming_options([&] {
        sync_options o(code_of(values),
                       { values["p-insert"].as<double>(),
                         values["p-delete"].as<double>(),
                         values["p-substitute"].as<double>(),
                         at_least_zero(values, "alphabet") });
        o.mode = sync_mode_from_string(text(values, "mode"));
        const auto soft = text(values, "soft-input");
        if (soft != "hard" && soft != "float") {
            throw std::invalid_argument("soft_input is \"" + soft +
                                        "\": allowed are hard and float");
        }
        o.soft_input = soft == "float";
        o.output = sync_output_from_string(text(values, "output"));
        o.precision = sync_precision_from_string(text(values, "precision"));
        o.form = sync_form_from_string(text(values, "form"));
        o.storage = sync_storage_from_string(text(values, "storage"));
        o.receiver = sync_receiver_from_string(text(values, "receiver"));
        o.insertion_cap = at_least_zero(values, "insertion-cap");
        o.state_threshold = values["state-threshold"].as<double>();
        o.lattice_threshold = values["lattice-threshold"].as<double>();
        o.change_first = values["mn-min"].as<int>();
        o.change_last = values["mn-max"].as<int>();
        o.start.first = values["start-first"].as<int>();
        if (!text(values, "start-prior").empty()) {
            o.start.probability = weights(values, "start-prior");
        }
        o.end = { values["end-first"].as<int>(), weights(values, "end-prior") };
        o.exclusion = values["exclusion"].as<double>();
        o.lookahead = at_least_zero(values, "lookahead");
        o.acquire = at_least_zero(values, "acquire");
        o.batch = at_least_zero(values, "batch");
        o.slots = at_least_zero(values, "slots");
        o.max_latency_ms = values["max-latency-ms"].as<double>();
        o.where = backend_from_string(text(values, "backend"));
        o.devices = parse_list("device", text(values, "device"), 10);
        o.threads = at_least_zero(values, "threads");
        return o;
    });
}

json to_json(const po::variables_map& values, const sync_options& o)
{
    return json::object({ { "codebook", text(values, "codebook") },
                          { "q", o.code.q() },
                          { "n", o.code.n() },
                          { "frame_symbols", o.code.frame_symbols() },
                          { "alphabet", o.code.alphabet() },
                          { "p_insert", o.channel.p_insert() },
                          { "p_delete", o.channel.p_delete() },
                          { "p_substitute", o.channel.p_substitute() },
                          { "mode", text(values, "mode") },
                          { "soft_input", text(values, "soft-input") },
                          { "output", text(values, "output") },
                          { "precision", text(values, "precision") },
                          { "form", text(values, "form") },
                          { "storage", text(values, "storage") },
                          { "receiver", text(values, "receiver") },
                          { "exclusion", o.exclusion } });
}

double information_bits(const sync_code& code)
{
    return code.frame_symbols() * std::log2(double(code.q()));
}

std::string to_string(const sync_options& o)
{
    std::ostringstream text;
    text << "n=" << o.code.n() << " q=" << o.code.q() << " N=" << o.code.frame_symbols()
         << ", " << (o.form == sync_form::linear ? "linear" : "corridor") << " form";
    return text.str();
}

} // namespace gr::gpufec
