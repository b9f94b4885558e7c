#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""What finding its phase costs the Viterbi decoder of the CPU, while locked, in
instructions: they do not depend on what else a machine does, as time does.

`gpufec decode viterbi` runs under valgrind (callgrind) over recordings of two lengths, with
and without a lock, so that the start and the search do not count. The signals are those of
viterbi_lock_flow.py. valgrind knows no AVX-512, so the variant for AVX2 is what is counted.

Usage: viterbi_lock_instructions.py [--gpufec PATH] [--json FILE]
"""

import argparse
import json
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from benchmark_environment import environment
from viterbi_lock_flow import EB_N0, noisy

LENGTHS = 10_000_000, 30_000_000  # values


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
    parser.add_argument("--gpufec", default="gpufec", help="the tool")
    parser.add_argument("--json", metavar="FILE")
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
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(dict(environment(), results=results), file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
