#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measures gpu_viterbi_pbvd in a flowgraph, and the limits of its rate.

Runs have 8-bit soft input at rate 1/2 and packed output. With --blocks N, a flowgraph has N such
chains. These runs alternate:
  decoder    null source, gpu_viterbi_pbvd, null sink
  edge       keep_m_in_n (64 of 1024 items) in place of the decoder: this block of GNU Radio has
             the decoder's ratio of input to output, but does not decode
  wide_edge  edge with an input buffer of 1 MB
  limit      the decoder without a flowgraph, memory to memory (gpufec bench viterbi)
  slots      the decoder's batches alone, from pinned to pinned memory
With --blocks 1, the script then measures the CPU time of the block's thread while the source is
slower than the decoder.

Usage: flowgraph_rate.py [--backend B] [--threads N] [--blocks N] [--devices LIST]
                         [--batch N] [--rounds N] [--seconds S] [--starved-seconds S]
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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from results_file import report_path, save  # noqa: E402

BITS_PER_BYTE = 8
STARVED_ITEMS_PER_S = 20e3
# Output multiple in items. GNU Radio's input buffer then holds the input for two such multiples.
WIDE_MULTIPLE = 32768


def make_decoder(options, number=0):
    """Makes decoder block `number`. With --blocks 1, the block uses all devices; otherwise, each
    block uses one device."""
    devices = options.devices
    if options.blocks > 1:
        devices = [devices[number % len(devices)]]
    return gpufec.gpu_viterbi_pbvd(backend=options.backend, threads=options.threads,
                                   batch=options.batch, devices=devices)


def make_edge(_options, _number=0):
    return blocks.keep_m_in_n(gr.sizeof_char, 64, 1024, 0)


def make_wide_edge(options, number=0):
    edge = make_edge(options, number)
    edge.set_output_multiple(WIDE_MULTIPLE)
    edge.set_min_output_buffer(4 * WIDE_MULTIPLE)
    return edge


def flowgraph_rates(make, options):
    """Returns decoded bits per second of each of --blocks blocks made by make(options, number). The
    measurement follows a warm-up of 0.3 s (or less, with a small --seconds)."""
    graph = gr.top_block()
    side_by_side = [make(options, number) for number in range(options.blocks)]
    for block in side_by_side:
        graph.connect(blocks.null_source(gr.sizeof_char), block,
                      blocks.null_sink(gr.sizeof_char))
    graph.start()
    time.sleep(min(0.3, options.seconds))
    begin = [(time.monotonic(), block.nitems_written(0)) for block in side_by_side]
    time.sleep(options.seconds)
    end = [(time.monotonic(), block.nitems_written(0)) for block in side_by_side]
    graph.stop()
    graph.wait()
    return [(after[1] - before[1]) * BITS_PER_BYTE / (after[0] - before[0])
            for before, after in zip(begin, end)]


def limit_rates(options):
    """Returns the rates of `gpufec bench`, without a flowgraph, in decoded bits per second."""
    command = [options.gpufec, "bench", "viterbi", "--backend", options.backend,
               "--threads", str(options.threads), "--seconds", str(options.seconds),
               "--device", ",".join(map(str, options.devices)),
               "--batch", str(options.batch),
               "--runs", "1", "--json", "-"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [rate["median_bits_per_s"] for rate in json.loads(output)["rates"]]


def thread_seconds(name):
    """Returns the CPU seconds of the threads of blocks with this name. GNU Radio names a thread by
    the truncated name of its block, followed by a number."""
    seconds = 0.0
    for task in pathlib.Path("/proc/self/task").iterdir():
        if (task / "comm").read_text().startswith(name[:11]):
            seconds += int((task / "schedstat").read_text().split()[0]) * 1e-9
    return seconds


def starved_cpu(options, seconds):
    """Returns the fraction of a core that the decoder block's thread uses in `seconds` seconds
    while the source produces STARVED_ITEMS_PER_S."""
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
    makers = {"decoder": make_decoder, "edge": make_edge, "wide_edge": make_wide_edge}
    blocks_of = {name: [] for name in makers} # rates of each block in each run
    runs = {name: [] for name in makers}      # sum of the rates of all blocks in each run
    if options.gpufec:
        runs.update(limit=[], slots=[])
    for _ in range(options.rounds):
        for name, make in makers.items():
            rates = flowgraph_rates(make, options)
            blocks_of[name].append(rates)
            runs[name].append(sum(rates))
        if options.gpufec:
            for name, rate in zip(("limit", "slots"), limit_rates(options)):
                runs[name].append(rate)
    medians = {name: statistics.median(r) for name, r in runs.items()}
    decoder = make_decoder(options)
    result = {"backend": decoder.active_backend(), "threads": options.threads,
              "blocks": options.blocks, "devices": options.devices, "batch": decoder.batch(),
              "decode_length": decoder.decode_length(), "overlap": decoder.overlap(),
              "bits_per_s": runs, "median_bits_per_s": medians,
              "decoder_over_edge": medians["decoder"] / medians["edge"],
              "decoder_over_wide_edge": medians["decoder"] / medians["wide_edge"]}
    if options.gpufec:
        result["decoder_over_limit"] = medians["decoder"] / medians["limit"]
        result["decoder_over_slots"] = medians["decoder"] / medians["slots"]
    if options.blocks > 1:
        result["bits_per_s_of_each_block"] = blocks_of
        result["least_over_most_of_blocks"] = {
            name: statistics.median(min(rates) / max(rates) for rates in r)
            for name, r in blocks_of.items()}
    elif options.starved_seconds > 0:
        result["starved_items_per_s"] = STARVED_ITEMS_PER_S
        result["starved_cpu_of_a_core"] = starved_cpu(options, options.starved_seconds)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="cpu", choices=["auto", "cuda", "cpu"])
    parser.add_argument("--threads", type=int, default=1,
                        help="number of threads of the CPU backend")
    parser.add_argument("--blocks", type=int, default=1, help="number of decoders in one flowgraph")
    parser.add_argument("--devices", type=lambda text: list(map(int, text.split(","))),
                        default=[0], help="indices of the CUDA devices, separated by commas")
    parser.add_argument("--batch", type=int, default=0,
                        help="batch size in parallel blocks; 0: the decoder chooses the size")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0,
                        help="duration of each run in seconds")
    parser.add_argument("--starved-seconds", type=float, default=5.0,
                        help="duration in seconds of the measurement with a slow source; 0: this "
                             "measurement is omitted")
    parser.add_argument("--gpufec", default=shutil.which("gpufec"),
                        help="path of the program gpufec, which measures the decoder alone")
    parser.add_argument("--json", type=report_path,
                        help="write the results to this file instead of standard output")
    options = parser.parse_args()
    result = measure(options)
    if options.json:
        save(options.json, "flowgraph_rate", result)
    else:
        print(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
