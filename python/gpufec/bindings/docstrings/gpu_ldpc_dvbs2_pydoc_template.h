// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "pydoc_macros.h"

/* Docstrings of a build without Doxygen; one with it takes them from the header. */

static const char* __doc_gr_gpufec_gpu_ldpc_dvbs2 =
    R"doc(LDPC decoder for DVB-S2, and for any code from an alist file, on a GPU or the
CPU. 
Layered or flooding min-sum decoding of the codes of ETSI EN 302 307-1, 5.3.2. The
output does not depend on the backend, nor on how frames were batched.

Input: channel values (LLRs), N a frame, deinterleaved, positive means bit
0, of any constellation: int8 with  llr_scale steps a nat, or float in nats. NaN
counts as 0, infinities saturate, −128 becomes −127.

Output: the K message bits of each frame, or its N bits, packed MSB-first and padded
to a byte, or one bit a byte. The message of a DVB-S2 code is what its BCH encoder
made. A frame that is not complete when the input ends is dropped.

Tags on the input go to the output item that holds their bit. The block adds, on the
first output item of each frame:
 -  ldpc_iterations (long): iterations made,
 -  ldpc_valid (bool): whether the decided bits satisfy every check,
 -  ldpc_syndrome_weight (long): how many they violate, if any.

With  acm, tags on the first channel value of a frame name its code, and that of the
frames after it; until the first tag it is the code of  frame_size and  rate.
 - key  XFECFRAME, value  cons(long modcod, bool short), as gr-dvbs2rx sets it,
   the MODCOD of EN 302 307-1 table 12. A frame of an unknown MODCOD is skipped by its
   length.
 - key  ldpc_code, value a dictionary of  frame_size and  rate, or a string:
   "normal 1/2", or a name of  named_codes. What comes after a tag that names no code
   is dropped up to the next tag.
A tag inside a frame ends it: what there was of the frame is dropped.

Message port llr_pdu (output), with the parameter of that name: the decisions on all N
bits of each frame, as gr-dvbs2rx's demapper takes them to refine its estimate of the SNR.
A PDU a frame: metadata simd_size (long), always 1, and frame_cnt (uint64), frames before
this one; data N int8, +127 for a bit decided 0, −127 for 1. Only signs are told, as only
they are asked for there. That demapper remembers 64 frames, so batch times slots should
not exceed 32 with it.)doc";

static const char* __doc_gr_gpufec_gpu_ldpc_dvbs2_make =
    R"doc(Makes a decoder.

Args:
    standard : "dvbs2"
    frame_size : "normal" (64800 bits) or "short" (16200)
    rate : "1/4", "1/3", "2/5", "1/2", "3/5", "2/3", "3/4", "4/5", "5/6", "8/9", or
        "9/10" (normal frames only)
    code_file : an alist file, whose code takes the place of the three above; "" for
        none
    soft_input : "int8" or "float"
    llr_scale : int8 steps a nat
    algorithm : "offset_min_sum", "normalized_min_sum" or "min_sum"
    precision : of the decoder: "int8", "int16" or "float"
    max_iterations : 1 to 1000
    early_stop : stop once every check is satisfied; else always make max_iterations
    output : "message" (K bits a frame) or "codeword" (N bits)
    packed_output : eight bits a byte, first bit most significant, else one
    batch : frames decoded at once; 0: chosen from the device
    slots : batches in flight, 1 to 16
    max_latency_ms : a batch that does not fill within this time goes as it is
    backend : "auto", "cuda" or "cpu"
    device : index of the CUDA device
    threads : of the CPU backend, 1 to 256
    schedule : "layered", or "flooding": the decoder of Feltrin's thesis
    offset : of offset_min_sum, nats; negative: the one found for the code's rate
    normalization : of normalized_min_sum; negative: the one for the code's rate
    acm : frames name their codes by tags
    named_codes : alist files by the names that tags and set_code() give them
    llr_pdu : send the decisions on each frame from the message port llr_pdu
    devices : CUDA devices, up to 16, that take batches in turn, instead of device; empty:
        that one alone

Raises:
    ValueError : naming the parameter, its value and what is allowed
    RuntimeError : if backend is "cuda" and the device cannot be used)doc";

static const char* __doc_gr_gpufec_gpu_ldpc_dvbs2_active_backend =
    R"doc("cuda" or "cpu": what decodes now.)doc";

static const char* __doc_gr_gpufec_gpu_ldpc_dvbs2_batch =
    R"doc(Frames a batch, as chosen.)doc";

static const char* __doc_gr_gpufec_gpu_ldpc_dvbs2_set_code =
    R"doc(The code of the frames that begin from now on: "normal 1/2" and the like, or a
name of named_codes. Without acm, DVB-S2 codes of the frame size of the block.

Raises:
    ValueError : naming the codes that are known)doc";

static const char* __doc_gr_gpufec_gpu_ldpc_dvbs2_set_llr_scale =
    R"doc(Steps of an int8 a nat; takes effect with the next frame.

Raises:
    ValueError : unless it is finite and above 0)doc";

static const char* __doc_gr_gpufec_gpu_ldpc_dvbs2_set_max_latency_ms =
    R"doc(How long a frame may wait for its batch to fill.

Raises:
    ValueError : unless it is finite and at least 0)doc";
