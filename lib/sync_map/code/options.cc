// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Converts the names of option values to enumerators. */

#include "common/refuse.h"
#include <gnuradio/gpufec/sync_map.h>

namespace gr::gpufec {

sync_mode sync_mode_from_string(const std::string& name)
{
    return choose<sync_mode>(
        "mode",
        name,
        { { "framed", sync_mode::framed }, { "stream", sync_mode::stream } });
}

sync_form sync_form_from_string(const std::string& name)
{
    return choose<sync_form>(
        "form",
        name,
        { { "linear", sync_form::linear }, { "corridor", sync_form::corridor } });
}

sync_precision sync_precision_from_string(const std::string& name)
{
    return choose<sync_precision>("precision",
                                  name,
                                  { { "float", sync_precision::float32 },
                                    { "double", sync_precision::float64 },
                                    { "mixed", sync_precision::mixed } });
}

sync_storage sync_storage_from_string(const std::string& name)
{
    return choose<sync_storage>("storage",
                                name,
                                { { "auto", sync_storage::automatic },
                                  { "global", sync_storage::global },
                                  { "local", sync_storage::local } });
}

sync_receiver sync_receiver_from_string(const std::string& name)
{
    return choose<sync_receiver>("receiver",
                                 name,
                                 { { "corridor", sync_receiver::corridor },
                                   { "lattice", sync_receiver::lattice },
                                   { "trellis", sync_receiver::trellis } });
}

sync_output sync_output_from_string(const std::string& name)
{
    return choose<sync_output>("output",
                               name,
                               { { "symbols", sync_output::symbols },
                                 { "posteriors", sync_output::posteriors },
                                 { "extrinsics", sync_output::extrinsics },
                                 { "llr", sync_output::llr },
                                 { "posteriors64", sync_output::posteriors64 } });
}

} // namespace gr::gpufec
