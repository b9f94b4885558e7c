#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a regular LDPC code without structure as an alist file. Its edges are drawn at
random, and double edges are exchanged with random ones."""

import argparse
import random


def draw(n, column, row, seed):
    """Returns the bits of each check."""
    generator = random.Random(seed)
    bits = [b for b in range(n) for _ in range(column)]
    generator.shuffle(bits)
    checks = n * column // row
    while True:
        again = [
            c * row + e
            for c in range(checks)
            for e in range(row)
            if bits[c * row + e] in bits[c * row : c * row + e]
        ]
        if not again:
            return [sorted(bits[c * row : c * row + row]) for c in range(checks)]
        for at in again:
            other = generator.randrange(len(bits))
            bits[at], bits[other] = bits[other], bits[at]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n", type=int)
    parser.add_argument("column", type=int, help="checks of a bit")
    parser.add_argument("row", type=int, help="bits of a check; divides n * column")
    parser.add_argument("seed", type=int)
    parser.add_argument("file")
    o = parser.parse_args()
    of_check = draw(o.n, o.column, o.row, o.seed)
    of_bit = [[] for _ in range(o.n)]
    for c, members in enumerate(of_check):
        for b in members:
            of_bit[b].append(c)
    with open(o.file, "w", encoding="ascii") as out:
        out.write(f"{o.n} {len(of_check)}\n{o.column} {o.row}\n")
        out.write(f"{' '.join([str(o.column)] * o.n)}\n")
        out.write(f"{' '.join([str(o.row)] * len(of_check))}\n")
        for members in of_bit + of_check:
            out.write(" ".join(str(x + 1) for x in members) + "\n")


if __name__ == "__main__":
    main()
