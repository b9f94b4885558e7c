#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of gpufec decode ldpc, from soft values or symbols, and of gpufec circulants."""

import json
import os
import pathlib
import random
import tempfile
import unittest

import numpy as np

from gpufec_tool import CIRCULANTS, HAMMING, bbframes, check_pace, main, pack, run


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
        # One bit of each frame is erased.
        self.soft = b"".join(
            bytes(0 if i == n % 7 else 256 - 20 if bit else 20
                  for i, bit in enumerate(word))
            for n, word in enumerate(self.codewords))

    def decode(self, *arguments, **keywords):
        return run("decode", "ldpc", "--backend", "cpu", "--code-file", self.code,
                   "--output", "codeword", *arguments, **keywords)

    def test_InputFile_IsDecodedToOutputFile(self):
        source, sink = (os.path.join(self.folder.name, n) for n in ("in", "out"))
        with open(source, "wb") as file:
            file.write(self.soft + b"\1\2\3")  # an incomplete frame is dropped
        result = self.decode(source, sink)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(sink, "rb") as file:
            self.assertEqual(file.read(), b"".join(pack(w) for w in self.codewords))

    def test_UnpackedOutputToPipe_IsDecoded(self):
        result = self.decode("--unpacked", "-", "-", input=self.soft)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, bytes(sum(self.codewords, [])))

    def test_MessagePositions_SelectWrittenBits(self):
        for given, positions in (("5,1,3,6", (5, 1, 3, 6)), ("4-6,2", (4, 5, 6, 2)),
                                 ("gr_fec_ldpc_encoder", (2, 4, 5, 6)),
                                 ("last", (3, 4, 5, 6)), ("systematic", (0, 1, 2, 3))):
            result = run("decode", "ldpc", "--backend", "cpu", "--code-file", self.code,
                         "--message-positions", given, "--unpacked", "-", "-",
                         input=self.soft)
            if given == "last": # the last four bits are linearly dependent
                self.assertEqual(result.returncode, 2)
                self.assertIn(b'--message-positions is "last": entry 3, position 6',
                              result.stderr)
                continue
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stdout,
                             bytes(w[p] for w in self.codewords for p in positions), given)
        result = run("ber", "ldpc", "--backend", "cpu", "--code-file", self.code,
                     "--message-positions", "6,5,3,1", "--range", "inf", "--max-frames",
                     "100", "--json", "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout)["points"][0]["frame_errors"], 0)
        for wrong in ("0,2,4,6", "7", "1-", "middle", "0-9"):
            result = run("decode", "ldpc", "--code-file", self.code, "--message-positions",
                         wrong, "-", "-")
            self.assertEqual((result.returncode, result.stdout), (2, b""))
            self.assertIn(b"--message-positions", result.stderr)
        result = run("decode", "ldpc", "--message-positions", "last", "-", "-")
        self.assertIn(b'--message-positions is "last": allowed values are systematic',
                      result.stderr)

    def test_GeneratorMatrix_CausesOneWarning(self):
        code = os.path.join(self.folder.name, "generator.alist")
        generator = random.Random(1)
        rows = [[int(i == r) for i in range(40)] + [generator.getrandbits(1)
                                                    for _ in range(60)] for r in range(40)]
        lists = [[[i + 1 for i, bit in enumerate(line) if bit] for line in lines]
                 for lines in (zip(*rows), rows)]
        with open(code, "w") as file:
            for line in ([100, 40], [max(map(len, m)) for m in lists],
                         *([len(ones) for ones in m] for m in lists), *lists[0], *lists[1]):
                print(*line, file=file)
        result = run("decode", "ldpc", "--backend", "cpu", "--code-file", code, "-", "-",
                     input=bytes(100))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.count(b"WARNING: " + code.encode()), 1, result.stderr)
        self.assertIn(b"looks like a generator matrix [I P] of K = 40", result.stderr)
        self.assertNotIn(b"WARNING", self.decode("-", "-", input=self.soft).stderr)

    def test_NegatedValuesAndPositiveBit_AreDecoded(self):
        result = self.decode("--unpacked", "--positive-bit", "1", "-", "-",
                             input=bytes(-v & 255 for v in self.soft))
        self.assertEqual(result.stdout, bytes(sum(self.codewords, [])))

    def test_OutputLlr_HasKnownValues(self):
        """The code has one check of three bits, so the magnitude of an extrinsic LLR is the smaller
        magnitude of the other two LLRs."""
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
        self.assertIn(b'--output is "llr": allowed values are message and codeword', result.stderr)
        result = run("bench", "ldpc", "--backend", "cpu", "--code-file", code, "--output",
                     "llr", "--seconds", "0.1", "--runs", "1")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_Pace_CountsInformationBits(self):
        """Four LDPC frames of 3240 bits at 16.2 kb/s take about 0.8 s, whether messages, codewords
        or LLRs are written. Four BCH frames of 32208 bits at 161.04 kb/s also take about 0.8 s."""
        for output, size in (("message", 405), ("codeword", 2025), ("llr", 16200)):
            decoded = check_pace(self, 0.8, "decode", "ldpc", "--backend", "cpu", "--frame-size",
                                 "short", "--rate", "1/4", "--pace", "16200", "--output", output,
                                 "-", "-", input=b"\x14" * (4 * 16200))
            self.assertEqual(len(decoded), 4 * size)
        decoded = check_pace(self, 0.8, "decode", "bch", "--pace", "161040", "-", "-",
                             input=bytes(4 * 4050)) # 4 frames of 32400 coded bits
        self.assertEqual(decoded, bytes(4 * 4026))

    def test_EmptyInput_YieldsEmptyOutput(self):
        result = self.decode("-", "-", input=b"")
        self.assertEqual((result.returncode, result.stdout), (0, b""))


class qa_decode_symbols(unittest.TestCase):
    """Tests of decoding symbols of DVB-S2 to BBFRAMEs and packets."""

    MODCOD = ["--modcod", "QPSK 1/2"]

    @classmethod
    def setUpClass(cls):
        generator = random.Random(4)
        cls.packets = [b"\x47" + generator.randbytes(187) for _ in range(90)]
        cls.frames = bbframes(cls.packets, 4026, 4)
        cls.symbols = cls.sent(cls.MODCOD, cls.messages(cls.frames, "--scramble", "true"))

    @staticmethod
    def messages(frames, *options):
        return run("encode", "bch", *options, "-", "-", input=frames).stdout

    @staticmethod
    def sent(options, messages, esn0_db=None):
        data = run("encode", "ldpc", *options, "--output", "symbols", "-", "-", input=messages)
        symbols = np.frombuffer(data.stdout, np.complex64)
        if esn0_db is not None:
            noise = np.random.default_rng(1).normal(0, 10 ** (-esn0_db / 20) / 2 ** 0.5,
                                                    (2, len(symbols)))
            symbols = (symbols + noise[0] + 1j * noise[1]).astype(np.complex64)
        return symbols

    def decode(self, symbols, *options, status=0, soft="symbols"):
        result = run("decode", "ldpc", "--backend", "cpu", "--soft-input", soft, *options, "-", "-",
                     input=symbols.tobytes())
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def test_NoiselessSymbols_EqualConstellation(self):
        """The first bit sets the sign of I, the second the sign of Q (EN 302 307-1, figure 9)."""
        self.assertEqual(len(self.symbols), 4 * 32400)
        self.assertAlmostEqual(float(np.mean(np.abs(self.symbols) ** 2)), 1, places=5)
        bits = run("encode", "ldpc", "--output", "unpacked", "-", "-",
                   input=self.messages(self.frames, "--scramble", "true")).stdout
        pairs = np.frombuffer(bits, np.uint8).reshape(-1, 2)
        expected = ((1 - 2.0 * pairs[:, 0]) + 1j * (1 - 2.0 * pairs[:, 1])) / 2 ** 0.5
        self.assertLess(np.abs(self.symbols - expected).max(), 1e-6)

    def test_EveryModcodWithNoise_YieldsSentBits(self):
        for options, esn0_db in ((["--modcod", "qpsk1/4"], 0), (["--modcod", "8PSK 3/5"], 7.5),
                                 (["--modcod", "16APSK 2/3", "--frame-size", "short"], 11),
                                 (["--modcod", "32APSK 9/10"], 18.5),
                                 (["--rate", "8psk 3/4"], 10),
                                 (["--constellation", "8psk", "--rate", "3/4"], 10),
                                 (["--standard", "dvbs2x", "--modcod", "64APSK 7/9"], 18.5),
                                 (["--standard", "dvbs2x", "--modcod", "128APSK 135/180"], 21),
                                 (["--standard", "dvbs2x", "--modcod", "pi/2-BPSK 1/3",
                                   "--frame-size", "vl-snr medium"], -2.5),
                                 (["--standard", "dvbs2x", "--rate", "11/45", "--constellation",
                                   "PI/2_BPSK", "--frame-size", "vl-snr short sf2"], -6.5),
                                 (["--standard", "dvbs2x", "--rate", "2/9", "--frame-size",
                                   "vl-snr normal"], -1.5)):
            described = json.loads(run("encode", "ldpc", *options, "--json", "-", os.devnull,
                                       os.devnull).stdout)["options"]
            message = random.Random(5).randbytes(described["k"] // 8 * 2)
            symbols = self.sent(options, message, esn0_db)
            for more in ([], ["--esn0-db", str(esn0_db)], ["--demapper", "max_log"]):
                self.assertEqual(self.decode(symbols, *options, *more).stdout, message, options)
            for soft, scale in (("symbols16", 8000), ("symbols8", 60)):
                parts = np.rint(symbols.view(np.float32) * scale)
                if soft == "symbols8":
                    parts = np.clip(parts, -128, 127).astype(np.int8)
                else:
                    parts = parts.astype(np.int16)
                self.assertEqual(self.decode(parts, *options, soft=soft).stdout, message, options)

    def test_Bbframes_EqualSentFrames(self):
        noisy = self.sent(self.MODCOD, self.messages(self.frames, "--scramble", "true"), 2.0)
        for symbols in (self.symbols, noisy):
            out = self.decode(symbols, *self.MODCOD, "--output", "bbframe", "--descramble", "true")
            self.assertEqual(out.stdout, self.frames)
            self.assertIn(b"4 frames, ", out.stderr)
        unpacked = self.decode(noisy, *self.MODCOD, "--output", "bbframe", "--descramble", "true",
                               "--unpacked")
        self.assertEqual(pack(list(unpacked.stdout)), self.frames)
        # Without --descramble, scrambled BBFRAMEs are written unchanged.
        out = self.decode(self.sent(self.MODCOD, self.messages(self.frames)), *self.MODCOD,
                          "--output", "bbframe")
        self.assertEqual(out.stdout, self.frames)
        # Soft values are decoded to BBFRAMEs too.
        out = run("decode", "ldpc", "--output", "bbframe", "--descramble", "true", "-", "-",
                  input=run("encode", "ldpc", "-", "-", input=self.messages(
                      self.frames, "--scramble", "true")).stdout)
        self.assertEqual((out.returncode, out.stdout), (0, self.frames))

    def test_Packets_EqualSentPackets(self):
        noisy = self.sent(self.MODCOD, self.messages(self.frames, "--scramble", "true"), 2.0)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report")
            out = self.decode(noisy, *self.MODCOD, "--output", "ts", "--json", path)
            report = json.loads(pathlib.Path(path).read_text())
        count = (4 * 4016 - 1) // 188 # each packet's CRC-8 precedes the next packet
        self.assertEqual(out.stdout, b"".join(self.packets[:count]))
        self.assertIn(b"%d packets, 0 of them with errors" % count, out.stderr)
        self.assertEqual((report["packets"], report["frames"], report["items"]),
                         (count, 4, 4 * 32400))

    def test_FramesWithoutPackets_SetExitStatus(self):
        """Frames that were not scrambled become noise by descrambling, and contain no packets."""
        out = self.decode(self.sent(self.MODCOD, self.messages(self.frames)), *self.MODCOD,
                          "--output", "ts", status=3)
        self.assertEqual(out.stdout, b"")
        self.assertIn(b"0 packets, 0 of them with errors; 4 BBFRAMEs without", out.stderr)

    def test_NoiseAndWrongModcod_SetExitStatus(self):
        noise = np.random.default_rng(2).normal(0, 1, 8 * 32400).astype(np.float32)
        for output in ("message", "bbframe", "ts"):
            out = self.decode(noise, *self.MODCOD, "--output", output, status=3)
            self.assertIn(b"4 of 4 frames cannot be decoded", out.stderr)
        self.decode(self.symbols, "--modcod", "QPSK 2/3", status=3)

    def test_TruncatedInput_IsReported(self):
        out = self.decode(self.symbols[:32400 + 7], *self.MODCOD, "--output", "bbframe")
        self.assertIn(b"in the middle of a frame, after 7 of its 32400 items", out.stderr)
        self.assertEqual(len(out.stdout), 4026)
        for data, words in ((b"", b"WARNING: standard input is empty"),
                            (b"x", b"the last 1 bytes of the input are not a whole item"),
                            (bytes(8), b"after 1 of its 32400 items, which are dropped; nothing")):
            out = run("decode", "ldpc", "--soft-input", "symbols", "--output", "ts", "-", "-",
                      input=data)
            self.assertEqual((out.returncode, out.stdout), (0, b""))
            self.assertIn(words, out.stderr)
            self.assertLessEqual(out.stderr.count(b"\n"), 2)
        out = run("decode", "ldpc", *self.MODCOD, "--soft-input", "symbols", "-", "/dev/full",
                  input=self.symbols.tobytes())
        self.assertEqual((out.returncode, out.stderr),
                         (1, b"gpufec: OUT: /dev/full: No space left on device\n"))

    def test_ImpossibleOptions_AreRefusedByName(self):
        for words, arguments in (
                ('--constellation is "8psk"', ["decode", "ldpc", "--modcod", "8PSK 1/2"]),
                ('--constellation is "qpsk": no MODCOD has this constellation at rate 1/5 in '
                 "vl-snr short frames, allowed: pi/2-bpsk",
                 ["decode", "ldpc", "--standard", "dvbs2x", "--frame-size", "vl-snr short",
                  "--rate", "1/5"]),
                ('--modcod is "turbo"', ["decode", "ldpc", "--modcod", "turbo"]),
                ('--rate is "7/9"', ["decode", "ldpc", "--modcod", "QPSK 7/9"]),
                ('--soft-input is "symbols": it is allowed only with --standard dvbs2',
                 ["decode", "ldpc", "--standard", "wifi", "--frame-size", "648"]),
                ("--esn0-db is 31: allowed values are -10 to 30", ["decode", "ldpc", "--esn0-db", "31"]),
                ('--output is "ts": it is allowed only with codes of DVB',
                 ["decode", "ldpc", "--shortened", "1", "--soft-input", "int8", "--output", "ts"]),
                ("--unpacked is given", ["decode", "ldpc", "--unpacked", "--output", "ts"]),
                ('--output is "ts"', ["bench", "ldpc", "--soft-input", "int8", "--output", "ts"]),
                ('--output is "bbframe"', ["ber", "ldpc", "--soft-input", "int8", "--output",
                                           "bbframe"]),
                ('--soft-input is "symbols"', ["ber", "ldpc"]),
                ('decoder is "bch"', ["ber", "bch"])):
            files = ["-", "-"] if arguments[0] == "decode" else []
            soft = [] if "--soft-input" in arguments or "bch" in arguments else [
                "--soft-input", "symbols"]
            result = run(*arguments, *soft, *files, input=b"")
            self.assertEqual((result.returncode, result.stdout), (2, b""), arguments)
            self.assertIn(words, result.stderr.decode())


class qa_circulants(unittest.TestCase):
    def test_AlistConvertedToBaseMatrix_DecodesToSameMessages(self):
        with tempfile.TemporaryDirectory() as folder:
            alist, base = folder + "/alist", folder + "/base"
            with open(alist, "w") as file:
                file.write(CIRCULANTS)
            result = run("circulants", alist, base)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(b"circulants of size 2, base matrix of 1 rows", result.stderr)
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
            self.assertIn(b"it must be a file other than IN", result.stderr)
            with open(alist) as file:
                self.assertEqual(file.read(), CIRCULANTS)
            result = run("circulants", "--lifting", "3", alist, base)
            self.assertEqual(result.returncode, 2)
            self.assertIn(b"--lifting is 3: it does not divide the 2 checks", result.stderr)

    def test_WrongRatesAndPositions_AreRefusedByName(self):
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


if __name__ == "__main__":
    main()
