#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Tests gpu_viterbi_pbvd in running flowgraphs: restarts, slow streams, setters, several decoders
at the same time."""

import threading
import time
import unittest

import numpy as np
from gnuradio import blocks, gpufec, gr

import qa_support as support

PATIENCE = 20.0 # longest time in s to wait for a condition


class gated_source(gr.sync_block):
    """A source that sends as many items as allow() permits in all; after end() it sends the
    remaining items and ends the stream."""

    def __init__(self, items):
        gr.sync_block.__init__(self, "gated_source", None, [items.dtype.type])
        self._items = items
        self._at = 0
        self._allowed = 0
        self._ended = False
        self._change = threading.Condition()

    def allow(self, items):
        with self._change:
            self._allowed = items
            self._change.notify()

    def end(self):
        with self._change:
            self._allowed = len(self._items)
            self._ended = True
            self._change.notify()

    def work(self, input_items, output_items):
        with self._change:
            self._change.wait_for(
                lambda: self._ended or self._at < self._allowed, timeout=0.05)
            n = min(len(output_items[0]), self._allowed - self._at)
            if n == 0:
                return -1 if self._ended else 0
            output_items[0][:n] = self._items[self._at:self._at + n]
            self._at += n
            return n


def eventually(condition):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.005)
    return condition()


class qa_viterbi_running(unittest.TestCase):
    def setUp(self):
        self.bits = support.random_bits(20000, 1)
        self.items = support.soft_values(support.encode(self.bits))

    def test_RepeatedRuns_YieldSameOutput(self):
        source = support.vector_source(self.items)
        sink = blocks.vector_sink_b()
        graph = gr.top_block()
        graph.connect(source, gpufec.gpu_viterbi_pbvd(backend="cpu"), sink)
        for _ in range(3):
            graph.run()
            np.testing.assert_array_equal(sink.data(), np.packbits(self.bits))
            source.rewind()
            sink.reset()

    def test_RunAfterStop_BeginsANewStream(self):
        for termination, frame_bits in (("streaming", 0), ("tailbiting", 200)):
            source = gated_source(self.items.view(np.int8))
            sink = blocks.vector_sink_b()
            decoder = gpufec.gpu_viterbi_pbvd(backend="cpu", decode_length=64, batch=4,
                                              termination=termination,
                                              frame_bits=frame_bits)
            graph = gr.top_block()
            graph.connect(source, decoder, sink)
            source.allow(15001)
            graph.start()
            self.assertTrue(eventually(lambda: len(sink.data()) > 300))
            graph.stop()
            graph.wait()

            # In another flowgraph, the same block outputs no data of the first.
            output, _ = support.run(support.vector_source(self.items[:8000]), decoder)
            expected, _ = support.decode(self.items[:8000], decode_length=64,
                                         termination=termination, frame_bits=frame_bits)
            np.testing.assert_array_equal(output, expected)

    def test_LockAndUnlock_LoseNoConsumedItem(self):
        """lock() loses only items in the buffers around the block, so the test first waits until
        these buffers are empty. The block keeps the items that it has consumed."""
        source = gated_source(self.items.view(np.int8))
        sink = blocks.vector_sink_b()
        decoder = gpufec.gpu_viterbi_pbvd(backend="cpu", batch=2, max_latency_ms=5,
                                          decode_length=128, overlap=48)
        graph = gr.top_block()
        graph.connect(source, decoder, sink)
        graph.start()
        sent = 0
        for part in range(1, 9):
            before, sent = sent, len(self.items) * part // 9
            source.allow(sent)
            whole_blocks = (sent // 2 - 48) // 128 * 16
            self.assertTrue(eventually(lambda: decoder.nitems_read(0) == sent - before
                                       and len(sink.data()) == whole_blocks))
            graph.lock()
            graph.unlock() # also resets nitems_read()
        source.end()
        graph.wait()
        np.testing.assert_array_equal(sink.data(), np.packbits(self.bits))

    def test_SeveralCodesInOneFlowgraph_AreDecoded(self):
        codes = (dict(), dict(constraint_length=9, polynomials=[0o557, 0o663, 0o711]),
                 dict(puncturing="101,110", polynomials=[0o171, -0o133]))
        graph = gr.top_block()
        sinks = []
        for code in codes:
            items = support.soft_values(support.encode(self.bits, **code), sigma=0.3)
            sinks.append(blocks.vector_sink_b())
            graph.connect(support.vector_source(items),
                          gpufec.gpu_viterbi_pbvd(backend="cpu", batch=8, **code),
                          sinks[-1])
        graph.run()
        for sink in sinks:
            np.testing.assert_array_equal(sink.data(), np.packbits(self.bits))

    def test_SourceWithTwoReaders_IsDecoded(self):
        source = support.vector_source(self.items)
        sink, other = blocks.vector_sink_b(), blocks.vector_sink_b()
        graph = gr.top_block()
        graph.connect(source, gpufec.gpu_viterbi_pbvd(backend="cpu"), sink)
        graph.connect(source, other)
        graph.run()
        np.testing.assert_array_equal(sink.data(), np.packbits(self.bits))
        np.testing.assert_array_equal(other.data(), self.items.view(np.uint8))

    def test_SlowStream_IsDecodedWithinLatency(self):
        """All complete parallel blocks are decoded and output, although no batch is full."""
        for packed in (True, False):
            source = gated_source(self.items.view(np.int8))
            sink = blocks.vector_sink_b()
            decoder = gpufec.gpu_viterbi_pbvd(backend="cpu", max_latency_ms=20,
                                              decode_length=128, overlap=48, batch=64,
                                              packed_output=packed)
            graph = gr.top_block()
            graph.connect(source, decoder, sink)
            graph.start()
            for stages in (300, 1000, 1001, 2500):
                source.allow(2 * stages)
                expected = (stages - 48) // 128 * (16 if packed else 128)
                self.assertTrue(eventually(lambda: len(sink.data()) == expected),
                                f"{len(sink.data())} of {expected} items after {stages}")
            time.sleep(0.3) # longer than the 250 ms after which the scheduler calls an idle block
            self.assertEqual(len(sink.data()), expected)
            source.end()
            graph.wait()
            expected = np.packbits(self.bits) if packed else self.bits
            np.testing.assert_array_equal(sink.data(), expected)

    def test_ReadyResult_WakesTheBlock(self):
        """The decoder wakes the block when a result is ready; the scheduler itself would call the
        block only after 250 ms."""
        source = gated_source(self.items.view(np.int8))
        sink = blocks.vector_sink_b()
        decoder = gpufec.gpu_viterbi_pbvd(backend="cpu", max_latency_ms=5,
                                          decode_length=128, overlap=48)
        graph = gr.top_block()
        graph.connect(source, decoder, sink)
        graph.start()
        delays = []
        for stages in range(1000, 11000, 1000):
            begin = time.monotonic()
            source.allow(2 * stages)
            expected = (stages - 48) // 128 * 16
            self.assertTrue(eventually(lambda: len(sink.data()) == expected))
            delays.append(time.monotonic() - begin)
        source.end()
        graph.wait()
        self.assertLess(min(delays), 0.2)

    def test_SinkThatEndsEarly_EndsFlowgraph(self):
        graph = gr.top_block()
        sink = blocks.vector_sink_b()
        source = blocks.vector_source_b(self.items.view(np.uint8).tolist(), True)
        graph.connect(source, gpufec.gpu_viterbi_pbvd(backend="cpu", batch=2),
                      blocks.head(1, 1000), sink)
        graph.run()
        np.testing.assert_array_equal(sink.data(), np.packbits(self.bits)[:1000])

    def test_SlowSink_GetsAllBits(self):
        source = support.vector_source(self.items)
        decoder = gpufec.gpu_viterbi_pbvd(backend="cpu", batch=1, slots=2,
                                          packed_output=False)
        decoder.set_max_output_buffer(4096)
        throttle = blocks.throttle(1, 1e5, True)
        graph = gr.top_block()
        sink = blocks.vector_sink_b()
        graph.connect(source, decoder, throttle, sink)
        graph.run()
        np.testing.assert_array_equal(sink.data(), self.bits)

    def test_SettersWhileRunning_KeepOutput(self):
        values = support.soft_values(support.encode(self.bits), "float")
        source = gated_source(values)
        sink = blocks.vector_sink_b()
        decoder = gpufec.gpu_viterbi_pbvd(backend="cpu", soft_input="float",
                                          decode_length=64, max_latency_ms=1, batch=8)
        graph = gr.top_block()
        graph.connect(source, decoder, sink)
        graph.start()
        for step in range(1, 51):
            source.allow(len(values) * step // 60)
            decoder.set_soft_scale(10.0 + step)
            decoder.set_max_latency_ms(step % 5)
            self.assertEqual(decoder.soft_scale(), 10.0 + step)
            self.assertEqual(decoder.max_latency_ms(), step % 5)
            self.assertEqual(decoder.active_backend(), "cpu")
        for wrong in (0.0, -1.0, float("nan"), float("inf")):
            with self.assertRaisesRegex(ValueError, "soft_scale is"):
                decoder.set_soft_scale(wrong)
        for wrong in (-1.0, float("nan"), float("inf")):
            with self.assertRaisesRegex(ValueError, "max_latency_ms is"):
                decoder.set_max_latency_ms(wrong)
        source.end()
        graph.wait()
        np.testing.assert_array_equal(sink.data(), np.packbits(self.bits))

    def test_NewSoftScale_ChangesOutput(self):
        """After set_soft_scale() with a tiny scale all values are erasures; after the return to the
        old scale the bits are correct."""
        values = support.soft_values(support.encode(self.bits), "float")
        source = gated_source(values)
        sink = blocks.vector_sink_b()
        decoder = gpufec.gpu_viterbi_pbvd(backend="cpu", soft_input="float",
                                          decode_length=32, overlap=48, batch=1,
                                          packed_output=False)
        graph = gr.top_block()
        graph.connect(source, decoder, sink)
        graph.start()
        parts = ((0, 8000), (8000, 24000), (24000, 40000))
        for (first, last), scale in zip(parts, (32.0, 1e-6, 32.0)):
            decoder.set_soft_scale(scale)
            source.allow(last)
            stages = last // 2
            self.assertTrue(eventually(
                lambda: len(sink.data()) == (stages - 48) // 32 * 32))
        source.end()
        graph.wait()
        output = np.array(sink.data())
        np.testing.assert_array_equal(output[:3900], self.bits[:3900])
        self.assertFalse(output[4100:11900].any()) # erasures decode to zeros
        np.testing.assert_array_equal(output[12100:], self.bits[12100:])

    def test_SettersOfBusyDecoder_DoNotWait(self):
        """While all slots are in flight, the block waits without holding the setters' mutex."""
        graph = gr.top_block()
        source = blocks.vector_source_b(self.items.view(np.uint8).tolist(), True)
        decoder = gpufec.gpu_viterbi_pbvd(backend="cpu", slots=1)
        graph.connect(source, decoder, blocks.null_sink(1))
        graph.start()
        time.sleep(0.05)
        begin = time.monotonic()
        for step in range(100):
            decoder.set_max_latency_ms(step)
        waited = time.monotonic() - begin
        graph.stop()
        graph.wait()
        self.assertLess(waited, 5.0) # about 10 s if each call waited for the block's wait of 100 ms

    def test_StopWithoutInput_EndsFlowgraph(self):
        source = gated_source(self.items.view(np.int8))
        graph = gr.top_block()
        graph.connect(source, gpufec.gpu_viterbi_pbvd(backend="cpu"), blocks.null_sink(1))
        graph.start()
        time.sleep(0.05)
        graph.stop()
        graph.wait()

    def test_UnusedBlocks_AreDestroyed(self):
        for _ in range(20):
            gpufec.gpu_viterbi_pbvd(backend="cpu", threads=3)


if __name__ == "__main__":
    support.main()
