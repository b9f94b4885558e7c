# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decoders, encoders and channels for arrays.

Arrays are NumPy's, or any with the DLPack protocol or __cuda_array_interface__. One on a CUDA
device is decoded there, and the result stays there, as a device_array. Nothing is copied or
converted silently: an array of another type, or one with gaps, is refused.
"""

import math
import os
import threading

import numpy as np

from . import _gpufec as _core
from ._gpufec import (codebook_davey_mackay, codebook_from_file, codebook_marker,
                      codebook_random, conv_preset, conv_presets, find_conv_preset, ldpc_code,
                      polynomials_from_gr_fec)

__all__ = ["awgn", "bsid", "codebook_davey_mackay", "codebook_from_file", "codebook_marker",
           "codebook_random", "conv_encode", "conv_preset", "conv_presets", "decode_status",
           "device_array", "find_conv_preset", "ldpc_code", "ldpc_decode", "ldpc_decoder",
           "ldpc_encode", "pinned_empty", "polynomials_from_gr_fec", "random_bits",
           "sync_decode", "sync_decoder", "sync_encode", "to_device", "viterbi_decode",
           "viterbi_decoder"]

_CUDA, _CUDA_MANAGED = 2, 13 # of DLPack
_SYNC_STATUS = np.dtype([("log_probability", "f8"), ("entropy", "f4"), ("start_drift", "i4"),
                         ("end_drift", "i4"), ("valid", "u4")])
assert _SYNC_STATUS.itemsize == _core.sync_status_bytes


class decode_status:
    """What is known of a call: backend, device, and what a decoder says of its frames."""

    def __init__(self, decoder, **facts):
        self.backend = decoder.active_backend()
        self.device = decoder.active_device()
        self.__dict__.update(facts)

    def __repr__(self):
        facts = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"decode_status({facts})"


# ---- arrays ----

class device_array:
    """An array in the memory of a CUDA device.

    CuPy, PyTorch, JAX and Numba take it as it is, by DLPack or __cuda_array_interface__:
    cupy.asarray(a), torch.from_dlpack(a). What it holds is complete, so no stream need wait.
    """

    def __init__(self, shape, dtype, device=0):
        self.shape = tuple(shape)
        self.dtype = np.dtype(dtype)
        self._memory = _core.on_device(self.nbytes, device)

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return math.prod(self.shape)

    @property
    def nbytes(self):
        return self.size * self.dtype.itemsize

    @property
    def device(self):
        """Number of the device."""
        return self._memory.device

    def numpy(self):
        """A copy in ordinary memory."""
        to = np.empty(self.shape, self.dtype)
        _core.copy(to.ctypes.data, self._memory.address, self.nbytes)
        return to

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.dtype.str, "version": 3, "strides": None,
                "data": (self._memory.address, False), "stream": None}

    def __dlpack_device__(self):
        return (_CUDA, self.device)

    def __dlpack__(self, stream=None, **_):
        code = {"i": 0, "u": 1, "f": 2}[self.dtype.kind]
        return _core.make_dlpack(self._memory, list(self.shape), code,
                                 8 * self.dtype.itemsize)

    def __repr__(self):
        return f"<device_array {self.shape} {self.dtype} on CUDA device {self.device}>"


def to_device(array, device=0):
    """A copy of a NumPy array on a CUDA device."""
    array = np.ascontiguousarray(array)
    there = device_array(array.shape, array.dtype, device)
    _core.copy(there._memory.address, array.ctypes.data, array.nbytes)
    return there


def pinned_empty(shape, dtype=np.int8):
    """A NumPy array, not initialised, in page-locked memory.

    A CUDA device reads it by itself, at the full speed of its bus. Where there is no device it
    is as other arrays are. Making one takes time, so make few and use them again.
    """
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        _refuse("dtype", dtype, "those of numbers")
    shape, size = _shape(shape, dtype.itemsize)
    try:
        memory = _core.page_locked(size * dtype.itemsize)
    except MemoryError:
        raise MemoryError(f"shape is {shape}: there is no memory for {size * dtype.itemsize} "
                          "bytes") from None
    return memory.array().view(dtype).reshape(shape)


def _shape(shape, item=1):
    """A shape as a tuple, and its elements, of so many bytes each."""
    shape = (shape,) if np.isscalar(shape) else tuple(shape)
    size = math.prod(int(n) for n in shape)
    if any(n < 0 for n in shape) or size * item >= 1 << 63:
        _refuse("shape", shape, "lengths from 0, of fewer than 2^63 bytes in all")
    return shape, size


class _View:
    """Where an array lies. It keeps what it is of alive."""

    def __init__(self, name, keep, address, shape, dtype, device=None):
        self.name, self.keep, self.address = name, keep, address
        self.shape, self.dtype, self.device = tuple(shape), dtype, device

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return math.prod(self.shape)


def _refuse(name, what, allowed):
    raise ValueError(f"{name} is {what}: allowed are {allowed}")


def _type_name(array):
    kind = type(array)
    return kind.__name__ if kind.__module__ == "builtins" else \
        f"{kind.__module__}.{kind.__name__}"


def _dense(shape, strides, item):
    """Whether items follow one another; strides in units of items of `item`."""
    if strides is None or 0 in shape:
        return True
    expected = item
    for n, stride in zip(reversed(shape), reversed(strides)):
        if n != 1 and stride != expected:
            return False
        expected *= n
    return True


def _on_device(name, array):
    """Address, shape, dtype and device of an array of a device, and what keeps it there."""
    if hasattr(array, "__dlpack__"):
        # Our stream is the legacy default one: what was begun on the array's own stream
        # comes before it.
        capsule = array.__dlpack__(stream=1)
        address, shape, strides, code, bits, device = _core.read_dlpack(capsule)
        kind = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}.get(code)
        if kind is None or bits % 8 or (kind, bits) == ("b", 1):
            _refuse(name, f"an array of items of {bits} bits", "NumPy's types")
        dtype, stream, item = np.dtype(f"{kind}{bits // 8}"), 1, 1
        keep = (array, capsule)
    else:
        facts = array.__cuda_array_interface__
        address, shape, strides = facts["data"][0], facts["shape"], facts.get("strides")
        dtype = np.dtype(facts["typestr"])
        # Before version 3 nothing is said of streams.
        stream = facts["stream"] if facts["version"] >= 3 and "stream" in facts else \
            1 if facts["version"] < 3 else None
        item, keep = dtype.itemsize, array
        device = None
    if not _dense(shape, strides, item):
        _refuse(name, "not contiguous", "C-contiguous arrays")
    view = _View(name, keep, address or 0, shape, dtype, device)
    if view.size:
        kind, there = _core.place_of(view.address)
        if kind != "device":
            _refuse(name, "an array in memory that no CUDA device of this process has",
                    "arrays that exist")
        view.device = there
        if stream is not None:
            _core.wait_for_stream(there, stream)
    return view


def _view(name, array):
    if isinstance(array, np.ndarray):
        if not array.flags.c_contiguous:
            _refuse(name, "not contiguous", "C-contiguous arrays "
                    f"(numpy.ascontiguousarray({name}) copies it)")
        if not array.dtype.isnative:
            _refuse(name, "not in the byte order of this machine", "native byte orders")
        return _View(name, array, array.__array_interface__["data"][0], array.shape,
                     array.dtype)
    if isinstance(array, device_array):
        return _View(name, array, array._memory.address, array.shape, array.dtype,
                     array.device)
    if hasattr(array, "__dlpack_device__"):
        if int(array.__dlpack_device__()[0]) in (_CUDA, _CUDA_MANAGED):
            return _on_device(name, array)
        return _view(name, np.from_dlpack(array))
    if hasattr(array, "__cuda_array_interface__"):
        return _on_device(name, array)
    raise TypeError(f"{name} is a {_type_name(array)}: allowed are NumPy arrays, and arrays "
                    "with DLPack or __cuda_array_interface__")


def _typed(view, *dtypes):
    if view.dtype not in [np.dtype(d) for d in dtypes]:
        _refuse(view.name, f"of type {view.dtype}",
                " and ".join(str(np.dtype(d)) for d in dtypes))
    return view


def _host(name, array, *dtypes):
    """A NumPy array as it is."""
    view = _typed(_view(name, array), *dtypes)
    if view.device is not None:
        _refuse(name, "on a CUDA device", "arrays of the host (.get(), .cpu(), .numpy())")
    return view.keep


def _rows(view, items, what):
    """How many rows of `items` an array has, of one or two dimensions."""
    if view.ndim == 2 and view.shape[1] == items:
        return view.shape[0]
    if view.ndim == 1 and items and view.shape[0] % items == 0:
        return view.shape[0] // items
    _refuse(view.name, f"of shape {view.shape}",
            f"({what}, {items}) and a multiple of {items} in one dimension")


class _Output:
    """The array that a call gives: `out`, or a new one beside the input."""

    def __init__(self, out, shape, dtype, view):
        self.device = view.device
        if out is None:
            out = np.empty(shape, dtype) if view.device is None else \
                device_array(shape, dtype, view.device)
        else:
            there = _typed(_view("out", out), dtype)
            if there.shape != tuple(shape):
                _refuse("out", f"of shape {there.shape}", tuple(shape))
            if isinstance(out, np.ndarray) and not out.flags.writeable:
                _refuse("out", "read-only", "arrays that can be written")
            if there.device is not None and view.device is None and \
                    _core.place_of(view.address)[0] == "ordinary" and view.size:
                _refuse("out", "on a CUDA device", f"arrays where {view.name} is")
            self.view = there
        if out is not None and not hasattr(self, "view"):
            self.view = _view("out", out)
        self.array = out

    @property
    def address(self):
        return self.view.address


def _run(batch, slots, backend, device, devices, threads, most=0):
    # One thread copies less than the link to a GPU carries.
    return {"batch": batch, "slots": slots, "backend": backend, "device": device,
            "devices": list(devices), "threads": threads, "most": most,
            "copy_threads": min(4, len(os.sched_getaffinity(0)))}


def _check_device(view, run):
    if view.device is None:
        return
    if run["backend"] == "cpu":
        _refuse("backend", f"cpu, and {view.name} on a CUDA device", "auto and cuda for it")
    allowed = run["devices"] or [run["device"]]
    if view.device not in allowed:
        _refuse(view.name, f"on CUDA device {view.device}",
                f"arrays on device {', '.join(map(str, allowed))}, as device says")


def _code(constraint_length, polynomials, puncturing, termination, preset):
    given = {"constraint_length": constraint_length, "polynomials": polynomials,
             "puncturing": puncturing, "termination": termination}
    if preset:
        both = [name for name, value in given.items() if value is not None]
        if both:
            raise ValueError(f'preset is "{preset}": it has its own of what is given too: '
                             + ", ".join(both))
        p = find_conv_preset(preset)
        return p.constraint_length, p.polynomials, p.puncturing, p.termination
    return (7 if constraint_length is None else constraint_length,
            [0o171, 0o133] if polynomials is None else list(polynomials),
            puncturing or "", termination or "streaming")


# ---- Viterbi ----

_SOFT = {"int8": ("int8",), "float": ("float32",), "packed4": ("uint8", "int8")}


def _soft_input(view, soft_input, known):
    """The format of an array: what is asked for, if its type is that, or what its type says."""
    if not soft_input:
        for name in known:
            if view.dtype == np.dtype(_SOFT[name][0]):
                return name
        _refuse(view.name, f"of type {view.dtype}",
                ", ".join(_SOFT[name][0] for name in known))
    if soft_input not in known:
        _refuse("soft_input", f'"{soft_input}"', ", ".join(known))
    _typed(view, *_SOFT[soft_input])
    return soft_input


class viterbi_decoder:
    """A decoder of convolutional codes, to be used again and again.

    It keeps its memory and its threads, which viterbi_decode() makes anew with each call. Its
    parameters are those of viterbi_decode(). Threads of Python take turns.
    """

    def __init__(self, constraint_length=None, polynomials=None, puncturing=None,
                 termination=None, frame_bits=0, soft_input="", soft_scale=32.0,
                 packed_output=True, decode_length=0, overlap=0, batch=0, slots=3,
                 backend="auto", device=0, threads=1, cuda_kernel="auto", devices=(),
                 preset="", positive_bit=1):
        self._code = _code(constraint_length, polynomials, puncturing, termination, preset)
        self._frames = self._code[3] != "streaming"
        self._soft_input = soft_input
        self._packed = packed_output
        self._run = _run(batch, slots, backend, device, devices, threads)
        self._arguments = (frame_bits, soft_scale, packed_output, decode_length, overlap,
                           cuda_kernel, positive_bit)
        self._decoders = {}
        self._lock = threading.Lock()
        self._expected = 0
        if soft_input:
            if soft_input not in _SOFT:
                _refuse("soft_input", f'"{soft_input}"', ", ".join(_SOFT))
            self._decoder(soft_input)
        else:
            self._make("int8") # refuses what is wrong

    def _make(self, soft_input):
        frame_bits, *others = self._arguments
        return _core.viterbi_array_decoder(*self._code, frame_bits, soft_input, *others,
                                           self._run, self._expected)

    def _decoder(self, soft_input):
        if soft_input not in self._decoders:
            self._decoders[soft_input] = self._make(soft_input)
        return self._decoders[soft_input]

    def _any(self):
        return self._decoder(next(iter(self._decoders), self._soft_input or "int8"))

    @property
    def decode_length(self):
        """D: decoded stages of a parallel block, as chosen."""
        return self._any().decode_length()

    @property
    def overlap(self):
        """L: stages on either side of it, as chosen."""
        return self._any().overlap()

    def decode(self, values, out=None):
        """Decodes an array; viterbi_decode() says what it takes and gives."""
        view = _view("values", values)
        with self._lock:
            return self._decode(view, out)

    def _decode(self, view, out):
        decoder = self._decoder(_soft_input(view, self._soft_input, _SOFT))
        _check_device(view, self._run)
        if view.ndim not in (1, 2):
            _refuse("values", f"of {view.ndim} dimensions", "1 and 2")
        if self._frames:
            each = decoder.items_per_frame()
            rows = _rows(view, each, "frames")
            size = decoder.output_items(each)
            shape = (rows, size) if view.ndim == 2 else (rows * size,)
            streams, items = 1, view.size
        else:
            streams = view.shape[0] if view.ndim == 2 else 1
            items = view.shape[-1]
            size = decoder.output_items(items)
            shape = (streams, size) if view.ndim == 2 else (size,)
        to = _Output(out, shape, np.uint8, view)
        found = []
        for k in range(streams):
            found.append(decoder.decode(view.address + k * items * view.dtype.itemsize, items,
                                        to.address + k * size))
        rate, metric = np.array(found).reshape(-1, 2).T
        if view.ndim == 1 or self._frames:
            rate, metric = (x[0] if len(x) else math.nan for x in (rate, metric))
        return to.array, decode_status(decoder, channel_error_rate=rate, metric=metric)


def viterbi_decode(values, constraint_length=None, polynomials=None, puncturing=None,
                   termination=None, frame_bits=0, soft_input="", soft_scale=32.0,
                   packed_output=True, decode_length=0, overlap=0, batch=0, slots=3,
                   backend="auto", device=0, threads=1, cuda_kernel="auto", devices=(),
                   preset="", positive_bit=1, out=None):
    """Decodes an array of soft values of a convolutional code.

    0 is an erasure, and so is NaN. Parameters that are not described here are those of the
    block gpu_viterbi_pbvd.

    Args:
        values : int8, float32 (soft_scale steps for one unit), or uint8 (two 4-bit values
            each, as soft_input "packed4" says). Streaming: (items,), a stream, or (streams,
            items), each row a stream of its own. Frames: (frames, items), one frame per row,
            or (items,), frames one after the other. On a CUDA device it is decoded there.
        soft_input : "int8", "float" or "packed4"; "": what the type of values says
        packed_output : eight bits per byte, the first most significant, and each frame and
            the end of a stream padded to a byte; else one bit per byte
        backend : "auto", "cuda" or "cpu"
        positive_bit : the bit, 0 or 1, that a positive soft value means
        out : a uint8 array of the result's shape to write to; None: a new one beside values

    Returns:
        The bits, a uint8 array of one row per row of values, and a decode_status with
        channel_error_rate and metric (numbers, or one per stream): means of what the block's
        tags say, NaN for arrays on a device.

    Raises:
        ValueError : that names the argument, its value and what is allowed
        TypeError : for what is no array
        RuntimeError : if CUDA is asked for and cannot be had
    """
    view = _view("values", values)
    # No argument of the decoder itself: a decoder for this array alone.
    decoder = viterbi_decoder.__new__(viterbi_decoder)
    decoder._code = _code(constraint_length, polynomials, puncturing, termination, preset)
    decoder._frames = decoder._code[3] != "streaming"
    decoder._soft_input, decoder._packed = soft_input, packed_output
    decoder._run = _run(batch, slots, backend, device, devices, threads)
    decoder._arguments = (frame_bits, soft_scale, packed_output, decode_length, overlap,
                          cuda_kernel, positive_bit)
    decoder._decoders, decoder._expected = {}, max(view.size, 1)
    return decoder._decode(view, out)


def _bits(name, bits):
    """A NumPy array of bits, one per byte, each 0 or 1."""
    array = _host(name, bits, np.uint8, np.bool_).view(np.uint8)
    if array.size and array.max() > 1:
        _refuse(f"the largest entry of {name}", int(array.max()), "0 and 1")
    return array


def _packed(name, array, bits, packed):
    """Rows of `bits` bits, eight per byte, of an array of one or two dimensions."""
    if packed:
        array = _host(name, array, np.uint8)
        size = (bits + 7) // 8
        return array.reshape(_rows(_view(name, array), size, "frames"), size)
    array = _bits(name, array)
    rows = array.reshape(_rows(_view(name, array), bits, "frames"), bits)
    return np.packbits(rows, axis=1)


def conv_encode(bits, constraint_length=None, polynomials=None, puncturing=None,
                termination=None, frame_bits=0, packed_input=True, packed_output=True,
                preset=""):
    """Encodes an array with a convolutional code.

    Parameters that are not described here are those of the block conv_encoder.

    Args:
        bits : uint8, eight per byte, the first most significant, or one per byte
            (packed_input). Streaming: (items,), or (streams, items). Frames: (frames, items)
            of frame_bits each, packed ones padded to a byte, or (items,) of such frames.

    Returns:
        The coded bits, uint8, eight per byte or one (packed_output), of one row per row of
        bits; each row, and each frame, is padded to a byte. (items,) for (items,).

    Raises:
        ValueError : that names the argument, its value and what is allowed
    """
    code = _code(constraint_length, polynomials, puncturing, termination, preset)
    flat = getattr(bits, "ndim", 1) == 1
    if code[3] == "streaming":
        if frame_bits:
            _refuse("frame_bits", frame_bits, "0 in streaming")
        array = _host("bits", bits, np.uint8) if packed_input else _bits("bits", bits)
        if array.ndim not in (1, 2):
            _refuse("bits", f"of {array.ndim} dimensions", "1 and 2")
        rows = array.reshape(1, -1) if flat else array
        frame_bits = rows.shape[1] * (8 if packed_input else 1)
        rows = rows if packed_input else np.packbits(rows, axis=1)
    else:
        if frame_bits < 1:
            _refuse("frame_bits", frame_bits, "1 and more")
        rows = _packed("bits", bits, frame_bits, packed_input)
    coded, size = _core.conv_encode(rows, frame_bits, *code)
    if not packed_output:
        coded = np.unpackbits(coded, axis=1, count=size)
    return coded.reshape(-1) if flat else coded


# ---- LDPC ----

class ldpc_decoder:
    """A decoder of LDPC codes, to be used again and again.

    It keeps its memory and its threads, which ldpc_decode() makes anew with each call. Its
    parameters are those of ldpc_decode(). Threads of Python take turns.
    """

    def __init__(self, standard="dvbs2", frame_size="normal", rate="1/2", code_file="",
                 soft_input="", llr_scale=2.0, algorithm="offset_min_sum", precision="int8",
                 max_iterations=25, early_stop=True, output="message", packed_output=True,
                 batch=0, slots=3, backend="auto", device=0, threads=1, schedule="layered",
                 offset=-1.0, normalization=-1.0, devices=(), positive_bit=0, punctured=(),
                 shortened=(), _most=0):
        self.code = ldpc_code(standard, frame_size, rate, str(code_file), list(punctured),
                              list(shortened))
        self._soft_input = soft_input
        self._type = np.int8 if output in ("llr", "extrinsic") else np.uint8
        self._run = _run(batch, slots, backend, device, devices, threads, _most)
        self._before = (llr_scale, algorithm, precision, max_iterations, early_stop, output,
                        packed_output, schedule, offset, normalization, positive_bit)
        self._decoders = {}
        self._lock = threading.Lock()
        known = ("int8", "float")
        if soft_input and soft_input not in known:
            _refuse("soft_input", f'"{soft_input}"', ", ".join(known))
        self._decoder(soft_input or "int8") # refuses what is wrong

    def _decoder(self, soft_input):
        if soft_input not in self._decoders:
            self._decoders[soft_input] = _core.ldpc_array_decoder(
                self.code, soft_input, *self._before, self._run)
        return self._decoders[soft_input]

    def decode(self, values, out=None):
        """Decodes an array; ldpc_decode() says what it takes and gives."""
        view = _view("values", values)
        with self._lock:
            decoder = self._decoder(_soft_input(view, self._soft_input, ("int8", "float")))
            _check_device(view, self._run)
            rows = _rows(view, decoder.items_per_frame(), "frames")
            size = decoder.output_items()
            to = _Output(out, (rows, size) if view.ndim == 2 else (rows * size,), self._type,
                         view)
            found = decoder.decode(view.address, rows, to.address)
            return to.array, decode_status(decoder, iterations=found[:, 0],
                                           unsatisfied=found[:, 1])


def ldpc_decode(values, standard="dvbs2", frame_size="normal", rate="1/2", code_file="",
                soft_input="", llr_scale=2.0, algorithm="offset_min_sum", precision="int8",
                max_iterations=25, early_stop=True, output="message", packed_output=True,
                batch=0, slots=3, backend="auto", device=0, threads=1, schedule="layered",
                offset=-1.0, normalization=-1.0, devices=(), positive_bit=0, punctured=(),
                shortened=(), out=None):
    """Decodes an array of channel values (LLRs) of frames of an LDPC code.

    NaN counts as 0. Parameters that are not described here are those of the block
    gpu_ldpc_dvbs2.

    Args:
        values : int8 (llr_scale steps per nat) or float32 (nats): (frames, s), one frame per
            row, or (frames·s,), where s is ldpc_code(…).sent: n less what the standard,
            punctured and shortened leave out. On a CUDA device it is decoded there.
        soft_input : "int8" or "float"; "": what the type of values says
        output : "message" (k bits per frame) or "codeword" (n bits); or LLRs, n per frame, of
            bits sent or not: "llr", posterior, or "extrinsic", those less the channel values,
            int8 of llr_scale steps per nat and the sign of values
        packed_output : eight bits per byte, the first most significant, each frame padded to
            a byte; else one bit per byte
        backend : "auto", "cuda" or "cpu"
        positive_bit : the bit, 0 or 1, that a positive value means
        out : an array of the result's shape and type to write to; None: a new one beside
            values

    Returns:
        The bits, a uint8 array of one row per row of values, or the LLRs, an int8 array, and a
        decode_status with iterations and unsatisfied, uint32 arrays of one entry per frame: iterations made, and
        checks that the decisions violate, 0 for a codeword.

    Raises:
        ValueError : that names the argument, its value and what is allowed
        TypeError : for what is no array
        RuntimeError : if CUDA is asked for and cannot be had
    """
    most = max(1, getattr(values, "shape", (1,))[0]) if getattr(values, "ndim", 1) == 2 else 0
    return ldpc_decoder(standard, frame_size, rate, code_file, soft_input, llr_scale, algorithm,
                        precision, max_iterations, early_stop, output, packed_output, batch,
                        slots, backend, device, threads, schedule, offset, normalization,
                        devices, positive_bit, punctured, shortened, most).decode(values, out)


def ldpc_encode(messages, standard="dvbs2", frame_size="normal", rate="1/2", code_file="",
                packed_input=True, packed_output=True, punctured=(), shortened=()):
    """Encodes an array of messages with an LDPC code.

    Parameters that are not described here are those of the block ldpc_encoder.

    Args:
        messages : uint8, eight bits per byte, the first most significant, each message padded
            to a byte, or one bit per byte (packed_input): (frames, items), or (items,)

    Returns:
        What is sent of the codewords, uint8, eight bits per byte or one (packed_output), of
        one row per row of messages; (items,) for (items,).

    Raises:
        ValueError : that names the argument, its value and what is allowed
    """
    code = ldpc_code(standard, frame_size, rate, str(code_file), list(punctured),
                     list(shortened))
    words = _core.ldpc_encode(_packed("messages", messages, code.k, packed_input), code)
    words = words if packed_output else np.unpackbits(words, axis=1, count=code.sent)
    return words.reshape(-1) if messages.ndim == 1 else words


# ---- synchronisation ----

_SYNC_OUTPUT = {"posteriors": np.float32, "extrinsics": np.float32, "posteriors64": np.float64,
                "llr": np.int8}


class sync_decoder:
    """A decoder for channels that insert and delete, to be used again and again.

    It keeps its memory and its threads, which sync_decode() makes anew with each call. Its
    parameters are those of sync_decode(). Threads of Python take turns.
    """

    def __init__(self, codebook, q=32, n=10, frame_symbols=210, p_insert=1e-3, p_delete=1e-3,
                 p_substitute=0.0, mode="framed", soft_input="", output="symbols",
                 precision="float", storage="auto", batch=0, slots=3, backend="auto", device=0,
                 threads=1, form="linear", exclusion=1e-10, mn_min=0, mn_max=0, lookahead=0,
                 acquire=0, alphabet=2, receiver="corridor", start_first=0, start_prior=(),
                 end_first=0, end_prior=(), devices=(), positive_bit=0, reads=1, passes=2,
                 _most=0):
        self._code = _core.sync_code(codebook, q, n, frame_symbols, alphabet)
        self._q, self._symbols, self._mode, self._output = q, frame_symbols, mode, output
        self._channel = (p_insert, p_delete, p_substitute)
        self._more = dict(mode=mode, output=output, form=form, precision=precision,
                          storage=storage, receiver=receiver, exclusion=exclusion,
                          mn_min=mn_min, mn_max=mn_max, lookahead=lookahead, acquire=acquire,
                          start_first=start_first, start_prior=list(start_prior),
                          end_first=end_first, end_prior=list(end_prior),
                          positive_bit=positive_bit, reads=reads, passes=passes)
        self._run = _run(batch, slots, backend, device, devices, threads, _most)
        self._soft_input, self._reads, self._alphabet = soft_input, reads, alphabet
        self._decoders = {}
        self._lock = threading.Lock()
        if soft_input and soft_input not in ("hard", "float"):
            _refuse("soft_input", f'"{soft_input}"', "hard, float")
        if not _most:
            self._decoder(soft_input or "hard", False) # refuses what is wrong

    def _decoder(self, soft_input, priors):
        key = (soft_input, priors)
        if key not in self._decoders:
            self._decoders[key] = _core.sync_array_decoder(
                self._code, *self._channel,
                dict(self._more, soft_input=soft_input, priors=priors), self._run)
        return self._decoders[key]

    def _shape(self, frames):
        """Shape and type of the output."""
        if self._output == "symbols":
            return (frames, self._symbols), np.uint8 if self._q <= 256 else np.int16
        last = self._q.bit_length() - 1 if self._output == "llr" else self._q
        return (frames, self._symbols, last), _SYNC_OUTPUT[self._output]

    def decode(self, received, lengths=None, priors=None, out=None):
        """Decodes an array; sync_decode() says what it takes and gives."""
        view = _typed(_view("received", received), np.uint8, np.float32)
        _check_device(view, self._run)
        soft_input = "float" if view.dtype == np.float32 else "hard"
        if self._soft_input and soft_input != self._soft_input:
            _refuse("received", f"of type {view.dtype}",
                    "float32" if self._soft_input == "float" else "uint8")
        if view.device is None:
            return self._decode(view, soft_input, lengths, priors, out)
        if self._mode == "framed" and self._reads == 1 and priors is None:
            try:
                return self._decode(view, soft_input, lengths, priors, out)
            except RuntimeError: # what only the host decodes, or a device that failed
                if self._run["backend"] == "cuda":
                    raise
        host = np.empty(view.shape, view.dtype)
        _core.copy(host.ctypes.data, view.address, host.nbytes)
        found, status = self._decode(_view("received", host), soft_input, lengths, priors, None)
        there = _Output(out, found.shape, found.dtype, view)
        _core.copy(there.address, found.ctypes.data, found.nbytes)
        return there.array, status

    def _decode(self, view, soft_input, lengths, priors, out):
        if soft_input == "float" and self._alphabet > 2:
            view = _of_likelihoods(view, self._alphabet)
        decode = self._decode_stream if self._mode == "stream" else self._decode_frames
        with self._lock:
            return decode(view, soft_input, lengths, priors, out)

    def _decode_stream(self, view, soft_input, lengths, priors, out):
        if view.ndim != 1:
            _refuse("received", f"of {view.ndim} dimensions", "1 in mode stream")
        for name, given in (("lengths", lengths), ("priors", priors), ("out", out)):
            if given is not None:
                _refuse(name, "given", "None in mode stream")
        decoder = self._decoder(soft_input, False)
        output, status, begins, locked = decoder.decode_stream(view.address, view.size)
        shape, dtype = self._shape(len(begins))
        status = status.view(_SYNC_STATUS)
        return output.view(dtype).reshape(shape), decode_status(
            decoder, begin=begins, locked=locked.astype(bool),
            **{name: status[name] for name in _SYNC_STATUS.names})

    def _decode_frames(self, view, soft_input, lengths, priors, out):
        decoder = self._decoder(soft_input, priors is not None) # refuses wrong reads
        begins, lengths = _frames_of(view, lengths, self._reads)
        frames = len(lengths) // self._reads
        shape, dtype = self._shape(frames)
        address = 0
        if priors is not None:
            weights = _host("priors", priors, np.float32)
            if weights.shape != (frames, self._symbols, self._q):
                _refuse("priors", f"of shape {weights.shape}",
                        (frames, self._symbols, self._q))
            address = weights.ctypes.data
        to = _Output(out, shape, dtype, view)
        status = decoder.decode(view.address, begins, lengths, address, to.address)
        status = status.view(_SYNC_STATUS)
        return to.array, decode_status(decoder, **{name: status[name]
                                                   for name in _SYNC_STATUS.names})


def _of_likelihoods(view, alphabet):
    """An array of items that are likelihoods, in its last dimension, of each symbol."""
    if view.ndim < 2 or view.shape[-1] != alphabet:
        _refuse(view.name, f"of shape {view.shape}",
                f"(frames, items, {alphabet}) and (items, {alphabet})")
    return _View(view.name, view.keep, view.address, view.shape[:-1], view.dtype, view.device)


def _frames_of(view, lengths, reads):
    """First items and lengths of the reads of an array's frames."""
    if view.ndim not in (1, 2):
        _refuse("received", f"of {view.ndim} dimensions", "1 and 2")
    if lengths is None:
        if view.ndim == 1:
            _refuse("lengths", "None", "one length per frame, where received has one dimension")
        lengths = np.full(view.shape[0], view.shape[1], np.uint64)
    lengths = np.asarray(lengths)
    if lengths.dtype.kind not in "iu" or lengths.ndim != 1 and (lengths.ndim != 2 or reads == 1):
        _refuse("lengths", f"of type {lengths.dtype} and {lengths.ndim} dimensions",
                "integers in one dimension" if reads == 1 else
                f"integers of shape (frames, {reads}) or (frames·{reads},)")
    if lengths.ndim == 2 and lengths.shape[1] != reads or lengths.size % reads:
        _refuse("lengths", f"of shape {lengths.shape}",
                f"(frames, {reads}) and (frames·{reads},), with {reads} reads")
    lengths = lengths.reshape(-1)
    of_each = "frames" if reads == 1 else "reads"
    if view.ndim == 2 and len(lengths) != view.shape[0]:
        _refuse("lengths", f"of {len(lengths)} {of_each}",
                f"{view.shape[0]}, the rows of received")
    most = view.shape[1] if view.ndim == 2 else view.size
    if len(lengths) and not 0 <= lengths.min() <= lengths.max() <= most:
        wrong = lengths.min() if lengths.min() < 0 else lengths.max()
        _refuse("an entry of lengths", int(wrong), f"0 to {most}")
    lengths = lengths.astype(np.uint64)
    if view.ndim == 2:
        return np.arange(len(lengths), dtype=np.uint64) * np.uint64(view.shape[1]), lengths
    if lengths.sum() != view.size:
        _refuse("the sum of lengths", int(lengths.sum()), f"{view.size}, the items of received")
    return np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.uint64)[:len(lengths)], \
        lengths


def sync_decode(received, codebook, q=32, n=10, frame_symbols=210, p_insert=1e-3, p_delete=1e-3,
                p_substitute=0.0, lengths=None, priors=None, mode="framed", soft_input="",
                output="symbols", precision="float", storage="auto", batch=0, slots=3,
                backend="auto", device=0, threads=1, form="linear", exclusion=1e-10, mn_min=0,
                mn_max=0, lookahead=0, acquire=0, alphabet=2, receiver="corridor",
                start_first=0, start_prior=(), end_first=0, end_prior=(), devices=(),
                positive_bit=0, out=None, reads=1, passes=2):
    """Decodes an array of what was received over a channel that inserts and deletes.

    Parameters that are not described here are those of the block gpu_sync_map.

    Args:
        received : uint8 (one channel symbol per byte, another value being an erasure) or
            float32 (the probability that a 1 was received). Frames: (frames, items), of
            whose rows the first lengths items are used, or (items,), frames one after the
            other. Mode stream: (items,). With an alphabet above 2, float32 has a last
            dimension more, of that size: the likelihoods that each symbol was received. On a
            CUDA device frames are decoded there; with priors, several reads or in mode stream
            the array is copied to the host, and the result back. With several
            reads: (frames·reads, items), or (items,), the reads of a frame one after the other.
        codebook : N·q rows of n channel symbols, or the path of a file of them
        lengths : items of each frame; None: all of each row. With several reads: items of
            each, (frames, reads) or (frames·reads,); 0 for one that was not received
        priors : float32, (frames, N, q): weights of the symbols; None: uniform
        output : "symbols" (frames, N), "posteriors" or "extrinsics" (frames, N, q), or "llr"
            (frames, N, log2 q)
        positive_bit : the bit, 0 or 1, that a positive value of output "llr" means
        backend : "auto", "cuda" or "cpu"
        out : an array of the result's shape and type to write to; None: a new one
        reads : received copies of each frame, 1 to 256, decoded together: each with what the
            others say of the symbols as priors. Mode framed
        passes : of several reads, times that each is decoded, 1 to 16

    Returns:
        The output, and a decode_status with log_probability, entropy, start_drift, end_drift
        and valid, one entry per frame; in mode stream also begin and locked.

    Raises:
        ValueError : that names the argument, its value and what is allowed
        TypeError : for what is no array
        RuntimeError : if CUDA is asked for and cannot be had
    """
    shape = getattr(received, "shape", (1,))
    if alphabet > 2 and getattr(received, "dtype", None) == np.float32:
        shape = shape[:-1]
    most = max(1, shape[0] if len(shape) == 2 else
               np.size(lengths) if lengths is not None and mode == "framed" else 0)
    decoder = sync_decoder(codebook, q, n, frame_symbols, p_insert, p_delete, p_substitute,
                           mode, soft_input, output, precision, storage, batch, slots, backend,
                           device, threads, form, exclusion, mn_min, mn_max, lookahead, acquire,
                           alphabet, receiver, start_first, start_prior, end_first, end_prior,
                           devices, positive_bit, reads, passes,
                           most if mode == "framed" else 0)
    return decoder.decode(received, lengths, priors, out)


def sync_encode(symbols, codebook, q=32, n=10, frame_symbols=210, alphabet=2):
    """Encodes an array of message symbols with a codebook.

    Args:
        symbols : uint8, int16 or uint16, below q: (frames, N), or (items,) of frames one
            after the other, of which the last may be incomplete

    Returns:
        The channel symbols, uint8: (frames, n·N), or (items·n,).

    Raises:
        ValueError : that names the argument, its value and what is allowed
    """
    code = _core.sync_code(codebook, q, n, frame_symbols, alphabet)
    array = _host("symbols", symbols, np.uint8, np.int16, np.uint16)
    if array.ndim not in (1, 2) or array.ndim == 2 and array.shape[1] != frame_symbols:
        _refuse("symbols", f"of shape {array.shape}", f"(frames, {frame_symbols}) and (items,)")
    if array.size and not 0 <= array.min() <= array.max() < q:
        wrong = array.min() if array.min() < 0 else array.max()
        _refuse("an entry of symbols", int(wrong), f"0 to {q - 1}")
    coded = _core.sync_encode(np.ascontiguousarray(array.reshape(-1), np.uint16), code)
    return coded.reshape(array.shape[0], -1) if array.ndim == 2 else coded


# ---- channels ----

def random_bits(shape, seed=1, first=0):
    """Random bits, uint8, one per byte; bit number n depends on seed and first + n alone."""
    shape, size = _shape(shape)
    return _core.random_bits(size, seed, first).reshape(shape)


def awgn(bits, ebn0_db, rate=1.0, seed=1, soft_input="int8", amplitude=32.0, first=0,
         positive_bit=1):
    """BPSK over additive white Gaussian noise: soft values.

    Args:
        bits : uint8, one per byte, of any shape
        ebn0_db : Eb/N0 in dB; inf for no noise
        rate : information bits per coded bit, so that Eb is that of information bits
        seed : of the noise, which of bit number n depends on seed and first + n alone
        soft_input : "int8", "float" (unit amplitude) or "packed4" (two values per byte)
        amplitude : int8 steps of a noiseless value
        first : number of the first bit
        positive_bit : the bit, 0 or 1, that a positive soft value means

    Returns:
        int8 or float32 of the shape of bits; packed4: uint8, rows of half as many bytes.

    Raises:
        ValueError : that names the argument, its value and what is allowed
    """
    array = _bits("bits", bits)
    if soft_input not in _SOFT:
        _refuse("soft_input", f'"{soft_input}"', ", ".join(_SOFT))
    if soft_input == "packed4" and array.size and array.shape[-1] % 2:
        _refuse("bits", f"of shape {array.shape}", "even last dimensions for packed4")
    if positive_bit not in (0, 1):
        _refuse("positive_bit", positive_bit, "0 and 1")
    values = _core.awgn(array.reshape(-1) ^ np.uint8(positive_bit), ebn0_db, rate, seed,
                        soft_input, amplitude, first)
    shape = array.shape
    if soft_input == "packed4":
        return values.reshape(shape[:-1] + (shape[-1] // 2,))
    return values.view(np.float32 if soft_input == "float" else np.int8).reshape(shape)


def bsid(symbols, p_insert=1e-3, p_delete=1e-3, p_substitute=0.0, seed=1, alphabet=2):
    """A channel that inserts, deletes and substitutes.

    Args:
        symbols : uint8, one channel symbol per byte: (frames, items), or (items,)

    Returns:
        What is received of all frames, one after the other, and the length of each, int64: as
        sync_decode() takes them.

    Raises:
        ValueError : that names the argument, its value and what is allowed
    """
    array = _host("symbols", symbols, np.uint8)
    if array.ndim not in (1, 2):
        _refuse("symbols", f"of {array.ndim} dimensions", "1 and 2")
    return _core.bsid(array.reshape(-1, array.shape[-1]), p_insert, p_delete, p_substitute,
                      seed, alphabet)
