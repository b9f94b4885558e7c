#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#
"""Tests the blocks in GNU Radio Companion: loading, fields, error checks, generated code and its
execution."""

import ast
import builtins
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from gnuradio import gpufec, gr

import qa_grc_case
import qa_support as support
from qa_grc_case import DEFINITIONS, LDPC_DECODER

DECODER = "gpufec_gpu_viterbi_pbvd"
ENCODER = "gpufec_conv_encoder"
BOTH = (DECODER, ENCODER)

EVERY_BLOCK = {"id", "alias", "affinity", "minoutbuf", "maxoutbuf", "comment"}
# Fields without a parameter of the same name in make(); other parameters are computed from them.
CODEBOOK = {"codebook_kind", "seed", "marker", "code_file"}
ONLY_FIELDS = {
    "gpufec_gpu_sync_map": CODEBOOK | {"priors"}, "gpufec_sync_encoder": CODEBOOK,
}
# Fields whose default differs from the parameter's default but means the same.
SAME_AS_DEFAULT = {"preset": "dvb_1_2"}
# Values that make the fields of a user-defined code effective.
OWN_CODE = {"preset": "custom", "termination": "terminated", "standard": "file",
            "codebook_kind": "custom"}
PPDU = {"psdu_bytes", "symbol_bits", "stbc"} # fields that are effective with Wi-Fi only


def custom(**parameters):
    return dict(preset="custom", **parameters)


def cases(codes, decoders):
    """Returns pairs of a block and its parameters. Each element of `codes` makes a pair for the
    encoder and a pair for the decoder; each element of `decoders` makes a pair for the decoder."""
    return [(DECODER, p) for p in codes + decoders] + [(ENCODER, p) for p in codes]


# Parameters for which GNU Radio Companion must mark the block as invalid (red).
WRONG_CODES = [
    custom(constraint_length="2"), custom(constraint_length="10"),
    custom(polynomials="[0o171]"), custom(polynomials="[0o171] * 7"),
    custom(polynomials="[0o171, 0]"), custom(polynomials="[0o171, 0o200]"),
    custom(polynomials="[0o170, 0o132]"), custom(polynomials="[0o71, 0o33]"),
    custom(puncturing="101"), custom(puncturing="101,11"), custom(puncturing="10,1x"),
    custom(puncturing="10,10"), custom(puncturing="1" * 65 + "," + "1" * 65),
    custom(termination="terminated"), custom(termination="terminated", frame_bits="-1"),
    custom(termination="truncated", frame_bits="2**24 + 1"),
    custom(termination="tailbiting", frame_bits="5"),
    dict(preset="umts_1_2"), dict(preset="lte", frame_bits="5"),
]
WRONG_DECODERS = [
    dict(soft_scale="0"), dict(soft_scale="-1"), dict(soft_scale="float('nan')"),
    dict(soft_scale="float('inf')"), dict(decode_length="33"), dict(decode_length="-32"),
    dict(decode_length="65568"), dict(overlap="5"), dict(overlap="4097"),
    dict(batch="-1"), dict(slots="0"), dict(slots="17"), dict(max_latency_ms="-1"),
    dict(max_latency_ms="float('nan')"), dict(device="-1"), dict(threads="0"),
    dict(devices="[0, -1]"), dict(devices="[0] * 17"),
    dict(threads="257"), dict(slots="'three'"), dict(status_period_s="-1"),
    dict(lock="auto", lock_memory="9999"),
    dict(lock="auto", preset="lte", frame_bits="100"),
    dict(lock="auto", lock_presets="['dvb_1_3']"), dict(lock="auto", lock_presets="'dvb_3_4'"),
]
RIGHT_CODES = [
    dict(), custom(), custom(constraint_length="9", polynomials="(0o561, 0o753)"),
    custom(polynomials="[0o171, -0o133]", puncturing="101,110"),
    custom(puncturing="'1000101,1111010'"),
    custom(termination="tailbiting", frame_bits="6"),
    dict(preset="gsm", frame_bits="189"), dict(preset="dvb_7_8", frame_bits="100"),
]
RIGHT_DECODERS = [
    dict(soft_input="float", soft_scale="20"), dict(soft_input="packed4"),
    dict(decode_length="256", overlap="42"), dict(backend="cpu", threads="2"),
    dict(packed_output="False"), dict(length_tag_key=""), dict(max_latency_ms="0"),
    dict(devices="[0, 0]"), dict(status_period_s="0.5"),
    dict(lock="auto", lock_constellation="oqpsk", lock_presets="['dvb_3_4']"),
    dict(lock="auto", lock_constellation="qpsk", lock_first_item="q"),
    dict(lock="auto", preset="gsm", frame_bits="189"),
]


class qa_grc(qa_grc_case.grc_case):
    def test_RightParameters_AreAcceptedAndRun(self):
        for key, parameters in cases(RIGHT_CODES, RIGHT_DECODERS):
            with self.subTest(key, **parameters):
                graph, _ = self.graph(key, **parameters)
                self.assertEqual(self.errors(graph), [])
                self.assertTrue(graph.is_valid())
                self.run_generated(graph)

    def run_generated(self, graph):
        namespace = {"__name__": "generated"}
        exec(compile(self.generated(graph), "generated", "exec"), namespace)
        top = namespace["qa_generated"]()
        top.run()

    def test_WrongParameters_AreRed(self):
        for key, parameters in cases(WRONG_CODES, WRONG_DECODERS):
            with self.subTest(key, **parameters):
                graph, block = self.graph(key, **parameters)
                self.assertFalse(graph.is_valid())
                self.assertRegex("\n".join(block.get_error_messages()), "Assertion")

    def test_DecimalPolynomials_AreRefusedWithReason(self):
        for key in BOTH:
            _, block = self.graph(key, **custom(polynomials="[171, 133]"))
            self.assertRegex("\n".join(block.get_error_messages()),
                             "171 without 0o is decimal")

    def test_LabelsOfPositiveBit_ExplainTheSign(self):
        """The option labels of positive_bit explain a positive value; the first option is the
        default."""
        for key, default in ((DECODER, "1"), (LDPC_DECODER, "0"),
                             ("gpufec_gpu_sync_map", "0")):
            options = self.platform.blocks[key].parameters_data
            sign = next(p for p in options if p["id"] == "positive_bit")
            self.assertEqual(sign["options"][0], default)
            for bit, label in zip(sign["options"], sign["option_labels"]):
                self.assertIn(f"Positive is bit {bit} (", label)

    def label_of(self, preset):
        """Returns the option label of `preset`, for example "DVB-S/T 3/4: K=7, 171 133, punctured
        101,110"."""
        parts = [f"K={preset.constraint_length}, " + " ".join(
            f"{'-' * (p < 0)}{abs(p):o}" for p in preset.polynomials)]
        if preset.puncturing:
            parts.append("punctured " + preset.puncturing)
        if preset.termination != "streaming":
            parts.append(preset.termination.replace("tailbiting", "tail-biting"))
        return f"{preset.title}: " + ", ".join(parts)

    def test_Errors_BeginWithLabelOfField(self):
        """Except for the Viterbi decoder definition, the error message of each check begins with
        the name of a field of the block."""
        for key, block_class in self.platform.blocks.items():
            if "gpufec_" in key and key != "variable_gpufec_viterbi_decoder_def":
                labels = [p["label"].split(" (")[0].rstrip(":") for p in
                          block_class.parameters_data if p.get("label")]
                # Every length tag is allowed, so the deframer has nothing to check.
                self.assertEqual(bool(block_class.asserts), key != "gpufec_dvbs_deframer")
                for check in block_class.asserts:
                    with self.subTest(key, check=check):
                        name = re.match(r"'([^:']+): [^']+' and \(", check)
                        self.assertIsNotNone(name)
                        self.assertTrue(any(label.startswith(name[1].rstrip("s"))
                                            for label in labels), name[1])

    def test_Checks_UseFieldsAndNoModule(self):
        """Checks use only fields and Python's builtins, so that they work without the module."""
        for key, block_class in self.platform.blocks.items():
            if "gpufec_" in key:
                known = {p["id"] for p in block_class.parameters_data} | set(dir(builtins))
                for check in block_class.asserts:
                    names = {n.id for n in ast.walk(ast.parse(check, mode="eval"))
                             if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
                    bound = {n.id for n in ast.walk(ast.parse(check, mode="eval"))
                             if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
                    with self.subTest(key, check=check):
                        self.assertEqual(names - bound - known, set())

    def fields(self):
        """Yields (key of the block, field) for each labelled field of this module's blocks."""
        for key, block_class in self.platform.blocks.items():
            if "gpufec_" in key:
                for field in block_class.parameters_data:
                    if field.get("label"):
                        yield key, field

    def test_Label_NamesItsParameter(self):
        """The words of a label are the parameter's name, as in "LLR scale (steps per nat)" for
        llr_scale, or the name follows in parentheses."""
        def name(label):
            return re.sub(r"\W+", "_", re.sub("[/']", "", label.lower())).strip("_")

        count = 0
        for key, field in self.fields():
            label = field["label"]
            with self.subTest(key, label=label):
                self.assertTrue(field["id"] in (name(label), name(label.split(" (")[0])) or
                                f"({field['id']})" in label, field["id"])
            count += 1
        self.assertGreater(count, 150)

    def test_DefaultOfZeroOrBelow_IsExplainedByItsOption(self):
        """If a default is 0 or negative, its option has a label that explains it. The excluded
        indices, drifts and probability have no special meaning at 0."""
        count = 0
        for key, field in self.fields():
            default = str(field.get("default", ""))
            if field["dtype"] not in ("int", "real") or not re.match(r"(-.*|0(\.0)?)$", default) \
                    or field["id"] in ("device", "start_first", "end_first", "p_substitute"):
                continue
            with self.subTest(key, field=field["id"]):
                if field["id"] == "frame_bits" and "channel" not in key:
                    self.assertIn("streaming", field["hide"]) # hidden if it must be 0
                    continue
                self.assertIn(default, field["options"])
                label = field["option_labels"][field["options"].index(default)]
                self.assertRegex(label, r"^(-?\d): \w")
            count += 1
        self.assertGreater(count, 15)

    def test_BlockLabels_DoNotClaimThatAGpuIsNeeded(self):
        for key, block_class in self.platform.blocks.items():
            if "gpufec_" in key:
                self.assertNotIn("(GPU)", block_class.label + block_class.documentation[""])

    def test_FramePresetWithoutFrameBits_IsRefusedWithReason(self):
        graph, block = self.graph(DECODER, preset="lte")
        message, = block.get_error_messages()
        self.assertIn("Frame bits: 1 to 16777216 information bits", message)

    def test_Presets_EqualThoseOfModule(self):
        presets = {p.name: p for p in gpufec.conv_presets()}
        for key in BOTH:
            _, block = self.graph(key)
            options = block.params["preset"].options
            self.assertEqual(list(options), ["custom"] + list(presets))
            for name, preset in presets.items():
                self.assertEqual(options[name], self.label_of(preset))
                found = options.attributes[name]
                self.assertEqual(found["constraint_length"], preset.constraint_length)
                self.assertEqual(found["termination"], preset.termination)
                block.params["preset"].set_value(name)
                self.assertEqual(self.arguments(block)["preset"], repr(name))

    def test_EveryPreset_IsValidAndRuns(self):
        for key in BOTH:
            for preset in gpufec.conv_presets():
                with self.subTest(key, preset=preset.name):
                    graph, _ = self.graph(key, preset=preset.name, frame_bits="200")
                    self.assertEqual(self.errors(graph), [])
                    self.run_generated(graph)

    def test_GeneratedCall_NamesEveryParameter(self):
        for key, block_class in ((DECODER, gpufec.gpu_viterbi_pbvd),
                                 (ENCODER, gpufec.conv_encoder)):
            _, block = self.graph(key)
            make = block.templates.render("make")
            called = set()

            def record(**parameters):
                called.update(parameters)
                return block_class(**parameters)

            module = type("module", (), {block_class.__name__: staticmethod(record)})
            eval(make, {"gpufec": module})
            signature = block_class.__init__.__doc__.splitlines()[0]
            self.assertEqual(called, set(re.findall(r"(\w+): [^:]+ = ", signature)))

    def arguments(self, block):
        """Returns the keyword arguments, as source text, in the constructor call that is generated
        for `block`."""
        call = ast.parse(block.templates.render("make").strip(), mode="eval").body
        self.assertEqual(ast.unparse(call.func), block.key.replace("gpufec_", "gpufec.", 1))
        self.assertEqual(call.args, [])
        return {k.arg: ast.unparse(k.value) for k in call.keywords}

    def test_EveryBlockOfHeaders_HasADefinition(self):
        drawn = {key for key in self.platform.blocks if key.startswith("gpufec_")}
        declared = {f"gpufec_{d.name}" for d in support.declared().values() if d.is_block}
        self.assertEqual(drawn, declared)

    def test_ParametersAndDefaults_EqualThoseOfHeaders(self):
        """The generated call names all parameters of make(), and the fields have the header's
        defaults."""
        for declared, block in self.headers_and_blocks():
            parameters = declared.members["make"].parameters
            found = self.arguments(block)
            self.assertEqual(list(found), [p.name for p in parameters])
            for p in parameters:
                if p.default is not None:
                    value = ast.literal_eval(found[p.name])
                    expected = SAME_AS_DEFAULT.get(p.name, p.python_default)
                    self.assertEqual((p.name, value), (p.name, expected))
            self.assertEqual(set(block.params) - EVERY_BLOCK - set(found),
                             ONLY_FIELDS.get(block.key, set()))

    def test_Fields_PassTheirValueToTheirParameter(self):
        """Each field passes its value, one of its options or a variable, to the parameter of its
        name."""
        for declared, block in self.headers_and_blocks():
            for name in OWN_CODE.keys() & block.params.keys():
                block.params[name].set_value(OWN_CODE[name])
            for p in declared.members["make"].parameters:
                if p.name == "standard" and "code_file" in block.params: # its option "file" is replaced
                    continue
                if p.name in PPDU:
                    block.params["standard"].set_value("wifi")
                field = block.params[p.name]
                before = field.get_value(), field._stringify_flag, field._lisitify_flag
                for value in field.options if field.is_enum() else ["some_variable"]:
                    field.set_value(value)
                    # These flags would put the variable in quotes or brackets. GNU Radio Companion
                    # clears them for variables that exist.
                    field._stringify_flag = field._lisitify_flag = False
                    found = self.arguments(block)[p.name]
                    if field.is_enum() and "string" in p.type:
                        found = ast.literal_eval(found)
                    if p.name == "preset" and not found:
                        found = "custom"
                    self.assertEqual((p.name, found), (p.name, value))
                field.value, field._stringify_flag, field._lisitify_flag = before

    def test_Callbacks_AreTheSettersOfHeaders(self):
        for declared, block in self.headers_and_blocks():
            calls = [ast.parse(c, mode="eval").body for c in block.get_callbacks()]
            self.assertEqual(sorted(ast.unparse(c.func) for c in calls),
                             sorted(f"self.tested.{m.name}" for m in declared.setters()))
            for call in calls:
                setter = declared.members[call.func.attr]
                self.assertEqual(len(call.args), len(setter.parameters))

    def test_Callbacks_PassTheFieldOfTheirSetter(self):
        """The callback of each setter, such as set_p_delete(), passes the field of its own name."""
        count = 0
        for _, block in self.headers_and_blocks():
            fields = {name.replace("set_", "", 1): name for name in re.findall(
                r"\b(set_\w+)\(", " ".join(block.get_callbacks()))}
            for field in fields.keys() & block.params.keys():
                parameter = block.params[field]
                before = parameter.get_value()
                parameter.set_value(f"variable_of_{field}")
                parameter._stringify_flag = parameter._lisitify_flag = False
                call, = [c for c in block.get_callbacks() if f".set_{field}(" in c]
                self.assertEqual(ast.unparse(ast.parse(call)),
                                 f"self.tested.set_{field}(variable_of_{field})")
                parameter.set_value(before)
                count += 1
        self.assertGreater(count, 12)

    def test_SharedFields_AreValidUpToTheirBounds(self):
        """Fields that several blocks share are valid at their bounds, and invalid beyond."""
        bounds = {"slots": ("1 16", "0 17"), "threads": ("1 256", "0 257"), "batch": ("0", "-1"),
                  "max_latency_ms": ("0", "-1 float('inf')"), "device": ("0", "-1"),
                  "isi": ("-1 255", "-2 256"), "max_iterations": ("1 1000", "0 1001"),
                  "p_insert": ("0", "-0.1 1"), "p_delete": ("0", "-0.1 1"),
                  "p_substitute": ("0 1", "-0.1 1.1"), "seed": ("0", "-1")}
        count = 0
        for _, block in self.headers_and_blocks():
            for field in bounds.keys() & block.params.keys():
                before = block.params[field].get_value()
                for values, red in zip(bounds[field], (False, True)):
                    for value in values.split():
                        block.params[field].set_value(value)
                        block.rewrite()
                        block.validate()
                        with self.subTest(block.key, field=field, value=value):
                            self.assertEqual("Assertion" in "\n".join(block.get_error_messages()),
                                             red)
                            count += 1
                block.params[field].set_value(before)
        self.assertGreater(count, 80)

    def test_FrameItemsInStreamMode_BecomeZero(self):
        for mode, expected in (("framed", "210"), ("stream", "0")):
            _, block = self.sync_graph({}, mode=mode, frame_items="210")
            self.assertEqual(self.arguments(block)["frame_items"], expected)

    def test_ChangedVariable_ChangesLdpcCode(self):
        """Setting a variable in a flowgraph that grcc generated changes the code of the decoder."""
        graph = self.platform.make_flow_graph()
        options = graph.options_block.params
        for name, value in dict(id="qa_generated", generate_options="no_gui",
                                run_options="run").items():
            options[name].set_value(value)

        def add(key, **parameters):
            block = graph.new_block(key)
            for name, value in parameters.items():
                block.params[name].set_value(value)
            return block

        add("variable", id="size", value="'normal'")
        add("variable", id="rate", value="'1/2'")
        chain = [add("blocks_null_source", id="source", type="byte"),
                 add("gpufec_ldpc_encoder", id="encoder", frame_size="size", rate="rate"),
                 add("blocks_head", id="head", type="byte", num_items="64800"),
                 add(LDPC_DECODER, id="decoder", frame_size="size", rate="rate", acm="True",
                     backend="cpu"),
                 add("blocks_null_sink", id="sink", type="byte")]
        graph.rewrite()
        for one, next_one in zip(chain, chain[1:]):
            graph.connect(one.sources[0], next_one.sinks[0])
        graph.rewrite()
        graph.validate()
        self.assertEqual(self.errors(graph), [])
        with tempfile.TemporaryDirectory() as folder:
            drawn = pathlib.Path(folder) / "drawn.grc"
            self.platform.save_flow_graph(str(drawn), graph)
            subprocess.run([sys.executable, self.compiler(), "-o", folder, str(drawn)],
                           check=True, capture_output=True,
                           env={**os.environ, "GRC_BLOCKS_PATH": DEFINITIONS,
                                "HOME": folder})
            code = (pathlib.Path(folder) / "qa_generated.py").read_text()
        self.assertRegex(code, r"gpu_ldpc_dvbs2\((?s:.*?)frame_size=size,\s+rate=rate,")
        self.assertEqual(code.count('self.decoder.set_code(self.size + " " + self.rate)'), 2)
        namespace = {"__name__": "generated"}
        exec(compile(code, "generated", "exec"), namespace)
        top = namespace["qa_generated"]()
        top.set_rate("3/4")
        top.set_size("short")
        with self.assertRaisesRegex(ValueError, "short 9/10"):
            top.set_rate("9/10")
        top.set_rate("3/4")
        top.run()
        self.assertEqual(top.decoder.nitems_written(0), 4 * 11880 // 8)

    def test_DecoderDefinitionsInGrFecBlocks_Run(self):
        """gr-fec's extended decoder runs with the decoder definitions, and outputs more than 40,000
        bits."""
        alist = tempfile.NamedTemporaryFile("w", suffix=".alist")
        self.addCleanup(alist.close)
        alist.write("4 2\n1 3\n1 1 1 1\n3 1\n1\n1\n1\n2\n1 2 3\n4\n") # K = 2
        alist.flush()
        for which, parameters in (
                ("viterbi", dict(frame_bits="100", termination="tailbiting")),
                ("ldpc", dict(frame_size="short", rate="'1/2'")),
                ("ldpc", dict(standard="file", code_file=alist.name,
                              message_positions="[2, 0]")),
                ("ldpc", dict(standard="file", code_file=alist.name,
                              message_positions="'first'"))):
            for dimensions, threads in ((dict(), "none"),
                                        (dict(ndim="1", dim1="4"), "capillary")):
                graph = self.platform.make_flow_graph()
                for name, value in dict(id="qa_generated", generate_options="no_gui",
                                        run_options="run").items():
                    graph.options_block.params[name].set_value(value)

                def add(key, **parameters):
                    block = graph.new_block(key)
                    for name, value in parameters.items():
                        block.params[name].set_value(value)
                    return block

                add(f"variable_gpufec_{which}_decoder_def", id="rate", **parameters,
                    **dimensions)
                chain = [add("blocks_null_source", id="source", type="float"),
                         add("blocks_head", id="head", type="float", num_items="162000"),
                         add("fec_extended_decoder", id="decoder", decoder_list="rate",
                             threadtype=threads),
                         add("blocks_vector_sink_x", id="sink", type="byte")]
                graph.rewrite()
                for one, next_one in zip(chain, chain[1:]):
                    graph.connect(one.sources[0], next_one.sinks[0])
                graph.rewrite()
                graph.validate()
                with self.subTest(which, **dimensions):
                    self.assertEqual(self.errors(graph), [])
                    with tempfile.TemporaryDirectory() as folder:
                        generator = self.platform.Generator(graph, folder)
                        generator.write()
                        code = pathlib.Path(generator.file_path).read_text()
                    namespace = {"__name__": "generated"}
                    exec(compile(code, "generated", "exec"), namespace)
                    top = namespace["qa_generated"]()
                    top.run()
                    self.assertGreater(len(top.sink.data()), 40000)

    def compiler(self):
        found = pathlib.Path(gr.prefix()) / "bin" / "grcc"
        if not found.exists():
            self.skipTest("grcc is not installed")
        return str(found)

    def test_CallbacksOfViterbi_AreMethods(self):
        _, block = self.graph(DECODER)
        callbacks = block.get_callbacks()
        self.assertEqual(len(callbacks), 2)
        decoder = gpufec.gpu_viterbi_pbvd(backend="cpu")
        for callback in callbacks:
            eval(callback, {"self": type("graph", (), {block.name: decoder})})

    def test_FieldsWithoutEffect_AreHidden(self):
        _, block = self.graph(DECODER)
        self.assertEqual(block.params["polynomials"].hide, "all")
        self.assertEqual(block.params["frame_bits"].hide, "all")
        self.assertEqual(block.params["soft_scale"].hide, "all")
        _, block = self.graph(DECODER, preset="custom", termination="terminated",
                              frame_bits="8", soft_input="float", backend="cpu")
        self.assertEqual(block.params["polynomials"].hide, "none")
        self.assertEqual(block.params["frame_bits"].hide, "none")
        self.assertEqual(block.params["soft_scale"].hide, "none")
        self.assertEqual(block.params["device"].hide, "all")

    def sync_graph(self, code, **decoder):
        """Returns a flowgraph that encodes zeros, sends the codewords over a BSID channel and
        decodes the received bits, and the decoder block. `code` and `decoder` are fields of the
        blocks."""
        graph = self.platform.make_flow_graph()
        graph.options_block.params["id"].set_value("qa_generated")
        graph.options_block.params["generate_options"].set_value("no_gui")
        graph.options_block.params["run_options"].set_value("run")
        framed = decoder.get("mode") != "stream"

        def add(key, **parameters):
            block = graph.new_block(key)
            parameters.setdefault("id", f"block_{len(graph.blocks)}")
            for name, value in parameters.items():
                block.params[name].set_value(value)
            return block

        wide = int(code.get("q", "32")) > 256
        symbols = "short" if wide else "byte"
        given = decoder.get("output", "symbols")
        result = symbols if given == "symbols" else "byte" if given == "llr" else "float"
        source = add("blocks_null_source", type=symbols)
        head = add("blocks_head", type=symbols, num_items="2100")
        encoder = add("gpufec_sync_encoder", **code)
        bits = eval(code.get("n", "10")) * eval(code.get("frame_symbols", "210"))
        channel = add("gpufec_channel_bsid", frame_bits=str(bits if framed else 0),
                      alphabet=code.get("alphabet", "2"))
        tested = add("gpufec_gpu_sync_map", id="tested", **code, **decoder)
        sink = add("blocks_null_sink", type=result)
        soft = decoder.get("soft_input") == "float"
        alphabet = code.get("alphabet", "2")
        if soft and alphabet != "2":
            convert = [add("digital_chunks_to_symbols_xx", in_type="byte", out_type="float",
                           dimension=alphabet, symbol_table="[1] * 16"),
                       add("blocks_stream_to_vector", type="float", num_items=alphabet)]
        else:
            convert = [add("blocks_uchar_to_float")] if soft else []
        weights = add("blocks_null_source", type="float") if "priors" in decoder else None
        graph.rewrite()
        chain = [source, head, encoder, channel] + convert + [tested, sink]
        for one, next_one in zip(chain, chain[1:]):
            graph.connect(one.sources[0], next_one.sinks[0])
        if weights:
            graph.connect(weights.sources[0], tested.sinks[1])
        graph.rewrite()
        graph.validate()
        return graph, tested

    def test_RightSyncParameters_AreAcceptedAndRun(self):
        small = dict(q="4", n="6", frame_symbols="70")
        wide = dict(q="300", n="12", frame_symbols="21", codebook_kind="random")
        for code, decoder in (
                ({}, {}), (small, dict(mode="stream", acquire="10")),
                (wide, {}), (dict(codebook_kind="marker"), dict(output="llr")),
                (dict(codebook_kind="custom", q="2", n="2", frame_symbols="100",
                      codebook="[[0, 0], [1, 1]] * 100"), dict(output="posteriors")),
                (small, dict(soft_input="float", form="corridor", storage="local")),
                (small, dict(priors="True", output="extrinsics", precision="double")),
                (dict(small, alphabet="4", codebook_kind="random"), dict(backend="cpu")),
                (dict(small, alphabet="4", codebook_kind="random"), dict(soft_input="float")),
                (small, dict(form="corridor", receiver="lattice", state_threshold="1e-9")),
                (small, dict(form="corridor", receiver="trellis", insertion_cap="1",
                             lattice_threshold="1e-9")),
                (small, dict(start_prior="[1, 0.5]", end_first="-2",
                             end_prior="(1, 2, 3, 2, 1)"))):
            with self.subTest(code=code, decoder=decoder):
                graph, _ = self.sync_graph(code, **decoder)
                self.assertEqual(self.errors(graph), [])
                self.run_generated(graph)

    def test_WrongSyncParameters_AreRed(self):
        for code, decoder in (
                (dict(q="1"), {}), (dict(q="5", n="2"), {}), (dict(n="0"), {}),
                (dict(frame_symbols="0"), {}), (dict(codebook_kind="file"), {}),
                (dict(codebook_kind="marker", n="9"), {}), ({}, dict(p_insert="-0.1")),
                ({}, dict(p_insert="0.5", p_delete="0.5")), ({}, dict(p_substitute="2")),
                ({}, dict(length_tag="")), (dict(q="31"), dict(output="llr")),
                ({}, dict(exclusion="0")), ({}, dict(mn_min="1")), ({}, dict(slots="0")),
                ({}, dict(threads="0")), ({}, dict(lookahead="-1")),
                (dict(alphabet="1"), {}), (dict(alphabet="17"), {}),
                (dict(alphabet="4"), {}), # the default kind of codebook is binary
                ({}, dict(receiver="lattice")), ({}, dict(state_threshold="1e-9")),
                ({}, dict(form="corridor", state_threshold="1")),
                ({}, dict(form="corridor", lattice_threshold="-1")),
                ({}, dict(form="corridor", receiver="trellis", insertion_cap="-1")),
                ({}, dict(start_prior="[-1]")), ({}, dict(end_prior="[0, 0]")),
                ({}, dict(start_first="2**21")),
                ({}, dict(mode="stream", end_prior="[1]"))):
            with self.subTest(code=code, decoder=decoder):
                graph, block = self.sync_graph(code, **decoder)
                self.assertFalse(graph.is_valid())
                self.assertRegex("\n".join(block.get_error_messages()), "Assertion")
                encoder, = [b for b in graph.blocks if b.key == "gpufec_sync_encoder"]
                if code and not decoder: # the field of the encoder is wrong too
                    self.assertRegex("\n".join(encoder.get_error_messages()), "Assertion")

    def test_CallbacksAndParametersOfSync_AreThoseOfBlock(self):
        _, tested = self.sync_graph({})
        made = gpufec.gpu_sync_map(gpufec.codebook_davey_mackay(), backend="cpu")
        callbacks = tested.get_callbacks()
        self.assertEqual(len(callbacks), 4)
        for callback in callbacks:
            eval(callback, {"self": type("graph", (), {tested.name: made})})
        called = re.findall(r"^\s+(\w+)=", tested.templates.render("make"), re.M)
        signature = gpufec.gpu_sync_map.__init__.__doc__.splitlines()[0]
        known = re.findall(r"(\w+): [^:]+ = ", signature)
        self.assertEqual(called, ["codebook"] + known)

    def test_Blocks_HaveCategoryAndDocumentation(self):
        for key in BOTH:
            block = self.platform.blocks[key]
            self.assertEqual(block.category[0], "GPU FEC")
            self.assertIn("positive", block.documentation[""])


if __name__ == "__main__":
    support.main()
