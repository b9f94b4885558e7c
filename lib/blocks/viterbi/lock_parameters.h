// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The parameters of the phase search in blocks and in Python's array decoders. */

#ifndef INCLUDED_GPUFEC_BLOCKS_LOCK_PARAMETERS_H
#define INCLUDED_GPUFEC_BLOCKS_LOCK_PARAMETERS_H

#include "blocks/common/parameters.h"
#include <gnuradio/gpufec/viterbi.h>
#include <string>
#include <vector>

namespace gr::gpufec {

//! Values of the parameters. \c preset is the name of the decoder's own code, or "".
struct lock_parameters {
    std::string lock, constellation;
    std::vector<std::string> presets;
    int memory;
    std::string first_item, preset;
};

//! Sets the lock options.
//! \throws std::invalid_argument
inline void set_lock_options(viterbi_options& options, const lock_parameters& given)
{
    options.lock = known_name("lock", given.lock, { "off", "auto" });
    options.lock_constellation = known_name(
        "lock_constellation", given.constellation, { "bpsk", "qpsk", "oqpsk" });
    options.lock_first_item =
        known_name("lock_first_item", given.first_item, { "i", "q" });
    for (const auto& name : given.presets) {
        options.lock_presets.push_back(find_conv_preset(name).name);
    }
    options.lock_preset =
        given.preset.empty() ? given.preset : find_conv_preset(given.preset).name;
    options.lock_memory = not_negative("lock_memory", given.memory);
}

//! Returns the names of the lock options that differ from their defaults, separated by
//! commas; "" if none does.
inline std::string given_lock_options(const viterbi_options& o)
{
    const viterbi_options initial{ o.code };
    std::string names;
    const auto add = [&](const char* name, bool differs) {
        names += !differs ? "" : (names.empty() ? "" : ", ") + std::string(name);
    };
    add("lock_constellation", o.lock_constellation != initial.lock_constellation);
    add("lock_first_item", o.lock_first_item != initial.lock_first_item);
    add("lock_presets", !o.lock_presets.empty());
    add("lock_memory", o.lock_memory != initial.lock_memory);
    return names;
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_LOCK_PARAMETERS_H */
