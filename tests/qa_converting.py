#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the examples of docs/converting.md and docs/converting/, and tests the tables of these
pages. The code before and after a conversion must decode the same input to the sent bits, with at
most 0.2 % errors."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import warnings

import numpy as np
import pmt
from gnuradio import blocks, dtv, fec, gpufec, gr

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python" / "gpufec" / "test"))
sys.path.insert(0, str(ROOT / "python" / "gpufec" / "test" / "ccsds"))
sys.path.insert(0, str(ROOT / "python" / "gpufec" / "test" / "viterbi"))
sys.path.insert(0, str(ROOT / "bench" / "ldpc"))
import ccsds_signals # noqa: E402
import dvbs2rx_receiver # noqa: E402
import qa_dvbs # noqa: E402
import qa_support as support # noqa: E402

PAGE = "\n".join(path.read_text(encoding="utf-8") for path in [
    ROOT / "docs" / "converting.md", *sorted((ROOT / "docs" / "converting").glob("*.md"))])
EXAMPLES = dict(re.findall(r"(?s)<!-- example: ([\w ]+) -->\n```\w+\n(.*?)```", PAGE))
used = set()
# An alist file that gr-fec installs.
ALIST = pathlib.Path(gr.prefix()) / "share/gnuradio/fec/ldpc/n_0300_k_0152_gap_03.alist"

if not hasattr(blocks, "byte_t"): # gr-satellites 4.4.0 uses the old name byte_t.
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
    """Runs an example of the page. Returns the names that it defines."""
    used.add(name)
    names = {"gpufec": gpufec, "dtv": dtv, "fec": fec, "blocks": blocks, "gr": gr,
             "dvbs2rx": dvbs2rx,
             "ccsds_viterbi": ccsds_viterbi, "alist": str(ALIST)}
    exec(compile(EXAMPLES[name], name, "exec"), names)
    return names


def through(items, *chain):
    """Returns the output bytes of a chain of blocks for an array of items."""
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
    """Returns float soft values of the bits `coded`, positive for bit 1, with noise of standard
    deviation `sigma`. Some values have the wrong sign."""
    noise = np.random.default_rng(4).normal(0, sigma, len(coded))
    return (2.0 * np.asarray(coded) - 1 + noise).astype(np.float32)


class qa_converting(unittest.TestCase):
    def setUp(self):
        self.bits = np.random.default_rng(9).integers(0, 2, 8 * 2046, np.uint8)

    def both(self, name, received, at_least=0.95, bits=None):
        """Decodes with the examples NAME before and NAME after, and compares with the sent bits. At
        least the fraction `at_least` must be decoded, because gr-fec drops the end of a stream."""
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

    def test_PolynomialsOfPage_AreEquivalent(self):
        self.assertEqual(example("polynomials")["polynomials"], [0o171, -0o133])
        table = re.findall(r"\| `(\[0o[^`]*\])` \| `(\[[^`]*\])` \| `poly2trellis\((\d), "
                           r"\[([\d ]+)\]\)`", PAGE)
        self.assertEqual(len(table), 5)
        for here, theirs, length, matlab in table:
            here = eval(here)
            self.assertEqual(list(gpufec.polynomials_from_gr_fec(eval(theirs), int(length))),
                             here)
            self.assertEqual([int(p, 8) for p in matlab.split()], [abs(p) for p in here])

    def test_TableOfConventions_EqualsBlocks(self):
        """The table of conventions states the sign that each decoder expects, and all its notations
        of polynomials mean the same code."""
        table = PAGE.split("## Polynomials")[0]
        rows = [[cell.strip() for cell in row.split("|")] for row in re.findall(
            r"(?m)^\| (.* \| [01](?: \(`positive_bit=\d`\))? \| .*) \|$", table)]
        self.assertEqual({row[0]: int(row[1][0]) for row in rows}, {
            "`gpu_viterbi_pbvd`": 1, "`gpu_ldpc_dvbs2`": 0, "gr-fec `extended_decoder`": 1,
            "gr-fec `decoder`": 1, "gr-satellites `ccsds_viterbi`": 1,
            "gr-dvbs2rx `ldpc_decoder_bb`": 0, "SatDump `.soft`, `.s`": 1,
            "MATLAB `vitdec`, unquantised": 0, "MATLAB `vitdec`, soft of 3 bits": 1,
            "MATLAB `ldpcDecode`": 0})
        declared = support.declared()
        for row, block in zip(rows, ("gpu_viterbi_pbvd", "gpu_ldpc_dvbs2")):
            sign, = (p for p in declared[block].members["make"].parameters
                     if p.name == "positive_bit")
            self.assertEqual(int(sign.default), int(row[1][0]))
        for row in rows:
            octal = re.fullmatch(r"0o(\d+), 0o(\d+)|(171), (133), written without 0o", row[2])
            reverse = re.fullmatch(r"(\d+), (\d+)", row[2])
            if octal:
                found = [int(p, 8) for p in octal.groups() if p]
            elif reverse:
                found = gpufec.polynomials_from_gr_fec([int(p) for p in reverse.groups()])
            else:
                self.assertIn(row[2], ("", "the same"))
                continue
            self.assertEqual(list(found), [0o171, 0o133], row[0])

    def test_FormatsOfSoftValues_DecodeToSentBits(self):
        sent = gpufec.random_bits(4000, seed=3)
        coded = gpufec.conv_encode(sent, preset="ccsds", packed_input=False, packed_output=False)
        x, a = soft(coded), 900.0
        steps = lambda most: np.clip(np.rint(x * most / 4), -most, most).astype(int)
        files = {"float, symbols at ±1": x, "float, other amplitude a": x * np.float32(a),
                 "complex64, I and Q at ±a": (x * np.float32(a)).view(np.complex64),
                 "int8, positive for 1": steps(127).astype(np.int8),
                 "int8, positive for 0": -steps(127).astype(np.int8),
                 "uint8, 128 means unknown": (steps(127) + 128).astype(np.uint8),
                 "two 4-bit values per byte": (
                     (steps(7)[::2] & 15) << 4 | steps(7)[1::2] & 15).astype(np.uint8),
                 "int16 of amplitude a": np.rint(x * a).astype(np.int16),
                 "0 to 7": np.clip(np.floor(x * 4) + 4, 0, 7).astype(np.uint8),
                 "hard bits, one per byte": (x > 0).astype(np.uint8),
                 "hard bits, eight per byte": np.packbits(x > 0)}
        table = PAGE.split("## Formats of soft values")[1].split("## ")[0]
        rows = [[cell.strip(" `") for cell in row.split("|")[1:-1]]
                for row in re.findall(r"(?m)^\| .* `soft_input=.*\|$", table)]
        self.assertEqual([row[0] for row in rows], list(files))
        for name, _, first, parameters in rows:
            with self.subTest(name):
                v = files[name]
                values = eval(first, {"np": np, "v": v}) if first else v
                arguments = eval(f"dict({parameters})", {"a": a})
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    decoded, _ = gpufec.viterbi_decode(values, preset="ccsds",
                                                       packed_output=False, **arguments)
                wrong = np.count_nonzero(decoded[:len(sent)] != sent)
                self.assertLessEqual(wrong, 2e-3 * len(sent))
                # Bits are correct even with a wrong scale, so the test checks the scale separately.
                if arguments["soft_input"] != "packed4": # The format packed4 has no scale.
                    steps = self.mean_steps(values, **arguments)
                    self.assertGreater(steps, 16)
                    self.assertLess(steps, 64)

    def mean_steps(self, values, soft_input, soft_scale=32, positive_bit=1):
        """Returns the mean magnitude of soft values in int8 steps. With the right scale, the mean
        is about 32."""
        offset, scale = {"uint8": (128, 1), "float": (0, soft_scale)}.get(soft_input, (0, 1))
        return np.mean(np.abs(values.astype(float) - offset)) * scale

    def test_GrFecStream_DecodesBeforeAndAfter(self):
        self.both("gr_fec_stream", soft(self.coded(preset="gr_fec")), 0.8)

    def test_FlowgraphOfGnuRadio_DecodesWithBlockOfPage(self):
        """gr-fec's example for GNU Radio Companion decodes without errors with the block and fields
        that the page suggests."""
        drawn = pathlib.Path(gr.prefix()) / "share/gnuradio/examples/fec/fecapi_cc_decoders.grc"
        try:
            from gnuradio.grc.core import Messages
            from gnuradio.grc.core.platform import Platform
        except ModuleNotFoundError:
            self.skipTest("GNU Radio Companion is not installed")
        if not drawn.exists():
            self.skipTest("the examples of gr-fec are not installed")
        for words in ("*Preset: gr-fec's default 1/2*, *Soft input: Float*, *Packed output: 1 bit per byte*",
                      "*Custom*, and enter `gpufec.polynomials_from_gr_fec(polys)`"):
            self.assertIn(words, " ".join(PAGE.split()))
        Messages.MESSENGERS_LIST.clear()
        platform = Platform(name="GNU Radio Companion", prefs=gr.prefs(), version=gr.version(),
                            version_parts=(gr.major_version(), gr.api_version(),
                                           gr.minor_version()))
        core = pathlib.Path(gr.prefix()) / "share" / "gnuradio" / "grc" / "blocks"
        platform.build_library([str(ROOT / "grc")] + [
            str(f) for f in core.glob("*.yml") if not f.name.startswith("gpufec")])
        for fields in (dict(preset="gr_fec"),
                       dict(preset="custom",
                            polynomials="gpufec.polynomials_from_gr_fec(polys)")):
            with self.subTest(**fields), tempfile.TemporaryDirectory() as folder:
                sent, decoded = self.converted(platform, str(drawn), folder, **fields)
                self.assertGreater(len(sent), 90000)
                self.assertTrue(np.array_equal(sent, decoded))

    def converted(self, platform, drawn, folder, **fields):
        """Replaces the decoder in gr-fec's example by the decoder of gr-gpufec, removes the window,
        limits the input, and runs the flowgraph. Returns the sent and the decoded bits."""
        graph = platform.make_flow_graph(drawn)
        graph.rewrite()
        found = {block.name: block for block in graph.blocks}

        def at(name, end):
            return next(c for c in graph.connections if getattr(c, end).name == name and
                        c.source_block.enabled) # The example has a disabled second source.

        def add(key, name, **values):
            block = graph.new_block(key)
            for field, value in dict(values, id=name).items():
                block.params[field].set_value(value)
            graph.rewrite()
            return block

        soft = at("fec_extended_decoder_0_0", "sink_block").source_port
        source = at("blocks_throttle_0", "sink_block").source_port
        bits = at("blocks_throttle_0", "source_block").sink_port
        for name in ("fec_extended_decoder_0_0", "dec_cc", "blocks_throttle_0",
                     "blocks_char_to_float_0_1", "blocks_char_to_float_1_0",
                     "qtgui_time_sink_x_0_0"):
            graph.remove_element(found[name])
        for field, value in dict(id="converted", generate_options="no_gui",
                                 run_options="run").items():
            graph.options_block.params[field].set_value(value)
        head = add("blocks_head", "head", type="byte", num_items="12000")
        decoder = add("gpufec_gpu_viterbi_pbvd", "decoder", soft_input="float",
                      packed_output="False", **fields)
        sinks = [add("blocks_vector_sink_x", name, type="byte") for name in ("sent", "decoded")]
        for one, other in ((source, head.sinks[0]), (head.sources[0], bits),
                           (soft, decoder.sinks[0]), (decoder.sources[0], sinks[1].sinks[0]),
                           (bits.parent_block.sources[0], sinks[0].sinks[0])):
            graph.connect(one, other)
        graph.rewrite()
        graph.validate()
        self.assertEqual([message for _, message in graph.iter_error_messages()], [])
        generator = platform.Generator(graph, folder)
        generator.write()
        names = {"__name__": "generated"}
        exec(compile(pathlib.Path(generator.file_path).read_text(), "converted", "exec"), names)
        top = names["converted"]()
        top.run()
        return np.array(top.sent.data()), np.array(top.decoded.data())

    def test_GrFecPuncturedStream_DecodesBeforeAndAfter(self):
        code = dict(constraint_length=7, polynomials=[0o133, 0o171], puncturing="110,101")
        self.both("gr_fec_punctured", soft(self.coded(**code), 0.3), 0.8)

    def frames(self):
        self.bits = self.bits[:15 * 1024]
        return self.coded(constraint_length=7, polynomials=[0o133, 0o171],
                          termination="terminated", frame_bits=1024)

    def test_GrFecFrames_DecodeBeforeAndAfter(self):
        self.both("gr_fec_frames", soft(self.frames()), 0.9)

    def test_ParametersOfGrFecModes_DecodeGrFecFrames(self):
        """For each row of the table except CC_STREAMING, gr-fec's and gr-gpufec's decoders decode
        frames of gr-fec's encoder, and a frame has the number of values that the row states."""
        rows = re.findall(r'\| `(CC_\w+)` \| `termination="(\w+)"` \| ([^|]+) \|', PAGE)
        self.assertEqual([mode for mode, _, _ in rows],
                         ["CC_STREAMING", "CC_TERMINATED", "CC_TRUNCATED", "CC_TAILBITING"])
        n = 512
        for mode, termination, values in rows[1:]:
            with self.subTest(mode):
                mode = getattr(fec, mode)
                bits = self.bits[:10 * n]
                coder = fec.cc_encoder_make(n, 7, 2, [109, 79], 0, mode, False)
                coded = through(bits, fec.encoder(coder, 1, 1))
                expected = {"2 (n + 6) values": 2 * (n + 6), "2 n values": 2 * n}[values]
                self.assertEqual(len(coded), 10 * expected)
                theirs = fec.extended_decoder(
                    fec.cc_decoder.make(n, 7, 2, [109, 79], 0, -1, mode, False),
                    threading=None, ann=None, puncpat="11", integration_period=10000)
                ours = gpufec.gpu_viterbi_pbvd(
                    constraint_length=7, polynomials=gpufec.polynomials_from_gr_fec([109, 79]),
                    termination=termination, frame_bits=n, soft_input="float",
                    packed_output=False)
                for decoder in theirs, ours:
                    decoded = through(soft(coded), decoder)
                    self.assertEqual(len(decoded), len(bits))
                    self.assertLessEqual(np.count_nonzero(decoded != bits), 12)

    def test_GrFecObject_DecodesBeforeAndAfter(self):
        self.both("gr_fec_object", soft(self.frames()), 0.9)

    def test_GrFecBytes_DecodeBeforeAndAfter(self):
        values = np.clip(128 + 32 * soft(self.frames()), 0, 255).astype(np.uint8)
        self.both("gr_fec_bytes", values, 0.9)

    def test_GrFecEncoder_EqualsReplacement(self):
        theirs = through(self.bits, example("gr_fec_encoder before")["encoder"])
        ours = through(self.bits, example("gr_fec_encoder after")["encoder"])
        self.assertGreater(len(theirs), 4096)
        self.assertTrue(np.array_equal(theirs, ours[:len(theirs)]))

    @unittest.skipUnless(ALIST.exists(), "the alist files of gr-fec are not installed")
    def test_ParametersOfGrFecLdpcRows_DecodeGrFecCodewords(self):
        """The examples before and after the conversion decode. With the parameters in each row of
        the table, the decoder decodes the output of the gr-fec encoder in that row."""
        bits = self.bits[:100 * 152]
        coded = through(bits, fec.encoder(fec.ldpc_encoder_make(str(ALIST)), 1, 1))
        received = soft(coded, 0.3)
        self.both("gr_fec_ldpc", (2 / 0.3**2 * received).astype(np.float32), 0.9, bits)
        matrix = fec.ldpc_H_matrix(str(ALIST), 3)
        generator = np.array([through(row, fec.encoder(
            fec.ldpc_par_mtrx_encoder.make_H(matrix), 1, 1)) for row in np.eye(152, dtype=int)
            .astype(np.uint8)]).astype(int)[:, ::-1][::-1] # order [I P]: parity bits last
        with tempfile.TemporaryDirectory() as folder:
            names = example("parity_checks")
            path = os.path.join(folder, "checks.alist")
            names["write_alist"](path, names["parity_checks"](generator))
            made = {"ldpc_encoder": (ALIST, coded), "ldpc_par_mtrx_encoder": (
                ALIST, (bits.reshape(-1, 152) @ generator[::-1, ::-1] % 2).ravel()),
                "ldpc_gen_mtrx_encoder": (path, (bits.reshape(-1, 152) @ generator % 2).ravel())}
            rows = re.findall(r'(?m)^\| gr-fec `(\w+)`[^|]*\| `"(\w+)"`', PAGE)
            self.assertEqual([name for name, _ in rows], list(made))
            for name, positions in rows:
                file, words = made[name]
                decoder = gpufec.gpu_ldpc_dvbs2(
                    code_file=str(file), message_positions=positions, soft_input="float",
                    positive_bit=1, packed_output=False)
                with self.subTest(name):
                    found = through((8.0 * words - 4).astype(np.float32), decoder)
                    np.testing.assert_array_equal(found, bits)

    @unittest.skipIf(ccsds_viterbi is None, "gr-satellites is not installed")
    def test_PresetsForCcsdsViterbi_AreSameCodes(self):
        self.both("ccsds_viterbi", soft(self.coded(preset="nasa_dsn")), 0.8)
        presets = re.findall(r"\| `\"([^\"]+)\"` \| `\"(\w+)\"` \|", PAGE)
        self.assertEqual(len(presets), 4)
        for theirs, ours in presets:
            received = soft(self.coded(preset=ours))
            decoded = through(received, ccsds_viterbi(code=theirs))
            self.assertGreater(len(decoded), 0.8 * len(self.bits))
            self.assertLess(np.mean(decoded != self.bits[:len(decoded)]), 2e-3)

    @unittest.skipIf(ccsds_viterbi is None, "gr-satellites is not installed")
    def test_DeframerOfPage_Exists(self):
        self.assertIn("ccsds_concatenated", type(example("deframer")["deframer"]).__name__)

    @staticmethod
    def telemetry():
        """Returns frames, and soft values for the deframers of the page."""
        frames, bits = ccsds_signals.transmit(6, 114, 5, "ccsds", True, 50,
                                              code="ccsds-223-conventional")
        return frames, soft(bits)

    def test_OneBlockInPlaceOfDeframer_OutputsFrames(self):
        frames, values = self.telemetry()
        found = through(values, example("one block for the deframer")["deframer"])
        np.testing.assert_array_equal(found.reshape(-1, 114), frames)

    @unittest.skipIf(ccsds_viterbi is None, "gr-satellites is not installed")
    def test_DeframerBeforeConversion_OutputsSameFrames(self):
        frames, values = self.telemetry()
        # A flowgraph drops pending messages when its streams end, so the source repeats.
        top, sink = gr.top_block(), blocks.message_debug()
        deframer = example("deframer before")["deframer"]
        top.connect(blocks.vector_source_f(values.tolist(), True),
                    blocks.throttle(gr.sizeof_float, 1e5), deframer)
        top.msg_connect((deframer, "out"), (sink, "store"))
        end = time.monotonic() + 60
        found = set()
        top.start()
        try:
            while len(found) < 6 and time.monotonic() < end:
                time.sleep(0.1)
                found = {bytes(pmt.u8vector_elements(pmt.cdr(sink.get_message(i))))
                         for i in range(sink.num_messages())}
        finally:
            top.stop()
            top.wait()
        self.assertEqual(found, {frame.tobytes() for frame in frames})

    def llrs(self, sigma):
        """Returns the message bits of 32 frames of normal 1/2, and their LLRs in nats, positive for
        bit 0."""
        message = np.random.default_rng(2).integers(0, 2, 32 * 32400, np.uint8)
        encoder = gpufec.ldpc_encoder(packed_input=False, packed_output=False)
        coded = through(message, encoder)
        return message, -2 / sigma**2 * soft(coded, sigma)

    @unittest.skipIf(dvbs2rx is None, "gr-dvbs2rx is not installed")
    def test_Dvbs2rx_DecodesBeforeAndAfter(self):
        message, llr = self.llrs(0.75)
        values = np.clip(np.rint(llr), -127, 127).astype(np.int8)
        self.both("dvbs2rx", values, 0.5, np.packbits(message))

    def test_MatlabLdpcExample_DecodesSentMessage(self):
        message, llr = self.llrs(0.75)
        decoded = through(llr.astype(np.float32), example("ldpcDecode")["decoder"])
        self.assertTrue(np.array_equal(decoded, message))

    def test_MatlabVitdecExample_DecodesSentBits(self):
        names = example("vitdec")
        received = soft(self.coded(constraint_length=7, polynomials=[0o171, 0o133]))
        for decoder, values in (
                (names["unquantised"], -received),
                (names["three_bits"],
                 (2 * np.clip(np.rint(3.5 + 2 * received), 0, 7) - 7).astype(np.int8))):
            decoded = through(values, decoder)
            self.assertEqual(len(decoded), len(self.bits))
            self.assertLess(np.mean(decoded != self.bits), 2e-3)

    def test_ParametersOfVitdecRows_DecodeToSentBits(self):
        """Decodes frames, hard bits and punctured values in MATLAB's conventions, with the
        parameters in the page's rows for vitdec."""
        rows = dict(re.findall(r"(?m)^\| (`'\w+'`|a puncture pattern)[^|]*\| ([^|]+) \|$", PAGE))
        self.assertEqual(set(rows), {"`'cont'`", "`'term'`", "`'trunc'`", "`'unquant'`", "`'soft'`",
                                     "`'hard'`", "a puncture pattern"})
        code = dict(constraint_length=7, polynomials=[0o171, 0o133])
        bits = self.bits[:10 * 200]

        def decoded(values, item, **parameters):
            return through(values.astype(item), gpufec.gpu_viterbi_pbvd(
                **code, packed_output=False, **parameters))

        for mode in "term", "trunc":
            termination = re.search(r'termination="(\w+)"', rows[f"`'{mode}'`"])[1]
            frames = dict(termination=termination, frame_bits=200)
            coded = self.coded(**code, **frames)[:10 * 2 * (200 + 6 * (mode == "term"))]
            values = 1 - 2.0 * coded # MATLAB sends bit 0 as +1
            found = decoded(values, np.float32, soft_input="float", positive_bit=0, **frames)
            self.assertTrue(np.array_equal(found[:2000], bits), mode)
        coded = self.coded(**code)
        self.assertEqual(rows["`'hard'`"], "`positive_bit=1`, after 2 x − 1")
        found = decoded(2.0 * coded - 1, np.int8, positive_bit=1)
        self.assertTrue(np.array_equal(found, self.bits))
        pattern = np.array([1, 1, 1, 0, 0, 1], bool) # pattern of vitdec: one element per coded bit
        columns = pattern.reshape(-1, 2).T.astype(int)
        puncturing = ",".join("".join(map(str, row)) for row in columns)
        self.assertEqual(puncturing, "110,101")
        kept = coded[np.resize(pattern, len(coded))]
        found = decoded(64.0 * kept - 32, np.int8, puncturing=puncturing)
        self.assertTrue(np.array_equal(found, self.bits))

    def test_RowsOfLdpcDecode_ReturnCodewordsLlrsAndIterations(self):
        """Tests the counterparts of the outputs of MATLAB's ldpcDecode: codewords, parity checks,
        posterior and extrinsic LLRs, and numbers of iterations."""
        message, llr = self.llrs(0.75)
        message, llr = message[:4 * 32400], llr[:4 * 64800].astype(np.float32)

        def decoded(**parameters):
            sink, top = blocks.vector_sink_b(), gr.top_block()
            decoder = gpufec.gpu_ldpc_dvbs2(soft_input="float", packed_output=False, **parameters)
            top.connect(blocks.vector_source_f(llr.tolist()), decoder, sink)
            top.run()
            return np.array(sink.data(), np.uint8), sink.tags()

        whole, tags = decoded(output="codeword")
        self.assertTrue(np.array_equal(
            whole, gpufec.ldpc_encode(message.reshape(4, -1), packed_input=False,
                                      packed_output=False).ravel()))
        self.assertEqual([v for _, v in support.tags_of(tags, "ldpc_valid")], [True] * 4)
        self.assertEqual(support.tags_of(tags, "ldpc_syndrome_weight"), [])
        posterior = decoded(output="llr")[0].view(np.int8).astype(int)
        self.assertTrue(np.array_equal(posterior < 0, whole == 1))
        extrinsic = decoded(output="extrinsic")[0].view(np.int8).astype(int)
        steps = np.clip(np.rint(2 * llr), -127, 127) # The default of llr_scale is 2 steps per nat.
        inside = (np.abs(posterior) < 127) & (np.abs(extrinsic) < 127)
        self.assertGreater(np.count_nonzero(inside), 1000)
        self.assertLessEqual(np.max(np.abs((posterior - extrinsic - steps)[inside])), 1)
        _, tags = decoded(early_stop=False, max_iterations=30)
        self.assertEqual([v for _, v in support.tags_of(tags, "ldpc_iterations")], [30] * 4)

    def test_MonitoringOfDvbs2rx_ReportsInvalidFrame(self):
        """The methods that the page names in place of gr-dvbs2rx's methods report an invalid
        frame."""
        table = PAGE[PAGE.index("| gr-dvbs2rx | here |"):].split("\n\n")[0]
        message, llr = self.llrs(0.75)
        llr[:64800] = llr[64800:2 * 64800][::-1] # The first frame cannot be decoded.
        decoder = gpufec.gpu_ldpc_dvbs2(soft_input="float", max_iterations=25)
        sink, top = blocks.vector_sink_b(), gr.top_block()
        top.connect(blocks.vector_source_f(llr.tolist()), decoder, sink)
        top.run()
        said = {str(tag.key) for tag in sink.tags()}
        for name in re.findall(r"`(ldpc_\w+)`", table):
            self.assertIn(name, said)
        iterations = [v for _, v in support.tags_of(sink.tags(), "ldpc_iterations")]
        self.assertEqual([o for o, v in support.tags_of(sink.tags(), "ldpc_valid") if not v], [0])
        self.assertEqual([o for o, _ in support.tags_of(sink.tags(), "ldpc_syndrome_weight")], [0])
        call, = re.findall(r"\| `get_average_trials\(\)` \| `(\w+)\(\)`", table)
        self.assertAlmostEqual(getattr(decoder, call)(), np.mean(iterations), 5)
        for own, ours in re.findall(r"(?m)^\| `(get_\w+)\(\)`[^|]*\| `(\w+)\(\)`", table)[1:]:
            self.assertEqual(getattr(gpufec.bbframe_to_ts(), ours)(), 0, own)

    def test_ConvertedGrDtvReceivers_OutputSamePackets(self):
        """The converted receivers output all packets that gr-dtv's blocks output, and more packets
        at the end of the stream."""
        packets = qa_dvbs.transport_packets(320)
        frames = qa_dvbs.frames_of(packets)
        symbols = qa_dvbs.with_noise(qa_dvbs.symbols_of(frames, "3/4"), 12)
        for name, chain, source in (
                ("dtv frames", "packets", lambda: support.vector_source(frames)),
                ("dtv", "receiver",
                 lambda: blocks.vector_source_c(symbols.astype(np.complex64)))):
            own, ours = (qa_dvbs.run_chain(source(), *example(f"{name} {half}")[chain])
                         for half in ("before", "after"))
            right = [n for n in qa_dvbs.numbers_of(own.reshape(-1, 188), packets) if n >= 0]
            self.assertGreater(len(right), 100)
            found = qa_dvbs.numbers_of(ours.reshape(-1, 188), packets)
            self.assertEqual(found, list(range(16, 16 + len(found))))
            self.assertLessEqual(set(right), set(found))

    @unittest.skipIf(dvbs2rx is None or not shutil.which("dvbs2-rx"),
                     "gr-dvbs2rx is not installed")
    def test_ChangedProgramOfDvbs2rx_ReceivesPackets(self):
        """dvbs2-rx with the page's changes receives more than 90 % of the packets that the
        unchanged dvbs2-rx receives, and reports its counts."""
        own = dvbs2rx_receiver.with_import(pathlib.Path(shutil.which("dvbs2-rx")).read_text())
        block = dvbs2rx_receiver.with_one_block(own)
        packets = dvbs2rx_receiver.transport_stream(4000, 6)
        with tempfile.TemporaryDirectory() as folder:
            path = lambda name: os.path.join(folder, name)
            pathlib.Path(path("in.ts")).write_bytes(b"".join(packets))
            subprocess.run([sys.executable, shutil.which("dvbs2-tx"), "--modcod", "QPSK1/2",
                            "--pilots", "--snr", "5", "--source", "file", "--in-file",
                            path("in.ts"), "--sink", "file", "--out-file", path("iq")],
                           check=True, capture_output=True)
            least = 0
            for name, text in (("own", own), ("decoder", dvbs2rx_receiver.converted(own)),
                               ("block", block),
                               ("packets", dvbs2rx_receiver.with_our_packets(block))):
                pathlib.Path(path(name)).write_text(text)
                done = subprocess.run(
                    [sys.executable, path(name), "--modcod", "QPSK1/2", "--source", "file",
                     "--in-file", path("iq"), "--in-real-time", "--samp-rate", "4e6",
                     "--sym-rate", "2e6", "--sink", "file", "--out-file", path("out.ts"),
                     "--log-all"], capture_output=True, text=True)
                with self.subTest(name):
                    self.assertNotIn("Traceback", done.stdout + done.stderr)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    found = dvbs2rx_receiver.counted(pathlib.Path(path("out.ts")), set(packets))
                    self.assertEqual(found["wrong"], 0)
                    self.assertGreater(found["right"], max(500, least))
                    said = [json.loads(line[line.index("{"):])
                            for line in (done.stdout + done.stderr).splitlines() if '{"' in line]
                    self.assertGreater(said[-1]["fec"]["frames"], 0)
                    self.assertGreater(said[-1]["fec"]["avg_ldpc_trials"], 0)
                    self.assertGreater(said[-1]["mpeg-ts"]["packets"], 0)
                    least = least or 0.9 * found["right"]

    @unittest.skipUnless("GPUFEC_TOOL" in os.environ, "needs the gpufec program")
    def test_SatdumpRecording_DecodesToSentBits(self):
        received = soft(self.coded(preset="ccsds"))
        self.decode_file("satdump", "recording.soft",
                         np.clip(32 * received, -127, 127).astype(np.int8))

    def satdump_signal(self, convolutional, invert_second=False):
        """Returns random frames, and the contents of a .soft file for the page's pipeline with
        another constellation. `invert_second` inverts the second bit of each pair."""
        module = json.loads(EXAMPLES["pipeline before"])["ccsds_conv_concat_decoder"]
        used.add("pipeline before")
        depth = module["rs_i"]
        self.assertEqual((module["rs_type"], module["derandomize"]), ("rs223", True))
        size = module["cadu_size"] // 8 - 4 - 32 * depth
        frames, bits = ccsds_signals.transmit(6, size, 8, convolutional, before=77,
                                              interleaving=depth)
        bits[1::2] ^= invert_second
        return frames, ccsds_signals.soft(bits, "int8", 0.4)

    @unittest.skipUnless("GPUFEC_TOOL" in os.environ, "needs the gpufec program")
    def test_SatdumpPipeline_OutputsFrames(self):
        # SatDump decodes the polynomials without inversion, after "bpsk_90" has inverted the
        # second value of each pair.
        frames, values = self.satdump_signal("ccsds_uninverted", invert_second=True)
        command = EXAMPLES["pipeline after"].split()
        used.add("pipeline after")
        with tempfile.TemporaryDirectory() as folder:
            values.tofile(os.path.join(folder, command[-2]))
            subprocess.run([os.environ["GPUFEC_TOOL"]] + command[1:], cwd=folder, check=True,
                           capture_output=True)
            found = np.fromfile(os.path.join(folder, command[-1]), np.uint8)
            np.testing.assert_array_equal(found.reshape(-1, frames.shape[1]), frames)
            before = os.getcwd()
            os.chdir(folder)
            try:
                example("pipeline cadus")
            finally:
                os.chdir(before)
            cadus = np.fromfile(os.path.join(folder, "dump.cadu"), np.uint8).reshape(6, -1)
        sent = [np.packbits(ccsds_signals.frame_bits(frame, interleaving=5, randomiser_name="none"))
                for frame in frames]
        np.testing.assert_array_equal(cadus, sent)

    def test_PipelineConstellations_DecodeSameSignals(self):
        """For each constellation in the table, the gpufec program decodes the signal that SatDump's
        pipeline expects."""
        for convolutional, constellation, signal in (
                ("ccsds_uninverted", "bpsk", ("ccsds_uninverted",)),
                ("ccsds_3_4", "bpsk", ("ccsds_3_4",)),
                ("ccsds", "qpsk", ("ccsds_uninverted",)),
                ("ccsds", "qpsk", ("ccsds_uninverted", True)),
                ("ccsds_3_4", "qpsk", ("ccsds_3_4",))):
            with self.subTest(convolutional=convolutional, constellation=constellation):
                frames, values = self.satdump_signal(*signal)
                if constellation == "qpsk":
                    values = ccsds_signals.rotate(values, 1)
                found, _ = gpufec.ccsds_decode(values, convolutional, interleaving=5,
                                               constellation=constellation)
                np.testing.assert_array_equal(found, frames)

    @unittest.skipUnless("GPUFEC_TOOL" in os.environ, "needs the gpufec program")
    def test_FileOfComplexSamples_IsReadWithoutConversion(self):
        samples = soft(self.coded(preset="ccsds")).view(np.complex64)
        self.decode_file("complex", "samples.c64", samples)

    def decode_file(self, name, file, values):
        """Runs an example command that decodes the file `file`, made of `values`, to
        decoded.bin."""
        command = EXAMPLES[name].split()
        used.add(name)
        self.assertEqual(command[0], "gpufec")
        with tempfile.TemporaryDirectory() as folder:
            values.tofile(os.path.join(folder, file))
            subprocess.run([os.environ["GPUFEC_TOOL"]] + command[1:], cwd=folder,
                           check=True, capture_output=True)
            decoded = np.fromfile(os.path.join(folder, "decoded.bin"), np.uint8)
        wrong = np.unpackbits(decoded)[:len(self.bits)] != self.bits
        self.assertLess(np.mean(wrong), 2e-3)

    def test_z_EveryExample_WasUsed(self):
        needed = set(EXAMPLES)
        if ccsds_viterbi is None:
            needed -= {"deframer", "deframer before", "ccsds_viterbi before", "ccsds_viterbi after"}
        if dvbs2rx is None:
            needed -= {"dvbs2rx before", "dvbs2rx after"}
        if "GPUFEC_TOOL" not in os.environ:
            needed -= {"satdump", "complex"}
        if not ALIST.exists():
            needed -= {"gr_fec_ldpc before", "gr_fec_ldpc after", "parity_checks"}
        self.assertEqual(used, needed)


if __name__ == "__main__":
    support.main()
