// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The build compares this hash with the header; scripts/refresh-binding-hashes sets it.
// BINDTOOL_GEN_AUTOMATIC(0)
// BINDTOOL_USE_PYGCCXML(0)
// BINDTOOL_HEADER_FILE(gpu_sync_map.h)
// BINDTOOL_HEADER_FILE_HASH(4af4729de1620b6dd3ed13904a429267)

/* Python binding of the block gpu_sync_map. */

#include <pybind11/complex.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "codebook.h"

namespace py = pybind11;

#include <gnuradio/gpufec/gpu_sync_map.h>
// pydoc.h is automatically generated in the build directory
#include <gpu_sync_map_pydoc.h>

void bind_gpu_sync_map(py::module& m)
{
    using gpu_sync_map = gr::gpufec::gpu_sync_map;

    py::class_<gpu_sync_map, gr::block, gr::basic_block, std::shared_ptr<gpu_sync_map>>(
        m, "gpu_sync_map", DOC(gr, gpufec, gpu_sync_map))
        .def(py::init([](const py::object& codebook,
                         int q,
                         int n,
                         int frame_symbols,
                         double p_insert,
                         double p_delete,
                         double p_substitute,
                         const std::string& mode,
                         const std::string& length_tag,
                         const std::string& soft_input,
                         const std::string& output,
                         const std::string& precision,
                         const std::string& storage,
                         int batch,
                         int slots,
                         double max_latency_ms,
                         const std::string& backend,
                         int device,
                         int threads,
                         const std::string& form,
                         double exclusion,
                         int mn_min,
                         int mn_max,
                         int lookahead,
                         int acquire,
                         int alphabet,
                         const std::string& receiver,
                         int insertion_cap,
                         double state_threshold,
                         double lattice_threshold,
                         int start_first,
                         const std::vector<double>& start_prior,
                         int end_first,
                         const std::vector<double>& end_prior,
                         const std::vector<int>& devices) {
                 return gpu_sync_map::make(
                     words_of(codebook, q, n, frame_symbols, alphabet),
                     q,
                     n,
                     frame_symbols,
                     p_insert,
                     p_delete,
                     p_substitute,
                     mode,
                     length_tag,
                     soft_input,
                     output,
                     precision,
                     storage,
                     batch,
                     slots,
                     max_latency_ms,
                     backend,
                     device,
                     threads,
                     form,
                     exclusion,
                     mn_min,
                     mn_max,
                     lookahead,
                     acquire,
                     alphabet,
                     receiver,
                     insertion_cap,
                     state_threshold,
                     lattice_threshold,
                     start_first,
                     start_prior,
                     end_first,
                     end_prior,
                     devices);
             }),
             py::arg("codebook"),
             py::arg("q") = 32,
             py::arg("n") = 10,
             py::arg("frame_symbols") = 210,
             py::arg("p_insert") = 1e-3,
             py::arg("p_delete") = 1e-3,
             py::arg("p_substitute") = 0.0,
             py::arg("mode") = "framed",
             py::arg("length_tag") = "packet_len",
             py::arg("soft_input") = "hard",
             py::arg("output") = "symbols",
             py::arg("precision") = "float",
             py::arg("storage") = "auto",
             py::arg("batch") = 0,
             py::arg("slots") = 3,
             py::arg("max_latency_ms") = 50,
             py::arg("backend") = "auto",
             py::arg("device") = 0,
             py::arg("threads") = 1,
             py::arg("form") = "linear",
             py::arg("exclusion") = 1e-10,
             py::arg("mn_min") = 0,
             py::arg("mn_max") = 0,
             py::arg("lookahead") = 0,
             py::arg("acquire") = 0,
             py::arg("alphabet") = 2,
             py::arg("receiver") = "corridor",
             py::arg("insertion_cap") = 2,
             py::arg("state_threshold") = 0.0,
             py::arg("lattice_threshold") = 0.0,
             py::arg("start_first") = 0,
             py::arg("start_prior") = std::vector<double>(),
             py::arg("end_first") = 0,
             py::arg("end_prior") = std::vector<double>(),
             py::arg("devices") = std::vector<int>(),
             DOC(gr, gpufec, gpu_sync_map, make))
        .def("active_backend",
             &gpu_sync_map::active_backend,
             DOC(gr, gpufec, gpu_sync_map, active_backend))
        .def("batch", &gpu_sync_map::batch, DOC(gr, gpufec, gpu_sync_map, batch))
        .def("set_p_insert",
             &gpu_sync_map::set_p_insert,
             py::arg("p_insert"),
             DOC(gr, gpufec, gpu_sync_map, set_p_insert))
        .def("set_p_delete",
             &gpu_sync_map::set_p_delete,
             py::arg("p_delete"),
             DOC(gr, gpufec, gpu_sync_map, set_p_delete))
        .def("set_p_substitute",
             &gpu_sync_map::set_p_substitute,
             py::arg("p_substitute"),
             DOC(gr, gpufec, gpu_sync_map, set_p_substitute))
        .def("set_max_latency_ms",
             &gpu_sync_map::set_max_latency_ms,
             py::arg("max_latency_ms"),
             DOC(gr, gpufec, gpu_sync_map, set_max_latency_ms));
}
