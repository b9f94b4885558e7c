#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the cost of soft output of the LDPC decoder on a GPU.

Compares the rates of decoders that output bits, posterior LLRs or extrinsic LLRs. The rates are
those of the kernels alone with codes of DVB-S2 and CCSDS C2, and those of `gpufec bench ldpc` with
two codes of DVB-S2. Writes JSON.

Usage: ldpc_llr_rates.py BUILD FILE, for example ldpc_llr_rates.py build/cuda llrs.json"""

import argparse
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from results_file import save  # noqa: E402

OUTPUTS = ("bits", "llr", "extrinsic")


def lines_of(command):
    print(" ".join(command), flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def kernels(build, size, rate, precision, frames, kernel="-"):
    found = []
    for output in OUTPUTS:
        command = [str(build / "bench/ldpc/ldpc_kernels"), "speed", precision, size, rate, "10",
                   str(frames), "-", kernel]
        for result in lines_of(command + ([output] if output != "bits" else [])):
            found.append(dict(result, output=output))
    return found


def slots(build, rate, output):
    command = [str(build / "apps/gpufec"), "bench", "ldpc", "--backend", "cuda", "--rate",
               rate, "--early-stop", "false", "--max-iterations", "10", "--seconds", "2",
               "--json", "-", "--output",
               "message" if output == "bits" else output]
    print(" ".join(command), flush=True)
    text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return dict(json.loads(text), rate=rate, output=output)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("json", type=pathlib.Path)
    given = parser.parse_args()
    results = dict(kernels=[], slots=[])
    results["kernels"] += kernels(given.build, "normal", "all", "int8", 2112)
    results["kernels"] += kernels(given.build, "short", "all", "int8", 8448)
    results["kernels"] += kernels(given.build, "normal", "1/2", "int8", 2112, "two_checks_per_word")
    results["kernels"] += kernels(given.build, "normal", "1/2", "int16", 2112)
    results["kernels"] += kernels(given.build, "normal", "1/2", "float", 2112)
    results["kernels"] += kernels(given.build, "ccsds_c2/8160", "all", "int8", 8448)
    for rate in "1/2", "9/10":
        results["slots"] += [slots(given.build, rate, output) for output in OUTPUTS]
    save(given.json, "ldpc_llr_rates", results)


if __name__ == "__main__":
    main()
