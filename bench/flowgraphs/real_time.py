#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the delay of each decoder block after a source with a constant rate.

The script measures the capacity of a block, then the delay at fractions of the capacity, and then
the capacity again. The speed of a shared host varies. The capacity is therefore the input rate in
the slowest of up to 20 seconds. Before each capacity, the script measures the speed of one thread
of the host (host_rates() of soak.py). A delay begins when a soft value is due by the clock, even if
the source is blocked and late, and ends when the output item that begins with this value arrives.
The delay is compared with

    bound = fill + max_latency_ms + (slots + 1) * T + 20 ms

where fill is the time in which the source produces the input of a work item (a parallel block with
both its overlaps, a codeword, or a frame), T is the time that the capacity implies for a full
batch, and 20 ms are for the scheduler. The sink measures one delay per call of work(), for the
call's first byte, and counts delays above the bound as late. The exit status is 1 if output is late
or wrong. The source and the sink come from the module endurance_blocks, which a build writes to
bench/flowgraphs; the streams are those of soak.py.
"""

import argparse
import json
import pathlib
import sys
import time

import endurance_blocks
import numpy as np
import soak
from gnuradio import gr

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from results_file import report_path, save  # noqa: E402

BLOCKS = {"viterbi": soak.viterbi, "ldpc": soak.ldpc, "sync": soak.sync}


def measured(rates, seconds, options, status_tags):
    """Runs the blocks in `rates` in one flowgraph, each with a source of its own. `rates` maps the
    name of a block to the rate of its source in values per second; 0 means the highest possible
    rate. Returns two dictionaries with an entry per block. The first has the block, its sink, and
    its input values per work item without and with overlaps. The second has an array of the
    source's rate in each second, in values per second."""
    graph, chains = gr.top_block(), {}
    for name, rate in rates.items():
        tags = {} if name == "viterbi" else dict(status_tags=status_tags)
        soft, block, data, _, piece = BLOCKS[name](**options, **tags)
        there = endurance_blocks.ring_source(soft, soak.ring_bytes(options["backend"]),
                                             rate=rate)
        out = endurance_blocks.checking_sink(data, there if rate else None,
                                             len(soft) // len(data))
        graph.connect(there, block, out)
        chains[name] = (block, there, out, piece)
    graph.start()
    # The measurement of a capacity excludes the first 2 s, in which the source fills its buffer.
    time.sleep(0 if any(rates.values()) else 2)
    given = []
    for _ in range(1 + round(seconds)):
        given.append([time.monotonic(), *(there.given() for _, there, *_ in chains.values())])
        time.sleep(1)
    steps = np.diff(np.array(given), axis=0)
    graph.stop()
    graph.wait()
    return ({name: (block, out, *piece) for name, (block, _, out, piece) in chains.items()},
            dict(zip(chains, (steps[:, 1:] / steps[:, :1]).T)))


def measure(names, args):
    """Measures the blocks with these `names` together in one flowgraph. Returns a result for each
    block and each fraction of its capacity, and the capacities before and after."""
    options = dict(backend=args.backend, max_latency_ms=args.max_latency_ms)

    def capacities_now():
        host.append(soak.host_rates())
        _, taken = measured(dict.fromkeys(names, 0), min(20, args.seconds), options,
                            args.status_tags)
        return {name: float(each.min()) for name, each in taken.items()}

    host, results = [], []
    capacities = capacities_now()
    for part in map(float, args.parts.split(",")):
        rates = {name: capacities[name] * part / 100 for name in names}
        chains, taken = measured(rates, args.seconds, options, args.status_tags)
        for name, (block, out, values, piece) in chains.items():
            batch_s = block.batch() * values / capacities[name]
            when, found = out.delays().T
            bound = piece / rates[name] + args.max_latency_ms / 1e3 + 4 * batch_s + 0.020
            late = when[found > bound]
            results.append(dict(
                block=name, part=part, together=args.together, values_per_s=round(rates[name]),
                kept_up=bool(taken[name].mean() >= 0.99 * rates[name]), bytes=out.count(),
                wrong=out.wrong(),
                p50_ms=round(1e3 * float(np.percentile(found, 50)), 2),
                p99_ms=round(1e3 * float(np.percentile(found, 99)), 2),
                max_ms=round(1e3 * float(found.max()), 2),
                bound_ms=round(1e3 * bound, 2), late=len(late),
                late_at_s=np.unique(np.round(late, 1)).tolist()[:50],
                longest_at_s=round(float(when[found.argmax()]), 3), looked_at=len(found),
                batch=block.batch(), batch_ms=round(1e3 * batch_s, 2)))
            print(json.dumps(results[-1]), flush=True)
    after = capacities_now()
    return results, dict(
        capacities={name: [round(capacities[name]), round(after[name])] for name in names},
        host_rates={kind: [each[kind] for each in host] for kind in host[0]})


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--seconds", type=float, default=60,
                        help="duration of each measurement in seconds")
    parser.add_argument("--parts", default="50,90,99",
                        help="input rates in percent of the capacity, separated by commas")
    parser.add_argument("--blocks", default=",".join(BLOCKS))
    parser.add_argument("--max-latency-ms", type=float, default=50)
    parser.add_argument("--status-tags", default="all", choices=("all", "failures", "none"),
                        help="option status_tags of the LDPC and synchronisation blocks")
    parser.add_argument("--together", action="store_true",
                        help="measure capacities and delays of all blocks in one flowgraph")
    parser.add_argument("--json", type=report_path, metavar="FILE")
    args = parser.parse_args()
    results, hosts = [], []
    names = args.blocks.split(",")
    for group in [names] if args.together else [[name] for name in names]:
        found, host = measure(group, args)
        results += found
        hosts.append(host)
        print(json.dumps(host), flush=True)
    if args.json:
        save(args.json, "real_time", dict(
            seconds=args.seconds, max_latency_ms=args.max_latency_ms,
            status_tags=args.status_tags, results=results, hosts=hosts))
    return any(result["late"] or result["wrong"] for result in results)


if __name__ == "__main__":
    sys.exit(main())
