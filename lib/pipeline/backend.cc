// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "refuse.h"
#include <gnuradio/gpufec/backend.h>

namespace gr::gpufec {

backend backend_from_string(const std::string& name)
{
    return choose<backend>("backend",
                           name,
                           { { "auto", backend::automatic },
                             { "cuda", backend::cuda },
                             { "cpu", backend::cpu } });
}

} // namespace gr::gpufec
