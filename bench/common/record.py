#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs a benchmark that prints one JSON value, or one JSON value per line, and writes the results.

Usage: record.py FILE COMMAND [ARGUMENT...]
       record.py --join FILE RESULT...    writes the runs of the files RESULT to FILE
Example: record.py vs-gr-fec.json build/bench/viterbi/viterbi_vs_gr_fec 9 --json
"""

import json
import os
import re
import subprocess
import sys

import results_file

LOGGED = re.compile(r"\S+ :(trace|debug|info|warning|warn|error|critical): ")


def parsed(text):
    """Returns the JSON value or values in a program's output; skips GNU Radio's log lines."""
    text = "\n".join(line for line in text.splitlines() if not LOGGED.match(line))
    try:
        return json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def join(path, results):
    """Writes the runs of several files to `path`. A run without a name gets its file's name."""
    runs = []
    for result in results:
        with open(result, encoding="utf-8") as file:
            found = json.load(file)["runs"]
        stem = os.path.splitext(os.path.basename(result))[0]
        runs += [{"benchmark": run["benchmark"], "name": stem, **run} for run in found]
    results_file.replace(path, results_file.written(runs))


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if sys.argv[1] == "--join":
        join(sys.argv[2], sys.argv[3:])
        return 0
    path, command = sys.argv[1], sys.argv[2:]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"record: {' '.join(command)} failed")
    found, program = parsed(done.stdout.decode()), os.path.basename(command[0])
    about = found if isinstance(found, dict) else {}
    results_file.save(path, about.pop("benchmark", program), found, about.pop("what", None),
                      " ".join([program, *command[1:]]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
