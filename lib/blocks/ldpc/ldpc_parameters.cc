// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ldpc_parameters.h"

namespace gr::gpufec {

std::optional<frame_kind> kind_of_xfecframe(const pmt::pmt_t& value)
{
    if (!pmt::is_pair(value) || !pmt::is_integer(pmt::car(value)) ||
        !pmt::is_bool(pmt::cdr(value))) {
        return {};
    }
    // EN 302 307-1 table 12: QPSK, 8PSK, 16APSK, 32APSK.
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
        // A dummy PLFRAME has 36 slots of 90 symbols (5.5.1); of reserved MODCODs nobody
        // knows.
        const std::size_t symbols = modcod == 0 ? 36 * 90 : 0;
        return frame_kind{ "", "", is_short ? 16200u : 64800u, symbols };
    }
    return frame_kind{ std::string(is_short ? "short " : "normal ") + rates[modcod - 1],
                       modcod <= 11   ? "qpsk"
                       : modcod <= 17 ? "8psk"
                       : modcod <= 23 ? "16apsk"
                                      : "32apsk" };
}

namespace {

// A list that contains itself would be searched for ever.
bool has_an_end(pmt::pmt_t list)
{
    for (unsigned entries = 0; entries < 1000; ++entries) {
        if (!pmt::is_pair(list)) {
            return true;
        }
        list = pmt::cdr(list);
    }
    return false;
}

} // namespace

std::optional<frame_kind> kind_of_ldpc_code(const pmt::pmt_t& value)
{
    if (pmt::is_symbol(value)) {
        return frame_kind{ pmt::symbol_to_string(value), "" };
    }
    if (!pmt::is_dict(value) || !has_an_end(value)) {
        return {};
    }
    try {
        const auto size = pmt::dict_ref(value, pmt::mp("frame_size"), pmt::PMT_NIL);
        const auto rate = pmt::dict_ref(value, pmt::mp("rate"), pmt::PMT_NIL);
        if (pmt::is_symbol(size) && pmt::is_symbol(rate)) {
            const auto name =
                pmt::dict_ref(value, pmt::mp("constellation"), pmt::PMT_NIL);
            return frame_kind{ pmt::symbol_to_string(size) + " " +
                                   pmt::symbol_to_string(rate),
                               pmt::is_symbol(name) ? pmt::symbol_to_string(name) : "" };
        }
    } catch (const pmt::exception&) {
        // A pair that is no dictionary.
    }
    return {};
}

} // namespace gr::gpufec
