# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""LDPC codes: decoder and encoder of arrays."""

import threading

import numpy as np

from . import _gpufec as _core
from ._arguments import named_arguments
from ._memory import output_array, packed_rows, row_count, view_of
from ._decoding import (LLR_FORMATS, decode_status, format_of, known_format, require_device,
                        run_options, warn_of, warn_unused)
from ._gpufec import ldpc_code


class ldpc_decoder:
    """A decoder of LDPC codes for repeated use.

    The decoder keeps its memory and threads between calls; ldpc_decode() creates them
    in each call. The parameters are those of ldpc_decode(). If several Python threads
    use one decoder, their calls run one after the other. Each call takes whole frames
    and does not depend on earlier calls.
    """

    @named_arguments
    def __init__(self, standard="dvbs2", frame_size="normal", rate="1/2", code_file="",
                 soft_input="", llr_scale=2.0, algorithm="offset_min_sum", precision="int8",
                 max_iterations=25, early_stop=True, output="message", packed_output=True,
                 batch=0, slots=3, backend="auto", device=0, threads=1, schedule="layered",
                 offset=-1.0, normalization=-1.0, devices=(), positive_bit=0, punctured=(),
                 shortened=(), message_positions="systematic", _most=0):
        self.code = ldpc_code(standard, frame_size, rate, str(code_file), list(punctured),
                              list(shortened), message_positions)
        self._soft_input = soft_input = known_format(soft_input, LLR_FORMATS)
        output = _core.known_name("output", output, ["message", "codeword", "llr", "extrinsic"])
        self._type = np.int8 if output in ("llr", "extrinsic") else np.uint8
        self._run = run_options(batch, slots, backend, device, devices, threads, _most)
        self._before = (llr_scale, algorithm, precision, max_iterations, early_stop, output,
                        packed_output, schedule, offset, normalization, positive_bit)
        self._decoders = {}
        self._lock = threading.Lock()
        self._decoder(soft_input or "int8") # refuses what is wrong
        self._unused_scale = llr_scale != 2 and self._type is np.uint8
        kind = algorithm.lower()
        warn_unused(f'algorithm is "{algorithm}"',
                    offset=offset >= 0 and "offset" not in kind,
                    normalization=normalization >= 0 and "normalized" not in kind)

    def _decoder(self, soft_input):
        if soft_input not in self._decoders:
            self._decoders[soft_input] = _core.ldpc_array_decoder(
                self.code, soft_input, *self._before, self._run)
        return self._decoders[soft_input]

    def decode(self, values, out=None):
        """Decodes an array; ldpc_decode() describes arguments and result."""
        view = view_of("values", values)
        with self._lock:
            soft_input = format_of(view, self._soft_input, LLR_FORMATS)
            decoder = self._decoder(soft_input)
            if soft_input == "float" and self._unused_scale:
                self._unused_scale = False # told once
                warn_unused("values are float32, in nats", llr_scale=True)
            require_device(view, self._run)
            rows = row_count(view, decoder.items_per_frame(), "frames")
            size = decoder.output_items()
            to = output_array(out, (rows, size) if view.ndim == 2 else (rows * size,), self._type,
                              view)
            found = decoder.decode(view.address, rows, to.address)
            return to.array, decode_status(decoder, iterations=found[:, 0],
                                           unsatisfied=found[:, 1],
                                           verdict=warn_of(decoder.verdict()))


@named_arguments
def ldpc_decode(values, standard="dvbs2", frame_size="normal", rate="1/2", code_file="",
                soft_input="", llr_scale=2.0, algorithm="offset_min_sum", precision="int8",
                max_iterations=25, early_stop=True, output="message", packed_output=True,
                batch=0, slots=3, backend="auto", device=0, threads=1, schedule="layered",
                offset=-1.0, normalization=-1.0, devices=(), positive_bit=0, punctured=(),
                shortened=(), out=None, message_positions="systematic"):
    """Decodes an array of channel values (LLRs) of frames of an LDPC code.

    NaN counts as 0. Parameters that are not described here are those of the block
    gpu_ldpc_dvbs2.

    Args:
        values : int8 (llr_scale steps per nat), uint8 (the same as offset binary, whose
            middle is 128) or float32 (nats): (frames, s), one frame per row, or
            (frames·s,), where s is ldpc_code(…).sent: n less what the standard,
            punctured and shortened leave out. On a CUDA device it is decoded there.
        soft_input : "int8", "float" or "uint8"; "": what the type of values says
        output : "message" (k bits per frame) or "codeword" (n bits); or LLRs, n per frame, of
            bits sent or not: "llr", posterior, or "extrinsic", those less the channel values,
            int8 of llr_scale steps per nat and the sign of values
        packed_output : eight bits per byte, the first most significant, each frame padded to
            a byte; else one bit per byte
        backend : "auto", "cuda" or "cpu"
        positive_bit : the bit, 0 or 1, that a positive value means
        out : an array of the result's shape and type to write to, which has no memory in
            common with values; None: a new one beside values
        message_positions : "systematic", "first", "last", "gr_fec_ldpc_encoder", or the
            position in the codeword of each message bit, from 0

    Returns:
        The bits, a uint8 array of one row per row of values, or the LLRs, an int8 array, and a
        decode_status with iterations and unsatisfied, uint32 arrays of one entry per frame:
        iterations made, and checks that the decisions violate, 0 for a codeword; and verdict:
        what seems wrong with the values, of which a RuntimeWarning tells too, or "".

    Raises:
        ValueError : that names the argument, its value and what is allowed
        TypeError : for what is no array
        RuntimeError : if CUDA is asked for and cannot be had
    """
    most = max(1, getattr(values, "shape", (1,))[0]) if getattr(values, "ndim", 1) == 2 else 0
    return ldpc_decoder(standard, frame_size, rate, code_file, soft_input, llr_scale, algorithm,
                        precision, max_iterations, early_stop, output, packed_output, batch,
                        slots, backend, device, threads, schedule, offset, normalization,
                        devices, positive_bit, punctured, shortened, message_positions,
                        most).decode(values, out)


@named_arguments
def ldpc_encode(messages, standard="dvbs2", frame_size="normal", rate="1/2", code_file="",
                packed_input=True, packed_output=True, punctured=(), shortened=(),
                message_positions="systematic"):
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
                     list(shortened), message_positions)
    words = _core.ldpc_encode(packed_rows("messages", messages, code.k, packed_input), code)
    words = words if packed_output else np.unpackbits(words, axis=1, count=code.sent)
    return words.reshape(-1) if messages.ndim == 1 else words
