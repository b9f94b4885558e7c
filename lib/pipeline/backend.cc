/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include <gnuradio/gpufec/backend.h>
#include <stdexcept>

namespace gr {
namespace gpufec {

backend backend_from_string(const std::string& name)
{
    if (name == "auto") {
        return backend::automatic;
    }
    if (name == "cuda") {
        return backend::cuda;
    }
    if (name == "cpu") {
        return backend::cpu;
    }
    throw std::invalid_argument("backend is \"" + name +
                                "\": allowed are auto, cuda and cpu");
}

} // namespace gpufec
} // namespace gr
