#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Tests to which output items gpu_viterbi_pbvd moves tags, how the block converts lengths, and
which tags the block adds."""

import math
import unittest

import numpy as np
import pmt
from gnuradio import gpufec

import qa_support as support

MARK = pmt.intern("mark")
LENGTH = pmt.intern("packet_len")
SMALL = dict(decode_length=32, batch=4)


def marks(items):
    """Returns a tag for each of `items` items, with the index of the item as value."""
    return [(i, MARK, pmt.from_long(i)) for i in range(items)]


def stage_of_values(count, polynomials, puncturing):
    """Returns for each of the first `count` values the stage that sends it."""
    sent = support.sent_pattern(polynomials, puncturing).sum(axis=1)
    return np.repeat(np.arange(count), np.tile(sent, count)[:count])[:count]


class qa_viterbi_tags(unittest.TestCase):
    def check_marks(self, items, expected, **parameters):
        for limit in (0, 3):
            with self.subTest(limit=limit, **parameters):
                output, tags = support.decode(items, limit, marks(len(items)),
                                              **parameters)
                found = support.tags_of(tags, "mark")
                self.assertEqual(sorted(value for _, value in found),
                                 list(range(len(expected))))
                for offset, item in found:
                    self.assertEqual(offset, expected[item], f"item {item}")
                self.assertLess(max(offset for offset, _ in found), len(output))

    def test_TagsOfStreams_MoveToTheirStage(self):
        count = 399
        for preset in gpufec.conv_presets():
            code = support.code_of(preset)
            stage = stage_of_values(count, code["polynomials"], code["puncturing"])
            items = support.soft_values(support.random_bits(count, 1))
            self.check_marks(items, stage, packed_output=False, **code, **SMALL)
            self.check_marks(items, stage // 8, packed_output=True, **code, **SMALL)

    def test_TagsOfFrames_MoveToTheirStage(self):
        frame_bits = 45
        for preset in gpufec.conv_presets():
            code = support.code_of(preset)
            for termination in ("terminated", "truncated", "tailbiting"):
                coded = support.encode_frames(support.random_bits(frame_bits * 4, 2),
                                              frame_bits, termination=termination, **code)
                stage = stage_of_values(coded.shape[1], code["polynomials"],
                                        code["puncturing"])
                bit = np.minimum(stage, frame_bits - 1)
                frames = np.arange(4)[:, None]
                for packed, expected in ((True, frames * 6 + bit // 8),
                                         (False, frames * frame_bits + bit)):
                    self.check_marks(support.soft_values(coded), expected.ravel(),
                                     packed_output=packed, frame_bits=frame_bits,
                                     termination=termination, batch=2, **code)

    def test_TagsOfPacked4_MoveToTheirStage(self):
        for puncturing in ("", "101,110", support.CCSDS_7_8):
            values = 402
            stage = stage_of_values(values, [1, 1], puncturing)[::2]
            items = support.soft_values(support.random_bits(values, 3), "packed4")
            parameters = dict(soft_input="packed4", puncturing=puncturing, **SMALL)
            self.check_marks(items, stage, packed_output=False, **parameters)
            self.check_marks(items, stage // 8, packed_output=True, **parameters)

    def test_TagsOfIncompleteFrame_AreDropped(self):
        items = np.ones(2 * 52 + 30, np.int8) # two frames of 20 + 6 bits, and part of a third
        output, tags = support.decode(items, tags=marks(len(items)), frame_bits=20,
                                      termination="terminated")
        found = support.tags_of(tags, "mark")
        self.assertEqual([value for _, value in found], list(range(2 * 52)))
        self.assertEqual(found[-1][0], len(output) - 1)

    def test_MovedTag_KeepsKeyValueAndSource(self):
        value = pmt.to_pmt({"rssi": -3.5})
        _, tags = support.decode(np.ones(800, np.int8), tags=[(333, MARK, value)])
        tag, = [t for t in tags if pmt.eqv(t.key, MARK)]
        self.assertEqual(tag.offset, 333 // 2 // 8)
        self.assertTrue(pmt.equal(tag.value, value))

    def lengths(self, tags, items=4000, **parameters):
        tags = [(offset, LENGTH, pmt.to_pmt(n)) for offset, n in tags]
        output, found = support.decode(np.ones(items, np.int8), tags=tags, **parameters)
        return support.tags_of(found, "packet_len"), len(output)

    def test_LengthTags_BecomeOutputLengths(self):
        packets = [(0, 1600), (1600, 160), (1760, 2240)]
        found, total = self.lengths(packets)
        self.assertEqual(found, [(0, 100), (100, 10), (110, 140)])
        self.assertEqual(sum(n for _, n in found), total)
        found, total = self.lengths(packets, packed_output=False)
        self.assertEqual(found, [(0, 800), (800, 80), (880, 1120)])
        found, total = self.lengths([(0, 3996)], items=3996, puncturing="101,110")
        self.assertEqual(found, [(0, 2997 // 8)])

    def test_LengthTagsOfFrames_BecomeOutputLengths(self):
        items = 52 # two values for each of the 20 bits and 6 tail bits
        found, total = self.lengths([(items * f, items) for f in range(10)], 520,
                                    termination="terminated", frame_bits=20)
        self.assertEqual(found, [(3 * f, 3) for f in range(10)])
        self.assertEqual(total, 30)

    def test_LengthsOfAdjacentPackets_AddUp(self):
        packets = [(n, 100) for n in range(0, 4000, 100)]
        found, total = self.lengths(packets)
        self.assertEqual(sum(n for _, n in found), total)
        for (offset, length), (following, _) in zip(found, found[1:]):
            self.assertEqual(offset + length, following)

    def test_ImpossibleLengths_AreDropped(self):
        found, _ = self.lengths([(0, 0), (100, -5), (200, "ten"), (300, 1.5), (400, 2**40),
                                 (500, None), (600, 160)])
        self.assertEqual(found, [(600 // 16, (600 + 160) // 16 - 600 // 16)])

    def test_LengthTagKey_SelectsConvertedTags(self):
        tags = [(160, LENGTH, pmt.from_long(160)), (320, MARK, pmt.from_long(160))]
        for key, length, mark in (("", 160, 160), ("mark", 160, 10), ("packet_len", 10, 160)):
            _, found = support.decode(np.ones(800, np.int8), tags=tags, length_tag_key=key)
            self.assertEqual(support.tags_of(found, "packet_len"), [(10, length)])
            self.assertEqual(support.tags_of(found, "mark"), [(20, mark)])

    def test_Statistics_HaveFixedOffsetsForAnyBatch(self):
        count = 1100000
        bits = support.random_bits(count, 4)
        sigma = 0.6
        items = support.soft_values(support.encode(bits), sigma=sigma, seed=4)
        wrong = 0.5 * math.erfc(1 / sigma / math.sqrt(2))
        for packed, unit in ((True, 8), (False, 1)):
            found = []
            for batch in 7, 32, 1000:
                _, tags = support.decode(items, packed_output=packed, decode_length=2048,
                                         batch=batch)
                ber = support.tags_of(tags, "viterbi_ber")
                metric = support.tags_of(tags, "viterbi_metric")
                places = list(range(0, count // unit, 2**20 // unit))
                self.assertEqual([offset for offset, _ in ber], places)
                self.assertEqual([offset for offset, _ in metric], places)
                for _, rate in ber:
                    self.assertAlmostEqual(rate, wrong, delta=0.25 * wrong)
                self.assertTrue(all(isinstance(v, float) and v > 0 for _, v in metric))
                found.append((ber, metric))
            self.assertEqual(found[0], found[1])
            self.assertEqual(found[0], found[2])

    def test_StatisticsOfFrames_HaveFixedOffsets(self):
        frame_bits, frames = 2**17 + 3, 12
        bits = support.random_bits(frame_bits * frames, 5)
        coded = support.encode_frames(bits, frame_bits, termination="tailbiting")
        for batch in 1, 5:
            _, tags = support.decode(support.soft_values(coded), frame_bits=frame_bits,
                                     termination="tailbiting", batch=batch)
            self.assertEqual(support.tags_of(tags, "viterbi_ber"),
                             [(f * (2**14 + 1), 0.0) for f in range(0, frames, 7)])


if __name__ == "__main__":
    support.main()
