// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Checks the options of a stream decoder, and computes its setup and batch sizes. */

#include "common/refuse.h"
#include "ldpc/stream/traits.h"
#include "setup.h"
#include <algorithm>

namespace gr::gpufec::ldpc {

std::optional<demap::symbol_format> make_symbol_format(ldpc_symbols symbols)
{
    switch (symbols) {
    case ldpc_symbols::float32:
        return demap::symbol_format::float32;
    case ldpc_symbols::int16:
        return demap::symbol_format::int16;
    case ldpc_symbols::int8:
        return demap::symbol_format::int8;
    default:
        return {};
    }
}

demap::method make_method(ldpc_demapper demapper)
{
    return demapper == ldpc_demapper::max_log ? demap::method::max_log
                                              : demap::method::log_map;
}

setup make_setup(const ldpc_options& o)
{
    require(!o.codes.empty(), "number of codes", o.codes.size(), "1 or more");
    require(o.max_iterations >= 1 && o.max_iterations <= 1000,
            "max_iterations",
            o.max_iterations,
            "1 to 1000");
    check_positive_bit(o.positive_bit);
    setup s;
    s.codes = o.codes;
    s.schedule = o.schedule;
    s.algorithm = o.algorithm;
    s.precision = o.precision;
    s.offset = o.offset;
    s.normalization = o.normalization;
    s.max_iterations = o.max_iterations;
    s.early_stop = o.early_stop;
    s.format = o.format;
    const bool soft = o.soft != ldpc_soft_output::none;
    s.message_only = !o.codeword && !o.keep_codeword;
    s.bits = !soft || o.keep_codeword;
    s.soft = soft || !o.keep_soft ? o.soft : ldpc_soft_output::posterior;
    const bool message = !o.codeword && !soft;
    if (o.symbols != ldpc_symbols::none) {
        s.format = llr_format::int8;
        s.symbols = make_symbol_format(o.symbols);
        s.demapper = make_method(o.demapper);
        require(!o.constellations.empty(),
                "number of constellations",
                o.constellations.size(),
                "1 or more");
        for (const auto& c : o.constellations) {
            const auto made = demap::make_constellation(c.name, c.rate, c.frame_size);
            const auto same = std::find_if(
                s.constellations.begin(), s.constellations.end(), [&](const auto& other) {
                    return other.points == made.points && other.columns == made.columns;
                });
            s.constellation_of.push_back(same - s.constellations.begin());
            if (same == s.constellations.end()) {
                s.constellations.push_back(made);
            }
        }
        for (const auto& code : o.codes) {
            if (code.sent() != code.n() || !code.sent_positions().empty()) {
                refuse("code",
                       code.name(),
                       "symbols require a code without punctured and shortened bits");
            }
        }
    }
    for (const auto& code : o.codes) {
        s.rule(code); // checks the ranges of offset and normalization
        if (message && !code.can_encode()) {
            refuse("output",
                   "message",
                   "the message positions of " + code.name() +
                       " are not known, so the output must be codeword");
        }
        if (message && code.k() == 0) {
            refuse("output",
                   "message",
                   code.name() +
                       " has no message bits (K = 0), so the output must be codeword");
        }
    }
    return s;
}

batch_limits setup::limits(std::size_t codewords) const
{
    std::size_t input = 0, output = 0, caller_format = 0;
    for (const auto& code : codes) {
        input = std::max(input, frame_input_bytes(code));
        output = std::max(output, frame_output_bytes(code));
        caller_format = std::max<std::size_t>(caller_format, caller_values(code, 0));
        for (unsigned c = 1; c < constellations.size(); ++c) {
            caller_format = std::max<std::size_t>(caller_format, caller_values(code, c));
        }
    }
    caller_format = caller_format * caller_value_bytes();
    if (symbols) { // each frame begins at a multiple of 16 bytes
        caller_format = (caller_format + 15) / 16 * 16;
        input = caller_format;
    }
    batch_limits l;
    l.work_items = codewords;
    l.input_bytes = job::values_offset(codewords) + codewords * input;
    l.output_bytes = codewords * output;
    l.status_bytes = codewords * sizeof(ldpc_status);
    l.table_bytes = job::values_offset(codewords);
    l.caller_item_bytes = codewords * caller_format;
    return l;
}

std::string traits::describe(const setup& s)
{
    const auto more = s.codes.size() - 1;
    return printable(s.codes[0].name()) +
           (more ? " and " + std::to_string(more) + " more codes" : "");
}

} // namespace gr::gpufec::ldpc
