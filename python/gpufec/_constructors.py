# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes constructors of bound classes raise errors that name the wrong argument.

pybind11's own errors only list all parameters and their types.
"""

import ast
import collections.abc
import functools
import inspect
import numbers
import re

from ._arguments import brief, check_kind, check_names, refuse

# The keys of both dictionaries are types as pybind11's signatures name them; arguments of other
# types are not checked. _KINDS maps a type to a value of that type, for check_kind(). _OTHERS maps
# a type to a function that checks a value, and to a description of the allowed values.
_KINDS = {"bool": False, "int": 0, "float": 0.0, "str": "", "list[int]": ()}
_OTHERS = {"list[str]": (lambda value: _all_of(value, str), "lists of strings"),
           "Union[str, list[int]]": (lambda value: isinstance(value, str) or
                                     _all_of(value, numbers.Integral),
                                     "strings and lists of integers"),
           "dict[str, str]": (lambda value: isinstance(value, dict) and
                              _all_of([*value, *value.values()], str),
                              "dictionaries of strings with strings as keys")}
_PYBIND11 = "__init__(): incompatible constructor arguments"


def _all_of(value, kind):
    return isinstance(value, collections.abc.Collection) and not isinstance(value, str) and \
        all(isinstance(entry, kind) for entry in value)


def _parsed(doc):
    """Parses the first line of `doc`, a docstring by pybind11. Returns the signature, and a
    dictionary that maps the name of each parameter to the name of its type. pybind11 before 2.12
    writes List and Dict."""
    arguments = ast.parse(f"def {doc.splitlines()[0]}: pass").body[0].args
    first = len(arguments.args) - len(arguments.defaults)
    parameters, types = [], {}
    for k, a in enumerate(arguments.args):
        default = inspect.Parameter.empty if k < first else \
            ast.literal_eval(arguments.defaults[k - first])
        parameters.append(inspect.Parameter(a.arg, inspect.Parameter.POSITIONAL_OR_KEYWORD,
                                            default=default))
        types[a.arg] = re.sub(r"\b(List|Dict)\b", lambda name: name[0].lower(),
                              ast.unparse(a.annotation))
    return inspect.Signature(parameters), types


def _check(signature, types, given):
    """Raises an error for the first argument in `given`, a dictionary of names and values, whose
    type does not fit its parameter."""
    for name, value in given.items():
        type_name = types[name]
        if type_name.startswith("Optional[") and value is not None:
            type_name = type_name[len("Optional["):-1]
        default = signature.parameters[name].default
        if type_name in _KINDS:
            kind = default if type_name == "str" and default else _KINDS[type_name]
            check_kind(name, value, kind)
        elif type_name in _OTHERS:
            fits, allowed = _OTHERS[type_name]
            if not fits(value):
                refuse(name, brief(value), allowed)


def explain(bound):
    """Wraps the constructor of `bound`, a class that pybind11 has bound. If pybind11 refuses the
    arguments, the wrapper raises a TypeError that names the wrong argument, or pybind11's error if
    it finds no wrong argument."""
    make = bound.__init__
    signature, types = _parsed(make.__doc__)

    @functools.wraps(make)
    def __init__(self, *args, **kwargs):
        try:
            make(self, *args, **kwargs)
            return
        except TypeError as error:
            if not str(error).startswith(_PYBIND11):
                raise
            long = error
        check_names(signature, (self, *args), kwargs)
        given = dict(signature.bind(self, *args, **kwargs).arguments)
        del given["self"]
        try:
            _check(signature, types, given)
        except (TypeError, ValueError) as error:
            raise TypeError(str(error)) from None
        raise long

    __init__.__signature__ = signature
    bound.__init__ = __init__
