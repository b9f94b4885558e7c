#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests that interrupt or kill gpufec ber, and continue its reports by --resume."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

from gpufec_tool import PROGRESS, TIMEOUT_S, full_disk, main, run, start, terminal, wait_until


class qa_interrupted(unittest.TestCase):

    LONG = {"viterbi": ["--range", "2:1:9", "--min-errors", "0", "--max-bits", "1e12"],
            "ldpc": ["--frame-size", "short", "--range", "0:1:9", "--min-frame-errors", "0",
                     "--max-frames", "1e9"],
            "sync": ["--range", "1e-3,1e-2", "--frame-symbols", "20", "--min-errors", "0",
                     "--max-frames", "1e9"]}

    def interrupt(self, number, *arguments, shown=PROGRESS):
        """Sends signal `number` to gpufec ber when the terminal shows the pattern `shown`. Returns
        stdout."""
        with terminal("ber", *arguments, "--backend", "cpu", stdout=subprocess.PIPE) as t:
            t.wait_for(shown)
            t.process.send_signal(number)
            status, out = t.finish()
        self.assertEqual(status, 128 + number, t.seen)
        self.assertIn("interrupted", t.seen)
        return out.decode()

    def test_Interrupt_WritesResultsSoFar(self):
        for decoder, arguments in self.LONG.items():
            for number in (signal.SIGINT, signal.SIGTERM):
                report = json.loads(self.interrupt(number, decoder, *arguments, "--json",
                                                   "-"))
                self.assertFalse(report["complete"])
                point = report["points"][-1]
                self.assertFalse(point["complete"])
                self.assertGreater(point.get("bits", point.get("symbols")), 0)
                self.assertEqual(report["decoder"]["backend"], "cpu")

    def test_InterruptAfterAPoint_KeepsThatPoint(self):
        report = json.loads(self.interrupt(
            signal.SIGINT, "viterbi", "--range", "1:11:12", "--min-errors", "100",
            "--max-bits", "1e12", "--json", "-", shown=r"\033\[K *12\.00 "))
        first, second = report["points"]
        self.assertNotIn("complete", first)
        self.assertGreaterEqual(first["errors"], 100)
        self.assertFalse(second["complete"])

    def test_InterruptWithoutJson_PrintsTable(self):
        text = self.interrupt(signal.SIGINT, "ldpc", *self.LONG["ldpc"])
        self.assertIn("Eb/N0", text)
        self.assertEqual(len(text.splitlines()), 3)

    def test_InterruptDuringReference_WritesResults(self):
        report = json.loads(self.interrupt(
            signal.SIGINT, "ldpc", "--frame-size", "short", "--range", "0.5", "--max-frames",
            "2000", "--min-frame-errors", "0", "--max-iterations", "5", "--reference", "--json",
            "-", shown=r" 5\.00 +[1-9]\S+ +[1-9]")) # waits until the reference has errors
        self.assertFalse(report["complete"])

    def test_FinishedRun_IsComplete(self):
        result = run("ber", "viterbi", "--backend", "cpu", "--range", "2", "--max-bits",
                     "1e5", "--json", "-")
        self.assertTrue(json.loads(result.stdout)["complete"])


class qa_resumed(unittest.TestCase):
    """Tests that --resume keeps complete points of a report and simulates the others."""

    CALL = ["ber", "viterbi", "--backend", "cpu", "--range", "1:1:3", "--max-bits", "1e6"]

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "report.json")

    def over(self, points, most="1e6"):
        """Returns the arguments of CALL with the range `points` and --max-bits `most`."""
        return [*self.CALL[:4], "--range", points, "--max-bits", most]

    def report(self, *more):
        return json.loads(run(*self.CALL, "--json", "-", *more).stdout)

    def test_ResumedRun_EqualsUninterruptedRun(self):
        whole = self.report()
        cut = json.loads(json.dumps(whole))
        cut["complete"] = False
        cut["points"][0]["errors"] = 12345 # would change if this point were simulated again
        cut["points"][1]["complete"] = False
        del cut["points"][2]
        with open(self.path, "w") as file:
            json.dump(cut, file)
        again = self.report("--resume", self.path)
        self.assertEqual(again["points"][0], cut["points"][0])
        self.assertEqual(again["points"][1:], whole["points"][1:])
        self.assertEqual(again["decoder"], whole["decoder"])
        self.assertTrue(again["complete"])

    def test_ResumeIntoSameFile_KeepsPoints(self):
        run(*self.CALL, "--json", self.path)
        with open(self.path) as file:
            whole = json.load(file)
        self.assertEqual(run(*self.CALL, "--json", self.path, "--resume",
                             self.path).returncode, 0)
        with open(self.path) as file:
            self.assertEqual(json.load(file)["points"], whole["points"])

    def check_refused(self, words, *call):
        result = run(*(call or self.CALL), "--resume", self.path)
        self.assertEqual(result.returncode, 2)
        self.assertIn(words, result.stderr.decode())

    def test_ResumeWithOtherOptions_IsRefused(self):
        with open(self.path, "w") as file:
            json.dump(self.report(), file)
        self.check_refused('but its "seed" is different: 1, not 2. Repeat the earlier call', *self.CALL, "--seed", "2")
        self.check_refused('its "options" is different', *self.CALL, "--preset", "gsm",
                           "--frame-bits", "100")
        self.check_refused('its "command" is different', "ber", "ldpc", "--backend", "cpu",
                           "--frame-size", "short", "--range", "3", "--max-frames", "10")
        for text in ("", "[1, 2", "nothing", "{" * 100, '{"a": 1} 2', '{"a" 1}'):
            with open(self.path, "w") as file:
                file.write(text)
            self.check_refused("reports of gpufec ber")
        os.remove(self.path)
        self.assertEqual(run(*self.CALL, "--resume", self.path).returncode, 1)

    def test_ReportOfAnotherVersion_IsRefusedWithNamesOfBothVersions(self):
        report = self.report()
        report["environment"]["version"] = "0.0.7"
        with open(self.path, "w") as file:
            json.dump(report, file)
        self.check_refused('its "environment.version" is different: "0.0.7", not "')

    def test_PointsThatAreNoNumbers_AreRefusedByName(self):
        for member, value in (("ebn0_db", "2"), ("errors", "many"), ("ber", True), ("bits", [1])):
            report = self.report()
            report["points"][1][member] = value
            with open(self.path, "w") as file:
                json.dump(report, file)
            self.check_refused(f'its "{member}" is ')

    def test_EndlessReport_IsRefused(self):
        result = run(*self.CALL, "--resume", "/dev/zero")
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"16 MiB", result.stderr)

    def test_PointsOutsideRange_StayInReport(self):
        points = self.report()["points"]
        self.assertEqual(run(*self.CALL, "--json", self.path).returncode, 0)
        for _ in range(2):  # the earlier report of the second run has all points
            call = [*self.over("0:1.5:3"), "--json", self.path]
            self.assertEqual(run(*call, "--resume", self.path).returncode, 0)
            with open(self.path) as file:
                report = json.load(file)
            self.assertEqual([p["ebn0_db"] for p in report["points"]], [0, 1, 1.5, 2, 3])
            self.assertEqual([p for p in report["points"] if p["ebn0_db"] in (1, 2, 3)], points)

    def test_FullDisk_KeepsSavedReport(self):
        self.assertEqual(run(*self.CALL, "--json", self.path).returncode, 0)
        before = pathlib.Path(self.path).read_bytes()
        with full_disk() as limits:
            result = run(*self.over("1:0.5:4"), "--json", self.path, "--resume", self.path,
                         **limits)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"--json: " + os.fsencode(self.path) + b": File too large", result.stderr)
        self.assertIn(b"tries to write the report again after the next point", result.stderr)
        self.assertEqual(pathlib.Path(self.path).read_bytes(), before)
        self.assertEqual(os.listdir(self.folder.name), ["report.json"])

    def check_killed(self, number, *more):
        """Sends signal `number` after the tool has saved the first point. Returns the exit status,
        the report and stderr."""
        with start("ber", "viterbi", "--backend", "cpu", "--range", "1:11:12", "--min-errors",
                   "100", "--max-bits", "1e12", "--json", self.path, *more,
                   stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            wait_until(lambda: os.path.exists(self.path), process)
            process.send_signal(number)
            _, errors = process.communicate(timeout=TIMEOUT_S)
        with open(self.path) as file:
            return process.returncode, json.load(file), errors

    def test_KilledProcess_LeavesItsCompletePoints(self):
        status, report, _ = self.check_killed(signal.SIGKILL)
        self.assertEqual(status, -signal.SIGKILL)
        self.assertFalse(report["complete"])
        self.assertEqual([p["ebn0_db"] for p in report["points"]], [1])
        self.assertNotIn("complete", report["points"][0])

    def test_KilledProcess_LeavesLaterPointsOfTheEarlierReport(self):
        _, report, _ = self.check_killed(signal.SIGKILL)
        report["points"] = [dict(report["points"][0], ebn0_db=6, errors=12345)]
        os.remove(self.path)
        earlier = os.path.join(self.folder.name, "earlier.json")
        with open(earlier, "w") as file:
            json.dump(report, file)
        _, report, _ = self.check_killed(signal.SIGKILL, "--resume", earlier)
        self.assertEqual([p["ebn0_db"] for p in report["points"]], [1, 6])

    def test_ClosedTerminal_InterruptsRun(self):
        status, report, errors = self.check_killed(signal.SIGHUP)
        self.assertEqual(status, 128 + signal.SIGHUP)
        self.assertIn(b"interrupted", errors)
        self.assertIn([p.get("complete", True) for p in report["points"]],
                      ([True], [True, False]))  # counts of the second point exist if it was started

    def test_IgnoredSignals_StayIgnored(self):
        """A simulation ends normally in spite of SIGHUP and SIGINT if it was started with both
        signals ignored, as by nohup and in the background of a shell."""
        def ignore():
            for number in (signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
        with terminal(*self.over("5", "3e7"), "--json", "-", preexec_fn=ignore,
                      stdout=subprocess.PIPE) as t:
            t.wait_for(PROGRESS)
            t.process.send_signal(signal.SIGHUP)
            t.process.send_signal(signal.SIGINT)
            status, output = t.finish()
        self.assertEqual((status, json.loads(output)["complete"]), (0, True))


if __name__ == "__main__":
    main()
