// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The parameters of the phase search, for blocks and Python's array decoders. */

#ifndef INCLUDED_GPUFEC_BLOCKS_LOCK_PARAMETERS_H
#define INCLUDED_GPUFEC_BLOCKS_LOCK_PARAMETERS_H

#include "blocks/common/parameters.h"
#include <gnuradio/gpufec/viterbi.h>
#include <string>
#include <vector>

namespace gr::gpufec {

//! Sets the lock options. \p preset is the name of the decoder's own code, or "".
//! \throws std::invalid_argument
inline void set_lock_options(viterbi_options& options,
                             const std::string& lock,
                             const std::string& lock_constellation,
                             const std::vector<std::string>& lock_presets,
                             int lock_memory,
                             const std::string& lock_first_item,
                             const std::string& preset)
{
    options.lock = known_name("lock", lock, { "off", "auto" });
    options.lock_constellation =
        known_name("lock_constellation", lock_constellation, { "bpsk", "qpsk", "oqpsk" });
    options.lock_first_item =
        known_name("lock_first_item", lock_first_item, { "i", "q" });
    for (const auto& name : lock_presets) {
        options.lock_presets.push_back(find_conv_preset(name).name);
    }
    options.lock_preset = preset.empty() ? preset : find_conv_preset(preset).name;
    options.lock_memory = not_negative("lock_memory", lock_memory);
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
