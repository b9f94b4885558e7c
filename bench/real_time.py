#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""The delay of each decoder block behind a source that keeps to a rate.

The capacity of a block is measured first, then its delay at parts of it: from when a soft
value is there to when the output item is that begins with it. It is compared with

    bound = fill + max_latency_ms + (slots + 1) * T + 20 ms

where fill is the time in which the source gives what a piece needs (a parallel block with
both its overlaps, a codeword), T the time that the capacity implies for a full batch, and
20 ms the scheduler's turn. What is beyond the bound is counted as late.
"""

import argparse
import json
import sys
import time

import numpy as np
from benchmark_environment import environment
from gnuradio import gpufec, gr


class source(gr.sync_block):
    """Values at a rate, as the clock says; 0 is as fast as they go."""

    def __init__(self, rate, seconds, value):
        gr.sync_block.__init__(self, "paced", [], [np.int8])
        self.rate, self.seconds, self.value = rate, seconds, value
        self.sent, self.log, self.begin = 0, [], None

    def work(self, _, output_items):
        now = time.monotonic()
        self.begin = self.begin or now
        if now - self.begin > self.seconds:
            return -1
        out = output_items[0]
        # A source that gives nothing is asked again only after a quarter of a second.
        while self.rate and (now - self.begin) * self.rate < self.sent + 1:
            time.sleep(0.001)
            now = time.monotonic()
        due = int((now - self.begin) * self.rate) - self.sent if self.rate else len(out)
        count = min(due, len(out))
        out[:count] = self.value
        # When it was due, so that a source that is late makes the delay no shorter.
        self.log.append((self.sent + count, now))
        self.sent += count
        return count


class sink(gr.sync_block):
    def __init__(self):
        gr.sync_block.__init__(self, "clock", [np.uint8], [])
        self.count, self.log = 0, []

    def work(self, input_items, _):
        self.log.append((self.count, time.monotonic()))
        self.count += len(input_items[0])
        return len(input_items[0])


BOOK = gpufec.codebook_davey_mackay(10, 32, 210, 1)
BLOCKS = {
    # How to make one, values per output byte, and the value that is sent.
    "viterbi": (lambda **o: gpufec.gpu_viterbi_pbvd(preset="ccsds", **o), 16, 30),
    "ldpc": (lambda **o: gpufec.gpu_ldpc_dvbs2(frame_size="short", rate="1/2", **o), 18, 30),
    "sync": (lambda **o: gpufec.gpu_sync_map(BOOK, q=32, n=10, frame_symbols=210,
                                             frame_items=2100, **o), 10, 0),
}


def measured(rates, seconds, options):
    """Decodes in one flowgraph what is sent at a rate for each block that is named."""
    graph, chains = gr.top_block(), {}
    for name, rate in rates.items():
        make, per_item, value = BLOCKS[name]
        block, there, out = make(**options), source(rate, seconds, value), sink()
        graph.connect(there, block, out)
        chains[name] = (block, there, out, per_item)
    graph.run()
    return chains


def delays(there, out, per_item, end_s):
    """Of output items, from when the value that each begins with was there; but what the
    end of the stream sends."""
    sent = np.array(there.log)
    came = np.array([(count, when) for count, when in out.log
                     if when < there.begin + end_s])
    if not len(came):
        return np.array([])
    index = np.searchsorted(sent[:, 0], came[:, 0] * per_item, side="right")
    return came[:, 1] - sent[np.minimum(index, len(sent) - 1), 1]


def measure(names, args):
    """Results of blocks that run in one flowgraph, at each part of their capacities."""
    options = dict(backend=args.backend, max_latency_ms=args.max_latency_ms)
    trial_s = min(5, args.seconds)
    chains = measured(dict.fromkeys(names, 0), trial_s, options)
    capacities = {name: chains[name][1].sent / trial_s for name in names}
    results = []
    for part in map(float, args.parts.split(",")):
        rates = {name: capacities[name] * part / 100 for name in names}
        for name, (block, there, out, per_item) in measured(rates, args.seconds, options).items():
            if name != "viterbi":
                values = piece = {"ldpc": 16200, "sync": 2100}[name]
            else:
                values = 2 * block.decode_length()
                piece = values + 4 * block.overlap()
            batch_s = block.batch() * values / capacities[name]
            found = delays(there, out, per_item, args.seconds)
            bound = piece / rates[name] + args.max_latency_ms / 1e3 + 4 * batch_s + 0.020
            results.append(dict(
                block=name, part=part, together=args.together, values_per_s=round(rates[name]),
                kept_up=there.sent >= 0.99 * rates[name] * args.seconds,
                p50_ms=round(1e3 * float(np.percentile(found, 50)), 2),
                p99_ms=round(1e3 * float(np.percentile(found, 99)), 2),
                max_ms=round(1e3 * float(found.max()), 2),
                bound_ms=round(1e3 * bound, 2), late=int((found > bound).sum()),
                looked_at=len(found), batch=block.batch(), batch_ms=round(1e3 * batch_s, 2)))
            print(json.dumps(results[-1]), flush=True)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--seconds", type=float, default=60, help="at each part")
    parser.add_argument("--parts", default="50,90,99", help="of the capacity, in percent")
    parser.add_argument("--blocks", default=",".join(BLOCKS))
    parser.add_argument("--max-latency-ms", type=float, default=50)
    parser.add_argument("--together", action="store_true",
                        help="all blocks at once, of which each has the capacity that it has then")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    results = []
    names = args.blocks.split(",")
    for group in [names] if args.together else [[name] for name in names]:
        results += measure(group, args)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(dict(environment=environment(), seconds=args.seconds,
                           max_latency_ms=args.max_latency_ms, results=results), file, indent=1)
            file.write("\n")
    return any(result["late"] for result in results)


if __name__ == "__main__":
    sys.exit(main())
