#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Draws the results of bench/ldpc/ldpc-sweeps.

Usage: plot_ldpc_sweeps.py RESULT.json PREFIX
Writes PREFIX-iterations.png (bit error rate against Eb/N0, a curve per number of iterations) and
PREFIX-latency.png (latency against iterations and against the number of codewords). A picture is
left out if the results lack its measurements.
"""

import argparse
import json

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

DECODERS = {"flooding": "min-sum, flooding, float", "layered": "offset min-sum, layered, int8"}


def of_decoder(results, schedule):
    return [r for r in results if r.get("options", {}).get("schedule") == schedule]


def draw_iterations(results, png):
    figure, both = pyplot.subplots(1, 2, figsize=(11, 5), sharex=True, sharey=True)
    for axes, (schedule, name) in zip(both, DECODERS.items()):
        for r in of_decoder(results, schedule):
            seen = [p for p in r["points"] if p["errors"] > 0]
            axes.plot([p["ebn0_db"] for p in seen], [p["ber"] for p in seen], marker="o",
                      markersize=3, label=f"{r['options']['max_iterations']} iterations")
        axes.set_yscale("log")
        axes.set_xlabel("Eb/N0 [dB]")
        axes.set_title(f"{r['options']['code']}, {name}", fontsize="medium")
        axes.grid(True, which="both", alpha=0.3)
        axes.legend(fontsize="small")
    both[0].set_ylabel("bit error rate")
    finish(figure, png)


def draw_latency(results, png):
    """Draws the latency of the kernels alone to the file `png`, because the time that the host
    needs varies."""
    figure, (iterations, codewords) = pyplot.subplots(1, 2, figsize=(11, 5))
    for schedule, name in DECODERS.items():
        rows = of_decoder(results, schedule)
        alone = [r for r in rows if r["batch"] == 1]
        iterations.plot([r["options"]["max_iterations"] for r in alone],
                        [r["device_ms"]["kernels"] for r in alone], marker="o", label=name)
        many = [r for r in rows if r["options"]["max_iterations"] == 10]
        many.sort(key=lambda r: r["batch"])
        codewords.plot([r["batch"] for r in many],
                       [r["device_ms"]["kernels"] for r in many], marker="o", label=name)
    iterations.set_xlabel("iterations of one codeword")
    codewords.set_xlabel("codewords, 10 iterations")
    codewords.set_xscale("log", base=2)
    codewords.set_yscale("log")
    for axes in (iterations, codewords):
        axes.set_ylabel("kernels [ms]")
        axes.grid(True, which="both", alpha=0.3)
        axes.legend(fontsize="small")
    finish(figure, png)


def finish(figure, png):
    figure.tight_layout()
    figure.savefig(png, dpi=120)
    pyplot.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("result", metavar="RESULT.json")
    parser.add_argument("prefix", metavar="PREFIX")
    arguments = parser.parse_args()
    with open(arguments.result, encoding="utf-8") as file:
        rows = [row for run in json.load(file)["runs"] for row in run["rows"]]
    for sweep, draw in (("iterations", draw_iterations), ("latency", draw_latency)):
        found = [row for row in rows if row["sweep"] == sweep]
        if found:
            draw(found, f"{arguments.prefix}-{sweep}.png")


if __name__ == "__main__":
    main()
