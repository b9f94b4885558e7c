# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Encodes arrays with convolutional codes, and decodes them with the Viterbi algorithm."""

import math
import threading

import numpy as np

from . import _gpufec as _core
from ._arguments import brief, check_kind, named_arguments, refuse
from ._memory import bits_of, output_array, packed_bytes, packed_rows, row_count, view_of
from ._decoding import (SOFT_TYPES, _Streaming, decode_status, format_of, known_format,
                        require_device, run_options, warn_of, warn_unused)
from ._gpufec import find_conv_preset


def _conv_code_of(constraint_length, polynomials, puncturing, termination, preset):
    """Returns the first four parameters: the preset's values if `preset` is not empty, otherwise
    the given values, with defaults in place of None. Refuses a preset with other values."""
    given = {"constraint_length": constraint_length, "polynomials": polynomials,
             "puncturing": puncturing, "termination": termination}
    if preset:
        both = [name for name, value in given.items() if value is not None]
        if both:
            raise ValueError(f'preset is "{preset}": it cannot be combined with '
                             + ", ".join(both))
        p = find_conv_preset(preset)
        return p.constraint_length, p.polynomials, p.puncturing, p.termination
    defaults = {"constraint_length": 7, "polynomials": (0o171, 0o133), "puncturing": "",
                "termination": "streaming"}
    for name, value in given.items():
        if value is not None:
            check_kind(name, value, defaults[name])
            defaults[name] = value
    termination = _core.known_name("termination", defaults["termination"] or "streaming",
                                   ["streaming", "terminated", "truncated", "tailbiting"])
    return (defaults["constraint_length"], list(defaults["polynomials"]),
            defaults["puncturing"], termination)


class viterbi_decoder(_Streaming):
    """A decoder of convolutional codes for repeated use.

    The decoder keeps its memory and threads between calls; viterbi_decode() creates them
    in each call. The parameters and their errors are those of viterbi_decode(). If several
    Python threads use one decoder, their calls run one after the other.

    Each call of decode() accepts a whole stream, or whole frames. A stream that is divided into
    several arrays is passed to push(), and flush() ends it. With lock "auto", push() and decode()
    accept frames as a stream.
    """

    _default_format = "int8"

    @named_arguments
    def __init__(self, constraint_length=None, polynomials=None, puncturing=None,
                 termination=None, frame_bits=0, soft_input="", soft_scale=32.0,
                 packed_output=True, decode_length=0, overlap=0, batch=0, slots=3,
                 backend="auto", device=0, threads=1, cuda_kernel="auto", devices=(),
                 preset="", positive_bit=1, lock="off", lock_constellation="bpsk",
                 lock_presets=(), lock_memory=1000000, lock_first_item="i", _expected=0):
        self._code = _conv_code_of(constraint_length, polynomials, puncturing, termination, preset)
        self._searches = _core.known_name("lock", lock, ["off", "auto"]) == "auto"
        self._frames = self._code[3] != "streaming" and not self._searches
        self._soft_input = soft_input = known_format(soft_input, SOFT_TYPES)
        self._run = run_options(batch, slots, backend, device, devices, threads)
        self._arguments = (frame_bits, soft_scale, packed_output, decode_length, overlap,
                           cuda_kernel, positive_bit, lock, lock_constellation,
                           list(lock_presets), lock_memory, lock_first_item, preset)
        self._decoders = {}
        self._lock = threading.Lock()
        self._expected = _expected
        if soft_input:
            self._decoder(soft_input)
        else:
            self._make("int8") # raises errors for wrong parameters
        self._unused_scale = soft_scale != 32
        if not self._searches:
            warn_unused('lock is "off"', lock_constellation=lock_constellation.lower() != "bpsk",
                        lock_presets=len(lock_presets) > 0, lock_memory=lock_memory != 1000000,
                        lock_first_item=lock_first_item.lower() != "i")

    def _make(self, soft_input):
        frame_bits, *others = self._arguments
        return _core.viterbi_array_decoder(*self._code, frame_bits, soft_input, *others,
                                           self._run, self._expected)

    def _format_of(self, view):
        soft_input = format_of(view, self._soft_input, SOFT_TYPES)
        if soft_input != "float" and self._unused_scale:
            self._unused_scale = False # one warning is enough
            warn_unused(f'soft_input is "{soft_input}"', soft_scale=True)
        return soft_input

    def _decoder(self, soft_input):
        if soft_input not in self._decoders:
            self._decoders[soft_input] = self._make(soft_input)
        return self._decoders[soft_input]

    def _any(self):
        return self._decoder(next(iter(self._decoders), self._soft_input or "int8"))

    @property
    def decode_length(self):
        """The number D of stages that each parallel block decodes: given, or chosen for the
        code."""
        return self._any().decode_length()

    @property
    def overlap(self):
        """The number L of further stages on either side of a parallel block: given, or chosen for
        the code."""
        return self._any().overlap()

    @property
    def items_per_frame(self):
        """The number of input items per frame: soft values or, with soft_input "packed4", bytes of
        two soft values each. 0 if termination is "streaming"."""
        return self._any().items_per_frame()

    def decode(self, values, out=None):
        """Decodes an array; viterbi_decode() describes arguments, result and errors.

        Raises:
            RuntimeError : if push() has begun a stream that flush() has not ended, and for the
                reasons that viterbi_decode() lists
        """
        view = view_of("values", values)
        with self._lock:
            self._refuse_stream()
            return self._decode(view, out)

    def push(self, values):
        """Decodes the next values of a stream.

        The concatenated results of all calls up to flush() equal the result of decode() for all
        values.

        Args:
            values : (items,) of any length, in host memory, of the type with which the
                stream began

        Returns:
            The bits that are ready, uint8 (items,), none or more, and a decode_status like that of
            viterbi_decode(). channel_error_rate and metric are means since the beginning of the
            stream, and NaN before the first measurement. lock_changes has the changes since the
            last call.

        Raises:
            ValueError : if values are refused, or if termination is not "streaming" and lock is
                "off"
            TypeError : if values is not an array
            RuntimeError : if backend is "cuda" and the device fails, which discards the stream
        """
        view = view_of("values", values)
        with self._lock:
            self._refuse_frames("push()")
            if view.ndim != 1:
                refuse("values", f"of {view.ndim} dimensions", "1 in push()")
            soft_input = self._format_of(view)
            self._check_next(view, soft_input)
            return self._next(soft_input, view.address, view.size, False)

    def _refuse_frames(self, call):
        if self._frames:
            refuse("termination", f'"{self._code[3]}"',
                   f'"streaming" in {call}; decode() accepts frames')

    def _next(self, soft_input, address, items, last):
        decoder = self._decoder(soft_input)
        bits, rate, metric, chance, verdict, lock, changes = self._decode_next(
            decoder, soft_input, address, items, last)
        if verdict != self._verdict:
            warn_of(verdict)
        self._verdict = "" if last else verdict
        found = {"locked": lock["locked"], "lock": lock, "lock_changes": changes}
        return bits, decode_status(
            decoder, channel_error_rate=rate, metric=metric, chance_error_rate=chance,
            verdict=verdict, **(found if self._searches else {}))

    def _decode(self, view, out):
        soft_input = self._format_of(view)
        if self._searches:
            if out is not None:
                refuse("out", brief(out), 'None with lock "auto", because '
                       "the length of the output is not known beforehand")
            if view.device is not None:
                refuse("values", "on a CUDA device", 'arrays of the host with lock "auto" '
                       "(.get(), .cpu(), .numpy())")
            if view.ndim != 1:
                refuse("values", f"of {view.ndim} dimensions", '1 with lock "auto"')
            return self._next(soft_input, view.address, view.size, True)
        decoder = self._decoder(soft_input)
        require_device(view, self._run)
        if view.ndim not in (1, 2):
            refuse("values", f"of {view.ndim} dimensions", "1 and 2")
        if self._frames:
            each = decoder.items_per_frame()
            rows = row_count(view, each, "frames")
            size = decoder.output_items(each)
            shape = (rows, size) if view.ndim == 2 else (rows * size,)
            streams, items = 1, view.size
        else:
            streams = view.shape[0] if view.ndim == 2 else 1
            items = view.shape[-1]
            size = decoder.output_items(items)
            shape = (streams, size) if view.ndim == 2 else (size,)
        to = output_array(out, shape, np.uint8, view)
        found = []
        for k in range(streams):
            found.append(decoder.decode(view.address + k * items * view.dtype.itemsize, items,
                                        to.address + k * size))
        facts = np.array([f[:3] for f in found]).reshape(-1, 3).T
        if view.ndim == 1 or self._frames:
            facts = [x[0] if len(x) else math.nan for x in facts]
        rate, metric, chance = facts
        return to.array, decode_status(
            decoder, channel_error_rate=rate, metric=metric, chance_error_rate=chance,
            verdict=warn_of(next((f[3] for f in found if f[3]), "")))


@named_arguments
def viterbi_decode(values, constraint_length=None, polynomials=None, puncturing=None,
                   termination=None, frame_bits=0, soft_input="", soft_scale=32.0,
                   packed_output=True, decode_length=0, overlap=0, batch=0, slots=3,
                   backend="auto", device=0, threads=1, cuda_kernel="auto", devices=(),
                   preset="", positive_bit=1, out=None, lock="off", lock_constellation="bpsk",
                   lock_presets=(), lock_memory=1000000, lock_first_item="i"):
    """Decodes an array of soft values of a convolutional code.

    Streams are decoded in parallel blocks (Peng, Liu, Hou, Zhao: A Gb/s Parallel Block-based
    Viterbi Decoder for Convolutional Codes on GPU, arXiv:1608.00066). The output does not depend
    on the backend. Soft values of 0 and NaN are erasures, and infinities saturate.

    With lock "auto", values are one stream, (items,), in host memory. The decoder finds
    where pairs, puncturing periods and terminated frames begin, resolves the ambiguities of
    lock_constellation, and identifies the code among lock_presets. The result begins at the first
    lock.

    Args:
        values : soft values of type int8, float32 (soft_scale int8 steps per unit) or uint8. With
            soft_input "packed4", a uint8 has two 4-bit two's complement values, the first in the
            high nibble. With soft_input "uint8", it has one value in offset binary, with 128 for
            0. The shape of streams is (items,) for one stream, or (streams, items). The shape of
            frames is (frames, items), or (frames·items,). An array on a CUDA device is decoded by
            that device.
        constraint_length : K, 3 to 9; None: 7
        polynomials : 2 to 6 generator polynomials, octal as in the standards: the newest bit is
            the most significant; a negative polynomial inverts its output; None: (0o171, 0o133)
        puncturing : one string of 0 and 1 per output, comma separated, in the order of the
            polynomials: DVB rate 3/4 is "101,110"; None or "": none
        termination : "streaming" or, for frames, "terminated" (from state 0 to state 0, with K - 1
            zero bits appended), "truncated" (from state 0 to any state) or "tailbiting"; None:
            "streaming"
        frame_bits : number of information bits per frame; 0 with termination "streaming"
        soft_input : "int8", "float", "packed4" or "uint8"; "": the format of the type of values,
            which must not be uint8
        soft_scale : int8 steps per unit of float32 values, above 0
        packed_output : True: eight bits per byte, the first most significant, with each frame and
            the end of a stream padded to a byte; False: one bit per byte
        decode_length : number of decoded stages per parallel block, a multiple of 32; 0: chosen for
            the code
        overlap : number of further stages on either side of a parallel block, K - 1 or more; 0:
            chosen for the code
        batch : number of parallel blocks per batch; 0: chosen for the device
        slots : number of batches in flight on each device, 1 to 16
        backend : "auto" (CUDA if it can be used, otherwise the CPU), "cuda" or "cpu"
        device : number of the CUDA device
        threads : number of threads of the CPU backend, 1 to 256
        cuda_kernel : "auto"; "pbvd", the decoder of the paper; "registers" (for many blocks) or
            "fused" (for few), which support some codes only
        devices : numbers of up to 16 CUDA devices, which receive batches in rotation and replace
            device; (): device only
        preset : name of a code of conv_presets(), in place of the first four parameters of the
            code, which must be None then; "": none
        positive_bit : the bit, 0 or 1, that a positive soft value means
        out : a uint8 array of the result's shape to write to, which shares no memory with values;
            None: a new array in the same memory (host or device) as values. With lock "auto" it
            must be None
        lock : "off", or "auto": phase search in streams and in terminated frames without gaps
        lock_constellation : ambiguities to resolve. "bpsk": the beginnings of pairs and puncturing
            periods, and the sign unless the code is transparent; "qpsk": also rotation by 90
            degrees and exchanged I and Q; "oqpsk": also I and Q of a pair in consecutive symbols
            of the input, because of OQPSK's offset of half a symbol
        lock_presets : names of further codes of conv_presets() to search for
        lock_memory : number of soft values that are stored during the search, 10^4 to 10^9
        lock_first_item : the first soft value of a symbol, "i" or "q"

    Returns:
        The bits (uint8) and a decode_status. The bits are one per stage of a stream, or frame_bits
        per frame. Missing values of the last stage of a stream count as erasures. If values has one
        dimension, the bits have one dimension; otherwise they have one row per row of values. The
        decode_status also has the following numbers. For values of shape (streams, items), these
        are arrays with one entry per stream:
          - channel_error_rate: the channel's bit error rate, estimated by re-encoding about 2048
            bits at the start of each 2^20 decoded bits, and averaged; NaN for arrays on a device
          - metric: the sum of the magnitudes of wrong soft values, divided by the number of values,
            in int8 steps (packed4: 4-bit steps); measured over the bits of channel_error_rate;
            NaN for arrays on a device
          - chance_error_rate: the channel_error_rate of pure noise; NaN if unknown
          - verdict: the diagnosis of unsuitable values, or "". A verdict is also issued as a
            RuntimeWarning.
        With lock "auto" it also has:
          - locked: whether the decoder is locked at the end
          - lock: a dictionary with the state at the end; its entries are those of the block
            gpu_viterbi_pbvd's tag viterbi_lock
          - lock_changes: one such dictionary for each lock that was found or lost, which also has
            first_bit and first_byte, the indices of the first output bit and byte

    Raises:
        ValueError : if an argument is refused; the message names the argument, its value and what is
            allowed
        TypeError : if an array is neither NumPy's nor has DLPack or __cuda_array_interface__, or
            if arguments are missing or unknown
        RuntimeError : if backend is "cuda" and CUDA cannot be used, or if a device fails with
            backend "cuda" or while it decodes an array in its own memory
    """
    view = view_of("values", values)
    decoder = viterbi_decoder(
        constraint_length, polynomials, puncturing, termination, frame_bits, soft_input,
        soft_scale, packed_output, decode_length, overlap, batch, slots, backend, device,
        threads, cuda_kernel, devices, preset, positive_bit, lock, lock_constellation,
        lock_presets, lock_memory, lock_first_item, _expected=max(view.size, 1))
    return decoder._decode(view, out)


@named_arguments
def conv_encode(bits, constraint_length=None, polynomials=None, puncturing=None,
                termination=None, frame_bits=0, packed_input=True, packed_output=True,
                preset=""):
    """Encodes an array with a convolutional code.

    Args:
        bits : uint8, information bits in host memory. Streaming: (items,), one stream, or
            (streams, items), one stream per row. Frames: (frames, items), one frame of frame_bits
            per row, or (frames·items,).
        constraint_length : K, 3 to 9; None: 7
        polynomials : 2 to 6 generator polynomials, octal as in the standards: the newest bit is
            the most significant; a negative polynomial inverts its output; None: (0o171, 0o133)
        puncturing : one string of 0 and 1 per output, comma separated, in the order of the
            polynomials: DVB rate 3/4 is "101,110"; None or "": none
        termination : "streaming" or, for frames, "terminated" (from state 0 to state 0, with K - 1
            zero bits appended), "truncated" (from state 0 to any state) or "tailbiting"; None:
            "streaming"
        frame_bits : number of information bits per frame; 0 with termination "streaming"
        packed_input : bits has eight bits per byte, the first most significant, each frame
            padded to a byte; otherwise, bits has one bit per byte, 0 or 1
        packed_output : the same choice for the result; each stream and each frame is padded to a
            byte with zeros
        preset : name of a code of conv_presets(), in place of the first four parameters of the
            code, which must be None then; "": none

    Returns:
        The coded bits that are sent, uint8: one row per row of bits, or (items,) if bits has one
        dimension.

    Raises:
        ValueError : if an argument is refused; the message names the argument, its value and what is
            allowed
        TypeError : if an array is neither NumPy's nor has DLPack or __cuda_array_interface__, or
            if arguments are missing or unknown
    """
    code = _conv_code_of(constraint_length, polynomials, puncturing, termination, preset)
    flat = getattr(bits, "ndim", 1) == 1
    if code[3] == "streaming":
        if frame_bits:
            refuse("frame_bits", frame_bits, "0 in streaming")
        array = packed_bytes("bits", bits) if packed_input else bits_of("bits", bits)
        if array.ndim not in (1, 2):
            refuse("bits", f"of {array.ndim} dimensions", "1 and 2")
        rows = array.reshape(1, -1) if flat else array
        frame_bits = rows.shape[1] * (8 if packed_input else 1)
        rows = rows if packed_input else np.packbits(rows, axis=1)
    else:
        if frame_bits < 1:
            refuse("frame_bits", frame_bits, "1 or more")
        rows = packed_rows("bits", bits, frame_bits, packed_input)
    coded, size = _core.conv_encode(rows, frame_bits, *code)
    if not packed_output:
        coded = np.unpackbits(coded, axis=1, count=size)
    return coded.reshape(-1) if flat else coded
