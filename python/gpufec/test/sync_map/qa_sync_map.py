#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Tests gpu_sync_map, sync_encoder and channel_bsid in flowgraphs: error rates, outputs, priors,
codes and parameters."""

import pathlib
import re
import tempfile
import unittest

import numpy as np
import pmt
from gnuradio import blocks, digital, gpufec, gr
import qa_support as support
from qa_sync_map_case import (KEY, SMALL, SMALL_BOOK, decoder, encode, framed_source,
                              random_symbols, run, small_frames, values)


class qa_sync_map(unittest.TestCase):

    def chain(self, mode, p, frames, book, code, **parameters):
        """Sends random symbols of `frames` frames over a channel whose insertions and deletions
        have probability `p` each. Returns the sent symbols, the decoded symbols and the tags."""
        sent = random_symbols(frames * code["frame_symbols"], code["q"], 7)
        frame_bits = code["n"] * code["frame_symbols"] if mode == "framed" else 0
        channel = gpufec.channel_bsid(p, p, 0.0, frame_bits=frame_bits, seed=3)
        items, tags = run(support.vector_source(sent),
                          gpufec.sync_encoder(book, **code), channel,
                          decoder(p, book, code, mode=mode, **parameters))
        return sent, items, tags

    def test_ErrorRates_EqualReference(self):
        self.error_rates("cpu")

    def test_ErrorRatesOnCuda_EqualReference(self):
        if support.cuda_missing():
            self.skipTest(support.cuda_missing())
        self.error_rates("cuda")

    def error_rates(self, backend):
        """Expects the symbol error rates of bench/sync/gate-sync for codes with n = 10, q = 32 and
        N = 210, within 3.29 standard deviations (99.9 %)."""
        code = dict(q=32, n=10, frame_symbols=210)
        frames = 120
        for book, p, known in ((gpufec.codebook_davey_mackay(seed=1), 1e-2, 0.0713),
                               (gpufec.codebook_random(seed=1), 1e-2, 0.0222)):
            for mode in ("framed", "stream"):
                with self.subTest(mode=mode, known=known):
                    sent, items, tags = self.chain(mode, p, frames, book, code,
                                                  backend=backend)
                    self.assertEqual(len(items), len(sent))
                    # Errors come in bursts, so the standard deviation is computed over frames.
                    rates = np.mean((items != sent).reshape(frames, -1), axis=1)
                    deviation = rates.std(ddof=1) / np.sqrt(frames)
                    self.assertLess(abs(rates.mean() - known), 3.29 * deviation)
                    self.assertEqual(values(tags, "sync_valid"), [True] * frames)
                    at = [o for o, _ in support.tags_of(tags, "sync_drift")]
                    self.assertEqual(at, [210 * f for f in range(frames)])
                    locks = [] if mode == "framed" else [True] * frames
                    self.assertEqual(values(tags, "sync_lock"), locks)

    def test_Encoder_EqualsDefinition(self):
        for q, n in ((4, 6), (300, 10)):
            code = dict(q=q, n=n, frame_symbols=3)
            book = gpufec.codebook_random(n, q, 3, 2)
            symbols = random_symbols(3 * 50 + 2, q)
            pieces = support.array_source(symbols, 7, 1, [(4, pmt.mp("a"), pmt.PMT_T)])
            bits, tags = run(pieces, gpufec.sync_encoder(book, **code))
            np.testing.assert_array_equal(bits, encode(symbols[:150], book, code))
            self.assertEqual(support.tags_of(tags, KEY),
                             [(3 * n * f, 3 * n) for f in range(50)])
            self.assertEqual([o for o, _ in support.tags_of(tags, "a")], [4 * n])

    def test_Channel_InsertsDeletesAndFlipsWithGivenProbabilities(self):
        bits = support.random_bits(30000, 1)
        clean, _ = run(support.vector_source(bits), gpufec.channel_bsid(0, 0, 0))
        np.testing.assert_array_equal(clean, bits)
        flipped, _ = run(support.vector_source(bits), gpufec.channel_bsid(0, 0, 1))
        np.testing.assert_array_equal(flipped, 1 - bits)
        same, _ = run(support.array_source(bits, 100, 2), gpufec.channel_bsid(0.1, 0.05))
        again, _ = run(support.vector_source(bits), gpufec.channel_bsid(0.1, 0.05))
        np.testing.assert_array_equal(same, again)
        # The number of insertions before a bit has a geometric distribution with mean 0.1 / 0.9.
        expected = 30000 * (1 - 0.05 + 0.1 / 0.9 - 0.1 / 0.9 * 0.05)
        self.assertLess(abs(len(again) - expected), 600)
        framed, tags = run(support.vector_source(bits[:-1]),
                           gpufec.channel_bsid(0.1, 0.05, frame_bits=300))
        found = support.tags_of(tags, KEY)
        self.assertEqual(len(found), 99)
        self.assertEqual(sum(v for _, v in found), len(framed))
        self.assertEqual([o for o, _ in found],
                         list(np.cumsum([0] + [v for _, v in found])[:-1]))

    def test_Outputs_AgreeWithPosteriors(self):
        symbols, frames = small_frames(50, 0.05)
        decoded = {}
        for output, dtype in (("symbols", np.uint8), ("posteriors", np.float32),
                              ("extrinsics", np.float32), ("llr", np.int8)):
            block = decoder(0.05, output=output)
            block.set_max_output_buffer(4096)
            decoded[output], tags = run(framed_source(frames), block, dtype=dtype)
            size = {"symbols": 1, "llr": 2}.get(output, 4)
            self.assertEqual(len(decoded[output]), 250 * size)
            self.assertEqual(support.tags_of(tags, KEY),
                             [(5 * size * f, 5 * size) for f in range(50)])
        L = decoded["posteriors"].reshape(-1, 4)
        np.testing.assert_allclose(L.sum(axis=1), 1, atol=1e-5)
        np.testing.assert_array_equal(decoded["symbols"], L.argmax(axis=1))
        np.testing.assert_allclose(decoded["extrinsics"], L.ravel(), atol=1e-5)
        with np.errstate(divide="ignore"):
            llr = np.stack([np.log((L[:, 0] + L[:, 1]) / (L[:, 2] + L[:, 3])),
                            np.log((L[:, 0] + L[:, 2]) / (L[:, 1] + L[:, 3]))], axis=1)
        expected = np.clip(8 * llr.ravel(), -127, 127)
        self.assertLessEqual(np.abs(decoded["llr"] - expected).max(), 0.51)
        self.assertGreater(np.mean(decoded["symbols"] == symbols), 0.7)

    def test_CodeAbove256Symbols_HasShortItems(self):
        code = dict(q=300, n=12, frame_symbols=4)
        book = gpufec.codebook_random(12, 300, 4, 3)
        symbols = random_symbols(40, 300)
        out, _ = run(support.array_source(symbols), gpufec.sync_encoder(book, **code),
                     decoder(1e-3, book, code), dtype=np.int16)
        np.testing.assert_array_equal(out, symbols)

    def test_FormsPrecisionsAndFormats_YieldSamePosteriors(self):
        _, frames = small_frames(30, 0.03)
        out, _ = run(framed_source(frames), decoder(0.03, output="posteriors",
                                                    precision="double"), dtype=np.float32)
        soft = [f.astype(np.float32) for f in frames]
        for received, more in ((frames, dict(form="corridor", exclusion=1e-14)),
                             (frames, dict(form="corridor", storage="local", mn_min=-6,
                                           mn_max=12)),
                             (frames, dict(precision="mixed", batch=3, threads=2)),
                             (soft, dict(soft_input="float"))):
            with self.subTest(**more):
                same, _ = run(framed_source(received), decoder(0.03, output="posteriors",
                                                             **more), dtype=np.float32)
                np.testing.assert_allclose(same, out, atol=1e-5)

    def test_ReceiversWithLooseLimits_AreExact(self):
        """Each receiver of form "corridor" produces the exact result with loose limits, and another
        result with tight limits."""
        _, frames = small_frames(30, 0.03)

        def posteriors(**parameters):
            block = decoder(0.03, output="posteriors", precision="double", **parameters)
            return run(framed_source(frames), block, dtype=np.float32)[0]

        exact = posteriors()
        corridor = dict(form="corridor", mn_min=-6, mn_max=12)
        for more in (dict(receiver="lattice"), dict(receiver="trellis", insertion_cap=5),
                     dict(state_threshold=1e-12, lattice_threshold=1e-12)):
            with self.subTest(**more):
                np.testing.assert_allclose(posteriors(**corridor, **more), exact, atol=1e-5)
        for more in (dict(receiver="trellis", insertion_cap=0), dict(state_threshold=0.3),
                     dict(lattice_threshold=0.3)):
            with self.subTest(**more):
                self.assertGreater(np.abs(posteriors(**corridor, **more) - exact).max(),
                                   0.01)
        if not support.SIMULATED:
            with self.assertRaises(RuntimeError): # only the CPU supports receiver "lattice"
                gpufec.gpu_sync_map(SMALL_BOOK, **SMALL, backend="cuda", form="corridor",
                                    receiver="lattice")

    def test_BoundaryPriors_YieldWeightedMean(self):
        """With priors of the drifts at frame boundaries, the posteriors are the weighted mean of
        the posteriors for each drift."""
        _, frames = small_frames(20, 0.05)

        def weighted(frames, **parameters):
            block = decoder(0.05, output="posteriors", precision="double", **parameters)
            out, tags = run(framed_source(frames), block, dtype=np.float32)
            # An invalid frame has sync_logp -inf and thus weight 0.
            return out.reshape(len(frames), -1), np.exp(values(tags, "sync_logp"))

        start, end = [0.2, 0.5, 0.1], [0.5, 1.0, 0.25]
        L = weights = 0
        for m, p in enumerate(start):
            part, weight = weighted([f[m:] for f in frames])
            L, weights = L + p * weight[:, None] * part, weights + p * weight
        exact = L / weights[:, None]
        mixed, weight = weighted(frames, start_prior=start)
        np.testing.assert_allclose(mixed, exact, atol=1e-5)
        np.testing.assert_allclose(weight, weights, rtol=1e-6)

        later, weight = weighted(frames, start_first=2)
        part, weights = weighted([f[2:] for f in frames])
        np.testing.assert_allclose(later, part, atol=1e-5)
        np.testing.assert_allclose(weight, weights, rtol=1e-6)

        L = weights = 0
        alike = [np.resize(f, 31) for f in frames] # 31 items suffice for drifts up to 1
        for drift, p in zip((-1, 0, 1), end):
            part, weight = weighted([f[:30 + drift] for f in alike])
            # `part` has only the items up to the end that the drift implies.
            L, weights = L + p * weight[:, None] * part, weights + p * weight
        mixed, weight = weighted(alike, end_first=-1, end_prior=end)
        np.testing.assert_allclose(mixed, L / weights[:, None], atol=1e-5)
        np.testing.assert_allclose(weight, weights, rtol=1e-6)

    def test_ChannelSymbols_DecodeFromHardItemsAndLikelihoods(self):
        """Frames over alphabets of 4 (as in DNA) and 16 channel symbols decode to the same symbols
        from hard items and from likelihoods."""
        for alphabet, n in ((4, 5), (16, 3)):
            code = dict(q=32, n=n, frame_symbols=60)
            book = gpufec.codebook_random(n, 32, 60, 3, alphabet)
            self.assertEqual(book.max(), alphabet - 1)
            sent = random_symbols(60 * 40, 32)
            for mode in ("framed", "stream"):
                with self.subTest(alphabet=alphabet, mode=mode):
                    bits = n * 60 if mode == "framed" else 0
                    channel = gpufec.channel_bsid(0.01, 0.01, 0.01, bits,
                                                  alphabet=alphabet)
                    out, tags = run(support.vector_source(sent),
                                    gpufec.sync_encoder(book, **code, alphabet=alphabet),
                                    channel, decoder(0.01, book, code, mode=mode,
                                                     p_substitute=0.01, alphabet=alphabet))
                    self.assertEqual(values(tags, "sync_valid"), [True] * 40)
                    self.assertLess(np.mean(out != sent), 0.1)
                    if mode == "stream":
                        self.assertEqual(values(tags, "sync_lock"), [True] * 40)
                    likelihoods = digital.chunks_to_symbols_bf(
                        3 * np.eye(alphabet).ravel(), alphabet)
                    soft = decoder(0.01, book, code, mode=mode, p_substitute=0.01,
                                   alphabet=alphabet, soft_input="float")
                    again, tags = run(support.vector_source(sent),
                                      gpufec.sync_encoder(book, **code, alphabet=alphabet),
                                      gpufec.channel_bsid(0.01, 0.01, 0.01, bits,
                                                          alphabet=alphabet), likelihoods,
                                      blocks.stream_to_vector(gr.sizeof_float, alphabet), soft)
                    self.assertEqual(values(tags, "sync_valid"), [True] * 40)
                    np.testing.assert_array_equal(again, out)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "book.txt"
            path.write_text("\n".join("".join(f"{x:x}" for x in row) for row in book))
            np.testing.assert_array_equal(
                gpufec.codebook_from_file(path, n, 32, 60, alphabet=16), book)
            gpufec.gpu_sync_map(str(path), **code, backend="cpu", alphabet=16)

    def test_Priors_ChangePosteriorsButNotExtrinsics(self):
        symbols, frames = small_frames(30, 0.05)
        certain = np.full((150, 4), 1e-3)
        certain[np.arange(150), symbols] = 1
        plain, _ = run(framed_source(frames), decoder(0.05, output="posteriors"),
                       dtype=np.float32)
        L, _ = run(framed_source(frames), decoder(0.05, output="posteriors"),
                   dtype=np.float32, priors=certain.ravel())
        E, _ = run(framed_source(frames), decoder(0.05, output="extrinsics"),
                   dtype=np.float32, priors=certain.ravel())
        self.assertGreater(np.mean(L.reshape(-1, 4).argmax(axis=1) == symbols),
                           np.mean(plain.reshape(-1, 4).argmax(axis=1) == symbols))
        product = E.reshape(-1, 4) * certain
        product /= product.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(L.reshape(-1, 4), product, atol=1e-5)
        # Invalid priors, and priors that end too early, count as uniform.
        for priors in (np.full(600, np.nan), np.zeros(600), np.ones(600), np.ones(77)):
            same, _ = run(framed_source(frames), decoder(0.05, output="posteriors"),
                          dtype=np.float32, priors=priors)
            np.testing.assert_allclose(same, plain, atol=1e-6)

    def test_ImpossibleFrame_IsInvalid(self):
        """With a channel without errors, a frame that no message can produce is invalid."""
        symbols, frames = small_frames(3, 0.0)
        frames[1] = 1 - frames[1]
        book = np.zeros((20, 6), np.uint8)
        book[:, 3:] = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]] * 5)
        frames[0] = frames[2] = encode(symbols[:5], book)
        out, tags = run(framed_source(frames), decoder(0.0, book))
        self.assertEqual(values(tags, "sync_valid"), [True, False, True])
        np.testing.assert_array_equal(out[:5], symbols[:5])

    def test_ExtremeChannelsAndCodes_AreDecoded(self):
        for p_insert, p_delete, p_substitute in ((0, 0.1, 0), (0.1, 0, 0), (0, 0, 0),
                                                 (0.1, 0.1, 0.5), (0, 0, 1)):
            symbols, frames = small_frames(3, 0.0)
            if p_substitute == 1:
                frames = [1 - f for f in frames]
            block = gpufec.gpu_sync_map(SMALL_BOOK, **SMALL, p_insert=p_insert,
                                        p_delete=p_delete, p_substitute=p_substitute,
                                        backend="cpu")
            out, tags = run(framed_source(frames), block)
            self.assertEqual(values(tags, "sync_valid"), [True] * 3)
            if p_substitute != 0.5:
                np.testing.assert_array_equal(out, symbols)
        tiny = dict(q=2, n=1, frame_symbols=1)
        out, _ = run(framed_source([np.array([b], np.uint8) for b in (0, 1, 1)]),
                     decoder(0.01, [[0], [1]], tiny))
        np.testing.assert_array_equal(out, [0, 1, 1])

    def test_Codebooks_HaveDocumentedWords(self):
        book = gpufec.codebook_davey_mackay(6, 4, 5, 1)
        self.assertEqual(book.shape, (20, 6))
        self.assertEqual(book.dtype, np.uint8)
        words = book.reshape(5, 4, 6)
        # The word of symbol 0 is the marker; the other words differ from the marker in one bit.
        self.assertEqual([sorted(w) for w in (words ^ words[:, :1]).sum(axis=2)],
                         [[0, 1, 1, 1]] * 5)
        marker = gpufec.codebook_marker(4, 5, "01", seed=0)
        np.testing.assert_array_equal(
            marker[:4], [[0, 0, 0, 1], [0, 1, 0, 1], [1, 0, 0, 1], [1, 1, 0, 1]])
        inverted = (gpufec.codebook_marker(4, 50, "01")[::4, 2:] == [1, 0]).all(axis=1)
        self.assertTrue(10 < inverted.sum() < 40)
        self.assertFalse(np.array_equal(gpufec.codebook_random(6, 4, 5, 1),
                                        gpufec.codebook_random(6, 4, 5, 2)))
        symbols, frames = small_frames(10)
        expected, _ = run(framed_source(frames), decoder())
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "book.txt"
            path.write_text("# words\n" + "\n".join(
                "".join(map(str, row)) for row in SMALL_BOOK))
            np.testing.assert_array_equal(
                gpufec.codebook_from_file(path, 6, 4, 5), SMALL_BOOK)
            for book in (SMALL_BOOK.tolist(), SMALL_BOOK.astype(bool), str(path), path,
                         SMALL_BOOK.astype(np.int64).reshape(5, 4, 6)):
                out, _ = run(framed_source(frames), decoder(book=book))
                np.testing.assert_array_equal(out, expected)

    def test_Bindings_HaveExpectedNamesDefaultsAndDocstrings(self):
        decoder_defaults = dict(
            q=32, n=10, frame_symbols=210, p_insert=1e-3, p_delete=1e-3, p_substitute=0.0,
            mode="framed", length_tag="packet_len", soft_input="hard", output="symbols",
            precision="float", storage="auto", batch=0, slots=3, max_latency_ms=50,
            backend="auto", device=0, threads=1, form="linear", exclusion=1e-10, mn_min=0,
            mn_max=0, lookahead=0, acquire=0, alphabet=2, receiver="corridor",
            insertion_cap=2, state_threshold=0.0, lattice_threshold=0.0, start_first=0,
            start_prior=[], end_first=0, end_prior=[], devices=[],
            positive_bit=0, device_timeout_ms=10000.0, bounds=False,
            status_tags="all", frame_items=0, io="host")
        for block, first, expected in (
                (gpufec.gpu_sync_map, "codebook", decoder_defaults),
                (gpufec.sync_encoder, "codebook",
                 dict(q=32, n=10, frame_symbols=210, length_tag="packet_len", alphabet=2)),
                (gpufec.channel_bsid, "",
                 dict(p_insert=1e-3, p_delete=1e-3, p_substitute=0.0, frame_bits=0,
                      length_tag="packet_len", seed=1, alphabet=2))):
            text = block.__init__.__doc__
            arguments = re.search(r"\(self: [^,]+, (.*)\) -> None", text)[1]
            if first:
                self.assertTrue(arguments.startswith(first + ": object, "))
                arguments = arguments.split(", ", 1)[1]
            found = eval("dict(" + re.sub(r": [\w\[\]]+ = ", "=", arguments) + ")")
            self.assertEqual(list(found.items()), list(expected.items()))
            for name in expected:
                self.assertRegex(text, rf"(?m)^\s+{name} : \S")
            for name in ("set_p_insert", "set_p_delete", "set_p_substitute"):
                if block is not gpufec.sync_encoder:
                    self.assertIn("Raises", getattr(block, name).__doc__)
        block = decoder(batch=7)
        self.assertEqual((block.active_backend(), block.batch()), ("cpu", 7))

    def test_WrongParameters_AreNamedByError(self):
        nan = float("nan")
        same = np.zeros((20, 6), np.uint8)
        two = SMALL_BOOK.copy()
        two[3, 3] = 2
        for wrong, message in (
                (dict(codebook="/no/file"), 'codebook is "/no/file"'),
                (dict(codebook=same), "codebook is ambiguous at index 0"),
                (dict(codebook=two), "codebook entry is 2"),
                (dict(codebook=SMALL_BOOK.astype(int) * 256), "codebook entry is 256"),
                (dict(codebook=SMALL_BOOK / 1.0), "codebook is of type float64"),
                (dict(codebook=SMALL_BOOK[:-1]), "size of codebook is 114"),
                (dict(codebook=SMALL_BOOK[:, :-1]), r"codebook is of shape \(20, 5\)"),
                (dict(q=1), "q is 1"), (dict(q=-1), "q is -1"), (dict(q=65), "q is 65"),
                (dict(frame_symbols=0), "frame_symbols is 0"),
                (dict(frame_symbols=-1), "frame_symbols is -1"),
                (dict(p_insert=-0.1), "p_insert is -0.1"),
                (dict(p_insert=nan), "p_insert is -?nan"),
                (dict(p_delete=1.0), "p_delete is 1"),
                (dict(p_insert=0.5, p_delete=0.5), "p_insert"),
                (dict(p_substitute=1.5), "p_substitute is 1.5"),
                (dict(mode="frames"), 'mode is "frames"'),
                (dict(length_tag=""), 'length_tag is ""'),
                (dict(soft_input="int8"), 'soft_input is "int8"'),
                (dict(output="bits"), 'output is "bits"'),
                (dict(output="posteriors64"), 'output is "posteriors64"'),
                (dict(precision="half"), 'precision is "half"'),
                (dict(storage="none"), 'storage is "none"'),
                (dict(batch=-1), "batch is -1"), (dict(slots=0), "slots is 0"),
                (dict(max_latency_ms=-1.0), "max_latency_ms is -1"),
                (dict(backend="gpu"), 'backend is "gpu"'),
                (dict(device=-1), "device is -1"), (dict(threads=0), "threads is 0"),
                (dict(devices=[0, -1]), "devices is -1"),
                (dict(devices=[0] * 17), "number of devices is 17"),
                (dict(form="square"), 'form is "square"'),
                (dict(exclusion=0.0), "exclusion is 0"),
                (dict(mn_min=1), "mn_min is 1"), (dict(mn_max=-1), "mn_max is -1"),
                (dict(lookahead=-1), "lookahead is -1"),
                (dict(acquire=-1), "acquire is -1"),
                (dict(alphabet=-1), "alphabet is -1"), (dict(alphabet=1), "alphabet is 1"),
                (dict(alphabet=17), "alphabet is 17"),
                (dict(receiver="turbo"), 'receiver is "turbo"'),
                (dict(receiver="lattice"), "receiver is lattice"),
                (dict(insertion_cap=-1), "insertion_cap is -1"),
                (dict(state_threshold=1.0), "state_threshold is 1"),
                (dict(state_threshold=1e-9), "state_threshold is 1e-09"),
                (dict(lattice_threshold=nan), "lattice_threshold is -?nan"),
                (dict(start_prior=[-1.0]), "start_prior is -1"),
                (dict(start_prior=[0.0]), "start_prior is 0"),
                (dict(end_prior=[1.0, nan]), "end_prior is -?nan"),
                (dict(start_first=2**30), "start_first is 1073741824"),
                (dict(end_first=-2**30), "end_first is -1073741824"),
                (dict(mode="stream", start_prior=[1.0, 1.0]), "start_prior is given"),
                (dict(mode="stream", end_prior=[1.0]), "end_prior is given")):
            with self.subTest(**{k: str(v)[:20] for k, v in wrong.items()}):
                with self.assertRaisesRegex(ValueError, message):
                    gpufec.gpu_sync_map(**{**SMALL, "codebook": SMALL_BOOK, **wrong})
        with self.assertRaisesRegex(ValueError, "output is llr"):
            gpufec.gpu_sync_map(gpufec.codebook_random(6, 5, 2, 1), q=5, n=6,
                                frame_symbols=2, output="llr")
        with self.assertRaisesRegex(ValueError, "n is 0"):
            gpufec.sync_encoder(np.zeros((20, 0), np.uint8), q=4, n=0, frame_symbols=5)
        with self.assertRaisesRegex(ValueError, "^frame_bits is -1: allowed values are 0 or more$"):
            gpufec.channel_bsid(frame_bits=-1)
        with self.assertRaisesRegex(ValueError, "^alphabet is -1: allowed values are 2 to 16$"):
            gpufec.channel_bsid(alphabet=-1)
        with self.assertRaisesRegex(ValueError, 'length_tag is ""'):
            gpufec.channel_bsid(frame_bits=1, length_tag="")
        with self.assertRaisesRegex(ValueError, "p_delete is 2"):
            gpufec.channel_bsid(p_delete=2)
        for block in (gpufec.channel_bsid, lambda alphabet: gpufec.sync_encoder(
                SMALL_BOOK, **SMALL, alphabet=alphabet)):
            for wrong in (-1, 0, 17):
                with self.assertRaisesRegex(ValueError, f"alphabet is {wrong}"):
                    block(alphabet=wrong)


if __name__ == "__main__":
    support.main()
