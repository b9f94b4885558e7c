#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks of Dask, on a scheduler and two workers that are processes of their own."""

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

# This folder has a module of the name that Dask's package has.
sys.path.remove(str(pathlib.Path(__file__).resolve().parent))

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
    """A scheduler and workers, of which each is a process."""

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
        """Kills worker number 1 or 2 as nothing can refuse, or the scheduler, 0."""
        self.processes[number].send_signal(signal.SIGKILL)
        self.processes[number].wait()

    def close(self):
        try:
            self.client.close(timeout=30)
        except TimeoutError:
            pass # Dask's own, where the scheduler is gone and the machine busy
        for process in self.processes:
            process.kill()
            process.wait()
        self.folder.cleanup()


class qa_distributed(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster(2)
        self.addCleanup(self.cluster.close)
        self.client = self.cluster.client

    def alone(self, decoder, points, min_errors, size, **code):
        """What error_rates() counts, by a loop over its tasks."""
        found = []
        for point in points:
            total, number = {}, 0
            while total.get("errors", 0) < min_errors:
                for name, value in there._simulate(decoder, code, point, 1, number,
                                                   size).items():
                    total[name] = total.get(name, 0) + value
                number += 1
            found.append({"point": point, **total, "tasks": number})
        return found

    def test_counts_do_not_depend_on_workers(self):
        book = gpufec.codebook_davey_mackay(8, 16, 30)
        for decoder, points, size, code in (
                ("viterbi", [1.0, 2.5], 10, VITERBI),
                ("viterbi", [2.0], 500, dict(preset="ccsds_3_4")),
                ("sync", [1e-2], 5, dict(codebook=book, q=16, n=8, frame_symbols=30))):
            expected = self.alone(decoder, points, 60, size, **code)
            found = there.error_rates(self.client, decoder, points, min_errors=60,
                                      task_size=size, **code)
            with self.subTest(decoder):
                self.assertEqual(found, expected)
                self.assertGreater(found[0]["tasks"], 1)
        found = there.error_rates(self.client, "ldpc", [0.9], min_errors=3, max_units=12,
                                  task_size=2, frame_size="short")
        self.assertEqual(found[0]["frames"], 2 * found[0]["tasks"])
        self.assertTrue(found[0]["frame_errors"] >= 3 or found[0]["frames"] >= 12)

    def test_a_killed_worker_changes_nothing(self):
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

    def test_arrays_and_recordings(self):
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
                expected, _ = gpufec.viterbi_decode(values, **code)
                values.tofile(folder / "values")
                written = there.decode_file(self.client, "viterbi", folder / "values",
                                            folder / "bits", values.dtype, 50000, **code)
                with self.subTest(soft_input, **code):
                    self.assertEqual(written, len(expected))
                    np.testing.assert_array_equal(np.fromfile(folder / "bits", np.uint8),
                                                  expected)

    def test_the_tool(self):
        """gpufec ber … --scheduler."""
        tool = os.environ.get("GPUFEC_TOOL")
        if not tool:
            self.skipTest("GPUFEC_TOOL names no tool")
        words = ["ber", "viterbi", "--termination", "tailbiting", "--frame-bits", "120",
                 "--range", "2:1:3", "--min-errors", "60", "--task-size", "200"]
        run = subprocess.run([tool, *words, "--scheduler", self.cluster.address, "--json", "-"],
                             check=True, capture_output=True, text=True)
        report = json.loads(run.stdout[run.stdout.index("{"):])
        self.assertEqual(report["points"], self.alone("viterbi", [2.0, 3.0], 60, 200, **VITERBI))
        self.assertEqual(report["workers"], 2)
        wrong = subprocess.run([tool, *words, "--scheduler", "tcp://127.0.0.1:9"],
                               capture_output=True, text=True)
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("gpufec:", wrong.stderr)
        wrong = subprocess.run([tool, "ber", "viterbi", "--speed", "7", "--scheduler",
                                self.cluster.address], capture_output=True, text=True)
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("--speed", wrong.stderr)

    def test_what_is_refused(self):
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

    def test_a_scheduler_that_goes(self):
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


if __name__ == "__main__":
    unittest.main()
