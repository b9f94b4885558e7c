// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Binds the presets of convolutional codes, and the conversion of gr-fec's polynomials,
 * to Python. */

#include "docstrings.h" // generated from the headers

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <gnuradio/gpufec/viterbi.h>

namespace py = pybind11;

void bind_viterbi(py::module& m)
{
    using preset = gr::gpufec::conv_preset;

    py::class_<preset>(m, "conv_preset", py::module_local(), doc::conv_preset)
        .def_readonly("name", &preset::name, doc::conv_preset_name)
        .def_readonly("title", &preset::title, doc::conv_preset_title)
        .def_readonly("source", &preset::source, doc::conv_preset_source)
        .def_readonly("constraint_length",
                      &preset::constraint_length,
                      doc::conv_preset_constraint_length)
        .def_readonly("polynomials", &preset::polynomials, doc::conv_preset_polynomials)
        .def_readonly("puncturing", &preset::puncturing, doc::conv_preset_puncturing)
        .def_property_readonly(
            "termination",
            [](const preset& p) { return gr::gpufec::termination_name(p.termination); },
            doc::conv_preset_termination)
        .def("__repr__", [](const preset& p) {
            return "<conv_preset " + p.name + ": " + p.title + ">";
        });

    m.def("conv_presets", &gr::gpufec::conv_presets, doc::conv_presets);
    m.def("polynomials_from_gr_fec",
          &gr::gpufec::polynomials_from_gr_fec,
          py::arg("polynomials"),
          py::arg("constraint_length") = 7,
          doc::polynomials_from_gr_fec);
    m.def("find_conv_preset",
          &gr::gpufec::find_conv_preset,
          py::arg("name"),
          py::return_value_policy::reference,
          doc::find_conv_preset);
}
