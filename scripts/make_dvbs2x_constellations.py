#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes lib/demap/tables_dvbs2x.cc: the constellations and interleaver columns of EN 302 307-2.

The points and the interleavers are recovered from the output of gr-dtv's modulator and interleaver.
The build does not run this script."""

import pathlib

import numpy as np
from gnuradio import blocks, dtv, gr

BITS = {"8psk": 3, "8apsk": 3, "16apsk": 4, "32apsk": 5, "64apsk": 6, "128apsk": 7, "256apsk": 8}
# EN 302 307-2, table 17a: constellation, gr-dtv's name of the constellation, frame size, and rates.
# Some rates have LDPC codes of DVB-S2.
SETS = [
    ("8psk", "8PSK", "normal", ["23/36", "25/36", "13/18"]),
    ("8psk", "8PSK", "short", ["7/15", "8/15", "26/45", "32/45"]),
    ("8apsk", "8APSK", "normal", ["100/180", "104/180"]),
    ("16apsk", "8_8APSK", "normal", ["90/180", "96/180", "100/180", "18/30", "20/30"]),
    ("16apsk", "16APSK", "normal",
     ["26/45", "3/5", "28/45", "23/36", "25/36", "13/18", "140/180", "154/180"]),
    ("16apsk", "16APSK", "short", ["7/15", "8/15", "26/45", "3/5", "32/45"]),
    ("32apsk", "4_12_16APSK", "normal", ["2/3"]),
    ("32apsk", "4_12_16APSK", "short", ["2/3", "32/45"]),
    ("32apsk", "4_8_4_16APSK", "normal", ["128/180", "132/180", "140/180"]),
    ("64apsk", "64APSK", "normal", ["128/180"]),
    ("64apsk", "4_12_20_28APSK", "normal", ["132/180"]),
    ("64apsk", "8_16_20_20APSK", "normal", ["7/9", "4/5", "5/6"]),
    ("128apsk", "128APSK", "normal", ["135/180", "140/180"]),
    ("256apsk", "256APSK", "normal",
     ["116/180", "20/30", "124/180", "22/30", "128/180", "135/180"]),
]
FRAMES = {"normal": (dtv.FECFRAME_NORMAL, 64800), "short": (dtv.FECFRAME_SHORT, 16200)}


def run(source, block, sink):
    graph = gr.top_block()
    graph.connect(source, block, sink)
    graph.run()
    return np.array(sink.data())


def arguments(size, rate, modulation):
    return (FRAMES[size][0], getattr(dtv, "C" + rate.replace("/", "_")),
            getattr(dtv, "MOD_" + modulation))


def points(size, rate, modulation, bits):
    """Returns the 2^bits complex points of a constellation in the order of their labels, with mean
    energy 1."""
    labels = np.arange(1 << bits, dtype=np.uint8)
    count = 9270 if bits == 7 else FRAMES[size][1] // bits
    items = np.resize(labels, count)
    found = run(blocks.vector_source_b(items.tolist()),
                dtv.dvbs2_modulator_bc(*arguments(size, rate, modulation),
                                       dtv.INTERPOLATION_OFF),
                blocks.vector_sink_c())[:len(labels)].astype(complex)
    return found / np.sqrt(np.mean(np.abs(found) ** 2))


def columns(size, rate, modulation, bits):
    """Returns a string of `bits` digits: for each bit of a label, the interleaver column from which
    the bit comes."""
    rows = -(-FRAMES[size][1] // bits)
    of_bit = {}
    for column in range(bits):
        frame = np.zeros(rows * bits, np.uint8)
        frame[rows * column:rows * (column + 1)] = 1
        labels = run(blocks.vector_source_b(frame.tolist()),
                     dtv.dvbs2_interleaver_bb(*arguments(size, rate, modulation)),
                     blocks.vector_sink_b())[:rows]
        assert len(set(labels.tolist())) == 1
        of_bit[bits - 1 - int(labels[0]).bit_length() + 1] = column
    return "".join(str(of_bit[b]) for b in range(bits))


def main():
    tables, entries = [], []
    for name, modulation, size, rates in SETS:
        for rate in rates:
            found = points(size, rate, modulation, BITS[name])
            text = ",\n    ".join(f"{{ {p.real:.6f}, {p.imag:.6f} }}" for p in found)
            if text not in tables:
                tables.append(text)
            order = columns(size, rate, modulation, BITS[name])
            entries.append(f'    {{ "{name}", "{size}", "{rate}", "{order}", '
                           f"points{tables.index(text)} }},\n")
    text = ("// Copyright 2026 gr-gpufec developers\n// SPDX-License-Identifier: "
            "GPL-3.0-or-later\n\n// Written by scripts/make_dvbs2x_constellations.py.\n\n"
            '#include "tables_dvbs2x.h"\n\nnamespace gr::gpufec::demap {\n\n'
            "// clang-format off\nnamespace {\n\n")
    for i, table in enumerate(tables):
        text += f"const point points{i}[] = {{\n    {table}\n}};\n"
    text += ("\n} // namespace\n\nconst std::vector<dvbs2x_constellation>& "
             "dvbs2x_constellations()\n{\n    static const std::vector<dvbs2x_constellation> "
             "all = {\n" + "".join("    " + e for e in entries) +
             "    };\n    return all;\n}\n// clang-format on\n\n"
             "} // namespace gr::gpufec::demap\n")
    root = pathlib.Path(__file__).resolve().parents[1]
    (root / "lib" / "demap" / "tables_dvbs2x.cc").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
