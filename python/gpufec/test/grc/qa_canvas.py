#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#
"""Computes the positions and sizes of blocks on GNU Radio Companion's canvas, without a display.

The sizes follow from the text that GNU Radio Companion writes on a block in its default font,
DejaVu Sans at 96 dots per inch.
"""

import numbers
import os

import matplotlib
from matplotlib.ft2font import FT2Font

FONTS = os.path.join(matplotlib.get_data_path(), "fonts", "ttf")
GRID, PADDING, SEPARATION = 8, 7, 3
PORT_BORDER, PORT_STEP, PORT_PADDING = 8, 32, 2


class pen:
    """A font of a given size in points that measures text in pixels."""

    def __init__(self, points, bold=False):
        self.font = FT2Font(os.path.join(
            FONTS, "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"))
        self.font.set_size(points, 96)
        self.line = round(points * 96 / 72 * 1.164 + 0.49)

    def width(self, text):
        return sum(self.font.load_char(ord(c)).linearHoriAdvance / 65536 for c in text)


TITLE, LABEL, VALUE, TEXT = pen(8, True), pen(7.5, True), pen(7.5), pen(8)


def number(value):
    """Formats `value` as GNU Radio Companion does: 300e3 becomes 300k."""
    if isinstance(value, complex):
        return f"{value.real:g}{value.imag:+g}j"
    for scale, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""), (1e-3, "m"),
                        (1e-6, "u"), (1e-9, "n")):
        if abs(value) >= scale:
            return f"{value / scale:g}{unit}"
    return f"{value:g}"


def shortened(text, most, kind):
    if len(text) <= most:
        return text
    if kind < 0:
        return "..." + text[3 - most:]
    if kind > 0:
        return text[:most - 3] + "..."
    return text[:most // 2 - 3] + "..." + text[-most // 2:]


def written(param):
    """Returns the text that a block shows for the value of `param`."""
    value, result, most = param.get_value(), param.get_evaluated(), max(27 - len(param.name), 3)
    if value in param.options:
        return param.options[value]
    if isinstance(result, bool):
        return str(result)
    if isinstance(result, numbers.Complex):
        return shortened(number(result), most, 0)
    if isinstance(result, (list, tuple)):
        if len(result) > 8:
            return shortened(value, most, 1)
        return shortened(", ".join(number(v) if isinstance(v, numbers.Complex) else str(v)
                                   for v in result), most, 0)
    return shortened(str(result), most, -1 if param.dtype.startswith("file") else 0)


def to_grid(size):
    return round(size / GRID) * GRID


def ports(these):
    return [p for p in these if not p.hidden]


def port_width(these):
    return max((TEXT.width(p.name) + 2 * PORT_PADDING for p in ports(these)), default=0)


def port_height(these):
    count = len(ports(these))
    height = TEXT.line + TEXT.line % 2
    return 2 * PORT_BORDER + count * PORT_STEP - height if count else 0


def block_size(block):
    rows = [p for p in block.params.values() if p.hide == "none"]
    # A block has a row for each parameter that is not hidden. The id is hidden by default.
    width = max([TITLE.width(block.label)] +
                [LABEL.width(f"{p.name}: ") + VALUE.width(written(p).replace("\n", " "))
                 for p in rows])
    height = TITLE.line
    if rows:
        height += SEPARATION + len(rows) * VALUE.line + (len(rows) - 1) * SEPARATION
    return (to_grid(width + 2 * PADDING),
            to_grid(max(height + 2 * PADDING, port_height(block.sinks),
                        port_height(block.sources))))


class box:
    """A rectangle on the canvas, and the name of the block or comment in it."""

    def __init__(self, what, left, top, right, bottom):
        self.what, self.left, self.top, self.right, self.bottom = what, left, top, right, bottom

    def overlaps(self, other):
        return (self.left < other.right and other.left < self.right and
                self.top < other.bottom and other.top < self.bottom)

    def __repr__(self):
        return (f"{self.what} at {self.left:.0f}, {self.top:.0f} to {self.right:.0f}, "
                f"{self.bottom:.0f}")


def boxes(graph):
    """Yields a box for each block with its ports, and one for each comment."""
    for block in graph.blocks:
        name = "options" if block is graph.options_block else block.name
        left, top = block.states["coordinate"]
        width, height = block_size(block)
        yield box(name, left - port_width(block.sinks), top,
                  left + width + port_width(block.sources), top + height)
        if block.comment:
            lines = block.comment.split("\n")
            below = top + height + PADDING
            yield box(f"comment of {name}", left, below, left + max(map(TEXT.width, lines)),
                      below + len(lines) * TEXT.line)
