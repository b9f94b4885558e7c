#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compares stream mode with framed mode on the CPU backend, with one or more threads.

Processor time per frame is valid even on a busy machine. Elapsed time shows how the rate grows with
the number of threads on an idle machine.

Usage: sync_threads.py [--threads N,...] [--frames N] [--rounds N] [--json FILE]
"""

import argparse
import pathlib
import resource
import sys
import time

import numpy as np
from gnuradio import gpufec

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from results_file import report_path, save  # noqa: E402

CODE = dict(q=32, n=10, frame_symbols=210)
BOOK = gpufec.codebook_davey_mackay(10, 32, 210, 1)


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def frames_of(p, count):
    """Returns the received items of `count` random frames, concatenated, and the number of items of
    each. Insertions and deletions have probability p each."""
    symbols = np.random.default_rng(1).integers(0, 32, (count, 210), np.uint8)
    received = [gpufec.bsid(gpufec.sync_encode(s, BOOK, **CODE), p_insert=p, p_delete=p,
                            seed=10 + i)[0] for i, s in enumerate(symbols)]
    return np.concatenate(received), np.array([len(r) for r in received])


def measure(options):
    results = []
    for p in 1e-3, 1e-2:
        items, lengths = frames_of(p, options.frames)
        for threads in options.threads:
            times = {"framed": [], "stream": []}
            for _ in range(options.rounds):
                for mode, runs in times.items():
                    more = dict(lengths=lengths) if mode == "framed" else {}
                    used, begin = processor_seconds(), time.monotonic()
                    gpufec.sync_decode(items, BOOK, p_insert=p, p_delete=p, mode=mode,
                                       threads=threads, backend="cpu", **CODE, **more)
                    runs.append({"processor_ms_per_frame":
                                 (processor_seconds() - used) / options.frames * 1e3,
                                 "ms_per_frame":
                                 (time.monotonic() - begin) / options.frames * 1e3})
            least = {m: min(r["processor_ms_per_frame"] for r in runs)
                     for m, runs in times.items()}
            results.append({"p": p, "threads": threads, "runs": times,
                            "stream_over_framed_per_core": least["framed"] / least["stream"]})
            print(results[-1], flush=True)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=lambda text: list(map(int, text.split(","))),
                        default=[1, 2])
    parser.add_argument("--frames", type=int, default=800)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=report_path, help="write the results to this file")
    options = parser.parse_args()
    result = {"frames": options.frames, "results": measure(options)}
    if options.json:
        save(options.json, "sync_threads", result)


if __name__ == "__main__":
    main()
