#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#
"""Tests the blocks with ports in device memory in GNU Radio Companion."""

import os
import pathlib
import unittest

from qa_grc_case import grc_case

DOMAIN = pathlib.Path(__file__).resolve().parents[4] / "lib" / "testing" / "gr_cuda" / "grc"


class qa_grc_device_ports(grc_case):
    @classmethod
    def setUpClass(cls):
        cls.more_definitions = str(DOMAIN), os.environ["GPUFEC_DEVICE_GRC_PATH"]
        super().setUpClass()

    def test_DeviceBlocks_HavePortsInDomainOfGrCuda(self):
        for name in "viterbi_pbvd", "ldpc_dvbs2", "sync_map":
            with self.subTest(name=name):
                graph, block = self.graph(f"gpufec_gpu_{name}_device")
                self.assertEqual(block.sinks[0].domain, "cuda")
                self.assertEqual(block.sources[0].domain, "cuda")
                self.assertIn("device ports", block.label)
                self.assertTrue(graph.is_valid(), list(graph.iter_error_messages()))
                code = self.generated(graph)
                self.assertIn("io='device'", code)
                self.assertIn("self.connect((self.blocks_head, 0), (self.tested, 0))", code)


if __name__ == "__main__":
    unittest.main()
