#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measures the delay of a frame in gpu_ldpc_dvbs2 after a source that is slower than the decoder.

A whole frame of normal 1/2 arrives every --interval ms. The delay of a frame is the time from its
arrival until its last bits leave the block. Delays are measured for several values of batch and
max_latency_ms.

Usage: ldpc_latency.py [--frames N] [--interval MS] [--backend B] [--json FILE]
"""

import argparse
import pathlib
import statistics
import sys
import time

import numpy as np
from gnuradio import gpufec, gr

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from results_file import report_path, save  # noqa: E402

N, K = 64800, 32400
WARM_UP = 5  # number of frames at the beginning that are not counted
CASES = [(1, 50), (0, 5), (0, 20), (0, 50), (4, 50), (4, 1000)]


class source(gr.sync_block):
    """A source that sends a noiseless all-zero codeword every `interval` seconds, and records the
    time at which each codeword was sent."""

    def __init__(self, frames, interval):
        gr.sync_block.__init__(self, "paced", [], [np.int8])
        self.frames, self.interval, self.sent = frames, interval, []
        self.left = 0

    def work(self, _, output_items):
        if self.left == 0:
            if len(self.sent) == self.frames:
                time.sleep(1.5)  # The end of the stream would flush the last batches.
                return -1
            if self.sent:
                time.sleep(max(0, self.sent[-1] + self.interval - time.monotonic()))
            self.sent.append(time.monotonic())
            self.left = N
        count = min(self.left, len(output_items[0]))
        output_items[0][:count] = 20
        self.left -= count
        return count


class sink(gr.sync_block):
    def __init__(self):
        gr.sync_block.__init__(self, "clock", [np.uint8], [])
        self.items, self.came = 0, []

    def work(self, input_items, _):
        self.items += len(input_items[0])
        while len(self.came) < self.items // (K // 8):
            self.came.append(time.monotonic())
        return len(input_items[0])


def measure(options, batch, max_latency_ms):
    decoder = gpufec.gpu_ldpc_dvbs2(rate="1/2", batch=batch, max_latency_ms=max_latency_ms,
                                    early_stop=False, backend=options.backend)
    graph = gr.top_block()
    feed, end = source(options.frames, options.interval / 1000), sink()
    graph.connect(feed, decoder, end)
    graph.run()
    delays = [1000 * (b - a) for a, b in zip(feed.sent, end.came)][WARM_UP:]
    return {"batch": batch, "frames_a_batch": decoder.batch(),
            "max_latency_ms": max_latency_ms, "backend": decoder.active_backend(),
            "frames": len(end.came), "median_ms": statistics.median(delays),
            "least_ms": min(delays), "most_ms": max(delays)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=40)
    parser.add_argument("--interval", type=float, default=200, metavar="MS")
    parser.add_argument("--backend", choices=("auto", "cuda", "cpu"), default="auto")
    parser.add_argument("--json", type=report_path, metavar="FILE")
    options = parser.parse_args()
    report = {"code": "dvbs2 normal 1/2", "iterations": 25, "interval_ms": options.interval,
              "results": []}
    for batch, max_latency_ms in CASES:
        report["results"].append(measure(options, batch, max_latency_ms))
        print(report["results"][-1])
    if options.json:
        save(options.json, "ldpc_latency", report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
