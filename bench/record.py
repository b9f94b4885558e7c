#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs a benchmark that prints JSON and stores it with commit, machine and time.

Usage: record.py FILE COMMAND [ARGUMENT...]
Example: record.py bench/results/viterbi-vs-gr-fec.json build/bench/viterbi_vs_gr_fec 9 --json
"""

import json
import os
import subprocess
import sys

import benchmark_environment


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    path, command = sys.argv[1], sys.argv[2:]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"record: {' '.join(command)} failed")
    record = {"command": " ".join([os.path.basename(command[0]), *command[1:]]),
              "environment": benchmark_environment.environment(),
              "result": json.loads(done.stdout)}
    with open(path, "w") as file:
        json.dump(record, file, indent=1)
        file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
