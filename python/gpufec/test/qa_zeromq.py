#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests examples/zeromq_frames.py: all frames are decoded, in order, even if a worker is lost or
invalid messages arrive."""

import argparse
import importlib
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import unittest
from unittest import mock

import numpy as np
import pmt
from gnuradio import blocks, gpufec, gr

try:
    from gnuradio import zeromq # noqa: F401
except ImportError as missing:
    if __name__ == "__main__":
        print(f"skipped: {missing}")
        sys.exit(77)
    raise unittest.SkipTest(f"gr-zeromq is not installed: {missing}")

import qa_support as support

EXAMPLE = pathlib.Path(__file__).resolve().parents[3] / "examples" / "zeromq_frames.py"


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
                # Packets that the killed worker had are lost, and must be sent again.
                self.workers[0].send_signal(signal.SIGKILL)
                self.workers[0].wait()
                kill_at = None
            # The ledger may have ended before the last frames have reached the sink.
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

    def test_TwoWorkers_KeepOrderOfFrames(self):
        self.run_with(2)

    def test_KilledWorker_LosesNoFrame(self):
        self.run_with(2, kill_at=20)

    def test_UnacknowledgedPackets_AreSentAgain(self):
        """The ledger sends an unacknowledged packet again after the timeout, and ignores duplicate
        answers."""
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

    def bad_messages(self):
        """Returns messages that must be ignored: PMTs that are not packets, and packets of wrong
        sizes."""
        data = np.zeros(64, np.uint8)
        number = pmt.dict_add(pmt.make_dict(), self.example.NUMBER, pmt.from_uint64(0))
        return [pmt.PMT_NIL, pmt.intern("text"), pmt.from_long(3),
                pmt.cons(pmt.PMT_NIL, pmt.PMT_NIL), pmt.cons(number, pmt.intern("text")),
                pmt.cons(pmt.make_dict(), pmt.init_u64vector(8, [0] * 8)),
                pmt.cons(number, pmt.init_u8vector(64, data.tolist())),
                self.example.packet(0, data), self.example.packet(0, data[:0])]

    def test_InvalidMessages_AreIgnoredByLedger(self):
        bad = self.bad_messages()
        start = self.start_worker

        def start_worker():
            start()
            for message in bad: # invalid answers precede valid ones
                self.book._post(pmt.intern("bits"), message)

        dealer = self.example.dealer

        def with_book(*args):
            top = dealer(*args)
            self.book = top.book
            return top

        with mock.patch.object(self, "start_worker", start_worker), \
                mock.patch.object(self.example, "dealer", with_book):
            self.run_with(2)

    def test_InvalidMessages_AreIgnoredByWorker(self):
        values, bits = self.example.random_frames(16)
        top, decode = gr.top_block(), self.example.decode(backend="cpu")
        debug = blocks.message_debug()
        top.msg_connect(decode, "bits", debug, "store")
        top.start()
        for message in [*self.bad_messages(), self.example.packet(7, values.ravel())]:
            decode._post(pmt.intern("frames"), message)
        found = []
        for _ in range(2400):
            found = [self.example.unpacked(debug.get_message(k))
                     for k in range(debug.num_messages())]
            if found and found[-1][0] == 7:
                break
            threading.Event().wait(0.02)
        top.stop()
        top.wait()
        self.assertEqual(found[-1][0], 7)
        expected, _ = gpufec.viterbi_decode(values, **self.example.FRAMES)
        np.testing.assert_array_equal(found[-1][1], expected.ravel())

    def test_InvalidBytes_AreIgnored(self):
        try:
            import zmq
        except ImportError as missing:
            self.skipTest(f"pyzmq is not installed: {missing}")
        context = zmq.Context()
        self.addCleanup(context.term)
        start = self.start_worker

        def start_worker():
            start()
            sender = context.socket(zmq.PUSH)
            self.addCleanup(sender.close, 0)
            sender.connect(self.args.collect)
            for data in (b"", b"garbage", bytes(100), b"\x07\xff\xff",
                         *map(pmt.serialize_str, self.bad_messages())):
                sender.send(data)

        with mock.patch.object(self, "start_worker", start_worker):
            self.run_with(2)


if __name__ == "__main__":
    support.main()
