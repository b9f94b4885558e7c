// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "pydoc_macros.h"

/* Docstrings of a build without Doxygen; one with it takes them from the header. */

static const char* __doc_gr_gpufec_conv_encoder =
    R"doc(Convolutional encoder, punctured, for a stream or for frames.

Input: bytes, one bit each or eight (the first most significant; a frame then takes a
whole number of bytes, the bits beyond frame_bits are ignored). Output: one coded bit a
byte. In a stream the register starts at zero; each frame starts as its termination says,
and puncturing anew. A last frame that is not complete is not sent.

Tags go to the first coded bit of their item's first information bit.

Map bit 0 to a positive value for gpu_viterbi_pbvd.)doc";

static const char* __doc_gr_gpufec_conv_encoder_make =
    R"doc(Makes an encoder; the code's parameters are those of gpu_viterbi_pbvd.

Args:
    constraint_length : K, 3 to 9
    polynomials : 2 to 6 generator polynomials, octal as in the standards: the newest bit
        is the most significant; a negative one is an inverted output
    puncturing : one string of 0 and 1 an output, comma separated, in the order of the
        polynomials: DVB rate 3/4 is "101,110"; "" for none
    termination : "streaming", or "terminated", "truncated", "tailbiting" frames
    frame_bits : information bits a frame; 0 in streaming
    packed_input : eight bits a byte, first bit most significant, else one

Raises:
    ValueError : naming the parameter, its value and what is allowed)doc";
