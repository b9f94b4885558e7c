#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measures the bit error rate of a standard's convolutional code in a flowgraph.

The flowgraph has conv_encoder, a simulated noisy channel and gpu_viterbi_pbvd; no radio is needed.

Examples: viterbi_ber.py --preset ccsds --ebn0 3
          viterbi_ber.py --preset dvb_3_4 --ebn0 4
          viterbi_ber.py --preset 80211_1_2 --frame-bits 1200 --ebn0 3
"""

import argparse
import sys

import numpy
from gnuradio import analog, blocks, digital, gpufec, gr


class viterbi_ber(gr.top_block):

    def __init__(self, code, frame_bits, ebn0_db, bits, backend):
        super().__init__("Viterbi: bit error rate")
        self.bits = bits
        shape = dict(preset=code.name, frame_bits=frame_bits)
        encoder = gpufec.conv_encoder(packed_input=False, packed_output=False, **shape)
        self.decoder = gpufec.gpu_viterbi_pbvd(
            soft_input="float", packed_output=False, backend=backend, **shape)
        sent_bits = sum(map(int, code.puncturing.replace(",", ""))) or len(code.polynomials)
        stages = len(code.puncturing.split(",")[0]) or 1
        # Eb ignores the energy of the frames' tails, which are short.
        sigma = (2 * stages / sent_bits * 10**(ebn0_db / 10))**-0.5

        source = blocks.vector_source_b(bits.tolist())
        symbols = digital.chunks_to_symbols_bf([-1, 1])  # bit 1 is sent as +1
        noise = analog.noise_source_f(analog.GR_GAUSSIAN, sigma, 1)
        channel = blocks.add_ff()
        self.sink = blocks.vector_sink_b()
        self.connect(source, encoder, symbols, (channel, 0))
        self.connect(noise, (channel, 1))
        self.connect(channel, self.decoder, self.sink)

    def wrong_bits(self):
        decoded = numpy.array(self.sink.data(), numpy.uint8)
        return int(numpy.count_nonzero(decoded != self.bits[:len(decoded)]))


def main():
    codes = {code.name: code for code in gpufec.conv_presets()}
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="dvb_1_2", choices=codes, metavar="NAME",
                        help="code to measure: " + ", ".join(codes))
    parser.add_argument("--frame-bits", type=int, default=0,
                        help="information bits per frame; presets with frames need this option")
    parser.add_argument("--ebn0", type=float, default=3.0, help="Eb/N0 in dB")
    parser.add_argument("--bits", type=float, default=2e6, help="number of bits to send")
    parser.add_argument("--backend", default="auto", help="auto, cuda or cpu")
    arguments = parser.parse_args()

    unit = max(arguments.frame_bits, 1)
    bits = numpy.random.default_rng(1).integers(
        0, 2, max(1, int(arguments.bits) // unit) * unit, numpy.uint8)
    top = viterbi_ber(codes[arguments.preset], arguments.frame_bits, arguments.ebn0, bits,
                      arguments.backend)
    top.run()
    wrong = top.wrong_bits()
    print(f"{wrong} wrong bits of {len(bits)}: BER {wrong / len(bits):.2e} at "
          f"{arguments.ebn0} dB, backend {top.decoder.active_backend()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
