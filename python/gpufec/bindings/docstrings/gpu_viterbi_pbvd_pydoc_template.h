// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "pydoc_macros.h"

/* Docstrings of a build without Doxygen; one with it takes them from the header. */

static const char* __doc_gr_gpufec_gpu_viterbi_pbvd =
    R"doc(Viterbi decoder for convolutional codes, in parallel blocks, on GPU or CPU.

Decodes an endless stream, or frames, of soft values. The stream is cut into parallel
blocks of D decoded stages, each with L more stages on either side, that are decoded at
the same time (Peng, Liu, Hou, Zhao: "A Gb/s Parallel Block-based Viterbi Decoder for
Convolutional Codes on GPU", 2016). The output does not depend on the backend, nor on how
the blocks were batched.

Input: soft values, positive means bit 0, as in gr-dvbs2rx. gr-fec and gr-digital have it
the other way round: negate their soft values, or the bits come out inverted (171/133 does
not notice). NaN counts as an erasure, infinities saturate, -128 becomes -127, 0 is an
erasure.

Output: bytes, eight bits each, the first most significant (packed_output), or one bit a
byte. Each frame is padded to a byte, and so is the end of a stream. Everything that
arrived is decoded before the block is done; a last stage that lacks values is decoded
with erasures in their place. A last frame that is not complete is dropped.

Tags on the input go to the output item that holds their information bit, those in a
frame's tail to the frame's last. A tag of key length_tag_key has its value, a positive
integer, changed from input to output items, both ends of the packet rounded down; any
other value is dropped with one warning. The block adds, on the first output item of each
batch, from re-encoding its first 2048 decoded bits (in frames: those of its first frame),
or as many as it has:
    viterbi_ber (double) : channel bit error rate
    viterbi_metric (double) : mean contradicted soft value, in steps of an int8)doc";

static const char* __doc_gr_gpufec_gpu_viterbi_pbvd_make =
    R"doc(Makes a decoder.

Args:
    constraint_length : K, 3 to 9
    polynomials : 2 to 6 generator polynomials, octal as in the standards: the newest bit
        is the most significant; a negative one is an inverted output
    puncturing : one string of 0 and 1 an output, comma separated, in the order of the
        polynomials: DVB rate 3/4 is "101,110"; "" for none
    termination : "streaming", or "terminated", "truncated", "tailbiting" frames
    frame_bits : information bits a frame; 0 in streaming
    soft_input : "int8" (a byte), "float", or "packed4" (two 4-bit two's complement
        values a byte, the first in the high nibble)
    soft_scale : int8 steps for one unit of float amplitude
    packed_output : eight bits a byte, first bit most significant, else one
    decode_length : D, a multiple of 32 stages; 0: chosen for the code
    overlap : L, stages, at least K-1; 0: chosen for the code
    batch : parallel blocks decoded at once; 0: chosen from the device
    slots : batches in flight on each device, 1 to 16
    max_latency_ms : a batch that does not fill within this time goes as it is
    backend : "auto", "cuda" or "cpu"
    device : index of the CUDA device
    threads : of the CPU backend, 1 to 256
    cuda_kernel : "auto"; "pbvd": the decoder of the paper; "registers" (many blocks at
        once) or "fused" (few) for the codes they are made for
    length_tag_key : tags of this key hold a length in input items; "": none do
    devices : CUDA devices, up to 16, that take batches in turn, instead of device; empty:
        that one alone

Raises:
    ValueError : naming the parameter, its value and what is allowed
    RuntimeError : if backend is "cuda" and the device cannot be used)doc";

static const char* __doc_gr_gpufec_gpu_viterbi_pbvd_active_backend =
    R"doc("cuda" or "cpu": what decodes now.)doc";

static const char* __doc_gr_gpufec_gpu_viterbi_pbvd_batch =
    R"doc(Parallel blocks a batch, as chosen.)doc";

static const char* __doc_gr_gpufec_gpu_viterbi_pbvd_decode_length =
    R"doc(D, as chosen.)doc";

static const char* __doc_gr_gpufec_gpu_viterbi_pbvd_overlap = R"doc(L, as chosen.)doc";

static const char* __doc_gr_gpufec_gpu_viterbi_pbvd_set_soft_scale =
    R"doc(int8 steps for one unit of float amplitude, a finite value above 0.

Takes effect with the next input; float input only. Raises ValueError.)doc";

static const char* __doc_gr_gpufec_gpu_viterbi_pbvd_soft_scale =
    R"doc(int8 steps for one unit of float amplitude.)doc";

static const char* __doc_gr_gpufec_gpu_viterbi_pbvd_set_max_latency_ms =
    R"doc(Milliseconds after which a batch goes as it is, a finite value from 0.

Raises ValueError.)doc";

static const char* __doc_gr_gpufec_gpu_viterbi_pbvd_max_latency_ms =
    R"doc(Milliseconds after which a batch goes as it is.)doc";
