#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Demonstrates gpu_viterbi_pbvd with GNU Radio's own encoder and a noisy channel.

Prints bit error rates beside the union bound (from `gpufec ber`), the throughput beside that of
gr-fec's decoder in the same flowgraph, and the backend that decoded. Plots the error rates.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time

import numpy
from gnuradio import blocks, gpufec, gr

try:
    from gnuradio import fec
except ImportError as error:
    sys.exit(f"viterbi_demo: {error}. The encoder, and the decoder to compare with, are gr-fec's: "
             "install or build GNU Radio with gr-fec. viterbi_ber.py does not need gr-fec.")

FRAME_BITS = 8192
GR_FEC_POLYNOMIALS = [79, 109]  # 171 and 133 octal, bits reversed as gr-fec requires

# Codes to measure: name, puncturing pattern, rate, and values of Eb/N0 in dB.
CODES = [("K=7 rate 1/2", "", 1 / 2, [2.0, 3.0, 4.0]),
         ("K=7 rate 3/4, punctured", "101,110", 3 / 4, [3.0, 4.0, 5.0])]


def encoder():
    return fec.cc_encoder_make(FRAME_BITS, 7, 2, GR_FEC_POLYNOMIALS, 0,
                               fec.CC_STREAMING, False)


def sent_order(puncturing):
    """Returns the pattern `puncturing` in the order of the coded bits: "101,110" becomes
    "110110"."""
    return "".join(a + b for a, b in zip(*puncturing.split(",")))


def receive(bits, puncturing, rate, ebn0_db, backend, seed):
    """Sends `bits` through encoder, channel and decoder. Returns the decoded bits, one per byte,
    and the name of the backend."""
    top = gr.top_block()
    chain = [blocks.vector_source_b(bits.tolist()), fec.encoder(encoder(), 1, 1)]
    if puncturing:
        pattern = sent_order(puncturing)
        chain.append(fec.puncture_bb(len(pattern), fec.read_bitlist(pattern), 0))
    # BPSK: bit 0 is sent as -1, bit 1 as +1.
    chain += [blocks.char_to_float(), blocks.multiply_const_ff(2), blocks.add_const_ff(-1)]
    adder = blocks.add_ff()
    sigma = (2 * rate * 10**(ebn0_db / 10))**-0.5
    count = int(len(bits) / rate) + 1000
    noise = numpy.random.default_rng(seed).normal(0, sigma, count).astype(numpy.float32)
    decoder = gpufec.gpu_viterbi_pbvd(
        constraint_length=7, polynomials=[0o171, 0o133], puncturing=puncturing,
        soft_input="float", packed_output=False, backend=backend)
    sink = blocks.vector_sink_b()
    top.connect(*chain, (adder, 0))
    top.connect(blocks.vector_source_f(noise), (adder, 1))
    top.connect(adder, decoder, sink)
    top.run()
    return numpy.array(sink.data(), numpy.uint8), decoder.active_backend()


def theory(tool, puncturing, levels):
    """Returns the union bound of the bit error rate at each Eb/N0 in `levels`, as computed by
    gpufec ber."""
    found = []
    for level in levels:
        command = [tool, "ber", "viterbi", "--puncturing", puncturing, "--backend", "cpu",
                   "--range", str(level), "--max-bits", "1000", "--json", "-"]
        report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        found.append(report["points"][0]["theory"])
    return found


def error_rates(tool, bits_a_point, backend):
    """Measures bit error rates with `bits_a_point` bits per point. Returns rows of (code, Eb/N0 in
    dB, errors, bits, BER, union bound), and the name of the backend."""
    rows, used = [], None
    for name, puncturing, rate, levels in CODES:
        bounds = theory(tool, puncturing, levels)
        for number, (level, bound) in enumerate(zip(levels, bounds)):
            # A multiple of encoder frames and of puncturing periods (3 bits).
            count = max(1, bits_a_point // (3 * FRAME_BITS)) * 3 * FRAME_BITS
            bits = numpy.random.default_rng(number).integers(0, 2, count, numpy.uint8)
            decoded, used = receive(bits, puncturing, rate, level, backend, 100 + number)
            if len(decoded) != len(bits):
                sys.exit(f"viterbi_demo: {len(decoded)} of {len(bits)} bits were decoded")
            errors = int(numpy.count_nonzero(decoded != bits))
            rows.append((name, level, errors, len(bits), errors / len(bits), bound))
            print(f"{name:<26}{level:>5.1f}{errors:>9}{len(bits):>12.2e}"
                  f"{errors / len(bits):>12.2e}{bound:>12.2e}", flush=True)
    return rows, used


def rate_of(items, decoder_of, bits):
    """Returns the decoded bits per second of a flowgraph that repeats `items`, soft values, into
    the block that `decoder_of` makes, until `bits` bits are decoded."""
    top = gr.top_block()
    source = blocks.vector_source_b(items, True)
    head = blocks.head(gr.sizeof_char, bits * 2)
    decoder = decoder_of()
    top.connect(source, head, decoder, blocks.null_sink(gr.sizeof_char))
    begin = time.monotonic()
    top.run()
    return bits / (time.monotonic() - begin)


def throughput(bits, backend, rounds=3):
    """Measures gr-fec's decoder and gpu_viterbi_pbvd alternately in `rounds` runs each. Returns a
    dictionary with the median decoded bits per second of each."""
    generator = numpy.random.default_rng(7)
    bytes_ = generator.integers(0, 256, 2 * (FRAME_BITS + 6) * 16, dtype=numpy.uint8).tolist()

    def theirs():
        return fec.decoder(fec.cc_decoder.make(FRAME_BITS, 7, 2, GR_FEC_POLYNOMIALS, 0, -1,
                                               fec.CC_TERMINATED, False), 1, 1)

    def ours():
        return gpufec.gpu_viterbi_pbvd(constraint_length=7, polynomials=[0o171, 0o133],
                                       packed_output=False, backend=backend)

    # The decoder would warn that random values contain no signal.
    gr.logging().set_default_level(gr.log_levels.err)
    measured = {"gr-fec cc_decoder": [], "gpufec gpu_viterbi_pbvd": []}
    for _ in range(rounds):
        measured["gr-fec cc_decoder"].append(rate_of(bytes_, theirs, bits))
        measured["gpufec gpu_viterbi_pbvd"].append(rate_of(bytes_, ours, 2 * bits))
    return {name: statistics.median(rates) for name, rates in measured.items()}


def draw(rows, png):
    """Plots the error rates in `rows` to the file `png`. Returns False if Matplotlib is missing."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(7, 5))
    for name, _, _, _ in CODES:
        mine = [row for row in rows if row[0] == name]
        seen = [row for row in mine if row[2]]
        line, = axes.semilogy([row[1] for row in seen], [row[4] for row in seen], "o-",
                              label=name)
        axes.semilogy([row[1] for row in mine], [row[5] for row in mine], "--",
                      color=line.get_color(), alpha=0.6, label="union bound")
    axes.set_xlabel("Eb/N0 [dB]")
    axes.set_ylabel("bit error rate")
    axes.grid(True, which="both", alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(png, dpi=120)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tool", default="gpufec", help="path of the gpufec program")
    parser.add_argument("--backend", default="auto", help="auto, cuda or cpu")
    parser.add_argument("--bits", type=float, default=4e6, help="number of bits per point")
    parser.add_argument("--png", default="viterbi_demo.png", help="file for the plot of error rates")
    arguments = parser.parse_args()
    gr.logging().set_default_level(gr.log_levels.warn)

    print("gr-fec's encoder -> noise -> gpu_viterbi_pbvd\n")
    print(f"{'code':<26}Eb/N0   errors        bits         BER      theory")
    rows, used = error_rates(arguments.tool, int(arguments.bits), arguments.backend)
    drawn = draw(rows, arguments.png)
    print("\nTheory is the union bound, which exceeds the true rate at low Eb/N0.")
    print(f"\nDecoded bits per second in a flowgraph, K=7 rate 1/2 (backend: {used})")
    for name, rate in throughput(int(arguments.bits) * 2, arguments.backend).items():
        print(f"{name:<26}{rate / 1e6:>8.1f} Mb/s")
    print(f"\nPlot: {arguments.png}" if drawn else
          "\nNo plot: Matplotlib is not installed (Debian's python3-matplotlib)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
