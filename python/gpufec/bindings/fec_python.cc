// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Defines the Python module of the decoders for gr-fec's blocks. This module is separate,
 * so that gnuradio.fec is loaded only if these decoders are used. */

#include <pybind11/pybind11.h>

namespace py = pybind11;

void bind_fec_decoders(py::module& m); // generated from the headers

PYBIND11_MODULE(gpufec_fec_python, m)
{
    py::module::import("gnuradio.fec"); // this import defines the base class

    bind_fec_decoders(m);
}
