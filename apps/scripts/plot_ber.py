#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Draws the error rates in the JSON files of `gpufec ber`.

Rates of bits and of LDPC frames are drawn against Eb/N0, those of symbols against the probability
of insertions and deletions. Bars are 95 % intervals, and arrows point down from 95 % upper bounds.

Usage: plot_ber.py RESULT.json... PLOT.png [--label TEXT]... [--format FORMAT]
       plot_ber.py --check PLOT.png    checks whether its format is supported
"""

import argparse
import io
import json
import math
import os
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("plot_ber.py: Matplotlib is not installed (Debian's python3-matplotlib)")

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402


Z = 1.96  # half-width of a 95 % interval in standard deviations


def of_symbols(report):
    return "ser" in report["points"][0]


def names_of(report):
    """Returns descriptions of the code and of the decoder of `report`."""
    options, backend = report["options"], report["decoder"]["backend"]
    if of_symbols(report):
        return (f"{options['codebook']}, n={options['n']} q={options['q']} "
                f"N={options['frame_symbols']}, {options['mode']}",
                f"MAP, {options['form']} form, {options['precision']}, {backend}")
    if "termination" in options:
        return (f"{options['code']}, {options['termination']}",
                f"Viterbi, L={report['decoder']['overlap']}, {options['soft_input']}, {backend}")
    return (options["code"],
            f"{options['schedule']} {options['algorithm']}, {options['precision']}, "
            f"{options['max_iterations']} iterations, {backend}")


def label_of(report):
    return ", ".join(names_of(report)).rsplit(", ", 1)[0]


def wilson(errors, trials):
    """Returns the ends of Wilson's 95 % interval (1927) of the rate errors / trials, divided by
    that rate. The errors must be independent."""
    rate, z2 = errors / trials, Z * Z / trials
    middle = (rate + z2 / 2) / (1 + z2)
    half = Z * math.sqrt(rate * (1 - rate) / trials + z2 / trials / 4) / (1 + z2)
    return (middle - half) / rate, (middle + half) / rate


def burst_length(points, at):
    """Returns the number of wrong bits per error event, at the point with events whose Eb/N0 is
    nearest to `at`. Returns 1 if no point has events."""
    seen = [p for p in points if p.get("events")]
    nearest = min(seen, key=lambda p: abs(p["ebn0_db"] - at), default=None)
    return nearest["errors"] / nearest["events"] if nearest else 1


def draw_curve(axes, x, rates, intervals, **style):
    """Draws a curve of error rates with error bars, and returns its colour.

    x: horizontal position of each rate
    rates: error rates, which must be above 0
    intervals: lower and upper end of the 95 % interval of each rate, divided by the rate
    """
    low = [r * (1 - max(a, 0.1)) for r, (a, _) in zip(rates, intervals)]
    high = [r * max(b - 1, 0) for r, (_, b) in zip(rates, intervals)]
    lines = axes.errorbar(x, rates, yerr=[low, high], marker="o", markersize=4, capsize=2, **style)
    return lines[0].get_color()


def draw_bounds(axes, x, bounds, color):
    """Draws `bounds`, the 95 % upper bounds at points without errors. An upper bound is 3 divided
    by the number of independent trials."""
    if x:
        axes.errorbar(x, bounds, yerr=[0.5 * b for b in bounds], uplims=True, linestyle="none",
                      marker="_", markersize=8, color=color, label="no errors: 95 % upper bound")


def draw_other(axes, points, member, label, color):
    """Draws the bit error rates of a reference decoder, which are in `member` of each point."""
    both = [p for p in points if member in p and p[member]["errors"] > 0]
    if both:
        axes.plot([p["ebn0_db"] for p in both], [p[member]["ber"] for p in both], "x",
                  color=color, label=label)


def draw(axes, report, label, theory):
    points = [p for p in report["points"] if p["ebn0_db"] is not None]
    seen = [p for p in points if p["errors"] > 0]
    clean = [p for p in points if p["errors"] == 0]
    x, rates = [p["ebn0_db"] for p in seen], [p["ber"] for p in seen]
    prefix = label + ", " if label else ""
    color = None
    if "fer_confidence" in report["points"][0]:  # errors within a frame are not independent
        intervals = [wilson(p["frame_errors"], p["frames"]) for p in seen]
        color = draw_curve(axes, x, [p["fer"] for p in seen], intervals,
                           label=prefix + "frames")
        draw_curve(axes, x, rates, intervals, label=prefix + "bits", color=color,
                   linestyle="--", fillstyle="none")
        draw_bounds(axes, [p["ebn0_db"] for p in clean], [3 / p["frames"] for p in clean], color)
    else:
        parts = [p["confidence"] / p["ber"] for p in seen]
        color = draw_curve(axes, x, rates, [(1 - c, 1 + c) for c in parts],
                           label=prefix + "bits")
        draw_bounds(axes, [p["ebn0_db"] for p in clean],
                    [3 * burst_length(points, p["ebn0_db"]) / p["bits"] for p in clean], color)
    draw_other(axes, seen, "reference", "maximum likelihood, same noise", color)
    draw_other(axes, seen, "sum_product", "sum-product, same noise", color)
    bounded = [p for p in points if p.get("theory") is not None and p["theory"] < 0.1]
    if theory and bounded:
        axes.plot([p["ebn0_db"] for p in bounded], [p["theory"] for p in bounded],
                  "--", color=color, alpha=0.6, label="union bound")


def draw_symbols(axes, report, label):
    seen = [p for p in report["points"] if p["errors"] > 0]
    clean = [p for p in report["points"] if p["errors"] == 0 and p["p_insert"] > 0]
    parts = [Z * p["ser_deviation"] / p["ser"] for p in seen]
    color = draw_curve(axes, [p["p_insert"] for p in seen], [p["ser"] for p in seen],
                       [(1 - c, 1 + c) for c in parts], label=label or "symbols")
    draw_bounds(axes, [p["p_insert"] for p in clean], [3 / p["frames"] for p in clean], color)


def format_of(path):
    return os.path.splitext(path)[1][1:].lower() or "png"


def write(path, content):
    """Writes `content`, bytes, to a temporary file, and then replaces the file `path` by it."""
    target = os.path.realpath(path)
    new = f"{target}.{os.getpid()}.new" if os.path.isfile(target) else path
    try:
        with open(new, "wb") as file:
            file.write(content)
        if new != path:
            os.chmod(new, os.stat(target).st_mode & 0o777)
            os.replace(new, target)
    except OSError:
        if new != path and os.path.exists(new):
            os.remove(new)
        raise


def plot(reports, labels, png, theory="each", title=None, kind=None):
    """Draws `reports` (parsed JSON) with their `labels` to the file `png`.

    theory: "each" draws the union bound for every report, and "first" only for the first report.
    title: title of the picture. With None, the title of a single report is its code and decoder,
    and several reports have no title.
    kind: format of the picture. With None, the extension of the name determines the format.
    """
    if title is None and len(reports) == 1:
        title, labels = "\n".join(names_of(reports[0])), [""]
    figure, axes = pyplot.subplots(figsize=(7, 5))
    for number, (report, label) in enumerate(zip(reports, labels)):
        if of_symbols(report):
            draw_symbols(axes, report, label)
        else:
            draw(axes, report, label, theory == "each" or number == 0)
    axes.set_yscale("log")
    if of_symbols(reports[0]):
        axes.set_xscale("log")
        axes.set_xlabel("insertion probability and deletion probability (equal), per bit")
        axes.set_ylabel("symbol error rate")
    else:
        axes.set_xlabel("Eb/N0 [dB]")
        axes.set_ylabel("error rate")
    if title:
        axes.set_title(title, fontsize="medium")
    axes.grid(True, which="both", alpha=0.3)
    below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.12)} if len(reports) > 1 else {}
    axes.legend(fontsize="small", **below)
    picture = io.BytesIO()
    figure.savefig(picture, dpi=120, bbox_inches="tight", format=kind or format_of(png))
    pyplot.close(figure)
    write(png, picture.getvalue())


def check(png):
    """Ends the program with an error if Matplotlib does not support the format of `png`, a file
    name."""
    kinds = pyplot.figure().canvas.get_supported_filetypes()
    if format_of(png) not in kinds:
        sys.exit(f"plot_ber.py: {png}: the name must end in {', '.join(sorted(kinds))}")


def read(path):
    """Returns the report in the JSON file `path`. Ends the program if the file is not a report of
    gpufec ber, or has no points."""
    with open(path, encoding="utf-8") as file:
        try:
            report = json.load(file)
            names_of(report)
        except (ValueError, LookupError, TypeError):
            sys.exit(f"plot_ber.py: {path}: not a report of gpufec ber with at least one point")
    return report


def main():
    if sys.argv[1:2] == ["--check"] and len(sys.argv) == 3:
        return check(sys.argv[2])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="+", metavar="RESULT.json")
    parser.add_argument("png", metavar="PLOT.png")
    parser.add_argument("--label", action="append", default=[],
                        help="label of a result instead of its code; may be given once per result")
    parser.add_argument("--format",
                        help="format of the picture, instead of the extension of its name")
    arguments = parser.parse_args()
    reports = [read(path) for path in arguments.results]
    labels = [label_of(r) for r in reports]
    labels[:len(arguments.label)] = arguments.label
    plot(reports, labels[:len(reports)], arguments.png, kind=arguments.format)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OSError as error:
        sys.exit(f"plot_ber.py: {error.filename}: {error.strerror}")
