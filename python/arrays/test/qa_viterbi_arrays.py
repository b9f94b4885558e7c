#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests Viterbi decoding of arrays, without GNU Radio."""

import unittest

import numpy as np

import gpufec
from sample_arrays import FakeDevice, noisy

TERMINATIONS = ("terminated", "truncated", "tailbiting")


class qa_viterbi_arrays(unittest.TestCase):

    def test_StreamsInEveryFormat_AreDecoded(self):
        bits = gpufec.random_bits((3, 40000))
        for soft_input, dtype in (("int8", np.int8), ("float", np.float32),
                                  ("packed4", np.uint8)):
            values = noisy(bits, 6.0, soft_input)
            self.assertEqual(values.dtype, dtype)
            asked = {"soft_input": soft_input} if dtype == np.uint8 else {}
            decoded, status = gpufec.viterbi_decode(values, packed_output=False, **asked)
            with self.subTest(soft_input):
                np.testing.assert_array_equal(decoded, bits)
                self.assertEqual(status.channel_error_rate.shape, (3,))
                one, status = gpufec.viterbi_decode(values[1], **asked)
                np.testing.assert_array_equal(one, np.packbits(bits[1]))
                self.assertTrue(0.0001 < status.channel_error_rate < 0.05)
                self.assertIn(status.backend, ("cpu", "cuda"))

    def test_StreamInChunks_DecodesAsInOneCall(self):
        bits = gpufec.random_bits(30011)
        random = np.random.default_rng(5)
        for preset in ("ccsds", "ccsds_2_3", "ccsds_3_4", "ccsds_5_6", "ccsds_7_8"):
            coded = gpufec.conv_encode(bits, preset=preset, packed_input=False,
                                       packed_output=False)
            for soft_input in ("int8", "float", "packed4"):
                values = gpufec.awgn(coded[:len(coded) // 2 * 2], 5.0, 0.7, 1, soft_input)
                for packed in (True, False):
                    code = dict(preset=preset, packed_output=packed, soft_input=soft_input,
                                batch=4)
                    expected, status = gpufec.viterbi_decode(values, **code)
                    decoder = gpufec.viterbi_decoder(**code)
                    for chunks in ((1001,), (1, 7, 0, 333, 20000), (len(values),)):
                        found, first = [], 0
                        while first < len(values):
                            n = chunks[random.integers(len(chunks))]
                            found.append(decoder.push(values[first:first + n])[0])
                            first += n
                        rest, ended = decoder.flush()
                        with self.subTest(preset=preset, soft_input=soft_input, packed=packed,
                                          chunks=chunks):
                            np.testing.assert_array_equal(np.concatenate(found + [rest]),
                                                          expected)
                            self.assertEqual(ended.channel_error_rate,
                                             status.channel_error_rate)
                    # After flush(), the decoder is in its initial state.
                    np.testing.assert_array_equal(decoder.decode(values)[0], expected)

    def test_PushedStream_YieldsBitsBeforeItsEnd(self):
        values = noisy(gpufec.random_bits(400000))
        decoder = gpufec.viterbi_decoder(packed_output=False, batch=2, slots=2)
        before = sum(len(decoder.push(values[i:i + 5000])[0])
                     for i in range(0, len(values), 5000))
        self.assertGreater(before, 300000)
        self.assertEqual(before + len(decoder.flush()[0]), 400000)

    def test_FlushWithoutStream_YieldsNoBits(self):
        for packed in (True, False):
            found, status = gpufec.viterbi_decoder(packed_output=packed).flush()
            self.assertEqual((found.shape, found.dtype), ((0,), np.uint8))
            self.assertTrue(np.isnan(status.channel_error_rate))

    def test_WrongPush_IsRefusedAndKeepsStream(self):
        values = noisy(gpufec.random_bits(3000))
        expected, _ = gpufec.viterbi_decode(values)
        decoder = gpufec.viterbi_decoder()
        found = [decoder.push(values[:1001])[0]]
        for wrong, words in ((values[:10].astype(np.float32), "of type float32: allowed values are "
                                                              "the type that the stream"),
                             (values[:10].reshape(2, 5), "of 2 dimensions"),
                             (values[:10:2], "not contiguous"),
                             (values[:10].astype(np.int16), "of type int16"),
                             (FakeDevice(values), "no CUDA device")):
            with self.assertRaisesRegex(ValueError, words):
                decoder.push(wrong)
        with self.assertRaisesRegex(RuntimeError, "flush"):
            decoder.decode(values)
        found += [decoder.push(values[1001:])[0], decoder.flush()[0]]
        np.testing.assert_array_equal(np.concatenate(found), expected)
        framed = gpufec.viterbi_decoder(termination="terminated", frame_bits=64)
        for call in (framed.flush, lambda: framed.push(values)):
            with self.assertRaisesRegex(ValueError, 'termination is "terminated"'):
                call()

    def test_FramesOfEveryTermination_AreDecoded(self):
        for termination in TERMINATIONS:
            for frame_bits in (120, 333):
                code = dict(termination=termination, frame_bits=frame_bits,
                            puncturing="101,110")
                bits = gpufec.random_bits((50, frame_bits), 2)
                values = noisy(bits, np.inf, **code)
                with self.subTest(termination, frame_bits=frame_bits):
                    decoded, _ = gpufec.viterbi_decode(values, packed_output=False, **code)
                    np.testing.assert_array_equal(decoded, bits)
                    packed, _ = gpufec.viterbi_decode(values, **code)
                    np.testing.assert_array_equal(packed, np.packbits(bits, axis=1))
                    flat, _ = gpufec.viterbi_decode(values.ravel(), **code)
                    np.testing.assert_array_equal(flat, packed.ravel())

    def test_ItemsPerFrame_IsLengthOfRow(self):
        for soft_input, items in (("", 1096), ("int8", 1096), ("float", 1096), ("packed4", 548)):
            code = dict(preset="80211_3_4", frame_bits=816)
            decoder = gpufec.viterbi_decoder(**code, soft_input=soft_input)
            self.assertEqual(decoder.items_per_frame, items)
            values = noisy(gpufec.random_bits((2, 816)), np.inf, soft_input or "int8", **code)
            self.assertEqual(values.shape, (2, items))
            self.assertEqual(decoder.decode(values)[0].shape, (2, 102))
            self.assertEqual(decoder.items_per_frame, items)
        odd = dict(preset="lte", frame_bits=41) # 123 values, 62 bytes in packed4
        self.assertEqual(gpufec.viterbi_decoder(**odd, soft_input="packed4").items_per_frame, 62)
        self.assertEqual(gpufec.viterbi_decoder(preset="ccsds").items_per_frame, 0)
        searching = gpufec.viterbi_decoder(preset="80211_1_2", frame_bits=18, lock="auto")
        self.assertEqual(searching.items_per_frame, 48)

    def test_RepeatedCalls_YieldBitsOfSingleCall(self):
        """An array decodes to the same bits alone, as a row of a larger array, and after other
        arrays."""
        code = dict(termination="tailbiting", frame_bits=64)
        bits = gpufec.random_bits((200, 64), 5)
        values = noisy(bits, 1.0, **code)
        floats = noisy(bits, 1.0, "float", **code)
        all_at_once, _ = gpufec.viterbi_decode(values, **code)
        decoder = gpufec.viterbi_decoder(**code, threads=2)
        for first, count in ((0, 1), (1, 3), (4, 0), (4, 150), (154, 46)):
            some, _ = decoder.decode(values[first:first + count])
            np.testing.assert_array_equal(some, all_at_once[first:first + count])
            decoder.decode(floats[first:first + count])

    def test_NegatedValuesAndPositiveBit_YieldSameBits(self):
        bits = gpufec.random_bits(3000)
        values = noisy(bits, 3.0)
        for given in (values, noisy(bits, 3.0, "float"), noisy(bits, 3.0, "packed4")):
            soft_input = "packed4" if given.dtype == np.uint8 else ""
            one, _ = gpufec.viterbi_decode(given, soft_input=soft_input)
            if given.dtype != np.uint8:
                other, _ = gpufec.viterbi_decode(-given, positive_bit=0)
                np.testing.assert_array_equal(other, one)
            self.assertLess(np.mean(np.unpackbits(one) != bits), 0.01)
        np.testing.assert_array_equal(gpufec.awgn(bits, 2.0, positive_bit=0),
                                      gpufec.awgn(1 - bits, 2.0))
        with self.assertRaisesRegex(ValueError, "positive_bit is 2"):
            gpufec.viterbi_decode(values, positive_bit=2)

    def test_EveryStreamingPreset_IsDecoded(self):
        bits = gpufec.random_bits(8192, 11)
        for preset in gpufec.conv_presets():
            if preset.termination != "streaming":
                continue
            coded = gpufec.conv_encode(np.packbits(bits), preset=preset.name,
                                       packed_output=False)
            values = gpufec.awgn(coded, np.inf)
            decoded, _ = gpufec.viterbi_decode(values, preset=preset.name)
            with self.subTest(preset.name):
                np.testing.assert_array_equal(decoded, np.packbits(bits))
        with self.assertRaisesRegex(ValueError, "preset.*polynomials"):
            gpufec.viterbi_decode(values, preset="ccsds", polynomials=[0o171, 0o133])


if __name__ == "__main__":
    unittest.main()
