#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Counts the instructions that the CPU kernels execute, under emulation by QEMU.

Runs kernel_work with two amounts of work, and divides the difference of the instruction counts by
the difference of the amounts. The quotient excludes instructions that do not depend on the amount.

Usage: count_instructions.py [--qemu "COMMAND"] [--kinds KIND,...] [--out FILE] KERNEL_WORK
  COMMAND   default: qemu-aarch64-static -L /usr/aarch64-linux-gnu
"""

import argparse
import collections
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import results_file # noqa: E402

# For each kind of work: the name of the quantity that is processed, and the two amounts of work.
UNITS = {
    "viterbi": ("decoded bit", 1, 3),
    "viterbi-3/4": ("decoded bit", 1, 3),
    "ldpc-int8": ("soft value and iteration", 1, 3),
    "ldpc-int8-soft": ("soft value and iteration", 1, 3),
    "ldpc-float": ("soft value and iteration", 1, 3),
    "input-int8": ("soft value", 1, 65),
    "input-float": ("soft value", 1, 65),
    "demapper": ("soft value", 1, 9),
    "bch": ("bit", 1, 9),
    "sync-float": ("channel bit", 1, 2),
    "sync-double": ("channel bit", 1, 2),
}


# QEMU logs the instructions of a basic block when QEMU translates the block. Each time QEMU
# executes the block, it logs the block's address.
TRANSLATED = re.compile(rb"IN: .*\n0x([0-9a-f]+):((?:.*\n)(?:0x.*\n)*)")
EXECUTED = re.compile(rb"(?m)^Trace [^/]*/0*([0-9a-f]+)/")


def executed(qemu, program, kind, amount):
    """Runs `program` with `amount` units of work of kind `kind`. Returns the number of executed
    instructions, and the quantity that one unit of work processes."""
    emulator = subprocess.Popen([*qemu, "-d", "nochain,exec,in_asm", program, kind, str(amount)],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    size, times, rest = {}, collections.Counter(), b""
    while chunk := emulator.stderr.read(1 << 22):
        text, mark, rest = (rest + chunk).rpartition(b"\nTrace ")
        rest = mark[1:] + rest
        size.update((at, block.count(b"\n")) for at, block in TRANSLATED.findall(text + b"\n"))
        times.update(EXECUTED.findall(text))
    quantity = emulator.stdout.read()
    if emulator.wait():
        sys.exit(f"count_instructions: {program} {kind} {amount} failed")
    return sum(count * size[at] for at, count in times.items()), float(quantity)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--qemu", default="qemu-aarch64-static -L /usr/aarch64-linux-gnu")
    parser.add_argument("--kinds", default=",".join(UNITS))
    parser.add_argument("--out", type=results_file.report_path)
    parser.add_argument("program")
    options = parser.parse_args()
    counted = []
    for kind in options.kinds.split(","):
        unit, less, more = UNITS[kind]
        first, quantity = executed(options.qemu.split(), options.program, kind, less)
        second, _ = executed(options.qemu.split(), options.program, kind, more)
        per_unit = (second - first) / (more - less) / quantity
        counted.append({"kernel": kind, "unit": unit, "instructions": round(per_unit, 3)})
        print(f"{kind:16} {per_unit:10.3f} per {unit}", flush=True)
    if options.out:
        version = subprocess.run([options.qemu.split()[0], "--version"], check=True, text=True,
                                 capture_output=True).stdout.splitlines()[0]
        results_file.save(options.out, "count-instructions", {"emulator": version,
                                                              "kernels": counted},
                          "executed instructions of CPU kernels, counted under emulation")


if __name__ == "__main__":
    main()
