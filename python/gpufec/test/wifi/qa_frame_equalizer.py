#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Tests that the LDPC decoder decodes Wi-Fi PPDUs from the symbols of gr-ieee802-11's
synchronisation and frame equaliser.

The transmitter is that of IEEE 802.11-2020, 17.3 (OFDM with 48 data carriers), with LDPC coded bits
in place of the interleaved bits of the convolutional code.
"""

import time
import unittest

import numpy as np
import pmt
from gnuradio import blocks, fft, gpufec, gr
import qa_support as support

try:
    import ieee802_11
except ImportError:
    ieee802_11 = None

PSDU_BYTES, SYMBOL_BITS = 300, 96  # 96 bits per OFDM symbol: QPSK
PPDU = dict(standard="wifi", rate="1/2", psdu_bytes=PSDU_BYTES, symbol_bits=SYMBOL_BITS)
CARRIERS = [k for k in range(-26, 27) if k not in (-21, -7, 0, 7, 21)]
PILOTS = {-21: 1, -7: 1, 7: 1, 21: -1}
# 17.3.3: carriers of the short (every fourth carrier) and of the long training symbols
SHORT = dict(zip([*range(-24, 0, 4), *range(4, 25, 4)],
                 np.array([1, -1, 1, -1, -1, 1, -1, -1, 1, 1, 1, 1]) * np.sqrt(13 / 6) * (1 + 1j)))
LONG = ("++--++-+-++++++--++-+-++++", "+--++-+-+-----++--+-+-++++")


def polarity(count):
    """Returns the polarities of the pilots of `count` symbols (17.3.5.10): bits of the scrambler
    x^7 + x^4 + 1."""
    bits = [1] * 7
    for _ in range(count):
        bits.append(bits[-7] ^ bits[-4])
    return 1 - 2 * np.array(bits[7:])


def waveform(carriers):
    """Returns 64 samples of an OFDM symbol; `carriers` maps the number of a carrier to its
    value."""
    spectrum = np.zeros(64, complex)
    for k, value in carriers.items():
        spectrum[k] = value
    return np.fft.ifft(spectrum) * 64 / np.sqrt(52)


def ofdm_symbol(values, polarity_of_pilots):
    samples = waveform({**dict(zip(CARRIERS, values)),
                        **{k: p * polarity_of_pilots for k, p in PILOTS.items()}})
    return np.concatenate([samples[-16:], samples])


def signal_field(symbols):
    """Returns the SIGNAL field (17.3.4), as BPSK, for QPSK 1/2 and `symbols` OFDM symbols."""
    length = (symbols * 48 - 22) // 8
    bits = [0, 1, 0, 1, 0] + [length >> i & 1 for i in range(12)]
    bits = np.array(bits + [sum(bits) % 2] + 6 * [0], np.uint8)
    coded = gpufec.conv_encode(bits[:18], preset="80211_1_2", frame_bits=18, packed_input=False,
                               packed_output=False).ravel()
    interleaved = np.zeros(48)
    k = np.arange(48)
    interleaved[3 * (k % 16) + k // 16] = coded
    return 2 * interleaved - 1


def transmit(payload):
    coded = gpufec.ldpc_encode(payload, **PPDU, packed_input=False, packed_output=False)
    points = (2.0 * coded.reshape(-1, 2) - 1) @ [1, 1j] / np.sqrt(2)
    symbols = points.reshape(-1, 48)
    short = np.tile(waveform(SHORT), 3)[:160]
    marks = "".join(LONG)
    long_symbol = waveform({k: 1 if mark == "+" else -1
                            for k, mark in zip([*range(-26, 0), *range(1, 27)], marks)})
    signs = polarity(len(symbols) + 1)
    fields = [signal_field(len(symbols)), *symbols]
    return np.concatenate([short, long_symbol[-32:], long_symbol, long_symbol,
                           *(ofdm_symbol(*both) for both in zip(fields, signs))])


def equalised(samples, count):
    """Returns the symbols of gr-ieee802-11's receiver (its wifi_phy_hier.grc), 48 per row, when it
    has found `count` OFDM symbols."""
    graph = gr.top_block()
    source = blocks.vector_source_c(samples.tolist(), True)
    limit = blocks.throttle(gr.sizeof_gr_complex, 2e6)
    delay, power = blocks.delay(gr.sizeof_gr_complex, 16), blocks.complex_to_mag_squared()
    product, conjugate = blocks.multiply_cc(), blocks.conjugate_cc()
    mean, mean_power = blocks.moving_average_cc(48, 1), blocks.moving_average_ff(64, 1)
    magnitude, ratio = blocks.complex_to_mag(), blocks.divide_ff()
    short = ieee802_11.sync_short(0.56, 2, False, False)
    long = ieee802_11.sync_long(320, False, False)
    later = blocks.delay(gr.sizeof_gr_complex, 320)
    equaliser = ieee802_11.frame_equalizer(ieee802_11.LS, 5.89e9, 10e6, False, False)
    sink = blocks.message_debug()
    graph.connect(source, limit, delay, conjugate, (product, 1))
    graph.connect(limit, (product, 0))
    graph.connect(limit, power, mean_power, (ratio, 1))
    graph.connect(product, mean, magnitude, (ratio, 0))
    graph.connect(delay, (short, 0))
    graph.connect(mean, (short, 1))
    graph.connect(ratio, (short, 2))
    graph.connect(short, (long, 0))
    graph.connect(short, later, (long, 1))
    graph.connect(long, blocks.stream_to_vector(gr.sizeof_gr_complex, 64),
                  fft.fft_vcc(64, True, [1.0] * 64, True), equaliser, blocks.null_sink(48))
    graph.msg_connect((equaliser, "symbols"), (sink, "store"))
    graph.start()
    deadline = time.monotonic() + 20
    while sink.num_messages() < count and time.monotonic() < deadline:
        time.sleep(0.01)
    graph.stop()
    graph.wait()
    return np.array([pmt.c32vector_elements(pmt.cdr(sink.get_message(i)))
                     for i in range(min(count, sink.num_messages()))], np.complex64)


@unittest.skipIf(ieee802_11 is None, "gr-ieee802-11 is not installed")
class qa_frame_equalizer(unittest.TestCase):
    def test_EqualisedSymbols_DecodeToPayloads(self):
        count = 3
        size = 8 * PSDU_BYTES + 16
        payloads = support.random_bits(count * size, 1).reshape(count, -1)
        symbols = gpufec.wifi_ppdu(PSDU_BYTES, SYMBOL_BITS, "1/2").symbols
        gap = np.zeros(500)
        samples = np.concatenate([np.concatenate([gap, transmit(p)]) for p in payloads] + [gap])
        random = np.random.default_rng(2)
        noise = random.normal(0, 1, len(samples)) + 1j * random.normal(0, 1, len(samples))
        # A carrier offset of 2 % of the carrier distance, and an SNR of 6 dB
        received = samples * np.exp(2j * np.pi * 0.02 / 64 * np.arange(len(samples)))
        received = received + noise * np.sqrt(0.5 * 10**(-6 / 10))
        points = equalised(received.astype(np.complex64), count * symbols)
        self.assertEqual(points.shape, (count * symbols, 48))

        llr = 4 * np.sqrt(2) * points.ravel().view(np.float32)  # approximately 2 / σ² for I and Q
        wrong = (llr > 0) != np.concatenate(
            [gpufec.ldpc_encode(p, **PPDU, packed_input=False, packed_output=False).ravel()
             for p in payloads])
        self.assertGreater(wrong.sum(), 10)  # the code has errors to correct
        decoder = gpufec.gpu_ldpc_dvbs2(**PPDU, soft_input="float", positive_bit=1,
                                        packed_output=False, backend="cpu")
        sink = blocks.vector_sink_b()
        graph = gr.top_block()
        graph.connect(blocks.vector_source_f(llr.tolist()), decoder, sink)
        graph.run()
        np.testing.assert_array_equal(np.array(sink.data(), np.uint8), payloads.ravel())
        self.assertEqual(decoder.error_count(), 0)


if __name__ == "__main__":
    unittest.main()
