#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples of docs/converting.md run: what stood there before and what stands there after
decode the same input to the same bits."""

import pathlib
import re
import subprocess
import sys
import os
import tempfile
import unittest

import numpy as np
from gnuradio import blocks, fec, gpufec, gr

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python" / "gpufec"))
import qa_support as support # noqa: E402

PAGE = (ROOT / "docs" / "converting.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"(?s)<!-- example: ([\w ]+) -->\n```\w+\n(.*?)```", PAGE))
used = set()

if not hasattr(blocks, "byte_t"): # gr-satellites 4.4.0 looks for it there
    blocks.byte_t = gr.types.byte_t
try:
    import satellites.components.deframers # noqa: F401
    from satellites.hier.ccsds_viterbi import ccsds_viterbi
except ImportError:
    ccsds_viterbi = None
try:
    from gnuradio import dvbs2rx
except ImportError:
    dvbs2rx = None


def example(name):
    """What an example of the page defines."""
    used.add(name)
    names = {"gpufec": gpufec, "fec": fec, "blocks": blocks, "gr": gr, "dvbs2rx": dvbs2rx,
             "ccsds_viterbi": ccsds_viterbi}
    exec(compile(EXAMPLES[name], name, "exec"), names)
    return names


def through(items, *chain):
    """What comes out of the blocks, as an array."""
    top = gr.top_block()
    items = np.asarray(items)
    source = {"f": blocks.vector_source_f, "b": blocks.vector_source_b,
              "B": blocks.vector_source_b}[items.dtype.char]
    sink = blocks.vector_sink_b()
    if items.dtype.char == "b":
        items = items.view(np.uint8)
    top.connect(source(items.tolist()), *chain, sink)
    top.run()
    return np.array(sink.data(), np.uint8)


def soft(coded, sigma=0.4):
    """Floats, positive for bit 1, and some wrong."""
    noise = np.random.default_rng(4).normal(0, sigma, len(coded))
    return (2.0 * np.asarray(coded) - 1 + noise).astype(np.float32)


class qa_converting(unittest.TestCase):
    def setUp(self):
        self.bits = np.random.default_rng(9).integers(0, 2, 8 * 2046, np.uint8)

    def both(self, name, received, at_least=0.95, bits=None):
        """Decodes with both, and compares them with what was sent. gr-fec ends a stream
        early."""
        bits = self.bits if bits is None else bits
        for half in ("before", "after"):
            names = example(f"{name} {half}")
            chain = [names[n] for n in ("signed", "decoder") if n in names]
            decoded = through(received, *chain)[:len(bits)]
            self.assertGreaterEqual(len(decoded), at_least * len(bits), half)
            wrong = np.count_nonzero(decoded != bits[:len(decoded)])
            self.assertLessEqual(wrong, 2e-3 * len(bits), half)

    def coded(self, **code):
        encoder = gpufec.conv_encoder(packed_input=False, packed_output=False, **code)
        return through(self.bits, encoder)

    def test_polynomials(self):
        self.assertEqual(example("polynomials")["polynomials"], [0o171, -0o133])
        table = re.findall(r"\| `(\[0o[^`]*\])` \| `(\[[^`]*\])` \| `poly2trellis\((\d), "
                           r"\[([\d ]+)\]\)`", PAGE)
        self.assertEqual(len(table), 5)
        for here, theirs, length, matlab in table:
            here = eval(here)
            self.assertEqual(list(gpufec.polynomials_from_gr_fec(eval(theirs), int(length))),
                             here)
            self.assertEqual([int(p, 8) for p in matlab.split()], [abs(p) for p in here])

    def test_gr_fec_stream(self):
        self.both("gr_fec_stream", soft(self.coded(preset="gr_fec")), 0.8)

    def test_gr_fec_punctured(self):
        code = dict(constraint_length=7, polynomials=[0o133, 0o171], puncturing="110,101")
        self.both("gr_fec_punctured", soft(self.coded(**code), 0.3), 0.8)

    def frames(self):
        self.bits = self.bits[:15 * 1024]
        return self.coded(constraint_length=7, polynomials=[0o133, 0o171],
                          termination="terminated", frame_bits=1024)

    def test_gr_fec_frames(self):
        self.both("gr_fec_frames", soft(self.frames()), 0.9)

    def test_gr_fec_object(self):
        self.both("gr_fec_object", soft(self.frames()), 0.9)

    def test_gr_fec_bytes(self):
        values = np.clip(128 + 32 * soft(self.frames()), 0, 255).astype(np.uint8)
        self.both("gr_fec_bytes", values, 0.9)

    def test_gr_fec_encoder(self):
        theirs = through(self.bits, example("gr_fec_encoder before")["encoder"])
        ours = through(self.bits, example("gr_fec_encoder after")["encoder"])
        self.assertGreater(len(theirs), 4096)
        self.assertTrue(np.array_equal(theirs, ours[:len(theirs)]))

    @unittest.skipIf(ccsds_viterbi is None, "gr-satellites is not installed")
    def test_ccsds_viterbi(self):
        self.both("ccsds_viterbi", soft(self.coded(preset="nasa_dsn")), 0.8)
        presets = re.findall(r"\| `\"([^\"]+)\"` \| `\"(\w+)\"` \|", PAGE)
        self.assertEqual(len(presets), 4)
        for theirs, ours in presets:
            received = soft(self.coded(preset=ours))
            decoded = through(received, ccsds_viterbi(code=theirs))
            self.assertGreater(len(decoded), 0.8 * len(self.bits))
            self.assertLess(np.mean(decoded != self.bits[:len(decoded)]), 2e-3)

    @unittest.skipIf(ccsds_viterbi is None, "gr-satellites is not installed")
    def test_deframer(self):
        self.assertIn("ccsds_concatenated", type(example("deframer")["deframer"]).__name__)

    def llrs(self, sigma):
        """Frames of normal 1/2 and their LLRs in nats, positive for bit 0."""
        message = np.random.default_rng(2).integers(0, 2, 32 * 32400, np.uint8)
        encoder = gpufec.ldpc_encoder(packed_input=False, packed_output=False)
        coded = through(message, encoder)
        return message, -2 / sigma**2 * soft(coded, sigma)

    @unittest.skipIf(dvbs2rx is None, "gr-dvbs2rx is not installed")
    def test_dvbs2rx(self):
        message, llr = self.llrs(0.75)
        values = np.clip(np.rint(llr), -127, 127).astype(np.int8)
        self.both("dvbs2rx", values, 0.5, np.packbits(message))

    def test_ldpc_decode(self):
        message, llr = self.llrs(0.75)
        decoded = through(llr.astype(np.float32), example("ldpcDecode")["decoder"])
        self.assertTrue(np.array_equal(decoded, message))

    def test_vitdec(self):
        names = example("vitdec")
        received = soft(self.coded(constraint_length=7, polynomials=[0o171, 0o133]))
        for decoder, values in (
                (names["unquantised"], -received),
                (names["three_bits"],
                 (2 * np.clip(np.rint(3.5 + 2 * received), 0, 7) - 7).astype(np.int8))):
            decoded = through(values, decoder)
            self.assertEqual(len(decoded), len(self.bits))
            self.assertLess(np.mean(decoded != self.bits), 2e-3)

    @unittest.skipUnless("GPUFEC_TOOL" in os.environ, "needs the gpufec program")
    def test_satdump(self):
        received = soft(self.coded(preset="ccsds"))
        command = EXAMPLES["satdump"].split()
        used.add("satdump")
        self.assertEqual(command[0], "gpufec")
        with tempfile.TemporaryDirectory() as folder:
            np.clip(32 * received, -127, 127).astype(np.int8).tofile(
                os.path.join(folder, "recording.soft"))
            subprocess.run([os.environ["GPUFEC_TOOL"]] + command[1:], cwd=folder,
                           check=True, capture_output=True)
            decoded = np.fromfile(os.path.join(folder, "decoded.bin"), np.uint8)
        wrong = np.unpackbits(decoded)[:len(self.bits)] != self.bits
        self.assertLess(np.mean(wrong), 2e-3)

    def test_z_every_example_was_used(self):
        needed = set(EXAMPLES)
        if ccsds_viterbi is None:
            needed -= {"deframer", "ccsds_viterbi before", "ccsds_viterbi after"}
        if dvbs2rx is None:
            needed -= {"dvbs2rx before", "dvbs2rx after"}
        if "GPUFEC_TOOL" not in os.environ:
            needed.discard("satdump")
        self.assertEqual(used, needed)


if __name__ == "__main__":
    support.main()
