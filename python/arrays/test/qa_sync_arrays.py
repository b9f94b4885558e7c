#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrays without GNU Radio: what comes out, and what is refused."""

import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np

import gpufec
import gpufec.distributed

GPU = bool(gpufec.arrays._core.cuda_devices())
TERMINATIONS = ("terminated", "truncated", "tailbiting")
SYNC = dict(q=16, n=8, frame_symbols=40)
RATES = dict(p_insert=5e-3, p_delete=5e-3)


def noisy(bits, ebn0_db=3.0, soft_input="int8", seed=7, **code):
    """Packed coded bits of a convolutional code as soft values."""
    coded = gpufec.conv_encode(bits, packed_input=False, packed_output=False, **code)
    return gpufec.awgn(coded, ebn0_db, 0.5, seed, soft_input)


def sync_frames(frames, seed=3):
    book = gpufec.codebook_davey_mackay(SYNC["n"], SYNC["q"], SYNC["frame_symbols"], 1)
    random = np.random.default_rng(seed)
    symbols = random.integers(0, SYNC["q"], (frames, SYNC["frame_symbols"])).astype(np.uint8)
    sent = gpufec.sync_encode(symbols, book, **SYNC)
    received, lengths = gpufec.bsid(sent, **RATES, seed=seed)
    return book, symbols, received, lengths


class FakeDevice:
    """An array that says it is on a device, where there is none."""

    def __init__(self, array, **facts):
        self.__cuda_array_interface__ = dict(
            array.__array_interface__, version=3, stream=None, **facts)


class qa_arrays(unittest.TestCase):
    def test_needs_no_gnuradio(self):
        program = ("import sys, time; begin = time.perf_counter(); import numpy\n"
                   "import gpufec; assert gpufec.__version__\n"
                   "assert not any(m.split('.')[0] in ('gnuradio', 'pmt') for m in sys.modules)")
        subprocess.run([sys.executable, "-c", program], check=True)

    def test_streams(self):
        bits = gpufec.random_bits((3, 40000))
        for soft_input, dtype in (("int8", np.int8), ("float", np.float32),
                                  ("packed4", np.uint8)):
            values = noisy(bits, 6.0, soft_input)
            self.assertEqual(values.dtype, dtype)
            decoded, status = gpufec.viterbi_decode(values, packed_output=False)
            with self.subTest(soft_input):
                np.testing.assert_array_equal(decoded, bits)
                self.assertEqual(status.channel_error_rate.shape, (3,))
                one, status = gpufec.viterbi_decode(values[1])
                np.testing.assert_array_equal(one, np.packbits(bits[1]))
                self.assertTrue(0.0001 < status.channel_error_rate < 0.05)
                self.assertIn(status.backend, ("cpu", "cuda"))

    def test_frames(self):
        for termination in TERMINATIONS:
            for frame_bits in (120, 333):
                code = dict(termination=termination, frame_bits=frame_bits,
                            puncturing="101,110")
                bits = gpufec.random_bits((50, frame_bits), 2)
                values = noisy(bits, np.inf, **code)
                with self.subTest(termination, frame_bits=frame_bits):
                    decoded, _ = gpufec.viterbi_decode(values, packed_output=False, **code)
                    np.testing.assert_array_equal(decoded, bits)
                    packed, _ = gpufec.viterbi_decode(values, **code)
                    np.testing.assert_array_equal(packed, np.packbits(bits, axis=1))
                    flat, _ = gpufec.viterbi_decode(values.ravel(), **code)
                    np.testing.assert_array_equal(flat, packed.ravel())

    def test_a_decoder_again_and_again(self):
        """Alone, together, and after arrays of other types and sizes: the same bits."""
        code = dict(termination="tailbiting", frame_bits=64)
        bits = gpufec.random_bits((200, 64), 5)
        values = noisy(bits, 1.0, **code)
        floats = noisy(bits, 1.0, "float", **code)
        all_at_once, _ = gpufec.viterbi_decode(values, **code)
        decoder = gpufec.viterbi_decoder(**code, threads=2)
        for first, count in ((0, 1), (1, 3), (4, 0), (4, 150), (154, 46)):
            some, _ = decoder.decode(values[first:first + count])
            np.testing.assert_array_equal(some, all_at_once[first:first + count])
            decoder.decode(floats[first:first + count])

    def test_positive_bit(self):
        bits = gpufec.random_bits(3000)
        values = noisy(bits, 3.0)
        for given in (values, noisy(bits, 3.0, "float"), noisy(bits, 3.0, "packed4")):
            one, _ = gpufec.viterbi_decode(given)
            if given.dtype != np.uint8:
                other, _ = gpufec.viterbi_decode(-given, positive_bit=0)
                np.testing.assert_array_equal(other, one)
            self.assertLess(np.mean(np.unpackbits(one) != bits), 0.01)
        np.testing.assert_array_equal(gpufec.awgn(bits, 2.0, positive_bit=0),
                                      gpufec.awgn(1 - bits, 2.0))
        with self.assertRaisesRegex(ValueError, "positive_bit is 2"):
            gpufec.viterbi_decode(values, positive_bit=2)

    def test_presets(self):
        bits = gpufec.random_bits(8192, 11)
        for preset in gpufec.conv_presets():
            if preset.termination != "streaming":
                continue
            coded = gpufec.conv_encode(np.packbits(bits), preset=preset.name,
                                       packed_output=False)
            values = gpufec.awgn(coded, np.inf)
            decoded, _ = gpufec.viterbi_decode(values, preset=preset.name)
            with self.subTest(preset.name):
                np.testing.assert_array_equal(decoded, np.packbits(bits))
        with self.assertRaisesRegex(ValueError, "preset.*polynomials"):
            gpufec.viterbi_decode(values, preset="ccsds", polynomials=[0o171, 0o133])

    def test_ldpc(self):
        code = dict(frame_size="short", rate="1/2")
        known = gpufec.ldpc_code(**code)
        self.assertEqual((known.n, known.k), (16200, 7200))
        messages = gpufec.random_bits((7, known.k), 3)
        words = gpufec.ldpc_encode(np.packbits(messages, axis=1), **code,
                                   packed_output=False)
        nats = (4 * gpufec.awgn(words, 2.0, known.k / known.n, 5, "float",
                                positive_bit=0)).astype(np.float32)
        values = np.clip(np.rint(2 * nats), -127, 127).astype(np.int8)
        for given in (values, nats):
            decoded, status = gpufec.ldpc_decode(given, **code, packed_output=False)
            np.testing.assert_array_equal(decoded, messages)
            np.testing.assert_array_equal(status.unsatisfied, np.zeros(7))
            self.assertTrue((status.iterations > 1).all())
        inverted, _ = gpufec.ldpc_decode(-values, **code, positive_bit=1)
        np.testing.assert_array_equal(inverted, np.packbits(messages, axis=1))
        codewords, _ = gpufec.ldpc_decode(values.ravel(), **code, output="codeword")
        np.testing.assert_array_equal(codewords, np.packbits(words, axis=1).ravel())
        decoder = gpufec.ldpc_decoder(**code)
        one, status = decoder.decode(values[3])
        np.testing.assert_array_equal(one, np.packbits(messages[3]))
        self.assertEqual(len(status.iterations), 1)
        self.assertEqual(decoder.decode(values[:0])[0].shape, (0, 900))
        noise = np.random.default_rng(1).integers(-20, 21, (2, known.n)).astype(np.int8)
        _, status = decoder.decode(noise)
        self.assertTrue((status.unsatisfied > 0).all())

    def test_ldpc_llrs(self):
        code = dict(frame_size="short", rate="1/2", max_iterations=6)
        known = gpufec.ldpc_code("dvbs2", "short", "1/2")
        messages = gpufec.random_bits((5, known.k), 3)
        words = gpufec.ldpc_encode(messages, frame_size="short", rate="1/2",
                                   packed_input=False, packed_output=False)
        nats = (4 * gpufec.awgn(words, 1.2, known.k / known.n, 5, "float",
                                positive_bit=0)).astype(np.float32)
        values = np.clip(np.rint(2 * nats), -96, 96).astype(np.int8)
        posterior, status = gpufec.ldpc_decode(values, **code, output="llr")
        extrinsic, _ = gpufec.ldpc_decode(values, **code, output="extrinsic")
        self.assertEqual((posterior.shape, posterior.dtype), ((5, known.n), np.int8))
        self.assertTrue((status.iterations > 1).all())
        inside = (np.abs(posterior) < 127) & (np.abs(extrinsic) < 127)
        self.assertGreater(inside.sum(), 1000)
        np.testing.assert_array_equal((posterior.astype(int) - extrinsic)[inside],
                                      values[inside])
        bits, _ = gpufec.ldpc_decode(values, **code, output="codeword", packed_output=False)
        known_bits = posterior != 0
        np.testing.assert_array_equal(posterior[known_bits] < 0, bits[known_bits] == 1)
        negated, _ = gpufec.ldpc_decode(-values, **code, output="llr", positive_bit=1)
        np.testing.assert_array_equal(negated, -posterior)
        out = np.zeros(5 * known.n, np.int8)
        decoder = gpufec.ldpc_decoder(**code, output="llr")
        self.assertIs(decoder.decode(values.ravel(), out)[0], out)
        np.testing.assert_array_equal(out.reshape(5, -1), posterior)
        with self.assertRaisesRegex(ValueError, "^out is of type uint8"):
            decoder.decode(values.ravel(), out.view(np.uint8))

    def test_ldpc_standards(self):
        """What is sent of a code is encoded and decoded, and the rest of it is found."""
        for code in (dict(standard="dvbs2x", frame_size="short", rate="11/45"),
                     dict(standard="dvbt2", frame_size="short", rate="2/5"),
                     dict(standard="ccsds_c2", frame_size="8160", rate="7/8"),
                     dict(standard="ccsds_ar4ja", frame_size="1024", rate="1/2"),
                     dict(standard="wifi", frame_size="648", rate="3/4"),
                     dict(standard="nr", frame_size="bg2 z20", rate="10/30"),
                     dict(standard="wifi", frame_size="648", rate="1/2",
                          punctured=[600, 11], shortened=range(40, 60))):
            known = gpufec.ldpc_code(**{**code, "shortened": list(code.get("shortened", ()))})
            messages = gpufec.random_bits((5, known.k), 3)
            words = gpufec.ldpc_encode(messages, **code, packed_input=False,
                                       packed_output=False)
            rate = known.k / known.sent
            soft = gpufec.awgn(words, 6.0, rate, 5, "float", positive_bit=0)
            values = np.clip(np.rint(2 * 4 * rate * 10 ** 0.6 * soft), -127, 127).astype(np.int8)
            with self.subTest(**code):
                self.assertEqual(words.shape, (5, known.sent))
                decoded, status = gpufec.ldpc_decode(values, **code, packed_output=False)
                np.testing.assert_array_equal(decoded, messages)
                np.testing.assert_array_equal(status.unsatisfied, np.zeros(5))
                found, _ = gpufec.ldpc_decode(values.ravel(), **code, output="codeword",
                                              packed_output=False)
                found = found.reshape(5, known.n)
                np.testing.assert_array_equal(found[:, list(known.message_positions)],
                                              messages)
                self.assertFalse(found[:, list(known.shortened)].any())
                for row in range(known.checks):
                    self.assertFalse((found[:, known.check(row)].sum(axis=1) % 2).any())
                if known.sent == known.n - len(known.punctured) - len(known.shortened):
                    left = sorted(set(range(known.n)) - {*known.punctured, *known.shortened})
                    if code["standard"] == "wifi":
                        np.testing.assert_array_equal(found[:, left], words)
        self.assertIn("ccsds_ar4ja", gpufec.ldpc_code.standards())
        self.assertIn("bg1 z384", gpufec.ldpc_code.frame_sizes("nr"))
        self.assertEqual(gpufec.ldpc_code.rates("ccsds_ar4ja", "4096"), ["1/2", "2/3", "4/5"])

    def test_sync_frames(self):
        book, symbols, received, lengths = sync_frames(30)
        decoded, status = gpufec.sync_decode(received, book, **SYNC, **RATES, lengths=lengths)
        self.assertLess(np.mean(decoded != symbols), 0.1)
        drifts = lengths - SYNC["n"] * SYNC["frame_symbols"]
        np.testing.assert_array_equal(status.end_drift, drifts)
        self.assertTrue(status.valid.all())
        rows = np.full((30, lengths.max()), 2, np.uint8)
        for row, frame in zip(rows, np.split(received, np.cumsum(lengths)[:-1])):
            row[:len(frame)] = frame
        again, _ = gpufec.sync_decode(rows, book, **SYNC, **RATES, lengths=lengths)
        np.testing.assert_array_equal(again, decoded)
        posteriors, _ = gpufec.sync_decode(received, book, **SYNC, **RATES, lengths=lengths,
                                           output="posteriors")
        self.assertEqual(posteriors.shape, (30, 40, 16))
        np.testing.assert_array_equal(posteriors.argmax(2), decoded)
        soft, _ = gpufec.sync_decode(received.astype(np.float32), book, **SYNC, **RATES,
                                     lengths=lengths, output="posteriors")
        np.testing.assert_allclose(soft, posteriors, atol=1e-6)
        llr, _ = gpufec.sync_decode(received, book, **SYNC, **RATES, lengths=lengths,
                                    output="llr")
        self.assertEqual((llr.shape, llr.dtype), ((30, 40, 4), np.int8))
        # Who knows what was sent hears it.
        priors = np.full((30, 40, 16), 1e-6, np.float32)
        np.put_along_axis(priors, symbols[..., None].astype(int), 1, 2)
        known, _ = gpufec.sync_decode(received, book, **SYNC, **RATES, lengths=lengths,
                                      priors=priors)
        np.testing.assert_array_equal(known, symbols)

    def test_likelihoods_of_symbols(self):
        code, rates = dict(q=16, n=5, frame_symbols=40, alphabet=4), dict(p_insert=0.01)
        book = gpufec.codebook_random(5, 16, 40, 1, 4)
        symbols = np.random.default_rng(3).integers(0, 16, (12, 40)).astype(np.uint8)
        sent = gpufec.sync_encode(symbols, book, **code)
        received, lengths = gpufec.bsid(sent, **rates, alphabet=4)
        soft = np.eye(4, dtype=np.float32)[received] * 3
        for more in (dict(lengths=lengths, output="posteriors"), dict(mode="stream")):
            hard, _ = gpufec.sync_decode(received, book, **code, **rates, **more)
            found, status = gpufec.sync_decode(soft, book, **code, **rates, **more)
            self.assertTrue(status.valid.all())
            np.testing.assert_allclose(found, hard, atol=1e-6)
        rows = np.ones((12, lengths.max(), 4), np.float32) # of which nothing is known
        for row, frame in zip(rows, np.split(soft, np.cumsum(lengths)[:-1])):
            row[:len(frame)] = frame
        found, _ = gpufec.sync_decode(rows, book, **code, **rates, lengths=lengths)
        self.assertLess(np.mean(found != symbols), 0.1)
        for wrong in (soft[:, 0], soft[:, :3], soft[None, None]):
            with self.assertRaisesRegex(ValueError, "received is of"):
                gpufec.sync_decode(np.ascontiguousarray(wrong), book, **code, **rates,
                                   lengths=lengths)

    def test_several_reads(self):
        frames, reads, rates = 20, 4, dict(p_insert=0.03, p_delete=0.03)
        book = gpufec.codebook_random(SYNC["n"], SYNC["q"], SYNC["frame_symbols"], 1)
        symbols = np.random.default_rng(3).integers(0, SYNC["q"], (frames, 40)).astype(np.uint8)
        sent = gpufec.sync_encode(symbols, book, **SYNC)
        received, lengths = gpufec.bsid(np.repeat(sent, reads, axis=0), **rates)
        copies = np.split(received, np.cumsum(lengths)[:-1])
        decode = dict(codebook=book, **SYNC, **rates)
        together, status = gpufec.sync_decode(received, lengths=lengths.reshape(frames, reads),
                                              reads=reads, **decode)
        self.assertEqual((together.shape, together.dtype), (symbols.shape, np.uint8))
        self.assertEqual(status.valid.shape, (frames,))
        self.assertTrue(status.valid.all())
        first, _ = gpufec.sync_decode(np.concatenate(copies[::reads]), lengths=lengths[::reads],
                                      **decode)
        wrong, of_one = np.sum(together != symbols), np.sum(first != symbols)
        self.assertGreater(of_one, 40)
        self.assertLess(wrong, of_one / 5)

        # One length after the other, and rows, are the same reads.
        rows = np.full((frames * reads, lengths.max()), 2, np.uint8)
        for row, copy in zip(rows, copies):
            row[:len(copy)] = copy
        decoder = gpufec.sync_decoder(**decode, reads=reads)
        for given in (received, rows):
            again, _ = decoder.decode(given, lengths)
            np.testing.assert_array_equal(again, together)
        # One that was not received is as if there were one less.
        fewer = lengths.reshape(frames, reads).copy()
        fewer[:, 1] = 0
        lacking, status = decoder.decode(rows, fewer)
        self.assertTrue(status.valid.all())
        three = [k for k in range(frames * reads) if k % reads != 1]
        expected, _ = gpufec.sync_decode(rows[three], lengths=lengths[three], reads=3, **decode)
        np.testing.assert_array_equal(lacking, expected)

    def test_reads_are_priors_of_each_other(self):
        book, _, received, lengths = sync_frames(12)
        copies = np.split(received, np.cumsum(lengths)[:-1])
        decode = dict(codebook=book, **SYNC, **RATES, precision="double")
        known = np.random.default_rng(1).random((6, 40, 16)).astype(np.float32)
        chain = known
        for read in range(2):
            chain, _ = gpufec.sync_decode(np.concatenate(copies[read::2]), priors=chain,
                                          lengths=lengths[read::2], output="posteriors",
                                          **decode)
        pair = dict(decode, lengths=lengths.reshape(6, 2), priors=known, reads=2, passes=1)
        together, _ = gpufec.sync_decode(received, output="posteriors", **pair)
        np.testing.assert_allclose(together, chain, atol=1e-5)
        extrinsics, _ = gpufec.sync_decode(received, output="extrinsics", **pair)
        product = extrinsics * known
        product /= product.sum(2, keepdims=True)
        np.testing.assert_allclose(product, together, atol=1e-5)
        twice, _ = gpufec.sync_decode(received, output="posteriors", **dict(pair, passes=2))
        self.assertGreater(np.abs(twice - together).max(), 1e-3)

    def test_reads_on_a_cluster(self):
        """What a worker counts: fewer errors, of as many symbols."""
        code = dict(codebook=sync_frames(1)[0], **SYNC)
        counts = [gpufec.distributed._simulate_sync(dict(code, **more), 0.02, 1, 0, 30)
                  for more in ({}, dict(reads=3))]
        self.assertEqual([c["symbols"] for c in counts], [1200, 1200])
        self.assertGreater(counts[0]["errors"], 40)
        self.assertLess(counts[1]["errors"], counts[0]["errors"] / 3)

    def test_one_read_is_the_ordinary_decoder(self):
        book, _, received, lengths = sync_frames(5)
        decode = dict(codebook=book, **SYNC, **RATES, lengths=lengths, output="posteriors")
        expected, _ = gpufec.sync_decode(received, **decode)
        decoded, _ = gpufec.sync_decode(received, **decode, reads=1)
        np.testing.assert_array_equal(decoded, expected)

    def test_sync_stream(self):
        book, symbols, received, _ = sync_frames(30)
        decoded, status = gpufec.sync_decode(received, book, **SYNC, **RATES, mode="stream")
        self.assertEqual(decoded.shape, symbols.shape)
        self.assertLess(np.mean(decoded != symbols), 0.1)
        self.assertEqual(status.begin[0], 0)
        self.assertTrue(status.locked.all())

    def test_out(self):
        bits = gpufec.random_bits((4, 64))
        code = dict(termination="truncated", frame_bits=64)
        values = noisy(bits, np.inf, **code)
        out = gpufec.pinned_empty((4, 8), np.uint8)
        decoded, _ = gpufec.viterbi_decode(values, **code, out=out)
        self.assertIs(decoded, out)
        np.testing.assert_array_equal(out, np.packbits(bits, axis=1))
        read_only = np.empty((4, 8), np.uint8)
        read_only.flags.writeable = False
        for wrong in (np.empty((4, 9), np.uint8), np.empty((4, 8), np.int8), read_only,
                      np.empty((4, 16), np.uint8)[:, ::2]):
            with self.assertRaisesRegex(ValueError, "^out is"):
                gpufec.viterbi_decode(values, **code, out=wrong)

    def test_pinned(self):
        array = gpufec.pinned_empty((3, 1001), np.float32)
        self.assertEqual((array.shape, array.dtype), ((3, 1001), np.float32))
        array[:] = 1
        self.assertTrue(array.flags.c_contiguous and array.flags.writeable)
        self.assertEqual(gpufec.pinned_empty(0).shape, (0,))
        bits = gpufec.random_bits(20000)
        values = noisy(bits, 4.0)
        pinned = gpufec.pinned_empty(values.shape)
        pinned[:] = values
        np.testing.assert_array_equal(gpufec.viterbi_decode(pinned)[0],
                                      gpufec.viterbi_decode(values)[0])

    def test_wrong_arrays(self):
        code = dict(termination="terminated", frame_bits=100)
        good = np.zeros((4, 212), np.int8)
        gpufec.viterbi_decode(good, **code)
        for wrong, says in ((good.astype(np.float64), "values is of type float64"),
                            (good.astype(np.int16), "values is of type int16"),
                            (good.astype(">f4"), "values is not in the byte order"),
                            (np.zeros((212, 4), np.int8).T, "values is not contiguous"),
                            (np.zeros((4, 424), np.int8)[:, ::2], "values is not contiguous"),
                            (good[:, :-1].copy(), "values is of shape"),
                            (good.ravel()[:-1], "values is of shape"),
                            (good[None], "values is of"),
                            (np.zeros((), np.int8), "values is of")):
            with self.subTest(says), self.assertRaisesRegex(ValueError, "^" + says):
                gpufec.viterbi_decode(wrong, **code)
        for wrong in ([1, 2, 3], None, "text", 5):
            with self.assertRaisesRegex(TypeError, "^values is a"):
                gpufec.viterbi_decode(wrong, **code)
        with self.assertRaisesRegex(ValueError, "^values is of type float32"):
            gpufec.viterbi_decode(good.astype(np.float32), **code, soft_input="int8")
        with self.assertRaisesRegex(ValueError, "^values is of shape"):
            gpufec.ldpc_decode(np.zeros((1, 16200), np.int8))
        with self.assertRaisesRegex(ValueError, "^messages is of shape"):
            gpufec.ldpc_encode(np.zeros((1, 4049), np.uint8))
        with self.assertRaisesRegex(ValueError, "^the largest entry of bits is 2"):
            gpufec.conv_encode(np.full(8, 2, np.uint8), packed_input=False)

    def test_huge_arrays(self):
        """No memory, and more than an address can say: refused by name, before anything is
        allocated or decoded."""
        with self.assertRaisesRegex(MemoryError, r"^shape is \(1125899906842624,\)"):
            gpufec.pinned_empty(1 << 50)
        for make in (gpufec.pinned_empty, gpufec.random_bits):
            for shape in ((1 << 40, 1 << 40), (-1,), (4, -1), -4):
                with self.assertRaisesRegex(ValueError, "^shape is"):
                    make(shape)
        with self.assertRaises(MemoryError):
            gpufec.random_bits(1 << 50)
        with self.assertRaisesRegex(ValueError, "^dtype is object"):
            gpufec.pinned_empty(3, object)
        with tempfile.TemporaryFile() as file:
            file.truncate(1 << 41) # a file of holes, which takes no room
            values = np.memmap(file, np.int8, "r", shape=(1 << 20, 1 << 21))
            with self.assertRaisesRegex(ValueError, "^values is of shape"):
                gpufec.viterbi_decode(values, termination="truncated", frame_bits=64)
            with self.assertRaisesRegex(ValueError, "^out is of shape"):
                gpufec.viterbi_decode(values, termination="truncated", frame_bits=1 << 20,
                                      out=np.empty((2, 2), np.uint8))

    def test_wrong_parameters(self):
        values = np.zeros(1000, np.int8)
        for name, value in (("constraint_length", 12), ("backend", "tpu"), ("threads", 0),
                            ("slots", 17), ("batch", -1), ("soft_scale", 0.0),
                            ("overlap", -1), ("cuda_kernel", "fast"), ("device", -1),
                            ("soft_input", "int9"), ("frame_bits", 3)):
            with self.subTest(name), self.assertRaisesRegex(ValueError, name):
                gpufec.viterbi_decode(values, **{name: value})
        frame = np.zeros(64800, np.int8)
        for name, value in (("rate", "7/9"), ("frame_size", "long"), ("algorithm", "best"),
                            ("max_iterations", 0), ("llr_scale", -1.0), ("output", "all"),
                            ("standard", "dvbt3"), ("precision", "int4"), ("threads", 0),
                            ("punctured", [64800]), ("shortened", [-1])):
            with self.subTest(name), self.assertRaisesRegex(ValueError, name):
                gpufec.ldpc_decode(frame, **{name: value})
        if not GPU:
            with self.assertRaises(RuntimeError):
                gpufec.viterbi_decode(values, backend="cuda")

    def test_wrong_frames_of_sync(self):
        book, _, received, lengths = sync_frames(5)
        decode = dict(codebook=book, **SYNC, **RATES)
        longer = lengths.copy()
        longer[2] += 1
        for wrong, says in ((None, "lengths is None"), (longer, "the sum of lengths"),
                            (lengths.astype(float), "lengths is of type"),
                            (-lengths, "an entry of lengths is -")):
            with self.subTest(says), self.assertRaisesRegex(ValueError, "^" + says):
                gpufec.sync_decode(received, lengths=wrong, **decode)
        with self.assertRaisesRegex(ValueError, "^priors is of shape"):
            gpufec.sync_decode(received, lengths=lengths, **decode,
                               priors=np.ones((5, 40, 15), np.float32))
        with self.assertRaisesRegex(ValueError, "codebook"):
            gpufec.sync_decode(received, book[:, :-1], **SYNC, lengths=lengths)
        with self.assertRaisesRegex(ValueError, "^an entry of symbols is 16"):
            gpufec.sync_encode(np.full(40, 16, np.uint8), book, **SYNC)

    def test_wrong_reads_of_sync(self):
        book, _, received, lengths = sync_frames(6)
        decode = dict(codebook=book, **SYNC, **RATES)
        for more, says in ((dict(reads=0), "reads is 0"), (dict(reads=-1), "reads is -1"),
                           (dict(reads=257), "reads is 257"),
                           (dict(passes=0), "passes is 0"), (dict(passes=17), "passes is 17"),
                           (dict(reads=2, mode="stream", lengths=None), "reads is 2"),
                           (dict(reads=4), r"lengths is of shape \(6,\)"),
                           (dict(reads=2, lengths=lengths.reshape(2, 3)),
                            r"lengths is of shape \(2, 3\)"),
                           (dict(reads=2, lengths=lengths.reshape(1, 3, 2)),
                            "lengths is of type"),
                           (dict(lengths=lengths.reshape(3, 2)), "lengths is of type"),
                           (dict(reads=2, lengths=None), "lengths is None"),
                           (dict(reads=2, priors=np.ones((6, 40, 16), np.float32)),
                            "priors is of shape")):
            with self.subTest(says), self.assertRaisesRegex(ValueError, "^" + says):
                gpufec.sync_decode(received, **dict(dict(decode, lengths=lengths), **more))
        with self.assertRaisesRegex(ValueError, "^lengths is of 4 reads"):
            gpufec.sync_decode(received[:30].reshape(3, 10), lengths=[[1, 2], [3, 4]], reads=2,
                               **decode)
        for more in (dict(reads=0), dict(passes=0)): # before there is an array
            with self.assertRaisesRegex(ValueError, "is 0"):
                gpufec.sync_decoder(**decode, **more)

    def test_arrays_of_no_device(self):
        """What says it lies on a device is asked where, and refused by name."""
        values = np.zeros(1000, np.int8)
        with self.assertRaisesRegex(ValueError, "^values is an array in memory that no CUDA"):
            gpufec.viterbi_decode(FakeDevice(values))
        with self.assertRaisesRegex(ValueError, "^values is not contiguous"):
            gpufec.viterbi_decode(FakeDevice(values, strides=(2,)))

    def test_threads_of_python(self):
        """Others run while a call decodes, and one decoder serves several threads in turn."""
        bits = gpufec.random_bits(400000)
        values = noisy(bits, 5.0)
        expected, _ = gpufec.viterbi_decode(values)
        decoder = gpufec.viterbi_decoder()
        found = [None] * 4

        def work(k):
            found[k] = decoder.decode(values)[0]

        workers = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for w in workers:
            w.start()
        for w in workers:
            w.join()
        for one in found:
            np.testing.assert_array_equal(one, expected)

    def test_channels_repeat_themselves(self):
        bits = gpufec.random_bits(1000, 3)
        np.testing.assert_array_equal(bits[500:], gpufec.random_bits(500, 3, 500))
        noise = gpufec.awgn(bits, 1.0, 0.5, 4)
        np.testing.assert_array_equal(noise[300:], gpufec.awgn(bits[300:], 1.0, 0.5, 4,
                                                               first=300))
        self.assertGreater(np.mean((noise < 0) != bits), 0.05)
        received, lengths = gpufec.bsid(bits.reshape(4, 250), 0.01, 0.01, seed=9)
        self.assertEqual(lengths.sum(), len(received))
        np.testing.assert_array_equal(received, gpufec.bsid(bits.reshape(4, 250), 0.01, 0.01,
                                                            seed=9)[0])


if __name__ == "__main__":
    unittest.main()
