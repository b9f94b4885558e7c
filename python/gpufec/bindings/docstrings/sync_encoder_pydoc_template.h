// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "pydoc_macros.h"

/* Docstrings of a build without Doxygen; one with it takes them from the header. */

static const char* __doc_gr_gpufec_sync_encoder =
    R"doc(Encodes message symbols with a codebook for gpu_sync_map.

Input: symbols 0 to q − 1, N a frame, bytes up to q = 256, else shorts; a symbol of q
or above counts modulo q. Output: the n·N bits of each frame, one a byte, with their
number in a tag of key length_tag on the first. A frame that is not complete when
the input ends is not sent. Other tags go to the first bit of their symbol.)doc";

static const char* __doc_gr_gpufec_sync_encoder_make =
    R"doc(Makes an encoder.

Args:
    codebook : N·q rows of n bits, row i·q + D for symbol D at index i, the leftmost
        bit sent first
    q : symbols to choose from, 2 to 65536
    n : bits a symbol
    frame_symbols : N, symbols a frame
    length_tag : key of the tag with a frame's length; "" for none
    alphabet : channel symbols to choose from, 2 to 16; above 2 they take the place of
        bits

Raises:
    ValueError : naming the parameter, its value and what is allowed)doc";
