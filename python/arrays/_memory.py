# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks arrays in host memory or of a CUDA device, and makes views of them."""

import math
import operator
import warnings

import numpy as np

from . import _gpufec as _core
from ._arguments import integer, refuse


def _check_numpy(version, pybind11):
    """Refuses NumPy 2 if the bindings were built with a version of pybind11 below 2.12, which reads
    the strides of NumPy 2's arrays as 0. `pybind11` is that version as a sequence of numbers."""
    if int(version.split(".")[0]) >= 2 and pybind11 < (2, 12):
        raise ImportError(f"gpufec was built with pybind11 {'.'.join(map(str, pybind11))}, and "
                          f"NumPy is {version}: NumPy 2 needs a build with pybind11 2.12 or "
                          "newer. Build gpufec again with a newer pybind11, or install numpy<2")


_check_numpy(np.__version__, _core.pybind11_version)
_CUDA, _CUDA_MANAGED = 2, 13 # device types of DLPack


class _Shaped:
    """A base class of arrays with an attribute shape."""

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return math.prod(self.shape)


class device_array(_Shaped):
    """An array in the memory of a CUDA device, in C order.

    CuPy, PyTorch, JAX and Numba accept the array without a copy, by DLPack or
    __cuda_array_interface__: cupy.asarray(a), torch.from_dlpack(a). The contents of a decoder's
    result are complete when the decoder returns it, so no CUDA stream has to wait for them.

    Args:
        shape : shape of the array, whose contents are not initialised
        dtype : a NumPy type of numbers
        device : number of the CUDA device

    Raises:
        ValueError : if shape or dtype is refused
        RuntimeError : if there is no such device, or the device has not enough memory
    """

    def __init__(self, shape, dtype, device=0):
        self.dtype = np.dtype(dtype)
        if self.dtype.hasobject:
            refuse("dtype", self.dtype, "types of numbers")
        self.shape, _ = shape_and_size(shape, self.dtype.itemsize)
        self._memory = _core.on_device(self.nbytes, device)

    @property
    def nbytes(self):
        return self.size * self.dtype.itemsize

    @property
    def device(self):
        """The number of the CUDA device."""
        return self._memory.device

    def numpy(self):
        """Returns a copy in ordinary host memory."""
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
    """Returns a copy of a NumPy array in the memory of a CUDA device.

    Args:
        array : a NumPy array, or anything that numpy.ascontiguousarray() converts to one
        device : number of the CUDA device

    Returns:
        A device_array of the same shape and type.

    Raises:
        ValueError : if the array is masked or its items are not numbers
        RuntimeError : if there is no such device, or the device has not enough memory
    """
    refuse_mask("array", array)
    array = np.ascontiguousarray(array)
    there = device_array(array.shape, array.dtype, device)
    _core.copy(there._memory.address, array.ctypes.data, array.nbytes)
    return there


def pinned_empty(shape, dtype=np.int8):
    """Returns an uninitialised NumPy array in pinned memory.

    A CUDA device reads such an array directly, at the full speed of its bus. Without a device,
    the array is in ordinary memory. Allocation is slow: allocate few arrays and reuse them.

    Args:
        shape : shape of the array, or its length
        dtype : a NumPy type of numbers

    Raises:
        ValueError : if shape or dtype is refused
        MemoryError : if there is no memory for the array
    """
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        refuse("dtype", dtype, "types of numbers")
    shape, size = shape_and_size(shape, dtype.itemsize)
    try:
        memory = _core.page_locked(size * dtype.itemsize)
    except MemoryError:
        raise MemoryError(f"shape is {shape}: not enough memory for {size * dtype.itemsize} "
                          "bytes") from None
    return memory.array().view(dtype).reshape(shape)


def shape_and_size(shape, item=1):
    """Returns `shape`, a tuple or a number, as a tuple, and the number of its elements. Refuses
    invalid shapes; `item` is the size of an element in bytes."""
    shape = (shape,) if np.isscalar(shape) else tuple(shape)
    shape = tuple(integer("shape", n) for n in shape)
    size = math.prod(shape)
    if any(n < 0 for n in shape) or size * item >= 1 << 63:
        refuse("shape", shape, "lengths of 0 or more, with fewer than 2^63 bytes in total")
    return shape, size


class array_view(_Shaped):
    """Address, shape, type and device (None: host memory) of an array. The view keeps the array
    alive."""

    read_only = False # as __cuda_array_interface__ states; False for arrays without this interface

    def __init__(self, name, keep, address, shape, dtype, device=None, nbytes=None):
        self.name, self.keep, self.address = name, keep, address
        self.shape, self.dtype, self.device = tuple(shape), dtype, device
        self.nbytes = self.size * dtype.itemsize if nbytes is None else nbytes

    def overlaps(self, other):
        return max(self.address, other.address) < min(self.address + self.nbytes,
                                                      other.address + other.nbytes)


def _type_name(array):
    kind = type(array)
    return kind.__name__ if kind.__module__ == "builtins" else \
        f"{kind.__module__}.{kind.__name__}"


def _is_dense(shape, strides):
    """Returns whether an array of this shape is contiguous in C order. `strides` are in items;
    None: contiguous."""
    if strides is None or 0 in shape:
        return True
    if len(strides) != len(shape):
        return False
    expected = 1
    for n, stride in zip(reversed(shape), reversed(strides)):
        if n != 1 and stride != expected:
            return False
        expected *= n
    return True


def _from_dlpack(name, array):
    """Reads the DLPack interface of `array`, which errors call `name`. Returns an object that keeps
    the array alive, and its address, shape, strides in items, dtype, stream and device."""
    # stream=1 is CUDA's legacy default stream. The producer makes this stream wait for earlier work
    # on the array, and _device_view() waits for the stream.
    capsule = array.__dlpack__(stream=1)
    try:
        address, shape, strides, code, bits, device = _core.read_dlpack(capsule)
        kind = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}[code]
        dtype = np.dtype(f"{kind}{bits / 8:g}") # raises TypeError for a fraction of a byte
    except (KeyError, TypeError):
        refuse(name, f"an array of items of {bits} bits", "NumPy's types")
    except ValueError as error:
        refuse(name, f"an invalid DLPack array ({error})", "valid DLPack arrays")
    return (array, capsule), address, shape, strides, dtype, 1, device


def _from_interface(name, array):
    """Reads the __cuda_array_interface__ of `array`, which errors call `name`. Returns the array,
    its address, shape, strides in items, dtype and stream, and whether it is read-only."""
    facts = array.__cuda_array_interface__
    try:
        address, read_only = facts["data"]
        address, shape = operator.index(address or 0), tuple(map(operator.index, facts["shape"]))
        dtype, version = np.dtype(facts["typestr"]), operator.index(facts["version"])
        strides, stream = facts.get("strides"), facts.get("stream")
        if strides is not None:
            strides = [n / dtype.itemsize for n in map(operator.index, strides)]
        if version < 3: # older versions of the interface have no stream
            stream = 1
        elif stream is not None and not 1 <= operator.index(stream) < 1 << 64:
            raise ValueError(f"stream is {stream}")
    except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        refuse(name, f"an array with an invalid __cuda_array_interface__ ({error!r})",
               "arrays with a valid interface")
    if facts.get("mask") is not None:
        refuse(name, "a masked array", "arrays without a mask")
    return array, address, shape, strides, dtype, stream, read_only


def _device_view(name, array):
    """Returns the view of `array`, an array on a device, which errors call `name`. Waits for
    earlier work on the CUDA stream that the array names, if any."""
    device, read_only = None, False
    if hasattr(array, "__dlpack__"):
        keep, address, shape, strides, dtype, stream, device = _from_dlpack(name, array)
    else:
        keep, address, shape, strides, dtype, stream, read_only = _from_interface(name, array)
    if any(n < 0 for n in shape):
        refuse(name, f"of shape {tuple(shape)}", "lengths of 0 or more")
    if not _is_dense(shape, strides):
        refuse(name, "not contiguous", "C-contiguous arrays")
    view = array_view(name, keep, address, shape, dtype, device)
    view.read_only = bool(read_only)
    nbytes = view.size * dtype.itemsize
    if not 0 <= address <= (1 << 64) - nbytes:
        refuse(name, f"of {nbytes} bytes at {address:#x}", "arrays that end below address 2^64")
    if address % dtype.alignment:
        refuse(name, f"at {address:#x}, not aligned",
               f"addresses that are multiples of {dtype.alignment}")
    if view.size:
        kind, there = _core.place_of(address)
        if kind != "device" or _core.place_of(address + nbytes - 1) != (kind, there):
            refuse(name, "an array in memory that no CUDA device of this process has",
                   "arrays in memory of a CUDA device of this process")
        view.device = there
        if stream is not None:
            _core.wait_for_stream(there, stream)
    return view


def refuse_mask(name, array):
    """Refuses `array`, which errors call `name`, if it is masked, because the mask would be
    lost."""
    if isinstance(array, np.ma.MaskedArray):
        refuse(name, "a masked array", "arrays without a mask (.filled(0) puts zeros in "
               "place of masked entries; a soft value of 0 is an erasure)")


def view_of(name, array):
    """Returns a view of `array`, which errors call `name`: an array of NumPy, with DLPack or with
    __cuda_array_interface__. Refuses arrays that decoders do not accept: masked, not contiguous,
    not aligned, or in foreign byte order."""
    if isinstance(array, np.ndarray):
        refuse_mask(name, array)
        if not array.flags.c_contiguous:
            refuse(name, "not contiguous", "C-contiguous arrays "
                   f"(numpy.ascontiguousarray({name}) copies it)")
        if not array.flags.aligned:
            refuse(name, "not aligned", f"aligned arrays, such as numpy.copy({name})")
        if not array.dtype.isnative:
            refuse(name, "not in the byte order of this machine", "native byte orders")
        return array_view(name, array, array.__array_interface__["data"][0], array.shape,
                          array.dtype)
    if isinstance(array, device_array):
        return array_view(name, array, array._memory.address, array.shape, array.dtype,
                          array.device)
    if hasattr(array, "__dlpack_device__"):
        try:
            if int(array.__dlpack_device__()[0]) not in (_CUDA, _CUDA_MANAGED):
                array = np.from_dlpack(array)
        except (BufferError, LookupError, RuntimeError, TypeError, ValueError) as error:
            refuse(name, f"an invalid DLPack array ({error!r})", "valid DLPack arrays")
        return view_of(name, array) if isinstance(array, np.ndarray) else _device_view(name, array)
    if hasattr(array, "__cuda_array_interface__"):
        return _device_view(name, array)
    raise TypeError(f"{name} is a {_type_name(array)}: allowed values are NumPy arrays, and arrays "
                    "with DLPack or __cuda_array_interface__")


def require_type(view, *dtypes):
    """Returns `view` if its type is one of `dtypes`; refuses other types."""
    if view.dtype not in [np.dtype(d) for d in dtypes]:
        refuse(view.name, f"of type {view.dtype}",
               " and ".join(str(np.dtype(d)) for d in dtypes))
    return view


def host_array(name, array, *dtypes):
    """Returns a NumPy array that shares the memory of `array`, which errors call `name`. Refuses
    arrays on a device, and types other than `dtypes`."""
    view = require_type(view_of(name, array), *dtypes)
    if view.device is not None:
        refuse(name, "on a CUDA device", "arrays of the host (.get(), .cpu(), .numpy())")
    return view.keep


def row_count(view, items, what):
    """Returns the number of rows of `items` elements in `view`, an array of one or two dimensions.
    Refuses other shapes; `what` names the rows in the error."""
    if view.ndim == 2 and view.shape[1] == items:
        return view.shape[0]
    if view.ndim == 1 and items and view.shape[0] % items == 0:
        return view.shape[0] // items
    refuse(view.name, f"of shape {view.shape}",
           f"({what}, {items}) and a multiple of {items} in one dimension")


class output_array:
    """The output array of a call: `out` if given, otherwise a new array in the same memory (host or
    device) as the input `view`.

    `out` must not overlap the input or `others` in memory.
    """

    def __init__(self, out, shape, dtype, view, *others):
        self.device = view.device
        if out is None:
            out = np.empty(shape, dtype) if view.device is None else \
                device_array(shape, dtype, view.device)
        else:
            there = require_type(view_of("out", out), dtype)
            if there.shape != tuple(shape):
                refuse("out", f"of shape {there.shape}", tuple(shape))
            if there.read_only or isinstance(out, np.ndarray) and not out.flags.writeable:
                refuse("out", "read-only", "writable arrays")
            if there.device is not None and view.device is None and \
                    _core.place_of(view.address)[0] == "ordinary" and view.size:
                refuse("out", "on a CUDA device", f"arrays in the same memory as {view.name}")
            for used in (view, *others):
                if there.overlaps(used):
                    refuse("out", f"in the memory of {used.name}", "arrays in separate memory")
            self.view = there
        if out is not None and not hasattr(self, "view"):
            self.view = view_of("out", out)
        self.array = out

    @property
    def address(self):
        return self.view.address


def bits_of(name, bits):
    """Returns `bits` as a NumPy array with one bit per byte. Refuses values above 1."""
    array = host_array(name, bits, np.uint8, np.bool_).view(np.uint8)
    if array.size and array.max() > 1:
        refuse(f"the largest entry of {name}", int(array.max()), "0 and 1")
    return array


def packed_bytes(name, array, level=4):
    """Returns `array`, which has packed bits, as a NumPy array. Warns if it looks like one bit per
    byte.

    The warning appears for 16 bytes or more if all are 0 or 1 and at least an eighth are 1. Random
    packed bytes are all 0 or 1 with a probability of at most 2^-112. The limit of an eighth
    excludes packed messages that are 0 except for a small number, such as a counter.
    """
    array = host_array(name, array, np.uint8)
    if array.size >= 16 and array.max() == 1 and array.mean() >= 0.125:
        warnings.warn(f"{name} has only the values 0 and 1, but is encoded as eight bits per "
                      "byte: use packed_input=False if it has one bit per byte",
                      RuntimeWarning, stacklevel=level)
    return array


def packed_rows(name, array, bits, packed):
    """Returns `array`, which has one or two dimensions, as rows of `bits` packed bits each. `array`
    has packed bits if `packed` is true, otherwise one bit per byte."""
    if packed:
        array = packed_bytes(name, array, 5)
        size = (bits + 7) // 8
        return array.reshape(row_count(view_of(name, array), size, "frames"), size)
    array = bits_of(name, array)
    rows = array.reshape(row_count(view_of(name, array), bits, "frames"), bits)
    return np.packbits(rows, axis=1)
