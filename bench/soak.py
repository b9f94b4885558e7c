#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""All three decoder blocks under full load for a long time, while setters, tags, stops and
locks come at random. Each stream carries a counter that the output must repeat in order."""

import argparse
import ctypes
import json
import random
import resource
import subprocess
import sys
import time

import numpy as np
import pmt
from benchmark_environment import environment
from gnuradio import blocks, gpufec, gr


class checker(gr.sync_block):
    """Compares bytes with a period of them that comes again and again; counts."""

    def __init__(self, period):
        gr.sync_block.__init__(self, "checker", [np.uint8], [])
        self.period, self.count, self.wrong = np.asarray(period, np.uint8), 0, 0
        self.at = 0

    def reset(self):
        self.at = 0

    def work(self, input_items, output_items):
        items = input_items[0]
        expected = np.take(self.period, np.arange(self.at, self.at + len(items)), mode="wrap")
        self.wrong += int(np.count_nonzero(items != expected))
        self.at += len(items)
        self.count += len(items)
        return len(items)


def counter(bits):
    """So many bits that hold a counter of 16 bits."""
    words = np.arange((bits + 15) // 16, dtype=">u2")
    return np.unpackbits(words.view(np.uint8))[:bits]


def run(*chain):
    sink = blocks.vector_sink_b()
    graph = gr.top_block()
    graph.connect(*chain, sink)
    graph.run()
    return np.array(sink.data(), np.uint8)


class looped(gr.sync_block):
    """The same items again and again, with tags, but while it rests; lock() leaves it
    where it is."""

    def __init__(self, items, lengths):
        gr.sync_block.__init__(self, "looped", [], [np.int8])
        self.items, self.at, self.rests = items, 0, False
        every = max(1, len(items) // 50)
        self.tags = sorted([(at, pmt.mp("soak"), pmt.from_long(at))
                            for at in range(0, len(items), every)]
                           + [(at, pmt.mp("packet_len"), pmt.from_long(length))
                              for at, length in lengths], key=lambda tag: tag[0])

    def reset(self):
        self.at = 0

    def work(self, _, output_items):
        if self.rests:
            time.sleep(0.001)
            return 0
        at = self.at % len(self.items)
        count = min(len(output_items[0]), len(self.items) - at)
        output_items[0][:count] = self.items[at:at + count]
        for where, key, value in self.tags:
            if at <= where < at + count:
                self.add_item_tag(0, self.nitems_written(0) + where - at, key, value)
        self.at += count
        return count


def viterbi(backend):
    data = np.packbits(counter(8 * 7920))
    data[-1] = 0  # so that the period ends in the state that it begins in
    coded = run(blocks.vector_source_b(data.tolist()),
                gpufec.conv_encoder(preset="ccsds", packed_output=False))
    soft = (2 * coded.astype(np.int8) - 1) * 60
    block = gpufec.gpu_viterbi_pbvd(preset="ccsds", backend=backend)
    return soft, block, data, []


def ldpc(backend):
    bits = counter(8 * 7200)
    coded = run(blocks.vector_source_b(np.packbits(bits).tolist()),
                gpufec.ldpc_encoder(frame_size="short", rate="1/2", packed_output=False))
    soft = (1 - 2 * coded.astype(np.int8)) * 8
    block = gpufec.gpu_ldpc_dvbs2(frame_size="short", rate="1/2", backend=backend)
    return soft, block, np.packbits(bits), []


def sync(backend):
    code = gpufec.codebook_davey_mackay(n=10, q=32, frame_symbols=100, seed=1)
    rng = np.random.default_rng(1)
    data = rng.integers(0, 32, 20 * 100).astype(np.uint8)
    coded = run(blocks.vector_source_b(data.tolist()), gpufec.sync_encoder(code, q=32, n=10, frame_symbols=100))
    block = gpufec.gpu_sync_map(code, q=32, n=10, frame_symbols=100, backend=backend)
    return coded.astype(np.int8), block, data, [(i * 1000, 1000) for i in range(20)]


SETTERS = {"viterbi": lambda block, rng: block.set_soft_scale(rng.uniform(10, 60)),
           "ldpc": lambda block, rng: block.set_llr_scale(rng.uniform(1, 4)),
           "sync": lambda block, rng: block.set_max_latency_ms(rng.uniform(0, 50))}


def device_bytes():
    """Memory in use on the first GPU, 0 without one."""
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    try:
        return int(subprocess.run(query, capture_output=True, text=True, check=True)
                   .stdout.split()[0]) << 20
    except (OSError, subprocess.CalledProcessError, IndexError, ValueError):
        return 0


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


class mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
        "fordblks", "keepcost")]


def allocated_bytes():
    """What malloc() has given and not got back, of all threads: what a leak would raise.
    What is resident also grows with memory that lies between."""
    try:
        ask = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return 0  # another C library
    ask.restype = mallinfo2
    found = ask()
    return found.uordblks + found.hblkhd


def trend(samples):
    """What the last third of a run has over its second one, in which all is warm: rates as
    ratios, memory in bytes; medians, for stops and locks cost some samples more."""
    third = len(samples) // 3
    if third == 0:
        return {}
    parts = samples[third:2 * third], samples[-third:]

    def medians(value):
        return [float(np.median([value(sample) for sample in part])) for part in parts]
    rates = {name: medians(lambda sample, name=name: sample["bytes_per_s"][name])
             for name in samples[0]["bytes_per_s"]}
    return dict(rates={name: round(last / middle, 4) if middle else None
                       for name, (middle, last) in rates.items()},
                **{kind: round(-np.subtract(*medians(lambda sample, kind=kind: sample[kind])))
                   for kind in ("host", "allocated", "device")})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="cpu", choices=("cpu", "cuda", "auto"))
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    graph, streams, sources = gr.top_block(), {}, []
    for name, make in (("viterbi", viterbi), ("ldpc", ldpc), ("sync", sync)):
        soft, block, data, lengths = make(args.backend)
        source, sink = looped(np.ascontiguousarray(soft, np.int8), lengths), checker(data)
        graph.connect(source, block, sink)
        streams[name] = (block, sink)
        sources.append(source)
    begin, samples, events = time.monotonic(), [], dict(setters=0, restarts=0, locks=0)
    graph.start()
    period = 10.0
    due = begin + period
    counts = {name: 0 for name in streams}
    while time.monotonic() < begin + args.seconds:
        time.sleep(rng.uniform(0.05, 0.5))
        what = rng.random()
        if what < 0.9:
            for name, (block, _) in streams.items():
                SETTERS[name](block, rng)
            events["setters"] += 1
        elif what < 0.97:
            graph.stop()
            graph.wait()
            for block in [*sources, *(sink for _, sink in streams.values())]:
                block.reset()
            graph.start()
            events["restarts"] += 1
        else:
            # What lies in a ring when a graph is locked is lost to any block: none does.
            for source in sources:
                source.rests = True
            came = None
            while came != [sink.count for _, sink in streams.values()]:
                came = [sink.count for _, sink in streams.values()]
                time.sleep(0.5)
            graph.lock()
            graph.unlock()
            for source in sources:
                source.rests = False
            events["locks"] += 1
        if time.monotonic() >= due:
            due += period
            now = {name: sink.count for name, (_, sink) in streams.items()}
            samples.append(dict(
                seconds=round(time.monotonic() - begin, 1), host=resident_bytes(),
                allocated=allocated_bytes(), device=device_bytes(),
                bytes_per_s={n: round((now[n] - counts[n]) / period) for n in now}))
            counts = now
            print(json.dumps(samples[-1]), flush=True)
    graph.stop()
    graph.wait()
    result = dict(backend=args.backend, seconds=args.seconds, seed=args.seed, events=events,
                  blocks={n: dict(active=b.active_backend(), bytes=s.count, wrong=s.wrong)
                          for n, (b, s) in streams.items()}, samples=samples, trend=trend(samples))
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(dict(environment=environment(), **result), file, indent=1)
            file.write("\n")
    print(json.dumps(dict(blocks=result["blocks"], trend=result["trend"])))
    return any(s.wrong or not s.count for _, s in streams.values())


if __name__ == "__main__":
    sys.exit(main())
