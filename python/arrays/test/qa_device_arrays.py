#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests that arrays on a CUDA device and pinned arrays decode like ordinary arrays."""

import sys
import unittest

import numpy as np

import gpufec

DEVICES = gpufec._gpufec.cuda_devices()
try:
    import torch
except ModuleNotFoundError:
    torch = None
try:
    import cupy
except ModuleNotFoundError:
    cupy = None

CUDA = dict(backend="cuda")


def noisy(shape, soft_input="int8", **code):
    bits = gpufec.random_bits(shape)
    coded = gpufec.conv_encode(bits, packed_input=False, packed_output=False, **code)
    if soft_input == "packed4" and coded.shape[-1] % 2:
        coded = coded[..., :-1].copy()
    return gpufec.awgn(coded, 1.5, 0.5, soft_input=soft_input)


def pinned(array):
    there = gpufec.pinned_empty(array.shape, array.dtype)
    there[:] = array
    return there


@unittest.skipUnless(DEVICES, "there is no CUDA device")
class qa_device_arrays(unittest.TestCase):
    def same(self, decode, values, **code):
        """Checks that `decode` returns the CPU's result for `values` in each kind of memory on the
        GPU."""
        expected, expected_status = decode(values, backend="cpu", **code)
        for where, given in (("device", gpufec.to_device(values)), ("pinned", pinned(values)),
                             ("ordinary", values)):
            found, status = decode(given, **CUDA, **code)
            self.assertEqual(status.backend, "cuda")
            self.assertEqual(isinstance(found, gpufec.device_array), where == "device")
            found = found.numpy() if where == "device" else found
            with self.subTest(where, shape=values.shape, dtype=values.dtype, **code):
                np.testing.assert_array_equal(found, expected)
                for name in ("iterations", "unsatisfied"):
                    if hasattr(expected_status, name):
                        np.testing.assert_array_equal(getattr(status, name),
                                                      getattr(expected_status, name))

    def test_ViterbiStreamsOnDevice_EqualHostArrays(self):
        for soft_input in ("int8", "float", "packed4"):
            for count in (1, 1000, 300007, 2000000):
                for code in (dict(), dict(puncturing="101,110")):
                    values = noisy(count, soft_input, **code)
                    for packed in (True, False):
                        if values.size:
                            self.same(gpufec.viterbi_decode, values, packed_output=packed,
                                      soft_input=soft_input, **code)
        self.same(gpufec.viterbi_decode, noisy((3, 4000)))
        self.same(gpufec.viterbi_decode, noisy(100000), batch=64, slots=2)
        self.same(gpufec.viterbi_decode, noisy(100000), positive_bit=0)

    def test_ViterbiFramesOnDevice_EqualHostArrays(self):
        for termination in ("terminated", "truncated", "tailbiting"):
            for frame_bits, frames in ((40, 1), (64, 3000), (333, 700), (5000, 30)):
                for soft_input in ("int8", "float"):
                    code = dict(termination=termination, frame_bits=frame_bits)
                    values = noisy((frames, frame_bits), soft_input, **code)
                    for packed in (True, False):
                        self.same(gpufec.viterbi_decode, values, packed_output=packed, **code)

    def test_LdpcFramesOnDevice_EqualHostArrays(self):
        for code in (dict(frame_size="short", rate="1/2"), dict(rate="3/4"),
                     dict(standard="ccsds_c2", frame_size="8160", rate="7/8"),
                     dict(standard="ccsds_ar4ja", frame_size="1024", rate="1/2"),
                     dict(standard="nr", frame_size="bg1 z16", rate="22/44"),
                     dict(standard="wifi", frame_size="648", rate="1/2",
                          punctured=[600, 11], shortened=list(range(40, 60)))):
            known = gpufec.ldpc_code(**code)
            bits = gpufec.random_bits((17, known.k))
            words = gpufec.ldpc_encode(bits, **code, packed_input=False, packed_output=False)
            nats = (4 * gpufec.awgn(words, 2.0, known.k / known.sent, 5, "float",
                                    positive_bit=0)).astype(np.float32)
            nats[0, :3] = np.nan, np.inf, -np.inf
            steps = np.clip(np.rint(2 * np.nan_to_num(nats)), -128, 127).astype(np.int8)
            for values in (nats, steps):
                for more in (dict(), dict(packed_output=False), dict(output="codeword"),
                             dict(precision="int16"), dict(precision="float"), dict(batch=5),
                             dict(positive_bit=1, max_iterations=3), dict(output="llr"),
                             dict(output="extrinsic", positive_bit=1, llr_scale=3.0)):
                    self.same(gpufec.ldpc_decode, values, **code, **more)

    def test_SyncFramesOnDevice_EqualHostArrays(self):
        code = dict(q=16, n=8, frame_symbols=40)
        book = gpufec.codebook_davey_mackay(8, 16, 40)
        symbols = np.random.default_rng(1).integers(0, 16, (25, 40)).astype(np.uint8)
        received, lengths = gpufec.bsid(gpufec.sync_encode(symbols, book, **code))
        rows = np.full((25, lengths.max() + 3), 2, np.uint8)
        for row, frame in zip(rows, np.split(received, np.cumsum(lengths)[:-1])):
            row[:len(frame)] = frame
        wrong = lengths.copy()
        wrong[3] = 0 # a frame that cannot be decoded
        soft = np.where(rows > 1, np.nan, 0.9 * (rows == 1) + 0.05).astype(np.float32)
        weights = np.random.default_rng(2).random((25, 40, 16)).astype(np.float32)
        for values, given, more in (
                (received, lengths, dict()), (rows, lengths, dict()), (rows, wrong, dict()),
                (rows, lengths, dict(batch=4)), (rows, lengths, dict(output="posteriors")),
                (soft, lengths, dict(output="posteriors")), (soft, lengths, dict(output="llr")),
                (rows, lengths, dict(output="posteriors", form="corridor")),
                # With these options, the decoder copies the array to the host.
                (rows, lengths, dict(output="posteriors", priors=weights)),
                (rows, lengths, dict(output="posteriors", form="corridor",
                                     receiver="trellis"))):
            with self.subTest(more=more, shape=values.shape):
                priors = more.pop("priors", None)
                where = dict(backend="auto") if "receiver" in more else CUDA
                known = gpufec.sync_decoder(book, **code, **more, backend="cpu")
                expected, reference = known.decode(values, given, priors)
                decoder = gpufec.sync_decoder(book, **code, **more, **where)
                arrays = [gpufec.to_device(values)]
                if priors is None and "receiver" not in more:
                    arrays.append(gpufec.pinned_empty(values.shape, values.dtype))
                    arrays[-1][...] = values
                for array in arrays:
                    found, status = decoder.decode(array, given, priors)
                    self.assertEqual(status.backend, "cpu" if "receiver" in more else "cuda")
                    if isinstance(array, gpufec.device_array):
                        self.assertIsInstance(found, gpufec.device_array)
                        found = found.numpy()
                    if found.dtype == np.float32:
                        np.testing.assert_allclose(found, expected, atol=4e-6)
                    elif found.dtype == np.int8: # the GPU may round LLRs differently
                        self.assertLessEqual(
                            abs(found.astype(int) - expected.astype(int)).max(), 1)
                    else:
                        np.testing.assert_array_equal(found, expected)
                    np.testing.assert_array_equal(status.valid, reference.valid)
                    np.testing.assert_allclose(status.log_probability[reference.valid > 0],
                                               reference.log_probability[reference.valid > 0],
                                               rtol=1e-5)
                    np.testing.assert_array_equal(status.start_drift, reference.start_drift)

    def test_OutOnDeviceOrHost_ReceivesResult(self):
        code = dict(termination="tailbiting", frame_bits=64)
        values = noisy((500, 64), **code)
        expected, _ = gpufec.viterbi_decode(values, **code)
        there = gpufec.to_device(values)
        for out in (gpufec.to_device(np.zeros_like(expected)),
                    gpufec.pinned_empty(expected.shape, np.uint8), np.empty_like(expected)):
            found, _ = gpufec.viterbi_decode(there, **code, out=out)
            self.assertIs(found, out)
            found = found.numpy() if isinstance(found, gpufec.device_array) else found
            np.testing.assert_array_equal(found, expected)
        decoder = gpufec.viterbi_decoder(**code, **CUDA)
        for count in (1, 499, 0, 500):
            some, _ = decoder.decode(gpufec.to_device(values[:count]))
            np.testing.assert_array_equal(some.numpy(), expected[:count])

    @unittest.skipUnless(torch, "PyTorch is not installed")
    def test_TorchTensors_AreDecodedAfterEarlierWork(self):
        values = noisy(100000)
        expected, _ = gpufec.viterbi_decode(values)
        there = torch.from_numpy(values).cuda()
        found, _ = gpufec.viterbi_decode(there, **CUDA)
        np.testing.assert_array_equal(torch.from_dlpack(found).cpu().numpy(), expected)
        # The decoder must wait for earlier work on another CUDA stream.
        side = torch.cuda.Stream()
        for _ in range(5):
            later = torch.zeros_like(there)
            torch.cuda.synchronize()
            with torch.cuda.stream(side):
                torch.cuda._sleep(20_000_000)
                later.copy_(there)
                found, _ = gpufec.viterbi_decode(later, **CUDA)
            np.testing.assert_array_equal(found.numpy(), expected)
        with self.assertRaisesRegex(ValueError, "^values is not contiguous"):
            gpufec.viterbi_decode(there[::2], **CUDA)
        with self.assertRaisesRegex(ValueError, "^values is of type float64"):
            gpufec.viterbi_decode(there.double(), **CUDA)
        with self.assertRaisesRegex(ValueError, "^backend is cpu"):
            gpufec.viterbi_decode(there, backend="cpu")
        with self.assertRaisesRegex(ValueError, "^values is on CUDA device 0"):
            gpufec.viterbi_decode(there, device=1)
        host, _ = gpufec.viterbi_decode(torch.from_numpy(values))
        np.testing.assert_array_equal(host, expected)

    @unittest.skipUnless(cupy, "CuPy is not installed")
    def test_CuPyArrays_AreDecoded(self):
        values = noisy(100000)
        expected, _ = gpufec.viterbi_decode(values)
        there = cupy.asarray(values)
        found, _ = gpufec.viterbi_decode(there, **CUDA)
        np.testing.assert_array_equal(cupy.asnumpy(cupy.asarray(found)), expected)

        class Interface: # has no DLPack, like Numba's arrays
            def __init__(self, array):
                self.array = array
                self.__cuda_array_interface__ = array.__cuda_array_interface__

        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            late = cupy.zeros_like(there)
            for _ in range(200):
                late += 1
            late[:] = there
            found, _ = gpufec.viterbi_decode(Interface(late), **CUDA)
        np.testing.assert_array_equal(found.numpy(), expected)

    def test_FreedDeviceArray_IsRefused(self):
        class Gone:
            def __init__(self, array):
                self.__cuda_array_interface__ = array.__cuda_array_interface__

        there = gpufec.device_array((1 << 20,), np.int8)
        gone = Gone(there)
        del there
        with self.assertRaisesRegex(ValueError, "^values is an array in memory that no CUDA"):
            gpufec.viterbi_decode(gone, **CUDA)

    def test_HugeDeviceArray_RaisesRuntimeError(self):
        with self.assertRaises(RuntimeError):
            gpufec.device_array((1 << 45,), np.int8)


if __name__ == "__main__":
    if not DEVICES:
        print("skipped: no CUDA device")
        sys.exit(77)
    unittest.main()
