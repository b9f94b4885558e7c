#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the commands of docs/quick-start.md, except grcc, in the order of the page."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "quick-start.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"(?s)```(python|sh)\n(.*?)```", PAGE)


class qa_quick_start(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.symlink(os.environ["GPUFEC_TOOL"], os.path.join(self.folder, "gpufec"))

    def run_shell(self, lines, status=0):
        done = subprocess.run(
            ["bash", "-ec", lines.replace("/usr/bin/python3", sys.executable)],
            cwd=self.folder, capture_output=True, text=True, timeout=120,
            env={**os.environ, "PATH": self.folder + ":" + os.environ["PATH"]})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    @unittest.skipUnless("GPUFEC_TOOL" in os.environ, "needs the gpufec program")
    def test_CommandsOfPage_PrintResultsOfPage(self):
        said, names = [], iter(("make_recording.py", "flowgraph.py"))
        for language, text in BLOCKS:
            if language == "python":
                pathlib.Path(self.folder, next(names)).write_text(text)
            elif "grcc" not in text: # qa_flowgraphs.py runs the command grcc.
                said.append(self.run_shell(text, status=3 if "wrong.bin" in text else 0))
        made, decoded, late, found, back, flowgraph = said
        self.assertIn("the same", decoded)
        self.assertNotIn("WARNING", decoded)
        self.assertIn("WARNING: no signal of this code", late)
        self.assertNotIn("WARNING", found)
        self.assertGreater(os.path.getsize(os.path.join(self.folder, "found.bin")), 12000)
        self.assertIn("the same", back)
        self.assertIn("the same", flowgraph)
        self.assertRegex(flowgraph, r"channel error rate 0\.0[45]")

    def test_OptionsOfRecordingExample_Exist(self):
        """viterbi_recording.py has the options that the page passes to it."""
        drawn = (ROOT / "examples" / "viterbi_recording.grc").read_text(encoding="utf-8")
        line = re.search(r"\./viterbi_recording\.py (.*)", PAGE)[1]
        for option in re.findall(r"--(\w+)", line):
            self.assertTrue(re.search(rf"id: parameter\n\s+name: {option}\n", drawn), option)


if __name__ == "__main__":
    unittest.main()
