#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Tests that ports in device memory have the output and the tags of ports in host memory, and that
impossible options are refused.

The scheduler inserts the copies between the host's blocks and these ports. Without gr-cuda, the
library of the simulated devices has a test double of gr-cuda's buffer.
"""

import os
import time
import unittest

import numpy as np
import pmt
from gnuradio import blocks, gpufec, gr

import qa_support as support
from qa_support import failure, output_of_process
from qa_sync_map_case import SMALL, SMALL_BOOK, framed_source, small_frames
from qa_viterbi_running import eventually


def missing():
    """Returns the reason why ports in device memory cannot be used here, or None."""
    try:
        gpufec.gpu_viterbi_pbvd(io="device")
    except (RuntimeError, ValueError) as error:
        return str(error)
    return None


def decode(block, source):
    """Runs `source` and `block` in a flowgraph. Returns the output and the sorted tags."""
    graph = gr.top_block()
    sink = (blocks.vector_sink_f if block.output_signature().sizeof_stream_item(0) == 4
            else blocks.vector_sink_b)()
    graph.connect(source, block, sink)
    graph.run()
    tags = sorted(((t.offset, str(t.key), pmt.to_python(t.value)) for t in sink.tags()), key=str)
    return np.array(sink.data()), tags


def llrs(frames, dtype=np.int8):
    codeword, _ = support.run(
        support.vector_source(support.random_bits(frames * 14400, 2)),
        gpufec.ldpc_encoder(frame_size="short", rate="8/9", packed_input=False,
                            packed_output=False))
    noise = np.random.default_rng(1).standard_normal(len(codeword))
    llr = 10 * (1 - 2.0 * codeword) + 4.5 * noise
    if dtype == np.float32:
        return (llr / 2).astype(np.float32)
    return np.clip(np.rint(llr), -127, 127).astype(np.int8).view(np.uint8)


def numbers(count, apart, key="number"):
    return [(n * apart + 5, pmt.intern(key), pmt.from_long(n)) for n in range(count)]


@unittest.skipIf(missing(), missing())
class qa_device_ports(unittest.TestCase):
    def compare(self, make, source, **parameters):
        """Checks that io "device_in" and io "device" have the output and the tags of io "host" on
        the same device. `make` returns the block, and `source` returns its source."""
        expected, tags = decode(make(backend="cuda", **parameters), source())
        self.assertGreater(len(expected), 0)
        for io in "device_in", "device":
            with self.subTest(io=io):
                block = make(io=io, **parameters)
                self.assertEqual(block.active_backend(), "cuda")
                found = decode(block, source())
                np.testing.assert_array_equal(found[0], expected)
                self.assertEqual(found[1], tags)

    def test_ViterbiStream_EqualsHostPorts(self):
        coded = support.encode(support.random_bits(300000, 1))
        for soft_input in "int8", "uint8", "float", "packed4":
            values = support.soft_values(coded, soft_input, 0.7, 1)
            for packed in True, False:
                with self.subTest(soft_input=soft_input, packed=packed):
                    self.compare(gpufec.gpu_viterbi_pbvd,
                                 lambda: support.vector_source(values, numbers(500, 300)),
                                 soft_input=soft_input, packed_output=packed)

    def test_SeveralBatchesInOneCall_WaitForSpaceInDeviceMemory(self):
        # The output of 3640 parallel blocks is 466 kB. The memory for 1.5 times the output of three
        # batches is then 2 MiB, the smallest unit that a device allocates.
        coded = support.encode(support.random_bits(1 << 17, 1))
        values = np.tile(support.soft_values(coded, sigma=0.7, seed=1), 160)
        self.compare(gpufec.gpu_viterbi_pbvd, lambda: support.vector_source(values), batch=3640)

    def test_PuncturedStream_EqualsHostPorts(self):
        coded = support.encode(support.random_bits(200003, 1), puncturing=support.CCSDS_7_8)
        values = support.soft_values(coded, sigma=0.3, seed=1)
        self.compare(gpufec.gpu_viterbi_pbvd, lambda: support.vector_source(values),
                     puncturing=support.CCSDS_7_8)

    def test_LongStream_HasStatisticsAtSameOffsets(self):
        bits = support.random_bits(5 << 20, 1)
        coded = gpufec.conv_encode(bits, packed_input=False, packed_output=False)
        for soft_input in "int8", "float", "packed4":
            values = support.soft_values(coded, soft_input, 0.6, 1)

            def source():
                if values.dtype == np.float32:
                    return blocks.vector_source_f(values, False)
                return support.array_source(values)
            with self.subTest(soft_input=soft_input):
                self.compare(gpufec.gpu_viterbi_pbvd, source, soft_input=soft_input)

    def test_LargeBatch_HasStatisticsAtOffsetsOfHostPorts(self):
        """If a batch has more samples than one copy transfers, the statistics are at the same
        offsets as with host ports."""
        coded = support.encode(support.random_bits(1 << 18, 1))
        values = np.tile(support.soft_values(coded, sigma=0.7, seed=1), 80)
        self.compare(gpufec.gpu_viterbi_pbvd, lambda: support.vector_source(values),
                     batch=18 << 10)

    def test_ViterbiFrames_EqualHostPorts(self):
        for frame_bits in 64, 1000:
            coded = support.encode_frames(support.random_bits(50 * frame_bits, 1), frame_bits,
                                          termination="terminated")
            values = support.soft_values(coded, sigma=0.7, seed=1)
            items = coded.shape[1]
            # The second packet begins before the end of a frame, which is dropped.
            tags = [(0, pmt.intern("packet_len"), pmt.from_long(3 * items)),
                    (7 * items // 2, pmt.intern("packet_len"), pmt.from_long(2 * items))]
            for use in (), tags:
                with self.subTest(frame_bits=frame_bits, tags=len(use)):
                    self.compare(gpufec.gpu_viterbi_pbvd,
                                 lambda: support.vector_source(values, use),
                                 termination="terminated", frame_bits=frame_bits)

    def test_LockOfViterbi_EqualsHostPorts(self):
        coded = support.encode(support.random_bits(100000, 1), polynomials=(0o171, -0o133))
        values = support.soft_values(coded, sigma=0.6, seed=1)[1:]
        self.compare(gpufec.gpu_viterbi_pbvd, lambda: support.vector_source(values),
                     polynomials=(0o171, -0o133), lock="auto")

    def test_LdpcFrames_EqualHostPorts(self):
        for soft_input, dtype in ("int8", np.int8), ("float", np.float32):
            values = llrs(20, dtype)
            for output in "message", "codeword", "llr", "bbframe":
                with self.subTest(soft_input=soft_input, output=output):
                    self.compare(gpufec.gpu_ldpc_dvbs2,
                                 lambda: support.vector_source(values, numbers(70, 4050)),
                                 frame_size="short", rate="8/9", soft_input=soft_input,
                                 output=output, max_iterations=8)

    def test_LdpcCodesOfTags_EqualHostPorts(self):
        """Frames of different codes have outputs of different sizes."""
        values, tags = [], []
        noise = np.random.default_rng(3)
        for n in range(24):
            rate = ("8/9", "5/6", "5/6", "2/5")[n % 4]
            bits = noise.integers(0, 2, gpufec.ldpc_code(frame_size="short", rate=rate).k, np.uint8)
            codeword = gpufec.ldpc_encode(bits, frame_size="short", rate=rate,
                                          packed_input=False, packed_output=False)
            llr = 10 * (1 - 2.0 * codeword) + 3 * noise.standard_normal(len(codeword))
            values.append(np.clip(np.rint(llr), -127, 127).astype(np.int8).view(np.uint8))
            tags.append((16200 * n, pmt.intern("ldpc_code"), pmt.intern(f"short {rate}")))
        for batch in 4, 64:
            with self.subTest(batch=batch):
                self.compare(gpufec.gpu_ldpc_dvbs2,
                             lambda: support.vector_source(np.concatenate(values), tags),
                             acm=True, batch=batch)

    def test_BitsOfLdpc_EqualHostPorts(self):
        values = llrs(20)
        self.compare(gpufec.gpu_ldpc_dvbs2, lambda: support.vector_source(values),
                     frame_size="short", rate="8/9", packed_output=False)

    def test_FramesOfSync_EqualHostPorts(self):
        """A device writes output in place if the output multiple is at least a frame, which has 5
        symbols."""
        frames = small_frames(200)[1]

        def make(multiple, **parameters):
            block = gpufec.gpu_sync_map(SMALL_BOOK, p_insert=0.02, p_delete=0.02, **SMALL,
                                        **parameters)
            if multiple > 0:
                block.set_output_multiple(multiple)
            return block

        for output, multiple in ("symbols", 0), ("symbols", 3), ("symbols", 7), ("posteriors", 0), \
                ("llr", 0):
            with self.subTest(output=output, multiple=multiple):
                self.compare(make, lambda: framed_source(frames), multiple=multiple, output=output)
        items = np.concatenate([np.resize(frame, 32) for frame in frames])[:-1]
        for multiple in 0, 3, 7:
            with self.subTest(frame_items=32, multiple=multiple):
                self.compare(make, lambda: support.vector_source(items, numbers(210, 30)),
                             multiple=multiple, frame_items=32, end_first=-3,
                             end_prior=[1.0] * 8)

    def test_StreamThatEndsInAFrame_YieldsItsWholeFrames(self):
        values = llrs(5)[:-100]
        self.compare(gpufec.gpu_ldpc_dvbs2, lambda: support.vector_source(values),
                     frame_size="short", rate="8/9")

    def test_SmallBatches_EqualHostPorts(self):
        values = llrs(20)
        self.compare(gpufec.gpu_ldpc_dvbs2, lambda: support.array_source(values, 5000, 1),
                     frame_size="short", rate="8/9", batch=1)

    def held_output(self, block, source, items):
        """Returns a source of zeros, a flowgraph and its sink. In the flowgraph, the output of
        `block` is combined with the zeros, so it is consumed only when the source of zeros may send
        items."""
        zeros = support.array_source(np.zeros(items, np.uint8), held=True)
        zeros.limit = 0
        graph, xor, sink = gr.top_block(), blocks.xor_bb(), blocks.vector_sink_b()
        graph.connect(source, block, xor, sink)
        graph.connect(zeros, (xor, 1))
        return zeros, graph, sink

    def test_FullOutput_IsAwaitedWithoutCalls(self):
        """The block waits while its output has space for less than a batch and no batch is in
        flight. The number of calls of work is the ratio of two of GNU Radio's counters."""
        values = llrs(80)
        expected, _ = decode(gpufec.gpu_ldpc_dvbs2(frame_size="short", rate="8/9", backend="cpu"),
                             support.vector_source(values))
        os.environ["GR_CONF_PERFCOUNTERS_ON"] = "True"
        self.addCleanup(os.environ.pop, "GR_CONF_PERFCOUNTERS_ON")
        for slots in 1, 3:
            block = gpufec.gpu_ldpc_dvbs2(frame_size="short", rate="8/9", io="device", batch=7,
                                          slots=slots, max_latency_ms=10000)
            block.set_output_multiple(1800)
            zeros, graph, sink = self.held_output(block, support.vector_source(values),
                                                  len(expected))

            def calls():
                return block.pc_work_time_total() / max(1, block.pc_work_time_avg())

            graph.start()
            self.assertTrue(eventually(lambda: block.nitems_written(0) > 0))
            written = 0
            while written < block.nitems_written(0):
                written = block.nitems_written(0)
                time.sleep(0.3)
            before = calls()
            time.sleep(1)
            with self.subTest(slots=slots):
                self.assertLess(calls() - before, 100)
            zeros.limit, zeros.held = len(expected), False
            graph.wait()
            np.testing.assert_array_equal(sink.data(), expected)

    def test_SecondRun_EqualsFirst(self):
        values = llrs(6)
        block = gpufec.gpu_ldpc_dvbs2(frame_size="short", rate="8/9", io="device")
        first = decode(block, support.vector_source(values))
        second = decode(block, support.vector_source(values))
        np.testing.assert_array_equal(first[0], second[0])
        self.assertEqual(first[1], second[1])

    def test_LockAndUnlock_KeepConsumedItems(self):
        """lock() and unlock() keep the items that the block has consumed. lock() loses the items
        that are in buffers, so the source waits until its items are consumed."""
        values = llrs(40)
        expected, _ = decode(gpufec.gpu_ldpc_dvbs2(frame_size="short", rate="8/9", backend="cpu"),
                             support.vector_source(values))
        source = support.array_source(values, 7000, 1, held=True)
        source.limit = 20 * 16200 + 1000
        block = gpufec.gpu_ldpc_dvbs2(frame_size="short", rate="8/9", io="device", batch=3)
        sink = blocks.vector_sink_b()
        graph = gr.top_block()
        graph.connect(source, block, sink)
        graph.start()
        self.assertTrue(eventually(lambda: len(sink.data()) == 20 * 1800))
        graph.lock()
        graph.unlock()
        source.limit, source.held = len(values), False
        graph.wait()
        np.testing.assert_array_equal(sink.data(), expected)

    def test_OutputPendingAtLock_FollowsEarlierOutput(self):
        """GNU Radio loses the output that is in the buffer at lock(). Output of frames that the
        decoder has accepted follows after unlock()."""
        values = llrs(60)
        expected, _ = decode(gpufec.gpu_ldpc_dvbs2(frame_size="short", rate="8/9", backend="cpu"),
                             support.vector_source(values))
        for io in "device_in", "device":
            block = gpufec.gpu_ldpc_dvbs2(frame_size="short", rate="8/9", io=io, batch=7)
            block.set_output_multiple(1800)
            source = support.array_source(values, 7000, 1, held=True)
            source.limit = 42 * 16200
            zeros, graph, sink = self.held_output(block, source, len(expected))
            graph.start()
            self.assertTrue(eventually(lambda: block.nitems_written(0) >= 35 * 1800))
            time.sleep(1) # meanwhile, the decoder accepts the other frames
            graph.lock()
            written = block.nitems_written(0)
            graph.unlock()
            source.limit, source.held = len(values), False
            zeros.limit, zeros.held = len(expected), False
            graph.wait()
            with self.subTest(io=io):
                if support.SIMULATED: # a buffer of a real device holds all of this output
                    self.assertLess(written, 42 * 1800)
                np.testing.assert_array_equal(sink.data(), expected[written:])

    def test_DeviceThatFails_EndsTheFlowgraph(self):
        if not support.SIMULATED:
            self.skipTest("there are no simulated devices")
        lines = []
        with failure("0:2"), output_of_process(lines):
            block = gpufec.gpu_ldpc_dvbs2(frame_size="short", rate="8/9", io="device", batch=2)
            graph = gr.top_block()
            graph.connect(support.vector_source(llrs(40)), block, blocks.null_sink(1))
            self.assertTrue(support.ends(graph))
        self.assertTrue(any("decoding ends because of an error: simulated device 0 failed" in line
                            for line in lines), lines)

    def test_InputInAnotherFormat_CausesVerdict(self):
        """The verdict is based on the first items although they are in device memory."""
        coded = support.encode(support.random_bits(300000, 1))
        values = support.soft_values(coded, "uint8", 0.5, 1)
        verdicts = []
        for parameters in {"backend": "cpu"}, {"io": "device"}:
            block = gpufec.gpu_viterbi_pbvd(**parameters)
            with output_of_process([]):
                decode(block, support.vector_source(values))
            verdicts.append(block.verdict())
        self.assertIn("uint8", verdicts[0])
        self.assertEqual(verdicts[0], verdicts[1])

    def test_SlowSource_IsDecodedWithinTheLatency(self):
        values = llrs(8)
        source = support.array_source(values, held=True)
        source.limit = 3 * 16200
        block = gpufec.gpu_ldpc_dvbs2(frame_size="short", rate="8/9", io="device", batch=100,
                                      max_latency_ms=20)
        sink = blocks.vector_sink_b()
        graph = gr.top_block()
        graph.connect(source, block, sink)
        graph.start()
        self.assertTrue(eventually(lambda: len(sink.data()) == 3 * 1800))
        source.limit, source.held = len(values), False
        graph.wait()
        self.assertEqual(len(sink.data()), 8 * 1800)

    def test_TwoBlocksInSeries_ShareABuffer(self):
        values = llrs(20)

        def chain(**parameters):
            graph = gr.top_block()
            sink = blocks.vector_sink_b()
            soft = gpufec.gpu_ldpc_dvbs2(frame_size="short", rate="8/9", output="llr",
                                         max_iterations=2, **parameters)
            hard = gpufec.gpu_ldpc_dvbs2(frame_size="short", rate="8/9", **parameters)
            graph.connect(support.vector_source(values), soft, hard, sink)
            graph.run()
            return sink.data()

        np.testing.assert_array_equal(chain(io="device"), chain(backend="cpu"))


class qa_refusals(unittest.TestCase):
    def test_UnknownMemory_IsRefused(self):
        with self.assertRaisesRegex(ValueError, 'io is "gpu": allowed values are host, device_in'):
            gpufec.gpu_viterbi_pbvd(io="gpu")

    @unittest.skipIf(missing(), missing())
    def test_OptionsThatExcludeDevicePorts_AreRefused(self):
        for make in gpufec.gpu_viterbi_pbvd, gpufec.gpu_ldpc_dvbs2:
            with self.assertRaisesRegex(ValueError, 'io is "device": the only allowed value is "host"'):
                make(io="device", backend="cpu")
            with self.assertRaisesRegex(ValueError, 'io is "device_in": devices has 2 elements'):
                make(io="device_in", devices=[0, 1])

    @unittest.skipUnless(missing() and "gr-cuda" in str(missing()), "gr-cuda is installed")
    def test_BuildWithoutGrCuda_RefusesWithReason(self):
        with self.assertRaisesRegex(ValueError, "gr-cuda was not found"):
            gpufec.gpu_ldpc_dvbs2(io="device")


if __name__ == "__main__":
    unittest.main()
