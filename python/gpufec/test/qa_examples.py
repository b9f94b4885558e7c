#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests that the examples, Python programs and .grc files, run without a display and decode."""

import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = str(pathlib.Path(__file__).resolve().parents[3])
EXAMPLES = os.path.join(ROOT, "examples")
RESULT = re.compile(r"(\d+) wrong bits of (\d+)")


def run(*command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120,
                          env={**os.environ, **environment})
    if done.returncode:
        raise AssertionError(f"{command} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout


class qa_examples(unittest.TestCase):

    def check_error_rate(self, output, least_bits):
        wrong, bits = map(int, RESULT.search(output).groups())
        self.assertGreaterEqual(bits, least_bits)
        # The Eb/N0 of the examples is so low that some bits must be wrong.
        self.assertGreater(wrong, 0)
        self.assertLess(wrong / bits, 1e-3)

    def run_flowgraph(self, path):
        """Generates and runs the flowgraph `path` of GNU Radio Companion, and returns its
        output."""
        with tempfile.TemporaryDirectory() as folder:
            run("grcc", "-o", folder, path, HOME=folder,
                GRC_BLOCKS_PATH=os.path.join(ROOT, "grc"))
            return run(sys.executable,
                       os.path.join(folder, os.path.basename(path).replace(".grc", ".py")))

    def check_symbols(self, output):
        wrong, symbols = map(int, re.search(r"(\d+) wrong symbols of (\d+)", output).groups())
        self.assertEqual(symbols, 21000)
        self.assertTrue(0.005 < wrong / symbols < 0.02)

    @unittest.skipUnless(shutil.which("grcc"), "GNU Radio Companion is not installed")
    def test_FlowgraphsWithoutWindow_DecodeSentData(self):
        # qa_flowgraphs.py tests the other flowgraphs, which have windows.
        for name in ("ccsds/ccsds_fec_receiver.grc", "dvbs2_fec_receiver.grc",
                     "dvb/dvbs_fec_receiver.grc", "sync_stream.grc", "viterbi_ber.grc",
                     "viterbi_ccsds.grc", "viterbi_dvb_3_4.grc", "wifi/wifi_ppdus.grc"):
            with self.subTest(name):
                output = self.run_flowgraph(os.path.join(EXAMPLES, name))
                if name.startswith("viterbi"):
                    self.check_error_rate(output, 3e6)
                elif name.startswith("ccsds"):
                    self.assertIn("100 of 100 received frames are correct, 100 sent", output)
                elif name.startswith("dvbs2"):
                    right, received, sent, frames, left, given = map(int, re.search(
                        r"(\d+) of (\d+) received packets are correct, "
                        r"(\d+) sent in (\d+) BBFRAMEs; "
                        r"the last (\d+) of (\d+) do not fill another", output).groups())
                    self.assertEqual((right, received), (sent, sent)) # all packets arrive
                    self.assertEqual((sent + left, given), (given, 2000))
                    # 8PSK 3/4: K_bch = 48408 bits, 80 of them header, leave 6041 bytes per frame.
                    self.assertEqual(frames, 2000 * 188 // 6041)
                    self.assertEqual(sent, frames * 6041 // 188)
                elif name.startswith("wifi"):
                    self.assertIn("200 of 200 received PPDUs are correct, 200 sent", output)
                elif name.startswith("dvb/"):
                    right, received, sent = map(int, re.search(
                        r"(\d+) of (\d+) received packets are correct, (\d+) sent",
                        output).groups())
                    self.assertEqual((right, sent), (received, 2000))
                    self.assertGreaterEqual(right, 1970)
                else:
                    self.check_symbols(output)

    @unittest.skipUnless(shutil.which("grcc"), "GNU Radio Companion is not installed")
    def test_FlowgraphsOfEarlierVersions_StillRun(self):
        """The flowgraphs in tests/saved_flowgraphs were saved with early versions of the blocks,
        which had fewer parameters."""
        def flowgraph(name):
            return self.run_flowgraph(os.path.join(ROOT, "tests", "saved_flowgraphs", name))

        self.check_error_rate(flowgraph("viterbi_ccsds.grc"), 3e6)
        self.check_symbols(flowgraph("sync_stream.grc"))
        right, received = map(int, re.search(r"(\d+) packets right of (\d+) received",
                                             flowgraph("dvbs2_fec_receiver.grc")).groups())
        self.assertEqual(right, received)
        self.assertGreater(received, 1900)

    @unittest.skipUnless(shutil.which("grcc") and importlib.util.find_spec("PyQt5"),
                         "GNU Radio Companion or Qt is not installed")
    def test_ViterbiLockExample_PrintsLock(self):
        with tempfile.TemporaryDirectory() as folder:
            run("grcc", "-o", folder, os.path.join(EXAMPLES, "viterbi_lock.grc"),
                HOME=folder, GRC_BLOCKS_PATH=os.path.join(ROOT, "grc"))
            environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "HOME": folder}
            with subprocess.Popen(
                    [sys.executable, os.path.join(folder, "viterbi_lock.py")],
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                    env=environment) as program:
                killer = threading.Timer(100, program.kill)
                killer.start()
                lines = []
                for line in program.stdout:
                    lines.append(line)
                    if "State: locked" in line:
                        program.kill() # the program runs until its window is closed
                killer.cancel()
            output = "".join(lines)
            self.assertNotIn("Traceback", output)
            self.assertRegex(output, "(?m)^State: locked, Code: dvb_3_4, Pair phase: 1, .*Rotation: "
                             "0 degrees, I and Q: as sent, .*, Locks: 1$")

    def test_ViterbiBerExample_HasExpectedErrorRate(self):
        program = os.path.join(EXAMPLES, "viterbi_ber.py")
        for options in (["--preset", "ccsds"], ["--preset", "dvb_3_4", "--ebn0", "4"],
                        ["--preset", "80211_1_2", "--frame-bits", "1200"]):
            with self.subTest(options):
                self.check_error_rate(run(sys.executable, program, *options), 1.9e6)

    def test_AcmExample_ReceivesAllPackets(self):
        output = run(sys.executable, os.path.join(EXAMPLES, "dvbs2_acm.py"), "--frames", "24")
        right, received, sent = map(int, re.search(
            r"(\d+) of (\d+) received packets are correct, (\d+) sent; 0 frames dropped",
            output).groups())
        self.assertEqual((right, sent), (received, received))
        self.assertGreater(sent, 150)

    def test_ClockSlipsExample_ReducesErrors(self):
        output = run(sys.executable, os.path.join(EXAMPLES, "sync_clock_slips.py"),
                     "--backend", "cpu")
        counting, decoded = map(float, re.findall(r"wrong symbols, .*: (\S+)", output))
        self.assertGreater(counting, 0.5)
        self.assertLess(decoded, 0.2)

    @unittest.skipUnless(importlib.util.find_spec("gnuradio.trellis"),
                         "gr-trellis is not installed")
    def test_OuterCodeExample_ReducesErrorsByFeedback(self):
        """Feedback reduces the number of wrong frames by at least 25 % in the second iteration, and
        40 % in the third."""
        output = run(sys.executable, os.path.join(EXAMPLES, "sync_outer_code.py"),
                     "--backend", "cpu", "--symbols", "160", "--frames", "60", "--turns",
                     "3", "--json")
        once, twice, thrice = json.loads(output)["points"][0]["wrong_frames"]
        self.assertTrue(15 <= once < 40)
        self.assertLess(twice, 0.75 * once)
        self.assertLess(thrice, 0.6 * once)

    def without(self, module, program, *arguments):
        """Runs the example `program` as if `module` were not installed. Returns the completed
        process."""
        hidden = ("import runpy, sys; sys.modules[sys.argv[1]] = None; del sys.argv[:2]; "
                  "runpy.run_path(sys.argv[0], run_name='__main__')")
        return subprocess.run(
            [sys.executable, "-c", hidden, module, os.path.join(EXAMPLES, program), *arguments],
            capture_output=True, text=True, timeout=120)

    def test_MissingModule_IsNamedWithRemedy(self):
        """The error message names the missing module and a remedy, without a traceback."""
        for program, module, part in (
                ("dvbs2_acm.py", "gnuradio.dtv", "gr-dtv"),
                ("sync_outer_code.py", "gnuradio.trellis", "gr-trellis"),
                ("viterbi_demo.py", "gnuradio.fec", "gr-fec"),
                ("zeromq_frames.py", "gnuradio.zeromq", "gr-zeromq")):
            with self.subTest(program):
                done = self.without(module, program)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, rf"^{program[:-3]}: .*{part}.*install")
                self.assertNotIn("Traceback", done.stderr)
        done = self.without("matplotlib", "../apps/scripts/plot_ber.py", "a.json", "a.png")
        self.assertEqual((done.returncode, "Traceback" in done.stderr), (1, False))
        self.assertIn("python3-matplotlib", done.stderr)

    @unittest.skipUnless("GPUFEC_TOOL" in os.environ, "the gpufec program is not built")
    def test_DemoWithoutMatplotlib_PrintsResults(self):
        """Without Matplotlib, the demo prints all results and draws no plot."""
        done = self.without("matplotlib", "viterbi_demo.py", "--tool",
                            os.environ["GPUFEC_TOOL"], "--bits", "3e4")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("gr-fec cc_decoder", done.stdout)
        self.assertIn("No plot: Matplotlib is not installed", done.stdout)
        self.assertNotIn("no signal", done.stdout + done.stderr)

    @unittest.skipUnless("GPUFEC_TOOL" in os.environ, "the gpufec program is not built")
    def test_Demo_PrintsResultsAndDrawsPlot(self):
        with tempfile.TemporaryDirectory() as folder:
            png = os.path.join(folder, "demo.png")
            output = run(sys.executable, os.path.join(EXAMPLES, "viterbi_demo.py"),
                         "--tool", os.environ["GPUFEC_TOOL"], "--bits", "3e5",
                         "--png", png)
            rates = [float(line.split()[-2]) for line in output.splitlines()
                     if line.startswith("K=7 rate")]
            self.assertEqual(len(rates), 6)
            for first in (0, 3):
                self.assertLess(rates[first], 1e-2)
                self.assertGreater(rates[first], rates[first + 1])
            self.assertIn("gr-fec cc_decoder", output)
            with open(png, "rb") as file:
                self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")


if __name__ == "__main__":
    unittest.main()
