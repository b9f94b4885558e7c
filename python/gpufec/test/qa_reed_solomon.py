#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Tests rs_encoder and rs_decoder in flowgraphs."""

import unittest

import numpy as np
import pmt
from gnuradio import blocks, gpufec, gr
import qa_support

# name, n and k
CODES = [("ccsds-223", 255, 223), ("ccsds-239", 255, 239), ("ccsds-223-conventional", 255, 223),
         ("ccsds-239-conventional", 255, 239), ("dvb", 204, 188)]


def random_bytes(count, seed):
    return np.random.default_rng(seed).integers(0, 256, count).astype(np.uint8)


def damaged(frames, interleaving, counts, seed):
    """Returns frames with counts[f, i] wrong symbols in codeword i of frame f."""
    random = np.random.default_rng(seed)
    received = frames.reshape(len(frames), -1, interleaving).copy()
    for f, i in np.ndindex(counts.shape):
        at = random.choice(received.shape[1], counts[f, i], replace=False)
        received[f, at, i] ^= random.integers(1, 256, len(at)).astype(np.uint8)
    return received.reshape(frames.shape)


def decode_with_erasures(frames, erasures, **parameters):
    """Runs rs_decoder with `frames` and `erasures` as inputs, in chunks of different sizes. Returns
    the block, and items and tags of its output."""
    decoder, sink = gpufec.rs_decoder(erasures=True, **parameters), blocks.vector_sink_b()
    graph = gr.top_block()
    sources = [qa_support.array_source(frames, 900, 1), qa_support.array_source(erasures, 700, 2)]
    for port, source in enumerate(sources):
        graph.connect(source, (decoder, port))
    graph.connect(decoder, sink)
    graph.run()
    return decoder, np.array(sink.data(), np.uint8), sink.tags()


class qa_reed_solomon(unittest.TestCase):
    def test_EveryCode_EqualsArrays(self):
        random = np.random.default_rng(1)
        for name, n, k in CODES:
            for interleaving, fill in (1, 0), (5, 0), (4, 60):
                with self.subTest(name, interleaving=interleaving, fill=fill):
                    code = dict(code=name, interleaving=interleaving, virtual_fill=fill)
                    messages = random_bytes(12 * interleaving * (k - fill), 2)
                    sent, _ = qa_support.run(qa_support.array_source(messages, 1000, 3),
                                             gpufec.rs_encoder(**code))
                    np.testing.assert_array_equal(sent, gpufec.rs_encode(messages, **code))
                    counts = random.integers(0, (n - k) // 2 + 1, (12, interleaving))
                    received = damaged(sent.reshape(12, -1), interleaving, counts, 4).ravel()
                    decoder = gpufec.rs_decoder(**code)
                    items, tags = qa_support.run(
                        qa_support.array_source(received, 1000, 5), decoder)
                    np.testing.assert_array_equal(items, messages)
                    size = interleaving * (k - fill)
                    self.assertEqual(
                        [(at, list(value)) for at, value in
                         qa_support.tags_of(tags, "rs_corrected")],
                        [(f * size, counts[f].tolist()) for f in range(12)])
                    self.assertEqual(decoder.corrected_count(), counts.sum())
                    self.assertEqual(decoder.frame_count(), 12)
                    self.assertEqual(decoder.failed_count(), 0)

    def frames_with_failures(self):
        """Returns messages and damaged frames of five codewords, and the number of errors in
        each codeword. Codewords with 30 errors cannot be corrected."""
        messages = random_bytes(20 * 5 * 223, 6)
        counts = np.random.default_rng(7).choice([0, 2, 16, 30], (20, 5), p=[.5, .2, .2, .1])
        counts[3], counts[4, 1] = 1, 30
        frames = gpufec.rs_encode(messages.reshape(20, -1), interleaving=5)
        return messages.reshape(20, -1), damaged(frames, 5, counts, 8), counts

    def test_Failures_AreTaggedAndOutput(self):
        messages, received, counts = self.frames_with_failures()
        reported = np.where(counts == 30, -1, counts)
        valid = (counts < 30).all(axis=1)
        expected = np.where(np.tile(counts < 30, 223), messages, received[:, :5 * 223])
        for status in "all", "failures", "none":
            decoder = gpufec.rs_decoder(interleaving=5, status_tags=status)
            items, tags = qa_support.run(qa_support.vector_source(received.ravel()), decoder)
            np.testing.assert_array_equal(items, expected.ravel())
            tagged = [f for f in range(20) if status == "all" or
                      status == "failures" and not valid[f]]
            self.assertEqual([(at, list(value)) for at, value in
                              qa_support.tags_of(tags, "rs_corrected")],
                             [(f * 1115, reported[f].tolist()) for f in tagged])
            self.assertEqual(qa_support.tags_of(tags, "rs_valid"),
                             [(f * 1115, bool(valid[f])) for f in tagged])
            self.assertEqual(decoder.corrected_count(), reported[reported > 0].sum())
            self.assertEqual(decoder.failed_count(), (counts == 30).sum())

    def test_Drop_RemovesFramesWithFailures(self):
        messages, received, counts = self.frames_with_failures()
        kept = np.flatnonzero((counts < 30).all(axis=1))
        self.assertTrue(0 < len(kept) < 19)
        marks = [(f * 1275 + at, pmt.mp("mark"), pmt.from_long(f))
                 for f in range(20) for at in (0, 700, 1274)]
        for threads in 1, 3:
            for largest in None, 500:
                decoder = gpufec.rs_decoder(interleaving=5, drop=True, threads=threads)
                items, tags = qa_support.run(
                    qa_support.array_source(received.ravel(), largest, 9, marks), decoder)
                np.testing.assert_array_equal(items, messages[kept].ravel())
                self.assertEqual(qa_support.tags_of(tags, "mark"),
                                 [(i * 1115 + at, f) for i, f in enumerate(kept)
                                  for at in (0, 700, 1114)])
                self.assertEqual(qa_support.tags_of(tags, "rs_valid"),
                                 [(i * 1115, True) for i in range(len(kept))])
                self.assertEqual(qa_support.tags_of(tags, "packet_len"), [])
                self.assertEqual(decoder.frame_count(), 20)
                self.assertEqual(decoder.failed_count(), (counts == 30).sum())

    def test_DropInPackets_MakesAPacketOfEachFrame(self):
        messages, received, counts = self.frames_with_failures()
        kept = np.flatnonzero((counts < 30).all(axis=1))
        key = pmt.mp("packet_len")
        tags = [(f * 1275, key, pmt.from_long(2 * 1275)) for f in range(0, 20, 2)]
        for largest in None, 500:
            items, found = qa_support.run(
                qa_support.array_source(received.ravel(), largest, 10, tags),
                gpufec.rs_decoder(interleaving=5, drop=True))
            np.testing.assert_array_equal(items, messages[kept].ravel())
            self.assertEqual(qa_support.tags_of(found, "packet_len"),
                             [(i * 1115, 1115) for i in range(len(kept))])

    def test_ErasuresOnSecondInput_AreCorrected(self):
        messages = random_bytes(30 * 2 * 188, 11)
        frames = gpufec.rs_encode(messages.reshape(30, -1), "dvb", 2)
        received = damaged(frames, 2, np.full((30, 2), 16), 12)
        erasures = (received != frames).astype(np.uint8) * 3
        decoder, items, tags = decode_with_erasures(received.ravel(), erasures.ravel(),
                                                    code="dvb", interleaving=2)
        np.testing.assert_array_equal(items, messages)
        self.assertEqual(decoder.corrected_count(), 30 * 2 * 16)
        self.assertEqual(len(qa_support.tags_of(tags, "rs_valid")), 30)
        decoder, items, _ = decode_with_erasures(received.ravel(), 0 * erasures.ravel(),
                                                 code="dvb", interleaving=2)
        self.assertEqual(decoder.failed_count(), 60)
        np.testing.assert_array_equal(items, received[:, :376].ravel())

    def test_SeveralThreads_YieldSameOutput(self):
        messages = random_bytes(2000 * 188, 13)
        counts = np.random.default_rng(14).integers(0, 11, (2000, 1))
        received = damaged(gpufec.rs_encode(messages.reshape(2000, -1), "dvb"), 1, counts,
                           15).ravel()
        expected, _ = gpufec.rs_decode(received, "dvb")
        for threads in 1, 4:
            decoder = gpufec.rs_decoder("dvb", threads=threads)
            items, tags = qa_support.run(qa_support.vector_source(received), decoder)
            np.testing.assert_array_equal(items, expected)
            self.assertEqual([value[0] for _, value in
                              qa_support.tags_of(tags, "rs_corrected")],
                             np.where(counts > 8, -1, counts).ravel().tolist())

    def test_WrongParameters_AreRefused(self):
        for block in gpufec.rs_encoder, gpufec.rs_decoder:
            for text, parameters in (
                    ('code is "dvb-t"', dict(code="dvb-t")),
                    ("interleaving is 17: allowed values are 1 to 16", dict(interleaving=17)),
                    ("interleaving is -1: allowed values are 1 to 16", dict(interleaving=-1)),
                    ("virtual_fill is 188: allowed values are 0 to k - 1 = 187",
                     dict(code="dvb", virtual_fill=188)),
                    ("virtual_fill is -1: allowed values are 0 or more", dict(virtual_fill=-1))):
                with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                    block(**parameters)
        with self.assertRaisesRegex(ValueError, "threads is 0: allowed values are 1 to 256"):
            gpufec.rs_decoder(threads=0)
        with self.assertRaisesRegex(ValueError, 'status_tags is "some"'):
            gpufec.rs_decoder(status_tags="some")


if __name__ == "__main__":
    qa_support.main()
