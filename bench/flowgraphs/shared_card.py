#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measures the rates of many decoder blocks that share a GPU, and the memory of each kind of block.

Each kind of block is measured alone first, then blocks of all kinds in one flowgraph, each with its
own source in memory and its own null sink. A block's part is its rate divided by the rate of one
block of its kind alone. If all blocks are limited by the same resource, the sum of the parts is 1,
and a block's fair share is 1 divided by the number of blocks. Memory is measured for a block with
default options: device memory with nvidia-smi, and the resident memory of the process, which
includes pinned buffers.

With --leave-mib N, the script first allocates all of the device's memory except N MiB, to simulate
a small card. The result has the batch size of each kind, which depends on the free memory.

Usage: shared_card.py [--blocks N] [--seconds S] [--rounds N] [--leave-mib N] [--json FILE]
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import time

import numpy as np

from gnuradio import blocks, gpufec, gr

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from results_file import report_path, save  # noqa: E402
from port_rates import ring, sync_slots  # noqa: E402

SETTLE_S = 1.0
BOOK = gpufec.codebook_davey_mackay(10, 32, 210, 1)
FRAMED = dict(q=32, n=10, frame_symbols=210, frame_items=2108, end_first=-8,
              end_prior=[1.0] * 17, status_tags="none")
SLOTS = sync_slots()
# Constructor and bytes per input item of each kind.
KINDS = {
    "viterbi int8": (lambda: gpufec.gpu_viterbi_pbvd(backend="cuda"), 1),
    "viterbi float": (lambda: gpufec.gpu_viterbi_pbvd(backend="cuda", soft_input="float"), 4),
    "ldpc normal 1/2": (lambda: gpufec.gpu_ldpc_dvbs2(backend="cuda", status_tags="none"), 1),
    "sync framed": (lambda: gpufec.gpu_sync_map(BOOK, backend="cuda", **FRAMED), 1),
}


def source(kind):
    """Returns a source for a block: real frames for the synchronisation decoder, whose speed
    depends on its input, and zeros for the other decoders."""
    if kind == "sync framed":
        return ring(SLOTS, 144 << 20)
    return blocks.null_source(KINDS[kind][1])


def rates(kinds, seconds):
    """Returns the output items per second of a block of each kind in `kinds`, with all blocks in
    one flowgraph."""
    graph = gr.top_block()
    made, sources = [], [] # references that keep the Python blocks alive
    for kind in kinds:
        block = KINDS[kind][0]()
        sources.append(source(kind))
        graph.connect(sources[-1], block,
                      blocks.null_sink(block.output_signature().sizeof_stream_item(0)))
        made.append(block)
    graph.start()
    time.sleep(SETTLE_S)
    begin = [(time.monotonic(), b.nitems_written(0)) for b in made]
    time.sleep(seconds)
    end = [(time.monotonic(), b.nitems_written(0)) for b in made]
    graph.stop()
    graph.wait()
    return [(n1 - n0) / (t1 - t0) for (t0, n0), (t1, n1) in zip(begin, end)]


def device_bytes(of="used"):
    answer = subprocess.run(["nvidia-smi", f"--query-gpu=memory.{of}", "--format=csv,noheader"],
                            capture_output=True, text=True, check=True).stdout
    return int(re.match(r"\d+", answer)[0]) << 20


def resident_bytes():
    status = pathlib.Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) << 10


def memory(kind):
    """Returns the bytes of memory that a running block adds to a process. The process has already
    run another block, so the CUDA context is not counted."""
    device, resident = device_bytes(), resident_bytes()
    block, head = KINDS[kind][0](), source(kind)
    graph = gr.top_block()
    graph.connect(head, block,
                  blocks.null_sink(block.output_signature().sizeof_stream_item(0)))
    graph.start()
    time.sleep(SETTLE_S)
    taken = {"batch": block.batch(), "device_bytes": device_bytes() - device,
             "resident_bytes": resident_bytes() - resident}
    graph.stop()
    graph.wait()
    return taken


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blocks", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=2.0,
                        help="duration of each run in seconds")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--leave-mib", type=int,
                        help="MiB of device memory that the script leaves free")
    parser.add_argument("--json", type=report_path, help="write the results to this file")
    options = parser.parse_args()

    names = list(KINDS)
    rates(names[:1], 0.1) # An unmeasured run opens the device.
    if options.leave_mib:
        taken = gpufec.device_array( # The array must exist until the program ends.
            (device_bytes("free") - (options.leave_mib << 20),), np.uint8)
    result = {"left_mib": options.leave_mib,
              "memory": {kind: memory(kind) for kind in names}}
    alone = {kind: statistics.median(rates([kind], options.seconds)[0]
                                     for _ in range(options.rounds)) for kind in names}
    together = [names[i % len(names)] for i in range(options.blocks)]
    rounds = [rates(together, options.seconds) for _ in range(options.rounds)]
    parts = [statistics.median(r[i] for r in rounds) / alone[kind]
             for i, kind in enumerate(together)]
    result |= {"alone_items_per_s": alone, "blocks": together, "parts": parts,
               "sum_of_parts": sum(parts),
               "slowest_over_its_share": min(parts) * len(parts) / sum(parts)}
    print(json.dumps(result, indent=1))
    if options.json:
        save(options.json, "shared_card", result)


if __name__ == "__main__":
    main()
