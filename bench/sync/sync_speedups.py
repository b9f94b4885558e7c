#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Prints how many times as fast as one thread of a CPU a GPU decodes, over the papers' grid.

A Markdown table of bench_sync_map's results: the CPU's corridor form against the GPU's, with
global and with local storage, and its corridor form with global storage against the GPU's
linear form; per frame, in batches or (--alone) one frame at a time.

Usage: sync_speedups.py CPU.json GPU.json [--alone]
"""

import argparse
import json
import pathlib

FORMS = (("corridor", "global"), ("corridor", "local"), ("linear", None))


def entries(file):
    """Results by code, probability, form, storage and whether a frame was alone."""
    found = {}
    for e in json.loads(pathlib.Path(file).read_text())["result"]:
        frames = e.get("frames", 1)
        ms = e.get("frame_ms", e.get("kernels_ms", 0) / frames)
        key = ((e["n"], e["q"], e["N"]), e["p"], e["form"], e.get("storage"))
        # Where a batch is one frame it comes second.
        found.setdefault(key, []).append(ms)
    return found


def rounded(x):
    """Two digits: more says nothing where two machines are compared."""
    if x < 10:
        return f"{x:.2g}"
    return f"{round(x, 2 - len(str(int(x)))):,.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cpu")
    parser.add_argument("gpu")
    parser.add_argument("--alone", action="store_true", help="one frame at a time")
    options = parser.parse_args()
    cpu, gpu = entries(options.cpu), entries(options.gpu)
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
