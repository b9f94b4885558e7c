// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "pydoc_macros.h"

/* Docstrings of a build without Doxygen; one with it takes them from the header. */

static const char* __doc_gr_gpufec_conv_preset = R"doc(A code of a standard.

Attributes: name, title, source (the standard and its clause), constraint_length,
polynomials, puncturing and termination. All but the first three are parameters of
gpu_viterbi_pbvd and conv_encoder.)doc";

static const char* __doc_gr_gpufec_conv_presets =
    R"doc(The convolutional codes of the standards, a list of conv_preset.)doc";
