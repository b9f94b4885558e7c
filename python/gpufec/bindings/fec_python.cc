// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Binds the decoders for gr-fec's blocks to Python. This module is separate, so that
 * gnuradio.fec is loaded only if these decoders are used. */

#include "docstrings.h" // generated from the headers
#include <gnuradio/gpufec/fec_ldpc_decoder.h>
#include <gnuradio/gpufec/fec_viterbi_decoder.h>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using gr::fec::generic_decoder;

PYBIND11_MODULE(gpufec_fec_python, m)
{
    py::module::import("gnuradio.fec"); // this import defines the base class

    // py::multiple_inheritance() is needed, because generic_decoder is a virtual base
    // class and its address differs from the object's.
    using viterbi = gr::gpufec::fec_viterbi_decoder;
    py::class_<viterbi, generic_decoder, std::shared_ptr<viterbi>> viterbi_class(
        m, "fec_viterbi_decoder", py::multiple_inheritance(), doc::fec_viterbi_decoder);
    const auto bind_viterbi = [](auto&& def) {
        def(py::arg("frame_size") = 2048,
            py::arg("constraint_length") = py::none(),
            py::arg("polynomials") = py::none(),
            py::arg("puncturing") = py::none(),
            py::arg("termination") = py::none(),
            py::arg("soft_scale") = 32.0f,
            py::arg("backend") = "cpu",
            py::arg("device") = 0,
            py::arg("preset") = "",
            py::arg("positive_bit") = 1,
            doc::fec_viterbi_decoder_make);
    };
    bind_viterbi([&](auto&&... a) { viterbi_class.def(py::init(&viterbi::make), a...); });
    bind_viterbi(
        [&](auto&&... a) { viterbi_class.def_static("make", &viterbi::make, a...); });
    viterbi_class.def("active_backend",
                      &viterbi::active_backend,
                      doc::fec_viterbi_decoder_active_backend);

    using ldpc = gr::gpufec::fec_ldpc_decoder;
    py::class_<ldpc, generic_decoder, std::shared_ptr<ldpc>> ldpc_class(
        m, "fec_ldpc_decoder", py::multiple_inheritance(), doc::fec_ldpc_decoder);
    const auto bind_ldpc = [](auto&& def) {
        def(py::arg("standard") = "dvbs2",
            py::arg("frame_size") = "normal",
            py::arg("rate") = "1/2",
            py::arg("code_file") = "",
            py::arg("algorithm") = "offset_min_sum",
            py::arg("precision") = "int8",
            py::arg("max_iterations") = 25,
            py::arg("backend") = "cpu",
            py::arg("device") = 0,
            py::arg("positive_bit") = 0,
            py::arg("message_positions") = "systematic",
            doc::fec_ldpc_decoder_make);
    };
    bind_ldpc([&](auto&&... a) { ldpc_class.def(py::init(&ldpc::make), a...); });
    bind_ldpc([&](auto&&... a) { ldpc_class.def_static("make", &ldpc::make, a...); });
    ldpc_class
        .def(
            "active_backend", &ldpc::active_backend, doc::fec_ldpc_decoder_active_backend)
        .def("iterations", &ldpc::iterations, doc::fec_ldpc_decoder_iterations)
        .def("unsatisfied", &ldpc::unsatisfied, doc::fec_ldpc_decoder_unsatisfied);
}
