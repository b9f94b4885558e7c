// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tables and parsing of the options of LDPC codes and decoders. */

#include "common/names.h"
#include "common/refuse.h"
#include "ldpc_options.h"
#include <iostream>
#include <optional>
#include <sstream>
#include <utility>

namespace gr::gpufec {

const char* const ldpc_code_options = R"(
standard        dvbs2|dvbs2x|dvbt2|ccsds_c2|ccsds_ar4ja|ccsds_tc|wifi|nr  dvbs2  standard of the code
frame-size      text          normal  name such as normal, 8160 or "bg1 z384"; gpufec info lists the names of each standard
rate            text          1/2     name such as 1/2; for nr, the numbers of message blocks and of sent blocks of the base matrix, such as 22/33
code-file       file          -       file with an alist or a base matrix, which defines the code instead of the three options above
punctured       text          -       positions of the codeword that are not sent, such as 0-53,60
shortened       text          -       positions of the codeword that are 0 and not sent
message-positions  text  systematic   positions of the message bits in the codeword of --code-file: systematic, first, last, gr_fec_ldpc_encoder, or positions like 0-53,60 in the order of the message
)";

const char* const ldpc_decoder_options = R"(
soft-input      int8|float|uint8|symbols|symbols16|symbols8  int8  format of the input; uint8: offset binary, in which 128 stands for 0; only decode accepts symbols of DVB-S2 and S2X, as complex float32 (symbols) or as pairs of int16 (symbols16) or int8 (symbols8)
llr-scale       real          2       int8 steps per nat, for int8 and uint8 input and for LLRs in the output
algorithm       offset_min_sum|normalized_min_sum|min_sum     offset_min_sum  rule for the magnitude of check-to-variable messages
precision       int8|int16|float  int8    number format of channel values and messages
schedule        layered|flooding  layered order in which check nodes are updated
max-iterations  int           25      largest number of iterations, 1 to 1000
early-stop      true|false    true    stop once all checks are satisfied
offset          real          -1      offset in nats; negative: the default of the code or, with precision float, an offset that decreases with the distance to the second-smallest magnitude
normalization   real          -1      factor of normalized_min_sum; negative: the default of the code
output          message|codeword|llr|extrinsic|bbframe|ts  message  output for each frame; message: K bits; codeword: N bits; llr, extrinsic: N posterior or extrinsic LLRs; bbframe: the BBFRAME of DVB after BCH decoding; ts: the transport stream packets in the BBFRAME; only decode supports bbframe and ts
positive-bit    0|1           0       the bit that a positive soft value means: 0 in gr-dvbs2rx
)";

const char* const ldpc_symbol_options = R"(
modcod        text             -        constellation and rate of symbols, such as "QPSK 1/2"; replaces --constellation and --rate
constellation text             qpsk     constellation of symbols: qpsk, 8psk, 16apsk or 32apsk; dvbs2x has further ones, such as pi/2-bpsk of VL-SNR frames
)";

const char* const ldpc_ppdu_options = R"(
psdu-bytes    int    -     length in bytes of the PSDU of Wi-Fi PPDUs, 1 to 65535: a frame is a PPDU of --standard wifi and --rate, and --frame-size has no effect
symbol-bits   int    -     number of coded bits per OFDM symbol of PPDUs, 1 to 65535
stbc          flag   -     use space-time block coding, with which PPDUs have an even number of OFDM symbols
)";

namespace {

// Parses positions and ranges of positions, such as "0-53,60".
std::vector<std::uint32_t> positions(const option_values& values, const std::string& name)
{
    std::vector<std::uint32_t> list;
    std::istringstream text(values.text(name));
    for (std::string item; std::getline(text, item, ',');) {
        const auto dash = item.find('-');
        const std::string ends[] = { item.substr(0, dash),
                                     dash == item.npos ? item : item.substr(dash + 1) };
        for (const auto& end : ends) {
            if (end.empty() || end.size() > 7 ||
                end.find_first_not_of("0123456789") != end.npos) {
                refuse_option(
                    name, '"' + item + '"', "positions and ranges such as 0-53,60");
            }
        }
        const auto first = std::stoul(ends[0]), last = std::stoul(ends[1]);
        if (last < first || last > ldpc_code::max_bits) {
            refuse_option(name,
                          '"' + item + '"',
                          "ascending ranges up to " +
                              std::to_string(ldpc_code::max_bits));
        }
        for (auto p = first; p <= last; ++p) {
            list.push_back(std::uint32_t(p));
        }
    }
    return list;
}

// Returns the constellation and the rate that --modcod names. Without --modcod, returns
// the values of --constellation and --rate. The value of --rate may be a MODCOD too.
std::pair<std::string, std::string> modcod_of(const option_values& values)
{
    const auto rate = values.text("rate"), name = values.text("constellation");
    const auto given = values.has("modcod") ? values.text("modcod") : rate;
    const auto modcod =
        values.has("constellation") ? demap::split_modcod(given) : std::nullopt;
    if (values.has("modcod") && !modcod) {
        refuse_option(
            "modcod", '"' + given + '"', "names such as \"QPSK 1/2\" and \"8PSK 3/4\"");
    }
    const auto found = modcod.value_or(std::make_pair(name, rate));
    // Other options must agree with the MODCOD.
    const auto require_same = [&](const char* option, const std::string& value) {
        const auto text = values.text(option);
        if (modcod && values.given(option) && folded(text) != folded(value) &&
            demap::split_modcod(text) != modcod) {
            refuse_option(option,
                          '"' + text + '"',
                          '"' + value + "\" of the MODCOD \"" + given + '"');
        }
    };
    require_same("rate", found.second);
    require_same("constellation", found.first);
    return found;
}

} // namespace

std::optional<wifi_ppdu> wifi_ppdu_of(const option_values& values)
{
    const bool given = values.has("psdu-bytes");
    values.warn_unused(given, { "symbol-bits", "stbc" }, "--psdu-bytes");
    if (!given) {
        return {};
    }
    const auto bytes = values.text("psdu-bytes");
    for (const char* other : { "code-file", "punctured", "shortened", "modcod" }) {
        if (values.has(other)) {
            throw usage_error("--psdu-bytes is " + bytes +
                              ": it is allowed only without --" + other);
        }
    }
    if (folded(values.text("standard")) != "wifi") {
        throw usage_error("--psdu-bytes is " + bytes +
                          ": it is allowed only with --standard wifi");
    }
    if (!values.has("symbol-bits")) {
        throw usage_error("--psdu-bytes is " + bytes + ": it requires --symbol-bits");
    }
    return wifi_ppdu(values.integer("psdu-bytes", 1, wifi_ppdu::max_psdu_bytes),
                     values.integer("symbol-bits", 1, wifi_ppdu::max_symbol_bits),
                     values.text("rate"),
                     values.has("stbc"));
}

ldpc_code ldpc_code_of(const option_values& values)
{
    const auto file = values.text("code-file");
    const auto rate = modcod_of(values).second;
    auto code = file.empty() ? ldpc_code::standard(values.text("standard"),
                                                   values.text("frame-size"),
                                                   rate)
                             : ldpc_code::from_file(file);
    values.warn_unused(file.empty(),
                       { "standard", "frame-size", "rate", "modcod" },
                       "codes without --code-file");
    const auto punctured = positions(values, "punctured");
    const auto shortened = positions(values, "shortened");
    if (!punctured.empty() || !shortened.empty()) {
        code = code.with_positions(punctured, shortened);
    }
    const auto place = values.text("message-positions");
    if (place != "systematic") {
        if (file.empty()) {
            refuse_option("message-positions",
                          '"' + place + '"',
                          "systematic unless --code-file is given");
        }
        const bool list = !place.empty() && place[0] >= '0' && place[0] <= '9';
        code = list ? code.with_message_positions(positions(values, "message-positions"))
                    : code.with_message_positions(place);
    }
    if (!code.warning().empty()) {
        std::cerr << "gpufec: WARNING: " << code.warning() << "\n";
    }
    return code;
}

dvb_names::dvb_names(const option_values& values, const ldpc_code& code)
    : constellation(modcod_of(values).first)
{
    const auto& name = code.name();
    const auto first = name.find(' '), last = name.rfind(' ');
    for (const char* other : { "code-file", "punctured", "shortened" }) {
        is_dvb = is_dvb && !values.has(other);
    }
    if (is_dvb) {
        standard = name.substr(0, first);
        frame_size = name.substr(first + 1, last - first - 1);
        rate = name.substr(last + 1);
    }
}

demap::constellation dvb_names::points(const std::string& option,
                                       const std::string& value) const
{
    if (standard != "dvbs2" && standard != "dvbs2x") {
        refuse(
            option,
            '"' + value + '"',
            "it is allowed only with --standard dvbs2 and dvbs2x, without --code-file, "
            "--punctured and --shortened");
    }
    return demap::make_constellation(constellation, rate, frame_size, standard);
}

bool has_symbols(const option_values& values)
{
    return values.text("soft-input").rfind("symbols", 0) == 0;
}

namespace {

// Sets the options of symbol input, which only the command decode has.
void set_symbols(const option_values& values, ldpc_options& o)
{
    const dvb_names names(values, o.codes[0]);
    const auto format = values.text("soft-input");
    const auto points = names.points("soft_input", format);
    o.symbols = format == "symbols"     ? ldpc_symbols::float32
                : format == "symbols16" ? ldpc_symbols::int16
                                        : ldpc_symbols::int8;
    o.demapper = ldpc_demapper_from_string(values.text("demapper"));
    o.constellations = { { points.name, names.rate, names.frame_size } };
}

// Warns of options that have no effect because of the values of other options.
void warn_unused(const option_values& values, const ldpc_options& o)
{
    const bool symbols = o.symbols != ldpc_symbols::none;
    const bool soft = o.soft != ldpc_soft_output::none;
    const auto output = values.text("output");
    values.warn_unused(
        symbols, { "esn0-db", "demapper", "constellation" }, "--soft-input symbols");
    values.warn_unused(!symbols || soft,
                       { "positive-bit" },
                       "--soft-input int8, float and uint8, and --output of LLRs");
    values.warn_unused((!symbols && o.format != llr_format::float32) || soft,
                       { "llr-scale" },
                       "--soft-input int8 and uint8, and --output of LLRs");
    values.warn_unused(!symbols && o.format == llr_format::float32,
                       { "llr-factor" },
                       "--soft-input float");
    values.warn_unused(o.algorithm == ldpc_algorithm::offset_min_sum,
                       { "offset" },
                       "--algorithm offset_min_sum");
    values.warn_unused(o.algorithm == ldpc_algorithm::normalized_min_sum,
                       { "normalization" },
                       "--algorithm normalized_min_sum");
    values.warn_unused(output == "bbframe", { "descramble" }, "--output bbframe");
}

} // namespace

ldpc_options parse_ldpc(const option_values& values, const std::optional<wifi_ppdu>& ppdu)
{
    ldpc_options o;
    if (ppdu) {
        o.codes = ppdu->codes();
    } else {
        o.codes = { ldpc_code_of(values) };
    }
    if (values.has("constellation") && has_symbols(values)) {
        set_symbols(values, o);
    } else {
        o.format = llr_format_from_string(values.text("soft-input"));
    }
    o.llr_scale = values.real("llr-scale");
    o.algorithm = ldpc_algorithm_from_string(values.text("algorithm"));
    o.precision = ldpc_precision_from_string(values.text("precision"));
    o.schedule = ldpc_schedule_from_string(values.text("schedule"));
    o.max_iterations = values.integer("max-iterations");
    o.early_stop = values.text("early-stop") == "true";
    o.offset = values.real("offset");
    o.normalization = values.real("normalization");
    const auto output = values.text("output");
    o.codeword = output == "codeword";
    o.soft = output == "llr"         ? ldpc_soft_output::posterior
             : output == "extrinsic" ? ldpc_soft_output::extrinsic
                                     : ldpc_soft_output::none;
    o.positive_bit = values.integer("positive-bit");
    values.set_run_options(o);
    warn_unused(values, o);
    return o;
}

} // namespace gr::gpufec
