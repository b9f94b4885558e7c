#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the decoded bits per second of each decoder block on one CPU thread, and of the same
decoder without a flowgraph (row "stream" of `gpufec bench`).

Runs of the flowgraph and of `gpufec bench` alternate, and the ratio is the median over pairs of
runs, which reduces the influence of other programs. The source is a ring buffer in memory, from the
module endurance_blocks, which a build writes to bench/flowgraphs. The LDPC decoder runs 10
iterations for every frame, so its rate does not depend on the input.

Usage: cpu_flow.py [--gpufec PROGRAM] [--turns N] [--seconds S] [--json FILE]
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

import endurance_blocks
import numpy as np
from gnuradio import blocks, gpufec, gr

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from results_file import report_path, save  # noqa: E402

BOOK = gpufec.codebook_davey_mackay(10, 32, 210, 1)
SYNC = dict(q=32, n=10, frame_symbols=210)


def sync_items():
    symbols = np.random.default_rng(1).integers(0, 32, 64 * 210).astype(np.uint8)
    sink = blocks.vector_sink_b()
    graph = gr.top_block()
    graph.connect(blocks.vector_source_b(symbols.tolist()), gpufec.sync_encoder(BOOK, **SYNC), sink)
    graph.run()
    return np.array(sink.data(), np.int8)


def noise(count):
    return np.random.default_rng(1).integers(-60, 60, count).astype(np.int8)


# For each row: a function that makes the block, a function that makes its input items, the number
# of information bits per output item, and the options of `gpufec bench`.
ROWS = {
    "viterbi K=7 1/2": (lambda: gpufec.gpu_viterbi_pbvd(preset="ccsds", backend="cpu"),
                        lambda: noise(1 << 20), 8, "viterbi --preset ccsds"),
    "viterbi K=7 3/4": (lambda: gpufec.gpu_viterbi_pbvd(preset="dvb_3_4", backend="cpu"),
                        lambda: noise(1 << 20), 8, "viterbi --preset dvb_3_4"),
    "ldpc normal 1/2": (
        lambda: gpufec.gpu_ldpc_dvbs2(max_iterations=10, early_stop=False, backend="cpu"),
        lambda: noise(16 * 64800), 8, "ldpc --max-iterations 10 --early-stop false"),
    "ldpc short 1/2": (
        lambda: gpufec.gpu_ldpc_dvbs2(frame_size="short", max_iterations=10, early_stop=False,
                                      backend="cpu"),
        lambda: noise(16 * 16200), 8,
        "ldpc --frame-size short --max-iterations 10 --early-stop false"),
    "sync framed, p = 1e-3": (
        lambda: gpufec.gpu_sync_map(BOOK, **SYNC, p_insert=1e-3, p_delete=1e-3, frame_items=2100,
                                    status_tags="none", backend="cpu"),
        sync_items, 5, "sync --p-insert 1e-3 --p-delete 1e-3"),
}


def in_a_flowgraph(make, items, bits, seconds):
    block, graph = make(), gr.top_block()
    graph.connect(endurance_blocks.ring_source(items, 8 << 20), block, blocks.null_sink(1))
    graph.start()
    time.sleep(0.3)
    begin, given = time.monotonic(), block.nitems_written(0)
    time.sleep(seconds)
    given = block.nitems_written(0) - given
    took = time.monotonic() - begin
    graph.stop()
    graph.wait()
    return given * bits / took


def by_itself(program, what, seconds):
    done = subprocess.run(
        [program, "bench", *what.split(), "--backend", "cpu", "--seconds", str(seconds / 9),
         "--json", "-"], capture_output=True, text=True, check=True)
    rates = {each["what"]: each["median_bits_per_s"] for each in json.loads(done.stdout)["rates"]}
    return rates["stream"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--gpufec", default="gpufec", help="path of the program gpufec")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.5,
                        help="duration of each run in seconds")
    parser.add_argument("--json", type=report_path, metavar="FILE")
    args = parser.parse_args()
    results = []
    for name, (make, items, bits, what) in ROWS.items():
        source = items()
        flow, program = [], []
        for _ in range(args.turns):
            flow.append(in_a_flowgraph(make, source, bits, args.seconds))
            program.append(by_itself(args.gpufec, what, args.seconds))
        results.append(dict(
            row=name, flowgraph_bits_per_s=statistics.median(flow),
            program_bits_per_s=statistics.median(program),
            ratio=statistics.median(a / b for a, b in zip(flow, program)),
            flowgraph_runs=flow, program_runs=program))
        print(json.dumps({key: value for key, value in results[-1].items()
                          if not key.endswith("runs")}), flush=True)
    if args.json:
        save(args.json, "cpu_flow", dict(turns=args.turns, seconds=args.seconds, rows=results))


if __name__ == "__main__":
    main()
