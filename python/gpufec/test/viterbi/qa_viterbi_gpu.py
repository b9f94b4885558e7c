#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Tests that flowgraphs decode to the same bits on a GPU as on the CPU."""

import unittest

import numpy as np
from gnuradio import blocks, gpufec, gr

import qa_support as support

NO_CUDA = support.cuda_missing()


@unittest.skipIf(NO_CUDA, f"there is no GPU: {NO_CUDA}")
class qa_viterbi_gpu(unittest.TestCase):
    def compare(self, items, max_noutput_items=0, **parameters):
        expected, _ = support.decode(items, **parameters)
        output, _ = support.decode(items, max_noutput_items, backend="cuda", **parameters)
        np.testing.assert_array_equal(output, expected)

    def test_BackendAuto_SelectsCuda(self):
        decoder = gpufec.gpu_viterbi_pbvd()
        self.assertEqual(decoder.active_backend(), "cuda")

    def test_StreamsOfEveryPreset_EqualCpu(self):
        bits = support.random_bits(50000, 1)
        for preset in gpufec.conv_presets():
            code = support.code_of(preset)
            coded = support.encode(bits, **code)
            for soft_input in ("int8", "float", "packed4"):
                with self.subTest(preset.name, soft_input=soft_input):
                    self.compare(support.soft_values(coded, soft_input, 0.6, 1),
                                 soft_input=soft_input, **code)

    def test_FramesOfEveryPreset_EqualCpu(self):
        for preset in gpufec.conv_presets():
            code = support.code_of(preset)
            for termination in ("terminated", "truncated", "tailbiting"):
                bits = support.random_bits(401 * 20, 2)
                coded = support.encode_frames(bits, 401, termination=termination, **code)
                with self.subTest(preset.name, termination=termination):
                    self.compare(support.soft_values(coded, sigma=0.6, seed=2),
                                 frame_bits=401, termination=termination, **code)

    def test_StreamsOfAnyLength_EqualCpu(self):
        coded = support.encode(support.random_bits(6000, 3))
        for length in (0, 1, 2, 3, 127, 1023, 1024, 1025, 2047, 4099, 8191, 12000):
            with self.subTest(length=length):
                self.compare(support.soft_values(coded[:length], sigma=0.6, seed=3),
                             decode_length=256, batch=4, packed_output=False)

    def test_AnyChunksBatchesAndSlots_DecodeAsCpu(self):
        coded = support.encode(support.random_bits(30000, 4))
        items = support.soft_values(coded, sigma=0.8, seed=4)
        for extra in (dict(batch=1), dict(batch=3, slots=1), dict(slots=16),
                      dict(max_latency_ms=0.0)):
            for limit in (0, 77):
                with self.subTest(limit=limit, **extra):
                    self.compare(items, limit, **extra)

    def test_ThreeDecodersAndRepeatedRuns_DecodeSentBits(self):
        bits = support.random_bits(100000, 5)
        items = support.soft_values(support.encode(bits))
        graph = gr.top_block()
        sources = [support.vector_source(items) for _ in range(3)]
        sinks = [blocks.vector_sink_b() for _ in range(3)]
        for source, sink in zip(sources, sinks):
            graph.connect(source, gpufec.gpu_viterbi_pbvd(backend="cuda"), sink)
        for _ in range(3):
            graph.run()
            for source, sink in zip(sources, sinks):
                np.testing.assert_array_equal(sink.data(), np.packbits(bits))
                source.rewind()
                sink.reset()

    def test_MissingDevice_CudaRefusesAndAutoUsesCpu(self):
        with self.assertRaisesRegex(RuntimeError, "99"):
            gpufec.gpu_viterbi_pbvd(backend="cuda", device=99)
        decoder = gpufec.gpu_viterbi_pbvd(backend="auto", device=99)
        self.assertEqual(decoder.active_backend(), "cpu")


if __name__ == "__main__":
    support.main()
