// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The build compares this hash with the header; scripts/refresh-binding-hashes sets it.
// BINDTOOL_GEN_AUTOMATIC(0)
// BINDTOOL_USE_PYGCCXML(0)
// BINDTOOL_HEADER_FILE(sync_encoder.h)
// BINDTOOL_HEADER_FILE_HASH(c4639b8f4a737ae1a462d0fb9475e55c)

/* Python binding of the block sync_encoder. */

#include <pybind11/complex.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "codebook.h"

namespace py = pybind11;

#include <gnuradio/gpufec/sync_encoder.h>
// pydoc.h is automatically generated in the build directory
#include <sync_encoder_pydoc.h>

void bind_sync_encoder(py::module& m)
{
    using sync_encoder = gr::gpufec::sync_encoder;

    py::class_<sync_encoder, gr::block, gr::basic_block, std::shared_ptr<sync_encoder>>(
        m, "sync_encoder", DOC(gr, gpufec, sync_encoder))
        .def(py::init([](const py::object& codebook,
                         int q,
                         int n,
                         int frame_symbols,
                         const std::string& length_tag,
                         int alphabet) {
                 const auto words = words_of(codebook, q, n, frame_symbols, alphabet);
                 return sync_encoder::make(
                     words, q, n, frame_symbols, length_tag, alphabet);
             }),
             py::arg("codebook"),
             py::arg("q") = 32,
             py::arg("n") = 10,
             py::arg("frame_symbols") = 210,
             py::arg("length_tag") = "packet_len",
             py::arg("alphabet") = 2,
             DOC(gr, gpufec, sync_encoder, make));
}
