#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Tests bch_encoder and bch_decoder in flowgraphs, and compares every code with gr-dtv's
encoder."""

import unittest

import numpy as np
import pmt
from gnuradio import dtv, gpufec
import qa_support
from qa_ldpc import CODES, S2X, T2, VL_SNR

DTV_FRAMES = {"normal": dtv.FECFRAME_NORMAL, "short": dtv.FECFRAME_SHORT,
              "medium": dtv.FECFRAME_MEDIUM}


def rate_of(name):
    return getattr(dtv, "C" + name.replace("/", "_"))


def every_code():
    """Yields (parameters in gr-gpufec, parameters in gr-dtv) for each code."""
    for size, rate, _, _ in CODES:
        yield ("dvbs2", size, rate), (dtv.STANDARD_DVBS2, DTV_FRAMES[size], rate_of(rate))
    for size, rates in S2X.items():
        for rate in rates:
            yield ("dvbs2x", size, rate), (dtv.STANDARD_DVBS2, DTV_FRAMES[size],
                                           rate_of(rate))
    for size, rate, frame, code in VL_SNR:
        yield ("dvbs2x", "vl-snr " + size, rate), (dtv.STANDARD_DVBS2, DTV_FRAMES[frame],
                                                   getattr(dtv, code))
    for size, rates in T2.items():
        for rate in rates:
            yield ("dvbt2", size, rate), (dtv.STANDARD_DVBT2, DTV_FRAMES[size],
                                          rate_of(rate))


def lengths(code):
    """Returns N_bch and K_bch of `code`, the numbers of bits of a codeword and of its message."""
    frame = gpufec.bch_encoder(*code, packed_input=False, packed_output=False)
    ratio = frame.relative_rate()
    n = frame.output_multiple()
    return n, round(n / ratio)


def encode(bits, code, packed_input=False, packed_output=False):
    items, _ = qa_support.run(qa_support.vector_source(bits),
                              gpufec.bch_encoder(*code, packed_input, packed_output))
    return items


def decode(items, code, tags=(), **parameters):
    return qa_support.run(qa_support.vector_source(items, tags),
                          gpufec.bch_decoder(*code, **parameters))


class qa_bch(unittest.TestCase):
    def test_CodewordsOfGrDtv_AreCorrectedForEveryCode(self):
        """gr-dtv's encoder and bch_encoder have the same output, and bch_decoder corrects 3 and 8
        errors per frame."""
        count = 0
        random = np.random.default_rng(1)
        for ours, theirs in every_code():
            with self.subTest(ours):
                count += 1
                n, k = lengths(ours)
                bits = qa_support.random_bits(3 * k, count)
                sent, _ = qa_support.run(qa_support.vector_source(bits),
                                         dtv.dvb_bch_bb(*theirs))
                self.assertEqual(len(sent), 3 * n)
                self.assertTrue(np.array_equal(encode(bits, ours), sent))
                received = sent.reshape(3, n).copy()
                received[1, random.choice(n, 3, replace=False)] ^= 1
                received[2, random.choice(n, 8, replace=False)] ^= 1
                items, tags = decode(np.packbits(received, axis=1).ravel(), ours)
                expected = np.packbits(bits.reshape(3, k), axis=1)
                self.assertTrue(np.array_equal(items, expected.ravel()))
                errors = qa_support.tags_of(tags, "bch_errors")
                self.assertEqual(errors, [(i * expected.shape[1], e)
                                          for i, e in enumerate((0, 3, 8))])
        self.assertEqual(count, 21 + 23 + 7 + 9 + 15)

    def test_PackedAndUnpackedItems_YieldSameBits(self):
        """Packed and unpacked input and output have the same bits, even for medium frames of S2X,
        whose K_bch is not a multiple of 8."""
        for code in ("dvbs2", "short", "8/9"), ("dvbs2x", "vl-snr medium", "1/5"):
            n, k = lengths(code)
            bits = qa_support.random_bits(4 * k, 2).reshape(4, k)
            coded = encode(bits.ravel(), code).reshape(4, n)
            packed = lambda frames: np.packbits(frames, axis=1).ravel()
            for packed_input in (False, True):
                for packed_output in (False, True):
                    with self.subTest(code, packed_input=packed_input,
                                      packed_output=packed_output):
                        form = {False: np.ravel, True: packed}
                        sent = encode(form[packed_input](bits), code, packed_input,
                                      packed_output)
                        self.assertTrue(np.array_equal(sent, form[packed_output](coded)))
                        items, _ = decode(form[packed_input](coded), code,
                                          packed_input=packed_input,
                                          packed_output=packed_output)
                        self.assertTrue(np.array_equal(items, form[packed_output](bits)))

    def test_UncorrectableFrame_IsOutputUnchanged(self):
        code = ("dvbs2", "normal", "9/10")
        n, k = lengths(code)
        bits = qa_support.random_bits(3 * k, 3)
        received = encode(bits, code).reshape(3, n)
        wrong = np.random.default_rng(4).choice(n, 30, replace=False)
        received[1, wrong] ^= 1
        received[2, :2] ^= 1
        for status, offsets in (("all", [0, 1, 2]), ("failures", [1]), ("none", [])):
            decoder = gpufec.bch_decoder(*code, status_tags=status)
            items, tags = qa_support.run(
                qa_support.vector_source(np.packbits(received)), decoder)
            expected = bits.reshape(3, k).copy()
            expected[1] = received[1, :k]
            self.assertTrue(np.array_equal(items, np.packbits(expected)))
            self.assertEqual(qa_support.tags_of(tags, "bch_errors"),
                             [(i * k // 8, (0, -1, 2)[i]) for i in offsets])
            self.assertEqual(qa_support.tags_of(tags, "bch_valid"),
                             [(i * k // 8, i != 1) for i in offsets])
            self.assertEqual(decoder.frame_count(), 3)
            self.assertEqual(decoder.error_count(), 1)
            self.assertEqual(decoder.corrected_bits(), 2)

    def test_InputInChunks_YieldsWholeFramesAndTags(self):
        code = ("dvbs2", "short", "1/4")
        n, k = lengths(code)
        bits = qa_support.random_bits(20 * k, 5)
        coded = np.packbits(encode(bits, code))
        tags = [(0, pmt.mp("a"), pmt.from_long(0)),
                (5 * n // 8 + 7, pmt.mp("a"), pmt.from_long(1)),
                (6 * n // 8 - 1, pmt.mp("a"), pmt.from_long(2))]
        source = qa_support.array_source(np.concatenate([coded, coded[:200]]), 700, 6, tags)
        items, out = qa_support.run(source, gpufec.bch_decoder(*code))
        self.assertTrue(np.array_equal(items, np.packbits(bits)))
        self.assertEqual(qa_support.tags_of(out, "a"),
                         [(0, 0), (5 * k // 8 + 7, 1), (6 * k // 8 - 1, 2)])
        self.assertEqual(len(qa_support.tags_of(out, "bch_valid")), 20)
        source = qa_support.array_source(np.packbits(bits), 700, 7,
                                         [(k // 8 + 3, pmt.mp("a"), pmt.from_long(3))])
        items, out = qa_support.run(source, gpufec.bch_encoder(*code, packed_output=False))
        self.assertTrue(np.array_equal(np.packbits(items), coded))
        self.assertEqual(qa_support.tags_of(out, "a"), [(n + 24, 3)])

    def test_ErrorsLeftByLdpc_AreCorrectedOrReported(self):
        """BCH corrects up to 8 errors per frame that an LDPC decoder with too few iterations
        leaves, and reports frames with more errors."""
        code = ("dvbs2", "normal", "8/9")
        n, k = lengths(code)
        bits = qa_support.random_bits(20 * k, 8)
        coded = encode(bits, code, packed_output=True)
        codeword, _ = qa_support.run(qa_support.vector_source(coded), gpufec.ldpc_encoder(
            *code, packed_output=False))
        random = np.random.default_rng(9)
        llr = 8 * (1 - 2.0 * codeword + 0.46 * random.standard_normal(len(codeword)))
        messages, _ = qa_support.run(
            qa_support.vector_source(np.clip(np.rint(llr), -127, 127).astype(np.int8)),
            gpufec.gpu_ldpc_dvbs2(*code, backend="cpu", max_iterations=4))
        items, tags = decode(messages, code)
        wrong = (np.unpackbits(messages) != np.unpackbits(coded)).reshape(20, n).sum(axis=1)
        corrected = [errors for _, errors in qa_support.tags_of(tags, "bch_errors")]
        self.assertEqual(corrected, [w if w <= 8 else -1 for w in wrong])
        self.assertTrue(any(1 <= w <= 8 for w in wrong))
        self.assertTrue(any(w > 8 for w in wrong))
        frames = items.reshape(20, k // 8) == np.packbits(bits).reshape(20, k // 8)
        self.assertEqual(frames.all(axis=1).tolist(), [c >= 0 for c in corrected])

    def test_WrongParameters_AreRefused(self):
        for block in gpufec.bch_encoder, gpufec.bch_decoder:
            with self.assertRaisesRegex(ValueError, 'rate is "7/8": allowed values with dvbs2'):
                block(rate="7/8")
            with self.assertRaisesRegex(ValueError, 'frame_size is "medium"'):
                block(frame_size="medium")
            with self.assertRaisesRegex(ValueError, 'standard is "wifi"'):
                block("wifi")
        with self.assertRaisesRegex(ValueError, 'status_tags is "some"'):
            gpufec.bch_decoder(status_tags="some")


if __name__ == "__main__":
    qa_support.main()
