#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Tests gpu_viterbi_pbvd on several devices, on failing devices, and with input and output in place
in GNU Radio's buffers.

The devices are real, or simulated by lib/testing/simulated_device.h. Only simulated devices fail.
A "ring" is a buffer of GNU Radio between two blocks.
"""

import time
import unittest

import numpy as np
import pmt
from gnuradio import blocks, gpufec, gr

import qa_support as support
from qa_support import SIMULATED, failure, output_of_process
from qa_viterbi_running import eventually, gated_source

NO_CUDA = support.cuda_missing()
D, L = 128, 48 # decode length and overlap in stages; at rate 1/2, a stage has two values


def device_count():
    for count in range(4):
        try:
            gpufec.gpu_viterbi_pbvd(backend="cuda", device=count)
        except RuntimeError:
            return count
    return 4


class slow_sink(gr.sync_block):
    """A sink that consumes a random number of the available items, so that the ring fills up."""

    def __init__(self):
        gr.sync_block.__init__(self, "slow_sink", [np.uint8], None)
        self.random = np.random.default_rng(1)
        self.taken = []

    def work(self, input_items, _):
        n = int(self.random.integers(1, min(700, len(input_items[0])) + 1))
        self.taken.append(input_items[0][:n].copy())
        return n

    def data(self):
        return np.concatenate(self.taken) if self.taken else np.zeros(0, np.uint8)


@unittest.skipIf(NO_CUDA, f"there is no GPU: {NO_CUDA}")
class qa_viterbi_devices(unittest.TestCase):
    def setUp(self):
        self.bits = support.random_bits(60000, 1)
        self.items = support.soft_values(support.encode(self.bits), sigma=0.7, seed=1)
        self.small = dict(decode_length=D, overlap=L, batch=4)

    def test_InputInPlace_KeepsOverlapInRing(self):
        """The block does not consume input in the ring that the next parallel block needs as
        overlap."""
        for soft_input in ("int8", "float"):
            items = support.soft_values(support.encode(self.bits), soft_input)
            source = gated_source(items)
            decoder = gpufec.gpu_viterbi_pbvd(backend="cuda", soft_input=soft_input,
                                              max_latency_ms=5, **self.small)
            sink = blocks.vector_sink_b()
            graph = gr.top_block()
            graph.connect(source, decoder, sink)
            graph.start()
            for stages in (1000, 1001, 5000, 20000):
                source.allow(2 * stages)
                whole = (stages - L) // D
                kept_from = 2 * (whole * D - L)
                self.assertTrue(eventually(lambda: len(sink.data()) == whole * D // 8
                                           and decoder.nitems_read(0) == kept_from),
                                f"{len(sink.data())} {decoder.nitems_read(0)}")
            source.end()
            graph.wait()
            np.testing.assert_array_equal(sink.data(), np.packbits(self.bits))

    def test_InputInChunks_EqualsCpu(self):
        for largest in (1, 333, 100000):
            for extra in (dict(), dict(slots=1), dict(puncturing="101,110"),
                          dict(soft_input="packed4"), dict(packed_output=False),
                          dict(termination="tailbiting", frame_bits=401, batch=4),
                          dict(max_latency_ms=0.0)):
                count = 3000 if largest == 1 else len(self.items)
                parameters = {**self.small, **extra}
                items = self.items[:count].view(np.uint8)
                expected, _ = support.decode(items, **parameters)
                with self.subTest(largest=largest, **extra):
                    source = support.array_source(items, largest, seed=2)
                    decoder = gpufec.gpu_viterbi_pbvd(backend="cuda", **parameters)
                    output, _ = support.run(source, decoder)
                    np.testing.assert_array_equal(output, expected)

    def test_Tags_EqualThoseOfCpu(self):
        rng = np.random.default_rng(3)
        offsets = np.sort(rng.integers(0, len(self.items), 300))
        tags = [(int(o), pmt.intern("number"), pmt.from_long(n))
                for n, o in enumerate(offsets)]
        tags += [(at, pmt.intern("packet_len"), pmt.from_long(1000))
                 for at in range(0, len(self.items), 1000)]
        tags.sort(key=lambda tag: tag[0])
        keys = "number", "packet_len", "viterbi_ber", "viterbi_metric"
        found = []
        for backend in "cpu", "cuda":
            _, output_tags = support.decode(self.items, backend=backend, tags=tags,
                                            max_latency_ms=10000.0, **self.small)
            found.append([support.tags_of(output_tags, key) for key in keys])
        self.assertEqual(len(found[0][0]), 300)
        self.assertGreater(len(found[0][2]), 0)
        self.assertEqual(found[0], found[1])

    def locked_and_unlocked(self, **parameters):
        """Sends the input in nine parts, with lock() and unlock() after each but the last. Returns
        the decoder and the output."""
        source = gated_source(self.items.view(np.int8))
        sink = blocks.vector_sink_b()
        decoder = gpufec.gpu_viterbi_pbvd(max_latency_ms=5, **parameters, **self.small)
        graph = gr.top_block()
        graph.connect(source, decoder, sink)
        graph.start()
        for part in range(1, 9):
            sent = len(self.items) * part // 9
            source.allow(sent)
            whole = (sent // 2 - L) // D
            self.assertTrue(eventually(lambda: len(sink.data()) == whole * D // 8))
            graph.lock()
            graph.unlock() # makes the decoder use the ring from its start
        source.end()
        graph.wait()
        return decoder, sink.data()

    def test_LockAndUnlock_LoseNoBits(self):
        expected, _ = support.decode(self.items, **self.small)
        _, bits = self.locked_and_unlocked(backend="cuda")
        np.testing.assert_array_equal(bits, expected)

    def test_RunAfterStop_EqualsFirst(self):
        decoder = gpufec.gpu_viterbi_pbvd(backend="cuda", **self.small)
        graph = gr.top_block()
        graph.connect(blocks.vector_source_b(self.items.view(np.uint8).tolist(), True),
                      decoder, blocks.null_sink(1))
        graph.start()
        time.sleep(0.1)
        graph.stop()
        graph.wait()
        graph.disconnect_all()
        output, _ = support.run(support.vector_source(self.items), decoder)
        np.testing.assert_array_equal(output, support.decode(self.items, **self.small)[0])

    def test_TwoDecodersOfOneRing_DecodeCorrectly(self):
        """Two decoders that read the same ring both decode correctly, although only one can pin the
        ring's pages."""
        source = support.vector_source(self.items)
        graph = gr.top_block()
        sinks = [blocks.vector_sink_b() for _ in range(2)]
        for sink in sinks:
            graph.connect(source, gpufec.gpu_viterbi_pbvd(backend="cuda", **self.small),
                          sink)
        graph.run()
        expected, _ = support.decode(self.items, **self.small)
        for sink in sinks:
            np.testing.assert_array_equal(sink.data(), expected)

    def test_NewLatency_AppliesToWaitingBatch(self):
        source = gated_source(self.items.view(np.int8))
        sink = blocks.vector_sink_b()
        decoder = gpufec.gpu_viterbi_pbvd(backend="cuda", max_latency_ms=1e6,
                                          **self.small)
        graph = gr.top_block()
        graph.connect(source, decoder, sink)
        graph.start()
        source.allow(2 * (2 * D + L)) # input of two parallel blocks, half of a batch
        time.sleep(0.3)
        self.assertEqual(len(sink.data()), 0)
        decoder.set_max_latency_ms(1)
        self.assertTrue(eventually(lambda: len(sink.data()) == 2 * D // 8))
        source.end()
        graph.wait()

    def test_OutputInPlace_IsCopiedOnlyWithSmallRing(self):
        """The device writes to the ring, and wraps around its end many times. If the ring is too
        small, the block copies the output and logs the reason."""
        items = support.soft_values(support.encode(support.random_bits(400000, 3)),
                                    sigma=0.7, seed=3)
        expected, _ = support.decode(items, decode_length=D, overlap=L)
        for batch, copied in (64, False), (200, False), (256, True):
            lines, sink = [], slow_sink()
            with output_of_process(lines):
                decoder = gpufec.gpu_viterbi_pbvd(backend="cuda", decode_length=D,
                                                  overlap=L, batch=batch)
                decoder.set_max_output_buffer(3 * batch * D // 8 + (0 if copied else 4096))
                graph = gr.top_block()
                graph.connect(support.vector_source(items), decoder, sink)
                graph.run()
            np.testing.assert_array_equal(sink.data(), expected)
            logged = any("output is copied: its buffer of" in line for line in lines)
            self.assertEqual(logged, copied, lines)

    def test_StopDuringOutputInPlace_LeavesNoBytesForNextRun(self):
        """If a run is stopped while the device writes to the ring, the bytes that the run has
        output are correct, and the next run outputs no bytes of the stopped run."""
        expected, _ = support.decode(self.items, **self.small)
        decoder = gpufec.gpu_viterbi_pbvd(backend="cuda", **self.small)
        for _ in range(3):
            graph, sink = gr.top_block(), slow_sink()
            source = blocks.vector_source_b(self.items.view(np.uint8).tolist(), True)
            graph.connect(source, decoder, sink)
            graph.start()
            self.assertTrue(eventually(lambda: len(sink.data()) > 1000))
            graph.stop()
            graph.wait()
            some = sink.data()[:len(expected)]
            np.testing.assert_array_equal(some[:len(expected) - 20],
                                          expected[:len(some)][:len(expected) - 20])
            output, _ = support.run(support.vector_source(self.items), decoder)
            np.testing.assert_array_equal(output, expected)

    def test_TwoDecodersInSeries_EqualCpu(self):
        """Two decoders in series decode as on the CPU and log no copy, although only one can use
        the ring between them in place."""
        def decode(backend):
            parameters = dict(backend=backend, **self.small)
            sink, graph = blocks.vector_sink_b(), gr.top_block()
            graph.connect(support.vector_source(self.items),
                          gpufec.gpu_viterbi_pbvd(**parameters),
                          gpufec.gpu_viterbi_pbvd(**parameters), sink)
            graph.run()
            return np.array(sink.data())

        lines = []
        with output_of_process(lines):
            output = decode("cuda")
        np.testing.assert_array_equal(output, decode("cpu"))
        self.assertFalse(any("is copied" in line for line in lines), lines)

    def test_SeveralDevices_YieldSameBits(self):
        count = device_count()
        expected, _ = support.decode(self.items, **self.small)
        for devices in ([0], list(range(count)), [count - 1, 0], [0] * 3):
            for slots in (1, 3):
                with self.subTest(devices=devices, slots=slots):
                    output, _ = support.decode(self.items, backend="cuda", slots=slots,
                                               devices=devices, **self.small)
                    np.testing.assert_array_equal(output, expected)

    def test_MissingDeviceOfSeveral_IsRefused(self):
        with self.assertRaisesRegex(RuntimeError, "99"):
            gpufec.gpu_viterbi_pbvd(backend="cuda", devices=[0, 99])
        decoder = gpufec.gpu_viterbi_pbvd(backend="auto", devices=[0, 99])
        self.assertEqual(decoder.active_backend(), "cpu")

    @unittest.skipUnless(SIMULATED, "there are no simulated devices")
    def test_FailedDevice_DecodingContinuesOnCpu(self):
        expected, _ = support.decode(self.items, **self.small)
        for soft_input in ("int8", "float"):
            items = self.items
            if soft_input == "float":
                items = (self.items / 32).astype(np.float32)
            for batches in (0, 1, 2, 7, 40):
                with self.subTest(soft_input=soft_input, batches=batches):
                    lines = []
                    with failure(f"0:{batches}"), output_of_process(lines):
                        decoder = gpufec.gpu_viterbi_pbvd(soft_input=soft_input,
                                                          **self.small)
                        self.assertEqual(decoder.active_backend(), "cuda")
                        output, _ = support.run(support.vector_source(items), decoder)
                    np.testing.assert_array_equal(output, expected)
                    self.assertEqual(decoder.active_backend(), "cpu")
                    logged = [line for line in lines if "simulated device 0 failed" in line]
                    self.assertEqual(len(logged), 1, lines)
                    self.assertIn("error", logged[0])
                    self.assertIn("continues on the CPU without loss of data", logged[0])

    def locks(self, exchanged, **parameters):
        """Decodes with phase search. In the stream, I and Q are exchanged or, if `exchanged` is
        false, a value is missing. Returns bits, lock tags and the backend."""
        items = support.soft_values(support.encode(support.random_bits(400000, 2)),
                                    sigma=0.5, seed=2)
        items = (items.reshape(-1, 2)[:, ::-1].ravel() if exchanged
                 else np.delete(items, 500001))
        decoder = gpufec.gpu_viterbi_pbvd(lock="auto", lock_constellation="qpsk",
                                          decode_length=D, overlap=L, batch=256,
                                          max_latency_ms=1e5, **parameters)
        output, tags = support.run(support.vector_source(items), decoder)
        return output, support.tags_of(tags, "viterbi_lock"), decoder.active_backend()

    def test_PhaseLock_EqualsCpu(self):
        for exchanged in False, True:
            output, locks, _ = self.locks(exchanged, backend="cpu")
            self.assertEqual([bool(lock) for _, lock in locks],
                             [True] if exchanged else [True, False, True])
            on_device, its_locks, where = self.locks(exchanged, backend="cuda")
            self.assertEqual(where, "cuda")
            np.testing.assert_array_equal(on_device, output)
            self.assertEqual(its_locks, locks)

    @unittest.skipUnless(SIMULATED, "there are no simulated devices")
    def test_FailedDeviceWhileLocked_KeepsBitsAndTags(self):
        for exchanged in False, True:
            output, locks, _ = self.locks(exchanged, backend="cpu")
            for batches in (1, 5, 8):
                with failure(f"0:{batches}"):
                    on_device, its_locks, where = self.locks(exchanged)
                self.assertEqual(where, "cpu")
                np.testing.assert_array_equal(on_device, output)
                self.assertEqual(its_locks, locks)

    @unittest.skipUnless(SIMULATED, "there are no simulated devices")
    def test_OneFailedDeviceOfSeveral_OthersContinue(self):
        expected, _ = support.decode(self.items, **self.small)
        for failing in "0:5", "1:0", "2:7":
            with self.subTest(failing=failing):
                lines = []
                with failure(failing), output_of_process(lines):
                    decoder = gpufec.gpu_viterbi_pbvd(devices=[0, 1, 2], **self.small)
                    output, _ = support.run(support.vector_source(self.items), decoder)
                np.testing.assert_array_equal(output, expected)
                self.assertEqual(decoder.active_backend(), "cuda")
                logged = [line for line in lines if f"device {failing[0]} failed" in line]
                self.assertEqual(len(logged), 1, lines)
                self.assertIn("continues on the other devices without loss of data", logged[0])

    @unittest.skipUnless(SIMULATED, "there are no simulated devices")
    def test_FailedDeviceAfterUnlock_LosesNoBits(self):
        """If a device fails after unlock(), no bits are lost, although the input before lock() is
        no longer in the ring."""
        expected, _ = support.decode(self.items, **self.small)
        with failure("0:12"):
            decoder, bits = self.locked_and_unlocked()
        np.testing.assert_array_equal(bits, expected)
        self.assertEqual(decoder.active_backend(), "cpu")

    @unittest.skipUnless(SIMULATED, "there are no simulated devices")
    def test_FailedDeviceWithoutFallback_EndsFlowgraph(self):
        lines = []
        with failure("0:3"), output_of_process(lines):
            decoder = gpufec.gpu_viterbi_pbvd(backend="cuda", **self.small)
            graph = gr.top_block()
            sink = blocks.vector_sink_b()
            source = blocks.vector_source_b(self.items.view(np.uint8).tolist(), True)
            graph.connect(source, decoder, sink)
            self.assertTrue(support.ends(graph))
        self.assertTrue(any("decoding ends because of an error: simulated device 0 failed" in line
                            for line in lines), lines)
        expected, _ = support.decode(self.items, **self.small)
        np.testing.assert_array_equal(sink.data(), expected[:len(sink.data())])


if __name__ == "__main__":
    support.main()
