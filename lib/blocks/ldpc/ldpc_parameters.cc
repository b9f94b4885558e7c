// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Conversion of XFECFRAME and ldpc_code tags to the names of a code and a
 * constellation. */

#include "blocks/common/pmt_text.h"
#include "ldpc_parameters.h"
#include <map>

namespace gr::gpufec {

std::optional<frame_kind> kind_of_xfecframe(const pmt::pmt_t& value)
{
    if (!pmt::is_pair(value) || !pmt::is_integer(pmt::car(value)) ||
        !pmt::is_bool(pmt::cdr(value))) {
        return {};
    }
    // Code rates of MODCODs 1 to 28 in EN 302 307-1, table 12.
    static const char* const rates[] = {
        "1/4",  "1/3", "2/5",  "1/2", "3/5", "2/3", "3/4",  "4/5",  "5/6", "8/9",
        "9/10", "3/5", "2/3",  "3/4", "5/6", "8/9", "9/10", "2/3",  "3/4", "4/5",
        "5/6",  "8/9", "9/10", "3/4", "4/5", "5/6", "8/9",  "9/10",
    };
    constexpr long last = sizeof(rates) / sizeof(*rates);
    const long modcod = pmt::to_long(pmt::car(value));
    const bool is_short = pmt::to_bool(pmt::cdr(value));
    const bool known = modcod >= 1 && modcod <= last &&
                       !(is_short && std::string(rates[modcod - 1]) == "9/10");
    if (!known) {
        // MODCOD 0 is a dummy PLFRAME: 36 slots of 90 symbols (EN 302 307-1, 5.5.1). The
        // frame length of reserved MODCODs is not defined.
        const std::size_t symbols = modcod == 0 ? 36 * 90 : 0;
        return frame_kind{ "", "", is_short ? 16200u : 64800u, symbols };
    }
    return frame_kind{ std::string(is_short ? "short " : "normal ") + rates[modcod - 1],
                       modcod <= 11   ? "qpsk"
                       : modcod <= 17 ? "8psk"
                       : modcod <= 23 ? "16apsk"
                                      : "32apsk" };
}

std::optional<frame_kind> kind_of_ldpc_code(const pmt::pmt_t& value, std::string& fault)
{
    if (pmt::is_symbol(value)) {
        return frame_kind{ pmt::symbol_to_string(value), "" };
    }
    unsigned most = 1000;
    if (!pmt::is_dict(value) || !is_short(value, most)) {
        return {};
    }
    std::map<std::string, std::string> found{ { "frame_size", "" },
                                              { "rate", "" },
                                              { "constellation", "" } };
    try {
        for (auto items = pmt::dict_items(value); pmt::is_pair(items);
             items = pmt::cdr(items)) {
            const auto key = pmt_text(pmt::caar(items));
            const auto entry = pmt::cdar(items);
            const auto known = found.find(key);
            if (known == found.end() || !pmt::is_symbol(entry)) {
                fault = known == found.end()
                            ? "its key " + key +
                                  " is not one of constellation, frame_size and rate"
                            : "its " + key + " is not a string";
                return {};
            }
            known->second = pmt::symbol_to_string(entry);
        }
    } catch (const pmt::exception&) {
        return {}; // is_dict() is also true for other pairs
    }
    for (const auto* const needed : { "frame_size", "rate" }) {
        if (found[needed].empty()) {
            fault = std::string("it has no ") + needed;
            return {};
        }
    }
    return frame_kind{ found["frame_size"] + " " + found["rate"],
                       found["constellation"] };
}

} // namespace gr::gpufec
