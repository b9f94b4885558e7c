# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulates error rates and decodes recordings on several machines with Dask.

    client = distributed.Client("tcp://scheduler:8786")
    points = error_rates(client, "viterbi", [3, 3.5, 4], min_errors=100, preset="ccsds")
    bits = decode(client, "ldpc", values, rate="3/4")

The module needs Dask (the package distributed), and the same version of this package on every
worker. A result depends neither on the number of workers nor on the loss of a worker: each task
depends only on its number, and the tasks of a lost worker run again on other workers.
"""

import argparse
import asyncio
import collections
import contextlib
import errno
import inspect
import json
import math
import os
import secrets
import stat
import sys
import warnings

import numpy as np

from . import _gpufec, arrays
from ._arguments import check_kind, integer
from ._decoding import SOFT_TYPES, format_of
from ._ldpc import frame_format
from ._memory import view_of

__all__ = ["decode", "decode_file", "error_rates"]

_DECODERS = ("viterbi", "ldpc", "sync")
# Approximate number of information bits (sync: message symbols) per simulation task.
_TASK_BITS = {"viterbi": 1 << 20, "ldpc": 1 << 18, "sync": 1 << 12}
# Decoder parameters that callers must not pass: this module sets them or does not support them.
_GIVEN = ("values", "received", "lengths", "priors", "out", "lock", "lock_constellation",
          "lock_presets", "lock_memory", "lock_first_item")
_SIMULATED = (*_GIVEN, "packed_output", "output", "p_insert", "p_delete")


# ---- tasks, which run on workers ----

def _version():
    return _gpufec.__version__


def _channel_seed(seed):
    return seed ^ 0x5bf03635


def _code_of(decoder, code):
    """Returns those parameters in `code` that the encoder has too, except those of packing."""
    function = {"viterbi": arrays.conv_encode, "ldpc": arrays.ldpc_encode,
                "sync": arrays.sync_encode}[decoder]
    return {name: value for name, value in code.items()
            if name in inspect.signature(function).parameters
            and name not in ("packed_input", "packed_output")}


def _simulate_viterbi(code, ebn0_db, seed, number, size):
    """Simulates task `number`: `size` frames, or a stream of `size` bits. Returns its counts.

    Tasks use successive parts of one random sequence of data and one of noise, so no two tasks
    share data or noise.
    """
    preset = arrays.find_conv_preset(code["preset"]) if code.get("preset") else None
    ends = preset.termination if preset else code.get("termination", "streaming")
    frame_bits = code.get("frame_bits", 0)
    shape = (1, size) if ends == "streaming" else (size, frame_bits)
    count = shape[0] * shape[1]
    bits = arrays.random_bits(shape, seed, number * count)
    coded = arrays.conv_encode(bits, **_code_of("viterbi", code), packed_input=False,
                               packed_output=False)
    values = arrays.awgn(coded, ebn0_db, count / coded.size if count else 1.0,
                         _channel_seed(seed), first=number * coded.size,
                         positive_bit=code.get("positive_bit", 1))
    decoded, _ = arrays.viterbi_decode(values, **code, packed_output=False)
    wrong = decoded[:, :shape[1]] != bits
    return {"bits": count, "errors": int(wrong.sum()), "frames": shape[0],
            "frame_errors": int(wrong.any(axis=1).sum())}


def _simulate_ldpc(code, ebn0_db, seed, number, size):
    known = _ldpc_code(code)
    bits = arrays.random_bits((size, known.k), seed, number * size * known.k)
    words = arrays.ldpc_encode(bits, **_code_of("ldpc", code), packed_input=False,
                               packed_output=False)
    rate = known.k / known.sent
    positive_bit = code.get("positive_bit", 0)
    soft = arrays.awgn(words, ebn0_db, rate, _channel_seed(seed), "float",
                       first=number * words.size, positive_bit=positive_bit)
    scale = 1.0 if math.isinf(ebn0_db) else 4 * rate * 10 ** (ebn0_db / 10)
    decoded, status = arrays.ldpc_decode((soft * np.float32(scale)).astype(np.float32), **code,
                                         packed_output=False)
    wrong = decoded != bits
    return {"bits": bits.size, "errors": int(wrong.sum()), "frames": size,
            "frame_errors": int(wrong.any(axis=1).sum()),
            "iterations": int(status.iterations.sum())}


def _ldpc_code(code):
    return frame_format(**{name: value for name, value in code.items()
                           if name in inspect.signature(frame_format).parameters})


def _simulate_sync(code, probability, seed, number, size):
    q, N = code.get("q", 32), code.get("frame_symbols", 210)
    random = np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 0, number]))
    symbols = random.integers(0, q, (size, N)).astype(np.uint16)
    channel = dict(p_insert=probability, p_delete=probability,
                   p_substitute=code.get("p_substitute", 0.0))
    sent = arrays.sync_encode(symbols, **_code_of("sync", code))
    copies = np.repeat(sent, max(1, code.get("reads", 1)), axis=0)
    received, lengths = arrays.bsid(copies, **channel, seed=_channel_seed(seed) + number,
                                    alphabet=code.get("alphabet", 2))
    decoded, _ = arrays.sync_decode(received, lengths=lengths, **{**code, **channel})
    wrong = decoded != symbols
    return {"symbols": symbols.size, "errors": int(wrong.sum()), "frames": size,
            "frame_errors": int(wrong.any(axis=1).sum())}


_SIMULATE = {"viterbi": _simulate_viterbi, "ldpc": _simulate_ldpc, "sync": _simulate_sync}


def _simulate(decoder, code, point, seed, number, size):
    return _SIMULATE[decoder](code, point, seed, number, size)


def _decode(decoder, values, code):
    return getattr(arrays, f"{decoder}_decode")(values, **code)[0]


def _decode_part(decoder, path, dtype, first, count, code, drop, keep):
    """Decodes `count` items of the file `path`, beginning with item `first`. Returns the output
    without its first `drop` bytes, and at most `keep` bytes (None: all)."""
    values = np.fromfile(path, dtype, count, offset=first * np.dtype(dtype).itemsize)
    if len(values) != count:
        raise OSError(f"{path} was shortened while it was decoded: {len(values)} of {count} "
                      f"items could be read from item {first} on")
    return _decode(decoder, values, code)[drop:None if keep is None else drop + keep]


# ---- the client ----

_ANSWER_S = 5 # seconds within which the scheduler must answer


def _threads(client):
    """Returns the number of tasks that the workers of `client` run at the same time."""
    return max(1, sum(client.nthreads().values()))


def _check(client, decoder, decoders, code, fixed, **numbers):
    """Checks the arguments that all functions of this module have in common.

    `fixed` lists the decoder parameters that the caller must not pass. `numbers` maps the name of
    each integer parameter to its value and the minimum.
    """
    from distributed import Client
    if not isinstance(client, Client):
        raise ValueError(f"client is {client!r}: it must be a Client of Dask")
    if decoder not in decoders:
        raise ValueError(f'decoder is "{decoder}": allowed values are {", ".join(decoders)}')
    for name in fixed:
        if name in code:
            raise ValueError(f"{name} is {code[name]!r}: this function does not accept it")
    for name, (value, least) in numbers.items():
        integer(name, value, f"{least} or more", least)


@contextlib.contextmanager
def _scheduler(client):
    """Replaces errors within the context by a ConnectionError if the scheduler of `client` no
    longer answers."""
    from distributed import CancelledError

    def ask():
        # Without a timeout, this call never returns after the client has been closed.
        client.sync(client.scheduler.identity, callback_timeout=_ANSWER_S)

    try:
        ask()
        yield
    except (Exception, CancelledError) as error:
        try:
            ask()
            there = client.status == "running"
        except Exception: # Dask raises several types of exceptions
            there = False
        if there and not isinstance(error, CancelledError):
            raise
        raise ConnectionError("the scheduler does not answer, or has lost this client: "
                              f"{error!r}") from error


def _check_versions(client):
    """Raises a RuntimeError if a worker has another version of this package, because the results of
    two versions may differ."""
    with _scheduler(client):
        versions = client.run(_version, on_error="return")
    for worker, version in versions.items():
        # OSError and TimeoutError come from dead workers, which Dask lists for some time.
        if version != _version() and not isinstance(version, (OSError, asyncio.TimeoutError)):
            raise RuntimeError(f"the worker {worker} has gpufec {version}, the client has "
                               f"{_version()}: all workers must have the same version")


def _in_order(client, calls):
    """Runs `calls`, each a function and its arguments, as tasks, and yields the results in the
    order of `calls`. Tasks are submitted ahead, two per thread of the workers. Closing the
    generator cancels unfinished tasks."""
    futures = collections.deque()
    calls = iter(calls)
    with _scheduler(client):
        try:
            ahead = 2 * _threads(client)
            while True:
                while len(futures) < ahead:
                    call = next(calls, None)
                    if call is None:
                        break
                    futures.append(client.submit(*call, pure=False))
                if not futures:
                    return
                yield futures[0].result()
                futures.popleft()
        finally:
            for future in futures:
                future.release()


class _Replacement:
    """An output file that replaces the file at `path` once it is completely written.

    If an error occurs, the file at `path` is not changed. A pipe or a device is written
    directly. The class can be used as a context manager.
    """

    def __init__(self, path):
        self._path, self._part = os.path.realpath(path), None
        name, there = self._path, os.path.exists(self._path)
        if os.path.isfile(self._path) or not there:
            if there and not os.access(self._path, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), self._path)
            name = self._part = os.path.join(os.path.dirname(self._path),
                                             f".gpufec-{secrets.token_hex(8)}.part")
        self._file = open(name, "xb" if self._part else "wb")
        if there and self._part:
            os.chmod(self._part, stat.S_IMODE(os.stat(self._path).st_mode))

    def write(self, data):
        return self._file.write(data)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self._file.flush()
                if self._part:
                    os.fsync(self._file.fileno()) # may be the first call that reports a full disk
                self._file.close()
                if self._part:
                    os.replace(self._part, self._path)
                    self._part = None
        finally:
            self.discard()

    def discard(self):
        """Discards the output and leaves the file at `path` unchanged."""
        with contextlib.suppress(OSError):
            self._file.close()
        if self._part:
            os.unlink(self._part)
            self._part = None


def error_rates(client, decoder, points, min_errors=100, max_units=10 ** 8, seed=1,
                task_size=0, progress=None, **code):
    """Measures error rates over a simulated channel.

    The channel is BPSK with AWGN (awgn()), or for sync insertions and deletions (bsid()). Tasks
    are counted in order, until there are enough errors. The counts therefore do not depend on the
    number of workers, on their speed, or on the loss of a worker.

    Args:
        client : a distributed.Client of Dask
        decoder : "viterbi", "ldpc" or "sync"
        points : a sequence of Eb/N0 in dB (viterbi, ldpc), or of probabilities, each used for
            insertions and for deletions (sync). All points are checked before the first is
            simulated
        min_errors : number of wrong bits (viterbi), frames (ldpc) or symbols (sync) after which a
            point ends; 0: the point ends only after max_units
        max_units : number of bits, frames or symbols after which a point ends, 1 or more
        seed : seed of data and noise, 0 or more
        task_size : number of frames per task (viterbi in streaming: of bits); 0: chosen for the
            code. The counts depend on the task size
        progress : None, or a function that is called with (point, counts) after each counted task
        code : parameters of viterbi_decode(), ldpc_decode() or sync_decode() for code and decoder

    Returns:
        A list with a dictionary for each point: point, bits (sync: symbols), errors (wrong bits
        or symbols), frames, frame_errors (wrong frames), tasks, and for ldpc iterations (the sum
        over all frames).

    Raises:
        ValueError : if an argument is refused; the message names the argument
        ConnectionError : if the scheduler does not answer, whatever the original error
        RuntimeError : if a worker has another version of this package
    """
    _check(client, decoder, _DECODERS, code, _SIMULATED, min_errors=(min_errors, 0),
           max_units=(max_units, 1), seed=(seed, 0), task_size=(task_size, 0))
    if progress is not None and not callable(progress):
        raise ValueError(f"progress is {progress!r}: it must be None or a function")
    size = _check_simulation(decoder, code, points, seed, task_size)
    _check_versions(client)
    unit = {"viterbi": "bits", "ldpc": "frames", "sync": "symbols"}[decoder]
    error = "frame_errors" if decoder == "ldpc" else "errors"
    found = []
    for point in points:
        total = collections.Counter()
        calls = ((_simulate, decoder, code, point, seed, number, size)
                 for number in range(1 << 62))
        results = _in_order(client, calls)
        for counts in results:
            total.update(counts)
            total["tasks"] += 1
            if progress:
                progress(point, dict(total))
            if (min_errors and total[error] >= min_errors) or total[unit] >= max_units:
                break
        results.close()
        found.append({"point": point, **total})
    return found


def _check_simulation(decoder, code, points, seed, task_size):
    """Simulates one frame or bit for each entry of `points` on the client, so that wrong arguments
    raise errors before any task starts. Returns the task size: `task_size`, or the default in place
    of 0."""
    if isinstance(points, str) or not isinstance(points, collections.abc.Collection):
        raise ValueError(f"points is {points!r}: it must be a sequence of numbers")
    size = task_size or _size_of_task(decoder, code)
    for point in points:
        check_kind("an entry of points", point, 0.0)
        _simulate(decoder, code, point, seed, 0, 1)
    return size


def _size_of_task(decoder, code):
    bits = _TASK_BITS[decoder]
    if decoder == "ldpc":
        return max(1, bits // _ldpc_code(code).k)
    if decoder == "sync":
        return max(1, bits // code.get("frame_symbols", 210))
    return max(1, bits // (code.get("frame_bits", 0) or 1))


def decode(client, decoder, values, frames_per_task=0, **code):
    """Decodes a large array of frames, one per row, on the workers.

    Args:
        client : a distributed.Client of Dask
        decoder : "viterbi" or "ldpc"
        values : NumPy array (frames, items), as viterbi_decode() or ldpc_decode() accepts it
        frames_per_task : number of frames per task, 0 or more; 0: about 8 MiB of values per task
        code : parameters of viterbi_decode() or ldpc_decode()

    Returns:
        The output of viterbi_decode() or ldpc_decode() for values, (frames, items), without the
        status.

    Raises:
        ValueError : if an argument is refused; the message names the argument
        ConnectionError : if the scheduler does not answer, whatever the original error
        RuntimeError : if a worker has another version of this package
    """
    _check(client, decoder, ("viterbi", "ldpc"), code, _GIVEN,
           frames_per_task=(frames_per_task, 0))
    if not isinstance(values, np.ndarray) or values.ndim != 2:
        raise ValueError("values is not a NumPy array of two dimensions: it must have the shape "
                         "(frames, items)")
    rows = frames_per_task or max(1, (8 << 20) // max(1, values.shape[1] * values.itemsize))
    empty = _decode(decoder, values[:0], code) # refuses wrong parameters before any task starts
    _check_versions(client)
    calls = ((_decode, decoder, values[first:first + rows], code)
             for first in range(0, len(values), rows))
    parts = list(_in_order(client, calls))
    return np.concatenate([empty] + parts)


def decode_file(client, decoder, path, out, dtype=np.int8, bits_per_task=1 << 24, **code):
    """Decodes a recording that all workers can read.

    A stream for the Viterbi decoder is divided where parallel blocks begin, with overlaps, so the
    output equals that of a single decoder bit for bit.

    Args:
        client : a distributed.Client of Dask
        decoder : "viterbi" or "ldpc"
        path : path of the recording, the same on this machine and on all workers
        out : path of the output on this machine. It has the output of viterbi_decode() or
            ldpc_decode(), packed bits by default. An existing file is replaced only when
            everything is decoded; after an error, the existing file is unchanged
        dtype : type of the recording's items: int8 or float32; for viterbi also uint8, with
            soft_input "packed4" or "uint8"
        bits_per_task : approximate number of information bits per task, 1 or more
        code : parameters of viterbi_decode() or ldpc_decode()

    Returns:
        The number of bytes written. The items of an incomplete last frame are dropped, with a
        RuntimeWarning that gives their number.

    Raises:
        ValueError : if an argument is refused; the message names the argument
        OSError : if a worker cannot read all of the recording, or out cannot be written
        ConnectionError : if the scheduler does not answer, whatever the original error
        RuntimeError : if a worker has another version of this package
    """
    _check(client, decoder, ("viterbi", "ldpc"), code, _GIVEN,
           bits_per_task=(bits_per_task, 1))
    types = ("int8", "float32", "uint8")
    try:
        known = np.dtype(dtype).name in types
    except TypeError:
        known = False
    if not known:
        raise ValueError(f"dtype is {dtype!r}: allowed values are {', '.join(types)}")
    dtype = np.dtype(dtype)
    bytes_there = os.stat(path).st_size
    if not os.path.isfile(path):
        raise ValueError(f"path is {os.fspath(path)!r}: it must be a regular file")
    if bytes_there % dtype.itemsize:
        raise ValueError(f"path is {os.fspath(path)!r}, of {bytes_there} bytes: allowed values are "
                         f"multiples of {dtype.itemsize} bytes, the size of an item of {dtype}")
    if os.path.exists(out) and os.path.samefile(path, out):
        raise ValueError(f"out is {os.fspath(out)!r}: it must be a file other than the "
                         "recording")
    code = {**code, "soft_input": format_of(
        view_of("dtype", np.empty(0, dtype)), code.get("soft_input", ""), SOFT_TYPES
        if decoder == "viterbi" else ("int8", "float"))}
    parts = list(_parts(decoder, bytes_there // dtype.itemsize, bits_per_task, code))
    _check_versions(client)
    calls = ((_decode_part, decoder, str(path), dtype, first, count, code, drop, keep)
             for first, count, drop, keep in parts)
    with _Replacement(out) as file:
        return sum(file.write(bits.tobytes()) for bits in _in_order(client, calls))


def _parts(decoder, items, bits, code):
    """Divides a recording of `items` items into tasks of about `bits` bits. Yields for each task
    the index of its first item, its number of items, the number of output bytes to drop, and the
    number of output bytes to keep after these (None: all)."""
    if decoder == "ldpc":
        known = arrays.ldpc_decoder(**code).code
        yield from _frames(items, known.sent, max(1, bits // known.k))
        return
    if code.get("packed_output") is False:
        raise ValueError("packed_output is False: the only allowed value is True")
    decoding = arrays.viterbi_decoder(**code)
    if code.get("frame_bits", 0):
        each = decoding.items_per_frame
        yield from _frames(items, each, max(1, bits // code["frame_bits"]))
        return
    # The output of a task begins at a multiple of `step` stages. There, a parallel block and a
    # puncturing period begin and, with packed4, also an item. Before and after its own stages, a
    # task decodes at least `lead` further stages, or as many as the file has.
    K, polynomials, puncturing, _ = decoding._code
    period = len(puncturing.split(",")[0]) if puncturing else 1
    values = puncturing.count("1") if puncturing else len(polynomials)
    per_item = 2 if code["soft_input"] == "packed4" else 1
    step = math.lcm(decoding.decode_length, period) if hasattr(math, "lcm") else \
        decoding.decode_length * period
    while step // period * values % per_item:
        step *= 2
    lead = -(-decoding.overlap // step) * step # the overlap, rounded up to whole steps
    length = max(1, bits // step) * step

    def item(stage):
        return stage // period * values // per_item

    first = 0
    while item(first) < items:
        begin = max(0, first - lead)
        end = first + length + lead + decoding.decode_length
        end = -(-end // step) * step
        last = item(first + length) >= items
        count = min(items, item(end)) - item(begin)
        yield item(begin), count, (first - begin) // 8, None if last else length // 8
        first += length


def _frames(items, each, frames):
    if items % each:
        warnings.warn(f"path ends in the middle of a frame, after {items % each} of its {each} "
                      "items, which are dropped", RuntimeWarning, stacklevel=4)
    for first in range(0, items // each * each, frames * each):
        yield first, min(frames * each, items // each * each - first), 0, None


# ---- the command line ----

def _count(text):
    return int(float(text))


def _octal(text):
    return [int(p, 8) for p in text.split(",")]


def _value(option, text, kind):
    """Converts the text of an option. `kind` is _count, _octal or a value of the required type."""
    kinds = {bool: ("true and false", {"true": True, "false": False}.__getitem__),
             int: ("integers", lambda t: int(t, 0)), float: ("numbers", float),
             tuple: ("integers separated by commas", lambda t: [int(x, 0) for x in t.split(",")]),
             _count: ("counts", _count), _octal: ("octal numbers separated by commas", _octal)}
    allowed, convert = kinds.get(kind if callable(kind) else type(kind), ("", str))
    try:
        return convert(text)
    except (KeyError, OverflowError, ValueError):
        raise ValueError(f'{option} is "{text}": allowed values are {allowed}') from None


def _range(text):
    """Returns the numbers in `text`, a comma separated list of numbers and ranges A:STEP:B."""
    points = []
    for part in text.split(","):
        ends = [_value("--range", x, 0.0) for x in part.split(":")]
        if len(ends) == 1:
            points += ends
        elif len(ends) == 3 and ends[1] > 0 and 0 <= ends[2] - ends[0] <= 1e6 * ends[1]:
            count = int((ends[2] - ends[0]) / ends[1] + 1.0001)
            points += [round(ends[0] + k * ends[1], 9) for k in range(count)]
        else:
            raise ValueError(f'--range is "{text}": allowed values are A:STEP:B and single values')
    return points


def _parse(decoder, words):
    """Parses `words`, the options of a command line. Returns two dictionaries of keyword arguments:
    options of this module's functions, and parameters of the decoder."""
    known = dict(inspect.signature(getattr(arrays, f"{decoder}_decode")).parameters)
    own = {"range": "", "scheduler": "", "seed": 1, "min_errors": _count, "max_units": _count,
           "json": "", "task_size": 0}
    also = {"min_frame_errors": "min_errors", "max_bits": "max_units",
            "max_frames": "max_units", "max_symbols": "max_units"}
    kinds = {name: p.default for name, p in known.items() if name not in _SIMULATED}
    kinds.update(polynomials=_octal, constraint_length=7)
    options = {name: None if kind == "" or callable(kind) else kind for name, kind in own.items()}
    code = {}
    words = iter(words)
    for word in words:
        option, equals, text = word.partition("=")
        name = option[2:].replace("-", "_")
        if not word.startswith("--"):
            raise ValueError(f'"{word}" is not an option')
        text = text if equals else next(words, None)
        if text is None:
            raise ValueError(f"{option} has no value")
        target = also.get(name, name)
        if target in own:
            options[target] = _value(option, text, own[target])
        elif name in kinds:
            code[name] = _value(option, text, kinds[name])
        else:
            raise ValueError(f"{option} is not supported with --scheduler")
    for name in ("range", "scheduler"):
        if not options[name]:
            raise ValueError(f"--{name} is missing")
    return options, code


def _is_pipe(path):
    return os.path.exists(path) and stat.S_ISFIFO(os.stat(path).st_mode)


def _workers(client):
    with _scheduler(client):
        return len(client.nthreads())


def _print(point):
    units = point.get("bits") or point.get("symbols")
    print(f"{point['point']:8g}  errors {point['errors']:8d} of {units:12d}: "
          f"{point['errors'] / units:.3e}   frames {point['frame_errors']:6d} of "
          f"{point['frames']}", flush=True)


def main(words=None):
    """Implements the command gpufec ber DECODER … --scheduler ADDRESS."""
    parser = argparse.ArgumentParser(prog="gpufec ber", description=main.__doc__)
    parser.add_argument("decoder", choices=_DECODERS)
    args, words = parser.parse_known_args(words)
    try:
        from distributed import Client
    except ImportError:
        print("gpufec: --scheduler needs Dask, the Python package distributed", file=sys.stderr)
        return 1
    try:
        options, code = _parse(args.decoder, words)
        address = options.pop("scheduler")
        if args.decoder == "sync":
            book = code.pop("codebook", "davey_mackay")
            sizes = {name: code[name] for name in ("q", "n", "frame_symbols") if name in code}
            make = getattr(arrays, f"codebook_{book}", None)
            code["codebook"] = make(**sizes) if make else book
        points = _range(options.pop("range"))
        target = options.pop("json")
        if target not in (None, "-") and not _is_pipe(target):
            _Replacement(target).discard() # raises an error now if the file cannot be written
        _check_simulation(args.decoder, code, points, options["seed"], options["task_size"])
        given = {name: value for name, value in options.items() if value is not None}
        report = {"command": f"gpufec ber {args.decoder} --scheduler", "version": _version(),
                  "options": {name: value for name, value in code.items() if name != "codebook"},
                  "seed": options["seed"], "workers": 0, "points": []}
        with Client(address, timeout=10) as client:
            for point in points:
                found = error_rates(client, args.decoder, [point], **given, **code)[0]
                report["points"].append(found)
                report["workers"] = max(report["workers"], _workers(client))
                _print(found)
                if target not in (None, "-"):
                    with _Replacement(target) as file:
                        file.write((json.dumps(report, indent=1) + "\n").encode())
        if target == "-":
            print(json.dumps(report, indent=1))
    except (ValueError, TypeError) as error:
        print(f"gpufec: {error}", file=sys.stderr)
        return 2
    except (OSError, RuntimeError) as error:
        print(f"gpufec: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
