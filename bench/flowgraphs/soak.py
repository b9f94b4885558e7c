#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs all three decoder blocks under full load for a long time.

At random times, the script sets an option of each block, restarts the flowgraph, or locks and
unlocks it. Each stream repeats a period (a counter or random symbols), and the output must repeat
the decoded period. The result has the number of wrong output bytes, each block's rate at the
beginning and at the end, the growth of memory, and the speed of the host. The source and the sink
come from the module endurance_blocks, which a build writes to bench/flowgraphs."""

import argparse
import ctypes
import json
import pathlib
import random
import resource
import sys
import time
import zlib

import endurance_blocks
import numpy as np
import pmt
from gnuradio import blocks, gpufec, gr

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from results_file import report_path, save  # noqa: E402

BEGIN = time.monotonic()


def say(event, **about):
    print(json.dumps(dict(event=event, seconds=round(time.monotonic() - BEGIN, 3), **about)),
          flush=True)


def counter(bits):
    """Returns the first `bits` bits of a 16-bit counter's successive values, one bit per byte."""
    words = np.arange((bits + 15) // 16, dtype=">u2")
    return np.unpackbits(words.view(np.uint8))[:bits]


def run(*chain):
    sink = blocks.vector_sink_b()
    graph = gr.top_block()
    graph.connect(*chain, sink)
    graph.run()
    return np.array(sink.data(), np.uint8)


# Each of the following functions returns one period of the input, the block, the bytes that it must
# decode, a function that converts a number of input values to the number of decoded bytes, and the
# input values per work item without and with overlaps.
def viterbi(**options):
    data = np.packbits(counter(8 * 7920))
    data[-1] = 0  # The encoder ends a period in the state in which the period begins.
    coded = run(blocks.vector_source_b(data.tolist()),
                gpufec.conv_encoder(preset="ccsds", packed_output=False))
    soft = (2 * coded.astype(np.int8) - 1) * 60
    block = gpufec.gpu_viterbi_pbvd(preset="ccsds", **options)
    values, overlap = 2 * block.decode_length(), 2 * block.overlap()
    return soft, block, data, lambda items: (
        max(0, items - overlap) // values * block.decode_length() // 8), (
            values, values + 2 * overlap)


# On a GPU, ldpc() has long noisy codewords and sync() expects many insertions and deletions. With
# this input, the GPU limits the rate, and not the block's thread.
def ldpc(**options):
    size, n = ("short", 16200) if options["backend"] == "cpu" else ("normal", 64800)
    bits = counter(4 * n)
    coded = run(blocks.vector_source_b(np.packbits(bits).tolist()),
                gpufec.ldpc_encoder(frame_size=size, rate="1/2", packed_output=False))
    soft = (1 - 2 * coded.astype(np.int8)) * 8
    if size == "normal":  # Eb/N0 of 3 dB is Es/N0 of 0 dB; 2 int8 steps per nat
        received = np.sign(soft) + np.random.default_rng(1).normal(0, np.sqrt(0.5), len(soft))
        soft = np.clip(np.rint(2 * 4 * received), -127, 127).astype(np.int8)
    block = gpufec.gpu_ldpc_dvbs2(frame_size=size, rate="1/2", **options)
    data = np.packbits(bits)
    frame_bytes = len(data) * n // len(soft)
    return soft, block, data, lambda items: items // n * frame_bytes, (n, n)


def sync(**options):
    symbols, channel = 100, {}
    if options["backend"] != "cpu":
        symbols, channel = 210, dict(p_insert=0.1, p_delete=0.1)
    items = 10 * symbols
    code = gpufec.codebook_davey_mackay(n=10, q=32, frame_symbols=symbols, seed=1)
    data = np.random.default_rng(2).integers(0, 32, 20 * symbols).astype(np.uint8)
    coded = run(blocks.vector_source_b(data.tolist()),
                gpufec.sync_encoder(code, q=32, n=10, frame_symbols=symbols))
    block = gpufec.gpu_sync_map(code, q=32, n=10, frame_symbols=symbols, frame_items=items,
                                **channel, **options)
    return coded.astype(np.int8), block, data, lambda given: given // items * symbols, (
        items, items)


# The option of each stream that is set at random times: its name, its value while rates are
# compared, and the limits of its random values.
SETTINGS = {"viterbi": ("soft_scale", 32, 10, 60), "ldpc": ("llr_scale", 2, 1, 4),
            "sync": ("max_latency_ms", 50, 0, 50)}


PERIODS = 64  # number of periods in the items that a source repeats
# Seconds for which each block runs alone, without events, at the beginning and at the end of the
# test, so that both rates can be compared.
CALM_S = 8
WEIGHTS = {"setters": 0.9, "restarts": 0.07, "locks": 0.03}


def ring_bytes(backend):
    """Returns the minimum size in bytes of a source's buffer. The size exceeds any block's request,
    because ring_source must make the largest request."""
    return (32 if backend == "cpu" else 384) << 20


class stream:
    """A decoder block together with its source and its sink."""

    def __init__(self, graph, name, made, backend):
        soft, self.block, data, self.decoded, _ = made
        # Only the first of PERIODS periods has tags. With more tags, their cost would dominate.
        tags = [(at, "soak", at) for at in range(0, len(soft), len(soft) // 50)]
        items = np.tile(np.asarray(soft, np.int8), PERIODS)
        self.setting, self.calm, *self.range = SETTINGS[name]
        self.source = endurance_blocks.ring_source(items, ring_bytes(backend), tags)
        self.sink = endurance_blocks.checking_sink(np.asarray(data, np.uint8))
        graph.connect(self.source, self.block, self.sink)

    def set(self, value):
        getattr(self.block, f"set_{self.setting}")(value)

    def missing(self):
        """Returns the number of decoded bytes that the sink has yet to receive."""
        return self.decoded(self.source.given()) - self.sink.at()


def drain(streams):
    """Stops the sources, and waits until the sinks have received everything."""
    begin = time.monotonic()
    for each in streams.values():
        each.source.set_rests(True)
    while True:
        time.sleep(0.05)
        missing = {name: each.missing() for name, each in streams.items()}
        if not any(missing.values()):
            break
        if time.monotonic() > begin + 60:
            say("stuck", missing=missing)
            sys.exit(1)
    say("rested", after=round(time.monotonic() - begin, 3))


class device_memory:
    """A meter of the memory in use on the first GPU, in bytes (0 without a GPU). The class calls
    the CUDA driver, because every start of `nvidia-smi` delays work on the GPU."""

    def __init__(self):
        self.driver, context = None, ctypes.c_void_p()
        try:
            driver = ctypes.CDLL("libcuda.so.1")
        except OSError:
            return
        if (driver.cuInit(0) == 0
                and driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
                and driver.cuCtxSetCurrent(context) == 0):
            self.driver = driver

    def used(self):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        if self.driver is None or self.driver.cuMemGetInfo_v2(ctypes.byref(free),
                                                              ctypes.byref(total)):
            return 0
        return total.value - free.value


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


class mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
        "fordblks", "keepcost")]


def allocated_bytes():
    """Returns the number of bytes that malloc() has allocated in all threads. A leak raises this
    number. Resident memory, in contrast, also grows when memory becomes fragmented."""
    try:
        mallinfo2_of_libc = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return 0 # The C library has no mallinfo2().
    mallinfo2_of_libc.restype = mallinfo2
    found = mallinfo2_of_libc()
    return found.uordblks + found.hblkhd


def host_rates():
    """Returns the speed of one thread of the host, as medians per second: bytes copied, bytes
    summed by CRC-32, and PMTs created. These rates vary if the host is shared. The rates of blocks
    that are limited by their own threads then vary too."""
    data = np.frombuffer(np.random.default_rng(1).bytes(64 << 20), np.uint8)
    to = np.empty_like(data)

    def rate(work, amount):
        found = []
        for _ in range(9):
            begin = time.perf_counter()
            work()
            found.append(amount / (time.perf_counter() - begin))
        return round(float(np.median(found)))

    return dict(copied=rate(lambda: np.copyto(to, data), data.size),
                summed=rate(lambda: zlib.crc32(data), data.size),
                pmts=rate(lambda: [pmt.from_long(k) for k in range(100000)], 100000))


def calm_rates(streams, seconds):
    """Returns the bytes per second of each block while it runs alone. Each rate is the median over
    the seconds after the first."""
    rates = {}
    for each in streams.values():
        each.set(each.calm)
    for name, each in streams.items():
        for other in streams.values():
            other.source.set_rests(other is not each)
        time.sleep(1)
        counts = []
        for _ in range(seconds):
            counts.append((time.monotonic(), each.sink.count()))
            time.sleep(1)
        steps = np.diff(np.array(counts), axis=0)
        rates[name] = float(np.median(steps[:, 1] / steps[:, 0]))
    for each in streams.values():
        each.source.set_rests(False)
    return rates


def restart(graph, streams):
    graph.stop()
    graph.wait()
    for each in streams.values():
        each.source.reset()
        each.sink.reset()
    graph.start()


def growth(samples):
    """Returns the growth of memory in bytes: the median over the last third of a run minus the
    median over the second third. The first third is left out because memory is still being
    allocated."""
    third = len(samples) // 3
    parts = samples[third:2 * third], samples[-third:]
    return {kind: round(-np.subtract(*(np.median([sample[kind] for sample in part])
                                       for part in parts)))
            for kind in ("host", "allocated", "device")} if third else {}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="cpu", choices=("cpu", "cuda", "auto"))
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--events", default=",".join(WEIGHTS), metavar="LIST",
                        help="events that occur at random times, from " + ", ".join(WEIGHTS))
    parser.add_argument("--json", type=report_path, metavar="FILE")
    args = parser.parse_args()
    chosen = args.events.split(",")
    rng = random.Random(args.seed)
    host = [host_rates()]
    graph = gr.top_block()
    streams = {make.__name__: stream(graph, make.__name__, make(backend=args.backend),
                                     args.backend)
               for make in (viterbi, ldpc, sync)}
    device = device_memory()
    samples, events = [], dict(setters=0, restarts=0, locks=0)
    end = time.monotonic() + args.seconds
    graph.start()
    time.sleep(5)
    calm_s = len(streams) * (CALM_S + 1)
    calm = [calm_rates(streams, CALM_S)]
    begin = time.monotonic()
    period = 10.0
    due = begin + period
    while time.monotonic() < end - calm_s:
        time.sleep(rng.uniform(0.05, 0.5))
        event = rng.choices(chosen, [WEIGHTS[kind] for kind in chosen])[0]
        if event != "setters":
            say(event, at={name: each.sink.at() for name, each in streams.items()})
        if event == "setters":
            for each in streams.values():
                each.set(rng.uniform(*each.range))
            events["setters"] += 1
        elif event == "restarts":
            restart(graph, streams)
            events["restarts"] += 1
        else:
            # lock() drops the items in buffers, so the buffers are emptied first.
            drain(streams)
            graph.lock()
            graph.unlock()
            for each in streams.values():
                each.source.set_rests(False)
            events["locks"] += 1
        if time.monotonic() >= due:
            due += period
            samples.append(dict(
                seconds=round(time.monotonic() - begin, 1), host=resident_bytes(),
                allocated=allocated_bytes(), device=device.used(),
                bytes={name: each.sink.count() for name, each in streams.items()}))
            print(json.dumps(samples[-1]), flush=True)
    restart(graph, streams)
    calm.append(calm_rates(streams, CALM_S))
    graph.stop()
    graph.wait()
    host.append(host_rates())
    result = dict(backend=args.backend, seconds=args.seconds, seed=args.seed, events=events,
                  blocks={name: dict(active=each.block.active_backend(),
                                     bytes=each.sink.count(), wrong=each.sink.wrong(),
                                     bytes_per_s=[round(rates[name]) for rates in calm],
                                     end_over_begin=round(calm[1][name] / calm[0][name], 4))
                          for name, each in streams.items()},
                  host_rates={kind: [each[kind] for each in host] for kind in host[0]},
                  growth=growth(samples), samples=samples)
    if args.json:
        save(args.json, "soak", result)
    print(json.dumps({kind: result[kind] for kind in ("blocks", "host_rates", "growth")}))
    return any(each.sink.wrong() or not each.sink.count() for each in streams.values())


if __name__ == "__main__":
    sys.exit(main())
