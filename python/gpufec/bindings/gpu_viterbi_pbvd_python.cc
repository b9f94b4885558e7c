// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The build compares this hash with the header; scripts/refresh-binding-hashes sets it.
// BINDTOOL_GEN_AUTOMATIC(0)
// BINDTOOL_USE_PYGCCXML(0)
// BINDTOOL_HEADER_FILE(gpu_viterbi_pbvd.h)
// BINDTOOL_HEADER_FILE_HASH(893adfe71040cb0e0105ba3006519444)

/* Python binding of the block gpu_viterbi_pbvd. */

#include <pybind11/complex.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;

#include <gnuradio/gpufec/gpu_viterbi_pbvd.h>
// pydoc.h is automatically generated in the build directory
#include <gpu_viterbi_pbvd_pydoc.h>

#define D(...) DOC(gr, gpufec, gpu_viterbi_pbvd, __VA_ARGS__)

void bind_gpu_viterbi_pbvd(py::module& m)
{
    using decoder = gr::gpufec::gpu_viterbi_pbvd;

    py::class_<decoder, gr::block, gr::basic_block, std::shared_ptr<decoder>>(
        m, "gpu_viterbi_pbvd", DOC(gr, gpufec, gpu_viterbi_pbvd))
        .def(py::init(&decoder::make),
             py::arg("constraint_length") = 7,
             py::arg("polynomials") = std::vector<int>{ 0171, 0133 },
             py::arg("puncturing") = "",
             py::arg("termination") = "streaming",
             py::arg("frame_bits") = 0,
             py::arg("soft_input") = "int8",
             py::arg("soft_scale") = 32.0f,
             py::arg("packed_output") = true,
             py::arg("decode_length") = 0,
             py::arg("overlap") = 0,
             py::arg("batch") = 0,
             py::arg("slots") = 3,
             py::arg("max_latency_ms") = 50.0,
             py::arg("backend") = "auto",
             py::arg("device") = 0,
             py::arg("threads") = 1,
             py::arg("cuda_kernel") = "auto",
             py::arg("length_tag_key") = "packet_len",
             py::arg("devices") = std::vector<int>{},
             D(make))
        .def("active_backend", &decoder::active_backend, D(active_backend))
        .def("batch", &decoder::batch, D(batch))
        .def("decode_length", &decoder::decode_length, D(decode_length))
        .def("overlap", &decoder::overlap, D(overlap))
        .def("set_soft_scale",
             &decoder::set_soft_scale,
             py::arg("soft_scale"),
             D(set_soft_scale))
        .def("soft_scale", &decoder::soft_scale, D(soft_scale))
        .def("set_max_latency_ms",
             &decoder::set_max_latency_ms,
             py::arg("max_latency_ms"),
             D(set_max_latency_ms))
        .def("max_latency_ms", &decoder::max_latency_ms, D(max_latency_ms));
}
