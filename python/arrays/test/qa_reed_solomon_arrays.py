#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests Reed-Solomon codes on arrays: errors, erasures, shapes, threads and refused arguments."""

import unittest

import numpy as np

import gpufec

# name, n and k
CODES = [("ccsds-223", 255, 223), ("ccsds-239", 255, 239), ("ccsds-223-conventional", 255, 223),
         ("ccsds-239-conventional", 255, 239), ("dvb", 204, 188)]


def product(a, b, field):
    """Returns the product of `a` and `b` in GF(2^8) with the field polynomial `field`."""
    made = 0
    for bit in range(8):
        made ^= (b >> bit & 1) * (a << bit)
    for bit in range(15, 7, -1):
        made ^= (made >> bit & 1) * (field << (bit - 8))
    return made


class qa_reed_solomon_arrays(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(1)

    def messages(self, *shape):
        return self.random.integers(0, 256, shape).astype(np.uint8)

    def damaged(self, frames, interleaving, counts):
        """Returns frames with counts[f, i] wrong symbols in codeword i of frame f, and an array that
        is True where a symbol is wrong."""
        n = frames.shape[1] // interleaving
        wrong = np.zeros((len(frames), n, interleaving), bool)
        for f, i in np.ndindex(counts.shape):
            wrong[f, self.random.choice(n, counts[f, i], replace=False), i] = True
        wrong = wrong.reshape(frames.shape)
        noise = self.random.integers(1, 256, frames.shape).astype(np.uint8)
        return np.where(wrong, frames ^ noise, frames), wrong

    def test_Codewords_AreZeroAtRootsOfStandard(self):
        for name, field, first, step in (("ccsds-223-conventional", 0x187, 112, 11),
                                         ("dvb", 0x11d, 0, 1)):
            code = next(c for c in CODES if c[0] == name)
            # At a power of alpha that is not a root, all three codewords are 0 with a probability
            # of 2^-24.
            frames = gpufec.rs_encode(self.messages(3, code[2]), name)
            power = 1
            for exponent in range(255):
                root = first <= exponent * pow(step, -1, 255) % 255 < first + code[1] - code[2]
                values = [0] * 3
                for symbols in frames.T:
                    values = [product(value, power, field) ^ int(symbol)
                              for value, symbol in zip(values, symbols)]
                self.assertEqual(values == [0] * 3, root, (name, exponent))
                power = product(power, 2, field)

    def test_Errors_AreCorrectedAndCounted(self):
        for name, n, k in CODES:
            for interleaving, fill in (1, 0), (5, 0), (3, 100), (8, 7):
                with self.subTest(name, interleaving=interleaving, fill=fill):
                    parameters = dict(code=name, interleaving=interleaving, virtual_fill=fill)
                    t = (n - k) // 2
                    messages = self.messages(40, interleaving * (k - fill))
                    frames = gpufec.rs_encode(messages, **parameters)
                    self.assertEqual(frames.shape, (40, interleaving * (n - fill)))
                    counts = self.random.integers(0, t + 1, (40, interleaving))
                    received, _ = self.damaged(frames, interleaving, counts)
                    before = received.copy()
                    found, corrected = gpufec.rs_decode(received, **parameters)
                    np.testing.assert_array_equal(found, messages)
                    np.testing.assert_array_equal(corrected, counts)
                    self.assertEqual(corrected.dtype, np.int32)
                    np.testing.assert_array_equal(received, before)

    def test_TooManyErrors_YieldMinusOneAndReceivedSymbols(self):
        messages = self.messages(30, 5 * 223)
        frames = gpufec.rs_encode(messages, interleaving=5)
        counts = self.random.choice([3, 40], (30, 5))
        received, _ = self.damaged(frames, 5, counts)
        found, corrected = gpufec.rs_decode(received, interleaving=5)
        np.testing.assert_array_equal(corrected, np.where(counts == 3, 3, -1))
        found, messages = found.reshape(30, 223, 5), messages.reshape(30, 223, 5)
        received = received.reshape(30, 255, 5)[:, :223]
        kept = np.broadcast_to((counts == 3)[:, np.newaxis], found.shape)
        np.testing.assert_array_equal(found, np.where(kept, messages, received))

    def test_Erasures_DoubleTheNumberOfCorrectedSymbols(self):
        messages = self.messages(20, 4 * 223)
        frames = gpufec.rs_encode(messages, interleaving=4)
        received, wrong = self.damaged(frames, 4, np.full((20, 4), 32))
        for erasures in wrong, wrong.astype(np.uint8) * 7:
            found, corrected = gpufec.rs_decode(received, interleaving=4, erasures=erasures)
            np.testing.assert_array_equal(found, messages)
            self.assertTrue((corrected == 32).all())
        _, corrected = gpufec.rs_decode(received, interleaving=4)
        self.assertTrue((corrected == -1).all())

    def test_SeveralThreads_YieldSameResult(self):
        messages = self.messages(5000, 188)
        frames = gpufec.rs_encode(messages, "dvb")
        received, wrong = self.damaged(frames, 1, self.random.integers(0, 12, (5000, 1)))
        erasures = wrong & (self.random.integers(0, 2, wrong.shape) == 1)
        expected = gpufec.rs_decode(received, "dvb", erasures=erasures)
        self.assertTrue((expected[1] > 8).any())
        self.assertTrue((expected[1] < 0).any())
        for threads in 2, 3, 16:
            found = gpufec.rs_decode(received, "dvb", erasures=erasures, threads=threads)
            for one, other in zip(found, expected):
                np.testing.assert_array_equal(one, other)

    def test_OneDimension_HoldsConsecutiveFrames(self):
        messages = self.messages(6, 188)
        flat = gpufec.rs_encode(messages.reshape(-1), "dvb")
        np.testing.assert_array_equal(flat.reshape(6, 204), gpufec.rs_encode(messages, "dvb"))
        found, corrected = gpufec.rs_decode(flat, "dvb")
        np.testing.assert_array_equal(found, messages.reshape(-1))
        self.assertEqual(corrected.shape, (6, 1))
        found, corrected = gpufec.rs_decode(np.zeros((0, 204), np.uint8), "dvb")
        self.assertEqual((found.shape, corrected.shape), ((0, 188), (0, 1)))

    def test_WrongArguments_AreRefusedWithReason(self):
        frames = np.zeros((2, 255), np.uint8)
        for text, arguments in (
                ('code is "ccsds"', dict(code="ccsds")),
                ("interleaving is 0: allowed values are 1 to 16", dict(interleaving=0)),
                ("interleaving is -1: allowed values are 1 to 16", dict(interleaving=-1)),
                ("interleaving is 17: allowed values are 1 to 16", dict(interleaving=17)),
                ("virtual_fill is 223: allowed values are 0 to k - 1 = 222", dict(virtual_fill=223)),
                ("virtual_fill is -1: allowed values are 0 or more", dict(virtual_fill=-1)),
                ("threads is 0: allowed values are 1 to 256", dict(threads=0)),
                (r"frames is of shape \(2, 255\)", dict(virtual_fill=1)),
                ("erasures is of 1 frames", dict(erasures=np.zeros((1, 255), bool))),
                ("erasures is", dict(erasures=np.zeros((2, 255)))),
                ("frames is", dict(frames=np.zeros((2, 255), np.int8)))):
            with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                gpufec.rs_decode(**{"frames": frames, **arguments})
        with self.assertRaisesRegex(ValueError, "messages is of shape"):
            gpufec.rs_encode(np.zeros(188, np.uint8))
        with self.assertRaisesRegex(TypeError, "virtual_fill"):
            gpufec.rs_decode(frames, virtual_fil=3)


if __name__ == "__main__":
    unittest.main()
