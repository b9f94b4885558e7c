// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The build compares this hash with the header; scripts/refresh-binding-hashes sets it.
// BINDTOOL_GEN_AUTOMATIC(0)
// BINDTOOL_USE_PYGCCXML(0)
// BINDTOOL_HEADER_FILE(conv_encoder.h)
// BINDTOOL_HEADER_FILE_HASH(6c2d0e7566f70c6bbdc656a4c3a7bfcb)

/* Python binding of the block conv_encoder. */

#include <pybind11/complex.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;

#include <gnuradio/gpufec/conv_encoder.h>
// pydoc.h is automatically generated in the build directory
#include <conv_encoder_pydoc.h>

void bind_conv_encoder(py::module& m)
{
    using conv_encoder = gr::gpufec::conv_encoder;

    py::class_<conv_encoder, gr::block, gr::basic_block, std::shared_ptr<conv_encoder>>(
        m, "conv_encoder", DOC(gr, gpufec, conv_encoder))
        .def(py::init(&conv_encoder::make),
             py::arg("constraint_length") = 7,
             py::arg("polynomials") = std::vector<int>{ 0171, 0133 },
             py::arg("puncturing") = "",
             py::arg("termination") = "streaming",
             py::arg("frame_bits") = 0,
             py::arg("packed_input") = true,
             DOC(gr, gpufec, conv_encoder, make));
}
