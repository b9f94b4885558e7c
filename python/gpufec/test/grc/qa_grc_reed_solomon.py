#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#
"""Tests the Reed-Solomon blocks in GNU Radio Companion: checks, the input of erasures, and the
generated code."""

import pathlib
import tempfile
import unittest

import qa_grc_case

DECODER, ENCODER = "gpufec_rs_decoder", "gpufec_rs_encoder"
RIGHT = [dict(), dict(code="ccsds-239", interleaving="5", virtual_fill="238"),
         dict(code="dvb", interleaving="16", virtual_fill="187", length_tag=""),
         dict(code="ccsds-223-conventional", virtual_fill="222")]
WRONG = [dict(interleaving="0"), dict(interleaving="17"), dict(virtual_fill="-1"),
         dict(virtual_fill="223"), dict(code="ccsds-239-conventional", virtual_fill="239"),
         dict(code="dvb", virtual_fill="188"), dict(interleaving="'five'")]


class qa_grc_reed_solomon(qa_grc_case.grc_case):
    def run_generated(self, graph):
        with tempfile.TemporaryDirectory() as folder:
            generator = self.platform.Generator(graph, folder)
            generator.write()
            namespace = {"__name__": "generated"}
            code = pathlib.Path(generator.file_path).read_text(encoding="utf-8")
            exec(compile(code, "generated", "exec"), namespace)
            top = namespace["qa_generated"]()
            top.run()
            return top.tested

    def test_RightParameters_AreAcceptedAndRun(self):
        for key in DECODER, ENCODER:
            more = [dict(drop="True", threads="2", status_tags="failures")] if key == DECODER else []
            for parameters in RIGHT + more:
                with self.subTest(key, **parameters):
                    graph, _ = self.graph(key, **parameters)
                    self.assertEqual(self.errors(graph), [])
                    self.run_generated(graph)

    def test_WrongParameters_AreRed(self):
        for key in DECODER, ENCODER:
            more = [dict(threads="0"), dict(threads="257")] if key == DECODER else []
            for parameters in WRONG + more:
                with self.subTest(key, **parameters):
                    graph, block = self.graph(key, **parameters)
                    self.assertFalse(graph.is_valid())
                    self.assertTrue(block.get_error_messages())

    def test_Erasures_HaveAnInputThatMustBeConnected(self):
        graph, block = self.graph(DECODER)
        self.assertEqual(len(block.active_sinks), 1)
        graph, block = self.graph(DECODER, erasures="True")
        self.assertEqual(len(block.active_sinks), 2)
        self.assertFalse(graph.is_valid())
        source, = (b for b in graph.blocks if b.key == "blocks_head")
        graph.connect(source.sources[0], block.active_sinks[1])
        graph.rewrite()
        graph.validate()
        self.assertEqual(self.errors(graph), [])
        # The input is zeros, which are codewords.
        self.assertEqual(self.run_generated(graph).frame_count(), 100000 // 255)


if __name__ == "__main__":
    unittest.main()
