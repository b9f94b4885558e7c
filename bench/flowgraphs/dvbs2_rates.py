#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measures gpu_ldpc_dvbs2 from symbols to BBFRAMEs in a flowgraph.

BCH and LDPC encoders and gr-dtv's interleaver and modulator make the frames. The script adds noise;
each result states the Es/N0. The source is a ring buffer that is filled once with --frames
different frames (class ring of port_rates.py). The block estimates Es/N0 from each frame. Results
have decoded symbols per second, output bits of BBFRAMEs per second, and the fraction of a core that
the block's own thread uses. Before each measurement, the block decodes the frames once, and the
script counts the correct BBFRAMEs.

Usage: dvbs2_rates.py [--backend B] [--threads N] [--rounds N] [--seconds S] [--only WORD,...]
                      [--frames N] [--json FILE]
"""

import argparse
import pathlib
import statistics
import sys

import numpy as np
from gnuradio import blocks, dtv, gpufec, gr

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from results_file import report_path, save  # noqa: E402
from port_rates import ring, run  # noqa: E402

# Constellation, rate, Es/N0 in dB (0.3 dB above the threshold of EN 302 307-1, table 13), bits per
# BBFRAME, and symbols per frame.
MODCODS = {"qpsk 1/2": ("qpsk", "1/2", 1.3, 32208, 32400),
           "8psk 3/4": ("8psk", "3/4", 8.21, 48408, 21600),
           "16apsk 3/4": ("16apsk", "3/4", 10.51, 48408, 16200),
           "32apsk 9/10": ("32apsk", "9/10", 16.35, 58192, 12960)}
# Integer that represents an I or Q value of 1. The range above is headroom for noise.
SCALES = {"symbols16": 8000, "symbols8": 40}
# Minimum size of the source's buffer in bytes: a whole number of frames, and more than the decoder
# block requests, so GNU Radio allocates this size.
RING_BYTES = {"symbols": 320 << 20, "symbols16": 160 << 20, "symbols8": 96 << 20}


def transmit(constellation, rate, k, frames):
    """Returns `frames` random BBFRAMEs of `k` bits, packed, one per row, and their complex symbols
    without noise."""
    modulation = getattr(dtv, "MOD_" + constellation.upper())
    code = getattr(dtv, "C" + rate.replace("/", "_"))
    bits = np.random.default_rng(1).integers(0, 2, frames * k, np.uint8)
    sink = blocks.vector_sink_c()
    graph = gr.top_block()
    graph.connect(blocks.vector_source_b(bits.tolist()),
                  gpufec.bch_encoder("dvbs2", "normal", rate, packed_input=False,
                                     packed_output=False),
                  gpufec.ldpc_encoder("dvbs2", "normal", rate, packed_input=False,
                                      packed_output=False),
                  dtv.dvbs2_interleaver_bb(dtv.FECFRAME_NORMAL, code, modulation),
                  dtv.dvbs2_modulator_bc(dtv.FECFRAME_NORMAL, code, modulation,
                                         dtv.INTERPOLATION_OFF), sink)
    graph.run()
    return (np.packbits(bits.reshape(frames, k), axis=1),
            np.array(sink.data(), np.complex64))


def items_of(symbols, kind):
    """Converts complex symbols to items of the input format `kind`, one of SCALES or "symbols"."""
    if kind == "symbols":
        return symbols
    parts = np.rint(symbols.view(np.float32) * SCALES[kind])
    if kind == "symbols16":
        return np.clip(parts, -32768, 32767).astype(np.int16).view(np.int32)
    return np.clip(parts, -127, 127).astype(np.int8).view(np.int16)


def frames_right(items, block, expected):
    """Returns the number of frames in `items` that the block decodes to the rows of `expected`."""
    frames = len(expected)
    graph = gr.top_block()
    source = ring(items)
    sink = blocks.vector_sink_b()
    graph.connect(source, blocks.head(items.itemsize, len(items)), block, sink)
    graph.run()
    found = np.array(sink.data(), np.uint8)
    if found.size != expected.size:
        return 0
    return int((found.reshape(frames, -1) == expected).all(axis=1).sum())


def measure(options):
    flows = {}
    cuda = options.backend == "cuda"
    for title, (constellation, rate, es_n0, k, count) in MODCODS.items():
        kinds = [kind for kind in ("symbols", "symbols16", "symbols8")
                 if not options.only or any(w in f"{title} {kind}" for w in options.only)]
        if not kinds:
            continue
        expected, symbols = transmit(constellation, rate, k, options.frames)
        random = np.random.default_rng(2)
        noise = random.standard_normal(2 * len(symbols)).astype(np.float32)
        symbols += noise.view(np.complex64) * np.float32(np.sqrt(10 ** (-es_n0 / 10) / 2))
        for kind in kinds:
            items = items_of(symbols, kind)

            def make(**more):
                return gpufec.gpu_ldpc_dvbs2(
                    rate=rate, soft_input=kind, constellation=constellation,
                    output="bbframe", max_iterations=50, backend=options.backend,
                    threads=options.threads, status_tags="none", **more)

            right = frames_right(items, make(), expected)
            rates, cpus = [], []
            for _ in range(options.rounds):
                block = make()
                bits, cpu = run(lambda: ring(items, RING_BYTES[kind] if cuda else 0), block, 8,
                                options.seconds)
                rates.append(bits)
                cpus.append(cpu)
            median = statistics.median(rates)
            flows[f"{title} {kind}"] = {
                "es_n0_db": es_n0, "frames": options.frames, "frames_right": right,
                "batch": block.batch(), "mean_iterations": block.mean_iterations(),
                "bytes_per_symbol": items.itemsize,
                "bits_per_s": rates, "median_bits_per_s": median,
                "median_symbols_per_s": median * count / k,
                "own_thread_of_a_core": statistics.median(cpus)}
            print(f"{title} {kind}", flows[f"{title} {kind}"], flush=True)
    return flows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="cpu", choices=["cuda", "cpu"])
    parser.add_argument("--threads", type=int, default=1,
                        help="number of threads of the CPU backend")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0,
                        help="duration of each run in seconds")
    parser.add_argument("--frames", type=int, default=64, help="number of different frames")
    parser.add_argument("--only", type=lambda text: text.split(","), default=[],
                        help="run only flowgraphs whose names contain one of these words")
    parser.add_argument("--json", type=report_path, help="write the results to this file")
    options = parser.parse_args()
    result = {"backend": options.backend, "threads": options.threads, "rounds": options.rounds,
              "seconds": options.seconds, "flows": measure(options)}
    if options.json:
        save(options.json, "dvbs2_rates", result)


if __name__ == "__main__":
    main()
