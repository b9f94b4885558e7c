#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""The gpufec command line tool, called as a user calls it. Usage: qa_gpufec.py TOOL TOOL_WITH_SIMULATED_DEVICES"""

import array
import fcntl
import json
import math
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

TOOL = "gpufec"
SIMULATED = ""
MAKE_MANUAL = str(pathlib.Path(__file__).with_name("make_manual.py"))


def run(*arguments, **keywords):
    return subprocess.run([TOOL, *arguments], capture_output=True, timeout=120,
                          **keywords)


def encode_k7(bits):
    """171, 133 octal, one coded bit per item."""
    register, coded = 0, []
    for bit in bits:
        register = (register >> 1) | (bit << 6)
        coded += [bin(register & polynomial).count("1") & 1
                  for polynomial in (0o171, 0o133)]
    return coded


def pack(bits):
    bits = bits + [0] * (-len(bits) % 8)
    return bytes(int("".join(map(str, bits[i:i + 8])), 2)
                 for i in range(0, len(bits), 8))


def check_plot(test, decoder, *arguments):
    """That `ber` prints a table and draws a picture."""
    with tempfile.TemporaryDirectory() as folder:
        png = os.path.join(folder, "ber.png")
        result = run("ber", decoder, "--backend", "cpu", *arguments, "--plot", png)
        test.assertEqual(result.returncode, 0, result.stderr)
        test.assertIn("Eb/N0", result.stdout.decode())
        with open(png, "rb") as file:
            test.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")


class qa_usage(unittest.TestCase):

    def test_help(self):
        for command in ([], ["info"], ["bench", "viterbi"], ["ber", "viterbi"],
                        ["decode", "viterbi"], ["bench", "ldpc"], ["ber", "ldpc"],
                        ["decode", "ldpc"], ["bench", "sync"], ["ber", "sync"],
                        ["decode", "sync"]):
            result = run(*command, "--help")
            self.assertEqual(result.returncode, 0, command)
            self.assertIn(b"Usage: gpufec", result.stdout)
            self.assertIn(b"Exit status", result.stdout)

    def check_refused(self, expected, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, 2, (arguments, result.stderr))
        self.assertIn(expected, result.stderr.decode())
        self.assertEqual(result.stdout, b"")

    def test_nothing(self):
        result = run()
        self.assertEqual(result.returncode, 2)

    def test_unknown_names(self):
        self.check_refused("sing", "sing")
        self.check_refused("viterbi", "ber", "turbo")
        self.check_refused("--sing", "ber", "viterbi", "--sing")
        self.check_refused("--preset", "ber", "viterbi", "--preset", "mars")
        # Placeholders of Boost's messages, which it filled in for ever.
        for option in ("--%original_token%", "--x%value%", "--ba=%original_token%"):
            self.check_refused(option, "decode", "viterbi", option, "a", "b")

    def test_errors_name_the_option(self):
        for option, value in (("constraint-length", "2"), ("polynomials", "178,133"),
                              ("puncturing", "10"), ("termination", "sometimes"),
                              ("frame-bits", "-3"), ("frame-bits", "100"),
                              ("soft-input", "int7"),
                              ("backend", "abacus"), ("decode-length", "33"),
                              ("overlap", "1"), ("slots", "99"), ("threads", "0"),
                              ("device", "a"), ("cuda-kernel", "none"),
                              ("positive-bit", "2")):
            self.check_refused("--" + option, "ber", "viterbi", "--" + option, value)
        self.check_refused("--range", "ber", "viterbi", "--range", "4:1:2")
        self.check_refused("--max-bits", "ber", "viterbi", "--max-bits", "-1")
        self.check_refused("--runs", "bench", "viterbi", "--runs", "0")
        self.check_refused("--pace", "decode", "viterbi", "--pace", "-1", "a", "b")
        self.check_refused("OUT", "decode", "viterbi", "a")

    def test_ldpc_errors_name_the_option(self):
        for option, value in (("standard", "dvb"), ("frame-size", "medium"),
                              ("rate", "7/8"), ("code-file", "/nowhere/code.alist"),
                              ("soft-input", "int7"), ("llr-scale", "0"),
                              ("algorithm", "sum"), ("precision", "int4"),
                              ("schedule", "serial"), ("max-iterations", "0"),
                              ("early-stop", "perhaps"), ("offset", "100"),
                              ("normalization", "2"), ("output", "bits"),
                              ("batch", "-1"), ("slots", "99"), ("max-latency-ms", "-1"),
                              ("backend", "abacus"), ("device", "a"), ("threads", "0"),
                              ("positive-bit", "-1")):
            self.check_refused("--" + option, "decode", "ldpc", "--" + option, value,
                               "-", "-")
        self.check_refused("--range", "ber", "ldpc", "--range", "1:0:2")
        self.check_refused("--max-frames", "ber", "ldpc", "--max-frames", "-1")
        self.check_refused("--sim-threads", "ber", "ldpc", "--sim-threads", "-1")
        self.check_refused("--runs", "bench", "ldpc", "--runs", "0")
        self.check_refused("--seconds", "bench", "ldpc", "--seconds", "0")
        self.check_refused("--pace", "decode", "ldpc", "--pace", "-1", "a", "b")
        self.check_refused("OUT", "decode", "ldpc", "a")

    def test_sync_errors_name_the_option(self):
        for option, value in (("codebook", "/nowhere/book"), ("q", "1"), ("q", "-1"),
                              ("n", "0"), ("frame-symbols", "0"), ("alphabet", "1"),
                              ("alphabet", "3"), ("p-insert", "-0.1"), ("p-delete", "nan"),
                              ("p-substitute", "2"), ("mode", "frames"),
                              ("soft-input", "int8"), ("output", "bits"),
                              ("precision", "half"), ("form", "square"),
                              ("storage", "none"), ("receiver", "lattice"),
                              ("insertion-cap", "-1"), ("state-threshold", "1e-9"),
                              ("lattice-threshold", "1"), ("mn-min", "1"),
                              ("mn-max", "-1"), ("start-first", "2000000"),
                              ("start-prior", "1;2"), ("end-prior", "0,0"),
                              ("exclusion", "0"), ("lookahead", "-1"), ("acquire", "-1"),
                              ("batch", "-1"), ("slots", "99"), ("max-latency-ms", "-1"),
                              ("backend", "abacus"), ("device", "a"), ("threads", "0")):
            self.check_refused("--" + option, "bench", "sync", "--" + option, value)
        self.check_refused("--n", "ber", "sync", "--codebook", "marker", "--n", "9")
        self.check_refused("--marker", "ber", "sync", "--codebook", "marker", "--marker",
                           "012")
        for wrong in ("0.5", "-1", "0.1:0:0.2", "1e-3,,2e-3", "a"):
            self.check_refused("--range", "ber", "sync", "--range", wrong)
        self.check_refused("--max-frames", "ber", "sync", "--max-frames", "-1")
        self.check_refused("--runs", "bench", "sync", "--runs", "0")
        self.check_refused("--seconds", "bench", "sync", "--seconds", "0")
        self.check_refused("--pace", "decode", "sync", "--pace", "-1", "a", "b")
        for command in (["ber", "sync"], ["decode", "sync", "--lengths", os.devnull]):
            files = ["a", "b"] if command[0] == "decode" else []
            for option, value in (("reads", "0"), ("reads", "257"), ("reads", "two"),
                                  ("passes", "0"), ("passes", "17")):
                self.check_refused("--" + option, *command, "--" + option, value, *files)
        self.check_refused("--reads", "ber", "sync", "--mode", "stream", "--reads", "2")
        self.check_refused("--lengths", "decode", "sync", "a", "b")
        self.check_refused("--lengths", "decode", "sync", "--lengths", "/nowhere", "a", "b")
        self.check_refused("--lengths", "decode", "sync", "--mode", "stream", "--lengths",
                           "/nowhere", "a", "b")
        self.check_refused("OUT", "decode", "sync", "a")

    def test_missing_device_fails(self):
        for decoder in ("viterbi", "ldpc", "sync"):
            result = run("ber", decoder, "--backend", "cuda", "--device", "63")
            self.assertNotEqual(result.returncode, 0)
            self.assertTrue(result.stderr)


class qa_info(unittest.TestCase):

    def test_json(self):
        report = json.loads(run("info", "--json", "-").stdout)
        names = [p["name"] for p in report["viterbi_presets"]]
        self.assertIn("dvb_3_4", names)
        self.assertTrue(report["cpu_backend"])
        framed, stream = report["sync_defaults"]
        self.assertEqual((framed["drifts"], framed["lookahead"]), (33, 0))
        self.assertEqual((stream["mode"], stream["lookahead"]), ("stream", 7))
        self.assertTrue(report["cuda_devices"] or report["cuda_missing"])

    def test_text(self):
        result = run("info")
        self.assertEqual(result.returncode, 0)
        self.assertIn(b"dvb_3_4", result.stdout)


class qa_bench(unittest.TestCase):

    def test_json(self):
        for more in ([], ["--soft-input", "float", "--preset", "dvb_3_4"],
                     ["--preset", "wimax", "--frame-bits", "996", "--soft-input",
                      "packed4"]):
            result = run("bench", "viterbi", "--backend", "cpu", "--seconds", "0.2",
                         "--runs", "3", "--json", "-", *more)
            self.assertEqual(result.returncode, 0, result.stderr)
            rate = json.loads(result.stdout)["rates"][0]
            self.assertEqual(len(rate["runs"]), 3)
            self.assertGreater(rate["median_bits_per_s"], 0)
            self.assertLessEqual(rate["least_bits_per_s"], rate["median_bits_per_s"])


    def test_ldpc(self):
        for more in (["--frame-size", "short", "--early-stop", "false",
                      "--max-iterations", "7"],
                     ["--frame-size", "short", "--rate", "8/9", "--soft-input", "float",
                      "--precision", "float", "--eb-n0", "6"]):
            result = run("bench", "ldpc", "--backend", "cpu", "--seconds", "0.2",
                         "--runs", "3", "--json", "-", *more)
            self.assertEqual(result.returncode, 0, result.stderr)
            report = json.loads(result.stdout)
            self.assertEqual([r["what"] for r in report["rates"]],
                             ["stream", "host to host"])
            for rate in report["rates"]:
                self.assertEqual(len(rate["runs"]), 3)
                self.assertLessEqual(rate["least_bits_per_s"], rate["median_bits_per_s"])
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


    def test_sync(self):
        for more in (["--mode", "stream", "--frame-symbols", "40"],
                     ["--form", "corridor", "--receiver", "trellis", "--n", "5", "--q",
                      "4", "--frame-symbols", "20", "--soft-input", "float"],
                     ["--codebook", "random", "--output", "posteriors", "--threads", "2"],
                     ["--codebook", "random", "--alphabet", "3", "--soft-input", "float"]):
            result = run("bench", "sync", "--backend", "cpu", "--seconds", "0.2",
                         "--runs", "3", "--json", "-", *more)
            self.assertEqual(result.returncode, 0, result.stderr)
            report = json.loads(result.stdout)
            self.assertEqual([r["what"] for r in report["rates"]],
                             ["stream", "host to host"])
            for rate in report["rates"]:
                self.assertEqual(len(rate["runs"]), 3)
                self.assertGreater(rate["least_bits_per_s"], 0)
                self.assertLessEqual(rate["least_bits_per_s"], rate["median_bits_per_s"])
            # One batch alone cannot be faster than all slots in flight, but for noise.
            bits = report["options"]["frame_symbols"] * math.log2(report["options"]["q"])
            alone = report["batch"] * bits / report["batch_latency_s"]
            self.assertLess(alone, 5 * report["rates"][1]["median_bits_per_s"])
        result = run("bench", "sync", "--backend", "cpu", "--seconds", "0.2", "--runs", "1")
        self.assertIn(b"from slot to slot", result.stdout)


def check_channel(test, decoder):
    """That data and noise are made where --channel says, or it says why not."""
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
        test.assertIn(b'--channel is "device": allowed are auto and host', result.stderr)
    result = run(*call, "--channel", "device")
    if result.returncode: # no GPU here
        test.assertEqual(result.returncode, 1)
        test.assertIn(b"CUDA", result.stderr)
    else:
        on_device = json.loads(result.stdout)
        test.assertEqual(on_device["decoder"]["channel"], "device")
        test.assertEqual(on_device["points"], on_host["points"])
        chosen = json.loads(run(*call).stdout)
        test.assertEqual(chosen["decoder"], on_device["decoder"])
        test.assertEqual(chosen["points"], on_device["points"])


class qa_ber(unittest.TestCase):

    def ber(self, *arguments):
        result = run("ber", "viterbi", "--backend", "cpu", "--json", "-", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, b"")  # no progress where there is no terminal
        return json.loads(result.stdout)

    def test_range_and_reference(self):
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

    def test_same_seed_same_figures(self):
        arguments = ["--range", "2", "--preset", "80211_3_4", "--frame-bits", "800",
                     "--max-bits", "3e5", "--min-errors", "0"]
        one = self.ber(*arguments)["points"]
        other = self.ber(*arguments, "--threads", "2", "--batch", "32")["points"]
        different = self.ber(*arguments, "--seed", "2")["points"]
        self.assertEqual(one, other)
        self.assertEqual(one, self.ber(*arguments, "--positive-bit", "0")["points"])
        self.assertNotEqual(one, different)
        self.assertGreater(one[0]["frame_errors"], 0)

    def test_where_noise_is_made(self):
        for decoder in ("viterbi", "ldpc"):
            check_channel(self, decoder)

    def test_no_noise(self):
        point = self.ber("--range", "inf", "--max-bits", "1e6")["points"][0]
        self.assertEqual(point["errors"], 0)
        self.assertGreaterEqual(point["bits"], 1e6)

    def test_table_and_plot(self):
        check_plot(self, "viterbi", "--range", "1:1:2")


class qa_ber_ldpc(unittest.TestCase):

    def test_table_and_plot(self):
        check_plot(self, "ldpc", "--frame-size", "short", "--rate", "8/9", "--range",
                   "3.5:0.5:4", "--max-frames", "20", "--reference")

    def test_until_clean(self):
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

    def test_waterfall(self):
        points = self.ber("--range", "0.6:0.8:2.2", "--max-frames", "300")["points"]
        self.assertEqual(points[0]["fer"], 1)
        self.assertEqual(points[0]["frame_errors"], 20)
        self.assertEqual(points[0]["mean_iterations"], 25)
        self.assertEqual(points[2]["frames"], 300)
        self.assertEqual(points[2]["errors"], 0)
        # QPSK, k/n = 4/9.
        self.assertAlmostEqual(points[1]["esn0_db"] - points[1]["ebn0_db"], -0.5115,
                               delta=1e-4)

    def test_same_seed_same_figures(self):
        arguments = ["--range", "1.1", "--max-frames", "100", "--min-frame-errors", "0"]
        one = self.ber(*arguments)["points"]
        other = self.ber(*arguments, "--threads", "2", "--batch", "5")["points"]
        self.assertEqual(one, other)
        self.assertNotEqual(one, self.ber(*arguments, "--seed", "2")["points"])
        self.assertTrue(0 < one[0]["frame_errors"] < 100)

    def test_stops_at_the_same_frame(self):
        arguments = ["--range", "1.1", "--min-frame-errors", "3"]
        one = self.ber(*arguments)["points"]
        self.assertEqual(one, self.ber(*arguments, "--batch", "7")["points"])
        self.assertEqual(one[0]["frame_errors"], 3)

    def test_sum_product_on_the_same_noise(self):
        arguments = ["--max-frames", "60", "--min-frame-errors", "0",
                     "--sim-threads", "2", "--max-iterations", "20", "--reference"]
        for more in (["--range", "1.1", "--precision", "int8"],
                     ["--range", "0.95", "--precision", "float", "--soft-input", "float"]):
            point = self.ber(*arguments, *more)["points"][0]
            self.assertEqual(point["sum_product"]["frames"], 60)
            # Both wrong now and then, sum-product no more often.
            self.assertTrue(0 < point["frame_errors"] < 40)
            self.assertLessEqual(point["sum_product"]["frame_errors"],
                                 point["frame_errors"])

    def test_no_noise(self):
        point = self.ber("--range", "inf", "--max-frames", "10", "--reference")["points"][0]
        self.assertEqual((point["frames"], point["errors"]), (10, 0))
        self.assertEqual(point["mean_iterations"], 1)
        self.assertEqual(point["sum_product"]["errors"], 0)

    def test_table(self):
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

    def test_known_error_rates(self):
        for more, known in ((["--range", "1e-3,1e-2"], [0.0073, 0.0713]),
                            (["--range", "1e-2", "--codebook", "random"], [0.0222]),
                            (["--range", "1e-2", "--mode", "stream"], [0.0713])):
            points = self.ber("--min-errors", "0", "--max-frames", "150", *more)["points"]
            for point, rate in zip(points, known, strict=True):
                self.assertEqual(point["frames"], 150)
                self.assertEqual(point["symbols"], 150 * 210)
                self.assertEqual((point["invalid"], point["unlocked"]), (0, 0))
                self.assertLess(abs(point["ser"] - rate), 3.29 * point["ser_deviation"])

    def test_same_seed_same_figures(self):
        for mode in ("framed", "stream"):
            arguments = ["--range", "0.02", "--frame-symbols", "50", "--max-frames", "40",
                         "--mode", mode, "--p-substitute", "0.01"]
            one = self.ber(*arguments)["points"]
            other = self.ber(*arguments, "--threads", "2", "--batch", "5", "--soft-input",
                             "float")["points"]
            self.assertEqual(one, other)
            self.assertNotEqual(one, self.ber(*arguments, "--seed", "2")["points"])

    def test_stops_at_the_same_frame(self):
        arguments = ["--range", "0.01:0.01:0.02", "--min-errors", "100"]
        one = self.ber(*arguments)["points"]
        self.assertEqual(one, self.ber(*arguments, "--batch", "7")["points"])
        self.assertEqual([p["p_insert"] for p in one], [0.01, 0.02])
        for point in one:
            self.assertTrue(100 <= point["errors"] < 300)

    def test_no_errors(self):
        for mode in ("framed", "stream"):
            point = self.ber("--range", "0", "--mode", mode, "--max-frames",
                             "20")["points"][0]
            self.assertEqual((point["frames"], point["errors"]), (20, 0))

    def test_channels_of_their_own(self):
        point = self.ber("--p-insert", "0.03", "--p-delete", "0", "--alphabet", "4",
                         "--codebook", "random", "--n", "5", "--q", "32", "--max-frames",
                         "50")["points"][0]
        self.assertEqual((point["p_insert"], point["p_delete"]), (0.03, 0))
        self.assertTrue(0 < point["ser"] < 0.1)

    def test_likelihoods_that_are_certain(self):
        for mode in ("framed", "stream"):
            arguments = ["--range", "0.02", "--alphabet", "4", "--codebook", "random", "--n", "5",
                         "--q", "16", "--frame-symbols", "80", "--max-frames", "20", "--mode",
                         mode]
            self.assertEqual(self.ber(*arguments)["points"],
                             self.ber(*arguments, "--soft-input", "float")["points"])

    def test_more_reads_err_less(self):
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
            self.assertIn(b'its "options" is another', result.stderr)

    def test_table_and_plot(self):
        with tempfile.TemporaryDirectory() as folder:
            png = os.path.join(folder, "ser.png")
            result = run("ber", "sync", "--backend", "cpu", "--range", "1e-3,1e-2",
                         "--max-frames", "10", "--plot", png)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(b"SER", result.stdout)
            with open(png, "rb") as file:
                self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")


# Bits and checks of a (7, 4) Hamming code: the message is its first four bits.
HAMMING = ("7 3\n3 4\n1 1 2 1 2 2 3\n4 4 4\n1 0 0\n2 0 0\n1 2 0\n3 0 0\n1 3 0\n2 3 0\n"
           "1 2 3\n1 3 5 7\n2 3 6 7\n4 5 6 7\n")


class qa_decode_ldpc(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.code = os.path.join(self.folder.name, "hamming.alist")
        with open(self.code, "w") as file:
            file.write(HAMMING)
        generator = random.Random(5)
        self.codewords = []
        while len(self.codewords) < 500:
            word = [generator.getrandbits(1) for _ in range(7)]
            a, b, c, d, e, f, g = word
            if not (a ^ c ^ e ^ g or b ^ c ^ f ^ g or d ^ e ^ f ^ g):
                self.codewords.append(word)
        # One erased bit per frame.
        self.soft = b"".join(
            bytes(0 if i == n % 7 else 256 - 20 if bit else 20
                  for i, bit in enumerate(word))
            for n, word in enumerate(self.codewords))

    def decode(self, *arguments, **keywords):
        return run("decode", "ldpc", "--backend", "cpu", "--code-file", self.code,
                   "--output", "codeword", *arguments, **keywords)

    def test_file(self):
        source, sink = (os.path.join(self.folder.name, n) for n in ("in", "out"))
        with open(source, "wb") as file:
            file.write(self.soft + b"\1\2\3")  # an incomplete frame is dropped
        result = self.decode(source, sink)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(sink, "rb") as file:
            self.assertEqual(file.read(), b"".join(pack(w) for w in self.codewords))

    def test_pipe_unpacked(self):
        result = self.decode("--unpacked", "-", "-", input=self.soft)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, bytes(sum(self.codewords, [])))

    def test_the_other_sign(self):
        result = self.decode("--unpacked", "--positive-bit", "1", "-", "-",
                             input=bytes(-v & 255 for v in self.soft))
        self.assertEqual(result.stdout, bytes(sum(self.codewords, [])))

    def test_llrs(self):
        """A repetition of one check: the sign of the others and the least of them."""
        code = os.path.join(self.folder.name, "parity.alist")
        with open(code, "w") as file:
            file.write("3 1\n1 3\n1 1 1\n3\n1\n1\n1\n1 2 3\n")
        values = bytes(v & 255 for v in (9, -5, 20, -30, -8, 4))
        arguments = ("decode", "ldpc", "--backend", "cpu", "--code-file", code,
                     "--algorithm", "min_sum", "--precision", "int16", "--llr-scale", "12",
                     "--max-iterations", "1", "--output")
        for output, expected in (("extrinsic", (-5, 9, -5, -4, -4, 8)),
                                 ("llr", (4, 4, 15, -34, -12, 12))):
            result = run(*arguments, output, "-", "-", input=values)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stdout, bytes(v & 255 for v in expected))
        result = run(*arguments, "llr", "--unpacked", "-", "-", input=values)
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"--unpacked is given", result.stderr)
        result = run("ber", "ldpc", "--output", "llr")
        self.assertEqual(result.returncode, 2)
        self.assertIn(b'--output is "llr": allowed are message and codeword', result.stderr)
        result = run("bench", "ldpc", "--backend", "cpu", "--code-file", code, "--output",
                     "llr", "--seconds", "0.1", "--runs", "1")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_dvbs2_in_real_time(self):
        begin = time.monotonic()  # 4 · 7200 bits at 36 kb/s
        result = run("decode", "ldpc", "--backend", "cpu", "--frame-size", "short",
                     "--pace", "36000", "-", "-", input=b"\x14" * (4 * 16200))
        self.assertEqual(result.stdout, bytes(4 * 900))
        self.assertGreater(time.monotonic() - begin, 0.75)

    def test_empty(self):
        result = self.decode("-", "-", input=b"")
        self.assertEqual((result.returncode, result.stdout), (0, b""))


class qa_circulants(unittest.TestCase):
    ALIST = ("4 2\n1 2\n1 1 1 1\n2 2\n1\n2\n2\n1\n1 4\n2 3\n")  # circulants of two

    def test_an_alist_becomes_a_base_matrix_that_decodes_alike(self):
        with tempfile.TemporaryDirectory() as folder:
            alist, base = folder + "/alist", folder + "/base"
            with open(alist, "w") as file:
                file.write(self.ALIST)
            result = run("circulants", alist, base)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(b"circulants of 2, 1 rows", result.stderr)
            with open(base) as file:
                self.assertEqual(file.read(), "lifting 2\n0 1\n")
            values = np.array([9, -9, -9, 0, 9, 9, 0, 9], np.int8).tobytes()
            with open(folder + "/values", "wb") as file:
                file.write(values)
            decoded = []
            for code in (alist, base):
                result = run("decode", "ldpc", "--backend", "cpu", "--code-file", code,
                             "--output", "codeword", folder + "/values", folder + "/bits")
                self.assertEqual(result.returncode, 0, result.stderr)
                with open(folder + "/bits", "rb") as file:
                    decoded.append(file.read())
            self.assertEqual(decoded[0], decoded[1])
            self.assertEqual(decoded[0], bytes([0b01100000, 0]))
            result = run("circulants", alist, alist)
            self.assertEqual(result.returncode, 2)
            self.assertIn(b"it is the file that is read", result.stderr)
            with open(alist) as file:
                self.assertEqual(file.read(), self.ALIST)
            result = run("circulants", "--lifting", "3", alist, base)
            self.assertEqual(result.returncode, 2)
            self.assertIn(b"--lifting is 3: it does not divide the 2 checks", result.stderr)

    def test_standards_and_positions(self):
        result = run("ber", "ldpc", "--backend", "cpu", "--standard", "nr", "--frame-size",
                     "bg2 z8", "--rate", "10/20", "--punctured", "150,160-162",
                     "--shortened", "16-19", "--range", "8", "--max-frames", "50", "--json", "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual(report["points"][0]["frame_errors"], 0)
        for option, value in (("--punctured", "1-"), ("--shortened", "5-3"),
                              ("--punctured", "99999"), ("--frame-size", "big"),
                              ("--rate", "7/9"), ("--standard", "dvb")):
            result = run("ber", "ldpc", option, value)
            self.assertEqual(result.returncode, 2, option)
            self.assertIn(option.encode() + b" is ", result.stderr)


class qa_decode_sync(unittest.TestCase):
    """Random words of 8 bits for 4 symbols, and what is received of them."""

    FRAMES, SYMBOLS = 30, 20

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.book = os.path.join(self.folder.name, "book")
        self.lengths = os.path.join(self.folder.name, "lengths")
        generator = random.Random(5)
        words = [generator.sample(range(256), 4) for _ in range(self.SYMBOLS)]
        with open(self.book, "w") as file:
            for row in sum(words, []):
                file.write(f"{row:08b}\n")
        self.sent = [generator.randrange(4) for _ in range(self.FRAMES * self.SYMBOLS)]
        self.frames = []
        for f in range(self.FRAMES):
            symbols = self.sent[f * self.SYMBOLS:(f + 1) * self.SYMBOLS]
            bits = [int(b) for word, D in zip(words, symbols) for b in f"{word[D]:08b}"]
            if f == 3: # one bit is lost, and one comes too much
                del bits[70]
            if f == 5:
                bits.insert(50, 1 - bits[50])
            self.frames.append(bits)
        with open(self.lengths, "w") as file:
            file.write(" ".join(str(len(f)) for f in self.frames))
        self.received = bytes(sum(self.frames, []))

    def decode(self, *arguments, **keywords):
        return run("decode", "sync", "--backend", "cpu", "--codebook", self.book, "--n", "8",
                   "--q", "4", "--frame-symbols", str(self.SYMBOLS), *arguments, "-", "-",
                   **keywords)

    def check(self, decoded):
        """All symbols but some beside the two slips."""
        self.assertEqual(len(decoded), len(self.sent))
        wrong = [i for i, (a, b) in enumerate(zip(decoded, self.sent)) if a != b]
        self.assertTrue(all(abs(i - 68) <= 2 or abs(i - 106) <= 2 for i in wrong), wrong)

    def test_frames(self):
        result = self.decode("--lengths", self.lengths, input=self.received)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.check(result.stdout)
        soft = array.array("f", list(self.received)).tobytes()
        result = self.decode("--lengths", self.lengths, "--soft-input", "float", "--output",
                             "posteriors", "--batch", "7", input=soft)
        rows = array.array("f", result.stdout)
        rows = [rows[i:i + 4].tolist() for i in range(0, len(rows), 4)]
        self.check([row.index(max(row)) for row in rows])
        for row in rows:
            self.assertAlmostEqual(sum(row), 1, places=5)

    def test_likelihoods_of_symbols(self):
        """Items of several floats, which no buffer holds a whole number of."""
        repeats = 200
        with open(self.lengths, "w") as file:
            file.write(" ".join(str(len(f)) for f in self.frames * repeats))
        received = self.received * repeats
        for alphabet in (3, 4):
            arguments = ("--lengths", self.lengths, "--alphabet", str(alphabet))
            hard = self.decode(*arguments, input=received)
            self.check(hard.stdout[:len(self.sent)])
            one_of_each = [array.array("f", [2 * (x == y) for x in range(alphabet)]).tobytes()
                           for y in range(2)]
            soft = self.decode(*arguments, "--soft-input", "float",
                               input=b"".join(one_of_each[y] for y in received))
            self.assertEqual((soft.returncode, soft.stderr), (0, b""))
            self.assertEqual(soft.stdout, hard.stdout)

    def test_reads(self):
        """Each frame as it is, with a slip, and with another."""
        reads = []
        for frame in self.frames:
            reads += [frame, frame[:40] + frame[41:], frame[:90] + [1] + frame[90:]]
        with open(self.lengths, "w") as file:
            file.write(" ".join(str(len(read)) for read in reads))
        received = bytes(sum(reads, []))
        arguments = ("--lengths", self.lengths, "--reads", "3", "--p-insert", "0.01",
                     "--p-delete", "0.01")
        result = self.decode(*arguments, input=received)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.check(result.stdout)
        small = self.decode(*arguments, "--batch", "2", "--slots", "1", input=received)
        self.assertEqual(small.stdout, result.stdout)
        rows = array.array("f", self.decode(*arguments, "--output", "posteriors", "--passes",
                                            "1", input=received).stdout)
        self.assertEqual(len(rows), 4 * len(self.sent))
        self.check([max(range(4), key=rows[i:i + 4].__getitem__)
                    for i in range(0, len(rows), 4)])

    def test_reads_that_are_missing(self):
        report = os.path.join(self.folder.name, "report")
        with open(self.lengths, "w") as file:
            file.write(" ".join(str(len(frame)) for frame in self.frames[:1] * 7))
        arguments = ("--lengths", self.lengths, "--reads", "3", "--json", report)
        for count, frames, lacking, missing in ((7, 3, 2, 0), (6, 2, 0, 1), (5, 2, 1, 1),
                                                (3, 1, 0, 2)):
            result = self.decode(*arguments, input=bytes(self.frames[0] * count))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stdout, bytes(self.sent[:self.SYMBOLS] * frames))
            self.assertEqual(b"lacks %d of 3 reads" % lacking in result.stderr, lacking > 0)
            with open(report) as file:
                found = json.load(file)
            self.assertEqual((found["frames"], found["missing_reads"],
                              found["missing_frames"]), (frames, lacking, missing))

    def test_llrs(self):
        arguments = ("--lengths", self.lengths, "--output", "llr")
        zero = array.array("b", self.decode(*arguments, input=self.received).stdout)
        one = array.array("b", self.decode(*arguments, "--positive-bit", "1",
                                           input=self.received).stdout)
        self.check([2 * (a < 0) + (b < 0) for a, b in zip(zero[::2], zero[1::2])])
        self.assertEqual(one, array.array("b", [-v for v in zero]))

    def test_stream(self):
        result = self.decode("--mode", "stream", input=self.received)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.check(result.stdout)
        junk = bytes(random.Random(1).getrandbits(1) for _ in range(77))
        result = self.decode("--mode", "stream", "--acquire", "100",
                             input=junk + self.received)
        self.check(result.stdout)

    def test_the_earliest_frame_is_the_first(self):
        for acquire in (159, 160, 161, 320, 1000):
            result = self.decode("--mode", "stream", "--acquire", str(acquire),
                                 input=self.received)
            self.assertEqual((result.returncode, result.stderr), (0, b""), acquire)
            self.check(result.stdout)
        junk = bytes(random.Random(1).getrandbits(1) for _ in range(177))
        result = self.decode("--mode", "stream", "--acquire", "1000",
                             input=junk + self.received)
        self.check(result.stdout)

    def test_files_in_real_time(self):
        source, sink = (os.path.join(self.folder.name, n) for n in ("in", "out"))
        with open(source, "wb") as file:
            file.write(self.received)
        begin = time.monotonic() # 1200 bits at 1200 b/s
        result = run("decode", "sync", "--backend", "cpu", "--codebook", self.book, "--n",
                     "8", "--q", "4", "--frame-symbols", str(self.SYMBOLS), "--mode",
                     "stream", "--pace", "1200", source, sink)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater(time.monotonic() - begin, 0.95)
        with open(sink, "rb") as file:
            self.check(file.read())

    def test_what_is_wrong_is_said(self):
        with open(self.lengths, "a") as file:
            file.write(" 160 160")
        result = self.decode("--lengths", self.lengths, input=self.received + bytes(3))
        self.assertEqual(result.returncode, 0)
        self.assertEqual(len(result.stdout), (self.FRAMES + 1) * self.SYMBOLS)
        self.assertIn(b"1 of 31 frames cannot be decoded", result.stderr)
        self.assertIn(b"the input ends 1 frames too early", result.stderr)
        with open(self.lengths, "w") as file:
            file.write("160\n160\n")
        result = self.decode("--lengths", self.lengths, input=self.received)
        self.assertIn(b"lie behind the last frame", result.stderr)
        self.assertEqual(result.stdout, bytes(self.sent[:2 * self.SYMBOLS]))
        with open(self.lengths, "w") as file:
            file.write("160 many")
        result = self.decode("--lengths", self.lengths, input=b"")
        self.assertEqual(result.returncode, 2)
        self.assertIn(b'"many"', result.stderr)

    def test_empty(self):
        result = self.decode("--mode", "stream", input=b"")
        self.assertEqual((result.returncode, result.stdout), (0, b""))


class qa_decode(unittest.TestCase):

    def setUp(self):
        generator = random.Random(5)
        self.bits = [generator.getrandbits(1) for _ in range(20011)]
        self.soft = bytes(32 if c else 256 - 32 for c in encode_k7(self.bits))

    def test_file(self):
        with tempfile.TemporaryDirectory() as folder:
            source, sink = os.path.join(folder, "in"), os.path.join(folder, "out")
            with open(source, "wb") as file:
                file.write(self.soft)
            result = run("decode", "viterbi", "--backend", "cpu", source, sink)
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(sink, "rb") as file:
                self.assertEqual(file.read(), pack(self.bits))

    def test_pipe_unpacked(self):
        result = run("decode", "viterbi", "--backend", "cpu", "--unpacked", "-", "-",
                     input=self.soft)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, bytes(self.bits))

    def test_the_other_sign(self):
        negated = bytes(-v & 255 for v in self.soft)
        for bit, soft in (("1", self.soft), ("0", negated)):
            result = run("decode", "viterbi", "--backend", "cpu", "--positive-bit", bit, "-",
                         "-", input=soft)
            self.assertEqual((result.returncode, result.stdout), (0, pack(self.bits)))
        # Nothing but the output shows a wrong sign of this code, which is transparent.
        result = run("decode", "viterbi", "--backend", "cpu", "-", "-", input=negated)
        self.assertNotIn(b"WARNING", result.stderr)
        bits = [b >> (7 - i) & 1 for b in result.stdout for i in range(8)]
        self.assertEqual(bits[100:20000 - 100], [1 - b for b in self.bits[100:20000 - 100]])

    def test_empty(self):
        result = run("decode", "viterbi", "--backend", "cpu", "-", "-", input=b"")
        self.assertEqual((result.returncode, result.stdout), (0, b""))

    def test_pace_takes_its_time(self):
        begin = time.monotonic()
        result = run("decode", "viterbi", "--backend", "cpu", "--pace", "20000", "-", "-",
                     input=self.soft)
        self.assertEqual(result.stdout, pack(self.bits))
        self.assertGreater(time.monotonic() - begin, 0.95)

    def test_latency_bound_holds_while_input_waits(self):
        process = subprocess.Popen([TOOL, "decode", "viterbi", "--backend", "cpu", "-", "-"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        process.stdin.write(self.soft)
        process.stdin.flush()
        early = os.read(process.stdout.fileno(), 1 << 16)  # before the input ends
        rest, _ = process.communicate(timeout=60)
        self.assertGreater(len(early), 0)
        self.assertEqual(early + rest, pack(self.bits))

    def test_missing_file_and_full_disk(self):
        result = run("decode", "viterbi", "--backend", "cpu", "/nowhere/in", "-")
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"/nowhere/in", result.stderr)
        result = run("decode", "viterbi", "--backend", "cpu", "-", "/dev/full",
                     input=self.soft)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"/dev/full", result.stderr)


class qa_help(unittest.TestCase):

    def test_at_every_level(self):
        for command in ("bench", "ber", "decode"):
            for word in ("--help", "-h", "help"):
                result = run(command, word)
                self.assertEqual((result.returncode, result.stderr), (0, b""), command)
                for expected in (b"Usage: gpufec " + command.encode(), b"viterbi", b"ldpc",
                                 b"sync", b"Exit status"):
                    self.assertIn(expected, result.stdout)

    def test_at_once(self):
        taken = []
        for _ in range(5):
            begin = time.monotonic()
            run("--help")
            taken.append(time.monotonic() - begin)
        self.assertLess(min(taken), 0.2)

    def test_every_option_is_explained(self):
        for command in ("bench", "ber", "decode"):
            for decoder in ("viterbi", "ldpc", "sync"):
                text = run(command, decoder, "--help").stdout.decode()
                rows = [line for line in text.splitlines() if line.startswith("  --")]
                self.assertGreater(len(rows), 18)
                for row in rows:
                    self.assertRegex(row, r"--[a-z0-9-]+( arg)?( \(=\S+\))? *\S+", row)
        text = run("bench", "viterbi", "--help").stdout.decode()
        self.assertIn("auto, pbvd, registers or fused", text)


class qa_messages(unittest.TestCase):

    def check(self, expected, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, 2, (arguments, result.stderr))
        self.assertIn(expected, result.stderr.decode())

    def test_options_are_named_as_typed(self):
        for expected, arguments in (
                ("--frame-bits is 100: ", "ber viterbi --frame-bits 100"),
                ("number of --polynomials is 1: ", "ber viterbi --polynomials 171"),
                ("--device is 17: ", "ber sync --device " + ",".join("0" * 17)),
                ("--p-insert + --p-delete is 1", "ber sync --p-insert 0.5 --p-delete 0.5"),
                ("--range is -1000", "ber viterbi --range -1000"),
                ("--eb-n0 is -1000", "bench ldpc --eb-n0 -1000"),
                ("--max-latency-ms is -1: ", "decode ldpc --max-latency-ms -1 - -"),
                ('--batch is "many": allowed are whole numbers', "ber ldpc --batch many"),
                ('--llr-scale is "1..2": allowed are numbers', "ber ldpc --llr-scale 1..2"),
                ('--soft-input is "int7": allowed are int8, float and packed4',
                 "ber viterbi --soft-input int7"),
                ('--max-bits is -1: allowed are 0 to 1e15', "ber viterbi --max-bits -1"),
                ("--sim-threads is 2000: allowed are 0 to 1024",
                 "ber viterbi --sim-threads 2000")):
            self.check(expected, *arguments.split())

    def test_nothing_raw_reaches_the_terminal(self):
        with tempfile.TemporaryDirectory() as folder:
            lengths = os.path.join(folder, "lengths")
            with open(lengths, "wb") as file:
                file.write(b"\x1b[31m\xff\xfe")
            result = run("decode", "sync", "--lengths", lengths, "-", "-", input=b"")
            self.assertEqual(result.returncode, 2)
            self.assertIn(r"\x1b[31m\xff\xfe", result.stderr.decode())


class qa_json(unittest.TestCase):
    """--json FILE in every command, - for standard output."""

    COMMANDS = (("info",), ("bench", "viterbi", "--seconds", "0.05", "--runs", "1"),
                ("bench", "ldpc", "--frame-size", "short", "--seconds", "0.05", "--runs",
                 "1"),
                ("bench", "sync", "--frame-symbols", "20", "--seconds", "0.05", "--runs",
                 "1"),
                ("ber", "viterbi", "--range", "3", "--max-bits", "1e5"),
                ("ber", "ldpc", "--frame-size", "short", "--range", "3", "--max-frames",
                 "5"),
                ("ber", "sync", "--frame-symbols", "20", "--max-frames", "5"),
                ("decode", "viterbi", os.devnull, os.devnull),
                ("decode", "ldpc", os.devnull, os.devnull),
                ("decode", "sync", "--mode", "stream", os.devnull, os.devnull))

    def test_standard_output_has_nothing_else(self):
        for command in self.COMMANDS:
            result = run(*command, "--json", "-")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("environment", json.loads(result.stdout))

    def test_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            for command in self.COMMANDS:
                with open(path, "w") as file:
                    file.write("x" * 100000) # what was there before is gone
                result = run(*command, "--json", path)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(result.stdout == b"", command[0] == "decode")
                with open(path) as file:
                    report = json.load(file)
                if command[0] != "info":
                    self.assertEqual(report["command"], "gpufec " + " ".join(command[:2]))
                    self.assertIn("backend", report["options"])

    def test_needs_a_file(self):
        for command in self.COMMANDS:
            self.assertEqual(run(*command, "--json").returncode, 2)

    def test_long_work_is_not_lost(self):
        begin = time.monotonic()
        result = run("ber", "viterbi", "--range", "9", "--json", "/nowhere/report.json")
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"/nowhere/report.json", result.stderr)
        self.assertLess(time.monotonic() - begin, 1)

    def test_strings_are_utf8(self):
        name = os.fsencode("/nowhere/") + b"\xff\n\x01"
        result = run("decode", "viterbi", "--puncturing", "", "--json", "-", os.devnull,
                     os.devnull)
        json.loads(result.stdout.decode())
        result = run("decode", "viterbi", name, os.devnull)
        self.assertIn(r"/nowhere/\xff", result.stderr.decode())
        self.assertNotIn(b"\xff", result.stderr)


class qa_interrupted(unittest.TestCase):

    LONG = {"viterbi": ["--range", "2:1:9", "--min-errors", "0", "--max-bits", "1e12"],
            "ldpc": ["--frame-size", "short", "--range", "0:1:9", "--min-frame-errors", "0",
                     "--max-frames", "1e9"],
            "sync": ["--range", "1e-3,1e-2", "--frame-symbols", "20", "--min-errors", "0",
                     "--max-frames", "1e9"]}

    def interrupt(self, number, *arguments):
        process = subprocess.Popen([TOOL, "ber", *arguments, "--backend", "cpu"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(1)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + number, err)
        self.assertIn(b"interrupted", err)
        return out.decode()

    def test_what_is_there_is_written(self):
        for decoder, arguments in self.LONG.items():
            for number in (signal.SIGINT, signal.SIGTERM):
                report = json.loads(self.interrupt(number, decoder, *arguments, "--json",
                                                   "-"))
                self.assertFalse(report["complete"])
                point = report["points"][-1]
                self.assertFalse(point["complete"])
                self.assertGreater(point.get("bits", point.get("symbols")), 0)
                self.assertEqual(report["decoder"]["backend"], "cpu")

    def test_points_that_are_done_stay(self):
        report = json.loads(self.interrupt(
            signal.SIGINT, "viterbi", "--range", "1:11:12", "--min-errors", "100",
            "--max-bits", "1e12", "--json", "-"))
        first, second = report["points"]
        self.assertNotIn("complete", first)
        self.assertGreaterEqual(first["errors"], 100)
        self.assertFalse(second["complete"])

    def test_table(self):
        text = self.interrupt(signal.SIGINT, "ldpc", *self.LONG["ldpc"])
        self.assertIn("Eb/N0", text)
        self.assertEqual(len(text.splitlines()), 3)

    def test_while_the_reference_runs(self):
        report = json.loads(self.interrupt(
            signal.SIGINT, "ldpc", "--range", "0.5", "--max-frames", "200",
            "--min-frame-errors", "0", "--max-iterations", "5", "--reference", "--json",
            "-"))
        self.assertFalse(report["complete"])

    def test_complete(self):
        result = run("ber", "viterbi", "--backend", "cpu", "--range", "2", "--max-bits",
                     "1e5", "--json", "-")
        self.assertTrue(json.loads(result.stdout)["complete"])


class qa_resumed(unittest.TestCase):
    """A report that is not complete is gone on with."""

    CALL = ["ber", "viterbi", "--backend", "cpu", "--range", "1:1:3", "--max-bits", "1e6"]

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "report.json")

    def report(self, *more):
        return json.loads(run(*self.CALL, "--json", "-", *more).stdout)

    def test_same_as_at_once(self):
        whole = self.report()
        cut = json.loads(json.dumps(whole))
        cut["complete"] = False
        cut["points"][0]["errors"] = 12345 # so that it is seen to stay
        cut["points"][1]["complete"] = False
        del cut["points"][2]
        with open(self.path, "w") as file:
            json.dump(cut, file)
        again = self.report("--resume", self.path)
        self.assertEqual(again["points"][0], cut["points"][0])
        self.assertEqual(again["points"][1:], whole["points"][1:])
        self.assertEqual(again["decoder"], whole["decoder"])
        self.assertTrue(again["complete"])

    def test_into_the_same_file(self):
        run(*self.CALL, "--json", self.path)
        with open(self.path) as file:
            whole = json.load(file)
        self.assertEqual(run(*self.CALL, "--json", self.path, "--resume",
                             self.path).returncode, 0)
        with open(self.path) as file:
            self.assertEqual(json.load(file)["points"], whole["points"])

    def check_refused(self, words, *call):
        result = run(*(call or self.CALL), "--resume", self.path)
        self.assertEqual(result.returncode, 2)
        self.assertIn(words, result.stderr.decode())

    def test_refused(self):
        with open(self.path, "w") as file:
            json.dump(self.report(), file)
        self.check_refused('its "seed" is another', *self.CALL, "--seed", "2")
        self.check_refused('its "options" is another', *self.CALL, "--preset", "gsm",
                           "--frame-bits", "100")
        self.check_refused('its "command" is another', "ber", "ldpc", "--backend", "cpu",
                           "--frame-size", "short", "--range", "3", "--max-frames", "10")
        for text in ("", "[1, 2", "nothing", "{" * 100, '{"a": 1} 2', '{"a" 1}'):
            with open(self.path, "w") as file:
                file.write(text)
            self.check_refused("reports of gpufec ber")
        os.remove(self.path)
        self.assertEqual(run(*self.CALL, "--resume", self.path).returncode, 1)


class qa_manual(unittest.TestCase):
    """The manual page and the completion have every option that --help shows."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        subprocess.run([sys.executable, MAKE_MANUAL, TOOL, folder.name], check=True)
        cls.described = json.loads(run("--describe").stdout)
        cls.page = pathlib.Path(folder.name, "gpufec.1").read_text(encoding="utf-8")
        cls.script = os.path.join(folder.name, "gpufec")
        cls.text = pathlib.Path(cls.script).read_text(encoding="utf-8")

    def options(self):
        for line in self.described["lines"]:
            for table in line["tables"]:
                for o in table["options"]:
                    yield line["name"].split()[1:], o

    def test_described_is_what_help_shows(self):
        shown = set()
        for line in self.described["lines"]:
            words = line["name"].split()[1:]
            text = run(*words, "--help").stdout.decode()
            found = set(re.findall(r"(?m)^  --([\w-]+)", text))
            self.assertEqual(found, {o["name"] for key, o in self.options() if key == words})
            shown |= found
        # Three commands of three decoders, and two of none.
        self.assertEqual(len(self.described["lines"]), 11)
        self.assertGreater(len(shown), 40)

    def test_manual(self):
        for _, o in self.options():
            self.assertIn("\n\\fB\\-\\-" + o["name"].replace("-", "\\-"), self.page)
        for word in ("SYNOPSIS", "GPUFEC BER VITERBI", "EXAMPLES", "EXIT STATUS"):
            self.assertIn(f"\n.SH {word}", self.page)
        for value in ("\nccsds, ccsds_2_3,", "\nint8, float or packed4", "\nauto, cuda or cpu"):
            self.assertIn(value, self.page) # as they are to be written

    def test_examples_of_the_manual_run(self):
        found = re.findall(r"(?m)^\.nf\n(gpufec .*)\n\.fi$", self.page)
        self.assertEqual(len(found), 3)
        generator = random.Random(6)
        bits = [generator.getrandbits(1) for _ in range(20000)]
        soft = bytes(32 if c ^ (i & 1) else 256 - 32 for i, c in enumerate(encode_k7(bits)))
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "recording.soft").write_bytes(soft) # CCSDS's second is inverted
            for command in found:
                words = command.replace("\\-", "-").split()[1:]
                result = run(*words, cwd=folder)
                self.assertEqual(result.returncode, 0, (command, result.stderr))
                self.assertNotIn(b"WARNING", result.stderr)
            self.assertEqual(pathlib.Path(folder, "decoded.bin").read_bytes(), pack(bits))

    def completed(self, *words):
        """What bash offers for the last of the words."""
        line = " ".join(f"'{w}'" for w in words)
        done = subprocess.run(
            ["bash", "-c", f"source {self.script}; COMP_WORDS=(gpufec {line}); "
             f"COMP_CWORD={len(words)}; _gpufec; printf '%s\\n' \"${{COMPREPLY[@]}}\""],
            capture_output=True, text=True, check=True)
        return done.stdout.split()

    def test_completion(self):
        self.assertEqual(self.completed("b"), ["bench", "ber"])
        self.assertEqual(self.completed("ber", "l"), ["ldpc"])
        self.assertEqual(self.completed("ber", "viterbi", "--res"), ["--resume"])
        self.assertEqual(self.completed("decode", "ldpc", "--backend", "c"), ["cuda", "cpu"])
        self.assertEqual(self.completed("info", "--j"), ["--json"])
        self.assertEqual(self.completed("circulants", "--l"), ["--lifting"])
        self.assertNotIn("--preset", self.completed("ber", "ldpc", "--"))
        for key, o in self.options():
            self.assertIn("--" + o["name"], self.completed(*key, "--" + o["name"]))


class qa_wrong_code(unittest.TestCase):
    """decode viterbi says what the channel's error rate is, and when it is noise."""

    def setUp(self):
        generator = random.Random(7)
        bits = [generator.getrandbits(1) for _ in range(60000)]
        self.values = [20 if c else -20 for c in encode_k7(bits)]
        self.generator = generator

    def judge(self, values, *arguments, kind="b"):
        soft = array.array(kind, values).tobytes()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            result = run("decode", "viterbi", "--backend", "cpu", *arguments, "--json", path,
                         "-", "-", input=soft)
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(path) as file:
                report = json.load(file)
        self.assertEqual(report["wrong_code"], b"WARNING" in result.stderr)
        self.assertIn(b"hannel bit error rate", result.stderr)
        return report

    def with_errors(self, rate):
        return [-v if self.generator.random() < rate else v for v in self.values]

    def test_estimate(self):
        for rate in (0, 0.01, 0.05):
            report = self.judge(self.with_errors(rate))
            self.assertAlmostEqual(report["channel_error_rate"], rate, delta=0.2 * rate)
            self.assertFalse(report["wrong_code"])
            self.assertAlmostEqual(report["noise_error_rate"], 0.137, delta=0.005)

    def test_wrong_codes(self):
        for arguments in (["--polynomials", "133,171"], ["--polynomials", "171,-133"],
                          ["--preset", "dvb_3_4"], ["--preset", "dvb_7_8"],
                          ["--polynomials", "133,171,165"],
                          ["--constraint-length", "9", "--polynomials", "753,561"],
                          ["--termination", "tailbiting", "--frame-bits", "500",
                           "--polynomials", "165,127"]):
            for rate in (0, 0.02):
                self.assertTrue(self.judge(self.with_errors(rate), *arguments)["wrong_code"],
                                arguments)

    def test_wrong_phase_and_noise(self):
        self.assertTrue(self.judge(self.values[1:])["wrong_code"])
        noise = [self.generator.gauss(0, 30) for _ in range(100000)]
        whole = [max(-127, min(127, round(n))) for n in noise]
        self.assertTrue(self.judge(whole)["wrong_code"])
        self.assertTrue(self.judge(noise, "--soft-input", "float", kind="f")["wrong_code"])

    def test_finds_the_phase(self):
        soft = array.array("b", self.with_errors(0.02)[1:]).tobytes()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            result = run("decode", "viterbi", "--backend", "cpu", "--lock", "auto",
                         "--lock-constellation", "qpsk", "--lock-presets", "dvb_3_4,dvb_7_8",
                         "--unpacked", "--json", path, "-", "-", input=soft)
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(path) as file:
                report = json.load(file)
        self.assertEqual((report["locks"], report["dropped"]), (1, 1))
        lock, = report["changes"]
        self.assertEqual((lock["pair_phase"], lock["rotation"], lock["swapped"]),
                         (1, 0, False))
        self.assertAlmostEqual(lock["error_rate"], 0.02, delta=0.01)
        self.assertEqual(len(result.stdout), 59999)
        self.assertIn(b"pair phase 1", result.stderr)
        none = run("decode", "viterbi", "--backend", "cpu", "--lock", "auto", "-", "-",
                   input=bytes(100000))
        self.assertIn(b"WARNING: found no signal", none.stderr)
        self.assertEqual(none.stdout, b"")

    def test_finds_frames(self):
        bits = [self.generator.getrandbits(1) for _ in range(40 * 210)]
        coded = []
        for first in range(0, len(bits), 210):
            register = 0
            for bit in bits[first:first + 210] + [0] * 6:
                register = (register << 1 | bit) & 127
                for taps in 0o133, 0o171:
                    # The newest bit is the polynomial's most significant.
                    mirrored = int(f"{taps:07b}"[::-1], 2)
                    coded.append(bin(register & mirrored).count("1") % 2)
        soft = array.array("b", [64 * c - 32 for c in coded[100:]]).tobytes()
        result = run("decode", "viterbi", "--backend", "cpu", "--lock", "auto", "--preset",
                     "80211_1_2", "--frame-bits", "210", "--unpacked", "-", "-", input=soft)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(list(result.stdout), bits[210:])

    def test_other_formats(self):
        noisy = self.with_errors(0.02)
        floats = self.judge([v / 20 for v in noisy], "--soft-input", "float", kind="f")
        self.assertAlmostEqual(floats["channel_error_rate"], 0.02, delta=0.005)
        nibbles = [(a // 5 & 15) << 4 | b // 5 & 15 for a, b in zip(noisy[::2], noisy[1::2])]
        packed = self.judge(nibbles, "--soft-input", "packed4", kind="B")
        self.assertAlmostEqual(packed["channel_error_rate"], 0.02, delta=0.005)
        for report in (floats, packed):
            self.assertFalse(report["wrong_code"])
            self.assertAlmostEqual(report["noise_error_rate"], 0.137, delta=0.005)

    def test_long_streams(self):
        values = self.with_errors(0.02) * 40  # far more than is looked at as a whole
        report = self.judge(values)
        self.assertAlmostEqual(report["channel_error_rate"], 0.02, delta=0.002)
        self.assertFalse(report["wrong_code"])
        self.assertTrue(self.judge(values, "--preset", "dvb_7_8")["wrong_code"])
        # What comes later counts.
        noise = [self.generator.choice((-20, 20)) for _ in range(120000)] * 60
        rate = self.judge(values + noise, "--batch", "8")["channel_error_rate"]
        self.assertGreater(rate, 0.04)

    def test_polynomials_that_are_backwards(self):
        for polynomials, doubted in (("155,117", True), ("133,171", False)):
            result = run("decode", "viterbi", "--polynomials", polynomials, "--backend",
                         "cpu", "-", "-", input=b"")
            self.assertEqual(result.returncode, 0)
            self.assertEqual(b"CCSDS 1/2, 133,171, written backwards" in result.stderr,
                             doubted)

    def test_nothing_to_judge(self):
        empty = b"gpufec: WARNING: standard input is empty\n"
        for data, said in ((b"", empty), (bytes(5000), b""), (bytes([20] * 300), b"")):
            result = run("decode", "viterbi", "--backend", "cpu", "-", "-", input=data)
            self.assertEqual((result.returncode, result.stderr), (0, said))


class qa_files(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        generator = random.Random(5)
        bits = [generator.getrandbits(1) for _ in range(100003)]
        self.soft = bytes(32 if c else 256 - 32 for c in encode_k7(bits))
        self.decoded = pack(bits)
        self.source = self.path("in")
        with open(self.source, "wb") as file:
            file.write(self.soft)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def check_refused(self, *arguments, **keywords):
        result = run("decode", *arguments, cwd=self.folder.name, **keywords)
        self.assertEqual(result.returncode, 2, (arguments, result.stderr))
        self.assertIn(b"named once", result.stderr)
        with open(self.source, "rb") as file:
            self.assertEqual(file.read(), self.soft)

    def test_input_is_not_overwritten(self):
        os.link(self.source, self.path("hard"))
        os.symlink("in", self.path("soft"))
        for decoder in (["viterbi"], ["ldpc", "--frame-size", "short"],
                        ["sync", "--mode", "stream"]):
            for name in (self.source, "in", "./in", "hard", "soft"):
                self.check_refused(*decoder, self.source, name)
                self.check_refused(*decoder, "--json", name, self.source, os.devnull)
        self.check_refused("viterbi", "--json", "new", "in", "new")
        with open(self.source, "rb") as file:
            self.check_refused("viterbi", "-", "in", stdin=file)
        with open(self.source, "ab") as file: # run() would take stdout itself
            process = subprocess.run([TOOL, "decode", "viterbi", self.source, "-"],
                                     stdout=file, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(process.returncode, 2)

    def test_no_option_is_overwritten(self):
        with open(self.path("lengths"), "w") as file:
            file.write("2100")
        self.check_refused("sync", "--lengths", "lengths", os.devnull, "lengths")
        with open(self.path("code"), "w") as file:
            file.write(HAMMING)
        self.check_refused("ldpc", "--code-file", "code", os.devnull, "./code")
        with open(self.path("code")) as file:
            self.assertEqual(file.read(), HAMMING)

    def test_a_recording_that_ends_in_the_middle(self):
        """What is missing is said, and what is there is decoded."""
        def said(content, *arguments):
            with open(self.source, "wb") as file:
                file.write(content)
            result = run("decode", *arguments, "in", "out", cwd=self.folder.name)
            self.assertEqual(result.returncode, 0, result.stderr)
            return result.stderr.decode()

        short = ["ldpc", "--frame-size", "short"]
        frames = ["viterbi", "--termination", "terminated", "--frame-bits", "94"]
        for words in (["ldpc"], ["viterbi"], frames):
            self.assertIn("WARNING: in is empty", said(b"", *words))
        self.assertIn("in ends in the middle of a frame, after 5 of its 16200 items",
                      said(bytes(16205), *short))
        self.assertIn("16199 of its 16200 items: these are dropped, and nothing is decoded",
                      said(bytes(16199), *short))
        self.assertEqual(said(bytes(2 * 16200), *short), "")
        self.assertIn("after 4 of its 200 items", said(self.soft[:404], *frames))
        self.assertIn("after 1 of its 67 items", said(  # 134 values of 100 stages, 4 bits each
            bytes(68), *frames, "--puncturing", "101,110", "--soft-input", "packed4"))
        for whole in (self.soft, self.soft[:-1]):
            self.assertNotIn("in the middle", said(whole, "viterbi"))

    def test_a_wav_file_is_no_soft_values(self):
        header = b"RIFF\0\0\1\0WAVEfmt "
        for content, is_wav in ((header + self.soft, True), (self.soft, False)):
            with open(self.source, "wb") as file:
                file.write(content)
            result = run("decode", "viterbi", self.source, os.devnull)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(b"is a WAV file" in result.stderr, is_wav, result.stderr)

    def test_devices_may_be_both(self):
        result = run("decode", "viterbi", os.devnull, os.devnull)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_full_disk(self):
        for arguments in (["decode", "viterbi", self.source, "-"], ["info"], ["--help"],
                          ["info", "--json", "-"], ["bench", "--help"], ["--version"],
                          ["ber", "viterbi", "--range", "9", "--max-bits", "1e4"]):
            with open("/dev/full", "wb") as full:
                process = subprocess.run([TOOL, *arguments], stdout=full,
                                         stderr=subprocess.PIPE, timeout=60)
            self.assertEqual(process.returncode, 1, arguments)
            self.assertIn(b"standard output: No space left", process.stderr)
        result = run("ber", "viterbi", "--range", "9", "--max-bits", "1e4", "--json",
                     "/dev/full")
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"/dev/full: No space left", result.stderr)

    def test_a_plot_that_cannot_be_drawn(self):
        """It is said before the simulation, which would be lost."""
        for name, words in (("/nowhere/plot.png", b"No such file"),
                            (self.path("plot.doc"), b"allowed are names that end in")):
            result = run("ber", "viterbi", "--range", "2", "--max-bits", "1e15", "--plot", name)
            self.assertEqual((result.returncode, result.stdout), (1, b""))
            self.assertIn(b"--plot", result.stderr)
            self.assertIn(words, result.stderr)
            self.assertNotIn(b"Traceback", result.stderr)
            self.assertFalse(os.path.exists(name))

    def test_pipe_that_does_not_block(self):
        end, begin = os.pipe()
        os.set_blocking(begin, False)
        process = subprocess.Popen([TOOL, "decode", "viterbi", "--backend", "cpu",
                                    "--unpacked", self.source, "-"], stdout=begin,
                                   stderr=subprocess.DEVNULL)
        os.close(begin)
        time.sleep(0.5)  # the pipe is full, and stays so
        with os.fdopen(end, "rb") as pipe:
            received = pipe.read()
        self.assertEqual(process.wait(60), 0)
        self.assertEqual(len(received), 100003)
        self.assertEqual(pack(list(received)), self.decoded)

    def test_text_into_a_pipe_that_does_not_block(self):
        whole = run("ber", "viterbi", "--help").stdout
        end, begin = os.pipe()
        os.set_blocking(begin, False)
        fcntl.fcntl(begin, fcntl.F_SETPIPE_SZ, 4096)
        os.write(begin, b"x" * 4096)
        process = subprocess.Popen([TOOL, "ber", "viterbi", "--help"], stdout=begin)
        os.close(begin)
        time.sleep(0.3)
        with os.fdopen(end, "rb") as pipe:
            self.assertEqual(pipe.read(), b"x" * 4096 + whole)
        self.assertEqual(process.wait(60), 0)

    def test_input_that_does_not_block(self):
        end, begin = os.pipe()
        os.set_blocking(end, False)
        process = subprocess.Popen([TOOL, "decode", "viterbi", "--backend", "cpu", "-", "-"],
                                   stdin=end, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        os.close(end)
        with os.fdopen(begin, "wb") as pipe:
            for at in range(0, len(self.soft), 50000):
                pipe.write(self.soft[at:at + 50000])
                pipe.flush()
                time.sleep(0.05)
        self.assertEqual(process.communicate(timeout=60)[0], self.decoded)

    def test_reader_that_is_gone(self):
        for arguments in (["decode", "viterbi", self.source, "-"], ["--help"]):
            end, begin = os.pipe()
            os.close(end)
            process = subprocess.run([TOOL, *arguments], stdout=begin,
                                     stderr=subprocess.PIPE, timeout=60)
            os.close(begin)
            self.assertEqual(process.returncode, 1)
            self.assertIn(b"standard output: Broken pipe", process.stderr)

    def test_lengths_without_end(self):
        # AddressSanitizer takes terabytes of addresses, and has a limit of its own.
        sanitized = b"__asan_init" in pathlib.Path(TOOL).read_bytes()
        options = ":".join([*filter(None, [os.environ.get("ASAN_OPTIONS")]),
                            "hard_rss_limit_mb=512"])

        def limit():
            if not sanitized:
                resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))

        def decode(lengths):
            return run("decode", "sync", "--frame-symbols", "2", "--lengths", lengths, "-",
                       "-", input=bytes(100), preexec_fn=limit,
                       env={**os.environ, "ASAN_OPTIONS": options})
        result = decode("/dev/zero")
        self.assertEqual(result.returncode, 2)
        self.assertIn(rb"\x00", result.stderr)
        endless = subprocess.Popen(["yes", "20"], stdout=subprocess.PIPE)
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        pump = subprocess.Popen(["sh", "-c", f"cat > {fifo}"], stdin=endless.stdout)
        result = decode(fifo)
        endless.kill()
        endless.communicate()
        pump.wait(60)
        self.assertEqual((result.returncode, len(result.stdout)), (0, 10), result.stderr)
        self.assertIn(b"frames too early", result.stderr)


class qa_devices(unittest.TestCase):

    def test_a_device_that_fails(self):
        """The output is whole, and standard error says what happened."""
        generator = random.Random(7)
        bits = [generator.getrandbits(1) for _ in range(40000)]
        soft = bytes(40 if bit else 256 - 40 for bit in encode_k7(bits))
        environment = dict(os.environ, GPUFEC_SIMULATED_FAILURE="0:2")
        result = subprocess.run([SIMULATED, "decode", "viterbi", "--batch", "2", "-", "-"],
                                input=soft, capture_output=True, timeout=120, env=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, pack(bits))
        self.assertIn(b"simulated device 0 failed", result.stderr)
        self.assertIn(b"goes on with the CPU, nothing is lost", result.stderr)


if __name__ == "__main__":
    TOOL, SIMULATED = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    unittest.main()
