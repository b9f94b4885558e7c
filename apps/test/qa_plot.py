#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of the curves that plot_ber.py draws."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from gpufec_tool import SCRIPTS, TIMEOUT_S, main


class qa_plot(unittest.TestCase):
    """Tests of the curves, bars and arrows in the Matplotlib figures of plot_ber.py."""

    FRAMES = [{"ebn0_db": e, "frames": 300, "frame_errors": w, "fer": w / 300, "errors": w * 40,
               "ber": w * 40 / 3e6, "fer_confidence": 0, "bits": 3e6}
              for e, w in ((1.0, 300), (1.2, 30), (1.4, 3), (1.6, 0), (1.8, 0))]
    BITS = [{"ebn0_db": e, "errors": n, "events": n / 4, "ber": n / 1e6, "confidence": n / 3e6,
             "bits": 1e6, "theory": None} for e, n in ((3.0, 400), (4.0, 8), (5.0, 0))]
    SYMBOLS = [{"p_insert": p, "errors": n, "ser": n / 5000, "ser_deviation": n / 5e4, "frames": 100}
               for p, n in ((1e-2, 300), (1e-5, 0))]
    OPTIONS = {"code": "dvbs2 short 1/2", "schedule": "layered", "algorithm": "offset_min_sum",
               "precision": "int8", "max_iterations": 25}

    @classmethod
    def setUpClass(cls):
        path = SCRIPTS / "plot_ber.py"
        spec = importlib.util.spec_from_file_location("plot_ber", path)
        cls.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(cls.module)

    def draw(self, options, points, count=1):
        report = {"options": options, "decoder": {"backend": "cpu", "overlap": 64}, "points": points}
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(self.module.pyplot, "close"):
            self.module.plot([report] * count, ["one", "two"][:count], os.path.join(folder, "a.png"))
        axes = self.module.pyplot.gca()
        self.addCleanup(self.module.pyplot.close, axes.figure)
        curves = {}
        for c in axes.containers:
            line, _, bars = c.lines
            curves[c.get_label()] = [(x, y, low, high) for x, y, ((_, low), (_, high)) in zip(
                *line.get_data(), bars[0].get_segments())]
        return axes, curves

    def test_LdpcReport_HasFramesAndBitsWithIntervals(self):
        axes, curves = self.draw(self.OPTIONS, self.FRAMES)
        self.assertEqual(set(curves), {"frames", "bits", "no errors: 95 % upper bound"})
        x, y, low, high = curves["frames"][2]
        self.assertEqual((x, y), (1.4, 0.01))
        self.assertAlmostEqual(low, 0.0034, delta=1e-4) # Wilson's interval for 3 of 300
        self.assertAlmostEqual(high, 0.0290, delta=1e-4)
        self.assertEqual(curves["frames"][0][3], 1) # the upper end is limited to 1
        x, y, low, high = curves["bits"][1]
        self.assertAlmostEqual(y, 4e-4)
        self.assertTrue(0 < low < y < high)
        self.assertEqual(axes.get_title(),
                         "dvbs2 short 1/2\nlayered offset_min_sum, int8, 25 iterations, cpu")

    def test_PointsWithoutErrors_AreUpperBounds(self):
        bound = "no errors: 95 % upper bound"
        _, curves = self.draw(self.OPTIONS, self.FRAMES)
        self.assertEqual([(x, y) for x, y, *_ in curves[bound]], [(1.6, 0.01), (1.8, 0.01)])
        for _, y, low, high in curves[bound]:
            self.assertTrue(low < y and high == y) # the arrow points down
        _, curves = self.draw({"code": "K=7", "termination": "streaming", "soft_input": "int8"},
                              self.BITS)
        self.assertEqual([(x, round(y, 9)) for x, y, *_ in curves[bound]], [(5.0, 1.2e-5)])
        _, curves = self.draw({"codebook": "random", "n": 10, "q": 32, "frame_symbols": 50,
                               "mode": "framed", "form": "linear", "precision": "float"},
                              self.SYMBOLS)
        self.assertEqual([(x, y) for x, y, *_ in curves[bound]], [(1e-5, 0.03)])

    def test_ReportWithoutAnyErrors_IsDrawnAsBounds(self):
        _, curves = self.draw(self.OPTIONS, self.FRAMES[3:])
        self.assertEqual(len(curves["no errors: 95 % upper bound"]), 2)

    def test_SeveralReports_HaveLabelsAndNoTitle(self):
        axes, curves = self.draw(self.OPTIONS, self.FRAMES, 2)
        self.assertEqual(axes.get_title(), "")
        self.assertLessEqual({"one, frames", "two, bits"}, set(curves))

    def test_FilesThatAreNoReports_CauseOneLineError(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report")
            whole = json.dumps({"options": self.OPTIONS, "decoder": {"backend": "cpu"},
                                "points": self.FRAMES})
            for text in ("", whole[:-20], "7", whole.replace("points", "dots"),
                         json.dumps({"options": {}, "decoder": {}, "points": []})):
                pathlib.Path(path).write_text(text)
                done = subprocess.run(
                    [sys.executable, "-B", self.module.__file__, path, path + ".png"],
                    capture_output=True, timeout=TIMEOUT_S, text=True)
                self.assertEqual((done.returncode, done.stderr), (
                    1, f"plot_ber.py: {path}: not a report of gpufec ber with at least "
                       "one point\n"))


if __name__ == "__main__":
    main()
