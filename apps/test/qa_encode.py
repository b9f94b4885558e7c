#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of gpufec encode, whose output gpufec decode must decode to the input."""

import json
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

import numpy as np

from gpufec_tool import TIMEOUT_S, check_pace, encode_k7, heed_permissions, main, pack, run, tools


class qa_encode(unittest.TestCase):
    """Tests that encode to files and pipes, and decode the output again."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.data = random.Random(3).randbytes(48600) # a multiple of the frame length of many codes

    def path(self, name):
        return os.path.join(self.folder, name)

    def coded(self, decoder, *options, data=None):
        """Returns the output of gpufec encode for `data`; None: self.data."""
        result = run("encode", decoder, *options, "-", "-",
                     input=self.data if data is None else data)
        self.assertEqual((result.returncode, result.stderr), (0, b""), options)
        return result.stdout

    def check_back(self, decoder, *options, encode=(), decode=(), data=None):
        data = self.data if data is None else data
        soft = self.coded(decoder, *options, *encode, data=data)
        result = run("decode", decoder, *options, *decode, "-", "-", input=soft)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn(b"WARNING", result.stderr)
        self.assertEqual(result.stdout, data)

    def test_EncodedViterbi_DecodesToInput(self):
        for name in ("ccsds", "dvb_3_4", "dvb_7_8"):
            for soft in ("int8", "float", "uint8"):
                self.check_back("viterbi", "--preset", name, encode=("--output", soft),
                                decode=("--soft-input", soft))
        for ends in ("terminated", "truncated", "tailbiting"):
            self.check_back("viterbi", "--preset", "80211_3_4", "--termination", ends,
                            "--frame-bits", "240")
        for bit in ("0", "1"):
            self.check_back("viterbi", "--positive-bit", bit)
        bits = bytes(b & 1 for b in self.data)
        self.check_back("viterbi", "--unpacked", "--preset", "dvb_5_6", data=bits)
        self.check_back("viterbi", "--unpacked", "--preset", "lte", "--frame-bits", "60", data=bits)

    def test_ViterbiEncoder_EqualsDefinition(self):
        bits = [b & 1 for b in self.data[:1003]]
        expected = encode_k7(bits)
        coded = self.coded("viterbi", "--unpacked", "--output", "unpacked", data=bytes(bits))
        self.assertEqual(list(coded), expected)
        self.assertEqual(self.coded("viterbi", "--unpacked", "--output", "packed", data=bytes(bits)),
                         pack(expected))
        soft = self.coded("viterbi", "--unpacked", data=bytes(bits))
        self.assertEqual(soft, bytes(32 if c else 256 - 32 for c in expected))

    def test_LongStream_IsEncodedContinuously(self):
        """Packed and unpacked output have the same bits for a long stream with a puncturing period
        that is not a whole number of bytes."""
        data = self.data * 3
        unpacked = self.coded("viterbi", "--preset", "dvb_3_4", "--output", "unpacked", data=data)
        packed = self.coded("viterbi", "--preset", "dvb_3_4", "--output", "packed", data=data)
        self.assertEqual(packed, pack(list(unpacked)))

    def test_EncodedLdpc_DecodesToInput(self):
        for options in (["--rate", "1/2"], ["--frame-size", "short", "--rate", "8/9"],
                        ["--standard", "wifi", "--frame-size", "648"],
                        ["--standard", "ccsds_c2", "--frame-size", "8160", "--rate", "7/8"],
                        ["--standard", "nr", "--frame-size", "bg2 z8", "--rate", "10/20"]):
            whole = {"7/8": 892 * 8, "648": 324}.get(options[-1], None)
            data = self.data[:48600 // 1800 * 1800] if whole is None else self.data[:whole * 5]
            if "wifi" in options: # 324 bits: the last four bits of each frame are padding
                data = b"".join(data[i:i + 40] + bytes([data[i + 40] & 0xf0])
                                for i in range(0, 410, 41))
            for soft in ("int8", "float", "uint8"):
                self.check_back("ldpc", *options, encode=("--output", soft),
                                decode=("--soft-input", soft), data=data)
        bits = bytes(b & 1 for b in self.data[:324 * 9])
        self.check_back("ldpc", "--unpacked", "--standard", "wifi", "--frame-size", "648", data=bits)

    def test_EncodedPpdus_DecodeToInput(self):
        # One codeword, repetition, and several codewords.
        for psdu_bytes, more in ((100, ["--symbol-bits", "104"]),
                                 (1, ["--symbol-bits", "600", "--rate", "5/6"]),
                                 (1500, ["--symbol-bits", "104", "--stbc"])):
            options = ["--standard", "wifi", "--psdu-bytes", str(psdu_bytes), *more]
            data = self.data[:7 * (psdu_bytes + 2)]
            for soft in ("int8", "float", "uint8"):
                self.check_back("ldpc", *options, encode=("--output", soft),
                                decode=("--soft-input", soft), data=data)
            bits = bytes(b & 1 for b in self.data[:2 * (8 * psdu_bytes + 16)])
            self.check_back("ldpc", "--unpacked", *options, data=bits)
        self.assertEqual(len(self.coded("ldpc", "--standard", "wifi", "--psdu-bytes", "1500",
                                        "--symbol-bits", "104", data=self.data[:1502])), 24128)

    def test_ImpossiblePpdus_AreRefused(self):
        good = ["--standard", "wifi", "--psdu-bytes", "100", "--symbol-bits", "104"]
        for command in "encode", "decode":
            for wrong, text in ((good[:4], b"--symbol-bits"), (good[2:], b"--standard wifi"),
                                (good + ["--shortened", "3"], b"it is allowed only without --shortened"),
                                (good[:5] + ["0"], b"--symbol-bits is"),
                                (good + ["--rate", "7/8"], b"rate")):
                result = run(command, "ldpc", *wrong, "-", "-", input=b"")
                self.assertNotEqual(result.returncode, 0)
                self.assertIn(text, result.stderr)
        result = run("decode", "ldpc", *good, "--output", "codeword", "-", "-", input=b"")
        self.assertIn(b"the decoder of PPDUs outputs only messages", result.stderr)

    def test_EncodedSync_DecodesToInput(self):
        symbols = bytes(b % 32 for b in self.data[:2100])
        self.assertEqual(len(self.coded("sync", data=symbols)), 21000)
        self.check_back("sync", decode=("--mode", "stream"), data=symbols)
        wide = np.random.default_rng(1).integers(0, 1000, 200).astype("<u2").tobytes()
        self.check_back("sync", "--codebook", "random", "--n", "12", "--q", "1000",
                        "--frame-symbols", "50", decode=("--mode", "stream"), data=wide)

    def test_EncodedBchWithErrors_DecodesToInput(self):
        data = self.data[:4026 * 3]
        for more in (([], []), (["--scramble", "true"], ["--descramble", "true"])):
            words = bytearray(self.coded("bch", *more[0], data=data))
            self.assertEqual(len(words), 4050 * 3)
            words[4050] ^= 0x81
            result = run("decode", "bch", *more[1], "-", "-", input=bytes(words))
            self.assertEqual((result.returncode, result.stdout), (0, data))
            self.assertIn(b"3 frames, 2 bits corrected, 0 frames cannot", result.stderr)
        self.check_back("bch", data=data[:4026])
        result = run("decode", "bch", "-", "-", input=self.data[:8100])
        self.assertEqual(result.returncode, 3)
        self.assertIn(b"2 frames cannot be corrected", result.stderr)
        bits = bytes(b & 1 for b in self.data[:32208])
        self.check_back("bch", encode=("--unpacked",), decode=("--unpacked",), data=bits)

    def test_EncodedFilesAndPipes_DecodeToInput(self):
        pathlib.Path(self.path("in")).write_bytes(self.data)
        for command in ("encode viterbi in coded && gpufec decode viterbi coded out",
                        "encode ldpc in - | gpufec decode ldpc - out",
                        "encode ldpc in /dev/stdout | gpufec decode ldpc /dev/stdin out"):
            script = f"gpufec() {{ '{tools.plain}' \"$@\"; }}; gpufec {command}"
            done = subprocess.run(["bash", "-ec", script], cwd=self.folder, capture_output=True,
                                  timeout=TIMEOUT_S)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(pathlib.Path(self.path("out")).read_bytes(), self.data, command)

    def test_Pace_CountsInformationBits(self):
        """Frames of one bit are padded to a byte each: 600 frames at 1 kb/s take 0.6 s."""
        coded = check_pace(self, 0.6, "encode", "viterbi", "--termination", "truncated",
                           "--frame-bits", "1", "--pace", "1000", "-", "-", input=bytes(600))
        self.assertEqual(len(coded), 2 * 600)

    def test_Json_ReportsCodeAndCounts(self):
        self.coded("ldpc", "--json", self.path("report"))
        report = json.loads(pathlib.Path(self.path("report")).read_text())
        self.assertEqual((report["command"], report["items"], report["output_bytes"]),
                         ("gpufec encode ldpc", 48600, 12 * 64800))
        self.assertEqual(report["options"]["code"], "dvbs2 normal 1/2")

    def test_BadInput_CausesOneLineError(self):
        def error_of(status, *arguments, data=b"", **keywords):
            result = run(*arguments, input=data, cwd=self.folder, **keywords)
            self.assertEqual(result.returncode, status, result.stderr)
            self.assertEqual(result.stderr.count(b"\n"), 1, result.stderr)
            return result.stderr.decode()

        for decoder in ("viterbi", "ldpc", "sync", "bch"):
            self.assertIn("WARNING: standard input is empty",
                          error_of(0, "encode", decoder, "-", "out"))
            self.assertEqual(os.path.getsize(self.path("out")), 0)
            self.assertIn("OUT: /dev/full: No space left on device", error_of(
                1, "encode", decoder, "-", "/dev/full", data=self.data[:4050 * 4026 // 450 // 3]))
            self.assertIn("nowhere: No such file", error_of(1, "encode", decoder, "nowhere", "out"))
        for decoder, frame in (("ldpc", 4050), ("sync", 210), ("bch", 4026)):
            self.assertIn(f"after 1 of its {frame} items, which are dropped; nothing is",
                          error_of(0, "encode", decoder, "-", "-", data=b"x"))
            self.assertIn("in the middle of a frame, after 7 of its", error_of(
                0, "encode", decoder, "-", "out", data=self.data[:frame + 7]))
        self.assertIn("--frame-bits is 0", error_of(
            2, "encode", "viterbi", "--termination", "terminated", "-", "-"))
        self.assertIn('--output is "bits"',
                      error_of(2, "encode", "ldpc", "--output", "bits", "-", "-"))
        pathlib.Path(self.path("in")).write_bytes(self.data)
        self.assertIn("OUT is in: it must be a file that no other argument names",
                      error_of(2, "encode", "ldpc", "in", "in"))
        os.chmod(self.folder, 0o555)
        self.addCleanup(os.chmod, self.folder, 0o755)
        for words in (["encode", "ldpc", "in", "new"], ["decode", "bch", "in", "new"],
                      ["encode", "viterbi", "--json", "new", "in", os.devnull]):
            self.assertIn(" new: Permission denied", error_of(
                1, *words, preexec_fn=heed_permissions))


if __name__ == "__main__":
    main()
