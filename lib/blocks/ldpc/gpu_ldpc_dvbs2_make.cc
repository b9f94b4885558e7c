// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The factory of gpu_ldpc_dvbs2, which checks the block's parameters and converts them to
 * options of a decoder. */

#include "gpu_ldpc_dvbs2_impl.h"
#include "ldpc_code_of.h"
#include <cmath>

namespace gr::gpufec {

namespace {

constexpr double initial_esn0_db = 10; // the default of the parameter esn0_db

std::size_t item_size(llr_format format)
{
    return format == llr_format::float32 ? sizeof(float) : 1;
}

// The codes, and the names by which tags and set_code() select them.
struct code_list {
    std::vector<ldpc_code> codes;
    std::vector<std::string> names;

    void add(const std::string& name, const ldpc_code& code)
    {
        codes.push_back(code);
        names.push_back(name);
    }
    void add_others(const std::string& standard,
                    const std::string& frame_size,
                    const std::string& but_rate)
    {
        for (const auto& rate : ldpc_code::rates(standard, frame_size)) {
            if (rate != but_rate) {
                add(std::string(frame_size).append(" ").append(rate),
                    ldpc_code::standard(standard, frame_size, rate));
            }
        }
    }
};

// Returns the constellation of the first frame, then its variants for the other code
// rates and, with ACM, all other constellations.
std::vector<ldpc_constellation>
constellations_of(const std::string& standard, const ldpc_constellation& first, bool acm)
{
    std::vector<ldpc_constellation> all{ first };
    for (const auto& m : demap::modcods()) {
        const bool wanted =
            demap::is_of(m, standard) &&
            (acm || (m.name == first.name && m.frame_size == first.frame_size));
        if (wanted && !(m.name == first.name && m.rate == first.rate &&
                        m.frame_size == first.frame_size)) {
            all.push_back({ m.name, m.rate, m.frame_size });
        }
    }
    return all;
}

struct code_names {
    std::string standard, frame_size, rate, constellation;
};

// Returns the names of a code and its constellation in the notation of the standards.
// \p rate may be a MODCOD, which names both constellation and rate. With a code file the
// names are returned unchanged.
// \throws std::invalid_argument if there is no such code, or if the constellation
//         contradicts the MODCOD
code_names named_code(const std::string& standard,
                      const std::string& frame_size,
                      const std::string& rate,
                      const std::string& constellation,
                      const std::string& code_file)
{
    if (!code_file.empty()) {
        return { standard, frame_size, rate, constellation };
    }
    const auto modcod = demap::split_modcod(rate);
    const auto symbols = folded(constellation);
    if (modcod && symbols != "qpsk" && symbols != modcod->first) {
        refuse("rate",
               '"' + rate + '"',
               "constellation is \"" + constellation + "\", which contradicts it");
    }
    const auto name =
        ldpc_code::standard(standard, frame_size, modcod ? modcod->second : rate).name();
    const auto first = name.find(' ');
    return { name.substr(0, first),
             size_of(name).substr(first + 1),
             rate_of(name),
             modcod ? modcod->first : symbols };
}

} // namespace

gpu_ldpc_dvbs2::sptr
gpu_ldpc_dvbs2::make(const std::string& given_standard,
                     const std::string& given_frame_size,
                     const std::string& given_rate,
                     const std::string& code_file,
                     const std::string& soft_input,
                     float llr_scale,
                     const std::string& algorithm,
                     const std::string& precision,
                     int max_iterations,
                     bool early_stop,
                     const std::string& output,
                     bool packed_output,
                     int batch,
                     int slots,
                     double max_latency_ms,
                     const std::string& backend,
                     int device,
                     int threads,
                     const std::string& schedule,
                     double offset,
                     double normalization,
                     bool acm,
                     const std::map<std::string, std::string>& named_codes,
                     bool llr_pdu,
                     const std::vector<int>& devices,
                     int positive_bit,
                     double device_timeout_ms,
                     const std::vector<int>& punctured,
                     const std::vector<int>& shortened,
                     const std::string& status_tags,
                     bool descramble,
                     const std::string& given_constellation,
                     const std::string& esn0,
                     double esn0_db,
                     const std::string& demapper,
                     const message_place_parameter& message_positions,
                     const std::string& length_tag)
{
    const auto symbols = choose<ldpc_symbols>("soft_input",
                                              soft_input,
                                              { { "int8", ldpc_symbols::none },
                                                { "float", ldpc_symbols::none },
                                                { "uint8", ldpc_symbols::none },
                                                { "symbols", ldpc_symbols::float32 },
                                                { "symbols16", ldpc_symbols::int16 },
                                                { "symbols8", ldpc_symbols::int8 } });
    std::size_t item_bytes = 0;
    enum class source { estimated, given, tag };
    const auto noise = choose<source>("esn0",
                                      esn0,
                                      { { "estimated", source::estimated },
                                        { "given", source::given },
                                        { "tag", source::tag } });
    const auto how = choose<ldpc_demapper>(
        "demapper",
        demapper,
        { { "max_log", ldpc_demapper::max_log }, { "log_map", ldpc_demapper::log_map } });
    check_esn0_db(esn0_db);
    const auto [standard, frame_size, rate, constellation] = named_code(
        given_standard, given_frame_size, given_rate, given_constellation, code_file);
    if (symbols != ldpc_symbols::none) {
        if ((standard != "dvbs2" && standard != "dvbs2x") || !code_file.empty() ||
            !named_codes.empty() || !punctured.empty() || !shortened.empty()) {
            refuse("soft_input",
                   '"' + soft_input + '"',
                   "allowed with standard dvbs2 and dvbs2x, without code_file, "
                   "named_codes, punctured and shortened");
        }
        demap::make_constellation(constellation, rate, frame_size, standard);
        item_bytes = symbols == ldpc_symbols::float32 ? 8
                     : symbols == ldpc_symbols::int16 ? 4
                                                      : 2;
    }
    enum class kind { message, codeword, bbframe, llr, extrinsic };
    const auto given = choose<kind>("output",
                                    output,
                                    { { "message", kind::message },
                                      { "codeword", kind::codeword },
                                      { "bbframe", kind::bbframe },
                                      { "llr", kind::llr },
                                      { "extrinsic", kind::extrinsic } });
    const bool bbframe = given == kind::bbframe;
    const bool as_it_is = code_file.empty() && named_codes.empty() && punctured.empty() &&
                          shortened.empty();
    if (bbframe && !(as_it_is && has_bch(standard, frame_size))) {
        refuse("output",
               "\"bbframe\"",
               "allowed with codes of DVB that have a BCH code, without code_file, "
               "named_codes, punctured and shortened");
    }
    const bool names_rule = std::holds_alternative<std::string>(message_positions);
    code_list list;
    list.add(code_file.empty() ? frame_size + " " + rate : code_file,
             ldpc_code_of(standard,
                          frame_size,
                          rate,
                          code_file,
                          punctured,
                          shortened,
                          code_file.empty() && names_rule && !named_codes.empty()
                              ? "systematic"
                              : message_positions));
    const bool many = standard != "nr"; // NR has too many codes to load all of them
    if (code_file.empty() && many) {
        list.add_others(standard, frame_size, rate);
    }
    if (acm && many) {
        for (const auto& size : ldpc_code::frame_sizes(standard)) {
            const bool wanted =
                (!bbframe || has_bch(standard, size)) &&
                (symbols == ldpc_symbols::none || size == "normal" || size == "short");
            if (wanted && (!code_file.empty() || size != frame_size)) {
                list.add_others(standard, size, "");
            }
        }
    }
    for (const auto& named : named_codes) {
        const auto code = ldpc_code::from_file(named.second);
        list.add(named.first,
                 names_rule ? with_message_at(code, message_positions) : code);
    }

    ldpc_options options;
    options.codes = list.codes;
    std::optional<symbol_input> input;
    if (symbols == ldpc_symbols::none) {
        options.format = llr_format_from_string(soft_input);
    } else {
        options.symbols = symbols;
        options.demapper = how;
        options.constellations =
            constellations_of(standard, { constellation, rate, frame_size }, acm);
        input.emplace(options.constellations,
                      noise == source::estimated ? std::nan("") : esn0_db);
    }
    // With symbol input, llr_scale is the scale of the output LLRs.
    options.llr_scale = llr_scale;
    options.algorithm = ldpc_algorithm_from_string(algorithm);
    options.precision = ldpc_precision_from_string(precision);
    options.schedule = ldpc_schedule_from_string(schedule);
    options.max_iterations = not_negative("max_iterations", max_iterations, "1 to 1000");
    options.early_stop = early_stop;
    options.codeword = given == kind::codeword;
    options.soft = given == kind::llr         ? ldpc_soft_output::posterior
                   : given == kind::extrinsic ? ldpc_soft_output::extrinsic
                                              : ldpc_soft_output::none;
    options.keep_soft = llr_pdu;
    options.offset = offset;
    options.normalization = normalization;
    options.positive_bit = not_negative("positive_bit", positive_bit, "0 and 1");
    options.bits_in_place = !packed_output;
    set_run_options(options,
                    batch,
                    slots,
                    max_latency_ms,
                    backend,
                    device,
                    devices,
                    threads,
                    device_timeout_ms);
    std::optional<bbframe_output> bbframes;
    if (bbframe) {
        bbframes.emplace(standard, list.names, packed_output, descramble);
    }
    const auto block = gnuradio::make_block_sptr<gpu_ldpc_dvbs2_impl>(
        options,
        list.names,
        packed_output,
        acm,
        status_tags_from_string(status_tags),
        std::move(bbframes),
        std::move(input),
        item_bytes ? item_bytes : item_size(options.format),
        noise == source::tag,
        length_tag);
    const bool estimated = noise == source::estimated;
    if (symbols == ldpc_symbols::none && (!estimated || esn0_db != initial_esn0_db)) {
        block->warn("without effect: esn0, esn0_db (soft_input is \"" + soft_input +
                    "\")");
    } else if (symbols != ldpc_symbols::none && estimated && esn0_db != initial_esn0_db) {
        block->warn("without effect: esn0_db (esn0 is \"estimated\")");
    }
    return block;
}

} // namespace gr::gpufec
