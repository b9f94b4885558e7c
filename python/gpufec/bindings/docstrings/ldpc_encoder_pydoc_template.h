// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "pydoc_macros.h"

/* Docstrings of a build without Doxygen; one with it takes them from the header. */

static const char* __doc_gr_gpufec_ldpc_encoder =
    R"doc(LDPC encoder for DVB-S2, and for any code from an alist file.

Input: the K message bits of each frame, one a byte or eight (the first most
significant, a frame padded to a byte). Output: its N bits, likewise. A frame that is
not complete when the input ends is not sent. Tags go to the output item of their bit.

Map bit 0 to a positive value for gpu_ldpc_dvbs2.)doc";

static const char* __doc_gr_gpufec_ldpc_encoder_make =
    R"doc(The code's parameters are those of gpu_ldpc_dvbs2.

Raises:
    ValueError : naming the parameter, its value and what is allowed)doc";
