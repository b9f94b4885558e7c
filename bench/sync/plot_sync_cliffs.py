#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws the results of `bench_sync_map cuda cliffs`: the lattice cells per second that a GPU
computes, and the trie nodes per second, each against n, q and N.

Usage: plot_sync_cliffs.py RESULT.json PICTURE.png
"""

import json
import sys

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt

BASE = dict(n=10, q=32, N=210)
UNITS = {"cells": ("cells of the lattice", "-"), "trie_nodes": ("nodes of tries", "--")}


def along(points, axis):
    """Returns the points that differ from BASE only in `axis`. Along n, q varies too, because a
    word of n bits limits q."""
    fixed = [name for name in BASE if name not in (axis, "q" if axis == "n" else axis)]
    chosen = [r for r in points if all(r[name] == BASE[name] for name in fixed)]
    # The point with n = 20 and q = 1024 belongs to no axis.
    return sorted((r for r in chosen if (r["n"], r["q"]) != (20, 1024)
                   and (axis != "n" or r["q"] == min(32, 2**((r["n"] + 1) // 2)))),
                  key=lambda r: r[axis])


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as file:
        points = [r for r in json.load(file)["runs"][0]["rows"] if "error" not in r]
    figure, panels = plt.subplots(1, 3, figsize=(13, 4.6), sharey=True, layout="constrained")
    for panel, axis in zip(panels, BASE):
        for number, p in enumerate(sorted({r["p"] for r in points})):
            line = along([r for r in points if r["p"] == p], axis)
            for unit, (_, style) in UNITS.items():
                panel.loglog([r[axis] for r in line],
                             [r[unit] / r["kernels_ms"] * 1e3 for r in line], style,
                             marker=".", color=f"C{number}",
                             label=f"p = {p:g}" if unit == "cells" else None)
        panel.set_xlabel({"n": "n, bits per word (q = 32, or less where n is small)",
                          "q": "q, words (n = 10)", "N": "N, symbols per frame"}[axis])
        panel.set_xticks([r[axis] for r in line], [str(r[axis]) for r in line], rotation=60)
        panel.minorticks_off()
        panel.grid(alpha=0.3)
    for name, style in UNITS.values():
        panels[2].plot([], [], style, color="grey", label=name)
    panels[0].set_ylabel("per second")
    panels[2].legend(fontsize=8)
    figure.savefig(sys.argv[2], dpi=110)
    return 0


if __name__ == "__main__":
    sys.exit(main())
