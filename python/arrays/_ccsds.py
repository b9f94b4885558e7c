# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decodes arrays of soft symbols of CCSDS telemetry and telecommands to transfer frames."""

import numpy as np

from . import _gpufec as _core
from ._arguments import integer, named_arguments, refuse
from ._decoding import LLR_FORMATS, format_of, warn_of
from ._ldpc import ldpc_decode
from ._memory import host_array, view_of
from ._viterbi import viterbi_decode


class ccsds_status:
    """Status that ccsds_decode() returns; the help of ccsds_decode() lists the attributes."""

    def __init__(self, **facts):
        self.__dict__.update(facts)

    def __repr__(self):
        facts = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"ccsds_status({facts})"


def _to_int8(values, soft_input, scale):
    """Converts soft values to int8; `scale` is the number of int8 steps per unit of floats."""
    if soft_input == "int8":
        return values
    if soft_input == "uint8":
        return (values ^ np.uint8(0x80)).view(np.int8)
    scaled = np.nan_to_num(values, nan=0.0, posinf=np.inf, neginf=-np.inf) * np.float32(scale)
    return np.rint(np.clip(scaled, -127, 127)).astype(np.int8)


@named_arguments
def ccsds_decode(values, convolutional="ccsds", code="ccsds-223", interleaving=1, frame_bytes=0,
                 randomiser="short", differential=False, soft_input="", soft_scale=32.0,
                 llr_scale=2.0, positive_bit=1, constellation="bpsk", lock="auto",
                 lock_presets=(), drop_failed=True, max_iterations=25, batch=0, slots=3,
                 backend="auto", device=0, threads=1, false_alarm=1e-6, flywheel=2,
                 lock_memory=1000000):
    """Decodes soft symbols of CCSDS telemetry (CCSDS 131.0-B), or of telecommands (CCSDS 231.0-B),
    to transfer frames.

    The frames are found by their markers, as the help of the block ccsds_fec_receiver describes.
    The page docs/reference/ccsds.md states how many errors a marker may have.

    Args:
        values : soft values of BPSK, QPSK or OQPSK symbols, (items,), in host memory, with I
            before Q. The type is int8, float32 (soft_scale int8 steps per unit) or uint8 (offset
            binary, with 128 for 0)
        convolutional : inner convolutional code: "none" or a name of conv_presets()
        code : code of the frame: "none"; "ccsds-223" or "ccsds-239" (Reed-Solomon in the dual
            basis), or either with the suffix "-conventional" (in the conventional basis); or,
            without a convolutional code, "c2" or "ar4ja-K-rate" (LDPC), such as "ar4ja-1024-1/2",
            or "tc-bch", "tc-bch-detect", "tc-ldpc-128" or "tc-ldpc-512" (telecommands)
        interleaving : number of Reed-Solomon codewords per frame, 1 to 8
        frame_bytes : length of a transfer frame in bytes, 1 to 16384; 0: the longest of the code.
            Shorter frames of Reed-Solomon have a virtual fill. With telecommand codes, the largest
            number of bytes of a CLTU's frames; 0: 16384
        randomiser : "none", "short" (period of 255 bits) or "long" (131,071 bits, not with
            telecommand codes)
        differential : whether the bits are differentially encoded (NRZ-M), before the
            convolutional encoder if there is one
        soft_input : "int8", "float" or "uint8"; "": the format of the type of values
        soft_scale : int8 steps per unit of float32 values; not used with LDPC codes
        llr_scale : with LDPC codes: int8 steps per nat; float32 values are in nats
        positive_bit : the bit, 0 or 1, that a positive soft value means
        constellation : ambiguities to resolve. "bpsk": the sign; "qpsk": also rotation by 90
            degrees and exchanged I and Q; "oqpsk": also I and Q of a pair in consecutive symbols
        lock : phase search of the convolutional code, "auto" or "off"
        lock_presets : names of further convolutional codes to search for
        drop_failed : whether frames that could not be decoded are dropped; without a code,
            frames without a marker are dropped
        max_iterations : largest number of LDPC iterations, 1 to 1000
        batch : number of parallel blocks or LDPC codewords per batch; 0: chosen for the device
        slots : number of batches in flight, 1 to 16
        backend : "auto" (CUDA if it can be used, otherwise the CPU), "cuda" or "cpu"
        device : number of the CUDA device
        threads : number of threads of the CPU backend and of threads that decode Reed-Solomon, 1 to
            256
        false_alarm : probability of a false lock per frame length of random bits; with telecommand
            codes, of a false start sequence per random bit
        flywheel : largest number of successive frames without a marker that are kept, 0 to 100
        lock_memory : number of soft values that are stored during the phase search, 10^4 to 10^9

    Returns:
        The frames and a ccsds_status. The frames are a uint8 array of shape (frames, frame_bytes).
        With telecommand codes, they are a list of uint8 arrays (bytes,), one per CLTU, which
        include the fill of the last codeword. The ccsds_status has
          - good, marker_found, inverted: bool (frames,)
          - position: index in values, or with a convolutional code in the decoded bits, of the
            marker's first bit, uint64 (frames,)
          - orientation: orientation of the symbols, uint8 (frames,), as in the tag ccsds_frame
          - marker_correlation: 0 to 1, float64 (frames,)
          - corrected: corrected symbols per codeword, -1 if not correctable, int32 (frames,
            interleaving); (frames, 0) without Reed-Solomon; with telecommand codes, the corrected
            bits of a CLTU, int32 (frames,)
          - tail_found: with telecommand codes, whether a tail sequence follows the CLTU, bool
            (frames,)
          - iterations: with LDPC codes, the number of iterations, uint32 (frames,)
          - channel_error_rate: bit error rate of the channel, estimated by the Viterbi decoder;
            NaN without a convolutional code
          - frame_count, failed_frame_count, corrected_symbol_count, missed_marker_count,
            lock_count, slip_count: as in ccsds_fec_receiver
          - verdict: the diagnosis of unsuitable parameters, or "". A verdict is also issued as a
            RuntimeWarning.

    Raises:
        ValueError : if an argument is refused; the message names the argument, its value and what is
            allowed
        TypeError : if values is not an array, or if arguments are missing or unknown
        RuntimeError : if backend is "cuda" and CUDA cannot be used
    """
    soft_input = format_of(view_of("values", values), soft_input, LLR_FORMATS)
    values = host_array("values", values, np.int8, np.uint8, np.float32)
    if values.ndim != 1:
        refuse("values", f"of {values.ndim} dimensions", "1")
    code = _core.known_name("code", code, _core.ccsds_codes())
    ldpc = next((c[1:] for c in _core.ccsds_ldpc_codes() if c[0] == code), None)
    inner = convolutional.lower() != "none"
    telecommand = code in _core.ccsds_telecommand_codes()
    llrs = ldpc or (telecommand and _core.ccsds_telecommand_codes()[code])
    if inner and (ldpc or telecommand):
        refuse("convolutional", convolutional, f'"none" with code="{code}"')
    for name, value in (("soft_scale", soft_scale), ("llr_scale", llr_scale)):
        if not 0 < value < np.inf:
            refuse(name, value, "finite values above 0")
    framing = {"code": code, "interleaving": integer("interleaving", interleaving, "1 to 8", 1, 8),
               "frame_bytes": integer("frame_bytes", frame_bytes, "0 to 16384", 0, 16384),
               "randomiser": randomiser, "differential": bool(differential),
               "constellation": "bpsk" if inner else constellation, "false_alarm": false_alarm,
               "flywheel": integer("flywheel", flywheel, "0 to 100", 0, 100),
               "drop_failed": bool(drop_failed),
               "positive_bit": integer("positive_bit", positive_bit, "0 and 1", 0, 1),
               "llr_scale": llr_scale,
               "max_iterations": integer("max_iterations", max_iterations, "1 to 1000", 1, 1000)}
    run = {"batch": batch, "slots": slots, "backend": backend, "device": device,
           "threads": integer("threads", threads, "1 to 256", 1, 256)}
    error_rate, verdict = np.nan, ""
    if inner:
        items, status = viterbi_decode(
            values, preset=convolutional, soft_input=soft_input, soft_scale=soft_scale,
            positive_bit=positive_bit, lock=lock, lock_constellation=constellation,
            lock_presets=lock_presets, lock_memory=lock_memory, **run)
        error_rate, verdict = status.channel_error_rate, status.verdict
    else:
        items = _to_int8(values, soft_input, llr_scale if llrs else soft_scale)
    frames, facts = _core.ccsds_frames(np.ascontiguousarray(items),
                                       {**framing, "threads": run["threads"]})
    facts["channel_error_rate"] = error_rate
    facts["verdict"] = warn_of(facts["verdict"]) or verdict
    if ldpc:
        frames = _decode_ldpc(frames, ldpc, facts, drop_failed, llr_scale=llr_scale,
                              positive_bit=positive_bit, max_iterations=max_iterations, **run)
    return frames, ccsds_status(**facts)


def _decode_ldpc(codewords, code, facts, drop_failed, **parameters):
    """Decodes codewords, one per row, and adds their validity to `facts`. Returns the
    messages."""
    # With int8, correctly decoded AR4JA messages may have violated checks; ccsds_fec_receiver uses
    # int16 too.
    precision = "int16" if code[0] == "ccsds_ar4ja" else "int8"
    if len(codewords) == 0:
        facts["iterations"] = np.zeros(0, np.uint32)
        return np.zeros((0, 892 if code[0] == "ccsds_c2" else int(code[1]) // 8), np.uint8)
    frames, status = ldpc_decode(codewords, *code, precision=precision, **parameters)
    good = status.unsatisfied == 0
    facts["good"], facts["iterations"] = good, status.iterations
    facts["frame_count"] = int(np.count_nonzero(good))
    facts["failed_frame_count"] = len(good) - facts["frame_count"]
    if drop_failed:
        frames = frames[good]
        for name, values in facts.items():
            if isinstance(values, np.ndarray):
                facts[name] = values[good]
    return frames


@named_arguments
def ccsds_encode_cltu(frame, code="tc-bch", randomiser="short"):
    """Encodes one or more transfer frames to a CLTU (CCSDS 231.0-B).

    The CLTU has a start sequence, codewords, the last of which is filled with alternating bits, and
    a tail sequence, except with "tc-ldpc-512". The acquisition and idle sequences before and after
    the CLTU are not included; they are alternating bits, such as bytes of 0x55.

    Args:
        frame : the 1 to 16384 bytes of the frame or frames, uint8 (bytes,), in host memory
        code : "tc-bch" or "tc-bch-detect" (both BCH (63,56)), "tc-ldpc-128" or "tc-ldpc-512"
        randomiser : "none" or "short". With LDPC codes the standard requires "short".

    Returns:
        The CLTU, uint8, eight bits per byte, the first most significant

    Raises:
        ValueError : if an argument is refused; the message names the argument, its value and what is
            allowed
        TypeError : if frame is not an array, or if arguments are missing or unknown
    """
    frame = host_array("frame", frame, np.uint8)
    if frame.ndim != 1:
        refuse("frame", f"of {frame.ndim} dimensions", "1")
    return _core.ccsds_encode_cltu(np.ascontiguousarray(frame), code, randomiser)
