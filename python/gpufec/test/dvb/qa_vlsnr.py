#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Tests symbols of VL-SNR frames (EN 302 307-2, 5.5.2.6) as input, made by gr-dtv and by this
module's encoder."""

import functools
import unittest

import numpy as np
import pmt
from gnuradio import blocks, dtv, gpufec, gr
import qa_support
from qa_bbframe import transport_packets
from qa_symbols import decode, noisy

# Frame size without "vl-snr ", rate, gr-dtv's frame, code and modulation, number of symbols of a
# frame, K_ldpc, and the ideal Es/N0 in dB (EN 302 307-2, clause 6).
MODCODS = [
    ("normal", "2/9", "NORMAL", "C2_9_VLSNR", "QPSK", 30780, 14400, -2.85),
    ("medium", "1/5", "MEDIUM", "C1_5_MEDIUM", "BPSK", 30780, 5840, -6.85),
    ("medium", "11/45", "MEDIUM", "C11_45_MEDIUM", "BPSK", 30780, 7920, -5.50),
    ("medium", "1/3", "MEDIUM", "C1_3_MEDIUM", "BPSK", 30780, 10800, -4.00),
    ("short sf2", "1/5", "SHORT", "C1_5_VLSNR_SF2", "BPSK_SF2", 30780, 2680, -9.90),
    ("short sf2", "11/45", "SHORT", "C11_45_VLSNR_SF2", "BPSK_SF2", 30780, 3960, -8.30),
    ("short", "1/5", "SHORT", "C1_5_VLSNR", "BPSK", 14976, 3240, -6.10),
    ("short", "4/15", "SHORT", "C4_15_VLSNR", "BPSK", 14976, 4320, -4.90),
    ("short", "1/3", "SHORT", "C1_3_VLSNR", "BPSK", 14976, 5400, -3.72)]


def parameters_of(size, rate):
    return dict(standard="dvbs2x", frame_size="vl-snr " + size, rate=rate,
                constellation="qpsk" if size == "normal" else "pi/2-bpsk")


def dtv_transmit(frame, code, modulation, k, frames, plframes=False):
    """Sends random packets with gr-dtv's transmitter, as at least `frames` frames. Returns the
    packets, the output bits of the BCH encoder, one frame per row, and the symbols of XFECFRAMEs
    or, with `plframes`, of PLFRAMEs."""
    packets = transport_packets((frames + 3) * k // (188 * 8) + 8)
    of = getattr(dtv, "FECFRAME_" + frame), getattr(dtv, code)
    modulation = getattr(dtv, "MOD_" + modulation)
    standard = (dtv.STANDARD_DVBS2, *of)
    sent, sink, graph = blocks.vector_sink_b(), blocks.vector_sink_c(), gr.top_block()
    bch = dtv.dvb_bch_bb(*standard)
    chain = [dtv.dvb_ldpc_bb(*standard, modulation), dtv.dvbs2_interleaver_bb(*of, modulation),
             dtv.dvbs2_modulator_bc(*of, modulation, dtv.INTERPOLATION_OFF)]
    if plframes:
        chain.append(dtv.dvbs2_physical_cc(*of, modulation, dtv.PILOTS_ON, 0))
    graph.connect(qa_support.vector_source(packets.ravel()),
                  dtv.dvb_bbheader_bb(*standard, dtv.RO_0_20, dtv.INPUTMODE_NORMAL,
                                      dtv.INBAND_OFF, 168, 4000000),
                  dtv.dvb_bbscrambler_bb(*standard), bch)
    graph.connect(bch, *chain, sink)
    graph.connect(bch, sent)
    graph.run()
    bits = np.array(sent.data(), np.uint8)
    symbols = np.array(sink.data(), np.complex64)
    if plframes: # there is a zero after each symbol
        symbols = symbols[::2].copy()
    return packets, bits[:len(bits) // k * k].reshape(-1, k), symbols


def pi2_bpsk(bits, spreading=1):
    """Returns the symbols of a frame's bits: (1 + 1j) / sqrt(2) for a 0, rotated by 90 degrees at
    odd symbols."""
    repeated = np.repeat(bits, spreading)
    turns = np.exp(1j * np.pi * (0.25 + 0.5 * (np.arange(len(repeated)) % 2)))
    return ((1.0 - 2.0 * repeated) * turns).astype(np.complex64)


def transmit(size, rate, frames, seed):
    """Returns `frames` packed random messages, and their symbols from ldpc_encoder and
    pi2_bpsk()."""
    (k,) = [m[6] for m in MODCODS if m[:2] == (size, rate)]
    bits = qa_support.random_bits(frames * k, seed)
    coded, _ = qa_support.run(qa_support.vector_source(bits), gpufec.ldpc_encoder(
        "dvbs2x", "vl-snr " + size, rate, packed_input=False, packed_output=False))
    symbols = [pi2_bpsk(c, 2 if "sf2" in size else 1) for c in coded.reshape(frames, -1)]
    return np.packbits(bits.reshape(frames, k), axis=1), np.array(symbols)


@functools.lru_cache(None)
def turns():
    """Returns the scrambling sequence of PLFRAMEs, number 0, of 2**18 - 1 quarter turns (EN 302
    307-1, 5.5.4)."""
    period = (1 << 18) - 1
    x, y = np.zeros(period + 18, int), np.ones(period + 18, int)
    x[0] = 1
    for i in range(period):
        x[i + 18] = x[i + 7] ^ x[i]
        y[i + 18] = y[i + 10] ^ y[i + 7] ^ y[i + 5] ^ y[i]
    z = (x ^ y)[:period]
    return 2 * np.roll(z, -131072) + z


def xfecframe(plframe, bpsk):
    """Returns the symbols of the XFECFRAME in the PLFRAME of a VL-SNR frame.

    The scrambling sequence starts after the PLHEADER (90 symbols), but does not change the VL-SNR
    header (900 symbols). The sequence changes only the signs of pi/2-BPSK symbols.
    """
    groups = ([(703, 34)] * 18 + [(702, 36)] * 3 if len(plframe) == 33282 else
              [(704, 32)] * 9 + [(702, 36)])
    body = plframe[990:]
    scrambling = turns()[900:900 + len(body)]
    body = body * ((1.0 - 2.0 * (scrambling % 2)) if bpsk else (-1j) ** scrambling)
    symbols, at = [], 0
    for count, pilots in [(540, 36)] + [g for count, extra in groups
                                        for g in ((count, extra), (count, 36))]:
        symbols.append(body[at:at + count])
        at += count + pilots
    return np.concatenate(symbols + [body[at:]]).astype(np.complex64)


class qa_vlsnr(unittest.TestCase):
    def test_SymbolsOfGrDtv_AreDecodedForEveryModcod(self):
        """Frames decode at 0.9 dB above the ideal Es/N0; input format, demapper and parameter esn0
        vary with the MODCOD."""
        for turn, (size, rate, frame, code, modulation, count, k, es_n0) in enumerate(MODCODS):
            with self.subTest(size=size, rate=rate):
                es_n0_db = es_n0 + 0.9
                _, sent, symbols = dtv_transmit(frame, code, modulation, k, 3)
                received = noisy(symbols[:3 * count], es_n0_db, turn, amplitude=0.7)
                items, tags = decode(
                    received, ("symbols", "symbols16", "symbols8")[turn % 3],
                    esn0="given" if turn in (1, 5, 6) else "estimated",
                    esn0_db=max(-10, es_n0_db), demapper=("max_log", "log_map")[turn % 2],
                    **parameters_of(size, rate))
                self.assertTrue(np.array_equal(items, np.packbits(sent[:3], axis=1).ravel()))
                self.assertEqual([v for _, v in qa_support.tags_of(tags, "ldpc_valid")],
                                 [True] * 3)

    def test_PlframesOfGrDtv_HaveLengthsOfStandardAndGivePackets(self):
        """PLFRAMEs have the lengths of the standard's two sets of VL-SNR frames. After removal of
        headers, pilots and scrambling, the receiver decodes the frames to packets."""
        for size, rate, frame, code, modulation, count, k, es_n0 in (
                MODCODS[0], MODCODS[1], MODCODS[4], MODCODS[6]):
            with self.subTest(size=size, rate=rate):
                packets, _, symbols = dtv_transmit(frame, code, modulation, k, 4, plframes=True)
                length = {30780: 33282, 14976: 16686}[count]
                self.assertEqual(len(symbols) % length, 0)
                frames = [xfecframe(f, size != "normal") for f in symbols.reshape(-1, length)]
                self.assertEqual([len(f) for f in frames], [count] * len(frames))
                receiver = gpufec.dvbs2_fec_receiver(backend="cpu", **parameters_of(size, rate))
                items, _ = qa_support.run(blocks.vector_source_c(
                    noisy(np.concatenate(frames), es_n0 + 1.2, 1).tolist()), receiver)
                self.assertGreater(len(items), 188 * k // 1504)
                self.assertTrue(np.array_equal(items, packets.ravel()[:len(items)]))

    def test_EncodedAndMappedBits_EqualSymbolsOfGrDtv(self):
        for size, rate, frame, code, modulation, count, k, _ in MODCODS[1:]:
            with self.subTest(size=size, rate=rate):
                _, sent, symbols = dtv_transmit(frame, code, modulation, k, 2)
                coded, _ = qa_support.run(
                    qa_support.vector_source(sent[:2].ravel()),
                    gpufec.ldpc_encoder("dvbs2x", "vl-snr " + size, rate, packed_input=False,
                                        packed_output=False))
                ours = [pi2_bpsk(c, 2 if "sf2" in size else 1) for c in coded.reshape(2, -1)]
                self.assertLess(np.abs(np.concatenate(ours) - symbols[:2 * count]).max(), 1e-6)

    def test_CodeTags_SelectTheModcod(self):
        code = lambda size, rate, name: pmt.to_pmt(
            {"frame_size": "vl-snr " + size, "rate": rate, "constellation": name})
        received, tags, sent, at = [], [], [], 0
        for seed, (size, rate) in enumerate((("short", "4/15"), ("short sf2", "1/5"),
                                             ("medium", "1/3"), ("short", "1/5"))):
            message, symbols = transmit(size, rate, 1, seed)
            tags.append((at, pmt.mp("ldpc_code"), code(size, rate, "pi/2-bpsk")))
            received.append(noisy(symbols.ravel(), -2, seed))
            sent.append(message.ravel())
            at += symbols.size
        items, out = decode(np.concatenate(received), tags=tags, largest=5000, acm=True,
                            **parameters_of("short", "1/3"))
        self.assertTrue(np.array_equal(items, np.concatenate(sent)))
        self.assertEqual([v for _, v in qa_support.tags_of(out, "ldpc_valid")], [True] * 4)

    def test_SetCodeTagsAndLlrs_ApplyToVlsnrFrames(self):
        """set_code() selects another rate of the frame size, a tag moves to the message bit of its
        symbol, and output LLRs have the requested scale and sign."""
        message, symbols = transmit("short sf2", "11/45", 2, 1)
        received = noisy(symbols.ravel(), -6, 1)
        decoder = gpufec.gpu_ldpc_dvbs2(soft_input="symbols", backend="cpu", packed_output=False,
                                        **parameters_of("short sf2", "1/5"))
        decoder.set_code("vl-snr short sf2 11/45")
        tag = gr.python_to_tag((30780 + 2 * 1000, pmt.mp("a"), pmt.PMT_T, None))
        items, tags = qa_support.run(
            blocks.vector_source_c(received.tolist(), False, 1, [tag]), decoder)
        self.assertTrue(np.array_equal(np.packbits(items.reshape(2, -1), axis=1), message))
        self.assertEqual([at for at, _ in qa_support.tags_of(tags, "a")], [3960 + 1000])
        given = {}
        for scale, sign in (1.0, 0), (1.0, 1), (4.0, 0):
            items, _ = decode(received, output="llr", llr_scale=scale, positive_bit=sign,
                              backend="cpu", **parameters_of("short sf2", "11/45"))
            given[scale, sign] = items.view(np.int8).astype(int)
        self.assertEqual(len(given[1.0, 0]), 2 * 16200)
        self.assertTrue(np.array_equal(given[1.0, 1], -given[1.0, 0]))
        inside = np.abs(given[4.0, 0]) < 127
        self.assertLessEqual(np.abs(given[1.0, 0] - given[4.0, 0] / 4)[inside].max(), 0.7)
        bits = given[4.0, 0].reshape(2, -1)[:, :3960] < 0
        self.assertTrue(np.array_equal(np.packbits(bits, axis=1), message))

    def test_BadSymbols_DisturbNoOtherFrame(self):
        """A frame of zeros, frames with NaN or strong interference, and a frame of noise do not
        disturb the other frames. A frame in which interference erases 1 % of the symbols is
        decoded."""
        message, symbols = transmit("short", "1/5", 6, 9)
        received = noisy(symbols.ravel(), -4.5, 9).reshape(6, -1)
        received[1, 100:150] = np.nan
        received[2] = 0
        received[3, ::100] += 100
        received[4] = noisy(np.zeros(14976, np.complex64), 0, 3)
        items, tags = decode(received.ravel(), **parameters_of("short", "1/5"))
        items = items.reshape(6, -1)
        for good in (0, 1, 3, 5):
            self.assertTrue(np.array_equal(items[good], message[good]), good)
        self.assertEqual([v for _, v in qa_support.tags_of(tags, "ldpc_valid")],
                         [True, True, True, True, False, True]) # a frame of zeros is a codeword

    def test_SymbolsOnDevice_DecodeAsOnCpu(self):
        _, symbols = transmit("short", "4/15", 8, 4)
        received = np.concatenate([noisy(f, -5.5 + 0.3 * i, i) for i, f in enumerate(symbols)])
        code = dict(max_iterations=20, **parameters_of("short", "4/15"))
        expected = decode(received, backend="cpu", **code)
        items, tags = decode(received, largest=1000, **code)
        self.assertTrue(np.array_equal(items, expected[0]))
        for name in ("ldpc_iterations", "ldpc_valid", "ldpc_syndrome_weight"):
            self.assertEqual(qa_support.tags_of(tags, name),
                             qa_support.tags_of(expected[1], name))

    def test_WrongParameters_AreRefusedWithReason(self):
        for wrong, text in (
                (dict(frame_size="vl-snr short", rate="1/5"),
                 'constellation is "qpsk": no MODCOD has this constellation at rate 1/5 in vl-snr '
                 "short frames, allowed: pi/2-bpsk"),
                (dict(frame_size="vl-snr short sf2", rate="11/45"),
                 "11/45 in vl-snr short sf2 frames, allowed: pi/2-bpsk"),
                (dict(frame_size="vl-snr normal", rate="2/9", constellation="pi/2-bpsk"),
                 "2/9 in vl-snr normal frames, allowed: qpsk"),
                (dict(frame_size="vl-snr short sf2", rate="4/15", constellation="pi/2-bpsk"),
                 'rate is "4/15": allowed values with dvbs2x vl-snr short sf2 are 1/5 and 11/45'),
                (dict(frame_size="short", rate="11/45", constellation="pi/2-bpsk"),
                 "11/45 in short frames, allowed: qpsk"),
                (dict(frame_size="medium", rate="1/5", constellation="pi/2-bpsk"),
                 "no MODCOD has this constellation at rate 1/5 in medium frames"),
                (dict(frame_size="vl-snr short", rate="QPSK 1/5"), "allowed: pi/2-bpsk"),
                (dict(frame_size="vl-snr short", rate="1/5", constellation="bpsk"),
                 'constellation is "bpsk": ')):
            for block in (functools.partial(gpufec.gpu_ldpc_dvbs2, soft_input="symbols"),
                          gpufec.dvbs2_fec_receiver):
                if wrong["frame_size"] != "medium" or block is not gpufec.dvbs2_fec_receiver:
                    with self.subTest(wrong), self.assertRaisesRegex(ValueError, text):
                        block(standard="dvbs2x", **wrong)
        with self.assertRaisesRegex(ValueError, 'frame_size is "vl-snr short": allowed'):
            gpufec.gpu_ldpc_dvbs2(frame_size="vl-snr short", rate="1/5", soft_input="symbols")
        with self.assertRaisesRegex(ValueError, 'frame_size is "vl-snr short": .*require io host'):
            gpufec.gpu_ldpc_dvbs2(soft_input="symbols", io="device_in",
                                  **parameters_of("short", "1/5"))
        gpufec.gpu_ldpc_dvbs2("dvbs2x", "VL-SNR short", "pi/2-BPSK 4/15", soft_input="symbols",
                              backend="cpu")

    def test_RotatedSymbolsAndNoise_AreReported(self):
        """The verdict names the rotation that is missing, and reports noise as no signal."""
        _, symbols = transmit("short", "1/3", 6, 2)
        received = noisy(symbols.ravel(), -1, 2)
        for signal, text in (
                (received, ""),
                (received * 1j, "rotate the symbols by 270 degrees"),
                (received.imag + 1j * received.real, "I and Q look exchanged"),
                (noisy(np.zeros(10 * 14976), 0, 3), "no signal of this code")):
            with self.subTest(text):
                decoder = gpufec.gpu_ldpc_dvbs2(soft_input="symbols", backend="cpu",
                                                **parameters_of("short", "1/3"))
                qa_support.run(blocks.vector_source_c(signal.astype(np.complex64).tolist()),
                               decoder)
                self.assertEqual(bool(decoder.verdict()), bool(text), decoder.verdict())
                self.assertIn(text, decoder.verdict())


if __name__ == "__main__":
    unittest.main()
