#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests the decoders' verdicts: messages about input that seems to have a wrong format or scale.

The tables below list runs with wrong and with correct input. For each wrong run, the block, the
tool and, except for symbols, the array function must report the correction once. For a correct run,
the array function, or for symbols the block, must report nothing.
"""

import itertools
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest
import warnings

import numpy as np
import pmt
from gnuradio import blocks, dtv, gpufec, gr
import qa_support
from qa_symbols import DTV, noisy, transmit

# Approximate Eb/N0 in dB for a decoded bit error rate of 1e-5.
THRESHOLDS = {"ccsds": 4.5, "dvb_1_2": 4.5, "dvb_2_3": 5.0, "dvb_3_4": 5.5, "dvb_5_6": 6.0,
              "dvb_7_8": 6.5, "cdma_1_2": 4.0, "cdma_1_3": 3.5, "ccsds_uninverted": 4.5}
FRAMED = {"lte": dict(frame_bits=500), "wimax": dict(frame_bits=480),
          "80211_1_2": dict(termination="terminated", frame_bits=1000),
          "gsm": dict(frame_bits=185)}
# Approximate decoding thresholds: Es/N0 in dB per symbol, by constellation, frame size and rate.
SYMBOLS = {("qpsk", "short", "1/2"): 1.2, ("8psk", "short", "3/4"): 8.2,
           ("16apsk", "short", "3/4"): 10.5, ("qpsk", "normal", "8/9"): 6.3}
# Approximate decoding thresholds: Es/N0 in dB per coded bit, by standard, frame size and rate.
LDPC = {("dvbs2", "short", "1/2"): -2.0, ("dvbs2", "short", "8/9"): 3.6,
        ("dvbs2", "normal", "3/4"): 1.1, ("wifi", "648", "1/2"): -0.5,
        ("wifi", "1944", "5/6"): 2.6}


def code_of(preset, **more):
    """Returns the keyword arguments of the code of `preset`, for a stream or, if `more` has
    frame_bits, for frames."""
    p = gpufec.find_conv_preset(preset)
    ends = p.termination if "frame_bits" in more else "streaming"
    return {**dict(constraint_length=p.constraint_length, polynomials=p.polynomials,
                   puncturing=p.puncturing, termination=ends), **more}


def soft(preset, ebn0_db, count=60000, seed=1, **more):
    """Returns about `count` float soft values of amplitude 1, of a stream or of whole frames, and
    the code's arguments."""
    code = code_of(preset, **more)
    frame = code.get("frame_bits", 0)
    bits = gpufec.random_bits((max(1, count // 2 // frame), frame) if frame else count // 2,
                              seed)
    coded = gpufec.conv_encode(bits, packed_input=False, packed_output=False, **code)
    return gpufec.awgn(coded, ebn0_db, bits.size / coded.size, seed, "float"), code


def steps(values, amplitude=32):
    return np.clip(np.rint(values * amplitude), -127, 127).astype(np.int8)


def offset(values, amplitude=32):
    return (steps(values, amplitude).astype(int) + 128).astype(np.uint8)


def packed4(values):
    nibbles = np.clip(np.rint(values[:len(values) // 2 * 2] * 4), -7, 7).astype(int) & 15
    return (nibbles[0::2] << 4 | nibbles[1::2]).astype(np.uint8)


def llrs(code, es_n0_db, frames=8, seed=1):
    """Returns float LLRs in nats of `frames` frames of `code`, and Es/N0 as a ratio."""
    messages = gpufec.random_bits((frames, gpufec.ldpc_code(*code).k), seed)
    words = gpufec.ldpc_encode(messages, *code, packed_input=False, packed_output=False)
    es_n0 = 10 ** (es_n0_db / 10)
    values = gpufec.awgn(words, es_n0_db, 1.0, seed, "float", positive_bit=0)
    return (4 * es_n0 * values).astype(np.float32), es_n0


def noise(count=60000):
    return np.random.default_rng(5).standard_normal(count).astype(np.float32)


# The functions wrong_*() return {name: (values, decoder arguments, expected part of the verdict)}.
# In wrong_symbols(), the last entry of the tuple is a list of such parts.
def wrong_viterbi():
    clean, code = soft("ccsds", 5.0)
    weak, _ = soft("ccsds", 3.5)
    dvb, punctured = soft("dvb_3_4", 6.0)
    odd, gsm = soft("gsm", 4.5)
    wifi, framed = soft("80211_1_2", 4.5, 80000, termination="terminated", frame_bits=1000)
    truncated, cut = soft("ccsds", 3.5, 80000, termination="truncated", frame_bits=300)
    cut["termination"] = "truncated"
    return {
        "hard bits": ((weak > 0).astype(np.int8), code, "2·bit - 1"),
        "hard bits as float": ((weak > 0).astype(np.float32), code, "2·bit - 1"),
        "hard bits, no noise": ((soft("ccsds", 100)[0] > 0).astype(np.int8), code, "2·bit - 1"),
        "offset binary": (offset(weak).view(np.int8), code, 'soft_input="uint8"'),
        "offset binary, stronger": (offset(clean).view(np.int8), code, 'soft_input="uint8"'),
        "offset binary, 3/4": (offset(dvb).view(np.int8), punctured, 'soft_input="uint8"'),
        "signed as offset": (steps(weak).view(np.uint8), dict(code, soft_input="uint8"),
                             'soft_input="int8"'),
        "packed as signed": (packed4(clean).view(np.int8), code, 'soft_input="packed4"'),
        "signed as packed": (steps(clean).view(np.uint8), dict(code, soft_input="packed4"),
                             'soft_input="int8"'),
        "floats as bytes": (clean.view(np.int8), code, 'soft_input="float"'),
        "weak floats": (clean / 1000, code, "soft_scale=3"),
        "strong floats": (weak * 1000, code, "soft_scale=0.03"),
        "other sign": (steps(-odd), gsm, "positive_bit=0"),
        "other sign of terminated frames": (steps(-wifi), framed, "positive_bit=0"),
        "other sign of truncated frames": (steps(-truncated), cut, "positive_bit=0"),
        "another code": (steps(clean), code_of("dvb_1_2", polynomials=[0o133, 0o171]),
                         "no signal of this code"),
        "another rate": (steps(clean), code_of("dvb_7_8"), "no signal of this code"),
        "another constraint length": (steps(clean), code_of("cdma_1_2"),
                                      "no signal of this code"),
        "begins elsewhere": (steps(dvb[1:]), punctured, "no signal of this code"),
        "noise": (steps(noise()), code, "no signal of this code"),
    }


def wrong_ldpc():
    short = ("dvbs2", "short", "1/2")
    good, _ = llrs(short, 0.0)
    weak, weak_es_n0 = llrs(short, -1.6)
    wifi, _ = llrs(("wifi", "648", "1/2"), 1.0, 40)
    high, _ = llrs(("dvbs2", "short", "8/9"), 4.5)
    code = dict(zip(("standard", "frame_size", "rate"), short))
    of_wifi = dict(zip(("standard", "frame_size", "rate"), ("wifi", "648", "1/2")))
    return {
        "other sign": (good, dict(code, positive_bit=1), "positive_bit=0"),
        "another rate": (high, code, 'rate="8/9"'),
        "offset binary": (offset(good, 2).view(np.int8), code, 'soft_input="uint8"'),
        "signed as offset": (steps(good, 2).view(np.uint8), dict(code, soft_input="uint8"),
                             'soft_input="int8"'),
        "hard bits": ((high < 0).astype(np.int8), dict(code, rate="8/9"), "ln((1 - p) / p)"),
        "floats as bytes": (good.view(np.int8).reshape(32, -1), code, 'soft_input="float"'),
        "amplitudes": (weak / (4 * weak_es_n0), code, "multiply them by 2."),
        "all round to 0": (good / 64, code, "amplitudes"),
        "steps of another size": (steps(weak / (4 * weak_es_n0), 32), code, "llr_scale="),
        "noise": (4 * noise(8 * 16200).reshape(8, -1), code, "no signal of this code"),
        "another code": (wifi[:, :648].ravel()[:16200].reshape(1, -1).repeat(8, 0), code,
                         "no signal of this code"),
        "other sign of 802.11": (-wifi, of_wifi, "positive_bit=1"),
    }


def plframes(symbols, frame_size, rate, constellation, pilots, header):
    """Returns the symbols of the PLFRAMEs that gr-dtv makes of XFECFRAMEs, without the PLHEADERs if
    `header` is false."""
    sink, graph = blocks.vector_sink_c(), gr.top_block()
    graph.connect(blocks.vector_source_c(symbols.tolist()), dtv.dvbs2_physical_cc(
        dtv.FECFRAME_SHORT if frame_size == "short" else dtv.FECFRAME_NORMAL,
        getattr(dtv, "C" + rate.replace("/", "_")), DTV[constellation],
        dtv.PILOTS_ON if pilots else dtv.PILOTS_OFF, 0), sink)
    graph.run()
    sent = np.array(sink.data(), np.complex64)[::2] # gr-dtv inserts a zero after each symbol
    data = {"qpsk": 8100, "8psk": 5400}[constellation]
    length = 90 + data + 36 * ((data // 90 - 1) // 16 if pilots else 0)
    frames = sent[:len(sent) // length * length].reshape(-1, length)
    return frames[:, 0 if header else 90:].ravel()


def integers(symbols, kind, scale):
    return np.clip(np.rint(symbols.view(np.float32) * scale), np.iinfo(kind).min,
                   np.iinfo(kind).max).astype(kind)


def wrong_symbols():
    code = dict(frame_size="short", rate="3/4", constellation="8psk", soft_input="symbols")
    four = dict(code, rate="1/2", constellation="qpsk")
    sent = transmit("8psk", "short", "3/4", 9, 1)[1]
    clean, sent4 = noisy(sent, 10, 1), transmit("qpsk", "short", "1/2", 9, 2)[1]
    clean4 = noisy(sent4, 3, 2)
    exchanged = (clean.imag + 1j * clean.real).astype(np.complex64)

    def pl(pilots, header):
        return noisy(plframes(sent4, "short", "1/2", "qpsk", pilots, header), 3, 3)
    general = ["MODCOD", "frame_size", "soft_input", "where frames begin", "PL scrambling",
               "pilots", "phase"]
    return {
        "I and Q exchanged": (exchanged, code, ["I and Q look exchanged: exchange I and Q ("]),
        "conjugate": (clean4.conj(), four,
                      ["exchange I and Q, then rotate the symbols by 270 degrees"]),
        "eighth turn": (clean * np.complex64(np.exp(0.25j * np.pi)), code,
                        ["rotate the symbols by 315 degrees"]),
        "quarter turn": (clean4 * np.complex64(1j), four, ["rotate the symbols by 270 degrees"]),
        "another rate": (clean, dict(code, rate="2/3"), ['rate="8PSK 3/4" (']),
        "another constellation": (clean, four, ['rate="8PSK 3/4" (']),
        "another frame size": (clean, dict(code, frame_size="normal"),
                               ['rate="8PSK 3/4" and frame_size="short"']),
        "int16 as float": (integers(clean, np.int16, 4000), code, ['soft_input="symbols16"']),
        "floats as int16": (clean, dict(code, soft_input="symbols16"),
                            ['soft_input="symbols"']),
        "floats as int8": (clean4, dict(four, soft_input="symbols8"), ['soft_input="symbols"']),
        "int8 as int16": (integers(clean, np.int8, 40), dict(code, soft_input="symbols16"),
                          ['soft_input="symbols8"']),
        "not descrambled": (pl(False, False), four, ["PLFRAMEs: undo the PL scrambling"]),
        "pilots": (pl(True, False), four, ["undo the PL scrambling", "remove the pilots"]),
        "PLFRAMEs": (pl(True, True), four,
                     ["remove the PLHEADER", "undo the PL scrambling", "remove the pilots"]),
        "begins elsewhere": (clean[1:], code, general),
        "another phase": (clean * np.complex64(np.exp(0.1j * np.pi)), code, general),
    }


def right_viterbi():
    for (preset, threshold), (margin, amplitude) in itertools.product(
            THRESHOLDS.items(), ((-1, 3), (-1, 32), (-1, 100), (0, 16), (2, 8), (2, 64),
                                 (20, 32), (20, 127))):
        values, code = soft(preset, threshold + margin, seed=3 + margin)
        yield f"{preset} {margin} dB {amplitude} steps", steps(values, amplitude), code
    for (preset, more), margin, amplitude in itertools.product(FRAMED.items(), (-1, 2, 20),
                                                               (3, 32, 127)):
        values, code = soft(preset, 4.5 + margin, seed=4, **more)
        yield f"{preset} {margin} dB {amplitude} steps", steps(values, amplitude), code
    for margin in (-1, 2):
        values, code = soft("dvb_1_2", 4.5 + margin, seed=5)
        yield "hard ±1", np.where(values > 0, 1, -1).astype(np.int8), code
        yield "hard ±127", np.where(values > 0, 127, -127).astype(np.int8), code
        yield "hard floats", np.where(values > 0, 1, -1).astype(np.float32), code
        yield "packed4", packed4(values), dict(code, soft_input="packed4")
        yield "uint8", offset(values), dict(code, soft_input="uint8")
        yield "uint8, strong", offset(values, 100), dict(code, soft_input="uint8")
        for scale in (3, 32, 100):
            yield f"floats {scale}", values, dict(code, soft_scale=scale)
        silent = np.concatenate([np.zeros(100000, np.int8), steps(values)])
        yield "silence first", silent, code
        noisy = np.concatenate([np.rint(3 * noise(100000)).astype(np.int8), steps(values)])
        yield "noise first", noisy, code
        erased = steps(values)
        erased[::5] = 0
        yield "erasures", erased, code
        yield "constant", np.full(60000, 32, np.int8), code_of("dvb_1_2")
        yield "few", steps(values[:1000]), code
        yield "very few", steps(values[:50]), code
        yield "all zeros", np.zeros(60000, np.int8), code
        yield "alternating", np.tile(np.array([32, -32], np.int8), 30000), code_of("ccsds")
        yield "constant and erased", np.tile(np.array([1, 1, 0], np.int8), 20000), code


def right_ldpc():
    for (code, threshold), margin, (scale, kind) in itertools.product(
            LDPC.items(), (-1, 0, 2, 15), ((2, "int8"), (1, "float"), (2, "uint8"))):
        values, _ = llrs(code, threshold + margin, 8 if code[1] == "normal" else 12, 7)
        given = dict(zip(("standard", "frame_size", "rate"), code))
        with np.errstate(over="ignore"):
            yield (f"{code} {margin} dB {kind}",
                   values if kind == "float" else steps(values, scale) if kind == "int8"
                   else offset(values, scale), given)


def right_symbols():
    for (code, threshold), margin, (kind, scale) in itertools.product(
            SYMBOLS.items(), (-1.5, -0.3, 0, 1, 12), (("symbols", 0), ("symbols16", 4000),
                                                      ("symbols8", 30))):
        constellation, frame_size, rate = code
        values = noisy(transmit(*code, 4 if frame_size == "normal" else 9, 5)[1],
                       threshold + margin, 6)
        if scale:
            values = integers(values, {"symbols16": np.int16, "symbols8": np.int8}[kind], scale)
        yield f"{code} {margin} dB {kind}", values, dict(
            constellation=constellation, frame_size=frame_size, rate=rate, soft_input=kind)


def decoded(function, values, arguments):
    """Calls `function`, an array function, with `values` and `arguments`. Returns its verdict and
    its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _, status = function(values, **arguments)
    return status.verdict, [str(w.message) for w in caught]


def source_of(block, values):
    size = block.input_signature().sizeof_stream_item(0)
    items = np.ascontiguousarray(values).ravel().view(np.uint8)
    return blocks.vector_source_b(items[:len(items) // size * size], False, size)


def by_any_block(block, values):
    top = gr.top_block()
    top.connect(source_of(block, values), block, blocks.null_sink(1))
    top.run()


def by_block(block, values):
    """Runs `block` on `values`. Returns its verdict, and the texts of its status messages with a
    verdict."""
    top, messages = gr.top_block(), blocks.message_debug()
    top.connect(source_of(block, values), block, blocks.null_sink(1))
    top.msg_connect((block, "status"), (messages, "store"))
    top.run()
    events = [pmt.to_python(messages.get_message(i)) for i in range(messages.num_messages())]
    return block.verdict(), [e["text"] for e in events if e["event"] == "verdict" and e["text"]]


def in_tool(mend):
    """Converts `mend`, a part of a verdict, to the tool's wording, with option names."""
    def option(match):
        name, value = match[1].replace("_", "-"), match[2] or ""
        return (f'--modcod "{value}"' if " " in value else f"--{name} {value}")
    mend = re.sub(r'(\w+)=(?:"([^"]*)")?', option, mend)
    mend = re.sub(r"\b(frame|soft)_(size|input)\b", r"--\1-\2", mend)
    return mend.replace("multiply them by", "use --llr-factor")


def by_tool(decoder, values, arguments):
    """Runs gpufec decode on `values`. Returns its exit status and the warnings on standard
    error."""
    words = []
    for name, value in arguments.items():
        if name == "polynomials":
            value = ",".join(f"{'-' if p < 0 else ''}{abs(p):o}" for p in value)
        if name != "puncturing" or value:
            words.append(f"--{name.replace('_', '-')}={value}")
    if values.dtype == np.float32:
        words.append("--soft-input=float")
    with tempfile.TemporaryDirectory() as folder:
        there = pathlib.Path(folder, "in")
        values.tofile(there)
        result = subprocess.run([os.environ["GPUFEC_TOOL"], "decode", decoder, *words,
                                 str(there), os.devnull], capture_output=True, text=True)
    return result.returncode, [line for line in result.stderr.splitlines() if "WARNING" in line]


class qa_verdicts(unittest.TestCase):
    def check_wrong(self, table, function, make_block, decoder):
        for name, (values, arguments, mend) in table.items():
            with self.subTest(name):
                verdict, reports = decoded(function, values, arguments)
                self.assertIn(mend, verdict)
                self.assertEqual(reports, [verdict])
                block_arguments = dict(arguments)
                if values.dtype == np.float32:
                    block_arguments["soft_input"] = "float"
                verdict, reports = by_block(make_block(**block_arguments), values)
                self.assertIn(mend, verdict)
                self.assertEqual(reports, [verdict])
                code, reports = by_tool(decoder, values, arguments)
                self.assertEqual((code, len(reports)), (3, 1), reports)
                self.assertIn(in_tool(mend), reports[0])

    def test_WrongSymbols_AreReportedOnceByBlockAndTool(self):
        for name, (values, arguments, mends) in wrong_symbols().items():
            with self.subTest(name):
                verdict, reports = by_block(gpufec.gpu_ldpc_dvbs2(**arguments), values)
                self.assertEqual(reports, [verdict])
                code, reports = by_tool("ldpc", values, arguments)
                self.assertEqual((code, len(reports)), (3, 1), reports)
                for mend in mends:
                    self.assertIn(mend, verdict)
                    self.assertIn(in_tool(mend), reports[0])

    def test_WrongEsN0_CausesVerdict(self):
        values = noisy(transmit("8psk", "short", "3/4", 9, 1)[1], 10, 1)
        code = dict(frame_size="short", rate="3/4", constellation="8psk", soft_input="symbols",
                    esn0_db=-9)
        verdict, reports = by_block(gpufec.gpu_ldpc_dvbs2(**code, esn0="given"), values)
        self.assertIn("correct esn0_db", verdict)
        self.assertEqual(reports, [verdict])
        self.assertIn("correct --esn0-db", by_tool("ldpc", values, code)[1][0])

    def test_SuggestedLlrFactor_DecodesAmplitudes(self):
        """The llr-factor that the tool suggests converts amplitudes to LLRs in nats, and does not
        depend on the llr-factor of the call."""
        short = ("dvbs2", "short", "1/2")
        values, es_n0 = llrs(short, -1.6)
        code = dict(zip(("standard", "frame_size", "rate"), short))
        amplitudes = values / (4 * es_n0)
        self.assertEqual(by_tool("ldpc", amplitudes, dict(code, llr_factor=4 * es_n0)), (0, []))
        named = [float(re.search(r"--llr-factor ([0-9.]+)", by_tool(
            "ldpc", amplitudes / 8, dict(code, llr_factor=f))[1][0])[1]) for f in (1, 0.25)]
        self.assertAlmostEqual(named[0], named[1], delta=0.02 * named[0])
        self.assertAlmostEqual(named[0], 32 * es_n0, delta=0.2 * named[0])

    def test_WrongSoftValues_AreReportedOnceByBlockToolAndFunction(self):
        self.check_wrong(wrong_viterbi(), gpufec.viterbi_decode, gpufec.gpu_viterbi_pbvd,
                         "viterbi")

    def test_WrongLlrs_AreReportedOnceByBlockToolAndFunction(self):
        self.check_wrong(wrong_ldpc(), gpufec.ldpc_decode, gpufec.gpu_ldpc_dvbs2, "ldpc")

    def test_WrongInputWithLock_IsReportedOnce(self):
        """With lock "auto", decoder and tool report a wrong format, another code or noise once.
        They report nothing for a signal of the code with any phase, also after noise."""
        weak, code = soft("ccsds", 3.5)
        lock = dict(code, lock="auto")
        for name, values, mend in (
                ("right", steps(weak)[1:], ""),
                ("right, few", steps(weak)[:3000], ""),
                ("right, strong", steps(soft("ccsds", 20)[0], 100), ""),
                ("right, noise first", np.concatenate([steps(noise(100000)), steps(weak)]), ""),
                ("noise", steps(noise()), "found no signal"),
                ("another code", steps(soft("cdma_1_2", 6.0)[0]),
                 "lock_presets, lock_constellation, soft_input"),
                ("offset binary", offset(weak).view(np.int8), 'soft_input="uint8"'),
                ("hard bits", (weak > 0).astype(np.int8), "2·bit - 1"),
                ("weak floats", weak / 1000, "soft_scale=3")):
            with self.subTest(name):
                arguments = dict(lock)
                if values.dtype == np.float32:
                    arguments["soft_input"] = "float"
                block = gpufec.gpu_viterbi_pbvd(**arguments)
                verdict, reports = by_block(block, values)
                self.assertIn(mend, verdict)
                self.assertEqual(reports, [verdict] if mend else [])
                code, reports = by_tool("viterbi", values, lock)
                self.assertEqual((code, len(reports)), (3, 1) if mend else (0, 0), reports)

    def test_EmptyInput_CausesNoVerdict(self):
        block = gpufec.gpu_viterbi_pbvd()
        self.assertTrue(np.isnan(block.channel_error_rate()))
        self.assertTrue(np.isnan(block.metric()))
        self.assertFalse(block.locked())
        self.assertEqual(by_block(block, np.zeros(0, np.int8)), ("", []))
        self.assertTrue(np.isnan(block.channel_error_rate()))

    def test_FailedFrames_AreCounted(self):
        code = ("wifi", "648", "1/2")
        good, _ = llrs(code, 1.0, 20)
        values = np.concatenate([good, 3 * noise(5 * 648).reshape(5, 648)])
        block = gpufec.gpu_ldpc_dvbs2(*code, soft_input="float")
        self.assertEqual(by_block(block, values), ("", []))
        self.assertEqual((block.frame_count(), block.error_count()), (25, 5))
        book = [[0, 0, 1, 1], [1, 0, 1, 0]]
        block = gpufec.gpu_sync_map(book * 20, q=2, n=4, frame_symbols=20, frame_items=0,
                                    mode="framed")
        items = np.zeros(30 * 400, np.uint8) # 400 items per length tag, five times too many
        tags = [gr.tag_utils.python_to_tag((at, pmt.intern("packet_len"), pmt.from_long(400)))
                for at in range(0, len(items), 400)]
        top = gr.top_block()
        top.connect(blocks.vector_source_b(items, False, 1, tags), block, blocks.null_sink(1))
        top.run()
        self.assertEqual((block.frame_count(), block.error_count()), (30, 30))
        self.assertIn("none of the first 30 frames is valid", block.verdict())

    def test_IncompleteLastFrames_AreLogged(self):
        """An incomplete last frame is logged as a warning if nothing was decoded, and as
        information otherwise."""
        book = dict(codebook=[[0, 0, 1, 1], [1, 0, 1, 0]] * 40, q=2, n=4, frame_symbols=40)
        received = gpufec.sync_encode(gpufec.random_bits(400), **book)
        code = ("dvbs2", "short", "1/2")
        for make, frame in (
                (lambda: gpufec.gpu_ldpc_dvbs2(*code), 16200),
                (lambda: gpufec.gpu_ldpc_dvbs2(*code, soft_input="symbols"), 8100),
                (lambda: gpufec.gpu_viterbi_pbvd(termination="terminated", frame_bits=1000),
                 2012),
                (lambda: gpufec.gpu_viterbi_pbvd(termination="tailbiting", frame_bits=1000,
                                                 soft_input="packed4"), 1000),
                (lambda: gpufec.gpu_sync_map(**book, mode="stream"), 160),
                (lambda: gpufec.bch_decoder(*code), 900),
                (lambda: gpufec.rs_decoder("dvb", 5), 1020),
                (lambda: gpufec.ldpc_encoder(*code), 900)):
            block = make()
            items, size = noise(4 * 16200), block.input_signature().sizeof_stream_item(0)
            for count, rest, level in ((frame // 2, frame // 2, "warning"), (frame, 0, ""),
                                       (2 * frame + 30, 30, "info")):
                with self.subTest(block.name(), count=count):
                    values = (received if "sync" in block.name() else
                              items.view(np.uint8))[:size * count]
                    lines = []
                    with qa_support.output_of_process(lines):
                        by_any_block(make(), values)
                        time.sleep(0.3) # waits for the thread that writes the log
                    logged = [line for line in lines if "within a frame" in line]
                    self.assertEqual(len(logged), bool(rest), lines)
                    if rest:
                        self.assertIn(level, logged[0])
                        self.assertIn(f"after {rest} of its {frame} items", logged[0])

    def test_ArgumentsWithoutEffect_CauseWarning(self):
        viterbi, ldpc, short = gpufec.viterbi_decode, gpufec.ldpc_decode, np.zeros(16200)
        for function, values, wrong, right in (
                (viterbi, np.zeros(64, np.int8), dict(lock_constellation="qpsk"),
                 dict(lock="auto")),
                (viterbi, np.zeros(64, np.int8), dict(lock_presets=["dvb_2_3"]),
                 dict(lock="auto")),
                (viterbi, np.zeros(64, np.int8), dict(soft_scale=8), {}),
                (viterbi, np.zeros(64, np.float32), {}, dict(soft_scale=8)),
                (ldpc, short.astype(np.float32), dict(llr_scale=4), dict(output="llr")),
                (ldpc, short.astype(np.int8), {}, dict(llr_scale=4)),
                (ldpc, short.astype(np.int8), dict(offset=0.5, algorithm="min_sum"),
                 dict(algorithm="Offset-Min-Sum")),
                (ldpc, short.astype(np.int8), dict(normalization=0.5),
                 dict(algorithm="normalized_min_sum"))):
            code = dict(frame_size="short") if function is ldpc else {}
            for more, reports in (({}, wrong != {}), (right, right == {})):
                with self.subTest(wrong=wrong, more=more):
                    with warnings.catch_warnings(record=True) as caught:
                        warnings.simplefilter("always")
                        function(values, **{**code, **wrong, **more})
                    logged = [str(w.message) for w in caught if "without effect" in str(w.message)]
                    self.assertEqual(len(logged), reports, logged)
                    if reports:
                        self.assertIn(next(iter(wrong)), logged[0])
                        self.assertEqual(caught[0].filename, __file__)

    def test_ParametersWithoutEffect_CauseWarning(self):
        viterbi, ldpc = gpufec.gpu_viterbi_pbvd, gpufec.gpu_ldpc_dvbs2
        for block, wrong, right in (
                (viterbi, dict(lock_constellation="qpsk"), dict(lock="auto")),
                (viterbi, dict(lock_presets=["dvb_2_3"]), dict(lock="auto")),
                (viterbi, dict(lock_memory=20000), dict(lock="auto")),
                (ldpc, dict(esn0_db=5), dict(soft_input="symbols", esn0="given")),
                (ldpc, dict(esn0_db=5, soft_input="symbols"), dict(esn0="given"))):
            name = next(iter(wrong))
            for more, reports in (({}, True), (right, False)):
                with self.subTest(name, reports=reports):
                    lines = []
                    with qa_support.output_of_process(lines):
                        block(**{**wrong, **more})
                        time.sleep(0.3)
                    logged = [line for line in lines if "without effect" in line and name in line]
                    self.assertEqual(len(logged), reports, lines)
        lines = []
        with qa_support.output_of_process(lines):
            viterbi()
            ldpc()
            ldpc(soft_input="symbols")
            time.sleep(0.3)
        self.assertEqual([line for line in lines if "without effect" in line], [])

    def check_right(self, runs, function, minimum):
        count = 0
        for name, values, arguments in runs:
            with self.subTest(name):
                self.assertEqual(decoded(function, values, arguments), ("", []))
            count += 1
        self.assertGreaterEqual(count, minimum)

    def test_RightSoftValues_CauseNoVerdict(self):
        self.check_right(right_viterbi(), gpufec.viterbi_decode, 100)

    def test_RightSymbols_CauseNoVerdict(self):
        count = 0
        for name, values, arguments in right_symbols():
            with self.subTest(name):
                block = gpufec.gpu_ldpc_dvbs2(**arguments)
                self.assertEqual(by_block(block, values), ("", []))
            count += 1
        self.assertGreaterEqual(count, 60)

    def test_RightLlrs_CauseNoVerdict(self):
        self.check_right(right_ldpc(), gpufec.ldpc_decode, 60)


if __name__ == "__main__":
    unittest.main()
