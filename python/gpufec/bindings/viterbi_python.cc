// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The build compares this hash with the header; scripts/refresh-binding-hashes sets it.
// BINDTOOL_GEN_AUTOMATIC(0)
// BINDTOOL_USE_PYGCCXML(0)
// BINDTOOL_HEADER_FILE(viterbi.h)
// BINDTOOL_HEADER_FILE_HASH(42a2072e4404e2fc8fc6a7782351c570)

/* Python binding of the codes of the standards. */

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;

#include <gnuradio/gpufec/viterbi.h>
// pydoc.h is automatically generated in the build directory
#include <viterbi_pydoc.h>

namespace {

const char* name_of(gr::gpufec::termination ends)
{
    switch (ends) {
    case gr::gpufec::termination::streaming:
        return "streaming";
    case gr::gpufec::termination::terminated:
        return "terminated";
    case gr::gpufec::termination::truncated:
        return "truncated";
    case gr::gpufec::termination::tailbiting:
        return "tailbiting";
    }
    return "";
}

} // namespace

void bind_viterbi(py::module& m)
{
    using preset = gr::gpufec::conv_preset;

    py::class_<preset>(m, "conv_preset", DOC(gr, gpufec, conv_preset))
        .def_readonly("name", &preset::name)
        .def_readonly("title", &preset::title)
        .def_readonly("source", &preset::source)
        .def_readonly("constraint_length", &preset::constraint_length)
        .def_readonly("polynomials", &preset::polynomials)
        .def_readonly("puncturing", &preset::puncturing)
        .def_property_readonly("termination",
                               [](const preset& p) { return name_of(p.ends); })
        .def("__repr__", [](const preset& p) {
            return "<conv_preset " + p.name + ": " + p.title + ">";
        });

    m.def("conv_presets", &gr::gpufec::conv_presets, DOC(gr, gpufec, conv_presets));
}
