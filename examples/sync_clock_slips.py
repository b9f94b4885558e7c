#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Shows how gpu_sync_map decodes a stream in which the clock recovery loses or repeats bits.

BPSK at low SNR passes through GNU Radio's symbol synchroniser, which occasionally outputs one bit
too many or too few. A decoder that counts bits loses all frames after the first slip. gpu_sync_map
finds the frames in the stream without any marker.
"""

import argparse

import numpy as np
from gnuradio import blocks, digital, filter, gpufec, gr

CODE = dict(q=32, n=10, frame_symbols=210)
SAMPLES = 4 # samples per bit
CLOCK_ERROR = 50e-6


def transmit(bits, es_n0_db, random):
    """Returns BPSK samples of `bits` with rectangular pulses and noise from the generator `random`.
    The sampling clock has a relative frequency error of CLOCK_ERROR."""
    signal = np.repeat(2.0 * bits - 1.0, SAMPLES)
    at = np.arange(0, len(signal) - 2, 1 + CLOCK_ERROR)
    before = at.astype(int)
    signal = signal[before] + (at - before) * (signal[before + 1] - signal[before])
    sigma = np.sqrt(SAMPLES / (2 * 10 ** (es_n0_db / 10)))
    return (signal + sigma * random.standard_normal(len(signal))).astype(np.float32)


def receive(samples, decoder):
    """Returns the output bits of a symbol synchroniser, whose wide loop causes slips, and the
    symbols that `decoder` makes from them."""
    clock = digital.symbol_sync_ff(
        digital.TED_GARDNER, SAMPLES, 0.1, 1.0, 1.0, 0.1, 1,
        digital.constellation_bpsk().base(), digital.IR_MMSE_8TAP, 128, [])
    slicer = digital.binary_slicer_fb()
    bits, symbols = blocks.vector_sink_b(), blocks.vector_sink_b()
    graph = gr.top_block()
    graph.connect(blocks.vector_source_f(samples.tolist()),
                  filter.fir_filter_fff(1, [1 / SAMPLES] * SAMPLES), clock, slicer, bits)
    graph.connect(slicer, decoder, symbols)
    graph.run()
    return np.array(bits.data(), np.uint8), np.array(symbols.data(), np.uint8)


def nearest_words(bits, words):
    """Returns the symbol of the nearest word for every n bits of `bits`, as a decoder without
    synchronisation would."""
    n = CODE["n"]
    rows = bits[:len(bits) // n * n].reshape(-1, 1, n)
    index = np.arange(len(rows)) % CODE["frame_symbols"]
    return np.count_nonzero(rows != words[index], axis=2).argmin(axis=1)


def wrong(symbols, sent):
    """Returns the fraction of `sent` that is wrong or missing in `symbols`."""
    count = min(len(symbols), len(sent))
    return 1 - np.count_nonzero(symbols[:count] == sent[:count]) / len(sent)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--es-n0", type=float, default=3.0, help="Es/N0 in dB (%(default)s)")
    parser.add_argument("--frames", type=int, default=30,
                        help="number of frames to send (%(default)s)")
    parser.add_argument("--backend", default="auto", choices=("auto", "cuda", "cpu"))
    options = parser.parse_args()

    random = np.random.default_rng(1)
    book = gpufec.codebook_random(10, 32, 210, seed=1)
    words = book.reshape(210, 32, 10)
    sent = random.integers(0, 32, 210 * options.frames)
    bits = words[np.arange(len(sent)) % 210, sent].ravel()
    # Rough estimates of the probabilities of slips and wrong bits suffice.
    decoder = gpufec.gpu_sync_map(book, **CODE, p_insert=1e-3, p_delete=2e-3,
                                  p_substitute=0.1, mode="stream", acquire=30,
                                  backend=options.backend)
    received, decoded = receive(transmit(bits, options.es_n0, random), decoder)
    print(f"{len(bits)} bits sent, {len(received)} received")
    counted = nearest_words(received, words)
    print(f"wrong symbols, decoder that counts bits: {wrong(counted, sent):.4f}")
    print(f"wrong symbols, gpu_sync_map: {wrong(decoded, sent):.4f}")


if __name__ == "__main__":
    main()
