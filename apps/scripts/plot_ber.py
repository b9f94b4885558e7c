#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Draws error rates from the JSON files of `gpufec ber`: bit error rates against Eb/N0, or
those of symbols against the probability of insertions and deletions.

Usage: plot_ber.py RESULT.json... PLOT.png [--label TEXT]...
       plot_ber.py --check PLOT.png    whether it could be drawn
"""

import argparse
import json
import os
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("plot_ber.py: Matplotlib is not installed (Debian's python3-matplotlib)")

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402


def of_symbols(report):
    return "ser" in report["points"][0]


def label_of(report):
    options = report["options"]
    if of_symbols(report):
        return (f"{options['codebook']}, n={options['n']} q={options['q']} "
                f"N={options['frame_symbols']}, {options['mode']}")
    if "termination" in options:
        return (f"{options['code']}, {options['termination']}, "
                f"L={report['decoder']['overlap']}")
    return (f"{options['code']}, {options['schedule']} {options['algorithm']}, "
            f"{options['precision']}, {options['max_iterations']} iterations")


def confidence(point):
    """Half of the interval of the bit error rate; of frames, where errors come in them."""
    if "confidence" in point:
        return point["confidence"]
    return point["ber"] * point["fer_confidence"] / point["fer"]


def draw(axes, report, label, theory):
    points = [p for p in report["points"] if p["ebn0_db"] is not None]
    seen = [p for p in points if p["errors"] > 0]
    x = [p["ebn0_db"] for p in seen]
    lines = axes.errorbar(x, [p["ber"] for p in seen],
                          yerr=[min(confidence(p), 0.9 * p["ber"]) for p in seen],
                          marker="o", markersize=4, capsize=2, label=label)
    color = lines[0].get_color()
    both = [p for p in seen if "reference" in p and p["reference"]["errors"] > 0]
    if both:
        axes.plot([p["ebn0_db"] for p in both], [p["reference"]["ber"] for p in both],
                  "x", color=color, label="maximum likelihood, same noise")
    both = [p for p in seen if "sum_product" in p and p["sum_product"]["errors"] > 0]
    if both:
        axes.plot([p["ebn0_db"] for p in both], [p["sum_product"]["ber"] for p in both],
                  "x", color=color, label="sum-product, same noise")
    bounded = [p for p in points if p.get("theory") is not None and p["theory"] < 0.1]
    if theory and bounded:
        axes.plot([p["ebn0_db"] for p in bounded], [p["theory"] for p in bounded],
                  "--", color=color, alpha=0.6, label="union bound")


def draw_symbols(axes, report, label):
    seen = [p for p in report["points"] if p["errors"] > 0]
    axes.errorbar([p["p_insert"] for p in seen], [p["ser"] for p in seen],
                  yerr=[min(1.96 * p["ser_deviation"], 0.9 * p["ser"]) for p in seen],
                  marker="o", markersize=4, capsize=2, label=label)


def plot(reports, labels, png, theory="each", title=None):
    """Draws `reports` (parsed JSON) with their `labels` to the file `png`.

    theory: the union bound beside "each" of them, or the "first" only.
    """
    figure, axes = pyplot.subplots(figsize=(7, 5))
    for number, (report, label) in enumerate(zip(reports, labels)):
        if of_symbols(report):
            draw_symbols(axes, report, label)
        else:
            draw(axes, report, label, theory == "each" or number == 0)
    axes.set_yscale("log")
    if of_symbols(reports[0]):
        axes.set_xscale("log")
        axes.set_xlabel("probability of an insertion, and of a deletion, before each bit")
        axes.set_ylabel("symbol error rate")
    else:
        axes.set_xlabel("Eb/N0 [dB]")
        axes.set_ylabel("bit error rate")
    if title:
        axes.set_title(title)
    axes.grid(True, which="both", alpha=0.3)
    axes.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(png, dpi=120)
    pyplot.close(figure)


def check(png):
    """Before long work: says what is wrong, and ends."""
    kinds = pyplot.figure().canvas.get_supported_filetypes()
    kind = os.path.splitext(png)[1][1:].lower()
    if kind and kind not in kinds:
        sys.exit(f"plot_ber.py: {png}: allowed are names that end in {', '.join(sorted(kinds))}")
    was_there = os.path.exists(png)
    open(png, "ab").close()
    if not was_there:
        os.remove(png)


def main():
    if sys.argv[1:2] == ["--check"] and len(sys.argv) == 3:
        return check(sys.argv[2])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="+", metavar="RESULT.json")
    parser.add_argument("png", metavar="PLOT.png")
    parser.add_argument("--label", action="append", default=[],
                        help="of each result in turn, instead of its code")
    arguments = parser.parse_args()
    reports = []
    for path in arguments.results:
        with open(path) as file:
            reports.append(json.load(file))
    labels = [label_of(r) for r in reports]
    labels[:len(arguments.label)] = arguments.label
    plot(reports, labels[:len(reports)], arguments.png)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OSError as error:
        sys.exit(f"plot_ber.py: {error.filename}: {error.strerror}")
