# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Code that all array decoders share: status, options, formats, and streams that arrive in
parts."""

import os
import sys
import warnings

import numpy as np

from . import _gpufec as _core
from ._arguments import brief, refuse
from ._memory import require_type


class decode_status:
    """Status of a decoding call.

    Attributes:
        backend : the backend that decoded, "cuda" or "cpu"
        device : name of the device, or instruction set of the CPU

    The other attributes are those that viterbi_decode(), ldpc_decode() and sync_decode() list.
    """

    def __init__(self, decoder, **facts):
        self.backend = decoder.active_backend()
        self.device = decoder.active_device()
        self.__dict__.update(facts)

    def __repr__(self):
        facts = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"decode_status({facts})"


def warn_of(verdict):
    """Issues `verdict`, a text about an apparent fault of the input, as a RuntimeWarning that
    points to the line of the user's call, unless `verdict` is "". Returns `verdict`."""
    if verdict:
        level, frame = 1, sys._getframe()
        while frame.f_back and frame.f_globals.get("__name__", "").startswith(f"{__package__}._"):
            level, frame = level + 1, frame.f_back
        warnings.warn(verdict, RuntimeWarning, stacklevel=level)
    return verdict


def run_options(batch, slots, backend, device, devices, threads, most=0):
    """Returns the options that all decoders share: batches, backend, devices and threads. `most`
    limits the batch size in work items if `batch` is 0; 0: no limit."""
    backend = _core.known_name("backend", backend, ["auto", "cuda", "cpu"])
    return {"batch": batch, "slots": slots, "backend": backend, "device": device,
            "devices": list(devices), "threads": threads, "most": most,
            # A single thread would copy the input more slowly than the bus transfers data to a GPU.
            "copy_threads": min(4, len(os.sched_getaffinity(0)))}


def require_device(view, run):
    """Refuses `view`, the view of an array on a device, if the decoder with the options `run` does
    not use that device."""
    if view.device is None:
        return
    if run["backend"] == "cpu":
        refuse("backend", f"cpu, but {view.name} is on a CUDA device",
               "auto and cuda for such an array")
    allowed = run["devices"] or [run["device"]]
    if view.device not in allowed:
        refuse(view.name, f"on CUDA device {view.device}",
               f"arrays on device {', '.join(map(str, allowed))}, which the parameter "
               f"{'devices' if run['devices'] else 'device'} selects")


SOFT_TYPES = {"int8": ("int8",), "float": ("float32",), "packed4": ("uint8", "int8"),
              "uint8": ("uint8",)}
LLR_FORMATS = ("int8", "float", "uint8")


def known_format(soft_input, known):
    """Returns the name of a format in the spelling of `known`; refuses other names. An empty name,
    which selects the format of the array's type, is returned unchanged."""
    if known is LLR_FORMATS and soft_input[:7].lower() in ("symbols", "complex"):
        refuse("soft_input", brief(soft_input), f"{', '.join(known)}; {_OF_SYMBOLS}")
    return soft_input and _core.known_name("soft_input", soft_input, list(known))


def format_of(view, soft_input, known):
    """Returns the format of the values in `view`. If `soft_input` names a format, the type of the
    array must fit it; "" selects the format of the type. `known` has the names of the decoder's
    formats."""
    soft_input = known_format(soft_input, known)
    if not soft_input:
        formats = [name for name in known if view.dtype == np.dtype(SOFT_TYPES[name][0])]
        if len(formats) == 1:
            return formats[0]
        if formats:
            refuse(view.name, f"of type {view.dtype}", 'soft_input "packed4" (two values per byte) '
                   'or "uint8" (offset binary)')
        _refuse_complex(view, known)
        refuse(view.name, f"of type {view.dtype}",
               ", ".join(dict.fromkeys(SOFT_TYPES[name][0] for name in known)))
    _refuse_complex(view, known)
    require_type(view, *SOFT_TYPES[soft_input])
    return soft_input


_OF_SYMBOLS = 'gpu_ldpc_dvbs2(soft_input="symbols") accepts symbols'


def _refuse_complex(view, known):
    """Refuses `view` if its items are complex, with an error that explains how to convert them to
    real soft values."""
    if view.dtype.kind == "c":
        cast = "" if view.dtype == np.complex64 else ".astype(numpy.complex64)"
        raise ValueError(f"{view.name} is of type {view.dtype}: to decode I and Q as soft values, "
                         f"use {view.name}{cast}.view(numpy.float32)\nallowed values are "
                         f"{', '.join(dict.fromkeys(SOFT_TYPES[name][0] for name in known))}"
                         + (f"; {_OF_SYMBOLS}" if known is LLR_FORMATS else ""))


def warn_unused(why, **differs):
    """Warns of arguments that have no effect because of `why`. `differs` maps the name of each such
    argument to whether its value differs from the default; the warning names only those that
    differ."""
    names = [name for name, other in differs.items() if other]
    if names:
        warn_of(f"arguments without effect: {', '.join(names)} ({why})")


class _Streaming:
    """A base class for decoders of streams that are passed in several arrays."""

    _stream = None # soft_input of the stream that push() has begun; None: no stream
    _verdict = "" # the last verdict that was issued as a warning

    def flush(self):
        """Ends the stream that push() has begun, and returns its remaining output like push()."""
        with self._lock:
            self._refuse_frames("flush()")
            return self._next(self._stream or self._soft_input or self._default_format, 0, 0, True)

    def _check_next(self, view, soft_input):
        if view.device is not None:
            refuse(view.name, "on a CUDA device",
                   "arrays of the host in push() (.get(), .cpu(), .numpy())")
        if self._stream not in (None, soft_input):
            refuse(view.name, f"of type {view.dtype}", "the type that the stream began with")

    def _decode_next(self, decoder, soft_input, address, items, last):
        self._stream = None # stays None if an exception discards the stream
        found = decoder.decode_stream(address, items, last)
        self._stream = None if last else soft_input
        return found

    def _refuse_stream(self):
        if self._stream is not None:
            raise RuntimeError("decode() was called after push(): end the stream with flush() "
                               "first")
