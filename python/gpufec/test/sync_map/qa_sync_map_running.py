#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Tests running flowgraphs with gpu_sync_map: tags, restarts, latency, setters."""

import time
import unittest

import numpy as np
import pmt
from gnuradio import blocks, gpufec, gr
import qa_support as support
from qa_sync_map_case import (KEY, decoder, encode, framed_source, random_symbols, run, sink,
                              small_frames, tagged_source, values)

PATIENCE = 120.0 # seconds to wait for a condition, enough for a busy machine


def wait_until(condition):
    """Waits until `condition()` is true, or PATIENCE has elapsed. The caller must check the
    condition."""
    end = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)


class qa_sync_map_running(unittest.TestCase):

    def test_SeveralDevices_YieldSameSymbols(self):
        if support.cuda_missing():
            self.skipTest(support.cuda_missing())
        _, frames = small_frames(60)
        expected, _ = run(framed_source(frames), decoder())
        for devices in [0], [0, 0, 0]:
            block = decoder(backend="cuda", devices=devices, batch=5)
            symbols, _ = run(framed_source(frames), block)
            np.testing.assert_array_equal(symbols, expected)

    def test_StatusTags_AreOnSelectedFrames(self):
        _, frames = small_frames(20)
        frames[7] = np.zeros(200, np.uint8) # a frame that cannot be decoded
        at = sum(map(len, frames[:3]))
        for which, expected in ("all", range(20)), ("failures", [7]), ("none", []):
            symbols, tags = run(framed_source(frames, [(at, pmt.mp("mine"), pmt.PMT_T)]),
                                decoder(status_tags=which))
            self.assertEqual(len(symbols), 100)
            for key in "sync_drift", "sync_logp", "sync_valid":
                self.assertEqual([o for o, _ in support.tags_of(tags, key)],
                                 [5 * f for f in expected])
            self.assertEqual(support.tags_of(tags, KEY), [(5 * f, 5) for f in range(20)])
            self.assertEqual([o for o, _ in support.tags_of(tags, "mine")], [15])
        with self.assertRaisesRegex(ValueError, "status_tags"):
            decoder(status_tags="some")

    def test_FramesOfConstantLength_DecodeLikeTaggedFrames(self):
        """With frame_items, frames decode like tagged frames, even with few output items per call.
        Length tags then have no effect on the frames, and the block copies them like other tags."""
        _, frames = small_frames(60)
        frames = [np.resize(f, 32) for f in frames] # makes all frames 32 items long
        prior = dict(end_first=-3, end_prior=[1.0] * 8)
        items = np.concatenate(frames)
        for backend in ("cpu", "auto"):
            expected, tags = run(framed_source(frames), decoder(backend=backend, **prior))
            reports = support.tags_of(tags, "sync_logp")
            for most in (0, 7, 33):
                mark = [(3 * 32, pmt.mp(KEY), pmt.from_long(5))]
                found, tags = support.run(
                    support.vector_source(items, mark),
                    decoder(backend=backend, frame_items=32, **prior), most)
                np.testing.assert_array_equal(found, expected)
                self.assertEqual(support.tags_of(tags, "sync_logp"), reports)
                self.assertEqual(support.tags_of(tags, KEY), [(15, 5)])
        # A shorter last frame at the end of the input is decoded too.
        found, _ = run(support.vector_source(items[:-1]), decoder(frame_items=32, **prior))
        short, _ = run(framed_source(frames[:-1] + [frames[-1][:-1]]), decoder(**prior))
        np.testing.assert_array_equal(found, short)
        with self.assertRaisesRegex(ValueError, "frame_items is -1"):
            decoder(frame_items=-1)
        with self.assertRaisesRegex(ValueError, "frame_items is 5"):
            decoder(mode="stream", frame_items=5)
        decoder(length_tag="", frame_items=5)

    def test_StreamWithUnknownOffset_LocksAndLosesLock(self):
        code = dict(q=32, n=10, frame_symbols=40)
        book = gpufec.codebook_davey_mackay(10, 32, 40, 4)
        sent = random_symbols(40 * 8, 32)
        coded = encode(sent, book, code)
        items = np.concatenate([support.random_bits(123, 5), coded,
                                support.random_bits(400 * 8, 6)])
        mark = [(123 + 4005, pmt.mp("mark"), pmt.from_long(7))]
        out, tags = run(tagged_source(items, mark),
                        decoder(0.005, book, code, mode="stream", acquire=400))
        np.testing.assert_array_equal(out[:40 * 8 - 5], sent[:40 * 8 - 5])
        locks = values(tags, "sync_lock")
        self.assertEqual(locks[:7], [True] * 7)
        self.assertEqual(locks[9:14], [False] * 5)
        # The tag is at symbol 400, in a frame without lock, and must not get lost.
        self.assertEqual(len(support.tags_of(tags, "mark")), 1)

    def test_TagsOfStream_MoveToTheirSymbol(self):
        symbols, _ = small_frames(40)
        coded = encode(symbols)
        marks = [(6 * s + s % 6, pmt.mp("symbol"), pmt.from_long(s)) for s in range(200)]
        out, tags = run(tagged_source(coded, marks), decoder(1e-3, mode="stream"))
        np.testing.assert_array_equal(out, symbols)
        self.assertEqual(support.tags_of(tags, "symbol"), [(s, s) for s in range(200)])

    def test_LengthTagsOfStream_AreIgnored(self):
        """Stream mode ignores length tags, even invalid ones, and does not warn."""
        symbols, _ = small_frames(40)
        coded = encode(symbols)
        tags = [(7 * i, pmt.mp(KEY), pmt.mp("x")) for i in range(100)]
        logged = []
        with support.output_of_process(logged):
            out, found = run(tagged_source(coded, tags), decoder(1e-3, mode="stream"))
            time.sleep(0.5) # waits for the thread that writes the log
        np.testing.assert_array_equal(out, symbols)
        self.assertEqual(values(found, KEY), [5] * 40)
        self.assertFalse([line for line in logged if "length" in line], logged)

    def test_FramesOfImpossibleLength_AreInvalid(self):
        _, frames = small_frames(6)
        frames[1] = frames[1][:3]
        frames[3] = support.random_bits(5000, 9)
        out, tags = run(framed_source(frames), decoder(output="posteriors"),
                        dtype=np.float32)
        self.assertEqual(values(tags, "sync_valid"),
                         [True, False, True, False, True, True])
        L = out.reshape(6, -1)
        np.testing.assert_array_equal(L[[1, 3]], 0.25)
        self.assertEqual([d for d, v in zip(values(tags, "sync_drift"), frames)
                          if abs(len(v) - 30) < 10],
                         [len(f) - 30 for f in frames if abs(len(f) - 30) < 10])
        logp = values(tags, "sync_logp")
        self.assertEqual(logp[1], -np.inf)
        self.assertTrue(all(-40 < logp[f] < 0 for f in (0, 2, 4, 5)))

    def test_WrongLengthTags_LoseTheirFrames(self):
        symbols, frames = small_frames(4, 0.0)
        bits = np.concatenate(frames)
        length = lambda at, n: (at, pmt.mp(KEY), n if isinstance(n, pmt.pmt_base)
                                else pmt.from_long(n))
        for tags, kept, valid in (
                ([], [], []),
                # There are no tags at frames 0 and 2.
                ([length(30, 30), length(90, 30)], [1, 3], [True, True]),
                # The lengths are zero, negative, or not numbers.
                ([length(0, 0), length(30, -30), length(60, pmt.mp("x")), length(90, 30)],
                 [3], [True]),
                # The second tag is inside the first frame.
                ([length(0, 60), length(30, 30)], [0, 1], [True, True]),
                ([length(0, 30), length(10, 20), length(30, 30)], [None, None, 1],
                 [False, False, True]),
                # If an item has two tags, the last one counts.
                ([length(0, 7), length(0, 30), length(30, 30)], [0, 1], [True, True]),
                # The tagged length reaches beyond the end of the stream.
                ([length(60, 30), length(90, 10**12)], [2, 3], [True, True]),
                ([length(60, 30), length(115, 30)], [2, None], [True, False])):
            with self.subTest(tags=[(t[0], str(t[2])) for t in tags]):
                out, found = run(tagged_source(bits, tags), decoder(1e-4))
                self.assertEqual(values(found, "sync_valid"), valid)
                expected = [symbols[5 * k:5 * k + 5] if k is not None else [0] * 5
                            for k in kept]
                np.testing.assert_array_equal(out, np.concatenate(expected or [[]]))

    def test_InputInChunks_YieldsSameSymbols(self):
        _, frames = small_frames(100)
        expected, _ = run(framed_source(frames), decoder(batch=7))
        tags = [(int(o), pmt.mp(KEY), pmt.from_long(len(f))) for o, f in
                zip(np.cumsum([0] + [len(f) for f in frames]), frames)]
        for parameters in (dict(batch=1), dict(batch=64, slots=1), dict(max_latency_ms=0)):
            pieces = support.array_source(np.concatenate(frames), 11, 3, tags)
            out, _ = run(pieces, decoder(**parameters))
            np.testing.assert_array_equal(out, expected)
        whole = np.concatenate(frames)
        expected, _ = run(support.vector_source(whole), decoder(mode="stream"))
        out, _ = run(support.array_source(whole, 13, 4), decoder(mode="stream", batch=2))
        np.testing.assert_array_equal(out, expected)
        self.assertEqual(len(out), 500)

    def test_FramesLargerThanBuffers_AreDecoded(self):
        code = dict(q=32, n=10, frame_symbols=8000)
        book = gpufec.codebook_davey_mackay(10, 32, 8000, 1)
        sent = random_symbols(8000, 32)
        out, _ = run(framed_source([encode(sent, book, code)] * 2),
                     decoder(1e-5, book, code))
        np.testing.assert_array_equal(out, np.tile(sent, 2))

    def test_Restart_BeginsANewStream(self):
        for mode in ("framed", "stream"):
            symbols, frames = small_frames(40)
            block = decoder(mode=mode)
            results = []
            for cut in (0, 17, 0): # the second run ends inside a frame
                parts = frames + [frames[0][:cut]]
                results.append(run(framed_source(parts), block)[0][:190])
            np.testing.assert_array_equal(results[0], results[2])
            np.testing.assert_array_equal(results[0], results[1])
        # The same block decodes alternately with and without priors.
        block = decoder()
        plain, _ = run(framed_source(frames), block)
        same, _ = run(framed_source(frames), block, priors=np.ones(800))
        np.testing.assert_array_equal(plain, same)
        np.testing.assert_array_equal(run(framed_source(frames), block)[0], plain)

    def test_LockInsideAFrame_LosesNoConsumedItem(self):
        """lock() loses only items in the buffers around the block, so the test first waits until
        these buffers are empty. The block keeps the items that it has consumed."""
        for mode in ("framed", "stream"):
            symbols, frames = small_frames(40, 0.0)
            items = np.concatenate(frames)
            tags = [(30 * f, pmt.mp(KEY), pmt.from_long(30)) for f in range(40)]
            first = support.array_source(items, tags=tags, held=True)
            first.limit = 0
            end = sink(np.uint8)
            graph = gr.top_block()
            block = decoder(1e-4, mode=mode, max_latency_ms=1, lookahead=10)
            graph.connect(first, block, end)
            graph.start()
            came = 0
            for limit in (100, 470, 471, 1200):
                before, first.limit = first.limit, limit
                wait_until(lambda: block.nitems_read(0) >= limit - before)
                self.assertEqual(block.nitems_read(0), limit - before)
                if mode == "framed": # because of max_latency_ms, all complete frames arrive
                    wait_until(lambda: len(end.data()) >= limit // 30 * 5)
                time.sleep(0.1) # the scheduler moves items in this time
                wait_until(lambda: len(end.data()) - came == block.nitems_written(0))
                came = len(end.data())
                graph.lock()
                graph.unlock() # also resets nitems_read() and nitems_written()
            first.held = False
            graph.wait()
            np.testing.assert_array_equal(end.data(), symbols)
            at = [o for o, _ in support.tags_of(end.tags, "sync_valid")]
            self.assertEqual(len(at), 40)

    def test_SlowStream_IsDecodedWithinLatency(self):
        symbols, frames = small_frames(3, 0.0)
        tags = [(30 * f, pmt.mp(KEY), pmt.from_long(30)) for f in range(3)]
        slow = support.array_source(np.concatenate(frames), tags=tags, held=True)
        end = sink(np.uint8)
        graph = gr.top_block()
        block = decoder(1e-3, batch=100, max_latency_ms=20)
        graph.connect(slow, block, end)
        graph.start()
        wait_until(lambda: len(end.data()) >= 15)
        np.testing.assert_array_equal(end.data(), symbols)
        slow.held = False
        graph.wait()

    @unittest.skipUnless(support.SIMULATED, "there are no simulated devices")
    def test_WaitingForDevice_UsesNoProcessorTime(self):
        """The block's thread must not spin while a device reads input in place, which cannot be
        consumed yet."""
        code = dict(q=32, n=10, frame_symbols=210)
        book = gpufec.codebook_random(10, 32, 210, 4)
        for mode in dict(frame_items=2100), dict(mode="stream", length_tag=""):
            with self.subTest(**mode):
                block = decoder(1e-3, book, code, backend="cuda", batch=16, **mode)
                graph = gr.top_block()
                graph.connect(blocks.null_source(1), block, blocks.null_sink(1))
                begin = time.process_time()
                graph.start()
                wait_until(lambda: block.nitems_written(0) >= 300 * 210)
                own = support.thread_seconds("gpu_sync_map")
                all_threads = time.process_time() - begin
                graph.stop()
                graph.wait()
                self.assertEqual(block.active_backend(), "cuda")
                self.assertLess(own, 0.2 * all_threads)

    def test_SetPDelete_AppliesToLaterFrames(self):
        """Frames with a deletion are invalid until set_p_delete() allows deletions."""
        symbols, frames = small_frames(30, 0.0)
        block = decoder(0.0)
        out, tags = run(framed_source(frames), block)
        np.testing.assert_array_equal(out, symbols)
        short = [np.delete(f, 12) for f in frames]
        out, tags = run(framed_source(short), block)
        self.assertEqual(values(tags, "sync_valid"), [False] * 30)
        block.set_p_delete(0.02)
        block.set_p_insert(0.01)
        block.set_p_substitute(0.001)
        self.assertEqual((block.p_insert(), block.p_delete(), block.p_substitute()),
                         (0.01, 0.02, 0.001))
        out, tags = run(framed_source(short), block)
        self.assertEqual(values(tags, "sync_valid"), [True] * 30)
        self.assertGreater(np.mean(out == symbols), 0.7)
        for wrong, message in ((lambda: block.set_p_insert(1.0), "p_insert is 1"),
                               (lambda: block.set_p_delete(-1), "p_delete is -1"),
                               (lambda: block.set_p_substitute(2), "p_substitute is 2")):
            with self.assertRaisesRegex(ValueError, message):
                wrong()

    def test_SettersFromAnotherThread_LeaveOutputComplete(self):
        for mode in ("framed", "stream"):
            _, frames = small_frames(20000, 0.02)
            end = sink(np.uint8)
            graph = gr.top_block()
            block = decoder(mode=mode, batch=5)
            graph.connect(framed_source(frames), block, end)
            graph.start()
            for k in range(20):
                block.set_p_insert(0.02 + 0.001 * (k % 5))
                block.set_p_delete(0.02 + 0.001 * (k % 3))
                block.set_max_latency_ms(k)
                time.sleep(0.01)
            graph.wait()
            self.assertLess(abs(len(end.data()) - 100000), 10 if mode == "stream" else 1)


if __name__ == "__main__":
    support.main()
