#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames dealt to workers by gr-zeromq: none is lost with a worker, and order is kept."""

import argparse
import importlib
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import unittest

import numpy as np
from gnuradio import blocks, gpufec

try:
    from gnuradio import zeromq # noqa: F401
except ImportError as missing:
    if __name__ == "__main__":
        print(f"skipped: {missing}")
        sys.exit(77)
    raise unittest.SkipTest(f"gr-zeromq is not installed: {missing}")

import qa_support as support

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "zeromq_frames.py"


def free_address():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return f"tcp://127.0.0.1:{s.getsockname()[1]}"


class qa_zeromq(unittest.TestCase):
    def setUp(self):
        sys.path.insert(0, str(EXAMPLE.parent))
        self.example = importlib.import_module("zeromq_frames")
        self.args = argparse.Namespace(deal=free_address(), collect=free_address(), packet=16,
                                       window=24, timeout=1.0)
        self.workers = []

    def tearDown(self):
        for process in self.workers:
            process.kill()
            process.wait()

    def start_worker(self):
        self.workers.append(subprocess.Popen(
            [sys.executable, str(EXAMPLE), "worker", "--deal", self.args.deal, "--collect",
             self.args.collect, "--backend", "cpu"]))

    def run_with(self, workers, kill_at=None):
        values, bits = self.example.random_frames(16 * 120)
        sink = blocks.vector_sink_b()
        top = self.example.dealer(self.args, values, sink)
        for _ in range(workers):
            self.start_worker()
        top.start()
        waiting = threading.Event()
        for _ in range(2400):
            if kill_at is not None and top.book.next_out >= kill_at:
                # It holds packets: as many as are out, less what the other holds.
                self.workers[0].send_signal(signal.SIGKILL)
                self.workers[0].wait()
                kill_at = None
            # What was taken last is still on its way to the sink when the ledger is through.
            if top.book.ended and sink.nitems_read(0) == len(bits) * bits.shape[1]:
                break
            waiting.wait(0.02)
        top.stop()
        top.book.end()
        self.assertEqual(top.book.next_out, 120)
        top.wait()
        expected, _ = gpufec.viterbi_decode(values, **self.example.FRAMES)
        np.testing.assert_array_equal(np.array(sink.data(), np.uint8), expected.ravel())
        return top.book.again

    def test_order(self):
        self.run_with(2)

    def test_a_killed_worker_loses_nothing(self):
        self.run_with(2, kill_at=20)

    def test_what_nobody_took_is_dealt_again(self):
        """The ledger alone: a packet without an answer is dealt after the timeout, an answer
        that comes twice counts once."""
        book = self.example.ledger(4, 0.0)
        values = np.arange(8, dtype=np.int8)
        for _ in range(3):
            book.deal(values)
        book.deal_again()
        self.assertEqual(book.again, 3)
        answers = [self.example.packet(n, np.full(8, n, np.uint8)) for n in (1, 0, 1, 2, 0)]
        for answer in answers:
            book.acknowledge(answer)
        book.end()
        taken = [book.take() for _ in range(4)]
        self.assertEqual([None if t is None else t[0] for t in taken], [0, 1, 2, None])


if __name__ == "__main__":
    support.main()
