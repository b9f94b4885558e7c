#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the Python bindings of the blocks, and docstrings, from the public C++ headers.

blocks_python.cc binds make() and the public methods of every block. docstrings.h has the comments
of all other declarations, for the hand-written bindings.
"""

import argparse
import pathlib

import headers

NOTICE = "// Written by make_bindings.py from the public headers.\n\n"
# Parameters of make() that have another type in Python: the type of the bound parameter, and the
# conversion to make()'s type.
CONVERTED = {"codebook": ("const py::object&",
                          "words_of(codebook, q, n, frame_symbols, alphabet)")}


def literal(text):
    return f'R"doc({text})doc"'


def argument(parameter):
    """Returns C++ code for a parameter: py::arg() with the default value from the header."""
    code = f'py::arg("{parameter.name}")'
    if parameter.default is None:
        return code
    value_type = parameter.type.removeprefix("const ").rstrip("& ")
    if parameter.default.startswith("{"):
        return f"{code} = {value_type}{parameter.default}"
    if value_type == "std::string":
        return f"{code} = {parameter.default}"
    return f"{code} = {value_type}({parameter.default})"


def constructor(parameters):
    if not any(p.name in CONVERTED for p in parameters):
        return "py::init(&block::make)"
    taken = ", ".join(f"{CONVERTED.get(p.name, [p.type])[0]} {p.name}" for p in parameters)
    given = ", ".join(CONVERTED.get(p.name, ["", p.name])[1] for p in parameters)
    return f"py::init([]({taken}) {{ return block::make({given}); }})"


def block_binding(block, declarations):
    def method(found):
        is_make = found.name == "make"
        called = constructor(found.parameters) if is_make else \
            f'"{found.name}", &block::{found.name}'
        arguments = "".join(f",\n             {argument(p)}" for p in found.parameters)
        doc = literal(headers.plain(found.doc, declarations))
        return f"        .def({called}{arguments},\n             {doc})"

    kind = "hier_block2" if block.is_hierarchical else "block"
    methods = [m for m in block.members.values() if m.public and m.parameters is not None]
    return "\n".join([
        f"    {{\n        using block = gr::gpufec::{block.name};",
        f"        py::class_<block, gr::{kind}, gr::basic_block, std::shared_ptr<block>>(",
        f'            m, "{block.name}", {literal(headers.plain(block.doc, declarations))})',
        *map(method, methods)]) + ";\n    }\n"


def blocks(paths, declarations):
    includes = ["<pybind11/complex.h>", "<pybind11/pybind11.h>", "<pybind11/stl.h>",
                '"codebook.h"']
    includes += [f"<gnuradio/gpufec/{path.name}>" for path in paths]
    text = NOTICE + "".join(f"#include {i}\n" for i in includes)
    text += "\nnamespace py = pybind11;\n\nvoid bind_blocks(py::module& m)\n{\n"
    return text + "\n".join(block_binding(d, declarations)
                            for d in declarations.values() if d.is_block) + "}\n"


def docstrings(declarations):
    found = {}
    for name, declaration in declarations.items():
        if not declaration.is_block:
            found[name] = declaration.doc
            found.update((f"{name}_{m.name}", m.doc) for m in declaration.members.values())
    return (NOTICE + "#pragma once\n\nnamespace doc {\n\n"
            + "".join(f"inline constexpr char {name}[] = "
                      f"{literal(headers.plain(doc, declarations))};\n\n"
                      for name, doc in found.items() if doc)
            + "} // namespace doc\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("output", type=pathlib.Path, help="folder to write to")
    parser.add_argument("headers", type=pathlib.Path, nargs="+")
    args = parser.parse_args()
    declarations = headers.read(args.headers)
    for name, text in (("blocks_python.cc", blocks(args.headers, declarations)),
                       ("docstrings.h", docstrings(declarations))):
        (args.output / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
