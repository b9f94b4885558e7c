# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the declarations of the public C++ headers and their comments.

The Python bindings and their docstrings are made from these declarations, and tests compare the
blocks of GNU Radio Companion with them. The parser supports only the subset of C++ that the
headers use, in the layout that clang-format produces.
"""

import re
import textwrap
from dataclasses import dataclass, field, replace
from typing import Dict, List, Optional

WIDTH = 80
EXCEPTIONS = {"std::invalid_argument": "ValueError", "std::out_of_range": "IndexError",
              "std::runtime_error": "RuntimeError"}
TOKEN = re.compile(r"""
      (?P<doc>/\*!.*?\*/|//!(?!<)[^\n]*(?:\n[ \t]*//!(?!<)[^\n]*)*)
    | (?P<after>//!<[^\n]*(?:\n[ \t]*//!<[^\n]*)*)
    | (?P<comment>/\*.*?\*/|//[^\n]*|^\#[^\n]*)
    | (?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^;{}()/"'\#]+|[/\#])
    | (?P<mark>[;{}()])""", re.VERBOSE | re.DOTALL | re.MULTILINE)
CLASS = re.compile(r"(?:class|struct)(?: GPUFEC_API)? (\w+)(?: : (.*))?$")
OPTIONS = re.compile(r"const (\w+_options)&")
# Headings of the parameters of a block, in the order in which help() shows them.
GROUPS = ("Code", "Input", "Output", "Running", "Advanced")
# Enumerators whose name in Python differs from the one in C++.
ENUMERATORS = {"automatic": "auto", "float32": "float", "float64": "double"}
FUNCTION = re.compile(r"(?P<before>.*?)(?P<name>\w+) ?\((?P<parameters>.*)\)"
                      r"(?: const)?(?: noexcept)?(?: = (?:0|default))?$")


@dataclass
class Parameter:
    type: str
    name: str
    default: Optional[str] = None
    doc: str = ""
    group: str = "" # the heading in GROUPS above a member of an options struct; "" if there is none
    enum: str = "" # the enumeration in C++ if Python passes the name of an enumerator

    @property
    def python_default(self):
        return {} if "std::map" in self.type else python_value(self.default)


@dataclass
class Declaration:
    """A class, a function, or a member variable of a class."""
    name: str
    doc: str = "" # text of the comment, without comment marks
    public: bool = True
    bases: str = ""
    parameters: Optional[List[Parameter]] = None # None unless it is a function
    members: Dict[str, "Declaration"] = field(default_factory=dict)
    variable: Optional[Parameter] = None # type and default if it is a member variable
    options: str = "" # name of the options struct that a block's make() accepts

    @property
    def is_block(self):
        return "gr::block" in self.bases or self.is_hierarchical

    @property
    def is_hierarchical(self):
        return "gr::hier_block2" in self.bases

    @property
    def is_fec_decoder(self):
        return "gr::fec::generic_decoder" in self.bases

    def setters(self):
        return [m for m in self.members.values() if m.name.startswith("set_")]


def read(paths):
    """Reads the header files `paths`. Returns their top-level declarations by name."""
    declarations = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            declarations.update(parse(file.read()))
    for declaration in list(declarations.values()):
        if declaration.is_block or declaration.is_fec_decoder:
            expand_options(declaration.members["make"], declarations)
    return declarations


def expand_options(make, declarations):
    """Replaces the parameter of `make`, an options struct in `declarations`, by the members of the
    struct, and adds the comments of the members to that of `make`."""
    make.options = OPTIONS.fullmatch(make.parameters[0].type)[1]
    make.parameters = [python_parameter(m, declarations)
                       for m in declarations[make.options].members.values()]
    before, throws, after = make.doc.partition("\\throws")
    lines = [before.strip(), ""]
    for group in ("", *GROUPS):
        found = [p for p in make.parameters if p.group == group]
        lines += [f"\\par {group}"] if group and found else []
        lines += [f"\\param {p.name} {p.doc}" for p in found]
    make.doc = "\n".join(lines) + "\n" + throws + after


def python_parameter(member, declarations):
    """Returns the Python parameter for `member`, a member of an options struct. Enumerations become
    strings."""
    p = member.variable
    found = re.fullmatch(r"(std::optional<)?(?:gpufec::)?(\w+)>?", p.type)
    enum = found[2] if found and f"{found[2]}_from_string" in declarations else ""
    if not enum:
        return replace(p, doc=member.doc)
    name = p.default.split("::")[-1]
    return replace(p, doc=member.doc, enum=enum,
                   type="std::optional<std::string>" if found[1] else "std::string",
                   default=p.default if found[1] else f'"{ENUMERATORS.get(name, name)}"')


def parse(text):
    """Parses `text`, the contents of a header. Returns its top-level declarations by name, and only
    the first of overloaded functions."""
    top = Declaration("")
    scopes = [top]
    public = [True]
    code, doc, last = "", "", None
    group = ""
    parentheses = skipped = 0

    def declare(declaration):
        nonlocal code, doc, last
        declaration.doc, declaration.public = doc, public[-1]
        if declaration.variable:
            declaration.variable.group = group
        code, doc, last = "", "", declaration
        return scopes[-1].members.setdefault(declaration.name, declaration)

    for token in TOKEN.finditer(text):
        kind, part = token.lastgroup, token.group()
        if kind == "comment":
            group = part[3:] if part[3:] in GROUPS else group
            continue
        if skipped:
            skipped += {"{": 1, "}": -1}.get(part, 0)
            if not skipped and "(" in code: # the end of a function's body
                finish(code, declare)
            continue
        code = re.sub(r"\s+", " ", code).lstrip()
        label = re.match(r"(public|protected|private) ?: ?", code)
        if label:
            public[-1] = label[1] == "public"
            code = code[label.end():]
        if kind == "doc":
            doc = bare(part)
        elif kind == "after":
            if last and not code:
                last.doc = bare(part)
        elif parentheses or part in ("(", ")") or part == "{" and code.endswith("= "):
            parentheses += {"(": 1, "{": 1, ")": -1, "}": -1}.get(part, 0)
            code += part
        elif part == "{":
            heading = CLASS.match(code.strip())
            if heading:
                scopes.append(declare(Declaration(heading[1], bases=heading[2] or "")))
                public.append(code.startswith("struct") or not heading[0].startswith("class"))
            elif code.startswith("namespace"):
                scopes.append(scopes[-1])
                public.append(True)
                code = ""
            else:
                skipped = 1
        elif part == "}":
            scopes.pop()
            public.pop()
            code, doc, last, group = "", "", None, ""
        elif part == ";":
            finish(code, declare)
            code, doc = "", ""
        else:
            code += part
    return top.members


def finish(code, declare):
    """Calls `declare` with a Declaration if `code` declares a function or a variable."""
    code = " ".join(code.split())
    if re.match(r"(typedef|using|friend|enum|class|struct)\b", code):
        return
    function = FUNCTION.match(code)
    if function:
        parameters = [parameter(p) for p in split(function["parameters"])]
        declare(Declaration(function["name"], parameters=parameters))
        return
    variable = re.match(r"[^=]*?(\w+)(?: ?=.*)?$", code)
    if variable:
        declare(Declaration(variable[1], variable=parameter(code)))


def split(parameters):
    """Splits `parameters`, the text of a parameter list, at commas outside strings and brackets."""
    found, depth = [""], 0
    for part in re.findall(r'"[^"]*"|.', parameters):
        depth += {"<": 1, "(": 1, "{": 1, ">": -1, ")": -1, "}": -1}.get(part, 0)
        if part == "," and not depth:
            found.append("")
        else:
            found[-1] += part
    return [p.strip() for p in found if p.strip()]


def parameter(text):
    declared, _, default = text.partition(" = ")
    found = re.match(r"(.*?[ &*])(\w+)$", declared)
    if not found: # the parameter has no name
        return Parameter(declared, "")
    return Parameter(found[1].strip(), found[2], default or None)


def python_value(default):
    """Converts `default`, a C++ default argument, to a Python value."""
    if default.startswith("{"):
        return [python_value(entry) for entry in split(default[1:-1])]
    if default == "std::nullopt":
        return None
    if default in ("true", "false"):
        return default == "true"
    if re.fullmatch(r"-?0\d+", default):
        return int(default, 8)
    return eval(re.sub(r"(?<=\d)f$", "", default))


def bare(comment):
    """Returns the text of `comment` without comment marks and common indentation."""
    comment = re.sub(r"^/\*!|\s*\*/$", "", comment)
    lines = [re.sub(r"^\s*(//!<?|\*(?!/))", "", line).rstrip()
             for line in comment.splitlines()]
    return textwrap.dedent("\n".join(lines)).strip("\n")


def wrapped(text, first="", rest=""):
    return textwrap.fill(" ".join(text.split()), WIDTH, initial_indent=first,
                         subsequent_indent=rest, break_long_words=False,
                         break_on_hyphens=False)


def plain(doc, others=None):
    """Converts a comment with Doxygen commands to a docstring for Python's help().

    `others` has the declarations, by name, from which \\copydoc copies.
    """
    copied = re.fullmatch(r"\\copydoc (\w+)", doc.strip())
    if copied:
        return plain(others[copied[1]].doc, others)
    doc = re.sub(r"\\ingroup \w+|\\details\b", "", doc)
    doc = re.sub(r"\\(?:brief|p|c|b|em)\s+", "", doc)
    doc = re.sub(r"(?<!\n)(?<!^)\\throws", r"\n\\throws", doc)
    paragraphs, sections = [], {"Args": [], "Returns": [], "Raises": []}
    current = None # list whose last text the next line continues; None: the line begins a text

    def begin(where, text):
        nonlocal current
        where.append(text)
        current = where

    for line in doc.split("\n"):
        command = re.match(r"\s*\\(param|par|throws|return) (\S+)?(.*)", line)
        if command:
            kind, word, rest = command.groups()
            if kind == "par":
                begin(sections["Args"], f"{word}:")
            elif kind == "param":
                begin(sections["Args"], f"{word} : {rest.strip()}")
            elif kind == "throws":
                name = EXCEPTIONS.get(word.rstrip(",.;"), word)
                begin(sections["Raises"], f"{name} : {rest.strip()}")
            else:
                begin(sections["Returns"], f"{word} {rest.strip()}")
        elif not line.strip():
            current = None
        elif re.match(r"\s*- ", line):
            begin(paragraphs, "  " + line.strip())
        elif (current is None or current is paragraphs and paragraphs[-1].startswith("  - ")
              and not line.startswith("  ")):
            begin(paragraphs, line)
        else:
            current[-1] += " " + line.strip()

    text = ""
    for paragraph in paragraphs:
        item = paragraph.startswith("  - ")
        text += "\n" if item and text else "\n\n" if text else ""
        text += wrapped(paragraph, "  " if item else "", "    " if item else "")
    for title, entries in sections.items():
        if entries:
            text += f"\n\n{title}:"
            indent = 4
            for entry in entries:
                heading = title == "Args" and entry.removesuffix(":") in GROUPS
                text += "\n" + wrapped(entry.removesuffix(" : "), " " * (4 if heading else indent),
                                       " " * (indent + 4))
                indent = 6 if heading else indent
    return text.strip()
