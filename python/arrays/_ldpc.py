# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decodes and encodes arrays with LDPC codes."""

import threading

import numpy as np

from . import _gpufec as _core
from ._arguments import named_arguments
from ._memory import output_array, packed_rows, row_count, view_of
from ._decoding import (LLR_FORMATS, decode_status, format_of, known_format, require_device,
                        run_options, warn_of, warn_unused)
from ._gpufec import ldpc_code


def frame_format(standard="dvbs2", frame_size="normal", rate="1/2", code_file="", punctured=(),
                 shortened=(), message_positions="systematic", psdu_bytes=0, symbol_bits=0,
                 stbc=False):
    """Returns the format of frames: a wifi_ppdu if psdu_bytes is not 0, otherwise an ldpc_code."""
    ppdu = _core.wifi_ppdu_of(standard, rate, str(code_file), list(punctured), list(shortened),
                              message_positions, psdu_bytes, symbol_bits, stbc)
    return ppdu or ldpc_code(standard, frame_size, rate, str(code_file), list(punctured),
                             list(shortened), message_positions)


class ldpc_decoder:
    """A decoder of LDPC codes for repeated use.

    The decoder keeps its memory and threads between calls; ldpc_decode() creates them
    in each call. The parameters and their errors are those of ldpc_decode(). If several
    Python threads use one decoder, their calls run one after the other. Each call accepts
    whole frames and does not depend on earlier calls. The attribute `code` is an ldpc_code or,
    with psdu_bytes, a wifi_ppdu.
    """

    @named_arguments
    def __init__(self, standard="dvbs2", frame_size="normal", rate="1/2", code_file="",
                 soft_input="", llr_scale=2.0, algorithm="offset_min_sum", precision="int8",
                 max_iterations=25, early_stop=True, output="message", packed_output=True,
                 batch=0, slots=3, backend="auto", device=0, threads=1, schedule="layered",
                 offset=-1.0, normalization=-1.0, devices=(), positive_bit=0, punctured=(),
                 shortened=(), message_positions="systematic", psdu_bytes=0, symbol_bits=0,
                 stbc=False, _most=0):
        self.code = frame_format(standard, frame_size, rate, code_file, punctured, shortened,
                                 message_positions, psdu_bytes, symbol_bits, stbc)
        _most *= getattr(self.code, "codewords", 1) # batches count codewords
        self._soft_input = soft_input = known_format(soft_input, LLR_FORMATS)
        output = _core.known_name("output", output, ["message", "codeword", "llr", "extrinsic"])
        self._type = np.int8 if output in ("llr", "extrinsic") else np.uint8
        self._run = run_options(batch, slots, backend, device, devices, threads, _most)
        self._before = (llr_scale, algorithm, precision, max_iterations, early_stop, output,
                        packed_output, schedule, offset, normalization, positive_bit)
        self._decoders = {}
        self._lock = threading.Lock()
        self._decoder(soft_input or "int8") # raises errors for wrong parameters
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
        """Decodes an array; ldpc_decode() describes arguments, result and errors."""
        view = view_of("values", values)
        with self._lock:
            soft_input = format_of(view, self._soft_input, LLR_FORMATS)
            decoder = self._decoder(soft_input)
            if soft_input == "float" and self._unused_scale:
                self._unused_scale = False # one warning is enough
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
                shortened=(), out=None, message_positions="systematic", psdu_bytes=0, symbol_bits=0,
                stbc=False):
    """Decodes an array of channel values (LLRs) of frames of an LDPC code by min-sum decoding.

    NaN counts as 0, infinities saturate, and -128 becomes -127. The output does not depend on
    the backend.

    Args:
        values : one LLR per bit that is sent. The type is int8 (llr_scale steps per nat), uint8
            (the same in offset binary, with 128 for 0) or float32 (in nats). The shape is
            (frames, sent) or (frames·sent,), where sent is an attribute of ldpc_code(). An array
            on a CUDA device is decoded by that device.
        standard : "dvbs2" (EN 302 307-1), "dvbs2x" (EN 302 307-2), "dvbt2" (EN 302 755),
            "ccsds_c2" and "ccsds_ar4ja" (CCSDS 131.0-B), "ccsds_tc" (CCSDS 231.0-B), "wifi"
            (IEEE 802.11), "nr" (3GPP TS 38.212)
        frame_size : one of ldpc_code.frame_sizes(standard)
        rate : one of ldpc_code.rates(standard, frame_size)
        code_file : path of an alist file or a base matrix, which defines the code in place of the
            three parameters above; "": none
        soft_input : "int8", "float" or "uint8"; "": the format of the type of values
        llr_scale : steps per nat of int8 and uint8 values and of LLRs in the output, above 0
        algorithm : "offset_min_sum", "normalized_min_sum" or "min_sum"
        precision : number format of the decoder, "int8", "int16" or "float"
        max_iterations : largest number of iterations, 1 to 1000
        early_stop : True: decoding of a frame stops once all its checks are satisfied; False: every
            frame uses max_iterations iterations
        output : "message", the k bits of each message; "codeword", the n bits of each codeword;
            "llr", n posterior LLRs per frame; "extrinsic", n extrinsic LLRs per frame, which are
            the posterior LLRs minus the channel values, and 0 for bits that are not sent. LLRs
            are int8, limited to ±127, with the sign of values.
        packed_output : True: eight bits per byte, the first most significant, with each frame
            padded to a byte; False: one bit per byte. The parameter does not affect LLRs
        batch : number of frames per batch; 0: chosen for the device
        slots : number of batches in flight on each device, 1 to 16
        backend : "auto" (CUDA if it can be used, otherwise the CPU), "cuda" or "cpu"
        device : number of the CUDA device
        threads : number of threads of the CPU backend, 1 to 256
        schedule : "layered" or "flooding"
        offset : offset of offset_min_sum in nats; negative: the default of the code or, with
            precision "float", an offset that decreases with the distance to the second-smallest
            magnitude
        normalization : factor of normalized_min_sum; negative: the default of the code
        devices : numbers of up to 16 CUDA devices, which receive batches in rotation and replace
            device; (): device only
        positive_bit : the bit, 0 or 1, that a positive value means, in values and output
        punctured : positions of the codeword, from 0, that are not sent, besides those of the
            standard
        shortened : positions of the codeword that are 0 and not sent; they contain no message bits
        out : an array of the result's shape and type to write to, which shares no memory with
            values; None: a new array in the same memory (host or device) as values
        message_positions : positions of the message in the codeword of code_file: "systematic"
            (found by elimination), "first", "last", "gr_fec_ldpc_encoder", or the position of
            each message bit, from 0
        psdu_bytes : length in bytes of the PSDU of Wi-Fi PPDUs (standard "wifi"), 1 to 65535. A
            frame is then a whole PPDU (IEEE 802.11-2020, 19.3.11.7.5): values are the coded bits
            of its OFDM symbols, in host memory, and the message is the bits of SERVICE field and
            PSDU before descrambling. frame_size has no effect, output must be "message", batch
            counts codewords, and sent and k are attributes of wifi_ppdu(). 0: a frame is one
            codeword
        symbol_bits : number of coded bits per OFDM symbol of PPDUs (N_CBPS), 1 to 65535
        stbc : whether PPDUs use space-time block coding, so that the number of OFDM symbols is even

    Returns:
        The bits (uint8) or LLRs (int8), of shape (frames, items), or (frames·items,) if values has
        one dimension; and a decode_status, which also has:
          - iterations: the number of iterations, uint32 (frames,); for a PPDU, the largest
            number of iterations of its codewords
          - unsatisfied: the number of checks that the decided bits violate, uint32 (frames,); 0
            for a codeword
          - verdict: the diagnosis of unsuitable values, or "". A verdict is also issued as a
            RuntimeWarning.

    Raises:
        ValueError : if an argument is refused; the message names the argument, its value and what is
            allowed
        TypeError : if an array is neither NumPy's nor has DLPack or __cuda_array_interface__, or
            if arguments are missing or unknown
        RuntimeError : if backend is "cuda" and CUDA cannot be used, or if a device fails with
            backend "cuda" or while it decodes an array in its own memory
    """
    most = max(1, getattr(values, "shape", (1,))[0]) if getattr(values, "ndim", 1) == 2 else 0
    return ldpc_decoder(standard, frame_size, rate, code_file, soft_input, llr_scale, algorithm,
                        precision, max_iterations, early_stop, output, packed_output, batch,
                        slots, backend, device, threads, schedule, offset, normalization,
                        devices, positive_bit, punctured, shortened, message_positions,
                        psdu_bytes, symbol_bits, stbc, most).decode(values, out)


@named_arguments
def ldpc_encode(messages, standard="dvbs2", frame_size="normal", rate="1/2", code_file="",
                packed_input=True, packed_output=True, punctured=(), shortened=(),
                message_positions="systematic", psdu_bytes=0, symbol_bits=0, stbc=False):
    """Encodes an array of messages with an LDPC code.

    Args:
        messages : uint8, the k bits of each message, in host memory: (frames, items), one
            message per row, or (frames·items,)
        standard : "dvbs2" (EN 302 307-1), "dvbs2x" (EN 302 307-2), "dvbt2" (EN 302 755),
            "ccsds_c2" and "ccsds_ar4ja" (CCSDS 131.0-B), "ccsds_tc" (CCSDS 231.0-B), "wifi"
            (IEEE 802.11), "nr" (3GPP TS 38.212)
        frame_size : one of ldpc_code.frame_sizes(standard)
        rate : one of ldpc_code.rates(standard, frame_size)
        code_file : path of an alist file or a base matrix, which defines the code in place of the
            three parameters above; "": none
        packed_input : messages has eight bits per byte, the first most significant, each message
            padded to a byte; otherwise, messages has one bit per byte, 0 or 1
        packed_output : the same choice for the result
        punctured : positions of the codeword, from 0, that are not sent, besides those of the
            standard
        shortened : positions of the codeword that are 0 and not sent; they contain no message bits
        message_positions : positions of the message in the codeword of code_file: "systematic"
            (found by elimination), "first", "last", "gr_fec_ldpc_encoder", or the position of
            each message bit, from 0
        psdu_bytes, symbol_bits, stbc : format of Wi-Fi PPDUs, as in ldpc_decode(). A message is
            then the scrambled bits of SERVICE field (16 bits) and PSDU

    Returns:
        The sent bits of each codeword, uint8: (frames, items), or (frames·items,) if messages has
        one dimension. The padding bits of a packed row are 0.

    Raises:
        ValueError : if an argument is refused; the message names the argument, its value and what is
            allowed
        TypeError : if an array is neither NumPy's nor has DLPack or __cuda_array_interface__, or
            if arguments are missing or unknown
    """
    code = frame_format(standard, frame_size, rate, code_file, punctured, shortened,
                        message_positions, psdu_bytes, symbol_bits, stbc)
    words = _core.ldpc_encode(packed_rows("messages", messages, code.k, packed_input), code)
    words = words if packed_output else np.unpackbits(words, axis=1, count=code.sent)
    return words.reshape(-1) if messages.ndim == 1 else words
