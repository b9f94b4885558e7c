// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Binds the functions that make codebooks for gpu_sync_map to Python. */

#include "codebook.h"
#include "docstrings.h" // generated from the headers

namespace py = pybind11;

void bind_sync_map(py::module& m)
{
    using namespace gr::gpufec;

    m.def(
        "codebook_davey_mackay",
        [](unsigned n, unsigned q, unsigned frame_symbols, std::uint64_t seed) {
            return array_of(codebook_davey_mackay(n, q, frame_symbols, seed));
        },
        py::arg("n") = 10,
        py::arg("q") = 32,
        py::arg("frame_symbols") = 210,
        py::arg("seed") = 1,
        doc::codebook_davey_mackay);
    m.def(
        "codebook_marker",
        [](unsigned q,
           unsigned frame_symbols,
           const std::string& marker,
           std::uint64_t seed) {
            return array_of(codebook_marker(q, frame_symbols, marker, seed));
        },
        py::arg("q") = 32,
        py::arg("frame_symbols") = 210,
        py::arg("marker") = "00111",
        py::arg("seed") = 1,
        doc::codebook_marker);
    m.def(
        "codebook_random",
        [](unsigned n,
           unsigned q,
           unsigned frame_symbols,
           std::uint64_t seed,
           unsigned alphabet) {
            return array_of(codebook_random(n, q, frame_symbols, seed, alphabet));
        },
        py::arg("n") = 10,
        py::arg("q") = 32,
        py::arg("frame_symbols") = 210,
        py::arg("seed") = 1,
        py::arg("alphabet") = 2,
        doc::codebook_random);
    m.def(
        "codebook_from_file",
        [](const py::object& path,
           unsigned n,
           unsigned q,
           unsigned frame_symbols,
           unsigned alphabet) {
            const auto name =
                py::module_::import("os").attr("fspath")(path).cast<std::string>();
            return array_of(sync_code::from_file(name, n, q, frame_symbols, alphabet));
        },
        py::arg("path"),
        py::arg("n") = 10,
        py::arg("q") = 32,
        py::arg("frame_symbols") = 210,
        py::arg("alphabet") = 2,
        doc::sync_code_from_file);
}
