#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of gpufec ber: error rates and their confidence intervals, seeds, --channel, tables, plots
and the progress line."""

import json
import math
import os
import re
import signal
import tempfile
import unittest

from gpufec_tool import PROGRESS, main, run, terminal


def check_channel(test, decoder):
    """Checks that --channel selects the place of the channel simulation of `decoder`, that the host
    and the device have equal results, and that a device is refused with options that it does not
    support."""
    size = {"viterbi": ["--max-bits", "2e5"],
            "ldpc": ["--frame-size", "short", "--max-frames", "30"]}[decoder]
    call = ["ber", decoder, *size, "--range", "1", "--json", "-"]
    on_host = json.loads(run(*call, "--backend", "cpu").stdout)
    test.assertEqual(on_host["decoder"]["channel"], "host")
    test.assertEqual(json.loads(run(*call, "--channel", "host").stdout)["points"],
                     on_host["points"])
    for why in (["--backend", "cpu"], ["--soft-input", "float"], ["--reference"],
                ["--device", "0,1"]):
        result = run(*call, "--channel", "device", *why)
        test.assertEqual(result.returncode, 2)
        test.assertIn(b'--channel is "device": allowed values are auto and host', result.stderr)
    result = run(*call, "--channel", "device")
    if result.returncode: # this machine has no GPU
        test.assertEqual(result.returncode, 1)
        test.assertIn(b"CUDA", result.stderr)
    else:
        on_device = json.loads(result.stdout)
        test.assertEqual(on_device["decoder"]["channel"], "device")
        test.assertEqual(on_device["points"], on_host["points"])
        chosen = json.loads(run(*call).stdout)
        test.assertEqual(chosen["decoder"], on_device["decoder"])
        test.assertEqual(chosen["points"], on_device["points"])


def check_plot(test, decoder, *arguments):
    """Checks that gpufec ber, with `decoder` and `arguments`, prints a table and writes a PNG
    file."""
    with tempfile.TemporaryDirectory() as folder:
        png = os.path.join(folder, "ber.png")
        result = run("ber", decoder, "--backend", "cpu", *arguments, "--plot", png)
        test.assertEqual(result.returncode, 0, result.stderr)
        test.assertIn("Eb/N0", result.stdout.decode())
        with open(png, "rb") as file:
            test.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")


class qa_progress(unittest.TestCase):
    """Tests of the progress line, in simulations that the test interrupts."""

    ENDLESS = ("ber", "viterbi", "--backend", "cpu", "--range", "3:1:4", "--min-errors", "0",
               "--max-bits", "1e12")

    def seen(self, *arguments, **keywords):
        """Interrupts the simulation after two progress lines; returns the text of the terminal."""
        with terminal(*self.ENDLESS, *arguments, **keywords) as t:
            t.wait_for(f"(?s)({PROGRESS}.*){{2}}")
            t.process.send_signal(signal.SIGINT)
            status, _ = t.finish()
        self.assertEqual(status, 128 + signal.SIGINT)
        return t.seen

    def test_Progress_IsShownUnderItsHeader(self):
        seen = self.seen()
        self.assertEqual(seen.count("Eb/N0"), 1)
        self.assertLess(seen.index("Eb/N0"), seen.index("\r\033[K"), seen[:200])
        table = re.sub(r"\r\033\[K[^\r\n]*(?=\r\033)", "", seen).replace("\r\033[K", "")
        self.assertEqual(table.splitlines()[2].split()[0], "3.00")

    def test_ProgressWithRedirectedOutput_HasHeader(self):
        for more in ([], ["--json", "-"]):
            with tempfile.TemporaryFile() as file:
                seen = self.seen(*more, stdout=file)
                file.seek(0)
                written = file.read().decode()
            self.assertEqual(seen.count("Eb/N0"), 1)
            self.assertLess(seen.index("Eb/N0"), seen.index("\r\033[K"))
            self.assertEqual(written.count("Eb/N0"), 0 if more else 1)
            self.assertNotIn("\033", written)


class qa_ber(unittest.TestCase):

    def ber(self, *arguments):
        result = run("ber", "viterbi", "--backend", "cpu", "--json", "-", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, b"")  # the progress line is only for terminals
        return json.loads(result.stdout)

    def test_RangeAndReference_YieldExpectedRates(self):
        report = self.ber("--range", "1:0.5:2", "--min-errors", "10000", "--reference",
                          "--positions")
        points = report["points"]
        self.assertEqual([p["ebn0_db"] for p in points], [1, 1.5, 2])
        self.assertGreater(points[0]["ber"], points[2]["ber"])
        self.assertAlmostEqual(points[2]["ber"], 5.01e-3,
                               delta=3 * points[2]["confidence"])
        for p in points:
            self.assertGreaterEqual(p["errors"], 10000)
            self.assertAlmostEqual(p["ratio"], 1, delta=0.05)
            self.assertEqual(sum(p["positions"]["events"]), p["events"])

    def test_RatioToMaximumLikelihood_IsOneWithinConfidence(self):
        point = self.ber("--range", "1", "--min-errors", "30000", "--reference")["points"][0]
        self.assertGreater(point["ratio_confidence"], 0)
        self.assertLess(point["ratio_confidence"], 0.02)
        self.assertLess(abs(point["ratio"] - 1), 3 * point["ratio_confidence"])

    def test_ConfidenceInterval_CoversRatesOfOtherSeeds(self):
        """The error rate of a long simulation lies in the 95 % intervals of at least 34 of 40
        short ones; 38 are expected."""
        call = ["--range", "1", "--min-errors", "0", "--max-bits", "1e5"]
        exact = self.ber("--range", "1", "--min-errors", "0", "--max-bits", "2e7")["points"][0]
        points = [self.ber(*call, "--seed", str(seed))["points"][0] for seed in range(40)]
        inside = sum(abs(p["ber"] - exact["ber"]) < p["confidence"] for p in points)
        self.assertGreaterEqual(inside, 34)

    def test_SameSeed_YieldsSameCounts(self):
        arguments = ["--range", "2", "--preset", "80211_3_4", "--frame-bits", "800",
                     "--max-bits", "3e5", "--min-errors", "0"]
        one = self.ber(*arguments)["points"]
        other = self.ber(*arguments, "--threads", "2", "--batch", "32")["points"]
        different = self.ber(*arguments, "--seed", "2")["points"]
        self.assertEqual(one, other)
        self.assertEqual(one, self.ber(*arguments, "--positive-bit", "0")["points"])
        self.assertNotEqual(one, different)
        self.assertGreater(one[0]["frame_errors"], 0)

    def test_ChannelOption_SelectsDeviceOrHost(self):
        for decoder in ("viterbi", "ldpc"):
            check_channel(self, decoder)

    def test_InfiniteEbN0_YieldsNoErrors(self):
        point = self.ber("--range", "inf", "--max-bits", "1e6")["points"][0]
        self.assertEqual(point["errors"], 0)
        self.assertGreaterEqual(point["bits"], 1e6)

    def test_CatastrophicCode_HasNoUnionBound(self):
        """The polynomials 1 + D² and 1 + D have the common factor 1 + D. A message states that the
        code has no union bound, and the report has no theory."""
        result = run("ber", "viterbi", "--backend", "cpu", "--constraint-length", "3",
                     "--polynomials", "5,6", "--range", "3", "--max-bits", "1e4", "--json", "-")
        self.assertEqual(result.stderr, b"gpufec: theory is not shown: K=3 (5,6) is catastrophic "
                                        b"and has no union bound\n")
        self.assertIsNone(json.loads(result.stdout)["points"][0]["theory"])

    def test_TableAndPlot_AreWritten(self):
        check_plot(self, "viterbi", "--range", "1:1:2")


class qa_ber_ldpc(unittest.TestCase):

    def test_TableAndPlot_AreWritten(self):
        check_plot(self, "ldpc", "--frame-size", "short", "--rate", "8/9", "--range",
                   "3.5:0.5:4", "--max-frames", "20", "--reference")

    def test_UntilClean_EndsAtPointWithoutErrors(self):
        points = self.ber("--rate", "8/9", "--range", "3:1:9", "--max-frames", "20",
                          "--until-clean")["points"]
        self.assertEqual(points[-1]["frame_errors"], 0)
        self.assertLess(len(points), 7)
        self.assertTrue(all(p["frame_errors"] for p in points[:-1]))

    def ber(self, *arguments):
        result = run("ber", "ldpc", "--backend", "cpu", "--frame-size", "short", "--json",
                     "-", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, b"")
        return json.loads(result.stdout)

    def test_FrameErrorRate_FallsFromOneToZeroWithEbN0(self):
        points = self.ber("--range", "0.6:0.8:2.2", "--max-frames", "300")["points"]
        self.assertEqual(points[0]["fer"], 1)
        self.assertEqual(points[0]["frame_errors"], 20)
        self.assertEqual(points[0]["mean_iterations"], 25)
        self.assertEqual(points[2]["frames"], 300)
        self.assertEqual(points[2]["errors"], 0)
        # Es/N0 in dB is Eb/N0 plus 10 log10(2 · 4/9): QPSK at code rate 4/9.
        self.assertAlmostEqual(points[1]["esn0_db"] - points[1]["ebn0_db"], -0.5115,
                               delta=1e-4)

    def test_SameSeed_YieldsSameCounts(self):
        arguments = ["--range", "1.1", "--max-frames", "100", "--min-frame-errors", "0"]
        one = self.ber(*arguments)["points"]
        other = self.ber(*arguments, "--threads", "2", "--batch", "5")["points"]
        self.assertEqual(one, other)
        self.assertNotEqual(one, self.ber(*arguments, "--seed", "2")["points"])
        self.assertTrue(0 < one[0]["frame_errors"] < 100)

    def test_MinErrors_EndsAtSameFrameForAnyBatch(self):
        arguments = ["--range", "1.1", "--min-frame-errors", "3"]
        one = self.ber(*arguments)["points"]
        self.assertEqual(one, self.ber(*arguments, "--batch", "7")["points"])
        self.assertEqual(one[0]["frame_errors"], 3)

    def test_BitsThatAreNotSent_HaveNoNoise(self):
        """33 of the 68 columns of the base graph are sent. With float input, fewer frames are wrong
        than with int8 input."""
        wrong = []
        for name in ("int8", "float"):
            result = run("ber", "ldpc", "--backend", "cpu", "--standard", "nr", "--frame-size",
                         "bg1 z32", "--rate", "22/33", "--range", "2", "--max-frames", "300",
                         "--min-frame-errors", "0", "--soft-input", name, "--json", "-")
            point, = json.loads(result.stdout)["points"]
            self.assertAlmostEqual(point["esn0_db"] - point["ebn0_db"],
                                   10 * math.log10(2 * 22 / 33), delta=1e-4)
            wrong.append(point["frame_errors"])
        self.assertLess(wrong[0], 150)
        self.assertTrue(0 < wrong[1] < wrong[0], wrong)

    def test_SumProductReference_HasNoMoreErrors(self):
        arguments = ["--max-frames", "60", "--min-frame-errors", "0",
                     "--sim-threads", "2", "--max-iterations", "20", "--reference"]
        for more in (["--range", "1.1", "--precision", "int8"],
                     ["--range", "0.95", "--precision", "float", "--soft-input", "float"]):
            point = self.ber(*arguments, *more)["points"][0]
            self.assertEqual(point["sum_product"]["frames"], 60)
            self.assertTrue(0 < point["frame_errors"] < 40)
            self.assertLessEqual(point["sum_product"]["frame_errors"],
                                 point["frame_errors"])

    def test_InfiniteEbN0_YieldsNoErrors(self):
        point = self.ber("--range", "inf", "--max-frames", "10", "--reference")["points"][0]
        self.assertEqual((point["frames"], point["errors"]), (10, 0))
        self.assertEqual(point["mean_iterations"], 1)
        self.assertEqual(point["sum_product"]["errors"], 0)

    def test_EsN0Range_IsShownInTable(self):
        result = run("ber", "ldpc", "--backend", "cpu", "--frame-size", "short", "--range",
                     "2", "--es-n0", "--max-frames", "10")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"Es/N0", result.stdout)
        self.assertIn(b"  2.51   2.00", result.stdout)


class qa_ber_sync(unittest.TestCase):

    def ber(self, *arguments):
        result = run("ber", "sync", "--backend", "cpu", "--json", "-", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, b"")
        return json.loads(result.stdout)

    def test_KnownCodes_HaveKnownErrorRates(self):
        for more, known in ((["--range", "1e-3,1e-2"], [0.0073, 0.0713]),
                            (["--range", "1e-2", "--codebook", "random"], [0.0222]),
                            (["--range", "1e-2", "--mode", "stream"], [0.0713])):
            points = self.ber("--min-errors", "0", "--max-frames", "150", *more)["points"]
            for point, rate in zip(points, known, strict=True):
                self.assertEqual(point["frames"], 150)
                self.assertEqual(point["symbols"], 150 * 210)
                self.assertEqual((point["invalid"], point["unlocked"]), (0, 0))
                self.assertLess(abs(point["ser"] - rate), 3.29 * point["ser_deviation"])

    def test_SameSeed_YieldsSameCounts(self):
        for mode in ("framed", "stream"):
            arguments = ["--range", "0.02", "--frame-symbols", "50", "--max-frames", "40",
                         "--mode", mode, "--p-substitute", "0.01"]
            one = self.ber(*arguments)["points"]
            other = self.ber(*arguments, "--threads", "2", "--batch", "5", "--soft-input",
                             "float")["points"]
            self.assertEqual(one, other)
            self.assertNotEqual(one, self.ber(*arguments, "--seed", "2")["points"])

    def test_MinErrors_EndsAtSameFrameForAnyBatch(self):
        arguments = ["--range", "0.01:0.01:0.02", "--min-errors", "100"]
        one = self.ber(*arguments)["points"]
        self.assertEqual(one, self.ber(*arguments, "--batch", "7")["points"])
        self.assertEqual([p["p_insert"] for p in one], [0.01, 0.02])
        for point in one:
            self.assertTrue(100 <= point["errors"] < 300)

    def test_ChannelWithoutEvents_YieldsNoErrors(self):
        for mode in ("framed", "stream"):
            point = self.ber("--range", "0", "--mode", mode, "--max-frames",
                             "20")["points"][0]
            self.assertEqual((point["frames"], point["errors"]), (20, 0))

    def test_SeparateEventProbabilities_AreUsed(self):
        point = self.ber("--p-insert", "0.03", "--p-delete", "0", "--alphabet", "4",
                         "--codebook", "random", "--n", "5", "--q", "32", "--max-frames",
                         "50")["points"][0]
        self.assertEqual((point["p_insert"], point["p_delete"]), (0.03, 0))
        self.assertTrue(0 < point["ser"] < 0.1)

    def test_CertainLikelihoods_DecodeLikeHardSymbols(self):
        for mode in ("framed", "stream"):
            arguments = ["--range", "0.02", "--alphabet", "4", "--codebook", "random", "--n", "5",
                         "--q", "16", "--frame-symbols", "80", "--max-frames", "20", "--mode",
                         mode]
            self.assertEqual(self.ber(*arguments)["points"],
                             self.ber(*arguments, "--soft-input", "float")["points"])

    def test_MoreReads_ReduceErrors(self):
        arguments = ["--range", "0.03", "--codebook", "random", "--frame-symbols", "40",
                     "--min-errors", "0", "--max-frames", "60"]
        one, = self.ber(*arguments)["points"]
        self.assertEqual(self.ber(*arguments, "--reads", "1")["points"], [one])
        report = self.ber(*arguments, "--reads", "2")
        two, = report["points"]
        self.assertEqual((two["frames"], two["symbols"]), (60, 2400))
        self.assertGreater(one["errors"], 50)
        self.assertLess(two["errors"], one["errors"] / 3)
        self.assertEqual(self.ber(*arguments, "--reads", "2", "--threads", "2", "--batch",
                                  "7")["points"], [two])
        more, = self.ber(*arguments, "--reads", "4", "--passes", "1")["points"]
        self.assertLess(more["errors"], two["errors"])
        self.assertEqual((report["options"]["reads"], report["options"]["passes"]), (2, 2))
        with tempfile.TemporaryDirectory() as folder:
            earlier = os.path.join(folder, "report")
            with open(earlier, "w") as file:
                json.dump(report, file)
            result = run("ber", "sync", "--backend", "cpu", *arguments, "--resume", earlier)
            self.assertIn(b'its "options" is different', result.stderr)

    def test_TableAndPlot_AreWritten(self):
        with tempfile.TemporaryDirectory() as folder:
            png = os.path.join(folder, "ser.png")
            result = run("ber", "sync", "--backend", "cpu", "--range", "1e-3,1e-2",
                         "--max-frames", "10", "--plot", png)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(b"SER", result.stdout)
            with open(png, "rb") as file:
                self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")


if __name__ == "__main__":
    main()
