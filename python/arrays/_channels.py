# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random bits and simulated channels. The same seed produces the same result."""

import numpy as np

from . import _gpufec as _core
from ._arguments import check_kind, named_arguments, refuse
from ._memory import bits_of, host_array, shape_and_size
from ._decoding import SOFT_TYPES


@named_arguments
def random_bits(shape, seed=1, first=0):
    """Returns random bits, one per byte.

    Args:
        shape : shape of the array, or the number of bits
        seed : seed of the bits, 0 to 2^64 - 1
        first : number of the first bit, 0 to 2^64 - 1. Bit n of the array, in C order, depends only
            on seed and first + n.

    Returns:
        A uint8 array of zeros and ones, of the given shape.

    Raises:
        ValueError : if an argument is refused; the message names the argument, its value and what is
            allowed
        MemoryError : if there is no memory for the array
    """
    shape, size = shape_and_size(shape)
    return _core.random_bits(size, seed, first).reshape(shape)


@named_arguments
def awgn(bits, ebn0_db, rate=1.0, seed=1, soft_input="int8", amplitude=32.0, first=0,
         positive_bit=1):
    """Sends bits as BPSK over additive white Gaussian noise, and returns soft values.

    Args:
        bits : uint8 or bool, zeros and ones, of any shape, in host memory
        ebn0_db : Eb/N0 in dB, -100 or more; inf for no noise
        rate : information bits per bit that is sent, above 0 and up to 1; Eb is the energy per
            information bit
        seed : seed of the noise, 0 to 2^64 - 1. The noise of bit n, in C order, depends only on
            seed and first + n.
        soft_input : format of the result, as decoders name it: "int8"; "float", of amplitude 1;
            "packed4", two 4-bit two's complement values per byte, the first in the high nibble;
            "uint8", offset binary, which is int8 plus 128
        amplitude : magnitude of a value without noise in int8 or uint8 steps, above 0 and up to
            127. The magnitude of packed4 values is proportional: 4.4 steps at 32.
        first : number of the first bit, 0 to 2^64 - 1
        positive_bit : the bit, 0 or 1, that a positive soft value means

    Returns:
        An array of the shape of bits, of type int8, float32 or uint8. With packed4, the array
        is uint8 and its last dimension is halved; the last dimension of bits must be even.
        Quantised values are rounded, and limited to ±127 (packed4: ±7). NumPy's int8 wraps
        around: convert values, for example with values.astype("float32"), before you scale or
        add them.

    Raises:
        ValueError : if an argument is refused; the message names the argument, its value and what is
            allowed
        TypeError : if bits is not an array, or if arguments are missing or unknown
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
    """Sends frames over a channel that inserts, deletes and substitutes symbols (BSID channel).

    For each symbol the channel draws an event. With probability p_insert, it inserts a random
    symbol and draws another event for the same symbol. With probability p_delete, it deletes the
    symbol. Otherwise it transmits the symbol. This is the channel of J. A. Briffa: Graphics
    processing unit implementation and optimisation of a flexible maximum a-posteriori decoder for
    synchronisation correction (2014), section 2.2.

    Args:
        symbols : uint8, one channel symbol per byte, below alphabet, in host memory:
            (frames, items), or (items,), one frame
        p_insert : probability of an insertion, 0 to 0.99
        p_delete : probability of a deletion, 0 to below 1; p_insert + p_delete is below 1
        p_substitute : probability that a transmitted symbol is replaced by another, 0 to 1
        seed : seed of the channel, 0 to 2^64 - 1
        alphabet : number of values of a channel symbol, 2 to 16

    Returns:
        The received symbols of all frames, concatenated, uint8 (items,), and the
        length of each frame, int64 (frames,). sync_decode() accepts both.

    Raises:
        ValueError : if an argument is refused; the message names the argument, its value and what is
            allowed
        TypeError : if symbols is not an array, or if arguments are missing or unknown
    """
    array = host_array("symbols", symbols, np.uint8)
    if array.ndim not in (1, 2):
        refuse("symbols", f"of {array.ndim} dimensions", "1 and 2")
    if 2 <= alphabet <= array.max(initial=0):
        refuse("an entry of symbols", int(array.max()), f"0 to {alphabet - 1}")
    return _core.bsid(np.atleast_2d(array), p_insert, p_delete, p_substitute,
                      seed, alphabet)
