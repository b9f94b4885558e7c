#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests this module's decoders for gr-fec's blocks, with gr-fec's encoders and decoders."""

import pathlib
import re
import tempfile
import threading
import time
import unittest
import warnings

import numpy as np
import pmt
from gnuradio import blocks, fec, gpufec, gr, pdu

import qa_support as support

GR_FEC = gpufec.polynomials_from_gr_fec([79, 109])
FRAME = 320


def soft(coded, ebn0_db=5.0, rate=0.5, seed=1, positive_bit=1):
    """Returns soft values of `coded` with noise, as floats, which gr-fec's decoders accept."""
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

    def test_DecoderBlocksOfGrFec_YieldBitsOfViterbiDecode(self):
        """fec.decoder outputs the bits of viterbi_decode() for all 20 frames. fec.extended_decoder,
        with each kind of threading, outputs these bits for at least the first 18 frames."""
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
                self.assertGreaterEqual(len(found), 18 * FRAME) # gr-fec drops the last frames
                np.testing.assert_array_equal(found, self.expected.ravel()[:len(found)])

    def test_OutputOfGrFecEncoder_IsDecoded(self):
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

    def test_TaggedTailBitingFrames_AreDecoded(self):
        self.tagged("tailbiting")

    def test_TaggedTerminatedFrames_AreOutputWithoutTail(self):
        self.tagged("terminated")

    def tagged(self, termination):
        sizes = [8, 100, 6, 2000, 333, 100]
        frames = [gpufec.random_bits(n, n) for n in sizes]
        coded = [encode(b, termination=termination, frame_bits=n)
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
                    fec.tagged_decoder(self.decoder(termination=termination), 4, 1,
                                       "packet_len", 1500), sink)
        top.run()
        np.testing.assert_array_equal(sink.data(), np.concatenate(frames))
        self.assertEqual([pmt.to_long(t.value) for t in sink.tags()
                          if pmt.symbol_to_string(t.key) == "packet_len"], sizes)

    def test_TaggedPacketsThatFillTheMtu_AreDecoded(self):
        for rate, puncturing in ((1 / 2, ""), (2 / 3, "10,11"), (3 / 4, "101,110")):
            code = dict(termination="tailbiting", puncturing=puncturing)
            bits = gpufec.random_bits((3, 240))
            values = soft(encode(bits, frame_bits=240, **code), np.inf)
            sink = blocks.vector_sink_b()
            top = gr.top_block()
            top.connect(blocks.vector_source_f(values.ravel().tolist()),
                        blocks.stream_to_tagged_stream(4, 1, round(240 / rate), "packet_len"),
                        fec.tagged_decoder(self.decoder(**code), 4, 1, "packet_len", 30), sink)
            top.run()
            with self.subTest(puncturing):
                np.testing.assert_array_equal(sink.data(), bits.ravel())

    def test_FirstFrame_KeepsAllBitsAtAnyInitialFrameSize(self):
        """tagged_decoder and async_decoder decode all bits, whether or not the initial frame size
        is a multiple of the puncturing period."""
        code = dict(termination="tailbiting", puncturing="101,110")
        bits = gpufec.random_bits((3, 240))
        values = soft(encode(bits, frame_bits=240, **code), np.inf)
        for mtu in range(30, 36):
            with self.subTest(tagged_decoder=mtu):
                sink = blocks.vector_sink_b()
                top = gr.top_block()
                top.connect(blocks.vector_source_f(values.ravel().tolist()),
                            blocks.stream_to_tagged_stream(4, 1, 320, "packet_len"),
                            fec.tagged_decoder(self.decoder(**code), 4, 1, "packet_len", mtu), sink)
                top.run()
                np.testing.assert_array_equal(sink.data(), bits.ravel())
        for size in range(96, 102):
            with self.subTest(async_decoder=size):
                found = self.pdus(gpufec.fec_viterbi_decoder.make(size, **code), values)
                np.testing.assert_array_equal(found, bits)

    def pdus(self, decoder, frames, packed=False, reverse=False, mtu=1 << 14):
        """Sends frames as PDUs of floats to gr-fec's async_decoder, which uses `decoder`. Returns
        the data of its output PDUs."""
        block = fec.async_decoder(decoder, packed, reverse, mtu)
        vectors = [pmt.init_f32vector(len(values), values.tolist()) for values in frames]
        return self.exchange(gr.top_block(), (block, "in"), (block, "out"), vectors)

    def exchange(self, top, first, last, vectors):
        """Posts vectors as PDUs to port `first` of a flowgraph. Returns the data of the PDUs that
        port `last` publishes."""
        store = blocks.message_debug()
        top.msg_connect(last, (store, "store"))
        top.start()
        for vector in vectors:
            first[0].to_basic_block()._post(pmt.intern(first[1]), pmt.cons(pmt.PMT_NIL, vector))
        done = threading.Event()
        for _ in range(200):
            if store.num_messages() == len(vectors):
                break
            done.wait(0.05)
        top.stop()
        top.wait()
        return [np.array(pmt.u8vector_elements(pmt.cdr(store.get_message(i))), np.uint8)
                for i in range(store.num_messages())]

    def test_PdusThroughABlock_AreDecoded(self):
        """PDUs with each vector type in docs/reference/tags.md, of one or two frames, are decoded
        to a PDU each."""
        steps = np.rint(32 * self.values[:3]).clip(-127, 127).astype(np.int8)
        for kind, soft_input, vector, values in (
                (gr.types.float_t, "float", pmt.init_f32vector, self.values[:3]),
                (gr.types.byte_t, "int8", pmt.init_s8vector, steps),
                (gr.types.byte_t, "int8", pmt.init_u8vector, steps.view(np.uint8))):
            for packed in (False, True):
                block = gpufec.gpu_viterbi_pbvd(**self.code, soft_input=soft_input,
                                                packed_output=packed, backend="cpu")
                first = pdu.pdu_to_tagged_stream(kind, "packet_len")
                last = pdu.tagged_stream_to_pdu(gr.types.byte_t, "packet_len")
                top = gr.top_block()
                top.connect(first, block, last)
                vectors = [vector(len(v), v.tolist())
                           for v in (values[0], values[1:].ravel())]
                found = self.exchange(top, (first, "pdus"), (last, "pdus"), vectors)
                expected = [self.expected[0], self.expected[1:3].ravel()]
                with self.subTest(vector.__name__, packed=packed):
                    self.assertEqual(len(found), 2)
                    for one, bits in zip(found, expected):
                        np.testing.assert_array_equal(one, np.packbits(bits) if packed else bits)

    def test_Pdus_AreDecoded(self):
        sizes = [64, 1000, 3, 64]
        frames = [gpufec.random_bits(n, n) for n in sizes]
        values = [soft(encode(b, termination="terminated", frame_bits=n), np.inf)
                  for b, n in zip(frames, sizes)]
        found = self.pdus(self.decoder(), values)
        self.assertEqual(len(found), 4)
        for one, expected in zip(found, frames):
            np.testing.assert_array_equal(one, expected)

    def test_PackedTerminatedPdus_AreRightToTheLastByte(self):
        random = np.random.default_rng(4)
        for reverse in (False, True):
            frames = [gpufec.random_bits(8 * n, n) for n in random.integers(1, 100, 200)]
            values = [soft(encode(b, termination="terminated", frame_bits=len(b)), np.inf)
                      for b in frames]
            found = self.pdus(self.decoder(), values, True, reverse, 128)
            self.assertEqual(len(found), len(frames))
            for one, bits in zip(found, frames):
                np.testing.assert_array_equal(
                    one, np.packbits(bits, bitorder="little" if reverse else "big"))

    def test_PdusWithoutBits_AreEmptyAndTheNextIsDecoded(self):
        bits = gpufec.random_bits(64)
        code = dict(termination="terminated", frame_bits=64)
        good = soft(encode(bits, **code), np.inf)
        for packed in (False, True):
            for frame_size in (2048, 20000):
                bad = [np.ones(n, np.float32) for n in (1, 1, 11, 12, 13, 0, 1)]
                found = self.pdus(gpufec.fec_viterbi_decoder.make(frame_size),
                                  bad + [good], packed, mtu=128)
                with self.subTest(packed=packed, frame_size=frame_size):
                    # 13 values are the tail of 12 values and half a stage. From 3.10 on, gr-fec
                    # rounds the half stage up to an output bit, except in packed output.
                    one = int(gr.minor_version()) >= 10 and not packed
                    self.assertEqual([len(o) for o in found[:-1]], [0, 0, 0, 0, one, 0, 0])
                    np.testing.assert_array_equal(found[-1],
                                                  np.packbits(bits) if packed else bits)

    def test_PdusThatAreNotCodewords_AreEmptyOrZeros(self):
        code = dict(standard="wifi", frame_size="648", rate="1/2")
        bits = gpufec.random_bits((2, 324))
        good = 8 * soft(gpufec.ldpc_encode(bits, **code, packed_input=False,
                                           packed_output=False), np.inf, positive_bit=0)
        sizes = (100, 646, 0, 650, 1298, 20000, 3)
        bad = [np.ones(n, np.float32) for n in sizes]
        values = bad + [good.ravel(), bad[0], good[0]]
        decoder = gpufec.fec_ldpc_decoder.make(**code)
        found = self.pdus(decoder, values)
        self.assertEqual([len(one) for one in found], [0] * 7 + [648, 0, 324])
        np.testing.assert_array_equal(found[-3], bits.ravel())
        np.testing.assert_array_equal(found[-1], bits[0])
        found = self.pdus(gpufec.fec_ldpc_decoder.make(**code), values, True)
        np.testing.assert_array_equal(found[-3], np.packbits(bits.ravel()))
        for n, one in zip(sizes, found):
            self.assertFalse(one.any())
        self.assertFalse(found[-2].any()) # has no bits of the previous PDU

    def test_WarningOfAPdu_HasItsLengthAndTheAllowedOnes(self):
        make, ldpc = gpufec.fec_viterbi_decoder.make, gpufec.fec_ldpc_decoder.make
        for decoder, sizes, allowed in (
                (lambda: make(FRAME), (0, 1, 2, 9), "14 or more"),
                (lambda: make(FRAME, puncturing="101,110"), (0, 1, 2, 3), "10 or more"),
                (lambda: make(FRAME, termination="truncated"), (0,), "2 or more"),
                (lambda: ldpc("wifi", "648", "1/2"), (0,), "multiples of 648"),
                (lambda: ldpc("wifi", "648", "1/2"), (3, 650, 1000),
                 "frame_size is \\d+: allowed values are multiples of 324, the bits of a message")):
            for size in sizes:
                lines = []
                with self.subTest(allowed, size=size), support.output_of_process(lines):
                    self.pdus(decoder(), [np.ones(size, np.float32)] * 2)
                    time.sleep(0.3) # waits for the thread that writes the log
                with self.subTest(allowed, size=size):
                    logged = re.findall(r"a PDU or packet has (\d+)(?: to (\d+))? soft values: "
                                      rf"(?:allowed values are )?{allowed}\. It is not", "".join(lines))
                    self.assertEqual(len(logged), 1, lines)
                    first, last = logged[0]
                    self.assertLessEqual(int(first), size)
                    self.assertGreaterEqual(int(last or first), size)
                    self.assertLessEqual(int(last or first), int(first) + 2)

    def test_LdpcFrames_AreDecoded(self):
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

    def test_WrongParameters_AreNamedByError(self):
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


# Alist files that gr-fec installs: GENERATORS have generator matrices, others parity-check
# matrices.
ALISTS = pathlib.Path(gr.prefix()) / "share" / "gnuradio" / "fec" / "ldpc"
GENERATORS = ["n_0100_k_0058_gen_matrix.alist", "simple_g_matrix.alist"]
MATRICES = sorted(path for path in ALISTS.glob("*") if path.name not in GENERATORS)


def through(bits, *chain):
    """Returns the output bytes of `chain`, blocks in series, for the input `bits`, one per byte."""
    top = gr.top_block()
    sink = blocks.vector_sink_b()
    top.connect(blocks.vector_source_b(bits.ravel().tolist()), *chain, sink)
    top.run()
    return np.array(sink.data(), np.uint8)


def alist(matrix):
    """Returns the alist text of `matrix`, a binary matrix, with lists that are not padded with
    zeros."""
    lists = [[np.flatnonzero(row) + 1 for row in m] for m in (matrix.T, matrix)]
    lines = [matrix.shape[::-1], [max(map(len, ones)) for ones in lists]]
    lines += [[len(row) for row in ones] for ones in lists] + lists[0] + lists[1]
    return "\n".join(" ".join(map(str, line)) for line in lines) + "\n"


def parity_checks_of(generator):
    """Returns the parity-check matrix [P' I] for the generator matrix [I P] in the alist file
    `generator`, where P' is P transposed."""
    numbers = [line.split() for line in generator.read_text().splitlines()]
    n, k = map(int, numbers[0])
    matrix = np.zeros((k, n), int)
    for column, rows in enumerate(numbers[4:4 + n]):
        matrix[[int(row) - 1 for row in rows], column] = 1
    return np.hstack([matrix[:, k:].T, np.eye(n - k, dtype=int)])


@unittest.skipUnless(MATRICES, "the alist files of gr-fec are not installed")
class qa_alists(unittest.TestCase):
    """Tests the LDPC codes in gr-fec's alist files: gr-fec's decoders decode the codewords of this
    module's encoder, and this module's decoders those of gr-fec's encoders."""

    def encoders(self):
        """Yields (file, encoder of its code in gr-fec, message_positions)."""
        for path in MATRICES:
            gap = re.search(r"_gap_(\d+)", path.name)
            if gap:
                matrix = fec.ldpc_H_matrix(str(path), int(gap[1]))
                yield path, fec.ldpc_par_mtrx_encoder.make_H(matrix), "last"
            yield path, fec.ldpc_encoder_make(str(path)), "gr_fec_ldpc_encoder"

    def check(self, path, encoder, message_positions):
        code = dict(code_file=str(path), message_positions=message_positions)
        k, n = (gpufec.ldpc_code(**code).k, gpufec.ldpc_code(**code).n)
        self.assertEqual(fec.get_encoder_input_size(encoder), k)
        bits = gpufec.random_bits((6, k), n)
        words = through(bits, fec.encoder(encoder, 1, 1)).reshape(6, n)
        # This module's encoder must return the same codewords.
        ours = through(bits, gpufec.ldpc_encoder(**code, packed_input=False,
                                                 packed_output=False))
        np.testing.assert_array_equal(ours.reshape(6, n), words)
        values = (2.0 * words - 1).astype(np.float32) * 8
        values[:, n // 2] = 0 # erases one bit of each codeword
        for decoder in (gpufec.gpu_ldpc_dvbs2(**code, soft_input="float", positive_bit=1,
                                              packed_output=False, backend="cpu"),
                        fec.decoder(gpufec.fec_ldpc_decoder.make(**code, positive_bit=1), 4,
                                    1)):
            found, _ = run(values, decoder)
            np.testing.assert_array_equal(found, bits.ravel())
        found, status = gpufec.ldpc_decode(values, **code, positive_bit=1, packed_output=False)
        np.testing.assert_array_equal(found, bits)
        self.assertFalse(status.unsatisfied.any())
        return bits, words

    def test_GrFecEncoders_DecodeToTheLastBit(self):
        checked = []
        with warnings.catch_warnings():
            warnings.simplefilter("error") # turns warnings into failures
            for path, encoder, message_positions in self.encoders():
                with self.subTest(path.name, message_positions=message_positions):
                    self.check(path, encoder, message_positions)
                    checked.append(path)
        self.assertEqual(sorted(set(checked)), MATRICES)
        self.assertGreater(len(checked), 25)

    def test_LdpcEncoder_IsDecodedByGrFec(self):
        for path in MATRICES:
            gap = re.search(r"_gap_(\d+)", path.name)
            if not gap or path.stat().st_size > 20000:
                continue
            matrix = fec.ldpc_H_matrix(str(path), int(gap[1]))
            for decoder, message_positions in (
                    (fec.ldpc_decoder.make(str(path), 25), "gr_fec_ldpc_encoder"),
                    (fec.ldpc_bit_flip_decoder.make(matrix.get_base_sptr(), 25), "last")):
                code = dict(code_file=str(path), message_positions=message_positions)
                bits = gpufec.random_bits((4, gpufec.ldpc_code(**code).k), 5)
                words = gpufec.ldpc_encode(bits, **code, packed_input=False,
                                           packed_output=False)
                with self.subTest(path.name, message_positions=message_positions):
                    found, _ = run(2.0 * words - 1, fec.decoder(decoder, 4, 1))
                    np.testing.assert_array_equal(found, bits.ravel())

    def test_GeneratorMatrix_IsSuspectedAndItsChecksDecode(self):
        path = ALISTS / GENERATORS[0]
        if not path.exists():
            self.skipTest(f"{path.name} is not installed")
        logged = r"looks like a generator matrix \[I P\] of K = 58"
        for make in (gpufec.ldpc_code, lambda code_file: gpufec.ldpc_decode(
                np.zeros((1, 100), np.int8), code_file=code_file)):
            with self.assertWarnsRegex(UserWarning, logged):
                make(code_file=str(path))
        for make in (gpufec.gpu_ldpc_dvbs2, gpufec.ldpc_encoder, gpufec.fec_ldpc_decoder.make):
            lines = []
            with support.output_of_process(lines):
                make(code_file=str(path))
            self.assertRegex(" ".join(lines), logged)
        for name in GENERATORS:
            checks = parity_checks_of(ALISTS / name)
            with tempfile.NamedTemporaryFile("w", suffix=".alist") as file:
                file.write(alist(checks))
                file.flush()
                encoder = fec.ldpc_gen_mtrx_encoder.make(
                    fec.ldpc_G_matrix(str(ALISTS / name)))
                with warnings.catch_warnings():
                    warnings.simplefilter("error") # a warning about these matrices would be wrong
                    self.check(file.name, encoder, "first")


if __name__ == "__main__":
    support.main()
