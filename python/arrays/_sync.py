# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decodes and encodes arrays for channels that insert and delete symbols."""

import threading

import numpy as np

from . import _gpufec as _core
from ._arguments import named_arguments, refuse
from ._memory import array_view, host_array, output_array, refuse_mask, require_type, view_of
from ._decoding import _Streaming, decode_status, known_format, require_device, run_options

_SYNC_STATUS = np.dtype([("log_probability", "f8"), ("entropy", "f4"), ("start_drift", "i4"),
                         ("end_drift", "i4"), ("valid", "u4")])
assert _SYNC_STATUS.itemsize == _core.sync_status_bytes
_SYNC_OUTPUT = {"symbols": None, "posteriors": np.float32, "extrinsics": np.float32,
                "posteriors64": np.float64, "llr": np.int8}


def _mode(mode):
    return _core.known_name("mode", mode, ["framed", "stream"])


class sync_decoder(_Streaming):
    """A decoder for channels that insert and delete symbols, for repeated use.

    The decoder keeps its memory and threads between calls; sync_decode() creates them
    in each call. The parameters and their errors are those of sync_decode(). If several
    Python threads use one decoder, their calls run one after the other.

    Each call of decode() accepts whole frames, or in mode "stream" a whole stream. A stream
    that is divided into several arrays is passed to push(), and flush() ends it.
    """

    _default_format = "hard"

    @named_arguments
    def __init__(self, codebook, q=32, n=10, frame_symbols=210, p_insert=1e-3, p_delete=1e-3,
                 p_substitute=0.0, mode="framed", soft_input="", output="symbols",
                 precision="float", storage="auto", batch=0, slots=3, backend="auto", device=0,
                 threads=1, form="linear", exclusion=1e-10, mn_min=0, mn_max=0, lookahead=0,
                 acquire=0, alphabet=2, receiver="corridor", start_first=0, start_prior=(),
                 end_first=0, end_prior=(), devices=(), positive_bit=0, reads=1, passes=2,
                 _most=0):
        self._code = _core.sync_code(codebook, q, n, frame_symbols, alphabet)
        mode, output = _mode(mode), _core.known_name("output", output, list(_SYNC_OUTPUT))
        soft_input = known_format(soft_input, ("hard", "float"))
        self._q, self._symbols, self._mode, self._output = q, frame_symbols, mode, output
        self._channel = (p_insert, p_delete, p_substitute)
        self._more = dict(mode=mode, output=output, form=form, precision=precision,
                          storage=storage, receiver=receiver, exclusion=exclusion,
                          mn_min=mn_min, mn_max=mn_max, lookahead=lookahead, acquire=acquire,
                          start_first=start_first, start_prior=list(start_prior),
                          end_first=end_first, end_prior=list(end_prior),
                          positive_bit=positive_bit, reads=reads, passes=passes)
        self._run = run_options(batch, slots, backend, device, devices, threads, _most)
        self._soft_input, self._reads, self._alphabet = soft_input, reads, alphabet
        self._decoders = {}
        self._lock = threading.Lock()
        if not _most:
            self._decoder(soft_input or "hard", False) # raises errors for wrong parameters

    def _decoder(self, soft_input, priors):
        key = (soft_input, priors)
        if key not in self._decoders:
            self._decoders[key] = _core.sync_array_decoder(
                self._code, *self._channel,
                dict(self._more, soft_input=soft_input, priors=priors), self._run)
        return self._decoders[key]

    def _shape(self, frames):
        """Returns the shape and the type of the output for `frames` frames."""
        if self._output == "symbols":
            return (frames, self._symbols), np.uint8 if self._q <= 256 else np.int16
        last = self._q.bit_length() - 1 if self._output == "llr" else self._q
        return (frames, self._symbols, last), _SYNC_OUTPUT[self._output]

    def decode(self, received, lengths=None, priors=None, out=None):
        """Decodes an array; sync_decode() describes arguments, result and errors.

        Raises:
            RuntimeError : if push() has begun a stream that flush() has not ended, and for the
                reasons that sync_decode() lists
        """
        view, soft_input = self._received(received)
        require_device(view, self._run)
        if view.device is None:
            return self._decode(view, soft_input, lengths, priors, out)
        if self._mode == "framed" and self._reads == 1 and priors is None:
            try:
                return self._decode(view, soft_input, lengths, priors, out)
            except RuntimeError: # the device failed, or does not support the options
                if self._run["backend"] == "cuda":
                    raise
        host = np.empty(view.shape, view.dtype)
        _core.copy(host.ctypes.data, view.address, host.nbytes)
        found, status = self._decode(view_of("received", host), soft_input, lengths, priors, None)
        there = output_array(out, found.shape, found.dtype, view)
        _core.copy(there.address, found.ctypes.data, found.nbytes)
        return there.array, status

    def _received(self, received):
        view = require_type(view_of("received", received), np.uint8, np.float32)
        soft_input = "float" if view.dtype == np.float32 else "hard"
        if self._soft_input and soft_input != self._soft_input:
            refuse("received", f"of type {view.dtype}",
                   "float32" if self._soft_input == "float" else "uint8")
        return view, soft_input

    def push(self, received):
        """Decodes the next items of a stream, in mode "stream".

        The concatenated results of all calls up to flush() equal the result of decode() for all
        items.

        Args:
            received : any number of items in host memory, as sync_decode() accepts them in mode
                "stream". All items of a stream have the same type

        Returns:
            The output and the decode_status of the frames that are ready, none or more.

        Raises:
            ValueError : if received is refused, or in mode "framed"
            TypeError : if received is not an array
            RuntimeError : if backend is "cuda" and the device fails, which discards the stream
        """
        view, soft_input = self._received(received)
        with self._lock:
            self._refuse_frames("push()")
            view = self._items(view, soft_input)
            self._check_next(view, soft_input)
            return self._next(soft_input, view.address, view.size, False)

    def _refuse_frames(self, call):
        if self._mode != "stream":
            refuse("mode", f'"{self._mode}"', f'"stream" in {call}; decode() accepts frames')

    def _items(self, view, soft_input):
        if soft_input == "float" and self._alphabet > 2:
            view = _of_likelihoods(view, self._alphabet)
        if self._mode == "stream" and view.ndim != 1:
            refuse("received", f"of {view.ndim} dimensions", '1 in mode "stream"')
        return view

    def _decode(self, view, soft_input, lengths, priors, out):
        view = self._items(view, soft_input)
        decode = self._decode_stream if self._mode == "stream" else self._decode_frames
        with self._lock:
            self._refuse_stream()
            return decode(view, soft_input, lengths, priors, out)

    def _decode_stream(self, view, soft_input, lengths, priors, out):
        for name, given in (("lengths", lengths), ("priors", priors), ("out", out)):
            if given is not None:
                refuse(name, "given", 'None in mode "stream"')
        return self._next(soft_input, view.address, view.size, True)

    def _next(self, soft_input, address, items, last):
        decoder = self._decoder(soft_input, False)
        output, status, begins, locked = self._decode_next(decoder, soft_input, address, items,
                                                           last)
        shape, dtype = self._shape(len(begins))
        status = status.view(_SYNC_STATUS)
        return output.view(dtype).reshape(shape), decode_status(
            decoder, begin=begins, locked=locked.astype(bool),
            **{name: status[name] for name in _SYNC_STATUS.names})

    def _decode_frames(self, view, soft_input, lengths, priors, out):
        decoder = self._decoder(soft_input, priors is not None) # checks the number of reads
        begins, lengths = _frames_of(view, lengths, self._reads)
        frames = len(lengths) // self._reads
        shape, dtype = self._shape(frames)
        known = []
        if priors is not None:
            known = [view_of("priors", host_array("priors", priors, np.float32))]
            if known[0].shape != (frames, self._symbols, self._q):
                refuse("priors", f"of shape {known[0].shape}",
                       (frames, self._symbols, self._q))
        to = output_array(out, shape, dtype, view, *known)
        status = decoder.decode(view.address, begins, lengths,
                                known[0].address if known else 0, to.address)
        status = status.view(_SYNC_STATUS)
        return to.array, decode_status(decoder, **{name: status[name]
                                                   for name in _SYNC_STATUS.names})


def _of_likelihoods(view, alphabet):
    """Returns the view of an array of likelihoods without its last dimension, which must have the
    length `alphabet`."""
    if view.ndim < 2 or view.shape[-1] != alphabet:
        refuse(view.name, f"of shape {view.shape}",
               f"(frames, items, {alphabet}) and (items, {alphabet})")
    return array_view(view.name, view.keep, view.address, view.shape[:-1], view.dtype, view.device,
                      view.nbytes)


def _frames_of(view, lengths, reads):
    """Returns the index of the first item and the number of items of each read of each frame in
    `view`. `lengths` has the numbers of items; None: each row is a whole read."""
    if view.ndim not in (1, 2):
        refuse("received", f"of {view.ndim} dimensions", "1 and 2")
    if lengths is None:
        if view.ndim == 1:
            refuse("lengths", "None", "one length per frame, where received has one dimension")
        lengths = np.full(view.shape[0], view.shape[1], np.uint64)
    refuse_mask("lengths", lengths)
    lengths = np.asarray(lengths)
    if lengths.dtype.kind not in "iu" or lengths.ndim != 1 and (lengths.ndim != 2 or reads == 1):
        refuse("lengths", f"of type {lengths.dtype} and {lengths.ndim} dimensions",
               "integers in one dimension" if reads == 1 else
               f"integers of shape (frames, {reads}) or (frames·{reads},)")
    if lengths.ndim == 2 and lengths.shape[1] != reads or lengths.size % reads:
        refuse("lengths", f"of shape {lengths.shape}",
               f"(frames, {reads}) and (frames·{reads},), with {reads} reads")
    lengths = lengths.reshape(-1)
    of_each = "frames" if reads == 1 else "reads"
    if view.ndim == 2 and len(lengths) != view.shape[0]:
        refuse("lengths", f"of {len(lengths)} {of_each}",
               f"{view.shape[0]}, the number of rows of received")
    most = view.shape[1] if view.ndim == 2 else view.size
    if len(lengths) and not 0 <= lengths.min() <= lengths.max() <= most:
        wrong = lengths.min() if lengths.min() < 0 else lengths.max()
        refuse("an entry of lengths", int(wrong), f"0 to {most}")
    lengths = lengths.astype(np.uint64)
    if view.ndim == 2:
        return np.arange(len(lengths), dtype=np.uint64) * np.uint64(view.shape[1]), lengths
    if lengths.sum() != view.size:
        refuse("the sum of lengths", int(lengths.sum()),
               f"{view.size}, the number of items of received")
    return np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.uint64)[:len(lengths)], \
        lengths


@named_arguments
def sync_decode(received, codebook, q=32, n=10, frame_symbols=210, p_insert=1e-3, p_delete=1e-3,
                p_substitute=0.0, lengths=None, priors=None, mode="framed", soft_input="",
                output="symbols", precision="float", storage="auto", batch=0, slots=3,
                backend="auto", device=0, threads=1, form="linear", exclusion=1e-10, mn_min=0,
                mn_max=0, lookahead=0, acquire=0, alphabet=2, receiver="corridor",
                start_first=0, start_prior=(), end_first=0, end_prior=(), devices=(),
                positive_bit=0, out=None, reads=1, passes=2):
    """Decodes an array of items received over a channel that inserts and deletes symbols.

    This is the maximum a-posteriori decoder of J. A. Briffa: Graphics processing unit
    implementation and optimisation of a flexible maximum a-posteriori decoder for
    synchronisation correction (2014). The default form "linear" computes the exact result faster
    than the paper's form. The drift is the number of received items minus the number of sent items.

    Args:
        received : received items. A uint8 item is a channel symbol; values of alphabet or more
            are erasures. A float32 item is the probability that a 1 was received; NaN is an
            erasure. With an alphabet above 2, a float32 array has one more dimension, of length
            alphabet, with the likelihood of each symbol up to a factor per item. The shape in mode
            "framed" is (frames, items), where lengths has the number of used items at the start
            of each row, or (items,) for concatenated frames. With several reads, the shape is
            (frames·reads, items) or (items,), and the reads of a frame are consecutive. The shape
            in mode "stream" is (items,). An array on a CUDA device is decoded by that device. With
            priors, several reads or mode "stream", such an array is copied to the host, and the
            result is copied back.
        codebook : N·q rows of n channel symbols, row i·q + D for symbol D at index i of a frame,
            the leftmost sent first; or the path of a file of such rows, in hexadecimal digits
        q : number of values of a message symbol, 2 to 65536
        n : number of channel symbols per word, 1 to 4096
        frame_symbols : N, the number of message symbols per frame
        p_insert : probability of an insertion before a channel symbol, 0 to 0.99
        p_delete : probability of a deletion, 0 to below 1; p_insert + p_delete is below 1
        p_substitute : probability that a transmitted symbol is replaced by another, 0 to 1
        lengths : integers of 0 or more, the number of items of each frame; None: all items of each
            row. With several reads, the shape is (frames, reads) or (frames·reads,), and a read
            that was not received has length 0
        priors : float32 (frames, N, q) in host memory, weights of the symbols; None:
            uniform
        mode : "framed", or "stream": frames follow one another without markers, and the decoder
            finds them
        soft_input : "hard" (uint8) or "float" (float32); "": the format of the type of received
        output : "symbols": the most likely symbols, of shape (frames, N) and type uint8 (int16 if q
            exceeds 256); "posteriors" (float32) or "posteriors64" (float64): (frames, N, q);
            "extrinsics": posteriors divided by the priors, float32 (frames, N, q); "llr":
            extrinsic LLRs of the bits of each symbol, the most significant first, int8 (frames,
            N, log2 q), with 8 steps per nat. "llr" requires that q is a power of two
        precision : "float", "double" or "mixed" (lattices in float, other values in double)
        storage : storage of branch metrics in form "corridor": "global" (of a whole frame),
            "local" (of one index at a time, computed twice) or "auto"
        batch : number of frames per batch; 0: chosen for the device
        slots : number of batches in flight on each device, 1 to 16
        backend : "auto" (CUDA if it can be used, otherwise the CPU), "cuda" or "cpu"
        device : number of the CUDA device
        threads : number of threads of the CPU backend, 1 to 256
        form : "linear" (exact) or "corridor" (the form of the paper)
        exclusion : largest probability of drifts outside the window of drifts that are considered,
            1e-15 to below 1
        mn_min : smallest drift change per symbol, -n to 0, in form "corridor"
        mn_max : largest drift change per symbol in form "corridor". If mn_min and mn_max are 0,
            both are computed from exclusion
        lookahead : number of symbols after each frame that are decoded with it, in mode "stream";
            0: chosen from the channel
        acquire : number of items at the start of the stream within which the first frame begins, in
            mode "stream"; 0: it begins with the first item
        alphabet : number of values of a channel symbol, 2 to 16
        receiver : computation of branch metrics in form "corridor": "corridor"; or, on the CPU
            only, "lattice" (the whole lattice) or "trellis" (at most two insertions before a
            symbol)
        start_first : drift to which the first entry of start_prior belongs, in mode "framed"
        start_prior : weights of the drifts start_first, start_first + 1, … at the beginning of a
            frame; a frame with drift m begins at item m. (): start_first is certain
        end_first : drift to which the first entry of end_prior belongs, in mode "framed"
        end_prior : weights of the drifts end_first, end_first + 1, … at the end of a frame; a
            frame with drift m ends n·N + m items after item 0. (): the frame ends with its last
            item
        devices : numbers of up to 16 CUDA devices, which receive batches in rotation and replace
            device; (): device only
        positive_bit : the bit, 0 or 1, that a positive value of output "llr" means
        out : an array of the result's shape and type to write to, which shares no memory with
            received and priors; None: a new array in the same memory (host or device) as
            received. Only in mode "framed"
        reads : number of received copies of each frame, 1 to 256, in mode "framed". Each read
            is decoded with the product of the other reads' extrinsics as priors
        passes : number of times that each of several reads is decoded, 1 to 16

    Returns:
        The output, and a decode_status, which also has arrays with an entry per frame:
          - log_probability: float64, the natural logarithm of the probability of the received
            items. In mode "stream", the logarithm for the same number of random items is subtracted
          - entropy: float32, entropy in bits of the drift at the end of the frame
          - start_drift, end_drift: int32, the most likely drifts
          - valid: uint32, 0 if the frame cannot be decoded; its symbols are then 0, and its
            posteriors uniform
        In mode "stream" it also has:
          - begin: int64, the item with which the frame most likely begins
          - locked: bool, whether the decoder tracks the frames

    Raises:
        ValueError : if an argument is refused; the message names the argument, its value and what is
            allowed
        TypeError : if an array is neither NumPy's nor has DLPack or __cuda_array_interface__, or
            if arguments are missing or unknown
        RuntimeError : if backend is "cuda" and CUDA cannot be used, or if a device fails with
            backend "cuda" or while it decodes an array in its own memory
    """
    mode = _mode(mode)
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


@named_arguments
def sync_encode(symbols, codebook, q=32, n=10, frame_symbols=210, alphabet=2):
    """Encodes an array of message symbols with a codebook.

    Args:
        symbols : uint8, int16 or uint16, 0 to q - 1, in host memory: (frames, N), or
            (items,), concatenated frames; the last may be incomplete
        codebook : N·q rows of n channel symbols, row i·q + D for symbol D at index i of a frame,
            the leftmost sent first; or the path of a file of such rows, in hexadecimal digits
        q : number of values of a message symbol, 2 to 65536
        n : number of channel symbols per word, 1 to 4096
        frame_symbols : N, the number of message symbols per frame
        alphabet : number of values of a channel symbol, 2 to 16

    Returns:
        The channel symbols, uint8, one per byte: (frames, n·N), or (items·n,).

    Raises:
        ValueError : if an argument is refused; the message names the argument, its value and what is
            allowed
        TypeError : if an array is neither NumPy's nor has DLPack or __cuda_array_interface__, or
            if arguments are missing or unknown
    """
    code = _core.sync_code(codebook, q, n, frame_symbols, alphabet)
    array = host_array("symbols", symbols, np.uint8, np.int16, np.uint16)
    if array.ndim not in (1, 2) or array.ndim == 2 and array.shape[1] != frame_symbols:
        refuse("symbols", f"of shape {array.shape}", f"(frames, {frame_symbols}) and (items,)")
    if array.size and not 0 <= array.min() <= array.max() < q:
        wrong = array.min() if array.min() < 0 else array.max()
        refuse("an entry of symbols", int(wrong), f"0 to {q - 1}")
    coded = _core.sync_encode(np.ascontiguousarray(array.reshape(-1), np.uint16), code)
    return coded.reshape(array.shape[0], -1) if array.ndim == 2 else coded
