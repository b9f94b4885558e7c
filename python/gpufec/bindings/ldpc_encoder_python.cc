// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The build compares this hash with the header; scripts/refresh-binding-hashes sets it.
// BINDTOOL_GEN_AUTOMATIC(0)
// BINDTOOL_USE_PYGCCXML(0)
// BINDTOOL_HEADER_FILE(ldpc_encoder.h)
// BINDTOOL_HEADER_FILE_HASH(8dd9d44fab4b82a07b25f83cd801e5e5)

/* Python binding of the block ldpc_encoder. */

#include <pybind11/complex.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;

#include <gnuradio/gpufec/ldpc_encoder.h>
// pydoc.h is automatically generated in the build directory
#include <ldpc_encoder_pydoc.h>

void bind_ldpc_encoder(py::module& m)
{
    using ldpc_encoder = gr::gpufec::ldpc_encoder;

    py::class_<ldpc_encoder, gr::block, gr::basic_block, std::shared_ptr<ldpc_encoder>>(
        m, "ldpc_encoder", DOC(gr, gpufec, ldpc_encoder))
        .def(py::init(&ldpc_encoder::make),
             py::arg("standard") = "dvbs2",
             py::arg("frame_size") = "normal",
             py::arg("rate") = "1/2",
             py::arg("code_file") = "",
             py::arg("packed_input") = false,
             py::arg("packed_output") = false,
             DOC(gr, gpufec, ldpc_encoder, make));
}
