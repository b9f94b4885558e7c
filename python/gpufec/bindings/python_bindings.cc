// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The Python module: everything that gnuradio.gpufec shows. */

#include <pybind11/pybind11.h>

namespace py = pybind11;

void bind_blocks(py::module& m); // made from the headers
void bind_sync_map(py::module& m);
void bind_viterbi(py::module& m);

PYBIND11_MODULE(gpufec_python, m)
{
    // Base classes of the blocks.
    py::module::import("gnuradio.gr");

    m.attr("__version__") = GPUFEC_VERSION;
    bind_blocks(m);
    bind_sync_map(m);
    bind_viterbi(m);
}
