# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random bits and channels with a seed."""

import numpy as np

from . import _gpufec as _core
from ._arguments import check_kind, named_arguments, refuse
from ._memory import bits_of, host_array, shape_and_size
from ._decoding import SOFT_TYPES


@named_arguments
def random_bits(shape, seed=1, first=0):
    """Random bits, uint8, one per byte; bit number n depends on seed and first + n alone."""
    shape, size = shape_and_size(shape)
    return _core.random_bits(size, seed, first).reshape(shape)


@named_arguments
def awgn(bits, ebn0_db, rate=1.0, seed=1, soft_input="int8", amplitude=32.0, first=0,
         positive_bit=1):
    """BPSK over additive white Gaussian noise: soft values.

    Args:
        bits : uint8, one per byte, of any shape
        ebn0_db : Eb/N0 in dB; inf for no noise
        rate : information bits per coded bit, so that Eb is that of information bits
        seed : of the noise, which of bit number n depends on seed and first + n alone
        soft_input : "int8", "float" (unit amplitude), "packed4" (two values per byte) or
            "uint8" (offset binary)
        amplitude : int8 steps of a noiseless value
        first : number of the first bit
        positive_bit : the bit, 0 or 1, that a positive soft value means

    Returns:
        int8, float32 or uint8 of the shape of bits; packed4: uint8, rows of half as many
        bytes. An int8 array wraps around beyond ±127: convert it, as with
        values.astype("float32"), before it is scaled or added to.

    Raises:
        ValueError : that names the argument, its value and what is allowed
    """
    array = bits_of("bits", bits)
    check_kind("ebn0_db", ebn0_db, 0.0)
    soft_input = _core.known_name("soft_input", soft_input, list(SOFT_TYPES))
    if soft_input == "packed4" and array.size and array.shape[-1] % 2:
        refuse("bits", f"of shape {array.shape}", "even last dimensions for packed4")
    if positive_bit not in (0, 1):
        refuse("positive_bit", positive_bit, "0 and 1")
    values = _core.awgn(array.reshape(-1) ^ np.uint8(positive_bit), ebn0_db, rate, seed,
                        soft_input, amplitude, first)
    shape = array.shape
    if soft_input == "packed4":
        return values.reshape(shape[:-1] + (shape[-1] // 2,))
    return values.view(SOFT_TYPES[soft_input][0]).reshape(shape)


@named_arguments
def bsid(symbols, p_insert=1e-3, p_delete=1e-3, p_substitute=0.0, seed=1, alphabet=2):
    """A channel that inserts, deletes and substitutes.

    Args:
        symbols : uint8, one channel symbol per byte, below alphabet: (frames, items), or
            (items,)

    Returns:
        What is received of all frames, one after the other, and the length of each, int64: as
        sync_decode() takes them.

    Raises:
        ValueError : that names the argument, its value and what is allowed
    """
    array = host_array("symbols", symbols, np.uint8)
    if array.ndim not in (1, 2):
        refuse("symbols", f"of {array.ndim} dimensions", "1 and 2")
    if 2 <= alphabet <= array.max(initial=0):
        refuse("an entry of symbols", int(array.max()), f"0 to {alphabet - 1}")
    return _core.bsid(np.atleast_2d(array), p_insert, p_delete, p_substitute,
                      seed, alphabet)
