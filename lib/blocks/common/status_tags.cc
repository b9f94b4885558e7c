// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Converts the parameter status_tags. */

#include "common/refuse.h"
#include <gnuradio/gpufec/status_tags.h>

namespace gr::gpufec {

status_tags status_tags_from_string(const std::string& name)
{
    return choose<status_tags>("status_tags",
                               name,
                               { { "all", status_tags::all },
                                 { "failures", status_tags::failures },
                                 { "none", status_tags::none } });
}

} // namespace gr::gpufec
