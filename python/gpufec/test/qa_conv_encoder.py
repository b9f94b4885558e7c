#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Tests conv_encoder, and compares its output with the definition of convolutional codes and with
gr-fec's encoder."""

import unittest

import numpy as np
import pmt
from gnuradio import fec, gpufec

import qa_support as support


class qa_conv_encoder(unittest.TestCase):
    def encode(self, bits, packed, max_noutput_items=0, tags=(), packed_output=False,
               **parameters):
        items = np.packbits(bits) if packed else bits
        block = gpufec.conv_encoder(packed_input=packed, packed_output=packed_output,
                                    **parameters)
        return support.run(support.vector_source(items, tags), block, max_noutput_items)

    def test_StreamsOfEveryPreset_EqualDefinition(self):
        bits = support.random_bits(8 * 701, 1)
        for preset in gpufec.conv_presets():
            code = support.code_of(preset)
            expected = support.encode(bits, **code)
            for packed in (True, False):
                with self.subTest(preset.name, packed=packed):
                    coded, _ = self.encode(bits, packed, **code)
                    np.testing.assert_array_equal(coded, expected)

    def test_FramesOfEveryTermination_EqualDefinition(self):
        for termination in ("terminated", "truncated", "tailbiting"):
            for frame_bits in (13, 64, 1001):
                bits = support.random_bits(5 * frame_bits, frame_bits)
                code = dict(puncturing=support.CCSDS_7_8, termination=termination)
                expected = support.encode_frames(bits, frame_bits, **code).ravel()
                for packed in (True, False):
                    with self.subTest(termination, frame_bits=frame_bits, packed=packed):
                        items = support.pack_frames(bits, frame_bits) if packed else bits
                        block = gpufec.conv_encoder(packed_input=packed,
                                                    packed_output=False,
                                                    frame_bits=frame_bits, **code)
                        coded, _ = support.run(support.vector_source(items), block)
                        np.testing.assert_array_equal(coded, expected)

    def test_PackedStreams_EndWithZeroPadding(self):
        """The last byte is padded with zeros, even if each call outputs only a few items."""
        for puncturing in ("", "101,110", support.CCSDS_7_8):
            for count in (8, 13, 704, 100003):
                bits = support.random_bits(count, count)
                expected = np.packbits(support.encode(bits, puncturing=puncturing))
                for items in (0, 1) if count < 1000 else (0, 512):
                    with self.subTest(puncturing, count=count, items=items):
                        coded, _ = self.encode(bits, False, items, packed_output=True,
                                               puncturing=puncturing)
                        np.testing.assert_array_equal(coded, expected)

    def test_PackedFrames_EachBeginANewByte(self):
        for termination in ("terminated", "truncated", "tailbiting"):
            for frame_bits in (13, 64, 1001):
                bits = support.random_bits(5 * frame_bits, frame_bits)
                code = dict(puncturing="101,110", termination=termination)
                expected = np.packbits(support.encode_frames(bits, frame_bits, **code),
                                       axis=1).ravel()
                for packed in (True, False):
                    items = support.pack_frames(bits, frame_bits) if packed else bits
                    coded, _ = support.run(
                        support.vector_source(items),
                        gpufec.conv_encoder(packed_input=packed, frame_bits=frame_bits,
                                            **code))
                    np.testing.assert_array_equal(coded, expected)

    def test_DefaultParameters_HavePackedInputAndOutput(self):
        bits = support.random_bits(8 * 300, 8)
        coded, _ = support.run(support.vector_source(np.packbits(bits)),
                               gpufec.conv_encoder(puncturing="10,11"))
        np.testing.assert_array_equal(
            coded, np.packbits(support.encode(bits, puncturing="10,11")))

    def test_IncompleteLastFrame_IsDropped(self):
        bits = support.random_bits(64 * 3 + 63, 2)
        code = dict(termination="terminated", frame_bits=64)
        coded, _ = self.encode(bits, False, **code)
        expected = support.encode_frames(bits[:64 * 3], 64, termination="terminated")
        np.testing.assert_array_equal(coded, expected.ravel())

    def test_SmallOutputBuffers_YieldSameOutput(self):
        bits = support.random_bits(8 * 97, 3)
        for items in (1, 7):
            coded, _ = self.encode(bits, True, max_noutput_items=items)
            np.testing.assert_array_equal(coded, support.encode(bits))
        coded, _ = self.encode(bits[:600], False, max_noutput_items=5,
                               termination="tailbiting", frame_bits=200)
        expected = support.encode_frames(bits[:600], 200, termination="tailbiting")
        np.testing.assert_array_equal(coded, expected.ravel())

    def test_FrameLargerThanBuffers_IsEncoded(self):
        frame_bits = 1 << 17
        bits = support.random_bits(2 * frame_bits, 4)
        code = dict(termination="terminated")
        coded, _ = self.encode(bits, True, frame_bits=frame_bits, **code)
        expected = support.encode_frames(bits, frame_bits, **code).ravel()
        np.testing.assert_array_equal(coded, expected)

    def test_RelativeRate_IsExact(self):
        for parameters, up, down in (
                (dict(), 2, 1),
                (dict(packed_output=False), 16, 1),
                (dict(packed_input=False), 1, 4),
                (dict(packed_input=False, packed_output=False), 2, 1),
                (dict(puncturing="101,110"), 4, 3),
                (dict(puncturing="101,110", packed_output=False), 32, 3),
                (dict(puncturing="101,110", packed_input=False), 1, 6),
                (dict(termination="terminated", frame_bits=13), 5, 2),
                (dict(termination="terminated", frame_bits=13, packed_output=False), 19, 1),
                (dict(termination="tailbiting", frame_bits=13, packed_input=False), 4, 13)):
            block = gpufec.conv_encoder(**parameters)
            self.assertAlmostEqual(block.relative_rate(), up / down, places=12)

    def test_Tags_MoveToFirstCodedBit(self):
        key, value = pmt.intern("mark"), pmt.from_long(7)
        bits = support.random_bits(8 * 60, 5)
        puncturing = support.CCSDS_7_8
        sent = support.sent_pattern([1, 1], puncturing).sum(axis=1)
        before = np.concatenate([[0], np.cumsum(np.tile(sent, 100))])
        tags = [(i, key, value) for i in range(60)]
        _, found = self.encode(bits, True, tags=tags, puncturing=puncturing)
        self.assertEqual([t.offset for t in found], [before[8 * i] for i in range(60)])

        # Frames of 20 bits are packed in 3 bytes; the puncturing pattern restarts in each frame.
        _, found = self.encode(bits, True, tags=tags, puncturing=puncturing,
                               termination="truncated", frame_bits=20)
        expected = [i // 3 * before[20] + before[8 * (i % 3)] for i in range(60)]
        self.assertEqual([t.offset for t in found], expected)

        # With packed output, a tag is on the byte that contains its bit.
        _, found = self.encode(bits, True, tags=tags, packed_output=True,
                               puncturing=puncturing)
        self.assertEqual([t.offset for t in found],
                         [before[8 * i] // 8 for i in range(60)])
        _, found = self.encode(bits, True, tags=tags, puncturing=puncturing,
                               packed_output=True, termination="truncated", frame_bits=20)
        expected = [i // 3 * -(-before[20] // 8) + before[8 * (i % 3)] // 8
                    for i in range(60)]
        self.assertEqual([t.offset for t in found], expected)

    def test_Streams_EqualEncoderOfGrFec(self):
        bits = support.random_bits(4096, 6)
        for polynomials in ([109, 79], [79, 109]):
            encoder = fec.cc_encoder_make(4096, 7, 2, polynomials, 0, fec.CC_STREAMING,
                                          False)
            theirs, _ = support.run(support.vector_source(bits),
                                    fec.encoder(encoder, 1, 1))
            ours, _ = self.encode(
                bits, True, polynomials=gpufec.polynomials_from_gr_fec(polynomials))
            np.testing.assert_array_equal(ours, theirs)
        # The preset "gr_fec" has gr-fec's default polynomials.
        ours, _ = self.encode(bits, True, preset="gr_fec")
        theirs, _ = self.encode(
            bits, True, polynomials=gpufec.polynomials_from_gr_fec([109, 79]))
        np.testing.assert_array_equal(ours, theirs)

    def test_SecondRun_EqualsFirst(self):
        bits = support.random_bits(8 * 55, 7)
        for code in (dict(), dict(puncturing=support.CCSDS_7_8), dict(termination="terminated", frame_bits=90)):
            block = gpufec.conv_encoder(**code)
            source = support.vector_source(np.packbits(bits))
            first, _ = support.run(source, block)
            source.rewind()
            second, _ = support.run(source, block)
            self.assertGreater(len(first), 0)
            np.testing.assert_array_equal(first, second)


if __name__ == "__main__":
    support.main()
