#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measures the rates of `gpufec ber` on a GPU, and the rates of the decoders' kernels alone.

For each row, the program runs with few and with many bits. The rate is the difference in bits
divided by the difference in time, which excludes the start of the program and of the device.
The script first checks that simulations on the device and on the host count the same errors. The
script also measures the time, start included, until a Viterbi point at 6.35 dB has 100 errors.

Usage: ber_rates.py GPUFEC [--json FILE] [--seconds S]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import results_file  # noqa: E402

LDPC = "--max-iterations 10 --early-stop false"
# Name, decoder, options of both `gpufec bench` and `gpufec ber`, options of only bench, options of
# only ber, and a first estimate of the rate in bits per second.
ROWS = (
    ("LDPC normal 1/2, 10 iterations", "ldpc", LDPC, "--batch 2112 --eb-n0 1.3",
     "--range 1.3", 25e9),
    ("LDPC normal 1/2, early stop, 1.3 dB", "ldpc", "", "--batch 2112 --eb-n0 1.3",
     "--range 1.3", 15e9),
    ("LDPC short 3/4, 10 iterations", "ldpc", f"{LDPC} --frame-size short --rate 3/4",
     "--batch 8448 --eb-n0 3", "--range 3", 25e9),
    ("Viterbi K=7 1/2", "viterbi", "--polynomials 171,133", "--batch 81920", "--range 5",
     60e9),
    ("Viterbi K=7 1/2, packed4", "viterbi", "--polynomials 171,133 --soft-input packed4",
     "--batch 81920", "--range 5", 60e9),
    ("Viterbi K=7 3/4", "viterbi", "--preset dvb_3_4", "--batch 81920", "--range 6", 60e9),
)
# Points whose channel is simulated both on the device and on the host. Each point has few bits,
# because the host is slower.
SAME = (
    ("viterbi", "--range 1:1:4 --max-bits 2e7 --min-errors 2000"),
    ("viterbi", "--preset dvb_7_8 --range 4 --max-bits 1e7 --soft-input packed4"),
    ("viterbi", "--preset lte --frame-bits 1000 --range 2 --max-bits 1e7 --min-errors 0"),
    ("ldpc", "--range 0.8:0.1:1.1 --max-frames 1000 --min-frame-errors 50"),
    ("ldpc", "--standard nr --frame-size bg1/z384 --rate 22/66 --range 0 --max-frames 500"),
    ("ldpc", "--frame-size short --range 1.5 --max-frames 3000 --precision int16"),
)


def gpufec(tool, *words):
    """Runs the tool; returns its report and its duration in seconds."""
    command = [tool, *words, "--json", "-"]
    begin = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    seconds = time.monotonic() - begin
    if done.returncode:
        sys.exit(f"ber_rates: failed: {' '.join(command)}")
    return json.loads(done.stdout), seconds


def ber(tool, decoder, options, bits):
    if decoder == "ldpc":
        frame = {"short": 11880}.get("short" if "short" in options else "", 32400)
        limit = ["--min-frame-errors", "0", "--max-frames", str(max(1, int(bits / frame)))]
    else:
        limit = ["--min-errors", "0", "--max-bits", str(int(bits))]
    report, seconds = gpufec(tool, "ber", decoder, "--backend", "cuda", "--channel",
                             "device", *options.split(), *limit)
    return report["points"][0], seconds


def rate_of(tool, decoder, options, guess, min_s):
    """Returns the rate in bits per second, the report of the longer run, and the durations of both
    runs in seconds. `guess` is an estimate in bits per second. `min_s` is the intended difference
    between the durations of the two runs, in seconds."""
    few, short = ber(tool, decoder, options, guess * min_s / 4)
    for _ in range(5):
        many, long = ber(tool, decoder, options, few["bits"] + guess * min_s)
        rate = (many["bits"] - few["bits"]) / max(1e-3, long - short)
        if long - short > min_s / 2:
            break
        guess = 2 * rate
    return rate, many, {"short_s": short, "long_s": long, "short_bits": few["bits"]}


def rows(tool, min_s):
    for name, decoder, code, bench, noise, guess in ROWS:
        kernels, _ = gpufec(tool, "bench", decoder, "--backend", "cuda", *code.split(),
                            *bench.split(), "--seconds", "0.5", "--runs", "1")
        rate, point, times = rate_of(tool, decoder, f"{code} {noise}", guess, min_s)
        row = {"row": name, "bits_per_s": rate,
               "kernels_bits_per_s": kernels["kernels_bits_per_s"],
               "of_kernels": rate / kernels["kernels_bits_per_s"], **times, "point": point,
               "bench_mean_iterations": kernels.get("mean_iterations")}
        print(f"{name}: {rate / 1e9:.2f} Gb/s, {row['of_kernels']:.2f} of the kernels' "
              f"{kernels['kernels_bits_per_s'] / 1e9:.2f}", flush=True)
        yield row


def same(tool):
    for decoder, options in SAME:
        words = [w.replace("/z", " z") for w in options.split()]
        host, host_s = gpufec(tool, "ber", decoder, "--backend", "cuda", "--channel", "host",
                              "--sim-threads", "16", *words)
        device, device_s = gpufec(tool, "ber", decoder, "--backend", "cuda", "--channel",
                                  "device", *words)
        equal = host["points"] == device["points"]
        print(f"{decoder} {options}: error counts {'equal' if equal else 'DIFFERENT'}, "
              f"host {host_s:.1f} s, device {device_s:.1f} s", flush=True)
        yield {"call": f"{decoder} {options}", "equal": equal, "host_s": host_s,
               "device_s": device_s, "points": device["points"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("--json", type=results_file.report_path)
    parser.add_argument("--seconds", type=float, default=4,
                        help="approximate duration of each row in seconds")
    arguments = parser.parse_args()
    compared = list(same(arguments.tool))
    report, seconds = gpufec(arguments.tool, "ber", "viterbi", "--backend", "cuda",
                             "--channel", "device", "--range", "6.35", "--min-errors", "100",
                             "--max-bits", "1e12")
    rare = {"seconds": seconds, "point": report["points"][0]}
    print(f"BER {rare['point']['ber']:.2e} from {rare['point']['errors']:.0f} errors in "
          f"{rare['point']['bits']:.2e} bits: {seconds:.1f} s", flush=True)
    found = {"compared": compared, "rare": rare,
             "rows": list(rows(arguments.tool, arguments.seconds))}
    if arguments.json:
        results_file.save(arguments.json, "ber_rates", found,
                          "gpufec ber with everything on the device")
    return 0 if all(c["equal"] for c in compared) else 1


if __name__ == "__main__":
    sys.exit(main())
