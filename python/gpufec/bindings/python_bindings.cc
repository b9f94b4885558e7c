// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The Python module: everything that gnuradio.gpufec shows. */

#include <pybind11/pybind11.h>

namespace py = pybind11;

void bind_channel_bsid(py::module& m);
void bind_conv_encoder(py::module& m);
void bind_gpu_ldpc_dvbs2(py::module& m);
void bind_gpu_sync_map(py::module& m);
void bind_gpu_viterbi_pbvd(py::module& m);
void bind_ldpc_encoder(py::module& m);
void bind_sync_encoder(py::module& m);
void bind_sync_map(py::module& m);
void bind_viterbi(py::module& m);

PYBIND11_MODULE(gpufec_python, m)
{
    // Base classes of the blocks.
    py::module::import("gnuradio.gr");

    bind_channel_bsid(m);
    bind_conv_encoder(m);
    bind_gpu_ldpc_dvbs2(m);
    bind_gpu_sync_map(m);
    bind_gpu_viterbi_pbvd(m);
    bind_ldpc_encoder(m);
    bind_sync_encoder(m);
    bind_sync_map(m);
    bind_viterbi(m);
}
