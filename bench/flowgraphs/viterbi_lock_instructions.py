#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts the instructions that phase search adds to the CPU's Viterbi decoder while it is locked.
Unlike times, numbers of instructions do not depend on other programs on the machine.

`gpufec decode viterbi` runs under valgrind (callgrind), with and without phase search, and with
recordings of two lengths. The difference between the two counts excludes the start and the search.
The signals are those of viterbi_lock_flow.py. The instructions of the AVX2 variant are counted,
because valgrind does not emulate AVX-512.

Usage: viterbi_lock_instructions.py [--gpufec PATH] [--json FILE]
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from results_file import report_path, save  # noqa: E402
from viterbi_lock_flow import EB_N0, noisy  # noqa: E402

LENGTHS = 10_000_000, 30_000_000  # numbers of soft values in the two recordings


def instructions(gpufec, preset, values, lock, folder):
    recording = Path(folder) / "values"
    values.tofile(recording)
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", gpufec, "decode",
         "viterbi", "--preset", preset, "--backend", "cpu", "--soft-scale", "1", "--lock", lock,
         recording, "/dev/null"], stderr=subprocess.PIPE, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--gpufec", default="gpufec", help="path of the program gpufec")
    parser.add_argument("--json", type=report_path, metavar="FILE")
    args = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for preset in EB_N0:
            signal = np.resize(noisy(preset), LENGTHS[1])
            per_value = {}
            for lock in ("off", "auto"):
                counts = [instructions(args.gpufec, preset, signal[:n], lock, folder)
                          for n in LENGTHS]
                per_value[lock] = (counts[1] - counts[0]) / (LENGTHS[1] - LENGTHS[0])
            results.append(dict(preset=preset, instructions_per_value=per_value["off"],
                                locked=per_value["auto"],
                                cost=per_value["auto"] / per_value["off"] - 1))
            print(json.dumps(results[-1]), flush=True)
    if args.json:
        save(args.json, "viterbi_lock_instructions", results)


if __name__ == "__main__":
    main()
