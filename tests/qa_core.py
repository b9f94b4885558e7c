#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests that the core includes no headers of GNU Radio. The core is lib without lib/blocks and
lib/testing, the public headers in PUBLIC, and the sources of the array bindings."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
HEADERS = ROOT / "include" / "gnuradio" / "gpufec"
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]((?:gnuradio|pmt)/[^>"]+)[>"]', re.MULTILINE)
# Folders of lib that belong to the core, and the public headers of the core.
FOLDERS = ("arrays", "bbframe", "bch", "channel", "common", "cuda", "demap", "dvbs", "framing",
           "ldpc", "pipeline", "reed_solomon", "sync_map", "viterbi")
PUBLIC = ("api.h", "arrays.h", "backend.h", "bch.h", "ccsds.h", "decoder.h", "ldpc.h",
          "pinned_memory.h", "reed_solomon.h", "spans.h", "sync_map.h", "sync_reads.h",
          "viterbi.h", "wifi.h")


def theirs(path):
    """Returns the headers of GNU Radio that a file includes, without the headers of this module."""
    found = INCLUDE.findall(path.read_text(encoding="utf-8"))
    own = {f"gnuradio/gpufec/{name}" for name in PUBLIC}
    return [name for name in found if name not in own]


class qa_core(unittest.TestCase):
    def test_Core_IncludesNoGnuRadio(self):
        files = [HEADERS / name for name in PUBLIC]
        for folder in FOLDERS:
            for pattern in ("*.h", "*.cc", "*.cu", "*.cuh", "*.in"):
                files += sorted((ROOT / "lib" / folder).rglob(pattern))
        files += sorted((ROOT / "python" / "arrays").rglob("*.cc"))
        self.assertGreater(len(files), 100)
        for path in files:
            with self.subTest(path.relative_to(ROOT)):
                self.assertEqual(theirs(path), [])

    def test_GnuRadioHeadersInBlock_AreDetected(self):
        """theirs() finds headers of GNU Radio in the source of a block."""
        self.assertTrue(theirs(ROOT / "lib" / "blocks" / "viterbi" / "gpu_viterbi_pbvd_impl.cc"))


if __name__ == "__main__":
    unittest.main()
