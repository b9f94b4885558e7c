#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the shell commands on the pages, except the commands in EXCEPTIONS, and the Python examples,
except the examples whose entry in the table of examples is None. Checks that presets, scripts and
options that pages name exist.

docs/quick-start.md and docs/cpp.md have their own tests, qa_quick_start.py and qa_cpp.py. The named
examples of docs/converting run in qa_converting.py."""

import contextlib
import importlib.util
import io
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
import unittest
from unittest import mock

import numpy as np
from gnuradio import blocks, fec, gpufec, gr

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "apps" / "test"))
sys.path.insert(0, str(ROOT / "python" / "gpufec" / "test" / "ccsds"))
import ccsds_signals # noqa: E402
from gpufec_tool import bbframes # noqa: E402

TOOL = os.environ.get("GPUFEC_TOOL")
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "packaging/README.md",
                                  "bench/results/README.md")] + sorted((ROOT / "docs").rglob("*.md"))
OF_ITS_OWN = (ROOT / "docs" / "quick-start.md", ROOT / "docs" / "cpp.md")

# Beginnings of commands that this test does not run, and the reasons.
EXCEPTIONS = {
    "scripts/demo": "builds everything, and installs packages",
    "scripts/test": "runs this test itself",
    "packaging/make-recipes": "needs a published archive; packaging.scripts runs it",
    "packaging/make-deb": "builds everything; packaging/try-deb tests the package",
    "sudo apt install": "needs root; packaging/try-deb installs into a separate root",
    "scripts/deps": "installs packages as root; scripts/test runs it",
    "cmake --build": "builds everything; test_PresetsOfPages_Exist checks the preset",
    "cmake --preset": "builds everything; test_PresetsOfPages_Exist checks the preset",
    "ctest --preset": "runs this test itself; test_PresetsOfPages_Exist checks the preset",
    "sudo cmake --install": "needs root; packaging.downstream installs to another prefix",
    "pip install .": "builds the package, and needs PyPI; packaging/try-wheel runs it",
    "scripts/gpu-pack": "needs a build with CUDA",
    "python3 packed/scripts/gpu-test": "needs a GPU",
    "gpufec ber viterbi --preset ccsds --range 4:1:6 --scheduler":
        "needs a scheduler of that name; arrays.distributed runs the command with a scheduler",
}


def commands():
    """Yields (page, line) for each command in the shell blocks of the pages."""
    for page in PAGES:
        if page not in OF_ITS_OWN:
            for block in re.findall(r"(?s)```(?:sh|bash|console|shell)\n(.*?)```",
                                    page.read_text(encoding="utf-8")):
                for line in block.replace("\\\n", " ").splitlines():
                    for part in re.sub(r"(^|\s)#.*", "", line).split(" && "):
                        if part.strip():
                            yield page.relative_to(ROOT), " ".join(part.split())


def receiver_of_dvbs2rx():
    """Returns an object with the attributes of the program dvbs2-rx that the examples use."""
    return mock.Mock(frame_size="normal", code_rate="1/2", constellation="QPSK",
                     ldpc_iterations=25)


def soft_source():
    """Returns the variables of an example that connects a decoder to a source of soft values and to
    a sink."""
    return dict(fec=fec, top=gr.top_block(), source=blocks.null_source(gr.sizeof_float),
                sink=blocks.null_sink(gr.sizeof_char))


# For the beginning of each Python example: a function that returns the variables that the example
# needs, or None if the example is not run.
SURROUNDINGS = {
    "from gnuradio import gpufec": dict,
    "from gnuradio import fec, gpufec": dict,
    "import numpy as np, gpufec": dict,
    "import numpy as np\n\ndef depuncture(": dict,
    'decoder = gpufec.gpu_viterbi_pbvd(\n    preset="dvb_1_2"': dict,
    'decoder = gpufec.gpu_viterbi_pbvd(preset="ccsds", soft_input="float", packed_output=False,\n'
    '                                  lock="auto")': lambda: dict(
        self=mock.Mock(), blocks=blocks, ccsds_rs_deframer=mock.Mock()),
    "book = gpufec.codebook_random(": dict,
    'decoder = gpufec.viterbi_decoder(preset="ccsds_3_4")': lambda: dict(
        source=[viterbi_values("ccsds_3_4", 0.75)]),
    "decoded, status = gpufec.viterbi_decode(\n    values": lambda: dict(
        values=viterbi_values("dvb_3_4", 0.75)),
    'decoder = gpufec.ldpc_decoder(rate="3/4", threads=4)': lambda: dict(
        source=[np.full((2, 64800), 20, np.int8)]),
    "decoder = gpufec.fec_viterbi_decoder.make(frame_size=1024": soft_source,
    "ldpc_decoder = gpufec.gpu_ldpc_dvbs2(": lambda: dict(self=receiver_of_dvbs2rx()),
    "decoder = gpufec.gpu_ldpc_dvbs2(\n    frame_size=self.frame_size": lambda: dict(
        self=receiver_of_dvbs2rx()),
    "bbdeheader = gpufec.bbframe_to_ts(": lambda: dict(self=receiver_of_dvbs2rx()),
    "ldpc_avg_trials = self.ldpc_decoder.mean_iterations()": None, # incomplete statement
    "from distributed import Client": None, # The test arrays.distributed runs it with workers.
}


def pieces_of_python():
    """Yields (page, text) of each Python example that has no name."""
    for page in PAGES:
        if page not in OF_ITS_OWN:
            for before, text in re.findall(r"(?s)([^\n]*)\n```python\n(.*?)```",
                                           page.read_text(encoding="utf-8")):
                if not before.startswith("<!-- example: "):
                    yield page.relative_to(ROOT), textwrap.dedent(text)


def excepted(command):
    return next((begin for begin in EXCEPTIONS if command.startswith(begin)), None)


def viterbi_values(preset="ccsds", rate=0.5):
    bits = gpufec.random_bits(20000)
    coded = gpufec.conv_encode(bits, preset=preset, packed_input=False, packed_output=False)
    return gpufec.awgn(coded, 6.0, rate)


def sync_values():
    """Returns received items of four frames, encoded with the tool's default codebook, and the
    length of each frame."""
    symbols = np.random.default_rng(1).integers(0, 32, (4, 210)).astype(np.uint8)
    received, lengths = gpufec.bsid(gpufec.sync_encode(symbols, gpufec.codebook_davey_mackay()))
    return received, lengths


@unittest.skipUnless(TOOL, "GPUFEC_TOOL is not set")
class qa_commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        os.symlink(TOOL, self.folder / "gpufec")

    def shell(self, command, **keywords):
        return subprocess.run(
            ["bash", "-ec", command], cwd=self.folder, capture_output=True, text=True,
            env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"}, **keywords)

    def prepare(self, command):
        """Makes the input files that a command names."""
        if " encode bch" in command:
            packets = [b"\x47" + bytes(187)] * 60
            (self.folder / "BBFRAMES").write_bytes(bbframes(packets, 4026, 2))
        elif " decode ldpc" in command:
            encode = ("gpufec encode bch --scramble true BBFRAMES - | "
                      'gpufec encode ldpc --modcod "QPSK 1/2" --output symbols - SYMBOLS')
            self.prepare(encode)
            self.shell(encode)
        elif " encode ldpc" in command:
            (self.folder / "MESSAGE").write_bytes(bytes(2 * 335))
        elif " encode viterbi" in command:
            (self.folder / "BITS").write_bytes(bytes(range(256)))
        elif " decode viterbi" in command:
            for name in ("IN", "recording.soft"):
                viterbi_values().tofile(self.folder / name)
            symbols = viterbi_values() / np.float32(32)
            symbols.view(np.complex64).tofile(self.folder / "samples.c64")
        elif " decode ccsds" in command:
            _, bits = ccsds_signals.transmit(4, 1115, 1, "ccsds", interleaving=5)
            ccsds_signals.soft(bits).tofile(self.folder / "dump.soft")
        elif " decode sync" in command:
            received, lengths = sync_values()
            received.tofile(self.folder / "IN")
            (self.folder / "LENGTHS").write_text("\n".join(map(str, lengths)) + "\n")

    def test_CommandsOfPages_Succeed(self):
        ran = 0
        for page, command in commands():
            if not excepted(command):
                with self.subTest(page=str(page), command=command):
                    self.prepare(command)
                    done = self.shell(command, timeout=240)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    for name in re.findall(r" (OUT|PACKETS|decoded\.bin)$", command):
                        self.assertGreater((self.folder / name).stat().st_size, 0)
                    ran += 1
        self.assertGreater(ran, 6)

    def test_PythonExamplesOfPages_Run(self):
        known = set()
        for page, text in pieces_of_python():
            with self.subTest(page=str(page), text=text):
                begin = next(b for b in SURROUNDINGS if text.startswith(b))
                known.add(begin)
                if SURROUNDINGS[begin]:
                    names = {"gpufec": gpufec, "np": np, **SURROUNDINGS[begin]()}
                    if "import numpy as np, gpufec" in text and not importlib.util.find_spec(
                            "gpufec"):
                        self.skipTest("the package without GNU Radio is not built")
                    with contextlib.redirect_stdout(io.StringIO()) as said:
                        exec(compile(text, str(page), "exec"), names)
                    if "wrong bits" in text:
                        wrong = int(re.match(r"(\d+) wrong bits, decoded on c", said.getvalue())[1])
                        self.assertLess(wrong, 300) # wrong bits among 100,000 bits at 4 dB
        self.assertEqual(known, set(SURROUNDINGS))

    def test_ExceptedCommands_AreOnPages(self):
        found = {excepted(command) for _, command in commands()}
        self.assertEqual(found - {None}, set(EXCEPTIONS))

    def test_PresetsOfPages_Exist(self):
        presets = json.loads((ROOT / "CMakePresets.json").read_text())
        for page, command in commands():
            words = shlex.split(command)
            if "--preset" in words and words[0] in ("cmake", "ctest"):
                kind = ("testPresets" if words[0] == "ctest" else
                        "buildPresets" if "--build" in words else "configurePresets")
                with self.subTest(page=str(page), command=command):
                    self.assertIn(words[words.index("--preset") + 1],
                                  [p["name"] for p in presets[kind]])

    def test_ScriptsOfPages_Exist(self):
        for page in PAGES:
            for name in re.findall(r"`?\b((?:scripts|packaging|bench|apps|tests)/[\w./-]+)",
                                   page.read_text(encoding="utf-8")):
                name = name.rstrip(".")
                folder, _, base = name.rpartition("/")
                with self.subTest(page=page.name, name=name):
                    # Other names are programs that the build makes.
                    if not (ROOT / name).exists() and "ROOM" not in name:
                        rules = ROOT / folder / "CMakeLists.txt"
                        self.assertTrue(rules.exists())
                        self.assertTrue(re.search(rf"add_executable\({base}\s",
                                                  rules.read_text()))

    def test_OptionsOfToolOnPages_Exist(self):
        """The commands, decoders and options of the tool that pages name exist."""
        described = json.loads(subprocess.run([TOOL, "--describe"], check=True,
                                              capture_output=True).stdout)
        options = {line["name"]: {"--" + o["name"] for table in line["tables"]
                                  for o in table["options"]} for line in described["lines"]}
        seen = 0
        for page in PAGES:
            text = page.read_text(encoding="utf-8")
            shell = "\n".join(re.findall(r"(?s)```sh\n(.*?)```", text))
            for words in re.findall(r"(?m)(?:^|[\s`])(gpufec (?:bench|ber|decode|encode|info|circulants)\b"
                                    r"[^`\n#>|]*)", shell) + re.findall(r"`(gpufec [^`]+)`", text):
                words = words.split()
                if words[1].startswith("--"):
                    self.assertIn(words[1], ("--help", "--version", "--describe"))
                    continue
                names = [n for n in options if n.split()[1] == words[1] and
                         (len(n.split()) == 2 or len(words) < 3 or n.split()[2] == words[2] or
                          words[2].startswith("-"))]
                with self.subTest(page=page.name, words=" ".join(words)):
                    self.assertTrue(names)
                    known = set().union(*(options[n] for n in names)) | {"--help"}
                    self.assertLessEqual({w.split("=")[0] for w in words
                                          if w.startswith("--")}, known)
                seen += 1
        self.assertGreater(seen, 15)


if __name__ == "__main__":
    if not TOOL:
        print("skipped: GPUFEC_TOOL is not set")
        sys.exit(77)
    unittest.main()
