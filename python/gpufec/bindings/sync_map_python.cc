// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The build compares this hash with the header; scripts/refresh-binding-hashes sets it.
// BINDTOOL_GEN_AUTOMATIC(0)
// BINDTOOL_USE_PYGCCXML(0)
// BINDTOOL_HEADER_FILE(sync_map.h)
// BINDTOOL_HEADER_FILE_HASH(706ce51139934f2c40e014f6d0446c51)

/* Python binding of the codebooks of gpu_sync_map. */

#include "codebook.h"

namespace py = pybind11;

// pydoc.h is automatically generated in the build directory
#include <sync_map_pydoc.h>

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
        DOC(gr, gpufec, codebook_davey_mackay));
    m.def(
        "codebook_marker",
        [](unsigned q, unsigned frame_symbols, const std::string& marker) {
            return array_of(codebook_marker(q, frame_symbols, marker));
        },
        py::arg("q") = 32,
        py::arg("frame_symbols") = 210,
        py::arg("marker") = "00111",
        DOC(gr, gpufec, codebook_marker));
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
        DOC(gr, gpufec, codebook_random));
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
        DOC(gr, gpufec, sync_code, from_file));
}
