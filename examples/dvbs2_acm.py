#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sends a transport stream through all MODCODs of DVB-S2, one frame after the other (ACM).

All frames are short, so the MODCODs of rate 9/10, which only normal frames have, are left out. The
script divides the packets into BBFRAMEs, each of the length that its MODCOD requires. gr-dtv
scrambles, encodes, interleaves and modulates the BBFRAMEs. The symbols get noise at an Es/N0 of
--margin dB above the standard's threshold, and each frame gets an XFECFRAME tag, like those of
gr-dvbs2rx's PL synchronisation. Pulse shaping and synchronisation are left out. One block,
dvbs2_fec_receiver, decodes the symbols to packets, which are compared with the sent packets.

Usage: dvbs2_acm.py [--frames N] [--margin DB] [--backend auto|cuda|cpu] [--threads N]
"""

import argparse
import sys

import numpy as np
import pmt
from gnuradio import blocks, gpufec, gr

try:
    from gnuradio import dtv
except ImportError as error:
    sys.exit(f"dvbs2_acm: {error}. The transmitter is gr-dtv's: install or build GNU Radio with "
             "gr-dtv. ldpc_acm.grc shows ACM without gr-dtv.")

PACKET = 188
# EN 302 307-1, tables 12 and 13: constellation, rate and Es/N0 in dB of MODCODs 1 to 28.
MODCODS = list(zip(
    ["QPSK"] * 11 + ["8PSK"] * 6 + ["16APSK"] * 6 + ["32APSK"] * 5,
    ("1/4 1/3 2/5 1/2 3/5 2/3 3/4 4/5 5/6 8/9 9/10 3/5 2/3 3/4 5/6 8/9 9/10 "
     "2/3 3/4 4/5 5/6 8/9 9/10 3/4 4/5 5/6 8/9 9/10").split(),
    [-2.35, -1.24, -0.30, 1.00, 2.23, 3.10, 4.03, 4.68, 5.18, 6.20, 6.42,
     5.50, 6.62, 7.91, 9.35, 10.69, 10.98, 8.97, 10.21, 11.03, 11.61, 12.89, 13.13,
     12.73, 13.64, 14.28, 15.69, 16.05]))

# EN 302 307-1, table 5b: bits of a BBFRAME of a short frame, by rate.
K_BCH = {"1/4": 3072, "1/3": 5232, "2/5": 6312, "1/2": 7032, "3/5": 9552, "2/3": 10632,
         "3/4": 11712, "4/5": 12432, "5/6": 13152, "8/9": 14232}


def crc8(data):
    """Returns the CRC-8 of EN 302 307-1, 5.1.4. The polynomial is
    x^8 + x^7 + x^6 + x^4 + x^2 + 1."""
    value = 0
    for byte in data:
        value ^= int(byte)
        for _ in range(8):
            value = value << 1 ^ (0xd5 if value & 0x80 else 0)
        value &= 0xff
    return value


class framer:
    """Divides packets into BBFRAMEs of any lengths, according to EN 302 307-1, 5.1."""

    def __init__(self, packets):
        # The CRC-8 of the previous packet replaces each synchronisation byte.
        field = packets.copy()
        field[1:, 0] = [crc8(p[1:]) for p in packets[:-1]]
        field[0, 0] = 0
        self.field, self.at = field.ravel(), 0

    def frame(self, size):
        """Returns the next BBFRAME of `size` bytes as an array, or None if too little data is
        left."""
        n = size - 10
        if self.at + n > len(self.field):
            return None
        syncd = 8 * (-self.at % PACKET)
        header = (bytes([0xe0, 0]) + (8 * PACKET).to_bytes(2, "big") +
                  (8 * n).to_bytes(2, "big") + b"\x47" + syncd.to_bytes(2, "big"))
        data = self.field[self.at:self.at + n]
        self.at += n
        return np.concatenate([np.frombuffer(header, np.uint8),
                               np.array([crc8(header)], np.uint8), data])


def modulated(frame, constellation, rate):
    """Encodes and modulates `frame`, a BBFRAME, with gr-dtv. Returns the complex symbols of a short
    frame."""
    code = getattr(dtv, "C" + rate.replace("/", "_"))
    size, modulation = dtv.FECFRAME_SHORT, getattr(dtv, "MOD_" + constellation)
    sink = blocks.vector_sink_c()
    graph = gr.top_block()
    graph.connect(blocks.vector_source_b(np.unpackbits(frame).tolist()),
                  dtv.dvb_bbscrambler_bb(dtv.STANDARD_DVBS2, size, code),
                  dtv.dvb_bch_bb(dtv.STANDARD_DVBS2, size, code),
                  dtv.dvb_ldpc_bb(dtv.STANDARD_DVBS2, size, code, dtv.MOD_OTHER),
                  dtv.dvbs2_interleaver_bb(size, code, modulation),
                  dtv.dvbs2_modulator_bc(size, code, modulation, dtv.INTERPOLATION_OFF), sink)
    graph.run()
    return np.array(sink.data(), np.complex64)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=56,
                        help="number of frames to send (%(default)s)")
    parser.add_argument("--margin", type=float, default=1.5,
                        help="Es/N0 above the threshold of short frames, in dB (%(default)s)")
    parser.add_argument("--backend", default="auto", help="auto, cuda or cpu (%(default)s)")
    parser.add_argument("--threads", type=int, default=1,
                        help="number of threads of the CPU backend (%(default)s)")
    options = parser.parse_args()

    random = np.random.default_rng(1)
    packets = random.integers(0, 256, (10 * options.frames, PACKET), np.uint8)
    packets[:, 0] = 0x47
    frames, tags, at = [], [], 0
    cut = framer(packets)
    # Short frames have no code of rate 9/10.
    modcods = [(i, m) for i, m in enumerate(MODCODS, 1) if m[1] != "9/10"]
    for number in range(options.frames):
        modcod, (constellation, rate, es_n0) = modcods[number % len(modcods)]
        frame = cut.frame(K_BCH[rate] // 8)
        if frame is None:
            break
        symbols = modulated(frame, constellation, rate)
        sigma = np.sqrt(10 ** (-(es_n0 + options.margin) / 10) / 2)
        noise = random.standard_normal(2 * len(symbols)).astype(np.float32)
        frames.append((symbols + sigma * noise.view(np.complex64)).astype(np.complex64))
        tags.append(gr.python_to_tag((at, pmt.mp("XFECFRAME"),
                                      pmt.cons(pmt.from_long(modcod), pmt.PMT_T), None)))
        at += len(symbols)

    source = blocks.vector_source_c(np.concatenate(frames).tolist(), False, 1, tags)
    receiver = gpufec.dvbs2_fec_receiver(acm=True, frame_size="short", max_iterations=50,
                                         backend=options.backend, threads=options.threads)
    sink = blocks.vector_sink_b()
    graph = gr.top_block()
    graph.connect(source, receiver, sink)
    graph.run()
    found = np.array(sink.data(), np.uint8).reshape(-1, PACKET)
    right = int((found == packets[:len(found)]).all(axis=1).sum())
    print(f"{len(frames)} frames of {min(len(frames), len(modcods))} MODCODs on "
          f"{receiver.active_backend()}: {right} of {len(found)} received packets are correct, "
          f"{cut.at // PACKET} sent; {receiver.dropped_frame_count()} frames dropped, "
          f"{receiver.mean_iterations():.1f} iterations on average")


if __name__ == "__main__":
    main()
