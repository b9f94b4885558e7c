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

BEGIN = time.monotonic()


def say(event, **about):
    print(json.dumps(dict(event=event, seconds=round(time.monotonic() - BEGIN, 3), **about)),
          flush=True)


class checker(gr.sync_block):
    """Compares bytes with a period of them that comes again and again; counts, and says
    where they begin to be wrong."""

    def __init__(self, name, period):
        gr.sync_block.__init__(self, "checker", [np.uint8], [])
        self.stream, self.period = name, np.asarray(period, np.uint8)
        self.periods = self.period
        self.count, self.wrong, self.at = 0, 0, 0
        self.right = True  # the last bytes were

    def reset(self):
        self.at = 0

    def expected(self, count):
        first = self.at % len(self.period)
        if first + count > len(self.periods):
            self.periods = np.tile(self.period, 2 + count // len(self.period))
        return self.periods[first:first + count]

    def tell(self, items, different):
        """Of bytes that are wrong: where, and what of the period they are."""
        first = int(np.argmax(different))
        seen = items[first:first + 64].tobytes()
        found = np.tile(self.period, 2).tobytes().find(seen)
        say("wrong", stream=self.stream, at=self.at + first, of=len(items), call=self.at,
            expected=(self.at + first) % len(self.period), period=len(self.period),
            found=found, wrong=int(np.count_nonzero(different)), seen=seen[:16].hex())

    def work(self, input_items, output_items):
        items = input_items[0]
        different = items != self.expected(len(items))
        if np.any(different) and self.right:
            self.tell(items, different)
        self.right = not different[-1] if len(items) else self.right
        self.wrong += int(np.count_nonzero(different))
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
    blocks_of = 2 * block.decode_length(), 2 * block.overlap()
    return soft, block, data, [], lambda items: (
        max(0, items - blocks_of[1]) // blocks_of[0] * block.decode_length() // 8)


def ldpc(backend):
    bits = counter(8 * 7200)
    coded = run(blocks.vector_source_b(np.packbits(bits).tolist()),
                gpufec.ldpc_encoder(frame_size="short", rate="1/2", packed_output=False))
    soft = (1 - 2 * coded.astype(np.int8)) * 8
    block = gpufec.gpu_ldpc_dvbs2(frame_size="short", rate="1/2", backend=backend)
    return soft, block, np.packbits(bits), [], lambda items: items // 16200 * 900


def sync(backend):
    code = gpufec.codebook_davey_mackay(n=10, q=32, frame_symbols=100, seed=1)
    rng = np.random.default_rng(1)
    data = rng.integers(0, 32, 20 * 100).astype(np.uint8)
    coded = run(blocks.vector_source_b(data.tolist()), gpufec.sync_encoder(code, q=32, n=10, frame_symbols=100))
    block = gpufec.gpu_sync_map(code, q=32, n=10, frame_symbols=100, backend=backend)
    return (coded.astype(np.int8), block, data, [(i * 1000, 1000) for i in range(20)],
            lambda items: items // 1000 * 100)


SETTERS = {"viterbi": lambda block, rng: block.set_soft_scale(rng.uniform(10, 60)),
           "ldpc": lambda block, rng: block.set_llr_scale(rng.uniform(1, 4)),
           "sync": lambda block, rng: block.set_max_latency_ms(rng.uniform(0, 50))}


WEIGHTS = {"setters": 0.9, "restarts": 0.07, "locks": 0.03}


class stream:
    """A decoder between its source and its sink."""

    def __init__(self, graph, name, made):
        soft, self.block, data, lengths, self.decoded = made
        self.source = looped(np.ascontiguousarray(soft, np.int8), lengths)
        self.sink = checker(name, data)
        graph.connect(self.source, self.block, self.sink)

    def missing(self):
        """Bytes that the sink lacks of what the source gave."""
        return self.decoded(self.source.at) - self.sink.at


def rest(streams):
    """Waits until all that the sources gave has come to the sinks."""
    begin = time.monotonic()
    for each in streams.values():
        each.source.rests = True
    while True:
        time.sleep(0.05)
        missing = {name: each.missing() for name, each in streams.items()}
        if not any(missing.values()):
            break
        if time.monotonic() > begin + 60:
            say("stuck", missing=missing)
            sys.exit(1)
    say("rested", after=round(time.monotonic() - begin, 3))


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
    parser.add_argument("--events", default=",".join(WEIGHTS), metavar="LIST",
                        help="what comes at random, of " + ", ".join(WEIGHTS))
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    chosen = args.events.split(",")
    rng = random.Random(args.seed)
    graph = gr.top_block()
    streams = {make.__name__: stream(graph, make.__name__, make(args.backend))
               for make in (viterbi, ldpc, sync)}
    begin, samples, events = time.monotonic(), [], dict(setters=0, restarts=0, locks=0)
    graph.start()
    period = 10.0
    due = begin + period
    counts = {name: 0 for name in streams}
    while time.monotonic() < begin + args.seconds:
        time.sleep(rng.uniform(0.05, 0.5))
        event = rng.choices(chosen, [WEIGHTS[kind] for kind in chosen])[0]
        if event != "setters":
            say(event, at={name: each.sink.at for name, each in streams.items()})
        if event == "setters":
            for name, each in streams.items():
                SETTERS[name](each.block, rng)
            events["setters"] += 1
        elif event == "restarts":
            graph.stop()
            graph.wait()
            for each in streams.values():
                each.source.reset()
                each.sink.reset()
            graph.start()
            events["restarts"] += 1
        else:
            # What lies in a ring when a graph is locked is lost to any block: none does.
            rest(streams)
            graph.lock()
            graph.unlock()
            for each in streams.values():
                each.source.rests = False
            events["locks"] += 1
        if time.monotonic() >= due:
            due += period
            now = {name: each.sink.count for name, each in streams.items()}
            samples.append(dict(
                seconds=round(time.monotonic() - begin, 1), host=resident_bytes(),
                allocated=allocated_bytes(), device=device_bytes(),
                bytes_per_s={n: round((now[n] - counts[n]) / period) for n in now}))
            counts = now
            print(json.dumps(samples[-1]), flush=True)
    graph.stop()
    graph.wait()
    result = dict(backend=args.backend, seconds=args.seconds, seed=args.seed, events=events,
                  blocks={name: dict(active=each.block.active_backend(),
                                     bytes=each.sink.count, wrong=each.sink.wrong)
                          for name, each in streams.items()},
                  samples=samples, trend=trend(samples))
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(dict(environment=environment(), **result), file, indent=1)
            file.write("\n")
    print(json.dumps(dict(blocks=result["blocks"], trend=result["trend"])))
    return any(each.sink.wrong or not each.sink.count for each in streams.values())


if __name__ == "__main__":
    sys.exit(main())
