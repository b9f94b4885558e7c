#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measures the rates of the decoder blocks whose ports are in device memory (io="device").

A source in device memory repeats noisy frames, and a sink in device memory consumes the output.
Rates are information bits per second that leave the block. Results also have the fraction of a core
that the block's own thread uses, the rate of the same flowgraph with an output in host memory
(io="device_in") and, for comparison, the rates of the kernels alone and of a decoder without a
flowgraph (gpufec bench).

Usage: device_rates.py [--rounds N] [--seconds S] [--only WORD,...] [--gpufec PROGRAM]
                       [--json FILE]
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

import numpy as np
from gnuradio import blocks, gpufec, gr

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import device_blocks  # noqa: E402
from flowgraph_rate import thread_seconds  # noqa: E402
from dvbs2_rates import MODCODS, transmit  # noqa: E402
from port_rates import BOOK, SYNC, SYNC_BITS, noisy_frames, sync_slots  # noqa: E402
from results_file import report_path, save  # noqa: E402

SETTLE_S = 1.0 # time from the start of a flowgraph to the beginning of a measurement


def noisy_symbols(frames=32):
    """Returns the symbols of normal frames of 32APSK 9/10 at an Es/N0 of 16.35 dB, as complex
    floats."""
    _, symbols = transmit("32apsk", "9/10", MODCODS["32apsk 9/10"][3], frames)
    noise = np.random.default_rng(2).standard_normal(2 * len(symbols)).view(complex)
    return (symbols + np.sqrt(10 ** -1.635 / 2) * noise).astype(np.complex64)


def viterbi_values(items=1 << 26):
    """Returns int8 soft values of random bits at 5 dB Eb/N0, for rate 1/2."""
    rng = np.random.default_rng(3)
    bits = rng.integers(0, 2, items // 64, np.uint8)
    coded = gpufec.conv_encode(bits, packed_input=False, packed_output=False)
    values = 32 * (2.0 * coded - 1) + 18 * rng.standard_normal(len(coded))
    return np.tile(np.clip(np.rint(values), -127, 127).astype(np.int8), 32)


def run(items, make, io, seconds):
    """Runs a flowgraph. Returns output items per second, the fraction of a core that the block's
    thread uses, and the block."""
    block = make(io=io)
    graph = gr.top_block()
    size = block.output_signature().sizeof_stream_item(0)
    sink = device_blocks.device_sink(size) if io == "device" else blocks.null_sink(size)
    graph.connect(device_blocks.device_source(items), block, sink)
    graph.start()
    time.sleep(SETTLE_S)
    begin, first = time.monotonic(), block.nitems_written(0)
    cpu = thread_seconds(block.name())
    time.sleep(seconds)
    count = block.nitems_written(0) - first
    cpu, took = thread_seconds(block.name()) - cpu, time.monotonic() - begin
    graph.stop()
    graph.wait()
    return count / took, cpu / took, block


class cases:
    def __init__(self, options):
        self.options, self.results = options, {}

    def add(self, name, make_items, make, bits_per_item, *bench):
        if self.options.only and not any(w in name for w in self.options.only):
            return
        items = make_items()
        result = self.results[name] = {}
        for io in "device", "device_in":
            runs = [run(items, make, io, self.options.seconds)
                    for _ in range(self.options.rounds)]
            rates = [rate * bits_per_item for rate, _, _ in runs]
            result[io] = {"bits_per_s": rates, "median_bits_per_s": statistics.median(rates),
                          "own_thread_of_a_core": statistics.median(cpu for _, cpu, _ in runs)}
            if hasattr(runs[0][2], "mean_iterations"):
                result[io]["mean_iterations"] = runs[-1][2].mean_iterations()
        if bench and self.options.gpufec:
            done = subprocess.run([self.options.gpufec, "bench", *bench, "--backend", "cuda",
                                   "--seconds", "1.5", "--runs", "3", "--json", "-"],
                                  capture_output=True, text=True)
            if done.returncode:
                print(done.stderr)
            else:
                found = json.loads(done.stdout)
                result["without_a_flowgraph"] = {
                    r["what"]: r["median_bits_per_s"] for r in found["rates"]}
                result["kernels_bits_per_s"] = found["kernels_bits_per_s"]
        print(name, json.dumps(result), flush=True)


def measure(options):
    c = cases(options)

    def ldpc(rate, **more):
        return lambda **io: gpufec.gpu_ldpc_dvbs2(rate=rate, status_tags="none", **more, **io)

    def llrs(rate, eb_n0, floats=False):
        return lambda: noisy_frames(rate, eb_n0)[0 if floats else 1]

    for batch in 0, 32768:
        more = ("--batch", str(batch)) if batch else ()
        c.add(f"viterbi int8, batch {batch}", viterbi_values,
              lambda **io: gpufec.gpu_viterbi_pbvd(batch=batch, **io), 8, "viterbi", *more)
    fixed = dict(max_iterations=10, early_stop=False)
    ten = ("--max-iterations", "10", "--early-stop", "false")
    for rate, eb_n0, more, arguments in (("1/2", 1.3, fixed, ten), ("1/2", 1.3, {}, ()),
                                         ("9/10", 4.2, {}, ())):
        title = f"ldpc normal {rate} int8" + (", 10 fixed" if more else "")
        c.add(title, llrs(rate, eb_n0), ldpc(rate, **more), 8, "ldpc", "--rate", rate,
              "--eb-n0", str(eb_n0), *arguments)
    c.add("ldpc normal 1/2 float", llrs("1/2", 1.3, True), ldpc("1/2", soft_input="float"), 8,
          "ldpc", "--rate", "1/2", "--eb-n0", "1.3")
    c.add("ldpc normal 9/10 32apsk symbols", noisy_symbols,
          ldpc("9/10", soft_input="symbols", constellation="32apsk"), 8)
    c.add("sync framed", lambda: sync_slots(room=0),
          lambda **io: gpufec.gpu_sync_map(BOOK, frame_items=2100, status_tags="none", **SYNC,
                                           **io), SYNC_BITS, "sync")
    return c.results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0,
                        help="duration of each run in seconds")
    parser.add_argument("--only", type=lambda text: text.split(","), default=[],
                        help="run only flowgraphs whose names contain one of these words")
    parser.add_argument("--gpufec", default=shutil.which("gpufec"),
                        help="path of the program gpufec, which measures rates without a flowgraph")
    parser.add_argument("--json", type=report_path, help="write the results to this file")
    options = parser.parse_args()
    result = {"rounds": options.rounds, "seconds": options.seconds, "flows": measure(options)}
    if options.json:
        save(options.json, "device_rates", result)


if __name__ == "__main__":
    main()
