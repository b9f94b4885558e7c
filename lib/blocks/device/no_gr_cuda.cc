// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Replaces gr_cuda.cc in a build without gr-cuda. */

#include "gr_cuda.h"
#include <stdexcept>

namespace gr::gpufec::gr_cuda {

gr::buffer_type device_buffer()
{
    throw std::invalid_argument(
        "io is not \"host\": the only allowed value is \"host\", because gr-cuda was not "
        "found when this gr-gpufec was configured, so that its ports cannot be in device "
        "memory");
}

bool wait_for_items(gr::buffer&, void*) { return false; }
bool wait_for_space(gr::buffer&, void*) { return false; }

} // namespace gr::gpufec::gr_cuda
