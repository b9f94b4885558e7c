#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the Python bindings of the blocks, and docstrings, from the public C++ headers.

blocks_python.cc binds the constructor and the public methods of every block, and
fec_decoders_python.cc those of the decoder objects for gr-fec. Members of a block's options struct
become parameters of its constructor. docstrings.h has the comments of all other declarations, for
the hand-written bindings.
"""

import argparse
import pathlib

import headers

NOTICE = "// Written by make_bindings.py from the public headers.\n\n"
# Members of options structs that have another type in Python: the type of the bound parameter, and
# the conversion to the type of the member.
CONVERTED = {"codebook": ("const py::object&",
                          "words_of(codebook, q, n, frame_symbols, alphabet)")}
CONSTRUCTOR = """[]({taken}) {{
            gr::gpufec::{options} given;
            {assignments}
            return block::make(given);
        }}"""


def literal(text):
    return f'R"doc({text})doc"'


def argument(parameter):
    """Returns py::arg(), as C++ code, with name and default value of `parameter`."""
    code = f'py::arg("{parameter.name}")'
    if parameter.default is None:
        return code
    value_type = parameter.type.removeprefix("const ").rstrip("& ")
    if parameter.default.startswith("{"):
        return f"{code} = {value_type}{parameter.default}"
    if value_type == "std::string":
        return f"{code} = {parameter.default}"
    return f"{code} = {value_type}({parameter.default})"


def assignment(parameter):
    """Returns C++ code that copies `parameter`, as Python passes it, to the options struct."""
    name, member = parameter.name, f"given.{parameter.name}"
    if name in CONVERTED:
        return f"{member} = {CONVERTED[name][1]};"
    if not parameter.enum:
        return f"{member} = {name};"
    optional = parameter.type.startswith("std::optional")
    converted = f"gr::gpufec::{parameter.enum}_from_string({'*' if optional else ''}{name})"
    return f"if ({name}) {{ {member} = {converted}; }}" if optional else f"{member} = {converted};"


def constructor(make):
    """Returns the C++ code of a lambda that calls `make`. Its parameters are the members of the
    options struct."""
    return CONSTRUCTOR.format(
        options=make.options,
        taken=", ".join(f"{CONVERTED.get(p.name, [f'const {p.type}&'])[0]} {p.name}"
                        for p in make.parameters),
        assignments="\n            ".join(map(assignment, make.parameters)))


def block_binding(block, declarations):
    def method(found):
        arguments = "".join(f",\n             {argument(p)}" for p in found.parameters)
        doc = literal(headers.plain(found.doc, declarations))
        rest = f"{arguments},\n             {doc})"
        if found.name != "make":
            return f'        .def("{found.name}", &block::{found.name}{rest}'
        static = f'\n        .def_static("make", make{rest}' if block.is_fec_decoder else ""
        return f"        .def(py::init(make){rest}{static}"

    bases = "gr::fec::generic_decoder" if block.is_fec_decoder else \
        f"gr::{'hier_block2' if block.is_hierarchical else 'block'}, gr::basic_block"
    # A virtual base class has another address than the object. Without
    # py::multiple_inheritance(), pybind11 ignores this difference if a class has only one base.
    extra = "py::multiple_inheritance(), " if block.is_fec_decoder else ""
    methods = [m for m in block.members.values() if m.public and m.parameters is not None]
    return "\n".join([
        f"    {{\n        using block = gr::gpufec::{block.name};",
        f"        const auto make = {constructor(block.members['make'])};",
        f"        py::class_<block, {bases}, std::shared_ptr<block>>(",
        f'            m, "{block.name}", {extra}{literal(headers.plain(block.doc, declarations))})',
        *map(method, methods)]) + ";\n    }\n"


def bindings(function, blocks, declarations):
    """Returns the text of a C++ source file whose function named `function` binds `blocks`."""
    includes = ["<pybind11/complex.h>", "<pybind11/pybind11.h>", "<pybind11/stl.h>",
                '"codebook.h"', *(f"<gnuradio/gpufec/{block.name}.h>" for block in blocks)]
    text = NOTICE + "".join(f"#include {i}\n" for i in includes)
    text += f"\nnamespace py = pybind11;\n\nvoid {function}(py::module& m)\n{{\n"
    return text + "\n".join(block_binding(b, declarations) for b in blocks) + "}\n"


def docstrings(declarations):
    found = {}
    for name, declaration in declarations.items():
        if not declaration.is_block and not declaration.is_fec_decoder:
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
    blocks = [d for d in declarations.values() if d.is_block]
    decoders = [d for d in declarations.values() if d.is_fec_decoder]
    for name, text in (("blocks_python.cc", bindings("bind_blocks", blocks, declarations)),
                       ("fec_decoders_python.cc",
                        bindings("bind_fec_decoders", decoders, declarations)),
                       ("docstrings.h", docstrings(declarations))):
        (args.output / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
