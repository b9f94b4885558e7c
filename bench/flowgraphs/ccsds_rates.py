#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measures ccsds_fec_receiver from int8 soft values to transfer frames in a flowgraph.

The source is a ring buffer in memory that holds noisy randomised frames with markers and random
data. The frames are coded with the concatenated code, with five Reed-Solomon codewords (255, 223)
per frame. Rates are bits of transfer frames per second of elapsed time and per second of processor
time of all threads. The run "deframer" measures ccsds_deframer with decoded bits as input; frames
begin at bit 3 of a byte. The setting "tags" is "all" (a status tag and a length tag per frame),
"failures" (a length tag) or "none". --threads sets the number of threads of the Reed-Solomon
decoder and, with the backend cpu, of the Viterbi decoder.

Usage: ccsds_rates.py [--backend B] [--threads N,...] [--only deframer|receiver] [--tags T,...]
                      [--eb-n0 DB] [--rounds N] [--seconds S] [--json FILE]
"""

import argparse
import itertools
import pathlib
import resource
import sys
import time

import numpy as np
from gnuradio import blocks, gpufec, gr

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from results_file import report_path, save  # noqa: E402
from port_rates import SETTLE_S, ring  # noqa: E402

INTERLEAVING, K, N = 5, 223, 255
MARKER = np.array([0x1A, 0xCF, 0xFC, 0x1D], np.uint8)
# Number of frames in the ring, chosen so that the ring fills a whole number of memory pages.
FRAMES = 256


def randomiser(count):
    """Returns the first `count` bytes of the pseudo-random sequence of CCSDS 131.0-B with the
    polynomial x^8 + x^7 + x^5 + x^3 + 1."""
    bits = np.ones(8 * count, np.uint8)
    for i in range(8, 8 * count):
        bits[i] = bits[i - 8] ^ bits[i - 5] ^ bits[i - 3] ^ bits[i - 1]
    return np.packbits(bits)


def frames_sent():
    data = np.random.default_rng(1).integers(0, 256, (FRAMES, INTERLEAVING * K), np.uint8)
    coded = gpufec.rs_encode(data, code="ccsds-223", interleaving=INTERLEAVING)
    coded = coded.reshape(FRAMES, INTERLEAVING * N) ^ randomiser(INTERLEAVING * N)
    return np.hstack([np.tile(MARKER, (FRAMES, 1)), coded])


def soft_values(sent, eb_n0):
    """Returns one period of the soft values of endlessly repeated frames. `eb_n0` is Eb/N0 in dB
    per bit of a transfer frame."""
    before = sent[-1]
    coded = gpufec.conv_encode(np.concatenate([before, sent.ravel()]), preset="ccsds",
                               packed_output=False).ravel()[2 * 8 * len(before):]
    rate = INTERLEAVING * K * 8 * FRAMES / len(coded)
    noise = np.random.default_rng(2).standard_normal(len(coded))
    values = 2.0 * coded - 1 + noise * np.sqrt(1 / (2 * rate * 10 ** (eb_n0 / 10)))
    return np.clip(np.rint(32 * values), -127, 127).astype(np.int8).view(np.uint8)


def measure(items, block, seconds, ring_bytes):
    graph = gr.top_block()
    source, sink = ring(items, ring_bytes), blocks.null_sink(1)
    graph.connect(source, block, sink)

    def state():
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return np.array([sink.nitems_read(0), time.monotonic(),
                         usage.ru_utime + usage.ru_stime])

    graph.start()
    time.sleep(SETTLE_S + seconds / 4)
    begin = state()
    time.sleep(seconds)
    end = state()
    graph.stop()
    graph.wait()
    produced, wall, processor = end - begin
    return {"mbit_per_s": 8e-6 * produced / wall, "mbit_per_cpu_s": 8e-6 * produced / processor,
            "frames": block.frame_count(), "failed": block.failed_frame_count(),
            "corrected_symbols": block.corrected_symbol_count()}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--threads", type=lambda text: list(map(int, text.split(","))),
                        default=[1])
    parser.add_argument("--only", choices=["deframer", "receiver"])
    parser.add_argument("--tags", type=lambda text: text.split(","),
                        default=["all", "failures", "none"])
    parser.add_argument("--eb-n0", type=float, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--json", type=report_path)
    options = parser.parse_args()

    sent = frames_sent()
    values = soft_values(sent, options.eb_n0)
    code = dict(code="ccsds-223", interleaving=INTERLEAVING, randomiser="short")
    # Decoders on a GPU request long input buffers, and the ring must be longer.
    ring_bytes = 0 if options.backend == "cpu" else 256 << 20

    bits = np.packbits(np.roll(np.unpackbits(sent), 3))

    def deframer(**parameters):
        return bits, gpufec.ccsds_deframer(**code, **parameters)

    def receiver(**parameters):
        return values, gpufec.ccsds_fec_receiver(convolutional="ccsds", backend=options.backend,
                                                 **code, **parameters)

    tags = {"all": {}, "failures": {"status_tags": "failures"},
            "none": {"status_tags": "none", "length_tag": ""}}
    rows = []
    for number in range(options.rounds):
        for make, threads, name in itertools.product((deframer, receiver), options.threads,
                                                     options.tags):
            if options.only not in (None, make.__name__):
                continue
            made = make(threads=threads, **tags[name])
            rows.append({"run": make.__name__, "tags": name, "threads": threads, "round": number,
                         **measure(*made, options.seconds, ring_bytes)})
            print(rows[-1], flush=True)
    if options.json:
        save(options.json, "ccsds-rates",
             {"backend": options.backend, "eb_n0_db": options.eb_n0,
              "interleaving": INTERLEAVING, "results": rows})


if __name__ == "__main__":
    main()
