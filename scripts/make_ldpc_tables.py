#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recovers the address tables of the DVB-S2 LDPC codes from gr-dtv's encoder.

The code is linear and systematic. For each group of 360 bits, the script encodes a message in which
only the group's first bit is 1, and undoes the parity accumulator (p[j] ^ p[j-1]). The result
is 1 exactly at the addresses of that group (EN 302 307-1, 5.3.2, annexes B and C). The script
writes tables_normal.cc and tables_short.cc to a directory; the repository has these files as
dvbs2_normal.cc and dvbs2_short.cc in lib/ldpc/code/tables. The build does not run this script.

Usage: make_ldpc_tables.py DIRECTORY
"""

import sys
import textwrap

import numpy as np
from gnuradio import blocks, dtv, gr

NORMAL = {
    "1/4": (dtv.C1_4, 16200), "1/3": (dtv.C1_3, 21600), "2/5": (dtv.C2_5, 25920),
    "1/2": (dtv.C1_2, 32400), "3/5": (dtv.C3_5, 38880), "2/3": (dtv.C2_3, 43200),
    "3/4": (dtv.C3_4, 48600), "4/5": (dtv.C4_5, 51840), "5/6": (dtv.C5_6, 54000),
    "8/9": (dtv.C8_9, 57600), "9/10": (dtv.C9_10, 58320),
}
SHORT = {
    "1/4": (dtv.C1_4, 3240), "1/3": (dtv.C1_3, 5400), "2/5": (dtv.C2_5, 6480),
    "1/2": (dtv.C1_2, 7200), "3/5": (dtv.C3_5, 9720), "2/3": (dtv.C2_3, 10800),
    "3/4": (dtv.C3_4, 11880), "4/5": (dtv.C4_5, 12600), "5/6": (dtv.C5_6, 13320),
    "8/9": (dtv.C8_9, 14400),
}
GROUP = 360


def encode(size, rate, n, messages):
    """Encodes messages with gr-dtv: rows of K bits become rows of N bits."""
    graph = gr.top_block()
    source = blocks.vector_source_b(messages.reshape(-1).tolist())
    encoder = dtv.dvb_ldpc_bb(dtv.STANDARD_DVBS2, size, rate, dtv.MOD_OTHER)
    sink = blocks.vector_sink_b()
    graph.connect(source, encoder, sink)
    graph.run()
    return np.array(sink.data(), dtype=np.uint8).reshape(len(messages), n)


def addresses(size, rate, n, k):
    """Returns a list of parity addresses for each group of 360 information bits."""
    messages = np.zeros((k // GROUP, k), dtype=np.uint8)
    messages[np.arange(k // GROUP), np.arange(k // GROUP) * GROUP] = 1
    # Appends frames, because the encoder does not output the last frame of a stream.
    padded = np.vstack([messages, np.zeros((4, k), dtype=np.uint8)])
    words = encode(size, rate, n, padded)[: len(messages)]
    assert (words[:, :k] == messages).all()
    parity = words[:, k:].copy()
    parity[:, 1:] ^= words[:, k:-1]
    return [np.flatnonzero(row) for row in parity]


def table(name, rate, n, k, rows):
    """Returns the C++ definition of an array with rows of addresses, each preceded by its
    length."""
    numbers = [str(x) for row in rows for x in (len(row), *row)]
    body = textwrap.fill(", ".join(numbers), 88, initial_indent="    ",
                         subsequent_indent="    ")
    return f"// {rate}: K = {k}, q = {(n - k) // GROUP}\nconst std::uint16_t {name}[] = {{\n{body}\n}};\n"


def write(path, size_name, size, n, codes, annex):
    tables, entries = [], []
    for rate, (code, k) in codes.items():
        name = "rate_" + rate.replace("/", "_")
        rows = addresses(size, code, n, k)
        tables.append(table(name, rate, n, k, rows))
        entries.append(f'        {{ "{rate}", {k}, {name} }},')
    with open(path, "w", encoding="ascii") as out:
        out.write(f"""/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* Addresses of the parity bit accumulators of the {size_name} frames of DVB-S2, ETSI
 * EN 302 307-1 annex {annex}; written by scripts/make_ldpc_tables.py. For each group of 360
 * information bits: the number of addresses, and the addresses of its first bit. */

#include "tables.h"

namespace gr {{
namespace gpufec {{

namespace {{

// clang-format off
""")
        out.write("\n".join(tables))
        newline = "\n"
        out.write(f"""// clang-format on

}} // namespace

const std::vector<dvbs2_table>& dvbs2_{size_name}_tables()
{{
    static const std::vector<dvbs2_table> tables{{
{newline.join(entries)}
    }};
    return tables;
}}

}} // namespace gpufec
}} // namespace gr
""")


def main():
    directory = sys.argv[1]
    write(f"{directory}/tables_normal.cc", "normal", dtv.FECFRAME_NORMAL, 64800, NORMAL, "B")
    write(f"{directory}/tables_short.cc", "short", dtv.FECFRAME_SHORT, 16200, SHORT, "C")


if __name__ == "__main__":
    main()
