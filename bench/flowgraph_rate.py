#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
#
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measures gpu_viterbi_pbvd in a flowgraph, beside what limits it there.

Interleaves runs of three things, 8-bit soft input at rate 1/2 to packed bits:
  decoder  null source, gpu_viterbi_pbvd, null sink
  edge     the same with a block that only consumes and produces at the same ratio
           (keep_m_in_n of GNU Radio, 64 of 1024 items)
  limit    the decoder without a flowgraph, memory to memory (gpufec bench viterbi)
and then the CPU time of the decoder's thread while it waits for a slow stream.

Usage: flowgraph_rate.py [--backend B] [--threads N] [--rounds N] [--seconds S]
                         [--gpufec PROGRAM] [--json FILE]
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

from gnuradio import blocks, gpufec, gr

from benchmark_environment import environment

BITS_PER_BYTE = 8
STARVED_ITEMS_PER_S = 20e3


def make_decoder(options):
    return gpufec.gpu_viterbi_pbvd(backend=options.backend, threads=options.threads)


def make_edge(_):
    return blocks.keep_m_in_n(gr.sizeof_char, 64, 1024, 0)


def flowgraph_rate(block, seconds):
    """Decoded bits a second: what the block produces, once it has begun to."""
    graph = gr.top_block()
    graph.connect(blocks.null_source(gr.sizeof_char), block,
                  blocks.null_sink(gr.sizeof_char))
    graph.start()
    time.sleep(min(0.3, seconds))
    begin, before = time.monotonic(), block.nitems_written(0)
    time.sleep(seconds)
    end, after = time.monotonic(), block.nitems_written(0)
    graph.stop()
    graph.wait()
    return (after - before) * BITS_PER_BYTE / (end - begin)


def limit_rate(options):
    """Decoded bits a second of the decoder by itself."""
    command = [options.gpufec, "bench", "viterbi", "--backend", options.backend,
               "--threads", str(options.threads), "--seconds", str(options.seconds),
               "--runs", "1", "--json"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(output)["rates"][0]["median_bits_per_s"]


def thread_seconds(name):
    """CPU seconds of the block's threads; GNU Radio ends a cut name with a number."""
    seconds = 0.0
    for task in pathlib.Path("/proc/self/task").iterdir():
        if (task / "comm").read_text().startswith(name[:11]):
            seconds += int((task / "schedstat").read_text().split()[0]) * 1e-9
    return seconds


def starved_cpu(options, seconds):
    """The part of a core that the block's thread takes while it waits for input."""
    graph = gr.top_block()
    graph.connect(blocks.null_source(gr.sizeof_char),
                  blocks.throttle(gr.sizeof_char, STARVED_ITEMS_PER_S),
                  make_decoder(options), blocks.null_sink(gr.sizeof_char))
    graph.start()
    time.sleep(1)
    before = thread_seconds("gpu_viterbi_pbvd")
    time.sleep(seconds)
    used = thread_seconds("gpu_viterbi_pbvd") - before
    graph.stop()
    graph.wait()
    return used / seconds


def measure(options):
    runs = {"decoder": [], "edge": [], "limit": []}
    for _ in range(options.rounds):
        runs["decoder"].append(flowgraph_rate(make_decoder(options), options.seconds))
        runs["edge"].append(flowgraph_rate(make_edge(options), options.seconds))
        if options.gpufec:
            runs["limit"].append(limit_rate(options))
    medians = {name: statistics.median(r) for name, r in runs.items() if r}
    decoder = make_decoder(options)
    lowest = min(rate for name, rate in medians.items() if name != "decoder")
    return {"benchmark": "flowgraph_rate", "environment": environment(),
            "backend": decoder.active_backend(), "threads": options.threads,
            "batch": decoder.batch(), "decode_length": decoder.decode_length(),
            "overlap": decoder.overlap(), "bits_per_s": runs,
            "median_bits_per_s": medians,
            "decoder_over_edge": medians["decoder"] / medians["edge"],
            "decoder_over_lower_of_edge_and_limit": medians["decoder"] / lowest,
            "starved_items_per_s": STARVED_ITEMS_PER_S,
            "starved_cpu_of_a_core": starved_cpu(options, 5)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="cpu", choices=["auto", "cuda", "cpu"])
    parser.add_argument("--threads", type=int, default=1, help="of the CPU backend")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each run")
    parser.add_argument("--gpufec", default=shutil.which("gpufec"),
                        help="the program, for the decoder's own limit")
    parser.add_argument("--json", help="file for the result, else standard output")
    options = parser.parse_args()
    result = json.dumps(measure(options), indent=1)
    if options.json:
        pathlib.Path(options.json).write_text(result + "\n")
    else:
        print(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
