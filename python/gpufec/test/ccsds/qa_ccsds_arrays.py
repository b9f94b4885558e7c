#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests ccsds_decode(), which decodes an array, against the frames that were sent."""

import os
import subprocess
import unittest
import warnings

import numpy as np
from gnuradio import gpufec

import ccsds_signals as signals

CPU = dict(backend="cpu")


class qa_ccsds_arrays(unittest.TestCase):
    def test_ConcatenatedCode_YieldsAllFramesWithStatus(self):
        frames, bits = signals.transmit(9, 1115, 3, "ccsds_3_4", interleaving=5, before=500)
        for soft_input in ("int8", "float", "uint8"):
            values = signals.soft(bits, soft_input, 0.4)
            found, status = gpufec.ccsds_decode(values, "ccsds_3_4", interleaving=5,
                                                soft_input=soft_input, **CPU)
            self.assertTrue(np.array_equal(found, frames))
            self.assertTrue(status.good.all() and status.marker_found.all())
            self.assertEqual(status.corrected.shape, (9, 5))
            self.assertEqual(status.corrected.sum(), status.corrected_symbol_count)
            self.assertTrue(np.array_equal(np.diff(status.position), [8 * 1275 + 32] * 8))
            self.assertGreater(status.channel_error_rate, 0)
            self.assertEqual((status.frame_count, status.failed_frame_count,
                              status.lock_count, status.verdict), (9, 0, 1, ""))

    def long_signal(self, convolutional):
        """Returns soft values of 160 frames, enough for several threads, with the inner code
        `convolutional`. Some frames have errors that can be corrected, and some have too many
        errors."""
        _, bits = signals.transmit(4, 1115, 9, interleaving=5)
        bits = np.tile(bits, 40)
        if convolutional != "none":
            bits = gpufec.conv_encode(bits, preset=convolutional, packed_input=False,
                                      packed_output=False)
        values = signals.soft(bits, "int8", 0.33 if convolutional == "none" else 0.8)
        for first in range(len(values) // 9, len(values) - 3000, len(values) // 9):
            values[first:first + 3000] *= np.random.default_rng(first).choice(
                [-1, 1], 3000).astype(np.int8)
        return values

    def test_SeveralThreads_YieldTheSameFrames(self):
        for convolutional in ("none", "ccsds"):
            with self.subTest(convolutional):
                values = self.long_signal(convolutional)
                (one, facts), (three, others) = (
                    gpufec.ccsds_decode(values, convolutional, interleaving=5, drop_failed=False,
                                        threads=threads, **CPU) for threads in (1, 3))
                self.assertGreater(facts.frame_count, 140)
                self.assertGreater(facts.failed_frame_count, 4)
                self.assertGreater(facts.corrected_symbol_count, 1000)
                self.assertTrue(np.array_equal(one, three))
                for name, value in vars(facts).items():
                    np.testing.assert_array_equal(value, getattr(others, name), name)

    @unittest.skipUnless("GPUFEC_TOOL" in os.environ, "the tool is not built")
    def test_SeveralThreadsOfTool_YieldTheSameFrames(self):
        for convolutional in ("none", "ccsds"):
            values = self.long_signal(convolutional)
            expected, _ = gpufec.ccsds_decode(values, convolutional, interleaving=5, **CPU)
            self.assertGreater(len(expected), 140)
            for threads in (1, 3):
                with self.subTest(convolutional=convolutional, threads=threads):
                    result = subprocess.run(
                        [os.environ["GPUFEC_TOOL"], "decode", "ccsds", "--backend", "cpu",
                         "--convolutional", convolutional, "--interleaving", "5", "--threads",
                         str(threads), "-", "-"],
                        input=values.tobytes(), capture_output=True, check=True, timeout=60)
                    written = np.frombuffer(result.stdout, np.uint8).reshape(-1, 1115)
                    self.assertTrue(np.array_equal(written, expected))

    def test_RotatedUncodedSymbols_YieldAllFrames(self):
        frames, bits = signals.transmit(6, 99, 4, code="none", randomiser_name="long", before=40)
        values = signals.rotate(signals.soft(bits, "float"), 3)
        found, status = gpufec.ccsds_decode(values, "none", "none", frame_bytes=99,
                                            randomiser="long", constellation="qpsk")
        self.assertTrue(np.array_equal(found, frames))
        self.assertEqual(status.corrected.shape, (6, 0))
        self.assertTrue(np.isnan(status.channel_error_rate))
        self.assertEqual(len(set(status.orientation)), 1)
        self.assertGreater(status.orientation[0], 0)

    def test_LdpcCodes_YieldAllFramesButADamagedOne(self):
        for code, size in (("c2", 892), ("ar4ja-1024-2/3", 128)):
            frames, bits = signals.transmit(7, size, 5, code=code, before=99)
            sigma = 0.42
            values = 2 / sigma**2 * signals.soft(bits, "float", sigma)
            # The signs of frame 3 are random.
            period = (len(bits) - 99) // 7
            values[99 + 3 * period + 64:99 + 4 * period] *= np.random.default_rng(1).choice(
                [-1, 1], period - 64)
            found, status = gpufec.ccsds_decode(values, "none", code, **CPU)
            self.assertTrue(np.array_equal(found, np.delete(frames, 3, axis=0)))
            self.assertEqual((status.frame_count, status.failed_frame_count), (6, 1))
            self.assertEqual(len(status.iterations), 6)
            found, status = gpufec.ccsds_decode(values, "none", code, drop_failed=False, **CPU)
            self.assertEqual(found.shape, (7, size))
            self.assertEqual(list(status.good), [True] * 3 + [False] + [True] * 3)

    def test_Cltus_AreEncodedAndDecoded(self):
        for code, esn0_db in (("tc-bch", 9), ("tc-bch-detect", 12), ("tc-ldpc-128", 3.0),
                              ("tc-ldpc-512", 1.5)):
            for randomiser in ("short", "none"):
                sizes = (7, 64, 1000, 96, 32)
                frames, bits = signals.uplink(sizes, 5, code, randomiser)
                for frame in frames:
                    np.testing.assert_array_equal(
                        np.unpackbits(gpufec.ccsds_encode_cltu(frame, code, randomiser)),
                        signals.cltu_bits(frame, code, randomiser))
                sigma = float(np.sqrt(0.5 * 10**(-esn0_db / 10)))
                values = -signals.soft(bits, "float", sigma)
                values *= 2 / sigma**2 if "ldpc" in code else 1
                found, status = gpufec.ccsds_decode(values, "none", code, randomiser=randomiser)
                with self.subTest(code, randomiser=randomiser):
                    self.assertEqual(len(found), 5)
                    message = 7 if "bch" in code else int(code[-3:]) // 16
                    for frame, got in zip(frames, found):
                        self.assertEqual(len(got), -(-len(frame) // message) * message)
                        np.testing.assert_array_equal(got[:len(frame)], frame)
                    self.assertTrue(status.good.all() and status.inverted.all())
                    self.assertEqual(status.tail_found.all(), code != "tc-ldpc-512")
                    self.assertEqual(status.corrected.shape, (5,))
                    self.assertEqual(status.corrected.sum(), status.corrected_symbol_count)
                    self.assertEqual(status.corrected.sum() > 100, "ldpc" in code)
                    self.assertEqual((status.frame_count, status.verdict), (5, ""))

    def test_NoiseAndEmptyInput_YieldNoFrames(self):
        noise = np.random.default_rng(6).normal(0, 40, 200000).clip(-127, 127).astype(np.int8)
        for parameters in (("none",), ("none", "c2"), ("none", "ar4ja-4096-1/2"),
                           ("none", "tc-ldpc-128"), ("none", "tc-ldpc-512")):
            for values in (noise, noise[:0]):
                found, status = gpufec.ccsds_decode(values, *parameters, **CPU)
                self.assertEqual(len(found), 0)
                self.assertEqual(status.frame_count, 0)

    def test_WrongInput_VerdictIsIssuedAsWarning(self):
        _, bits = signals.transmit(12, 223, 7)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            _, status = gpufec.ccsds_decode(signals.soft(bits), "none", "ccsds-223-conventional")
        self.assertIn('code="ccsds-223"', status.verdict)
        self.assertEqual([str(w.message) for w in caught], [status.verdict])
        self.assertEqual(caught[0].filename, __file__)

    @unittest.skipUnless("GPUFEC_TOOL" in os.environ, "the tool is not built")
    def test_Tool_WritesFramesOfCcsdsDecode(self):
        for soft_input, sigma, parameters in (
                ("int8", 0.5, dict(convolutional="ccsds", interleaving=2)),
                ("float", 0.3, dict(convolutional="ccsds_7_8", differential=True)),
                ("uint8", 0.4, dict(convolutional="none", code="c2")),
                ("float", 0.7, dict(convolutional="none", code="ar4ja-1024-1/2")),
                ("int8", 0.2, dict(convolutional="none", code="none", frame_bytes=700,
                                   randomiser="long"))):
            with self.subTest(**parameters):
                code = parameters.get("code", "ccsds-223")
                size = {"c2": 892, "none": 700, "ccsds-223": 223 * parameters.get(
                    "interleaving", 1)}.get(code, 128)
                frames, bits = signals.transmit(
                    9, size, 8, parameters["convolutional"], parameters.get("differential", False),
                    40, code=code, interleaving=parameters.get("interleaving", 1),
                    randomiser_name=parameters.get("randomiser", "short"))
                values = signals.soft(bits, soft_input, sigma)
                if "ar4ja" in code:
                    values *= 2 / sigma**2 # LLRs in nats
                options = [text for name, value in parameters.items()
                           for text in ("--" + name.replace("_", "-"), str(value).lower())]
                result = subprocess.run(
                    [os.environ["GPUFEC_TOOL"], "decode", "ccsds", "--backend", "cpu",
                     "--soft-input", soft_input, *options, "-", "-"],
                    input=values.tobytes(), capture_output=True, check=True, timeout=60)
                written = np.frombuffer(result.stdout, np.uint8).reshape(-1, size)
                self.assertTrue(np.array_equal(written, frames))
                found, _ = gpufec.ccsds_decode(values, soft_input=soft_input, **CPU, **parameters)
                self.assertTrue(np.array_equal(found, written))
                self.assertIn(b"gpufec: 9 frames", result.stderr)

    @unittest.skipUnless("GPUFEC_TOOL" in os.environ, "the tool is not built")
    def test_Tool_DecodesTelecommands(self):
        for code in ("tc-bch", "tc-ldpc-128"):
            frames, bits = signals.uplink((56, 112), 6, code)
            values = 8 * signals.soft(bits, "float", 0.1)
            result = subprocess.run(
                [os.environ["GPUFEC_TOOL"], "decode", "ccsds", "--convolutional", "none", "--code",
                 code, "--soft-input", "float", "-", "-"],
                input=values.tobytes(), capture_output=True, check=True, timeout=60)
            self.assertEqual(result.stdout, b"".join(map(bytes, frames)))
            self.assertIn(b"gpufec: 2 frames", result.stderr)

    @unittest.skipUnless("GPUFEC_TOOL" in os.environ, "the tool is not built")
    def test_ToolWithWrongOptions_ReportsThem(self):
        for options, status, words in (
                (["--code", "c2"], 2, "--convolutional is ccsds: allowed values are none with --code c2"),
                (["--code", "tc-bch"], 2,
                 "--convolutional is ccsds: allowed values are none with --code tc-bch"),
                (["--convolutional", "none", "--code", "tc-bch", "--randomiser", "long"], 2,
                 "--randomiser is \"long\": allowed values are none and short"),
                (["--interleaving", "9"], 2, "--interleaving is 9: allowed values are 1 to 8"),
                (["--frame-bytes", "224"], 2, "--frame-bytes is 224"),
                (["--convolutional", "none", "--threads", "257"], 2,
                 "--threads is 257: allowed values are 1 to 256"),
                (["--convolutional", "none"], 3, "0 frames")):
            result = subprocess.run(
                [os.environ["GPUFEC_TOOL"], "decode", "ccsds", *options, "-", "-"],
                input=bytes(range(256)) * 40, capture_output=True, check=False, timeout=60)
            self.assertEqual(result.returncode, status, result.stderr)
            self.assertIn(words, result.stderr.decode())

    def test_WrongArguments_AreRefused(self):
        values = np.zeros(100, np.int8)
        for arguments, words in (
                (dict(code="c2"), 'convolutional is ccsds: allowed values are "none"'),
                (dict(code="ccsds-255"), "ccsds-223"),
                (dict(code="tc-bch"), 'convolutional is ccsds: allowed values are "none"'),
                (dict(convolutional="none", code="tc-bch", interleaving=2),
                 "interleaving is 2: the only allowed value is 1 with telecommand codes"),
                (dict(convolutional="none", code="tc-bch", randomiser="long"), "none and short"),
                (dict(convolutional="none", code="tc-ldpc-128", max_iterations=0), "1 to 1000"),
                (dict(convolutional="none", frame_bytes=224), "up to 223"),
                (dict(interleaving=9), "interleaving is 9: allowed values are 1 to 8"),
                (dict(convolutional="none", threads=257), "threads is 257: allowed values are 1 to 256"),
                (dict(flywheel=-1), "0 to 100"), (dict(positive_bit=2), "0 and 1"),
                (dict(soft_scale=0), "soft_scale is 0"),
                (dict(convolutional="none", constellation="8psk"), "bpsk, qpsk and oqpsk"),
                (dict(randomizer="short"), "randomiser")):
            with self.subTest(**arguments):
                with self.assertRaises((ValueError, TypeError)) as caught:
                    gpufec.ccsds_decode(values, **arguments)
                self.assertIn(words, str(caught.exception))
        for arguments, words in (
                ((values.view(np.uint8), "c2"), "tc-bch, tc-bch-detect, tc-ldpc-128"),
                ((values[:0].view(np.uint8),), "length of the frame is 0: allowed values are 1 to 16384"),
                ((values.reshape(10, 10).view(np.uint8),), "frame is of 2 dimensions"),
                ((values.view(np.uint8), "tc-bch", "long"), "none and short")):
            with self.assertRaisesRegex(ValueError, words):
                gpufec.ccsds_encode_cltu(*arguments)
        with self.assertRaises(ValueError):
            gpufec.ccsds_decode(values.reshape(10, 10))
        with self.assertRaises(ValueError):
            gpufec.ccsds_decode(values.astype(np.int16))


if __name__ == "__main__":
    unittest.main()
