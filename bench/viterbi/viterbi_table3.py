#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Repeats table III of Peng, Liu, Hou and Zhao (2016; README.md, Sources) on this machine's GPU.

Measures the times of kernels and copies, and the throughput with one CUDA stream and with three
CUDA streams, for several numbers of parallel blocks. The paper's kernels ("pbvd") are compared with
gr-gpufec's kernels. Input is 8-bit soft values; the decode length is D = 512, the overlap L = 42.

Usage: viterbi_table3.py GPUFEC [--json FILE] [--seconds S]
"""

import argparse
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import results_file  # noqa: E402

BLOCKS = (2048, 4096, 6144, 8192, 10240, 20480, 67584, 135168)
KERNELS = ("pbvd", "registers", "fused")


def bench(tool, kernel, blocks, slots, seconds):
    done = subprocess.run(
        [tool, "bench", "viterbi", "--backend", "cuda", "--cuda-kernel", kernel,
         "--decode-length", "512", "--overlap", "42", "--batch", str(blocks),
         "--slots", str(slots), "--seconds", str(seconds), "--runs", "3", "--json", "-"],
        stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"viterbi_table3: {tool} failed for {kernel}, {blocks} blocks")
    return json.loads(done.stdout)


def row(tool, kernel, blocks, seconds):
    one, three = (bench(tool, kernel, blocks, slots, seconds) for slots in (1, 3))
    rate = {name: next(r["median_bits_per_s"] for r in report["rates"]
                       if r["what"] == "host to host")
            for name, report in (("one", one), ("three", three))}
    return {"kernel": kernel, "blocks": blocks, "device": one["device"],
            "device_ms": one["device_ms"], "kernels_bits_per_s": one["kernels_bits_per_s"],
            "one_stream_bits_per_s": rate["one"], "three_streams_bits_per_s": rate["three"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("--json", type=results_file.report_path)
    parser.add_argument("--seconds", type=float, default=0.5)
    arguments = parser.parse_args()
    rows = [row(arguments.tool, kernel, blocks, arguments.seconds)
            for kernel in KERNELS for blocks in BLOCKS]
    print("forward, traceback, copy in and copy out are times in ms; the last columns are in Gb/s")
    print("kernel     blocks  forward traceback copy in   out      kernels 1 stream 3 streams")
    for r in rows:
        t = r["device_ms"]
        print(f"{r['kernel']:10}{r['blocks']:7}{t['prepare'] + t['forward']:9.3f}"
              f"{t['traceback']:10.3f}{t['copy_in']:8.3f}{t['copy_out']:6.3f}   "
              f"{r['kernels_bits_per_s'] / 1e9:10.2f}{r['one_stream_bits_per_s'] / 1e9:9.2f}"
              f"{r['three_streams_bits_per_s'] / 1e9:10.2f}")
    if arguments.json:
        results_file.save(arguments.json, "viterbi_table3", rows,
                          "Table III of the paper: D = 512, L = 42, int8, K=7 rate 1/2")


if __name__ == "__main__":
    main()
