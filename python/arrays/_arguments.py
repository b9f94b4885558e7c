# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the types and names of function arguments, and raises errors that name them."""

import collections.abc
import fractions
import functools
import inspect
import math
import numbers
import operator
import os
import textwrap

import numpy as np

from . import _gpufec as _core
from ._gpufec import conv_presets


def refuse(name, what, allowed):
    """Raises the ValueError "NAME is WHAT: allowed values are ALLOWED"."""
    raise ValueError(f"{name} is {what}: allowed values are {allowed}")


def integer(name, value, allowed="integers", minimum=-math.inf, maximum=math.inf):
    """Converts an integer of any type to a Python int. Refuses other values, and integers below
    `minimum` or above `maximum`."""
    try:
        number = operator.index(value)
    except TypeError:
        refuse(name, brief(value), allowed)
    if not minimum <= number <= maximum:
        refuse(name, number, allowed)
    return number


def brief(value):
    """Returns the repr of `value`, shortened to about 40 characters for an error message."""
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "..."


def _meant(name, value, default):
    """Returns the string that a user who passed the number `value` probably meant: for example
    "1/2" for a rate of 0.5, or "normal" for 64800. Returns `default` for unknown numbers."""
    if name == "rate" and math.isfinite(value):
        return str(fractions.Fraction(float(value)).limit_denominator(180))
    return {64800: "normal", 32400: "medium", 16200: "short"}.get(value, default)


def check_kind(name, value, default):
    """Refuses a value whose type does not fit the parameter, which has the type of `default`.

    `seed` and `first` must fit in an unsigned 64-bit integer, other integers in a signed 32-bit
    integer. The entries of sequences are checked too.
    """
    if name == "constraint_length" and isinstance(value, str): # perhaps the name of a preset
        preset = _core.nearest_name(value, [p.name for p in conv_presets()])
        if preset:
            raise ValueError(f'{name} is {brief(value)}: preset="{preset}"?\n'
                             "allowed values are integers")
    if isinstance(default, bool):
        if not isinstance(value, (bool, np.bool_)) and not (type(value) is int and
                                                            value in (0, 1)):
            refuse(name, brief(value), "True and False")
    elif isinstance(default, int):
        if name in ("seed", "first"):
            integer(name, value, "0 to 2^64 - 1", 0, (1 << 64) - 1)
        else:
            integer(name, value, "integers of 32 bits", -1 << 31, (1 << 31) - 1)
    elif isinstance(default, float):
        if not isinstance(value, numbers.Real):
            refuse(name, brief(value), "numbers")
    elif isinstance(default, str) and name != "message_positions": # message_positions may be a list
        if not isinstance(value, (str, os.PathLike) if name == "code_file" else str):
            near = isinstance(value, numbers.Real) and _meant(name, value, default)
            refuse(name, brief(value), "strings" + (f', such as "{near}"' if near else ""))
    elif isinstance(default, tuple):
        if not isinstance(value, collections.abc.Collection) or isinstance(value, (str, bytes)):
            refuse(name, brief(value), "sequences")
        for entry in value:
            check_kind(f"an entry of {name}", entry, 0.0 if name.endswith("_prior") else
                       "" if name == "lock_presets" else 0)


# Maps the names that other programs use for a parameter to the name of the parameter here.
_ALIASES = {"modcod": "rate"}


def check_names(signature, args, kwargs):
    """Raises a TypeError with an explanation if `args` and `kwargs` do not fit `signature`."""
    names = [n for n in signature.parameters if n != "self" and n[0] != "_"]
    for name in kwargs:
        if name not in signature.parameters:
            near = _ALIASES.get(name, "")
            near = near if near in names else _core.nearest_name(name, names)
            text = f"unexpected argument {name[:40]}" + (f": {near}?" if near else "")
            raise TypeError(
                f"{text}\n" + textwrap.fill(f"allowed arguments are {', '.join(names)}", 100))
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(str(error)) from None


def named_arguments(function):
    """Decorates `function`, so that unknown arguments, and values of a wrong type, raise errors
    that name them."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def checked(*args, **kwargs):
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError:
            check_names(signature, args, kwargs)
            raise
        for name, value in given.items():
            if name[0] != "_":
                check_kind(name, value, signature.parameters[name].default)
        return function(*args, **kwargs)
    return checked
