// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The parameters that select an LDPC code in blocks and in Python's array decoders. */

#ifndef INCLUDED_GPUFEC_BLOCKS_LDPC_LDPC_CODE_OF_H
#define INCLUDED_GPUFEC_BLOCKS_LDPC_LDPC_CODE_OF_H

#include "blocks/common/parameters.h"
#include "common/names.h"
#include <gnuradio/gpufec/ldpc.h>
#include <gnuradio/gpufec/wifi.h>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace gr::gpufec {

inline std::vector<std::uint32_t> positions_of(const std::string& name,
                                               const std::vector<int>& positions)
{
    std::vector<std::uint32_t> list;
    list.reserve(positions.size());
    for (const auto position : positions) {
        list.push_back(not_negative(name, position, "positions from 0"));
    }
    return list;
}

//! Value of the parameter message_positions: the name of a rule, or the position of each
//! message bit in the codeword.
using message_place_parameter = std::variant<std::string, std::vector<int>>;

//! Returns \p code with its message bits at \p message_positions.
//! \throws std::invalid_argument if the code does not allow them
inline ldpc_code with_message_at(const ldpc_code& code,
                                 const message_place_parameter& message_positions)
{
    if (const auto* const list = std::get_if<std::vector<int>>(&message_positions)) {
        return code.with_message_positions(positions_of("message_positions", *list));
    }
    const auto& rule = std::get<std::string>(message_positions);
    return rule == "systematic" ? code : code.with_message_positions(rule);
}

//! The parameters that select a code.
struct ldpc_code_parameters {
    std::string standard, frame_size, rate, code_file;
    std::vector<int> punctured, shortened;
    message_place_parameter message_positions;
    int psdu_bytes = 0, symbol_bits = 0;
    bool stbc = false;
};

//! Returns the code that the parameters select.
//! \throws std::invalid_argument
inline ldpc_code ldpc_code_of(const ldpc_code_parameters& p)
{
    if (p.code_file.empty() &&
        p.message_positions != message_place_parameter("systematic")) {
        refuse(
            "message_positions",
            p.message_positions.index()
                ? "a list"
                : '"' + std::get<std::string>(p.message_positions) + '"',
            "the only allowed value is \"systematic\"; other values require a code_file");
    }
    auto code = p.code_file.empty()
                    ? ldpc_code::standard(p.standard, p.frame_size, p.rate)
                    : ldpc_code::from_file(p.code_file);
    if (!p.punctured.empty() || !p.shortened.empty()) {
        code = code.with_positions(positions_of("punctured", p.punctured),
                                   positions_of("shortened", p.shortened));
    }
    return with_message_at(code, p.message_positions);
}

//! Returns the format of the PPDUs that parameters or options of a block select; nothing
//! if psdu_bytes is 0.
//! \throws std::invalid_argument
template <class Options>
std::optional<wifi_ppdu> wifi_ppdu_of(const Options& given)
{
    if (given.psdu_bytes == 0) {
        if (given.symbol_bits != 0 || given.stbc) {
            refuse("psdu_bytes",
                   0,
                   "allowed values are 1 to 65535 with symbol_bits or stbc");
        }
        return {};
    }
    if (folded(given.standard) != "wifi" || !given.code_file.empty() ||
        !given.punctured.empty() || !given.shortened.empty() ||
        given.message_positions != message_place_parameter("systematic")) {
        refuse("psdu_bytes",
               given.psdu_bytes,
               "it is allowed only with standard wifi, but not with code_file, "
               "punctured, shortened or message_positions");
    }
    return wifi_ppdu(not_negative("psdu_bytes", given.psdu_bytes, "1 to 65535"),
                     not_negative("symbol_bits", given.symbol_bits, "1 to 65535"),
                     given.rate,
                     given.stbc);
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_LDPC_LDPC_CODE_OF_H */
