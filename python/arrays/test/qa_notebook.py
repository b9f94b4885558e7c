#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests that examples/error_rates.ipynb runs, that it stores three plots, and that its error rates
fall as the channel improves."""

import base64
import json
import pathlib
import sys
import unittest

try:
    import matplotlib
except ModuleNotFoundError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
matplotlib.use("Agg")

NOTEBOOK = pathlib.Path(__file__).resolve().parents[3] / "examples" / "error_rates.ipynb"


class qa_notebook(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
        cells = ["".join(c["source"]) for c in cls.notebook["cells"] if c["cell_type"] == "code"]
        cls.found = {}
        for number, cell in enumerate(cells):
            exec(compile(cell, f"cell {number}", "exec"), cls.found)

    def test_StoredResults_AreThreePlotsWithoutMachineData(self):
        cells = [c for c in self.notebook["cells"] if c["cell_type"] == "code"]
        self.assertEqual([c["execution_count"] for c in cells], [1, 2, 3, 4])
        plots = [o["data"]["image/png"] for c in cells for o in c["outputs"]]
        self.assertEqual([len(c["outputs"]) for c in cells], [0, 1, 1, 1])
        for plot in plots:
            self.assertEqual(base64.b64decode(plot)[:8], b"\x89PNG\r\n\x1a\n")
        text = NOTEBOOK.read_text(encoding="utf-8")
        self.assertLess(len(text), 60000)
        self.assertNotRegex(text, r"/(home|root|tmp|usr|work)/|Traceback")

    def test_Notebook_DrawsThreePlots(self):
        self.assertEqual(len(self.found["plt"].get_fignums()), 3)

    def test_ErrorRates_FollowEbN0AndEventProbability(self):
        """Error rates fall with Eb/N0, and rise with the probability of channel events."""
        for name, worst, best in (("viterbi_rates", 0.02, 2e-4), ("ldpc_rates", 0.5, 0.05)):
            for label, (_, rates) in self.found[name].items():
                with self.subTest(label):
                    self.assertGreater(rates[0], worst)
                    self.assertLess(rates[-1], best)
                    self.assertEqual(list(rates), sorted(rates, reverse=True))
        (_, rates), = self.found["sync_rates"].values()
        self.assertEqual(list(rates), sorted(rates))
        self.assertLess(rates[0], 0.02)
        self.assertGreater(rates[-1], rates[0])


if __name__ == "__main__":
    unittest.main()
