// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The factory of gpu_ldpc_dvbs2, which checks the block's options and converts them to
 * options of a decoder. */

#include "gpu_ldpc_dvbs2_impl.h"
#include "ldpc_code_of.h"
#include <cmath>

namespace gr::gpufec {

namespace {

struct input_kind {
    const char* name;
    llr_format format; // format of the LLRs
    ldpc_symbols symbols;
};

// Input items, in the order of ldpc_input.
constexpr input_kind inputs[] = {
    { "int8", llr_format::int8, ldpc_symbols::none },
    { "float", llr_format::float32, ldpc_symbols::none },
    { "uint8", llr_format::uint8, ldpc_symbols::none },
    { "symbols", llr_format::int8, ldpc_symbols::float32 },
    { "symbols16", llr_format::int8, ldpc_symbols::int16 },
    { "symbols8", llr_format::int8, ldpc_symbols::int8 },
};

const input_kind& kind_of(ldpc_input input) { return inputs[std::size_t(input)]; }

bool has_symbols(const gpu_ldpc_dvbs2_options& given)
{
    return kind_of(given.soft_input).symbols != ldpc_symbols::none;
}

std::string quoted(ldpc_input input)
{
    return '"' + std::string(kind_of(input).name) + '"';
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

// Returns the constellation of the first frame, followed by its variants for all other
// code rates. With ACM, all other constellations follow: those of VL-SNR frames if the
// first frame is a VL-SNR frame, otherwise those of ordinary frames.
std::vector<ldpc_constellation>
constellations_of(const std::string& standard, const ldpc_constellation& first, bool acm)
{
    std::vector<ldpc_constellation> all{ first };
    for (const auto& m :
         demap::is_vlsnr(first.frame_size) ? demap::vlsnr_modcods() : demap::modcods()) {
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

// Returns the names of the code and its constellation in the notation of the standards.
// The given rate may be a MODCOD, which names both constellation and rate. With a code
// file the names are returned unchanged.
// \throws std::invalid_argument if the code does not exist, or if the constellation
//         contradicts the MODCOD
code_names named_code(const gpu_ldpc_dvbs2_options& given)
{
    if (!given.code_file.empty()) {
        return { given.standard, given.frame_size, given.rate, given.constellation };
    }
    const auto modcod = demap::split_modcod(given.rate);
    const auto symbols = demap::constellation_named(given.constellation);
    if (modcod && symbols != "qpsk" && symbols != modcod->first) {
        refuse("rate",
               '"' + given.rate + '"',
               "this MODCOD contradicts constellation \"" + given.constellation + '"');
    }
    const auto name = ldpc_code::standard(given.standard,
                                          given.frame_size,
                                          modcod ? modcod->second : given.rate)
                          .name();
    const auto first = name.find(' ');
    return { name.substr(0, first),
             size_of(name).substr(first + 1),
             rate_of(name),
             modcod ? modcod->first : symbols };
}

// Checks that input and output suit the code.
// \throws std::invalid_argument
void check_formats(const gpu_ldpc_dvbs2_options& given, const code_names& names)
{
    const bool as_in_standard = given.code_file.empty() && given.named_codes.empty() &&
                                given.punctured.empty() && given.shortened.empty();
    if (has_symbols(given)) {
        const bool dvb_s2 = names.standard == "dvbs2" || names.standard == "dvbs2x";
        if (!as_in_standard || !dvb_s2) {
            refuse("soft_input",
                   quoted(given.soft_input),
                   "it is allowed only with standard dvbs2 and dvbs2x, but not with "
                   "code_file, named_codes, punctured or shortened");
        }
        demap::make_constellation(
            names.constellation, names.rate, names.frame_size, names.standard);
        if (demap::is_vlsnr(names.frame_size) && given.io != port_memory::host) {
            refuse("frame_size",
                   '"' + names.frame_size + '"',
                   "symbols of VL-SNR frames require io host");
        }
    }
    if (given.output == ldpc_output::bbframe &&
        !(as_in_standard && has_bch(names.standard, names.frame_size))) {
        refuse("output",
               "\"bbframe\"",
               "it is allowed only with codes of DVB that have a BCH code, but not with "
               "code_file, named_codes, punctured or shortened");
    }
}

// Checks that the other options allow PPDUs.
// \throws std::invalid_argument
void check_ppdu(const gpu_ldpc_dvbs2_options& given)
{
    if (given.output != ldpc_output::message || has_symbols(given) || given.acm ||
        !given.named_codes.empty() || given.llr_pdu || given.io != port_memory::host) {
        refuse("psdu_bytes",
               given.psdu_bytes,
               "it is allowed only with output message, LLRs as input and io host, but "
               "not with acm, named_codes or llr_pdu");
    }
}

// Returns whether a stream of symbols can have frames of both sizes. Medium frames are
// not sent as symbols.
bool suits(const std::string& size, const std::string& first)
{
    return size != "medium" && demap::is_vlsnr(size) == demap::is_vlsnr(first);
}

// Returns the code of the first frame, followed by the codes that tags and set_code() can
// select.
code_list codes_of(const gpu_ldpc_dvbs2_options& given, const code_names& names)
{
    const bool from_file = !given.code_file.empty();
    const bool has_rule = std::holds_alternative<std::string>(given.message_positions);
    // The rule message_positions also applies to named codes. If there are named codes, a
    // standard's code accepts the rule and ignores it.
    const bool ignored = !from_file && has_rule && !given.named_codes.empty();
    code_list list;
    list.add(from_file ? given.code_file : names.frame_size + " " + names.rate,
             ldpc_code_of({ names.standard,
                            names.frame_size,
                            names.rate,
                            given.code_file,
                            given.punctured,
                            given.shortened,
                            ignored ? "systematic" : given.message_positions }));
    const bool many = names.standard != "nr"; // NR has too many codes to load all of them
    if (!from_file && many) {
        list.add_others(names.standard, names.frame_size, names.rate);
    }
    const bool bbframe = given.output == ldpc_output::bbframe;
    if (given.acm && many) {
        for (const auto& size : ldpc_code::frame_sizes(names.standard)) {
            const bool wanted = (!bbframe || has_bch(names.standard, size)) &&
                                (!has_symbols(given) || suits(size, names.frame_size));
            if (wanted && (from_file || size != names.frame_size)) {
                list.add_others(names.standard, size, "");
            }
        }
    }
    for (const auto& named : given.named_codes) {
        const auto code = ldpc_code::from_file(named.second);
        list.add(named.first,
                 has_rule ? with_message_at(code, given.message_positions) : code);
    }
    return list;
}

ldpc_options decoder_options(const gpu_ldpc_dvbs2_options& given)
{
    ldpc_options options;
    options.format = kind_of(given.soft_input).format;
    options.symbols = kind_of(given.soft_input).symbols;
    options.demapper = given.demapper;
    // With symbol input, llr_scale is the scale of the output LLRs.
    options.llr_scale = given.llr_scale;
    options.algorithm = given.algorithm;
    options.precision = given.precision;
    options.schedule = given.schedule;
    options.max_iterations =
        not_negative("max_iterations", given.max_iterations, "1 to 1000");
    options.early_stop = given.early_stop;
    options.codeword = given.output == ldpc_output::codeword;
    options.soft = given.output == ldpc_output::llr         ? ldpc_soft_output::posterior
                   : given.output == ldpc_output::extrinsic ? ldpc_soft_output::extrinsic
                                                            : ldpc_soft_output::none;
    options.keep_soft = given.llr_pdu;
    options.offset = given.offset;
    options.normalization = given.normalization;
    options.positive_bit = not_negative("positive_bit", given.positive_bit, "0 and 1");
    options.bits_in_place = !given.packed_output;
    set_run_options(options, given);
    return options;
}

// Returns a warning about Es/N0 parameters that have no effect; "" if there are none.
std::string unused_esn0(const gpu_ldpc_dvbs2_options& given)
{
    const bool estimated = given.esn0 == esn0_source::estimated;
    const bool level = given.esn0_db != gpu_ldpc_dvbs2_options().esn0_db;
    if (!has_symbols(given) && (!estimated || level)) {
        return "esn0 and esn0_db are without effect, because soft_input is " +
               quoted(given.soft_input);
    }
    return estimated && level ? "esn0_db is without effect with esn0 \"estimated\"" : "";
}

} // namespace

ldpc_input ldpc_input_from_string(const std::string& name)
{
    name_list names;
    for (const auto& input : inputs) {
        names.emplace_back(input.name);
    }
    return ldpc_input(index_of_name("soft_input", name, names));
}

ldpc_output ldpc_output_from_string(const std::string& name)
{
    return choose<ldpc_output>("output",
                               name,
                               { { "message", ldpc_output::message },
                                 { "codeword", ldpc_output::codeword },
                                 { "bbframe", ldpc_output::bbframe },
                                 { "llr", ldpc_output::llr },
                                 { "extrinsic", ldpc_output::extrinsic } });
}

esn0_source esn0_source_from_string(const std::string& name)
{
    return choose<esn0_source>("esn0",
                               name,
                               { { "estimated", esn0_source::estimated },
                                 { "given", esn0_source::given },
                                 { "tag", esn0_source::tag } });
}

gpu_ldpc_dvbs2::sptr gpu_ldpc_dvbs2::make(const gpu_ldpc_dvbs2_options& given)
{
    check_esn0_db(given.esn0_db);
    gpu_ldpc_dvbs2_impl::parts parts;
    parts.ppdu = wifi_ppdu_of(given);
    code_names names;
    code_list list;
    if (parts.ppdu) {
        check_ppdu(given);
        list = { parts.ppdu->codes(), { "wifi ppdu" } };
    } else {
        names = named_code(given);
        check_formats(given, names);
        list = codes_of(given, names);
    }
    parts.options = decoder_options(given);
    parts.names = std::move(list.names);
    parts.options.codes = std::move(list.codes);
    if (has_symbols(given)) {
        parts.options.constellations =
            constellations_of(names.standard,
                              { names.constellation, names.rate, names.frame_size },
                              given.acm);
        parts.symbols.emplace(parts.options.constellations,
                              given.esn0 == esn0_source::estimated ? std::nan("")
                                                                   : given.esn0_db);
    }
    if (given.output == ldpc_output::bbframe) {
        parts.bbframes.emplace(
            names.standard, parts.names, given.packed_output, given.descramble);
    }
    const auto block =
        gnuradio::make_block_sptr<gpu_ldpc_dvbs2_impl>(given, std::move(parts));
    if (const auto unused = unused_esn0(given); !unused.empty()) {
        block->warn(unused);
    }
    return block;
}

} // namespace gr::gpufec
