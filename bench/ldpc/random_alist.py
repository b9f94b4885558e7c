#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a random LDPC code without structure as an alist file. The code is regular, unless --chain
is given."""

import argparse
import random


def draw(n, column, row, seed):
    """Returns the bits of each check of a regular code with `column` checks per bit and `row` bits
    per check. Edges are drawn at random, and double edges are exchanged with random other edges."""
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


def draw_with_chain(n, column, checks, seed):
    """Returns the bits of each check of an IRA code. The last bits, one per check, are parity bits
    in a chain, so that encoding needs no Gaussian elimination. Other bits have `column` checks
    each."""
    generator = random.Random(seed)
    k = n - checks
    slots = [i % checks for i in range(k * column)]
    generator.shuffle(slots)
    rows = [set() for _ in range(checks)]
    again = []
    for i, check in enumerate(slots):
        bit = i // column
        if bit in rows[check]:
            again.append(bit)
        rows[check].add(bit)
    for bit in again:
        check = generator.randrange(checks)
        while bit in rows[check]:
            check = generator.randrange(checks)
        rows[check].add(bit)
    for check, row in enumerate(rows):
        row.update(k + i for i in (check - 1, check) if i >= 0)
    return [sorted(row) for row in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n", type=int)
    parser.add_argument("column", type=int, help="number of checks per bit")
    parser.add_argument("row", type=int, help="number of bits per check, a divisor of "
                        "n * column; with --chain, the number of checks")
    parser.add_argument("seed", type=int)
    parser.add_argument("file")
    parser.add_argument("--chain", action="store_true", help="make a code whose last bits are "
                        "parity bits in a chain; each other bit has `column` checks")
    o = parser.parse_args()
    of_check = (draw_with_chain if o.chain else draw)(o.n, o.column, o.row, o.seed)
    of_bit = [[] for _ in range(o.n)]
    for c, members in enumerate(of_check):
        for b in members:
            of_bit[b].append(c)
    with open(o.file, "w", encoding="ascii") as out:
        sizes = [[len(members) for members in side] for side in (of_bit, of_check)]
        out.write(f"{o.n} {len(of_check)}\n{max(sizes[0])} {max(sizes[1])}\n")
        for size in sizes:
            out.write(" ".join(map(str, size)) + "\n")
        for side, size in zip((of_bit, of_check), sizes):
            for members in side:
                numbers = [x + 1 for x in members] + [0] * (max(size) - len(members))
                out.write(" ".join(map(str, numbers)) + "\n")


if __name__ == "__main__":
    main()
