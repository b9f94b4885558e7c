#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of gpufec decode sync."""

import array
import json
import os
import random
import tempfile
import time
import unittest

from gpufec_tool import main, run


class qa_decode_sync(unittest.TestCase):
    """Tests with frames of a random codebook (n = 8, q = 4), received with one deletion and one
    insertion."""

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
            if f == 3: # frame 3 loses a bit, and frame 5 gains one
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
        """Checks that only those symbols in `decoded` are wrong that are near the deletion or the
        insertion."""
        self.assertEqual(len(decoded), len(self.sent))
        wrong = [i for i, (a, b) in enumerate(zip(decoded, self.sent)) if a != b]
        self.assertTrue(all(abs(i - 68) <= 2 or abs(i - 106) <= 2 for i in wrong), wrong)

    def test_FramesWithLengths_AreDecoded(self):
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

    def test_CertainLikelihoods_DecodeLikeHardSymbols(self):
        """Likelihoods that are 0 for all symbols except one decode like hard symbols. Some buffers
        of the tool end within an item, because an item has several floats."""
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

    def test_SeveralReads_AreDecoded(self):
        """Three reads per frame (unchanged, with a deletion, with an insertion) are decoded without
        further errors. The output is the same with batches of two frames."""
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

    def test_MissingReads_AreReported(self):
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

    def test_OutputLlr_HasSignOfPositiveBit(self):
        arguments = ("--lengths", self.lengths, "--output", "llr")
        zero = array.array("b", self.decode(*arguments, input=self.received).stdout)
        one = array.array("b", self.decode(*arguments, "--positive-bit", "1",
                                           input=self.received).stdout)
        self.check([2 * (a < 0) + (b < 0) for a, b in zip(zero[::2], zero[1::2])])
        self.assertEqual(one, array.array("b", [-v for v in zero]))

    def test_StreamAfterUnknownOffset_IsDecoded(self):
        result = self.decode("--mode", "stream", input=self.received)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.check(result.stdout)
        junk = bytes(random.Random(1).getrandbits(1) for _ in range(77))
        result = self.decode("--mode", "stream", "--acquire", "100",
                             input=junk + self.received)
        self.check(result.stdout)

    def test_AnyAcquisitionLength_BeginsAtFirstFrame(self):
        for acquire in (159, 160, 161, 320, 1000):
            result = self.decode("--mode", "stream", "--acquire", str(acquire),
                                 input=self.received)
            self.assertEqual((result.returncode, result.stderr), (0, b""), acquire)
            self.check(result.stdout)
        junk = bytes(random.Random(1).getrandbits(1) for _ in range(177))
        result = self.decode("--mode", "stream", "--acquire", "1000",
                             input=junk + self.received)
        self.check(result.stdout)

    def test_Pace_LimitsReadingSpeed(self):
        source, sink = (os.path.join(self.folder.name, n) for n in ("in", "out"))
        with open(source, "wb") as file:
            file.write(self.received)
        begin = time.monotonic() # 1200 bits at 1200 b/s take 1 s on every machine
        result = run("decode", "sync", "--backend", "cpu", "--codebook", self.book, "--n",
                     "8", "--q", "4", "--frame-symbols", str(self.SYMBOLS), "--mode",
                     "stream", "--pace", "1200", source, sink)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater(time.monotonic() - begin, 0.95)
        with open(sink, "rb") as file:
            self.check(file.read())

    def test_WrongLengths_AreReported(self):
        with open(self.lengths, "a") as file:
            file.write(" 160 160")
        result = self.decode("--lengths", self.lengths, input=self.received + bytes(3))
        self.assertEqual(result.returncode, 0)
        self.assertEqual(len(result.stdout), (self.FRAMES + 1) * self.SYMBOLS)
        self.assertIn(b"1 of 31 frames cannot be decoded", result.stderr)
        self.assertIn(b"--lengths has 1 frame more than the input", result.stderr)
        with open(self.lengths, "w") as file:
            file.write("160\n160\n")
        result = self.decode("--lengths", self.lengths, input=self.received)
        self.assertIn(b"items after the last frame are ignored", result.stderr)
        self.assertEqual(result.stdout, bytes(self.sent[:2 * self.SYMBOLS]))
        with open(self.lengths, "w") as file:
            file.write("160 many")
        result = self.decode("--lengths", self.lengths, input=b"")
        self.assertEqual(result.returncode, 2)
        self.assertIn(b'"many"', result.stderr)

    def test_TruncatedFrame_IsReported(self):
        for cut in (40, 150):
            result = self.decode("--lengths", self.lengths, input=self.received[:-cut])
            self.assertIn(b"in the middle of a frame, after %d of its 160 items" % (160 - cut),
                          result.stderr)
            result = self.decode("--mode", "stream", input=self.received[:-cut])
            self.assertEqual(len(result.stdout), (self.FRAMES - 1) * self.SYMBOLS)
            self.assertRegex(result.stderr.decode(), "in the middle of a frame, after about "
                             f"1?{160 - cut} of its 160 items, which are dropped")

    def test_EmptyInput_YieldsEmptyOutput(self):
        result = self.decode("--mode", "stream", input=b"")
        self.assertEqual((result.returncode, result.stdout), (0, b""))


if __name__ == "__main__":
    main()
