#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measures how far phase search lowers the rate of a locked gpu_viterbi_pbvd in a flowgraph.

The source is a ring buffer that is filled once with a noisy codeword, 1 dB above the Eb/N0 at which
the decoded bit error rate is 1e-4. Four kinds of runs alternate: without phase search; with a
search over the phases of BPSK at one rate; with a search over the phases of QPSK at DVB-S's five
rates; and with this QPSK search on input whose I and Q are exchanged. Rates are information bits
per second that leave the block. Results also have the fraction of a core that the block's own
thread uses.

Usage: viterbi_lock_flow.py [--backend B] [--threads N] [--rounds N] [--seconds S]
                            [--presets NAME,...] [--formats int8,float] [--ring-mib N]
                            [--slots N] [--json FILE]
"""

import argparse
import json
import pathlib
import statistics
import sys

import numpy as np
from gnuradio import gpufec

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from results_file import report_path, save  # noqa: E402
from port_rates import ring, run  # noqa: E402

DVB = ("dvb_1_2", "dvb_2_3", "dvb_3_4", "dvb_5_6", "dvb_7_8")
EB_N0 = {"dvb_1_2": 4.44, "dvb_3_4": 5.42, "dvb_7_8": 6.36} # in dB
PUNCTURING = {"dvb_1_2": ("1", "1"), "dvb_3_4": ("101", "110"),
              "dvb_7_8": ("1000101", "1111010")}
WAYS = {"off": {}, "bpsk": dict(lock="auto"),
        "qpsk_5_rates": dict(lock="auto", lock_constellation="qpsk", lock_presets=list(DVB))}


def codeword(preset, bits):
    """Returns the punctured coded bits of one period of an endlessly repeated message."""
    streams = []
    for polynomial in (0o171, 0o133):
        taps = [k for k in range(7) if polynomial >> (6 - k) & 1]
        streams.append(np.bitwise_xor.reduce([np.roll(bits, k) for k in taps]))
    keep = [np.resize([c == "1" for c in row], len(bits)) for row in PUNCTURING[preset]]
    return np.stack(streams, 1)[np.stack(keep, 1)]


def noisy(preset):
    """Returns noisy int8 soft values, positive for bit 1. The number of values is a multiple of the
    page size."""
    rng = np.random.default_rng(5)
    period = len(PUNCTURING[preset][0])
    coded = codeword(preset, rng.integers(0, 2, 4096 * 210 * period, np.uint8))
    rate = 4096 * 210 * period / len(coded)
    sigma = np.sqrt(1 / (2 * rate * 10 ** (EB_N0[preset] / 10)))
    values = 2.0 * coded - 1 + sigma * rng.standard_normal(len(coded))
    return np.clip(np.rint(32 * values), -127, 127).astype(np.int8)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--presets", default="dvb_1_2,dvb_3_4,dvb_7_8")
    parser.add_argument("--formats", default="int8,float")
    parser.add_argument("--ring-mib", type=int, default=400)
    parser.add_argument("--slots", type=int, default=3)
    parser.add_argument("--json", type=report_path)
    options = parser.parse_args()
    results = []
    for preset in options.presets.split(","):
        steps = noisy(preset)
        for name in options.formats.split(","):
            def received(values):
                return values.astype(np.float32) if name == "float" else values
            ways = {way: (more, received(steps)) for way, more in WAYS.items()}
            exchanged = steps.reshape(-1, 2)[:, ::-1].ravel()
            ways["qpsk_5_rates_exchanged"] = WAYS["qpsk_5_rates"], received(exchanged)
            rates = {way: [] for way in ways}
            threads = {way: [] for way in ways}
            seen = {}
            for _ in range(options.rounds):
                for way, (more, values) in ways.items():
                    block = gpufec.gpu_viterbi_pbvd(
                        preset=preset, soft_input=name, soft_scale=1,
                        backend=options.backend, threads=options.threads,
                        slots=options.slots, **more)
                    rate, thread = run(
                        lambda: ring(values.view(np.uint8) if name == "int8" else values,
                                     options.ring_mib << 20),
                        block, 8, options.seconds)
                    rates[way].append(rate)
                    threads[way].append(thread)
                    seen[way] = dict(locked=block.locked(),
                                     channel_error_rate=block.channel_error_rate())
            off = statistics.median(rates["off"])
            for way in ways:
                median = statistics.median(rates[way])
                results.append(dict(preset=preset, soft_input=name, way=way,
                                    bits_per_s=rates[way], median_bits_per_s=median,
                                    cost=1 - median / off,
                                    own_thread_of_a_core=statistics.median(threads[way]),
                                    **seen[way]))
                print(json.dumps(results[-1]), flush=True)
    if options.json:
        save(options.json, "viterbi_lock_flow", dict(
            backend=options.backend, threads=options.threads, slots=options.slots, rows=results))


if __name__ == "__main__":
    main()
