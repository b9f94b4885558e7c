#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#
"""Tests LDPC codes in GNU Radio Companion: the offered options, and the error messages."""

import itertools
import logging
import pathlib
import re
import runpy

from gnuradio import gpufec

import qa_grc_case
import qa_support as support
from qa_grc_case import DEFINITIONS, LDPC_DECODER

# Invalid values that are tried in addition to the standards' values.
WRONG_SIZES = ["", "usual", "long", "64800", "vl-snr", "bg1", "bg1 z1", "bg1 z17", "bg1 z02",
               "bg1z384", "bg3 z384", "bg2 z385"]
WRONG_RATES = ["", "0.5", "1/7", "2/4", "1/2 ", "22/23", "22/67", "10/11", "10/51", "22/024"]
# Fields of invalid codes, and a pattern of the error message.
WRONG_LDPC = [
    (dict(standard="wifi"), "Frame.*: 648, 1296 or 1944 with Wi-Fi"),
    (dict(standard="wifi", frame_size="648", rate="9/10"),
     "Rate: 1/2, 2/3, 3/4 or 5/6 with Wi-Fi"),
    (dict(standard="nr"), "Frame.*: graph and lifting size, such as bg1 z384, with 5G NR"),
    (dict(standard="nr", frame_size="bg1 z384"),
     "Rate: 1/3, or 22/24 to 22/66, with 5G NR bg1"),
    (dict(standard="ccsds_c2", rate="7/8"), "Frame.*: 8160 with CCSDS C2"),
    (dict(standard="ccsds_tc", frame_size="256"), "Frame.*: 128 or 512 with CCSDS TC"),
    (dict(standard="dvbt2", rate="9/10"), "Rate: .* with DVB-T2 normal"),
    (dict(standard="dvbs2x", rate="1/7"), "Rate: .* with DVB-S2X normal"),
    (dict(standard="file"), "Code file: "),
]
WRONG_LDPC_DECODERS = [
    (dict(soft_input="symbols", constellation="32apsk", rate="1/4"), "Constellation: "),
    (dict(soft_input="symbols", standard="dvbs2x", frame_size="medium", rate="1/3"),
     "Soft input: symbols only with DVB-S2 or S2X .except medium frames.,"),
    (dict(soft_input="symbols", standard="dvbs2x", frame_size="vl-snr short", rate="1/3"),
     "Constellation: one that has this rate, as listed here, in DVB-S2X vl-snr short"),
    (dict(soft_input="symbols", punctured="[0]"), "Soft input: .*without punctured"),
    (dict(output="bbframe", standard="wifi", frame_size="648"), "Output: BBFRAMEs only with"),
    (dict(output="bbframe", standard="dvbs2x", frame_size="medium", rate="1/3"),
     "Output: .*except medium"),
    (dict(output="bbframe", shortened="[0]"), "Output: .*without punctured"),
]


def words_of(sentence):
    return set(re.findall(r"\w+", sentence))


def refused(call, *arguments, **parameters):
    try:
        call(*arguments, **parameters)
    except ValueError:
        return True
    return False


class qa_grc_codes(qa_grc_case.grc_case):
    def test_FieldsOfLdpcCode_AcceptOptionsAndConstants(self):
        """Fields accept their options and constant expressions; other values are refused."""
        for right in (dict(), dict(rate="3/5", frame_size="short"), dict(rate="'3/5'"),
                      dict(soft_input="symbols", constellation="'8PSK'.lower()", rate="3/5"),
                      dict(soft_input="symbols", constellation="'QPSK'", frame_size="Short"),
                      dict(soft_input="symbols", constellation="pi/2-bpsk", standard="dvbs2x",
                           frame_size="vl-snr short", rate="4/15"),
                      dict(output="bbframe", frame_size="NORMAL"),
                      dict(constellation="no_variable"), # LLR input does not use the constellation
                      dict(standard="file", code_file="some.alist", rate="no_variable")):
            graph, block = self.graph(LDPC_DECODER, **right)
            with self.subTest(**right):
                self.assertEqual(self.errors(graph), [])
                if right.get("standard") == "file":
                    self.assertFalse(any("set_code" in c for c in block.get_callbacks()))
        for wrong in (dict(rate="7/8"), dict(frame_size="long"),
                      dict(rate="9/10", frame_size="short"), dict(rate="rate"),
                      dict(soft_input="symbols", constellation="'-QPSK'"),
                      dict(soft_input="symbols", constellation="'QPSK2'")):
            graph, block = self.graph(LDPC_DECODER, **wrong)
            with self.subTest(**wrong):
                self.assertFalse(graph.is_valid())
                self.assertRegex("\n".join(block.get_error_messages()), "Assertion")

    def checker(self, key, **parameters):
        """Returns a function that sets fields of the block with the id `key`, and returns whether
        the block is then invalid (red)."""
        graph = self.platform.make_flow_graph()
        block = graph.new_block(key)
        for name, value in parameters.items():
            block.params[name].set_value(value)
        block.rewrite()
        self.assertEqual(block.get_error_messages(), [])
        checks = [compile(check, key, "eval") for check in block.asserts]
        namespace = dict(block.namespace)

        def is_red(**code):
            return not all(eval(check, {**namespace, **code}) for check in checks)
        return is_red

    def options(self, key):
        return {p["id"]: p.get("options") for p in self.platform.blocks[key].parameters_data}

    def code_blocks(self):
        """Yields (key, Python class) of the blocks that have a standard, a frame size and a
        rate."""
        for declared, block in self.headers_and_blocks():
            if {"standard", "frame_size", "rate"} <= block.params.keys():
                yield block.key, getattr(gpufec, declared.name)

    def test_LdpcCode_IsRedExactlyWhereTheBlockRaises(self):
        codes = gpufec.ldpc_code
        known = {standard: {size: codes.rates(standard, size)
                            for size in codes.frame_sizes(standard)}
                 for standard in codes.standards()}
        all_rates = {rate for sizes in known.values() for rates in sizes.values()
                     for rate in rates}
        all_sizes = {size for sizes in known.values() for size in sizes}
        self.assertFalse(all_rates & set(WRONG_RATES) or all_sizes & set(WRONG_SIZES))
        some_of_nr = {"bg1 z2", "bg1 z384", "bg2 z3", "bg2 z208"}
        blocks = dict(self.code_blocks())
        del blocks["gpufec_dvbs2_fec_receiver"] # another test checks this block
        self.assertEqual(len(blocks), 5)
        for key, block_class in blocks.items():
            is_red = self.checker(key)
            backend = {"backend": "cpu"} if key == LDPC_DECODER else {}
            count = 0
            for standard in set(self.options(key)["standard"]) - {"file"}:
                for size in sorted(all_sizes) + WRONG_SIZES:
                    tried = not size.startswith("bg") or size in some_of_nr
                    found = {rate: is_red(standard=standard, frame_size=size, rate=rate)
                             for rate in sorted(all_rates) + WRONG_RATES}
                    expected = {rate: refused(block_class, standard, size, rate, **backend)
                                if tried else rate not in known[standard].get(size, [])
                                for rate in found}
                    count += list(found.values()).count(False)
                    with self.subTest(key, standard=standard, frame_size=size):
                        self.assertEqual(found, expected)
            # Numbers of codes. BCH: DVB-S2, S2X, T2. LDPC: DVB-S2, S2X, T2, CCSDS C2, AR4JA, TC,
            # Wi-Fi, and 51 lifting sizes of the two base graphs of NR.
            self.assertEqual(count, 21 + 61 + 15 if "bch" in key or "bbframe" in key else
                             21 + 64 + 15 + 1 + 9 + 2 + 12 + 51 * (44 + 40))

    def test_NamesInAnotherSpelling_AreRedExactlyWhereTheBlockRaises(self):
        for key, block_class in self.code_blocks():
            receiver = key == "gpufec_dvbs2_fec_receiver"
            is_red = self.checker(key)
            backend = {"backend": "cpu"} if receiver or key == LDPC_DECODER else {}
            found, expected = {}, {}
            for standard, size, rate in itertools.product(
                    set(self.options(key)["standard"]) - {"file"},
                    ("normal", "NORMAL", "Nor-mal_", "-normal", "_normal", "VL-SNR_Short",
                     "vl_snr medium", "vlsnr short SF2", "BG1 Z384", "bg1-z384", "6_48"),
                    ("1/2", "1-/_2", "-1/2", "_1/2", "1/5_", "22/-24")):
                code = dict(standard=standard, frame_size=size, rate=rate)
                found[standard, size, rate] = is_red(**code)
                expected[standard, size, rate] = refused(block_class, **code, **backend)
            with self.subTest(key):
                self.assertEqual(found, expected)
                self.assertIn(False, [red for code, red in found.items() if code[1] != "normal"])

    def test_ConstellationInAnotherSpelling_IsRedExactlyWhereTheBlockRaises(self):
        is_red = self.checker(LDPC_DECODER, soft_input="symbols")
        for name, red in (("QPSK", False), ("q-p_sk", False), ("-qpsk", True), ("qpsk1", True)):
            with self.subTest(name):
                code = dict(standard="dvbs2", frame_size="Nor-Mal", rate="1/2_")
                self.assertEqual(is_red(constellation=name, **code), red)
                self.assertEqual(refused(gpufec.gpu_ldpc_dvbs2, soft_input="symbols",
                                         backend="cpu", constellation=name, **code), red)

    def test_LockPresetsInAnotherSpelling_AreRedExactlyWhereTheBlockRaises(self):
        key = "gpufec_gpu_viterbi_pbvd"
        is_red = self.checker(key, preset="dvb_1_2", lock="auto")
        for name, red in (("DVB-3-4", False), ("dvb12", False), ("802-11 1/2", True),
                          ("-dvb_1_2", True), ("dvb_1_3", True), ("GR_FEC", False),
                          ("gps", False), ("lte", True), ("802.11_1_2", True), ("gsm", True)):
            with self.subTest(name):
                self.assertEqual(is_red(lock_presets=["ccsds", name]), red)
                self.assertEqual(refused(gpufec.gpu_viterbi_pbvd, preset="dvb_1_2", lock="auto",
                                         lock_presets=[name], backend="cpu"), red)

    def test_OptionsOfPpdus_AreRedWithTheWordsOfTheBlock(self):
        """For invalid options of Wi-Fi PPDUs, the error message has the words of the block's
        exception. frame_size, which has no effect on PPDUs, is not checked."""
        ppdu = dict(psdu_bytes=100, symbol_bits=104, stbc="True")
        both = [{}, dict(symbol_bits=0), dict(psdu_bytes=0), dict(psdu_bytes=-1),
                dict(psdu_bytes=65536), dict(symbol_bits=-1), dict(symbol_bits=65536),
                dict(psdu_bytes=65535, symbol_bits=65535), dict(punctured=[0]),
                dict(shortened=[0]), dict(psdu_bytes=0, symbol_bits=0),
                dict(psdu_bytes=0, stbc="False"), dict(frame_size="648"),
                dict(psdu_bytes=0, symbol_bits=0, stbc="False", frame_size="648")]
        decoder = [dict(output="codeword"), dict(output="llr"), dict(output="extrinsic"),
                   dict(soft_input="float"), dict(soft_input="symbols"), dict(acm="True"),
                   dict(named_codes={"other": "other.alist"}), dict(llr_pdu="True"),
                   dict(io="device_in", backend="cuda"), dict(io="device", backend="cuda")]
        for key, block_class in self.code_blocks():
            tried = {LDPC_DECODER: both + decoder, "gpufec_ldpc_encoder": both}.get(key, [])
            for change in tried:
                fields = dict(ppdu, **change)
                given = {n: {"True": True, "False": False}.get(str(v), v)
                         for n, v in fields.items()}
                if key == LDPC_DECODER:
                    given.setdefault("backend", "cpu")
                _, block = self.graph(key, standard="wifi",
                                      **{n: str(v) for n, v in fields.items()})
                with self.subTest(key, **change):
                    words = re.findall(r"Assertion \"'[^:']+: ([^']+)'",
                                       "\n".join(block.get_error_messages()))
                    try:
                        block_class("wifi", **given)
                        self.assertEqual(words, [])
                    except ValueError as error:
                        self.assertTrue(any(words_of(w) <= words_of(str(error))
                                            for w in words), (words, str(error)))

    def test_OptionsOfPpdus_HaveNoEffectOnOtherStandards(self):
        """With other standards, the fields of PPDUs are hidden, and their values are neither
        checked nor used."""
        for key in LDPC_DECODER, "gpufec_ldpc_encoder":
            graph, block = self.graph(key, psdu_bytes="100", symbol_bits="-1", stbc="True")
            with self.subTest(key):
                self.assertEqual(self.errors(graph), [])
                code = self.generated(graph)
                for given in "psdu_bytes=0", "symbol_bits=0", "stbc=False":
                    self.assertIn(given, code)
                if key == LDPC_DECODER:
                    self.assertTrue(any("set_code" in c for c in block.get_callbacks()))
                for name, value in dict(standard="wifi", symbol_bits="104").items():
                    block.params[name].set_value(value)
                block.rewrite()
                self.assertIn("psdu_bytes=100", self.generated(graph))
                self.assertEqual(block.params["frame_size"].hide, "all")
                self.assertFalse(any("set_code" in c for c in block.get_callbacks()))

    def test_WrongLdpcCode_IsRedWithReason(self):
        for key, wrong in ((LDPC_DECODER, WRONG_LDPC + WRONG_LDPC_DECODERS),
                           ("gpufec_ldpc_encoder", WRONG_LDPC)):
            for parameters, words in wrong:
                graph, block = self.graph(key, **parameters)
                with self.subTest(key, **parameters):
                    self.assertRegex("\n".join(block.get_error_messages()),
                                     f"Assertion \"'{words}")

    def test_LdpcDefinition_HasErrorsOfLibrary(self):
        key = "variable_gpufec_ldpc_decoder_def"
        logging.disable(logging.ERROR) # suppresses GNU Radio Companion's tracebacks
        self.addCleanup(logging.disable, logging.NOTSET)
        for parameters in [p for p, _ in WRONG_LDPC] + [
                dict(), dict(standard="nr", frame_size="bg2 z64", rate="10/20"),
                dict(standard="wifi", frame_size="1296", rate="5/6")]:
            graph = self.platform.make_flow_graph()
            block = graph.new_block(key)
            for name, value in dict(parameters, id="tested").items():
                block.params[name].set_value(value)
            graph.rewrite()
            graph.validate()
            message = "\n".join(block.get_error_messages())
            with self.subTest(**parameters):
                if parameters in [p for p, _ in WRONG_LDPC]:
                    self.assertRegex(message, r"(?s)Code file: |(frame_size|rate) is .*allowed values with")
                else:
                    self.assertEqual(message, "")

    def test_FrameAndRateOptions_IncludeThoseOfEveryCode(self):
        """The options include all frame sizes and rates that the block accepts, and for NR at least
        four sizes and four rates per graph."""
        ldpc = "variable_gpufec_ldpc_decoder_def"
        for key in [key for key, _ in self.code_blocks()] + [ldpc]:
            drawn = self.options(key)
            is_red = self.checker(key) if key != ldpc else lambda **_: False
            for standard in set(drawn["standard"]) - {"file", "nr"}:
                for size in gpufec.ldpc_code.frame_sizes(standard):
                    for rate in gpufec.ldpc_code.rates(standard, size):
                        code = dict(standard=standard, frame_size=size, rate=rate)
                        if not is_red(**code):
                            with self.subTest(key, **code):
                                self.assertIn(size, drawn["frame_size"])
                                self.assertIn(rate, drawn["rate"])
            if "nr" in drawn["standard"]:
                for graph in ("bg1", "bg2"):
                    sizes = [s for s in drawn["frame_size"] if s.startswith(graph)]
                    rates = gpufec.ldpc_code.rates("nr", sizes[0])
                    self.assertGreater(len(sizes), 3)
                    self.assertGreater(len(set(rates) & set(drawn["rate"])), 3)

    def test_Definitions_EqualOutputOfScript(self):
        script = pathlib.Path(DEFINITIONS) / "make_codes.py"
        if not script.exists():
            self.skipTest("the definitions are installed, not those of the source tree")
        made = runpy.run_path(str(script))
        definitions = made["definitions"]()
        self.assertEqual(len(definitions), 7)
        for definition in definitions:
            with self.subTest(definition.name):
                text = definition.read_text()
                self.assertEqual(text, made["with_codes"](text))

    def test_ReceiverModcods_AreRedExactlyWhereDecoderRaises(self):
        drawn = self.platform.blocks["gpufec_dvbs2_fec_receiver"]
        options = {p["id"]: p.get("options") for p in drawn.parameters_data}
        checks = [c for c in drawn.asserts if re.match("'(Frame size|Rate|Constellation):", c)]
        decoder_is_red = self.checker(LDPC_DECODER, soft_input="symbols")
        count = 0
        for standard, size, constellation in itertools.product(
                options["standard"], options["frame_size"], options["constellation"]):
            code = dict(standard=standard, frame_size=size, constellation=constellation)
            red = {rate: not all(eval(check, dict(code, rate=rate)) for check in checks)
                   for rate in options["rate"]}
            decoder = lambda rate: gpufec.gpu_ldpc_dvbs2(soft_input="symbols", backend="cpu",
                                                         rate=rate, **code)
            with self.subTest(**code):
                if False in red.values(): # set_code() needs no new decoder per rate
                    made = decoder(min(red, key=red.get))
                    found = {rate: refused(made.set_code, f"{size} {rate}") for rate in red}
                else:
                    found = {rate: refused(decoder, rate) for rate in red}
                self.assertEqual(found, red)
                self.assertEqual({rate: decoder_is_red(**code, rate=rate) for rate in red}, red)
            count += list(red.values()).count(False)
        # DVB-S2 and S2X have the MODCODs of EN 302 307-1, table 12, for normal (28) and short (24)
        # frames; S2X also has those of EN 302 307-2 (38 and 17), and 9 of VL-SNR frames.
        self.assertEqual(count, 2 * (28 + 24) + 38 + 17 + 9)


if __name__ == "__main__":
    support.main()
