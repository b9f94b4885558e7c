#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Tests Wi-Fi PPDUs in flowgraphs, against codewords distributed by the formulas of
IEEE 802.11-2020, 19.3.11.7.5."""

import fractions
import math
import unittest

import numpy as np
import pmt
from gnuradio import blocks, gpufec, gr
import qa_support as support

DECODER = dict(backend="cuda") if support.SIMULATED else dict(backend="cpu")
# PSDU length in bytes, coded bits per symbol, rate and STBC of PPDUs: one codeword of each length,
# several codewords, and a format in which every sent bit occurs once.
FORMATS = [(100, 104, "1/2", False), (1500, 104, "1/2", False), (1, 600, "5/6", False),
           (1, 52, "1/2", False), (200, 312, "2/3", True), (9, 60, "1/2", False),
           (4095, 312, "3/4", False), (700, 260, "5/6", False)]


def encoded(payload, symbol_bits, rate, stbc):
    """Encodes `payload` by the steps of the standard, without wifi_ppdu. Returns the coded bits,
    and the numbers of shortened, punctured and repeated bits and of codewords."""
    r = fractions.Fraction(rate)
    step = symbol_bits * (2 if stbc else 1)
    n_pld = len(payload)
    n_av = step * math.ceil(n_pld / (step * r))
    if n_av <= 648:
        count, length = 1, 1296 if n_av >= n_pld + 912 * (1 - r) else 648
    elif n_av <= 1296:
        count, length = 1, 1944 if n_av >= n_pld + 1464 * (1 - r) else 1296
    elif n_av <= 1944:
        count, length = 1, 1944
    elif n_av <= 2592:
        count, length = 2, 1944 if n_av >= n_pld + 2916 * (1 - r) else 1296
    else:
        count, length = math.ceil(n_pld / (1944 * r)), 1944
    parity = count * length * (1 - r)
    short = max(0, int(count * length * r) - n_pld)
    punctured = max(0, count * length - n_av - short)
    if ((punctured > parity / 10 and short < fractions.Fraction(6, 5) * punctured * r / (1 - r))
            or punctured > 3 * parity / 10):
        n_av += step
        punctured = max(0, count * length - n_av - short)
    repeated = max(0, n_av - int(parity) - n_pld)
    k, taken, coded = int(length * r), 0, []
    for c in range(count):
        own = [total // count + (c < total % count) for total in (short, punctured, repeated)]
        part = payload[taken:taken + k - own[0]]
        taken += len(part)
        word = gpufec.ldpc_encode(np.concatenate([part, np.zeros(own[0], np.uint8)]),
                                  "wifi", str(length), rate, packed_input=False,
                                  packed_output=False)
        sent = np.concatenate([part, word[k:length - own[1]]])
        coded.append(np.resize(sent, len(sent) + own[2]))
    return np.concatenate(coded), (short, punctured, repeated, count)


def parameters_of(form):
    psdu_bytes, symbol_bits, rate, stbc = form
    return dict(standard="wifi", rate=rate, psdu_bytes=psdu_bytes, symbol_bits=symbol_bits,
                stbc=stbc)


def payloads_of(form, count=3, seed=2):
    return support.random_bits(count * (8 * form[0] + 16), seed).reshape(count, -1)


def run(block, items, tags=()):
    source = (blocks.vector_source_f if items.dtype == np.float32 else blocks.vector_source_b)(
        (items if items.dtype == np.float32 else items.view(np.uint8)).tolist(),
        tags=[gr.python_to_tag((at, pmt.intern(key), pmt.from_long(value), pmt.PMT_F))
              for at, key, value in tags])
    sink = blocks.vector_sink_b()
    graph = gr.top_block()
    graph.connect(source, block, sink)
    graph.run()
    return np.array(sink.data(), np.uint8), sink.tags()


class qa_wifi(unittest.TestCase):
    def each_format(self):
        for form in FORMATS:
            with self.subTest(form):
                yield form

    def test_Encoder_DistributesBitsAsInStandard(self):
        found = []
        for form in self.each_format():
            payloads = payloads_of(form)
            expected = [encoded(p, *form[1:]) for p in payloads]
            found.append(expected[0][1])
            coded = np.concatenate([e[0] for e in expected])
            out, _ = run(gpufec.ldpc_encoder(**parameters_of(form), packed_input=False,
                                             packed_output=False), payloads.ravel())
            np.testing.assert_array_equal(out, coded)
            out, _ = run(gpufec.ldpc_encoder(**parameters_of(form)), np.packbits(payloads))
            np.testing.assert_array_equal(
                out, np.packbits(coded.reshape(len(payloads), -1), axis=1).ravel())
        short, punctured, repeated, count = np.array(found).T
        self.assertTrue(any(short > 0) and any(punctured > 0) and any(repeated > 0))
        self.assertTrue(any(count == 1) and any(count == 2) and any(count > 10))

    def test_EncoderNoiseDecoder_RestoresPayloads(self):
        for form in self.each_format():
            payloads = payloads_of(form, 5)
            coded = np.concatenate([encoded(p, *form[1:])[0] for p in payloads])
            noise = np.random.default_rng(3).normal(0, 0.4, len(coded))
            llr = (2 * (1 - 2.0 * coded + noise) / 0.4**2).astype(np.float32)
            for soft_input, packed in ("float", True), ("int8", False), ("float", False):
                values = llr if soft_input == "float" else np.rint(
                    np.clip(2 * llr, -127, 127)).astype(np.int8)
                decoder = gpufec.gpu_ldpc_dvbs2(**parameters_of(form), soft_input=soft_input,
                                                packed_output=packed, batch=3, **DECODER)
                out, tags = run(decoder, values)
                np.testing.assert_array_equal(
                    out, np.packbits(payloads) if packed else payloads.ravel())
                valid = support.tags_of(tags, "ldpc_valid")
                size = len(out) // 5
                self.assertEqual(valid, [(f * size, True) for f in range(5)])
                self.assertEqual(decoder.frame_count(), 5)
                self.assertEqual(decoder.error_count(), 0)

    def test_Tags_MoveToTheirPayloadBit(self):
        form = 1500, 104, "1/2", False
        payloads = payloads_of(form, 4)
        n = 24128
        starts = [(f * len(payloads[0]), "packet_len", len(payloads[0])) for f in range(4)]
        coded, tags = run(gpufec.ldpc_encoder(**parameters_of(form), packed_input=False,
                                              packed_output=False), payloads.ravel(),
                          starts + [(12016 + 924 + 5, "inside", 1)])
        self.assertEqual(support.tags_of(tags, "packet_len"), [(f * n, n) for f in range(4)])
        # The first of 620 shortened and 524 punctured bits of 13 codewords: 48 and 41.
        at = n + 1944 - 48 - 41 + 5
        self.assertEqual(support.tags_of(tags, "inside"), [(at, 1)])
        _, tags = run(gpufec.gpu_ldpc_dvbs2(**parameters_of(form), packed_output=False,
                                            **DECODER),
                      10 * (1 - 2 * coded.astype(np.int8)),
                      [(f * n, "packet_len", n) for f in range(4)] + [(at, "inside", 1)])
        self.assertEqual(support.tags_of(tags, "packet_len"),
                         [(f * 12016, 12016) for f in range(4)])
        self.assertEqual(support.tags_of(tags, "inside"), [(12016 + 924 + 5, 1)])

    def test_TruncatedPpdu_LosesNoOther(self):
        form = 1500, 104, "1/2", False
        payloads = payloads_of(form, 3)
        coded = [encoded(p, *form[1:])[0] for p in payloads]
        coded[1] = coded[1][:20000]
        starts = np.cumsum([0] + [len(c) for c in coded[:-1]])
        decoder = gpufec.gpu_ldpc_dvbs2(**parameters_of(form), **DECODER, batch=2)
        out, _ = run(decoder, 10 * (1 - 2 * np.concatenate(coded).astype(np.int8)),
                     [(int(at), "packet_len", 24128) for at in starts])
        np.testing.assert_array_equal(out, np.packbits(payloads[[0, 2]]))
        self.assertEqual(decoder.skipped_frame_count(), 1)

    def test_NoiseAsInput_YieldsInvalidPpdus(self):
        form = 200, 312, "2/3", True
        decoder = gpufec.gpu_ldpc_dvbs2(**parameters_of(form), soft_input="float", **DECODER)
        noise = np.random.default_rng(5).normal(0, 2, 2 * 2496).astype(np.float32)
        out, tags = run(decoder, noise)
        self.assertEqual(len(out), 2 * 202)
        self.assertEqual([value for _, value in support.tags_of(tags, "ldpc_valid")],
                         [False, False])
        self.assertEqual(decoder.error_count(), 2)

    def test_ImpossibleFormats_AreRefusedWithReason(self):
        good = parameters_of((100, 104, "1/2", False))
        for block in gpufec.ldpc_encoder, gpufec.gpu_ldpc_dvbs2:
            for wrong, words in (
                    (dict(psdu_bytes=-1), "psdu_bytes"), (dict(psdu_bytes=65536), "65535"),
                    (dict(symbol_bits=0), "symbol_bits"), (dict(symbol_bits=-5), "symbol_bits"),
                    (dict(symbol_bits=70000), "65535"), (dict(rate="7/8"), "rate"),
                    (dict(standard="dvbs2"), "standard wifi"),
                    (dict(punctured=[0]), "punctured"), (dict(psdu_bytes=0), "psdu_bytes")):
                with self.subTest((block.__name__, wrong)):
                    with self.assertRaisesRegex(ValueError, words):
                        block(**{**good, **wrong})
        for wrong in (dict(output="codeword"), dict(output="llr"), dict(output="bbframe"),
                      dict(acm=True), dict(llr_pdu=True), dict(soft_input="symbols")):
            with self.subTest(wrong), self.assertRaisesRegex(ValueError, "psdu_bytes"):
                gpufec.gpu_ldpc_dvbs2(**good, **wrong)
        with self.assertRaisesRegex(ValueError, "wifi ppdu"):
            gpufec.gpu_ldpc_dvbs2(**good).set_code("648 1/2")


if __name__ == "__main__":
    unittest.main()
