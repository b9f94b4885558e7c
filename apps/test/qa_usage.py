#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of usage, help, messages and reports of the tool."""

import json
import os
import resource
import tempfile
import unittest

from gpufec_tool import main, run


class qa_usage(unittest.TestCase):

    def test_Help_ShowsUsageAndExitStatus(self):
        for command in ([], ["info"], ["bench", "viterbi"], ["ber", "viterbi"],
                        ["decode", "viterbi"], ["bench", "ldpc"], ["ber", "ldpc"],
                        ["decode", "ldpc"], ["bench", "sync"], ["ber", "sync"],
                        ["decode", "sync"], ["decode", "bch"], ["decode", "ccsds"],
                        ["encode", "viterbi"], ["encode", "ldpc"], ["encode", "sync"], ["encode", "bch"]):
            result = run(*command, "--help")
            self.assertEqual(result.returncode, 0, command)
            self.assertIn(b"Usage: gpufec", result.stdout)
            self.assertIn(b"Exit status", result.stdout)

    def test_HelpOfBchMessages_NamesEachOutputOnce(self):
        text = run("encode", "bch", "--help").stdout.decode()
        self.assertIn("packed or unpacked; bits, eight per byte (packed) or one per byte",
                      " ".join(text.split()))
        examples = [line for line in text.splitlines() if "gpufec encode bch --rate" in line]
        self.assertEqual([line for line in examples if "--scramble true" not in line], [])

    def check_refused(self, expected, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, 2, (arguments, result.stderr))
        self.assertIn(expected, result.stderr.decode())
        self.assertEqual(result.stdout, b"")

    def test_NoCommand_IsAnError(self):
        result = run()
        self.assertEqual(result.returncode, 2)

    def test_UnknownNames_AreRefused(self):
        self.check_refused("sing", "sing")
        self.check_refused("viterbi", "ber", "turbo")
        self.check_refused("--sing", "ber", "viterbi", "--sing")
        self.check_refused("--preset", "ber", "viterbi", "--preset", "mars")
        # Boost loops endlessly if an option contains a placeholder of its messages.
        for option in ("--%original_token%", "--x%value%", "--ba=%original_token%"):
            self.check_refused(option, "decode", "viterbi", option, "a", "b")

    def test_ViterbiErrors_NameTheOption(self):
        for option, value in (("constraint-length", "2"), ("polynomials", "178,133"),
                              ("puncturing", "10"), ("termination", "sometimes"),
                              ("frame-bits", "-3"), ("frame-bits", "100"),
                              ("soft-input", "int7"),
                              ("backend", "abacus"), ("decode-length", "33"),
                              ("overlap", "1"), ("slots", "99"), ("threads", "0"),
                              ("device", "a"), ("cuda-kernel", "none"),
                              ("positive-bit", "2")):
            self.check_refused("--" + option, "ber", "viterbi", "--" + option, value)
        self.check_refused("--range", "ber", "viterbi", "--range", "4:1:2")
        self.check_refused("--max-bits", "ber", "viterbi", "--max-bits", "-1")
        self.check_refused("--runs", "bench", "viterbi", "--runs", "0")
        self.check_refused("--pace", "decode", "viterbi", "--pace", "-1", "a", "b")
        self.check_refused("OUT", "decode", "viterbi", "a")

    def test_LdpcErrors_NameTheOption(self):
        for option, value in (("standard", "dvb"), ("frame-size", "medium"),
                              ("rate", "7/8"), ("code-file", "/nowhere/code.alist"),
                              ("soft-input", "int7"), ("llr-scale", "0"),
                              ("algorithm", "sum"), ("precision", "int4"),
                              ("schedule", "serial"), ("max-iterations", "0"),
                              ("early-stop", "perhaps"), ("offset", "100"),
                              ("normalization", "2"), ("output", "bits"),
                              ("batch", "-1"), ("slots", "99"), ("max-latency-ms", "-1"),
                              ("backend", "abacus"), ("device", "a"), ("threads", "0"),
                              ("positive-bit", "-1")):
            self.check_refused("--" + option, "decode", "ldpc", "--" + option, value,
                               "-", "-")
        self.check_refused("--range", "ber", "ldpc", "--range", "1:0:2")
        self.check_refused("--max-frames", "ber", "ldpc", "--max-frames", "-1")
        self.check_refused("--sim-threads", "ber", "ldpc", "--sim-threads", "-1")
        self.check_refused("--runs", "bench", "ldpc", "--runs", "0")
        self.check_refused("--seconds", "bench", "ldpc", "--seconds", "0")
        self.check_refused("--pace", "decode", "ldpc", "--pace", "-1", "a", "b")
        self.check_refused("OUT", "decode", "ldpc", "a")

    def test_SyncErrors_NameTheOption(self):
        for option, value in (("codebook", "/nowhere/book"), ("q", "1"), ("q", "-1"),
                              ("n", "0"), ("frame-symbols", "0"), ("alphabet", "1"),
                              ("alphabet", "3"), ("p-insert", "-0.1"), ("p-delete", "nan"),
                              ("p-substitute", "2"), ("mode", "frames"),
                              ("soft-input", "int8"), ("output", "bits"),
                              ("precision", "half"), ("form", "square"),
                              ("storage", "none"), ("receiver", "lattice"),
                              ("insertion-cap", "-1"), ("state-threshold", "1e-9"),
                              ("lattice-threshold", "1"), ("mn-min", "1"),
                              ("mn-max", "-1"), ("start-first", "2000000"),
                              ("start-prior", "1;2"), ("end-prior", "0,0"),
                              ("exclusion", "0"), ("lookahead", "-1"), ("acquire", "-1"),
                              ("batch", "-1"), ("slots", "99"), ("max-latency-ms", "-1"),
                              ("backend", "abacus"), ("device", "a"), ("threads", "0")):
            self.check_refused("--" + option, "bench", "sync", "--" + option, value)
        self.check_refused("--n", "ber", "sync", "--codebook", "marker", "--n", "9")
        self.check_refused("--marker", "ber", "sync", "--codebook", "marker", "--marker",
                           "012")
        for wrong in ("0.5", "-1", "0.1:0:0.2", "1e-3,,2e-3", "a"):
            self.check_refused("--range", "ber", "sync", "--range", wrong)
        self.check_refused("--max-frames", "ber", "sync", "--max-frames", "-1")
        self.check_refused("--runs", "bench", "sync", "--runs", "0")
        self.check_refused("--seconds", "bench", "sync", "--seconds", "0")
        self.check_refused("--pace", "decode", "sync", "--pace", "-1", "a", "b")
        for command in (["ber", "sync"], ["decode", "sync", "--lengths", os.devnull]):
            files = ["a", "b"] if command[0] == "decode" else []
            for option, value in (("reads", "0"), ("reads", "257"), ("reads", "two"),
                                  ("passes", "0"), ("passes", "17")):
                self.check_refused("--" + option, *command, "--" + option, value, *files)
        self.check_refused("--reads", "ber", "sync", "--mode", "stream", "--reads", "2")
        self.check_refused("--lengths", "decode", "sync", "a", "b")
        self.check_refused("--lengths", "decode", "sync", "--lengths", "/nowhere", "a", "b")
        self.check_refused("--lengths", "decode", "sync", "--mode", "stream", "--lengths",
                           "/nowhere", "a", "b")
        self.check_refused("OUT", "decode", "sync", "a")

    def test_OptionsWithoutEffect_AreReported(self):
        """A warning is printed if, and only if, other options make an option ineffective."""
        symbols = "--soft-input=symbols"
        for decoder, option, others, effective in (
                ("viterbi", "--lock-constellation=qpsk", "", "--lock=auto"),
                ("viterbi", "--lock-presets=dvb_2_3", "", "--lock=auto"),
                ("viterbi", "--lock-memory=20000", "", "--lock=auto"),
                ("viterbi", "--lock-first-item=q", "--lock=auto",
                 "--lock-constellation=qpsk --lock=auto"),
                ("viterbi", "--soft-scale=3", "", "--soft-input=float"),
                ("viterbi", "--cuda-kernel=pbvd", "--backend=cpu", "--backend=auto"),
                ("ldpc", "--esn0-db=3", "", symbols),
                ("ldpc", "--esn0-db=3", "--soft-input=float", symbols),
                ("ldpc", "--demapper=max_log", "", symbols),
                ("ldpc", "--constellation=8psk", "--rate=3/4", symbols + " --rate=3/4"),
                ("ldpc", "--positive-bit=1", symbols, symbols + " --output=llr"),
                ("ldpc", "--llr-scale=4", "--soft-input=float", "--output=llr"),
                ("ldpc", "--llr-factor=4", "", "--soft-input=float"),
                ("ldpc", "--offset=0.5", "--algorithm=min_sum", ""),
                ("ldpc", "--normalization=0.5", "", "--algorithm=normalized_min_sum"),
                ("ldpc", "--descramble=true", "", "--output=bbframe"),
                ("ldpc", "--symbol-bits=104", "--standard=wifi --frame-size=648",
                 "--standard=wifi --psdu-bytes=100"),
                ("ldpc", "--stbc", "--standard=wifi --frame-size=648",
                 "--standard=wifi --psdu-bytes=100 --symbol-bits=104"),
                ("sync", "--lookahead=5", "", "--mode=stream"),
                ("sync", "--storage=local", "", "--form=corridor"),
                ("sync", "--insertion-cap=3", "--form=corridor",
                 "--form=corridor --receiver=trellis"),
                ("sync", "--start-first=-1", "", "--start-prior=0.5,0.5"),
                ("sync", "--positive-bit=1", "", "--output=llr"),
                ("sync", "--passes=3", "", "--reads=2"),
                ("sync", "--marker=011", "", "--codebook=marker --n=8")):
            warning = f"{option.split('=')[0]} has no effect: it applies only to "
            for more, expected in ((others, True), (effective, False)):
                with self.subTest(decoder, option=option, more=more):
                    arguments = ["decode", decoder, option, *more.split(), os.devnull, "-"]
                    if decoder == "sync" and "stream" not in more:
                        arguments += ["--lengths", os.devnull]
                    result = run(*arguments)
                    self.assertIn(result.returncode, (0, 3), result.stderr)
                    self.assertEqual(result.stderr.decode().count(warning), expected,
                                     result.stderr)
        for option, others, effective in (("--positive-bit=0", "--output=packed", ""),
                                     ("--constellation=qpsk", "", "--output=symbols")):
            warning = f"{option.split('=')[0]} has no effect"
            for more, expected in ((others, True), (effective, False)):
                result = run("encode", "ldpc", option, *more.split(), os.devnull, "-")
                self.assertEqual(result.stderr.decode().count(warning), expected, result.stderr)

    def test_NamesBesideACodeFile_AreReported(self):
        with tempfile.NamedTemporaryFile("w", suffix=".alist") as file:
            file.write("7 3\n3 4\n2 2 2 3 1 1 1\n4 4 4\n1 2 0\n1 3 0\n2 3 0\n1 2 3\n"
                       "1 0 0\n2 0 0\n3 0 0\n1 2 4 5\n1 3 4 6\n2 3 4 7\n")
            file.flush()
            for command in ("decode", "encode"):
                errors = run(command, "ldpc", "--code-file", file.name, "--rate", "1/2",
                             os.devnull, "-").stderr.decode()
                self.assertEqual(errors.count("has no effect"), 1, errors)
                self.assertIn("--rate has no effect: it applies only to codes without --code-file",
                              errors)

    def test_RateThatContradictsTheModcod_IsRefused(self):
        modcod = ["--soft-input", "symbols", "--modcod", "8PSK 3/4"]
        for option, value in (("--rate", "1/2"), ("--constellation", "16apsk")):
            self.check_refused(f'{option} is "{value}": allowed', "decode", "ldpc", *modcod,
                               option, value, os.devnull, "-")
        for option, value in (("--rate", "3/4"), ("--rate", "8psk3/4"),
                              ("--constellation", "8PSK")):
            result = run("decode", "ldpc", *modcod, option, value, os.devnull, "-")
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_MissingDevice_IsAnError(self):
        for decoder in ("viterbi", "ldpc", "sync"):
            result = run("ber", decoder, "--backend", "cuda", "--device", "63")
            self.assertNotEqual(result.returncode, 0)
            self.assertTrue(result.stderr)


class qa_info(unittest.TestCase):

    def test_InfoAsJson_HasPresetsAndDefaults(self):
        report = json.loads(run("info", "--json", "-").stdout)
        names = [p["name"] for p in report["viterbi_presets"]]
        self.assertIn("dvb_3_4", names)
        self.assertTrue(report["cpu_backend"])
        framed, stream = report["sync_defaults"]
        self.assertEqual((framed["drifts"], framed["lookahead"]), (33, 0))
        self.assertEqual((stream["mode"], stream["lookahead"]), ("stream", 7))
        self.assertTrue(report["cuda_devices"] or report["cuda_missing"])

    def test_InfoAsText_ListsPresets(self):
        result = run("info")
        self.assertEqual(result.returncode, 0)
        self.assertIn(b"dvb_3_4", result.stdout)

    def test_LdpcCodes_AreListed(self):
        codes = json.loads(run("info", "--json", "-").stdout)["ldpc_codes"]
        text = run("info").stdout.decode().split("LDPC codes")[1]
        rates = {(c["standard"], c["frame_size"]): c["rates"] for c in codes}
        self.assertEqual(len(rates[("dvbs2", "normal")]), 11)
        self.assertEqual(rates[("wifi", "648")], ["1/2", "2/3", "3/4", "5/6"])
        self.assertEqual({s for s, _ in rates}, {"dvbs2", "dvbs2x", "dvbt2", "ccsds_c2",
                                                 "ccsds_ar4ja", "ccsds_tc", "wifi", "nr"})
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80)
        for (standard, size), known in rates.items():
            self.assertIn(f"  {standard} ", text)
            self.assertRegex(text, rf"  {size}(  |\n)")
            for rate in known:
                self.assertIn(f"  {rate}", text)
            if standard != "nr" or size in ("bg1 z2", "bg2 z384"): # two of the many sizes of NR are tested
                result = run("encode", "ldpc", "--standard", standard, "--frame-size", size,
                             "--rate", known[-1], os.devnull, os.devnull)
                self.assertEqual(result.returncode, 0, result.stderr)


class qa_help(unittest.TestCase):

    def test_HelpAtEveryLevel_IsPrinted(self):
        for command in ("bench", "ber", "decode", "encode"):
            for word in ("--help", "-h", "help"):
                result = run(command, word)
                self.assertEqual((result.returncode, result.stderr), (0, b""), command)
                for expected in (b"Usage: gpufec " + command.encode(), b"viterbi", b"ldpc",
                                 b"sync", b"Exit status"):
                    self.assertIn(expected, result.stdout)

    def test_Help_TakesLittleProcessorTime(self):
        """Help takes less than 0.2 s of processor time. Elapsed time would depend on other
        processes."""
        def processor_s():
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            return used.ru_utime + used.ru_stime
        taken = []
        for _ in range(5):
            begin = processor_s()
            run("--help")
            taken.append(processor_s() - begin)
        self.assertLess(min(taken), 0.2)

    def test_EveryOption_IsExplained(self):
        for command in ("bench", "ber", "decode"):
            for decoder in ("viterbi", "ldpc", "sync"):
                text = run(command, decoder, "--help").stdout.decode()
                rows = [line for line in text.splitlines() if line.startswith("  --")]
                self.assertGreater(len(rows), 18)
                for row in rows:
                    self.assertRegex(row, r"--[a-z0-9-]+( arg)?( \(=\S+\))? *\S+", row)
        text = run("bench", "viterbi", "--help").stdout.decode()
        self.assertIn("auto, pbvd, registers or fused", text)


class qa_messages(unittest.TestCase):

    def check(self, expected, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, 2, (arguments, result.stderr))
        self.assertIn(expected, result.stderr.decode())

    def test_Errors_NameOptionsAsTyped(self):
        for expected, arguments in (
                ("--frame-bits is 100: ", "ber viterbi --frame-bits 100"),
                ("number of --polynomials is 1: ", "ber viterbi --polynomials 171"),
                ("--device is 17: ", "ber sync --device " + ",".join("0" * 17)),
                ("--p-insert + --p-delete is 1", "ber sync --p-insert 0.5 --p-delete 0.5"),
                ("--range is -1000", "ber viterbi --range -1000"),
                ("--eb-n0 is -1000", "bench ldpc --eb-n0 -1000"),
                ("--max-latency-ms is -1: ", "decode ldpc --max-latency-ms -1 - -"),
                ('--batch is "many": allowed values are whole numbers', "ber ldpc --batch many"),
                ('--llr-scale is "1..2": allowed values are numbers', "ber ldpc --llr-scale 1..2"),
                ('--soft-input is "int7": allowed values are int8, float, packed4 and uint8',
                 "ber viterbi --soft-input int7"),
                ('--max-bits is -1: allowed values are 0 to 1e15', "ber viterbi --max-bits -1"),
                ("--sim-threads is 2000: allowed values are 0 to 1024",
                 "ber viterbi --sim-threads 2000")):
            self.check(expected, *arguments.split())

    def test_ControlCharactersInErrors_AreEscaped(self):
        with tempfile.TemporaryDirectory() as folder:
            lengths = os.path.join(folder, "lengths")
            with open(lengths, "wb") as file:
                file.write(b"\x1b[31m\xff\xfe")
            result = run("decode", "sync", "--lengths", lengths, "-", "-", input=b"")
            self.assertEqual(result.returncode, 2)
            self.assertIn(r"\x1b[31m\xff\xfe", result.stderr.decode())


class qa_json(unittest.TestCase):
    """Tests of --json FILE with info, bench, ber and decode, and of "-" for standard output."""

    COMMANDS = (("info",), ("bench", "viterbi", "--seconds", "0.05", "--runs", "1"),
                ("bench", "ldpc", "--frame-size", "short", "--seconds", "0.05", "--runs",
                 "1"),
                ("bench", "sync", "--frame-symbols", "20", "--seconds", "0.05", "--runs",
                 "1"),
                ("ber", "viterbi", "--range", "3", "--max-bits", "1e5"),
                ("ber", "ldpc", "--frame-size", "short", "--range", "3", "--max-frames",
                 "5"),
                ("ber", "sync", "--frame-symbols", "20", "--max-frames", "5"),
                ("decode", "viterbi", os.devnull, os.devnull),
                ("decode", "ldpc", os.devnull, os.devnull),
                ("decode", "sync", "--mode", "stream", os.devnull, os.devnull))

    def test_JsonOnStandardOutput_IsValid(self):
        for command in self.COMMANDS:
            result = run(*command, "--json", "-")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("environment", json.loads(result.stdout))

    def test_JsonFile_ReplacesOldContent(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            for command in self.COMMANDS:
                with open(path, "w") as file:
                    file.write("x" * 100000) # the old, longer content must be replaced
                result = run(*command, "--json", path)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(result.stdout == b"", command[0] == "decode")
                with open(path) as file:
                    report = json.load(file)
                if command[0] != "info":
                    self.assertEqual(report["command"], "gpufec " + " ".join(command[:2]))
                    self.assertIn("backend", report["options"])

    def test_JsonWithoutFile_IsRefused(self):
        for command in self.COMMANDS:
            self.assertEqual(run(*command, "--json").returncode, 2)

    def test_UnwritableJsonFile_IsRefusedBeforeSimulation(self):
        """The file is refused before a simulation that would take days."""
        result = run("ber", "viterbi", "--range", "9", "--max-bits", "1e15", "--json",
                     "/nowhere/report.json")
        self.assertEqual((result.returncode, result.stdout), (1, b""))
        self.assertIn(b"/nowhere/report.json", result.stderr)

    def test_StringsInReports_AreValidUtf8(self):
        name = os.fsencode("/nowhere/") + b"\xff\n\x01"
        result = run("decode", "viterbi", "--puncturing", "", "--json", "-", os.devnull,
                     os.devnull)
        json.loads(result.stdout.decode())
        result = run("decode", "viterbi", name, os.devnull)
        self.assertIn(r"/nowhere/\xff", result.stderr.decode())
        self.assertNotIn(b"\xff", result.stderr)


if __name__ == "__main__":
    main()
