#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests functions on arrays without GNU Radio: memory, refused arguments, channels, threads,
signals, and the end of the interpreter."""

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import numpy as np

import gpufec
from sample_arrays import RATES, SYNC, FakeDevice, noisy, sync_frames

GPU = bool(gpufec._gpufec.cuda_devices())


class DlpackTensor(ctypes.Structure):
    """The C structure DLManagedTensor of https://dmlc.github.io/dlpack/latest/c_api.html"""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
                ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class FakeDlpack:
    """A host array that claims by DLPack to be on a device. `facts` are values of fields of
    DlpackTensor, in place of the correct ones."""

    def __init__(self, array, name=b"dltensor", shape=None, strides=None, device=(2, 0),
                 **facts):
        self.keep, self.name, self.device = array, name, device
        shape = array.shape if shape is None else shape
        self.tensor = DlpackTensor(
            array.ctypes.data, 2, 0, len(shape), 0, 8, 1,
            (ctypes.c_int64 * len(shape))(*shape),
            (ctypes.c_int64 * len(strides))(*strides) if strides else None)
        for fact, value in facts.items():
            setattr(self.tensor, fact, value)

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None, **_):
        make = ctypes.pythonapi.PyCapsule_New
        make.restype = ctypes.py_object
        make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self.tensor), self.name, None)


class NoCapsule(FakeDlpack):
    def __dlpack__(self, stream=None, **_):
        return 5


class ByDlpack:
    """An array that supports only the DLPack protocol."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


# A program that imports gpufec as if NumPy were 2.1.0 and pybind11 had a given version.
AS_BUILT_WITH = """
import importlib.util, sys, numpy
numpy.__version__ = "2.1.0"
folder = importlib.util.find_spec("gpufec").submodule_search_locations[0]
sys.path.insert(0, folder)
import _gpufec
_gpufec.pybind11_version = {}
sys.modules["gpufec._gpufec"] = _gpufec
import gpufec
"""
# A program whose daemon threads still run the statement {0} when the program ends.
DAEMON = """
import threading, time, numpy, gpufec
values, bits = numpy.ones(1 << 22, numpy.int8), numpy.ones(1 << 22, numpy.uint8)
decoder = gpufec.viterbi_decoder()
begun = threading.Barrier(4)
def work():
    {0}
    begun.wait()
    while True:
        {0}
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
begun.wait()
time.sleep(0.02)
"""


class qa_arrays(unittest.TestCase):

    def test_Import_LoadsNoGnuRadioModule(self):
        program = ("import sys, time; begin = time.perf_counter(); import numpy\n"
                   "import gpufec; assert gpufec.__version__\n"
                   "assert not any(m.split('.')[0] in ('gnuradio', 'pmt') for m in sys.modules)")
        subprocess.run([sys.executable, "-c", program], check=True)

    def test_OutArgument_ReceivesResult(self):
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

    def test_PinnedArrays_DecodeLikeOrdinaryArrays(self):
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

    def test_WrongTypeOrShapeOfArray_IsRefused(self):
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

    def test_ImpossibleShapes_RaiseValueErrorOrMemoryError(self):
        """Negative shapes, shapes larger than the memory, and shapes that do not fit the code raise
        ValueError or MemoryError."""
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
            file.truncate(1 << 41) # a sparse file, which needs no disk space
            values = np.memmap(file, np.int8, "r", shape=(1 << 20, 1 << 21))
            with self.assertRaisesRegex(ValueError, "^values is of shape"):
                gpufec.viterbi_decode(values, termination="truncated", frame_bits=64)
            with self.assertRaisesRegex(ValueError, "^out is of shape"):
                gpufec.viterbi_decode(values, termination="truncated", frame_bits=1 << 20,
                                      out=np.empty((2, 2), np.uint8))

    def test_WrongParameters_AreNamedByError(self):
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
                            ("punctured", [64800]), ("shortened", [-1]),
                            ("message_positions", "first"), ("message_positions", [0])):
            with self.subTest(name), self.assertRaisesRegex(ValueError, name):
                gpufec.ldpc_decode(frame, **{name: value})
        if not GPU:
            with self.assertRaises(RuntimeError):
                gpufec.viterbi_decode(values, backend="cuda")

    def test_HostArraysThatClaimADevice_AreRefused(self):
        """Host arrays that claim to be on a device are refused, by errors that name them."""
        values = np.zeros(1000, np.int8)
        with self.assertRaisesRegex(ValueError, "^values is an array in memory that no CUDA"):
            gpufec.viterbi_decode(FakeDevice(values))
        with self.assertRaisesRegex(ValueError, "^values is not contiguous"):
            gpufec.viterbi_decode(FakeDevice(values, strides=(2,)))

    def test_ArraysWithInvalidInterface_AreRefusedByName(self):
        values = np.zeros(1000, np.int8)
        at = values.ctypes.data
        device = FakeDevice(values)
        del device.__cuda_array_interface__["typestr"]
        without_shape = FakeDlpack(values)
        without_shape.tensor.shape = None
        for wrong, says in (
                (FakeDevice(values, shape=(-2, -500)), "of shape"),
                (FakeDevice(values, shape=(1.5,)), "an array with an invalid __cuda"),
                (FakeDevice(values, shape=(1 << 62, 1 << 62)), "of 2.* bytes at"),
                (FakeDevice(values, shape=(10, 10), strides=(1,)), "not contiguous"),
                (FakeDevice(values, strides=("a",)), "an array with an invalid __cuda"),
                (FakeDevice(values, strides=5), "an array with an invalid __cuda"),
                (FakeDevice(values, data=None), "an array with an invalid __cuda"),
                (FakeDevice(values, data=(-5, False)), "of 1000 bytes at -"),
                (FakeDevice(values, data=(1 << 64, False)), "of 1000 bytes at"),
                (FakeDevice(values, data=((1 << 64) - 8, False)), "of 1000 bytes at"),
                (FakeDevice(values, data=(None, False)), "an array in memory that no"),
                (FakeDevice(values, data=(at | 1, False), typestr="<f4"), "at .*, not aligned"),
                (FakeDevice(values, typestr="nothing"), "an array with an invalid __cuda"),
                (FakeDevice(values, version="new"), "an array with an invalid __cuda"),
                (FakeDevice(values, stream=0), "an array with an invalid __cuda"),
                (FakeDevice(values, stream=-7), "an array with an invalid __cuda"),
                (FakeDevice(values, stream="s"), "an array with an invalid __cuda"),
                (FakeDevice(values, mask=np.ones(1000, np.int8)), "a masked array"),
                (device, "an array with an invalid __cuda"),
                (FakeDlpack(values), "an array in memory that no"),
                (FakeDlpack(values, ndim=-1), "an invalid DLPack array .*it has -1 dimensions"),
                (FakeDlpack(values, ndim=1 << 30), "an invalid DLPack array .*it has 1073741824"),
                (without_shape, "an invalid DLPack array .*it has no shape"),
                (FakeDlpack(values, shape=(-5,)), "of shape"),
                (FakeDlpack(values, shape=(10, 100), strides=(1, 10)), "not contiguous"),
                (FakeDlpack(values, bits=24), "an array of items of 24 bits"),
                (FakeDlpack(values, bits=1), "an array of items of 1 bits"),
                (FakeDlpack(values, bits=0), "an array of items of 0 bits"),
                (FakeDlpack(values, code=77), "an array of items of 8 bits"),
                (FakeDlpack(values, lanes=4), "an array of items of 8 bits"),
                (FakeDlpack(values, data=None), "an array in memory that no"),
                (FakeDlpack(values, byte_offset=(1 << 64) - 1), "an array in memory|of"),
                (FakeDlpack(values, name=b"used_dltensor"), "an invalid DLPack array"),
                (FakeDlpack(values, device=None), "an invalid DLPack array"),
                (FakeDlpack(values, device=()), "an invalid DLPack array"),
                (FakeDlpack(values, device=(1, 0), device_type=99), "an invalid DLPack array"),
                (NoCapsule(values), "an invalid DLPack array")):
            with self.subTest(says), self.assertRaisesRegex(ValueError, f"^values is ({says})"):
                gpufec.viterbi_decode(wrong)
        out = np.zeros(63, np.uint8)
        read_only = FakeDevice(out, data=(out.ctypes.data, True))
        with mock.patch.object(gpufec._gpufec, "place_of",
                                        return_value=("device", 0)), \
                self.assertRaisesRegex(ValueError, "^out is read-only"):
            gpufec.viterbi_decode(values, out=read_only)
        unaligned = np.frombuffer(bytes(4001), np.float32, 1000, 1)
        with self.assertRaisesRegex(ValueError, "^values is not aligned"):
            gpufec.viterbi_decode(unaligned)
        with self.assertRaisesRegex(ValueError, "^shape is"):
            gpufec.device_array((-1, -1), np.int8)
        with self.assertRaisesRegex(ValueError, "^dtype is object"):
            gpufec.to_device(np.array([None]))

    def test_ThreadsThatShareADecoder_GetSameBits(self):
        """Four threads that share a decoder all get the bits that viterbi_decode() returns."""
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

    def test_SameSeed_RepeatsBitsNoiseAndChannel(self):
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

    def test_OutputThatOverlapsInput_IsRefused(self):
        code = dict(termination="truncated", frame_bits=64)
        values = noisy(gpufec.random_bits((4, 64)), 3.0, **code)
        expected, _ = gpufec.viterbi_decode(values, **code)
        memory = np.zeros(2 * values.size, np.uint8)
        given = memory[32:32 + values.size].view(np.int8).reshape(values.shape)
        given[:] = values
        inside = "^out is in the memory of values"
        for first in (1, 32, 40, 32 + values.size - 1):
            out = memory[first:first + 32].reshape(4, 8)
            with self.assertRaisesRegex(ValueError, inside):
                gpufec.viterbi_decode(given, **code, out=out)
        with self.assertRaisesRegex(ValueError, inside): # the input is a DLPack array
            gpufec.viterbi_decode(ByDlpack(given), **code, out=memory[33:65].reshape(4, 8))
        np.testing.assert_array_equal(given, values)
        for first in (0, 32 + values.size): # output directly before and after the input
            out = memory[first:first + 32].reshape(4, 8)
            np.testing.assert_array_equal(gpufec.viterbi_decode(given, **code, out=out)[0],
                                          expected)
        words = np.zeros(16200 + 900, np.int8)
        with self.assertRaisesRegex(ValueError, inside):
            gpufec.ldpc_decode(words[:16200], frame_size="short",
                               out=words.view(np.uint8)[16199:16199 + 900])

    def test_DeviceMemory_OverlapsByAddress(self):
        values = gpufec._memory.array_view("values", None, 1 << 40, (10, 20), np.dtype("f4"), 0)
        for first, overlaps in ((-40, False), (-39, True), (799, True), (800, False)):
            there = gpufec._memory.array_view("out", None, (1 << 40) + first, (5, 8),
                                        np.dtype("u1"), 0)
            with mock.patch.object(gpufec._memory, "view_of", lambda *_, v=there: v), \
                    self.subTest(first=first):
                make = lambda: gpufec._memory.output_array(object(), (5, 8), np.uint8, values)
                if overlaps:
                    self.assertRaisesRegex(ValueError, "^out is in the memory", make)
                else:
                    make()

    def test_WrongKindOfParameter_IsRefusedByName(self):
        values, frame = np.zeros(1000, np.int8), np.zeros(64800, np.int8)
        bits, book = np.zeros(8, np.uint8), gpufec.codebook_davey_mackay(8, 16, 4)
        sync = dict(q=16, n=8, frame_symbols=4)

        def decode_viterbi(**more):
            gpufec.viterbi_decode(values, **more)

        def decode_ldpc(**more):
            gpufec.ldpc_decode(frame, **more)

        def decode_sync(**more):
            gpufec.sync_decode(np.zeros((2, 32), np.uint8), book, **{**sync, **more})

        def channel(**more):
            gpufec.awgn(bits, **{"ebn0_db": 3.0, **more})

        for call, name, value in (
                (decode_viterbi, "batch", 1 << 40), (decode_viterbi, "threads", 1.5),
                (decode_viterbi, "slots", "3"), (decode_viterbi, "device", None),
                (decode_viterbi, "devices", [0.5]), (decode_viterbi, "devices", 1),
                (decode_viterbi, "polynomials", 7), (decode_viterbi, "polynomials", [1 << 40]),
                (decode_viterbi, "constraint_length", 7.0), (decode_viterbi, "puncturing", 5),
                (decode_viterbi, "soft_scale", "x"), (decode_viterbi, "packed_output", "no"),
                (decode_viterbi, "backend", 1), (gpufec.viterbi_decoder, "batch", 1 << 40),
                (decode_ldpc, "max_iterations", "3"), (decode_ldpc, "early_stop", "maybe"),
                (decode_ldpc, "rate", 0.5), (decode_ldpc, "punctured", [0.5]),
                (decode_ldpc, "offset", "x"), (gpufec.ldpc_decoder, "threads", 1.5),
                (decode_sync, "p_insert", "x"), (decode_sync, "alphabet", "2"),
                (decode_sync, "start_prior", ["a"]), (decode_sync, "n", 8.5),
                (channel, "seed", -1), (channel, "seed", 1 << 64), (channel, "ebn0_db", "3"),
                (channel, "first", 0.5)):
            with self.subTest(name, value=value), \
                    self.assertRaisesRegex(ValueError, f"^(an entry of )?{name} is .*: allowed"):
                call(**{name: value})
        for wrong in (dict(seed=-1), dict(alphabet=-2)):
            with self.assertRaisesRegex(ValueError, f"^{list(wrong)[0]} is -"):
                gpufec.bsid(bits, **wrong)
        with self.assertRaisesRegex(ValueError, "^shape is 1.5"):
            gpufec.random_bits(1.5)
        with self.assertRaisesRegex(TypeError, "speed"):
            gpufec.viterbi_decode(values, speed=7)
        gpufec.viterbi_decode(values, threads=np.int64(2), soft_scale=np.float32(1),
                              packed_output=np.True_, polynomials=np.array([0o171, 0o133]))

    def test_MaskedArray_IsRefused(self):
        values = np.ma.masked_array(np.zeros(1000, np.int8))
        with self.assertRaisesRegex(ValueError, r"^values is a masked array.*filled\(0\)"):
            gpufec.viterbi_decode(values)
        with self.assertRaisesRegex(ValueError, "^bits is a masked array"):
            gpufec.awgn(values.astype(np.uint8), 3.0)
        with self.assertRaisesRegex(ValueError, "^out is a masked array"):
            gpufec.viterbi_decode(values.data, out=np.ma.zeros(63, np.uint8))
        book, _, received, lengths = sync_frames(3)
        decode = dict(codebook=book, **SYNC, **RATES, lengths=lengths)
        for name, masked in (("codebook", book), ("lengths", lengths),
                             ("priors", np.ones((3, 40, 16), np.float32))):
            with self.assertRaisesRegex(ValueError, f"^{name} is a masked array"):
                gpufec.sync_decode(received, **{**decode, name: np.ma.masked_array(masked)})

    def test_NumPy2AndOlderBindings_AreRefusedAtImport(self):
        for version, says in (((2, 11), "pybind11 2.11, and NumPy is 2.1.0"), ((2, 12), "")):
            run = subprocess.run([sys.executable, "-c", AS_BUILT_WITH.format(version)],
                                 capture_output=True, text=True)
            self.assertEqual(run.returncode, 1 if says else 0)
            self.assertIn(says, run.stderr)
        self.assertGreater(gpufec._gpufec.pybind11_version, (2, 0))

    def test_KeyboardInterrupt_EndsACall(self):
        """SIGINT ends a call before half of its frames are decoded, and the decoder can be used
        again."""
        book = gpufec.codebook_davey_mackay(10, 32, 210)
        received = gpufec.random_bits((1000, 2100), 5)
        # Each batch has one frame, so that most batches are still to be decoded at the signal.
        decoder = gpufec.sync_decoder(book, form="corridor", batch=1, backend="cpu")
        untouched = 255 # not a valid symbol
        out = np.full((1000, 210), untouched, np.uint8)

        def interrupt():
            while out[0, 0] == untouched:
                pass
            os.kill(os.getpid(), signal.SIGINT)

        # A program that was started in the background may ignore SIGINT.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        thread = threading.Thread(target=interrupt)
        thread.start()
        with self.assertRaises(KeyboardInterrupt):
            decoder.decode(received, out=out)
        thread.join()
        self.assertTrue((out[500:] == untouched).all())
        again, _ = decoder.decode(received[:1])
        np.testing.assert_array_equal(again, out[:1])

    def test_HandlerOfASignal_RunsDuringACall(self):
        """A signal handler runs several times during each function that works on a large array."""
        core, book = gpufec._gpufec, gpufec.codebook_davey_mackay(10, 32, 210)
        sync, ldpc = core.sync_code(book, 32, 10, 210, 2), gpufec.ldpc_code()
        conv = (7, [0o171, 0o133], "")
        zeros = np.zeros(1 << 29, np.uint8)
        handled = []
        before = signal.signal(signal.SIGALRM, lambda *_: handled.append(1))
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        for name, work in dict(
                random_bits=lambda n: core.random_bits(n, 1, 0),
                awgn=lambda n: core.awgn(zeros[:n], 3.0, 0.5, 1, "int8", 32.0, 0),
                bsid=lambda n: core.bsid(zeros[None, :n], 0.01, 0.01, 0.0, 1, 2),
                conv_encode=lambda n: core.conv_encode(zeros[None, :n], 8 * n, *conv, "streaming"),
                frames=lambda n: core.conv_encode(zeros[:n].reshape(-1, 64), 512, *conv,
                                                  "tailbiting"),
                ldpc_encode=lambda n: core.ldpc_encode(zeros[:n // 4050 * 4050].reshape(-1, 4050),
                                                       ldpc),
                sync_encode=lambda n: core.sync_encode(zeros[:n].view(np.uint16), sync)).items():
            for size in (1 << k for k in range(22, 30)):
                handled.clear()
                signal.setitimer(signal.ITIMER_REAL, 1e-3, 1e-3)
                work(size)
                signal.setitimer(signal.ITIMER_REAL, 0)
                if len(handled) > 3:
                    break
            self.assertGreater(len(handled), 3, name)

    def test_InterpreterEndsWhileThreadsDecode_ProcessEnds(self):
        """A process whose daemon threads work without the GIL ends with status 0 and no message."""
        for work in ("gpufec.viterbi_decode(values)", "gpufec.awgn(bits, 3.0)",
                     "gpufec.bsid(bits)", "decoder.decode(values)"):
            for _ in range(5):
                run = subprocess.run([sys.executable, "-c", DAEMON.format(work)],
                                     capture_output=True, text=True)
                self.assertEqual((run.returncode, run.stderr), (0, ""), work)


if __name__ == "__main__":
    unittest.main()
