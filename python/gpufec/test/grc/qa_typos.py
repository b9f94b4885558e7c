#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests that error messages of blocks, array functions and the tool suggest a correction of
misspelt names, and that names in another case are accepted."""

import contextlib
import inspect
import os
import subprocess
import tempfile
import unittest
import warnings

import numpy as np
from gnuradio import gpufec
import qa_support as support

VALUES = np.zeros(64, np.int8)
SYMBOLS = VALUES.view(np.complex64)

# A block or function, its arguments, and a part of the error message's first line that has the
# correct name.
TYPOS = [
    (gpufec.gpu_viterbi_pbvd, (), dict(prest="dvb_3_4"), "unexpected argument prest: preset?"),
    (gpufec.gpu_viterbi_pbvd, ("ccsds",), {}, 'preset="ccsds"?'),
    (gpufec.gpu_viterbi_pbvd, (), dict(preset="dbv_3_4"), 'preset is "dbv_3_4": dvb_3_4?'),
    (gpufec.gpu_viterbi_pbvd, (), dict(preset="ccds"), "ccsds?"),
    (gpufec.gpu_viterbi_pbvd, (), dict(termination="tail_bitting"), "tailbiting"),
    (gpufec.gpu_viterbi_pbvd, (), dict(lock_presets="ccsds"), "lists of strings"),
    (gpufec.gpu_viterbi_pbvd, (), dict(lock_presets=5), "lists of strings"),
    (gpufec.gpu_ldpc_dvbs2, (), dict(named_codes=5), "dictionaries of strings"),
    (gpufec.gpu_ldpc_dvbs2, (), dict(message_positions=5.5), "strings and lists of integers"),
    (gpufec.gpu_viterbi_pbvd, (), dict(polynomial=[0o171, 0o133]), "polynomials?"),
    (gpufec.gpu_viterbi_pbvd, (), dict(packed_outptu=False), "packed_output?"),
    (gpufec.gpu_viterbi_pbvd, (), dict(threads=2.0), "threads is 2.0: allowed values are integers"),
    (gpufec.conv_encoder, (), dict(framebits=100), "frame_bits?"),
    (gpufec.gpu_ldpc_dvbs2, (), dict(rate=0.5), 'rate is 0.5: allowed values are strings, such as "1/2"'),
    (gpufec.gpu_ldpc_dvbs2, (), dict(rate=0.75), 'rate is 0.75: allowed values are strings, such as "3/4"'),
    (gpufec.gpu_ldpc_dvbs2, (), dict(rate="0.5"), 'rate is "0.5": 1/2?'),
    (gpufec.gpu_ldpc_dvbs2, (), dict(frame_size=64800), 'frame_size is 64800: allowed values are strings, such as "normal"'),
    (gpufec.gpu_ldpc_dvbs2, (), dict(standard="dvbs-2s"), "dvbs2x"),
    (gpufec.gpu_ldpc_dvbs2, (), dict(max_iter=50), "max_iterations?"),
    (gpufec.gpu_ldpc_dvbs2, (), dict(modcod="QPSK 1/2"), "rate?"),
    (gpufec.gpu_ldpc_dvbs2, (), dict(backend="gpu"), "cuda"),
    (gpufec.ldpc_encoder, (), dict(rate="QPSK 3/4"), "3/4?"),
    (gpufec.bch_decoder, (), dict(fram_size="short"), "frame_size?"),
    (gpufec.rs_decoder, (), dict(interleave=5), "interleaving?"),
    (gpufec.rs_decoder, (), dict(code=223), "code is 223: allowed values are strings"),
    (gpufec.dvbs2_fec_receiver, (), dict(constelation="8psk"), "constellation?"),
    (gpufec.gpu_sync_map, (), {}, "missing a required argument: 'codebook'"),
    (gpufec.fec_viterbi_decoder, (), dict(framesize=100), "frame_size?"),
    (gpufec.fec_ldpc_decoder, (), dict(rate=0.9), 'rate is 0.9: allowed values are strings, such as "9/10"'),
    (gpufec.viterbi_decode, (VALUES,), dict(prest="ccsds"), "preset?"),
    (gpufec.viterbi_decode, (VALUES, "ccsds"), {}, 'preset="ccsds"?'),
    (gpufec.viterbi_decoder, (), dict(soft_input="int_16"), "int8"),
    (gpufec.viterbi_decode, (VALUES.view(np.uint8),), {}, '"packed4" (two values per byte) or'),
    (gpufec.ldpc_decode, (VALUES,), dict(rate=0.5), 'as "1/2"'),
    (gpufec.ldpc_decode, (VALUES,), dict(outputs="llr"), "output?"),
    (gpufec.viterbi_decode, (SYMBOLS,), {}, "values.view(numpy.float32)"),
    (gpufec.viterbi_decode, (SYMBOLS,), dict(soft_input="float"), "values.view(numpy.float32)"),
    (gpufec.ldpc_decode, (SYMBOLS,), {}, "values.view(numpy.float32)"),
    (gpufec.ldpc_decode, (SYMBOLS.astype(complex),), {},
     "values.astype(numpy.complex64).view(numpy.float32)"),
    (gpufec.ldpc_decode, (VALUES,), dict(soft_input="complex"), 'soft_input="symbols"'),
    (gpufec.ldpc_decode, (VALUES,), dict(soft_input="symbols"), "gpu_ldpc_dvbs2"),
    (gpufec.gpu_ldpc_dvbs2, (), dict(soft_input="complex"), "symbols, symbols16 and symbols8"),
    (gpufec.dvbs2_fec_receiver, (), dict(soft_input="complex"), "symbols16 and symbols8"),
    (gpufec.dvbs_fec_receiver, (), dict(soft_input="complex"), "symbols16 and symbols8"),
    (gpufec.dvbs_fec_receiver, (), dict(rate=0.75), 'rate is 0.75: allowed values are strings, such as "3/4"'),
    (gpufec.dvbs_fec_receiver, (), dict(rate="4/5"), "auto, 1/2, 2/3, 3/4, 5/6 and 7/8"),
    (gpufec.dvbs_deframer, (), dict(length_tags=""), "length_tag?"),
    (gpufec.rs_decode, (VALUES.view(np.uint8),), dict(erasure=None), "erasures?"),
    (gpufec.conv_encode, (VALUES,), dict(packed_inptu=True), "packed_input?"),
    (gpufec.awgn, (VALUES.view(np.uint8),), dict(ebn0=3.0), "ebn0_db?"),
    (gpufec.sync_encode, (VALUES.view(np.uint8), "no_file"), dict(frame_symbol=4), "frame_symbols?"),
]
TOOL_TYPOS = [
    ("decode viterbi --threds 2", "'--threds': --threads?"),
    ("decode viterbi --preset dbv_3_4", '--preset is "dbv_3_4": dvb_3_4?'),
    ("ber ldpc --rate 0.5", '--rate is "0.5": 1/2?'),
    ("ber ldpc --frame-size 64800", "normal"),
    ("ber ldpc --algoritm min_sum", "--algorithm?"),
    ("ber viterbi --soft-input int7", "int8"),
    ("decode ldpc --soft-input complex - -", "symbols, symbols16 and symbols8"),
    ("dekode viterbi", "decode"),
    ("decode vitrebi", "viterbi"),
]


class qa_typos(unittest.TestCase):
    def check(self, answer, right):
        first = answer.splitlines()[0]
        self.assertLessEqual(len(first), 120)
        self.assertIn(right, first)

    def test_MisspeltArguments_ErrorSuggestsCorrection(self):
        for function, args, kwargs, right in TYPOS:
            with self.subTest(function=function.__name__, **kwargs):
                with self.assertRaises((TypeError, ValueError)) as refused:
                    function(*args, **kwargs)
                self.check(str(refused.exception), right)

    def run_tool(self, line, **more):
        if "GPUFEC_TOOL" not in os.environ:
            self.skipTest("GPUFEC_TOOL is not set")
        return subprocess.run([os.environ["GPUFEC_TOOL"], *line.split()], text=True,
                              capture_output=True, timeout=100, **more)

    def test_MisspeltOptionsOfTool_ErrorSuggestsCorrection(self):
        for line, right in TOOL_TYPOS:
            with self.subTest(line):
                done = self.run_tool(line)
                self.assertEqual(done.returncode, 2)
                self.check(done.stderr, right)

    def test_NamesInOtherCase_AreAccepted(self):
        same = [(dict(preset="CCSDS"), dict(preset="ccsds")),
                (dict(preset="dvb34"), dict(preset="dvb_3_4")),
                (dict(preset="DVB-3-4", backend="CPU"), dict(preset="dvb_3_4")),
                (dict(termination="Tail-Biting", frame_bits=64),
                 dict(termination="tailbiting", frame_bits=64))]
        bits = gpufec.random_bits(64)
        for typed, meant in same:
            with self.subTest(**typed):
                gpufec.gpu_viterbi_pbvd(**typed)
                typed, meant = ({k: v for k, v in p.items() if k != "backend"}
                                for p in (typed, meant))
                np.testing.assert_array_equal(
                    gpufec.conv_encode(bits, packed_input=False, **typed),
                    gpufec.conv_encode(bits, packed_input=False, **meant))
        for typed, meant in ((("DVB-S2", "Normal", "1/2"), ("dvbs2", "normal", "1/2")),
                             (("DVBS2X", "VL-SNR Short", "1/5"),
                              ("dvbs2x", "vl-snr short", "1/5")),
                             (("WiFi", "648", "1/2"), ("wifi", "648", "1/2")),
                             (("NR", "BG1 Z384", "1/3"), ("nr", "bg1 z384", "1/3"))):
            self.assertEqual(gpufec.ldpc_code(*typed).name, gpufec.ldpc_code(*meant).name)
            gpufec.gpu_ldpc_dvbs2(*typed, backend="Cpu")
        values = np.zeros(32400, np.float32)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            soft, _ = gpufec.ldpc_decode(np.zeros(648, np.int8), "WIFI", "648", output="LLR")
        self.assertEqual(soft.dtype, np.int8)
        gpufec.bch_decoder("DVB-S2", "Short", "1/2")
        gpufec.bbframe_to_ts("DVB-T2", "short", "1/2")
        block = gpufec.gpu_viterbi_pbvd(lock="Auto", lock_constellation="QPSK",
                                        lock_presets=["DVB_3-4"], lock_first_item="I")
        self.assertTrue(block)

    def test_RateGivenAsModcod_SetsConstellation(self):
        for rate in ("8PSK 3/4", "8psk3/4", "8-PSK 3/4"):
            block = gpufec.gpu_ldpc_dvbs2(rate=rate, soft_input="symbols", backend="cpu",
                                          batch=1)
            meant = gpufec.gpu_ldpc_dvbs2(rate="3/4", constellation="8psk",
                                          soft_input="symbols", backend="cpu", batch=1)
            self.assertEqual(block.relative_rate(), meant.relative_rate())
        gpufec.dvbs2_fec_receiver(rate="8PSK 3/4", backend="cpu")
        with self.assertRaisesRegex(ValueError, 'this MODCOD contradicts constellation "16apsk"'):
            gpufec.gpu_ldpc_dvbs2(rate="8PSK 3/4", constellation="16apsk")
        with self.assertRaisesRegex(ValueError, "no MODCOD has this constellation at rate 1/4"):
            gpufec.gpu_ldpc_dvbs2(rate="8PSK 1/4", soft_input="symbols")

    def test_NamesAndOctalsForTool_IgnoreCaseAndPrefix(self):
        values = np.random.default_rng(1).integers(-99, 100, 4000).astype(np.int8)
        for options in (("--polynomials 171,133", "--polynomials 0o171,0o133"),
                        ("--polynomials 171,-133", "--polynomials 0o171,-0o133"),
                        ("--preset ccsds_3_4", "--preset CCSDS34"),
                        ("--backend cpu", "--backend CPU")):
            found = []
            with tempfile.TemporaryDirectory() as folder:
                values.tofile(f"{folder}/in")
                for k, option in enumerate(options):
                    done = self.run_tool(f"decode viterbi {option} {folder}/in {folder}/{k}")
                    self.assertIn(done.returncode, (0, 3), done.stderr)
                    with open(f"{folder}/{k}", "rb") as file:
                        found.append(file.read())
            self.assertTrue(found[0])
            self.assertEqual(*found)

    def test_WrappedConstructors_KeepSignature(self):
        parameters = inspect.signature(gpufec.gpu_viterbi_pbvd.__init__).parameters
        self.assertEqual(parameters["backend"].default, "auto")
        self.assertEqual(gpufec.gpu_viterbi_pbvd(7, [0o171, 0o133]).batch() > 0, True)
        self.assertTrue(gpufec.gpu_viterbi_pbvd.__init__.__doc__.startswith("__init__(self"))

    def test_UnpackedBitsInPackedArgument_CauseWarning(self):
        bits = gpufec.random_bits(32400)
        counter = np.zeros(4050, np.uint8)
        counter[-1] = 1
        for given, packed, warned in ((bits, True, True), (bits, False, False),
                                      (np.packbits(bits), True, False), (counter, True, False)):
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                gpufec.ldpc_encode(given, packed_input=packed)
                gpufec.conv_encode(given, packed_input=packed)
            texts = [str(w.message) for w in found]
            self.assertEqual(len(texts), 2 * warned, texts)
            self.assertTrue(all("packed_input=False" in text for text in texts))
            self.assertTrue(all(w.filename == __file__ for w in found))


if __name__ == "__main__":
    support.main()
