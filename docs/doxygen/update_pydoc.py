#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the docstring headers of the Python bindings; GNU Radio's GR_PYBIND_MAKE_OOT calls it.

copy    takes the docstrings as they are in the templates
scrape  collects what Doxygen found in the C++ headers, as JSON
sub     like copy, with the docstrings that scrape found in place of the templates'
"""

import argparse
import json
import re
import textwrap
import xml.etree.ElementTree as ElementTree
from pathlib import Path

BLOCKS = ("itemizedlist", "orderedlist", "parameterlist", "simplesect", "para")


def plain(node):
    """The text of an XML node without its block-level children, white space collapsed."""
    def pieces(element):
        yield element.text or ""
        for child in element:
            if child.tag not in BLOCKS:
                yield from pieces(child)
            yield child.tail or ""
    return " ".join("".join(pieces(node)).split())


def parameters(node):
    """A list of parameters or exceptions, one indented entry each."""
    title = "Raises" if node.get("kind") == "exception" else "Args"
    lines = [f"{title}:"]
    for item in node.iter("parameteritem"):
        name = item.findtext(".//parametername") or plain(item.find(".//parametername"))
        text = " ".join(plain(para) for para in item.findall("parameterdescription/para"))
        entry = f"{name} : {text}" if text else name
        lines.append(textwrap.fill(entry, 86, initial_indent=" " * 4,
                                   subsequent_indent=" " * 8))
    return "\n".join(lines)


def paragraphs(node):
    """The paragraphs of a description, lists and parameters included."""
    if node is None:
        return
    for para in node.findall("para"):
        text = plain(para)
        if text:
            yield textwrap.fill(text, 86)
        for child in para:
            if child.tag == "parameterlist":
                yield parameters(child)
            elif child.tag in ("itemizedlist", "orderedlist"):
                yield "\n".join(textwrap.indent(textwrap.fill(f"- {text}", 82), "    ")
                                for item in child.findall("listitem")
                                for text in paragraphs(item))
            elif child.tag == "simplesect":
                yield from paragraphs(child)


def docstring(node):
    found = [text for part in ("briefdescription", "detaileddescription")
             for text in paragraphs(node.find(part))]
    return "\n\n".join(found)


def scrape(args):
    docstrings = {}
    for path in sorted(Path(args.xml_path).glob("*.xml")):
        for compound in ElementTree.parse(path).iter("compounddef"):
            if compound.get("kind") not in ("class", "struct", "namespace"):
                continue
            name = compound.findtext("compoundname")
            docstrings[name] = docstring(compound)
            for member in compound.iter("memberdef"):
                docstrings[f"{name}::{member.findtext('name')}"] = docstring(member)
    found = {name: text for name, text in docstrings.items() if text}
    Path(args.json_path).write_text(json.dumps(found, indent=1), encoding="utf-8")


def write_headers(args, docstrings):
    """Writes a header for each template, and the file that the build waits for."""
    def found(match):
        text = docstrings.get(match.group(2), match.group(4))
        return f'{match.group(1)}{match.group(2)}{match.group(3)}R"doc({text})doc"'

    pattern = re.compile(r'(__doc_)(\w+)(\s*=\s*)R"doc\((.*?)\)doc"', re.DOTALL)
    output = Path(args.output_dir)
    for template in sorted(Path(args.bindings_dir).glob("*_pydoc_template.h")):
        header = pattern.sub(found, template.read_text(encoding="utf-8"))
        name = template.name.replace("_template.h", ".h")
        (output / name).write_text(header, encoding="utf-8")
    (output / "docstring_status").write_text("DONE")


def substitute(args):
    scraped = json.loads(Path(args.json_path).read_text(encoding="utf-8"))
    write_headers(args, {name.replace("::", "_"): text for name, text in scraped.items()
                         if name.startswith(args.filter)})


def copy(args):
    write_headers(args, {})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    operations = {"copy": copy, "scrape": scrape, "sub": substitute}
    parser.add_argument("operation", choices=operations)
    for option in ("--xml_path", "--json_path", "--bindings_dir", "--output_dir"):
        parser.add_argument(option)
    parser.add_argument("--filter", default="", help="C++ namespace to take docstrings from")
    args = parser.parse_args()
    operations[args.operation](args)


if __name__ == "__main__":
    main()
