// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The build compares this hash with the header; scripts/refresh-binding-hashes sets it.
// BINDTOOL_GEN_AUTOMATIC(0)
// BINDTOOL_USE_PYGCCXML(0)
// BINDTOOL_HEADER_FILE(channel_bsid.h)
// BINDTOOL_HEADER_FILE_HASH(ccc240c4298636abaa4674600ef75bbc)

/* Python binding of the block channel_bsid. */

#include <pybind11/complex.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;

#include <gnuradio/gpufec/channel_bsid.h>
// pydoc.h is automatically generated in the build directory
#include <channel_bsid_pydoc.h>

void bind_channel_bsid(py::module& m)
{
    using channel_bsid = gr::gpufec::channel_bsid;

    py::class_<channel_bsid, gr::block, gr::basic_block, std::shared_ptr<channel_bsid>>(
        m, "channel_bsid", DOC(gr, gpufec, channel_bsid))
        .def(py::init(&channel_bsid::make),
             py::arg("p_insert") = 1e-3,
             py::arg("p_delete") = 1e-3,
             py::arg("p_substitute") = 0.0,
             py::arg("frame_bits") = 0,
             py::arg("length_tag") = "packet_len",
             py::arg("seed") = 1,
             py::arg("alphabet") = 2,
             DOC(gr, gpufec, channel_bsid, make))
        .def("set_p_insert",
             &channel_bsid::set_p_insert,
             py::arg("p_insert"),
             DOC(gr, gpufec, channel_bsid, set_p_insert))
        .def("set_p_delete",
             &channel_bsid::set_p_delete,
             py::arg("p_delete"),
             DOC(gr, gpufec, channel_bsid, set_p_delete))
        .def("set_p_substitute",
             &channel_bsid::set_p_substitute,
             py::arg("p_substitute"),
             DOC(gr, gpufec, channel_bsid, set_p_substitute));
}
