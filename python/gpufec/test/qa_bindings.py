#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Tests the names, defaults, docstrings and errors of the Python bindings."""

import pydoc
import re
import subprocess
import sys
import unittest

import numpy as np
from gnuradio import gpufec
import qa_support

DECODER_DEFAULTS = dict(
    constraint_length=None, polynomials=None, puncturing=None, termination=None,
    frame_bits=0, soft_input="int8", soft_scale=32.0,
    packed_output=True, decode_length=0, overlap=0, batch=0, slots=3, max_latency_ms=50,
    backend="auto", device=0, threads=1, cuda_kernel="auto", length_tag_key="packet_len",
    devices=[], preset="", positive_bit=1, lock="off", lock_constellation="bpsk",
    lock_presets=[], lock_memory=1000000, status_period_s=0, device_timeout_ms=10000, lock_first_item="i",
    io="host")
ENCODER_DEFAULTS = dict(
    constraint_length=None, polynomials=None, puncturing=None, termination=None,
    frame_bits=0, packed_input=True, packed_output=True, preset="", length_tag="packet_len")

# Invalid parameters, and a pattern of the error message, which names the parameter and its value.
WRONG_CODES = [
    (dict(preset="mars"), r'preset is "mars": allowed values are .* and others: see conv_presets\(\)'),
    (dict(preset="ccsds", constraint_length=7), 'preset is "ccsds": .* constraint_length$'),
    (dict(preset="ccsds", polynomials=[0o171, 0o133], puncturing=""),
     'preset is "ccsds": .* polynomials, puncturing$'),
    (dict(preset="ccsds", termination="streaming"), 'preset is "ccsds": .* termination$'),
    (dict(constraint_length=2), "constraint_length is 2"),
    (dict(constraint_length=10), "constraint_length is 10"),
    (dict(polynomials=[0o171]), "number of polynomials is 1"),
    (dict(polynomials=[0o171] * 7), "number of polynomials is 7"),
    (dict(polynomials=[0o171, 0]), r"polynomials entry is 0 \(octal\)"),
    (dict(polynomials=[0o171, 0o200]), r"polynomials entry is 200 \(octal\)"),
    (dict(polynomials=[0o70, 0o36]), "polynomials is"),
    (dict(polynomials=[171, 133]), "octal numbers 171,133 were probably meant"),
    (dict(puncturing="101"), 'puncturing is "101"'),
    (dict(puncturing="101,11"), 'puncturing is "101,11"'),
    (dict(puncturing="10,1x"), 'puncturing is "10,1x"'),
    (dict(puncturing="10,10"), 'puncturing is "10,10"'),
    (dict(termination="open"), 'termination is "open"'),
    (dict(frame_bits=-1), "^frame_bits is -1: allowed values are 0 or more$"),
    (dict(frame_bits=100), "frame_bits is 100"),
    (dict(termination="terminated"), "frame_bits is 0"),
    (dict(termination="tailbiting", frame_bits=5), "frame_bits is 5"),
    (dict(termination="truncated", frame_bits=2**24 + 1), "frame_bits is 16777217"),
]
WRONG_DECODERS = [
    (dict(soft_input="int16"), 'soft_input is "int16"'),
    (dict(soft_scale=0.0), "soft_scale is 0"),
    (dict(soft_scale=-1.0), "soft_scale is -1"),
    (dict(soft_scale=float("nan")), "soft_scale is -?nan"),
    (dict(soft_scale=float("inf")), "soft_scale is inf"),
    (dict(decode_length=-32), "decode_length is -32"),
    (dict(decode_length=33), "decode_length is 33"),
    (dict(overlap=-1), "overlap is -1"),
    (dict(overlap=5), "overlap is 5"),
    (dict(batch=-1), "batch is -1"),
    (dict(slots=0), "slots is 0"),
    (dict(devices=[0, -1]), "devices is -1"),
    (dict(devices=[0] * 17), "number of devices is 17"),
    (dict(slots=-1), "slots is -1"),
    (dict(slots=17), "slots is 17"),
    (dict(max_latency_ms=-1.0), "max_latency_ms is -1"),
    (dict(max_latency_ms=float("nan")), "max_latency_ms is -?nan"),
    (dict(device_timeout_ms=-1), "device_timeout_ms is -1: allowed values are 0 to 1e9"),
    (dict(device_timeout_ms=float("nan")), "device_timeout_ms is -?nan"),
    (dict(backend="gpu"), 'backend is "gpu"'),
    (dict(device=-1), "device is -1"),
    (dict(threads=0), "threads is 0"),
    (dict(threads=-2), "threads is -2"),
    (dict(threads=257), "threads is 257"),
    (dict(cuda_kernel="fast"), 'cuda_kernel is "fast"'),
]


def defaults_of(block):
    """Returns the defaults of the constructor of `block` by name, from its docstring."""
    signature = re.search(r"\(self: [^,]+, (.*)\) -> None", block.__init__.__doc__)[1]
    signature = re.sub(r": [\w[\]]+ = ", "=", signature)
    return eval(f"dict({signature})")


class qa_bindings(unittest.TestCase):
    def test_Constructors_HaveExpectedDefaults(self):
        for block, expected in ((gpufec.gpu_viterbi_pbvd, DECODER_DEFAULTS),
                                (gpufec.conv_encoder, ENCODER_DEFAULTS)):
            found = defaults_of(block)
            self.assertEqual(found, expected)
            self.assertEqual(list(found), list(expected))

    def test_Version_EqualsThatOfCMake(self):
        cmake = (qa_support.ROOT / "CMakeLists.txt").read_text()
        parts = [re.search(rf"set\(VERSION_{part} (\w+)\)", cmake)[1]
                 for part in ("MAJOR", "API", "ABI", "PATCH")]
        self.assertEqual(gpufec.__version__, ".".join(parts))
        self.assertIn("__version__", dir(gpufec))

    def test_Defaults_AreAcceptedAsKeywords(self):
        gpufec.gpu_viterbi_pbvd(**DECODER_DEFAULTS)
        gpufec.conv_encoder(**ENCODER_DEFAULTS)

    def test_ParametersAndMethods_AreDocumented(self):
        self.assertIn("positive soft value means bit 1", gpufec.gpu_viterbi_pbvd.__doc__)
        for block, parameters in ((gpufec.gpu_viterbi_pbvd, DECODER_DEFAULTS),
                                  (gpufec.conv_encoder, ENCODER_DEFAULTS)):
            for name in parameters:
                self.assertRegex(block.__init__.__doc__, rf"(?m)^\s+{name} : \S")
        for name in ("active_backend", "batch", "decode_length", "overlap",
                     "set_soft_scale", "soft_scale", "set_max_latency_ms",
                     "max_latency_ms"):
            lines = getattr(gpufec.gpu_viterbi_pbvd, name).__doc__.strip().splitlines()
            self.assertGreater(len(lines), 1, name)
        self.assertTrue(gpufec.__doc__)
        self.assertTrue(gpufec.conv_presets.__doc__)

    def test_Presets_HaveUniqueNamesAndValidCodes(self):
        presets = gpufec.conv_presets()
        names = [p.name for p in presets]
        self.assertEqual(len(set(names)), len(names))
        ccsds = presets[names.index("ccsds")]
        self.assertEqual(ccsds.polynomials, [0o171, -0o133])
        self.assertEqual(ccsds.termination, "streaming")
        self.assertIn("CCSDS 131.0", ccsds.source)
        for p in presets:
            frame_bits = 0 if p.termination == "streaming" else 64
            gpufec.conv_encoder(termination=p.termination, frame_bits=frame_bits,
                                **qa_support.code_of(p))
            for block in (gpufec.conv_encoder, gpufec.gpu_viterbi_pbvd):
                block(preset=p.name, frame_bits=frame_bits)

    def test_Preset_EncodesLikeItsCode(self):
        bits = qa_support.random_bits(8 * 120, 1)
        for name in ("ccsds", "dvb_3_4", "lte"):
            p = gpufec.find_conv_preset(name)
            frame_bits = 0 if p.termination == "streaming" else 40
            coded, _ = qa_support.run(
                qa_support.vector_source(np.packbits(bits)),
                gpufec.conv_encoder(preset=name, frame_bits=frame_bits,
                                    packed_output=False))
            expected = qa_support.encode_frames(
                bits, frame_bits or len(bits), termination=p.termination,
                **qa_support.code_of(p))
            np.testing.assert_array_equal(coded, expected.ravel())
            decoded, _ = qa_support.run(
                qa_support.vector_source(qa_support.soft_values(coded)),
                gpufec.gpu_viterbi_pbvd(preset=name, frame_bits=frame_bits, backend="cpu"))
            np.testing.assert_array_equal(np.unpackbits(decoded), bits)

    def test_PresetsOfOtherPrograms_HaveTheirPolynomials(self):
        """Presets have the polynomials that gr-satellites and gr-fec pass to cc_decoder, whose
        notation has the bits reversed."""
        for name, theirs in (("ccsds", [79, -109]), ("nasa_dsn", [-109, 79]),
                             ("ccsds_uninverted", [79, 109]),
                             ("nasa_dsn_uninverted", [109, 79]), ("gr_fec", [109, 79])):
            ours = [int(f"{abs(p):07b}"[::-1], 2) * (1 if p > 0 else -1) for p in theirs]
            self.assertEqual(gpufec.find_conv_preset(name).polynomials, ours)
            self.assertEqual(gpufec.polynomials_from_gr_fec(theirs), ours)

    def test_PolynomialsInGrFecNotation_CauseWarning(self):
        """A block accepts polynomials that look like gr-fec's notation, and logs a warning unless the
        polynomials are those of a known code."""
        for polynomials, doubted in (([109, 79], True), ([0o133, 0o171], False)):
            for block in ("conv_encoder", "gpu_viterbi_pbvd"):
                message = "155,117 (octal): they are those of CCSDS 1/2, 133,171"
                # On a busy machine, the thread that writes the log may be late, so a second
                # attempt waits longer.
                for seconds in (0.5, 5):
                    found = subprocess.run(
                        [sys.executable, "-c", "import time\nfrom gnuradio import gpufec\n"
                         f"gpufec.{block}(polynomials={polynomials})\n"
                         f"time.sleep({seconds})"],
                        check=True, capture_output=True, text=True)
                    if message in found.stdout + found.stderr or not doubted:
                        break
                self.assertEqual(message in found.stdout + found.stderr, doubted)

    def test_Help_ListsBlocksAndPresets(self):
        text = pydoc.render_doc(gpufec, renderer=pydoc.plaintext)
        self.assertIn("class gpu_viterbi_pbvd", text)
        self.assertIn("conv_presets(", text)
        listed = re.findall(r"\w+", gpufec.conv_presets.__doc__)
        for p in gpufec.conv_presets():
            self.assertIn(p.name, listed)
            self.assertIn(p.name, text)
        self.assertRegex(gpufec.gpu_viterbi_pbvd.__init__.__doc__, r"conv_presets\(\)")

    def test_WrongParameters_AreNamedByError(self):
        for block, table in ((gpufec.conv_encoder, WRONG_CODES),
                             (gpufec.gpu_viterbi_pbvd, WRONG_CODES + WRONG_DECODERS)):
            for parameters, message in table:
                with self.subTest(block=block.__name__, **parameters):
                    with self.assertRaisesRegex(ValueError, message) as refused:
                        block(**parameters)
                    self.assertRegex(str(refused.exception), ".+ is .+: .+")

    @unittest.skipUnless(qa_support.cuda_missing(), "there is a CUDA device")
    def test_CudaWithoutADevice_RaisesError(self):
        with self.assertRaisesRegex(RuntimeError, "CUDA"):
            gpufec.gpu_viterbi_pbvd(backend="cuda")
        self.assertEqual(gpufec.gpu_viterbi_pbvd(backend="auto").active_backend(), "cpu")

    def test_Getters_ReturnChosenValues(self):
        decoder = gpufec.gpu_viterbi_pbvd(backend="cpu", decode_length=96, overlap=42,
                                          batch=5, soft_scale=20.0, max_latency_ms=7.5)
        self.assertEqual(decoder.active_backend(), "cpu")
        self.assertEqual(decoder.decode_length(), 96)
        self.assertEqual(decoder.overlap(), 42)
        self.assertEqual(decoder.batch(), 5)
        self.assertEqual(decoder.soft_scale(), 20.0)
        self.assertEqual(decoder.max_latency_ms(), 7.5)
        decoder = gpufec.gpu_viterbi_pbvd(backend="cpu")
        self.assertEqual(decoder.decode_length() % 32, 0)
        self.assertGreaterEqual(decoder.overlap(), 6)
        self.assertGreater(decoder.batch(), 0)


if __name__ == "__main__":
    qa_support.main()
