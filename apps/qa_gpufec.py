#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""The gpufec command line tool, called as a user calls it. Usage: qa_gpufec.py TOOL"""

import array
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
import unittest

TOOL = "gpufec"


def run(*arguments, **keywords):
    return subprocess.run([TOOL, *arguments], capture_output=True, timeout=120,
                          **keywords)


def encode_k7(bits):
    """171, 133 octal, one coded bit an item."""
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

    def test_errors_name_the_option(self):
        for option, value in (("constraint-length", "2"), ("polynomials", "178,133"),
                              ("puncturing", "10"), ("termination", "sometimes"),
                              ("frame-bits", "-3"), ("frame-bits", "100"),
                              ("soft-input", "int7"),
                              ("backend", "abacus"), ("decode-length", "33"),
                              ("overlap", "1"), ("slots", "99"), ("threads", "0"),
                              ("device", "a"), ("cuda-kernel", "none")):
            self.check_refused("--" + option, "ber", "viterbi", "--" + option, value)
        self.check_refused("--range", "ber", "viterbi", "--range", "4:1:2")
        self.check_refused("--max-bits", "ber", "viterbi", "--max-bits", "-1")
        self.check_refused("--runs", "bench", "viterbi", "--runs", "0")
        self.check_refused("--pace", "decode", "viterbi", "--pace", "-1", "a", "b")
        self.check_refused("OUT", "decode", "viterbi", "a")

    def test_ldpc_errors_name_the_option(self):
        for option, value in (("standard", "dvbt2"), ("frame-size", "medium"),
                              ("rate", "7/8"), ("code-file", "/nowhere/code.alist"),
                              ("soft-input", "int7"), ("llr-scale", "0"),
                              ("algorithm", "sum"), ("precision", "int4"),
                              ("schedule", "serial"), ("max-iterations", "0"),
                              ("early-stop", "perhaps"), ("offset", "100"),
                              ("normalization", "2"), ("output", "bits"),
                              ("batch", "-1"), ("slots", "99"), ("max-latency-ms", "-1"),
                              ("backend", "abacus"), ("device", "a"), ("threads", "0")):
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
        report = json.loads(run("info", "--json").stdout)
        names = [p["name"] for p in report["viterbi_presets"]]
        self.assertIn("dvb_3_4", names)
        self.assertTrue(report["cpu_backend"])
        framed, stream = report["sync_defaults"]
        self.assertEqual((framed["drifts"], framed["lookahead"]), (33, 0))
        self.assertEqual((stream["mode"], stream["lookahead"]), ("stream", 20))
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
                         "--runs", "3", "--json", *more)
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
                         "--runs", "3", "--json", *more)
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
                     ["--codebook", "random", "--output", "posteriors", "--threads", "2"]):
            result = run("bench", "sync", "--backend", "cpu", "--seconds", "0.2",
                         "--runs", "3", "--json", *more)
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
        self.assertNotEqual(one, different)
        self.assertGreater(one[0]["frame_errors"], 0)

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
        arguments = ["--range", "1.1", "--max-frames", "60", "--min-frame-errors", "0",
                     "--sim-threads", "2", "--max-iterations", "20", "--reference"]
        for more in (["--precision", "int8"],
                     ["--precision", "float", "--soft-input", "float"]):
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
        # One erased bit a frame.
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

    def test_dvbs2_in_real_time(self):
        begin = time.monotonic()  # 4 · 7200 bits at 36 kb/s
        result = run("decode", "ldpc", "--backend", "cpu", "--frame-size", "short",
                     "--pace", "36000", "-", "-", input=b"\x14" * (4 * 16200))
        self.assertEqual(result.stdout, bytes(4 * 900))
        self.assertGreater(time.monotonic() - begin, 0.75)

    def test_empty(self):
        result = self.decode("-", "-", input=b"")
        self.assertEqual((result.returncode, result.stdout), (0, b""))


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

    def test_stream(self):
        result = self.decode("--mode", "stream", input=self.received)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.check(result.stdout)
        junk = bytes(random.Random(1).getrandbits(1) for _ in range(77))
        result = self.decode("--mode", "stream", "--acquire", "100",
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
        self.soft = bytes((256 - 32) if c else 32 for c in encode_k7(self.bits))

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
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
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


if __name__ == "__main__":
    TOOL = os.path.abspath(sys.argv.pop(1))
    unittest.main()
