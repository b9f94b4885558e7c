// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "pydoc_macros.h"

/* Docstrings of a build without Doxygen; one with it takes them from the header. */

static const char* __doc_gr_gpufec_channel_bsid =
    R"doc(A channel that inserts, deletes and flips bits, to test gpu_sync_map with.

Before each bit it inserts a random one with probability p_insert and asks again,
or drops the bit with p_delete, or else passes it on, flipped with p_substitute.
Input and output: one bit a byte, or a channel symbol of 0 to alphabet − 1. The same seed makes the same of the same input.

With frame_bits each so many input bits are a frame, and the first output item of
each has a tag of key length_tag with the number of items received of it; a frame of
which nothing is received leaves no trace, and one that is not complete when the input
ends is not sent. Input tags of that key end here. Other tags go to what is received of
their bit or, if it was dropped, to the item that follows.)doc";

static const char* __doc_gr_gpufec_channel_bsid_make =
    R"doc(Makes a channel.

Args:
    p_insert : probability of an insertion, 0 to below 1
    p_delete : probability of a deletion; p_insert + p_delete is below 1
    p_substitute : probability that a bit passed on is flipped, 0 to 1
    frame_bits : input bits a frame; 0: a stream without frames
    length_tag : key of the tag with a frame's received length
    seed : of the random numbers
    alphabet : channel symbols to choose from, 2 to 16

Raises:
    ValueError : naming the parameter, its value and what is allowed)doc";

static const char* __doc_gr_gpufec_channel_bsid_set_p_insert =
    R"doc(Probability of an insertion; takes effect at once.

Raises:
    ValueError : naming the parameter, its value and what is allowed)doc";

static const char* __doc_gr_gpufec_channel_bsid_set_p_delete =
    R"doc(Probability of a deletion; takes effect at once.

Raises:
    ValueError : naming the parameter, its value and what is allowed)doc";

static const char* __doc_gr_gpufec_channel_bsid_set_p_substitute =
    R"doc(Probability of a flipped bit; takes effect at once.

Raises:
    ValueError : naming the parameter, its value and what is allowed)doc";
