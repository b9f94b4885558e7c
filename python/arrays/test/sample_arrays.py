# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Noisy streams and frames, and a fake array on a device, that the tests of arrays share."""

import numpy as np

import gpufec

SYNC = dict(q=16, n=8, frame_symbols=40)
RATES = dict(p_insert=5e-3, p_delete=5e-3)


def noisy(bits, ebn0_db=3.0, soft_input="int8", seed=7, **code):
    """Encodes bits, one per byte, and returns noisy soft values. The noise is that of Eb/N0
    `ebn0_db` at rate 1/2, also for codes of other rates."""
    coded = gpufec.conv_encode(bits, packed_input=False, packed_output=False, **code)
    return gpufec.awgn(coded, ebn0_db, 0.5, seed, soft_input)


def sync_frames(frames, seed=3):
    book = gpufec.codebook_davey_mackay(SYNC["n"], SYNC["q"], SYNC["frame_symbols"], 1)
    random = np.random.default_rng(seed)
    symbols = random.integers(0, SYNC["q"], (frames, SYNC["frame_symbols"])).astype(np.uint8)
    sent = gpufec.sync_encode(symbols, book, **SYNC)
    received, lengths = gpufec.bsid(sent, **RATES, seed=seed)
    return book, symbols, received, lengths


class FakeDevice:
    """A host array that claims by __cuda_array_interface__ to be on a device. `facts` are entries
    of the interface, in place of the correct ones."""

    def __init__(self, array, **facts):
        self.__cuda_array_interface__ = dict(
            array.__array_interface__, version=3, stream=None)
        self.__cuda_array_interface__.update(facts)
