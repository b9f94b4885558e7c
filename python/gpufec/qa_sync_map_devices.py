#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""The synchronisation decoder in flowgraphs on devices that fail in mid-run.

Runs with the simulated devices of lib/sync_map/simulated_cuda.cc.
"""

import unittest

import numpy as np
from gnuradio import blocks, gpufec, gr

import qa_support as support
from qa_support import failure, output_of_process
from qa_sync_map import framed_source, run, small_frames, values, SMALL, SMALL_BOOK


def decoder(**parameters):
    return gpufec.gpu_sync_map(SMALL_BOOK, **SMALL, p_insert=0.03, p_delete=0.03,
                               output="posteriors", **parameters)


@unittest.skipUnless(support.SIMULATED, "no simulated devices")
class qa_sync_map_devices(unittest.TestCase):
    def setUp(self):
        _, self.frames = small_frames(60, 0.03)

    def decode(self, block):
        return run(framed_source(self.frames), block, dtype=np.float32)

    def test_a_device_that_fails(self):
        for mode in ("framed", "stream"):
            expected, tags = self.decode(decoder(mode=mode, backend="cpu"))
            for batches in (0, 1, 2, 5, 11):
                with self.subTest(mode=mode, batches=batches):
                    lines = []
                    with failure(f"0:{batches}"), output_of_process(lines):
                        block = decoder(mode=mode, batch=5)
                        self.assertEqual(block.active_backend(), "cuda")
                        output, found = self.decode(block)
                    np.testing.assert_array_equal(output, expected)
                    self.assertEqual(values(found, "sync_drift"),
                                     values(tags, "sync_drift"))
                    self.assertEqual(block.active_backend(), "cpu")
                    said = [line for line in lines if "simulated device 0 failed" in line]
                    self.assertEqual(len(said), 1, lines)
                    self.assertIn("error", said[0])
                    self.assertIn("goes on with the CPU, nothing is lost", said[0])

    def test_one_of_several_devices_fails(self):
        expected, _ = self.decode(decoder(backend="cpu"))
        for failing in "0:2", "1:0", "2:3":
            with self.subTest(failing=failing):
                lines = []
                with failure(failing), output_of_process(lines):
                    block = decoder(devices=[0, 1, 2], batch=5)
                    output, _ = self.decode(block)
                np.testing.assert_array_equal(output, expected)
                self.assertEqual(block.active_backend(), "cuda")
                said = [line for line in lines if f"device {failing[0]} failed" in line]
                self.assertEqual(len(said), 1, lines)
                self.assertIn("goes on with the other devices, nothing is lost", said[0])

    def test_without_a_fallback_the_flowgraph_ends(self):
        expected, _ = self.decode(decoder(backend="cpu"))
        lines = []
        with failure("0:3"), output_of_process(lines):
            graph = gr.top_block()
            sink = blocks.vector_sink_f()
            graph.connect(framed_source(self.frames * 50),
                          decoder(backend="cuda", batch=5), sink)
            self.assertTrue(support.ends(graph))
        self.assertTrue(any("decoding stops here: simulated device 0 failed" in line
                            for line in lines), lines)
        np.testing.assert_array_equal(sink.data(), expected[:len(sink.data())])


if __name__ == "__main__":
    support.main()
