#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
#
# SPDX-License-Identifier: GPL-3.0-or-later

"""The gpufec command line tool, called as a user calls it. Usage: qa_gpufec.py TOOL"""

import json
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
                        ["decode", "ldpc"]):
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

    def test_missing_device_fails(self):
        for decoder in ("viterbi", "ldpc"):
            result = run("ber", decoder, "--backend", "cuda", "--device", "63")
            self.assertNotEqual(result.returncode, 0)
            self.assertTrue(result.stderr)


class qa_info(unittest.TestCase):

    def test_json(self):
        report = json.loads(run("info", "--json").stdout)
        names = [p["name"] for p in report["viterbi_presets"]]
        self.assertIn("dvb_3_4", names)
        self.assertTrue(report["cpu_backend"])
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
