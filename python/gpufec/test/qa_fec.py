#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decoder objects in the blocks of gr-fec, beside gr-fec's own encoders and decoders."""

import threading
import unittest

import numpy as np
import pmt
from gnuradio import blocks, fec, gpufec, gr, pdu

import qa_support as support

GR_FEC = gpufec.polynomials_from_gr_fec([79, 109])
FRAME = 320


def soft(coded, ebn0_db=5.0, rate=0.5, seed=1, positive_bit=1):
    """Floats as gr-fec's decoders take them."""
    return gpufec.awgn(coded, ebn0_db, rate, seed, "float", positive_bit=positive_bit)


def encode(bits, **code):
    return gpufec.conv_encode(bits, packed_input=False, packed_output=False, **code)


def run(values, *chain):
    sink = blocks.vector_sink_b()
    top = gr.top_block()
    top.connect(blocks.vector_source_f(values.ravel().tolist()), *chain, sink)
    top.run()
    return np.array(sink.data(), np.uint8), sink


class qa_fec(unittest.TestCase):
    def setUp(self):
        self.code = dict(termination="terminated", frame_bits=FRAME)
        self.bits = gpufec.random_bits((20, FRAME))
        self.values = soft(encode(self.bits, **self.code))
        self.expected, _ = gpufec.viterbi_decode(self.values, **self.code,
                                                 packed_output=False)

    def decoder(self, **parameters):
        return gpufec.fec_viterbi_decoder.make(FRAME, **parameters)

    def test_decoder(self):
        """fec.decoder, and the same through threads and the hierarchical block."""
        item = fec.get_decoder_input_item_size(self.decoder())
        self.assertEqual(item, gr.sizeof_float)
        found, _ = run(self.values, fec.decoder(self.decoder(), item, 1))
        np.testing.assert_array_equal(found, self.expected.ravel())
        self.assertLess(np.mean(found != self.bits.ravel()), 1e-3)
        for threading_kind, objects in (("capillary", [self.decoder() for _ in range(4)]),
                                        ("ordinary", [self.decoder() for _ in range(3)]),
                                        (None, [self.decoder()])):
            extended = fec.extended_decoder(objects, threading=threading_kind)
            found, _ = run(self.values, extended)
            with self.subTest(threading_kind):
                self.assertGreaterEqual(len(found), 18 * FRAME) # threads drop what is left
                np.testing.assert_array_equal(found, self.expected.ravel()[:len(found)])

    def test_gr_fecs_own_encoder(self):
        """What gr-fec encodes is decoded, with polynomials written as it has them."""
        for mode, ends in ((fec.CC_TERMINATED, "terminated"),
                           (fec.CC_TAILBITING, "tailbiting"),
                           (fec.CC_TRUNCATED, "truncated")):
            encoder = fec.cc_encoder_make(FRAME, 7, 2, [79, 109], 0, mode, False)
            top = gr.top_block()
            sink = blocks.vector_sink_b()
            top.connect(blocks.vector_source_b(self.bits.ravel().tolist()),
                        fec.encoder(encoder, 1, 1), sink)
            top.run()
            values = 2 * np.array(sink.data(), np.float32) - 1
            decoder = self.decoder(polynomials=GR_FEC, termination=ends)
            found, _ = run(values, fec.decoder(decoder, 4, 1))
            with self.subTest(ends):
                np.testing.assert_array_equal(found, self.bits.ravel())

    def test_tagged_frames_of_any_length(self):
        sizes = [8, 100, 6, 2000, 333, 100]
        frames = [gpufec.random_bits(n, n) for n in sizes]
        coded = [encode(b, termination="tailbiting", frame_bits=n)
                 for b, n in zip(frames, sizes)]
        tags, first = [], 0
        for c in coded:
            tag = gr.tag_t()
            tag.offset, tag.key = first, pmt.intern("packet_len")
            tag.value = pmt.from_long(len(c))
            tags.append(tag)
            first += len(c)
        values = soft(np.concatenate(coded), np.inf)
        sink = blocks.vector_sink_b()
        top = gr.top_block()
        top.connect(blocks.vector_source_f(values.tolist(), False, 1, tags),
                    fec.tagged_decoder(self.decoder(termination="tailbiting"), 4, 1,
                                       "packet_len", 1500), sink)
        top.run()
        np.testing.assert_array_equal(sink.data(), np.concatenate(frames))
        self.assertEqual([pmt.to_long(t.value) for t in sink.tags()
                          if pmt.symbol_to_string(t.key) == "packet_len"], sizes)

    def pdus(self, decoder, frames):
        """The bits of each PDU of floats, through async_decoder."""
        block = fec.async_decoder(decoder, False, False, 1 << 14)
        store = blocks.message_debug()
        top = gr.top_block()
        top.msg_connect((block, "out"), (store, "store"))
        top.start()
        port = pmt.intern("in")
        for values in frames:
            block.to_basic_block()._post(
                port, pmt.cons(pmt.PMT_NIL, pmt.init_f32vector(len(values),
                                                               values.tolist())))
        done = threading.Event()
        for _ in range(200):
            if store.num_messages() == len(frames):
                break
            done.wait(0.05)
        top.stop()
        top.wait()
        return [np.array(pmt.u8vector_elements(pmt.cdr(store.get_message(i))), np.uint8)
                for i in range(store.num_messages())]

    def test_pdus(self):
        sizes = [64, 1000, 3, 64]
        frames = [gpufec.random_bits(n, n) for n in sizes]
        values = [soft(encode(b, termination="terminated", frame_bits=n), np.inf)
                  for b, n in zip(frames, sizes)]
        found = self.pdus(self.decoder(), values)
        self.assertEqual(len(found), 4)
        for one, expected in zip(found, frames):
            np.testing.assert_array_equal(one, expected)

    def test_ldpc(self):
        code = dict(frame_size="short", rate="2/3")
        k, n = gpufec.ldpc_code(**code).k, 16200
        bits = gpufec.random_bits((3, k))
        words = gpufec.ldpc_encode(bits, **code, packed_input=False, packed_output=False)
        values = (4 * soft(words, 3.0, k / n, positive_bit=0)).astype(np.float32)
        decoder = gpufec.fec_ldpc_decoder.make(**code)
        self.assertFalse(decoder.set_frame_size(k - 1) if hasattr(decoder, "set_frame_size")
                         else False)
        found, _ = run(values, fec.decoder(decoder, 4, 1))
        np.testing.assert_array_equal(found, bits.ravel())
        self.assertGreater(decoder.iterations(), 1)
        self.assertEqual((decoder.unsatisfied(), decoder.active_backend()), (0, "cpu"))
        extended = fec.extended_decoder([gpufec.fec_ldpc_decoder.make(**code)], None)
        np.testing.assert_array_equal(run(values, extended)[0], bits.ravel())
        found = self.pdus(gpufec.fec_ldpc_decoder.make(**code), list(values))
        np.testing.assert_array_equal(np.concatenate(found), bits.ravel())

    def test_bad_parameters(self):
        for parameters, name in ((dict(termination="streaming"), "termination"),
                                 (dict(constraint_length=10), "constraint_length"),
                                 (dict(backend="tpu"), "backend"),
                                 (dict(soft_scale=0.0), "soft_scale"),
                                 (dict(preset="gsm", puncturing=""), "preset"),
                                 (dict(preset="none"), "preset")):
            with self.subTest(name), self.assertRaisesRegex(ValueError, name):
                self.decoder(**parameters)
        with self.assertRaisesRegex(ValueError, "frame_bits"):
            gpufec.fec_viterbi_decoder.make(0)
        with self.assertRaisesRegex(ValueError, "rate"):
            gpufec.fec_ldpc_decoder.make(rate="7/9")
        self.decoder(preset="gsm")


if __name__ == "__main__":
    support.main()
