#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests synchronisation decoding of arrays, without GNU Radio."""

import unittest

import numpy as np

import gpufec
import gpufec.distributed
from sample_arrays import RATES, SYNC, sync_frames


class qa_sync_arrays(unittest.TestCase):

    def test_SyncStreamInChunks_DecodesAsInOneCall(self):
        book, _, received, _ = sync_frames(30)
        soft = np.clip(received + 0.1 * np.random.default_rng(2).standard_normal(len(received)),
                       0, 1).astype(np.float32)
        for items, output in ((received, "symbols"), (soft, "posteriors")):
            code = dict(SYNC, **RATES, mode="stream", output=output)
            expected, status = gpufec.sync_decode(items, book, **code)
            decoder = gpufec.sync_decoder(book, **code)
            for chunk in (101, 1, 5000):
                parts = [decoder.push(items[i:i + chunk]) for i in range(0, len(items), chunk)]
                parts.append(decoder.flush())
                with self.subTest(output=output, chunk=chunk):
                    np.testing.assert_array_equal(np.concatenate([p[0] for p in parts]),
                                                  expected)
                    for name in ("begin", "locked", "log_probability", "valid"):
                        np.testing.assert_array_equal(
                            np.concatenate([getattr(p[1], name) for p in parts]),
                            getattr(status, name))
            decoder.push(items[:500])
            with self.assertRaisesRegex(RuntimeError, "flush"):
                decoder.decode(items)
        framed = gpufec.sync_decoder(book, **SYNC, **RATES)
        for call in (framed.flush, lambda: framed.push(received)):
            with self.assertRaisesRegex(ValueError, 'mode is "framed"'):
                call()

    def test_DoublePosteriors_AgreeWithin1em10AndAreRoundedToFloat32(self):
        book, _, received, lengths = sync_frames(5)
        pair = dict(received=received, codebook=book, lengths=lengths, precision="double",
                    exclusion=1e-15, **SYNC, **RATES)
        linear, _ = gpufec.sync_decode(output="posteriors64", **pair)
        corridor, _ = gpufec.sync_decode(output="posteriors64", form="corridor", **pair)
        self.assertEqual((linear.dtype, linear.shape), (np.float64, (5, 40, 16)))
        np.testing.assert_allclose(linear, corridor, rtol=0, atol=1e-10)
        np.testing.assert_allclose(linear.sum(axis=2), 1, rtol=0, atol=1e-12)
        rounded, _ = gpufec.sync_decode(output="posteriors", **pair)
        np.testing.assert_array_equal(rounded, linear.astype(np.float32))

    def test_FramesWithLengths_AreDecodedWithStatus(self):
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
        # Strong priors for the sent symbols outweigh the channel.
        priors = np.full((30, 40, 16), 1e-6, np.float32)
        np.put_along_axis(priors, symbols[..., None].astype(int), 1, 2)
        known, _ = gpufec.sync_decode(received, book, **SYNC, **RATES, lengths=lengths,
                                      priors=priors)
        np.testing.assert_array_equal(known, symbols)

    def test_CertainLikelihoods_DecodeLikeHardSymbols(self):
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
        rows = np.ones((12, lengths.max(), 4), np.float32) # padding: equal likelihoods
        for row, frame in zip(rows, np.split(soft, np.cumsum(lengths)[:-1])):
            row[:len(frame)] = frame
        found, _ = gpufec.sync_decode(rows, book, **code, **rates, lengths=lengths)
        self.assertLess(np.mean(found != symbols), 0.1)
        for wrong in (soft[:, 0], soft[:, :3], soft[None, None]):
            with self.assertRaisesRegex(ValueError, "received is of"):
                gpufec.sync_decode(np.ascontiguousarray(wrong), book, **code, **rates,
                                   lengths=lengths)

    def test_SeveralReads_ReduceErrors(self):
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

        # Concatenated reads and reads in rows decode to the same symbols.
        rows = np.full((frames * reads, lengths.max()), 2, np.uint8)
        for row, copy in zip(rows, copies):
            row[:len(copy)] = copy
        decoder = gpufec.sync_decoder(**decode, reads=reads)
        for given in (received, rows):
            again, _ = decoder.decode(given, lengths)
            np.testing.assert_array_equal(again, together)
        # A read of length 0 counts as a read that was not received.
        fewer = lengths.reshape(frames, reads).copy()
        fewer[:, 1] = 0
        lacking, status = decoder.decode(rows, fewer)
        self.assertTrue(status.valid.all())
        three = [k for k in range(frames * reads) if k % reads != 1]
        expected, _ = gpufec.sync_decode(rows[three], lengths=lengths[three], reads=3, **decode)
        np.testing.assert_array_equal(lacking, expected)

    def test_SeveralReads_UseExtrinsicsAsPriors(self):
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

    def test_ThreeReadsInSimulation_ReduceErrorsToAThird(self):
        """With three reads, a simulation of the same number of symbols has less than a third of the
        errors."""
        code = dict(codebook=sync_frames(1)[0], **SYNC)
        counts = [gpufec.distributed._simulate_sync(dict(code, **more), 0.02, 1, 0, 30)
                  for more in ({}, dict(reads=3))]
        self.assertEqual([c["symbols"] for c in counts], [1200, 1200])
        self.assertGreater(counts[0]["errors"], 40)
        self.assertLess(counts[1]["errors"], counts[0]["errors"] / 3)

    def test_OneRead_EqualsOrdinaryDecoder(self):
        book, _, received, lengths = sync_frames(5)
        decode = dict(codebook=book, **SYNC, **RATES, lengths=lengths, output="posteriors")
        expected, _ = gpufec.sync_decode(received, **decode)
        decoded, _ = gpufec.sync_decode(received, **decode, reads=1)
        np.testing.assert_array_equal(decoded, expected)

    def test_Stream_IsDecodedAndLocked(self):
        book, symbols, received, _ = sync_frames(30)
        decoded, status = gpufec.sync_decode(received, book, **SYNC, **RATES, mode="stream")
        self.assertEqual(decoded.shape, symbols.shape)
        self.assertLess(np.mean(decoded != symbols), 0.1)
        self.assertEqual(status.begin[0], 0)
        self.assertTrue(status.locked.all())

    def test_WrongLengths_AreRefused(self):
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

    def test_WrongReads_AreRefused(self):
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
        for more in (dict(reads=0), dict(passes=0)): # the constructor refuses these
            with self.assertRaisesRegex(ValueError, "is 0"):
                gpufec.sync_decoder(**decode, **more)

    def test_OutputThatOverlapsInput_IsRefused(self):
        book, _, received, lengths = sync_frames(3)
        decode = dict(codebook=book, **SYNC, **RATES, lengths=lengths)
        with self.assertRaisesRegex(ValueError, "^out is in the memory of received"):
            gpufec.sync_decode(received, **decode, out=received[100:220].reshape(3, 40))
        priors = np.ones((3, 40, 16), np.float32)
        with self.assertRaisesRegex(ValueError, "^out is in the memory of priors"):
            gpufec.sync_decode(received, **decode, priors=priors, output="posteriors",
                               out=priors)
        code = dict(q=4, n=5, frame_symbols=6, alphabet=4)
        soft = np.ones((2, 30, 4), np.float32)
        with self.assertRaisesRegex(ValueError, "^out is in the memory of received"):
            gpufec.sync_decode(soft, gpufec.codebook_random(5, 4, 6, 1, 4), **code,
                               out=soft.view(np.uint8).ravel()[-12:].reshape(2, 6))

    def test_SymbolsBeyondTheAlphabet_AreRefused(self):
        for alphabet, symbol in ((2, 2), (4, 4), (4, 255)):
            with self.assertRaisesRegex(ValueError, f"^an entry of symbols is {symbol}"):
                gpufec.bsid(np.array([0, symbol, 1], np.uint8), alphabet=alphabet)
        received, lengths = gpufec.bsid(np.zeros(0, np.uint8))
        self.assertEqual((received.size, list(lengths)), (0, [0]))


if __name__ == "__main__":
    unittest.main()
