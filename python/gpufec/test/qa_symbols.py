#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Tests gpu_ldpc_dvbs2 and dvbs2_fec_receiver with symbols as input, made by gr-dtv, for every
MODCOD of DVB-S2 and some of S2X."""

import unittest

import numpy as np
import pmt
from gnuradio import blocks, dtv, gpufec, gr
import qa_support
from qa_bbframe import bits_of_units, frame_of, lengths, scrambling, transport_packets
from qa_ldpc import BITS, SHORT_K, NORMAL

QPSK = ["1/4", "1/3", "2/5", "1/2", "3/5", "2/3", "3/4", "4/5", "5/6", "8/9", "9/10"]
PSK8 = ["3/5", "2/3", "3/4", "5/6", "8/9", "9/10"]
APSK16 = ["2/3", "3/4", "4/5", "5/6", "8/9", "9/10"]
APSK32 = ["3/4", "4/5", "5/6", "8/9", "9/10"]
# MODCODs in the order of EN 302 307-1, table 12: constellation, rate and Es/N0 in dB (table 13).
MODCODS = list(zip(
    ["qpsk"] * 11 + ["8psk"] * 6 + ["16apsk"] * 6 + ["32apsk"] * 5,
    QPSK + PSK8 + APSK16 + APSK32,
    [-2.35, -1.24, -0.30, 1.00, 2.23, 3.10, 4.03, 4.68, 5.18, 6.20, 6.42,
     5.50, 6.62, 7.91, 9.35, 10.69, 10.98,
     8.97, 10.21, 11.03, 11.61, 12.89, 13.13,
     12.73, 13.64, 14.28, 15.69, 16.05]))
DTV = {"qpsk": dtv.MOD_QPSK, "8psk": dtv.MOD_8PSK, "16apsk": dtv.MOD_16APSK,
       "32apsk": dtv.MOD_32APSK}
PER_SYMBOL = {"qpsk": 2, "8psk": 3, "8apsk": 3, "16apsk": 4, "32apsk": 5, "64apsk": 6,
              "128apsk": 7, "256apsk": 8}


def transmit(constellation, size, rate, frames, seed):
    """Returns `frames` packed random messages, and their symbols from ldpc_encoder and gr-dtv's
    modulator."""
    k = NORMAL[rate][0] if size == "normal" else SHORT_K[rate]
    bits = qa_support.random_bits(frames * k, seed)
    frame = dtv.FECFRAME_NORMAL if size == "normal" else dtv.FECFRAME_SHORT
    code = getattr(dtv, "C" + rate.replace("/", "_"))
    sink = blocks.vector_sink_c()
    graph = gr.top_block()
    graph.connect(qa_support.vector_source(bits),
                  gpufec.ldpc_encoder("dvbs2", size, rate, packed_input=False,
                                      packed_output=False),
                  dtv.dvbs2_interleaver_bb(frame, code, DTV[constellation]),
                  dtv.dvbs2_modulator_bc(frame, code, DTV[constellation],
                                         dtv.INTERPOLATION_OFF), sink)
    graph.run()
    symbols = np.array(sink.data(), np.complex64)
    assert len(symbols) == frames * BITS[size] // PER_SYMBOL[constellation]
    return np.packbits(bits.reshape(frames, k), axis=1).ravel(), symbols


def noisy(symbols, es_n0_db, seed, amplitude=1.0):
    random = np.random.default_rng(seed)
    sigma = np.sqrt(10 ** (-es_n0_db / 10) / 2)
    noise = random.standard_normal(2 * len(symbols)).astype(np.float32).view(np.complex64)
    return (amplitude * (symbols + sigma * noise)).astype(np.complex64)


def source_of(symbols, kind, tags=()):
    tags = [gr.python_to_tag((at, key, value, None)) for at, key, value in tags]
    if kind == "symbols":
        return blocks.vector_source_c(symbols.tolist(), False, 1, tags)
    parts = symbols.view(np.float32)
    if kind == "symbols16":
        ints = np.clip(np.rint(parts * 4000), -32768, 32767).astype(np.int16)
        return blocks.vector_source_b(ints.view(np.uint8).tolist(), False, 4, tags)
    ints = np.clip(np.rint(parts * 40), -128, 127).astype(np.int8)
    return blocks.vector_source_b(ints.view(np.uint8).tolist(), False, 2, tags)


def decode(symbols, kind="symbols", tags=(), largest=0, **parameters):
    parameters.setdefault("max_iterations", 50)
    # "auto" uses a device, real or simulated, if there is one.
    parameters.setdefault("backend", "auto")
    decoder = gpufec.gpu_ldpc_dvbs2(soft_input=kind, **parameters)
    return qa_support.run(source_of(symbols, kind, tags), decoder, largest)


class qa_symbols(unittest.TestCase):
    def test_SymbolsOfGrDtv_AreDecodedForEveryModcod(self):
        """All frames decode at an Es/N0 above the standard's threshold by 0.8 dB (normal frames) or
        1.2 dB (short frames). Input format, demapper and parameter esn0 vary with the MODCOD."""
        turn = 0
        for constellation, rate, es_n0 in MODCODS:
            for size in ("normal", "short"):
                if size == "short" and rate == "9/10":
                    continue
                es_n0_db = es_n0 + (0.8 if size == "normal" else 1.2)
                with self.subTest(constellation, size=size, rate=rate):
                    turn += 1
                    message, symbols = transmit(constellation, size, rate, 2, turn)
                    received = noisy(symbols, es_n0_db, turn, amplitude=0.7)
                    items, tags = decode(
                        received, ("symbols", "symbols16", "symbols8")[turn % 3],
                        frame_size=size, rate=rate, constellation=constellation,
                        esn0=("estimated", "given")[turn // 3 % 2], esn0_db=es_n0_db,
                        demapper=("max_log", "log_map")[turn // 2 % 2])
                    self.assertTrue(np.array_equal(items, message))
                    self.assertEqual([v for _, v in qa_support.tags_of(tags, "ldpc_valid")],
                                     [True, True])
        self.assertEqual(turn, 28 + 24)

    def test_OutputLlrs_HaveRequestedSignScaleAndOrder(self):
        """Output LLRs have the order of the codeword, not that of the interleaved bits."""
        message, symbols = transmit("8psk", "short", "3/5", 3, 5)
        received = noisy(symbols, 6.5, 5)
        code = dict(frame_size="short", rate="3/5", constellation="8psk",
                    max_iterations=4, early_stop=False)
        bits, _ = decode(received, output="codeword", packed_output=False, **code)
        given = {}
        for scale in 1.0, 6.0:
            for sign in 0, 1:
                items, tags = decode(received, output="llr", llr_scale=scale,
                                     positive_bit=sign, **code)
                given[scale, sign] = items.view(np.int8).astype(int)
                self.assertEqual([at for at, _ in qa_support.tags_of(tags, "ldpc_valid")],
                                 [0, 16200, 32400])
        self.assertTrue(np.array_equal(given[1.0, 1], -given[1.0, 0]))
        self.assertTrue(np.array_equal(given[6.0, 1], -given[6.0, 0]))
        inside = np.abs(given[6.0, 0]) < 127
        self.assertGreater(inside.sum(), 1000)
        self.assertLessEqual(
            np.abs(given[1.0, 0] - given[6.0, 0] / 6)[inside].max(), 0.6)
        known = given[6.0, 0] != 0
        self.assertTrue(np.array_equal(given[6.0, 0][known] < 0, bits[known] == 1))

    def test_SymbolsOfGrDtv_AreDecodedForS2x(self):
        """Tests MODCODs of S2X with each constellation and ring structure, some with S2 codes, and
        two MODCODs of S2. The dummy symbols in the last slot of 128APSK are not decoded."""
        modcods = [
            ("qpsk", "QPSK", "normal", "13/45"), ("qpsk", "QPSK", "short", "7/15"),
            ("8psk", "8PSK", "normal", "25/36"), ("8psk", "8PSK", "short", "26/45"),
            ("8apsk", "8APSK", "normal", "104/180"), ("16apsk", "8_8APSK", "normal", "96/180"),
            ("16apsk", "8_8APSK", "normal", "20/30"), ("16apsk", "16APSK", "normal", "26/45"),
            ("16apsk", "16APSK", "short", "26/45"), ("16apsk", "16APSK", "normal", "154/180"),
            ("32apsk", "4_12_16APSK", "short", "32/45"),
            ("32apsk", "4_8_4_16APSK", "normal", "132/180"),
            ("64apsk", "64APSK", "normal", "128/180"),
            ("64apsk", "4_12_20_28APSK", "normal", "132/180"),
            ("64apsk", "8_16_20_20APSK", "normal", "7/9"),
            ("128apsk", "128APSK", "normal", "135/180"),
            ("256apsk", "256APSK", "normal", "124/180"),
            ("256apsk", "256APSK", "normal", "22/30"),
            ("16apsk", "16APSK", "normal", "3/5"), ("16apsk", "16APSK", "short", "3/5"),
            ("32apsk", "4_12_16APSK", "normal", "2/3"),
            ("32apsk", "4_12_16APSK", "short", "2/3"),
            ("64apsk", "8_16_20_20APSK", "normal", "4/5"),
            ("64apsk", "8_16_20_20APSK", "normal", "5/6"),
            ("8psk", "8PSK", "normal", "3/5"), ("qpsk", "QPSK", "short", "1/2")]
        for number, (constellation, modulation, size, rate) in enumerate(modcods):
            with self.subTest(constellation, size=size, rate=rate):
                n = BITS[size]
                frame = dtv.FECFRAME_NORMAL if size == "normal" else dtv.FECFRAME_SHORT
                code = getattr(dtv, "C" + rate.replace("/", "_"))
                modulation = getattr(dtv, "MOD_" + modulation)
                encoder = gpufec.ldpc_encoder("dvbs2x", size, rate, packed_input=False,
                                              packed_output=False)
                k = round(n * encoder.relative_rate_d() / encoder.relative_rate_i())
                bits = qa_support.random_bits(2 * k, number)
                coded = qa_support.run(qa_support.vector_source(bits), encoder, 0)[0]
                coded = coded.reshape(2, n)
                per_symbol = PER_SYMBOL[constellation]
                if per_symbol == 7: # 128APSK: six bits fill the last symbol, dummies the last slot
                    coded = np.pad(coded, ((0, 0), (0, 6)))
                sink = blocks.vector_sink_c()
                graph = gr.top_block()
                graph.connect(qa_support.vector_source(coded.ravel()),
                              dtv.dvbs2_interleaver_bb(frame, code, modulation),
                              dtv.dvbs2_modulator_bc(frame, code, modulation,
                                                     dtv.INTERPOLATION_OFF), sink)
                graph.run()
                symbols = np.array(sink.data(), np.complex64)
                self.assertEqual(len(symbols), 2 * (9270 if per_symbol == 7
                                                    else n // per_symbol))
                es_n0_db = 10 * np.log10(2 ** (per_symbol * k / n) - 1) + 3
                received = noisy(symbols, es_n0_db, number, amplitude=0.7)
                if per_symbol == 7:
                    received.reshape(2, 9270)[:, 9258:] = [[np.nan] * 12, [1e30j] * 12]
                given = number % 2 and per_symbol < 6
                items, tags = decode(
                    received, standard="dvbs2x", frame_size=size, rate=rate,
                    constellation=constellation, esn0="given" if given else "estimated",
                    esn0_db=round(es_n0_db, 2))
                self.assertTrue(np.array_equal(
                    items, np.packbits(bits.reshape(2, k), axis=1).ravel()))
                self.assertEqual([v for _, v in qa_support.tags_of(tags, "ldpc_valid")],
                                 [True, True])

    def test_XfecframeTags_SelectTheModcod(self):
        """The stream has a short frame of each MODCOD (rate 9/10 has no short frames). All frames
        are decoded except one that is cut short and one whose tag has a reserved MODCOD."""
        messages, symbols, tags, at = [], [], [], 0
        for modcod, (constellation, rate, es_n0) in enumerate(MODCODS, 1):
            if rate == "9/10":
                continue
            message, sent = transmit(constellation, "short", rate, 1, modcod)
            sent = noisy(sent, es_n0 + 1.6, modcod)
            value = pmt.cons(pmt.from_long(modcod), pmt.PMT_T)
            if modcod == 8: # this frame is cut short
                sent = sent[:-7]
            elif modcod == 15: # this tag has a reserved MODCOD
                value = pmt.cons(pmt.from_long(30), pmt.PMT_T)
            else:
                messages.append(message)
            tags.append((at, pmt.mp("XFECFRAME"), value))
            symbols.append(sent)
            at += len(sent)
        symbols = np.concatenate(symbols)
        for kind, largest in ("symbols", 0), ("symbols16", 700):
            items, out = decode(symbols, kind, tags, largest, acm=True, frame_size="short")
            self.assertTrue(np.array_equal(items, np.concatenate(messages)))
            self.assertEqual(len(qa_support.tags_of(out, "ldpc_valid")), len(messages))
            self.assertTrue(all(v for _, v in qa_support.tags_of(out, "ldpc_valid")))

    def test_MixedS2xAndS2Tags_SelectTheModcod(self):
        """A stream of frames of S2X, tagged with ldpc_code, and of S2, tagged with XFECFRAME, is
        decoded."""
        code = lambda size, rate, name: pmt.dict_add(pmt.dict_add(pmt.dict_add(
            pmt.make_dict(), pmt.mp("frame_size"), pmt.mp(size)), pmt.mp("rate"),
            pmt.mp(rate)), pmt.mp("constellation"), pmt.mp(name))
        frames = [("8psk", "short", "26/45", dtv.MOD_8PSK, 7.5),
                  ("qpsk", "short", "1/2", dtv.MOD_QPSK, 2.5),
                  ("16apsk", "short", "3/5", dtv.MOD_16APSK, 10),
                  ("16apsk", "short", "2/3", dtv.MOD_16APSK, 11),
                  ("32apsk", "short", "2/3", dtv.MOD_4_12_16APSK, 14)]
        modcods = {1: 4, 3: 18} # XFECFRAME tags of the frames of S2: {index: MODCOD}
        sent, symbols, tags, at = [], [], [], 0
        for number, (name, size, rate, modulation, es_n0_db) in enumerate(frames):
            encoder = gpufec.ldpc_encoder("dvbs2x", size, rate, packed_input=False,
                                          packed_output=False)
            k = round(16200 * encoder.relative_rate_d() / encoder.relative_rate_i())
            bits = qa_support.random_bits(k, number)
            sink, graph = blocks.vector_sink_c(), gr.top_block()
            of = (dtv.FECFRAME_SHORT, getattr(dtv, "C" + rate.replace("/", "_")), modulation)
            graph.connect(qa_support.vector_source(bits), encoder,
                          dtv.dvbs2_interleaver_bb(*of),
                          dtv.dvbs2_modulator_bc(*of, dtv.INTERPOLATION_OFF), sink)
            graph.run()
            tags.append((at, pmt.mp("XFECFRAME"),
                         pmt.cons(pmt.from_long(modcods[number]), pmt.PMT_T))
                        if number in modcods else
                        (at, pmt.mp("ldpc_code"), code(size, rate, name)))
            symbols.append(noisy(np.array(sink.data(), np.complex64), es_n0_db, number))
            at += len(symbols[-1])
            sent.append(np.packbits(bits))
        items, out = decode(np.concatenate(symbols), "symbols", tags, 0, acm=True,
                            standard="dvbs2x", frame_size="short", rate="26/45",
                            constellation="8psk")
        self.assertTrue(np.array_equal(items, np.concatenate(sent)))
        self.assertEqual([v for _, v in qa_support.tags_of(out, "ldpc_valid")], [True] * 5)
        self.assertEqual(qa_support.tags_of(out, "ldpc_skipped"), [])

    def test_DummyAndReservedModcods_AreSkipped(self):
        """The decoder skips dummy frames, frames of reserved MODCODs and a cut frame. The tag
        ldpc_skipped of the next frame has the number of skipped frames."""
        message, sent = transmit("qpsk", "short", "1/2", 4, 21)
        good = noisy(sent, 4, 21).reshape(4, 8100)
        noise = noisy(np.zeros(20000, np.complex64), 0, 22)
        tag = lambda modcod: pmt.cons(pmt.from_long(modcod), pmt.PMT_T)
        # MODCOD (None: no tag) and symbols. A dummy frame (0) has 36 slots of 90 symbols; frames of
        # reserved MODCODs have any length.
        parts = [(4, good[0]), (0, noise[:3240]), (None, good[1]), (29, noise[:5400]),
                 (30, noise[:7]), (31, noise[:8100]), (4, good[2]),
                 (4, good[0][:8099]), (0, noise[:3000]), (4, good[3]), (0, noise[:3240])]
        symbols = np.concatenate([part for _, part in parts])
        starts = np.cumsum([0] + [len(part) for _, part in parts])
        tags = [(int(at), pmt.mp("XFECFRAME"), tag(modcod))
                for at, (modcod, _) in zip(starts, parts) if modcod is not None]
        for kind, largest, output in (("symbols", 0, "message"), ("symbols16", 999, "message"),
                                      ("symbols8", 0, "bbframe")):
            with self.subTest(kind=kind):
                decoder = gpufec.gpu_ldpc_dvbs2(
                    soft_input=kind, frame_size="short", acm=True, output=output)
                items, out = qa_support.run(source_of(symbols, kind, tags), decoder, largest)
                each = 900 if output == "message" else 879
                self.assertEqual(len(items), 4 * each)
                self.assertTrue(np.array_equal(items.reshape(4, each),
                                               message.reshape(4, 900)[:, :each]))
                self.assertEqual([v for _, v in qa_support.tags_of(out, "ldpc_valid")],
                                 [True] * 4)
                self.assertEqual(qa_support.tags_of(out, "ldpc_skipped"),
                                 [(each, 1), (2 * each, 3), (3 * each, 2)])
                self.assertEqual(decoder.skipped_frame_count(), 7)
        # Without status tags there is no tag ldpc_skipped.
        _, out = decode(symbols, "symbols", tags, frame_size="short", acm=True,
                        status_tags="none")
        self.assertEqual(qa_support.tags_of(out, "ldpc_skipped"), [])
        # With LLR input, a reserved frame is skipped according to its frame size.
        llrs = np.full(3 * 16200, 9, np.int8)
        tags = [gr.python_to_tag((16200 * i, pmt.mp("XFECFRAME"), tag(modcod), None))
                for i, modcod in enumerate((4, 30, 4))]
        decoder = gpufec.gpu_ldpc_dvbs2(frame_size="short", acm=True)
        items, out = qa_support.run(
            blocks.vector_source_b(llrs.view(np.uint8).tolist(), False, 1, tags), decoder)
        self.assertEqual(len(items), 2 * 900)
        self.assertEqual(qa_support.tags_of(out, "ldpc_skipped"), [(900, 1)])
        self.assertEqual(decoder.skipped_frame_count(), 1)

    def test_WrongModcodTags_DisturbNoOtherFrame(self):
        """Frames whose tags name another MODCOD do not disturb the next tagged frame."""
        qpsk, sent = transmit("qpsk", "short", "1/2", 4, 31)
        good = noisy(sent, 4, 31).reshape(4, 8100)
        _, psk8 = transmit("8psk", "short", "3/5", 1, 32)
        _, apsk16 = transmit("16apsk", "short", "3/4", 1, 33)
        tag = lambda modcod: pmt.cons(pmt.from_long(modcod), pmt.PMT_T)
        parts = [(4, good[0]),
                 (4, psk8),    # 5400 symbols; the tag requires 8100
                 (4, good[1]),
                 (12, good[2]), # 8100 symbols; the tag requires 5400
                 (4, good[2]),
                 (18, apsk16), # the number that the tag requires, at another rate
                 (4, good[3])]
        starts = np.cumsum([0] + [len(part) for _, part in parts])
        tags = [(int(at), pmt.mp("XFECFRAME"), tag(m)) for at, (m, _) in zip(starts, parts)]
        decoder = gpufec.gpu_ldpc_dvbs2(soft_input="symbols", frame_size="short", acm=True,
                                        max_iterations=20)
        items, out = qa_support.run(
            source_of(np.concatenate([p for _, p in parts]), "symbols", tags), decoder)
        right = qpsk.reshape(4, 900)
        sizes = [900, 900, 1215, 900, 1350, 900] # bytes of messages at rates 1/2, 3/5 and 2/3
        ends = np.cumsum(sizes)
        self.assertEqual(len(items), ends[-1])
        found = np.split(items, ends[:-1])
        for at, message in zip((0, 1, 3, 5), right):
            self.assertTrue(np.array_equal(found[at], message))
        self.assertEqual(qa_support.tags_of(out, "ldpc_valid"),
                         list(zip((ends - sizes).tolist(),
                                  (True, True, False, True, False, True))))
        self.assertEqual(qa_support.tags_of(out, "ldpc_skipped"), [(900, 1), (3015, 1)])
        self.assertEqual(decoder.skipped_frame_count(), 2)

    def test_WrongEsN0_StillYieldsWholeFrames(self):
        """If the given Es/N0 is wrong by -10 or 10 dB, each frame still produces n bits, and
        ldpc_valid is true if, and only if, these bits are correct. With 12 dB less noise all frames
        are correct."""
        for constellation, rate, es_n0_db in (("qpsk", "1/2", 4), ("8psk", "2/3", 10),
                                              ("16apsk", "3/4", 14), ("32apsk", "3/4", 17)):
            message, sent = transmit(constellation, "short", rate, 3, 41)
            words = gpufec.ldpc_encode(message.reshape(3, -1), frame_size="short",
                                       rate=rate).ravel()
            each = len(words) // 3
            for margin, off in (0, -10), (0, 10), (12, -10), (12, 10):
                with self.subTest(constellation, margin=margin, off=off):
                    given = float(np.clip(es_n0_db + margin + off, -10, 30))
                    items, tags = decode(
                        noisy(sent, es_n0_db + margin, 42), frame_size="short", rate=rate,
                        constellation=constellation, esn0="given", esn0_db=given,
                        output="codeword")
                    self.assertEqual(len(items), len(words))
                    right = (items == words).reshape(3, each).all(axis=1)
                    self.assertEqual(qa_support.tags_of(tags, "ldpc_valid"),
                                     [(each * i, bool(r)) for i, r in enumerate(right)])
                    self.assertEqual(len(qa_support.tags_of(tags, "ldpc_iterations")), 3)
                    self.assertTrue(margin == 0 or right.all())

    def test_BatchesAndChunks_DoNotChangeFrames(self):
        """Frames of very different Es/N0 and amplitude decode to the same bits together as alone,
        and tags remain on their frames."""
        message, symbols = transmit("8psk", "short", "3/5", 8, 3)
        received = np.concatenate([noisy(f, 4.0 + i, i, 10.0 ** (i - 4)) for i, f in
                                   enumerate(symbols.reshape(8, 5400))])
        marks = [(5400 * i + 100, pmt.mp("a"), pmt.from_long(i)) for i in range(8)]
        code = dict(frame_size="short", rate="3/5", constellation="8psk", max_iterations=20)
        expected = [decode(f, **code) for f in received.reshape(8, 5400)]
        for more in (dict(batch=1), dict(batch=3), dict(batch=32)):
            for largest in (0, 999):
                items, tags = decode(received, "symbols", marks, largest, **code, **more)
                self.assertTrue(np.array_equal(items, np.concatenate([e[0] for e in expected])))
                self.assertEqual([v for _, v in qa_support.tags_of(tags, "ldpc_iterations")],
                                 [v for e in expected
                                  for _, v in qa_support.tags_of(e[1], "ldpc_iterations")])
                # Symbol 100 carries bit 10,900, a parity bit. A tag on this symbol goes to the last
                # message byte.
                self.assertEqual(qa_support.tags_of(tags, "a"),
                                 [(1215 * (i + 1) - 1, i) for i in range(8)])
        items, _ = decode(np.concatenate([received, received[:1000]]), **code)
        self.assertEqual(len(items), 8 * 1215)

    def test_EsN0Tag_AppliesFromNextFrame(self):
        """A wrong Es/N0 changes the number of iterations. A tag esn0_db corrects the Es/N0 from the
        next frame on."""
        message, symbols = transmit("qpsk", "short", "1/2", 6, 5)
        received = noisy(symbols, 2.2, 6)
        code = dict(frame_size="short", rate="1/2")
        tags = [(8100 * 3 + 5, pmt.mp("esn0_db"), pmt.from_double(2.25))]
        _, right = decode(received, esn0="given", esn0_db=2.25, **code)
        _, wrong = decode(received, esn0="given", esn0_db=12.0, **code)
        decoder = gpufec.gpu_ldpc_dvbs2(soft_input="symbols", max_iterations=50, esn0="tag",
                                        esn0_db=12.0, **code)
        self.assertEqual(decoder.esn0_db(), 12)
        _, mixed = qa_support.run(source_of(received, "symbols", tags), decoder)
        self.assertEqual(decoder.esn0_db(), 2.25)
        right, wrong, mixed = ([v for _, v in qa_support.tags_of(t, "ldpc_iterations")]
                               for t in (right, wrong, mixed))
        self.assertEqual(mixed, wrong[:4] + right[4:])
        self.assertNotEqual(right, wrong)

    def test_Symbols_YieldBbframes(self):
        """gpu_ldpc_dvbs2 decodes symbols to descrambled BBFRAMEs."""
        code = ("dvbs2", "normal", "3/4")
        bits = qa_support.random_bits(2 * 48408, 7)
        chain = (gpufec.bch_encoder(*code, packed_input=False, packed_output=False),
                 gpufec.ldpc_encoder(*code, packed_input=False, packed_output=False),
                 dtv.dvbs2_interleaver_bb(dtv.FECFRAME_NORMAL, dtv.C3_4, dtv.MOD_16APSK),
                 dtv.dvbs2_modulator_bc(dtv.FECFRAME_NORMAL, dtv.C3_4, dtv.MOD_16APSK,
                                        dtv.INTERPOLATION_OFF))
        sink = blocks.vector_sink_c()
        graph = gr.top_block()
        graph.connect(qa_support.vector_source(bits), *chain, sink)
        graph.run()
        received = noisy(np.array(sink.data(), np.complex64), 11, 8)
        items, tags = decode(received, rate="3/4", constellation="16apsk", output="bbframe")
        self.assertTrue(np.array_equal(items, np.packbits(bits)))
        self.assertEqual([v for _, v in qa_support.tags_of(tags, "bch_valid")], [True, True])

    def test_ReceiverOfS2_YieldsPackets(self):
        """dvbs2_fec_receiver decodes the symbols of gr-dtv's whole transmitter to packets."""
        packets = np.random.default_rng(11).integers(0, 256, (400, 188), np.uint8)
        packets[:, 0] = 0x47
        for acm, kind in (False, "symbols"), (True, "symbols16"):
            frame, rate, modulation = dtv.FECFRAME_SHORT, dtv.C3_5, dtv.MOD_8PSK
            sink = blocks.vector_sink_c()
            graph = gr.top_block()
            graph.connect(
                qa_support.vector_source(packets.ravel()),
                dtv.dvb_bbheader_bb(dtv.STANDARD_DVBS2, frame, rate, dtv.RO_0_35,
                                    dtv.INPUTMODE_NORMAL, dtv.INBAND_OFF, 168, 4000000),
                dtv.dvb_bbscrambler_bb(dtv.STANDARD_DVBS2, frame, rate),
                dtv.dvb_bch_bb(dtv.STANDARD_DVBS2, frame, rate),
                dtv.dvb_ldpc_bb(dtv.STANDARD_DVBS2, frame, rate, dtv.MOD_OTHER),
                dtv.dvbs2_interleaver_bb(frame, rate, modulation),
                dtv.dvbs2_modulator_bc(frame, rate, modulation, dtv.INTERPOLATION_OFF), sink)
            graph.run()
            symbols = noisy(np.array(sink.data(), np.complex64), 7, 12)
            frames = len(symbols) // 5400
            self.assertGreater(frames, 55)
            tags = [(0, pmt.mp("XFECFRAME"), pmt.cons(pmt.from_long(12), pmt.PMT_T))]
            code = dict(acm=True) if acm else dict(
                frame_size="short", rate="3/5", constellation="8psk")
            receiver = gpufec.dvbs2_fec_receiver(soft_input=kind, max_iterations=50, **code)
            items, _ = qa_support.run(source_of(symbols, kind, tags if acm else ()), receiver)
            found = items.reshape(-1, 188)
            self.assertGreater(len(found), 350)
            self.assertTrue(np.array_equal(found, packets[:len(found)]))
            self.assertEqual(receiver.frame_count(), frames)
            self.assertEqual(receiver.packet_count(), len(found))
            self.assertEqual(receiver.dropped_frame_count(), 0)
            self.assertEqual(receiver.packet_error_count(), 0)
            self.assertIn(receiver.active_backend(), ("cpu", "cuda"))
            self.assertGreater(receiver.mean_iterations(), 1)
            receiver.set_esn0_db(5)
            self.assertTrue(np.isnan(receiver.esn0_db())) # no Es/N0 is given
            receiver.set_max_latency_ms(10)
            self.assertEqual(receiver.max_latency_ms(), 10)
            with self.assertRaises(ValueError):
                receiver.set_esn0_db(40)
        for wrong, text in ((dict(soft_input="int8"), "soft_input"), (dict(isi=256), "isi"),
                            (dict(constellation="8psk"), "constellation")):
            with self.assertRaisesRegex(ValueError, text):
                gpufec.dvbs2_fec_receiver(**wrong)

    def test_ReceiverOfS2x_YieldsPackets(self):
        """dvbs2_fec_receiver receives packets of gr-dtv's whole transmitter, in each
        constellation."""
        modcods = [
            ("qpsk", "QPSK", "normal", "13/45"), ("8psk", "8PSK", "short", "26/45"),
            ("8apsk", "8APSK", "normal", "104/180"), ("16apsk", "8_8APSK", "normal", "96/180"),
            ("32apsk", "4_12_16APSK", "short", "32/45"),
            ("64apsk", "64APSK", "normal", "128/180"),
            ("128apsk", "128APSK", "normal", "135/180"),
            ("256apsk", "256APSK", "normal", "124/180"), ("16apsk", "16APSK", "short", "8/9")]
        if qa_support.SIMULATED: # a few suffice: simulated devices compute on the CPU
            modcods = modcods[1::4]
        for number, (constellation, modulation, size, rate) in enumerate(modcods):
            with self.subTest(constellation, size=size, rate=rate):
                _, k = lengths(("dvbs2x", size, rate))
                frame = dtv.FECFRAME_NORMAL if size == "normal" else dtv.FECFRAME_SHORT
                theirs = (dtv.STANDARD_DVBS2, frame, getattr(dtv, "C" + rate.replace("/", "_")))
                modulation = getattr(dtv, "MOD_" + modulation)
                packets = transport_packets(4 * k // 1504 + 2, number)
                sink = blocks.vector_sink_c()
                graph = gr.top_block()
                graph.connect(
                    qa_support.vector_source(packets.ravel()),
                    dtv.dvb_bbheader_bb(*theirs, dtv.RO_0_20, dtv.INPUTMODE_NORMAL,
                                        dtv.INBAND_OFF, 168, 4000000),
                    dtv.dvb_bbscrambler_bb(*theirs), dtv.dvb_bch_bb(*theirs),
                    dtv.dvb_ldpc_bb(*theirs, modulation),
                    dtv.dvbs2_interleaver_bb(*theirs[1:], modulation),
                    dtv.dvbs2_modulator_bc(*theirs[1:], modulation, dtv.INTERPOLATION_OFF),
                    sink)
                graph.run()
                symbols = np.array(sink.data(), np.complex64)
                per_symbol = PER_SYMBOL[constellation]
                frames, rest = divmod(len(symbols), 9270 if per_symbol == 7
                                      else BITS[size] // per_symbol)
                self.assertEqual(rest, 0)
                self.assertGreater(frames, 2)
                es_n0_db = 10 * np.log10(2 ** (per_symbol * k / BITS[size]) - 1) + 3
                receiver = gpufec.dvbs2_fec_receiver(
                    standard="dvbs2x", frame_size=size, rate=rate, constellation=constellation,
                    max_iterations=50)
                items, _ = qa_support.run(
                    source_of(noisy(symbols, es_n0_db, number, 0.7), "symbols"), receiver)
                self.assertEqual(len(items), (frames * (k - 80) - 8) // 1504 * 188)
                self.assertTrue(np.array_equal(items, packets.ravel()[:len(items)]))
                self.assertEqual((receiver.frame_count(), receiver.packet_count()),
                                 (frames, len(items) // 188))
                self.assertEqual((receiver.skipped_frame_count(),
                                  receiver.dropped_frame_count(),
                                  receiver.packet_error_count()), (0, 0, 0))

    def test_ReceiverWithCodeTags_YieldsContinuousPackets(self):
        """Packets continue across frames of S2X and S2. Only the frame with an unknown MODCOD is
        lost."""
        modcods = [("8psk", "short", "26/45", dtv.MOD_8PSK), # the receiver's own MODCOD
                   ("qpsk", "short", "1/2", dtv.MOD_QPSK),
                   ("64apsk", "normal", "7/9", dtv.MOD_8_16_20_20APSK),
                   ("32apsk", "short", "2/3", dtv.MOD_4_12_16APSK),
                   ("16apsk", "short", "2/3", dtv.MOD_16APSK),
                   ("8apsk", "normal", "100/180", dtv.MOD_8APSK)]
        of_s2 = {1: 4, 4: 18} # XFECFRAME tags of the frames of S2: {index: MODCOD}
        packets = transport_packets(150)
        units, cut = bits_of_units(packets), 0
        ends, symbols, tags = [0], [], []
        for number, (constellation, size, rate, modulation) in enumerate(modcods):
            code = ("dvbs2x", size, rate)
            _, k = lengths(code)
            frame, cut = frame_of(units, cut, k)
            ends.append(cut)
            of = (dtv.FECFRAME_NORMAL if size == "normal" else dtv.FECFRAME_SHORT,
                  getattr(dtv, "C" + rate.replace("/", "_")), modulation)
            sink, graph = blocks.vector_sink_c(), gr.top_block()
            graph.connect(qa_support.vector_source(frame ^ scrambling()[:len(frame)]),
                          gpufec.bch_encoder(*code),
                          gpufec.ldpc_encoder(*code, packed_output=False),
                          dtv.dvbs2_interleaver_bb(*of),
                          dtv.dvbs2_modulator_bc(*of, dtv.INTERPOLATION_OFF), sink)
            graph.run()
            named = {"frame_size": size, "rate": rate, "constellation": constellation}
            if number == 3:
                named["constellation"] = "256apsk"
            if number > 0:
                tags.append((sum(map(len, symbols)),) + (
                    (pmt.mp("XFECFRAME"), pmt.cons(pmt.from_long(of_s2[number]), pmt.PMT_T))
                    if number in of_s2 else (pmt.mp("ldpc_code"), pmt.to_pmt(named))))
            es_n0_db = 10 * np.log10(2 ** (PER_SYMBOL[constellation] * k / BITS[size]) - 1) + 3
            symbols.append(noisy(np.array(sink.data(), np.complex64), es_n0_db, number))
        receiver = gpufec.dvbs2_fec_receiver(
            standard="dvbs2x", acm=True, frame_size="short", rate="26/45", constellation="8psk",
            max_iterations=50)
        items, _ = qa_support.run(source_of(np.concatenate(symbols), "symbols", tags), receiver)
        whole = [p for p in range(150) if 1504 * (p + 1) + 8 <= ends[-1]
                 and not (1504 * p + 8 < ends[4] and 1504 * (p + 1) + 8 > ends[3])]
        self.assertTrue(np.array_equal(items.reshape(-1, 188), packets[whole]))
        self.assertEqual((receiver.frame_count(), receiver.skipped_frame_count(),
                          receiver.dropped_frame_count(), receiver.packet_error_count()),
                         (5, 1, 0, 0))

    def test_UnknownModcods_AreRefused(self):
        """Error messages name the wrong parameter, and the allowed values or the missing MODCOD."""
        s2x = dict(standard="dvbs2x")
        for wrong, text in (
                (dict(standard="dvbt2"), 'standard is "dvbt2": allowed values are dvbs2 and dvbs2x'),
                (dict(rate="90/180"), 'rate is "90/180": 1/2.\nallowed values with normal frames are 1/2'),
                (dict(s2x, rate="7/8"), 'rate is "7/8": allowed values with dvbs2x normal are'),
                (dict(s2x, rate="90/180", frame_size="short"), 'rate is "90/180": 1/2.\nallowed values with'),
                (dict(frame_size="medium"), 'frame_size is "medium": allowed values are normal and sh'),
                (dict(s2x, frame_size="medium", rate="1/5"), 'frame_size is "medium"'),
                (dict(frame_size="vl-snr normal", rate="2/9"), 'is "vl-snr normal": allo'),
                (dict(constellation="64apsk", rate="4/5"), 'constellation is "64apsk": no MODCOD'),
                (dict(constellation="16apsk", rate="3/5"),
                 "no MODCOD has this constellation at rate 3/5 in normal"),
                (dict(s2x, constellation="64apsk", rate="4/5", frame_size="short"),
                 "no MODCOD has this constellation at rate 4/5 in short"),
                (dict(s2x, constellation="8psk", rate="90/180"),
                 "no MODCOD has this constellation at rate 90/180"),
                (dict(s2x, constellation="512apsk"), 'constellation is "512apsk": .*\n.*see docs')):
            with self.assertRaisesRegex(ValueError, text):
                gpufec.dvbs2_fec_receiver(**wrong)
        for right in dict(constellation="64apsk", rate="4/5"), dict(constellation="16apsk",
                                                                   rate="3/5"):
            gpufec.dvbs2_fec_receiver(backend="cpu", **s2x, **right)

    def test_SymbolsOnDevice_DecodeAsOnCpu(self):
        """A device and the CPU decode to the same bits in the same number of iterations, whether
        the device reads the input in place or a copy."""
        _, symbols = transmit("16apsk", "short", "2/3", 12, 13)
        received = np.concatenate([noisy(f, 7 + 0.5 * i, i) for i, f in
                                   enumerate(symbols.reshape(12, 4050))])
        code = dict(frame_size="short", rate="2/3", constellation="16apsk", max_iterations=20)
        for kind in ("symbols", "symbols16", "symbols8"):
            expected = decode(received, kind, backend="cpu", **code)
            for largest in (0, 1000):
                items, tags = decode(received, kind, (), largest, **code)
                self.assertTrue(np.array_equal(items, expected[0]))
                for name in ("ldpc_iterations", "ldpc_valid", "ldpc_syndrome_weight"):
                    self.assertEqual(qa_support.tags_of(tags, name),
                                     qa_support.tags_of(expected[1], name))

    def test_BadSymbols_DisturbNoOtherFrame(self):
        """A frame of zeros, a frame with some NaN, and a frame of another constellation do not
        disturb the other frames."""
        message, symbols = transmit("qpsk", "short", "1/2", 5, 9)
        received = noisy(symbols, 4, 9)
        _, other = transmit("8psk", "short", "3/5", 2, 10)
        received[8100:8150] = np.nan
        received[16200:24300] = 0
        received[24300:32400] = other[:8100]
        items, tags = decode(received, frame_size="short", rate="1/2")
        self.assertEqual(len(items), 5 * 900)
        for good in (0, 1, 4):
            self.assertTrue(np.array_equal(items[900 * good:900 * (good + 1)],
                                           message[900 * good:900 * (good + 1)]))
        valid = qa_support.tags_of(tags, "ldpc_valid")
        self.assertEqual([v for _, v in valid], [True, True, True, False, True])

    def test_WrongParametersOfSymbols_AreRefused(self):
        for wrong, text in (
                (dict(standard="dvbt2"), "it is allowed only with standard dvbs2"),
                (dict(standard="dvbs2x", frame_size="medium", rate="1/5"), "in medium frames"),
                (dict(standard="dvbs2x", rate="13/45", constellation="8psk"), "at rate 13/45"),
                (dict(constellation="64apsk"), 'constellation is "64apsk"'),
                (dict(constellation="32apsk"), "no MODCOD has this constellation at rate 1/2"),
                (dict(constellation="16apsk", rate="3/5"),
                 "no MODCOD has this constellation at rate 3/5"),
                (dict(esn0="guessed"), 'esn0 is "guessed"'),
                (dict(esn0_db=31.0), "esn0_db is 31"),
                (dict(demapper="exact"), 'demapper is "exact"'),
                (dict(code_file="some.alist"), "it is allowed only with standard dvbs2")):
            with self.assertRaisesRegex(ValueError, text):
                gpufec.gpu_ldpc_dvbs2(soft_input="symbols", **wrong)
        with self.assertRaisesRegex(ValueError, 'soft_input is "symbols12"'):
            gpufec.gpu_ldpc_dvbs2(soft_input="symbols12")
        decoder = gpufec.gpu_ldpc_dvbs2(soft_input="symbols", constellation="8psk", rate="2/3",
                                        backend="cpu", esn0="given")
        decoder.set_esn0_db(7.5)
        self.assertEqual(decoder.esn0_db(), 7.5)
        with self.assertRaisesRegex(ValueError, "esn0_db is -11"):
            decoder.set_esn0_db(-11)
        with self.assertRaisesRegex(ValueError, "no MODCOD has this constellation at rate 1/2"):
            decoder.set_code("normal 1/2")
        decoder.set_code("normal 3/5")


if __name__ == "__main__":
    qa_support.main()
