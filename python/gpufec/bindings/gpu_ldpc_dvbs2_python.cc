// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The build compares this hash with the header; scripts/refresh-binding-hashes sets it.
// BINDTOOL_GEN_AUTOMATIC(0)
// BINDTOOL_USE_PYGCCXML(0)
// BINDTOOL_HEADER_FILE(gpu_ldpc_dvbs2.h)
// BINDTOOL_HEADER_FILE_HASH(610da792e736ff5c493da59f51621b9e)

/* Python binding of the block gpu_ldpc_dvbs2. */

#include <pybind11/complex.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;

#include <gnuradio/gpufec/gpu_ldpc_dvbs2.h>
// pydoc.h is automatically generated in the build directory
#include <gpu_ldpc_dvbs2_pydoc.h>

void bind_gpu_ldpc_dvbs2(py::module& m)
{
    using gpu_ldpc_dvbs2 = gr::gpufec::gpu_ldpc_dvbs2;

    py::class_<gpu_ldpc_dvbs2,
               gr::block,
               gr::basic_block,
               std::shared_ptr<gpu_ldpc_dvbs2>>(
        m, "gpu_ldpc_dvbs2", DOC(gr, gpufec, gpu_ldpc_dvbs2))
        .def(py::init(&gpu_ldpc_dvbs2::make),
             py::arg("standard") = "dvbs2",
             py::arg("frame_size") = "normal",
             py::arg("rate") = "1/2",
             py::arg("code_file") = "",
             py::arg("soft_input") = "int8",
             py::arg("llr_scale") = 2.0f,
             py::arg("algorithm") = "offset_min_sum",
             py::arg("precision") = "int8",
             py::arg("max_iterations") = 25,
             py::arg("early_stop") = true,
             py::arg("output") = "message",
             py::arg("packed_output") = true,
             py::arg("batch") = 0,
             py::arg("slots") = 3,
             py::arg("max_latency_ms") = 50,
             py::arg("backend") = "auto",
             py::arg("device") = 0,
             py::arg("threads") = 1,
             py::arg("schedule") = "layered",
             py::arg("offset") = -1.0,
             py::arg("normalization") = -1.0,
             py::arg("acm") = false,
             py::arg("named_codes") = std::map<std::string, std::string>(),
             py::arg("llr_pdu") = false,
             py::arg("devices") = std::vector<int>(),
             DOC(gr, gpufec, gpu_ldpc_dvbs2, make))
        .def("active_backend",
             &gpu_ldpc_dvbs2::active_backend,
             DOC(gr, gpufec, gpu_ldpc_dvbs2, active_backend))
        .def("batch", &gpu_ldpc_dvbs2::batch, DOC(gr, gpufec, gpu_ldpc_dvbs2, batch))
        .def("set_code",
             &gpu_ldpc_dvbs2::set_code,
             py::arg("name"),
             DOC(gr, gpufec, gpu_ldpc_dvbs2, set_code))
        .def("set_llr_scale",
             &gpu_ldpc_dvbs2::set_llr_scale,
             py::arg("llr_scale"),
             DOC(gr, gpufec, gpu_ldpc_dvbs2, set_llr_scale))
        .def("set_max_latency_ms",
             &gpu_ldpc_dvbs2::set_max_latency_ms,
             py::arg("max_latency_ms"),
             DOC(gr, gpufec, gpu_ldpc_dvbs2, set_max_latency_ms));
}
