#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measures the rates of the Viterbi decoder on this machine's GPU for several codes.

Runs `gpufec bench viterbi` for each row. The results are the rates of the kernels alone, from
pinned slot to pinned slot, and through the stream decoder, and the latency of one batch. Rows
include codes without specialised kernels.

Usage: viterbi_rates.py GPUFEC [--json FILE] [--seconds S] [--only WORD]
"""

import argparse
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import results_file  # noqa: E402

HALF = "--polynomials 171,133 --decode-length 1024"
ROWS = (
    ("K=7 1/2", f"{HALF} --batch 135168"),
    ("K=7 1/2, two rounds", f"{HALF} --batch 270336"),
    ("K=7 1/2, one warp per scheduler", f"{HALF} --batch 33792"),
    ("K=7 1/2, two warps per scheduler", f"{HALF} --batch 67584"),
    ("K=7 1/2, three warps per scheduler", f"{HALF} --batch 101376"),
    ("K=7 1/2, chosen batch", ""),
    ("K=7 1/2, CCSDS", "--preset ccsds --decode-length 1024 --batch 135168"),
    ("K=7 1/2, packed4", f"{HALF} --batch 135168 --soft-input packed4"),
    ("K=9 1/2", "--constraint-length 9 --polynomials 753,561 --batch 135168"),
    ("K=7 1/3", "--polynomials 133,171,165 --batch 135168"),
    ("K=7 3/4", "--preset dvb_3_4 --batch 135168"),
    ("K=7 7/8", "--preset dvb_7_8 --batch 65536"),
    ("K=7 1/2, 1 Mbit", "--decode-length 256 --batch 4096"),
    ("K=7 1/2, 1 Mbit, D=1024", f"{HALF} --batch 1024"),
    ("K=7 1/2, 64 kbit, D=256", "--decode-length 256 --batch 256"),
    ("K=7 1/2, 64 kbit, D=512", "--decode-length 512 --batch 128"),
    ("K=7 1/2, 64 kbit, D=1024", f"{HALF} --batch 64"),
    ("pbvd: K=7 1/2", f"{HALF} --batch 135168 --cuda-kernel pbvd"),
    ("pbvd: K=9 1/2",
     "--constraint-length 9 --polynomials 753,561 --batch 65536 --cuda-kernel pbvd"),
    ("pbvd: K=7 1/3", "--polynomials 133,171,165 --batch 135168 --cuda-kernel pbvd"),
    ("any code: K=7 1/2 (165,127)", "--polynomials 165,127 --batch 135168"),
    ("any code: K=8 1/2 (371,247)",
     "--constraint-length 8 --polynomials 371,247 --batch 65536"),
    ("any code: K=9 1/2 (657,435)",
     "--constraint-length 9 --polynomials 657,435 --batch 65536"),
    ("any code: K=7 1/3 (145,175,133)", "--polynomials 145,175,133 --batch 135168"),
    ("any code: K=9 1/3 (557,663,711)",
     "--constraint-length 9 --polynomials 557,663,711 --batch 65536"),
    ("any code: K=7 1/4 (DAB)", "--polynomials 133,171,145,133 --batch 135168"),
    ("any code: K=5 1/2 (GSM)", "--constraint-length 5 --polynomials 23,33 --batch 135168"),
)


def bench(tool, options, seconds):
    command = [tool, "bench", "viterbi", "--backend", "cuda", *options.split(),
               "--seconds", str(seconds), "--runs", "3", "--json", "-"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"viterbi_rates: {tool} failed: {options}")
    report = json.loads(done.stdout)
    report["command"] = " ".join(["gpufec", *command[1:]])
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("--json", type=results_file.report_path)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--only", default="", metavar="WORD",
                        help="run only rows whose names contain WORD")
    arguments = parser.parse_args()
    rows = []
    print("| code | blocks × D | L | prepare, forward, traceback, ms | kernels, Gb/s "
          "| stages, 10⁹/s | host to host, Gb/s | stream, Gb/s | latency of a batch, µs |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, options in ROWS:
        if arguments.only not in name:
            continue
        r = bench(arguments.tool, options, arguments.seconds)
        rate = {x["what"]: x["median_bits_per_s"] / 1e9 for x in r["rates"]}
        times = [r["device_ms"][part] for part in ("prepare", "forward", "traceback")]
        stages = r["batch"] * (r["decode_length"] + 2 * r["overlap"])
        rows.append({"row": name, "stages_per_s": stages / (sum(times) * 1e-3), **r})
        print(f"| {name} | {r['batch']} × {r['decode_length']} | {r['overlap']} | "
              + ", ".join(f"{t:.3f}" for t in times)
              + f" | {r['kernels_bits_per_s'] / 1e9:.1f} | {rows[-1]['stages_per_s'] / 1e9:.1f}"
              f" | {rate['host to host']:.1f} | {rate['stream']:.1f} |"
              f" {r['batch_latency_s'] * 1e6:.0f} |", flush=True)
    if arguments.json:
        results_file.save(arguments.json, "viterbi_rates", rows)


if __name__ == "__main__":
    main()
