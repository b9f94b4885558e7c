#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Tests the number and the values of the bits that gpu_viterbi_pbvd outputs for frames of every
termination."""

import unittest

import numpy as np
from gnuradio import gpufec

import qa_support as support

TERMINATIONS = ("terminated", "truncated", "tailbiting")
PUNCTURED = "101,110"


def expect(bits, frame_bits, packed):
    return support.pack_frames(bits, frame_bits) if packed else bits


class qa_viterbi_frames(unittest.TestCase):
    def check(self, bits, frame_bits, soft_input="int8", cut=0, termination="terminated",
              constraint_length=7, polynomials=(0o171, 0o133), puncturing="", **parameters):
        """Expects that noiseless frames, without their last `cut` items, decode to the sent bits. A
        cut last frame produces no output."""
        code = dict(constraint_length=constraint_length, polynomials=list(polynomials),
                    puncturing=puncturing, termination=termination)
        coded = support.encode_frames(bits, frame_bits, **code)
        items = support.soft_values(coded, soft_input)
        frames = len(bits) // frame_bits - (1 if cut else 0)
        items = items[:len(items) - cut]
        for packed in (True, False):
            with self.subTest(frame_bits=frame_bits, packed=packed, **code):
                output, _ = support.decode(items, packed_output=packed,
                                           frame_bits=frame_bits, soft_input=soft_input,
                                           **code, **parameters)
                expected = expect(bits[:frames * frame_bits], frame_bits, packed)
                np.testing.assert_array_equal(output, expected)

    def test_FramesOfEveryTermination_AreDecoded(self):
        for termination in TERMINATIONS:
            for frame_bits in (40, 100, 120, 777, 2000):
                self.check(support.random_bits(frame_bits * 5, frame_bits), frame_bits,
                           termination=termination)

    def test_FrameCount_CountsDecodedFrames(self):
        coded = support.encode_frames(support.random_bits(7 * 61, 1), 61,
                                      termination="terminated")
        for packed in (True, False):
            decoder = gpufec.gpu_viterbi_pbvd(backend="cpu", termination="terminated",
                                              frame_bits=61, packed_output=packed)
            for cut, frames in ((0, 7), (1, 6)):
                items = support.soft_values(coded).ravel()[:coded.size - cut]
                support.run(support.vector_source(items), decoder)
                self.assertEqual(decoder.frame_count(), frames)

    def test_AnyNumberOfFrames_IsDecoded(self):
        for termination in TERMINATIONS:
            for frames in (1, 2, 3, 4, 5, 7, 8, 9, 11, 12):
                self.check(support.random_bits(61 * frames, frames), 61, batch=4,
                           termination=termination)

    def test_FramesOfEveryPreset_AreDecoded(self):
        for preset in gpufec.conv_presets():
            code = support.code_of(preset)
            for termination in TERMINATIONS:
                self.check(support.random_bits(333 * 3, 1), 333, termination=termination,
                           **code)

    def test_FramesInEveryFormat_AreDecoded(self):
        for soft_input in ("float", "packed4", "uint8"):
            for termination in TERMINATIONS:
                for puncturing in ("", PUNCTURED):
                    # 121 bits fill neither whole bytes nor whole puncturing periods.
                    self.check(support.random_bits(121 * 7, 2), 121, soft_input,
                               termination=termination, puncturing=puncturing, batch=2)

    def test_IncompleteLastFrame_IsDropped(self):
        for soft_input in ("int8", "packed4"):
            for cut in (1, 100):
                self.check(support.random_bits(200 * 4, 3), 200, soft_input, cut,
                           termination="terminated", batch=2)

    def test_LessThanAFrame_YieldsNoOutput(self):
        for termination in TERMINATIONS:
            for length in (0, 1, 127):
                output, _ = support.decode(np.ones(length, np.int8), frame_bits=64,
                                           termination=termination)
                self.assertEqual(len(output), 0)

    def test_FrameLargerThanBuffers_IsDecoded(self):
        frame_bits = 100003
        self.check(support.random_bits(2 * frame_bits, 4), frame_bits)

    def test_ChunksAndBatches_YieldSameOutput(self):
        frame_bits = 250
        bits = support.random_bits(frame_bits * 20, 5)
        for termination in TERMINATIONS:
            code = dict(puncturing=PUNCTURED, termination=termination)
            coded = support.encode_frames(bits, frame_bits, **code)
            items = support.soft_values(coded, sigma=0.7, seed=5)
            shape = dict(frame_bits=frame_bits, **code)
            expected, _ = support.decode(items, **shape)
            self.assertTrue((expected != support.pack_frames(bits, frame_bits)).any())
            for extra in (dict(batch=1), dict(batch=3, slots=1), dict(threads=2),
                          dict(batch=1000)):
                for limit in (0, 1, 33):
                    with self.subTest(termination, limit=limit, **extra):
                        output, _ = support.decode(items, limit, **shape, **extra)
                        np.testing.assert_array_equal(output, expected)
            decoder = gpufec.gpu_viterbi_pbvd(backend="cpu", batch=3, max_latency_ms=0,
                                              **shape)
            output, _ = support.run(support.array_source(items.view(np.int8), 99, 1),
                                    decoder)
            np.testing.assert_array_equal(output, expected)


if __name__ == "__main__":
    support.main()
