#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Tests what the blocks of all decoders share: failing devices, latency, restarts, tags, status.

Some tests need the simulated devices of lib/testing/simulated_device.h.
"""

import time
import unittest

import numpy as np
import pmt
from gnuradio import blocks, gpufec, gr

import qa_support as support
from qa_support import failure, message_sink, output_of_process
from qa_sync_map_case import SMALL, SMALL_BITS, SMALL_BOOK, framed_source, small_frames
from qa_viterbi_running import eventually, gated_source


class messages(message_sink):
    """A sink that stores the received messages as Python objects."""

    @property
    def got(self):
        return [pmt.to_python(message) for message in self.messages]

    def events(self):
        return [message["event"] for message in self.got]


class tagger(gr.sync_block):
    """A block that copies items and tags every 61st item with a number."""

    def __init__(self, dtype):
        gr.sync_block.__init__(self, "tagger", [dtype], [dtype])

    def work(self, input_items, output_items):
        n = len(output_items[0])
        output_items[0][:] = input_items[0][:n]
        first = self.nitems_written(0)
        for at in range(-(-first // 61) * 61, first + n, 61):
            self.add_item_tag(0, at, pmt.intern("number"), pmt.from_long(at // 61))
        return n


class decoder_blocks:
    """Tests that apply to every decoder block. For each block, a derived class makes the block and
    its input."""

    dtype = np.uint8 # type of output items

    def setUp(self):
        self.items = self.make_items()

    def source(self, repeat=False):
        if repeat:
            return support.vector_source(np.tile(self.items, 50))
        return support.vector_source(self.items)

    def sink(self):
        return blocks.vector_sink_f() if self.dtype == np.float32 else blocks.vector_sink_b()

    def decode(self, block, source=None, between=()):
        graph = gr.top_block()
        sink = self.sink()
        graph.connect(source or self.source(), *between, block, sink)
        graph.run()
        tags = [(tag.offset, str(tag.key), pmt.to_python(tag.value)) for tag in sink.tags()]
        return np.array(sink.data(), self.dtype), self.steady(tags)

    def steady(self, tags):
        """Returns those of `tags` that do not depend on how the stream is divided into batches,
        sorted."""
        return sorted((tag for tag in tags if not tag[1].startswith("viterbi_")), key=str)

    @unittest.skipUnless(support.SIMULATED, "there are no simulated devices")
    def test_FailedDevice_DecodingContinuesOnCpu(self):
        expected, tags = self.decode(self.block(backend="cpu"))
        self.assertGreater(len(expected), 0)
        for batches in (0, 1, 2, 3):
            with self.subTest(batches=batches):
                lines = []
                with failure(f"0:{batches}"), output_of_process(lines):
                    block = self.block(batch=2)
                    self.assertEqual(block.active_backend(), "cuda")
                    output, found = self.decode(block)
                np.testing.assert_array_equal(output, expected)
                self.assertEqual(found, tags)
                self.assertEqual(block.active_backend(), "cpu")
                logged = [line for line in lines if "simulated device 0 failed" in line]
                self.assertEqual(len(logged), 1, lines)
                self.assertIn("error", logged[0])
                self.assertIn("continues on the CPU without loss of data", logged[0])

    @unittest.skipUnless(support.SIMULATED, "there are no simulated devices")
    def test_SmallOutputRequests_YieldFramesInParts(self):
        """If the scheduler requests fewer output items than a frame has, the block outputs frames
        in parts, with the same items and tags."""
        expected, tags = self.decode(self.block(backend="cpu"))
        for most in (7, 100):
            with self.subTest(most=most):
                block = self.block(backend="cuda", batch=1)
                block.set_output_multiple(1)
                block.set_max_noutput_items(most)
                output, found = self.decode(block)
                np.testing.assert_array_equal(output, expected)
                self.assertEqual(found, tags)

    @unittest.skipUnless(support.SIMULATED, "there are no simulated devices")
    def test_OneFailedDeviceOfSeveral_OthersContinue(self):
        expected, _ = self.decode(self.block(backend="cpu"))
        for failing in "0:1", "1:0":
            with self.subTest(failing=failing):
                lines = []
                with failure(failing), output_of_process(lines):
                    block = self.block(devices=[0, 1, 2], batch=1)
                    output, _ = self.decode(block)
                np.testing.assert_array_equal(output, expected)
                self.assertEqual(block.active_backend(), "cuda")
                logged = [line for line in lines if f"device {failing[0]} failed" in line]
                self.assertEqual(len(logged), 1, lines)
                self.assertIn("continues on the other devices without loss of data", logged[0])

    @unittest.skipUnless(support.SIMULATED, "there are no simulated devices")
    def test_FailedDeviceWithoutFallback_EndsFlowgraphWithReason(self):
        expected, _ = self.decode(self.block(backend="cpu"))
        lines = []
        listener = messages()
        with failure("0:2"), output_of_process(lines):
            graph = gr.top_block()
            sink = self.sink()
            block = self.block(backend="cuda", batch=2)
            graph.connect(self.source(repeat=True), block, sink)
            graph.msg_connect(block, "status", listener, "in")
            self.assertTrue(support.ends(graph))
        self.assertTrue(any("decoding ends because of an error: simulated device 0 failed" in line
                            for line in lines), lines)
        np.testing.assert_array_equal(sink.data()[:len(expected)],
                                      expected[:len(sink.data())])
        self.assertIn("failed", listener.events())
        text = listener.got[listener.events().index("failed")]["text"]
        self.assertIn("simulated device 0 failed", text)

    @unittest.skipUnless(support.SIMULATED, "there are no simulated devices")
    def test_FailedDevice_SendsMessage(self):
        listener = messages()
        with failure("0:1"), output_of_process([]):
            graph = gr.top_block()
            block = self.block(batch=2)
            graph.connect(self.source(), block, self.sink())
            graph.msg_connect(block, "status", listener, "in")
            graph.run()
        self.assertTrue(eventually(lambda: "ended" in listener.events()))
        self.assertEqual(listener.events(), ["started", "device_failed", "ended"])
        self.assertEqual(listener.got[0]["backend"], "cuda")
        self.assertEqual(listener.got[-1]["backend"], "cpu")

    def test_StatusMessages_HaveItemCounts(self):
        listener = messages()
        graph = gr.top_block()
        block, sink = self.block(backend="cpu"), self.sink()
        graph.connect(self.source(), block, sink)
        graph.msg_connect(block, "status", listener, "in")
        graph.run()
        self.assertTrue(eventually(lambda: "ended" in listener.events()))
        self.assertEqual(listener.events(), ["started", "ended"])
        self.assertEqual(listener.got[-1]["items_in"], len(self.items))
        self.assertEqual(listener.got[-1]["items_out"], len(sink.data()))

    def test_PartialBatch_IsDecodedWithinLatency(self):
        """Output arrives although the source stops after a part of a batch: the timer wakes the
        block."""
        source = gated_source(self.gated())
        sink = self.sink()
        block = self.block(backend="cpu", batch=1000, max_latency_ms=20)
        graph = gr.top_block()
        graph.connect(*self.before(source), block, sink)
        graph.start()
        source.allow(len(self.gated()) // 2)
        self.assertTrue(eventually(lambda: len(sink.data()) > 0))
        source.end()
        graph.wait()

    def test_NewLatency_AppliesToWaitingBatch(self):
        source = gated_source(self.gated())
        sink = self.sink()
        block = self.block(backend="cpu", batch=1000, max_latency_ms=1e14)
        graph = gr.top_block()
        graph.connect(*self.before(source), block, sink)
        graph.start()
        source.allow(len(self.gated()) // 2)
        time.sleep(0.3)
        self.assertEqual(len(sink.data()), 0)
        block.set_max_latency_ms(1)
        self.assertTrue(eventually(lambda: len(sink.data()) > 0))
        source.end()
        graph.wait()

    def test_RepeatedRuns_YieldSameOutput(self):
        block = self.block(backend="cpu", batch=3)
        first = self.decode(block)
        for _ in range(2):
            output, tags = self.decode(block)
            np.testing.assert_array_equal(output, first[0])
            self.assertEqual(tags, first[1])

    def test_RunAfterStop_HasNoItemsOrTagsOfPreviousRun(self):
        """A run outputs no items or tags of a previous run that was stopped with batches in
        flight."""
        def numbered(): # the caller must keep the block alive
            return [tagger(np.float32 if self.items.dtype == np.float32 else np.uint8)]

        expected = self.decode(self.block(backend="cpu", batch=3), between=numbered())
        numbers = [tag for tag in expected[1] if tag[1] == "number"]
        self.assertGreater(len(numbers), 10)
        block = self.block(backend="cpu", batch=3)
        for _ in range(2):
            sink, between = self.sink(), numbered()
            graph = gr.top_block()
            graph.connect(self.source(repeat=True), *between, block, sink)
            graph.start()
            self.assertTrue(eventually(lambda: len(sink.data()) > 0))
            graph.stop()
            graph.wait()
            output, tags = self.decode(block, between=numbered())
            np.testing.assert_array_equal(output, expected[0])
            self.assertEqual(tags, expected[1])

    def test_LatencyOutOfRange_IsRefused(self):
        block = self.block(backend="cpu")
        for wrong in (-1.0, float("inf"), float("nan")):
            with self.assertRaisesRegex(ValueError, "max_latency_ms is .*: allowed values are"):
                block.set_max_latency_ms(wrong)

    def test_Getters_FollowSettersAndFrames(self):
        block = self.block(backend="cpu", max_latency_ms=7.5)
        self.assertEqual(block.max_latency_ms(), 7.5)
        block.set_max_latency_ms(2)
        for _ in range(2): # each run begins with counts of 0
            self.decode(block)
            self.assertEqual(block.max_latency_ms(), 2)
            self.assertEqual(block.frame_count(), self.frame_count)
            self.assertEqual(block.skipped_frame_count(), 0)

    frame_count = 0 # number of frames in the items; a stream of bits has none

    def test_NegatedItemsAndPositiveBit_YieldSameOutput(self):
        """Negated values with the other positive_bit decode to the same bits or to negated LLRs."""
        expected = self.decode(self.block(backend="cpu"))
        self.items = self.other_sign(self.items)
        found = self.decode(self.block(backend="cpu", positive_bit=1 - self.positive_bit))
        np.testing.assert_array_equal(found[0], self.other_sign_of_output(expected[0]))
        self.assertEqual(found[1], expected[1])
        for wrong in (-1, 2):
            with self.assertRaisesRegex(ValueError,
                                        f"positive_bit is {wrong}: allowed values are 0 and 1"):
                self.block(backend="cpu", positive_bit=wrong)

    positive_bit = 0 # default value of the parameter

    def other_sign(self, items):
        return (-items.view(np.int8)).view(items.dtype)

    def other_sign_of_output(self, output):
        return output

    # gated() returns the items for a gated_source; before() returns this source and the blocks
    # between the source and the decoder, because framed input needs length tags.

    def gated(self):
        return self.items

    def before(self, source):
        return [source]


class qa_viterbi(decoder_blocks, unittest.TestCase):
    positive_bit = 1

    def make_items(self):
        return support.soft_values(support.encode(support.random_bits(6000, 1)), sigma=0.7,
                                   seed=1)

    def block(self, **parameters):
        return gpufec.gpu_viterbi_pbvd(decode_length=128, overlap=48, **parameters)

    def gated(self):
        return self.items.view(np.int8)

    def test_ManyTags_StayOnTheirItems(self):
        tags = [(n // 4, pmt.intern("number"), pmt.from_long(n)) for n in range(40000)]
        _, found = self.decode(self.block(backend="cpu"),
                               support.vector_source(self.items, tags))
        self.assertEqual(sorted(tag[2] for tag in found if tag[1] == "number"),
                         list(range(40000)))


class qa_ldpc(decoder_blocks, unittest.TestCase):
    N = 16200
    frame_count = 8

    def make_items(self):
        codeword, _ = support.run(
            support.vector_source(support.random_bits(8 * 14400, 2)),
            gpufec.ldpc_encoder(frame_size="short", rate="8/9", packed_input=False,
                                packed_output=False))
        noise = np.random.default_rng(1).standard_normal(len(codeword))
        llr = 10 * (1 - 2.0 * codeword) + 4.5 * noise
        return np.clip(np.rint(llr), -127, 127).astype(np.int8).view(np.uint8)

    def block(self, **parameters):
        return gpufec.gpu_ldpc_dvbs2(frame_size="short", rate="8/9", max_iterations=8,
                                     **parameters)

    def gated(self):
        return self.items.view(np.int8)

    def tagged_source(self):
        tags = [(n * self.N // 4 + 5, pmt.intern("number"), pmt.from_long(n))
                for n in range(32)]
        return tags

    def test_FramesInChunks_HaveTagsOfWholeFrames(self):
        tags = self.tagged_source()
        whole = self.decode(self.block(backend="cpu"),
                            support.vector_source(self.items, tags))
        numbers = [tag for tag in whole[1] if tag[1] == "number"]
        self.assertEqual(len(numbers), 32)
        for largest in (997, self.N - 1, 40000):
            source = support.array_source(self.items, largest, seed=3, tags=tags)
            output, found = self.decode(self.block(backend="cpu"), source)
            np.testing.assert_array_equal(output, whole[0])
            self.assertEqual(found, whole[1])

    def test_NewLlrScale_ChangesOutput(self):
        """A wrong scale changes the output; set_llr_scale() with the correct scale restores the
        output."""
        loud, _ = self.decode(self.block(backend="cpu", llr_scale=1.0))
        block = self.block(backend="cpu", llr_scale=1e6)
        self.assertEqual(block.llr_scale(), 1e6)
        lost, _ = self.decode(block)
        self.assertFalse(np.array_equal(lost, loud))
        block.set_llr_scale(1.0)
        self.assertEqual(block.llr_scale(), 1.0)
        found, _ = self.decode(block)
        np.testing.assert_array_equal(found, loud)

    def test_IterationTags_EqualGetters(self):
        block = self.block(backend="cpu")
        _, tags = self.decode(block)
        counts = [tag[2] for tag in sorted(tags) if tag[1] == "ldpc_iterations"]
        self.assertEqual(len(counts), 8)
        self.assertEqual(block.iterations(), counts[-1])
        self.assertAlmostEqual(block.mean_iterations(), np.mean(counts))

    def test_ManyTags_StayOnTheirItems(self):
        """The output has the whole frames after the last of 30,000 tags, because each tag begins a
        new frame."""
        tags = [(4 * n, pmt.intern("ldpc_code"), pmt.intern("short 8/9"))
                for n in range(30000)]
        with output_of_process([]):
            output, _ = self.decode(self.block(backend="cpu", acm=True),
                                    support.vector_source(self.items, tags))
        self.assertEqual(len(output), (len(self.items) - 4 * 29999) // self.N * 1800)


class qa_ldpc_llrs(decoder_blocks, unittest.TestCase):
    """The tests of decoder_blocks with output "extrinsic". If positive_bit changes, output LLRs
    must have the sign convention of the input."""
    make_items = qa_ldpc.make_items
    gated = qa_ldpc.gated
    frame_count = qa_ldpc.frame_count

    def block(self, **parameters):
        return gpufec.gpu_ldpc_dvbs2(frame_size="short", rate="8/9", max_iterations=8,
                                     output="extrinsic", **parameters)

    def other_sign_of_output(self, output):
        return (-output.view(np.int8)).view(np.uint8)


class qa_sync_stream(decoder_blocks, unittest.TestCase):
    dtype = np.float32
    mode = "stream"
    frame_count = 60

    def make_items(self):
        self.frames = small_frames(60, 0.03)[1]
        return np.concatenate(self.frames)

    def block(self, **parameters):
        return gpufec.gpu_sync_map(SMALL_BOOK, **SMALL, p_insert=0.03, p_delete=0.03,
                                   mode=self.mode, output="posteriors", **parameters)

    def other_sign(self, items):
        return items # positive_bit does not apply to hard bits


class qa_sync_framed(qa_sync_stream):
    mode = "framed"

    def source(self, repeat=False):
        return framed_source(self.frames * (50 if repeat else 1))

    def gated(self):
        return np.tile(np.zeros(SMALL_BITS, np.uint8), 60)

    def before(self, source):
        return [source, blocks.stream_to_tagged_stream(1, 1, SMALL_BITS, "packet_len")]

    def test_ManyTags_StayOnTheirItems(self):
        """The output of each of 40,000 frames has tags, although the frames, of one item, are too
        short to be decoded."""
        frames = [np.ones(1, np.uint8)] * 40000
        output, tags = self.decode(self.block(backend="cpu"), framed_source(frames))
        self.assertEqual(sum(tag[1] == "sync_valid" for tag in tags), 40000)
        self.assertEqual(len(output), 40000 * SMALL["frame_symbols"] * SMALL["q"])

    def test_TagsWithoutLength_AreCounted(self):
        """Frames whose tag has no length of at least 1 are dropped and counted."""
        block = self.block(backend="cpu")
        lengths = [0 if f % 5 == 2 else len(frame) for f, frame in enumerate(self.frames)]
        starts = np.cumsum([0] + [len(frame) for frame in self.frames])
        tags = [(int(at), pmt.intern("packet_len"), pmt.from_long(n))
                for at, n in zip(starts, lengths)]
        for _ in range(2):
            self.decode(block, support.vector_source(np.concatenate(self.frames), tags))
            self.assertEqual((block.frame_count(), block.skipped_frame_count()), (48, 12))


if __name__ == "__main__":
    support.main()
