// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "pydoc_macros.h"

/* Docstrings of a build without Doxygen; one with it takes them from the header. */

static const char* __doc_gr_gpufec_codebook_davey_mackay =
    R"doc(Codebook of Davey and MacKay: the q words of least weight, with a random marker of n
bits added at each index.

Args:
    n : bits a word
    q : words an index, 2 to 65536 and at most 2^n
    frame_symbols : N, indices
    seed : of the markers

Returns:
    array : N·q rows of n bits, uint8

Raises:
    ValueError : naming the parameter, its value and what is allowed)doc";

static const char* __doc_gr_gpufec_codebook_marker =
    R"doc(Codebook of a marker code: the bits of the symbol, most significant first, then the
marker. So n is log2 q and the marker's length.

Args:
    q : a power of two, 2 to 65536
    frame_symbols : N, indices
    marker : a string of 0 and 1

Returns:
    array : N·q rows of n bits, uint8

Raises:
    ValueError : naming the parameter, its value and what is allowed)doc";

static const char* __doc_gr_gpufec_codebook_random =
    R"doc(Codebook of random words, all of an index different, drawn anew at each index.

Args:
    n : bits a word
    q : words an index, 2 to 65536 and at most alphabet^n
    frame_symbols : N, indices
    seed : of the words
    alphabet : channel symbols to choose from, 2 to 16

Returns:
    array : N·q rows of n bits (or channel symbols), uint8

Raises:
    ValueError : naming the parameter, its value and what is allowed)doc";

static const char* __doc_gr_gpufec_sync_code_from_file =
    R"doc(Codebook from a file of N·q rows of n digits (base 16, 0 to f), with white space between rows or
digits; what follows a # is a comment.

Args:
    path : of the file
    n : bits a word
    q : words an index
    frame_symbols : N, indices
    alphabet : channel symbols to choose from, 2 to 16

Returns:
    array : N·q rows of n bits, uint8

Raises:
    ValueError : naming the parameter, its value and what is allowed)doc";
