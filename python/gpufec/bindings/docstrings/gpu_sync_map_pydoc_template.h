// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "pydoc_macros.h"

/* Docstrings of a build without Doxygen; one with it takes them from the header. */

static const char* __doc_gr_gpufec_gpu_sync_map =
    R"doc(Decodes codes for channels that insert, delete and flip bits, on a GPU or the
CPU.

The maximum a-posteriori decoder of Briffa, "GPU implementation and optimisation of a
flexible maximum a-posteriori decoder for synchronisation correction" (2014), by
default in a form that is exact and faster. It finds what was sent although bits are
missing and others were never sent, as after the bit slips of a clock recovery.

Input: what was received, one bit a byte (another value than 0 and 1 is an erasure), or
floats, the probability that a 1 was sent (NaN is an erasure). With a larger alphabet
channel symbols of 0 to alphabet − 1 take the place of bits.
 - mode "framed": each frame is the items under a tag of key length_tag on its first
   one. Items under no tag are dropped, and so are tags without a length of at least 1,
   with one warning. A tag inside a frame ends that frame there, as does the end of the
   input.
 - mode "stream": frames follow one another without a mark, and are found.

Second input, in framed mode, if it is connected: N·q floats a frame, the weights of
its symbols beforehand. Frames whose weights do not come before that input ends are
decoded without.

Output, N symbols a frame: the most likely symbols (bytes up to q = 256, else shorts);
or q floats a symbol, its posteriors, or its extrinsics: posteriors without the part of
the second input; or log2 q signed bytes, LLRs of its bits without the part of the
second input, the most significant bit first, 8 steps a nat, positive means bit 0.

Tags on the first output item of each frame:
 - sync_drift (long): items received less items sent, most likely, of the frame,
 - sync_logp (double): natural logarithm of the probability of what was received; in
   a stream less that of as many random items,
 - sync_valid (bool): false if the frame cannot be decoded, because its length lies
   outside the limits or no message explains it: symbols are 0, posteriors uniform,
 - sync_lock (bool, stream mode): whether the decoder follows the frames,
 - key length_tag (long): output items of the frame.
Other tags go to the first output item of the symbol they came with.)doc";

static const char* __doc_gr_gpufec_gpu_sync_map_make =
    R"doc(Makes a decoder.

Args:
    codebook : N·q rows of n bits, row i·q + D for symbol D at index i, the leftmost
        bit sent first
    q : symbols to choose from, 2 to 65536
    n : bits a symbol
    frame_symbols : N, symbols a frame
    p_insert : probability of an insertion before a bit, 0 to below 1
    p_delete : probability that a bit is dropped; p_insert + p_delete is below 1
    p_substitute : probability that a bit passed on is flipped, 0 to 1
    mode : "framed" or "stream"
    length_tag : key of the tags with a frame's length; may be "" in stream mode
    soft_input : "hard" or "float"
    output : "symbols", "posteriors", "extrinsics" or "llr" (q a power of two)
    precision : "float", "double" or "mixed"
    storage : of form "corridor": "auto", "global" or "local"
    batch : frames decoded at once; 0: chosen from the device
    slots : batches in flight, 1 to 16
    max_latency_ms : a batch that does not fill within this time goes as it is
    backend : "auto", "cuda" or "cpu"
    device : index of the CUDA device
    threads : of the CPU backend, 1 to 256
    form : "linear" (exact), or "corridor": the decoder of the paper
    exclusion : probability of the drifts that are not considered, 1e-15 to below 1
    mn_min : of form "corridor", least drift change of a symbol, −n to 0
    mn_max : of form "corridor", largest; both 0: from the exclusion
    lookahead : of mode "stream", symbols beyond a frame that it is decoded with; 0:
        chosen
    acquire : of mode "stream", the first frame begins at any of so many items; 0: at
        the first
    alphabet : channel symbols to choose from, 2 to 16
    receiver : of form "corridor": "corridor", "lattice" (all of it) or "trellis" (a cap
        on insertions); other than corridor on the CPU only
    insertion_cap : of receiver "trellis", the most insertions before a bit
    state_threshold : of form "corridor", boundary metrics below this part of the largest
        count as 0; 0 to below 1, above 0 on the CPU only
    lattice_threshold : of form "corridor", lattice values below this part of their row's
        largest count as 0; 0 to below 1, above 0 on the CPU only
    start_first : of mode "framed", the drift of start_prior's first entry
    start_prior : weights of the drifts start_first, start_first + 1, … with which a frame
        begins; drift m means at its item m. Empty: start_first for certain
    end_first : of mode "framed", the drift of end_prior's first entry
    end_prior : weights of the drifts end_first, end_first + 1, … with which a frame ends;
        drift m means n·N + m items after its first. Empty: with its last item
    devices : CUDA devices, up to 16, that take batches in turn, instead of device; empty:
        that one alone

Raises:
    ValueError : naming the parameter, its value and what is allowed
    RuntimeError : if backend is "cuda" and the device cannot be used)doc";

static const char* __doc_gr_gpufec_gpu_sync_map_active_backend =
    R"doc("cuda" or "cpu": what decodes now.)doc";

static const char* __doc_gr_gpufec_gpu_sync_map_batch =
    R"doc(Frames a batch, as chosen.)doc";

static const char* __doc_gr_gpufec_gpu_sync_map_set_p_insert =
    R"doc(Probability of an insertion; takes effect with one of the next frames.

Raises:
    ValueError : naming the parameter, its value and what is allowed)doc";

static const char* __doc_gr_gpufec_gpu_sync_map_set_p_delete =
    R"doc(Probability of a deletion; takes effect with one of the next frames.

Raises:
    ValueError : naming the parameter, its value and what is allowed)doc";

static const char* __doc_gr_gpufec_gpu_sync_map_set_p_substitute =
    R"doc(Probability of a flipped bit; takes effect with one of the next frames.

Raises:
    ValueError : naming the parameter, its value and what is allowed)doc";

static const char* __doc_gr_gpufec_gpu_sync_map_set_max_latency_ms =
    R"doc(How long a frame may wait for its batch to fill.

Raises:
    ValueError : naming the parameter, its value and what is allowed)doc";
