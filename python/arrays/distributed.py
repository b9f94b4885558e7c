# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error rates and decoding on many machines, as tasks of Dask.

    client = distributed.Client("tcp://scheduler:8786")
    points = error_rates(client, "viterbi", [3, 3.5, 4], min_errors=100, preset="ccsds")
    bits = decode(client, "ldpc", values, rate="3/4")

Dask (the package distributed) is needed, and this package of the same version on every worker.
A worker that dies changes nothing in a result: its tasks run again elsewhere. Nor does it matter
how many workers there are, because what a task does depends on its number alone.
"""

import argparse
import collections
import inspect
import json
import math
import sys

import numpy as np

from . import _gpufec, arrays

__all__ = ["decode", "decode_file", "error_rates"]

_DECODERS = ("viterbi", "ldpc", "sync")
# Information bits that a task of a simulation has about; some 0.1 s of one core.
_TASK_BITS = {"viterbi": 1 << 20, "ldpc": 1 << 18, "sync": 1 << 12}


# ---- tasks, which run on workers ----

def _version():
    return _gpufec.__version__


def _channel_seed(seed):
    return seed ^ 0x5bf03635


def _code_of(decoder, code):
    """What encoders take of the parameters of a decoder."""
    function = {"viterbi": arrays.conv_encode, "ldpc": arrays.ldpc_encode,
                "sync": arrays.sync_encode}[decoder]
    return {name: value for name, value in code.items()
            if name in inspect.signature(function).parameters
            and name not in ("packed_input", "packed_output")}


def _simulate_viterbi(code, ebn0_db, seed, number, size):
    """Wrong bits of task `number`: of `size` frames, or of a stream of `size` bits."""
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
    return arrays.ldpc_code(**{name: code[name] for name in
                               ("standard", "frame_size", "rate", "code_file",
                                "punctured", "shortened") if name in code})


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
    """Decodes `count` items of a file from number `first` on: bytes drop … drop + keep."""
    values = np.fromfile(path, dtype, count, offset=first * np.dtype(dtype).itemsize)
    return _decode(decoder, values, code)[drop:None if keep is None else drop + keep]


# ---- the client ----

def _threads(client):
    """Tasks that run at the same time."""
    return max(1, sum(w["nthreads"] for w in client.scheduler_info()["workers"].values()))


def _check_decoder(decoder):
    if decoder not in _DECODERS:
        raise ValueError(f'decoder is "{decoder}": allowed are {", ".join(_DECODERS)}')


def _check_versions(client):
    """Refuses workers of another version, whose results might differ."""
    for worker, version in client.run(_version).items():
        if version != _version():
            raise RuntimeError(f"the worker {worker} has gpufec {version}, this is "
                               f"{_version()}: allowed are workers of the same version")


def _in_order(client, calls, ahead):
    """The results of the calls in their order; some run ahead. Closing it cancels them."""
    from distributed import CancelledError
    from distributed.comm import CommClosedError
    futures = collections.deque()
    calls = iter(calls)
    try:
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
    except (CancelledError, CommClosedError, OSError) as error:
        if client.status == "running" and isinstance(error, OSError):
            raise # of a task: a file that is not there
        raise ConnectionError(f"the scheduler is gone, or has lost this client: {error!r}") \
            from error
    finally:
        for future in futures:
            future.release()


def error_rates(client, decoder, points, min_errors=100, max_units=10 ** 8, seed=1,
                task_size=0, progress=None, **code):
    """Error rates over a simulated channel.

    Tasks are counted in order, up to the one with which there are errors enough. So the counts
    do not depend on how many workers there are, nor on which of them was first or died.

    Args:
        client : of Dask
        decoder : "viterbi", "ldpc" or "sync"
        points : Eb/N0 in dB; of sync the probability of an insertion, and of a deletion
        min_errors : a point ends with this many wrong bits (viterbi), frames (ldpc) or
            symbols (sync); 0: with max_units only
        max_units : or with this many bits, frames or symbols
        seed : of data and noise
        task_size : frames per task, of a stream bits, on which the counts depend; 0: chosen
            from the code
        progress : called with (point, counts) after each task that is counted
        code : parameters of viterbi_decode(), ldpc_decode() or sync_decode()

    Returns:
        For each point a dictionary of its counts: bits (of sync symbols), errors, frames,
        frame_errors, and tasks.

    Raises:
        ValueError : that names the argument
        ConnectionError : if the scheduler is gone
        RuntimeError : if a worker has another version
    """
    _check_decoder(decoder)
    _check_versions(client)
    size = task_size or _size_of_task(decoder, code)
    # Refused here, by name, and not on a worker.
    _simulate(decoder, code, points[0] if len(points) else 1e-3, seed, 0, min(size, 1))
    unit = {"viterbi": "bits", "ldpc": "frames", "sync": "symbols"}[decoder]
    error = "frame_errors" if decoder == "ldpc" else "errors"
    found = []
    for point in points:
        total = collections.Counter()
        calls = ((_simulate, decoder, code, point, seed, number, size)
                 for number in range(1 << 62))
        results = _in_order(client, calls, 2 * _threads(client))
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
        client : of Dask
        decoder : "viterbi" or "ldpc"
        values : NumPy array (frames, items), as viterbi_decode() and ldpc_decode() take it
        frames_per_task : 0: such that a task has about 8 MB
        code : parameters of viterbi_decode() or ldpc_decode()

    Returns:
        The decoded rows, in their order.

    Raises:
        ValueError : that names the argument
        ConnectionError : if the scheduler is gone
        RuntimeError : if a worker has another version
    """
    _check_decoder(decoder)
    if decoder == "sync":
        raise ValueError('decoder is "sync": allowed are viterbi, ldpc')
    if not isinstance(values, np.ndarray) or values.ndim != 2:
        raise ValueError("values is no NumPy array of two dimensions: allowed is (frames, items)")
    _check_versions(client)
    rows = frames_per_task or max(1, (8 << 20) // max(1, values.shape[1] * values.itemsize))
    empty = _decode(decoder, values[:0], code) # refuses what is wrong
    # A task has its values with it, and so what runs ahead is few.
    calls = ((_decode, decoder, values[first:first + rows], code)
             for first in range(0, len(values), rows))
    parts = list(_in_order(client, calls, 2 * _threads(client)))
    return np.concatenate([empty] + parts)


def decode_file(client, decoder, path, out, dtype=np.int8, bits_per_task=1 << 24, **code):
    """Decodes a recording that all workers can read.

    A stream of the Viterbi decoder is cut where its parallel blocks begin, so the output is
    that of one decoder, to the last bit.

    Args:
        client : of Dask
        decoder : "viterbi" or "ldpc"
        path : of the recording, the same on all workers
        out : path of the output on this machine, packed bits
        dtype : of the recording: int8, float32, or uint8 for soft_input "packed4"
        bits_per_task : information bits of a task, about
        code : parameters of viterbi_decode() or ldpc_decode()

    Returns:
        Bytes written.

    Raises:
        ValueError : that names the argument
        OSError : if a worker cannot read the recording
        ConnectionError : if the scheduler is gone
        RuntimeError : if a worker has another version
    """
    _check_decoder(decoder)
    _check_versions(client)
    items = np.memmap(path, dtype, "r").size
    parts = _parts(decoder, items, dtype, bits_per_task, code)
    calls = ((_decode_part, decoder, str(path), dtype, first, count, code, drop, keep)
             for first, count, drop, keep in parts)
    written = 0
    with open(out, "wb") as file:
        for bits in _in_order(client, calls, 2 * _threads(client)):
            written += file.write(bits.tobytes())
    return written


def _parts(decoder, items, dtype, bits, code):
    """First item, items, and output bytes to drop and to keep, of each task."""
    if decoder == "ldpc":
        known = _ldpc_code(code)
        yield from _frames(items, known.sent, max(1, bits // known.k))
        return
    if decoder != "viterbi":
        raise ValueError('decoder is "sync": allowed are viterbi, ldpc')
    if code.get("packed_output") is False:
        raise ValueError("packed_output is False: allowed is True")
    decoding = arrays.viterbi_decoder(**code)
    if code.get("frame_bits", 0):
        each = decoding._any().items_per_frame()
        yield from _frames(items, each, max(1, bits // code["frame_bits"]))
        return
    # Where blocks begin, periods of the puncturing, and bytes of packed input.
    K, polynomials, puncturing, _ = decoding._code
    period = len(puncturing.split(",")[0]) if puncturing else 1
    values = puncturing.count("1") if puncturing else len(polynomials)
    per_item = 2 if np.dtype(dtype) == np.uint8 else 1
    step = math.lcm(decoding.decode_length, period) if hasattr(math, "lcm") else \
        decoding.decode_length * period
    while step // period * values % per_item:
        step *= 2
    lead = -(-decoding.overlap // step) * step # blocks before and behind that are dropped
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
    for first in range(0, items // each * each, frames * each):
        yield first, min(frames * each, items // each * each - first), 0, None


# ---- the command line ----

def _value(text, default):
    """What an option says, of the kind of a parameter's default value."""
    if isinstance(default, bool):
        return text.lower() in ("true", "1", "yes")
    if isinstance(default, int):
        return int(text, 0)
    if isinstance(default, float):
        return float(text)
    return text


def _range(text):
    """The points of A:STEP:B, of a list, or of one value."""
    points = []
    for part in text.split(","):
        ends = [float(x) for x in part.split(":")]
        if len(ends) == 3 and ends[1] > 0:
            count = int((ends[2] - ends[0]) / ends[1] + 1.0001)
            points += [round(ends[0] + k * ends[1], 9) for k in range(count)]
        elif len(ends) == 1:
            points += ends
        else:
            raise ValueError(f"--range is {text}: allowed are A:STEP:B, and values")
    return points


def _parse(decoder, words):
    """Options of the command as keyword arguments."""
    known = dict(inspect.signature(getattr(arrays, f"{decoder}_decode")).parameters)
    own = {"range": None, "scheduler": None, "seed": 1, "min_errors": None, "max_units": None,
           "json": None, "task_size": 0}
    also = {"min_frame_errors": "min_errors", "max_bits": "max_units",
            "max_frames": "max_units", "max_symbols": "max_units"}
    options, code = dict(own), {}
    words = iter(words)
    for word in words:
        name, equals, text = word[2:].partition("=")
        name = name.replace("-", "_")
        if not word.startswith("--"):
            raise ValueError(f'"{word}" is no option')
        text = text if equals else next(words, None)
        if text is None:
            raise ValueError(f"{word} lacks its value")
        target = also.get(name, name)
        if target in own:
            options[target] = int(float(text)) if target in ("min_errors", "max_units") \
                else _value(text, own[target])
        elif name == "polynomials":
            code[name] = [int(p, 8) for p in text.split(",")]
        elif name == "constraint_length":
            code[name] = int(text)
        elif name in known and name not in ("values", "received", "out", "lengths", "priors"):
            code[name] = _value(text, known[name].default)
        else:
            raise ValueError(f"{word} is not known to --scheduler")
    for name in ("range", "scheduler"):
        if not options[name]:
            raise ValueError(f"--{name} is missing")
    return options, code


def main(words=None):
    """gpufec ber DECODER … --scheduler ADDRESS."""
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
        given = {name: value for name, value in options.items()
                 if value is not None and name != "json"}
        with Client(address, timeout=10) as client:
            found = error_rates(client, args.decoder, points, **given, **code)
            workers = len(client.scheduler_info()["workers"])
    except (ValueError, TypeError) as error:
        print(f"gpufec: {error}", file=sys.stderr)
        return 2
    except (OSError, RuntimeError) as error:
        print(f"gpufec: {error}", file=sys.stderr)
        return 1
    for point in found:
        units = point.get("bits") or point.get("symbols")
        print(f"{point['point']:8g}  errors {point['errors']:8d} of {units:12d}: "
              f"{point['errors'] / units:.3e}   frames {point['frame_errors']:6d} of "
              f"{point['frames']}")
    if options["json"]:
        code.pop("codebook", None)
        report = {"command": f"gpufec ber {args.decoder} --scheduler", "version": _version(),
                  "options": code, "seed": options["seed"], "workers": workers,
                  "points": found}
        text = json.dumps(report, indent=1)
        if options["json"] == "-":
            print(text)
        else:
            with open(options["json"], "w", encoding="utf-8") as file:
                file.write(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
