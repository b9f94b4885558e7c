#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of gpufec decode viterbi."""

import array
import json
import os
import random
import subprocess
import tempfile
import unittest

import numpy as np

from gpufec_tool import (TIMEOUT_S, bytes_in, check_pace, encode_k7, main, pack, run, start, tools,
                         wait_until)


class qa_decode(unittest.TestCase):

    def setUp(self):
        generator = random.Random(5)
        self.bits = [generator.getrandbits(1) for _ in range(20011)]
        self.soft = bytes(32 if c else 256 - 32 for c in encode_k7(self.bits))

    def test_InputFile_IsDecodedToOutputFile(self):
        with tempfile.TemporaryDirectory() as folder:
            source, sink = os.path.join(folder, "in"), os.path.join(folder, "out")
            with open(source, "wb") as file:
                file.write(self.soft)
            result = run("decode", "viterbi", "--backend", "cpu", source, sink)
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(sink, "rb") as file:
                self.assertEqual(file.read(), pack(self.bits))

    def test_JsonOfEachFormat_CountsItems(self):
        values = np.frombuffer(self.soft, np.int8)
        packed = (values[::2] // 8 & 15) << 4 | values[1::2] // 8 & 15
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report")
            for name, items in (("int8", values), ("float", values.astype(np.float32) / 32),
                                ("packed4", packed.astype(np.uint8))):
                result = run("decode", "viterbi", "--backend", "cpu", "--soft-input", name,
                             "--json", path, "-", "-", input=items.tobytes())
                self.assertEqual((result.returncode, result.stdout), (0, pack(self.bits)), name)
                with open(path) as file:
                    report = json.load(file)
                self.assertEqual((report["items"], report["output_bytes"]),
                                 (len(items), len(result.stdout)), name)

    def test_UnpackedOutputToPipe_IsDecoded(self):
        result = run("decode", "viterbi", "--backend", "cpu", "--unpacked", "-", "-",
                     input=self.soft)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, bytes(self.bits))

    def test_NegatedValuesAndPositiveBit_AreDecoded(self):
        negated = bytes(-v & 255 for v in self.soft)
        for bit, soft in (("1", self.soft), ("0", negated)):
            result = run("decode", "viterbi", "--backend", "cpu", "--positive-bit", bit, "-",
                         "-", input=soft)
            self.assertEqual((result.returncode, result.stdout), (0, pack(self.bits)))
        # With this code a wrong sign inverts the output and causes no warning.
        result = run("decode", "viterbi", "--backend", "cpu", "-", "-", input=negated)
        self.assertNotIn(b"WARNING", result.stderr)
        bits = [b >> (7 - i) & 1 for b in result.stdout for i in range(8)]
        self.assertEqual(bits[100:20000 - 100], [1 - b for b in self.bits[100:20000 - 100]])

    def test_EmptyInput_YieldsEmptyOutput(self):
        result = run("decode", "viterbi", "--backend", "cpu", "-", "-", input=b"")
        self.assertEqual((result.returncode, result.stdout), (0, b""))

    def test_Pace_CountsInformationBits(self):
        decoded = check_pace(self, 1, "decode", "viterbi", "--backend", "cpu", "--pace", "20011",
                             "-", "-", input=self.soft)
        self.assertEqual(decoded, pack(self.bits))
        # A terminated frame of 2 bits has 16 soft values: 2 (2 + K - 1).
        for soft_input, values in (("int8", 16), ("packed4", 8)):
            decoded = check_pace(self, 0.6, "decode", "viterbi", "--backend", "cpu", "--pace",
                                 "2000", "--termination", "terminated", "--frame-bits", "2",
                                 "--soft-input", soft_input, "-", "-", input=bytes(600 * values))
            self.assertEqual(len(decoded), 600)

    def test_WaitingInput_IsDecodedWithinLatency(self):
        with start("decode", "viterbi", "--backend", "cpu", "-", "-", stdin=subprocess.PIPE,
                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            process.stdin.write(self.soft)
            process.stdin.flush()
            # The input has not ended, so only the latency limit causes output.
            wait_until(lambda: bytes_in(process.stdout) > 0, process)
            output, _ = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(output, pack(self.bits))

    def test_MissingFileAndFullDisk_AreReported(self):
        result = run("decode", "viterbi", "--backend", "cpu", "/nowhere/in", "-")
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"/nowhere/in", result.stderr)
        result = run("decode", "viterbi", "--backend", "cpu", "-", "/dev/full",
                     input=self.soft)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"/dev/full", result.stderr)


class qa_wrong_code(unittest.TestCase):
    """Tests of the reported channel error rate, of the warning that the input is noise or has
    another code, and of phase search."""

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
            with open(path) as file:
                report = json.load(file)
        self.assertEqual(report["wrong_code"], b"WARNING" in result.stderr)
        self.assertEqual(result.returncode, 3 if report["wrong_code"] else 0, result.stderr)
        self.assertIn(b"hannel bit error rate", result.stderr)
        return report

    def with_errors(self, rate):
        return [-v if self.generator.random() < rate else v for v in self.values]

    def test_NoisyInput_ReportsChannelErrorRate(self):
        for rate in (0, 0.01, 0.05):
            report = self.judge(self.with_errors(rate))
            self.assertAlmostEqual(report["channel_error_rate"], rate, delta=0.2 * rate)
            self.assertFalse(report["wrong_code"])
            self.assertAlmostEqual(report["noise_error_rate"], 0.137, delta=0.005)

    def test_WrongCodes_AreReported(self):
        for arguments in (["--polynomials", "133,171"], ["--polynomials", "171,-133"],
                          ["--preset", "dvb_3_4"], ["--preset", "dvb_7_8"],
                          ["--polynomials", "133,171,165"],
                          ["--constraint-length", "9", "--polynomials", "753,561"],
                          ["--termination", "tailbiting", "--frame-bits", "500",
                           "--polynomials", "165,127"]):
            for rate in (0, 0.02):
                self.assertTrue(self.judge(self.with_errors(rate), *arguments)["wrong_code"],
                                arguments)

    def test_WrongPhaseAndNoise_AreReported(self):
        self.assertTrue(self.judge(self.values[1:])["wrong_code"])
        noise = [self.generator.gauss(0, 30) for _ in range(100000)]
        whole = [max(-127, min(127, round(n))) for n in noise]
        self.assertTrue(self.judge(whole)["wrong_code"])
        self.assertTrue(self.judge(noise, "--soft-input", "float", kind="f")["wrong_code"])

    def test_UnknownPhase_IsFoundByLock(self):
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

    def test_FramesAtUnknownPhase_AreFoundByLock(self):
        bits = [self.generator.getrandbits(1) for _ in range(40 * 210)]
        coded = []
        for first in range(0, len(bits), 210):
            register = 0
            for bit in bits[first:first + 210] + [0] * 6:
                register = (register << 1 | bit) & 127
                for taps in 0o133, 0o171:
                    # The newest bit is the lowest in the register, and the highest in a polynomial.
                    mirrored = int(f"{taps:07b}"[::-1], 2)
                    coded.append(bin(register & mirrored).count("1") % 2)
        soft = array.array("b", [64 * c - 32 for c in coded[100:]]).tobytes()
        result = run("decode", "viterbi", "--backend", "cpu", "--lock", "auto", "--preset",
                     "80211_1_2", "--frame-bits", "210", "--unpacked", "-", "-", input=soft)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(list(result.stdout), bits[210:])
        self.assertNotIn(b"in the middle", result.stderr)
        result = run("decode", "viterbi", "--backend", "cpu", "--lock", "auto", "--preset",
                     "80211_1_2", "--frame-bits", "210", "--unpacked", "-", "-", input=soft[:-32])
        self.assertEqual(list(result.stdout), bits[210:-210])
        self.assertIn(b"ends in the middle of a frame, after 400 of its 432 soft values",
                      result.stderr)

    def test_OtherFormats_ReportChannelErrorRate(self):
        noisy = self.with_errors(0.02)
        floats = self.judge([v / 20 for v in noisy], "--soft-input", "float", kind="f")
        self.assertAlmostEqual(floats["channel_error_rate"], 0.02, delta=0.005)
        nibbles = [(a // 5 & 15) << 4 | b // 5 & 15 for a, b in zip(noisy[::2], noisy[1::2])]
        packed = self.judge(nibbles, "--soft-input", "packed4", kind="B")
        self.assertAlmostEqual(packed["channel_error_rate"], 0.02, delta=0.005)
        for report in (floats, packed):
            self.assertFalse(report["wrong_code"])
            self.assertAlmostEqual(report["noise_error_rate"], 0.137, delta=0.005)

    def test_LongStreams_ReportChannelErrorRate(self):
        values = self.with_errors(0.02) * 40  # much longer than one measurement of the error rate
        report = self.judge(values)
        self.assertAlmostEqual(report["channel_error_rate"], 0.02, delta=0.002)
        self.assertFalse(report["wrong_code"])
        self.assertTrue(self.judge(values, "--preset", "dvb_7_8")["wrong_code"])
        # Noise in a later part of the stream raises the reported error rate.
        noise = [self.generator.choice((-20, 20)) for _ in range(120000)] * 60
        rate = self.judge(values + noise, "--batch", "8")["channel_error_rate"]
        self.assertGreater(rate, 0.04)

    def test_ReversedPolynomials_CauseWarning(self):
        for polynomials, doubted in (("155,117", True), ("133,171", False)):
            result = run("decode", "viterbi", "--polynomials", polynomials, "--backend",
                         "cpu", "-", "-", input=b"")
            self.assertEqual(result.returncode, 0)
            self.assertEqual(b"CCSDS 1/2, 133,171, with reversed bits" in result.stderr,
                             doubted)

    def test_ShortInput_CausesNoVerdict(self):
        empty = b"gpufec: WARNING: standard input is empty\n"
        for data, errors in ((b"", empty), (bytes(5000), b""), (bytes([20] * 300), b"")):
            result = run("decode", "viterbi", "--backend", "cpu", "-", "-", input=data)
            self.assertEqual((result.returncode, result.stderr), (0, errors))


class qa_devices(unittest.TestCase):

    def test_FailedDevice_OutputIsComplete(self):
        """Decoding continues on the CPU, and standard error reports the failed device."""
        generator = random.Random(7)
        bits = [generator.getrandbits(1) for _ in range(40000)]
        soft = bytes(40 if bit else 256 - 40 for bit in encode_k7(bits))
        environment = dict(os.environ, GPUFEC_SIMULATED_FAILURE="0:2")
        result = subprocess.run([tools.simulated, "decode", "viterbi", "--batch", "2", "-", "-"],
                                input=soft, capture_output=True, timeout=TIMEOUT_S,
                                env=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, pack(bits))
        self.assertIn(b"simulated device 0 failed", result.stderr)
        self.assertIn(b"continues on the CPU without loss of data", result.stderr)


if __name__ == "__main__":
    main()
