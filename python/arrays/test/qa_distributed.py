#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests gpufec.distributed with a Dask scheduler and two workers, each in its own process."""

import contextlib
import io
import itertools
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

try:
    from distributed import Client
except ModuleNotFoundError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
import numpy as np

import gpufec
from gpufec import distributed as there

VITERBI = dict(termination="tailbiting", frame_bits=120)


class Cluster:
    """A Dask scheduler and its workers, each in its own process."""

    def __init__(self, workers):
        self.folder = tempfile.TemporaryDirectory()
        self.file = pathlib.Path(self.folder.name, "scheduler.json")
        self.processes = [self.start("dask_scheduler", "--port", "0", "--scheduler-file",
                                     str(self.file), "--no-dashboard")]
        self.processes += [self.worker() for _ in range(workers)]
        for _ in range(600):
            if self.file.exists() and self.file.stat().st_size:
                break
            time.sleep(0.1)
        self.address = json.loads(self.file.read_text())["address"]
        self.client = Client(self.address, timeout=60)
        self.client.wait_for_workers(workers, timeout=60)

    def start(self, program, *words):
        return subprocess.Popen([sys.executable, "-m", f"distributed.cli.{program}", *words],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def worker(self):
        return self.start("dask_worker", "--scheduler-file", str(self.file), "--no-nanny",
                          "--nthreads", "1", "--no-dashboard", "--local-directory",
                          self.folder.name)

    def kill(self, number):
        """Kills worker `number`, 1 or 2, or the scheduler (0), with SIGKILL."""
        self.processes[number].send_signal(signal.SIGKILL)
        self.processes[number].wait()

    def close(self):
        try:
            self.client.close(timeout=30)
        except TimeoutError:
            pass # possible if the scheduler has ended and the machine is busy
        for process in self.processes:
            process.kill()
            process.wait()
        self.folder.cleanup()


CHANNEL = 0x5bf03635 # the seed of a simulation XOR CHANNEL is the seed of its noise


def whole_viterbi(point, seed, first, count, size, **code):
    """Simulates tasks `first` to `first` + `count` − 1 in one call. Returns the sent and the
    decoded bits. Successive tasks have successive parts of one data sequence and of one noise
    sequence."""
    options = dict(packed_input=False, packed_output=False)
    if "frame_bits" in code:
        shape = (count * size, code["frame_bits"])
        bits = gpufec.random_bits(shape, seed, first * size * code["frame_bits"])
        coded = gpufec.conv_encode(bits, **options, **code)
        values = gpufec.awgn(coded, point, bits.size / coded.size, seed ^ CHANNEL,
                             first=first * coded.size // count)
        return bits, gpufec.viterbi_decode(values, packed_output=False, **code)[0]
    bits = gpufec.random_bits((count, size), seed, first * size)
    coded = gpufec.conv_encode(bits, **options, **code)
    values = gpufec.awgn(coded, point, bits.size / coded.size, seed ^ CHANNEL,
                         first=first * coded.shape[1])
    return bits, gpufec.viterbi_decode(values, packed_output=False, **code)[0][:, :size]


def whole_sync(point, seed, first, count, size, **code):
    """Returns the sent and the decoded symbols of the tasks, like whole_viterbi(). Each task of the
    decoder sync has its own random generators."""
    sent, found = [], []
    for task in range(first, first + count):
        random = np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 0, task]))
        symbols = random.integers(0, code["q"], (size, code["frame_symbols"])).astype(np.uint16)
        channel = dict(p_insert=point, p_delete=point)
        words = gpufec.sync_encode(symbols, **code)
        received, lengths = gpufec.bsid(words, **channel, seed=(seed ^ CHANNEL) + task)
        sent.append(symbols)
        found.append(gpufec.sync_decode(received, lengths=lengths, **code, **channel)[0])
    return np.concatenate(sent), np.concatenate(found)


def expected_counts(decoder, points, min_errors, size, seed=1, **code):
    """Computes the counts that error_rates() must return for `points`, without distributed.py."""
    found = []
    for point in points:
        whole = whole_viterbi if decoder == "viterbi" else whole_sync
        sent, decoded = whole(point, seed, 0, 4, size, **code)
        wrong, tasks = sent != decoded, 4
        while wrong.sum() < min_errors:
            sent, decoded = whole(point, seed, tasks, 4, size, **code)
            wrong = np.concatenate([wrong, sent != decoded])
            tasks += 4
        rows = len(wrong) // tasks
        errors = wrong.reshape(tasks, -1).sum(axis=1).cumsum()
        tasks = int(np.searchsorted(errors, min_errors)) + 1
        wrong = wrong[:tasks * rows]
        unit = "bits" if decoder == "viterbi" else "symbols"
        found.append({"point": point, unit: wrong.size, "errors": int(wrong.sum()),
                      "frames": len(wrong), "frame_errors": int(wrong.any(axis=1).sum()),
                      "tasks": tasks})
    return found


class qa_distributed(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster(2)
        self.addCleanup(self.cluster.close)
        self.client = self.cluster.client

    def test_AnyNumberOfWorkers_YieldsExpectedCounts(self):
        book = gpufec.codebook_davey_mackay(8, 16, 30)
        for decoder, points, size, code in (
                ("viterbi", [1.0, 2.5], 10, VITERBI),
                ("viterbi", [2.0], 500, dict(preset="ccsds_3_4")),
                ("sync", [1e-2], 5, dict(codebook=book, q=16, n=8, frame_symbols=30))):
            expected = expected_counts(decoder, points, 60, size, **code)
            found = there.error_rates(self.client, decoder, points, min_errors=60,
                                      task_size=size, **code)
            with self.subTest(decoder):
                self.assertEqual(found, expected)
                self.assertGreater(found[0]["tasks"], 1)
        found = there.error_rates(self.client, "ldpc", [0.9], min_errors=3, max_units=12,
                                  task_size=2, frame_size="short")
        self.assertEqual(found[0]["frames"], 2 * found[0]["tasks"])
        self.assertTrue(found[0]["frame_errors"] >= 3 or found[0]["frames"] >= 12)

    def test_KilledWorker_LeavesCountsUnchanged(self):
        task = dict(task_size=2000, min_errors=0, max_units=60 * 2000 * 120, **VITERBI)
        expected = there.error_rates(self.client, "viterbi", [3.0], **task)
        killed = []

        def progress(point, total):
            if total["tasks"] == 10 and not killed:
                killed.append(True)
                self.cluster.kill(1)

        found = there.error_rates(self.client, "viterbi", [3.0], progress=progress, **task)
        self.assertTrue(killed)
        self.assertEqual(found, expected)
        self.assertEqual(found[0]["tasks"], 60)

    def test_RecentlyLostWorker_EndsNoCall(self):
        expected = expected_counts("viterbi", [2.0], 60, 200, **VITERBI)
        values = gpufec.awgn(gpufec.random_bits((50, 240)), 2.0, 0.5)
        self.cluster.kill(1)
        found = there.error_rates(self.client, "viterbi", [2.0], min_errors=60, task_size=200,
                                  **VITERBI)
        self.assertEqual(found, expected)
        np.testing.assert_array_equal(there.decode(self.client, "viterbi", values, **VITERBI),
                                      gpufec.viterbi_decode(values, **VITERBI)[0])

    def test_MissingScheduler_RaisesConnectionError(self):
        path = pathlib.Path(self.cluster.folder.name, "values")
        gpufec.awgn(gpufec.random_bits(2400), 2.0, 0.5).tofile(path)
        out = path.with_name("bits")
        out.write_bytes(b"before")
        self.cluster.kill(0)
        for call in (lambda: there.error_rates(self.client, "viterbi", [2.0], **VITERBI),
                     lambda: there.decode(self.client, "viterbi", np.zeros((9, 240), np.int8),
                                          **VITERBI),
                     lambda: there.decode_file(self.client, "viterbi", path, out, **VITERBI)):
            with self.assertRaisesRegex(ConnectionError, "scheduler"):
                call()
        self.assertEqual(out.read_bytes(), b"before")

    def test_SchedulerLostDuringCall_RaisesConnectionError(self):
        def progress(point, total):
            if total["tasks"] == 3:
                self.cluster.kill(0)

        failed = []

        def run():
            try:
                there.error_rates(self.client, "viterbi", [3.0], min_errors=0,
                                  max_units=10 ** 12, task_size=2000, progress=progress,
                                  **VITERBI)
            except ConnectionError as error:
                failed.append(str(error))

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join(90)
        self.assertFalse(thread.is_alive())
        self.assertEqual(len(failed), 1)
        self.assertIn("scheduler", failed[0])


class qa_whole_cluster(unittest.TestCase):
    """Tests that can share a cluster, because no test kills a worker."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(2)
        cls.addClassCleanup(cls.cluster.close)
        cls.client = cls.cluster.client

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_ArraysAndFiles_DecodeAsWithoutCluster(self):
        bits = gpufec.random_bits((500, 120))
        coded = gpufec.conv_encode(bits, packed_input=False, packed_output=False, **VITERBI)
        values = gpufec.awgn(coded, 2.0, 0.5)
        expected, _ = gpufec.viterbi_decode(values, **VITERBI)
        found = there.decode(self.client, "viterbi", values, frames_per_task=37, **VITERBI)
        np.testing.assert_array_equal(found, expected)
        folder = pathlib.Path(self.cluster.folder.name)
        bits = gpufec.random_bits(300007)
        for code in (dict(), dict(puncturing="101,110"), dict(preset="ccsds_7_8")):
            coded = gpufec.conv_encode(bits, packed_input=False, packed_output=False, **code)
            coded = coded[:len(coded) // 2 * 2]
            for soft_input in ("int8", "float", "packed4"):
                values = gpufec.awgn(coded, 1.0, 0.5, soft_input=soft_input)
                asked = dict(code, soft_input=soft_input)
                expected, _ = gpufec.viterbi_decode(values, **asked)
                values.tofile(folder / "values")
                written = there.decode_file(self.client, "viterbi", folder / "values",
                                            folder / "bits", values.dtype, 50000, **asked)
                with self.subTest(soft_input, **code):
                    self.assertEqual(written, len(expected))
                    np.testing.assert_array_equal(np.fromfile(folder / "bits", np.uint8),
                                                  expected)

    def test_IncompleteLastFrameOfFile_CausesWarning(self):
        path, out = self.folder / "values", self.folder / "bits"
        frame = gpufec.awgn(gpufec.conv_encode(gpufec.random_bits(120), packed_input=False,
                                               packed_output=False, **VITERBI), 5.0, 0.5)
        ldpc = dict(standard="wifi", frame_size="648", rate="1/2")
        for decoder, items, code in (("viterbi", len(frame), VITERBI), ("ldpc", 648, ldpc)):
            with self.subTest(decoder):
                np.resize(frame, items + 3).tofile(path)
                with self.assertWarnsRegex(
                        RuntimeWarning, "path ends in the middle of a frame, after 3 of its "
                        f"{items} items, which are dropped") as warning:
                    written = there.decode_file(self.client, decoder, path, out, **code)
                self.assertEqual(warning.filename, __file__)
                self.assertEqual(written, out.stat().st_size)
                self.assertGreater(written, 0)

    def test_BerWithScheduler_ReportsExpectedCounts(self):
        """The command gpufec ber … --scheduler reports the counts of expected_counts(). With a
        wrong address or option, the command ends with an error."""
        tool = os.environ.get("GPUFEC_TOOL")
        if not tool:
            self.skipTest("GPUFEC_TOOL is not set")
        words = ["ber", "viterbi", "--termination", "tailbiting", "--frame-bits", "120",
                 "--range", "2:1:3", "--min-errors", "60", "--task-size", "200"]
        run = subprocess.run([tool, *words, "--scheduler", self.cluster.address, "--json", "-"],
                             check=True, capture_output=True, text=True)
        report = json.loads(run.stdout[run.stdout.index("{"):])
        self.assertEqual(report["points"],
                         expected_counts("viterbi", [2.0, 3.0], 60, 200, **VITERBI))
        self.assertEqual(report["workers"], 2)
        wrong = subprocess.run([tool, *words, "--scheduler", "tcp://127.0.0.1:9"],
                               capture_output=True, text=True)
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("gpufec:", wrong.stderr)
        wrong = subprocess.run([tool, "ber", "viterbi", "--speed", "7", "--scheduler",
                                self.cluster.address], capture_output=True, text=True)
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("--speed", wrong.stderr)

    def test_WrongArguments_AreRefused(self):
        with self.assertRaisesRegex(ValueError, "decoder"):
            there.error_rates(self.client, "turbo", [1.0])
        with self.assertRaisesRegex(ValueError, "constraint_length"):
            there.error_rates(self.client, "viterbi", [1.0], constraint_length=20)
        with self.assertRaisesRegex(ValueError, "values"):
            there.decode(self.client, "viterbi", np.zeros(100, np.int8), **VITERBI)
        with self.assertRaises(OSError):
            there.decode_file(self.client, "viterbi", "/nowhere/values", os.devnull)
        with mock.patch.object(there._gpufec, "__version__", "9.9"), \
                self.assertRaisesRegex(RuntimeError, "9.9.*same version"):
            there._check_versions(self.client)

    def recording(self, items=48000):
        path = self.folder / "recording"
        gpufec.awgn(gpufec.random_bits(items), 3.0, 0.5).tofile(path)
        return path

    def test_InputFileAsOutput_IsRefusedAndUnchanged(self):
        path = self.recording()
        before = path.read_bytes()
        (self.folder / "link").symlink_to(path)
        os.link(path, self.folder / "other")
        for out in (path, self.folder / "link", self.folder / "other"):
            with self.assertRaisesRegex(ValueError, "^out is"):
                there.decode_file(self.client, "viterbi", path, out)
        self.assertEqual(path.read_bytes(), before)

    def test_FailedCall_LeavesOutputFileUnchanged(self):
        path, out = self.recording(), self.folder / "bits"
        out.write_bytes(b"before")

        def shorten(_):
            os.truncate(path, 1000)

        for wrong, says in ((dict(constraint_length=20), "constraint_length"),
                            (dict(soft_input="int9"), "soft_input"),
                            (dict(dtype=np.float64), "dtype is .*float64"),
                            (dict(dtype="speed"), "dtype is 'speed'"),
                            (dict(bits_per_task=0), "bits_per_task is 0"),
                            (dict(bits_per_task=-1), "bits_per_task is -1"),
                            (dict(packed_output=False), "packed_output is False"),
                            (dict(lengths=[1]), "lengths is"),
                            (dict(decoder="sync"), "decoder is")):
            call = {"decoder": "viterbi", "path": path, "out": out, **wrong}
            with self.subTest(says), self.assertRaisesRegex(ValueError, f"^{says}"):
                there.decode_file(self.client, **call)
        with mock.patch.object(there, "_check_versions", shorten), \
                self.assertRaisesRegex(OSError, "shortened .* of 48000 items .* item 0 on"):
            there.decode_file(self.client, "viterbi", path, out)
        self.assertEqual(out.read_bytes(), b"before")
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["bits", "recording"])

    def test_UnwritableOutput_IsRefusedBeforeAnyTask(self):
        path = self.recording()
        with mock.patch.object(type(self.client), "submit", side_effect=AssertionError):
            for out, error in ((self.folder / "no" / "bits", FileNotFoundError),
                               (self.folder, IsADirectoryError)):
                with self.assertRaises(error):
                    there.decode_file(self.client, "viterbi", path, out)
        with self.assertRaises(OSError):
            there.decode_file(self.client, "viterbi", path, "/dev/full")

    def test_ExistingOutputFile_IsReplaced(self):
        path, target, link = self.recording(), self.folder / "bits", self.folder / "link"
        target.write_bytes(b"before")
        target.chmod(0o640)
        link.symlink_to(target)
        expected, _ = gpufec.viterbi_decode(np.fromfile(path, np.int8))
        self.assertEqual(there.decode_file(self.client, "viterbi", path, link), expected.size)
        self.assertTrue(link.is_symlink())
        self.assertEqual(target.read_bytes(), expected.tobytes())
        self.assertEqual(target.stat().st_mode & 0o777, 0o640)

    def test_PackedRecordings_EqualArrays(self):
        """Recordings of packed4 items, of type int8 or uint8, decode to the bits of the arrays."""
        bits = gpufec.random_bits(300000)
        coded = gpufec.conv_encode(bits, packed_input=False, packed_output=False)
        frames = gpufec.conv_encode(gpufec.random_bits((501, 120)), packed_input=False,
                                    packed_output=False, **VITERBI)
        for sent, code in ((coded, {}), (frames, VITERBI)):
            values = gpufec.awgn(sent, 1.0, 0.5, soft_input="packed4")
            expected = gpufec.viterbi_decode(values, soft_input="packed4", **code)[0].tobytes()
            values.tofile(self.folder / "values")
            with self.assertRaisesRegex(ValueError, 'dtype is of type uint8: .*"packed4".*"uint8"'):
                there.decode_file(self.client, "viterbi", self.folder / "values",
                                  self.folder / "bits", np.uint8, 50000, **code)
            for dtype, soft_input in ((np.uint8, "packed4"), (np.int8, "packed4")):
                with self.subTest(str(dtype), soft_input=soft_input, **code):
                    there.decode_file(self.client, "viterbi", self.folder / "values",
                                      self.folder / "bits", dtype, 50000,
                                      soft_input=soft_input, **code)
                    self.assertEqual((self.folder / "bits").read_bytes(), expected)

    def test_FileOfPartialItems_IsRefusedByName(self):
        path = self.folder / "values"
        path.write_bytes(bytes(1001))
        with self.assertRaisesRegex(ValueError, "^path is .*values', of 1001 bytes: .*float32"):
            there.decode_file(self.client, "viterbi", path, os.devnull, np.float32)
        with self.assertRaisesRegex(ValueError, "^path is '/dev/zero'"):
            there.decode_file(self.client, "viterbi", "/dev/zero", os.devnull)
        path.write_bytes(b"")
        for code in (dict(), VITERBI):
            self.assertEqual(there.decode_file(self.client, "viterbi", path,
                                               self.folder / "bits", **code), 0)
            self.assertEqual((self.folder / "bits").read_bytes(), b"")

    def test_WrongParameters_AreRefusedByNameBeforeAnyTask(self):
        values = np.zeros((64, 240), np.int8)
        book = gpufec.codebook_davey_mackay(8, 16, 30)
        sync = dict(codebook=book, q=16, n=8, frame_symbols=30)
        with mock.patch.object(type(self.client), "submit", side_effect=AssertionError):
            for wrong in (dict(frames_per_task=-1), dict(frames_per_task=1.5),
                          dict(out=np.zeros(3, np.uint8)), dict(client=None),
                          dict(decoder="sync")):
                call = {"client": self.client, "decoder": "viterbi", "values": values, **VITERBI}
                with self.subTest(**wrong), \
                        self.assertRaisesRegex(ValueError, f"^{list(wrong)[0]} is "):
                    there.decode(**{**call, **wrong})
            for wrong in (dict(min_errors=-1), dict(max_units=0), dict(seed=-1),
                          dict(task_size=-1), dict(task_size="3"), dict(progress=3),
                          dict(points=2.0), dict(points="2"), dict(packed_output=False)):
                with self.subTest(**wrong), \
                        self.assertRaisesRegex(ValueError, f"^{list(wrong)[0]} is "):
                    there.error_rates(self.client, "viterbi",
                                      **{"points": [2.0], **VITERBI, **wrong})
            for decoder, point, code in (("viterbi", "3", VITERBI), ("viterbi", np.nan, VITERBI),
                                         ("sync", 0.9, sync), ("sync", -0.1, sync)):
                with self.subTest(decoder, point=point), \
                        self.assertRaisesRegex(ValueError, "^(an entry of points|ebn0_db|p_)"):
                    there.error_rates(self.client, decoder, [0.1, point], **code)

    def test_WorkerWithoutPackage_IsNamedByError(self):
        with mock.patch.object(type(self.client), "run", lambda *_, **__: {
                "tcp://a": there._version(), "tcp://b": ModuleNotFoundError("gpufec")}), \
                self.assertRaisesRegex(RuntimeError, "tcp://b.*same version"):
            there._check_versions(self.client)

    def test_UnreachableWorker_EndsNoCall(self):
        """error_rates() ignores a worker that is dead but that the scheduler still lists."""
        run = self.client.run

        def with_a_dead_one(function, on_error="raise"):
            gone = OSError("Timed out trying to connect to tcp://a")
            if on_error == "raise":
                raise gone
            return {"tcp://a": gone, **run(function, on_error=on_error)}

        with mock.patch.object(self.client, "run", with_a_dead_one):
            found = there.error_rates(self.client, "viterbi", [2.0], min_errors=60,
                                      task_size=200, **VITERBI)
        self.assertEqual(found, expected_counts("viterbi", [2.0], 60, 200, **VITERBI))

    def test_WrongOptionOfTheTool_IsRefusedByName(self):
        report = self.folder / "report"
        report.write_text("before")
        words = {"--range": "2:1:3", "--termination": "tailbiting", "--frame-bits": "120",
                 "--scheduler": self.cluster.address, "--min-errors": "60",
                 "--json": str(report)}
        for option, text, status in (("--early-stop", "maybe", 2), ("--min-errors", "some", 2),
                                     ("--max-bits", "inf", 2), ("--range", "2:x:3", 2),
                                     ("--range", "3:1:2", 2), ("--range", "3,-200", 2),
                                     ("--seed", "-1", 2), ("--task-size", "-5", 2),
                                     ("--json", str(self.folder / "no" / "r"), 1),
                                     ("--soft-scale", "loud", 2), ("--polynomials", "9", 2)):
            decoder = "ldpc" if option == "--early-stop" else "viterbi"
            given = {**words, option: text}
            if decoder == "ldpc":
                del given["--termination"], given["--frame-bits"]
            errors = io.StringIO()
            with self.subTest(option, text=text), contextlib.redirect_stderr(errors), \
                    contextlib.redirect_stdout(io.StringIO()), \
                    mock.patch.object(Client, "submit", side_effect=AssertionError):
                self.assertEqual(there.main([decoder, *itertools.chain(*given.items())]), status)
                allowed = {"--range": "range|ebn0_db", "--json": "No such file"}
                name = option[2:].replace("-", "[-_]")
                self.assertRegex(errors.getvalue(), f"^gpufec: .*({allowed.get(option, name)})")
            self.assertEqual(report.read_text(), "before")

    def test_ReportAfterLostScheduler_HasFinishedPoints(self):
        """If the scheduler is lost during the second point, the report has the first point."""
        report, done = self.folder / "report", []
        rates = there.error_rates

        def one(client, decoder, points, **more):
            if done:
                raise ConnectionError("the scheduler is gone")
            done.append(points)
            return rates(client, decoder, points, **more)

        with mock.patch.object(there, "error_rates", one), \
                contextlib.redirect_stderr(io.StringIO()), \
                contextlib.redirect_stdout(io.StringIO()):
            status = there.main(["viterbi", "--range", "2,3", "--preset", "ccsds",
                                 "--task-size", "1000", "--min-errors", "10", "--scheduler",
                                 self.cluster.address, "--json", str(report)])
        self.assertEqual(status, 1)
        self.assertEqual([p["point"] for p in json.loads(report.read_text())["points"]], [2.0])


if __name__ == "__main__":
    unittest.main()
