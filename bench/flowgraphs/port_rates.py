#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measures the rate at the output port of each decoder and encoder in a flowgraph.

Sources are in memory: a buffer that is filled once with noisy frames ("ring"), zeros (null_source),
or a file in /dev/shm, which file_source reads. Rates are information bits per second that leave
the block. Results also have the fraction of a core that the block's own thread uses, and bytes of
input and output per information bit. Where applicable, results have the mean number of iterations,
the rate of the same source into a null sink, and the decoder's rates without a flowgraph
(gpufec bench): between slots (the pinned buffers of batches), and from memory to memory.

Usage: port_rates.py [--backend B] [--rounds N] [--seconds S] [--only WORD,...]
                     [--gpufec PROGRAM] [--json FILE]
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import pmt
from gnuradio import blocks, gpufec, gr

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from results_file import report_path, save  # noqa: E402
from flowgraph_rate import thread_seconds  # noqa: E402

PAGE = 4096
FRAMES = 64    # number of different noisy frames
RECORDING_BYTES = 64 << 20
SETTLE_S = 0.6 # time from the start of a flowgraph to the beginning of a measurement
SYNC = dict(q=32, n=10, frame_symbols=210)
SYNC_BITS = 5
BOOK = gpufec.codebook_davey_mackay(10, 32, 210, 1)
NORMAL_K = {"1/4": 16200, "1/2": 32400, "3/4": 48600, "9/10": 58320}


class ring(gr.sync_block):
    """A source that fills its output buffer once with items, and then only reports items as
    produced."""

    def __init__(self, items, least_bytes=0, tags=()):
        gr.sync_block.__init__(self, "ring", None, [items.dtype])
        whole = int(np.lcm(len(items), PAGE // items.itemsize))
        size = whole * max(1, -(-least_bytes // (whole * items.itemsize)))
        self.items, self.size, self.done = items, size, 0
        self.tags = [(at, pmt.mp(key), value) for at, key, value in tags]
        self.set_min_output_buffer(size) # must exceed the size that downstream blocks request

    def work(self, _, output_items):
        out = output_items[0]
        n = len(out)
        if n > self.size // 2:
            raise RuntimeError(f"the buffer is larger than the {self.size} items that fill it")
        if self.done < self.size:
            n = min(n, self.size - self.done)
            at = self.done % len(self.items)
            n = min(n, len(self.items) - at)
            out[:n] = self.items[at:at + n]
        if self.tags:
            first = self.done // len(self.items)
            for turn in range(first, (self.done + n - 1) // len(self.items) + 1):
                for at, key, value in self.tags:
                    item = turn * len(self.items) + at
                    if self.done <= item < self.done + n:
                        self.add_item_tag(0, item, key, value)
        self.done += n
        return n


def run(make_source, block, bits_per_item, seconds, blocks_between=()):
    """Runs a flowgraph and measures for `seconds` seconds. Returns output bits per second, and the
    fraction of a core that the block's thread uses."""
    graph = gr.top_block()
    source = make_source()
    sink = blocks.null_sink(block.output_signature().sizeof_stream_item(0))
    graph.connect(source, *blocks_between, block, sink)
    graph.start()
    time.sleep(SETTLE_S)
    name = block.name()
    begin, items, cpu = time.monotonic(), block.nitems_written(0), thread_seconds(name)
    time.sleep(seconds)
    items = block.nitems_written(0) - items
    cpu = thread_seconds(name) - cpu
    took = time.monotonic() - begin
    graph.stop()
    graph.wait()
    return items * bits_per_item / took, cpu / took


def noisy_frames(rate, eb_n0, size="normal", scale=2.0):
    """Returns LLRs of FRAMES random codewords with noise: as floats in nats, and as int8 with
    `scale` steps per nat. `eb_n0` is in dB."""
    n = 64800 if size == "normal" else 16200
    code = dict(frame_size=size, rate=rate)
    rng = np.random.default_rng(1)
    graph = gr.top_block()
    encoder = gpufec.ldpc_encoder(packed_input=False, packed_output=False, **code)
    k = round(n * encoder.relative_rate_d() / encoder.relative_rate_i())
    bits = rng.integers(0, 2, FRAMES * k, np.uint8)
    coded = blocks.vector_sink_b()
    graph.connect(blocks.vector_source_b(bits.tolist()), encoder, coded)
    graph.run()
    coded = np.array(coded.data(), np.float32)
    variance = 1 / (2 * k / n * 10 ** (eb_n0 / 10))
    received = 1 - 2 * coded + np.sqrt(variance) * rng.standard_normal(len(coded))
    llr = (2 / variance * received).astype(np.float32)
    return llr, np.clip(np.rint(scale * llr), -127, 127).astype(np.int8).view(np.uint8)


def sync_stream(p, frames=512):
    """Returns the received items of random consecutive frames. The channel inserts and deletes
    items with probability p each."""
    symbols = np.random.default_rng(4).integers(0, SYNC["q"], frames * 210, np.uint8)
    sent = gpufec.sync_encode(symbols, BOOK, **SYNC)
    return gpufec.bsid(sent, p_insert=p, p_delete=p, seed=5)[0]


def sync_slots(p=1e-3, frames=400, room=8):
    """Returns received items of random frames. Each frame is in a slot that is `room` items longer
    than a sent frame and ends with noise. Received frames that are more than `room` items longer or
    shorter than the sent frame are left out."""
    rng = np.random.default_rng(2)
    slots = []
    for seed in range(1, 100 * frames):
        if len(slots) == frames:
            break
        symbols = rng.integers(0, SYNC["q"], 210, np.uint8)
        items = gpufec.bsid(gpufec.sync_encode(symbols, BOOK, **SYNC), p_insert=p,
                            p_delete=p, seed=seed)[0]
        if abs(len(items) - 2100) <= room:
            noise = rng.integers(0, 2, 2100 + room - len(items), np.uint8)
            slots.append(np.concatenate((items, noise)))
    return np.concatenate(slots)


class cases:
    def __init__(self, options):
        self.options, self.backend = options, options.backend
        self.results, self.files = {}, {}
        self.folder = tempfile.TemporaryDirectory(dir="/dev/shm")

    def wanted(self, name):
        return not self.options.only or any(w in name for w in self.options.only)

    def add(self, name, make_source, make, bits_per_item, between=lambda: (), **more):
        if not self.wanted(name):
            return
        rates, cpus = [], []
        for _ in range(self.options.rounds):
            block = make()
            rate, cpu = run(make_source, block, bits_per_item, self.options.seconds,
                            between())
            rates.append(rate)
            cpus.append(cpu)
            if hasattr(block, "mean_iterations"):
                more["mean_iterations"] = block.mean_iterations()
            if hasattr(block, "links_failed"):
                more["links_failed"] = block.links_failed()
        self.results[name] = {"bits_per_s": rates,
                              "median_bits_per_s": statistics.median(rates),
                              "own_thread_of_a_core": statistics.median(cpus), **more}
        print(name, self.results[name], flush=True)

    def beside(self, name, kind, *arguments):
        """Adds the decoder's rates without a flowgraph (gpufec bench), from slot to slot and from
        memory to memory, to the result `name`."""
        if not self.wanted(name) or not self.options.gpufec or name not in self.results:
            return
        done = subprocess.run([self.options.gpufec, "bench", kind, "--backend",
                               self.backend, "--seconds", "1.5", "--runs", "3",
                               "--json", "-", *arguments], capture_output=True, text=True)
        if done.returncode:
            print(name, done.stderr)
            return
        rates = {r["what"]: r["median_bits_per_s"] for r in json.loads(done.stdout)["rates"]}
        self.results[name]["without_a_flowgraph"] = rates
        print(name, rates, flush=True)

    def recording(self, name, items, make, bits_per_item, between=lambda: ()):
        """Measures the file source with a null sink, and then a block that reads from this source.
        The file is in memory, and repeats the items until it has at least RECORDING_BYTES."""
        if not self.wanted(name):
            return
        items = np.tile(items, -(-RECORDING_BYTES // items.nbytes))
        path = os.path.join(self.folder.name, "recording")
        items.tofile(path)

        def source():
            return blocks.file_source(items.itemsize, path, True)

        size = self.ring_items(source, make)
        alone = []
        for _ in range(self.options.rounds):
            graph = gr.top_block()
            head = source()
            head.set_min_output_buffer(size)
            graph.connect(head, blocks.null_sink(items.itemsize))
            graph.start()
            time.sleep(SETTLE_S)
            begin, count = time.monotonic(), head.nitems_written(0)
            time.sleep(self.options.seconds)
            alone.append((head.nitems_written(0) - count) / (time.monotonic() - begin))
            graph.stop()
            graph.wait()
        self.add(name, source, make, bits_per_item, between,
                 source_alone_items_per_s=statistics.median(alone), ring_items=size,
                 file_bytes=items.nbytes)
        result = self.results[name]
        block = make()
        per_item = bits_per_item * block.relative_rate()
        result["over_source_alone"] = (result["median_bits_per_s"]
                                       / (statistics.median(alone) * per_item))
        print(name, "rate relative to the source alone:", result["over_source_alone"], flush=True)
        os.remove(path)

    def ring_items(self, make_source, make):
        """Returns the size, in items, of the buffer that the scheduler allocates between the source
        of make_source() and the block of make(): at least 65536, computed from the block's output
        multiple."""
        graph = gr.top_block()
        source, block = make_source(), make()
        graph.connect(source, block, blocks.null_sink(
            block.output_signature().sizeof_stream_item(0)))
        graph.start()
        time.sleep(0.1)
        size = block.output_multiple() / block.relative_rate() * 2
        graph.stop()
        graph.wait()
        return int(size) if size > 65536 else 65536


def measure(options):
    c = cases(options)
    b = options.backend
    cuda = b == "cuda"

    def viterbi(**more):
        return lambda: gpufec.gpu_viterbi_pbvd(backend=b, **more)

    def ldpc(**more):
        return lambda: gpufec.gpu_ldpc_dvbs2(backend=b, **more)

    def sync(**more):
        return lambda: gpufec.gpu_sync_map(BOOK, backend=b, **SYNC, **more)

    def zeros(size=1):
        return lambda: blocks.null_source(size)

    hop = dict(bytes_in_per_bit=2, bytes_out_per_bit=1 / 8)
    c.add("viterbi int8", zeros(), viterbi(), 8, **hop)
    c.beside("viterbi int8", "viterbi")
    c.add("viterbi float", zeros(4), viterbi(soft_input="float"), 8,
          bytes_in_per_bit=8, bytes_out_per_bit=1 / 8)
    c.add("viterbi packed4", zeros(), viterbi(soft_input="packed4"), 8,
          bytes_in_per_bit=1, bytes_out_per_bit=1 / 8)
    for rate, preset, k_over_n in ("3/4", "dvb_3_4", 3 / 4), ("7/8", "dvb_7_8", 7 / 8):
        c.add(f"viterbi int8, {rate}", zeros(), viterbi(preset=preset), 8,
              bytes_in_per_bit=1 / k_over_n, bytes_out_per_bit=1 / 8)
    c.add("viterbi int8, bits out", zeros(), viterbi(packed_output=False), 1,
          bytes_in_per_bit=2, bytes_out_per_bit=1)

    points = [("1/2", "normal", 1.3, {}), ("1/2", "short", 2.0, {}),
              ("1/2", "normal", 1.3, dict(max_iterations=10, early_stop=False)),
              ("3/4", "normal", 2.6, {}), ("9/10", "normal", 4.2, {}), ("1/4", "normal", 1.2, {})]
    big = 300 << 20 if cuda else 0
    for rate, size, eb_n0, more in points:
        llr, int8 = noisy_frames(rate, eb_n0, size)
        title = f"ldpc {size} {rate}" + (" 10 fixed" if more else "")
        k_over_n = {"1/4": 1 / 4, "1/2": 1 / 2 if size == "normal" else 4 / 9,
                    "3/4": 3 / 4, "9/10": 9 / 10}[rate]
        arguments = ["--rate", rate, "--frame-size", size, "--eb-n0", str(eb_n0)]
        if more:
            arguments += ["--max-iterations", "10", "--early-stop", "false"]
        code = dict(rate=rate, frame_size=size, status_tags="none", **more)

        def source(items, least=big // 4):
            return lambda: ring(items, least)

        hop = dict(eb_n0_db=eb_n0, bytes_in_per_bit=1 / k_over_n, bytes_out_per_bit=1 / 8)
        c.add(f"{title} int8", source(int8), ldpc(**code), 8, **hop)
        c.beside(f"{title} int8", "ldpc", *arguments)
        if rate == "1/2" and size == "normal" and not more:
            c.add(f"{title} int8, all tags", source(int8), ldpc(**dict(code, status_tags="all")),
                  8, **hop)
            c.add(f"{title} int8, bits out", source(int8), ldpc(packed_output=False, **code),
                  1, **dict(hop, bytes_out_per_bit=1))
            c.add(f"{title} float", source(llr, big), ldpc(soft_input="float", **code), 8,
                  **dict(hop, bytes_in_per_bit=4 / k_over_n))
            tags = [(64800 * f, "XFECFRAME", pmt.cons(pmt.from_long(4), pmt.PMT_F))
                    for f in range(FRAMES)]
            c.add(f"{title} int8, acm", lambda: ring(int8, big // 4, tags),
                  ldpc(acm=True, **code), 8, **hop)
            c.recording(f"recording ldpc {title}", int8, ldpc(**code), 8)

    slots = sync_slots()
    frame = dict(frame_items=2108, end_first=-8, end_prior=[1.0] * 17, status_tags="none")
    for output, item_bits in ("symbols", SYNC_BITS), ("llr", 1), ("posteriors", SYNC_BITS / 32):
        hop = dict(bytes_in_per_bit=2, bytes_out_per_bit=(4 if output == "posteriors" else 1)
                   / item_bits)
        c.add(f"sync {output}, frame_items", lambda: ring(slots, big // 2),
              sync(output=output, **frame), item_bits, **hop)
        c.add(f"sync {output}, length tags", zeros(), sync(output=output), item_bits,
              lambda: (blocks.stream_to_tagged_stream(1, 1, 2100, "packet_len"),), **hop)
    ended = sync_slots(room=0) # only frames that are received with their sent length
    c.add("sync symbols, frame_items, one end", lambda: ring(ended, big // 2),
          sync(frame_items=2100, status_tags="none"), SYNC_BITS)
    c.beside("sync symbols, length tags", "sync")
    c.recording("recording sync frames", slots, sync(**frame), SYNC_BITS)
    c.recording("recording sync frames, one end", ended,
                sync(frame_items=2100, status_tags="none"), SYNC_BITS)
    for p in 1e-3, 1e-2:
        for tags, key in ("none", ""), ("all", "packet_len"):
            c.recording(f"recording sync stream {p}, tags {tags}", sync_stream(p),
                        sync(mode="stream", p_insert=p, p_delete=p, status_tags=tags,
                             length_tag=key), SYNC_BITS)
    c.recording("recording viterbi int8",
                np.random.default_rng(3).integers(-60, 60, 1 << 26, np.int8).view(np.uint8),
                viterbi(), 8)

    for packed in (True, False):
        kind = "packed" if packed else "bits"
        more = dict(packed_input=packed, packed_output=packed)
        in_bits = 8 if packed else 1
        c.add(f"conv_encoder {kind}", zeros(), lambda: gpufec.conv_encoder(**more),
              in_bits * 0.5)
        for rate, k_over_n in ("1/2", 0.5), ("9/10", 0.9), ("1/4", 0.25):
            c.add(f"ldpc_encoder {rate} {kind}", zeros(),
                  lambda: gpufec.ldpc_encoder(rate=rate, **more), in_bits * k_over_n)
    return c.results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="cpu", choices=["cuda", "cpu"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0,
                        help="duration of each run in seconds")
    parser.add_argument("--only", type=lambda text: text.split(","), default=[],
                        help="run only flowgraphs whose names contain one of these words")
    parser.add_argument("--gpufec", default=shutil.which("gpufec"),
                        help="path of the program gpufec, which measures rates without a flowgraph")
    parser.add_argument("--json", type=report_path, help="write the results to this file")
    options = parser.parse_args()
    result = {"backend": options.backend, "rounds": options.rounds, "seconds": options.seconds,
              "flows": measure(options)}
    if options.json:
        save(options.json, "port_rates", result)


if __name__ == "__main__":
    main()
