#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Prints a Markdown table of the speedup of a GPU over one CPU thread.

The codes are those of Briffa's papers. A cell has three speedups. Each is the CPU's time per frame
divided by the GPU's time per frame. The first two compare the corridor form on CPU and GPU, with
global and with local storage. The third compares the corridor form with global storage on the CPU
to the linear form on the GPU. The GPU decodes frames in batches or, with --alone, one at a time.

Usage: sync_speedups.py RESULT.json... [--alone]   runs of `bench_sync_map cpu grid` and `cuda grid`
"""

import argparse
import json
import pathlib

FORMS = (("corridor", "global"), ("corridor", "local"), ("linear", None))


def entries(rows):
    """Returns a dictionary with the keys (code, probability, form, storage). Each value is a list
    of two times in ms per frame: of a frame decoded alone, and of a frame in a batch.
    """
    found = {}
    for e in rows:
        frames = e.get("frames", 1)
        ms = e.get("frame_ms", e.get("kernels_ms", 0) / frames)
        key = ((e["n"], e["q"], e["N"]), e["p"], e["form"], e.get("storage"))
        # The number of frames is not in the key: a batch of a large code may have one frame.
        found.setdefault(key, []).append(ms)
    return found


def rounded(x):
    """Formats x with two significant digits; a comparison of two machines is not more precise."""
    if x < 10:
        return f"{x:.2g}"
    return f"{round(x, 2 - len(str(int(x)))):,.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="+", type=pathlib.Path, metavar="RESULT.json")
    parser.add_argument("--alone", action="store_true",
                        help="compare frames that are decoded one at a time")
    options = parser.parse_args()
    runs = [run for path in options.results for run in json.loads(path.read_text())["runs"]]
    cpu, gpu = (entries(row for run in runs if f" {where} grid" in run["command"]
                        for row in run["rows"]) for where in ("cpu", "cuda"))
    codes = list(dict.fromkeys(key[0] for key in gpu))
    levels = list(dict.fromkeys(key[1] for key in gpu))
    print("| n, q, N | " + " | ".join(f"p = {p:g}" for p in levels) + " |")
    print("|---" * (len(levels) + 1) + "|")
    for code in codes:
        cells = []
        for p in levels:
            factors = []
            for form, storage in FORMS:
                slow = cpu[code, p, "corridor", storage or "global"][0]
                fast = gpu[code, p, form, storage][0 if options.alone else 1]
                factors.append(rounded(slow / fast))
            cells.append(" / ".join(factors))
        print(f"| {', '.join(map(str, code))} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
