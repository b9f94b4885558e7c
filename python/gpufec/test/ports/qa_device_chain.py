#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Tests the example whose front ends and decoders exchange items in device memory."""

import pathlib
import re
import shutil
import sys
import tempfile
import unittest

import qa_examples
import qa_flowgraphs
from qa_device_ports import missing

EXAMPLE = pathlib.Path(qa_examples.EXAMPLES) / "device" / "gpu_chain.grc"


class qa_layout(qa_flowgraphs.qa_layout):
    paths = [EXAMPLE]


@unittest.skipUnless(shutil.which("grcc"), "GNU Radio Companion is not installed")
@unittest.skipIf(missing(), missing())
@unittest.skipUnless(qa_flowgraphs.is_there("gpu_chain"), "CuPy is not installed")
class qa_device_chain(unittest.TestCase):
    def test_ChainOnDevice_DecodesSentBits(self):
        with tempfile.TemporaryDirectory() as folder:
            compiled = qa_flowgraphs.compile_examples([EXAMPLE], folder)
            self.assertEqual(compiled.returncode, 0, compiled.stdout)
            output = qa_examples.run(sys.executable, f"{folder}/gpu_chain.py")
        wrong = {name: (int(n), int(bits)) for name, n, bits in
                 re.findall(r"(\w+): (\d+) wrong bits of (\d+)", output)}
        # The channel is so noisy that the Viterbi decoder's output must have errors.
        self.assertTrue(200 < wrong["Viterbi"][0] < 2000, wrong)
        self.assertEqual(wrong["Viterbi"][1], 8 * 249999)
        self.assertEqual(wrong["LDPC"], (0, 40 * 32400))


if __name__ == "__main__":
    unittest.main()
