#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Tests the number and the values of the bits that gpu_viterbi_pbvd outputs for streams, with input
in chunks of any size and in every format."""

import unittest

import numpy as np
from gnuradio import blocks, fec, gpufec, gr

import qa_support as support

# Makes batches of 128 stages, so that a short input fills several batches.
SMALL = dict(decode_length=32, overlap=42, batch=4)
PUNCTURED = "101,110"


def stages_of(values, puncturing="", outputs=2):
    """Returns the number of stages that are needed to send `values` values."""
    sent = support.sent_pattern([1] * outputs, puncturing).sum(axis=1)
    before = np.concatenate([[0], np.cumsum(np.tile(sent, values // len(sent) + 1))])
    return int(np.searchsorted(before, values))


class qa_viterbi_stream(unittest.TestCase):
    def check_counts(self, lengths, puncturing="", soft_input="int8", **parameters):
        """Expects one bit per stage with a received value, for streams of each length in `lengths`.
        All bits must be correct except the last 60, which lack the input after them."""
        bits = support.random_bits(max(lengths) + 10, 1)
        coded = support.encode(bits, puncturing=puncturing)
        for length in lengths:
            items = support.soft_values(coded[:length], soft_input)
            count = stages_of(length + (soft_input == "packed4") * (length % 2),
                              puncturing)
            certain = max(0, count - 60)
            for packed in (True, False):
                with self.subTest(length=length, packed=packed):
                    output, _ = support.decode(items, packed_output=packed,
                                               puncturing=puncturing,
                                               soft_input=soft_input, **parameters)
                    if packed:
                        self.assertEqual(len(output), (count + 7) // 8)
                        output = np.unpackbits(output)
                        self.assertFalse(output[count:].any())
                    else:
                        self.assertEqual(len(output), count)
                    np.testing.assert_array_equal(output[:certain], bits[:certain])

    def test_EveryLengthUpToThreeBatches_YieldsAllBits(self):
        self.check_counts(range(0, 3 * 64 + 3), decode_length=32, overlap=42, batch=1)

    def test_LengthsAroundBatches_YieldAllBits(self):
        self.check_counts([0, 1, 2, 3, 5, 127, 128, 251, 254, 255, 256, 257, 258, 339, 340,
                           341, 509, 512, 521, 640, 641, 643, 768, 769], **SMALL)

    def test_PuncturedLengths_YieldAllBits(self):
        self.check_counts(list(range(0, 12)) + [170, 171, 172, 173, 499, 511, 512, 513],
                          puncturing=PUNCTURED, **SMALL)
        self.check_counts(list(range(0, 17)) + [293, 439, 440, 441, 443],
                          puncturing=support.CCSDS_7_8, **SMALL)

    def test_LengthsInEveryFormat_YieldAllBits(self):
        lengths = [0, 1, 2, 3, 4, 61, 255, 256, 257, 511, 512, 513, 769]
        for soft_input in ("float", "packed4", "uint8"):
            for puncturing in ("", PUNCTURED):
                with self.subTest(soft_input, puncturing=puncturing):
                    self.check_counts(lengths, puncturing, soft_input, **SMALL)

    def test_LengthsAroundDefaultBatch_YieldAllBits(self):
        decoder = gpufec.gpu_viterbi_pbvd(backend="cpu")
        batch = 2 * decoder.batch() * decoder.decode_length()
        self.check_counts([batch - 1, batch, 2 * batch + 1, 3 * batch - 17])

    def test_EveryPresetWithoutNoise_IsDecoded(self):
        for preset in gpufec.conv_presets():
            code = support.code_of(preset)
            bits = support.random_bits(4000, 2)
            items = support.soft_values(support.encode(bits, **code))
            with self.subTest(preset.name):
                output, _ = support.decode(items, packed_output=False, **code)
                self.assertEqual(len(output), len(bits))
                np.testing.assert_array_equal(output[:3900], bits[:3900])

    def test_ChunksAndBatches_YieldSameOutput(self):
        bits = support.random_bits(6000, 3)
        coded = support.encode(bits, puncturing=PUNCTURED)
        items = support.soft_values(coded, sigma=0.8, seed=3)
        shape = dict(decode_length=64, overlap=40, puncturing=PUNCTURED)
        expected, _ = support.decode(items, **shape)
        errors = np.count_nonzero(np.unpackbits(expected) != bits)
        self.assertGreater(errors, 50) # enough noise to compare ties and wrong decisions too
        for extra in (dict(batch=1), dict(batch=2, slots=1), dict(batch=7, slots=16),
                      dict(batch=1000), dict(threads=2), dict(max_latency_ms=0.0)):
            for limit in (0, 1, 37):
                with self.subTest(limit=limit, **extra):
                    output, _ = support.decode(items, limit, **shape, **extra)
                    np.testing.assert_array_equal(output, expected)
        for multiple in (2, 100, 4096): # GPUs have larger output multiples than the CPU
            for limit in (0, 1, 64):
                decoder = gpufec.gpu_viterbi_pbvd(backend="cpu", batch=3, **shape)
                decoder.set_output_multiple(multiple)
                with self.subTest(multiple=multiple, limit=limit):
                    output, _ = support.run(support.vector_source(items), decoder, limit)
                    np.testing.assert_array_equal(output, expected)
        for seed in range(4):
            decoder = gpufec.gpu_viterbi_pbvd(backend="cpu", batch=3, max_latency_ms=0,
                                              **shape)
            source = support.array_source(items.view(np.int8), 500, seed)
            with self.subTest(seed=seed):
                output, _ = support.run(source, decoder)
                np.testing.assert_array_equal(output, expected)

    def test_FloatValues_AreScaledAndRounded(self):
        bits = support.random_bits(3000, 4)
        coded = support.encode(bits)
        values = support.soft_values(coded, "float", sigma=0.9, seed=4)
        expected, _ = support.decode(
            np.clip(np.rint(values * np.float32(20)), -127, 127).astype(np.int8))
        output, _ = support.decode(values, soft_input="float", soft_scale=20.0)
        np.testing.assert_array_equal(output, expected)

    def test_NansAndInfinities_AreErasedOrSaturated(self):
        bits = support.random_bits(2000, 5)
        values = support.soft_values(support.encode(bits), "float")
        expected = np.packbits(bits)
        values[::9] = np.nan                       # decoded as erasures
        values[5::40] *= np.float32(np.inf)        # saturate
        values[7::40] *= np.float32(1e30)
        output, _ = support.decode(values, soft_input="float")
        np.testing.assert_array_equal(output[:-2], expected[:-2])
        for value in (np.nan, np.inf, -np.inf, 0.0, 3e38):
            items = np.full(1001, value, np.float32)
            output, _ = support.decode(items, soft_input="float", packed_output=False)
            self.assertEqual(len(output), 501)

    def test_SmallestIntegers_AreSaturated(self):
        bits = support.random_bits(1000, 6)
        coded = support.encode(bits)
        for one, zero, positive_bit in ((127, -128, 1), (-128, 127, 0)):
            items = np.where(coded == 1, one, zero).astype(np.int8)
            output, _ = support.decode(items, positive_bit=positive_bit)
            np.testing.assert_array_equal(output, np.packbits(bits))
        for value in (-128, 0, 127):
            output, _ = support.decode(np.full(777, value, np.int8), packed_output=False)
            self.assertEqual(len(output), 389)

    def test_RelativeRate_IsExact(self):
        for parameters, rate in (
                (dict(), 1 / 16),
                (dict(packed_output=False), 1 / 2),
                (dict(soft_input="packed4"), 1 / 8),
                (dict(soft_input="packed4", packed_output=False), 1.0),
                (dict(puncturing=PUNCTURED), 3 / 32),
                (dict(puncturing=support.CCSDS_7_8, packed_output=False), 7 / 8),
                (dict(termination="terminated", frame_bits=13), 2 / 38),
                (dict(termination="tailbiting", frame_bits=13, puncturing=PUNCTURED,
                      soft_input="packed4"), 2 / 9)):
            with self.subTest(**parameters):
                decoder = gpufec.gpu_viterbi_pbvd(backend="cpu", **parameters)
                self.assertEqual(decoder.relative_rate(), rate)

    def test_OutputOfGrFecEncoder_IsDecoded(self):
        """In gr-fec, as in this module, a positive soft value means bit 1."""
        bits = support.random_bits(8000, 8)
        encoder = fec.cc_encoder_make(8000, 7, 2, [79, 109], 0, fec.CC_STREAMING, False)
        graph = gr.top_block()
        sink = blocks.vector_sink_b()
        graph.connect(support.vector_source(bits), fec.encoder(encoder, 1, 1),
                      blocks.char_to_float(1, 0.5), blocks.add_const_ff(-1),
                      gpufec.gpu_viterbi_pbvd(soft_input="float", packed_output=False,
                                              backend="cpu"),
                      sink)
        graph.run()
        np.testing.assert_array_equal(sink.data(), bits)

    def test_InvertedOutputOfCcsds_IsDecoded(self):
        code = dict(polynomials=[0o171, -0o133])
        bits = support.random_bits(5000, 9)
        items = support.soft_values(support.encode(bits, **code), sigma=0.5, seed=9)
        output, _ = support.decode(items, **code)
        np.testing.assert_array_equal(output, np.packbits(bits))


if __name__ == "__main__":
    support.main()
