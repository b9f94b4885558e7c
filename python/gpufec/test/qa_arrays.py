#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests that array functions decode and encode to the same bits as flowgraphs and, for Viterbi
streams and LDPC frames, as the command line tool."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np
import pmt
from gnuradio import blocks, gpufec, gr

import qa_support as support


def through(source, block, sink):
    top = gr.top_block()
    top.connect(source, block, sink)
    top.run()
    return np.array(sink.data())


def source_of(array, tags=()):
    kind = {np.int8: blocks.vector_source_b, np.uint8: blocks.vector_source_b,
            np.float32: blocks.vector_source_f}[array.dtype.type]
    return kind(array.ravel().view(np.uint8 if array.dtype == np.int8 else array.dtype).tolist(),
                False, 1, list(tags))


def by_tool(decoder, array, *options):
    """Decodes `array` with gpufec decode. Returns the output bytes."""
    if "GPUFEC_TOOL" not in os.environ:
        raise unittest.SkipTest("GPUFEC_TOOL is not set")
    with tempfile.TemporaryDirectory() as folder:
        there, back = pathlib.Path(folder, "in"), pathlib.Path(folder, "out")
        array.tofile(there)
        done = subprocess.run([os.environ["GPUFEC_TOOL"], "decode", decoder, *options,
                               str(there), str(back)], capture_output=True)
        if done.returncode not in (0, 3): # 3: a warning about the input, for example of noise
            raise RuntimeError(done.stderr)
        return np.fromfile(back, np.uint8)


class qa_arrays(unittest.TestCase):
    def test_ViterbiStreams_EqualFlowgraphAndTool(self):
        bits = gpufec.random_bits(30011)
        coded = gpufec.conv_encode(bits, packed_input=False, packed_output=False,
                                   puncturing="101,110")
        for soft_input in ("int8", "float", "packed4", "uint8"):
            values = gpufec.awgn(coded[:len(coded) // 2 * 2], 1.0, 0.75, 3, soft_input)
            code = dict(puncturing="101,110", soft_input=soft_input)
            decoded, _ = gpufec.viterbi_decode(values, **code)
            block = gpufec.gpu_viterbi_pbvd(**code)
            expected = through(source_of(values), block, blocks.vector_sink_b())
            with self.subTest(soft_input):
                np.testing.assert_array_equal(decoded, expected)
                np.testing.assert_array_equal(
                    decoded, by_tool("viterbi", values, "--puncturing", "101,110",
                                     "--soft-input", soft_input))

    def expect_lock(self, values, **code):
        """Expects that array functions return the bits and locks of the block for `values`. Returns
        the last decode_status."""
        for packed in True, False:
            sink = blocks.vector_sink_b()
            block = gpufec.gpu_viterbi_pbvd(lock="auto", packed_output=packed, **code)
            expected = through(source_of(values), block, sink)
            tags = [t for t in sink.tags() if pmt.symbol_to_string(t.key) == "viterbi_lock"
                    and pmt.is_dict(t.value)]
            self.assertGreater(len(expected), 1000)
            decoder = gpufec.viterbi_decoder(lock="auto", packed_output=packed, **code)
            once = gpufec.viterbi_decode(values, lock="auto", packed_output=packed, **code)
            again = decoder.decode(values)
            pieces = [decoder.push(part) for part in np.array_split(values, 7)]
            pieces.append(decoder.flush())
            for calls in [once], [again], pieces:
                bits, status = np.concatenate([b for b, _ in calls]), calls[-1][1]
                np.testing.assert_array_equal(bits, expected)
                found = [c for _, s in calls for c in s.lock_changes if c["locked"]]
                item = "first_byte" if packed else "first_bit"
                self.assertEqual([c[item] for c in found], [t.offset for t in tags])
                for change, tag in zip(found, tags):
                    entries = pmt.to_python(tag.value)
                    self.assertEqual({name: change[name] for name in entries}, entries)
                self.assertIs(status.locked, block.locked())
                state = pmt.to_python(block.lock_state())
                self.assertEqual({name: status.lock[name] for name in state}, state)
                self.assertEqual(status.lock["dropped"], block.dropped())
        return status

    def test_ViterbiLock_EqualsFlowgraph(self):
        streams = [gpufec.awgn(gpufec.conv_encode(
            gpufec.random_bits(40000, seed), preset=preset, packed_input=False,
            packed_output=False), 5.0, 0.5, seed, "float") for seed, preset in
            enumerate(("dvb_1_2", "dvb_3_4"))]
        values = np.concatenate([streams[0][1:], streams[1]])
        status = self.expect_lock(values, preset="dvb_1_2", lock_presets=["dvb_3_4"],
                                  soft_input="float")
        self.assertTrue(status.locked)
        self.assertEqual((status.lock["preset"], status.lock["locks"]), ("dvb_3_4", 2))
        self.assertLess(status.channel_error_rate, 0.5 * status.chance_error_rate)
        code = dict(preset="gsm", frame_bits=189)
        coded = gpufec.conv_encode(gpufec.random_bits((100, 189)), packed_input=False,
                                   packed_output=False, **code)
        values = gpufec.awgn(coded.ravel(), 4.0, 0.5)[77:]
        status = self.expect_lock(-np.maximum(values, -127), **code)
        self.assertTrue(status.lock["inverted"])

    def test_ViterbiFrames_EqualFlowgraph(self):
        for termination in ("terminated", "truncated", "tailbiting"):
            code = dict(termination=termination, frame_bits=77)
            bits = gpufec.random_bits((301, 77))
            coded = gpufec.conv_encode(bits, packed_input=False, packed_output=False, **code)
            values = gpufec.awgn(coded, 1.0, 0.5)
            decoded, _ = gpufec.viterbi_decode(values, **code)
            expected = through(source_of(values), gpufec.gpu_viterbi_pbvd(**code),
                               blocks.vector_sink_b())
            with self.subTest(termination):
                np.testing.assert_array_equal(decoded.ravel(), expected)

    def test_Encoders_EqualFlowgraph(self):
        code = dict(termination="tailbiting", frame_bits=100)
        packed = gpufec.random_bits((9, 104)) # 100 bits and four of padding per row
        packed = np.packbits(packed, axis=1)
        expected = through(source_of(packed), gpufec.conv_encoder(**code),
                           blocks.vector_sink_b())
        np.testing.assert_array_equal(gpufec.conv_encode(packed, **code).ravel(), expected)
        packed = np.packbits(gpufec.random_bits((3, 7200)), axis=1)
        code = dict(frame_size="short", rate="1/2")
        expected = through(source_of(packed), gpufec.ldpc_encoder(**code),
                           blocks.vector_sink_b())
        np.testing.assert_array_equal(gpufec.ldpc_encode(packed, **code).ravel(), expected)

    def test_LdpcFrames_EqualFlowgraphAndTool(self):
        code = dict(frame_size="short", rate="3/4")
        k = gpufec.ldpc_code(**code).k
        words = gpufec.ldpc_encode(np.packbits(gpufec.random_bits((12, k)), axis=1), **code,
                                   packed_output=False)
        nats = 4 * gpufec.awgn(words, 2.2, 0.75, 5, "float", positive_bit=0)
        values = np.clip(np.rint(2 * nats), -127, 127).astype(np.int8)
        for precision in ("int8", "float"):
            for given, soft_input in ((values, "int8"), (nats.astype(np.float32), "float")):
                block = gpufec.gpu_ldpc_dvbs2(soft_input=soft_input, precision=precision,
                                              **code)
                sink = blocks.vector_sink_b()
                expected = through(source_of(given), block, sink)
                iterations = [pmt.to_long(t.value) for t in sink.tags()
                              if pmt.symbol_to_string(t.key) == "ldpc_iterations"]
                decoded, status = gpufec.ldpc_decode(given, precision=precision, **code)
                with self.subTest(precision, soft_input=soft_input):
                    np.testing.assert_array_equal(decoded.ravel(), expected)
                    np.testing.assert_array_equal(status.iterations, iterations)
        np.testing.assert_array_equal(
            gpufec.ldpc_decode(values, **code)[0].ravel(),
            by_tool("ldpc", values, "--frame-size", "short", "--rate", "3/4"))

    def test_SyncFramesAndStream_EqualFlowgraph(self):
        code = dict(q=16, n=8, frame_symbols=40)
        rates = dict(p_insert=5e-3, p_delete=5e-3)
        book = gpufec.codebook_davey_mackay(8, 16, 40, 1)
        symbols = np.random.default_rng(1).integers(0, 16, (25, 40)).astype(np.uint8)
        received, lengths = gpufec.bsid(gpufec.sync_encode(symbols, book, **code), **rates)
        tags = []
        for first, length in zip(np.cumsum(lengths) - lengths, lengths):
            tag = gr.tag_t()
            tag.offset, tag.key = int(first), pmt.intern("packet_len")
            tag.value = pmt.from_long(int(length))
            tags.append(tag)
        for output, sink in (("symbols", blocks.vector_sink_b),
                             ("posteriors", blocks.vector_sink_f)):
            decoded, _ = gpufec.sync_decode(received, book, **code, **rates, lengths=lengths,
                                            output=output)
            block = gpufec.gpu_sync_map(book, output=output, **code, **rates)
            vector = decoded[0, 0].size if output == "posteriors" else 1
            top = gr.top_block()
            end = sink(1)
            chain = [source_of(received, tags), block]
            if block.output_signature().sizeof_stream_item(0) != end.input_signature() \
                    .sizeof_stream_item(0):
                size = block.output_signature().sizeof_stream_item(0)
                chain.append(blocks.vector_to_stream(4, size // 4))
                self.assertEqual(size, 4 * vector)
            top.connect(*chain, end)
            top.run()
            with self.subTest(output):
                np.testing.assert_array_equal(decoded.ravel(),
                                              np.array(end.data(), decoded.dtype))
        stream, _ = gpufec.sync_decode(received, book, **code, **rates, mode="stream")
        expected = through(source_of(received),
                           gpufec.gpu_sync_map(book, mode="stream", **code, **rates),
                           blocks.vector_sink_b())
        np.testing.assert_array_equal(stream.ravel(), expected)


if __name__ == "__main__":
    support.main()
