// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Defines the Python module of the blocks. Codes and arrays are in the module _gpufec. */

#include <pybind11/pybind11.h>

namespace py = pybind11;

void bind_blocks(py::module& m); // generated from the headers

PYBIND11_MODULE(gpufec_python, m)
{
    // Registers the base classes of the blocks.
    py::module::import("gnuradio.gr");

    bind_blocks(m);
}
