#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of gpufec bench."""

import json
import unittest

from gpufec_tool import main, run


class qa_bench(unittest.TestCase):

    def bench(self, *arguments):
        """Returns the report of three runs. If no batch ended in one of the runs, all are repeated
        with more time."""
        for seconds in ("0.2", "2", "20"):
            result = run("bench", *arguments, "--backend", "cpu", "--seconds", seconds, "--runs",
                         "3", "--json", "-")
            self.assertEqual(result.returncode, 0, result.stderr)
            report = json.loads(result.stdout)
            if all(rate["least_bits_per_s"] > 0 for rate in report["rates"]):
                break
        for rate in report["rates"]:
            self.assertEqual(len(rate["runs"]), 3)
            self.assertGreater(rate["least_bits_per_s"], 0)
            self.assertLessEqual(rate["least_bits_per_s"], rate["median_bits_per_s"])
        return report

    def test_ViterbiBench_ReportsRates(self):
        for more in ([], ["--soft-input", "float", "--preset", "dvb_3_4"],
                     ["--soft-input", "uint8"],
                     ["--preset", "wimax", "--frame-bits", "996", "--soft-input",
                      "packed4"]):
            report = self.bench("viterbi", *more)
            self.assertEqual(report["rates"][0]["what"], "stream")

    def test_LdpcBench_ReportsRates(self):
        for more in (["--frame-size", "short", "--early-stop", "false",
                      "--max-iterations", "7"],
                     ["--frame-size", "short", "--rate", "8/9", "--soft-input", "float",
                      "--precision", "float", "--eb-n0", "6"]):
            report = self.bench("ldpc", *more)
            self.assertEqual([r["what"] for r in report["rates"]],
                             ["stream", "host to host"])
            slot = report["rates"][1]
            per_bit = (report["mean_iterations"] * report["options"]["edges"]
                       / report["options"]["k"])
            self.assertAlmostEqual(slot["G_edge_iterations_per_s"] * 1e9,
                                   slot["median_bits_per_s"] * per_bit,
                                   delta=1e-6 * slot["median_bits_per_s"] * per_bit)
            if "false" in more:
                self.assertEqual(report["mean_iterations"], 7)
            else:
                self.assertLess(report["mean_iterations"], 20)
        result = run("bench", "ldpc", "--backend", "cpu", "--seconds", "0.2", "--runs", "1")
        self.assertIn(b"edge-iterations/s", result.stdout)

    def test_SyncBench_ReportsRates(self):
        for more in (["--mode", "stream", "--frame-symbols", "40"],
                     ["--form", "corridor", "--receiver", "trellis", "--n", "5", "--q",
                      "4", "--frame-symbols", "20", "--soft-input", "float"],
                     ["--codebook", "random", "--output", "posteriors", "--threads", "2"],
                     ["--codebook", "random", "--alphabet", "3", "--soft-input", "float"]):
            report = self.bench("sync", *more)
            self.assertEqual([r["what"] for r in report["rates"]],
                             ["stream", "host to host"])
            self.assertGreater(report["batch_latency_s"], 0)
        result = run("bench", "sync", "--backend", "cpu", "--seconds", "0.2", "--runs", "1")
        self.assertIn(b"from slot to slot", result.stdout)


if __name__ == "__main__":
    main()
