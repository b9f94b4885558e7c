# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""A test double of gr-cuda's base class for Python blocks, whose work() receives CuPy arrays.

With numpy_for_cupy, which replaces CuPy by NumPy, the blocks run on simulated devices.
"""

import functools

import cupy
import device_blocks
from gnuradio import gr
from gnuradio.gr.gateway import py_io_signature


def device_port(types):
    """Returns the signature of one port in device memory."""
    signature = py_io_signature(1, 1, types) # gateway.py rejects derived classes
    size = signature.port_types(1)[0].itemsize
    signature.gr_io_signature = lambda: gr.io_signature(1, 1, size, device_blocks.buffer_type)
    return signature


def device_array(array):
    """Returns the array in device memory that begins at the address of a NumPy array."""
    if not hasattr(cupy, "cuda"):
        return array
    memory = cupy.cuda.UnownedMemory(array.ctypes.data, array.nbytes, owner=array)
    return cupy.ndarray(array.shape, array.dtype, cupy.cuda.MemoryPointer(memory, 0))


class decim_block(gr.decim_block):
    def __init__(self, name, in_sig, out_sig, decim):
        gr.decim_block.__init__(self, name, device_port(in_sig), device_port(out_sig), decim)

    def __init_subclass__(cls):
        super().__init_subclass__()
        work = cls.work

        @functools.wraps(work)
        def on_device(self, input_items, output_items):
            done = work(self, [device_array(a) for a in input_items],
                        [device_array(a) for a in output_items])
            if hasattr(cupy, "cuda"):
                cupy.cuda.get_current_stream().synchronize()
            return done

        cls.work = on_device
