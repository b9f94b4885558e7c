#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#
"""A base class of tests that loads blocks and flowgraphs into GNU Radio Companion."""

import os
import pathlib
import tempfile
import unittest

from gnuradio import gr

try:
    from gnuradio.grc.core import Messages
    from gnuradio.grc.core.platform import Platform
except ModuleNotFoundError as missing:
    raise unittest.SkipTest(f"GNU Radio Companion is not installed: {missing}")

import qa_support as support

DEFINITIONS = os.environ.get(
    "GPUFEC_GRC_PATH", str(pathlib.Path(__file__).parents[4] / "grc"))
LDPC_DECODER = "gpufec_gpu_ldpc_dvbs2"


class grc_case(unittest.TestCase):
    more_definitions = () # paths of further definitions of blocks and domains

    @classmethod
    def setUpClass(cls):
        Messages.MESSENGERS_LIST.clear() # suppresses messages, such as about throttles
        preferences = gr.prefs()
        cls.platform = Platform(
            name="GNU Radio Companion", prefs=preferences, version=gr.version(),
            version_parts=(gr.major_version(), gr.api_version(), gr.minor_version()))
        core = os.path.join(gr.prefix(), "share", "gnuradio", "grc", "blocks")
        theirs = [str(p) for p in pathlib.Path(core).glob("*.yml")
                  if not p.name.startswith("gpufec")]
        cls.platform.build_library([DEFINITIONS, *theirs, *cls.more_definitions])

    def graph(self, key, **parameters):
        """Returns a flowgraph in which the block with the id `key` is between a source and a sink,
        and that block."""
        graph = self.platform.make_flow_graph()
        graph.options_block.params["id"].set_value("qa_generated")
        graph.options_block.params["generate_options"].set_value("no_gui")
        graph.options_block.params["run_options"].set_value("run")
        block = graph.new_block(key)
        block.params["id"].set_value("tested")
        for name, value in parameters.items():
            block.params[name].set_value(value)
        graph.rewrite()
        source, head, sink = (graph.new_block(f"blocks_{name}")
                              for name in ("null_source", "head", "null_sink"))
        head.params["num_items"].set_value("100000")
        kind = {"float": "float", "symbols": "complex"}.get(parameters.get("soft_input"), "byte")
        for other, dtype in ((source, kind), (head, kind), (sink, "byte")):
            other.params["id"].set_value(other.key)
            other.params["type"].set_value(dtype)
        graph.rewrite()
        graph.connect(source.sources[0], head.sinks[0])
        graph.connect(head.sources[0], block.sinks[0])
        graph.connect(block.sources[0], sink.sinks[0])
        graph.rewrite()
        graph.validate()
        return graph, block

    def generated(self, graph):
        """Returns the Python code that GNU Radio Companion generates from `graph`."""
        with tempfile.TemporaryDirectory() as folder:
            generator = self.platform.Generator(graph, folder)
            generator.write()
            return pathlib.Path(generator.file_path).read_text(encoding="utf-8")

    def errors(self, graph):
        return [message for _, message in graph.iter_error_messages()]

    def headers_and_blocks(self):
        """Yields (declaration in the header, block in GNU Radio Companion) for each block."""
        graph = self.platform.make_flow_graph()
        for declared in support.declared().values():
            if declared.is_block:
                block = graph.new_block(f"gpufec_{declared.name}")
                block.params["id"].set_value("tested")
                block.rewrite()
                yield declared, block
