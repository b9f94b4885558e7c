#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core includes nothing of GNU Radio: only lib/blocks does, and the blocks' headers."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
HEADERS = ROOT / "include" / "gnuradio" / "gpufec"
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]((?:gnuradio|pmt)/[^>"]+)[>"]', re.MULTILINE)
# What the core and the package of arrays are made of.
FOLDERS = ("arrays", "bbframe", "bch", "channel", "cuda", "demap", "ldpc", "pipeline", "sync_map", "viterbi")
PUBLIC = ("api.h", "arrays.h", "backend.h", "bch.h", "decoder.h", "ldpc.h", "sync_map.h", "sync_reads.h",
          "viterbi.h")


def theirs(path):
    """Headers of GNU Radio that a file includes."""
    found = INCLUDE.findall(path.read_text(encoding="utf-8"))
    own = {f"gnuradio/gpufec/{name}" for name in PUBLIC}
    return [name for name in found if name not in own]


class qa_core(unittest.TestCase):
    def test_core(self):
        files = [HEADERS / name for name in PUBLIC]
        for folder in FOLDERS:
            for pattern in ("*.h", "*.cc", "*.cu", "*.cuh", "*.in"):
                files += sorted((ROOT / "lib" / folder).glob(pattern))
        files += sorted((ROOT / "python" / "arrays").glob("*.cc"))
        self.assertGreater(len(files), 100)
        for path in files:
            with self.subTest(path.relative_to(ROOT)):
                self.assertEqual(theirs(path), [])

    def test_blocks_are_found_out(self):
        """The search does find what it looks for."""
        self.assertTrue(theirs(ROOT / "lib" / "blocks" / "gpu_viterbi_pbvd_impl.cc"))


if __name__ == "__main__":
    unittest.main()
