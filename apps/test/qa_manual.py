#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of the manual page, the completion, and the examples at the end of the help texts."""

import json
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

import numpy as np

from gpufec_tool import CIRCULANTS, ROOT, SCRIPTS, TIMEOUT_S, bbframes, main, run, tools

sys.path.insert(0, str(ROOT / "python" / "gpufec" / "test" / "ccsds"))
import ccsds_signals # noqa: E402


class qa_manual(unittest.TestCase):
    """Tests that the manual page and the completion have the options that --help shows."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        subprocess.run([sys.executable, SCRIPTS / "make_manual.py", tools.plain, folder.name],
                       check=True)
        cls.described = json.loads(run("--describe").stdout)
        cls.page = pathlib.Path(folder.name, "gpufec.1").read_text(encoding="utf-8")
        cls.script = os.path.join(folder.name, "gpufec")
        cls.text = pathlib.Path(cls.script).read_text(encoding="utf-8")

    def options(self):
        for line in self.described["lines"]:
            for table in line["tables"]:
                for o in table["options"]:
                    yield line["name"].split()[1:], o

    def test_Describe_EqualsHelp(self):
        shown = set()
        for line in self.described["lines"]:
            words = line["name"].split()[1:]
            text = run(*words, "--help").stdout.decode()
            found = set(re.findall(r"(?m)^  --([\w-]+)", text))
            self.assertEqual(found, {o["name"] for key, o in self.options() if key == words})
            shown |= found
        # Two commands have three decoders, two have four and five, and two have none: 17 lines.
        self.assertEqual(len(self.described["lines"]), 17)
        self.assertGreater(len(shown), 40)

    def test_ManualPage_HasAllOptions(self):
        for _, o in self.options():
            self.assertIn("\n\\fB\\-\\-" + o["name"].replace("-", "\\-"), self.page)
        for word in ("SYNOPSIS", "GPUFEC BER VITERBI", "EXAMPLES", "EXIT STATUS"):
            self.assertIn(f"\n.SH {word}", self.page)
        for value in ("\nccsds, ccsds_2_3,", "\nint8, float, packed4 or uint8", "\nauto, cuda or cpu"):
            self.assertIn(value, self.page) # values keep their case

    def test_Manual_StatesDefaultOfEachOption(self):
        entries = self.page.split("\n.TP\n\\fB")
        at = 0
        for _, o in self.options():
            begin = "\\-\\-" + o["name"].replace("-", "\\-") + "\\fR"
            at = next(i for i in range(at + 1, len(entries)) if entries[i].startswith(begin))
            text = entries[at].split("\n.S")[0].replace("\\-", "-")
            expected = f"(default: {o['initial']})" if o["initial"] else ""
            self.assertEqual("".join(re.findall(r"\(default: .*\)$", text.strip())), expected)

    def test_ManualPage_HasOnlyKnownRoffRequests(self):
        """To roff, a line that begins with an apostrophe or a period is a request."""
        self.assertIn("'", json.dumps(self.described))
        self.assertNotIn("'", self.page)
        requests = set(re.findall(r"(?m)^\.(\S*)", self.page))
        self.assertEqual(requests, {"TH", "SH", "SS", "PP", "TP", "RS", "RE", "nf", "fi"})
        self.assertLessEqual(set(re.findall(r"\\(.)", self.page)), set("-f([e"))

    def test_Manual_HasExamplesNearItsTopAndInEachSection(self):
        """Checks only for the presence of examples; qa_examples runs them."""
        lines = self.page.splitlines()
        self.assertLess(lines.index(".SH EXAMPLES"), 10)
        self.assertIn("gpufec decode viterbi \\-\\-preset ccsds coded.s8 decoded.bin", lines[:30])
        self.assertEqual(lines.count(".SS Examples"), len(self.described["lines"]))

    def completed(self, *words):
        """Returns bash's completions of the last word."""
        line = " ".join(f"'{w}'" for w in words)
        done = subprocess.run(
            ["bash", "-c", f"source {shlex.quote(str(self.script))}; COMP_WORDS=(gpufec {line}); "
             f"COMP_CWORD={len(words)}; _gpufec; printf '%s\\n' \"${{COMPREPLY[@]}}\""],
            capture_output=True, text=True, check=True)
        return done.stdout.split()

    def test_Completion_OffersMatchingWords(self):
        self.assertEqual(self.completed("b"), ["bench", "ber"])
        self.assertEqual(self.completed("ber", "l"), ["ldpc"])
        self.assertEqual(self.completed("ber", "b"), [])
        self.assertEqual(self.completed("encode", "b"), ["bch"])
        self.assertEqual(self.completed("ber", "viterbi", "--res"), ["--resume"])
        self.assertEqual(self.completed("decode", "ldpc", "--backend", "c"), ["cuda", "cpu"])
        self.assertEqual(self.completed("info", "--j"), ["--json"])
        self.assertEqual(self.completed("circulants", "--l"), ["--lifting"])
        self.assertNotIn("--preset", self.completed("ber", "ldpc", "--"))
        for key, o in self.options():
            self.assertIn("--" + o["name"], self.completed(*key, "--" + o["name"]))

    def test_OptionsThatAreFiles_AreCompletedAsFiles(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "some.alist")
            path.touch()
            for key, o in self.options():
                found = self.completed(*key, "--" + o["name"], str(path)[:-3])
                if "|" not in o["kind"]:
                    self.assertEqual(found, [str(path)], o["name"])
                if o["kind"] == "file":  # "-" is completed as a file name, not as an option
                    self.assertEqual(self.completed(*key, "--" + o["name"], "-"), [], o["name"])


class qa_examples(unittest.TestCase):
    """Tests that run the example commands at the end of each help text, and compare decoded files
    with the original files."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        os.symlink(tools.plain, self.folder / "gpufec")
        generator = random.Random(6)
        packets = [b"\x47" + generator.randbytes(187) for _ in range(60)]
        self.write("message.bin", generator.randbytes(48600))
        self.write("bits.bin", bytes(generator.getrandbits(1) for _ in range(5000)))
        self.write("symbols.bin", bytes(generator.randrange(32) for _ in range(2100)))
        self.write("bbframes.bin", bbframes(packets, 4026, 2))
        self.write("lengths.txt", b"2100 " * 10)
        self.write("code.alist", CIRCULANTS.encode())
        self.shell("gpufec encode viterbi --preset ccsds message.bin recording.soft")
        self.shell("gpufec encode sync symbols.bin received.bits")
        self.shell("gpufec encode bch --scramble true bbframes.bin messages.bin")
        self.shell("gpufec encode ldpc --modcod 'QPSK 1/2' --output symbols messages.bin symbols.cf32")

        self.write_telemetry()

    def write_telemetry(self):
        """Writes frames, and their soft values in a concatenated code and in an LDPC code, and those of
        telecommands."""
        frames, bits = ccsds_signals.transmit(4, 5 * 223, 7, interleaving=5)
        self.write("frames.bin", frames.tobytes())
        self.write("marked.bin", np.packbits(bits).tobytes())
        self.shell("gpufec encode viterbi --preset ccsds marked.bin telemetry.s8")
        messages = np.random.default_rng(8).integers(0, 256, (4, 892)).astype(np.uint8)
        self.write("messages.c2", messages.tobytes())
        self.shell("gpufec encode ldpc --standard ccsds_c2 --frame-size 8160 --rate 7/8 "
                   "--output packed messages.c2 codewords.c2")
        words = np.unpackbits(np.frombuffer(self.content("codewords.c2"), np.uint8))
        words = words.reshape(4, 8160) ^ ccsds_signals.randomiser("short", 8160)
        bits = np.hstack([np.tile(ccsds_signals.MARKER, (4, 1)), words]).ravel()
        self.write("telemetry.f32", (20 * ccsds_signals.soft(bits, "float")).tobytes())
        commands, bits = ccsds_signals.uplink((70, 7), 9, "tc-bch")
        self.write("commands.bin", b"".join(map(bytes, commands)))
        self.write("uplink.s8", ccsds_signals.soft(bits).tobytes())

    def write(self, name, content):
        (self.folder / name).write_bytes(content)

    def content(self, name):
        return (self.folder / name).read_bytes()

    def shell(self, command):
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-ec", command], cwd=self.folder, capture_output=True,
            text=True, timeout=TIMEOUT_S,
            env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, 0, (command, done.stderr))
        self.assertNotIn("WARNING", done.stderr, command)

    def examples(self, *words):
        text = run(*words, "--help").stdout.decode()
        end = text.split("\nExamples:\n")[1].splitlines()
        self.assertTrue(all(line.startswith("  ") for line in end), end)
        self.assertEqual([line[2] == "#" for line in end], [True, False] * (len(end) // 2))
        return [line[2:] for line in end[1::2]]

    def test_ExamplesOfHelp_Run(self):
        described = json.loads(run("--describe").stdout)
        helps = [line["name"].split()[1:] for line in described["lines"]]
        commands = []
        for words in helps:
            found = self.examples(*words)
            self.assertIn(len(found), (2, 3), words)
            self.assertTrue(all(f"gpufec {' '.join(words)}" in line for line in found), found)
            commands += found
        # Before an example decodes coded.s8, the file is encoded with the example's code.
        coded = "gpufec encode %s message.bin coded.s8"
        codes = {"viterbi": "viterbi --preset ccsds", "ldpc": "ldpc --rate 1/2"}
        for command in commands:
            if "coded.s8 decoded.bin" in command:
                self.shell(coded % codes[command.split()[2]])
            self.shell(command)
            for name, source in (("decoded.bin", "message.bin"), ("bits.out", "bits.bin"),
                                 ("symbols.out", "symbols.bin"), ("telemetry.out", "frames.bin"),
                                 ("messages.out", "messages.c2"),
                                 ("commands.out", "commands.bin")):
                if command.endswith(name):
                    self.assertEqual(self.content(name), self.content(source), command)
        self.assertGreater(len(self.content("packets.ts")), 41 * 188)
        self.assertEqual(self.content("bbframes.out")[:4], self.content("bbframes.bin")[:4])
        for words in ([], ["bench"], ["ber"], ["decode"], ["encode"]):
            found = self.examples(*words)
            self.assertIn(len(found), (2, 3, 4, 5))
            if words:
                self.assertTrue(all(line in commands for line in found), found)
            else:
                for command in found:
                    self.shell(command)


if __name__ == "__main__":
    main()
