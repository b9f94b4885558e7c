# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decodes and encodes arrays with Reed-Solomon codes."""

import numpy as np

from . import _gpufec as _core
from ._arguments import named_arguments, refuse
from ._memory import host_array, row_count, view_of


def _rows(name, array, items, *dtypes):
    """Returns an array of one or two dimensions as uint8 rows of `items` bytes."""
    array = host_array(name, array, *dtypes)
    rows = row_count(view_of(name, array), items, "frames")
    return array.reshape(rows, items).view(np.uint8)


@named_arguments
def rs_encode(messages, code="ccsds-223", interleaving=1, virtual_fill=0):
    """Encodes an array of messages with a Reed-Solomon code.

    Args:
        messages : uint8, in host memory: (frames, I·k), one frame per row, or
            (frames·I·k,), where I is the interleaving depth and k the number of message symbols
            of a codeword. Byte j·I + i of a frame is symbol j of codeword i.
        code : "ccsds-223" and "ccsds-239" (CCSDS 131.0-B, (255, 223) and (255, 239), dual basis),
            "ccsds-223-conventional" and "ccsds-239-conventional" (the same codes with symbols in
            powers of alpha), "dvb" (EN 300 421, (204, 188))
        interleaving : number of codewords per frame, 1 to 16
        virtual_fill : number of message symbols of each codeword that are 0 and not sent, by
            which n and k are reduced

    Returns:
        The frames, uint8: (frames, I·n), or (frames·I·n,) if messages has one dimension.

    Raises:
        ValueError : if an argument is refused; the message names the argument, its value and what is
            allowed
        TypeError : if messages is not an array, or if arguments are missing or unknown
    """
    encoder = _core.rs_encoder_kernel(code, interleaving, virtual_fill)
    frames = encoder.encode(_rows("messages", messages, encoder.message_bytes, np.uint8))
    return frames.reshape(-1) if messages.ndim == 1 else frames


@named_arguments
def rs_decode(frames, code="ccsds-223", interleaving=1, virtual_fill=0, erasures=None, threads=1):
    """Decodes an array of frames with a Reed-Solomon code, on the CPU.

    A codeword with e erased symbols is corrected if the number of other wrong symbols is at most
    (n - k - e) / 2.

    Args:
        frames : uint8, in host memory: (frames, I·n), one frame per row, or (frames·I·n,),
            where I is the interleaving depth and n the number of symbols of a codeword. Byte
            j·I + i of a frame is symbol j of codeword i.
        code : name of the code, as in rs_encode()
        interleaving : number of codewords per frame, 1 to 16
        virtual_fill : number of message symbols of each codeword that are 0 and not sent
        erasures : uint8 or bool, of the shape of frames: a value other than 0 marks an erased
            symbol; None: no symbol is erased
        threads : number of threads, 1 to 256

    Returns:
        The messages, uint8: (frames, I·k), or (frames·I·k,) if frames has one dimension; and the
        number of corrected symbols of each codeword, int32 (frames, I), which is -1 if the
        codeword could not be corrected. The message of such a codeword is as received.

    Raises:
        ValueError : if an argument is refused; the message names the argument, its value and what is
            allowed
        TypeError : if frames or erasures is not an array, or if arguments are missing or unknown
    """
    decoder = _core.rs_decoder_kernel(code, interleaving, virtual_fill)
    rows = _rows("frames", frames, decoder.frame_bytes, np.uint8)
    erased = np.empty((0, 0), np.uint8)
    if erasures is not None:
        erased = _rows("erasures", erasures, decoder.frame_bytes, np.uint8, np.bool_)
        if len(erased) != len(rows):
            refuse("erasures", f"of {len(erased)} frames", f"{len(rows)}, as in frames")
    messages, corrected = decoder.decode(rows, erased, threads)
    return messages.reshape(-1) if frames.ndim == 1 else messages, corrected
